"""Each operation of torch's nested table has its recipe: values on both backends and gradients equal the oracle's.

Components are rows and blocks, an empty one among them; on JAX slack holds NaN.
"""

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from . import oracle
from .coverage_recipes import BLOCKS, ITEM, RECIPES, ROWS, UNCOVERED, Operand, Recipe, Shapes
from .harness.day import nightly_unless
from .harness.ways import on_jax

SCRIPT = Path(__file__).parent.parent / "docs" / "_ext" / "nested_coverage.py"
NARROW = {"float64": "float32", "int64": "int32", "complex128": "complex64"}
KIND = {"u": "i", "V": "f"}  # bfloat16 is of kind V
Components = list[np.ndarray]


def draw(operand: Operand, shapes: Shapes, rng: np.random.Generator) -> Any:
    """The components of an operand, or one array for all of them."""

    def one(shape: tuple[int, ...]) -> np.ndarray:
        if operand.dtype == "bool":
            return rng.random(shape) > 0.5
        if operand.dtype.startswith("int"):
            return rng.integers(int(operand.low), int(operand.high) + 1, shape)
        a = rng.uniform(operand.low, operand.high, shape)
        return a + 1j * rng.uniform(operand.low, operand.high, shape) if operand.dtype == "complex128" else a

    return one(operand.dense) if operand.dense is not None else [one(s) for s in operand.shapes or shapes]


def placed(data: Any, shapes: Shapes, on: str) -> Any:
    """As a ragged array (or a plain one) of a backend; on JAX narrow, with poisoned slack."""
    if on == "jax":
        items = data if isinstance(data, list) else [data]
        items = [a.astype(NARROW.get(a.dtype.name, a.dtype)) for a in items]
        if not isinstance(data, list):
            return jax.numpy.asarray(items[0])
        return on_jax(ra.ragged(items, item_shape=item(shapes)), 12)
    return ra.ragged(data, item_shape=item(shapes)) if isinstance(data, list) else data


def item(shapes: Shapes) -> tuple[int | None, ...]:
    return ITEM.get(shapes, (None, None))


def operands(r: Recipe, shapes: Shapes, given: tuple[Operand, ...] | None = None) -> list[Any]:
    rng = np.random.default_rng(11)
    return [draw(o, shapes, rng) for o in given or r.operands]


def wanted(f: Callable[..., Any], data: list[Any], axis: Any = ()) -> list[Any]:
    """The oracle, one component at a time; of all of them at once where everything is reduced."""
    if axis is None:
        whole = [np.concatenate([c.ravel() for c in a]) if isinstance(a, list) else a for a in data]
        return [f(*whole, (0,))]
    count = len(next(a for a in data if isinstance(a, list)))
    more = ((tuple(a - 1 for a in axis)),) if axis else ()
    return [f(*(a[i] if isinstance(a, list) else a for a in data), *more) for i in range(count)]


def axes(r: Recipe, shapes: Shapes, on: str) -> list[Any]:
    """Sets of axes to reduce; fewer on JAX, where each compiles."""
    if not r.reduces:
        return [()]
    if shapes == ROWS:
        return [(1,), None] if on == "numpy" else [(1,)]
    return [(2,)] if on == "jax" else [(1,), (2,), None, *([] if "arg" in r.text else [(1, 2)])]


def call(r: Recipe, xs: list[Any], axis: Any) -> Any:
    if not r.reduces:
        return r.function(*xs)
    return r.function(*xs, axis[0] if axis and len(axis) == 1 else axis)


def parts(out: Any) -> list[Any]:
    return list(out) if isinstance(out, tuple | list) else [out]


def compare(got: Any, want: list[Any], whole: bool, rtol: float) -> None:
    for n, part in enumerate(parts(got)):
        theirs = [parts(w)[n] for w in want]
        if whole:
            found = [np.asarray(part)]
        else:
            found = [np.asarray(c) for c in (part.to("numpy").unbind() if isinstance(part, RaggedArray) else part)]
        assert len(found) == len(theirs)
        for a, b in zip(found, theirs, strict=True):
            assert a.shape == np.shape(b), (a.shape, np.shape(b))
            assert KIND.get(a.dtype.kind, a.dtype.kind) == KIND.get(np.asarray(b).dtype.kind, np.asarray(b).dtype.kind)
            wide = "complex128" if np.iscomplexobj(a) else "float64"
            np.testing.assert_allclose(a.astype(wide), np.asarray(b).astype(wide), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("on", ["numpy", "jax"])
@pytest.mark.parametrize("name", RECIPES)
def test_values(name: str, on: str) -> None:
    r = RECIPES[name]
    for shapes in r.layouts:
        data = operands(r, shapes)
        for axis in axes(r, shapes, on):
            with np.errstate(all="ignore"):
                want = wanted(r.oracle, data, axis)
            xs = [placed(d, o.shapes or shapes, on) for d, o in zip(data, r.operands, strict=True)]
            compare(call(r, xs, axis), want, axis is None, r.rtol if on == "numpy" else max(r.rtol, 2e-4))


def energy(out: Any, xp: Any) -> Any:
    """One number from what an operation gives; integers and what is not finite count nothing."""
    total = 0.0
    for part in parts(out):
        ragged = isinstance(part, RaggedArray)
        if np.dtype(part.dtype).kind in "biu":
            continue
        real = ra if ragged else xp
        square = real.real(part * part.conj()) if part.dtype.kind == "c" and not ragged else part * part
        if ragged and np.dtype(part.dtype).kind == "c":
            square = ra.square(ra.real(part)) + ra.square(ra.imag(part))
        e = square + (real.real(part) if np.dtype(part.dtype).kind == "c" else part)
        total = total + real.sum(real.where(real.isfinite(e), e, 0.0))
    return total


SMOOTH = [n for n, r in RECIPES.items() if r.smooth]
EAGER = ("bmm", "matmul")
"""Recipes that read the sizes of components, which have no plan."""
DERIVED = {o for o, line in vars(oracle).items() if isinstance(line, oracle.Oracle) and line.smooth}


def is_derived_elsewhere(r: Recipe) -> bool:
    """Whether a recipe is one op whose gradient its line in `oracle` is held against."""
    one = re.fullmatch(r"ra\.([\w.]+)\([^()]*\)", r.text)
    return one is not None and one[1].replace(".", "_") in DERIVED


@pytest.mark.parametrize("name", [nightly_unless(not is_derived_elsewhere(RECIPES[n]), n) for n in SMOOTH])
def test_gradient(name: str) -> None:
    r = RECIPES[name]
    shapes, given = r.layouts[-1 if r.reduces else 0], r.at or r.operands
    data = operands(r, shapes, given)
    which = tuple(i for i, o in enumerate(given) if o.dtype == "float64" and (r.wrt is None or i in r.wrt))
    xs = [placed(d, o.shapes or shapes, "jax") for d, o in zip(data, given, strict=True)]
    for axis in axes(r, shapes, "jax")[:1]:
        gradient = ra.grad(lambda *xs, axis=axis: energy(call(r, list(xs), axis), jax.numpy), which)
        found = (gradient if name in EAGER else jax.jit(gradient))(*xs)
        for i, g in zip(which, found, strict=True):
            if isinstance(g, RaggedArray):
                assert not np.any(np.asarray(g.values)[8 if shapes in (ROWS, BLOCKS) else 12 :])
            got = [np.asarray(c) for c in g.to("numpy").unbind()] if isinstance(g, RaggedArray) else [np.asarray(g)]
            for a, b in zip(got, differences(r, data, i, axis), strict=True):
                np.testing.assert_allclose(a, b, rtol=max(2e-3, r.rtol), atol=max(2e-3, r.rtol))


def differences(r: Recipe, data: list[Any], i: int, axis: Any) -> Components:
    """The gradient of the oracle's energy by central differences."""
    oracle = r.exact or r.oracle

    def total() -> float:
        with np.errstate(all="ignore"):
            return float(sum(energy(tuple(np.asarray(p) for p in parts(w)), np) for w in wanted(oracle, data, axis)))

    out = []
    for c in data[i] if isinstance(data[i], list) else [data[i]]:
        g = np.zeros(c.shape)
        for at in np.ndindex(c.shape):
            old, step = c[at], 1e-5
            c[at] = old + step
            up = total()
            c[at] = old - step
            g[at] = (up - total()) / (2 * step)
            c[at] = old
        out.append(g)
    return out


def test_figures_and_page() -> None:
    page = runpy.run_path(str(SCRIPT))
    table = page["operations"]()
    assert len(table) == 251
    assert {op.name for op in table} == set(RECIPES) | set(UNCOVERED)
    assert not set(RECIPES) & set(UNCOVERED)
    assert len(RECIPES) == 237
    assert len(SMOOTH) == 190
    differentiable = {op.name for op in table if op.torch_backward}
    assert len(differentiable) == 174
    assert differentiable - set(SMOOTH) == {"nextafter", "chalf"}  # a step at every number; a dtype that nobody has
    assert sum(op.torch_forward == "all" for op in table) == 124
    assert sum(op.torch_backward == "all" for op in table) == 92
    assert (SCRIPT.parent.parent / "nested-coverage.md").read_text() == page["page"]()
