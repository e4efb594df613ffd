"""The ops on a backend of another package, which has what `Kernels` asks for and little more."""

import ast
from collections.abc import Iterator
from pathlib import Path

import array_api_strict
import numpy as np
import pytest

import raggedarray as ra
from raggedarray.backends import generic, implementation, kernels, register_backend

from . import test_matrix as matrix
from . import third_backend
from .harness.day import nightly_unless
from .harness.ways import Way

BY_DAY = {"each": ("exp", "add", "where", "floor_divide"), "reduces": ("sum", "max", "argmax", "logsumexp")}
"""What runs by day; the rest at night."""
WAY = Way("strict", 2)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    before = kernels(array_api_strict.asarray(0))
    register_backend("array_api_strict", third_backend)
    yield
    register_backend("array_api_strict", before)


def names(family: str, table: dict[str, object]) -> list[object]:
    return [nightly_unless(n in BY_DAY.get(family, table), n) for n in table]


@pytest.mark.parametrize("name", names("each", matrix.EACH))
def test_each(name: str) -> None:
    matrix.test_each(name, WAY)


@pytest.mark.parametrize("structure", matrix.STRUCTURES)
@pytest.mark.parametrize("name", names("reduces", matrix.REDUCES))
def test_reduces(name: str, structure: str) -> None:
    matrix.test_reduces(name, structure, WAY)


@pytest.mark.parametrize("structure", ["flat", "inner", "double", "mixed"])
@pytest.mark.parametrize("name", names("normalizes", matrix.NORMALIZES))
def test_normalizes(name: str, structure: str) -> None:
    matrix.test_normalizes(name, structure, WAY)


def test_its_arrays_run_on_it() -> None:
    x = WAY.arrays(ra.ragged([[1.0, 2.0], [], [4.0]]))
    assert x.kernels is third_backend
    before = third_backend.spreads
    np.testing.assert_allclose(np.from_dlpack(ra.nn.softmax(x).values)[2:3], 1.0)
    assert third_backend.spreads > before
    assert implementation(x.kernels, generic.spread) is third_backend.spread
    assert implementation(x.kernels, generic.attention) is generic.attention


def test_it_takes_nothing_from_the_generic_code() -> None:
    tree = ast.parse(Path(third_backend.__file__).read_text())
    taken = {node.module: {a.name for a in node.names} for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {m: n for m, n in taken.items() if m and m.startswith("raggedarray")} == {
        "raggedarray.backends": {"Reduction", "Segments", "identity"}
    }
