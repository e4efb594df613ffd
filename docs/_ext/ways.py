"""Which files a call passes, read from a trace of it: `files` for tests and for the page *A value's way*."""

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
