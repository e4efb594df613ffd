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
    """Turn the first addition to each element into a copy. Zeros that are never seen are left out, others set late."""
    out: list[list[Command]] = [[command] for command in commands]
    zeroed: dict[int, int] = {}
    covered: dict[int, list[SubMatrix]] = {}
    first: dict[int, int] = {}

    def needed(matrix: int) -> None:
        """The zeros of a matrix are seen: set them before the first command that looks at it."""
        out[first[matrix]].insert(0, commands[zeroed.pop(matrix)])

    for at, command in enumerate(commands):
        parts = list(accesses(command, matrices))
        if isinstance(command, SetConst) and command.value == 0 and command.to.matrix not in covered:
            zeroed[command.to.matrix], covered[command.to.matrix] = at, []
            out[at] = []
            continue
        for part, _ in parts:
            first.setdefault(part.matrix, at)
        written = [part for part, mode in parts if mode != READ and part.matrix in zeroed]
        fresh = all(not overlap(part, other) for part in written for other in covered[part.matrix])
        copy = _as_copy(command) if fresh and len(written) == sum(mode == UPDATE for _, mode in parts) else None
        if written and copy:
            out[at][-1] = copy
        for part, mode in parts:
            m = part.matrix
            if m in zeroed:
                if fresh and (mode == WRITE or (mode == UPDATE and copy)):
                    covered[m].append(part)
                    if sum(c.height * c.width for c in covered[m]) == matrices[m].rows * matrices[m].cols:
                        del zeroed[m]
                elif mode == READ or not any(_inside(part, other) for other in covered[m]):
                    needed(m)
    return [command for several in out for command in several]


def _as_copy(command: Command) -> Command | None:
    match command:
        case MatrixAdd(to, source, alpha):
            return MatrixCopy(to, source, alpha)
        case AddRows(to, source, rows, alpha):
            return CopyRows(to, source, rows, alpha)
        case AddRowsMulti(to, several, pairs, alpha):
            return CopyRowsMulti(to, several, pairs, alpha)
        case AddToRowsMulti(source, several, pairs, alpha):
            counts = np.bincount(pairs[pairs[:, 0] >= 0, 0], minlength=len(several))
            if [target.height for target in several] == counts.tolist():
                return CopyToRowsMulti(source, several, pairs, alpha)
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
    there = np.flatnonzero(command.rows >= 0)
    start, end = int(there[0]), int(there[-1]) + 1
    rows = command.rows[start:end]
    whole = (start, end) == (0, len(command.rows))
    if (rows < 0).any() or (np.diff(rows) != 1).any() or not (whole or isinstance(command, AddRows)):
        return command
    to = SubMatrix(command.to.matrix, (command.to.rows[0] + start, command.to.rows[0] + end), command.to.columns)
    begin = command.source.rows[0] + int(rows[0])
    source = SubMatrix(command.source.matrix, (begin, begin + len(rows)), command.source.columns)
    return (MatrixAdd if isinstance(command, AddRows) else MatrixCopy)(to, source, command.alpha)
