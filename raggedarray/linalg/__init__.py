"""Linear algebra, the standard's ``linalg`` extension: called as ``ra.linalg.inv``, ...

Plain arrays go to their own library. Of ragged operands each component is a matrix, at its own size: ``(h, w)`` of
blocks, ``(len, d)`` of rows; with more axes, a list of matrices along the last two. Where both are inner axes all
matrices are worked on as they lie: same rows, same capacity. Else components of like shapes are worked on together,
and under jit ``bucket`` must be a `BucketPlan` made of the same operands. Capacities are those of `map_components`.

Integers become the default float, halves are computed in float32. A component of size 0 has determinant 1, trace and
norm 0. Gradients are those of the dense functions, where JAX has one: of a component, never of the padding around it.
"""

from typing import TYPE_CHECKING

from . import _standard
from ._decompositions import EighResult as EighResult
from ._decompositions import QRResult as QRResult
from ._decompositions import SVDResult as SVDResult
from ._standard import *
from ._standard import SlogdetResult as SlogdetResult

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += _standard.__all__

    def __dir__():
        return [*__all__, "__doc__"]
