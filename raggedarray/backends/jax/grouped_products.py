"""Products with one matrix a row on JAX: rows are cut into tiles, and each tile meets the matrix of its row.

``lax.ragged_dot`` multiplies every slot with every matrix on a CPU, has no batching rule unless all of its operands
are batched, and no second derivative in reverse mode. A batch of products of tiles has all of them, at the cost of
padded tiles and a copy of the matrices.
"""

import jax.numpy as jnp

from ..._typing import Array
from .rows import unhalved
from .tiles import cut, from_tiles, tile_count, tile_size, to_tiles


def grouped_matmul(x: Array, weights: Array, splits: Array, /) -> Array:
    capacity, nrows, dtype = x.shape[0], splits.shape[0] - 1, jnp.result_type(x, weights)
    shape = *x.shape[:-1], weights.shape[-1]
    if not nrows or not x.size or not weights.size:
        return jnp.zeros(shape, dtype)
    size = tile_size(capacity, nrows, capacity)
    tiles = cut(splits, capacity, size, tile_count(capacity, nrows, size, None), whole=False)
    tiled = to_tiles(x.reshape(capacity, -1, x.shape[-1]), tiles, size, 1)[:, 0]
    wide = weights.astype(unhalved(weights.dtype))  # the gradient sums the tiles of a row
    mine = wide[jnp.minimum(tiles.row, nrows - 1)].astype(dtype)
    out = jnp.matmul(tiled.astype(dtype), mine)
    return from_tiles(out[:, None], tiles, size).reshape(shape)
