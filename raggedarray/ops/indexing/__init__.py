"""Entries by index, key or mask, and updates of them."""

from typing import TYPE_CHECKING

from . import gathering, indexing, masking, updating
from .gathering import *
from .indexing import *
from .masking import *
from .updating import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += gathering.__all__
    __all__ += indexing.__all__
    __all__ += masking.__all__
    __all__ += updating.__all__
