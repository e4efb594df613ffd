"""Layers as plain functions of ragged arrays and parameters."""

from ..reduction import logsumexp
from .activations import *  # noqa: F403
from .activations import __all__ as _activations
from .attention import *  # noqa: F403
from .attention import __all__ as _attention
from .bags import *  # noqa: F403
from .bags import __all__ as _bags
from .batch_norm import *  # noqa: F403
from .batch_norm import __all__ as _batch_norm
from .convolution import *  # noqa: F403
from .convolution import __all__ as _convolution
from .ctc import *  # noqa: F403
from .ctc import __all__ as _ctc
from .dropout import *  # noqa: F403
from .dropout import __all__ as _dropout
from .embedding import *  # noqa: F403
from .embedding import __all__ as _embedding
from .interpolation import *  # noqa: F403
from .interpolation import __all__ as _interpolation
from .losses import *  # noqa: F403
from .losses import __all__ as _losses
from .normalization import *  # noqa: F403
from .normalization import __all__ as _normalization
from .pooling import *  # noqa: F403
from .pooling import __all__ as _pooling
from .positions import *  # noqa: F403
from .positions import __all__ as _positions
from .recurrent import *  # noqa: F403
from .recurrent import __all__ as _recurrence

__all__ = [
    "logsumexp",
    *_activations,
    *_attention,
    *_embedding,
    *_normalization,
    *_recurrence,
    *_bags,
    *_batch_norm,
    *_convolution,
    *_ctc,
    *_dropout,
    *_interpolation,
    *_losses,
    *_pooling,
    *_positions,
]
