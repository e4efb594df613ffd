"""A griffe extension: doctest lines in docstrings become ``pycon`` blocks, which Markdown would read as quotes."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", re.DOTALL)


class DoctestBlocks(griffe.Extension):
    """Fences every paragraph that starts with ``>>>``."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda m: f"```pycon\n{m[0]}\n```", obj.docstring.value)
