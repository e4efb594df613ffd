"""The native kernels against the ones written in the bare standard."""

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest

from raggedarray.backends import Kernels, Segments, backend, generic, implementation, kernels

from . import third_backend

STANDARD, NATIVE = kernels(array_api_strict.asarray(0)), {"numpy": (backend("numpy"), np), "jax": (backend("jax"), jnp)}
LENGTHS = ([3, 0, 2, 1, 0], [0, 0, 0], [7], [1] * 90, [0, 40, 0, 0, 3], [])


def splits_of(lengths: list[int]) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)


def segments(lengths: list[int], as_ids: bool, xp: Any) -> Segments:
    splits = splits_of(lengths)
    if not as_ids:
        return Segments(len(lengths), splits=xp.asarray(splits))
    ids = np.random.default_rng(0).permutation(np.repeat(np.arange(len(lengths)), lengths)).astype(np.int32)
    return Segments(len(lengths), ids=xp.asarray(ids))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("item", [(), (3,), (2, 2)])
@pytest.mark.parametrize("backend", NATIVE)
@pytest.mark.parametrize("as_ids", [False, True])
def test_segment_kernels(backend: str, item: tuple[int, ...], lengths: list[int], as_ids: bool) -> None:
    k, xp = NATIVE[backend]
    values = np.random.default_rng(1).uniform(-2, 2, (sum(lengths), *item)).astype(np.float32)
    strict = array_api_strict.asarray(values)
    mine, theirs = segments(lengths, as_ids, xp), segments(lengths, as_ids, array_api_strict)
    for how in ("sum", "prod", "min", "max"):
        want = STANDARD.segment_reduce(how, strict, theirs)
        np.testing.assert_allclose(
            k.segment_reduce(how, xp.asarray(values), mine), np.from_dlpack(want), rtol=1e-5, atol=1e-6
        )
    for log in (False, True):
        want = generic.segment_softmax(strict, theirs, log=log)
        got = implementation(k, generic.segment_softmax)(xp.asarray(values), mine, log=log)
        np.testing.assert_allclose(got, np.from_dlpack(want), rtol=1e-5, atol=1e-6)
    items = np.arange(len(lengths) * max(int(np.prod(item)), 1), dtype=np.float32).reshape(len(lengths), *item)
    want = generic.spread(array_api_strict.asarray(items), theirs, len(values))
    got = implementation(k, generic.spread)(xp.asarray(items), mine, len(values))
    np.testing.assert_array_equal(got, np.from_dlpack(want))


@pytest.mark.parametrize("backend", NATIVE)
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_row_ids(backend: str, lengths: list[int]) -> None:
    k, xp = NATIVE[backend]
    for slack in (0, 3):
        capacity = sum(lengths) + slack
        want = STANDARD.row_ids(array_api_strict.asarray(splits_of(lengths)), capacity)
        np.testing.assert_array_equal(k.row_ids(xp.asarray(splits_of(lengths)), capacity), np.from_dlpack(want))


@pytest.mark.parametrize("backend", NATIVE)
def test_products_and_lookups(backend: str) -> None:
    k, xp = NATIVE[backend]
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((6, 4)).astype(np.float32), rng.standard_normal((3, 4, 2)).astype(np.float32)
    splits = splits_of([3, 0, 3])
    want = generic.grouped_matmul(*(array_api_strict.asarray(a) for a in (x, w, splits)))
    got = implementation(k, generic.grouped_matmul)(xp.asarray(x), xp.asarray(w), xp.asarray(splits))
    np.testing.assert_allclose(got, np.from_dlpack(want), rtol=1e-5, atol=1e-6)
    mask = np.array([False, True, True, False, True])
    for size in (2, 3, 5):
        want = STANDARD.true_index(array_api_strict.asarray(mask), size)
        np.testing.assert_array_equal(k.true_index(xp.asarray(mask), size), np.from_dlpack(want))
    for count in (3, 80) if backend == "numpy" else ():
        starts, lengths = rng.integers(0, 2, count).astype(np.int32), rng.integers(0, 4, count)
        wide = np.concatenate((x, x))
        runs = splits_of((lengths * 30 if count == 3 else lengths).tolist())
        long = np.tile(wide, (20, 1))
        want = generic.take_runs(*(array_api_strict.asarray(a) for a in (long, starts, runs)))
        got = np.asarray(implementation(k, generic.take_runs)(xp.asarray(long), xp.asarray(starts), xp.asarray(runs)))
        np.testing.assert_array_equal(got[: runs[-1]], np.from_dlpack(want))
    index = np.array([2, 6, 0], dtype=np.int32)
    want = STANDARD.pick(array_api_strict.asarray(x), array_api_strict.asarray(index))
    np.testing.assert_array_equal(k.pick(xp.asarray(x), xp.asarray(index)), np.from_dlpack(want))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_accumulate_in_float32(dtype: str) -> None:
    import jax

    import raggedarray as ra

    x = ra.from_row_lengths(np.ones(3000, dtype=dtype), np.array([1000, 0, 2000]))
    for y in (x, x.to("jax")):
        np.testing.assert_array_equal(np.asarray(ra.sum(y, axis=1)).astype(float), [1000, 0, 2000])
        np.testing.assert_array_equal(np.asarray(ra.mean(y, axis=1)).astype(float), [1, np.nan, 1])
        assert str(ra.sum(y, axis=1).dtype) == dtype
        assert str(ra.nn.softmax(y).dtype) == dtype
    j = x.to("jax")
    grad = jax.grad(lambda b: ra.sum((j * b[:, None]).astype("float32")))(jax.numpy.ones(3, dtype))
    np.testing.assert_array_equal(np.asarray(grad).astype(float), [1000, 0, 2000])


PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
spec = importlib.util.spec_from_file_location("kernels_page", PAGE.parent / "_ext" / "kernels.py")
assert spec is not None and spec.loader is not None
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)
KERNELS = {f.__name__: f for f in page.functions(Kernels)}
BACKENDS = {"numpy": backend("numpy"), "jax": backend("jax"), "standard": STANDARD, "third": third_backend}


def shape_of(f: Any) -> list[tuple[str, Any, bool]]:
    """The parameters of a function: name, kind, and whether one may leave it out."""
    parameters = inspect.signature(f).parameters.values()
    return [(p.name, p.kind, p.default is not p.empty) for p in parameters if p.name != "self"]


def test_a_backend_needs_sixteen_functions() -> None:
    assert len(KERNELS) == 16
    assert not set(KERNELS) & set(generic.__all__)


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("function", KERNELS)
def test_backends_have_the_kernels(function: str, name: str) -> None:
    assert shape_of(getattr(BACKENDS[name], function)) == shape_of(KERNELS[function])


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("function", generic.__all__)
def test_what_a_backend_has_of_its_own_is_called_alike(function: str, name: str) -> None:
    default = getattr(generic, function)
    own = implementation(BACKENDS[name], default)
    assert own is getattr(BACKENDS[name], function, default)
    assert shape_of(own) == shape_of(default)


def test_the_page_lists_the_kernels() -> None:
    assert PAGE.read_text() == page.written(PAGE.read_text()), "run `python docs/_ext/kernels.py`"
