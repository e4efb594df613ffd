"""Ragged arrays for NumPy and JAX: batches of arrays of different shapes as one value."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from . import _moved as _moved
from . import fft as fft
from . import linalg as linalg
from . import nn as nn
from . import ops as ops
from . import params as params
from . import random as random
from . import special as special
from . import testing as testing
from ._array import RaggedArray as RaggedArray
from ._errors import DynamicShapeError as DynamicShapeError
from ._partition import BlockPartition as BlockPartition
from ._partition import RowPartition as RowPartition
from ._partition import UniformPartition as UniformPartition
from ._signatures import Array as Array
from .engine.edge import guard as _guard
from .linalg import _einsum, _products
from .linalg._einsum import *
from .linalg._products import *
from .ops.array import *
from .ops.array.blocks import is_contiguous as _is_contiguous  # noqa: F401
from .ops.array.dtypes import __array_namespace_info__ as __array_namespace_info__
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

if TYPE_CHECKING:
    from . import nnet3 as nnet3

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = [
        "Array",
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

    def __getattr__(name):
        """`nnet3` is imported when it is first asked for: it is as long in loading as all the rest."""
        if name == "nnet3":
            return _import_module(".nnet3", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return [*__all__, "__doc__", "__version__"]
