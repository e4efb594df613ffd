"""The mark of data that did not fit a static size, on plain arrays and partitions.

An array whose data outgrew its capacity keeps its true splits: ``splits[-1]`` above the capacity is the mark, at an
inner level above the entries of the level below, for a block sizes that add up to more than its bound. Under plain
jit nothing can raise, so every op on a marked array gives the fill: NaN, also as the gradient, the lowest signed or
highest unsigned integer, True. The slots get it where the mark arises (`fill_unless`); ops see splits within bounds
(`within`), and results of another structure are marked anew (`marked`).
"""

from typing import Any
from weakref import ref

from .._partition import BlockPartition, RowPartition, UniformPartition
from .._typing import Array
from ..backends import kernels, kind, namespace
from .blocks import clamped, component_splits, known_total

Partitions = tuple[Any, ...]


def missing_value(xp: Any, dtype: Any) -> Any:
    """What stands for an element that is not there: NaN, the lowest signed or highest unsigned integer, True."""
    if kind(dtype) == "bool":
        return True
    if kind(dtype) in ("int", "uint"):
        return int(xp.iinfo(dtype).min if kind(dtype) == "int" else xp.iinfo(dtype).max)
    return float("nan")


def fill_unless(values: Array, ok: Any) -> Array:
    """``values``, or their fill everywhere unless ``ok``, a bool or traced; then the gradient is NaN too."""
    if ok is True:
        return values
    xp = namespace(values)
    ok = xp.asarray(ok)
    missing = xp.asarray(missing_value(xp, values.dtype), dtype=values.dtype)
    if kind(values.dtype) not in ("float", "complex"):
        return xp.where(ok, values, missing)
    # A product, and not the constant, so that the gradient is NaN; a sum too, as XLA takes the product of NaN and what
    # was a bool for 0; in one branch, so that -0.0 and inf stay as they are.
    poison = xp.where(ok, xp.zeros_like(missing), missing)
    return xp.where(ok, values, values * poison + poison)


def entries_below(partitions: Partitions, capacity: int) -> list[int]:
    """Static number of entries below each partition."""
    return [*(p.nrows for p in partitions[1:]), capacity]


def _most(splits: Array) -> int:
    """The largest number that splits can hold."""
    return int(namespace(splits).iinfo(splits.dtype).max)


def known_overflow(partitions: Partitions, capacity: int) -> Any:
    """Whether some level holds more than fits: a bool where that can be read, else None."""
    unknown = False
    for p, below in zip(partitions, entries_below(partitions, capacity), strict=True):
        if isinstance(p, UniformPartition):
            continue
        used = _known_entries(p)
        if used is None:
            unknown = True
        elif used > (below if isinstance(p, RowPartition) else p.bound):
            return True
    return None if unknown else False


_READ: dict[int, tuple[Any, int]] = {}
"""Id of splits or sizes on a device -> a weak reference to them, and what was read: a transfer, and 10 us, a time."""


def _known_entries(p: Any) -> int | None:
    """How many entries a ragged level holds, or None where that is traced."""
    table = p.splits if isinstance(p, RowPartition) else p.sizes
    known = _READ.get(id(table))
    if known is not None and known[0]() is table:
        return known[1]
    k = kernels(table)
    if not k.is_concrete(table):
        return None
    used = int(k.host(table)[-1]) if isinstance(p, RowPartition) else int(known_total(p))
    if not k.has_exact_sizes:  # arrays cannot be written to
        key = id(table)
        _READ[key] = (ref(table, lambda _: _READ.pop(key, None)), used)
    return used


def needs(partitions: Partitions, capacity: int) -> list[tuple[Array, int]]:
    """How many entries each ragged level needs, and how many there is room for."""
    out: list[tuple[Array, int]] = []
    for p, below in zip(partitions, entries_below(partitions, capacity), strict=True):
        if isinstance(p, RowPartition):
            out.append((p.splits[-1], min(below, _most(p.splits))))
        elif isinstance(p, BlockPartition):
            out.append((component_splits(p)[-1], p.bound))
    return out


def overflow(partitions: Partitions, capacity: int) -> Array:
    """Whether some level holds more than fits: ``bool[]``."""
    levels = needs(partitions, capacity)
    out = namespace(levels[0][0]).asarray(False)
    for needed, available in levels:
        out = out | (needed > available)
    return out


def within(p: Any, below: int) -> Any:
    """The same partition, which does not reach past the entries below it."""
    if isinstance(p, RowPartition):
        xp = namespace(p.splits)
        return RowPartition(xp.minimum(p.splits, xp.asarray(min(below, _most(p.splits)), dtype=p.splits.dtype)))
    return clamped(p) if isinstance(p, BlockPartition) else p


def marked(p: Any, below: int, ok: Any) -> Any:
    """The last partition, which overflows unless ``ok``: the last of its splits, or sizes, is raised where need be."""
    if not p.nrows:
        return p
    if isinstance(p, RowPartition):
        return RowPartition(_raised(p.splits, below, ok))
    if not p.sizes.shape[1]:
        return p
    xp = namespace(p.sizes)
    ones = xp.ones((1, p.sizes.shape[1] - 1), dtype=p.sizes.dtype)
    full = xp.concat((xp.full((1, 1), p.bound + 1, dtype=p.sizes.dtype), ones), axis=1)
    end = xp.where(xp.asarray(ok) | (component_splits(p)[-1] > p.bound), p.sizes[-1:, ...], full)
    sizes = xp.concat((p.sizes[:-1, ...], end))
    return BlockPartition(sizes, p.strides, p.offsets, axes=p.axes, bound=p.bound)


def _raised(splits: Array, capacity: int, ok: Any) -> Array:
    xp = namespace(splits)
    end = splits[-1:]
    more = xp.maximum(end, xp.asarray(capacity + 1, dtype=end.dtype))
    return xp.concat((splits[:-1], xp.where(xp.asarray(ok), end, more)))


def filled_rows(values: Array, partitions: Partitions) -> tuple[Array, Partitions]:
    """Values and partitions of an overflowed array that can be read with room for all its data, which is the fill."""
    used = 0
    new: list[Any] = []
    for i, p in enumerate(partitions):
        if isinstance(p, RowPartition):
            xp = namespace(p.splits)
            short = 0 if i == 0 else used + 1 - p.splits.shape[0]
            splits = p.splits if short <= 0 else xp.concat((p.splits, xp.broadcast_to(p.splits[-1:], (short,))))
            new.append(RowPartition(splits))
            used = int(splits[-1])
        elif isinstance(p, UniformPartition):
            n = max(p.nrows, used)
            new.append(UniformPartition(n, p.length))
            used = n * p.length
        else:
            used = max(int(known_total(p)), p.bound)
            new.append(BlockPartition(p.sizes, axes=p.axes, bound=used))
    xp = namespace(values)
    fill = xp.asarray(missing_value(xp, values.dtype), dtype=values.dtype)
    return xp.broadcast_to(fill, (max(used, values.shape[0]), *values.shape[1:])), tuple(new)
