"""Two versions of the package, side by side: ``python tools/compare.py OLD [NEW]`` prints ratios of times, new to old.

OLD and NEW are commits (NEW: the working tree). Both are unpacked and measured by turns, each round in a process of
its own, so that a slow moment of the machine meets both; a ratio is that of the best times of all rounds.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def measured() -> dict[str, float]:
    """Seconds by name, in this process: eager ops on few slots, NumPy ops and jitted ones on many, compile times."""
    start = time.perf_counter()
    import raggedarray as ra

    times = {"import": time.perf_counter() - start}
    import jax
    import numpy as np

    def rows(slots: int, nrows: int, xp: str, item: tuple[int, ...] = ()) -> Any:
        rng = np.random.default_rng(0)
        splits = np.concatenate(([0], np.sort(rng.integers(0, slots + 1, nrows - 1)), [slots])).astype(np.int32)
        x = ra.from_row_splits(rng.standard_normal((slots, *item)).astype(np.float32), splits)
        return ra.asarray(x, xp=xp, capacity=slots) if xp == "jax" else x

    def block(xp: str) -> Any:
        rng = np.random.default_rng(1)
        x = ra.ragged([rng.standard_normal((3 + i % 4, 4)).astype(np.float32) for i in range(8)], item_shape=(None, 4))
        y = ra.ragged([rng.standard_normal((2 + i % 3, 3 + i % 4)).astype(np.float32) for i in range(8)])
        return ra.asarray(x, xp=xp), ra.asarray(y, xp=xp)

    ops: dict[str, Callable[[Any], Any]] = {
        "x + x": lambda x: x + x,
        "x * 2": lambda x: x * 2.0,
        "exp": ra.exp,
        "sum": lambda x: ra.sum(x, axis=1),
        "max": lambda x: ra.max(x, axis=1),
        "softmax": lambda x: ra.nn.softmax(x, axis=1),
        "x[:, 1:3]": lambda x: x[:, 1:3],
        "x[2:5]": lambda x: x[2:5],
        "take": lambda x: ra.take(x, np.array([3, 0, 2, 1]), axis=0),
        "sort": lambda x: ra.sort(x, axis=1),
        "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=1),
        "concat": lambda x: ra.concat([x, x], axis=1),
        "flip": lambda x: ra.flip(x, axis=1),
    }

    def best(f: Callable[[], Any], rounds: int, inner: int) -> float:
        jax.block_until_ready(f())
        out = []
        for _ in range(rounds):
            begin = time.perf_counter()
            for _ in range(inner):
                result = f()
            jax.block_until_ready(result)
            out.append((time.perf_counter() - begin) / inner)
        return min(out)

    for xp in ("numpy", "jax"):
        x = rows(64, 8, xp)
        for name, f in ops.items():
            times[f"{xp} eager, 64 slots: {name}"] = best(lambda f=f, x=x: f(x), 7, 40)
    x = rows(1_000_000, 100_000, "numpy")
    for name, f in ops.items():
        times[f"numpy, 1M slots: {name}"] = best(lambda f=f, x=x: f(x), 3, 1)
    x = rows(200_000, 20_000, "jax")
    for name, f in ops.items():
        jitted = jax.jit(f)
        begin = time.perf_counter()
        lowered = jitted.trace(x)
        times[f"trace: {name}"] = time.perf_counter() - begin
        times[f"equations: {name}"] = float(_equations(lowered.jaxpr.jaxpr))
        times[f"jit, 200k slots: {name}"] = best(lambda f=jitted, x=x: f(x), 3, 1)
    matrix = rows(64, 8, "jax", (4,))
    products: dict[str, Callable[[], Any]] = {
        "rows @ matrix": lambda: jax.jit(lambda x, w: x @ w).lower(matrix, jax.numpy.ones((4, 5))).compile(),
        "einsum of rows": lambda: (
            jax.jit(lambda x: ra.einsum("nqd,nkd->nqk", x, x, capacity=4096)).lower(matrix).compile()
        ),
    }
    for name, f in products.items():
        begin = time.perf_counter()
        f()
        times[f"compile: {name}"] = time.perf_counter() - begin
    a, b = block("numpy")
    times["numpy eager: blocks @ rows"] = best(lambda: b @ a, 7, 10)
    return times


def _equations(jaxpr: Any) -> int:
    inner = (v for e in jaxpr.eqns for v in e.params.values())
    return len(jaxpr.eqns) + sum(_equations(v.jaxpr) for v in inner if hasattr(v, "jaxpr"))


def main() -> None:
    """Unpack, measure by turns, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = {"old": Path(folder) / "old", "new": ROOT if options.new is None else Path(folder) / "new"}
        for name, commit in (("old", options.old), ("new", options.new)):
            if commit is not None:
                archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
                with tarfile.open(fileobj=io.BytesIO(archive)) as unpacked:
                    unpacked.extractall(places[name], filter="data")
        best: dict[str, dict[str, float]] = {"old": {}, "new": {}}
        for _ in range(options.rounds):
            for name, place in places.items():
                env = os.environ | {"PYTHONPATH": str(place), "JAX_ENABLE_COMPILATION_CACHE": "false"}
                command = [sys.executable, __file__, "measure"]
                done = subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True)
                for what, seconds in json.loads(done.stdout.splitlines()[-1]).items():
                    best[name][what] = min(seconds, best[name].get(what, seconds))
    for what, old in best["old"].items():
        new = best["new"].get(what, float("nan"))
        shown = f"{old:10.0f} {new:10.0f}" if what.startswith("equations") else f"{old * 1e6:10.1f} {new * 1e6:10.1f}"
        print(f"{what:40} {shown} {new / old:6.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measured()))
    else:
        main()
