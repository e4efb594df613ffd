"""The tests themselves: what runs by day, parts of the night, and that no cell counts as passed which did not run."""

import ast
from pathlib import Path

import pytest

from . import nightly

TESTS = Path(__file__).parent


def bare_returns(source: str) -> list[str]:
    """Test functions that end early without a word, as if they had passed."""
    tests = (f for f in ast.walk(ast.parse(source)) if isinstance(f, ast.FunctionDef) and f.name.startswith("test"))
    return [f.name for f in tests if any(isinstance(n, ast.Return) and n.value is None for n in own_nodes(f))]


def own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function without those of functions within it."""
    out: list[ast.AST] = []
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        out.append(node)
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            left += ast.iter_child_nodes(node)
    return out


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda p: str(p.relative_to(TESTS)))
def test_what_does_not_apply_is_skipped(path: Path) -> None:
    assert bare_returns(path.read_text()) == [], "skip with the reason, or leave the cell out"


def test_a_bare_return_is_seen() -> None:
    assert bare_returns("def test_x(a):\n    if a:\n        return\n    assert a") == ["test_x"]
    assert bare_returns("def test_x(a):\n    def f():\n        return\n    assert f() is None") == []


def test_the_parts_of_the_night_are_all_tests() -> None:
    listed = [p for name in nightly.PARTS for p in nightly.files(name)]
    assert len(listed) == len(set(listed))
    assert all((nightly.ROOT / p).exists() for p in listed)
    covered = {nightly.ROOT / p for p in listed}
    assert all(covered & {p, *p.parents} for p in TESTS.rglob("test_*.py"))
