"""The transformer of `char_transformer.py` in Flax NNX: how its layers take a ragged batch.

A Flax layer works on the last axis of an array of any rank, so the flat values `(capacity, width)` of a ragged batch
are a batch of positions to it. `ra.map_values` gives them to any layer that looks at single positions: `Linear`,
`RMSNorm`, `LayerNorm`, ...; `masked=True` keeps slack out of the gradients of its weights. Attention, and what else
mixes positions, takes the ragged array itself.

    python examples/transformer_flax.py          # 4 epochs
    python examples/transformer_flax.py --fast   # 1 epoch
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import optax
from char_transformer import HEADS, LAYERS, WIDTH, batch, load, pairs, schedule_for, split
from flax import nnx

import raggedarray as ra


class Block(nnx.Module):
    """Attention and a perceptron, each behind a norm and beside a shortcut."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        """Random weights."""
        self.before = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.qkv = nnx.Linear(WIDTH, 3 * WIDTH, use_bias=False, rngs=rngs)
        self.out = nnx.Linear(WIDTH, WIDTH, use_bias=False, rngs=rngs)
        self.between = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x: ra.RaggedArray) -> ra.RaggedArray:
        """``(n, None, width)`` to the same."""
        qkv = ra.map_values(lambda v: self.qkv(self.before(v)), x, masked=True)
        qkv = ra.with_inner_shape(qkv, (3, HEADS, WIDTH // HEADS))
        query, keys, value = (qkv[:, :, i] for i in range(3))
        h = ra.nn.attention(ra.nn.rotary(query), ra.nn.rotary(keys), value, causal=True)
        x = x + ra.map_values(self.out, ra.with_inner_shape(h, (WIDTH,)), masked=True)
        return x + ra.map_values(lambda v: self.down(nnx.gelu(self.up(self.between(v)))), x, masked=True)


class Transformer(nnx.Module):
    """Characters to scores of the next ones."""

    def __init__(self, vocabulary: int, rngs: nnx.Rngs) -> None:
        """Random weights."""
        self.embed = nnx.Embed(vocabulary, WIDTH, embedding_init=nnx.initializers.normal(0.1), rngs=rngs)
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)

    def __call__(self, characters: ra.RaggedArray) -> ra.RaggedArray:
        """``(n, None)`` ids to ``(n, None, vocabulary)``."""
        x = ra.nn.embedding(characters, self.embed.embedding[...])
        for block in self.blocks:
            x = block(x)
        return ra.map_values(lambda v: self.embed.attend(self.norm(v)), x, masked=True)


def loss_of(model: Transformer, read: ra.RaggedArray, follow: ra.RaggedArray) -> jax.Array:
    """Mean cross entropy of a character, in bits."""
    return ra.nn.cross_entropy(model(read), follow) / jnp.log(2.0)


def main() -> None:
    """Train on lines of text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="one epoch")
    epochs = 1 if parser.parse_args().fast else 4
    text = load()
    train, held = split(text.lines)
    plan = schedule_for(train, epochs)
    model = Transformer(len(text.characters), nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3)), wrt=nnx.Param)

    def step(model: Transformer, optimizer: Any, read: ra.RaggedArray, follow: ra.RaggedArray) -> jax.Array:
        loss, grads = nnx.value_and_grad(loss_of)(model, read, follow)
        optimizer.update(model, grads)
        return loss

    traces = ra.testing.count_traces(step)
    compiled, score = nnx.jit(traces), nnx.jit(loss_of)
    unseen = [ra.asarray(x, xp="jax") for x in pairs(held)]
    before = float(score(model, *unseen))
    for epoch, batches in enumerate(plan.rows):
        for rows in batches:
            loss = compiled(model, optimizer, *batch(train, rows, plan.capacity))
        after = float(score(model, *unseen))
        print(f"epoch {epoch + 1}  bits a character: {float(loss):.3f}, held out {after:.3f}")
    assert traces.count == 1, "the training step was compiled more than once"
    assert after < before, "it learned nothing"


if __name__ == "__main__":
    main()
