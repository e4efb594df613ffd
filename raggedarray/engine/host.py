"""The standard namespace of NumPy, for what has no array argument to tell its library."""

from .._typing import Namespace
from ..backends import backend


def host_namespace() -> Namespace:
    """The standard namespace of NumPy, whose arrays functions without an array argument make."""
    return backend("numpy").xp
