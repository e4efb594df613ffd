"""Runs the printed text of a computation on symbols: every element becomes a sum of (node, Index, column) and a constant."""

import re
from typing import Any

from raggedarray import nnet3

Sum = dict[Any, float]
ONE = "one"
"""The symbol of constants."""


def integers(text: str) -> list[int]:
    """A printed list of integers."""
    out: list[int] = []
    for item in text.split(","):
        if ":" in item:
            first, last = item.split(":")
            out += range(int(first), int(last) + 1)
        elif "x" in item:
            value, times = item.split("x")
            out += [int(value)] * int(times)
        elif item.strip():
            out.append(int(item))
    return out


class Symbolic:
    """Matrices of sums. ``inputs`` keeps what each component was given, ``outputs`` what the user was."""

    def __init__(self, text: str) -> None:
        self.matrices: dict[str, list[list[Sum]]] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        self.rows: dict[str, tuple[str, list[tuple[int, int, int]]]] = {}
        self.inputs: list[tuple[str, str, list[list[Sum]]]] = []
        self.outputs: dict[str, list[list[Sum]]] = {}
        self.printed: dict[str, str] = {}
        for name, rows, columns in re.findall(r"(m\d+)\((\d+), (\d+)\)", text.splitlines()[0]):
            self.sizes[name] = int(rows), int(columns)
        for line in text.splitlines():
            if match := re.fullmatch(r"(m\d+) == value: ([^\[]+)(\[.*\])", line):
                indexes = [tuple(row) for row in nnet3.parse_indexes(match[3]).tolist()]
                self.rows[match[1]], self.printed[match[1]] = (match[2], indexes), match[3]  # type: ignore[assignment]
            elif match := re.fullmatch(r"c\d+: (.*)", line):
                if match[1].startswith("#"):
                    break
                self.command(match[1])

    def part(self, text: str) -> tuple[str, range, range]:
        name, rows, columns = re.fullmatch(r"(m\d+)(?:\((\d+:\d+), (\d+:\d+)\))?", text).groups()  # type: ignore[union-attr]
        if rows is None:
            return name, range(self.sizes[name][0]), range(self.sizes[name][1])
        (a, b), (c, d) = (map(int, pair.split(":")) for pair in (rows, columns))
        return name, range(a, b + 1), range(c, d + 1)

    def read(self, text: str) -> list[list[Sum]]:
        name, rows, columns = self.part(text)
        return [[dict(self.matrices[name][r][c]) for c in columns] for r in rows]

    def write(self, text: str, block: list[list[Sum] | None], scale: float, *, add: bool) -> None:
        name, rows, columns = self.part(text)
        assert len(rows) == len(block), text
        for r, row in zip(rows, block, strict=True):
            for at, c in enumerate(columns):
                old = self.matrices[name][r][c] if add else {}
                new = dict(old)
                if row is not None:
                    assert len(row) == len(columns), text
                    for symbol, weight in row[at].items():
                        new[symbol] = new.get(symbol, 0) + scale * weight
                self.matrices[name][r][c] = new

    def atoms(self, name: str, node: str) -> list[list[Sum]]:
        indexes = self.rows[name][1]
        return [[{(node, index, c): 1.0} for c in range(self.sizes[name][1])] for index in indexes]

    def command(self, text: str) -> None:
        if match := re.fullmatch(r"(m\d+) = user input \[for node: '(.*)'\]", text):
            self.matrices[match[1]] = self.atoms(match[1], match[2])
        elif match := re.fullmatch(r"output (m\d+) to user \[for node: '(.*)'\]", text):
            self.outputs[match[2]] = self.read(match[1])
        elif match := re.fullmatch(r"(m\d+) = undefined\((\d+),(\d+)\)", text):
            assert self.sizes[match[1]] == (int(match[2]), int(match[3]))
            self.matrices[match[1]] = [[{"undefined": 1.0}] * int(match[3]) for _ in range(int(match[2]))]
        elif match := re.fullmatch(r"(.*)\.set\((.*)\) \[dim = \d+ x \d+\];", text):
            _, rows, columns = self.part(match[1])
            one = {ONE: float(match[2])} if float(match[2]) else {}
            self.write(match[1], [[one for _ in columns] for _ in rows], 1, add=False)
        elif match := re.fullmatch(r"(.*)\.Propagate\(.*, (m\d.*), &(m\d+)\)", text):
            self.inputs.append((match[1], match[3], self.read(match[2])))
            self.matrices[match[3]] = self.atoms(match[3], self.rows[match[3]][0])
        elif match := re.fullmatch(r"(.*)\.(Add|Copy)Rows\((.*?), (m\d[^\[]*)\[(.*)\]\)", text):
            source = self.read(match[4])
            block = [source[r] if r >= 0 else None for r in integers(match[5])]
            self.write(match[1], block, float(match[3]), add=match[2] == "Add")
        elif match := re.fullmatch(r"(.*)\.(Add|Copy)RowsMulti\((.*?), \[(.*)\]\)", text):
            block = [self.row(item) for item in re.findall(r"NULL|m\d+\([^)]*\)", match[4])]
            self.write(match[1], block, float(match[3]), add=match[2] == "Add")
        elif match := re.fullmatch(r"(\S+(?:, \d+:\d+\))?) (\+?=) (?:(\S+) \* )?(m\d.*)", text):
            self.write(match[1], list(self.read(match[4])), float(match[3] or 1), add=match[2] == "+=")
        else:
            assert re.fullmatch(r"\[no-op-permanent\]|m\d+ = \[\]", text), text

    def row(self, text: str) -> list[Sum] | None:
        if text == "NULL":
            return None
        name, row, columns = re.fullmatch(r"(m\d+)\((\d+),(.*)\)", text).groups()  # type: ignore[union-attr]
        first, last = (0, self.sizes[name][1] - 1) if columns == ":" else map(int, columns.split(":"))
        return self.matrices[name][int(row)][first : last + 1]
