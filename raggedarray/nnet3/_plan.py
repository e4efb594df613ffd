"""From a program to a plan: sizes, and index arrays padded to them.

Sizes are chosen so that batches of other lengths that fit the same input capacity give the same sizes. A layer
has about ``rate`` rows per input frame and a number of rows per utterance that does not depend on its length:
fewer by the context that it lacks, or one for a pooled vector. Both are read off the rows at hand, and the
size is what they make of the input's capacity. Waves of recurrences are rounded up to a bucket.
"""

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from ..engine.bucket_size import bucket_size
from ._program import Layer, Program, Term
from ._structure import Block, Leaf, Node, Stage, Structure
from ._typing import Ints
from .components import NONE, Component, RowContext

Item = TypeVar("Item", bound=np.generic)
Lags = tuple[int, int]
"""How many waves back rows are read: at least and at most."""


class Rows(NamedTuple):
    """The arrays of a node, padded.

    count     rows in use: one number, or one per wave
    leaves    rows of the source, per block and leaf; None where they are the node's own
    constants per block, where it has one
    facts     those of the component, still without valid rows and noise
    """

    count: Array
    leaves: tuple[tuple[Array | None, ...], ...]
    constants: tuple[Array | None, ...]
    facts: RowContext


class Place(NamedTuple):
    """Where the rows of a layer lie: the slot of each row in flat storage, its wave, and slots per wave."""

    slots: Ints
    wave: Ints
    size: int
    waves: int
    stage: int

    @property
    def total(self) -> int:
        """Slots in all."""
        return self.size * max(self.waves, 1)


class Scale(NamedTuple):
    """What sizes are computed from: input frames, the slots they have, and the number of utterances."""

    frames: int
    capacity: int
    utterances: int

    def size(self, indexes: Ints) -> int:
        """Slots for a layer of these rows."""
        rows = indexes.shape[0]
        step = int(np.gcd.reduce(_steps(indexes[:, 1]), initial=0))
        rows_per_frame = 1 if not indexes[:, 2].any() else ceil(rows / max(len(np.unique(indexes[:, :2], axis=0)), 1))
        rate = rows_per_frame / step if step else 0.0
        count = max(self.utterances, 1)
        need = ceil(rate * self.capacity) + count * ceil((rows - rate * self.frames) / count)
        return round_up(max(need, rows, 1), self.capacity)


def round_up(size: int, capacity: int) -> int:
    """To a multiple of a 32nd to a 64th of ``capacity``, or of 8."""
    quantum = max(8, 1 << max(capacity.bit_length() - 6, 0))
    return -(-size // quantum) * quantum


def make_plan(
    program: Program, components: Mapping[str, Component], capacities: Mapping[str, int], utterances: int | None = None
) -> tuple[Structure, dict[int, Rows]]:
    """The static structure and the padded arrays; ``capacities`` are the slots of the inputs."""
    return _Planner(program, components, capacities, utterances).plan()


class _Planner:
    def __init__(
        self,
        program: Program,
        components: Mapping[str, Component],
        capacities: Mapping[str, int],
        utterances: int | None,
    ) -> None:
        self.program, self.components = program, components
        self.capacities = capacities
        sizes = {name: program.layers[number].indexes.shape[0] for name, number in program.inputs.items()}
        widest = max(sizes, key=lambda name: sizes[name], default=None)
        if utterances is None:
            boundary = (*program.inputs.values(), *program.outputs.values())
            utterances = len(np.unique(np.concatenate([program.layers[k].indexes[:, 0] for k in boundary])))
        if widest is None:
            rows = max(program.layers[number].indexes.shape[0] for number in program.outputs.values())
            self.scale = Scale(rows, bucket_size(rows), utterances)
        else:
            self.scale = Scale(sizes[widest], capacities[widest], utterances)
        self.places: dict[int, Place] = {}
        self.flat: dict[int, int] = {}
        max_rows = max((layer.indexes.shape[0] for layer in program.layers), default=0)
        self.range, self.zeros = np.arange(max_rows, dtype=np.int32), np.zeros(max_rows, np.int32)

    def plan(self) -> tuple[Structure, dict[int, Rows]]:
        layers, program = self.program.layers, self.program
        for name, number in program.inputs.items():
            rows = layers[number].indexes.shape[0]
            self.places[number] = Place(self.range[:rows], self.zeros[:rows], self.capacities[name], 0, -1)
        for number, layer in enumerate(layers):
            if layer.kind == "input" and number not in self.places:  # read by the network, not given
                self.places[number] = Place(self.range[:0], self.zeros[:0], 1, 0, -1)
        epochs = [e for e in program.epochs if any(layers[k].kind != "input" for k in e.layers)]
        for stage, epoch in enumerate(epochs):
            for number in epoch.layers:
                if layers[number].kind != "input":
                    self.places[number] = self._place(layers[number], stage, epoch.recurrent)
        arrays: dict[int, Rows] = {}
        stages = []
        for epoch in epochs:
            nodes = []
            for number in epoch.layers:
                if layers[number].kind != "input":
                    node, arrays[number] = self._node(number)
                    nodes.append(node)
            waves = self.places[nodes[0].number].waves if epoch.recurrent else 0
            stages.append(self._stage(tuple(nodes), waves))
        inputs = tuple((name, number, self.places[number].size) for name, number in program.inputs.items())
        for number in program.inputs.values():
            count = np.int32(layers[number].indexes.shape[0])
            arrays[number] = Rows(count, (), (), RowContext())
        missing = tuple(
            (number, layer.dim)
            for number, layer in enumerate(layers)
            if layer.kind == "input" and number not in program.inputs.values()
        )
        return Structure(tuple(stages), inputs, missing, tuple(program.outputs.items())), arrays

    def _place(self, layer: Layer, stage: int, recurrent: bool) -> Place:
        rows = layer.indexes.shape[0]
        if not recurrent:
            if id(layer.indexes) not in self.flat:
                self.flat[id(layer.indexes)] = self.scale.size(layer.indexes)
            return Place(self.range[:rows], self.zeros[:rows], self.flat[id(layer.indexes)], 0, stage)
        counts = np.diff(layer.waves)
        utterances = max(self.scale.utterances, 1)
        rows_each = -(-int(counts.max(initial=1)) // utterances)
        size = utterances * rows_each  # short utterances may be missing from every wave
        waves = bucket_size(len(counts))
        wave = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        at = np.arange(rows) - np.repeat(layer.waves[:-1], counts)
        return Place((wave * size + at).astype(np.int32), wave, size, waves, stage)

    def _node(self, number: int) -> tuple[Node, Rows]:
        layer, place = self.program.layers[number], self.places[number]
        blocks, leaves, constants = [], [], []
        for part in layer.parts:
            pairs = [self._leaf(place, term) for term in part.terms]
            blocks.append(Block(part.width, tuple(leaf for leaf, _ in pairs), part.constant is not None))
            leaves.append(tuple(rows for _, rows in pairs))
            constants.append(None if part.constant is None else self._pad(place, part.constant, 0))
        component = None if layer.component is None else self.components[layer.component]
        facts, lags = (RowContext(), None) if component is None else self._facts(layer, place, component)
        count = np.asarray(layer.indexes.shape[0], np.int32)
        if place.waves:
            count = np.zeros(place.waves, np.int32)
            count[: len(layer.waves) - 1] = np.diff(layer.waves)
        node = Node(
            number, layer.name, layer.dim, place.size, tuple(blocks), layer.component, component, layer.input, lags
        )
        return node, Rows(count, tuple(leaves), tuple(constants), facts)

    def _leaf(self, place: Place, term: Term) -> tuple[Leaf, Ints | None]:
        source, used = self.places[term.source], bool((term.rows >= 0).any())
        one_size = source.size == place.size
        is_flat = not (place.waves or source.waves) and source.stage >= 0
        if one_size and is_flat and np.array_equal(term.rows, source.slots):
            return Leaf(term.source, term.columns, float(term.scale), True, None, used), None
        address, lags = self._address(place, place.wave, term.source, term.rows)
        same = one_size and lags is not None and lags[1] == 0 and np.array_equal(address, place.slots % place.size)
        leaf = Leaf(term.source, term.columns, float(term.scale), same, lags, used)
        return leaf, None if same or not used else self._pad(place, address, NONE)

    def _address(self, place: Place, wave: Ints, number: int, rows: Ints) -> tuple[Ints, Lags | None]:
        """Row numbers of a source as the executor reads them, and the waves back; ``wave`` is that of each reader."""
        source = self.places[number]
        present, address = rows >= 0, np.full(rows.shape, NONE, np.int32)
        if source.stage != place.stage or not place.waves:
            address[present] = source.slots[rows[present]] if source.waves else rows[present]
            return address, None
        back = wave[present] - source.wave[rows[present]]
        lags = (int(back.min(initial=NONE)), int(back.max(initial=-1))) if len(back) else (1, 1)
        address[present] = (back - min(lags[0], 1)) * source.size + source.slots[rows[present]] % source.size
        return address, lags

    def _facts(self, layer: Layer, place: Place, component: Component) -> tuple[RowContext, Lags | None]:
        facts = component.facts(layer.indexes, (), None)
        lags: Lags | None = None
        if layer.reads and layer.input is not None:
            wave = np.tile(place.wave, len(layer.reads))
            address, lags = self._address(place, wave, layer.input, np.concatenate(layer.reads))
            taps = np.split(address, len(layer.reads))
            facts = facts._replace(sources=tuple(self._pad(place, tap, NONE) for tap in taps))
        if layer.window is not None and layer.input is not None:
            source, splits = layer.window
            to = np.repeat(np.arange(len(splits) - 1, dtype=np.int32), np.diff(splits))
            address, lags = self._address(place, place.wave[to], layer.input, source)
            facts = facts._replace(pairs=self._pairs(place, to, address, source, layer.input))
        return self._padded_facts(place, facts), lags

    def _padded_facts(self, place: Place, facts: RowContext) -> RowContext:
        mark = None if facts.mark is None else self._pad(place, facts.mark, 0)
        groups = facts.groups
        if groups is not None:
            per_row = groups.shape[0] == place.slots.shape[0]
            size = place.total if per_row else bucket_size(groups.shape[0], mantissa_bits=3)
            groups = _filled(groups, None, size, 0)
        parts = tuple(self._padded_facts(place, part) for part in facts.parts)
        return facts._replace(mark=mark, groups=groups, parts=parts)

    def _pairs(self, place: Place, to: Ints, address: Ints, source: Ints, input: int) -> tuple[Ints, Ints]:
        if place.waves:
            wave = place.wave[to]
            counts = np.bincount(wave, minlength=place.waves)
            size = bucket_size(int(counts.max(initial=1)))
            begin = np.cumsum(counts) - counts
            at = wave * size + np.arange(len(to)) - begin[wave]
            slots = place.slots[to] % place.size
            shape, total = (place.waves, size), size * place.waves
            return _filled(slots, at, total, NONE).reshape(shape), _filled(address, at, total, NONE).reshape(shape)
        max_readers = int(np.bincount(source, minlength=1).max(initial=1))
        size = self.places[input].total * (max_readers if max_readers <= 4 else bucket_size(max_readers))
        if size > 4 * max(len(to), 64):
            size = bucket_size(ceil(len(to) * self.scale.capacity / max(self.scale.frames, 1)))
        return _filled(to, None, size, NONE), _filled(address, None, size, NONE)

    def _pad(self, place: Place, values: NDArray[Item], fill: int) -> NDArray[Item]:
        out = _filled(values, place.slots if place.waves else None, place.total, fill)
        return out.reshape(place.waves, place.size, *out.shape[1:]) if place.waves else out

    def _stage(self, nodes: tuple[Node, ...], waves: int) -> Stage:
        if not waves:
            return Stage(nodes, 0, tuple(node.number for node in nodes), ())
        members = {node.number for node in nodes}
        readers = [k for k in range(len(self.program.layers)) if k not in members]
        read = {s for k in readers for s in _sources(self.program.layers[k])}
        depths = dict.fromkeys(members, 0)
        for node in nodes:
            reads = [(leaf.source, leaf.lags) for block in node.blocks for leaf in block.leaves if leaf.used]
            for source, lags in [*reads, (node.input, node.lags)]:
                if source in members and lags is not None:
                    depths[source] = max(depths[source], lags[1])
        deep = tuple((number, _depth(depth)) for number, depth in sorted(depths.items()) if depth)
        return Stage(nodes, waves, tuple(sorted(members & read)), deep)


def _depth(depth: int) -> int:
    return depth if depth < 4 else bucket_size(depth)


def _sources(layer: Layer) -> set[int]:
    return {term.source for part in layer.parts for term in part.terms} | {k for k in (layer.input,) if k is not None}


def _steps(times: Ints) -> Ints:
    """Differences between neighbouring times; rows mostly come sorted by time."""
    steps: Ints = times[1:] - times[:-1]
    steps = steps[steps != 0]
    if (steps > 0).all():
        return steps
    times = np.unique(times)
    return times[1:] - times[:-1]


def _filled(values: NDArray[Item], at: Ints | None, size: int, fill: int) -> NDArray[Item]:
    """Values at some slots, the rest filled; ``at`` of None is the first slots."""
    if at is None:
        rest = np.full((size - values.shape[0], *values.shape[1:]), fill, values.dtype)
        return np.concatenate([values, rest])
    out = np.full((size, *values.shape[1:]), fill, values.dtype)
    out[at] = values
    return out
