"""Ragged arrays for NumPy and JAX: batches of arrays of different shapes as one value."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _moved as _moved
from . import fft, linalg, nn, ops, params, random, special, testing
from ._array import RaggedArray
from ._errors import DynamicShapeError
from ._partition import BlockPartition, RowPartition, UniformPartition
from .engine.edge import guard as _guard
from .linalg import _einsum, _products
from .linalg._einsum import *
from .linalg._products import *
from .ops.array import *
from .ops.array.blocks import is_contiguous as _is_contiguous  # noqa: F401
from .ops.creation import *
from .ops.elementwise import *
from .ops.functions import *
from .ops.indexing import *
from .ops.indexing.indexing import getitem as _getitem  # noqa: F401
from .ops.indexing.updating import At as _At  # noqa: F401
from .ops.indexing.updating import at_get as _at_get  # noqa: F401
from .ops.indexing.updating import at_update as _at_update  # noqa: F401
from .ops.manipulation import *
from .ops.reduction import *
from .ops.sorting import *

if _TYPE_CHECKING:
    from . import nnet3

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

__all__ = [
    "BlockPartition",
    "DynamicShapeError",
    "RaggedArray",
    "RowPartition",
    "UniformPartition",
    "__array_api_version__",
    "fft",
    "linalg",
    "nn",
    "nnet3",
    "params",
    "random",
    "special",
    "testing",
]
__all__ += ops.array.__all__
__all__ += ops.creation.__all__
__all__ += ops.elementwise.__all__
__all__ += ops.functions.__all__
__all__ += ops.indexing.__all__
__all__ += ops.manipulation.__all__
__all__ += ops.reduction.__all__
__all__ += ops.sorting.__all__
__all__ += _einsum.__all__
__all__ += _products.__all__

for _module in (fft, linalg, nn, random, special):
    _guard(vars(_module), _module.__all__, _module.__name__)
_guard(globals(), [*__all__, "_at_get", "_at_update", "_getitem", "_is_contiguous"], __name__)


def __getattr__(name: str) -> object:
    """`nnet3` is imported when it is first asked for: it is as long in loading as all the rest."""
    if name == "nnet3":
        return _import_module(".nnet3", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
