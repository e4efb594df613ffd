"""Plain operands of products and transforms, moved to one library."""

from typing import Any

from .broadcast.rows import to_common_backend


def plain(*arrays: Any) -> list[Any]:
    """Plain arrays, in one library."""
    return to_common_backend(arrays)[1]
