"""Arrays joined along any axis, and taken apart again.

Joining lays the values of the operands end to end, and one gather puts the entries in order: the slack between
the operands is left behind by it. Plain arrays are joined with RaggedArrays as if their axes were uniform
levels. An axis of the result is uniform where it is so in every operand, else ragged.
"""

from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from ..._typing import Array
from ...backends import is_array, kernels, namespace
from ...engine.arguments import is_scalar
from ...engine.axes import one_axis
from ...engine.broadcast.rows import to_common_backend
from ...engine.rearrange.join_blocks import join_blocks
from ...engine.rearrange.rows import array_of, index_limit, inner_axes_to_levels, runs
from ...structure.agreement import agree_levels, cut, written_alike
from ...structure.levels import library, parents, positions, splits_of, take_rows, used_at
from ..array.components import unbind
from .merging import flat_only, flatten
from .reshaping import expand_dims

__all__ = ["concat", "stack", "unstack"]


def concat(arrays: tuple[Any, ...] | list[Any], /, *, axis: int | None = 0) -> Any:
    """Arrays end to end along ``axis``: rows, entries of each row, or inner axes. Dtypes promote.

    All need the same rank. Axes before ``axis`` must agree, ragged ones in their row lengths; along an inner axis all
    axes must, and along an axis of components the sizes of each. A ragged axis may meet a uniform one, and becomes
    ragged; where rows must agree, all must be as long as the uniform axis. The capacity is the sum of the operands';
    along an inner axis the smallest of theirs. With None the operands are flattened, which jit does not do. Plain
    arrays may be among the operands, or be all of them.

    >>> x, y = ragged([[1, 2], []]), ragged([[3], [4]])
    >>> concat([x, y]).tolist(), concat([x, y], axis=1).tolist()
    ([[1, 2], [], [3], [4]], [[1, 2, 3], [4]])
    """
    xs = _operands(arrays)
    if axis is None:
        for x in xs:
            flat_only(x)
        xs, axis = [flatten(x) for x in xs], 0
    if not any(isinstance(x, RaggedArray) for x in xs):
        return namespace(xs[0]).concat(xs, axis=axis)
    ndim = xs[0].ndim
    for i, x in enumerate(xs):
        if x.ndim != ndim:
            advice = "Add axes with `ra.expand_dims`."
            raise ValueError(error_text(f"{ndim} axes", f"{x.ndim} in operand {i}", advice))
    a = one_axis(axis, ndim)
    return _join(xs, a) if len(xs) > 1 else xs[0]


def _operands(arrays: Any) -> list[Any]:
    if not isinstance(arrays, tuple | list):
        got = type(arrays).__name__
        raise TypeError(error_text("a list or tuple of arrays", got, "Put them in a list."))
    if not arrays:
        raise ValueError(error_text("a list or tuple of arrays", "an empty one", "Pass at least one array."))
    for i, x in enumerate(arrays):
        if is_scalar(x) or not (isinstance(x, RaggedArray) or is_array(x)):
            got = f"{type(x).__name__} as operand {i}"
            raise TypeError(error_text("RaggedArrays or arrays", got, "Make it an array first."))
    return to_common_backend(tuple(arrays))[1]


def _join(xs: list[Any], a: int) -> Any:
    if any(isinstance(x, RaggedArray) and x.block is not None for x in xs):
        return join_blocks(xs, a, _join)
    if not any(isinstance(x, RaggedArray) for x in xs):
        return namespace(xs[0]).concat(xs, axis=a)
    rank = max(x.ragged_rank for x in xs if isinstance(x, RaggedArray))
    levels = [inner_axes_to_levels(x, rank) for x in xs]
    kept = max(a - 1, 0) if a <= rank else rank
    alike = written_alike(levels[0].kernels, [x.partitions for x in levels], kept)
    levels = [RaggedArray(x.values, (*ps, *x.partitions[kept:])) for x, ps in zip(levels, alike, strict=True)]
    for i, x in enumerate(levels[1:], start=1):
        _check_fit(levels[0], x, a, i)
    k = levels[0].kernels
    counts = [entry_counts(x.partitions, x.capacity) for x in levels]
    smallest = tuple(min(c[level] for c in counts) for level in range(rank + 1))
    outer = levels[0].partitions[:kept]
    if tuple(counts[0][: kept + 1]) != smallest[: kept + 1]:
        outer = cut(outer, smallest[: kept + 1])
    if a > rank:
        values = k.call(_join_inner, [x.values for x in levels], axis=a - rank, capacity=smallest[rank])
        return RaggedArray(values, outer)
    limits = tuple(sum(c[level] for c in counts) for level in range(rank + 1))
    index_limit(levels, limits)
    if a == 0 and k.has_exact_sizes and all(map(_no_slack, levels)):
        values, inner = _append(levels, limits)
    else:
        values, inner = k.call(_join_levels, levels, axis=a, above=smallest[max(a - 1, 0)], limits=limits)
    return rebuild((*outer, *inner), values)


def _check_fit(x: RaggedArray, y: RaggedArray, a: int, i: int) -> None:
    """Raise unless operand ``i`` may be joined to the first along axis ``a`` (both with the same levels)."""
    rank = x.ragged_rank
    got = f"{y.shape} as operand {i}"
    error = ValueError(error_text(f"shapes that agree with {x.shape} but for axis {a}", got, "Align them first."))
    for axis, (m, n) in enumerate(zip(x.shape, y.shape, strict=True)):
        mixed = (m is None) != (n is None)
        if not (axis == a or (m == n) or (mixed and axis > a and a <= rank)):
            raise error
    kept = max(a - 1, 0) if a <= rank else rank
    agree_levels(x.partitions[:kept], y.partitions[:kept], error)


def _join_inner(values: list[Array], *, axis: int, capacity: int) -> Array:
    return namespace(values[0]).concat([v[:capacity, ...] for v in values], axis=axis)


def _no_slack(x: RaggedArray) -> bool:
    """Whether all entries of every level are in use (concrete)."""
    counts = entry_counts(x.partitions, x.capacity)
    return all(int(used_at(x.partitions, level)) == n for level, n in enumerate(counts))


def _append(levels: list[RaggedArray], limits: tuple[int, ...]) -> tuple[Array, tuple[Partition, ...]]:
    """Rows of arrays without slack: nothing to leave behind, so no gather."""
    like = next(p.splits for x in levels for p in x.partitions if isinstance(p, RowPartition))
    new: tuple[Partition, ...] = ()
    for level in range(len(limits) - 1):
        ps = [x.partitions[level] for x in levels]
        if all(isinstance(p, UniformPartition) for p in ps):
            new = (*new, UniformPartition(limits[level], ps[0].length))  # type: ignore[union-attr]
        else:
            lengths = [n for _, n in _spans(ps, [0] * len(ps), [None] * len(ps), like)]
            new = (*new, RowPartition(splits_of(namespace(like).concat(lengths))))
    return levels[0].xp.concat([x.values for x in levels]), new


def _spans(ps: list[Partition], offsets: list[int], used: list[Any], like: Array) -> list[tuple[Array, Array]]:
    """Where the entries below each entry of a level start, and how many there are, in each operand.

    ``offsets`` say where an operand's entries begin among all. Past ``used`` ones a uniform level has none either.
    """
    xp = namespace(like)
    out = []
    for p, offset, n in zip(levels_only(tuple(ps)), offsets, used, strict=True):
        if isinstance(p, RowPartition):
            out.append((p.splits[:-1] + offset, p.lengths))
            continue
        at = xp.arange(p.nrows, dtype=like.dtype)
        length = xp.full((p.nrows,), p.length, dtype=like.dtype)
        out.append((at * p.length + offset, length if n is None else xp.where(at < n, length, xp.zeros_like(length))))
    return out


def _offsets(counts: list[int]) -> list[int]:
    return [sum(counts[:i]) for i in range(len(counts))]


def _join_levels(levels: list[RaggedArray], *, axis: int, above: int, limits: tuple[int, ...]) -> Any:
    like = next(p.splits for x in levels for p in x.partitions if isinstance(p, RowPartition))
    xp, k = namespace(like), kernels(like)
    counts = [entry_counts(x.partitions, x.capacity) for x in levels]
    rank = len(limits) - 1
    new: tuple[Partition, ...] = ()
    if axis:
        partition, index = _interleave(levels, [c[axis] for c in counts], axis, above, limits[axis], like)
        new = (partition,)
    else:
        index = xp.arange(limits[0], dtype=like.dtype)
    for level in range(axis, rank):
        ps = [x.partitions[level] for x in levels]
        below = limits[level + 1]
        if all(isinstance(p, UniformPartition) for p in ps):
            uniform = UniformPartition(index.shape[0], ps[0].length)  # type: ignore[union-attr]
            entry = parents(uniform, index.shape[0] * uniform.length, like)
            row = xp.take(index, entry, axis=0)
            child = row * uniform.length + positions(uniform, entry)
            index = xp.where(row < limits[level], child, xp.asarray(below, dtype=child.dtype))
            new = (*new, uniform)
            continue
        spans = _spans(ps, _offsets([c[level + 1] for c in counts]), [None] * len(ps), like)
        starts = k.pick(xp.concat([s for s, _ in spans]), index)
        ragged = RowPartition(splits_of(k.pick(xp.concat([n for _, n in spans]), index)))
        index = runs(ragged, starts, k.bound(ragged.splits[-1], below), below)
        new = (*new, ragged)
    values = levels[0].xp.concat([x.values for x in levels])
    return kernels(values).pick(values, index), new


def _interleave(
    levels: list[RaggedArray], counts: list[int], axis: int, nrows: int, limit: int, like: Array
) -> tuple[Partition, Array]:
    """Rows made of one run from each operand: the partition, and which of all entries each new one is."""
    xp, k, many = namespace(like), kernels(like), len(levels)
    ps = [x.partitions[axis - 1] for x in levels]
    uniform = all(isinstance(p, UniformPartition) for p in ps)
    used = [None if uniform else used_at(x.partitions, axis - 1) for x in levels]
    spans = _spans(ps, _offsets(counts), used, like)
    starts, lengths = (xp.reshape(xp.stack([s[i][:nrows] for s in spans], axis=1), (-1,)) for i in (0, 1))
    each = RowPartition(splits_of(lengths))
    partition: Partition
    if uniform:
        length = sum(p.length for p in ps if isinstance(p, UniformPartition))
        partition, size = UniformPartition(nrows, length), nrows * length
    else:
        partition = RowPartition(each.splits[::many])
        size = k.bound(each.splits[-1], limit)
    return partition, runs(each, starts, size, sum(counts))


def stack(arrays: tuple[Any, ...] | list[Any], /, *, axis: int = 0) -> Any:
    """Arrays side by side along a new uniform axis at position ``axis`` of the result.

    In front of a ragged axis rows may differ: ``[2, nrows, (len)]``, ``[nrows, 2, (len)]``. Behind it their
    lengths must agree: ``[nrows, (len), 2]``. In front of the axes of components so may these, but in a trace, where
    they are taken to be of equal sizes. Capacity, dtypes and plain arrays as in `concat`.

    >>> stack([ragged([[1, 2], []]), ragged([[3], [4]])], axis=1).tolist()
    [[[1, 2], [3]], [[], [4]]]
    """
    xs = _operands(arrays)
    if not any(isinstance(x, RaggedArray) for x in xs):
        return namespace(xs[0]).stack(xs, axis=axis)
    a = one_axis(axis, xs[0].ndim + 1)
    for i, x in enumerate(xs):
        if x.ndim != xs[0].ndim:
            advice = "Add axes with `ra.expand_dims`."
            raise ValueError(error_text(f"{xs[0].ndim} axes", f"{x.ndim} in operand {i}", advice))
    xs = [expand_dims(x, axis=a) for x in xs]
    return _join(xs, a) if len(xs) > 1 else xs[0]


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The entries along ``axis``, which is dropped, as a tuple. On NumPy views, but for a uniform axis between.

    Along rows with a ragged axis behind see `unbind`; not under jit, where lengths are data. Along a uniform axis
    before a ragged one each result has the capacity of ``x``. A ragged axis has no common length.

    >>> [y.tolist() for y in unstack(ragged([np.array([[1, 2], [3, 4]]), np.array([[5, 6]])]), axis=-1)]
    [[[1, 3], [5]], [[2, 4], [6]]]
    """
    x = array_of(x)
    if not isinstance(x, RaggedArray):
        return tuple(namespace(x).unstack(x, axis=axis))
    a = one_axis(axis, x.ndim)
    if x.block is not None and a:
        if x.shape[a] is None:
            raise ValueError(error_text("a uniform axis", f"ragged axis {a}", "Use `x.unbind()` for rows."))
        return tuple(x[(*(slice(None),) * a, i)] for i in range(x.shape[a] or 0))
    if a > x.ragged_rank:
        return tuple(RaggedArray(v, x.partitions) for v in x.xp.unstack(x.values, axis=a - x.ragged_rank))
    size, first_level = x.shape[a], x.partitions[0]
    if size is None:
        raise ValueError(error_text("a uniform axis", f"ragged axis {a}", "Use `x.unbind()` for rows."))
    outer, below = x.partitions[: max(a - 1, 0)], x.partitions[max(a, 1) :]
    if a:  # every n-th entry
        count, steps = x.partitions[a - 1].nrows, [(i, size) for i in range(size)]
    elif isinstance(first_level, UniformPartition):  # row i is entries i * n : (i + 1) * n
        count = first_level.length
        steps = [(i * count, 1) for i in range(size)]
    else:
        return unbind(x)
    limits = entry_counts(below, x.capacity)[1:]
    out = []
    for first, step in steps:
        values, new = x.kernels.call(_every, x.values, below, first=first, step=step, count=count, limits=limits)
        out.append(rebuild((*outer, *new), values))
    return tuple(out)


def _every(
    values: Array, partitions: tuple[Partition, ...], *, first: int, step: int, count: int, limits: tuple[int, ...]
) -> tuple[Array, tuple[Partition, ...]]:
    like = library(partitions, values)
    rows = namespace(like).arange(count, dtype=like.dtype) * step + first
    return take_rows(values, partitions, rows, limits)
