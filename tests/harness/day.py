"""What ``make test`` runs of all cells, by rule; ``make nightly`` runs every one.

* NumPy and array-api-strict: every cell.
* JAX under jit: every op, and every value of any other parameter, on one flat and one nested layout.
* JAX eagerly, where each primitive compiles on its own: the first cell of each test, as a smoke test.
* Tests of no backend's own, gradients among them: every cell but those that a file marks ``nightly``.

A cell is a test with its parameters; its place is the parameter that names a backend.
"""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, TypeVar

import hypothesis
import pytest

from ..nested import STRUCTURES, Layout
from .ways import Way

BACKENDS = ("way", "xp", "library", "build", "on", "backend")
"""Parameters that name a backend."""
T = TypeVar("T")
_nightly = False


def configure(config: pytest.Config) -> None:
    """Once, before tests are collected."""
    global _nightly
    _nightly = config.getoption("run_nightly")
    hypothesis.settings.register_profile("day", max_examples=60, deadline=None, derandomize=True)
    hypothesis.settings.register_profile("nightly", max_examples=3000, deadline=None)
    hypothesis.settings.load_profile("nightly" if _nightly else "day")


def nightly() -> bool:
    return _nightly


def examples(day: int, nightly: int) -> int:
    """How many examples a property is tried on."""
    return nightly if _nightly else day


def sample(every: Sequence[T], count: int) -> Sequence[T]:
    """The first few of them by day."""
    return every if _nightly else every[:count]


def layouts(every: Iterable[Layout], way: Way) -> list[Layout]:
    """Those that a test goes through: by day on JAX of one flat and one nested structure, eagerly one layout of each.

    Layouts of one structure share a program.
    """
    every = list(every)
    if _nightly or not way.jax:
        return every
    first = {layout_kind("", layout): layout for layout in reversed(every)}
    if way.name == "jax-eager":
        return list(first.values())
    forms = [_form(layout) for layout in first.values()]
    return [layout for layout in every if _form(layout) in forms]


def _form(layout: Layout) -> tuple[Any, ...]:
    return layout.nrows, *(n if isinstance(n, int) else None for n in layout.levels), layout.inner


def nightly_unless(day: bool, *values: Any, id: str | None = None) -> Any:
    """One cell of a matrix, nightly where ``day`` does not hold."""
    return pytest.param(*values, id=id, marks=() if day else pytest.mark.nightly)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what runs now; the others are counted as deselected."""
    if _nightly:
        return
    asked = any("::" in str(a) for a in config.args)  # by its name
    day = by_day(items)
    kept, others = [], []
    for item in items:
        runs = "nightly" not in item.keywords and (asked or item.nodeid in day)
        (kept if runs else others).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = kept


def by_day(items: Iterable[pytest.Item]) -> set[str]:
    """The ids of the cells that the rule lists."""
    day, seen = set(), set()
    for item in items:
        test, where = item.nodeid.partition("[")[0], place(item)
        if where == "jit":
            shown = {(test, *what) for what in parameters(item)}
        elif where == "eager":
            shown = {(test, where)}
        else:
            shown = {item.nodeid}
        if shown - seen:
            day.add(item.nodeid)
            seen |= shown
    return day


def place(item: pytest.Item) -> str:
    """``jit`` or ``eager`` on JAX, or nothing."""
    for name, value in _params(item).items():
        if name in BACKENDS and isinstance(value, Way | str | ModuleType):
            known = value.__name__ if isinstance(value, ModuleType) else getattr(value, "name", value)
            if known.startswith("jax"):
                return "jit" if known == "jax-jit" else "eager"
            if known == "jit":
                return "jit"
    return ""


def parameters(item: pytest.Item) -> set[tuple[Any, ...]]:
    """What a jitted cell shows: each value of each parameter, on a layout of its kind."""
    params = _params(item)
    kinds = {n: kind for n, v in params.items() if (kind := layout_kind(n, v))}
    on = kinds.get("structure") or kinds.get("layout") or "".join(sorted(set(kinds.values())))
    others = {(on, n, _key(v)) for n, v in params.items() if n not in kinds and n not in BACKENDS}
    return others or {(on,)}


def layout_kind(name: str, value: Any) -> str:
    """Whether a parameter is a layout, flat or nested."""
    layout = STRUCTURES[value][0] if name == "structure" and value in STRUCTURES else value
    if not isinstance(layout, Layout):
        return ""
    return "nested" if len(layout.levels) > 1 else "flat"


def _key(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else id(value)


def _params(item: pytest.Item) -> dict[str, Any]:
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else callspec.params
