"""Arithmetic of shapes, in which None is a ragged axis."""

from typing import Any

from ..._errors import error_text
from ..._typing import Shape

__all__ = ["broadcast_shapes"]


def broadcast_shapes(*shapes: Shape) -> Any:
    """The shape that arrays of these shapes broadcast to, aligned at the right.

    A size of 1 stretches to any other. A ragged axis meets size 1 or another ragged axis, whose row lengths must then
    agree; with any other size, as for sizes that differ, `ValueError` is raised.

    >>> broadcast_shapes((3, None, 2), (1, 2), (3, 1, 1))
    (3, None, 2)
    """
    out: list[int | None] = []
    for back in range(1, max((len(shape) for shape in shapes), default=0) + 1):
        sizes = {shape[-back] for shape in shapes if back <= len(shape)} - {1}
        if len(sizes) > 1:
            text = " and ".join(str(tuple(shape)) for shape in shapes)
            advice = "Make one of the sizes 1: per-row data is `b[:, None]`."
            raise ValueError(error_text("shapes that broadcast", text, advice))
        out.append(sizes.pop() if sizes else 1)
    return tuple(reversed(out))
