"""From the host to the device, without a program for each new shape.

`jnp.asarray` of a NumPy array compiles one for every shape (jax 0.10.2), and `jax.device_put`, which compiles none,
keeps sharing aligned memory with the array on a CPU whatever ``may_alias`` says. So NumPy settles dtypes and sizes in
a copy that nobody else knows, and `jax.device_put` moves that.
"""

import math
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Sharding

from ..._errors import error_text
from ..._typing import Array, DType
from .._dtypes import kind
from .._find import need_plain

_LINE = 64


def asarray(x: Any, /, *, dtype: DType | None = None) -> Array:
    if dtype is None and isinstance(x, jax.Array):
        return x
    need_plain(x)
    if isinstance(x, list | tuple) and not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x)):
        x = np.asarray(x, dtype=jax.dtypes.canonicalize_dtype(np.asarray(x).dtype) if dtype is None else dtype)
    x = _ready(x, dtype)
    if not isinstance(x, np.ndarray):
        return jnp.asarray(x, dtype=dtype)
    out = jax.device_put(x)
    return out if dtype is None or out.dtype == dtype else out.astype(dtype)


def _ready(x: Any, dtype: DType | None = None, slots: int | None = None) -> Any:
    """A NumPy array as it will be here, in memory of our own; anything else as it is.

    A change of kind is left to XLA, where it differs (NaN to 0).
    """
    if not isinstance(x, np.ndarray):
        return x
    need_plain(x)
    same = dtype is None or np.can_cast(x.dtype, dtype, "same_kind")
    wanted = dtype if same and dtype is not None else x.dtype.newbyteorder("=")
    x = x if slots is None else x[:slots]
    shape = x.shape if slots is None else (slots, *x.shape[1:])
    out = _aligned(shape, jax.dtypes.canonicalize_dtype(wanted))
    with np.errstate(over="ignore", invalid="ignore"):
        out[... if shape == x.shape else slice(len(x))] = x
    if shape != x.shape:
        out[len(x) :] = 0
    return out


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Memory that a CPU device takes over without a copy."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + size].view(dtype).reshape(shape)


def move(
    values: Array, /, *indices: Array, slots: int | None = None, dtype: DType | None = None, device: Any = None
) -> list[Array]:
    arrays = [_ready(values, dtype, slots), *map(_narrow, indices)]
    if isinstance(device, Sharding) and len(device.device_set) > 1:
        return [jax.device_put(arrays[0], device), *jax.device_put(arrays[1:])]
    if device is not None:
        return list(jax.device_put(arrays, device))
    put = iter(jax.device_put([a for a in arrays if isinstance(a, np.ndarray)]))  # a put of the others is an op
    return [next(put) if isinstance(a, np.ndarray) else a for a in arrays]


def index(x: Any, /) -> Array:
    """Integers as int32. Without x64 JAX would wrap what does not fit: that raises, or traced becomes the largest."""
    x = _narrow(x)
    return jax.device_put(x) if isinstance(x, np.ndarray) else x


def _narrow(x: Any) -> Any:
    """Integers of this library as they are, others on the host, in a dtype that `jax.device_put` keeps."""
    if isinstance(x, Tracer):
        return _traced(x)
    need_plain(x)
    if kind(x.dtype) not in ("int", "uint"):
        raise TypeError(error_text("integers", f"dtype {x.dtype}", "Convert them with `.astype(int)`.", op="index"))
    if isinstance(x, jax.Array) and x.dtype in (jnp.int32, jnp.int64):
        return x
    x = np.asarray(x)
    limit = 2**31 - 1
    if x.dtype.itemsize > 3 and x.dtype != np.int32 and x.size and (x.max() > limit or x.min() < -limit - 1):
        if cast(Any, jax.config).jax_enable_x64 and x.max() <= np.iinfo(np.int64).max:
            return x.astype(np.int64)
        raise OverflowError(
            error_text(
                f"integers up to {limit} on JAX without x64",
                str(x.max()),
                "Enable x64, or split the batch.",
                op="index",
            )
        )
    return x.astype(np.int32)


def _traced(x: Array) -> Array:
    if x.dtype in (jnp.int32, jnp.int64) or not jnp.issubdtype(x.dtype, jnp.integer):
        return x
    wide = jax.dtypes.canonicalize_dtype(np.int64 if x.dtype.itemsize > 3 else np.int32)
    top = np.iinfo(wide).max
    return (jnp.minimum(x, np.asarray(top, x.dtype)) if np.iinfo(x.dtype).max > top else x).astype(wide)
