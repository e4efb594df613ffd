"""Whether sizes, strides and offsets stay inside of a buffer: the checks of `from_blocks` and of `validate`."""

from typing import Any

from .._errors import error_text
from .._partition import BlockPartition
from .._typing import Array
from ..backends import Kernels, is_array, kernels, kind, namespace, need_plain
from ..structure.blocks import counts, extents, on_host, starts, steps


def integers(k: Kernels, what: str, given: Any) -> Array:
    """Integers, or nested lists of them, as index type."""
    need_plain(given)
    try:
        return k.index(given if is_array(given) else k.asarray(given))
    except (ValueError, TypeError):
        got = f"dtype {given.dtype}" if is_array(given) else repr(given)
        raise TypeError(error_text(f"integer {what}, as many for each component", got, "Convert them.")) from None


def validate_block(p: BlockPartition, capacity: int) -> None:
    """Raise unless every address of a block that can be read is inside its buffer."""
    n = p.nrows
    for what, a, shape in (("strides", p.strides, (n, len(p.axes))), ("offsets", p.offsets, (n,))):
        if a is not None:
            table(what, a, len(shape), shape)
    table("sizes", p.sizes, 2, (n, p.axes.count(None)))
    if kernels(p.sizes).is_concrete(p):
        checked_bound(p, capacity)


def check_traced(p: BlockPartition, capacity: int) -> None:
    """The same at run time, where checks are on."""
    k, xp = kernels(p.sizes), namespace(p.sizes)
    low = high = starts(p)
    for n, s in zip(extents(p), steps(p), strict=True):
        reach = (n - 1) * s
        low, high = low + xp.minimum(reach, xp.zeros_like(reach)), high + xp.maximum(reach, xp.zeros_like(reach))
    there = counts(p) > 0
    bad = xp.any(p.sizes < 0, axis=1) | (there & ((low < 0) | (high >= capacity)))
    row = xp.argmax(xp.astype(bad, p.sizes.dtype))
    want = f"sizes of 0 or more and addresses from 0 to {capacity - 1}"
    text = error_text(want, "slots {low} to {high} for component {row}", "Check sizes, strides and offsets.")
    k.check(~xp.any(bad), text, low=low[row], high=high[row], row=row)


def _countable(p: BlockPartition, sizes: Any) -> None:
    """Raise where the elements outnumber what an index of the dtype of the sizes can count."""
    limit = int(namespace(p.sizes).iinfo(p.sizes.dtype).max)
    each = sizes.prod(axis=1, dtype="float64")
    for n in p.axes:
        each = each * (1 if n is None else n)
    if each.sum() > limit:
        got = f"{each.sum():.3g}"
        raise ValueError(error_text(f"up to {limit} elements", got, "Check the sizes."))


def checked_bound(p: BlockPartition, capacity: int) -> int:
    """Check that every address is inside the buffer (on the host); the number of elements, or of slots if more."""
    k = kernels(p.sizes)
    sizes = k.host(p.sizes).astype("int64")
    if (sizes < 0).any():
        i = int((sizes < 0).any(axis=1).argmax())
        raise ValueError(error_text("sizes of 0 or more", f"{sizes[i].tolist()} at component {i}", "Check them."))
    _countable(p, sizes)
    host = on_host(p)
    count, begin = host.counts, host.offsets
    ends = count.cumsum()
    if len(count) and p.strides is not None:
        # in floating point, where products of huge strides do not wrap
        reach = (host.sizes - 1.0) * host.strides
        low, high = begin + reach.clip(max=0).sum(axis=1), begin + reach.clip(min=0).sum(axis=1)
    else:
        low, high = begin + 0.0, begin + (count - 1.0)
    bad = (count > 0) & ((low < 0) | (high >= capacity))
    if bad.any():
        i = int(bad.argmax())
        got = f"slots {int(low[i])} to {int(high[i])} for component {i}"
        raise ValueError(error_text(f"addresses from 0 to {capacity - 1}", got, "Check sizes, strides and offsets."))
    return max(int(ends[-1]) if len(ends) else 0, capacity)


def table(what: str, a: Array, ndim: int, shape: tuple[int, ...] | None = None) -> Array:
    if kind(a.dtype) not in ("int", "uint"):
        raise TypeError(error_text(f"integer {what}", f"dtype {a.dtype}", "Convert them."))
    if a.ndim != ndim or (shape is not None and tuple(a.shape) != shape):
        want = f"{what} of shape {shape}" if shape is not None else f"{what} with {ndim} axes, a row a component"
        raise ValueError(error_text(want, f"shape {tuple(a.shape)}", "Pass one row for each component."))
    return a
