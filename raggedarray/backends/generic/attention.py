"""Attention a row at a time, in the bare standard: for NumPy and for libraries without kernels of their own.

A row's queries are taken a block at a time, so that memory is that of the values and one block of scores.
"""

from typing import Any

from ..._typing import Array
from .._dtypes import is_half
from .._find import namespace
from .._protocol import AttentionOptions

_BLOCK = 512


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
    """Each query's mean of the values of its row, weighted by the softmax of its scores: ``[capacity, H, E]``.

    ``splits`` are those of the queries and of the keys. ``bias`` is added to the scores: ``[H or 1, I, J]`` by
    position, or ``[H or 1, 2 * m + 1]`` by distance. A query that sees no key gives 0.
    """
    xp = namespace(query)
    wide = xp.float32 if is_half(query.dtype) else query.dtype
    seed = None if not options.dropout else int(rng.integers(0, 1 << 63))
    parts = [xp.zeros((0, query.shape[1], value.shape[2]), dtype=query.dtype)]
    ends, key_ends = ([int(s) for s in a] for a in splits)
    for row in range(len(ends) - 1):
        keys = slice(key_ends[row], key_ends[row + 1])
        k, v = (_heads_first(xp, xp.astype(a[keys, ...], wide, copy=False)) for a in (key, value))
        for start in range(ends[row], ends[row + 1], _BLOCK):
            stop = min(start + _BLOCK, ends[row + 1])
            q = _heads_first(xp, xp.astype(query[start:stop, ...], wide, copy=False))
            out = _block(xp, q, k, v, start - ends[row], bias, _draws(rng, seed, row, start - ends[row]), options)
            parts.append(xp.astype(xp.permute_dims(out, (1, 0, 2)), query.dtype, copy=False))
    out = xp.concat(parts)
    more = query.shape[0] - out.shape[0]
    return out if not more else xp.concat((out, xp.zeros((more, *out.shape[1:]), dtype=out.dtype)))


def _heads_first(xp: Any, a: Array) -> Array:
    return xp.permute_dims(a, (1, 0, 2))


def _draws(rng: Any, seed: int | None, row: int, start: int) -> Any:
    """A generator for one block: what it draws does not depend on other rows."""
    return None if seed is None else type(rng)(type(rng.bit_generator)([seed, row, start]))


def _block(
    xp: Any, q: Array, k: Array, v: Array, start: int, bias: Array | None, rng: Any, options: AttentionOptions
) -> Array:
    (heads, rows, _), (groups, length, _) = q.shape, k.shape
    if length == 0:
        return xp.zeros((heads, rows, v.shape[2]), dtype=q.dtype)
    i, j = xp.arange(start, start + rows)[:, None], xp.arange(length)[None, :]
    q = xp.reshape(q, (groups, heads // groups * rows, q.shape[2]))
    s = xp.reshape(xp.matmul(q, xp.matrix_transpose(k)) * options.scale, (heads, rows, length))
    if bias is not None:
        s = s + xp.astype(_bias(xp, bias, start, rows, length), s.dtype, copy=False)
    seen = None
    if options.left is not None:
        seen = j >= i - options.left
    if options.right is not None:
        ahead = j <= i + options.right
        seen = ahead if seen is None else seen & ahead
    if seen is not None:
        s = xp.where(seen[None, ...], s, xp.asarray(-float("inf"), dtype=s.dtype))
    peak = xp.max(s, axis=-1, keepdims=True)
    weight = xp.exp(s - xp.where(peak == -float("inf"), xp.zeros_like(peak), peak))
    total = xp.sum(weight, axis=-1, keepdims=True)
    weight = weight / xp.where(total == 0, xp.ones_like(total), total)
    if rng is not None:
        kept = xp.asarray(rng.random(weight.shape) >= options.dropout)
        weight = xp.astype(kept, weight.dtype) * weight / (1 - options.dropout)
    out = xp.matmul(xp.reshape(weight, (groups, heads // groups * rows, length)), v)
    return xp.reshape(out, (heads, rows, v.shape[2]))


def _bias(xp: Any, bias: Array, start: int, rows: int, length: int) -> Array:
    if bias.ndim == 3:
        return bias[:, start : start + rows, :length]
    middle = bias.shape[1] // 2
    away = xp.arange(length)[None, :] - xp.arange(start, start + rows)[:, None]
    away = xp.clip(away, min=-middle, max=middle) + middle
    return xp.reshape(xp.take(bias, xp.reshape(away, (-1,)), axis=1), (bias.shape[0], rows, length))
