"""Functions of single elements."""

from . import arithmetic, logic, numeric, selection, transcendental
from .arithmetic import *
from .logic import *
from .numeric import *
from .selection import *
from .transcendental import *

__all__: list[str] = []
__all__ += arithmetic.__all__
__all__ += logic.__all__
__all__ += numeric.__all__
__all__ += selection.__all__
__all__ += transcendental.__all__
