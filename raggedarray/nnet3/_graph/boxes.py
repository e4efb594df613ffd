"""Bounds on what can be computed and on what can be asked for: a box of t and x for each sequence and node.

A box is a column of ``int64 [4, lanes]``: first t, last t, first x, last x. Boxes make recurrences finite: nothing
outside the box of what can be computed is ever asked of a recurrent node.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from .._reads import Window
from .._typing import Bools, Ints
from .rules import Choose, Constant, Either, Every, Leaf, Maps, Maybe, Rule, Span

Box = NDArray[np.int64]
INFINITE = 2**40
"""Bounds beyond half of this are infinite."""
ROUNDS = 8
"""After this many rounds, a bound of a recurrent node that still moves is taken to move forever."""


def nothing(lanes: int) -> Box:
    """Boxes without Indexes."""
    return np.repeat(np.array([[INFINITE], [-INFINITE], [INFINITE], [-INFINITE]]), lanes, axis=1)


def everything(lanes: int) -> Box:
    """Boxes of all Indexes."""
    return -nothing(lanes)


def of_indexes(indexes: Ints, lane: NDArray[np.int64], lanes: int) -> Box:
    """The smallest boxes around rows n, t, x, whose n have the numbers ``lane``."""
    out = nothing(lanes)
    for axis in (1, 2):
        np.minimum.at(out[2 * axis - 2], lane, indexes[:, axis])
        np.maximum.at(out[2 * axis - 1], lane, indexes[:, axis])
    return out


def both(a: Box, b: Box) -> Box:
    """Intersections."""
    out = np.empty_like(a)
    out[0::2] = np.maximum(a[0::2], b[0::2])
    out[1::2] = np.minimum(a[1::2], b[1::2])
    return _tidy(out)


def hull(a: Box, b: Box) -> Box:
    """The smallest boxes around two."""
    out = np.empty_like(a)
    out[0::2] = np.minimum(a[0::2], b[0::2])
    out[1::2] = np.maximum(a[1::2], b[1::2])
    return out


def is_empty(box: Box) -> Bools:
    """Per lane, whether there is no Index."""
    out: Bools = box[0] > box[1]
    return out


def is_endless(box: Box) -> Bools:
    """Per lane, whether there are Indexes without end."""
    out: Bools = ~is_empty(box) & (np.abs(box) > INFINITE // 2).any(axis=0)
    return out


def widened(old: Box, new: Box) -> Box:
    """The new boxes, with bounds that moved set to infinity."""
    return np.where(old == new, new, everything(new.shape[1]))


def _tidy(box: Box) -> Box:
    empty = (box[0] > box[1]) | (box[2] > box[3])
    if empty.any():
        box = np.where(empty, nothing(box.shape[1]), box)
    return np.where(np.abs(box) > INFINITE // 2, np.sign(box) * INFINITE, box)


def available(rule: Rule, boxes: Mapping[int, Box], lanes: int) -> Box:
    """Where a rule may be computable, by the boxes of what it reads."""
    match rule:
        case Leaf(_, source, _, _, maps):
            return _before(boxes[source], maps)
        case Span(_, source, window):
            box = boxes[source] + np.array([[-window.last], [window.period - 1 - window.first], [0], [0]])
            return _tidy(np.where(is_empty(boxes[source]), nothing(lanes), box))
        case Every(children):
            out = everything(lanes)
            for child in children:
                out = both(out, available(child, boxes, lanes))
            return out
        case Either(first, second):
            return hull(available(first, boxes, lanes), available(second, boxes, lanes))
        case Choose(_, children):
            out = nothing(lanes)
            for child in children:
                out = hull(out, available(child, boxes, lanes))
            return out
        case Maybe() | Constant():
            return everything(lanes)


def asked(rule: Rule, box: Box) -> Iterator[tuple[Leaf | Span, Box]]:
    """Which boxes a rule asks of each leaf, for the rows of a box."""
    match rule:
        case Leaf(_, _, _, _, maps):
            yield rule, _after(box, maps)
        case Span(_, _, window):
            yield rule, _tidy(_starts(box, window) + np.array([[window.first], [window.last], [0], [0]]))
        case Every(children) | Choose(_, children):
            for child in children:
                yield from asked(child, box)
        case Either(first, second):
            yield from asked(first, box)
            yield from asked(second, box)
        case Maybe(inner):
            yield from asked(inner, box)


def passed(box: Box, maps: Maps) -> Iterator[Box]:
    """The boxes that index operators send boxes to, one after the other."""
    for k in range(len(maps)):
        yield _after(box, maps[: k + 1])


def _starts(box: Box, window: Window) -> Box:
    return _after(box, (("round", window.period, 0),))


def _after(box: Box, maps: Maps) -> Box:
    """The boxes that index operators send boxes to."""
    empty = is_empty(box)
    for kind, a, b in maps:
        box = box.copy()
        match kind:
            case "offset":
                box += np.array([[a], [a], [b], [b]])
            case "round":
                box[:2] -= box[:2] % a
            case "t" | "x":
                box[slice(0, 2) if kind == "t" else slice(2, 4)] = a
            case _:
                box[2:] //= a
    return _tidy(np.where(empty, nothing(box.shape[1]), box)) if maps else box


def _before(box: Box, maps: Maps) -> Box:
    """The largest boxes that index operators send into boxes."""
    for kind, a, b in reversed(maps):
        box, empty = box.copy(), is_empty(box)
        match kind:
            case "offset":
                box -= np.array([[a], [a], [b], [b]])
            case "round":
                box[0], box[1] = -(-box[0] // a) * a, box[1] // a * a + a - 1
            case "t" | "x":
                at = slice(0, 2) if kind == "t" else slice(2, 4)
                inside = (box[at][0] <= a) & (a <= box[at][1])
                box[at] = np.where(inside, [[-INFINITE], [INFINITE]], [[INFINITE], [-INFINITE]])
            case _:
                box[2], box[3] = box[2] * a, box[3] * a + a - 1
        box = _tidy(np.where(empty, nothing(box.shape[1]), box))
    return box
