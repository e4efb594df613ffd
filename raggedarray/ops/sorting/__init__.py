"""Orders within rows: sorting, sets, and cumulative functions."""

from . import scan, sets, sorting
from .scan import *
from .sets import *
from .sorting import *

__all__: list[str] = []
__all__ += scan.__all__
__all__ += sets.__all__
__all__ += sorting.__all__
