"""Functions of single elements."""

from typing import TYPE_CHECKING

from . import arithmetic, logic, numeric, selection, transcendental
from .arithmetic import *
from .logic import *
from .numeric import *
from .selection import *
from .transcendental import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += arithmetic.__all__
    __all__ += logic.__all__
    __all__ += numeric.__all__
    __all__ += selection.__all__
    __all__ += transcendental.__all__
