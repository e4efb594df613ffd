"""Discrete Fourier transforms, the standard's ``fft`` extension: called as ``ra.fft.rfft``, ...

Plain arrays go to their own library. Of a RaggedArray each component is transformed at its own size, ``n`` of each:
along a ragged axis components of like sizes are worked on together, and under jit ``bucket`` must be a `BucketPlan`
made of the operand. ``n`` (or ``s``) cuts or fills each component to one size, which is then uniform; a single ragged
axis needs no plan then. Along inner axes the flat values are transformed as they lie: same rows, same capacity. Axes
count as in ``x.shape``; those of rows and of the levels above components cannot be transformed.

Half-precision values are transformed in float32. An empty row gives an empty row, and so does one term in `irfft` and
`hfft`, whose real length would be 0. ``norm`` says which direction is scaled: ``"backward"`` the inverse by ``1/n``,
``"forward"`` the forward one, ``"ortho"`` both by ``1/sqrt(n)``.
"""

from typing import TYPE_CHECKING

from . import _standard
from ._standard import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += _standard.__all__

    def __dir__():
        return [*__all__, "__doc__"]
