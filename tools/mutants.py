"""Would the tests notice? ``make mutants``: small faults, drawn by a seed, each against the tests that run by day.

A fault is one change of one expression: a comparison, plus or minus one, a `where` left out, an identity swapped.
Each is made in a copy of the repository, where the tests run until the first failure: those of the same chapter
first, then all others. Faults that change nothing that can be seen are listed, with the reason, in EQUIVALENT.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LAYERS = ("structure", "engine", "ops", "backends")
EQUIVALENT: dict[str, str] = {}
"""`Mutant.name` -> why nothing can tell it from the original."""


class Mutant(NamedTuple):
    """One change: text between two offsets of a file, and what stands there instead."""

    path: str
    line: int
    start: int
    end: int
    text: str
    rule: str

    @property
    def name(self) -> str:
        """What it is called in reports and in EQUIVALENT."""
        return f"{self.path}:{self.line} {self.rule}"


_COMPARE = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip
_SIGN = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_IDENTITY = {"min": "max", "max": "min", "sum": "prod", "prod": "sum"}


def mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that can be made in a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    short = path.relative_to(ROOT).as_posix()

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def change(node: ast.expr, text: str, rule: str) -> Mutant:
        return Mutant(short, node.lineno, *span(node), text, rule)

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE and len(node.ops) == 1:
            left, right = span(node.left)[1], span(node.comparators[0])[0]
            old, new = _SIGN[type(node.ops[0])], _COMPARE[type(node.ops[0])]
            text = source[left:right].decode().replace(old, new)
            yield Mutant(short, node.lineno, left, right, text, f"{old} becomes {new}")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            one = node.right
            if isinstance(one, ast.Constant) and type(one.value) is int and one.value == 1:
                yield change(one, "2", "one becomes two")
                yield change(node, ast.unparse(node.left), "plus or minus one left out")
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "where" and len(node.args) == 3:
            yield change(node, f"({ast.unparse(node.args[1])})", "where left out")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _IDENTITY:
            yield change(node, repr(_IDENTITY[node.value]), "identity swapped")


def drawn(seed: int, count: int) -> list[Mutant]:
    """So many faults, one a file, from the files of these layers."""
    rng = random.Random(seed)
    files = [p for layer in LAYERS for p in sorted((ROOT / "raggedarray" / layer).rglob("*.py"))]
    choices = [list(mutants(p)) for p in files]
    chosen = rng.sample([c for c in choices if c], count)
    return [rng.choice(c) for c in chosen]


def ordered(mutant: Mutant) -> list[str]:
    """Test files and folders, those named like the mutated file or its chapter first."""
    words = set(Path(mutant.path).with_suffix("").parts[1:])
    tests = sorted(p for p in (ROOT / "tests").rglob("test_*.py") if "typing" not in p.parts)
    near = [p for p in tests if words & {*p.relative_to(ROOT / "tests").parts, p.stem.removeprefix("test_")}]
    rest = [p for p in tests if p not in near]
    return [p.relative_to(ROOT).as_posix() for p in (*near, *rest)]


def caught_by(mutant: Mutant, limit: float, workers: str) -> str:
    """The first test that fails with the fault, ``""`` if none does, ``"time"`` past the limit."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        ignored = shutil.ignore_patterns(".git", ".venv", "site", "__pycache__", ".cache", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, copy, ignore=ignored)
        path = copy / mutant.path
        source = path.read_bytes()
        path.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            workers,
            *ordered(mutant),
        ]
        try:
            env = os.environ | {"PYTHONPATH": str(copy)}
            done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return "time"
        if done.returncode == 0:
            return ""
        failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed else "import"


def main() -> None:
    """Draw, run, report; the exit status says whether enough were caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a fault")
    parser.add_argument("--workers", default="2")
    parser.add_argument("--list", action="store_true", help="draw only")
    options = parser.parse_args()
    caught = missed = 0
    for mutant in drawn(options.seed, options.count):
        if options.list or mutant.name in EQUIVALENT:
            print(f"{'equivalent' if mutant.name in EQUIVALENT else 'drawn':>10}  {mutant.name}", flush=True)
            continue
        start = time.perf_counter()
        test = caught_by(mutant, options.limit, options.workers)
        caught, missed = caught + bool(test), missed + (not test)
        seconds = time.perf_counter() - start
        print(f"{'caught' if test else 'MISSED':>10}  {mutant.name}  {test}  {seconds:.0f} s", flush=True)
    if not options.list:
        print(f"{caught} of {caught + missed} caught, seed {options.seed}")
        sys.exit(caught < 0.8 * (caught + missed))


if __name__ == "__main__":
    main()
