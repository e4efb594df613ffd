"""Attention, forward and backward, against ``jax.nn.dot_product_attention`` on padded data with lengths."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

import raggedarray as ra

from ._timing import seconds

HEADS, SIZE, LONGEST = 4, 64, 1024


class Case(NamedTuple):
    """A layout, what is known of it statically, and the options of attention."""

    name: str
    lengths: np.ndarray
    padded: int
    options: dict[str, Any]


def lognormal(rows: int, seed: int = 0) -> np.ndarray:
    """Row lengths with mean 128, none above 1024: evenly spaced quantiles, in any order."""
    at = (np.arange(rows) + 0.5) / rows
    lengths = np.exp(np.log(128) - 0.5 + np.asarray(scipy.special.ndtri(at)))
    lengths = np.clip(np.round(lengths), 1, LONGEST).astype(np.int32)
    return np.random.default_rng(seed).permutation(lengths)


def cases(rows: int = 16) -> list[Case]:
    skewed, uniform = lognormal(rows), np.full(2 * rows, 128, np.int32)
    return [
        Case("lognormal", skewed, LONGEST, {}),
        Case("lognormal, causal", skewed, LONGEST, {"causal": True}),
        Case("lognormal, padded to the longest", skewed, int(skewed.max()), {}),
        Case("uniform, max_length=128", uniform, 128, {"max_length": 128}),
        Case("uniform, max_length=128, causal", uniform, 128, {"max_length": 128, "causal": True}),
    ]


def ragged_step(options: dict[str, Any]) -> Callable[..., Any]:
    """Value and gradients of a weighted sum of the result."""

    def f(q: Any, k: Any, v: Any, splits: Any, weights: Any) -> Any:
        rows = [ra.from_row_splits(a, splits) for a in (q, k, v)]
        return jnp.sum(ra.nn.attention(*rows, **options).values * weights)

    return jax.value_and_grad(f, argnums=(0, 1, 2))


def padded_step(options: dict[str, Any]) -> Callable[..., Any]:
    def f(q: Any, k: Any, v: Any, lengths: Any, weights: Any) -> Any:
        out = jax.nn.dot_product_attention(
            q, k, v, is_causal=options.get("causal", False), query_seq_lengths=lengths, key_value_seq_lengths=lengths
        )
        return jnp.sum(out * weights)

    return jax.value_and_grad(f, argnums=(0, 1, 2))


def operands(case: Case, dtype: Any = jnp.float32) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments of both steps: the same numbers, flat and padded."""
    slots = int(case.lengths.sum())
    capacity = ra.bucket_size(slots)
    drawn = np.random.default_rng(1).standard_normal((4, slots, HEADS, SIZE)).astype(np.float32)
    rows = [ra.asarray(ra.from_row_lengths(a, case.lengths), xp="jax", capacity=capacity) for a in drawn]
    flat = tuple(x.values.astype(dtype) for x in rows)
    padded = tuple(ra.to_padded(x, length=case.padded).astype(dtype) for x in rows)
    return (*flat[:3], rows[0].row_splits, flat[3]), (*padded[:3], jnp.asarray(case.lengths), padded[3])


def temporary(f: Callable[..., Any], *args: Any) -> int:
    return int(jax.jit(f).lower(*args).compile().memory_analysis().temp_size_in_bytes)


def rows(rounds: int = 3) -> list[tuple[str, float, float, float, float, float]]:
    """Case, milliseconds ragged and padded, their ratio, megabytes of temporary memory, and the ratio to padded."""
    out = []
    for case in cases():
        ours, theirs = ragged_step(case.options), padded_step(case.options)
        flat, padded = operands(case)
        f, g = jax.jit(ours), jax.jit(theirs)
        np.testing.assert_allclose(f(*flat)[0], g(*padded)[0], rtol=1e-3, atol=1e-2)
        s, t = seconds(lambda f=f, a=flat: f(*a), lambda g=g, a=padded: g(*a), rounds=rounds)
        m, n = temporary(ours, *flat), temporary(theirs, *padded)
        out.append((case.name, s * 1e3, t * 1e3, s / t, m / 1e6, m / n))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
