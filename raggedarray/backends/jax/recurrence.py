"""Recurrent layers on JAX: steps over packed rows, in loops that end when the rows do.

    rows       [[a, b, c], [], [d, e]]      the longest row first, then the next, ...
    packed     a d | b e | c                step 0, step 1, step 2: the rows that are still running

A step reads and writes one run of the packed slots. It works on the first rows only, as many as the stage has: a
stage of all rows ends when half of them have ended, and the next works on half. So time follows the slots in use, and
memory is linear in the capacity, whatever the longest row. Rows that end within a stage go on with what they find;
nothing of that is read. The products with the input, and in the gradient all but one product a step, are made at once
for all slots.

The number of steps is traced, so the gradient has a rule of its own: it walks back over the packed states, which is
all that is kept, and makes the gates again. Derivatives of that are taken through a plain scan over ``limit`` steps.
"""

from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from ..._typing import Array
from ..generic.recurrence import CELLS, Math, State, add, column
from .linear_rules import linear_call
from .rows import Rows, alike, row_ids


class Packed(NamedTuple):
    """Where slots lie when packed step by step (integers). ``R`` rows, ``R`` packed slots more than the capacity."""

    lengths: Array
    """Longest first."""
    order: Array
    rank: Array
    """Place of each row in ``order``."""
    running: Array
    """Rows that have a step ``t``."""
    starts: Array
    """First packed slot of step ``t``."""
    place: Array
    """Packed slot of each slot; one past the last in slack."""
    slot: Array
    """Slot of each packed slot; one past the last in slack."""
    before: Array
    """Where the state before each packed slot is, in initial states and packed ones end to end; past it in slack."""


def pack(splits: Array, capacity: int, reverse: bool) -> Packed:
    """Lay the rows out step by step, ``reverse`` from their ends."""
    ids = row_ids(splits, capacity)
    nrows, dtype = splits.shape[0] - 1, splits.dtype
    slots, zero = jnp.arange(capacity, dtype=dtype), jnp.zeros(1, dtype)
    lengths = jnp.diff(splits)
    order = jnp.argsort(-lengths, stable=True).astype(dtype)
    rank = jnp.zeros_like(order).at[order].set(jnp.arange(nrows, dtype=dtype))
    ended = jnp.cumsum(jnp.zeros(capacity + 1, dtype).at[lengths].add(1), dtype=dtype)
    running = nrows - ended
    starts = jnp.cumsum(running, dtype=dtype) - running
    first, end = Rows(nrows, splits, ids).ends()
    used = ids < nrows
    step = jnp.where(used, end - 1 - slots if reverse else slots - first, 0)
    size = capacity + nrows
    place = jnp.where(used, starts[step] + jnp.concatenate((rank, zero))[ids], size)
    slot = jnp.full(size + 1, capacity, dtype).at[place].set(jnp.where(used, slots, capacity))[:size]
    at, here = jnp.concatenate((step, zero))[slot], jnp.arange(size, dtype=dtype)
    before = jnp.where(at > 0, nrows + here - running[jnp.maximum(at - 1, 0)], here)
    before = jnp.where(slot < capacity, before, nrows + size)
    return Packed(lengths[order], order, rank, running, starts, place, slot, before)


def _pick(items: Array, index: Array) -> Array:
    """Items by index, 0 one past the last."""
    known = index < items.shape[0]
    found = items[jnp.where(known, index, 0)]
    return jnp.where(column(known, found), found, 0)


@jax.custom_jvp
def _move(items: Array, index: Array, back: Array) -> Array:
    """Items by an index that repeats none, whose inverse is ``back``: the gradient is a lookup too."""
    return _pick(items, index)


@_move.defjvp
def _move_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    items, index, back = primals

    def look(saved: tuple[Array, Array], given: Array) -> Array:
        return _pick(given, saved[0])

    def transpose(saved: tuple[Array, Array], ct: Array) -> Array:
        return _pick(ct, saved[1])

    return _move(items, index, back), linear_call(look, look, transpose, (index, back), tangents[0])


_MATH = Math(jnp.tanh, jax.nn.sigmoid, partial(jnp.split, axis=-1))
"""A split is differentiated as one join of the parts; slices would be as a sum of padded ones."""


class Loop(NamedTuple):
    """What is static: the cell, the rows of each stage, and a limit of the number of steps."""

    how: str
    sizes: tuple[int, ...]
    limit: int


_STAGES, _FEWEST = 6, 8
"""Stages to compile at most, and rows that are not worth halving."""


def stages(nrows: int) -> tuple[int, ...]:
    """Rows that each stage works on: all, half, ..."""
    sizes = [nrows]
    while sizes[-1] > _FEWEST and len(sizes) < _STAGES:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(sizes)


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
    capacity, nrows, cell = x.shape[0], splits.shape[0] - 1, CELLS[how]
    if not capacity or not nrows:
        return jnp.zeros((capacity, weights[1].shape[0]), initial[0].dtype), initial
    with nullcontext() if isinstance(splits, Tracer) else jax.ensure_compile_time_eval():  # else XLA folds constants
        p = pack(jnp.asarray(splits), capacity, reverse)
    x, weights, biases, initial, p = alike((x, weights, biases, initial, p))
    products = add(jnp.matmul(_move(x, p.slot, p.place), weights[0]), biases[0])
    hidden_bias = biases[1]
    if not cell.separate:
        products, hidden_bias = add(products, hidden_bias), None
    loop = Loop(how, stages(nrows), capacity if limit is None else min(limit, capacity))
    states = _states(loop, products, weights[1], hidden_bias, tuple(s[p.order] for s in initial), p)
    full = p.lengths[p.rank] > 0
    last = jnp.where(full, p.starts[jnp.maximum(p.lengths[p.rank] - 1, 0)] + p.rank, 0)
    final = tuple(jnp.where(column(full, s), made[last], s) for made, s in zip(states, initial, strict=True))
    return _move(states[0], p.place, p.slot), final


def _apply(how: str, products: Array, weight: Array, bias: Array | None, state: State) -> State:
    hidden = add(jnp.matmul(state[0], weight), bias)
    return CELLS[how].step(_MATH, (products, hidden) if CELLS[how].separate else (products + hidden,), state)


def _run(loop: Loop, products: Array, weight: Array, bias: Array | None, initial: State, p: Packed) -> State:
    """The state after each packed slot."""
    made = tuple(jnp.zeros_like(products, shape=(products.shape[0], s.shape[1])) for s in initial)
    state, t = initial, jnp.zeros_like(p.lengths[0])
    for n, stop in zip(loop.sizes, _bounds(loop, p)[1:], strict=True):

        def body(c: Any, n: int = n) -> Any:
            t, state, made = c
            here = partial(lax.dynamic_slice_in_dim, start_index=p.starts[t], slice_size=n)
            state = _apply(loop.how, here(products), weight, bias, state)
            made = (lax.dynamic_update_slice_in_dim(m, s, p.starts[t], 0) for m, s in zip(made, state, strict=True))
            return t + 1, state, tuple(made)

        def more(c: Any, stop: Array = stop) -> Array:
            return c[0] < stop

        state = tuple(s[:n] for s in state)
        t, state, made = lax.while_loop(more, body, (t, state, made))
    return made


def _bounds(loop: Loop, p: Packed) -> list[Array]:
    """Steps at which stages begin and end: a stage goes on while more rows run than the next has."""
    return [jnp.zeros_like(p.lengths[0]), *(p.lengths[n] for n in loop.sizes[1:]), p.lengths[0]]


_states = jax.custom_jvp(_run, nondiff_argnums=(0,))


@_states.defjvp
def _states_jvp(loop: Loop, primals: Any, tangents: Any) -> tuple[State, State]:
    *operands, p = primals
    made = _states(loop, *operands, p)

    def moved(run: Any, saved: Any, given: Any) -> State:
        operands, p, _ = saved
        out: State = jax.jvp(lambda *a: run(loop, *a, p), operands, given)[1]
        return out

    def transpose(saved: Any, cotangents: State) -> Any:
        operands, p, made = saved
        return _gradient(loop, operands, cotangents, p, made)

    saved = tuple(operands), p, made
    return made, linear_call(partial(moved, _plain), partial(moved, _run), transpose, saved, tuple(tangents[:4]))


def _gradient(loop: Loop, operands: Any, cotangents: State, p: Packed, made: State) -> Any:
    """Cotangents of the operands of `_states`: products, weight, bias and initial states."""
    products, weight, bias, initial = operands
    cell = CELLS[loop.how]
    before = tuple(_pick(jnp.concatenate((s, m)), p.before) for s, m in zip(initial, made, strict=True))
    hidden = add(jnp.matmul(before[0], weight), bias)
    parts = (products, hidden) if cell.separate else (products + hidden,)
    grads = tuple(jnp.zeros_like(g) for g in parts)
    towards = tuple(jnp.zeros_like(s[:0]) for s in initial)
    bounds = _bounds(loop, p)
    for n, low, high in reversed(list(zip(loop.sizes, bounds[:-1], bounds[1:], strict=True))):

        def body(c: Any, n: int = n) -> Any:
            t, towards, grads = c
            t = t - 1
            here = partial(lax.dynamic_slice_in_dim, start_index=p.starts[t], slice_size=n)
            live = (jnp.arange(n, dtype=p.running.dtype) < p.running[t])[:, None]
            _, pull = jax.vjp(partial(cell.step, _MATH), tuple(map(here, parts)), tuple(map(here, before)))
            given = tuple(a + here(b) for a, b in zip(towards, cotangents, strict=True))
            found, back = pull(given)
            # What follows in these places belongs to later steps, and is there already.
            found = tuple(jnp.where(live, g, here(old)) for g, old in zip(found, grads, strict=True))
            back = (back[0] + jnp.matmul(found[-1], weight.T), *back[1:])
            grads = (lax.dynamic_update_slice_in_dim(o, g, p.starts[t], 0) for o, g in zip(grads, found, strict=True))
            return t, tuple(jnp.where(live, b, 0) for b in back), tuple(grads)

        def more(c: Any, low: Array = low) -> Array:
            return c[0] > low

        towards = tuple(jnp.pad(s, ((0, n - s.shape[0]), (0, 0))) for s in towards)
        _, towards, grads = lax.while_loop(more, body, (high, towards, grads))
    return grads[0], jnp.matmul(before[0].T, grads[-1]), None if bias is None else jnp.sum(grads[-1], axis=0), towards


def _plain(loop: Loop, products: Array, weight: Array, bias: Array | None, initial: State, p: Packed) -> State:
    """`_states` by a scan over all steps that there could be, which JAX can differentiate to any order."""
    nrows, ranks = initial[0].shape[0], jnp.arange(initial[0].shape[0], dtype=p.slot.dtype)

    def step(state: State, t: Array) -> tuple[State, State]:
        live = (ranks < p.running[t])[:, None]
        at = jnp.where(live[:, 0], p.starts[t] + ranks, products.shape[0])
        new = _apply(loop.how, _pick(products, at), weight, bias, state)
        state = tuple(jnp.where(live, a, b) for a, b in zip(new, state, strict=True))
        return state, state

    steps = jnp.arange(loop.limit, dtype=p.slot.dtype)
    grid = lax.scan(step, initial, steps)[1]
    here = jnp.arange(products.shape[0], dtype=p.slot.dtype)
    t = jnp.clip(jnp.searchsorted(p.starts, here, side="right") - 1, 0, loop.limit - 1)
    known = p.slot < p.place.shape[0]
    at = jnp.where(known, t * nrows + here - p.starts[t], nrows * loop.limit)
    return tuple(_pick(g.reshape(nrows * loop.limit, -1), at) for g in grid)
