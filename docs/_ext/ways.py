"""Which files a call passes, read from a trace of it; ``python docs/_ext/ways.py`` writes them into *A value's way*."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).parent.parent.parent / "raggedarray"


def files(call: Callable[[], Any], *, warm: bool = True) -> list[str]:
    """Files of the package in which a function is entered, in order; of a second call if ``warm``."""
    if warm:
        call()
    entered: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            entered.setdefault(path.relative_to(PACKAGE).as_posix())

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(entered)


PAGE = PACKAGE.parent / "docs" / "a-values-way.md"
_MARKED = re.compile(r"(<!-- way of (.+?) -->\n).*?\n(<!-- end -->)", re.DOTALL)
_FACTS = re.compile(r"_\w+\.py|backends/(_\w+|generic/__init__|numpy/__init__|numpy/dtypes)\.py|structure/overflow\.py")
"""Files that every call reads facts from: the class, its partitions, what library an array is of."""


def page() -> str:
    """The page, with the files that each call passes written anew."""
    import numpy as np

    import raggedarray as ra

    x = ra.ragged([[1.0, 2.0], [], [3.0]])
    q = ra.ragged([np.ones((2, 2, 4)), np.ones((3, 2, 4))], item_shape=(None, 2, 4))
    names = {"ra": ra, "x": x, "y": x * 2, "q": q, "k": q, "v": q}

    def written(marked: re.Match[str]) -> str:
        passed = [f for f in files(lambda: eval(marked[2], names)) if not _FACTS.fullmatch(f)]
        return f"{marked[1]}{' → '.join(f'`{f}`' for f in passed)}\n{marked[3]}"

    return _MARKED.sub(written, PAGE.read_text())


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGE.parent))
    PAGE.write_text(page())
