"""Functions of functions: derivatives, checks, and functions of single components."""

from . import autodiff, components, plans
from .autodiff import *
from .components import *
from .plans import *

__all__: list[str] = []
__all__ += autodiff.__all__
__all__ += components.__all__
__all__ += plans.__all__
