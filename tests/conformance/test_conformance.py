"""The conformance cases on every backend; how many are excepted, and why, is asserted."""

from typing import Any

import jax
import pytest

from . import _runner as runner

FILES = (
    "elementwise", "broadcasting", "reduction", "creation", "conversion", "getitem",
    "indexing", "manipulation", "sorting", "scan", "nn_norm",
)  # fmt: skip
MISSING = ("to_rows", "to_blocks", "contiguous")
"""Calls of these files that the package does not have yet."""


def excepted(case: dict[str, Any]) -> bool:
    return case["call"] in MISSING or '"blocks"' in runner.json.dumps(case)


ALL = [(name, case) for name in FILES for case in runner.cases(name)]
RUN = [case for _, case in ALL if not excepted(case)]
COUNTS = {"elementwise": (139, 0), "broadcasting": (24, 0), "reduction": (224, 0), "creation": (61, 2)}
COUNTS |= {"getitem": (98, 0), "indexing": (58, 0)}
COUNTS |= {"conversion": (89, 8), "manipulation": (127, 3), "nn_norm": (57, 0)}
COUNTS |= {"sorting": (61, 0), "scan": (50, 0)}


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


@pytest.mark.parametrize("case", RUN, ids=lambda c: c["id"])
@pytest.mark.parametrize("slack", [False, True], ids=["exact", "poisoned"])
def test_numpy(case: dict[str, Any], slack: bool) -> None:
    check(case, "numpy", jit=False, slack=slack)


@pytest.mark.parametrize("case", RUN, ids=lambda c: c["id"])
def test_jax_eager(case: dict[str, Any]) -> None:
    with jax.enable_x64(True):
        check(case, "jax", jit=False, slack=True)


@pytest.mark.parametrize("case", RUN, ids=lambda c: c["id"])
def test_jax_jit(case: dict[str, Any]) -> None:
    if case.get("jit") == "host":
        return  # the result or the error depends on data: what jit does instead is tested elsewhere
    with jax.enable_x64(True):
        check(case, "jax", jit=True, slack=True)
