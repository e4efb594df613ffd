"""Random numbers and random orders for JAX, from ``jax.random`` keys."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..._errors import error_text
from ..._typing import Array, DType
from .._protocol import Generator


class _OfKey:
    def __init__(self, key: Any) -> None:
        self._key = key

    def draw(self, how: str, like: Array, dtype: DType, /, *bounds: Any) -> Array:
        if how == "randint":
            return _randint(self._key, like.shape, bounds[0], bounds[1], jnp.dtype(dtype))
        draw = jax.random.normal if how == "normal" else jax.random.uniform
        return draw(self._key, like.shape, dtype)

    def shuffle(self, ids: Array, /) -> Array:
        bits = jax.random.bits(self._key, ids.shape, "uint32")
        return lax.sort((ids, bits, jnp.arange(ids.shape[0], dtype=ids.dtype)), num_keys=2)[2]


def _randint(key: Any, shape: tuple[int, ...], low: Any, high: Any, dtype: Any) -> Array:
    limits = np.iinfo(dtype)
    if not isinstance(high, int) or high <= limits.max:
        return jax.random.randint(key, shape, low, high, dtype)
    if isinstance(low, int) and low == limits.min:
        bits = jax.random.bits(key, shape, f"uint{limits.bits}")
        return lax.bitcast_convert_type(bits, dtype)
    return jax.random.randint(key, shape, low - 1, high - 1, dtype) + 1  # JAX cannot hold ``max + 1``


def generator(key: Any, /) -> Generator:
    typed = hasattr(key, "dtype") and jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    raw = getattr(key, "dtype", None) == np.uint32
    if not ((typed and key.ndim == 0) or (raw and key.ndim == 1)):
        got = f"keys of shape {key.shape}" if typed else type(key).__name__
        raise TypeError(error_text("a jax.random key for JAX arrays", got, "Make one with `jax.random.key(seed)`."))
    return _OfKey(key)
