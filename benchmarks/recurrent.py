"""Recurrent layers on JAX, against a ``lax.scan`` over the same rows padded, with masks.

The padded scan is time-major already, multiplies by the input weights once for all steps, and keeps the state of a
row that has ended. Its data are as long as the longest row.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import raggedarray as ra

from ._timing import seconds, temporary_bytes

WIDTH, ROWS = 128, 64
GATES = {"gru": 3, "lstm": 4}


def lengths(skewed: bool) -> np.ndarray:
    """Lognormal with mean 128 up to 1024, or 128 each."""
    if not skewed:
        return np.full(ROWS, 128)
    drawn = np.random.default_rng(0).lognormal(0, 1, ROWS)
    out = np.clip((drawn / drawn.mean() * 128).astype(int), 1, 1024)
    out[np.argmax(out)] = 1024
    return out


def padded(kind: str, x: Any, mask: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
    """``x`` is ``[steps, rows, width]``, the mask ``[steps, rows]``."""
    bias = b_ih + b_hh if kind == "lstm" else b_ih
    products = x @ w_ih + bias[None, None]
    initial = (jnp.zeros((x.shape[1], w_hh.shape[0])),) * (2 if kind == "lstm" else 1)

    def step(state: Any, now: Any) -> Any:
        mine, live = now
        h = state[0]
        if kind == "lstm":
            i, f, g, o = jnp.split(mine + h @ w_hh, 4, axis=1)
            c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
            new: tuple[Any, ...] = (jax.nn.sigmoid(o) * jnp.tanh(c), c)
        else:
            (rx, zx, nx), (rh, zh, nh) = (jnp.split(p, 3, axis=1) for p in (mine, h @ w_hh + b_hh[None]))
            r, z = jax.nn.sigmoid(rx + rh), jax.nn.sigmoid(zx + zh)
            new = ((1 - z) * jnp.tanh(nx + r * nh) + z * h,)
        state = tuple(jnp.where(live[:, None], a, b) for a, b in zip(new, state, strict=True))
        return state, state[0]

    last, out = lax.scan(step, initial, (products, mask))
    return out, last


def ragged(kind: str, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
    out, last = getattr(ra.nn, kind)(x, w_ih, w_hh, (b_ih, b_hh))
    return out, last if kind == "lstm" else (last,)


def parameters(kind: str) -> list[Any]:
    rng, k = np.random.default_rng(1), GATES[kind] * WIDTH
    return [jnp.asarray(rng.standard_normal(s) * 0.08, jnp.float32) for s in ((WIDTH, k), (WIDTH, k), (k,), (k,))]


Row = tuple[str, float, float, float, float]


def rows() -> list[Row]:
    """Case, milliseconds of ours and of the padded scan, ratio of times and of peak memory."""
    return [*layer_rows(), *linear_rows()]


def layer_rows() -> list[Row]:
    out = []
    for skewed in (True, False):
        n = lengths(skewed)
        host = ra.from_row_lengths(np.random.default_rng(2).standard_normal((int(n.sum()), WIDTH), dtype="float32"), n)
        x = ra.asarray(host, xp="jax")
        grid = jnp.asarray(np.moveaxis(ra.to_padded(host), 1, 0))
        mask = jnp.asarray(ra.to_mask(host).T)
        for kind in GATES:
            p = parameters(kind)

            def loss(p: Any, x: Any, kind: str = kind) -> Any:
                y, last = ragged(kind, x, *p)
                return ra.sum(y * y) + sum(jnp.sum(s) for s in last)

            def padded_loss(p: Any, x: Any, mask: Any, kind: str = kind) -> Any:
                y, last = padded(kind, x, mask, *p)
                return jnp.sum(jnp.where(mask[..., None], y * y, 0)) + sum(jnp.sum(s) for s in last)

            of_values = lambda p, v, x=x, f=loss: f(p, x.with_values(v))  # noqa: E731
            forms = {
                kind: (partial(ragged, kind), (x, *p), partial(padded, kind), (grid, mask, *p)),
                f"gradient of {kind}": (
                    jax.grad(of_values, (0, 1)), (p, x.values), jax.grad(padded_loss, (0, 1)), (p, grid, mask),
                ),
            }  # fmt: skip
            for name, (f, a, g, b) in forms.items():
                s, t = seconds(partial(jax.jit(f), *a), partial(jax.jit(g), *b), rounds=5)
                memory = temporary_bytes(f, *a) / temporary_bytes(g, *b)
                fill = "lognormal" if skewed else "of one length"
                out.append((f"{name}, {fill}", s * 1e3, t * 1e3, s / t, memory))
    return out


def linear_rows() -> list[Row]:
    """`linear_recurrence` against a scan over time, without masks."""
    out = []
    for skewed in (True, False):
        n = lengths(skewed)
        rng = np.random.default_rng(3)
        a, b = (ra.from_row_lengths(rng.uniform(0.5, 1, (int(n.sum()), WIDTH)).astype("float32"), n) for _ in range(2))
        x, y = ra.asarray(a, xp="jax"), ra.asarray(b, xp="jax")
        grids = [jnp.asarray(np.moveaxis(ra.to_padded(v), 1, 0)) for v in (a, b)]

        def padded_scan(a: Any, b: Any) -> Any:
            step = lambda h, ab: (ab[0] * h + ab[1],) * 2  # noqa: E731
            return lax.scan(step, jnp.zeros_like(b[0]), (a, b))[1]

        def ours(v: Any, w: Any, x: Any = x) -> Any:
            return ra.nn.linear_recurrence(x.with_values(v), x.with_values(w)).values

        values = (x.values, y.values)
        forms = {
            "linear_recurrence": (ours, padded_scan),
            "gradient of linear_recurrence": (
                jax.grad(lambda v, w, f=ours: jnp.sum(f(v, w) ** 2), (0, 1)),
                jax.grad(lambda a, b: jnp.sum(padded_scan(a, b) ** 2), (0, 1)),
            ),
        }
        for name, (f, g) in forms.items():
            s, t = seconds(partial(jax.jit(f), *values), partial(jax.jit(g), *grids), rounds=9)
            memory = temporary_bytes(f, *values) / temporary_bytes(g, *grids)
            out.append((f"{name}, {'lognormal' if skewed else 'of one length'}", s * 1e3, t * 1e3, s / t, memory))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
