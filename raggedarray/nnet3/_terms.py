"""Small steps that all executors take: rows of a source, sums of what there is, blocks side by side, keys of nodes."""

from zlib import crc32

import jax
import jax.numpy as jnp
from jax import Array

from ._structure import Block
from .components import Key
from .components._base import pick


def node_key(key: Key, name: str) -> Key:
    """The key of a node: that of the computation and the node's name."""
    return jax.random.fold_in(key, crc32(name.encode()))


def valid(count: Array, size: int) -> Array:
    """Which slots hold rows; with a count per wave, of each wave."""
    slots = jnp.arange(size, dtype=jnp.int32)
    return slots[None, :] < count[:, None] if jnp.ndim(count) else slots < count


def term(values: Array, columns: tuple[int, int], scale: float, rows: Array | None) -> Array:
    """Columns of the rows of a source, scaled; all rows for None."""
    if columns != (0, values.shape[1]):
        values = values[:, columns[0] : columns[1]]
    read: Array = values if rows is None else pick(jnp, values, rows)
    return read if scale == 1.0 else read * scale


def add_optional(a: Array | None, b: Array | None) -> Array | None:
    """The sum of what there is."""
    return b if a is None else a if b is None else a + b


def filled(block: Block, value: Array | None, shape: tuple[int, ...]) -> Array:
    """The value of a block, zeros where there is none."""
    return jnp.zeros((*shape, block.width), jnp.float32) if value is None else value


def concat_blocks(blocks: list[Array]) -> Array:
    """Blocks side by side."""
    return blocks[0] if len(blocks) == 1 else jnp.concatenate(blocks, axis=-1)
