"""Run the CPU benchmarks and write their tables to ``docs/benchmarks.md``.

``python -m benchmarks.run`` from the repository's root, with the ``bench`` extra installed.
"""

import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import jax

from . import eager, pipelines, segments, sorting

HEAD = """# Benchmarks

Ratios below 1 mean that raggedarray is faster. Both sides of a ratio were measured in turn, in one process, and
the median of many rounds is shown; absolute times are those of a small machine. `python -m benchmarks.run`
writes this page.

Measured on {date} with {versions} on {cores}. Not measured on a GPU: `benchmarks/gpu.py` is the script for one.

"""


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def main() -> None:
    import os

    names = ("jax", "numpy", "scipy", "awkward")
    out = HEAD.format(
        date=date.today().isoformat(),
        versions=", ".join(f"{n} {version(n)}" for n in names),
        cores=f"{os.cpu_count()} cores ({platform.machine()})",
    )
    out += "## Under jit, against `jax.ops.segment_*` by hand\n\n"
    out += "The hand-written expression builds its row ids from the splits and ignores slack. Memory is peak\n"
    out += "temporary memory plus the result, as XLA reports it.\n\n"
    rows = [[n, a, b, f"{t:.2f}", f"{m:.2f}"] for n, a, b, t, m in segments.rows()]
    out += table(["float32", "ms", "ms by hand", "time ratio", "memory ratio"], rows)
    out += "## Eager on JAX, against the jitted body\n\n"
    rows = [[n, s, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}"] for n, s, a, b, r in eager.rows()]
    out += table(["op", "slots", "µs jitted", "µs eager", "ratio"], rows)
    out += f"Five ops over 50 batches of one capacity compile {eager.compilations()} programs.\n\n"
    out += "## On NumPy\n\n700,000 float32 slots.\n\n"
    rows = [[n, p, f"{a:.2f}", f"{b:.2f}", f"{r:.2f}"] for n, p, a, b, r in pipelines.rows()]
    out += table(["case", "peer", "ms", "ms of the peer", "ratio"], rows)
    out += "## Sorting\n\nA million rows; the loop and the jitted forms are timed on the first of them.\n\n"
    rows = [[n, p, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}"] for n, p, a, b, r in sorting.rows()]
    out += table(["case", "peer", "ms", "ms of the peer", "ratio"], rows)
    Path("docs/benchmarks.md").write_text(out.rstrip() + "\n")
    print(out)
    assert jax.default_backend() == "cpu"


if __name__ == "__main__":
    main()
