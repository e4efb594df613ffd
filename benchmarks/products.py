"""Products of ragged operands in two versions of the package: ``python -m benchmarks.products OTHER_TREE``.

Each version runs in a process of its own, on one thread, and the two are asked in turn. Times are those of the
processor, so that they hold on a busy machine. Ratios below 1 mean that this tree is faster than the other one.
Compile times are those of tracing and compiling anew, without a cache on disk.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve()
CASES = ("rows @ matrix", "rows @ matrix a row", "rows @ rows.T", "blocks @ blocks", "einsum of three")
TIMES = ("eager", "jit", "jit of gradient", "compile", "compile gradient")
ROUNDS = {"eager": 11, "jit": 15, "jit of gradient": 15, "compile": 3, "compile gradient": 3}


def products() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Each case: a product and its operands, of JAX."""
    import jax.numpy as jnp
    import numpy as np

    import raggedarray as ra

    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 40, 64)
    values = rng.standard_normal((int(lengths.sum()), 16), dtype=np.float32)
    x = ra.with_capacity(ra.from_row_lengths(values, lengths), 2048).to("jax")
    matrix = jnp.asarray(rng.standard_normal((16, 8), dtype=np.float32))
    matrices = jnp.asarray(rng.standard_normal((64, 16, 8), dtype=np.float32))
    sides = rng.integers(2, 12, (48, 3))
    left, right = (
        ra.ragged([rng.standard_normal((s[i], s[i + 1]), dtype=np.float32) for s in sides]).to("jax") for i in (0, 1)
    )
    plan = ra.BucketPlan.make(left, right, max_buckets=4)
    room = 1 << 16

    def transposed(x: Any, y: Any) -> Any:
        return ra.matmul(x, ra.matrix_transpose(ra.to_blocks(y)), capacity=room)

    return {
        "rows @ matrix": (ra.matmul, (x, matrix)),
        "rows @ matrix a row": (ra.matmul, (x, matrices)),
        "rows @ rows.T": (transposed, (x, x)),
        "blocks @ blocks": (lambda a, b: ra.matmul(a, b, bucket=plan), (left, right)),
        "einsum of three": (
            lambda a, w, b: ra.einsum("bld,de,bme->blm", a, w, b, capacity=room),
            (x, jnp.asarray(rng.standard_normal((16, 16), dtype=np.float32)), x),
        ),
    }


def work() -> None:
    """Answer each line ``case, what`` with seconds, until there are no more."""
    import jax
    import jax.numpy as jnp

    import raggedarray as ra

    timed: dict[str, dict[str, Callable[[], Any]]] = {}
    for case, (f, operands) in products().items():

        def loss(*operands: Any, f: Any = f) -> Any:
            return jnp.sum(jnp.sin(f(*operands).values))

        def forward(*operands: Any, f: Any = f) -> Any:
            return f(*operands).values

        slope = ra.grad(loss)
        jitted, jitted_slope = jax.jit(forward), jax.jit(slope)

        def compiled(f: Any = forward, operands: Any = operands) -> None:
            jax.clear_caches()
            jax.jit(f).lower(*operands).compile()

        def compiled_slope(f: Any = slope, operands: Any = operands) -> None:
            jax.clear_caches()
            jax.jit(f).lower(*operands).compile()

        timed[case] = {
            "eager": lambda f=forward, operands=operands: f(*operands),
            "jit": lambda f=jitted, operands=operands: f(*operands),
            "jit of gradient": lambda f=jitted_slope, operands=operands: f(*operands),
            "compile": compiled,
            "compile gradient": compiled_slope,
        }
    for line in sys.stdin:
        case, what = line.strip().split(", ")
        run = timed[case][what]
        times = 1 if what.startswith("compile") else 3
        begin = time.process_time()
        for _ in range(times):
            jax.block_until_ready(run())
        print((time.process_time() - begin) / times, flush=True)


class Version:
    """A process that times the products of the package in one tree."""

    def __init__(self, tree: Path) -> None:
        """Start it, without the settings of JAX that stand in the environment."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
        env |= {"PYTHONPATH": str(tree), "JAX_PLATFORMS": "cpu"}
        env["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), "--worker"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, case: str, what: str) -> float:
        """Time it once."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{case}, {what}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def rows(other: Path) -> Iterator[tuple[str, str, float, float, float]]:
    """Case, what was timed, milliseconds here and in the other tree, and the ratio."""
    here, there = Version(HERE.parents[1]), Version(other)
    for what in TIMES:
        for case in CASES:
            times: tuple[list[float], list[float]] = ([], [])
            for i in range(ROUNDS[what] + 1):
                for version, seconds in list(zip((here, there), times, strict=True))[:: 1 - 2 * (i % 2)]:
                    seconds.append(version.seconds(case, what))
            ours, theirs = (median(t[1:]) * 1e3 for t in times)
            yield case, what, ours, theirs, ours / theirs
    here.close()
    there.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
    else:
        print(f"{'':24}{'':18}{'ms':>10}{'ms other':>10}{'ratio':>8}")
        for case, what, ours, theirs, ratio in rows(Path(sys.argv[1]).resolve()):
            print(f"{case:24}{what:18}{ours:10.3f}{theirs:10.3f}{ratio:8.2f}", flush=True)
