"""Writes the tables of `docs/architecture.md` from the seam: ``python docs/_ext/kernels.py``. A test compares."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "architecture.md"
sys.path[:0] = [str(PAGE.parent.parent)]

from raggedarray.backends import Kernels, backend, generic  # noqa: E402


def functions(cls: type) -> list[Callable[..., Any]]:
    """The functions that a protocol asks for."""
    return [f for name, f in vars(cls).items() if inspect.isfunction(f) and not name.startswith("_")]


def _call(f: Callable[..., Any]) -> str:
    """How a function is called: names of its arguments, and of those that are passed by name."""
    shown, star = [], False
    for p in inspect.signature(f).parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            shown, star = [*shown, "*"], True
        star = star or p.kind is p.VAR_POSITIONAL
        shown.append({p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name)
    return f"`{f.__name__}({', '.join(shown)})`"


def _row(f: Callable[..., Any], *more: str) -> str:
    first = (inspect.getdoc(f) or "").partition("\n")[0]
    plain = re.sub(r"``(.+?)``", r"`\1`", first).replace("|", "\\|")
    return "| " + " | ".join((_call(f), plain, *more)) + " |"


def _table(head: Iterable[str], rows: Iterable[str]) -> str:
    head = list(head)
    return "\n".join(("| " + " | ".join(head) + " |", "|" + "---|" * len(head), *rows))


def kernels_table() -> str:
    """What a backend must have."""
    return _table(("function", "what it does"), map(_row, functions(Kernels)))


def generic_table() -> str:
    """What it may have, and which of ours does."""
    names = ("numpy", "jax")
    rows = []
    for f in (getattr(generic, name) for name in generic.__all__):
        own = [name for name in names if hasattr(backend(name), f.__name__)]
        rows.append(_row(f, ", ".join(f"`{name}`" for name in own)))
    return _table(("function", "what it does", "own in"), rows)


def written(text: str) -> str:
    """The page, with its tables as they should be."""
    for mark, table in (("kernels", kernels_table()), ("generic", generic_table())):
        block = f"<!-- {mark} -->\n\n{table}\n\n<!-- end of {mark} -->"
        text, count = re.subn(f"<!-- {mark} -->.*<!-- end of {mark} -->", lambda _, b=block: b, text, flags=re.DOTALL)
        assert count == 1, mark
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
