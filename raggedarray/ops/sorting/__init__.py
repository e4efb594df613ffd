"""Orders within rows: sorting, sets, and cumulative functions."""

from typing import TYPE_CHECKING

from . import scan, sets, sorting
from .scan import *
from .sets import *
from .sorting import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += scan.__all__
    __all__ += sets.__all__
    __all__ += sorting.__all__
