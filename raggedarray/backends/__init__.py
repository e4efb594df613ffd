"""The one seam. A backend is a module, or an object, with what `Kernels` says.

An op reaches an array library in three ways: by its standard namespace (`namespace`); by `kernels`, for what the
standard lacks; and by `implementation`, for what is written once in `generic`, in the standard and kernels, and what a
library may have a faster one of, or one with a gradient rule of its own.
"""

from ._dtypes import dtype_name, is_half, kind
from ._find import (
    backend,
    common,
    implementation,
    is_array,
    is_masked,
    is_numpy,
    kernels,
    namespace,
    need_plain,
    register,
    register_backend,
    transforms,
)
from ._identity import identity
from ._protocol import AttentionOptions, ComponentFunction, Generator, Kernels, Reduction, Segments, Transforms

__all__ = [
    "AttentionOptions",
    "ComponentFunction",
    "Generator",
    "Kernels",
    "Reduction",
    "Segments",
    "Transforms",
    "backend",
    "common",
    "dtype_name",
    "identity",
    "implementation",
    "is_array",
    "is_half",
    "is_masked",
    "is_numpy",
    "kernels",
    "kind",
    "namespace",
    "need_plain",
    "register",
    "register_backend",
    "transforms",
]
