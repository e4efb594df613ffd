"""The transformer of `char_transformer.py` in Equinox: how its layers take a ragged batch.

An Equinox layer works on one position, `(width,)` to `(width,)`, and is vmapped over a sequence. On a ragged batch it
is vmapped over the slots instead, by `ra.map_values`; `masked=True` keeps slack out of the gradients of its weights.
Attention, and what else mixes positions, takes the ragged array itself.

    python examples/transformer_equinox.py          # 4 epochs
    python examples/transformer_equinox.py --fast   # 1 epoch
"""

import argparse
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from char_transformer import HEADS, LAYERS, WIDTH, batch, load, pairs, schedule_for, split

import raggedarray as ra


def each(layer: Callable[[Any], Any], x: ra.RaggedArray) -> ra.RaggedArray:
    """A layer of one position for every position of ``(n, None, width)``."""
    return ra.map_values(jax.vmap(layer), x, masked=True)


class Block(eqx.Module):
    """Attention and a perceptron, each behind a norm and beside a shortcut."""

    norms: tuple[eqx.nn.RMSNorm, eqx.nn.RMSNorm]
    qkv: eqx.nn.Linear
    out: eqx.nn.Linear
    perceptron: eqx.nn.MLP

    def __init__(self, key: jax.Array) -> None:
        """Random weights."""
        keys = jax.random.split(key, 3)
        self.norms = eqx.nn.RMSNorm(WIDTH), eqx.nn.RMSNorm(WIDTH)
        self.qkv = eqx.nn.Linear(WIDTH, 3 * WIDTH, use_bias=False, key=keys[0])
        self.out = eqx.nn.Linear(WIDTH, WIDTH, use_bias=False, key=keys[1])
        self.perceptron = eqx.nn.MLP(WIDTH, WIDTH, 4 * WIDTH, depth=1, activation=jax.nn.gelu, key=keys[2])

    def __call__(self, x: ra.RaggedArray) -> ra.RaggedArray:
        """``(n, None, width)`` to the same."""
        qkv = each(self.qkv, each(self.norms[0], x))
        qkv = ra.with_inner_shape(qkv, (3, HEADS, WIDTH // HEADS))
        query, keys, value = (qkv[:, :, i] for i in range(3))
        h = ra.nn.attention(ra.nn.rotary(query), ra.nn.rotary(keys), value, causal=True)
        x = x + each(self.out, ra.with_inner_shape(h, (WIDTH,)))
        return x + each(self.perceptron, each(self.norms[1], x))


class Transformer(eqx.Module):
    """Characters to scores of the next ones."""

    embedding: eqx.nn.Embedding
    blocks: list[Block]
    norm: eqx.nn.RMSNorm

    def __init__(self, vocabulary: int, key: jax.Array) -> None:
        """Random weights."""
        first, *rest = jax.random.split(key, LAYERS + 1)
        self.embedding = eqx.nn.Embedding(weight=jax.random.normal(first, (vocabulary, WIDTH)) * 0.1)
        self.blocks = [Block(k) for k in rest]
        self.norm = eqx.nn.RMSNorm(WIDTH)

    def __call__(self, characters: ra.RaggedArray) -> ra.RaggedArray:
        """``(n, None)`` ids to ``(n, None, vocabulary)``."""
        x = ra.nn.embedding(characters, self.embedding.weight)
        for block in self.blocks:
            x = block(x)
        return ra.nn.linear(each(self.norm, x), self.embedding.weight.T)


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
    model = Transformer(len(text.characters), jax.random.key(0))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3))
    moments = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    def step(model: Transformer, moments: Any, read: ra.RaggedArray, follow: ra.RaggedArray) -> Any:
        loss, grads = eqx.filter_value_and_grad(loss_of)(model, read, follow)
        updates, moments = optimizer.update(grads, moments)
        return eqx.apply_updates(model, updates), moments, loss

    traces = ra.testing.count_traces(step)
    compiled, score = eqx.filter_jit(traces), eqx.filter_jit(loss_of)
    unseen = [ra.asarray(x, xp="jax") for x in pairs(held)]
    before = float(score(model, *unseen))
    for epoch, batches in enumerate(plan.rows):
        for rows in batches:
            model, moments, loss = compiled(model, moments, *batch(train, rows, plan.capacity))
        after = float(score(model, *unseen))
        print(f"epoch {epoch + 1}  bits a character: {float(loss):.3f}, held out {after:.3f}")
    assert traces.count == 1, "the training step was compiled more than once"
    assert after < before, "it learned nothing"


if __name__ == "__main__":
    main()
