"""CONTRIBUTING's walk-through of a new operation, followed to the letter in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECTION = re.search(r"## Adding an operation\n(.*?)\n## ", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
CHECK = """
import numpy as np
import raggedarray as ra
x = ra.ragged([[1.0, 4.0], [], [2.0]])
assert ra.ptp(x, axis=1).tolist() == [3.0, 0.0, 0.0]
assert np.ptp(x, axis=1).tolist() == [3.0, 0.0, 0.0]
assert "ptp" in ra.ops.reduction.__all__
try:
    ra.ptp(x, axis=5)
except IndexError as e:
    assert str(e).startswith("ptp: expected an axis")
"""


def test_an_operation_is_added_as_the_guide_says(tmp_path: Path) -> None:
    assert SECTION is not None
    function, meaning = re.findall(r"```py\n(.*?)```", SECTION[1], re.DOTALL)
    family, oracle = (ROOT / path for path in re.findall(r"in `((?:raggedarray|tests)/[\w/]+\.py)`", SECTION[1]))
    for folder in ("raggedarray", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "cases"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    copy = tmp_path / family.relative_to(ROOT)
    copy.write_text(copy.read_text().replace("__all__ = [\n", '__all__ = [\n    "ptp",\n', 1) + "\n\n" + function)
    copy = tmp_path / oracle.relative_to(ROOT)
    copy.write_text(copy.read_text() + "\n\n" + meaning)

    run = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(tmp_path)}, "check": True, "timeout": 300}
    subprocess.run([sys.executable, "-c", CHECK], **run)  # type: ignore[call-overload]
    reductions = next(p for p in (tmp_path / "tests").rglob("test_*.py") if "\ndef test_reduces(" in p.read_text())
    families = next(p for p in (tmp_path / "tests").rglob("test_api.py"))
    tests = [str(reductions), str(families), "-p", "no:cacheprovider", "-p", "no:xdist"]
    tests += ["-v", "-k", "(ptp and flat and (numpy or strict)) or api"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *tests], **(run | {"check": False}), capture_output=True, text=True
    )  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(re.findall(r"test_reduces\[[^]]*ptp[^]]*\] PASSED", done.stdout)) >= 3
