"""Tiles: rows of a flat axis cut into pieces of a static size, so that no piece holds slots of two rows.

    rows        [a b c d e] [] [f g h]      size 2
    tiles       ab cd e? fg h?              a row has as many tiles as it needs, the last one padded with zeros

Work on one tile never sees another row: neither NaN nor rounding passes from row to row, and what slack holds
is dropped when tiles are cut. There are at most ``capacity // size + nrows`` tiles, which is linear in the slots.
"""

from typing import NamedTuple

import jax.numpy as jnp

from ..._typing import Array
from .rows import row_ids


class Tiles(NamedTuple):
    """Where each tile lies, and where the tile of each slot is (arrays)."""

    first: Array
    """Splits of the tiles: row ``i`` has tiles ``first[i]:first[i + 1]``; ``int[nrows + 1]``."""
    row: Array
    """Row of each tile, ``nrows`` where unused: ``int[count]``."""
    at: Array
    """Position within its row of the first slot of each tile: ``int[count]``."""
    start: Array
    """First slot of each tile: ``int[count]``."""
    length: Array
    """Used slots of each tile: ``int[count]``."""
    place: Array
    """Place of each slot in the tiles laid end to end: ``int[capacity]``; 0 in slack."""
    used: Array
    """Which slots hold data: ``bool[capacity]``."""


def tile_size(capacity: int, nrows: int, longest: int) -> int:
    """Slots of a tile, so that a row of mean length fills one: from 16 to 128 (static)."""
    mean = min(-(-capacity // nrows), longest)
    return min(max(1 << (mean - 1).bit_length(), 16), 128)


def tile_count(capacity: int, nrows: int, size: int, longest: int | None) -> int:
    """How many tiles rows can need at most (static)."""
    most = capacity // size + min(nrows, capacity)
    return most if longest is None else min(most, nrows * -(-longest // size))


def cut(splits: Array, capacity: int, size: int, count: int, whole: bool) -> Tiles:
    """Cut rows into ``count`` tiles; ``whole`` gives each row one tile, an empty row too."""
    splits = jnp.asarray(splits)
    nrows, index = splits.shape[0] - 1, splits.dtype
    lengths = jnp.diff(splits)
    if whole:
        first = jnp.arange(nrows + 1, dtype=index)
    else:
        needed = jnp.cumsum(-(-lengths // size), dtype=index)
        first = jnp.concatenate((jnp.zeros(1, index), needed))
    row = row_ids(first, count)
    safe = jnp.minimum(row, nrows - 1)
    at = (jnp.arange(count, dtype=index) - first[safe]) * size
    length = jnp.where(row < nrows, jnp.clip(lengths[safe] - at, 0, size), 0)
    start = jnp.where(length > 0, splits[safe] + at, 0)
    ids = row_ids(splits, capacity)
    mine = jnp.minimum(ids, nrows - 1)
    position = jnp.arange(capacity, dtype=index) - splits[mine]
    used = ids < nrows
    place = jnp.where(used, (first[mine] + position // size) * size + position % size, 0)
    return Tiles(first, row, at, start, length, place, used)


def reorder(tiles: Tiles, order: Array, size: int) -> Tiles:
    """The same tiles laid down in another order; ``first`` still counts them in the old one."""
    rank = jnp.zeros_like(order).at[order].set(jnp.arange(order.shape[0], dtype=order.dtype))
    place = rank[tiles.place // size].astype(tiles.place.dtype) * size + tiles.place % size
    row, at, start, length = (a[order] for a in (tiles.row, tiles.at, tiles.start, tiles.length))
    return Tiles(tiles.first, row, at, start, length, place, tiles.used)


def to_tiles(values: Array, tiles: Tiles, size: int, heads: int) -> Array:
    """``[capacity, H, D]`` to ``[count, heads, H // heads * size, D]``, zero past each tile's length."""
    here = jnp.arange(size, dtype=tiles.start.dtype)[None, :]
    known = here < tiles.length[:, None]
    found = values[jnp.minimum(tiles.start[:, None] + here, values.shape[0] - 1)]
    found = jnp.where(known[:, :, None, None], found, 0)
    count, d = known.shape[0], values.shape[-1]
    grouped = found.reshape(count, size, heads, -1, d).transpose(0, 2, 3, 1, 4)
    return grouped.reshape(count, heads, -1, d)


def from_tiles(tiled: Array, tiles: Tiles, size: int) -> Array:
    """The inverse: ``[capacity, H, D]``, zero in slack."""
    count, heads, _, d = tiled.shape
    flat = tiled.reshape(count, heads, -1, size, d).transpose(0, 3, 1, 2, 4).reshape(count * size, -1, d)
    return jnp.where(tiles.used[:, None, None], flat[tiles.place], 0)
