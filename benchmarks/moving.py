"""Moving batches of ever new row counts to JAX, against one `jax.device_put` of arrays padded beforehand."""

from statistics import median
from typing import Any

import jax
import numpy as np

import raggedarray as ra

from ._timing import seconds

BATCHES, WIDTH = 100, 8


def batches(capacity: int) -> list[Any]:
    """Batches of 100 different row counts, three quarters full or more."""
    rng = np.random.default_rng(0)
    out = []
    for nrows in range(20, 20 + BATCHES):
        used = int(rng.integers(capacity * 3 // 4, capacity))
        lengths = rng.multinomial(used, np.ones(nrows) / nrows)
        out.append(ra.from_row_lengths(rng.standard_normal((used, WIDTH)).astype(np.float32), lengths))
    return out


def rows() -> list[tuple[str, float, float, float, int]]:
    """Case, microseconds a batch of ours and of `jax.device_put`, the ratio, and how many programs were compiled."""
    compiled = 0

    def listen(event: str, duration: float, **kwargs: Any) -> None:
        nonlocal compiled
        compiled += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    out = []
    for capacity in (1024, 4096, 65536):
        data = batches(capacity)
        for name, nrows in (("", None), (", rows too", 128)):
            padded = [ra.with_rows(ra.with_capacity(x, capacity), nrows or x.nrows) for x in data]
            leaves = [(x.values, x.row_splits) for x in padded]

            compiled = 0
            pairs = [
                seconds(
                    lambda x=x, c=capacity, n=nrows: ra.asarray(x, xp="jax", capacity=c, nrows=n),
                    lambda a=a: jax.device_put(a),
                    rounds=7,
                )
                for x, a in zip(data, leaves, strict=True)
            ]
            s, t = (median(times) for times in zip(*pairs, strict=True))
            out.append((f"{capacity} x {WIDTH}{name}", s * 1e6, t * 1e6, s / t, compiled))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
