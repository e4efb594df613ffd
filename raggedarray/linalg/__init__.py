"""Linear algebra, the standard's ``linalg`` extension: called as ``ra.linalg.inv``, ...

Plain arrays go to their own library. Of ragged operands each component is a matrix, at its own size: ``(h, w)`` of
blocks, ``(len, d)`` of rows; with more axes, a list of matrices along the last two. Where both are inner axes all
matrices are worked on as they lie: same rows, same capacity. Else components of like shapes are worked on together,
and under jit ``bucket`` must be a `BucketPlan` made of the same operands. Capacities are those of `map_components`.

Integers become the default float, halves are computed in float32. A component of size 0 has determinant 1, trace and
norm 0. Gradients are those of the dense functions, where JAX has one: of a component, never of the padding around it.
"""

from . import _standard
from ._decompositions import EighResult, QRResult, SVDResult  # noqa: F401
from ._standard import *
from ._standard import SlogdetResult  # noqa: F401

__all__: list[str] = []
__all__ += _standard.__all__
