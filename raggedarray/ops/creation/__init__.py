"""New arrays."""

from . import assembling, creation, dense_creation, nesting
from .assembling import *
from .creation import *
from .dense_creation import *
from .nesting import *

__all__: list[str] = []
__all__ += assembling.__all__
__all__ += creation.__all__
__all__ += dense_creation.__all__
__all__ += nesting.__all__
