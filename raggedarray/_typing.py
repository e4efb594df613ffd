"""Names for the types that every layer speaks of."""

from types import EllipsisType
from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of any array-API library, or a JAX tracer, inside the package; `raggedarray.Array` is what users see."""

Namespace: TypeAlias = Any
"""An array-API namespace, such as ``array_api_compat.numpy`` or ``jax.numpy``."""

DType: TypeAlias = Any
"""A dtype of some array library, or its name."""

Axis: TypeAlias = int | tuple[int, ...] | None

Shape: TypeAlias = tuple[int | None, ...]
"""Axis sizes; ``None`` marks a ragged axis."""

Scalar: TypeAlias = bool | int | float | complex

Span: TypeAlias = slice | EllipsisType | None
"""An item of a key that takes no axis away."""
