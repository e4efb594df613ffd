"""Recurrences along rows on JAX whose step is given: a linear one, or any function.

A linear recurrence is a scan of an associative operation, with resets where rows start (Blelloch, Prefix sums and
their applications, 1990): slots are cut into blocks, all blocks are scanned side by side, what they add up to is
scanned in turn, and a second pass takes what came before each block. A reset selects and never multiplies by 0, so
that neither NaN nor infinity crosses rows. The gradient is the same recurrence the other way round: JAX takes both
from the linear equations that they solve.

Any other function is scanned over time, all rows side by side.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..._typing import Array
from ..generic.recurrence import Leaves, Step, column, element
from .rows import Rows, alike, anywhere, row_ids

_BLOCK = 64
"""Slots of a block: the passes have so many steps."""


def linear_recurrence(a: Array, b: Array, initial: Array | None, splits: Array, /, *, reverse: bool) -> Array:
    capacity, nrows = b.shape[0], splits.shape[0] - 1
    if not capacity or not nrows or not b.size:
        return jnp.zeros_like(b)
    a, b, initial, splits = alike((a, b, initial, jnp.asarray(splits)))
    rows = Rows(nrows, splits, row_ids(splits, capacity))
    first, end = rows.ends()
    here, used = jnp.arange(capacity, dtype=splits.dtype), rows.ids < nrows
    if initial is not None:
        full = jnp.diff(splits) > 0
        at = jnp.where(full, splits[1:] - 1 if reverse else splits[:-1], 0)
        b = b.at[at].add(jnp.where(column(full, initial), a[at], 0) * initial)
    return _linear(reverse, a, b, Ends((here == first) | ~used, (here == end - 1) | ~used, used))


class Ends(NamedTuple):
    """Which slots begin and end rows, those of slack among both, and which are in use."""

    heads: Array
    tails: Array
    used: Array


def _linear(reverse: bool, a: Array, b: Array, ends: Ends) -> Array:
    """``h[t] = a[t] * h[t - 1] + b[t]``, and ``b[t]`` at heads; in ``reverse`` after ``h[t + 1]``, and at tails.

    That is a system of linear equations for ``h``, and so is its transpose, the other way round.
    """
    step, first = (-1, ends.tails) if reverse else (1, ends.heads)

    def equations(h: Array) -> Array:
        anew = column(first, h)
        return h - jnp.where(anew, 0, a) * jnp.where(anew, 0, jnp.roll(h, step, axis=0))

    def solved(_: Any, b: Array) -> Array:
        return _run(reverse, a, b, ends)

    def transposed(_: Any, ct: Array) -> Array:
        towards = _run(not reverse, jnp.roll(a, -step, axis=0), ct, ends)
        return jnp.where(column(ends.used, towards), towards, 0)

    h: Array = lax.custom_linear_solve(equations, b, solved, transposed)
    return h


def _run(reverse: bool, a: Array, b: Array, ends: Ends) -> Array:
    if reverse:
        return _blocks(a[::-1], b[::-1], ends.tails[::-1])[::-1]
    return _blocks(a, b, ends.heads)


def _blocks(a: Array, b: Array, resets: Array) -> Array:
    """The recurrence from the first slot on, with a reset where a row starts."""
    capacity = b.shape[0]
    count = -(-capacity // _BLOCK)
    more = count * _BLOCK - capacity

    def cut(v: Array) -> Array:
        v = jnp.pad(v, ((0, more), *((0, 0),) * (v.ndim - 1))) if more else v
        return v.reshape(count, _BLOCK, *v.shape[1:])

    a, b, resets = cut(a), cut(b), cut(resets)
    here = partial(lax.dynamic_index_in_dim, axis=1, keepdims=False)

    def join(t: Array, c: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """One more slot of each block: its factor, what it adds up to, and whether it has a reset."""
        factor, total, reset = c
        x, y, ends = here(a, t), here(b, t), here(resets, t)
        anew = column(ends, y)
        return jnp.where(anew, x, x * factor), jnp.where(anew, y, x * total + y), reset | ends

    def step(t: Array, c: tuple[Array, Array]) -> tuple[Array, Array]:
        h, out = c
        y = here(b, t)
        h = jnp.where(column(here(resets, t), y), y, here(a, t) * h + y)
        return h, lax.dynamic_update_index_in_dim(out, h, t, 1)

    before = jnp.zeros_like(b[:, 0])
    if count > 1:
        until = _blocks(*lax.fori_loop(1, _BLOCK, join, (a[:, 0], b[:, 0], resets[:, 0])))
        before = jnp.concatenate((before[:1], until[:-1]))
    _, out = lax.fori_loop(0, _BLOCK, step, (before, jnp.zeros_like(b)))
    return out.reshape(count * _BLOCK, *out.shape[2:])[:capacity]


def scan_rows(
    f: Step, carry: Leaves, xs: Leaves, splits: Array, /, *, steps: int, reverse: bool
) -> tuple[Leaves, Leaves]:
    capacity, nrows = xs[0].shape[0], splits.shape[0] - 1
    carry, xs, splits = alike((carry, xs, jnp.asarray(splits)))
    starts, lengths = splits[:-1], jnp.diff(splits)
    steps = steps if capacity and nrows else 0
    t = jnp.arange(steps, dtype=splits.dtype)
    at, live = jax.vmap(partial(element, starts, lengths, reverse=reverse))(t)
    xs = [jnp.where(splits[-1] > 0, x, jnp.ones((), x.dtype)) for x in xs]  # all slack: steps of other devices read it
    grids = [x[at] if steps else jnp.zeros((0, nrows, *x.shape[1:]), x.dtype) for x in xs]

    def run(carry: Leaves, now: tuple[Leaves, Array, Array]) -> tuple[Leaves, Leaves]:
        found, live, _ = now
        # Where a row has ended, whatever gradient the step has there must stop: 0 times infinity is not 0.
        new, ys = f([_until(live, c) for c in carry], [_until(live, x) for x in found])
        return [jnp.where(column(live, a), a, b) for a, b in zip(new, carry, strict=True)], ys

    firsts = [g[0] if steps else jnp.zeros(g.shape[1:], g.dtype) for g in grids]
    found, shapes = jax.eval_shape(f, carry, firsts)
    carry = alike(carry, found, shapes)  # `f` may close over what differs between devices

    def skip(carry: Leaves, now: tuple[Leaves, Array, Array]) -> tuple[Leaves, Leaves]:
        nothing: tuple[Leaves, Leaves] = alike((carry, [jnp.zeros(y.shape, y.dtype) for y in shapes]), now[1])
        return nothing

    def step(carry: Leaves, now: tuple[Leaves, Array, Array]) -> tuple[Leaves, Leaves]:
        out: tuple[Leaves, Leaves] = lax.cond(now[2], run, skip, carry, now)
        return out

    carry, ys = lax.scan(step, carry, (grids, live, anywhere(jnp.any(live, axis=1))))
    rows = Rows(nrows, splits, row_ids(splits, capacity))
    first, end = rows.ends()
    slots = jnp.arange(capacity, dtype=splits.dtype)
    place = (end - 1 - slots if reverse else slots - first) * nrows + rows.ids
    known = (rows.ids < nrows) & (place < steps * nrows)
    place = jnp.where(known, place, steps * nrows)
    return carry, [_read(y, place) for y in ys]


def _until(live: Array, a: Array) -> Array:
    return jnp.where(column(live, a), a, lax.stop_gradient(a))


def _read(grid: Array, place: Array) -> Array:
    flat = grid.reshape(-1, *grid.shape[2:]) if grid.size else jnp.zeros((0, *grid.shape[2:]), grid.dtype)
    return jnp.concatenate((flat, jnp.zeros((1, *flat.shape[1:]), flat.dtype)))[place]
