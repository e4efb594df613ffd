"""JAX kernels of layers: products that accumulate wide, bags of table entries, alignments of labels.

A bag is summed a block of tokens at a time: the looked-up entries of one block stay in cache, a third of the time of
looking all of them up first, and ``[tokens, item]`` is never stored, forward or backward. The recursion over
alignments (Graves et al., 2006) runs over time with all rows side by side, in log space, and keeps one
``[slots, states]`` array; the tangent of a loss is the posterior of the states times the tangent of the frames, so
that every mode differentiates it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..._typing import Array
from .._identity import identity
from .._protocol import Reduction
from ..generic.ctc import terminal
from .linear_rules import linear_call
from .rows import alike, row_ids, unhalved

BLOCK = 1 << 17
"""Elements of a table looked up at a time."""


def contract(x: Array, w: Array, /) -> Array:
    both = jnp.result_type(x, w)
    wide = unhalved(both)
    return jnp.matmul(x.astype(both), w.astype(both), preferred_element_type=wide)


def bag(how: Reduction, table: Array, ids: Array, weights: Array | None, splits: Array, /) -> Array:
    num, row = splits.shape[0] - 1, row_ids(splits, ids.shape[0])
    table, ids, weights, row = alike((table, ids, weights, row))
    inside = row < num
    ids = jnp.where(inside, ids, 0)
    ids = jnp.where(ids < 0, table.shape[0], ids)
    if weights is not None:
        weights = jnp.where(inside, weights, 0)  # the gradient of the table contracts over slots
    return _bag(table, weights, ids, row, how, num)


def _entries(table: Array, ids: Array, weights: Array | None, fill: Any) -> Array:
    found = jnp.take(table, ids, axis=0, mode="fill", fill_value=fill)
    return _scaled(found.astype(unhalved(found.dtype)), weights)


def _scaled(found: Array, weights: Array | None) -> Array:
    return found if weights is None else found * weights.astype(unhalved(weights.dtype))[:, None]


def _unknown(table: Array) -> Any:
    return jnp.nan if jnp.issubdtype(table.dtype, jnp.inexact) else None


def _bag_plain(table: Array, weights: Array | None, ids: Array, row: Array, how: Reduction, num: int) -> Array:
    reduce = jax.ops.segment_sum if how == "sum" else jax.ops.segment_max
    return reduce(_entries(table, ids, weights, _unknown(table)), row, num + 1)[:num]


class _Blocks(NamedTuple):
    """Tokens a block at a time; those that pad the last one are in row ``num``."""

    number: int
    tokens: int
    ids: Array
    row: Array
    weights: Array | None

    @staticmethod
    def of(weights: Array | None, ids: Array, row: Array, item: int, num: int) -> "_Blocks":
        tokens = max(BLOCK // max(item, 1), 64)
        count = -(-ids.shape[0] // tokens)
        more = (0, count * tokens - ids.shape[0])
        weights = None if weights is None else jnp.pad(weights, more)
        return _Blocks(count, tokens, jnp.pad(ids, more), jnp.pad(row, more, constant_values=num), weights)

    def each(self, step: Callable[[Array, Array, Array, Array | None], Array], total: Array) -> Array:
        """``total = step(total, ids, row, weights)`` for each block."""

        def body(i: Array, total: Array) -> Array:
            cut = partial(lax.dynamic_slice_in_dim, start_index=i * self.tokens, slice_size=self.tokens)
            return step(total, cut(self.ids), cut(self.row), None if self.weights is None else cut(self.weights))

        out: Array = lax.fori_loop(0, self.number, body, alike(total, self.ids))
        return out


@partial(jax.custom_jvp, nondiff_argnums=(4, 5))
def _bag(table: Array, weights: Array | None, ids: Array, row: Array, how: Reduction, num: int) -> Array:
    blocks = _Blocks.of(weights, ids, row, table.shape[1], num)
    if blocks.number <= 1:
        return _bag_plain(table, weights, ids, row, how, num)
    return _bag_blocks(table, blocks, how, num, _unknown(table))


def _bag_blocks(table: Array, blocks: _Blocks, how: Reduction, num: int, fill: Any) -> Array:
    dtype = jax.eval_shape(lambda: _entries(table, blocks.ids, blocks.weights, fill)).dtype
    start = jnp.full((num + 1, table.shape[1]), identity(how, dtype, jnp), dtype)

    def step(total: Array, ids: Array, row: Array, weights: Array | None) -> Array:
        found = _entries(table, ids, weights, fill)
        return total.at[row].add(found) if how == "sum" else total.at[row].max(found)

    return blocks.each(step, start)[:num]


@_bag.defjvp
def _bag_jvp(how: Reduction, num: int, primals: Any, tangents: Any) -> tuple[Array, Array]:
    table, weights, ids, row = primals
    value = _bag(table, weights, ids, row, how, num)
    blocks = _Blocks.of(weights, ids, row, table.shape[1], num)
    if how != "sum" or blocks.number <= 1 or not table.shape[0]:
        return value, jax.jvp(lambda t, w: _bag_plain(t, w, ids, row, how, num), (table, weights), tangents[:2])[1]
    moved = _bag_linear(tangents[0], blocks, num)
    if weights is not None:
        moved = moved + jax.ops.segment_sum(_entries(table, ids, tangents[1], 0), row, num + 1)[:num]
    return value, moved


def _bag_linear(table: Array, blocks: _Blocks, num: int) -> Array:
    """A sum as a linear function of the table, whose transpose goes block by block too.

    JAX would transpose the loop into one that adds a whole table a block.
    """

    def plain(blocks: _Blocks, table: Array) -> Array:
        return jax.ops.segment_sum(_entries(table, blocks.ids, blocks.weights, 0), blocks.row, num + 1)[:num]

    def forward(blocks: _Blocks, table: Array) -> Array:
        return _bag_blocks(table, blocks, "sum", num, 0)

    def transpose(blocks: _Blocks, ct: Array) -> Array:
        given = jnp.concatenate((ct, jnp.zeros_like(ct, shape=(1, ct.shape[1]))))

        def step(total: Array, ids: Array, row: Array, weights: Array | None) -> Array:
            return total.at[ids].add(_scaled(given[row], weights).astype(total.dtype), mode="drop")

        return blocks.each(step, jnp.zeros(table.shape, unhalved(table.dtype))).astype(table.dtype)

    out: Array = linear_call(plain, forward, transpose, blocks, table)
    return out


def ctc(frames: Array, classes: Array, counts: Array, splits: Array, /) -> Array:
    if not classes.shape[0]:
        return jnp.zeros((0,), frames.dtype)
    return _ctc(*alike((frames, classes, counts, splits, row_ids(splits, frames.shape[0]))))


def _sum_logs(*terms: Array) -> Array:
    return _log_of_sum(jnp.stack(terms), 0)


def _log_of_sum(terms: Array, axis: int) -> Array:
    """``logsumexp``, whose derivatives are finite where all is -inf."""
    peak = lax.stop_gradient(jnp.max(terms, axis=axis, keepdims=True))
    safe = jnp.where(peak == -jnp.inf, 0, peak)
    total = jnp.sum(jnp.exp(terms - safe), axis=axis)
    nothing = total == 0
    log = jnp.log(jnp.where(nothing, 1, total)) + jnp.squeeze(safe, axis)
    return jnp.where(nothing, -jnp.inf, log)


def _from_left(a: Array, places: int) -> Array:
    return jnp.pad(a, ((0, 0), (places, 0)), constant_values=-jnp.inf)[:, : a.shape[1]]


def _from_right(a: Array, places: int) -> Array:
    return jnp.pad(a, ((0, 0), (0, places)), constant_values=-jnp.inf)[:, places:]


def _entries_at(a: Array, index: Array) -> Array:
    """``take_along_axis`` of axis 1; the transpose of jax's own fails in ``checkify.index_checks`` (jax 0.10.2)."""
    return a[jnp.arange(a.shape[0])[:, None], index]


def _emissions(frames: Array, classes: Array, row: Array) -> Array:
    """Log probability of each state in each frame, ``[slots, states]``; of its tangents, their tangents."""
    mine = jnp.concatenate((classes, jnp.zeros_like(classes[:1])))[row]
    return _entries_at(frames, mine)


def _slots(splits: Array, t: Array, slots: int) -> tuple[Array, Array]:
    """Slot of each row's frame ``t`` (``slots`` where the row has none), and whether it has one."""
    here = t < jnp.diff(splits)
    return jnp.where(here, splits[:-1] + t, slots), here[:, None]


def _alphas(emit: Array, classes: Array, splits: Array, keep: bool) -> tuple[Array, Array]:
    """The last forward variables of each row, and if kept those of every slot, with a dummy one behind."""
    slots, states = emit.shape
    skip = _skips(classes)
    first = jnp.where(jnp.arange(states)[None, :] <= 1, 0.0, -jnp.inf).astype(emit.dtype)
    padded = jnp.concatenate((emit, jnp.zeros_like(emit[:1]) if slots else jnp.zeros((1, states), emit.dtype)))
    nothing = jnp.full(classes.shape, -jnp.inf, emit.dtype)
    kept = jnp.full((slots + 1, states) if keep else (1, 1), -jnp.inf, emit.dtype)

    def body(t: Array, carry: Any) -> Any:
        alpha, kept = carry
        at, here = _slots(splits, t, slots)
        moved = _sum_logs(alpha, _from_left(alpha, 1), jnp.where(skip, _from_left(alpha, 2), -jnp.inf))
        alpha = jnp.where(here, jnp.where(t == 0, first, moved) + padded[at], alpha)
        return alpha, kept.at[at].set(alpha) if keep else kept

    start = alike((nothing, kept), emit)
    out: tuple[Array, Array] = lax.fori_loop(0, jnp.max(jnp.diff(splits), initial=0), body, start)
    return out


def _skips(classes: Array) -> Array:
    """Whether a state may be reached past the blank before it: a label unlike the last one."""
    states = jnp.arange(classes.shape[1])[None, :]
    unlike = jnp.concatenate((jnp.zeros_like(classes[:, :2], bool), classes[:, 2:] != classes[:, :-2]), axis=1)
    return (states % 2 == 1) & unlike[:, : classes.shape[1]]


def _total(alpha: Array, counts: Array, splits: Array) -> Array:
    """Log probability of all alignments of each row."""
    ends = jnp.where(terminal(counts, alpha.shape[1], jnp), alpha, -jnp.inf)
    total = _log_of_sum(ends, 1)
    nothing = jnp.where(counts == 0, 0.0, -jnp.inf).astype(total.dtype)
    return jnp.where(jnp.diff(splits) == 0, nothing, total)


@jax.custom_jvp
def _ctc(frames: Array, classes: Array, counts: Array, splits: Array, row: Array) -> Array:
    alpha, _ = _alphas(_emissions(frames, classes, row), classes, splits, keep=False)
    return _loss(_total(alpha, counts, splits))


def _loss(total: Array) -> Array:
    return jnp.maximum(0 - total, 0)  # rounding takes the sum of all alignments above 1


@_ctc.defjvp
def _ctc_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    loss, weight = _shares(*primals)
    return loss, _moved(primals, weight, tangents[0])


def _moved(operands: Any, weight: Array, tangent: Array) -> Array:
    """Tangent of the loss from that of the frames."""
    _, classes, counts, _, row = operands
    moved = jnp.sum(weight * _emissions(tangent, classes, row), axis=1)
    return -jax.ops.segment_sum(moved, row, counts.shape[0] + 1)[:-1]


@jax.custom_jvp
def _shares(frames: Array, classes: Array, counts: Array, splits: Array, row: Array) -> tuple[Array, Array]:
    """The loss, and the probability of each state in each frame: minus its derivative by the emissions."""
    emit = _emissions(frames, classes, row)
    alpha, kept = _alphas(emit, classes, splits, keep=True)
    total = _total(alpha, counts, splits)
    weight = _posteriors(emit, kept, classes, counts, splits, total)
    return _loss(total), jnp.where((row < counts.shape[0])[:, None], weight[:-1], 0)


@_shares.defjvp
def _shares_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    frames, *others = primals
    loss, weight = _shares(*primals)
    bent = jax.jvp(lambda frames: _plain_shares(frames, *others), (frames,), tangents[:1])[1]
    return (loss, weight), (_moved(primals, weight, tangents[0]), bent)


def _plain_shares(frames: Array, classes: Array, counts: Array, splits: Array, row: Array) -> Array:
    """The same probabilities by a scan over slots, which JAX can differentiate to any order, in linear memory."""
    slots, rows = frames.shape[0], counts.shape[0]
    if not slots:
        return jnp.zeros((slots, classes.shape[1]), frames.dtype)
    at = jnp.minimum(row, rows - 1)
    emit = jnp.where((row < rows)[:, None], _emissions(frames, classes, row), 0)
    first = jnp.where(jnp.arange(emit.shape[1]) <= 1, 0.0, -jnp.inf).astype(emit.dtype)
    starts = jnp.arange(slots, dtype=splits.dtype) == splits[at]
    nothing, first, emit, skips, starts = alike(
        (jnp.full_like(first, -jnp.inf), first, emit, _skips(classes)[at], starts)
    )

    def step(alpha: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        emitted, skip, start = now
        one, two = (jnp.pad(alpha, (n, 0), constant_values=-jnp.inf)[: alpha.shape[0]] for n in (1, 2))
        moved = _sum_logs(alpha, one, jnp.where(skip, two, -jnp.inf))
        alpha = jnp.where(start, first, moved) + emitted
        return alpha, alpha

    def total(emit: Array) -> Array:
        alphas = lax.scan(step, nothing, (emit, skips, starts))[1]
        found = _total(alphas[jnp.clip(splits[1:] - 1, 0, slots - 1)], counts, splits)
        return jnp.sum(jnp.where(found == -jnp.inf, 0, found))

    shares: Array = jax.grad(total)(emit)
    return shares


def _posteriors(emit: Array, kept: Array, classes: Array, counts: Array, splits: Array, total: Array) -> Array:
    """Probability of each state in each frame; 0 where no alignment is possible. Overwrites ``kept`` slot by slot."""
    slots = emit.shape[0]
    lengths = jnp.diff(splits)
    skip = jnp.pad(_skips(classes), ((0, 0), (0, 2)))[:, 2:]
    end = jnp.where(terminal(counts, classes.shape[1], jnp), 0.0, -jnp.inf).astype(emit.dtype)
    padded = jnp.concatenate((emit, jnp.zeros((1, emit.shape[1]), emit.dtype)))
    longest = jnp.max(lengths, initial=0)
    reach = jnp.where(total == -jnp.inf, 0, total)[:, None]

    def body(i: Array, carry: Any) -> Any:
        ahead, kept = carry
        t = longest - 1 - i
        at, here = _slots(splits, t, slots)
        moved = _sum_logs(ahead, _from_right(ahead, 1), jnp.where(skip, _from_right(ahead, 2), -jnp.inf))
        beta = jnp.where((t == lengths - 1)[:, None], end, moved)
        seen = jnp.where((total == -jnp.inf)[:, None], 0, jnp.exp(kept[at] + beta - reach))
        return jnp.where(here, beta + padded[at], ahead), kept.at[at].set(seen)

    nothing = jnp.full(classes.shape, -jnp.inf, emit.dtype)
    out: Array = lax.fori_loop(0, longest, body, alike((nothing, kept), emit))[1]
    return out
