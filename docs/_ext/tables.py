"""Writes the pages that are tables of functions: ``python docs/_ext/tables.py``. A test runs it and compares."""

import inspect
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(DOCS.parent)]

import array_api_strict  # noqa: E402
import peers  # noqa: E402
import standard  # noqa: E402

import raggedarray as ra  # noqa: E402

NOTE = "<!-- Written by docs/_ext/tables.py: change the tables there, and run it. -->\n"


def find(name: str) -> Any:
    """What a name of ours means: ``sum``, ``linalg.inv``, or ``x.row_splits`` for a member of RaggedArray."""
    target: Any = ra
    for i, part in enumerate(name.split(".")):
        target = ra.RaggedArray if (i == 0 and part == "x") else getattr(target, part)
    return target


def ours(names: str) -> str:
    """Names as code, with the package's name in front."""
    full = (name if name.startswith("x.") else f"ra.{name}" for name in names.split(", ") if name)
    return ", ".join(f"`{name}`" for name in full) or "none"


def more(name: str) -> str:
    """Options that a function has beside the standard's."""
    theirs: Any = array_api_strict
    for part in name.split("."):
        theirs = getattr(theirs, part)
    known = inspect.signature(theirs).parameters
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    extra = (p.name for p in inspect.signature(find(name)).parameters.values() if p.kind in kinds)
    return ", ".join(f"`{n}=`" for n in extra if n not in known)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def namespace_page() -> str:
    """Every function of the standard."""
    parts = [
        f"# The array API standard\n\n{NOTE}",
        f"The package has every function, dtype and constant of the array API standard {standard.VERSION}, under the\n"
        "standard's name and with its parameters; its `linalg` and `fft` extensions are `ra.linalg` and `ra.fft`.\n"
        "So the package can be the namespace `xp` of code written for the standard. Plain arrays go to their own\n"
        "library. The tables say what happens along ragged axes, and which options there are beside the standard's.\n",
    ]
    for title, prefix in (("Functions", ""), ("The linalg extension", "linalg."), ("The fft extension", "fft.")):
        names = [n for n in standard.FUNCTIONS if n.startswith(prefix) and (prefix or "." not in n)]
        rows = [(f"`{n}`", standard.FUNCTIONS[n], more(n)) for n in names]
        parts.append(f"## {title}\n\n" + table(("function", "on ragged axes", "more options"), rows))
    objects = [(", ".join(f"`{n}`" for n in names.split(", ")), text) for names, text in standard.OBJECTS.items()]
    parts.append("## Dtypes and constants\n\n" + table(("name", "what it is"), objects))
    listed = "\n".join(f"- `{name}`: {why}" for name, why in standard.EXCEPTIONS.items())
    parts.append("## Exceptions\n\n" + (listed or "None: every signature takes what the standard's takes.") + "\n")
    choices = "\n".join(f"- {text}" for text in standard.DEPARTURES)
    parts.append(f"## Where the standard leaves a choice, or rows need one\n\n{choices}\n")
    return "\n".join(parts)


def peers_page() -> str:
    """Functions of the nearest libraries, and ours."""
    parts = [
        f"# From TensorFlow and Awkward Array\n\n{NOTE}",
        "What does here what a function does there; `none` means that the package has no such function, and the\n"
        "remark says why or what to do instead. `ra` is the package, `x` a RaggedArray.\n",
    ]
    for title, groups in (("tf.RaggedTensor", peers.TENSORFLOW), ("Awkward Array", peers.AWKWARD)):
        parts.append(f"## {title}\n")
        for group, rows in groups.items():
            cells = [(code(theirs), ours(names), remark) for theirs, names, remark in rows]
            parts.append(f"### {group}\n\n" + table(("there", "here", "remark"), cells))
    return "\n".join(parts)


def code(theirs: str) -> str:
    """Their names as code; a description stays prose."""
    prose = "," not in theirs and " " in theirs and not theirs.startswith(("x[", "tf.", "tf_", "ak.", "np."))
    return theirs if prose else f"`{theirs}`"


PAGES = {"namespace.md": namespace_page, "from-tensorflow-and-awkward.md": peers_page}

if __name__ == "__main__":
    for file, page in PAGES.items():
        (DOCS / file).write_text(page())
