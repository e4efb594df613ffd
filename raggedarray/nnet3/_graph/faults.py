"""What to say about outputs that cannot be computed: which, how many, and what they lack."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..._errors import error_text
from .._indexes import format_indexes
from .._typing import Bools, Ints
from .rows import Graph
from .rules import Span
from .topology import Group

SHOWN = 10
"""Runs of Indexes that an error lists."""


def uncomputable(graph: Graph, context: Callable[[], str]) -> ValueError:
    """The error for a graph in which wanted rows are not computable; ``context`` says what the network needs."""
    lacking, marks, frames, nodes = graph.missing(), _marks(graph), {}, []
    for group in reversed(graph.groups):
        names = [graph.vertices[k].name for k in group.members if marks[k].any()]
        if group.recurrent and any(_waits(graph, k, group, marks[k]) for k in group.members):
            nodes.append(f"a recurrence through {', '.join(map(repr, names))} that has no start at these frames")
        if graph.vertices[group.members[0]].kind == "input" and marks[group.members[0]].any():
            frames[graph.vertices[group.members[0]].name] = graph.sets[group.members[0]].keys[marks[group.members[0]]]
    which = "; ".join(
        f"{mask.sum()} of {len(mask)} rows of output {graph.vertices[k].name!r} without what they need: "
        f"{_listed(graph, graph.sets[k].keys[mask])}"
        for k, mask in lacking.items()
    )
    lacks = [f"input {name!r} lacks {_listed(graph, keys)}" for name, keys in frames.items()] + nodes
    advice = [f"Give more input or ask for fewer outputs: {context()}."] if frames else []
    advice += ["Make what a recurrence reads of itself optional with IfDefined."] if nodes else []
    got = f"{which}. Missing: {'; '.join(lacks)}" if lacks else which
    return ValueError(
        error_text("outputs that can be computed", got, " ".join(advice) or "Give the inputs they need.", op="compile")
    )


def _marks(graph: Graph) -> dict[int, Bools]:
    """Which rows of each vertex are wanted or needed, and cannot be computed."""
    marks = {k: np.zeros(len(rows), np.bool_) for k, rows in graph.sets.items()} | graph.missing()
    for group in reversed(graph.groups):
        changed = True
        while changed:
            changed = False
            for k in group.members:
                for source, rows in _lacked(graph, k, marks[k]):
                    changed |= group.recurrent and not marks[source][rows].all()
                    marks[source][rows] = True
    return marks


def _lacked(graph: Graph, k: int, marked: Bools) -> Iterator[tuple[int, Ints]]:
    """The rows of other vertices that marked rows of a vertex lack."""
    if graph.vertices[k].kind == "input":
        return
    for leaf, mask in graph.rows[k].lacking(graph.vertices[k].rule, marked):
        at = graph.reads[k, leaf.number]
        mask = np.broadcast_to(mask, len(marked))
        at = at[mask[graph.spans[k, leaf.number][0]]] if isinstance(leaf, Span) else at[mask]
        yield leaf.source, at[at >= 0]


def _waits(graph: Graph, k: int, group: Group, marked: Bools) -> bool:
    """Whether marked rows lack rows of an earlier wave of their own recurrence."""
    lacking = graph.rows[k].lacking(graph.vertices[k].rule, marked)
    return any(
        leaf.source in group.members and (k, leaf.number) not in group.inner and bool(np.any(mask))
        for leaf, mask in lacking
    )


def _listed(graph: Graph, keys: NDArray[np.int64]) -> str:
    rows = graph.space.decode(keys)
    runs = format_indexes(rows[np.lexsort((rows[:, 1], rows[:, 2], rows[:, 0]))])[1:-1].split(", ")
    return ", ".join(runs[:SHOWN]) + (f" and {len(runs) - SHOWN} more runs" if len(runs) > SHOWN else "")
