"""From a graph whose uses are known to a program: rows in their final order, and row numbers instead of keys."""

from collections.abc import Mapping

import numpy as np

from ..._errors import error_text
from .._program import Epoch, Layer, Part, Program, Term
from .._reads import Same, Window
from .._typing import Floats, Ints
from ..components import Component
from .rows import Graph
from .rules import Leaf, Rule, Span, has_constants, leaves
from .uses import Uses


def assemble(graph: Graph, uses: Uses, components: Mapping[str, Component]) -> Program:
    """All layers and epochs. Inputs that no wanted output depends on come first."""
    spare = [k for k in graph.inputs if k not in graph.sets]
    members = [*spare, *(k for group in graph.groups for k in group.members)]
    number = {k: at for at, k in enumerate(members)}
    arrangement = Arrangement(graph, uses)
    layers = [_layer(k, number, arrangement, components) for k in members]
    epochs = [Epoch((number[k],), False) for k in spare]
    epochs += [Epoch(tuple(number[k] for k in group.members), group.recurrent) for group in graph.groups]
    vertices = graph.vertices
    inputs, outputs = ({vertices[k].name: number[k] for k in part} for part in (graph.inputs, graph.outputs))
    return Program(tuple(layers), tuple(epochs), inputs, outputs)


class Arrangement:
    """Per vertex: positions of its final rows in its set, the final row of each position, row splits of waves."""

    def __init__(self, graph: Graph, uses: Uses) -> None:
        self.graph, self.uses = graph, uses
        self.taken: dict[int, Ints] = {}
        self.final: dict[int, Ints] = {}
        self.splits: dict[int, Ints] = {}
        for group in graph.groups:
            count = max((int(uses.waves[k].max(initial=-1)) + 1 for k in group.members if group.recurrent), default=0)
            for k in group.members:
                self._arrange(k)
                if group.recurrent:
                    waves = uses.waves[k][self.taken[k]]
                    self.splits[k] = np.cumsum([0, *np.bincount(waves, minlength=count)]).astype(np.int32)

    def _arrange(self, k: int) -> None:
        graph, uses = self.graph, self.uses
        if graph.vertices[k].kind == "input":
            keys = graph.input_keys.get(k, np.zeros(0, np.int64))
            order = np.argsort(keys)
            at = np.searchsorted(keys[order], graph.sets[k].keys)
            self.final[k] = np.append(order, -1)[at].astype(np.int32)
            return
        if k in graph.outputs:
            positions: Ints = graph.sets[k].find(graph.output_keys[k])
        elif k not in uses.waves and uses.rows[k].all():
            self.taken[k] = self.final[k] = graph.sets[k].identity
            self.splits[k] = np.array([0, len(self.taken[k])], np.int32)
            return
        else:
            positions = np.flatnonzero(uses.rows[k]).astype(np.int32)
            if k in uses.waves:
                positions = positions[np.argsort(uses.waves[k][positions], kind="stable")]
        self.taken[k] = positions
        self.final[k] = np.full(len(graph.sets[k]), -1, np.int32)
        self.final[k][positions] = np.arange(len(positions), dtype=np.int32)
        self.splits[k] = np.array([0, len(positions)], np.int32)

    def rows(self, k: int, leaf: Leaf | Span) -> Ints:
        """Per final row of a vertex, the final row that a leaf reads, -1 where it takes no part."""
        out, final = self.graph.reads[k, leaf.number], self.final[leaf.source]
        if final is not self.graph.sets[leaf.source].identity:
            out = np.append(final, np.int32(-1))[out]
        mask = self.uses.leaves[k, leaf.number]
        if np.ndim(mask):
            out = np.where(mask, out, np.int32(-1))
        return out if self.is_whole(k) else out[self.taken[k]]

    def window(self, k: int, leaf: Span) -> tuple[Ints, Ints]:
        """Final rows that a window reads, and their row splits over final rows."""
        users, read = self.uses.edges(k, leaf)
        users = self.final[k][users]
        order = np.argsort(users, kind="stable")
        counts = np.bincount(users, minlength=len(self.taken[k]))
        return self.final[leaf.source][read[order]], np.cumsum([0, *counts]).astype(np.int32)

    def constant(self, k: int, part: int) -> Floats:
        """What constants add to a part of each final row."""
        added = self.uses.constants.get((k, part), np.zeros(len(self.final[k]), np.float32))
        return added[self.taken[k]]

    def is_whole(self, k: int) -> bool:
        """Whether the final rows are those of the set."""
        return self.taken[k] is self.graph.sets[k].identity


def _layer(k: int, number: Mapping[int, int], rows: Arrangement, components: Mapping[str, Component]) -> Layer:
    graph, vertex = rows.graph, rows.graph.vertices[k]
    if vertex.kind == "input":
        indexes = graph.inputs.get(k, np.zeros((0, 3), np.int32))
        return Layer(vertex.name, "input", vertex.dim, indexes, np.array([0, len(indexes)], np.int32))
    indexes = graph.space.indexes(graph.sets[k])
    if not rows.is_whole(k):
        indexes = indexes[rows.taken[k]]
    if vertex.kind != "component":
        parts = tuple(
            _part(k, at, rule, width, number, rows)
            for at, (rule, width) in enumerate(zip(vertex.rules, vertex.widths, strict=True))
        )
        return Layer(vertex.name, vertex.kind, vertex.dim, indexes, rows.splits[k], parts)
    assert vertex.component is not None
    reads, window = components[vertex.component].reads, None
    taps: tuple[Ints, ...] = ()
    if isinstance(reads, Window):
        _check_aligned(vertex.name, reads, indexes)
        (leaf,) = vertex.needs
        assert isinstance(leaf, Span)
        window = rows.window(k, leaf)
    elif not isinstance(reads, Same):
        taps = tuple(rows.rows(k, leaf) for leaf in vertex.needs)
    source = None if vertex.input is None else number[vertex.input]
    return Layer(
        vertex.name, "component", vertex.dim, indexes, rows.splits[k], (), vertex.component, source, taps, window
    )


def _part(k: int, at: int, rule: Rule, width: int, number: Mapping[int, int], rows: Arrangement) -> Part:
    terms = tuple(
        Term(number[leaf.source], leaf.columns, leaf.scale, rows.rows(k, leaf))
        for leaf in leaves(rule)
        if isinstance(leaf, Leaf)
    )
    return Part(width, terms, rows.constant(k, at) if has_constants(rule) else None)


def _check_aligned(name: str, window: Window, indexes: Ints) -> None:
    off = indexes[indexes[:, 1] % window.align != 0]
    if len(off):
        expected = f"rows of {name!r} asked for at multiples of t = {window.align}"
        got = f"t = {off[0, 1]}"
        raise ValueError(error_text(expected, got, f"Read it through Round(..., {window.align}).", op="compile"))
