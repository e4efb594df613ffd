"""What a command reads and writes, and commands on other matrices."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from . import (
    AcceptInput,
    AddRowRanges,
    AddRows,
    AddRowsMulti,
    AddToRowsMulti,
    Backprop,
    Command,
    CopyRows,
    CopyRowsMulti,
    CopyToRowsMulti,
    Matrix,
    MatrixAdd,
    MatrixCopy,
    Propagate,
    ProvideOutput,
    SetConst,
    SubMatrix,
)

READ: Final = "read"
WRITE: Final = "write"
"""All elements are replaced."""
UPDATE: Final = "update"
"""Elements are added to, or some of them replaced."""
Access = tuple[SubMatrix, str]


def accesses(command: Command, matrices: list[Matrix]) -> Iterator[Access]:
    """The submatrices that a command works on, those that it reads first."""
    match command:
        case AcceptInput(matrix) | ProvideOutput(matrix):
            m = matrices[matrix]
            yield SubMatrix(matrix, (0, m.rows), (0, m.cols)), WRITE if isinstance(command, AcceptInput) else READ
        case SetConst(to):
            yield to, WRITE
        case Propagate(_, _, _, source, to):
            if source:
                yield source, READ
            yield to, WRITE
        case Backprop():
            for read in (command.source, command.output, command.output_deriv):
                if read:
                    yield read, READ
            if command.input_deriv:
                yield command.input_deriv, WRITE
        case MatrixCopy(to, source) | CopyRows(to, source):
            yield source, READ
            yield to, WRITE
        case MatrixAdd(to, source) | AddRows(to, source) | AddRowRanges(to, source):
            yield source, READ
            yield to, UPDATE
        case CopyRowsMulti(to, sources) | AddRowsMulti(to, sources):
            for source in sources:
                yield source, READ
            yield to, WRITE if isinstance(command, CopyRowsMulti) else UPDATE
        case CopyToRowsMulti(source, targets) | AddToRowsMulti(source, targets):
            yield source, READ
            for to in targets:
                yield to, UPDATE


def moved(command: Command, f: Callable[[SubMatrix], SubMatrix]) -> Command:
    """The same command on other submatrices."""
    match command:
        case AcceptInput(matrix) | ProvideOutput(matrix):
            return replace(command, matrix=f(SubMatrix(matrix, (0, 0), (0, 0))).matrix)
        case SetConst(to):
            return replace(command, to=f(to))
        case Propagate(_, _, _, source, to):
            return replace(command, source=source and f(source), to=f(to))
        case Backprop():
            return replace(
                command,
                source=command.source and f(command.source),
                output=command.output and f(command.output),
                output_deriv=f(command.output_deriv),
                input_deriv=command.input_deriv and f(command.input_deriv),
            )
        case MatrixCopy(to, source) | CopyRows(to, source) | MatrixAdd(to, source) | AddRows(to, source):
            return replace(command, to=f(to), source=f(source))
        case AddRowRanges(to, source):
            return replace(command, to=f(to), source=f(source))
        case CopyRowsMulti(to, sources) | AddRowsMulti(to, sources):
            return replace(command, to=f(to), sources=tuple(map(f, sources)))
        case CopyToRowsMulti(source, targets) | AddToRowsMulti(source, targets):
            return replace(command, source=f(source), targets=tuple(map(f, targets)))
    return command


def overlap(a: SubMatrix, b: SubMatrix) -> bool:
    """Whether two submatrices have an element in common."""
    return a.matrix == b.matrix and _meet(a.rows, b.rows) and _meet(a.columns, b.columns)


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return max(a[0], b[0]) < min(a[1], b[1])
