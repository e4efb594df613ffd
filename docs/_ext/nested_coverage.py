"""Writes docs/nested-coverage.md: ``python docs/_ext/nested_coverage.py``. A test runs the recipes and compares.

The table of operations, with what torch's own nested tests say of each, is nested_ops.csv beside this file; how each is
written here is in tests/coverage_recipes.py.
"""

import csv
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.coverage_recipes import RECIPES, UNCOVERED  # noqa: E402

KINDS = {
    "unary": "One operand",
    "binary": "Two operands",
    "reduction": "Reductions",
    "other": "Structure, products and layers",
}


class Operation(NamedTuple):
    """A line of torch's table: ``all``, ``some`` or ``none`` of its samples pass there; empty without any."""

    name: str
    kind: str
    torch_forward: str
    torch_backward: str


def operations() -> list[Operation]:
    """Torch's table."""
    with (HERE / "nested_ops.csv").open() as lines:
        return [Operation(*line) for line in list(csv.reader(lines))[1:]]


def row(op: Operation) -> str:
    """An operation, how it is written here, and what passes."""
    recipe = RECIPES[op.name]
    text = recipe.text.replace("|", "\\|")
    cells = (f"`{op.name}`", f"`{text}`", "yes" if recipe.smooth else "", op.torch_forward, op.torch_backward)
    return "| " + " | ".join(cells) + " |"


def page() -> str:
    """The page."""
    table = operations()
    smooth = [n for n, r in RECIPES.items() if r.smooth]
    differentiable = [op for op in table if op.torch_backward]
    forward = sum(op.torch_forward == "all" for op in table)
    backward = sum(op.torch_backward == "all" for op in table)
    both = sum(op.name in smooth for op in differentiable)
    lines = [
        "# Coverage of torch's nested operations\n",
        "<!-- Written by docs/_ext/nested_coverage.py: change tests/coverage_recipes.py, and run it. -->\n",
        f"PyTorch 2.13 tests {len(table)} operations on nested tensors, by contiguous samples, transposed ones, and",
        "ones with hidden parts. The tables say how each operation is written here. Every line runs as a test: on rows",
        "and, where it makes sense, on components that vary in two axes; on NumPy and on JAX, there with NaN in slack;",
        "with an empty component; against NumPy on single components. Gradients meet central differences.\n",
        "| | here | torch, all samples pass |",
        "| --- | --- | --- |",
        f"| values | {len(RECIPES)} of {len(table)} | {forward} |",
        f"| gradients, of {len(differentiable)} that torch differentiates | {both} | {backward} |",
        f"| gradients of others | {len(smooth) - both} | |\n",
        "An empty gradient means that there is none to take (integers, bools, steps), an empty column of torch that",
        "its tests have no float32 sample, or no derivative. `x`, `y` and `z` are ragged arrays or plain ones; `axis`",
        "stands for each axis of a component, all of them, and all axes.\n",
    ]
    for kind, title in KINDS.items():
        lines += [
            f"## {title}\n",
            "| torch | here | gradient | torch forward | torch backward |",
            "| --- | --- | --- | --- | --- |",
            *(row(op) for op in table if op.kind == kind and op.name in RECIPES),
            "",
        ]
    lines += [
        "## Not covered\n",
        "| torch | why |",
        "| --- | --- |",
        *(f"| `{op.name}` | {UNCOVERED[op.name]} |" for op in table if op.name in UNCOVERED),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE.parent / "nested-coverage.md").write_text(page())
