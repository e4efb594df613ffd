"""Profiles, strict JAX settings and the ways every op is run."""

import os
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

import array_api_strict
import hypothesis
import jax
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, RowPartition

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
"""Whether to try everything everywhere; by default deep structures are compiled for a few ops only."""

hypothesis.settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True)
hypothesis.settings.register_profile("nightly", max_examples=3000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-nightly", action="store_true", help="run the tests marked nightly too")


MANY = {
    "test_blocks.py", "test_broadcasting.py", "test_counts.py", "test_edges.py", "test_indexing.py",
    "test_manipulation.py", "test_matrix.py", "test_nested_coverage.py", "test_scan.py", "test_sorting.py",
}  # fmt: skip
"""Files of thousands of cells on JAX, each of which is compiled: by day every tenth one runs, chosen by its name."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-nightly"):
        return
    chosen = config.getoption("keyword") or any("::" in str(a) for a in config.args)  # asked for by name
    items[:] = [i for i in items if "nightly" not in i.keywords and (chosen or NIGHTLY or _by_day(i))]


def _by_day(item: pytest.Item) -> bool:
    on_jax = item.path.name in MANY and "jax" in item.name.partition("[")[2]
    return not on_jax or crc32(item.nodeid.encode()) % 10 == 0


COMPILED: dict[Any, Callable[..., Any]] = {}
"""One jitted function per op and options: layouts of one capacity then share a program."""


class Way:
    """One way to run an op: a backend, eager or jitted, with or without poisoned slack."""

    def __init__(self, name: str, slack: int, fill: str = "nan") -> None:
        self.name, self.slack, self.fill = name, slack, fill
        self.jax = name.startswith("jax")

    def arrays(self, x: Any) -> Any:
        """A NumPy operand as this way has it; RaggedArrays get slack, up to few sizes, so that little compiles."""
        if not isinstance(x, RaggedArray):
            return self.dense(x)
        if self.slack:
            entries = (*(p.nrows for p in x.partitions[1:]), x.capacity)
            x = ra.with_capacity(x, tuple(-(-(n + self.slack) // 12) * 12 for n in entries))
        x = ra.testing.poison(x, fill=self.fill) if self.slack else x
        if self.jax:
            entries = (*(p.nrows for p in x.partitions[1:]), x.capacity)
            return ra.asarray(x, xp="jax", capacity=entries)
        read_only(x.values)
        if self.name == "strict":
            xp = array_api_strict
            partitions = tuple(
                RowPartition(xp.asarray(p.splits)) if isinstance(p, RowPartition) else p for p in x.partitions
            )
            return RaggedArray(xp.asarray(x.values), partitions)
        return x

    def dense(self, x: Any) -> Any:
        if self.jax and isinstance(x, np.ndarray | np.generic):
            return jax.numpy.asarray(x)
        if self.name == "strict" and isinstance(x, np.ndarray | np.generic):
            return array_api_strict.asarray(np.asarray(x))
        return x

    def run(self, key: Any, f: Callable[..., Any], *args: Any) -> Any:
        """``f(*args)``; jitted ways keep one compiled function per key."""
        if self.name != "jax-jit":
            return f(*args)
        if key not in COMPILED:
            COMPILED[key] = jax.jit(f)
        return COMPILED[key](*args)

    def __repr__(self) -> str:
        return f"{self.name}-{self.fill if self.slack else 'exact'}"


@pytest.fixture(autouse=True, scope="module")
def _forget_programs() -> Iterator[None]:
    """Thousands of compiled programs in one process end in a crash of the compiler; each file starts afresh."""
    yield
    COMPILED.clear()
    jax.clear_caches()


def read_only(a: np.ndarray) -> None:
    if isinstance(a, np.ndarray) and a.base is None:
        a.flags.writeable = False


WAYS = [Way("numpy", 0), Way("numpy", 3), Way("strict", 2), Way("jax-eager", 3), Way("jax-jit", 3, "inf")]


@pytest.fixture(params=WAYS, ids=repr)
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen
