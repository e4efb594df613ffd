"""Types that users see: in code without faults, and in code where every line has one."""

import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import raggedarray as ra

HERE = Path(__file__).parent
USER, TYPOS = HERE / "user_code.py", HERE / "typos.py"
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "mypy"
REVEALED = re.compile(r'^.*?user_code\.py:(\d+)[:\d]*(?: -)? \w+: (?:Revealed type is|Type of ".*" is) "(.*)"$')
ERROR = re.compile(r"^.*?(\w+\.py):(\d+)[:\d]*(?: -)? error: ")


def mypy() -> list[str]:
    checker = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", CACHE, "--config-file", HERE / "mypy.ini"]
    return run([*checker, USER, TYPOS])


def pyright() -> list[str]:
    checker = shutil.which("pyright")
    if checker is None:
        pytest.skip("pyright is not installed")
    return run([checker, "--pythonpath", sys.executable, USER, TYPOS])


def run(command: list[typing.Any]) -> list[str]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert "typos.py" in done.stdout, done.stdout + done.stderr
    return done.stdout.splitlines()


def short(name: str) -> str:
    """A type without modules and without arguments, but for those of a tuple."""
    name = re.sub(r"\b(\w+\.)+(?=\w)", "", name)
    return "Any" if name == "Unknown" else name if name.startswith("tuple") else name.split("[")[0]


def marked(path: Path, mark: str) -> dict[int, str]:
    """Line number -> what its comment says."""
    lines = enumerate(path.read_text().splitlines(), 1)
    return {n: line.split("  # ")[-1] for n, line in lines if line.lstrip().startswith(mark) and "  # " in line}


@pytest.mark.parametrize("checker", [mypy, pyright], ids=lambda f: f.__name__)
def test_a_checker_sees_what_users_mean(checker: typing.Callable[[], list[str]]) -> None:
    lines = checker()
    revealed = {int(m[1]): short(m[2]) for m in map(REVEALED.match, lines) if m}
    assert revealed == marked(USER, "reveal_type(")
    errors = {(m[1], int(m[2])) for m in map(ERROR.match, lines) if m and m[1] in (USER.name, TYPOS.name)}
    assert {file for file, _ in errors} == {TYPOS.name}
    assert {n for _, n in errors} == {n for n, said in marked(TYPOS, "").items() if said == "refused"}


def test_what_is_said_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[object] = []

    def reveal_type(x: object, /) -> object:
        values.append(x)
        return x

    monkeypatch.setattr(typing, "reveal_type", reveal_type)
    exec(compile(USER.read_text(), str(USER), "exec"), {"__name__": "user_code"})
    said = list(marked(USER, "reveal_type(").values())
    assert len(values) == len(said)
    classes = [
        type(x).__name__ if s not in ("Any", "Array") and "[" not in s else s for x, s in zip(values, said, strict=True)
    ]
    assert classes == said


NAMESPACES = [ra, ra.fft, ra.linalg, ra.nn, ra.params, ra.random, ra.special, ra.testing, ra.nnet3]


@pytest.mark.parametrize("module", NAMESPACES, ids=lambda m: m.__name__)
def test_an_editor_shows_public_names(module: typing.Any) -> None:
    assert {name for name in dir(module) if not name.startswith("_")} == set(module.__all__) - {
        "__array_api_version__",
        "__array_namespace_info__",
    }
    assert set(module.__all__) <= set(dir(module))


ATTRIBUTES = """
    astype at block block_until_ready capacity depth device dtype inner_shape is_contiguous map_values nbytes ndim
    nested_dim nested_row_splits nested_size nrows overflow partitions position_ids ragged_rank row_ids row_lengths
    row_splits shape size to tolist unbind used_mask values with_values xp
"""


def test_an_editor_shows_what_an_array_has() -> None:
    shown = {name for name in dir(ra.ragged([[1.0]])) if not name.startswith("_")}
    assert shown == set(ATTRIBUTES.split())


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sofmax'"):
        _ = ra.sofmax  # type: ignore[attr-defined]


def test_arrays() -> None:
    import jax.numpy as jnp
    import numpy as np

    for array in (np.ones(2), jnp.ones(2)):
        assert isinstance(array, ra.Array)
    for other in (ra.ragged([[1.0]]), [1.0], 1.0):
        assert not isinstance(other, ra.Array)
