"""Imports point downward, between layers and between files, and array libraries are imported only where they belong."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "raggedarray"
LAYERS = [
    {"_errors", "_typing", "_names", "_moved"},
    {"_partition", "_refusals"},
    {"backends"},
    {"structure"},
    {"_repr", "_protocols"},
    {"_array"},
    {"engine"},
    {"ops"},
    {"nnet3", "random", "special"},
    {"linalg"},
    {"nn", "fft"},
    {"config", "data", "io", "params", "plot", "sharding", "_vmap"},
    {"testing"},
    {"__init__"},
]
"""What stands in one set is one layer; each imports its own and those above it in this list. Some are to come."""
RANK = {name: i for i, names in enumerate(LAYERS) for name in names}
NATIVE = {"numpy", "jax", "scipy"}
AT_HOME = {"backends", "data", "io", "nnet3", "plot", "sharding", "testing", "_vmap"}
"""Layers that import array libraries."""
FILES = {
    ".".join(p.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): p for p in PACKAGE.rglob("*.py")
}
"""Dotted name within the package -> file."""


def targets(module: str, is_package: bool, source: str) -> tuple[set[str], set[str]]:
    """What a file imports, in branches for type checkers too: modules of the package, and packages outside."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    package = [] if module == "__init__" else package
    own, outside = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            outside |= {a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            outside.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            name = ".".join(part for part in base if part)
            submodules = {f"{name}.{a.name}".strip(".") for a in node.names}
            own |= {s if s in FILES else name or "__init__" for s in submodules}
    return own, outside


def faults(module: str, is_package: bool, source: str) -> list[str]:
    here = module.split(".")[0]
    own, outside = targets(module, is_package, source)
    out = [f"{module} imports {t}, which is above it" for t in sorted(own) if RANK[t.split(".")[0]] > RANK[here]]
    out += [f"{module} imports {t}" for t in sorted(outside & NATIVE) if here not in AT_HOME]
    return out + [f"{module} imports the package by name"] * ("raggedarray" in outside)


@pytest.mark.parametrize("module", sorted(FILES))
def test_imports_point_down(module: str) -> None:
    path = FILES[module]
    assert faults(module, path.name == "__init__.py", path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("_array", "import jax"),
        ("_partition", "from ._array import RaggedArray"),
        ("ops.reduction.reduction", "import numpy as np"),
        ("engine.reduce", "from ..ops.reduction.reduction import sum"),
        ("structure.levels", "from .._array import RaggedArray"),
        ("ops.array.dtypes", "from ... import ragged"),
    ],
)
def test_the_test_can_fail(module: str, line: str) -> None:
    assert faults(module, False, line) != []


def imports() -> dict[str, set[str]]:
    """Which files each file imports; a package is its ``__init__``."""
    graph = {}
    for module, path in FILES.items():
        own, _ = targets(module, path.name == "__init__.py", path.read_text())
        graph[module] = own - {module}
    return graph


def test_no_circles() -> None:
    assert cycle(imports()) == []


def test_circles_are_seen() -> None:
    assert cycle({"a.x": {"b.x"}, "b.x": {"a.x"}}) != []
    assert cycle({"a.x": {"b.x"}, "b.x": {"a.y"}}) == []  # two files of one name are two files


def cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as e:
        return list(e.args[1])
    return []


def test_files_are_rooms() -> None:
    long = {name: n for name, p in FILES.items() if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}
    assert all(ast.get_docstring(ast.parse(p.read_text())) for p in FILES.values())
