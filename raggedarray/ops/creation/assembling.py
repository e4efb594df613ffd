"""One RaggedArray from arrays that are its rows."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import RowPartition
from ..._typing import Array, DType
from ...backends import backend, is_array, namespace
from ...engine.arguments import check_min_int, item_shape_of
from ...engine.columns import is_missing, missing, numeric, opened
from ...engine.indices import host_index, index_like
from ...engine.leaves import concat_leaves, of_one_library, with_entries
from ..array.conversion import asarray
from .nesting import ragged

__all__ = ["from_rows"]


def from_rows(
    rows: Iterable[Array],
    *,
    dtype: DType | None = None,
    item_shape: tuple[int | None, ...] | None = None,
    capacity: int | None = None,
    nrows: int | None = None,
    xp: Any = None,
) -> RaggedArray:
    """Rows from arrays ``(len, *inner)`` that agree in dtype and all axes but the first; copies them.

    An empty row has no dtype of its own and matches any; ``[]`` matches any inner shape too. ``dtype`` converts the
    rows, and ``item_shape`` fixes the shape of one, ``(None, *inner)``, also where there are none, as in `ragged`.
    ``nrows`` adds empty rows up to that many. ``xp`` moves the result to another library, and ``capacity`` is its
    number of slots there (see `asarray`), by default the exact one (on JAX: a `bucket_size`).

    No rows at all give shape ``(0, None)`` of the default float dtype, unless ``item_shape`` and ``dtype`` say else.

    >>> from_rows([np.array([1, 2]), [], np.array([3])]).tolist()
    [[1, 2], [], [3]]
    >>> from_rows([], item_shape=(None, 3), dtype="float32", nrows=2).shape
    (2, None, 3)
    """
    if hasattr(rows, "columns"):
        raise TypeError(error_text("an iterable of rows", type(rows).__name__, "Pass one column."))
    entries = [opened(row) for row in opened(rows)]
    for i, row in enumerate(entries):
        if isinstance(row, RaggedArray):
            raise TypeError(error_text("plain arrays", f"a RaggedArray as row {i}", "Use `ra.ragged`."))
        if is_missing(row, nan=True):
            raise missing(row, f"as row {i}", row=True)
    if nrows is not None and check_min_int("row count", nrows, 0) < len(entries):
        raise ValueError(error_text(f"at most {nrows} rows", f"{len(entries)}", "Pass a larger nrows."))
    shape = None if item_shape is None else item_shape_of(item_shape)
    if shape is not None and (shape[:1] != (None,) or None in shape[1:]):
        host = backend("numpy")
        out = ragged(entries or host.asarray([]).reshape(0, *(0,) * len(shape)), dtype=dtype, item_shape=shape)
    else:
        out = _end_to_end(entries, dtype, None if shape is None else shape[1:])
    if xp is None and capacity is None and nrows is None:
        return out
    moved: RaggedArray = asarray(out, xp=xp, capacity=capacity, nrows=nrows)
    return moved


def _end_to_end(entries: list[Any], dtype: DType | None, inner: tuple[int | None, ...] | None) -> RaggedArray:
    if not entries:
        host = backend("numpy")
        empty = host.asarray([], dtype="float64" if dtype is None else host.dtype(dtype))
        values = numeric(empty).reshape(0, *(inner or ()))
        return RaggedArray(values, (RowPartition(host_index([0])),))
    rows = of_one_library(entries)
    first = with_entries(rows)
    if 0 in rows[first].shape:  # all are empty: one that is an array knows more than an empty list
        first = next((i for i, row in enumerate(entries) if is_array(row)), 0)
    like = rows[first]
    for i, row in enumerate(rows):
        if row.ndim == 0:
            advice = "Stack them into one plain array."
            raise ValueError(error_text("rows with at least one axis", f"shape () as row {i}", advice))
        bare = tuple(row.shape) == (0,)
        if inner is not None and row.shape[1:] != inner and not bare:
            expected = f"rows of shape {(None, *inner)}"
            got = f"{tuple(row.shape)} as row {i}"
            raise ValueError(error_text(expected, got, "Change item_shape."))
        typed = dtype is None and 0 not in row.shape and row.dtype != like.dtype
        same = bare or row.shape[1:] == like.shape[1:]
        if typed or not same:
            raise (TypeError if typed else ValueError)(
                error_text(
                    f"rows of dtype {like.dtype} and shape (len, *{tuple(like.shape[1:])}) as row {first}",
                    f"{row.dtype} {tuple(row.shape)} as row {i}",
                    "Pass `dtype=`."
                    if typed and row.shape[1:] == like.shape[1:]
                    else "Convert the rows, or use `ra.ragged`.",
                )
            )
    inner = tuple(like.shape[1:]) if inner is None else inner
    full = [row for row in rows if row.shape[0]] or [namespace(like).reshape(like, (0, *inner))]
    values = concat_leaves(full, dtype)
    ends = [0, *accumulate(int(row.shape[0]) for row in rows)]
    return RaggedArray(values, (RowPartition(index_like(values, host_index(ends))),))
