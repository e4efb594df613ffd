"""The commands of the backward pass: those of the forward pass transposed, in reverse order."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from .._indexes import ComputationRequest
from .._program import Program
from .._typing import Bools, Ints
from ..components import Component
from . import AcceptInput, AddRowRanges, AddRows, AddToRowsMulti, Backprop, Command, MatrixAdd, ProvideOutput, SubMatrix
from ._lower import Addition, Lowering, Step


def with_derivs(program: Program, components: Mapping[str, Component], request: ComputationRequest) -> set[int]:
    """The layers that need derivatives: a given one flows into them, and they lead to one that is asked for."""
    layers = program.layers
    reads = [{term.source for part in layer.parts for term in part.terms} for layer in layers]
    for layer, sources in zip(layers, reads, strict=True):
        sources |= set() if layer.input is None else {layer.input}
    inputs = {program.inputs[name] for name in request.input_derivs}
    wants = inputs | {
        k
        for k, layer in enumerate(layers)
        if layer.component is not None and request.model_derivs and components[layer.component].updatable
    }
    while new := {k for k, sources in enumerate(reads) if k not in wants and sources & wants}:
        wants |= new
    gets = {program.outputs[name] for name in request.output_derivs} & wants
    while new := {k for user in gets for k in reads[user] & wants} - gets:
        gets |= new
    return gets | inputs


class Backward:
    """The backward pass of a lowered program."""

    def __init__(self, lowering: Lowering, request: ComputationRequest) -> None:
        self.lowering, self.request = lowering, request

    def commands(self) -> Iterator[Command]:
        """From the derivatives of the outputs to those of the inputs and of the parameters."""
        layers = self.lowering.program.layers
        for step in reversed(self.lowering.steps):
            layer = layers[step.layer]
            if step.deriv is None:
                continue
            if layer.kind == "output":
                yield AcceptInput(step.deriv, layer.name)
            if layer.kind == "component":
                yield from self._component(step)
            for addition in self.lowering.additions(step):
                yield from self._spread(addition, step.deriv)
        for step in self.lowering.steps:
            if step.deriv is not None and layers[step.layer].name in self.request.input_derivs:
                yield ProvideOutput(step.deriv, layers[step.layer].name)

    def _component(self, step: Step) -> Iterator[Command]:
        low = self.lowering
        layer = low.program.layers[step.layer]
        assert layer.component is not None and step.deriv is not None
        component = low.components[layer.component]
        source, precomputed = low.input_of(step)
        input_deriv = low.derivs.get(source.matrix) if source else None
        model = self.request.model_derivs and component.updatable
        if input_deriv is None and not model:
            return
        yield Backprop(
            layer.component,
            layer.name,
            layer.indexes[step.rows],
            source if "input" in component.backprop_needs else None,
            low.whole(step.value) if "output" in component.backprop_needs else None,
            low.whole(step.deriv),
            None if input_deriv is None else low.whole(input_deriv),
            model,
            precomputed,
        )
        if step.gathered and step.gathered.deriv is not None:
            yield from self._spread(low.gathering(step), step.gathered.deriv)

    def _spread(self, addition: Addition, deriv: int) -> Iterator[Command]:
        """Add the derivative of a sum to those of the rows that were added."""
        low = self.lowering
        source = SubMatrix(deriv, (0, low.matrices[deriv].rows), addition.columns)
        derivs = np.array([low.derivs.get(k, -1) for k in range(len(low.matrices))], np.int32)
        targets = np.where(addition.rows >= 0, derivs[addition.matrices], -1)
        used = np.unique(targets[targets >= 0]).tolist()
        parts = [SubMatrix(m, (0, low.matrices[m].rows), addition.source_columns) for m in used]
        if len(used) == 1:
            rows = np.where(targets >= 0, addition.rows, -1)
            yield from _into_one(parts[0], source, rows, addition.scale)
        elif used:
            at = np.where(targets >= 0, np.searchsorted(used, targets), -1)
            pairs = np.stack([at, np.where(targets >= 0, addition.rows, -1)], axis=1).astype(np.int32)
            for mask in _occurrences(pairs[:, 0] * np.int64(2**32) + pairs[:, 1], pairs[:, 0] >= 0):
                yield AddToRowsMulti(source, tuple(parts), np.where(mask[:, None], pairs, -1), addition.scale)


def _into_one(to: SubMatrix, source: SubMatrix, rows: Ints, scale: float) -> Iterator[Command]:
    added = np.flatnonzero(rows >= 0)
    if len(rows) == to.height and (rows == np.arange(to.height)).all():
        yield MatrixAdd(to, source, scale)
    elif len(np.unique(rows[added])) == len(added):
        inverse = np.full(to.height, -1, np.int32)
        inverse[rows[added]] = added
        yield AddRows(to, source, inverse, scale)
    else:
        edges = np.concatenate(([0], np.flatnonzero(np.diff(rows)) + 1, [len(rows)]))
        used = rows[edges[:-1]] >= 0
        starts, ends = edges[:-1][used], edges[1:][used]
        for mask in _occurrences(rows[starts].astype(np.int64), np.ones(len(starts), np.bool_)):
            ranges = np.full((to.height, 2), -1, np.int32)
            ranges[rows[starts[mask]]] = np.stack([starts[mask], ends[mask]], axis=1)
            yield AddRowRanges(to, source, ranges, scale)


def _occurrences(keys: NDArray[np.int64], present: Bools) -> Iterator[Bools]:
    """Masks in each of which no key repeats: the first occurrences, the second ones, ..."""
    at = np.flatnonzero(present)
    order = at[np.argsort(keys[at], kind="stable")]
    first = np.concatenate(([True], np.diff(keys[order]) != 0))
    number = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    for k in range(int(number.max(initial=-1)) + 1):
        mask = np.zeros(len(keys), np.bool_)
        mask[order[number == k]] = True
        yield mask
