"""From a program to plain commands, as Kaldi emits them: every matrix starts at zero, and sums only add."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .._program import Epoch, Layer, Program
from .._typing import Ints
from ..components import Component
from . import (
    AcceptInput,
    AddRows,
    AddRowsMulti,
    Alloc,
    Command,
    Dealloc,
    Held,
    Matrix,
    MatrixAdd,
    NoOp,
    Precomputed,
    Propagate,
    ProvideOutput,
    SetConst,
    SubMatrix,
)


@dataclass(frozen=True, eq=False)
class Step:
    """One wave of one layer: its rows, and its matrices of values and, perhaps, derivatives."""

    layer: int
    rows: slice
    value: int
    deriv: int | None
    gathered: "Gathered | None" = None


@dataclass(frozen=True, eq=False)
class Gathered:
    """The input of a component whose rows lie in the matrices of several waves: a matrix that they are copied to."""

    rows: Ints
    value: int
    deriv: int | None


@dataclass(frozen=True, eq=False)
class Addition:
    """Rows that are added to some columns of a step: per row the matrix and the row there, -1 for none, and a scale."""

    columns: tuple[int, int]
    source_columns: tuple[int, int]
    matrices: Ints
    rows: Ints
    scale: float


class Lowering:
    """The matrices of a program, and where each row of each layer is."""

    def __init__(self, program: Program, components: Mapping[str, Component], derivs: Collection[int]) -> None:
        self.program, self.components = program, components
        self.matrices: list[Matrix] = []
        self.precomputed: list[Precomputed] = []
        self.derivs: dict[int, int] = {}
        """Matrix of derivatives, by matrix of values."""
        self.matrix = [np.full(len(layer.indexes), -1, np.int32) for layer in program.layers]
        self.local = [np.zeros(len(layer.indexes), np.int32) for layer in program.layers]
        self._inputs: dict[int, tuple[SubMatrix | None, int]] = {}
        self.steps = [step for epoch in program.epochs for step in self._steps(epoch, derivs)]

    def _steps(self, epoch: Epoch, derivs: Collection[int]) -> Iterator[Step]:
        for wave in range(len(self.program.layers[epoch.layers[0]].waves) - 1):
            for number in epoch.layers:
                layer = self.program.layers[number]
                rows = slice(*layer.waves[wave : wave + 2].tolist())
                is_boundary = number in self.program.inputs.values() or number in self.program.outputs.values()
                if rows.start == rows.stop and not is_boundary:
                    continue
                gathered = self._gathered(layer, rows, derivs) if epoch.recurrent else None
                value, deriv = self._matrix(layer.name, layer.dim, layer.indexes[rows], number in derivs)
                self.matrix[number][rows] = value
                self.local[number][rows] = np.arange(rows.stop - rows.start)
                yield Step(number, rows, value, deriv, gathered)

    def _matrix(self, name: str, dim: int, indexes: Ints, deriv: bool) -> tuple[int, int | None]:
        value, rows, columns = len(self.matrices), (0, len(indexes)), (0, dim)
        self.matrices.append(Matrix(rows[1], dim, (Held(name, False, rows, columns, indexes),)))
        if not deriv:
            return value, None
        self.matrices.append(Matrix(rows[1], dim, (Held(name, True, rows, columns, indexes),)))
        self.derivs[value] = value + 1
        return value, value + 1

    def _gathered(self, layer: Layer, rows: slice, derivs: Collection[int]) -> Gathered | None:
        if layer.input is None or not (layer.reads or layer.window):
            return None
        read = np.unique(np.concatenate(read_by(layer, rows)))
        read, source = read[read >= 0], self.program.layers[layer.input]
        if not len(read):
            return None
        return Gathered(read, *self._matrix(source.name, source.dim, source.indexes[read], layer.input in derivs))

    def whole(self, matrix: int) -> SubMatrix:
        """All of a matrix."""
        m = self.matrices[matrix]
        return SubMatrix(matrix, (0, m.rows), (0, m.cols))

    def forward(self) -> list[Command]:
        """The commands of the forward pass, from the inputs to the outputs."""
        commands: list[Command] = []
        for step in self.steps:
            if self.program.layers[step.layer].kind == "input" and step.layer in self.program.inputs.values():
                commands.append(AcceptInput(step.value, self.program.layers[step.layer].name))
        accepted = {command.matrix for command in commands if isinstance(command, AcceptInput)}
        output_derivs = {step.deriv for step in self.steps if self.program.layers[step.layer].kind == "output"}
        for matrix in range(len(self.matrices)):
            if matrix not in accepted | output_derivs:
                commands += [Alloc(matrix), SetConst(self.whole(matrix), 0.0)]
        commands.append(NoOp("permanent"))
        for step in self.steps:
            commands += self._run(step)
        return commands

    def release(self, kept: Collection[int]) -> list[Command]:
        """Forget all matrices but those given to the user."""
        return [Dealloc(matrix) for matrix in range(len(self.matrices)) if matrix not in kept]

    def _run(self, step: Step) -> Iterator[Command]:
        layer = self.program.layers[step.layer]
        if layer.kind == "component":
            yield from self._propagate(step, layer)
        elif layer.kind != "input":
            yield from self._constants(step, layer)
            for addition in self.additions(step):
                yield add(addition, self.whole(step.value), self.matrices)
        if layer.kind == "output":
            yield ProvideOutput(step.value, layer.name)

    def _constants(self, step: Step, layer: Layer) -> Iterator[Command]:
        start = 0
        for part in layer.parts:
            columns = start, start + part.width
            start += part.width
            if part.constant is not None:
                values = part.constant[step.rows]
                ends = np.flatnonzero(np.diff(values)) + 1
                for a, b in zip([0, *ends.tolist()], [*ends.tolist(), len(values)], strict=True):
                    if b > a and values[a] != 0:
                        yield SetConst(SubMatrix(step.value, (a, b), columns), float(values[a]))

    def additions(self, step: Step) -> Iterator[Addition]:
        """What is added to a step, part by part; terms of one scale that never meet in a row are one addition."""
        start = 0
        for part in self.program.layers[step.layer].parts:
            merged: list[Addition] = []
            for term in sorted(part.terms, key=lambda term: term.scale):
                rows = term.rows[step.rows]
                present = rows >= 0
                if not present.any():
                    continue
                safe = np.where(present, rows, 0)
                matrices = np.where(present, self.matrix[term.source][safe], -1).astype(np.int32)
                local = np.where(present, self.local[term.source][safe], -1).astype(np.int32)
                columns = start, start + part.width
                merged = _merged(merged, Addition(columns, term.columns, matrices, local, term.scale))
            yield from merged
            start += part.width

    def _propagate(self, step: Step, layer: Layer) -> Iterator[Command]:
        assert layer.component is not None
        if step.gathered:
            yield add(self.gathering(step), self.whole(step.gathered.value), self.matrices)
        source, precomputed = self.input_of(step)
        yield Propagate(
            layer.component, layer.name, layer.indexes[step.rows], source, self.whole(step.value), precomputed
        )

    def gathering(self, step: Step) -> Addition:
        """The copy of the input rows of a step from the matrices that they are in."""
        layer, gathered = self.program.layers[step.layer], step.gathered
        assert layer.input is not None and gathered is not None
        columns = 0, self.program.layers[layer.input].dim
        rows = gathered.rows
        return Addition(columns, columns, self.matrix[layer.input][rows], self.local[layer.input][rows], 1.0)

    def input_of(self, step: Step) -> tuple[SubMatrix | None, int | None]:
        """The matrix that a component step reads, and what it must know of its rows, by number."""
        layer = self.program.layers[step.layer]
        if layer.input is not None and not layer.reads and layer.window is None:
            return self.whole(int(self.matrix[layer.input][step.rows.start])), None
        if step.value not in self._inputs:
            self._inputs[step.value] = self._irregular(step, layer), len(self.precomputed) - 1
        return self._inputs[step.value]

    def _irregular(self, step: Step, layer: Layer) -> SubMatrix | None:
        indexes = layer.indexes[step.rows]
        if layer.input is None:
            self.precomputed.append(Precomputed(indexes, (), None))
            return None
        reads = read_by(layer, step.rows)
        rows_read = next((rows[rows >= 0] for rows in reads if (rows >= 0).any()), None)
        if step.gathered:
            at = step.gathered.rows
            reads = [np.where(rows >= 0, np.searchsorted(at, rows), -1).astype(np.int32) for rows in reads]
        if layer.window is None:
            precomputed = Precomputed(indexes, tuple(reads), None)
        else:
            splits = layer.window[1][step.rows.start : step.rows.stop + 1]
            precomputed = Precomputed(indexes, (), (reads[0], splits - splits[0]))
        self.precomputed.append(precomputed)
        if rows_read is None:
            return None
        return self.whole(step.gathered.value if step.gathered else int(self.matrix[layer.input][rows_read[0]]))


def read_by(layer: Layer, rows: slice) -> list[Ints]:
    """Rows of its input that some rows of a component read, tap by tap; -1 for none."""
    if layer.window is None:
        return [tap[rows] for tap in layer.reads]
    read, splits = layer.window
    return [read[splits[rows.start] : splits[rows.stop]]]


def add(addition: Addition, to: SubMatrix, matrices: list[Matrix]) -> Command:
    """The command for an addition: of a whole matrix, of rows of one, or of rows of several."""
    to = SubMatrix(to.matrix, to.rows, addition.columns)
    used = np.unique(addition.matrices[addition.rows >= 0]).tolist()
    sources = tuple(SubMatrix(m, (0, matrices[m].rows), addition.source_columns) for m in used)
    if len(sources) > 1:
        at = np.where(addition.rows >= 0, np.searchsorted(used, addition.matrices), -1)
        return AddRowsMulti(to, sources, np.stack([at, addition.rows], axis=1).astype(np.int32), addition.scale)
    (source,) = sources
    if source.height == to.height and (addition.rows == np.arange(to.height)).all():
        return MatrixAdd(to, source, addition.scale)
    return AddRows(to, source, addition.rows, addition.scale)


def _merged(additions: list[Addition], new: Addition) -> list[Addition]:
    """The additions and a new one, as part of one of them if it can be."""
    for at, old in enumerate(additions):
        same = old.scale == new.scale and old.source_columns == new.source_columns
        if same and not ((old.rows >= 0) & (new.rows >= 0)).any():
            is_new = new.rows >= 0
            matrices, rows = np.where(is_new, new.matrices, old.matrices), np.where(is_new, new.rows, old.rows)
            together = Addition(old.columns, old.source_columns, matrices, rows, old.scale)
            return [*additions[:at], together, *additions[at + 1 :]]
    return [*additions, new]
