"""Ragged arrays for NumPy and JAX: batches of arrays of different shapes as one value."""

from importlib import import_module as _import_module
from typing import Any as _Any

from . import params, testing
from ._array import RaggedArray
from ._edge import guard as _guard
from ._errors import DynamicShapeError
from ._partition import BlockPartition, RowPartition, UniformPartition
from .ops import arithmetic as _arithmetic
from .ops import assembling as _assembling
from .ops import blocks as _blocks_ops
from .ops import bucket_plan as _bucket_plan
from .ops import capacity as _capacity
from .ops import comparison as _comparison
from .ops import components as _components
from .ops import conversion as _conversion
from .ops import creation as _creation
from .ops import dense_creation as _dense_creation
from .ops import dtypes as _dtypes
from .ops import einsum as _einsum
from .ops import fft, linalg, nn, random, special
from .ops import gathering as _gathering
from .ops import joining as _joining
from .ops import linear_algebra as _linear_algebra
from .ops import logic as _logic
from .ops import map_components as _map_components
from .ops import masking as _masking
from .ops import merging as _merging
from .ops import nesting as _nesting
from .ops import numeric as _numeric
from .ops import rearranging as _rearranging
from .ops import reduction as _reduction
from .ops import repeating as _repeating
from .ops import reshaping as _reshaping
from .ops import rows as _rows
from .ops import scan as _scan
from .ops import searching as _searching
from .ops import selection as _selection
from .ops import sets as _sets
from .ops import shapes as _shapes
from .ops import sorting as _sorting
from .ops import splitting as _splitting
from .ops import statistics as _statistics
from .ops import transcendental as _transcendental
from .ops import transforms as _transforms
from .ops.arithmetic import *  # noqa: F403
from .ops.assembling import *  # noqa: F403
from .ops.blocks import *  # noqa: F403
from .ops.blocks import is_contiguous as _is_contiguous  # noqa: F401
from .ops.bucket_plan import *  # noqa: F403
from .ops.capacity import *  # noqa: F403
from .ops.comparison import *  # noqa: F403
from .ops.components import *  # noqa: F403
from .ops.conversion import *  # noqa: F403
from .ops.creation import *  # noqa: F403
from .ops.dense_creation import *  # noqa: F403
from .ops.dtypes import *  # noqa: F403
from .ops.einsum import *  # noqa: F403
from .ops.gathering import *  # noqa: F403
from .ops.indexing import getitem as _getitem  # noqa: F401
from .ops.joining import *  # noqa: F403
from .ops.linear_algebra import *  # noqa: F403
from .ops.logic import *  # noqa: F403
from .ops.map_components import *  # noqa: F403
from .ops.masking import *  # noqa: F403
from .ops.merging import *  # noqa: F403
from .ops.nesting import *  # noqa: F403
from .ops.numeric import *  # noqa: F403
from .ops.rearranging import *  # noqa: F403
from .ops.reduction import *  # noqa: F403
from .ops.repeating import *  # noqa: F403
from .ops.reshaping import *  # noqa: F403
from .ops.rows import *  # noqa: F403
from .ops.scan import *  # noqa: F403
from .ops.searching import *  # noqa: F403
from .ops.selection import *  # noqa: F403
from .ops.sets import *  # noqa: F403
from .ops.shapes import *  # noqa: F403
from .ops.sorting import *  # noqa: F403
from .ops.splitting import *  # noqa: F403
from .ops.statistics import *  # noqa: F403
from .ops.transcendental import *  # noqa: F403
from .ops.transforms import *  # noqa: F403
from .ops.updating import At as _At  # noqa: F401
from .ops.updating import at_get as _at_get  # noqa: F401
from .ops.updating import at_update as _at_update  # noqa: F401

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
    *_arithmetic.__all__,
    *_assembling.__all__,
    *_blocks_ops.__all__,
    *_bucket_plan.__all__,
    *_capacity.__all__,
    *_comparison.__all__,
    *_components.__all__,
    *_conversion.__all__,
    *_creation.__all__,
    *_dense_creation.__all__,
    *_dtypes.__all__,
    *_einsum.__all__,
    *_gathering.__all__,
    *_joining.__all__,
    *_linear_algebra.__all__,
    *_logic.__all__,
    *_map_components.__all__,
    *_masking.__all__,
    *_merging.__all__,
    *_nesting.__all__,
    *_numeric.__all__,
    *_rearranging.__all__,
    *_reduction.__all__,
    *_rows.__all__,
    *_repeating.__all__,
    *_reshaping.__all__,
    *_scan.__all__,
    *_searching.__all__,
    *_selection.__all__,
    *_sets.__all__,
    *_sorting.__all__,
    *_splitting.__all__,
    *_statistics.__all__,
    *_shapes.__all__,
    *_transcendental.__all__,
    *_transforms.__all__,
]

for _module in (fft, linalg, nn, random, special):
    _guard(vars(_module), _module.__all__, _module.__name__)
_guard(globals(), [*__all__, "_at_get", "_at_update", "_getitem", "_is_contiguous"], __name__)


def __getattr__(name: str) -> _Any:
    """`nnet3` is imported when it is first asked for: it is as long in loading as all the rest."""
    if name == "nnet3":
        return _import_module(".nnet3", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
