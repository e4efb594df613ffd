"""Recurrences along rows in the bare standard, and the cells that every backend runs.

Rows are ordered by length, longest first, so that the rows that are still running at a step are the first ones:
no step touches a row that has ended. Data is read freely, so there is no slack here.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..._typing import Array
from .._find import namespace

State = tuple[Array, ...]
"""``[rows, H]`` each; the first is what a cell puts out."""


class Math(NamedTuple):
    """The functions that cells take from a library."""

    tanh: Callable[[Array], Array]
    sigmoid: Callable[[Array], Array]
    split: Callable[[Array, int], Sequence[Array]]
    """Equal parts of the last axis."""


class Cell(NamedTuple):
    """One step of a recurrent layer, row by row, without its matrix products."""

    gates: int
    """How many vectors of the hidden size each product has."""
    states: int
    separate: bool
    """Whether ``step`` takes the products of the input and of the hidden state apart; else their sum."""
    step: Callable[[Math, tuple[Array, ...], State], State]
    """``step(math, products, state)``"""


def _rnn(m: Math, products: tuple[Array, ...], state: State) -> State:
    return (m.tanh(products[0]),)


def _gru(m: Math, products: tuple[Array, ...], state: State) -> State:
    (rx, zx, nx), (rh, zh, nh) = (m.split(p, 3) for p in products)
    new = m.tanh(nx + m.sigmoid(rx + rh) * nh)
    return (new + m.sigmoid(zx + zh) * (state[0] - new),)


def _lstm(m: Math, products: tuple[Array, ...], state: State) -> State:
    i, f, g, o = m.split(products[0], 4)
    cell = m.sigmoid(f) * state[1] + m.sigmoid(i) * m.tanh(g)
    return m.sigmoid(o) * m.tanh(cell), cell


CELLS = {"rnn": Cell(1, 1, False, _rnn), "gru": Cell(3, 1, True, _gru), "lstm": Cell(4, 2, False, _lstm)}


def _math(xp: Any) -> Math:
    """In the bare standard, where ``exp`` could overflow."""
    return Math(xp.tanh, lambda x: 0.5 * xp.tanh(0.5 * x) + 0.5, _parts)


def _parts(x: Array, count: int) -> list[Array]:
    size = x.shape[-1] // count
    return [x[..., i * size : (i + 1) * size] for i in range(count)]


class _Step(NamedTuple):
    rows: int
    """How many rows are running: the first ones, in order of length."""
    slots: Array


def _order(splits: Array) -> Array:
    """Rows by length, longest first."""
    return namespace(splits).argsort(splits[:-1] - splits[1:], stable=True)


def _steps(splits: Array, order: Array, reverse: bool) -> Iterator[_Step]:
    xp = namespace(splits)
    first = xp.take(splits[1:] - 1 if reverse else splits[:-1], order, axis=0)
    lengths = [int(n) for n in xp.take(splits[1:] - splits[:-1], order, axis=0)]
    running = len(lengths)
    for t in range(lengths[0] if lengths else 0):
        while lengths[running - 1] <= t:
            running -= 1
        yield _Step(running, first[:running] - t if reverse else first[:running] + t)


def _along(splits: Array, initial: State, reverse: bool, f: Callable[[Array, State], State]) -> tuple[Array, State]:
    """Run ``f(slots, state)`` step by step: what it puts out, per slot, and the last state of each row."""
    xp = namespace(splits)
    order = _order(splits)
    state = tuple(xp.take(s, order, axis=0) for s in initial)
    ended: list[State] = []
    outputs, slots = [initial[0][:0, ...]], [splits[:0]]
    for step in _steps(splits, order, reverse):
        ended.append(tuple(s[step.rows :, ...] for s in state))
        state = f(step.slots, tuple(s[: step.rows, ...] for s in state))
        outputs.append(state[0])
        slots.append(step.slots)
    ended.append(state)
    back = xp.argsort(order, stable=True)
    final = tuple(xp.take(xp.concat(parts[::-1]), back, axis=0) for parts in zip(*ended, strict=True))
    return xp.take(xp.concat(outputs), xp.argsort(xp.concat(slots)), axis=0), final


def recurrence(
    how: str,
    x: Array,
    weights: tuple[Array, Array],
    biases: tuple[Array | None, Array | None],
    initial: State,
    splits: Array,
    /,
    *,
    reverse: bool,
    limit: int | None,
) -> tuple[Array, State]:
    """The outputs of a recurrent layer (``rnn``, ``gru``, ``lstm``), 0 past the last split, and final states.

    ``limit`` is a static limit of the row lengths, which nothing needs but derivatives of the gradient.
    """
    xp, cell = namespace(x), CELLS[how]
    math = _math(xp)
    from_x = add(xp.matmul(x, weights[0]), biases[0])

    def step(slots: Array, state: State) -> State:
        mine, hidden = xp.take(from_x, slots, axis=0), add(xp.matmul(state[0], weights[1]), biases[1])
        return cell.step(math, (mine, hidden) if cell.separate else (mine + hidden,), state)

    return _along(splits, initial, reverse, step)


def add(x: Array, bias: Array | None) -> Array:
    """``x + bias``, if there is one."""
    return x if bias is None else x + bias[None, :]


def linear_recurrence(a: Array, b: Array, initial: Array | None, splits: Array, /, *, reverse: bool) -> Array:
    """``h[t] = a[t] * h[t - 1] + b[t]`` within each row."""
    xp = namespace(b)
    if initial is None:
        initial = xp.zeros((splits.shape[0] - 1, *b.shape[1:]), dtype=b.dtype)

    def step(slots: Array, state: State) -> State:
        return (xp.take(a, slots, axis=0) * state[0] + xp.take(b, slots, axis=0),)

    return _along(splits, (initial,), reverse, step)[0]


Leaves = list[Array]
Step = Callable[[Leaves, Leaves], tuple[Leaves, Leaves]]


def scan_rows(
    f: Step, carry: Leaves, xs: Leaves, splits: Array, /, *, steps: int, reverse: bool
) -> tuple[Leaves, Leaves]:
    """``carry, y = f(carry, x)`` along all rows, side by side: the last carry of each, and ``y`` at each slot.

    No row is longer than ``steps``. What ``f`` gives for rows that have ended is dropped.
    """
    xp = namespace(splits)
    starts, lengths = splits[:-1], splits[1:] - splits[:-1]
    collected: list[Leaves] = []
    for t in range(max(steps, 1)):
        at, live = element(starts, lengths, t, reverse)
        if steps:
            found = [xp.take(x, at, axis=0) for x in xs]
        else:  # no element anywhere: a call on zeros tells what the results look like
            found = [xp.zeros((at.shape[0], *x.shape[1:]), dtype=x.dtype) for x in xs]
        new, y = f(carry, found)
        carry = [xp.where(column(live, a), a, b) for a, b in zip(new, carry, strict=True)]
        collected.append(y)
    slots = xp.arange(xs[0].shape[0], dtype=splits.dtype)
    rows = xp.searchsorted(splits[1:], slots, side="right")
    at = xp.take(splits[1:] - 1, rows, axis=0) - slots if reverse else slots - xp.take(starts, rows, axis=0)
    place = at * starts.shape[0] + rows
    ys = zip(*collected, strict=True)
    return carry, [xp.take(xp.concat(y), place, axis=0) for y in ys]


def element(starts: Array, lengths: Array, t: Any, reverse: bool) -> tuple[Array, Array]:
    """Slot of the element of each row at step ``t``, and whether there is one; else that of its last step.

    Of an empty row the slot is 0, which is in use if any is.
    """
    xp = namespace(starts)
    live, zero = lengths > t, xp.zeros_like(lengths)
    step = xp.where(live, t + zero, xp.where(lengths > 0, lengths - 1, zero))
    at = starts + (lengths - 1 - step if reverse else step)
    return xp.where(lengths > 0, at, zero), live


def column(mask: Array, like: Array) -> Array:
    """``[rows]`` as ``[rows, 1, ...]``, to meet ``like``."""
    return namespace(mask).reshape(mask, (mask.shape[0], *(1,) * (like.ndim - 1)))
