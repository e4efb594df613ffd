"""Functions of ``scipy.special``, element by element: ``ra.special.erf(x)``.

``[nrows, (len), *inner]`` of floating dtype to the same shape, dtype and capacity; two operands broadcast
as in arithmetic. NumPy values use ``scipy.special``, JAX values ``jax.scipy.special``.
"""

from . import _functions, _polynomials
from ._functions import *
from ._polynomials import *

__all__: list[str] = []
__all__ += _functions.__all__
__all__ += _polynomials.__all__
