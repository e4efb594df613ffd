"""Strict JAX settings, the ways every op is run, and what runs by day."""

import jax
import pytest

from .harness import day, programs
from .harness.ways import WAYS, Way

jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-nightly", action="store_true", help="run every cell, with many examples of each property")


def pytest_configure(config: pytest.Config) -> None:
    day.configure(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    day.select(config, items)


def pytest_runtest_teardown() -> None:
    programs.after_each_test()


@pytest.fixture(params=WAYS, ids=repr)
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen
