"""Run the CPU benchmarks and write their tables to ``docs/benchmarks.md``.

``python -m benchmarks.run`` from the repository's root, with the ``bench`` extra installed.
"""

import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import jax

from . import (
    attention,
    eager,
    layers,
    matmul,
    moving,
    nnet3,
    nnet3_forward,
    pipelines,
    recurrent,
    segments,
    sorting,
    transformer,
)

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
    out += "## Moving to JAX\n\nBatches of 100 row counts, `ra.asarray` with `capacity=` and with `nrows=` too,\n"
    out += "against `jax.device_put` of arrays that were padded beforehand. What the moves compile is counted.\n\n"
    moved = [[n, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}", str(c)] for n, a, b, r, c in moving.rows()]
    out += table(["slots", "µs", "µs of `device_put`", "ratio", "compiled"], moved)
    out += "## On NumPy\n\n700,000 float32 slots.\n\n"
    rows = [[n, p, f"{a:.2f}", f"{b:.2f}", f"{r:.2f}"] for n, p, a, b, r in pipelines.rows()]
    out += table(["case", "peer", "ms", "ms of the peer", "ratio"], rows)
    out += "## Sorting\n\nA million rows; the loop and the jitted forms are timed on the first of them.\n\n"
    rows = [[n, p, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}"] for n, p, a, b, r in sorting.rows()]
    out += table(["case", "peer", "ms", "ms of the peer", "ratio"], rows)
    out += "## Attention\n\nForward and backward, 4 heads of 64, float32, against `jax.nn.dot_product_attention` with\n"
    out += "lengths, on rows padded to 1024 unless said otherwise. Lengths are lognormal with mean 128, or all 128.\n"
    out += "Memory is temporary memory.\n\n"
    rows = [[n, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}", f"{m:.0f}", f"{q:.2f}"] for n, a, b, r, m, q in attention.rows()]
    out += table(["case", "ms", "ms padded", "time ratio", "MB", "memory ratio"], rows)
    out += "## Training a transformer\n\nTwo causal layers of width 128, rows of up to 512 tokens, one Adam step.\n\n"
    rows = [[f"{n:.0%}", f"{a:.0f}", f"{b:.0f}", f"{r:.2f}", str(c)] for n, a, b, r, c in transformer.rows()]
    out += table(["fill", "tokens/s", "tokens/s padded", "speed ratio", "compiled"], rows)
    out += "## nnet3\n\nHost time on one core to compile a request for 64 utterances, each of other\n"
    out += "lengths, and to make the commands, which only printing and the reference need. Rows are those of all\n"
    out += "layers.\n\n"
    compiled = [[n, str(f), str(total), f"{a:.0f}", f"{b:.0f}"] for n, f, total, a, b in nnet3.rows()]
    out += table(["network", "frames", "rows", "ms program", "ms commands"], compiled)
    out += "Forward, against the same network by hand on utterances padded to the longest, 60 % in use.\n\n"
    ran = [[n, p, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}"] for n, p, a, b, r in nnet3_forward.rows()]
    out += table(["case", "against", "ms", "ms against", "ratio"], ran)
    out += "## Lists of matrices\n\n512 products of matrices, sides 8 to 256, jitted with a plan of another batch.\n"
    out += "The loop over new shapes compiles each; both loops are extrapolated from the first products.\n\n"
    products = [[n, p, f"{a:.0f}", f"{b:.0f}", f"{r:.2f}"] for n, p, a, b, r in matmul.rows()]
    out += table(["case", "against", "ms", "ms against", "ratio"], products)
    out += "`linear` on rows, times the dense product of the flat values:\n\n"
    ratios = [[str(n), f"{a:.2f}", f"{b:.2f}"] for n, a, b in matmul.linear()]
    out += table(["features", "forward", "gradient of both operands"], ratios)
    out += "## Convolution, pooling, losses, bags\n\nAgainst padded rows, 35 % in use, or by hand.\n\n"
    layered = [[n, a, b, f"{t:.2f}", f"{m:.2f}"] for n, a, b, t, m in layers.rows()]
    out += table(["case", "ms", "ms of the other", "time ratio", "memory ratio"], layered)
    out += "## Recurrence\n\n64 rows, width 128, float32, against a `lax.scan` over the same rows padded to the\n"
    out += "longest, with masks. Lengths are lognormal with mean 128 up to 1024, or all 128. Memory is temporary\n"
    out += "memory and results.\n\n"
    rows = [[n, f"{a:.1f}", f"{b:.1f}", f"{r:.2f}", f"{m:.2f}"] for n, a, b, r, m in recurrent.rows()]
    out += table(["case", "ms", "ms padded", "time ratio", "memory ratio"], rows)
    Path("docs/benchmarks.md").write_text(out.rstrip() + "\n")
    print(out)
    assert jax.default_backend() == "cpu"


if __name__ == "__main__":
    main()
