"""Lists of Indexes (n, t, x) as text and as arrays, and requests made of them by hand."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from .._errors import error_text, named
from ..backends import need_plain
from ._typing import Bools, Ints

ENTRY: Final = re.compile(r"\s*\(\s*(-?\d+)\s*,\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?(?:,\s*(-?\d+)\s*)?\)\s*")


def parse_indexes(text: str, /) -> Ints:
    """Read a list of Indexes: ``int32 [rows, 3]`` with columns n, t, x.

    >>> parse_indexes("[(0,-1:1), (1,4,2)]").tolist()
    [[0, -1, 0], [0, 0, 0], [0, 1, 0], [1, 4, 2]]
    """
    inside = text.strip()
    if not (inside.startswith("[") and inside.endswith("]")):
        raise _malformed(repr(text))
    rest, rows = inside[1:-1].strip(), []
    while rest:
        entry = ENTRY.match(rest)
        if not entry:
            raise _malformed(repr(rest))
        n, first, last, x = entry.groups()
        frames = range(int(first), int(last or first) + 1)
        if not frames:
            raise _malformed(repr(entry[0].strip()))
        rows.append(np.array([(int(n), t, int(x or 0)) for t in frames]))
        rest = rest[entry.end() :]
        if rest and not rest.startswith(","):
            raise _malformed(repr(rest))
        rest = rest[1:].strip()
        if not rest and inside[1:-1].rstrip().endswith(","):
            raise _malformed("a comma at the end")
    return np.concatenate([np.zeros((0, 3)), *rows]).astype(np.int32)


def format_indexes(indexes: Any, /) -> str:
    """Write a list of Indexes; runs of consecutive t with equal n and x become one entry.

    >>> format_indexes([[0, -1, 0], [0, 0, 0], [0, 1, 0], [1, 4, 2]])
    '[(0,-1:1), (1,4,2)]'
    """
    rows = np.asarray(indexes).reshape(-1, 3)
    if not len(rows):
        return "[ ]"
    steps = np.diff(rows.astype(np.int64), axis=0)
    starts = np.flatnonzero(np.concatenate(([True], (steps != (0, 1, 0)).any(axis=1))))
    ends = np.append(starts[1:], len(rows)) - 1
    return "[" + ", ".join(_entries(rows[starts].tolist(), rows[ends, 1].tolist())) + "]"


def _entries(firsts: list[list[int]], lasts: list[int]) -> Iterator[str]:
    for (n, t, x), last in zip(firsts, lasts, strict=True):
        frames = f"{t}:{last}" if last > t else f"{t}"
        yield f"({n},{frames},{x})" if x else f"({n},{frames})"


@dataclass(frozen=True, eq=False)
class ComputationRequest:
    """What is given and what is wanted: Indexes by node name, ``int32 [rows, 3]`` with columns n, t, x, in any order.

    ``input_derivs`` and ``output_derivs`` name the inputs whose derivatives are wanted and the outputs whose
    derivatives will be given; ``model_derivs`` asks for those of the parameters. They add the commands of the backward
    pass. ``trim=True`` asks for no output frames at the ends of a sequence that lack the context of the network: which
    these are is decided when a network compiles the request.

    >>> request = ComputationRequest({"input": parse_indexes("[(0,-1:1)]")}, {"output": [[0, 0, 0]]})
    >>> print(request)
    input: [(0,-1:1)]
    output: [(0,0)]
    """

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    input_derivs: Collection[str] = ()
    output_derivs: Collection[str] = ()
    model_derivs: bool = False
    trim: bool = False

    def __post_init__(self) -> None:
        """Bring the lists into one form, and refuse an Index that is in a list twice."""
        for part in ("inputs", "outputs"):
            lists = {name: _rows(name, indexes) for name, indexes in getattr(self, part).items()}
            object.__setattr__(self, part, lists)
        if not self.outputs:
            raise ValueError(
                error_text("an output", "no outputs", "Name an output node and its Indexes.", op="ComputationRequest")
            )
        for part, nodes in (("input", self.inputs), ("output", self.outputs)):
            names = set(getattr(self, f"{part}_derivs"))
            if names - set(nodes):
                got = sorted(names - set(nodes))
                advice = f"Give them in {part}s too."
                raise ValueError(
                    error_text(f"{part}_derivs among {sorted(nodes)}", got, advice, op="ComputationRequest")
                )
        if (self.input_derivs or self.model_derivs) and not self.output_derivs:
            advice = "Name the outputs whose derivatives will be given."
            raise ValueError(
                error_text("output_derivs with derivatives asked for", "none", advice, op="ComputationRequest")
            )

    def trimmed(self, left: int, right: int) -> "ComputationRequest":
        """The request without the first and last frames of each sequence in each output."""
        outputs = {name: rows[_inside(rows, left, right)] for name, rows in self.outputs.items()}
        return replace(self, outputs=outputs, trim=False)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {format_indexes(rows)}" for name, rows in {**self.inputs, **self.outputs}.items())


def _inside(rows: Ints, left: int, right: int) -> Bools:
    """Rows that are at least so far from the first and the last frame of their sequence."""
    sequences, n = np.unique(rows[:, 0], return_inverse=True)
    first, last = np.full(len(sequences), 2**31), np.full(len(sequences), -(2**31))
    np.minimum.at(first, n, rows[:, 1])
    np.maximum.at(last, n, rows[:, 1])
    out: Bools = (rows[:, 1] >= first[n] + left) & (rows[:, 1] <= last[n] - right)
    return out


def _rows(name: str, indexes: Any) -> Ints:
    named(f"ComputationRequest: {name}")(need_plain)(indexes)
    rows = np.asarray(indexes)
    expected, got = "", ""
    if rows.size and (rows.ndim != 2 or rows.shape[1] != 3):
        expected, got = "Indexes of shape [rows, 3]", f"shape {rows.shape}"
    elif rows.size and rows.dtype.kind not in "iu":
        expected, got = "whole numbers", f"dtype {rows.dtype}"
    elif rows.size and (rows != rows.astype(np.int32)).any():
        expected, got = "numbers of int32", f"{rows[rows != rows.astype(np.int32)][0]}"
    if expected:
        raise ValueError(error_text(expected, got, "Give int32 rows n, t, x.", op=f"ComputationRequest: {name}"))
    rows = rows.astype(np.int32).reshape(-1, 3)
    order = np.lexsort(rows.T)
    twice = np.flatnonzero((np.diff(rows[order], axis=0) == 0).all(axis=1)) if len(rows) > 1 else np.zeros(0, int)
    if len(twice):
        repeated = format_indexes(rows[order[twice[:1]]])[1:-1]
        advice = "List each Index once."
        raise ValueError(error_text("different Indexes", f"{repeated} twice", advice, op=f"ComputationRequest: {name}"))
    rows.flags.writeable = False
    return rows


def _malformed(got: str) -> ValueError:
    advice = "Write [(n,t), (n,first:last), (n,t,x)]."
    return ValueError(error_text("a list of Indexes", got, advice, op="parse_indexes"))
