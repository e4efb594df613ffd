"""`ragged`: nested lists, arrays and RaggedArrays to one RaggedArray, the nesting inferred or given.

The input is taken apart level by level, a level being the flat list of all entries at one depth, so that
the cost in Python is one pass over the entries and no recursion.
"""

from itertools import chain
from typing import Any, NamedTuple

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import BlockPartition, Partition, RowPartition, UniformPartition, block_of
from ..._typing import Array, DType
from ...backends import backend, is_array, kernels, namespace, need_plain
from ...engine.arguments import item_shape_of
from ...engine.block_building import array_axes, block_of_arrays, block_of_ragged, is_block
from ...engine.columns import is_missing, missing, numeric, opened
from ...engine.indices import host_index, index_like
from ...engine.leaves import concat_leaves, with_entries
from ...engine.resizing import used_entries
from ..array.conversion import asarray

__all__ = ["ragged"]


def ragged(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    item_shape: tuple[int | None, ...] | None = None,
    xp: Any = None,
    capacity: int | tuple[int, ...] | None = None,
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
    agree unless ``dtype`` is given, but for empty ones, which match any dtype. Columns of data frames (pandas, polars)
    and arrays of objects are read as the lists or arrays that they hold. The result is NumPy-backed unless ``xp``
    (``"jax"`` or a namespace) says otherwise or the leaves are of another library; its capacity is exact (on JAX: a
    `bucket_size`), or what ``capacity`` says (see `asarray`).

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
        item_shape = item_shape_of(item_shape)
    obj = opened(obj)
    if isinstance(obj, RaggedArray):
        out = _copy(obj)
    elif is_array(obj) and item_shape is None:
        out = _from_dense(obj)
    elif is_array(obj) and obj.ndim and not obj.shape[0] and is_block(item_shape or ()):
        out = block_of_arrays([], [], item_shape or (), dtype, like=obj)
    else:
        out = _from_leaves(_take_apart(obj), dtype, item_shape)
    if dtype is not None:
        out = asarray(out, dtype=dtype)
    if item_shape is not None and out.shape[1:] != tuple(item_shape):
        raise ValueError(error_text(f"entries of shape {tuple(item_shape)}", f"{out.shape[1:]}", "Change item_shape."))
    numeric(out)
    return out if xp is None and capacity is None else asarray(out, xp=xp, capacity=capacity)


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
        raise ValueError(error_text("an array of rows", f"shape {tuple(a.shape)}", "Wrap one row in a list."))
    xp, (nrows, length, *inner) = namespace(a), a.shape
    values = xp.asarray(xp.reshape(a, (nrows * length, *inner)), copy=True)
    splits = index_like(a, host_index([i * length for i in range(nrows + 1)]))
    return RaggedArray(values, (RowPartition(splits),))


def _take_apart(obj: Any) -> _Parts:
    if is_array(obj):
        obj = [obj[i, ...] for i in range(obj.shape[0])] if obj.ndim else [obj]
    if not isinstance(obj, list | tuple):
        table = hasattr(obj, "columns")
        advice = "Pass one column." if table else "Pass a list of rows; for an iterator use `ra.from_rows`."
        raise TypeError(error_text("lists, arrays or RaggedArrays", type(obj).__name__, advice))
    levels: list[list[int]] = []
    entries: list[Any] = [obj]
    while entries and all(isinstance(e, list | tuple | range) for e in entries):
        levels.append([len(e) for e in entries])
        entries = list(chain.from_iterable(entries))
        if not set(map(type, entries)) <= _PYTHON:
            entries = list(map(opened, entries))
    _same_kind(levels, entries)
    return _Parts(levels, entries)


_PYTHON = {list, tuple, range, int, float, bool, complex}
"""Types that hold nothing to be opened."""


def _what(x: Any) -> str:
    if isinstance(x, RaggedArray):
        return "a RaggedArray"
    if isinstance(x, list | tuple | range):
        return "a list"
    if is_array(x) and x.ndim:
        return "an array"
    if isinstance(x, bool | int | float | complex) or is_array(x):
        return "a number"
    return type(x).__name__


def _same_kind(levels: list[list[int]], entries: list[Any]) -> None:
    types = set(map(type, entries))
    if not entries or (len(types) == 1 and types <= {int, float, bool, complex}):
        return
    for e in entries:
        need_plain(e)
    what = list(map(_what, entries))
    rows = len(levels) == 1 or any(w in ("a list", "an array", "a RaggedArray") for w in what)
    gone = next((i for i, e in enumerate(entries) if is_missing(e, nan=rows)), None)
    if gone is not None:
        raise missing(entries[gone], f"at {_place(levels, gone)}", row=rows)
    other = next((i for i, w in enumerate(what) if w != what[0]), None)
    if other is not None:
        expected = f"{what[0]} everywhere, as at {_place(levels, 0)}"
        got = f"{what[other]} at {_place(levels, other)}"
        raise ValueError(error_text(expected, got, "Bring the leaves to one depth and kind."))
    if what[0] not in ("a RaggedArray", "an array", "a number"):
        got = f"{what[0]} {entries[0]!r} at {_place(levels, 0)}"
        raise TypeError(error_text("numbers or arrays as leaves", got, "Convert it."))


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
            raise ValueError(error_text(f"entries of shape {wanted}", f"{depth} axes", "Change item_shape."))
    if None not in wanted:
        advice = "Wrap the rows in a list." if item_shape is None else "Put None where the length varies."
        raise ValueError(error_text("at least one ragged axis", f"entries of shape {wanted}", advice))
    if shapes and is_block(wanted[len(levels) - 1 :]):
        return block_of_arrays(levels[1:], leaves, wanted[len(levels) - 1 :], dtype)
    lengths = [*levels[1:], *([s[0] for s in shapes],) * bool(shapes)]
    if shapes:
        _check_inner(levels, shapes, wanted[len(levels) :])
    values = _values(leaves, shapes, wanted, dtype)
    return _assemble(levels[0][0], lengths, values, wanted)


def _leaf_shapes(levels: list[list[int]], leaves: list[Array], dtype: DType | None) -> list[tuple[int, ...]]:
    shapes, first = [tuple(a.shape) for a in leaves], with_entries(leaves)
    for i, (a, shape) in enumerate(zip(leaves, shapes, strict=True)):
        if len(shape) != len(shapes[0]):
            raise ValueError(
                error_text(
                    f"{len(shapes[0])} axes everywhere, as at {_place(levels, 0)}",
                    f"{len(shape)} at {_place(levels, i)}",
                    "Bring the arrays to one rank.",
                )
            )
        if dtype is None and a.dtype != leaves[first].dtype and 0 not in shape:
            raise TypeError(
                error_text(
                    f"dtype {leaves[first].dtype} everywhere, as at {_place(levels, first)}",
                    f"{a.dtype} at {_place(levels, i)}",
                    "Pass `dtype=`.",
                )
            )
    return shapes


def _check_inner(levels: list[list[int]], shapes: list[tuple[int, ...]], inner: tuple[int | None, ...]) -> None:
    for i, shape in enumerate(shapes):
        if shape[1:] != inner:
            got = f"{shape} at {_place(levels, i)}"
            raise ValueError(error_text(f"arrays of shape {(None, *inner)}", got, "Change item_shape."))


def _values(
    leaves: list[Any], shapes: list[tuple[int, ...]], wanted: tuple[int | None, ...], dtype: DType | None
) -> Array:
    """The leaves end to end: ``[total, *inner of the leaves]``."""
    if shapes:
        return concat_leaves(leaves, dtype)
    k = backend("numpy")
    if leaves:
        return numeric(k.asarray(leaves, dtype=None if dtype is None else k.dtype(dtype)))
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
                error_text(f"length {n} along axis {axis}", f"{got[bad]} at entry {bad}", "Change item_shape.")
            )
        partitions, above = (*partitions, UniformPartition(above, n)), above * n
    out: RaggedArray = rebuild(partitions, values)
    return out


def _of_ragged(levels: list[list[int]], leaves: list[RaggedArray], dtype: DType | None) -> RaggedArray:
    """RaggedArrays as leaves: their rows end to end under one more ragged axis."""
    at = with_entries([x.values for x in leaves])
    first = leaves[at]
    for i, x in enumerate(leaves):
        same = dtype is not None or 0 in x.values.shape or x.dtype == first.dtype
        if x.shape[1:] != first.shape[1:] or not same:
            raise ValueError(
                error_text(
                    f"rows of {first.shape[1:]} {first.dtype}, as at {_place(levels, at)}",
                    f"{x.shape[1:]} and {x.dtype} at {_place(levels, i)}",
                    "Bring them to one structure.",
                )
            )
        if (x.block is None) != (first.block is None):
            what = ["rows" if y.block is None else "components that vary in several axes" for y in (first, x)]
            want, got = f"{what[0]} everywhere, as at {_place(levels, at)}", f"{what[1]} at {_place(levels, i)}"
            raise ValueError(error_text(want, got, "Convert them with `ra.to_rows` or `ra.to_blocks`."))
        if not kernels(x.values).is_concrete(x.partitions):
            raise TypeError(error_text("row lengths that can be read", "traced ones", "Build it outside jit."))
    lengths = [*levels[1:], [x.nrows for x in leaves]]
    if block_of(first.partitions) is not None:
        if len(first.partitions) > 1:
            raise ValueError(
                error_text("leaves of one level", f"shape {first.shape}", "Join them with `ra.concat` first.")
            )
        return block_of_ragged(lengths, leaves, dtype)
    wanted: tuple[int | None, ...] = (None,) * len(lengths)
    for depth, p in enumerate(first.partitions):
        wanted = (*wanted, p.length if isinstance(p, UniformPartition) else None)
        lengths.append([n for x in leaves for n in _lengths(x, depth)])
    values = [x.values[: used_entries(x)[-1], ...] for x in leaves]
    return _assemble(levels[0][0], lengths, concat_leaves(values, dtype), wanted + first.inner_shape)


def _lengths(x: RaggedArray, depth: int) -> list[int]:
    """Row lengths at one level, slack rows left out."""
    splits = x.nested_row_splits
    used = x.nrows if depth == 0 else used_entries(x)[depth - 1]
    ends = kernels(x.values).host(splits[depth])[: used + 1]
    return list((ends[1:] - ends[:-1]).tolist())
