"""Entries moved, axes changed, arrays joined and split."""

from typing import TYPE_CHECKING

from . import joining, merging, rearranging, repeating, reshaping, rows, splitting
from .joining import *
from .merging import *
from .rearranging import *
from .repeating import *
from .reshaping import *
from .rows import *
from .splitting import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += joining.__all__
    __all__ += merging.__all__
    __all__ += rearranging.__all__
    __all__ += repeating.__all__
    __all__ += reshaping.__all__
    __all__ += rows.__all__
    __all__ += splitting.__all__
