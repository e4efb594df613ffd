"""Ragged arrays for NumPy and JAX: batches of arrays of different shapes as one value."""

from . import testing
from ._array import RaggedArray
from ._errors import DynamicShapeError
from ._partition import RowPartition, UniformPartition
from .ops import arithmetic as _arithmetic
from .ops import capacity as _capacity
from .ops import comparison as _comparison
from .ops import components as _components
from .ops import conversion as _conversion
from .ops import creation as _creation
from .ops import indexing as _indexing
from .ops import logic as _logic
from .ops import nesting as _nesting
from .ops import nn, special
from .ops import reduction as _reduction
from .ops import searching as _searching
from .ops import selection as _selection
from .ops import transcendental as _transcendental
from .ops import transforms as _transforms
from .ops.arithmetic import *  # noqa: F403
from .ops.capacity import *  # noqa: F403
from .ops.comparison import *  # noqa: F403
from .ops.components import *  # noqa: F403
from .ops.conversion import *  # noqa: F403
from .ops.creation import *  # noqa: F403
from .ops.indexing import *  # noqa: F403
from .ops.indexing import getitem as _getitem  # noqa: F401
from .ops.logic import *  # noqa: F403
from .ops.nesting import *  # noqa: F403
from .ops.reduction import *  # noqa: F403
from .ops.searching import *  # noqa: F403
from .ops.selection import *  # noqa: F403
from .ops.transcendental import *  # noqa: F403
from .ops.transforms import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
    "DynamicShapeError",
    "RaggedArray",
    "RowPartition",
    "UniformPartition",
    "nn",
    "special",
    "testing",
    *_arithmetic.__all__,
    *_capacity.__all__,
    *_comparison.__all__,
    *_components.__all__,
    *_conversion.__all__,
    *_creation.__all__,
    *_indexing.__all__,
    *_logic.__all__,
    *_nesting.__all__,
    *_reduction.__all__,
    *_searching.__all__,
    *_selection.__all__,
    *_transcendental.__all__,
    *_transforms.__all__,
]
