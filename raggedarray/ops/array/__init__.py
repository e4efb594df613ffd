"""An array as it is stored: conversion, blocks, capacity, components, comparison, dtypes, shapes."""

from typing import TYPE_CHECKING

from . import blocks, capacity, comparison, components, conversion, dtypes, shapes
from .blocks import *
from .capacity import *
from .comparison import *
from .components import *
from .conversion import *
from .dtypes import *
from .shapes import *

if not TYPE_CHECKING:  # which reads the imports, and no list that is computed
    __all__ = []
    __all__ += blocks.__all__
    __all__ += capacity.__all__
    __all__ += comparison.__all__
    __all__ += components.__all__
    __all__ += conversion.__all__
    __all__ += dtypes.__all__
    __all__ += shapes.__all__
