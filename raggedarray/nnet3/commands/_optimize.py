"""Fewer commands and matrices for the same values.

First additions become copies, runs of rows become submatrices, a copy of what is not changed any more becomes another
name for it, components that may work in place do, and matrices live only as long as they are used.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from ..components import Component
from . import (
    AcceptInput,
    Alloc,
    Backprop,
    Command,
    Dealloc,
    Held,
    Matrix,
    MatrixCopy,
    Propagate,
    ProvideOutput,
    SubMatrix,
)
from ._accesses import READ, Access, accesses, moved, overlap
from ._peephole import copied, simpler


def optimized(
    matrices: list[Matrix], commands: list[Command], components: Mapping[str, Component]
) -> tuple[list[Matrix], list[Command]]:
    """The commands after all passes, and the matrices that are left."""
    kept = copied(matrices, [command for command in commands if not isinstance(command, Alloc | Dealloc)])
    for _ in range(2):  # what was several matrices may have become one
        merger = _Merger(matrices, [simpler(command) for command in kept], components)
        merger.run()
        matrices, kept = merger.matrices, [command for command in merger.commands if command is not None]
    return _renumbered(matrices, _alive(matrices, [simpler(command) for command in kept]))


class _Merger:
    """Drops matrices that hold the same rows as a submatrix of another, for as long as both are used."""

    def __init__(self, matrices: list[Matrix], commands: list[Command], components: Mapping[str, Component]) -> None:
        self.matrices, self.components = list(matrices), components
        self.commands: list[Command | None] = list(commands)
        self.uses: dict[int, list[tuple[int, SubMatrix, str]]] = {}
        self.accepted = {c.matrix for c in commands if isinstance(c, AcceptInput)}
        self.provided = {c.matrix for c in commands if isinstance(c, ProvideOutput)}
        for at, command in enumerate(commands):
            for part, mode in accesses(command, matrices):
                self.uses.setdefault(part.matrix, []).append((at, part, mode))

    def run(self) -> None:
        """Try every copy, and every component that may work in place."""
        for at in range(len(self.commands)):
            match self.commands[at]:
                case MatrixCopy(to, source, 1):
                    if self._is_start(at, to, source) and self._same_later(at, to, source):
                        self._merge(to.matrix, source)
                        self.commands[at] = None
                case Propagate(component, _, _, SubMatrix() as source, to) if self.components[component].in_place:
                    if self._is_start(at, to, source) and self._free_later(at, source):
                        self._merge(to.matrix, source)
                case Backprop(component, _, _, _, _, source, SubMatrix() as to) if self.components[component].in_place:
                    if self._is_start(at, to, source) and self._free_later(at, source):
                        self._merge(to.matrix, source)

    def _is_start(self, at: int, to: SubMatrix, source: SubMatrix) -> bool:
        """Whether a matrix begins with this command, as large as its source, and can be a part of another matrix."""
        m = self.matrices[to.matrix]
        if to.matrix == source.matrix or (to.height, to.width) != (source.height, source.width):
            return False
        if (to.height, to.width) != (m.rows, m.cols) or self.uses[to.matrix][0][0] < at or to.matrix in self.accepted:
            return False
        if to.matrix in self.provided:
            other = self.matrices[source.matrix]
            is_whole = (source.height, source.width) == (other.rows, other.cols)
            return is_whole and source.matrix not in self.accepted | self.provided
        return True

    def _later(self, at: int, part: SubMatrix) -> set[str]:
        return {mode for when, other, mode in self.uses[part.matrix] if when > at and overlap(part, other)}

    def _same_later(self, at: int, to: SubMatrix, source: SubMatrix) -> bool:
        of_source = self._later(at, source)
        if of_source - {READ}:
            return False
        changed = bool({mode for when, _, mode in self.uses[to.matrix] if when > at} - {READ})
        return not changed or (not of_source and source.matrix not in self.accepted | self.provided)

    def _free_later(self, at: int, source: SubMatrix) -> bool:
        return not self._later(at, source) and source.matrix not in self.accepted | self.provided

    def _merge(self, merged: int, into: SubMatrix) -> None:
        def f(part: SubMatrix) -> SubMatrix:
            if part.matrix != merged:
                return part
            r, c = into.rows[0], into.columns[0]
            rows, columns = (part.rows[0] + r, part.rows[1] + r), (part.columns[0] + c, part.columns[1] + c)
            return SubMatrix(into.matrix, rows, columns)

        for at in {at for at, _, _ in self.uses[merged]}:
            command = self.commands[at]
            if command is not None:
                self.commands[at] = moved(command, f)
        uses = [*self.uses[into.matrix], *((at, f(part), mode) for at, part, mode in self.uses.pop(merged))]
        self.uses[into.matrix] = sorted(uses, key=lambda use: use[0])
        if merged in self.provided:
            self.provided.add(into.matrix)
        old = self.matrices[into.matrix]
        moved_in = tuple(
            Held(h.node, h.deriv, s.rows, s.columns, h.indexes)
            for h in self.matrices[merged].held
            for s in [f(SubMatrix(merged, h.rows, h.columns))]
        )
        self.matrices[into.matrix] = Matrix(old.rows, old.cols, old.held + moved_in)


def _alive(matrices: list[Matrix], commands: list[Command]) -> list[Command]:
    """Leave out what is computed and never read."""
    while True:
        touched = [list(accesses(command, matrices)) for command in commands]
        read = {part.matrix for parts in touched for part, mode in parts if mode == READ}
        out: list[Command] = []
        for command, parts in zip(commands, touched, strict=True):
            written = {part.matrix for part, mode in parts if mode != READ}
            if not written or written & read or isinstance(command, AcceptInput):
                out.append(command)
            elif isinstance(command, Backprop) and command.model:
                out.append(replace(command, input_deriv=None))
        if len(out) == len(commands):
            return out
        commands = out


def _renumbered(matrices: list[Matrix], commands: list[Command]) -> tuple[list[Matrix], list[Command]]:
    """Number the matrices that are left by their first use, and allocate them for as long as they are used."""
    touched: list[list[Access]] = [list(accesses(command, matrices)) for command in commands]
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, parts in enumerate(touched):
        for part, _ in parts:
            first.setdefault(part.matrix, at)
            last[part.matrix] = at
    number = {old: new for new, old in enumerate(first)}
    user = {c.matrix for c in commands if isinstance(c, AcceptInput)}
    kept = {c.matrix for c in commands if isinstance(c, ProvideOutput)}
    starts, ends = _by_place(first, user), _by_place(last, kept)
    out: list[Command] = []
    for at, command in enumerate(commands):
        out += [Alloc(number[m]) for m in starts.get(at, [])]
        out.append(moved(command, lambda part: SubMatrix(number[part.matrix], part.rows, part.columns)))
        out += [Dealloc(number[m]) for m in ends.get(at, [])]
    return [matrices[old] for old in first], out


def _by_place(place: Mapping[int, int], without: Collection[int]) -> dict[int, list[int]]:
    out: dict[int, list[int]] = {}
    for matrix, at in place.items():
        if matrix not in without:
            out.setdefault(at, []).append(matrix)
    return out
