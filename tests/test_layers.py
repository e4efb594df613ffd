"""Imports point downward, and array libraries are imported only where they belong."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "raggedarray"
LAYERS = [
    "_errors",
    "_typing",
    "_partition",
    "backends",
    "_levels",
    "_blocks",
    "_structure",
    "_marks",
    "_repr",
    "_protocols",
    "_array",
    "_edge",
    "ops",
    "testing",
]
RANK = {
    "_errors": 0,
    "_typing": 0,
    "_partition": 1,
    "backends": 2,
    "_levels": 3,
    "_blocks": 3,
    "_structure": 3,
    "_marks": 3,
    "_repr": 3,
    "_protocols": 3,
    "_names": 3,
    "_refusals": 3,
}
RANK |= {"_array": 4, "_edge": 5, "ops": 5, "data": 6, "io": 6, "nnet3": 6, "params": 6, "testing": 6, "__init__": 7}
NATIVE = {"numpy", "jax", "scipy"}
FILES = sorted(p for p in PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path, source: str) -> list[tuple[str, str]]:
    """``(kind, name)`` of every import: ("own", layer) or ("outside", top package)."""
    parts = ("raggedarray", *path.relative_to(PACKAGE).parts[:-1])
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [("outside", a.name.split(".")[0]) for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(("outside", (node.module or "").split(".")[0]))
        elif isinstance(node, ast.ImportFrom):
            base = [*parts[: len(parts) - node.level + 1], *(node.module or "").split(".")]
            names = [a.name for a in node.names] if not node.module else [""]
            for name in names:
                own = [b for b in (*base, name) if b]
                found.append(("own", own[1] if len(own) > 1 else "__init__"))
    return found


def faults(path: Path, source: str) -> list[str]:
    here, out = layer(path), []
    for what, name in imported(path, source):
        if what == "own" and RANK[name] > RANK[here]:
            out.append(f"{here} imports {name}, which is above it")
        if what == "outside" and name in NATIVE and here not in ("backends", "io", "data", "nnet3", "testing"):
            out.append(f"{here} imports {name}")
        if what == "outside" and name == "raggedarray":
            out.append(f"{here} imports the package by name")
    return out


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    assert faults(path, path.read_text()) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("_array.py", "import jax"),
        ("_partition.py", "from ._array import RaggedArray"),
        ("ops/reduction.py", "import numpy as np"),
    ],
)
def test_the_test_can_fail(file: str, line: str) -> None:
    assert faults(PACKAGE / file, line) != []


def test_no_cycles_between_ops() -> None:
    edges: dict[str, set[str]] = {}
    for path in (PACKAGE / "ops").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level and node.module and "." not in node.module:
                edges.setdefault(path.stem, set()).add(node.module)

    def reachable(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for nxt in edges.get(todo.pop(), ()):
                if nxt not in seen:
                    seen.add(nxt)
                    todo.append(nxt)
        return seen

    assert [m for m in edges if m != "__init__" and m in reachable(m)] == []


def test_files_are_rooms() -> None:
    long = {str(p.relative_to(PACKAGE)): len(p.read_text().splitlines()) for p in FILES}
    assert {name: n for name, n in long.items() if n > 380} == {}
    assert all(ast.get_docstring(ast.parse(p.read_text())) for p in FILES)
