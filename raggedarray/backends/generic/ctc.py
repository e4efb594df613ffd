"""Minus the log probability of labels, summed over their alignments."""

from typing import Any

from ..._typing import Array
from .._find import namespace


def terminal(counts: Array, states: int, xp: Any, /) -> Array:
    """States in which an alignment of so many labels may end: the last label and the blank behind it."""
    at = xp.arange(states, dtype=counts.dtype)[None, :]
    return (at == 2 * counts[:, None]) | (at == 2 * counts[:, None] - 1)


def ctc(frames: Array, classes: Array, counts: Array, splits: Array, /) -> Array:
    """Minus the log probability of each row's labels in log probabilities ``[capacity, classes]`` of frames.

    ``classes`` are those of the states, ``[nrows, states]``: a blank before, between and behind ``counts`` labels.
    """
    xp = namespace(frames)
    num, states = classes.shape
    lengths = splits[1:] - splits[:-1]
    at = xp.broadcast_to(xp.arange(states)[None, :], (num, states))
    none = xp.full((num, states + 2), -float("inf"), dtype=frames.dtype)
    unlike = xp.concat((xp.zeros((num, min(states, 2)), dtype=xp.bool), classes[:, 2:] != classes[:, :-2]), axis=1)
    skip = (at % 2 == 1) & unlike
    alpha = none[:, :states]
    for t in range(int(xp.max(lengths)) if num else 0):
        here = lengths > t
        slot = xp.where(here, splits[:-1] + t, xp.zeros_like(lengths))
        emit = xp.take_along_axis(xp.take(frames, slot, axis=0), classes, axis=1)
        if t == 0:
            moved = xp.where(at <= 1, xp.zeros_like(emit), none[:, :states])
        else:
            wide = xp.concat((none[:, :2], alpha), axis=1)
            past = xp.where(skip, wide[:, :states], none[:, :states])
            moved = xp.logaddexp(xp.logaddexp(alpha, wide[:, 1 : states + 1]), past)
        alpha = xp.where(here[:, None], moved + emit, alpha)
    ends = xp.where(terminal(counts, states, xp), alpha, none[:, :states])
    peak = xp.max(ends, axis=1) if num else xp.zeros((0,), dtype=frames.dtype)
    safe = xp.where(peak == -float("inf"), xp.zeros_like(peak), peak)
    total = xp.sum(xp.exp(ends - safe[:, None]), axis=1)
    possible = total > 0
    log = xp.log(xp.where(possible | xp.isnan(total), total, xp.ones_like(total))) + safe
    log = xp.where(possible | xp.isnan(total), log, xp.full_like(log, -float("inf")))
    nothing = xp.where(counts == 0, xp.zeros_like(log), xp.full_like(log, -float("inf")))
    loss = 0 - xp.where(lengths == 0, nothing, log)
    return xp.where(loss < 0, xp.zeros_like(loss), loss)  # rounding takes the sum of all alignments above 1
