"""What type checkers learn of the package: two tables, before and after.

    python tools/any_report.py              this checkout
    python tools/any_report.py ../old       another one first, as `git worktree add ../old <commit>` makes it

expressions
    mypy's any-expression report by package: of all expressions, how many have a type that holds ``Any``.
functions
    Functions whose result is ``Any``: all definitions, by their annotation (``Any``, or a name for it); and the public
    functions as their users see them, by the type that mypy reveals for a call's result on a RaggedArray.
"""

import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ALIASES = ("Any", "Array")
"""``Any``, and the name that stands for it inside the package."""
REVEALED = re.compile(r'^<string>:(\d+): note: Revealed type is "(.*)"$', re.MULTILINE)
LAYERS = ("fft", "linalg", "nn", "params", "random", "special", "testing")


def expressions(root: Path) -> dict[str, Counter[str]]:
    """Expressions that hold Any, and all, by the first part of the module's name."""
    counted: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        _mypy(root, "--any-exprs-report", folder)
        for line in (Path(folder) / "any-exprs.txt").read_text().splitlines():
            name, *numbers = line.split()
            if name.startswith("raggedarray") and len(numbers) == 3:
                part = [*name.split("."), "__init__"][1]
                counted.setdefault(part, Counter()).update(any=int(numbers[0]), all=int(numbers[1]))
    return counted


def definitions(root: Path) -> tuple[int, int]:
    """Functions annotated with Any by itself, and all functions."""
    returns = [
        "" if node.returns is None else ast.unparse(node.returns)
        for path in (root / "raggedarray").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    return sum(r in ALIASES for r in returns), len(returns)


def public(root: Path) -> tuple[int, int]:
    """Public functions that give Any for a RaggedArray, as mypy resolves their call, and all of them."""
    listing = [sys.executable, "-c", _CALLS.format(layers=LAYERS)]
    calls = subprocess.run(listing, cwd=root, env={"PYTHONPATH": "."}, capture_output=True, text=True, check=True)
    lines = calls.stdout.splitlines()
    source = "import raggedarray as ra\nfrom typing import Any\ndef f(x: ra.RaggedArray, o: Any) -> None:\n"
    source += "".join(f"    reveal_type({call})\n" for call in lines)
    by_line = {int(line): kind for line, kind in REVEALED.findall(_mypy(root, "-c", source))}
    kinds = [by_line[i] for i in range(4, 4 + len(lines))]
    return sum(kind in ("Any", "object") for kind in kinds), len(kinds)


_CALLS = """
from inspect import isfunction, signature
import raggedarray as ra
for prefix in ("", *{layers}):
    module = getattr(ra, prefix) if prefix else ra
    for name in module.__all__:
        if isfunction(f := getattr(module, name)):
            needed = [p for p in signature(f).parameters.values() if p.default is p.empty and p.kind in (0, 1, 3)]
            second = needed and needed[0].name in ("key", "n", "f", "subscripts")
            places = [*(["o", "x"] if second else ["x"]), *["o"] * len(needed)]
            arguments = [p.name + "=o" if p.kind == 3 else v for p, v in zip(needed, places)]
            print(f"ra.{{prefix + '.' if prefix else ''}}{{name}}({{', '.join(arguments)}})")
"""
"""A program that prints a call of every public function with a RaggedArray ``x`` and other arguments ``o``."""


def _mypy(root: Path, *options: str) -> str:
    package = () if "-c" in options else ("-p", "raggedarray")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--strict",
        "--ignore-missing-imports",
        "--no-incremental",
        *package,
        *options,
    ]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout


def main() -> None:
    """Print both tables, a column for each checkout."""
    roots = [*map(Path, sys.argv[1:]), Path(__file__).parent.parent]
    counts = [expressions(root.resolve()) for root in roots]
    for part in sorted({part for counted in counts for part in counted}):
        print(f"{part:16}", *(_share(counted.get(part, Counter())) for counted in counts))
    print(f"{'expressions':16}", *(_share(sum(counted.values(), Counter())) for counted in counts))
    for title, count in (("definitions", definitions), ("public functions", public)):
        print(f"{title:16}", *("{:6} of {:6}         ".format(*count(root.resolve())) for root in roots))


def _share(counted: Counter[str]) -> str:
    return f"{counted['any']:6} of {counted['all']:6} {counted['any'] / max(counted['all'], 1):7.1%}"


if __name__ == "__main__":
    main()
