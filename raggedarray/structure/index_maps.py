"""What can happen to the entries along one axis: how long it becomes, and where each entry comes from."""

from typing import Any, NamedTuple

from .._typing import Array
from ..backends import namespace


class Move(NamedTuple):
    """What happens along one level (static); ``n`` and ``m`` depend on ``kind``.

    ``flip``; ``roll`` by an operand; ``repeat n``; ``tile n``; ``truncate n``; ``pad n m``; ``window size step``.
    """

    kind: str
    n: int = 0
    m: int = 0


def new_length(m: Move | None, length: Any) -> Any:
    """Length of a row after a move, of an int or an array of them."""
    if m is None or m.kind in ("flip", "roll"):
        return length
    if m.kind in ("repeat", "tile"):
        return length * m.n
    if m.kind == "pad":
        return length + (m.n + m.m)
    if isinstance(length, int):
        return min(length, m.n) if m.kind == "truncate" else max((length - m.n) // m.m + 1, 0)
    xp = namespace(length)
    if m.kind == "truncate":
        return xp.minimum(length, xp.asarray(m.n, dtype=length.dtype))
    return xp.maximum((length - m.n) // m.m + 1, xp.zeros_like(length))


def source(m: Move | None, at: Array, length: Any, shift: Any) -> Array:
    """Old position in the row of new position ``at``; ``length`` is the row's old length."""
    if m is None or m.kind == "truncate":
        return at
    if m.kind == "flip":
        return length - 1 - at
    if m.kind == "repeat":
        return at // max(m.n, 1)
    if m.kind == "pad":
        return at - m.n
    if m.kind == "window":
        return at * m.m
    if isinstance(length, int):
        safe: Any = max(length, 1)
    else:
        xp = namespace(length)
        safe = xp.maximum(length, xp.ones_like(length))
    return (at - shift) % safe if m.kind == "roll" else at % safe
