"""Attention on a GPU, forward and backward: float32 and bfloat16, useful work as a fraction of the device's peak.

Called by ``benchmarks/gpu.py``. Useful work is that of the pairs within rows: 4 H D operations a pair forward, 2.5
times that backward. Padding, masks and what is computed again count as waste.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.attention import HEADS, SIZE, Case, lognormal, operands, padded_step, ragged_step

PEAKS = {
    "H200": {"float32": 494e12, "bfloat16": 989e12},
    "H100": {"float32": 494e12, "bfloat16": 989e12},
    "A100": {"float32": 156e12, "bfloat16": 312e12},
    "L4": {"float32": 60e12, "bfloat16": 121e12},
}
"""Dense peaks in operations a second, of TF32 for float32, which is what XLA uses by default."""


def seconds(f: Callable[[], Any], rounds: int = 7) -> float:
    jax.block_until_ready(f())
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(f())
        times.append(time.perf_counter() - start)
    return median(times)


def peak(dtype: str) -> float | None:
    kind = jax.devices()[0].device_kind
    return next((peaks[dtype] for name, peaks in PEAKS.items() if name in kind), None)


def report(rows: int = 64) -> int:
    """Print a line per case and dtype, and return how many results differ from the padded ones."""
    failed = 0
    skewed, uniform = lognormal(rows), np.full(rows, 128, np.int32)
    for dtype in ("float32", "bfloat16"):
        for case in (
            Case("lognormal", skewed, 1024, {"implementation": "xla"}),
            Case("lognormal, default", skewed, 1024, {}),
            Case("uniform, max_length=128", uniform, 128, {"max_length": 128, "implementation": "xla"}),
        ):
            flat, padded = operands(case, jnp.dtype(dtype))
            f, g = jax.jit(ragged_step(case.options)), jax.jit(padded_step({}))
            a, b = float(f(*flat)[0]), float(g(*padded)[0])
            scale = float(np.sqrt(flat[0].size))
            failed += not abs(a - b) < 0.05 * scale
            work = 14 * HEADS * SIZE * float((case.lengths.astype(float) ** 2).sum())
            ours, theirs = seconds(lambda f=f, a=flat: f(*a)), seconds(lambda g=g, a=padded: g(*a))
            most = peak(dtype)
            share = "peak unknown" if most is None else f"{work / ours / most:.1%} of peak"
            same = "ok" if abs(a - b) < 0.05 * scale else "DIFFERS"
            print(
                f"{same:8}attention, {dtype}, {case.name}: {ours * 1e3:.2f} ms, {work / ours / 1e12:.2f} TFLOP/s, "
                f"{share}; padded {theirs * 1e3:.2f} ms"
            )
    return failed
