"""Views of a NumPy buffer."""

import numpy as np

from ..._typing import Array


def strided(buffer: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], /) -> Array:
    """A view, read-only where the buffer is; the caller has checked the addresses."""
    steps = tuple(s * buffer.strides[0] for s in strides)
    return np.lib.stride_tricks.as_strided(buffer[offset:], (*shape, *buffer.shape[1:]), (*steps, *buffer.strides[1:]))
