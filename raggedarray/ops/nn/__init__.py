"""Layers as plain functions of ragged arrays and parameters."""

from ..reduction import logsumexp
from .activations import *  # noqa: F403
from .activations import __all__ as _activations
from .embedding import *  # noqa: F403
from .embedding import __all__ as _embedding
from .normalization import *  # noqa: F403
from .normalization import __all__ as _normalization

__all__ = ["logsumexp", *_activations, *_embedding, *_normalization]
