"""Entries by index, key or mask, and updates of them."""

from . import gathering, indexing, masking, updating
from .gathering import *
from .indexing import *
from .masking import *
from .updating import *

__all__: list[str] = []
__all__ += gathering.__all__
__all__ += indexing.__all__
__all__ += masking.__all__
__all__ += updating.__all__
