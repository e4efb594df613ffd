"""Functions of ``scipy.special``, element by element: ``ra.special.erf(x)``.

``[nrows, (len), *inner]`` of floating dtype to the same shape, dtype and capacity; two operands broadcast
as in arithmetic. NumPy values use ``scipy.special``, JAX values ``jax.scipy.special``.
"""

from typing import TYPE_CHECKING

from . import _functions, _polynomials
from ._functions import *
from ._polynomials import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += _functions.__all__
    __all__ += _polynomials.__all__

    def __dir__():
        return [*__all__, "__doc__"]
