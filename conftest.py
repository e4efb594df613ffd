"""Names that docstring examples use; pytest settings shared by tests and examples."""

import jax
import numpy as np
import pytest

import raggedarray as ra

jax.config.update("jax_num_cpu_devices", 4)  # simulated ones; before JAX looks for devices, so before any test


@pytest.fixture(autouse=True)
def _example_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(vars(ra) | {"ra": ra, "np": np})
