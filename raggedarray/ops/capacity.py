"""Storage: how many slots and rows are allocated, which jit sees, beside how many are used, which it does not."""

from collections.abc import Sequence
from operator import index
from typing import Any

from .._array import RaggedArray, as_last, block_in
from .._blocks import known_total, resized
from .._errors import DynamicShapeError, complaint
from .._levels import known_used
from .._partition import BlockPartition, Partition, RowPartition, UniformPartition, entry_counts
from .._typing import Array
from ..backends import kernels, namespace
from ._checking import level_sizes, ragged_only, sizes_of
from ._overflow import fits, spoil
from .blocks import contiguous

__all__ = ["bucket_size", "compact", "with_capacity", "with_rows"]

Policy = str | Sequence[int]


def bucket_size(n: int, *, mantissa_bits: int = 2, minimum: int = 8, policy: Policy = "geometric") -> int:
    """Round a size up to one of few, so that data of any size meets a handful of compiled programs.

    ``geometric`` sizes have ``mantissa_bits`` bits after the leading one (2 bits: 8, 10, 12, 14, 16, 20, ...),
    which wastes at most ``2 ** -mantissa_bits``. ``linear`` sizes are multiples of ``minimum``. A sequence
    gives the sizes themselves. Nothing below ``minimum`` is returned by the first two.

    >>> [bucket_size(n) for n in (0, 9, 17, 1000)]
    [8, 10, 20, 1024]
    >>> bucket_size(100, policy=[64, 128, 256])
    128
    """
    n = sizes_of("bucket_size", n)
    if n < 0 or minimum < 1 or mantissa_bits < 0:
        raise ValueError(
            complaint(
                "bucket_size",
                "n >= 0, minimum >= 1, mantissa_bits >= 0",
                f"{n}, {minimum}, {mantissa_bits}",
                "Pass a size.",
            )
        )
    if policy == "geometric":
        shift = max(n.bit_length() - mantissa_bits - 1, 0)
        size = -(-n >> shift) << shift
        return max(size, minimum)
    if policy == "linear":
        return max(-(-n // minimum), 1) * minimum
    if isinstance(policy, str) or not len(policy):
        raise ValueError(complaint("bucket_size", "'geometric', 'linear' or sizes", repr(policy), "Pass one of these."))
    enough = [index(size) for size in policy if size >= n]
    if not enough:
        raise ValueError(complaint("bucket_size", f"a size of at least {n}", f"{list(policy)}", "Add a larger size."))
    return min(enough)


def with_capacity(x: RaggedArray, /, capacity: int | Sequence[int]) -> RaggedArray:
    """The same rows over ``capacity`` slots. The data must fit; what is added is slack.

    With inner ragged axes a sequence may give the number of entries of every level below axis 0,
    outermost first and the slots of ``values`` last; an int leaves the row counts as they are.

    Too small a capacity raises, under jit in code that runs under `checked`. Plain jit cannot raise: the result
    keeps its splits, `RaggedArray.overflow` is True, and every value and gradient computed from it is the fill: NaN,
    the lowest signed or highest unsigned integer, True.

    >>> with_capacity(ragged([[1.0, 2.0], [3.0]]), 8).capacity
    8
    """
    if ragged_only("with_capacity", x).block is not None:
        return _block_capacity(x, capacity)
    counts = entry_counts(x.partitions, x.capacity)
    given = level_sizes("with_capacity", capacity, x.ragged_rank)
    sizes = (*counts[1:-1], given) if isinstance(given, int) else given
    ok: Any = True
    sizes_all = [counts[0]]
    for level, (p, n) in enumerate(zip(x.partitions, sizes, strict=True), start=1):
        if isinstance(p, UniformPartition):
            sizes_all.append(sizes_all[-1] * p.length)
            continue
        sizes_all.append(n)
        if n < counts[level]:
            what = "capacity" if level == x.ragged_rank else f"rows along axis {level + 1}"
            ok = ok & fits("with_capacity", known_used(p), n, what, "capacity=")
    if tuple(sizes_all) == counts:
        return x
    k = x.kernels
    values, partitions = k.call(_resize, x.values, x.partitions, ok=ok, sizes=tuple(sizes_all))
    return RaggedArray(values, partitions)


def _block_capacity(x: RaggedArray, capacity: int | Sequence[int]) -> RaggedArray:
    """Components as rows of elements, resized; those that are added are empty."""
    x = contiguous(x)
    block = block_in(x)
    out = with_capacity(x.components_as_rows("with_capacity"), capacity)
    new = resized(block, out.partitions[-1].nrows, out.capacity)
    return RaggedArray(out.values, (*out.partitions[:-1], as_last(new)))


def _resize(
    values: Array, partitions: tuple[Partition, ...], *, ok: Any, sizes: tuple[int, ...]
) -> tuple[Array, tuple[Partition, ...]]:
    new: list[Partition] = []
    for i, p in enumerate(partitions):
        if isinstance(p, UniformPartition):
            new.append(UniformPartition(sizes[i], p.length))
            continue
        xp = namespace(p.splits)
        splits = p.splits[: sizes[i] + 1]
        more = sizes[i] + 1 - splits.shape[0]
        if more > 0:
            splits = xp.concat((splits, xp.broadcast_to(splits[-1], (more,))))
        new.append(RowPartition(splits))
    if sizes[-1] < values.shape[0]:  # before the cut: what it drops is lost, so its gradient is NaN too
        return _resize_first(spoil(values, ok), sizes[-1]), tuple(new)
    return spoil(_resize_first(values, sizes[-1]), ok), tuple(new)


def _resize_first(values: Array, size: int) -> Array:
    xp, have = namespace(values), values.shape[0]
    if size <= have:
        return values[:size, ...]
    return xp.concat((values, xp.zeros((size - have, *values.shape[1:]), dtype=values.dtype)))


def with_rows(x: RaggedArray, nrows: int, /) -> RaggedArray:
    """``nrows`` rows: those of ``x``, and empty ones behind them. Capacity is unchanged.

    Reductions then have more rows too: a mean over the empty ones is NaN. To make the row count data, put
    the rows under a leading axis, shape ``(1, nrows, None)``.

    >>> with_rows(ragged([[1], [2, 3]]), 4).tolist()
    [[1], [2, 3], [], []]
    """
    nrows = sizes_of("with_rows", nrows)
    if x.block is not None and len(x.partitions) == 1 and nrows >= x.nrows:
        x = contiguous(x)
        assert x.block is not None
        return RaggedArray(x.values, (as_last(resized(x.block, nrows, x.block.bound)),))
    if nrows < x.nrows:
        raise ValueError(complaint("with_rows", f"at least {x.nrows} rows", f"{nrows}", "Take rows with `x[:n]`."))
    first = x.partitions[0]
    if isinstance(first, UniformPartition):
        raise ValueError(
            complaint(
                "with_rows", "a ragged axis 1", f"length {first.length}", "Make it ragged: empty rows have no length."
            )
        )
    splits = x.kernels.call(_more_rows, first.splits, nrows=nrows)
    return RaggedArray(x.values, (RowPartition(splits), *x.partitions[1:]))


def _more_rows(splits: Array, *, nrows: int) -> Array:
    xp = namespace(splits)
    return xp.concat((splits, xp.broadcast_to(splits[-1], (nrows + 1 - splits.shape[0],))))


def compact(x: RaggedArray, /) -> RaggedArray:
    """Without slack: exact capacity, and no slack rows at inner levels. Reads the splits, so not under jit.

    >>> compact(with_capacity(ragged([[1.0, 2.0], [3.0]]), 8)).capacity
    3
    """
    if not kernels(x.values).is_concrete(x.partitions):
        raise DynamicShapeError(
            complaint("compact", "row lengths that can be read", "traced ones", "Use `ra.with_capacity(x, capacity)`.")
        )
    return with_capacity(x, used_entries(x))


def used_entries(x: RaggedArray) -> tuple[int, ...]:
    """Entries in use at each level below axis 0, the slots of ``values`` last (concrete)."""
    used, out = x.nrows, []
    p: Any
    for p in x.partitions:
        if isinstance(p, BlockPartition):
            used = int(known_total(p))
        else:
            used = used * p.length if isinstance(p, UniformPartition) else int(known_used(p))
        out.append(used)
    return tuple(out)
