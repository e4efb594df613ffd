"""Plain operands of products and transforms, moved to one library."""

from typing import Any

from .broadcast.rows import meet


def plain(op: str, *arrays: Any) -> list[Any]:
    """Plain arrays, in one library."""
    return meet(op, arrays)[1]
