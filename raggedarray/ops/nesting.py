"""`ragged`: nested lists, arrays and RaggedArrays to one RaggedArray, the nesting inferred or given.

The input is taken apart level by level, a level being the flat list of all entries at one depth, so that
the cost in Python is one pass over the entries and no recursion.
"""

from itertools import chain
from operator import index
from typing import Any, NamedTuple

from .._array import RaggedArray, rebuild
from .._errors import complaint
from .._partition import BlockPartition, Partition, RowPartition, UniformPartition, block_of
from .._typing import Array, DType
from ..backends import Kernels, backend, common, is_array, kernels, kind, namespace
from ._block_building import array_axes, block_of_arrays, block_of_ragged, is_block
from ._indices import host_index, index_like
from .conversion import asarray

__all__ = ["ragged"]


def ragged(
    obj: Any, /, *, dtype: DType | None = None, item_shape: tuple[int | None, ...] | None = None, xp: Any = None
) -> RaggedArray:
    """A RaggedArray from nested lists, a list of arrays, a dense array or a RaggedArray; always copies.

    Every list level but the outermost is a ragged axis. Arrays as leaves: their first axis is ragged, the others
    are uniform where all arrays agree, and ragged where they do not; arrays with more than one ragged axis become
    one block (see `from_blocks`). ``item_shape`` fixes the shape of an entry of axis 0 independently of the data,
    None for a ragged axis; data pipelines should pass it, so that a batch of equal rows has the same structure as
    any other: lists become rows, an array whose only None is its first axis a row, any other with a None a block.
    No rows at all, as ``[]``, are lists; those of arrays are an empty array, ``np.zeros((0, ...))``. RaggedArrays as
    leaves add one outer ragged axis. ``[]`` gives
    shape ``(0, None)``. Python numbers take the default dtype of their kind; arrays keep theirs and must
    agree unless ``dtype`` is given. The result is NumPy-backed unless ``xp`` (``"jax"`` or a namespace)
    says otherwise or the leaves are of another library; its capacity is exact (on JAX: a `bucket_size`).

    >>> ragged([[1.0, 2.0, 3.0], [], [4.0]]).shape
    (3, None)
    >>> ragged([np.zeros((2, 3)), np.zeros((5, 3))]).shape
    (2, None, 3)
    >>> ragged([np.zeros((2, 3)), np.zeros((4, 5))]).shape
    (2, None, None)
    >>> ragged([[[1, 2]], []], item_shape=(None, 2)).shape
    (2, None, 2)
    """
    if item_shape is not None:
        item_shape = _item_shape(item_shape)
    if isinstance(obj, RaggedArray):
        out = _copy(obj)
    elif is_array(obj) and item_shape is None:
        out = _from_dense(obj)
    elif is_array(obj) and obj.ndim and not obj.shape[0] and is_block(item_shape or ()):
        out = block_of_arrays(kernels(obj), [], [], item_shape or (), dtype, like=obj)
    else:
        out = _from_leaves(_take_apart(obj), dtype, item_shape)
    if dtype is not None:
        out = asarray(out, dtype=dtype)
    if item_shape is not None and out.shape[1:] != tuple(item_shape):
        raise ValueError(
            complaint("ragged", f"entries of shape {tuple(item_shape)}", f"{out.shape[1:]}", "Change item_shape.")
        )
    return out if xp is None else asarray(out, xp=xp)


def _item_shape(given: Any) -> tuple[int | None, ...]:
    try:
        return tuple(None if n is None else index(n) for n in given)
    except TypeError:
        raise TypeError(complaint("ragged", "item_shape of ints and None", repr(given), "Pass a tuple.")) from None


class _Parts(NamedTuple):
    levels: list[list[int]]
    """Lengths of the lists at each depth; the outermost is the first."""
    leaves: list[Any]
    """All entries below the last list level: numbers, arrays or RaggedArrays."""


def _copy(x: RaggedArray) -> RaggedArray:
    def copied(p: Any) -> Any:
        if isinstance(p, BlockPartition):
            arrays = (
                None if a is None else namespace(a).asarray(a, copy=True) for a in (p.sizes, p.strides, p.offsets)
            )
            return BlockPartition(*arrays, axes=p.axes, bound=p.bound)
        return p if isinstance(p, UniformPartition) else RowPartition(namespace(p.splits).asarray(p.splits, copy=True))

    return RaggedArray(namespace(x.values).asarray(x.values, copy=True), tuple(map(copied, x.partitions)))


def _from_dense(a: Array) -> RaggedArray:
    """``(nrows, len, *inner)``: rows that happen to be equally long."""
    if a.ndim < 2:
        raise ValueError(complaint("ragged", "an array of rows", f"shape {tuple(a.shape)}", "Wrap one row in a list."))
    xp, (nrows, length, *inner) = namespace(a), a.shape
    values = xp.asarray(xp.reshape(a, (nrows * length, *inner)), copy=True)
    splits = index_like(a, host_index([i * length for i in range(nrows + 1)]))
    return RaggedArray(values, (RowPartition(splits),))


def _take_apart(obj: Any) -> _Parts:
    if is_array(obj):
        obj = [obj[i, ...] for i in range(obj.shape[0])] if obj.ndim else [obj]
    if not isinstance(obj, list | tuple):
        advice = "Pass a list of rows; for an iterator use `ra.from_rows`."
        raise TypeError(complaint("ragged", "lists, arrays or RaggedArrays", type(obj).__name__, advice))
    levels: list[list[int]] = []
    entries: list[Any] = [obj]
    while entries and all(isinstance(e, list | tuple | range) for e in entries):
        levels.append([len(e) for e in entries])
        entries = list(chain.from_iterable(entries))
    _same_kind(levels, entries)
    return _Parts(levels, entries)


def _what(x: Any) -> str:
    if isinstance(x, RaggedArray):
        return "a RaggedArray"
    if isinstance(x, list | tuple | range):
        return "a list"
    if is_array(x) and x.ndim:
        return "an array"
    if isinstance(x, bool | int | float | complex) or is_array(x):
        return "a number"
    return f"{type(x).__name__} {x!r}"


def _same_kind(levels: list[list[int]], entries: list[Any]) -> None:
    if not entries:
        return
    types = set(map(type, entries))
    if len(types) > 1 or not types <= {int, float, bool, complex}:
        what = [_what(e).split(" ")[0] if isinstance(e, str | bytes) else _what(e) for e in entries]
        other = next((i for i, w in enumerate(what) if w != what[0]), None)
        if other is not None:
            raise ValueError(
                complaint(
                    "ragged",
                    f"{what[0]} everywhere, as at {_place(levels, 0)}",
                    f"{what[other]} at {_place(levels, other)}",
                    "Bring the leaves to one depth and kind.",
                )
            )
    if _what(entries[0]) not in ("a RaggedArray", "an array", "a number"):
        raise TypeError(
            complaint(
                "ragged", "numbers or arrays as leaves", f"{_what(entries[0])} at {_place(levels, 0)}", "Convert it."
            )
        )


def _place(levels: list[list[int]], index: int) -> str:
    """``[i][j]``: where the entry with this flat index stands."""
    path = []
    for lengths in reversed(levels):
        row, start = 0, 0
        while index >= start + lengths[row]:
            start += lengths[row]
            row += 1
        path.append(index - start)
        index = row
    return "".join(f"[{i}]" for i in reversed(path))


def _from_leaves(parts: _Parts, dtype: DType | None, item_shape: tuple[int | None, ...] | None) -> RaggedArray:
    levels, leaves = parts
    first = leaves[0] if leaves else None
    if isinstance(first, RaggedArray):
        return _of_ragged(levels, leaves, dtype)
    shapes = _leaf_shapes(levels, leaves, dtype) if _what(first) == "an array" else []
    depth = len(levels) - 1 + (len(shapes[0]) if shapes else 0)  # axes of an entry of axis 0
    if item_shape is None:
        wanted: tuple[int | None, ...] = (None,) * max(len(levels) - 1, 0)
        wanted += array_axes(shapes) if shapes else ()
        wanted = wanted or ((None,) if not leaves else ())
    else:
        wanted = tuple(item_shape)
        if depth > len(wanted) or (depth < len(wanted) and leaves):
            raise ValueError(complaint("ragged", f"entries of shape {wanted}", f"{depth} axes", "Change item_shape."))
    if None not in wanted:
        advice = "Wrap the rows in a list." if item_shape is None else "Put None where the length varies."
        raise ValueError(complaint("ragged", "at least one ragged axis", f"entries of shape {wanted}", advice))
    k = common("ragged", leaves) if shapes else backend("numpy")
    if shapes and is_block(wanted[len(levels) - 1 :]):
        return block_of_arrays(k, levels[1:], leaves, wanted[len(levels) - 1 :], dtype)
    lengths = [*levels[1:], *([s[0] for s in shapes],) * bool(shapes)]
    if shapes:
        _check_inner(levels, shapes, wanted[len(levels) :])
    values = _values(k, leaves, shapes, wanted, dtype)
    return _assemble(levels[0][0], lengths, values, wanted)


def _leaf_shapes(levels: list[list[int]], leaves: list[Array], dtype: DType | None) -> list[tuple[int, ...]]:
    shapes = [tuple(a.shape) for a in leaves]
    for i, (a, shape) in enumerate(zip(leaves, shapes, strict=True)):
        if len(shape) != len(shapes[0]):
            raise ValueError(
                complaint(
                    "ragged",
                    f"{len(shapes[0])} axes everywhere, as at {_place(levels, 0)}",
                    f"{len(shape)} at {_place(levels, i)}",
                    "Bring the arrays to one rank.",
                )
            )
        if dtype is None and a.dtype != leaves[0].dtype:
            raise TypeError(
                complaint(
                    "ragged",
                    f"dtype {leaves[0].dtype} everywhere, as at {_place(levels, 0)}",
                    f"{a.dtype} at {_place(levels, i)}",
                    "Pass `dtype=`.",
                )
            )
    return shapes


def _check_inner(levels: list[list[int]], shapes: list[tuple[int, ...]], inner: tuple[int | None, ...]) -> None:
    for i, shape in enumerate(shapes):
        if shape[1:] != inner:
            got = f"{shape} at {_place(levels, i)}"
            raise ValueError(complaint("ragged", f"arrays of shape {(None, *inner)}", got, "Change item_shape."))


def _values(
    k: Kernels, leaves: list[Any], shapes: list[tuple[int, ...]], wanted: tuple[int | None, ...], dtype: DType | None
) -> Array:
    """The leaves end to end: ``[total, *inner of the leaves]``."""
    if shapes:
        arrays = [k.asarray(a) for a in leaves]
        if kind(arrays[0].dtype) == "other":
            raise TypeError(
                complaint("ragged", "leaves of a numeric dtype", f"dtype {arrays[0].dtype}", "Convert them.")
            )
        if dtype is not None:
            arrays = [namespace(a).astype(a, k.dtype(dtype, a)) for a in arrays]
        return namespace(arrays[0]).concat(arrays)
    if leaves:
        values = k.asarray(leaves, dtype=None if dtype is None else k.dtype(dtype))
        if kind(values.dtype) == "other":
            advice = "Pass numbers that fit a dtype."
            raise TypeError(complaint("ragged", "leaves of a numeric dtype", f"dtype {values.dtype}", advice))
        return values
    inner = wanted[len(wanted) - _trailing(wanted) :]
    empty = k.asarray([], dtype="float64" if dtype is None else k.dtype(dtype))
    return namespace(empty).reshape(empty, (0, *inner))


def _trailing(wanted: tuple[int | None, ...]) -> int:
    """How many axes at the end are uniform."""
    count = 0
    while wanted[len(wanted) - count - 1] is not None:
        count += 1
    return count


def _assemble(nrows: int, lengths: list[list[int]], values: Array, wanted: tuple[int | None, ...]) -> RaggedArray:
    """Partitions from the lengths at each level; uniform levels are checked and folded."""
    levels = wanted[: max(len(lengths), len(wanted) - _trailing(wanted))]
    lengths = lengths + [[] for _ in range(len(levels) - len(lengths))]
    partitions: tuple[Partition, ...] = ()
    above = nrows
    for axis, (n, got) in enumerate(zip(levels, lengths, strict=True), start=1):
        if n is None:
            ends = [0]
            for length in got or [0] * above:
                ends.append(ends[-1] + length)
            partitions, above = (*partitions, RowPartition(index_like(values, host_index(ends)))), ends[-1]
            continue
        bad = next((i for i, length in enumerate(got) if length != n), None)
        if bad is not None:
            raise ValueError(
                complaint("ragged", f"length {n} along axis {axis}", f"{got[bad]} at entry {bad}", "Change item_shape.")
            )
        partitions, above = (*partitions, UniformPartition(above, n)), above * n
    out: RaggedArray = rebuild(nrows, partitions, values)
    return out


def _of_ragged(levels: list[list[int]], leaves: list[RaggedArray], dtype: DType | None) -> RaggedArray:
    """RaggedArrays as leaves: their rows end to end under one more ragged axis."""
    first = leaves[0]
    k = common("ragged", [x.values for x in leaves])
    for i, x in enumerate(leaves):
        if x.shape[1:] != first.shape[1:] or (dtype is None and x.dtype != first.dtype):
            raise ValueError(
                complaint(
                    "ragged",
                    f"rows of {first.shape[1:]} {first.dtype}, as at {_place(levels, 0)}",
                    f"{x.shape[1:]} and {x.dtype} at {_place(levels, i)}",
                    "Bring them to one structure.",
                )
            )
        if (x.block is None) != (first.block is None):
            what = ["rows" if y.block is None else "components that vary in several axes" for y in (first, x)]
            want, got = f"{what[0]} everywhere, as at {_place(levels, 0)}", f"{what[1]} at {_place(levels, i)}"
            raise ValueError(complaint("ragged", want, got, "Convert them with `ra.to_rows` or `ra.to_blocks`."))
        if not kernels(x.values).is_concrete(x.partitions):
            raise TypeError(complaint("ragged", "row lengths that can be read", "traced ones", "Build it outside jit."))
    lengths = [*levels[1:], [x.nrows for x in leaves]]
    if block_of(first.partitions) is not None:
        if len(first.partitions) > 1:
            raise ValueError(
                complaint("ragged", "leaves of one level", f"shape {first.shape}", "Join them with `ra.concat` first.")
            )
        return block_of_ragged(k, lengths, leaves, dtype)
    wanted: tuple[int | None, ...] = (None,) * len(lengths)
    for depth, p in enumerate(first.partitions):
        wanted = (*wanted, p.length if isinstance(p, UniformPartition) else None)
        lengths.append([n for x in leaves for n in _lengths(x, depth)])
    values = [x.values[: int(x.nested_row_splits[-1][-1]), ...] for x in leaves]
    values = [v if kernels(v) is k else k.asarray(v) for v in values]
    if dtype is not None:
        values = [namespace(v).astype(v, k.dtype(dtype, v)) for v in values]
    joined = namespace(values[0]).concat(values)
    return _assemble(levels[0][0], lengths, joined, wanted + first.inner_shape)


def _lengths(x: RaggedArray, depth: int) -> list[int]:
    """Row lengths at one level, slack rows left out."""
    splits = x.nested_row_splits
    used = x.nrows if depth == 0 else int(splits[depth - 1][-1])
    ends = kernels(x.values).host(splits[depth])[: used + 1]
    return list((ends[1:] - ends[:-1]).tolist())
