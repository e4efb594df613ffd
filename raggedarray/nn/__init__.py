"""Layers as plain functions of ragged arrays and parameters."""

from typing import TYPE_CHECKING

from ..ops.reduction.reduction import logsumexp as logsumexp
from . import (
    _activations,
    _attention,
    _bags,
    _batch_norm,
    _convolution,
    _ctc,
    _dropout,
    _embedding,
    _interpolation,
    _losses,
    _normalization,
    _pooling,
    _positions,
    _recurrent,
)
from ._activations import *
from ._attention import *
from ._bags import *
from ._batch_norm import *
from ._convolution import *
from ._ctc import *
from ._dropout import *
from ._embedding import *
from ._interpolation import *
from ._losses import *
from ._normalization import *
from ._pooling import *
from ._positions import *
from ._recurrent import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = ["logsumexp"]
    __all__ += _activations.__all__
    __all__ += _attention.__all__
    __all__ += _bags.__all__
    __all__ += _batch_norm.__all__
    __all__ += _convolution.__all__
    __all__ += _ctc.__all__
    __all__ += _dropout.__all__
    __all__ += _embedding.__all__
    __all__ += _interpolation.__all__
    __all__ += _losses.__all__
    __all__ += _normalization.__all__
    __all__ += _pooling.__all__
    __all__ += _positions.__all__
    __all__ += _recurrent.__all__

    def __dir__():
        return [*__all__, "__doc__"]
