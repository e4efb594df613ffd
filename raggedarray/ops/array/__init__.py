"""An array as it is stored: conversion, blocks, capacity, components, comparison, dtypes, shapes."""

from . import blocks, capacity, comparison, components, conversion, dtypes, shapes
from .blocks import *
from .capacity import *
from .comparison import *
from .components import *
from .conversion import *
from .dtypes import *
from .shapes import *

__all__: list[str] = []
__all__ += blocks.__all__
__all__ += capacity.__all__
__all__ += comparison.__all__
__all__ += components.__all__
__all__ += conversion.__all__
__all__ += dtypes.__all__
__all__ += shapes.__all__
