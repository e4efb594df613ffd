"""Attention on JAX: blocks of queries against the blocks of keys that their row spans.

Queries and keys are cut into tiles, none of which holds slots of two rows. A tile of queries meets the tiles
of keys between the first and the last that it may see, one after the other, with the running maximum and sum
of Milakov and Gimelshein (2018), as in FlashAttention (Dao et al., 2022). The gradient keeps the output and the
logarithm of the sums, and computes the weights again. So memory is linear in the slots, plus one block of
scores, and time follows the sum of squared row lengths. Reverse mode only: a loop of traced length has no
other derivative that saves memory.
"""

from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax

from .._errors import complaint
from .._typing import Array
from . import AttentionOptions, _jax_cudnn
from ._jax_blocks import (
    Block,
    Plan,
    Where,
    arrange,
    bias_index,
    block_at,
    dot,
    flat_bias,
    kept_weights,
    key_tile,
    plan_for,
    read,
    repeat,
    scores,
    wide_dtype,
    write,
)
from ._jax_tiles import from_tiles, to_tiles


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
    if options.implementation != "xla":
        reason = _jax_cudnn.refusal(query, key, value, bias, options)
        if reason is None:
            return _jax_cudnn.attention(query, key, value, splits, options)
        if options.implementation == "cudnn":
            raise ValueError(complaint("nn.attention", "what cuDNN can do", reason, "Leave out `implementation=`."))
    plan = plan_for(shapes, nrows, heads, options, bias)
    bits = jax.random.bits(rng, (2,), "uint32") if options.dropout else None
    if bias is not None:
        table = jnp.moveaxis(jnp.broadcast_to(bias, (heads, *bias.shape[1:])), 0, -1)
        bias = table.astype(wide_dtype(query.dtype))
    return _attend(plan, query, key, value, bias, arrange(plan, splits, shapes, bits))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(plan: Plan, q: Array, k: Array, v: Array, bias: Array | None, where: Where) -> Array:
    return _forward(plan, q, k, v, bias, where)[0]


def _forward(
    plan: Plan, q: Array, k: Array, v: Array, bias: Array | None, where: Where
) -> tuple[Array, tuple[Any, ...]]:
    heads, wide = k.shape[1], wide_dtype(q.dtype)
    tiled = to_tiles(q, where.queries, plan.sizes[0], heads)
    keys, values = (to_tiles(a, where.keys, plan.sizes[1], heads) for a in (k, v))
    rows = (plan.group, *tiled.shape[1:3])

    def step(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        b = block_at(plan, tiled, where, i)

        def block(j: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            peak, total, out = state
            tile, at = key_tile(plan, b, j)
            kk, vv = (read(plan, a, i) if plan.whole else a[tile] for a in (keys, values))
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
        peak, total, out = repeat(plan, b, block, state)
        none = total == 0
        log = jnp.where(none, jnp.inf, peak + jnp.log(jnp.where(none, 1, total)))
        out = out / jnp.where(none, 1, total)[..., None]
        return write(plan, carry[0], i, out), write(plan, carry[1], i, log)

    empty = jnp.zeros((*tiled.shape[:3], v.shape[-1]), q.dtype), jnp.zeros(tiled.shape[:3], wide)
    out, log = lax.fori_loop(jnp.zeros_like(where.steps), where.steps, step, empty)
    out = from_tiles(out, where.queries, plan.sizes[0])
    return out, (q, k, v, bias, where, out, log)


def _backward(plan: Plan, saved: tuple[Any, ...], ct: Array) -> tuple[Any, ...]:
    q, k, v, bias, where, out, log = saved
    heads, wide = k.shape[1], wide_dtype(q.dtype)
    tiled = to_tiles(q, where.queries, plan.sizes[0], heads)
    cts = to_tiles(ct, where.queries, plan.sizes[0], heads)
    dots = jnp.sum(ct.astype(wide) * out.astype(wide), axis=-1, keepdims=True)
    dots = to_tiles(dots, where.queries, plan.sizes[0], heads)[..., 0]
    keys, values = (to_tiles(a, where.keys, plan.sizes[1], heads) for a in (k, v))

    def step(i: Array, carry: Any) -> Any:
        b = block_at(plan, tiled, where, i)
        dct, inner, lse = (read(plan, a, i) for a in (cts, dots, log))

        def block(j: Array, state: Any) -> Any:
            dq, dk, dv, dbias = state
            tile, at = key_tile(plan, b, j)
            kk, vv = (read(plan, a, i) if plan.whole else a[tile] for a in (keys, values))
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
    dq, dk, dv, dbias = lax.fori_loop(jnp.zeros_like(where.steps), where.steps, step, empty)
    dq = from_tiles(dq, where.queries, plan.sizes[0])
    dk, dv = (from_tiles(a, where.keys, plan.sizes[1]).astype(q.dtype) for a in (dk, dv))
    return dq, dk, dv, None if dbias is None else dbias.reshape(bias.shape), None


def _add_bias(plan: Plan, b: Block, at: Array, ds: Array, dbias: Array) -> Array:
    index = bias_index(plan, b, at, dbias.shape[0])
    by_pair = jnp.moveaxis(ds.reshape(ds.shape[0], dbias.shape[1], plan.sizes[0], -1), 1, -1)
    return dbias.at[index].add(by_pair)


cast(Any, _attend).defvjp(_forward, _backward)
