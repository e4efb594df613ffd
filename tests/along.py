"""Functions along one axis of ragged data, by loops: a group at a time, and back to where its members were."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .nested import Layout, nest, reduce_nested


def groups_along(layout: Layout, shape: tuple[int, ...], axis: int) -> list[np.ndarray]:
    """The flat indices of the members of each row, or left-aligned column, along an axis."""
    slots = np.arange(int(np.prod(shape)), dtype=float).reshape(shape)
    found: list[np.ndarray] = []

    def note(members: np.ndarray) -> float:
        found.append(members.astype(int))
        return 0.0

    reduce_nested(note, layout, slots, (axis,), keepdims=False)
    return found


def each_group(f: Callable[[np.ndarray], Any], layout: Layout, a: np.ndarray, axis: int, dtype: Any = None) -> Any:
    """``f`` of the elements of each group, written back to its members, as nested lists."""
    flat = a.reshape(-1)
    out = np.zeros(a.size, a.dtype if dtype is None else dtype)
    for at in groups_along(layout, a.shape, axis):
        if len(at):
            out[at] = f(flat[at])
    return lists(nest(layout, out.reshape(a.shape)))


def coordinates(layout: Layout, shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Index of every element along an axis."""
    at = np.zeros(shape, dtype=int)
    depth = len(layout.levels) + 1
    if axis >= depth:
        return np.broadcast_to(
            np.arange(shape[axis - depth + 1]).reshape(-1, *(1,) * (len(shape) - axis + depth - 2)), shape
        )
    slots = nest(layout, np.arange(shape[0]))

    def walk(node: Any, level: int, index: int) -> None:
        if level == depth:
            at[int(node)] = index
            return
        for i, child in enumerate(node):
            walk(child, level + 1, i if level == axis else index)

    walk(slots, 0, 0)
    return at


def lists(x: Any) -> Any:
    return [lists(y) for y in x] if isinstance(x, list) else np.asarray(x).tolist()
