"""The conformance cases on every backend; how many are excepted, and why, is asserted."""

from typing import Any

import jax
import pytest

from ..conftest import NIGHTLY
from . import _runner as runner

FILES = (
    "elementwise", "broadcasting", "reduction", "creation", "conversion", "getitem",
    "indexing", "manipulation", "sorting", "scan", "nn_norm", "nn_attention", "nn_conv", "nn_embedding",
    "nn_loss", "grad", "bug_cases",
    "nn_recurrent", "linalg", "fft",
)  # fmt: skip
MISSING: tuple[str, ...] = ()
"""Calls of these files that the package does not have yet, or not on ragged operands; their gradients with them."""


def excepted(case: dict[str, Any]) -> bool:
    return case["call"].removeprefix("grad:") in MISSING


ALL = [(name, case) for name in FILES for case in runner.cases(name)]
RUN = [case for _, case in ALL if not excepted(case)]
ON_NUMPY = [case for case in RUN if not case["call"].startswith("grad:")]
"""NumPy has no gradients."""
EAGER = RUN if NIGHTLY else RUN[1::3]
JITTED = RUN if NIGHTLY else RUN[::3]
"""Thousands of programs take long to compile: by day a third of the cases runs eagerly and another jitted on JAX."""
COUNTS = {"elementwise": (139, 0), "broadcasting": (24, 0), "reduction": (224, 0), "creation": (61, 0)}
COUNTS |= {"nn_recurrent": (24, 0), "linalg": (74, 0), "fft": (19, 0)}
COUNTS |= {"getitem": (98, 0), "indexing": (58, 0)}
COUNTS |= {"conversion": (89, 0), "manipulation": (127, 0), "nn_norm": (57, 0)}
COUNTS |= {"nn_attention": (24, 0), "nn_conv": (26, 0), "nn_embedding": (30, 0), "nn_loss": (21, 0)}
COUNTS |= {"sorting": (61, 0), "scan": (50, 0), "grad": (73, 0), "bug_cases": (71, 0)}


def test_counts() -> None:
    found = {n: (sum(m == n for m, _ in ALL), sum(m == n and excepted(c) for m, c in ALL)) for n in FILES}
    assert found == COUNTS


def check(case: dict[str, Any], xp: str, jit: bool, slack: bool) -> None:
    want = runner.expected(case, jit)
    errors = runner.raises(want)
    if errors is not None:
        with pytest.raises(errors):
            runner.run(case, xp, jit, slack)
        return
    got = runner.post(runner.run(case, xp, jit, slack), case.get("post", []))
    runner.compare(got, want, case)


@pytest.mark.parametrize("case", ON_NUMPY, ids=lambda c: c["id"])
@pytest.mark.parametrize("slack", [False, True], ids=["exact", "poisoned"])
def test_numpy(case: dict[str, Any], slack: bool) -> None:
    check(case, "numpy", jit=False, slack=slack)


@pytest.mark.parametrize("case", EAGER, ids=lambda c: c["id"])
def test_jax_eager(case: dict[str, Any]) -> None:
    with jax.enable_x64(True):
        check(case, "jax", jit=False, slack=True)


@pytest.mark.parametrize("case", JITTED, ids=lambda c: c["id"])
def test_jax_jit(case: dict[str, Any]) -> None:
    if case.get("jit") == "host":
        return  # the result or the error depends on data: what jit does instead is tested elsewhere
    with jax.enable_x64(True):
        check(case, "jax", jit=True, slack=True)
