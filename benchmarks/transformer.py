"""A training step of a causal transformer: ragged against padded rows, the same model and the same tokens."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import raggedarray as ra

from ._timing import seconds

VOCABULARY, WIDTH, HEADS, LAYERS, LONGEST = 256, 128, 4, 2, 512

Params = dict[str, Any]


def init(key: Any) -> Params:
    """Embedding, layers stacked along axis 0, and the norm before the output, which shares the embedding."""
    keys = jax.random.split(key, 5)

    def normal(key: Any, *shape: int) -> Any:
        return jax.random.normal(key, shape) * shape[-2] ** -0.5

    return {
        "embedding": jax.random.normal(keys[0], (VOCABULARY, WIDTH)) * 0.02,
        "layers": {
            "qkv": normal(keys[1], LAYERS, WIDTH, 3 * WIDTH),
            "out": normal(keys[2], LAYERS, WIDTH, WIDTH),
            "up": normal(keys[3], LAYERS, WIDTH, 4 * WIDTH),
            "down": normal(keys[4], LAYERS, 4 * WIDTH, WIDTH),
            "norms": jnp.ones((LAYERS, 2, WIDTH)),
        },
        "norm": jnp.ones(WIDTH),
    }


def ragged_loss(params: Params, tokens: Any, targets: Any) -> Any:
    """Mean cross entropy of each next token: ids ``(B, None)``."""
    table = params["embedding"]
    x = ra.nn.embedding(tokens, table) + ra.nn.sinusoidal(tokens, WIDTH)

    def layer(x: Any, p: Params) -> tuple[Any, None]:
        h = ra.nn.rms_norm(x, p["norms"][0][None, None])
        qkv = ra.with_inner_shape(ra.nn.linear(h, p["qkv"]), (3, HEADS, WIDTH // HEADS))
        q, k, v = (qkv[:, :, i] for i in range(3))
        h = ra.with_inner_shape(ra.nn.attention(q, k, v, causal=True), (WIDTH,))
        x = x + ra.nn.linear(h, p["out"])
        h = ra.nn.rms_norm(x, p["norms"][1][None, None])
        return x + ra.nn.linear(ra.nn.gelu(ra.nn.linear(h, p["up"])), p["down"]), None

    x, _ = jax.lax.scan(layer, x, params["layers"])
    logits = ra.nn.linear(ra.nn.rms_norm(x, params["norm"][None, None]), table.T)
    return ra.nn.cross_entropy(logits, targets)


def padded_loss(params: Params, tokens: Any, targets: Any, lengths: Any) -> Any:
    """The same by hand: ids ``[B, T]`` with their lengths."""
    table = params["embedding"]
    at = jnp.arange(LONGEST)
    rate = 10000.0 ** (-jnp.arange(WIDTH // 2) * 2 / WIDTH)
    angle = at[:, None] * rate[None]
    x = table[tokens] + jnp.concatenate((jnp.sin(angle), jnp.cos(angle)), axis=-1)[None]

    def norm(x: Any, scale: Any) -> Any:
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-5) * scale[None, None]

    def layer(x: Any, p: Params) -> tuple[Any, None]:
        h = norm(x, p["norms"][0])
        q, k, v = jnp.split((h @ p["qkv"]).reshape(*x.shape[:2], 3, HEADS, -1), 3, axis=2)
        h = jax.nn.dot_product_attention(
            q[:, :, 0], k[:, :, 0], v[:, :, 0], is_causal=True, query_seq_lengths=lengths, key_value_seq_lengths=lengths
        )
        x = x + h.reshape(x.shape) @ p["out"]
        h = norm(x, p["norms"][1])
        return x + jax.nn.gelu(h @ p["up"]) @ p["down"], None

    x, _ = jax.lax.scan(layer, x, params["layers"])
    logits = norm(x, params["norm"]) @ table.T
    picked = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    losses = jax.nn.logsumexp(logits, axis=-1) - picked
    return jnp.sum(losses, where=at[None] < lengths[:, None]) / jnp.sum(lengths)


def make_step(loss: Callable[..., Any]) -> tuple[Callable[..., Any], Any]:
    """``step(state, *batch) -> (state, loss)`` and its first state."""
    optimizer = optax.adam(1e-3)

    def step(state: Any, *batch: Any) -> Any:
        params, moments = state
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, moments = optimizer.update(grads, moments)
        return (optax.apply_updates(params, updates), moments), value

    params = init(jax.random.key(0))
    return step, (params, optimizer.init(params))


def batches(count: int, rows: int = 16, fill: float = 0.35, seed: int = 0) -> list[Any]:
    """Token ids on NumPy whose rows fill about this part of rows of the longest length."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(count):
        drawn = rng.lognormal(0, 0.8, rows)
        lengths = np.clip(np.round(drawn * fill * LONGEST / drawn.mean()), 2, LONGEST).astype(np.int32)
        lengths[0] += max(0, round(fill * LONGEST * rows) - lengths.sum())  # what the limit cut off
        lengths = np.minimum(lengths, LONGEST)
        out.append(ra.from_row_lengths(rng.integers(0, VOCABULARY, int(lengths.sum())).astype(np.int32), lengths))
    return out


def rows(rounds: int = 5, nrows: int = 16) -> list[tuple[float, float, float, float, int]]:
    """Fill, tokens a second ragged and padded, their ratio, and how often the ragged step was compiled."""
    data = batches(4, nrows)
    capacity = ra.bucket_size(max(int(x.size) for x in data))
    ragged, padded = [], []
    for x in data:
        moved = ra.asarray(x, xp="jax", capacity=capacity)
        ragged.append((moved, moved.with_values(jnp.roll(moved.values, -1))))
        pair = (ra.to_padded(a, length=LONGEST) for a in ragged[-1])
        padded.append((*pair, jnp.asarray(x.row_lengths())))
    step, state = make_step(ragged_loss)
    traced = ra.testing.count_traces(step)
    f, g = jax.jit(traced), jax.jit(make_step(padded_loss)[0])
    for a, b in zip(ragged, padded, strict=True):
        np.testing.assert_allclose(f(state, *a)[1], g(state, *b)[1], rtol=1e-4)
    s, t = seconds(lambda: f(state, *ragged[0]), lambda: g(state, *padded[0]), rounds=rounds)
    tokens = int(data[0].size)
    return [(tokens / (nrows * LONGEST), tokens / s, tokens / t, t / s, traced.count)]


if __name__ == "__main__":
    for row in rows():
        print(*row)
