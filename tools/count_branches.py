"""Count where code asks which kind of partition it has: a table by file and by function, and the totals.

    python tools/count_branches.py              this checkout
    python tools/count_branches.py ../old       another one, as `git worktree add ../old <commit>` makes it
    python tools/count_branches.py --functions  every function by itself

rows or block
    ``x.block is None``, ``block_of(partitions) is None``, ``isinstance(p, BlockPartition)`` and what is named for it:
    code for rows beside code for components that vary in several axes.
ragged or uniform
    ``isinstance(p, RowPartition)`` and ``isinstance(p, UniformPartition)`` beside a decision; assertions for the type
    checker are not counted.
casts
    calls of ``as_last`` and ``block_in``, which only tell the type checker the kind.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

KINDS = ("rows or block", "ragged or uniform", "casts")
HELPERS = {"no_block", "has_block", "is_block", "ends_in_block"}


def kind_of(node: ast.AST) -> str | None:
    """Which kind of question a node is, if it is one."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return KINDS[0] if _is_none(node.comparators[0]) and _is_block(node.left) else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id in HELPERS:
        return KINDS[0]
    if node.func.id in ("as_last", "block_in"):
        return KINDS[2]
    if node.func.id != "isinstance":
        return None
    names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
    if "BlockPartition" in names:
        return KINDS[0]
    return KINDS[1] if names & {"RowPartition", "UniformPartition"} else None


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_block(node: ast.AST) -> bool:
    if isinstance(node, ast.NamedExpr):
        return _is_block(node.value) or _is_block(node.target)
    if isinstance(node, ast.Attribute):
        return node.attr == "block"
    if isinstance(node, ast.Name):
        return node.id == "block"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("block_of", "_block")


def questions(tree: ast.AST, name: str = "(module)") -> Iterator[tuple[str, str]]:
    """Function and kind of each question in a syntax tree."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assert):
            continue
        kind = kind_of(node)
        if kind is not None:
            yield name, kind
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from questions(node, f"{name}.{node.name}".removeprefix("(module).") if inside else name)


def count(root: Path) -> dict[str, Counter[tuple[str, str]]]:
    """Questions by file, each counted by function and kind."""
    package = root / "raggedarray"
    files = {str(f.relative_to(package)): ast.parse(f.read_text()) for f in sorted(package.rglob("*.py"))}
    counted = {name: Counter(questions(tree)) for name, tree in files.items()}
    return {name: each for name, each in counted.items() if each}


def table(counted: dict[str, Counter[tuple[str, str]]], functions: bool) -> Iterator[str]:
    """The lines of the table."""
    width = 64
    yield f"{'':{width}}" + "".join(f"{kind:>19}" for kind in KINDS)
    for file, each in counted.items():
        yield _line(file, [sum(n for (_, k), n in each.items() if k == kind) for kind in KINDS], width)
        if functions:
            for name in sorted({f for f, _ in each}):
                yield _line(f"    {name}", [each[name, kind] for kind in KINDS], width)
    sums = [sum(n for each in counted.values() for (_, k), n in each.items() if k == kind) for kind in KINDS]
    yield _line("total", sums, width)
    places = [len({(f, name) for f, each in counted.items() for name, k in each if k == kind}) for kind in KINDS]
    yield _line("functions", places, width)


def _line(name: str, numbers: list[int], width: int) -> str:
    return f"{name:{width}}" + "".join(f"{n or '':>19}" for n in numbers)


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--functions"]
    root = Path(arguments[0]) if arguments else Path(__file__).parent.parent
    print("\n".join(table(count(root), "--functions" in sys.argv)))
