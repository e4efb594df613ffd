"""Functions of functions: derivatives, checks, and functions of single components."""

from typing import TYPE_CHECKING

from . import autodiff, components, plans
from .autodiff import *
from .components import *
from .plans import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += autodiff.__all__
    __all__ += components.__all__
    __all__ += plans.__all__
