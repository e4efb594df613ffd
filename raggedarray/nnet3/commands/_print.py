"""Computations as text, in the form that Kaldi prints; no line is shortened."""

from collections.abc import Iterable, Iterator, Sequence

from .._indexes import format_indexes
from .._typing import Ints
from ..descriptors import number
from . import (
    AcceptInput,
    AddRowRanges,
    AddRows,
    AddRowsMulti,
    AddToRowsMulti,
    Alloc,
    Backprop,
    Command,
    CopyRows,
    CopyRowsMulti,
    CopyToRowsMulti,
    Dealloc,
    Matrix,
    MatrixAdd,
    MatrixCopy,
    NoOp,
    Propagate,
    ProvideOutput,
    SetConst,
    SubMatrix,
)


def computation_text(matrices: Sequence[Matrix], commands: Sequence[Command]) -> str:
    """The whole text: sizes of the matrices, which rows they are, then the commands."""
    sizes = ", ".join(f"m{k}({m.rows}, {m.cols})" for k, m in enumerate(matrices, start=1))
    lines = [
        f"matrix {sizes}",
        "# Which rows of which node each matrix holds: (n,t,x), or (n,first:last) for a run of t.",
    ]
    for k, m in enumerate(matrices, start=1):
        lines.append(f"m{k} == {'deriv' if m.deriv else 'value'}: {m.node}{format_indexes(m.indexes)}")
    lines.append("# begin forward commands")
    writer = _Writer(matrices)
    lines += [f"c{k}: {writer.command(command)}" for k, command in enumerate(commands)]
    return "\n".join(lines) + "\n"


def format_integers(values: Iterable[int], /) -> str:
    """A list of integers: ``a:b`` for three or more that count up, ``axk`` for three or more equal ones.

    >>> format_integers([0, 1, 1, 1, 2, 2, 2, 3, 4, 5])
    '[0, 1, 1, 1, 2x3, 3:5]'
    """
    return "[" + ", ".join(_runs([int(v) for v in values])) + "]"


def _runs(values: list[int]) -> Iterator[str]:
    at = 0
    while at < len(values):
        end = at + 1
        step = values[end] - values[at] if end < len(values) else None
        while step in (0, 1) and end < len(values) and values[end] - values[end - 1] == step:
            end += 1
        run = values[at:end]
        if len(run) < 3:
            yield from map(str, run)
        else:
            yield f"{run[0]}x{len(run)}" if step == 0 else f"{run[0]}:{run[-1]}"
        at = end


class _Writer:
    """Commands as text; sizes of matrices decide whether a submatrix is a whole one."""

    def __init__(self, matrices: Sequence[Matrix]) -> None:
        self.matrices = matrices

    def sub(self, s: SubMatrix | None) -> str:
        if s is None:
            return "[]"
        m = self.matrices[s.matrix]
        if s.rows == (0, m.rows) and s.columns == (0, m.cols):
            return f"m{s.matrix + 1}"
        return f"m{s.matrix + 1}({s.rows[0]}:{s.rows[1] - 1}, {s.columns[0]}:{s.columns[1] - 1})"

    def size(self, matrix: int) -> str:
        m = self.matrices[matrix]
        return f"undefined({m.rows},{m.cols})"

    def multi(self, parts: tuple[SubMatrix, ...], pairs: Ints) -> str:
        starts = []
        for s in parts:
            is_whole = s.columns == (0, self.matrices[s.matrix].cols)
            columns = ":" if is_whole else f"{s.columns[0]}:{s.columns[1] - 1}"
            starts.append((s.matrix + 1, s.rows[0], columns))
        texts = []
        for at, row in pairs.tolist():
            if at < 0:
                texts.append("NULL")
            else:
                matrix, first, columns = starts[at]
                texts.append(f"m{matrix}({first + row},{columns})")
        return f"[{','.join(texts)}]"

    def command(self, command: Command) -> str:
        match command:
            case Alloc(matrix):
                return f"m{matrix + 1} = {self.size(matrix)}"
            case Dealloc(matrix):
                return f"m{matrix + 1} = []"
            case SetConst(to, value):
                return f"{self.sub(to)}.set({number(value)}) [dim = {to.height} x {to.width}];"
            case AcceptInput(matrix, node):
                return f"m{matrix + 1} = user input [for node: '{node}']"
            case ProvideOutput(matrix, node):
                return f"output m{matrix + 1} to user [for node: '{node}']"
            case Propagate(component, _, _, source, to, k):
                return f"{component}.Propagate({_pre(k)}, {self.sub(source)}, &{self.sub(to)})"
            case Backprop(component, _, _, source, output, deriv, into, model, k):
                values = f"{self.sub(source)}, {self.sub(output)}, {self.sub(deriv)}"
                end = f"{'[component-pointer]' if model else 'NULL'}, {f'&{self.sub(into)}' if into else 'NULL'}"
                return f"{component}.Backprop({_pre(k)}, {values}, {end})"
            case NoOp("permanent"):
                return "[no-op-permanent]"
            case NoOp():
                return "# computation segment separator [e.g., begin backward commands]"
        return self._sums(command)

    def _sums(self, command: Command) -> str:
        match command:
            case MatrixCopy(to, source, alpha):
                return f"{self.sub(to)} = {_times(alpha)}{self.sub(source)}"
            case MatrixAdd(to, source, alpha):
                return f"{self.sub(to)} += {_times(alpha)}{self.sub(source)}"
            case CopyRows(to, source, rows, alpha) | AddRows(to, source, rows, alpha):
                return f"{self.sub(to)}.{_name(command)}({number(alpha)}, {self.sub(source)}{format_integers(rows)})"
            case CopyRowsMulti(to, parts, pairs, alpha) | AddRowsMulti(to, parts, pairs, alpha):
                return f"{self.sub(to)}.{_name(command)}({number(alpha)}, {self.multi(parts, pairs)})"
            case CopyToRowsMulti(to, parts, pairs, alpha) | AddToRowsMulti(to, parts, pairs, alpha):
                return f"{self.sub(to)}.{_name(command)}({number(alpha)}, {self.multi(parts, pairs)})"
            case AddRowRanges(to, source, ranges, alpha):
                texts = ["null" if begin < 0 else f"{begin}:{end - 1}" for begin, end in ranges.tolist()]
                return f"{self.sub(to)}.AddRowRanges({number(alpha)}, {self.sub(source)}, [{','.join(texts)}])"
        raise AssertionError(command)


def _name(command: Command) -> str:
    return type(command).__name__


def _pre(k: int | None) -> str:
    return "NULL" if k is None else f"precomputed_indexes[{k}]"


def _times(alpha: float) -> str:
    return "" if alpha == 1 else f"{number(alpha)} * "
