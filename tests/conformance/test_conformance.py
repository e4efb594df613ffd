"""The conformance cases on every backend; how many are excepted, and why, is asserted."""

from typing import Any

import jax
import pytest

from ..harness.day import nightly_unless
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
TRACED = [case for case in RUN if case.get("jit") != "host"]
"""Of the others the result or the error depends on data: what jit does instead is tested elsewhere."""
DAY = (
    "cumulative_prod", "getitem", "linalg.inv", "matmul", "nn.attention", "nn.conv1d", "nn.layer_norm", "sort", "take",
    "to_padded",
)  # fmt: skip
GRADIENTS = {case["call"]: case["id"] for case in TRACED if case["call"] in {f"grad:{name}" for name in DAY}}
"""One gradient of each of these runs on JAX by day; all else runs there nightly, a program for each case."""
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


@pytest.mark.nightly
@pytest.mark.parametrize("case", RUN, ids=lambda c: c["id"])
def test_jax_eager(case: dict[str, Any]) -> None:
    with jax.enable_x64(True):
        check(case, "jax", jit=False, slack=True)


@pytest.mark.parametrize("case", [nightly_unless(c["id"] in GRADIENTS.values(), c, id=c["id"]) for c in TRACED])
def test_jax_jit(case: dict[str, Any]) -> None:
    with jax.enable_x64(True):
        check(case, "jax", jit=True, slack=True)
