"""Passes that look at commands one by one: first additions become copies, runs of rows become submatrices."""

import numpy as np

from . import (
    AddRows,
    AddRowsMulti,
    AddToRowsMulti,
    Command,
    CopyRows,
    CopyRowsMulti,
    CopyToRowsMulti,
    Matrix,
    MatrixAdd,
    MatrixCopy,
    SetConst,
    SubMatrix,
)
from ._accesses import READ, UPDATE, WRITE, accesses, overlap


def copied(matrices: list[Matrix], commands: list[Command]) -> list[Command]:
    """Turn the first addition to each element into a copy.

    Zeros that a matrix is set to are held back while commands write over them: they are left out if nothing sees one
    of them, and else set right before the first command that uses the matrix.
    """
    held_back: dict[int, _Zeros] = {}
    first_use: dict[int, int] = {}
    out: list[list[Command]] = [[command] for command in commands]
    for at, command in enumerate(commands):
        if isinstance(command, SetConst) and command.value == 0 and command.to.matrix not in first_use:
            held_back[command.to.matrix] = _Zeros(command)
            out[at] = []
            continue
        parts = list(accesses(command, matrices))
        for part, _ in parts:
            first_use.setdefault(part.matrix, at)
        sums = [part for part, mode in parts if mode == UPDATE]
        are_first = all(part.matrix in held_back and held_back[part.matrix].hold(part) for part in sums)
        copy = _as_copy(command) if are_first else None
        if copy:
            out[at] = [copy]
        for part, mode in parts:
            zeros = held_back.get(part.matrix)
            if zeros is None:
                continue
            if zeros.hold(part) and (mode == WRITE or (mode == UPDATE and copy)):
                zeros.write(part)
                if not zeros.left:
                    del held_back[part.matrix]
            elif mode == READ or not zeros.are_gone_from(part):
                out[first_use[part.matrix]].insert(0, zeros.command)
                del held_back[part.matrix]
    return [command for group in out for command in group]


class _Zeros:
    """The zeros that a command sets a matrix to, and the parts of it that were written since; ``left`` elements not."""

    def __init__(self, command: SetConst) -> None:
        self.command = command
        self.left = command.to.height * command.to.width
        self.written: list[SubMatrix] = []

    def write(self, part: SubMatrix) -> None:
        """Note that a part without any written element is replaced."""
        self.written.append(part)
        self.left -= part.height * part.width

    def hold(self, part: SubMatrix) -> bool:
        """Whether a part is all zeros."""
        return not any(overlap(part, other) for other in self.written)

    def are_gone_from(self, part: SubMatrix) -> bool:
        """Whether a part has no zeros, as far as one written part tells."""
        return any(_inside(part, other) for other in self.written)


def _as_copy(command: Command) -> Command | None:
    match command:
        case MatrixAdd(to, source, alpha):
            return MatrixCopy(to, source, alpha)
        case AddRows(to, source, rows, alpha):
            return CopyRows(to, source, rows, alpha)
        case AddRowsMulti(to, sources, pairs, alpha):
            return CopyRowsMulti(to, sources, pairs, alpha)
        case AddToRowsMulti(source, targets, pairs, alpha):
            counts = np.bincount(pairs[pairs[:, 0] >= 0, 0], minlength=len(targets))
            if [target.height for target in targets] == counts.tolist():
                return CopyToRowsMulti(source, targets, pairs, alpha)
    return None


def _inside(part: SubMatrix, other: SubMatrix) -> bool:
    rows = other.rows[0] <= part.rows[0] and part.rows[1] <= other.rows[1]
    return rows and other.columns[0] <= part.columns[0] and part.columns[1] <= other.columns[1]


def simpler(command: Command) -> Command:
    """Rows of several parts of one matrix are rows of it, and rows that follow each other are a submatrix."""
    if isinstance(command, AddRowsMulti | CopyRowsMulti):
        places = {(source.matrix, source.columns) for source in command.sources}
        if len(places) > 1:
            return command
        first, last = min(s.rows[0] for s in command.sources), max(s.rows[1] for s in command.sources)
        starts = np.array([s.rows[0] - first for s in command.sources], np.int32)
        rows = np.where(command.pairs[:, 0] >= 0, command.pairs[:, 1] + starts[command.pairs[:, 0]], np.int32(-1))
        ((matrix, columns),) = places
        one = AddRows if isinstance(command, AddRowsMulti) else CopyRows
        command = one(command.to, SubMatrix(matrix, (first, last), columns), rows, command.alpha)
    if not isinstance(command, AddRows | CopyRows) or not (command.rows >= 0).any():
        return command
    present = np.flatnonzero(command.rows >= 0)
    start, end = int(present[0]), int(present[-1]) + 1
    rows = command.rows[start:end]
    all_rows = (start, end) == (0, len(command.rows))
    if (rows < 0).any() or (np.diff(rows) != 1).any() or not (all_rows or isinstance(command, AddRows)):
        return command
    to = SubMatrix(command.to.matrix, (command.to.rows[0] + start, command.to.rows[0] + end), command.to.columns)
    begin = command.source.rows[0] + int(rows[0])
    source = SubMatrix(command.source.matrix, (begin, begin + len(rows)), command.source.columns)
    return (MatrixAdd if isinstance(command, AddRows) else MatrixCopy)(to, source, command.alpha)
