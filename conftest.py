"""Names that docstring examples use; pytest settings shared by tests and examples."""

import os
from pathlib import Path

import jax
import numpy as np
import pytest

import raggedarray as ra

jax.config.update("jax_num_cpu_devices", 4)  # simulated ones; before JAX looks for devices, so before any test
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:  # programs of one run serve the next
    jax.config.update("jax_compilation_cache_dir", str(Path(__file__).parent / ".cache" / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@pytest.fixture(autouse=True)
def _example_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(vars(ra) | {"ra": ra, "np": np})
