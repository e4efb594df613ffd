"""The graph of rows that a request spans: which rows each node is asked for, and which of them can be computed.

All rows of a node are treated at once. A row is computable if what it demands is, by the least fixed point: what could
only be computed from itself is not.
"""

from collections.abc import Mapping

import numpy as np

from .._typing import Bools, Ints
from .bounds import Bounds
from .boxes import Box
from .rules import Choose, Leaf, Rows, Span, Truth, choices
from .space import Keys, KeySet, Space
from .topology import Edge, Group, Topology

LIMIT = 2**26
"""Rows that a recurrent node may be asked for."""


class Graph:
    """Rows of all nodes that the wanted outputs depend on.

    ``sets`` are the rows that a vertex is asked for, ``ok`` says which are computable. ``reads`` has, for each leaf of
    a vertex, the position in the set of the source for each row, -1 where it is not in it; for a window a position for
    each of ``spans``.
    """

    def __init__(
        self,
        topology: Topology,
        inputs: Mapping[str, Ints],
        outputs: Mapping[str, Ints],
        *,
        strict: bool = False,
    ) -> None:
        self.topology = topology
        self.vertices = topology.vertices
        self.inputs = {topology.numbers[name]: rows for name, rows in inputs.items()}
        self.outputs = {topology.numbers[name]: rows for name, rows in outputs.items()}
        reachable = topology.reachable(list(outputs))
        self.groups = tuple(group for group in topology.groups if group.members[0] in reachable)
        lanes = np.unique(np.concatenate([rows[:, 0] for rows in (*self.inputs.values(), *self.outputs.values())]))
        self.bounds = Bounds(topology, self.groups, lanes, self.inputs, self.outputs, strict=strict)
        self.space = Space(lanes, self.bounds.range(0), self.bounds.range(1))
        self.input_keys = {k: self.space.encode(rows) for k, rows in self.inputs.items()}
        self.output_keys = {k: self.space.encode(rows) for k, rows in self.outputs.items()}
        self.sets: dict[int, KeySet] = {}
        self.spans: dict[Edge, tuple[Ints, Keys]] = {}
        self._contributions: dict[int, list[Keys]] = {}
        for group in reversed(self.groups):
            self._ask(group)
        self.ok: dict[int, Truth] = {}
        self.reads: dict[Edge, Ints] = {}
        self.rows: dict[int, Rows] = {}
        for group in self.groups:
            self._decide(group)

    def _ask(self, group: Group) -> None:
        grids = {k: _grid(self.space, self.bounds.inside[k]) for k in group.members} if group.recurrent else {}
        for k in reversed(group.members):
            contributions = self._contributions.pop(k, [])
            if k in self.output_keys:
                contributions = [*contributions, self.output_keys[k]]
            if group.recurrent:
                contributions = [*contributions, grids[k]]
            self.sets[k] = self.space.union(contributions)
            rows = Rows({}, self._choices(k))
            for leaf, mask in rows.reached(self.vertices[k].rule, np.True_):
                inside = leaf.source in group.members
                if isinstance(leaf, Span):
                    ids, keys = self.spans[k, leaf.number] = self._span(k, leaf)
                    keys = keys[np.broadcast_to(mask, len(self.sets[k]))[ids]]
                else:
                    keys = self.space.mapped(self.sets[k], leaf.maps)
                    keys = keys[mask] if np.ndim(mask) else keys
                # Rows asked for from outside a recurrence need not lie in its grid: they are asked of its inputs at the
                # same Index too, so that an error can tell what they lack.
                if not inside or (isinstance(leaf, Leaf) and not leaf.maps):
                    self._contributions.setdefault(leaf.source, []).append(keys)

    def _choices(self, k: int) -> dict[Choose, Keys]:
        return {
            choice: self.space.frames(self.space.mapped(self.sets[k], choice.maps)) % len(choice.children)
            for choice in choices(self.vertices[k].rule)
        }

    def _span(self, k: int, leaf: Span) -> tuple[Ints, Keys]:
        """All rows in the windows of all rows, as far as they can be computable."""
        keys, window, box = self.sets[k].keys, leaf.window, self.bounds.available[leaf.source]
        lane = keys % len(self.space.lanes)
        first = self.space.frames(keys) + window.first
        first = first - (first - window.first) % window.period
        x = keys // len(self.space.lanes) % self.space.nx + self.space.x0
        low = np.maximum(0, -((first - box[0, lane]) // window.step))
        high = np.minimum(window.last - window.first, box[1, lane] - first) // window.step
        counts = np.where((box[2, lane] <= x) & (x <= box[3, lane]), np.maximum(high - low + 1, 0), 0)
        ids = np.repeat(np.arange(len(keys)), counts)
        steps = np.arange(len(ids)) - np.repeat(np.cumsum(counts) - counts, counts) + low[ids]
        return ids.astype(np.int32), self.space.keys(lane[ids], first[ids] + steps * window.step, x[ids])

    def _decide(self, group: Group) -> None:
        for k in group.members:
            vertex = self.vertices[k]
            if vertex.kind == "input":
                available = KeySet(np.sort(self.input_keys.get(k, np.zeros(0, np.int64))))
                self.ok[k] = _short(available.find(self.sets[k].keys) >= 0)
                return
            self.rows[k] = Rows({}, self._choices(k))
            for leaf in vertex.needs:
                keys = (
                    self.spans[k, leaf.number][1]
                    if isinstance(leaf, Span)
                    else self.space.mapped(self.sets[k], leaf.maps)
                )
                self.reads[k, leaf.number] = self.sets[leaf.source].find(keys)
        if group.recurrent:
            self.ok |= {k: np.zeros(len(self.sets[k]), np.bool_) for k in group.members}
        changed = True
        while changed:
            changed = False
            for k in group.members:
                for leaf in self.vertices[k].needs:
                    self.rows[k].leaf[leaf.number] = self._leaf_ok(k, leaf)
                new = self.rows[k].computable(self.vertices[k].rule)
                if group.recurrent:
                    new = np.broadcast_to(new, self.ok[k].shape)
                    changed |= bool((new != self.ok[k]).any())
                self.ok[k] = new
        for k in group.members:
            self.ok[k] = _short(self.ok[k])

    def _leaf_ok(self, k: int, leaf: Leaf | Span) -> Truth:
        at, source = self.reads[k, leaf.number], self.ok[leaf.source]
        ok = np.append(source, False)[at] if np.ndim(source) else at >= 0
        if isinstance(leaf, Span):
            ids = self.spans[k, leaf.number][0]
            ok = np.bincount(ids[ok], minlength=len(self.sets[k])) > 0
        return _short(ok)

    def missing(self) -> dict[int, Bools]:
        """Per wanted output, which of its rows, sorted, are not computable; outputs that are complete are left out."""
        lacking = {k: ~np.broadcast_to(self.ok[k], len(self.sets[k])) for k in self.outputs}
        return {k: mask for k, mask in lacking.items() if mask.any()}


def _short(truth: Truth) -> Truth:
    """One value for all rows if all are true: most nodes of most requests are computable throughout."""
    return np.True_ if np.all(truth) else truth


def _grid(space: Space, box: Box) -> Keys:
    """All keys in boxes, sorted."""
    full = np.flatnonzero(box[0] <= box[1])
    tall, wide = box[1, full] - box[0, full] + 1, box[3, full] - box[2, full] + 1
    counts = tall * wide
    if counts.sum() > LIMIT:
        raise ValueError(
            f"compile: expected a recurrence over at most {LIMIT} rows, got {counts.sum()}. "
            "Leave out inputs far from what is asked for, or split the request."
        )
    at = np.repeat(np.arange(len(full)), counts)
    step = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    t, x = box[0, full[at]] + step // wide[at], box[2, full[at]] + step % wide[at]
    return np.sort(space.keys(full[at], t, x))
