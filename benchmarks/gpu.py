"""The op matrix's core on an NVIDIA GPU against NumPy, and segment kernels against copy bandwidth.

``PYTHONPATH=. python benchmarks/gpu.py``: under 4 minutes, needs nothing but JAX with a GPU. It prints a line
per check, times sum, softmax and their gradients at three layouts as a fraction of the bandwidth of a device
copy, and attention as a fraction of the device's peak, and shows whether jaxlib's slow float32 scatter into few
segments (jax #38806) is met.
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import raggedarray as ra
from benchmarks import gpu_attention

LAYOUTS = {
    "2M x 64, 20k rows": (2_000_000, 64, 20_000),
    "64M, 1M rows": (64_000_000, 0, 1_000_000),
    "64M, 8 rows": (64_000_000, 0, 8),
}


def seconds(f: Callable[[], Any], rounds: int = 7) -> float:
    jax.block_until_ready(f())
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(f())
        times.append(time.perf_counter() - start)
    return median(times)


def layout(n: int, d: int, nrows: int) -> Any:
    rng = np.random.default_rng(0)
    cuts = np.sort(rng.integers(0, n, nrows - 1))
    splits = jnp.asarray(np.concatenate(([0], cuts, [n])).astype(np.int32))
    values = jax.random.normal(jax.random.key(0), (n, d) if d else (n,))
    return ra.from_row_splits(values, splits)


def agreement() -> int:
    """How many of the core ops differ from NumPy, with poisoned slack, eager and jitted, and in gradient."""
    rng, failed = np.random.default_rng(1), 0
    lengths = np.array([3, 0, 130, 1, 0, 700, 0])
    host = ra.from_row_lengths(rng.uniform(0.5, 2, (int(lengths.sum()), 3)).astype(np.float32), lengths)
    device = ra.testing.poison(ra.asarray(host, xp="jax"))
    row = rng.standard_normal((7, 1, 1)).astype(np.float32)
    ops: dict[str, Callable[[Any], Any]] = {
        "exp": ra.exp, "x * row": lambda x: x * row, "x + x": lambda x: x + x,
        "softmax": lambda x: ra.nn.softmax(x, axis=1),
        "log_softmax": lambda x: ra.nn.log_softmax(x, axis=1), "layer_norm": lambda x: ra.nn.layer_norm(x),
        "to_padded": lambda x: ra.to_padded(x, length=700), "columns": lambda x: ra.sum(x, axis=0, length=700),
        "take": lambda x: ra.take(x, np.array([5, 0, 2]), capacity=1024), "prod": lambda x: ra.prod(x / x, axis=1),
        "linear": lambda x: ra.nn.linear(x, np.eye(3, dtype=np.float32)),
    }  # fmt: skip
    for name in ("sum", "mean", "var", "std", "min", "max", "logsumexp", "argmax", "argmin"):
        for axis in (1, 2):
            ops[f"{name}, axis {axis}"] = lambda x, f=getattr(ra, name), a=axis: f(x, axis=a)
    for name, f in ops.items():
        want = f(host)
        for how, got in (("eager", f(device)), ("jit", jax.jit(f)(device))):
            a = got.to("numpy").values if isinstance(got, ra.RaggedArray) else np.asarray(got)
            b = want.values if isinstance(want, ra.RaggedArray) else want
            same = a.shape == b.shape and np.allclose(a, b, rtol=2e-3, atol=2e-3, equal_nan=True)
            failed += not same
            print(f"{'ok' if same else 'DIFFERS':8}{name}, {how}")
    for name in ("sum", "prod", "logsumexp"):
        grad = jax.jit(
            ra.grad(lambda x, f=getattr(ra, name): jnp.sum(jnp.where(jnp.isfinite(y := f(x / 2, axis=1)), y, 0)))
        )
        fine = bool(np.isfinite(np.asarray(grad(device).values)).all())
        failed += not fine
        print(f"{'ok' if fine else 'NOT FINITE':8}gradient of {name}")
    return failed


def bandwidth() -> None:
    """Times as fractions of the time that a copy of the same bytes takes."""
    ops: dict[str, tuple[Callable[[Any], Any], int]] = {
        "sum": (lambda x: ra.sum(x, axis=1), 1),
        "softmax": (lambda x: ra.nn.softmax(x, axis=1).values, 2),
        "gradient of sum": (ra.grad(lambda x: ra.sum(ra.sum(x, axis=1) ** 2)), 2),
        "gradient of softmax": (ra.grad(lambda x: ra.sum(ra.nn.softmax(x, axis=1) ** 2)), 3),
    }
    for name, shape in LAYOUTS.items():
        x = layout(*shape)
        copy = seconds(lambda x=x, f=jax.jit(lambda v: v + 1): f(x.values))
        speed = 2 * x.values.nbytes / copy
        print(f"{name}: copy {speed / 1e9:.0f} GB/s")
        for op, (f, passes) in ops.items():
            t = seconds(lambda x=x, f=jax.jit(f): f(x))
            print(f"  {op:20} {t * 1e3:9.3f} ms  {passes * x.values.nbytes / t / speed:6.2f} of copy bandwidth")


def scatter_fault() -> None:
    """float32 against int32 scatter-add into one segment: far apart where atomics became compare-and-swap."""
    ids = jnp.zeros(1_000_000, jnp.int32)
    times = {}
    for dtype in (jnp.float32, jnp.int32):
        v = jnp.ones(1_000_000, dtype)
        times[dtype] = seconds(lambda v=v, f=jax.jit(lambda v: jax.ops.segment_sum(v, ids, 2)): f(v))
    ratio = times[jnp.float32] / times[jnp.int32]
    print(
        f"scatter-add of 1M into one segment: float32 takes {ratio:.1f} times int32"
        + (" (fault met)" if ratio > 20 else "")
    )


def main() -> int:
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}")
    failed = agreement()
    if jax.default_backend() == "gpu" or "--anyway" in sys.argv:
        failed += gpu_attention.report()
        scatter_fault()
        bandwidth()
    else:
        print("no GPU: attention, bandwidth and scatter not measured")
    print(f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
