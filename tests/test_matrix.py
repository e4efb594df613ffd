"""Every op with an oracle, on every backend, eager and jitted, over the layouts, with poisoned slack."""

from functools import cache, partial
from typing import Any

import jax
import numpy as np
import pytest
from array_api_compat import numpy as anp

import raggedarray as ra

from . import nested, oracle
from .harness import day
from .harness.programs import jitted
from .harness.ways import Way
from .nested import EDGE, STRUCTURES, Layout, assert_nested, axis_sets, make, nest, reduce_nested, values_for

ORACLES = {name: o for name, o in vars(oracle).items() if isinstance(o, oracle.Oracle)}
EACH = {n: o for n, o in ORACLES.items() if o.role == "each"}
REDUCES = {n: o for n, o in ORACLES.items() if o.role == "reduces"}
NORMALIZES = {n: o for n, o in ORACLES.items() if o.role == "normalizes"}


def widely(name: str) -> bool:
    """Whether a reduction is tried on the odd layouts and with ``keepdims`` under jit: by day two of one code."""
    return name in ("sum", "max") or day.nightly()


def op(name: str) -> Any:
    for prefix, family in (("nn_", ra.nn), ("special_", ra.special)):
        if name.startswith(prefix):
            return getattr(family, name.removeprefix(prefix))
    return getattr(ra, name)


def runs(o: oracle.Oracle, name: str, way: Way) -> bool:
    """Strict knows no functions of scipy, no divisors and no exponents; all else runs everywhere."""
    return not (way.name == "strict" and (name.startswith("special_") or name in ("nn_gelu", "gcd", "lcm", "ldexp")))


def quiet(f: Any, *args: Any) -> Any:
    with np.errstate(all="ignore"):
        return f(*args)


@pytest.mark.parametrize("name", EACH)
def test_each(name: str, way: Way) -> None:
    o = EACH[name]
    if not runs(o, name, way):
        pytest.skip("array-api-strict has no such function")
    edge = EDGE if name in ("exp", "add", "where", "nn_elu") else []
    batches = [(layout, nested.DOUBLE[0]) for layout in nested.FLAT] if way.name == "jax-jit" else []
    for layouts in batches or [(*nested.FLAT, nested.DOUBLE[0])]:
        check_each(name, [(dtype, layout) for dtype in o.dtypes for layout in layouts], way)
    for dtype in o.dtypes:
        for layout in edge:
            check_each(name, [(dtype, layout)], way)


def check_each(name: str, cells: list[tuple[str, Layout]], way: Way) -> None:
    """The op on several operands, in one program where it is compiled."""
    o, operands, want = EACH[name], [], []
    for dtype, layout in cells:
        arrays = [values_for(layout, dtype, o.low, o.high, seed) for seed in range(o.arity)]
        if name == "where":
            arrays[0] = arrays[0] > 0
        operands.append([way.arrays(make(layout, a)) for a in arrays])
        want.append((to_lists(nest(layout, np.asarray(quiet(o.f, anp, *arrays)))), make(layout, arrays[0]).shape))
    got = way.run(name, lambda operands: [op(name)(*xs) for xs in operands], operands)
    for out, (items, shape) in zip(got, want, strict=True):
        assert_nested(out, items)
        assert out.shape == shape


def to_lists(x: Any) -> Any:
    return [to_lists(y) for y in x] if isinstance(x, list) else np.asarray(x).tolist()


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", REDUCES)
def test_reduces(name: str, structure: str, way: Way) -> None:
    o = REDUCES[name]
    edge = EDGE if structure == "flat" and widely(name) and (way.name != "jax-eager" or day.nightly()) else []
    layouts = day.layouts(STRUCTURES[structure], way) + edge
    for dtype in o.dtypes[: 1 if structure != "flat" else None]:
        for layout in layouts:
            check_reduction(o, name, dtype, layout, way)


LAYOUTS = {str(layout): layout for layout in (*(x for s in STRUCTURES.values() for x in s), *EDGE)}


@cache
def expected(name: str, dtype: str, layout: str, axes: tuple[int, ...], keepdims: bool) -> Any:
    """What the loops say; the same for every way."""
    o, shape = REDUCES[name], LAYOUTS[layout]
    a = values_for(shape, dtype, o.low, o.high, seed=1)
    return quiet(reduce_nested, lambda *v: np.asarray(o.f(anp, *v)), shape, a, axes, keepdims, o.axis_only)


def check_reduction(o: oracle.Oracle, name: str, dtype: str, layout: Layout, way: Way) -> None:
    """Over every set of axes, by day on JAX each axis and all; in one program where it is compiled."""
    calls, wanted = [], []
    few = o.axis_only or (way.jax and not day.nightly())
    for axes in axis_sets(layout.ndim):
        if few and 1 < len(axes) < layout.ndim:
            continue
        for keepdims in (False, True) if way.name == "numpy" or widely(name) else (False,):
            options: dict[str, Any] = {"axis": axes if not o.axis_only else axes[0] if len(axes) == 1 else None}
            options["keepdims"] = keepdims
            if way.name == "jax-jit" and 0 in axes:
                kept = [i for i in range(1, len(layout.levels) + 1) if i not in axes]
                if kept and not isinstance(layout.levels[kept[0] - 1], int):
                    options["length"] = 9
            calls.append(options)
            wanted.append(expected(name, dtype, str(layout), axes, keepdims))
    x = way.arrays(make(layout, values_for(layout, dtype, o.low, o.high, seed=1)))
    results = way.run((name, str(calls)), lambda x: [op(name)(x, **options) for options in calls], x)
    for options, got, want in zip(calls, results, wanted, strict=True):
        assert_nested(cut(got, want, options, options["keepdims"]), want)


def cut(got: Any, want: Any, options: dict[str, Any], keepdims: bool) -> Any:
    """Columns past the longest row, which ``length=`` adds, dropped."""
    if "length" not in options:
        return got
    if keepdims:
        at = next(i for i in range(9) if i not in options_axes(options))
        items = got.tolist()
        return _Listed(_cut_at(items, want, at))
    return _Listed(got.tolist()[: len(want)])


def options_axes(options: dict[str, Any]) -> tuple[int, ...]:
    axis = options["axis"]
    return axis if isinstance(axis, tuple) else (axis,)


def _cut_at(items: Any, want: Any, depth: int) -> Any:
    return items[: len(want)] if depth == 0 else [_cut_at(i, w, depth - 1) for i, w in zip(items, want, strict=True)]


class _Listed:
    """Lists in the place of an array."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError("compared as lists")

    def tolist(self) -> Any:
        return self.items


@pytest.mark.parametrize("structure", ["flat", "inner", "double", "mixed"])
@pytest.mark.parametrize("name", NORMALIZES)
def test_normalizes(name: str, structure: str, way: Way) -> None:
    o = NORMALIZES[name]
    for layout in day.layouts(STRUCTURES[structure] + (EDGE if structure == "flat" else []), way):
        a = values_for(layout, "float32", -3, 3, seed=2)
        axes = range(layout.ndim)
        every = lambda x, axes=axes: [op(name)(x, axis=axis) for axis in axes]  # noqa: E731
        for axis, got in zip(axes, way.run((name, axes), every, way.arrays(make(layout, a))), strict=True):
            want = normalize_nested(o, layout, a, axis)
            assert_nested(got, to_lists(nest(layout, want)))


def normalize_nested(o: oracle.Oracle, layout: Layout, a: np.ndarray, axis: int) -> np.ndarray:
    """Apply a function of groups and put every element back where it came from."""
    out = np.full(a.size, np.nan, a.dtype)
    flat = a.reshape(-1)

    def put(slots: np.ndarray) -> float:
        at = slots.astype(int)
        out[at] = o.f(anp, flat[at]) if len(at) else 0
        return 0.0

    slots = np.arange(a.size, dtype=float).reshape(a.shape)
    reduce_nested(put, layout, slots, (axis,), keepdims=False)
    return out.reshape(a.shape)


GRADIENT_LAYOUTS = [nested.FLAT[0], nested.FLAT[2], nested.INNER[0], nested.DOUBLE[0]]


POISONS = (Way("jax-jit", 3), Way("jax-jit", 3, "inf"), Way("jax-jit", 3, "-inf"))


@pytest.mark.parametrize("name", [n for n, o in EACH.items() if o.smooth])
def test_gradient_of_each(name: str) -> None:
    o = EACH[name]
    which = tuple(range(o.arity))[1 if name == "where" else 0 :]
    gradient = jax.jit(ra.grad(lambda *xs: ra.sum(op(name)(*xs[:-1]) * xs[-1]), which))
    dense = jax.jit(jax.grad(lambda *a: jax.numpy.sum(o.f(jax.numpy, *a[:-1]) * a[-1]), which))
    for layout in GRADIENT_LAYOUTS:
        arrays = [values_for(layout, "float32", o.low, o.high, seed) for seed in range(o.arity)]
        arrays.append(values_for(layout, "float32", 0.5, 1, seed=9))
        if name == "where":
            arrays[0] = arrays[0] > 0
        want = dense(*arrays)
        for way in POISONS:
            for g, w in zip(gradient(*(way.arrays(make(layout, a)) for a in arrays)), want, strict=True):
                assert_nested(g, to_lists(nest(layout, np.asarray(w))))
                assert not np.any(np.asarray(g.values)[len(arrays[0]) :])


@pytest.mark.parametrize("name", [n for n, o in (REDUCES | NORMALIZES).items() if o.smooth])
def test_gradient_of_groups(name: str) -> None:
    o = ORACLES[name]

    def loss(x: Any, axis: int) -> Any:
        y = op(name)(x, axis=axis, **({"length": 9} if axis == 0 and o.role == "reduces" else {}))
        y = y.map_values(lambda v: v * v) if isinstance(y, ra.RaggedArray) else y * y
        return ra.sum(ra.where(ra.isfinite(y), y, 0.0))

    gradients = jax.jit(lambda x: [ra.grad(partial(loss, axis=axis))(x) for axis in range(x.ndim)])
    for layout in GRADIENT_LAYOUTS:
        a = values_for(layout, "float32", o.low, o.high, seed=3)
        wanted = [to_lists(nest(layout, group_gradient(o, layout, a, axis))) for axis in range(layout.ndim)]
        for way in POISONS:
            for got, want in zip(gradients(way.arrays(make(layout, a))), wanted, strict=True):
                assert_nested(got, want, rtol=2e-4, atol=2e-4)


def group_gradient(o: oracle.Oracle, layout: Layout, a: np.ndarray, axis: int) -> np.ndarray:
    """Gradient of the sum of squares of an op, a group at a time."""
    out = np.zeros(a.size, a.dtype)
    flat = a.reshape(-1)
    gradient = jitted(id(o), jax.grad(lambda v: jax.numpy.sum(o.f(jax.numpy, v) ** 2)))

    def put(slots: np.ndarray) -> float:
        at = slots.astype(int)
        if len(at):
            out[at] = gradient(flat[at])
        return 0.0

    slots = np.arange(a.size, dtype=float).reshape(a.shape)
    reduce_nested(put, layout, slots, (axis,), keepdims=False)
    return out.reshape(a.shape)
