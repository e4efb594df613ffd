"""Fewer entries: reductions, statistics, and where an extreme is found."""

from typing import TYPE_CHECKING

from . import reduction, searching, statistics
from .reduction import *
from .searching import *
from .statistics import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += reduction.__all__
    __all__ += searching.__all__
    __all__ += statistics.__all__
