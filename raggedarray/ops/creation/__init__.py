"""New arrays."""

from typing import TYPE_CHECKING

from . import assembling, creation, dense_creation, nesting
from .assembling import *
from .creation import *
from .dense_creation import *
from .nesting import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += assembling.__all__
    __all__ += creation.__all__
    __all__ += dense_creation.__all__
    __all__ += nesting.__all__
