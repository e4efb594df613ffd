"""What an eager op on JAX costs beside its jitted body, and how often it compiles."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import raggedarray as ra

from ._timing import seconds


def batch(slots: int, nrows: int, seed: int = 0, capacity: int | None = None) -> Any:
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, slots + 1, nrows - 1))
    splits = np.concatenate(([0], cuts, [slots])).astype(np.int32)
    x = ra.from_row_splits(rng.standard_normal(slots).astype(np.float32), splits)
    return ra.asarray(x, xp="jax", capacity=capacity)


OPS: dict[str, Any] = {
    "exp(x)": lambda x, y: ra.exp(x),
    "x * 2": lambda x, y: x * 2.0,
    "x + y": lambda x, y: x + y,
    "sum(x, axis=1)": lambda x, y: ra.sum(x, axis=1),
    "softmax(x)": lambda x, y: ra.nn.softmax(x),
}


def _wrap(values: Any, splits: Any) -> Any:
    return ra.RaggedArray(values, (ra.RowPartition(splits),))


def _values(out: Any) -> Any:
    return out.values if isinstance(out, ra.RaggedArray) else out


def rows() -> list[tuple[str, str, float, float, float]]:
    """Op, slots, microseconds jitted and eager, and the ratio."""
    out = []
    for slots, inner, rounds in ((64, 200, 15), (1_000_000, 1, 31)):
        x = batch(slots, max(slots // 10, 4))
        y = x.with_values(x.values + 1)
        for name, f in OPS.items():
            jitted = jax.jit(lambda v, w, s, f=f: _values(f(_wrap(v, s), _wrap(w, s))))
            args = (x.values, y.values, x.row_splits)
            times = seconds(
                lambda g=jitted, a=args: g(*a), lambda f=f, x=x, y=y: _values(f(x, y)), inner=inner, rounds=rounds
            )
            jit_time, eager = times
            out.append((name, f"{slots}", jit_time * 1e6, eager * 1e6, eager / jit_time))
    return out


def compilations(batches: int = 50) -> int:
    """Programs compiled by five eager ops over batches of one capacity."""
    data = [batch(40 + s % 20, 8, seed=s, capacity=64) for s in range(batches)]
    count = 0

    def listen(event: str, duration: float, **kwargs: Any) -> None:
        nonlocal count
        count += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    jax.clear_caches()
    jnp.zeros(1).block_until_ready()
    count = 0
    for x in data:
        for f in OPS.values():
            f(x, x)
    return count


if __name__ == "__main__":
    for row in rows():
        print(*row)
    print("compilations over 50 batches of one bucket, 5 ops:", compilations())
