"""Every public op vmapped, as on NumPy alone; gradients of those that move elements are finite differences.

Slack is poisoned, and its gradient must be 0. By day a few ops are tried.
"""

import inspect
from zlib import crc32

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from .recipes import (
    CASES,
    MOVING,
    NO_GRADIENT,
    PLAIN,
    READS,
    Recipe,
    batches,
    by_day,
    leaves,
    loss,
    on_jax,
    same,
    stack,
    weights,
)

DIFFERENTIABLE = [c for c in CASES if c.rsplit("-", 1)[0].split(":")[0] not in NO_GRADIENT]
SHARES = (1, -0.5, 0.25, 0)
POSITIVE = (1, 0.5, 0.25, 2)
"""For matrices that must stay positive definite."""


def every(n: int) -> set[str]:
    """One case in ``n``."""
    return {c for c in CASES if crc32(c.encode()) % n == 0}


@pytest.mark.parametrize("case", by_day(CASES, every(37)))
def test_vmap(case: str) -> None:
    """Over arrays, each with rows of its own, and over values of the same rows."""
    f, kind = CASES[case]
    plain, given = batches(kind), weights(kind)
    xs = [on_jax(x, kind) for x in plain]

    def both(x: RaggedArray, first: RaggedArray, values: jax.Array) -> tuple[object, object]:
        return f(x, *given), f(first.with_values(values), *given)

    shares = POSITIVE if kind == "squares" else SHARES
    values = jnp.stack([xs[0].values * share for share in shares])
    got = jax.jit(jax.vmap(both, (0, None, 0)))(stack(xs), xs[0], values)
    for i, (x, share) in enumerate(zip(plain, shares, strict=True)):
        for out, y in zip(got, (x, plain[0].with_values(plain[0].values * share)), strict=True):
            want = f(on_jax(y, kind) if kind == "random" else ra.astype(y, "float32"), *given)
            same(jax.tree.map(lambda a, i=i: a[i], out), want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", by_day([c for c in DIFFERENTIABLE if c in MOVING], every(20)))
def test_gradient(case: str) -> None:
    f, kind = CASES[case]
    plain = batches(kind)
    filled = [*(on_jax(x, kind) for x in plain), on_jax(plain[0], kind, fill="inf")]
    slope = ra.grad(lambda x: loss(f, x))
    grads = list(jax.jit(jax.vmap(slope))(stack(filled)).values)
    np.testing.assert_array_equal(grads[-1], grads[0])
    if kind == "flat":
        alone = jax.jit(slope)
        grads += [alone(x).values for x in filled[:-1]]
        np.testing.assert_array_equal(alone(filled[-1]).values, grads[-len(plain)])
        plain += [plain[0], *plain]
    for x, grad in zip(plain, grads, strict=False):
        want = linear(f, x, kind) if kind == "random" else differences(f, x)
        np.testing.assert_allclose(grad[: x.capacity], want, rtol=1e-4, atol=1e-5)
        assert not np.asarray(grad[x.capacity :]).any()


@pytest.mark.parametrize("case", by_day([c for c in DIFFERENTIABLE if c not in MOVING], every(60)))
def test_gradient_vmapped(case: str) -> None:
    """Of the array and of the weights, as one by one."""
    f, kind = CASES[case]
    plain, given = batches(kind), weights(kind)
    filled = [*(on_jax(x, kind) for x in plain), on_jax(plain[0], kind, fill="inf")]

    def slope(x: RaggedArray, given: list[jax.Array]) -> tuple[jax.Array, list[jax.Array]]:
        return jax.grad(lambda v, w: loss(f, x.with_values(v), *w), argnums=(0, 1))(x.values, given)

    got = jax.jit(jax.vmap(slope, (0, None)))(stack(filled), given)
    alone = jax.jit(slope)
    for i, x in enumerate(filled):
        mine = jax.tree.map(lambda a, i=i: a[i], got)
        for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(alone(x, given)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
        assert not np.asarray(mine[0][plain[i % len(plain)].capacity :]).any()
        assert all(np.isfinite(a).all() for a in jax.tree.leaves(mine))
    for a in jax.tree.leaves(got):
        np.testing.assert_array_equal(a[-1], a[0])


def differences(f: Recipe, x: RaggedArray) -> np.ndarray:
    """Central differences of the NumPy op, in float64."""
    out = np.zeros(x.values.shape)
    for at in np.ndindex(*x.values.shape):
        step = np.zeros(x.values.shape)
        step[at] = 1e-6
        high, low = (loss(f, x.with_values(x.values + sign * step)) for sign in (1, -1))
        out[at] = (high - low) / 2e-6
    return out


def linear(f: Recipe, x: RaggedArray, kind: str) -> np.ndarray:
    """The gradient of a linear function: its value at each unit vector, less that at 0."""
    zero = on_jax(x.with_values(np.zeros(x.values.shape)), kind)
    one = jax.jit(lambda x: loss(f, x))
    units = np.eye(x.capacity)
    return np.array([one(on_jax(x.with_values(u), kind)) - one(zero) for u in units])


def test_results_without_gradient_are_not_inexact() -> None:
    for name in NO_GRADIENT:
        f, kind = next(CASES[c] for c in CASES if c.rsplit("-", 1)[0] == name)
        x = batches(kind)[0]
        out = f(on_jax(x, kind) if kind == "random" else x)
        assert all(np.dtype(a.dtype).kind in "iub" for a in leaves(out)), name


@pytest.mark.parametrize("name", READS)
def test_what_reads_sizes_is_refused(name: str) -> None:
    x = on_jax(batches("flat")[0], "flat")
    with pytest.raises(TypeError, match=r"traced|concrete"):
        jax.eval_shape(READS[name], x)


def test_the_table_is_whole() -> None:
    known = {c.rsplit("-", 1)[0].split(":")[0] for c in CASES} | set(READS) | PLAIN
    families = {"": ra, **{f"{n}.": getattr(ra, n) for n in ("fft", "linalg", "nn", "random", "special")}}
    public = {p + n for p, m in families.items() for n in m.__all__ if inspect.isfunction(getattr(m, n))}
    public |= {"getitem", *(f"at.{how}" for how in ("get", "set", "add", "multiply", "min", "max"))}
    assert known == public
