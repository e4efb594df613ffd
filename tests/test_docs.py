"""Every runnable block of the documentation runs, in order, one namespace a page."""

import doctest
import re
import warnings
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```", re.S | re.M)


NAN = {"attention.md", "from-padding-and-masks.md", "slack-and-capacity.md"}
"""Pages whose examples put NaN into slack, or ask for the mean of an empty row."""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(page, capsys)


@pytest.mark.parametrize(
    "page",
    [p if p.name == "README.md" else pytest.param(p, marks=pytest.mark.nightly) for p in PAGES if p.name not in NAN],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_blocks_make_no_nan(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs that are right are so under JAX's own search for NaN, which looks at slack too."""
    with jax.debug_nans(True):
        run_blocks(page, capsys)


def run_blocks(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    with jax.numpy_rank_promotion("allow"), warnings.catch_warnings():
        for kind, source in BLOCK.findall(page.read_text()):
            if kind == "python":
                exec(compile(source, str(page), "exec"), names)
            else:
                test = doctest.DocTestParser().get_doctest(source, names, str(page), str(page), 0)
                runner.run(test, clear_globs=False)
                names.update(test.globs)
    assert runner.summarize().failed == 0, capsys.readouterr().out


def test_every_page_is_listed() -> None:
    """In the navigation, on the first page, and those of the reference on its first page."""
    docs = ROOT / "docs"
    files = {str(p.relative_to(docs)) for p in docs.rglob("*.md")}
    assert sorted(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)) == sorted(files)
    links = re.compile(r"\]\(([\w/-]+\.md)\)")
    assert set(links.findall((docs / "index.md").read_text())) == {f for f in files if "/" not in f} - {"index.md"} | {
        "api/index.md"
    }
    reference = {f.removeprefix("api/") for f in files if f.startswith("api/")} - {"index.md"}
    assert set(links.findall((docs / "api" / "index.md").read_text())) == reference
