"""Attention on JAX: blocks of queries against the blocks of keys that their row spans.

Queries and keys are cut into tiles, none of which holds slots of two rows. A tile of queries meets the tiles
of keys between the first and the last that it may see, one after the other, with the running maximum and sum
of Milakov and Gimelshein (2018), as in FlashAttention (Dao et al., 2022). The gradient keeps the output and the
logarithm of the sums, and computes the weights again. So memory is linear in the slots, plus one block of
scores, and time follows the sum of squared row lengths.

The tangent of the result is a linear function of the tangents of the operands, with a transpose of its own, which is
that gradient. Derivatives of either come from the same function with loops of a static length.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ...._errors import error_text
from ...._typing import Array
from ..._protocol import AttentionOptions
from ..linear_rules import linear_call
from ..rows import alike
from ..tiles import from_tiles, to_tiles
from . import cudnn as _jax_cudnn
from .blockwise import (
    AttentionPlan,
    Block,
    Where,
    arrange,
    bias_index,
    bias_of,
    block_at,
    dot,
    flat_bias,
    kept_weights,
    key_tile,
    look,
    over_keys,
    over_queries,
    plan_for,
    read,
    repeat,
    scores,
    wide_dtype,
    write,
)


def attention(
    query: Array,
    key: Array,
    value: Array,
    splits: tuple[Array, Array],
    bias: Array | None,
    rng: Any,
    options: AttentionOptions,
    /,
) -> Array:
    nrows, heads = splits[0].shape[0] - 1, query.shape[1]
    shapes = (query.shape[0], key.shape[0])
    if nrows == 0 or 0 in shapes or 0 in query.shape[1:] or 0 in value.shape[1:]:
        return jnp.zeros((*query.shape[:2], value.shape[2]), query.dtype)
    query, key, value, splits, bias = alike((query, key, value, tuple(map(jnp.asarray, splits)), bias))
    if options.implementation != "xla":
        reason = _jax_cudnn.refusal(query, key, value, bias, options)
        if reason is None:
            return _jax_cudnn.attention(query, key, value, splits, options)
        if options.implementation == "cudnn":
            raise ValueError(error_text("what cuDNN can do", reason, "Leave out `implementation=`.", op="nn.attention"))
    plan = plan_for(shapes, nrows, heads, options, bias)
    bits = jax.random.bits(rng, (2,), "uint32") if options.dropout else None
    if bias is not None:
        table = jnp.moveaxis(jnp.broadcast_to(bias, (heads, *bias.shape[1:])), 0, -1)
        bias = table.astype(wide_dtype(query.dtype))
    return _attend(plan, query, key, value, bias, alike(arrange(plan, splits, shapes, bits), query))[0]


class Saved(NamedTuple):
    """What derivatives are computed from: the operands, the result, and the logarithm of the sums of each tile."""

    q: Array
    k: Array
    v: Array
    bias: Array | None
    where: Where
    out: Array
    log: Array


Operands = tuple[Array, Array, Array, Array | None]
"""Queries, keys, values and the bias, or their tangents."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _attend(plan: AttentionPlan, q: Array, k: Array, v: Array, bias: Array | None, where: Where) -> tuple[Array, Array]:
    """The result and the logarithm of the sums, ``[tiles, heads, queries]``; inf where there is no key."""
    heads, wide = k.shape[1], wide_dtype(q.dtype)
    tiled = to_tiles(q, where.queries, plan.sizes[0], heads)
    tiles = tuple(to_tiles(a, where.keys, plan.sizes[1], heads) for a in (k, v))
    rows = (plan.group, *tiled.shape[1:3])

    def group(i: Array) -> tuple[Array, Array]:
        b = block_at(plan, tiled, where, i)

        def block(state: tuple[Array, Array, Array], at: Array, kk: Array, vv: Array) -> tuple[Array, Array, Array]:
            peak, total, out = state
            s = scores(plan, b, kk, at, bias)
            high = jnp.maximum(peak, jnp.max(s, axis=-1))
            safe = jnp.where(jnp.isneginf(high), 0, high)  # no key yet: exp of -inf - -inf
            weight = jnp.exp(s - safe[..., None])
            fade = jnp.exp(peak - safe)
            total = total * fade + jnp.sum(weight, axis=-1)
            if where.bits is not None:
                weight = weight * kept_weights(plan, b, at, where.bits, weight.shape)
            return high, total, out * fade[..., None] + dot("thqk,thkd->thqd", weight.astype(v.dtype), vv)

        state = (jnp.full(rows, -jnp.inf, wide), jnp.zeros(rows, wide), jnp.zeros((*rows, v.shape[-1]), wide))
        peak, total, out = over_keys(plan, b, i, tiles, block, state, static=False)
        none = total == 0
        log = jnp.where(none, jnp.inf, peak + jnp.log(jnp.where(none, 1, total)))
        return out / jnp.where(none, 1, total)[..., None], log

    empty = jnp.zeros((*tiled.shape[:3], v.shape[-1]), q.dtype), jnp.zeros(tiled.shape[:3], wide)
    out, log = over_queries(plan, where, empty, group, static=False)
    return from_tiles(out, where.queries, plan.sizes[0]), log


@_attend.defjvp
def _attend_jvp(plan: AttentionPlan, primals: Any, tangents: Any) -> tuple[Any, Any]:
    q, k, v, bias, where = primals
    out, log = _attend(plan, q, k, v, bias, where)
    saved = Saved(q, k, v, bias, where, out, log)
    plain, forward = (partial(_tangent, plan, static) for static in (True, False))
    return (out, log), linear_call(plain, forward, partial(_cotangents, plan), saved, tangents[:4])


@partial(jax.jit, static_argnums=(0, 1))
def _tangent(plan: AttentionPlan, static: bool, saved: Saved, tangents: Operands) -> tuple[Array, Array]:
    """The tangents of what `_attend` gives; if ``static``, in loops that JAX can transpose and differentiate."""
    q, k, v, bias, where, out, log = saved
    dq, dk, dv, dbias = tangents
    heads, wide = k.shape[1], wide_dtype(q.dtype)
    tiled, dqs, outs = (to_tiles(a, where.queries, plan.sizes[0], heads) for a in (q, dq, out))
    tiles = tuple(to_tiles(a, where.keys, plan.sizes[1], heads) for a in (k, v, dk, dv))

    def group(i: Array) -> tuple[Array, Array]:
        b = block_at(plan, tiled, where, i)
        dqq, result, lse = (read(plan, a, i) for a in (dqs, outs, log))

        def block(state: tuple[Array, Array], at: Array, kk: Array, vv: Array, dkk: Array, dvv: Array) -> Any:
            weight = jnp.exp(scores(plan, b, kk, at, bias) - lse[..., None])
            ds = (dot("thqd,thkd->thqk", dqq, kk) + dot("thqd,thkd->thqk", b.q, dkk)) * plan.options.scale
            if dbias is not None:
                ds = ds + bias_of(plan, b, at, dbias)
            used = weight
            if where.bits is not None:
                used = weight * kept_weights(plan, b, at, where.bits, weight.shape)
            more = dot("thqk,thkd->thqd", used.astype(v.dtype), dvv)
            more = more + dot("thqk,thkd->thqd", (used * ds).astype(v.dtype), vv)
            return state[0] + more, state[1] + jnp.sum(weight * ds, axis=-1)

        state = jnp.zeros(result.shape, wide), jnp.zeros(result.shape[:3], wide)
        moved, raised = over_keys(plan, b, i, tiles, block, state, static)
        return moved - raised[..., None] * result, raised

    empty = jnp.zeros_like(outs), jnp.zeros_like(log)
    moved, raised = over_queries(plan, where, empty, group, static)
    return from_tiles(moved, where.queries, plan.sizes[0]), raised


@partial(jax.jit, static_argnums=0)
def _cotangents(plan: AttentionPlan, saved: Saved, cotangents: tuple[Array, Array]) -> Operands:
    """The transpose of `_tangent`."""
    ct, raised = cotangents
    q, k, v, bias, where, out, log = saved
    heads, wide = k.shape[1], wide_dtype(q.dtype)
    tiled = to_tiles(q, where.queries, plan.sizes[0], heads)
    cts = to_tiles(ct, where.queries, plan.sizes[0], heads)
    dots = jnp.sum(ct.astype(wide) * out.astype(wide), axis=-1, keepdims=True)
    dots = to_tiles(dots, where.queries, plan.sizes[0], heads)[..., 0] - raised
    keys, values = (to_tiles(a, where.keys, plan.sizes[1], heads) for a in (k, v))

    def step(i: Array, carry: Any) -> Any:
        b = block_at(plan, tiled, where, i)
        dct, inner, lse = (read(plan, a, i) for a in (cts, dots, log))

        def block(j: Array, state: Any) -> Any:
            dq, dk, dv, dbias = state
            tile, at = key_tile(plan, b, j)
            kk, vv = (look(plan, a, i, tile) for a in (keys, values))
            weight = jnp.exp(scores(plan, b, kk, at, bias) - lse[..., None])
            dweight = dot("thqd,thkd->thqk", dct, vv)
            used = weight
            if where.bits is not None:
                kept = kept_weights(plan, b, at, where.bits, weight.shape)
                used, dweight = weight * kept, dweight * kept
            ds = weight * (dweight - inner[..., None])
            if dbias is not None:
                dbias = _add_bias(plan, b, at, ds, dbias)
            cast = (ds * plan.options.scale).astype(q.dtype)
            more = dot("thqk,thqd->thkd", cast, b.q), dot("thqk,thqd->thkd", used.astype(v.dtype), dct)
            dk, dv = (
                write(plan, a, i, u) if plan.whole else a.at[tile].add(u) for a, u in zip((dk, dv), more, strict=True)
            )
            return dq + dot("thqk,thkd->thqd", cast, kk), dk, dv, dbias

        dqs, *rest = carry
        state = (jnp.zeros(b.q.shape, wide), *rest)
        dq, *rest = repeat(plan, b, block, state)
        return (write(plan, dqs, i, dq), *rest)

    dbias = None if bias is None else jnp.zeros_like(flat_bias(bias))
    empty = (jnp.zeros_like(tiled), jnp.zeros(keys.shape, wide), jnp.zeros(values.shape, wide), dbias)
    dq, dk, dv, dbias = lax.fori_loop(jnp.zeros_like(where.steps), where.steps, step, alike(empty, tiled))
    dq = from_tiles(dq, where.queries, plan.sizes[0])
    dk, dv = (from_tiles(a, where.keys, plan.sizes[1]).astype(q.dtype) for a in (dk, dv))
    return dq, dk, dv, None if bias is None else dbias.reshape(bias.shape)


def _add_bias(plan: AttentionPlan, b: Block, at: Array, ds: Array, dbias: Array) -> Array:
    index = bias_index(plan, b, at, dbias.shape[0])
    by_pair = jnp.moveaxis(ds.reshape(ds.shape[0], dbias.shape[1], plan.sizes[0], -1), 1, -1)
    return dbias.at[index].add(by_pair)
