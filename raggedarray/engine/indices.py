"""Integers as indices: int32 where that is enough, in the library of the values.

Ids, counts, lengths and indices of any dtype enter here, once. Behind this door they are compared with sizes and added
to each other, for which a caller's dtype may be too narrow: 256 classes do not exist in uint8, and half of the uint32
do not in the index type of JAX.
"""

from typing import Any

from .._array import RaggedArray
from .._typing import Array, DType
from ..backends import Kernels, common, dtype_name, kernels, namespace


def host_index(ends: Any) -> Any:
    """Integers as a NumPy array: int32, or int64 where that is too small."""
    found = common([]).asarray(ends, dtype="int64")
    wide = found.size and (found.max() > 2**31 - 1 or found.min() < -(2**31))
    return found if wide else found.astype("int32")


def index_like(like: Array, ends: Array) -> Array:
    """Integers as indices in the library of ``like``."""
    return kernels(like).index(ends)


def widened(x: Any, k: Kernels | None = None) -> Any:
    """Integers, of a RaggedArray too, as indices of their library or of another: int32 or wider.

    Never raises: what does not fit stays far out of range.
    """
    if isinstance(x, RaggedArray):
        values = widened(x.values, k)
        return x if values is x.values else RaggedArray(values, x.partitions)
    own = kernels(x)
    narrow = int(namespace(x).iinfo(x.dtype).max) < 1 << 31
    dtype = own.dtype(dtype_name((own if k is None else k).dtype("int32" if narrow else "int64")))
    return x if x.dtype == dtype else own.call(_widened, x, dtype=dtype)


def _widened(x: Array, *, dtype: DType) -> Array:
    return to_dtype(x, namespace(x).zeros((), dtype=dtype))


def to_dtype(given: Any, like: Array) -> Array:
    """Integers in the dtype of ``like``; what does not fit stays far out of range."""
    xp = namespace(like)
    if not hasattr(given, "dtype"):
        return xp.asarray(given, dtype=like.dtype)
    top, mine = int(xp.iinfo(like.dtype).max), xp.iinfo(given.dtype)
    half = top // 2  # leaves room to add a length
    if int(mine.max) > top:
        given = xp.minimum(given, xp.asarray(half, dtype=given.dtype))
        if int(mine.min) < 0:
            given = xp.maximum(given, xp.asarray(-half, dtype=given.dtype))
    return xp.astype(given, like.dtype, copy=False)
