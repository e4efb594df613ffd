"""Boxes around everything that a request makes a network look at: what can be computed there, and what is asked for."""

from collections import ChainMap
from collections.abc import Callable, Mapping

import numpy as np

from .._typing import Ints
from . import boxes
from .boxes import Box
from .rules import Choose, Leaf, Span, choices
from .topology import Group, Topology


class Bounds:
    """Boxes per vertex.

    ``available`` is where it may be computable, ``inside`` the part of ``available`` that the members of its recurrence
    ask of it, and ``asked`` everything that others ask of it.
    """

    def __init__(
        self,
        topology: Topology,
        groups: tuple[Group, ...],
        lanes: Ints,
        inputs: Mapping[int, Ints],
        outputs: Mapping[int, Ints],
        *,
        strict: bool,
    ) -> None:
        self.topology, self.lanes, self.strict = topology, len(lanes), strict
        around = {
            vertex: boxes.of_indexes(rows, np.searchsorted(lanes, rows[:, 0]), len(lanes))
            for vertex, rows in (*inputs.items(), *outputs.items())
        }
        self._seen = boxes.nothing(len(lanes))
        for box in around.values():
            self._seen = boxes.hull(self._seen, box)
        self.available: dict[int, Box] = {}
        for group in groups:
            self._allow(group, around)
        nothing = boxes.nothing(len(lanes))
        self.asked = {k: around[k] if k in outputs else nothing for group in groups for k in group.members}
        self.inside: dict[int, Box] = {}
        for group in reversed(groups):
            if group.recurrent:
                self._ask_inside(group)
            for k in reversed(group.members):
                self._ask(k, group)

    def range(self, axis: int) -> tuple[int, int]:
        """First and last t (axis 0) or x (axis 1) of everything that is looked at."""
        full = ~boxes.is_empty(self._seen)
        if not full.any():
            return 0, 0
        return int(self._seen[2 * axis, full].min()), int(self._seen[2 * axis + 1, full].max())

    def _allow(self, group: Group, around: Mapping[int, Box]) -> None:
        nothing = boxes.nothing(self.lanes)

        def step(state: dict[int, Box], k: int) -> Box:
            vertex = self.topology.vertices[k]
            if vertex.kind == "input":
                return around.get(k, nothing)
            return boxes.available(vertex.rule, ChainMap(state, self.available), self.lanes)

        if not group.recurrent:
            self.available[group.members[0]] = step({}, group.members[0])
        elif self.strict:
            # Kaldi does not conclude that what could only start at minus infinity never starts.
            self.available |= dict.fromkeys(group.members, boxes.everything(self.lanes))
            for _ in range(boxes.ROUNDS):
                self.available |= {k: step({}, k) for k in group.members}
        else:
            self.available |= _fixed_point(dict.fromkeys(group.members, nothing), group.members, step)

    def _ask_inside(self, group: Group) -> None:
        """What recurrent vertices ask of each other, and of themselves, to give what is asked from outside."""
        outside = {k: boxes.both(self.asked[k], self.available[k]) for k in group.members}
        users: dict[int, list[tuple[int, Leaf | Span]]] = {k: [] for k in group.members}
        for k in group.members:
            for leaf in self.topology.vertices[k].needs:
                if leaf.source in users:
                    users[leaf.source].append((k, leaf))

        def step(state: dict[int, Box], k: int) -> Box:
            out = state[k]
            for user, leaf in users[k]:
                for _, box in boxes.asked(leaf, state[user]):
                    out = boxes.hull(out, boxes.both(box, self.available[k]))
            return out

        self.inside |= _fixed_point(outside, group.members[::-1], step)
        if any(boxes.is_endless(self.inside[k]).any() for k in group.members):
            names = ", ".join(repr(self.topology.vertices[k].name) for k in group.members)
            raise ValueError(
                f"compile: expected recurrences that start somewhere, got one without end through nodes {names}. "
                "Let it read an input at its own t, so that it ends where the input does."
            )

    def _ask(self, k: int, group: Group) -> None:
        box = boxes.hull(self.asked[k], self.inside[k]) if group.recurrent else self.asked[k]
        rule = self.topology.vertices[k].rule
        places = (*self.topology.vertices[k].needs, *choices(rule))
        for maps in {place.maps for place in places if isinstance(place, Leaf | Choose)}:
            if not any(kind == "x" or dx for kind, _, dx in maps):
                continue
            for part in boxes.passed(box, maps):  # an x in between may lie outside of both ends
                self._seen = boxes.hull(self._seen, part)
        for leaf, part in boxes.asked(rule, box):
            if isinstance(leaf, Span):
                part = boxes.both(part, self.available[leaf.source])
            self._seen = boxes.hull(self._seen, part)
            inner_step = leaf.source in group.members and isinstance(leaf, Leaf) and not leaf.maps
            if leaf.source not in group.members or inner_step:
                self.asked[leaf.source] = boxes.hull(self.asked[leaf.source], part)


def _fixed_point(
    start: Mapping[int, Box], order: tuple[int, ...], step: Callable[[dict[int, Box], int], Box]
) -> dict[int, Box]:
    """Apply a growing step to all until nothing changes; a bound that keeps moving is set to infinity."""
    state = dict(start)
    for round in range(4 * boxes.ROUNDS * len(order)):
        changed = False
        for k in order:
            new = step(state, k)
            if not np.array_equal(new, state[k]):
                changed = True
                state[k] = boxes.widened(state[k], new) if round >= boxes.ROUNDS else new
        if not changed:
            return state
    raise AssertionError("bounds at infinity do not move")
