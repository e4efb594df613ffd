"""Random numbers in the rows of an array: called as ``ra.random.normal``, ...

``key`` is a ``jax.random`` key for JAX, a ``numpy.random.Generator`` for NumPy, which advances. Results have the rows
and capacity of ``like`` (exact on NumPy), or the shape of a plain array. Numbers are drawn one per slot, in order: an
element's number follows from the key and its slot, not from how the slots are divided into rows; on NumPy, where
slots are drawn in turn, nor from what lies behind it. The same key gives the same numbers, eagerly and under jit.
"""

from typing import TYPE_CHECKING

from . import _sampling
from ._sampling import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += _sampling.__all__

    def __dir__():
        return [*__all__, "__doc__"]
