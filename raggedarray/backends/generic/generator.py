"""Random numbers and random orders from a NumPy generator, drawn on the host."""

from typing import Any

import numpy as np

from ..._errors import error_text
from ..._typing import Array, DType
from .._dtypes import dtype_name
from .._find import kernels
from .._protocol import Generator


class _OnHost:
    def __init__(self, key: np.random.Generator) -> None:
        self._key = key

    def draw(self, how: str, like: Array, dtype: DType, /, *bounds: Any) -> Array:
        native = np.dtype(dtype if isinstance(dtype, np.dtype) else dtype_name(dtype))
        return kernels(like).asarray(_drawn(self._key, how, tuple(like.shape), native, bounds))

    def shuffle(self, ids: Array, /) -> Array:
        k = kernels(ids)
        bits = self._key.integers(0, 2**32, ids.shape[0], dtype=np.uint32)
        both = (k.host(ids).astype(np.uint64) << np.uint64(32)) | bits  # one key sorts ten times faster than two
        return k.asarray(np.argsort(both, kind="stable"), dtype=ids.dtype)


def _drawn(
    key: np.random.Generator, how: str, shape: tuple[int, ...], dtype: np.dtype[Any], bounds: tuple[Any, ...]
) -> Any:
    if how == "randint":
        low, high = bounds
        return key.integers(low, high, size=shape, dtype=dtype)
    if how == "normal" and dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        pair = key.standard_normal((*shape, 2), dtype=part) * part.type(0.5**0.5)
        return pair.view(dtype)[..., 0]
    wide = dtype if dtype in (np.float32, np.float64) else np.dtype("float32")
    if how == "normal":
        return key.standard_normal(shape, dtype=wide).astype(dtype, copy=False)
    drawn: Any = key.random(shape, dtype=wide)
    if dtype != wide:  # a half must not round up to 1
        steps = 2.0 ** (11 if dtype == np.float16 else 8)
        drawn = np.floor(drawn * wide.type(steps)) / wide.type(steps)
    return drawn.astype(dtype, copy=False)


def generator(key: Any, /) -> Generator:
    """Where the random numbers of ``key`` come from; raises unless that is what they come from here."""
    if not isinstance(key, np.random.Generator):
        got, advice = type(key).__name__, "Make one with `np.random.default_rng(seed)`."
        raise TypeError(error_text("a numpy.random.Generator for NumPy arrays", got, advice))
    return _OnHost(key)
