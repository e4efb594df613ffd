"""Names that docstring examples use; pytest settings shared by tests and examples."""

import numpy as np
import pytest

import raggedarray as ra


@pytest.fixture(autouse=True)
def _example_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(vars(ra) | {"ra": ra, "np": np})
