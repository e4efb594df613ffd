"""Fewer entries: reductions, statistics, and where an extreme is found."""

from . import reduction, searching, statistics
from .reduction import *
from .searching import *
from .statistics import *

__all__: list[str] = []
__all__ += reduction.__all__
__all__ += searching.__all__
__all__ += statistics.__all__
