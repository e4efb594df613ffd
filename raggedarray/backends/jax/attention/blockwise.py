"""How attention on JAX is divided into blocks, and what one block computes.

A block is a group of tiles of queries against one tile of keys each. The tiles of a group need not be neighbours:
they are ordered by how many tiles of keys they look at, so that members of a group have about as much to do.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ...._typing import Array
from ..._protocol import AttentionOptions
from ..rows import alike
from ..tiles import Tiles, cut, reorder, tile_count, tile_size


class AttentionPlan(NamedTuple):
    """How the work is divided: static, and chosen from static facts only."""

    sizes: tuple[int, int]
    """Slots of a tile, of queries and of keys."""
    counts: tuple[int, int]
    group: int
    """Tiles of queries that are worked on together."""
    whole: bool
    """Whether every row is one tile: then there is no loop over keys."""
    trips: int
    """Tiles of keys that one tile of queries may look at."""
    positions: int
    """Query positions of a bias by position; 0 for one by distance, or for none."""
    options: AttentionOptions


class Where(NamedTuple):
    """Where queries and keys lie, and the random bits of dropout (integers)."""

    queries: Tiles
    """In the order of their trips, most first."""
    keys: Tiles
    facts: Array
    """`Block`'s integers of each tile of queries: ``int[count, 7]``."""
    steps: Array
    """How many groups have something to do."""
    bits: Array | None


def plan_for(shapes: tuple[int, int], nrows: int, heads: int, o: AttentionOptions, bias: Array | None) -> AttentionPlan:
    """Divide the work: a tile a row where rows about fill a static limit of their length, else 16 to 128 slots a tile.

    Several tiles are worked on at once: on a CPU as many as make up for the cost of a step, on an accelerator as
    many as fill it.
    """
    q, k = (n if m is None else min(m, n) for m, n in zip(o.longest, shapes, strict=True))
    sizes = (_round_up(q, 8), _round_up(k, 8))
    whole = max(sizes) <= 256 and all(nrows * s <= 2 * n + 8 * nrows for s, n in zip(sizes, shapes, strict=True))
    if whole:
        group = (1 << 16) // (sizes[0] * sizes[1])
        counts = (nrows, nrows)
    else:
        sizes = (tile_size(shapes[0], nrows, q), tile_size(shapes[1], nrows, k))
        group = 512 // max(sizes)
        used = [tile_count(n, nrows, s, m) for n, s, m in zip(shapes, sizes, (q, k), strict=True)]
        counts = (used[0], used[1] + 1)  # the last tile of keys stays empty, see `key_tile`
    if jax.default_backend() != "cpu":
        group = (1 << 24) // (heads * sizes[0] * sizes[1])
    group = min(max(group, 1), counts[0])
    counts = (_round_up(counts[0], group), _round_up(counts[1], group) if whole else counts[1])
    trips = -(-k // sizes[1])
    if o.left is not None and o.right is not None:
        trips = min(trips, -(-(o.left + sizes[0] + o.right) // sizes[1]) + 1)
    positions = bias.shape[1] if bias is not None and bias.ndim == 3 else 0
    return AttentionPlan(sizes, counts, group, whole, trips, positions, o)


def _round_up(n: int, to: int) -> int:
    return max(-(-n // to), 1) * to


def wide_dtype(dtype: Any) -> Any:
    return jnp.float64 if dtype == jnp.float64 else jnp.float32


class Block(NamedTuple):
    """A group of tiles of queries: ``G`` of them."""

    q: Array
    row: Array
    at: Array
    """Position of each query in its row: ``int[G, size]``."""
    low: Array
    high: Array
    """Keys that each query may see, as positions in its row: ``int[G, size]``."""
    begin: Array
    """First tile of keys to look at, counted in the row: ``int[G]``."""
    tile: Array
    """First tile of keys of the row: ``int[G]``."""
    trips: Array
    """How many tiles of keys to look at: ``int[G]``."""


def arrange(plan: AttentionPlan, splits: tuple[Array, Array], shapes: tuple[int, int], bits: Array | None) -> Where:
    """Cut both axes into tiles, and order those of the queries."""
    queries, keys = (
        cut(s, n, size, count, plan.whole)
        for s, n, size, count in zip(splits, shapes, plan.sizes, plan.counts, strict=True)
    )
    nrows, index = splits[0].shape[0] - 1, queries.at.dtype
    row = jnp.minimum(queries.row, nrows - 1)
    key_length = jnp.where(queries.length > 0, jnp.diff(jnp.asarray(splits[1]))[row], 0).astype(index)
    last = queries.at + queries.length
    left, right = plan.options.left, plan.options.right
    begin = jnp.zeros_like(row) if left is None else jnp.maximum(queries.at - left, 0) // plan.sizes[1]
    end = key_length if right is None else jnp.minimum(key_length, last + right)
    trips = jnp.maximum(-(-end // plan.sizes[1]) - begin, 0)
    facts = jnp.stack((row, queries.at, key_length, begin, keys.first[row].astype(index), trips), axis=1)
    facts = jnp.concatenate((facts, queries.length[:, None]), axis=1)
    if plan.whole:
        steps = jnp.asarray(plan.counts[0] // plan.group, index)
    else:
        order = jnp.argsort(-trips)
        queries, facts = reorder(queries, order, plan.sizes[0]), facts[order]
        steps = -(-jnp.sum(trips > 0, dtype=index) // plan.group)
    return Where(queries, keys, facts, steps, bits)


def read(plan: AttentionPlan, a: Array, i: Array) -> Array:
    return lax.dynamic_slice_in_dim(a, i * plan.group, plan.group)


def write(plan: AttentionPlan, a: Array, i: Array, u: Array) -> Array:
    return lax.dynamic_update_slice_in_dim(a, u.astype(a.dtype), i * plan.group, 0)


def block_at(plan: AttentionPlan, tiled: Array, where: Where, i: Array) -> Block:
    """Group ``i``."""
    facts = read(plan, where.facts, i)
    row, first, key_length, begin, tile, trips, length = (facts[:, n] for n in range(7))
    here = jnp.arange(plan.sizes[0], dtype=facts.dtype)[None, :]
    at = first[:, None] + here
    end = jnp.where(here < length[:, None], key_length[:, None], 0)
    left, right = plan.options.left, plan.options.right
    low = jnp.zeros_like(at) if left is None else jnp.maximum(at - left, 0)
    high = end if right is None else jnp.minimum(end, at + right + 1)
    return Block(read(plan, tiled, i), row, at, low, high, begin, tile, trips)


def over_queries(
    plan: AttentionPlan, where: Where, empty: tuple[Array, ...], f: Callable[[Array], tuple[Array, ...]], static: bool
) -> tuple[Array, ...]:
    """``f`` of every group that has something to do, written into ``empty``; if ``static`` as JAX can transpose it."""
    if static:
        found = lax.map(jax.checkpoint(f, prevent_cse=False), jnp.arange(plan.counts[0] // plan.group))
        return tuple(a.reshape(e.shape).astype(e.dtype) for a, e in zip(found, empty, strict=True))

    def step(i: Array, made: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple(write(plan, a, i, u) for a, u in zip(made, f(i), strict=True))

    out: tuple[Array, ...] = lax.fori_loop(jnp.zeros_like(where.steps), where.steps, step, alike(empty, where))
    return out


def over_keys(
    plan: AttentionPlan,
    b: Block,
    i: Array,
    arrays: tuple[Array, ...],
    block: Callable[..., Any],
    state: Any,
    static: bool,
) -> Any:
    """``state = block(state, at, *tiles of arrays)`` for every step that a member of group ``i`` needs.

    A loop of traced length; if ``static`` of a static one, whose steps past that are skipped, as JAX can transpose it.
    """
    if plan.whole or not static:

        def step(j: Array, state: Any) -> Any:
            tile, at = key_tile(plan, b, j)
            return block(state, at, *(look(plan, a, i, tile) for a in arrays))

        return repeat(plan, b, step, state)
    steps = jnp.arange(plan.trips, dtype=b.trips.dtype)
    tiles, at = jax.vmap(lambda j: key_tile(plan, b, j))(steps)

    def one(state: Any, now: tuple[Any, ...]) -> tuple[Any, None]:
        j, at, found = now
        return lax.cond(j < jnp.max(b.trips), lambda s: block(s, at, *found), lambda s: s, state), None

    # All tiles are looked up before the loop: a cotangent of the whole array in every step would be cubic in total.
    xs = steps, at, tuple(a[tiles] for a in arrays)
    return lax.scan(jax.checkpoint(one, prevent_cse=False), alike(state, b), xs)[0]


def repeat(plan: AttentionPlan, b: Block, step: Callable[[Array, Any], Any], state: Any) -> Any:
    """``step`` as often as a member of the group needs it."""
    none = jnp.zeros((), b.trips.dtype)
    return step(none, state) if plan.whole else lax.fori_loop(none, jnp.max(b.trips), step, alike(state, b))


def look(plan: AttentionPlan, a: Array, i: Array, tile: Array) -> Array:
    """Tiles of keys of group ``i``: a row has one, or they are named."""
    return read(plan, a, i) if plan.whole else a[tile]


def key_tile(plan: AttentionPlan, b: Block, j: Array) -> tuple[Array, Array]:
    """Which tile of keys each member looks at in step ``j``, and the positions of its keys: ``[G]``, ``[G, size]``.

    A member that has seen all of its tiles looks at its last one again, where it sees nothing, and one that has
    none at the last tile of all, which is never used: no member meets NaN in a tile that is not its own.
    """
    at = (b.begin + j)[:, None] * plan.sizes[1] + jnp.arange(plan.sizes[1], dtype=b.at.dtype)[None, :]
    mine = b.tile + b.begin + jnp.minimum(j, b.trips - 1)
    return jnp.where(b.trips > 0, mine, plan.counts[1] - 1), at


def dot(spec: str, a: Array, b: Array) -> Array:
    return jnp.einsum(spec, a, b, preferred_element_type=wide_dtype(a.dtype))


def bias_index(plan: AttentionPlan, b: Block, at: Array, size: int) -> Array:
    """Entry of the flat bias for each pair: ``int[G, queries, keys]``."""
    i, j = b.at[:, :, None], at[:, None, :]
    if plan.positions:
        width = size // plan.positions
        return jnp.clip(i * width + j, 0, size - 1)
    return jnp.clip(j - i + size // 2, 0, size - 1)


def flat_bias(bias: Array) -> Array:
    """Entries by heads."""
    return bias.reshape(-1, bias.shape[-1])


def bias_of(plan: AttentionPlan, b: Block, at: Array, bias: Array) -> Array:
    """The bias of each pair: ``[G, heads, queries, keys]``."""
    table = flat_bias(bias)
    found = jnp.moveaxis(table[bias_index(plan, b, at, table.shape[0])], -1, 1)
    return found.reshape(found.shape[0], b.q.shape[1], -1, found.shape[-1])


def scores(plan: AttentionPlan, b: Block, k: Array, at: Array, bias: Array | None) -> Array:
    """``[G, heads, queries, keys]``, -inf where a query must not look."""
    s = dot("thqd,thkd->thqk", b.q, k) * plan.options.scale
    g, heads, _, keys = s.shape
    if bias is not None:
        s = s + bias_of(plan, b, at, bias)
    seen = (at[:, None, :] >= b.low[:, :, None]) & (at[:, None, :] < b.high[:, :, None])
    s = jnp.where(seen[:, None, None], s.reshape(g, heads, -1, plan.sizes[0], keys), -jnp.inf)
    return s.reshape(g, heads, -1, keys)


def kept_weights(plan: AttentionPlan, b: Block, at: Array, bits: Array, shape: tuple[int, ...]) -> Array:
    """Which weights dropout keeps, scaled: a hash of row, head and the two positions, whatever the tiles are."""
    g, heads, rows, keys = shape
    per = rows // plan.sizes[0]
    mixed = _mix(bits[0] ^ _mix(bits[1] ^ b.row.astype(jnp.uint32)))
    head = jnp.arange(heads * per, dtype=jnp.uint32).reshape(1, heads, per) * jnp.uint32(0x85EBCA6B)
    mixed = _mix(mixed[:, None, None] ^ head)
    queries = b.at.astype(jnp.uint32)[:, None, None, :] * jnp.uint32(0xC2B2AE35)
    mixed = _mix(mixed[..., None] ^ queries)
    mixed = _mix(mixed[..., None] ^ (at.astype(jnp.uint32) * jnp.uint32(0x27D4EB2F))[:, None, None, None, :])
    kept = mixed >= jnp.uint32(min(round(plan.options.dropout * 2**32), 2**32 - 1))
    return jnp.where(kept, 1 / (1 - plan.options.dropout), 0.0).reshape(g, heads, rows, keys)


def _mix(x: Array) -> Array:
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)
