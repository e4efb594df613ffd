"""Imports point downward, between layers and between files, and array libraries are imported only where they belong."""

import ast
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "docs" / "_ext"))

import layers
from layers import FILES, LAYERS, imports, targets

RANK = {name: i for i, names in enumerate(LAYERS) for name in names}
NATIVE = {"numpy", "jax", "scipy"}
AT_HOME = {"backends", "data", "io", "nnet3", "plot", "sharding", "testing", "_vmap"}
"""Layers that import array libraries."""


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


def test_the_picture_is_of_this_tree() -> None:
    assert layers.PICTURE.read_text() == layers.picture()
