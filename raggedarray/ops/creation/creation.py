"""Making RaggedArrays from flat values and a description of the rows.

Every factory reads and checks its description where data can be read: what is wrong is an error that names
the first bad index. Under jit only shapes and dtypes are checked. Values are shared, never copied.
"""

from collections.abc import Sequence
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import RowPartition
from ..._typing import Array
from ...backends import common, is_array, kernels, kind, namespace
from ...engine.arguments import check_partitions, sizes_of
from ...engine.columns import column, numeric
from ...engine.indices import host_index, index_like
from ...engine.options import check_bool
from ...structure.levels import splits_of
from ...structure.overflow import fill_unless, known_overflow

__all__ = [
    "from_nested_row_lengths",
    "from_nested_row_splits",
    "from_row_ids",
    "from_row_lengths",
    "from_row_splits",
]


def from_row_splits(values: Array, row_splits: Array) -> RaggedArray:
    """Rows ``values[row_splits[i]:row_splits[i + 1]]``: ``[capacity, *inner]`` to ``[nrows, (len), *inner]``.

    ``row_splits`` is ``int[nrows + 1]``, starts at 0, never decreases and ends at most at the capacity;
    slots past the last split are slack. Values are not copied.

    >>> from_row_splits(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3])).tolist()
    [[1.0, 2.0], [], [3.0]]
    """
    return _nested(values, [row_splits])


def from_nested_row_splits(values: Array, nested_row_splits: Sequence[Array]) -> RaggedArray:
    """Rows of rows: one splits array per ragged axis, outermost first.

    Inner splits may describe more rows than the outer ones use; those slack rows must be empty.

    >>> from_nested_row_splits(np.array([1, 2, 3]), [np.array([0, 2, 2]), np.array([0, 1, 3])]).tolist()
    [[[1], [2, 3]], []]
    """
    return _nested(values, list(nested_row_splits))


def _nested(values: Array, nested: list[Array]) -> RaggedArray:
    values, *nested = _arrays(values, *nested)
    if not nested:
        raise ValueError(error_text("at least one splits array", "none", "Pass the outermost row splits."))
    if values.ndim == 0:
        raise ValueError(error_text("values with a first axis", "shape ()", "Pass at least one axis of slots."))
    for splits in nested:
        _check_integers("row splits", splits)
        if splits.ndim != 1 or splits.shape[0] == 0:
            shape = tuple(splits.shape)
            raise ValueError(error_text("row splits of shape (nrows + 1,)", f"shape {shape}", "Start them with 0."))
    x = RaggedArray(values, tuple(RowPartition(index_like(values, splits)) for splits in nested))
    check_partitions(x)
    if known_overflow(x.partitions, x.capacity) is None:
        return RaggedArray(fill_unless(values, ~x.overflow), x.partitions)
    return x


def from_row_lengths(values: Array, row_lengths: Array, *, exact: bool | None = None) -> RaggedArray:
    """Rows of these lengths, end to end: ``[capacity, *inner]``, ``int[nrows]`` to ``[nrows, (len), *inner]``.

    With ``exact`` the lengths must sum to the number of values (traced ones at run time under `checks`); without it,
    slots past their sum are slack. The default is True, and False on JAX, where capacities are rounded up. Values are
    not copied.

    >>> from_row_lengths(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1])).tolist()
    [[1.0, 2.0], [], [3.0]]
    """
    return _of_lengths(values, [row_lengths], exact)


def from_nested_row_lengths(
    values: Array, nested_row_lengths: Sequence[Array], *, exact: bool | None = None
) -> RaggedArray:
    """Rows of rows: one lengths array per ragged axis, outermost first.

    With ``exact`` (see `from_row_lengths`) the lengths of each axis must sum to the number of rows of the next.

    >>> from_nested_row_lengths(np.array([1, 2, 3]), [np.array([2, 0]), np.array([1, 2])]).tolist()
    [[[1], [2, 3]], []]
    """
    return _of_lengths(values, list(nested_row_lengths), exact)


def _of_lengths(values: Array, lengths: list[Array], exact: bool | None) -> RaggedArray:
    values, *lengths = _arrays(values, *lengths)
    nested = [_splits(n) for n in lengths]
    if (kernels(values).has_exact_sizes if exact is None else check_bool("exact", exact)) and values.ndim:
        below = [f"{s.shape[0] - 1} rows of axis {axis}" for axis, s in enumerate(nested[1:], start=2)]
        sizes = [*(s.shape[0] - 1 for s in nested[1:]), values.shape[0]]
        for splits, n, what in zip(nested, sizes, [*below, f"{values.shape[0]} values"], strict=False):
            _check_exact(splits, n, what)
    return _nested(values, nested)


def _check_exact(splits: Array, count: int, what: str) -> None:
    """Raise unless lengths sum to what there is; where they are traced, at run time under `checks`."""
    k, advice = kernels(splits), "Pass the missing values."
    expected, got = f"lengths that sum to the {what}", "a sum of"
    if not k.is_concrete(splits):
        if k.checking():
            k.check(splits[-1] == count, error_text(expected, f"{got} {{used}}", "Count them."), used=splits[-1])
        return
    used = int(k.host(splits)[-1])
    if used < count:
        advice = "Pass the length of every row, or `exact=False` if what is left over is slack."
    if used != count:
        raise ValueError(error_text(expected, f"{got} {used}", advice))


def _splits(lengths: Array) -> Array:
    _check_integers("row lengths", lengths)
    if lengths.ndim != 1:
        raise ValueError(error_text("row lengths of shape (nrows,)", f"shape {tuple(lengths.shape)}", "Flatten them."))
    k = kernels(lengths)
    if k.is_concrete(lengths):
        on_host = k.host(lengths)
        low = (on_host < 0).nonzero()[0]
        if low.size:
            raise ValueError(
                error_text("lengths of 0 or more", f"{on_host[low[0]]} at row {low[0]}", "Count the rows again.")
            )
        if on_host.sum(dtype="float64") > 2.0**62:
            raise OverflowError(error_text("lengths that sum to less than 2**62", f"{on_host.max()}", "Check them."))
        return host_index(splits_of(on_host.astype("int64")))
    return k.call(splits_of, k.index(lengths))


def from_row_ids(values: Array, row_ids: Array, nrows: int) -> RaggedArray:
    """Rows by the row of each slot: ``[capacity, *inner]``, sorted ``int[capacity]`` to rows.

    The result is ``[nrows, (len), *inner]``. ``nrows`` is static, so that empty rows at the end are kept.
    Under jit an id of ``nrows`` or more marks slack.

    >>> from_row_ids(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2]), 4).tolist()
    [[1.0, 2.0], [], [3.0], []]
    """
    values, row_ids = _arrays(values, row_ids)
    _check_integers("row ids", row_ids)
    if row_ids.ndim != 1 or values.ndim == 0 or row_ids.shape[0] != values.shape[0]:
        raise ValueError(
            error_text(
                f"one row id per slot of values {tuple(values.shape)}",
                f"shape {tuple(row_ids.shape)}",
                "Pass ids of shape (capacity,).",
            )
        )
    nrows = sizes_of(nrows)
    if nrows < 0:
        raise ValueError(error_text("nrows of 0 or more", str(nrows), "Pass the static row count."))
    k = kernels(row_ids)
    if k.is_concrete(row_ids):
        ids = k.host(row_ids)
        bad = ((ids < 0) | (ids >= nrows)).nonzero()[0]
        if bad.size:
            where = f"{ids[bad[0]]} at slot {bad[0]}"
            raise ValueError(
                error_text(
                    f"ids from 0 to {nrows - 1}" if nrows else "no ids for 0 rows",
                    where,
                    "Pass a larger nrows, or drop them.",
                )
            )
        down = (ids[1:] < ids[:-1]).nonzero()[0]
        if down.size:
            where = f"{ids[down[0] + 1]} after {ids[down[0]]} at slot {down[0] + 1}"
            raise ValueError(error_text("sorted row ids", where, "Sort values by row id first."))
        return _nested(values, [host_index(_splits_from_ids(ids.astype("int64"), nrows=nrows))])
    return _nested(values, [k.call(_splits_from_ids, k.index(row_ids), nrows=nrows)])


def _splits_from_ids(ids: Array, *, nrows: int) -> Array:
    xp = namespace(ids)
    return xp.astype(xp.searchsorted(ids, xp.arange(nrows + 1, dtype=ids.dtype)), ids.dtype, copy=False)


def _arrays(values: Any, *others: Any) -> list[Array]:
    """Arrays of one library; lists become NumPy arrays."""
    for x in (values, *others):
        if isinstance(x, RaggedArray):
            raise TypeError(error_text("plain arrays", "a RaggedArray", "Use `ra.ragged` to nest rows."))
    arrays = [x if is_array(x) else common([]).asarray(x) for x in map(column, (values, *others))]
    k = common(arrays)
    moved = [k.asarray(numeric(arrays[0]))]
    for x in arrays[1:]:
        if x.shape == (0,) and kind(x.dtype) == "float" and not is_array(others[0]):
            x = common([]).asarray(x, dtype="int32")  # an empty list has no dtype
        moved.append(x if kernels(x) is k or kind(x.dtype) not in ("int", "uint") else k.index(x))
    return moved


def _check_integers(what: str, x: Array) -> None:
    if kind(x.dtype) not in ("int", "uint"):
        raise TypeError(error_text(f"integer {what}", f"dtype {x.dtype}", "Convert them with `.astype(int)`."))
