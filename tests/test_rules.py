"""The rules of the architecture page: each holds, and in the file that the page names."""

import re
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import raggedarray as ra

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs" / "_ext"))

import ways  # noqa: E402

ROW = re.compile(r"^\| ([^|]+\.) \| `([\w/.]+)` \| `(.+?)` (is|raises) ?(?:`(.*)` )?\|$", re.MULTILINE)
RULES = ROW.findall((ROOT / "docs" / "architecture.md").read_text())


def test_there_are_ten() -> None:
    assert len(RULES) == 10


@pytest.mark.parametrize(("rule", "file", "example", "how", "want"), RULES, ids=[r[0] for r in RULES])
def test_rule(rule: str, file: str, example: str, how: str, want: str) -> None:
    jax.clear_caches()  # so that bodies are traced here
    names = {"ra": ra, "np": np, "jax": jax}
    result: list[str] = []

    def call() -> None:
        try:
            result.append(repr(eval(example, names)))
        except (TypeError, ValueError, IndexError) as e:
            result.append(f"raises {e}")

    assert file in ways.files(call, warm=False)
    if how == "is":
        assert result == [want]
    else:
        assert result[0].startswith("raises ")
        assert not want or result[0] == f"raises {want.replace('`` ', '').replace(' ``', '')}"


def test_the_ways_are_those_of_this_tree() -> None:
    """If not: python docs/_ext/ways.py, and read whether the page still says what they do."""
    assert ways.PAGE.read_text() == ways.page()
