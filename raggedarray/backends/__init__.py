"""The one seam. A backend is a module that defines the functions of `Kernels`.

An op reaches an array library in two ways only: by its standard namespace (`namespace`), and by
`kernels` for what the standard lacks or what has a gradient rule of its own.
"""

from ._dtypes import is_half, kind
from ._find import backend, common, is_array, is_masked, kernels, namespace, need_plain, register
from ._protocol import AttentionOptions, Kernels, Reduction, Segments

__all__ = [
    "AttentionOptions",
    "Kernels",
    "Reduction",
    "Segments",
    "backend",
    "common",
    "is_array",
    "is_half",
    "is_masked",
    "kernels",
    "kind",
    "namespace",
    "need_plain",
    "register",
]
