"""The commands of a computation, and the matrices they work on.

``to`` is written, ``source`` is read; ``alpha`` scales what is read. A row number of -1 stands for a row of zeros where
a command copies, and for nothing where it adds.
"""

from dataclasses import dataclass
from typing import Literal

from .._typing import Ints


@dataclass(frozen=True, eq=False)
class Held:
    """Rows of a node, or their derivatives, in a part of a matrix; ``indexes`` says which row is which Index."""

    node: str
    deriv: bool
    rows: tuple[int, int]
    columns: tuple[int, int]
    indexes: Ints


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix, and all that it holds at some time; in a plain computation that is one thing."""

    rows: int
    cols: int
    held: tuple[Held, ...]

    @property
    def node(self) -> str:
        """The node whose rows fill it."""
        return self.held[0].node

    @property
    def deriv(self) -> bool:
        """Whether these are derivatives."""
        return self.held[0].deriv

    @property
    def indexes(self) -> Ints:
        """The Index of each row."""
        return self.held[0].indexes


@dataclass(frozen=True)
class SubMatrix:
    """Rows and columns, first and past the last, of a matrix given by its number from 0."""

    matrix: int
    rows: tuple[int, int]
    columns: tuple[int, int]

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.rows[1] - self.rows[0]

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.columns[1] - self.columns[0]


@dataclass(frozen=True, eq=False)
class Precomputed:
    """For a component that does not work row by row: its output Indexes, and the input rows that they read."""

    indexes: Ints
    reads: tuple[Ints, ...]
    window: tuple[Ints, Ints] | None


@dataclass(frozen=True, eq=False)
class Alloc:
    """Make a matrix; what it holds is undefined."""

    matrix: int


@dataclass(frozen=True, eq=False)
class Dealloc:
    """Forget a matrix."""

    matrix: int


@dataclass(frozen=True, eq=False)
class SetConst:
    """Set all elements to a number."""

    to: SubMatrix
    value: float


@dataclass(frozen=True, eq=False)
class AcceptInput:
    """Take the values of an input node from the user; for a derivative matrix, the derivatives of an output node."""

    matrix: int
    node: str


@dataclass(frozen=True, eq=False)
class ProvideOutput:
    """Give the values of an output node to the user; for a derivative matrix, the derivatives of an input node."""

    matrix: int
    node: str


@dataclass(frozen=True, eq=False)
class Propagate:
    """Compute the rows of a component node."""

    component: str
    node: str
    indexes: Ints
    source: SubMatrix | None
    to: SubMatrix
    precomputed: int | None


@dataclass(frozen=True, eq=False)
class Backprop:
    """Set the derivative of a component's input, if asked for, and add to those of its parameters if ``model``."""

    component: str
    node: str
    indexes: Ints
    source: SubMatrix | None
    output: SubMatrix | None
    output_deriv: SubMatrix
    input_deriv: SubMatrix | None
    model: bool
    precomputed: int | None


@dataclass(frozen=True, eq=False)
class MatrixCopy:
    """``to = alpha * source``."""

    to: SubMatrix
    source: SubMatrix
    alpha: float


@dataclass(frozen=True, eq=False)
class MatrixAdd:
    """``to += alpha * source``."""

    to: SubMatrix
    source: SubMatrix
    alpha: float


@dataclass(frozen=True, eq=False)
class CopyRows:
    """``to[r] = alpha * source[rows[r]]``."""

    to: SubMatrix
    source: SubMatrix
    rows: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class AddRows:
    """``to[r] += alpha * source[rows[r]]``."""

    to: SubMatrix
    source: SubMatrix
    rows: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class CopyRowsMulti:
    """``to[r] = alpha * sources[pairs[r, 0]][pairs[r, 1]]``."""

    to: SubMatrix
    sources: tuple[SubMatrix, ...]
    pairs: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class AddRowsMulti:
    """``to[r] += alpha * sources[pairs[r, 0]][pairs[r, 1]]``."""

    to: SubMatrix
    sources: tuple[SubMatrix, ...]
    pairs: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class CopyToRowsMulti:
    """``targets[pairs[r, 0]][pairs[r, 1]] = alpha * source[r]``; no row is written twice."""

    source: SubMatrix
    targets: tuple[SubMatrix, ...]
    pairs: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class AddToRowsMulti:
    """``targets[pairs[r, 0]][pairs[r, 1]] += alpha * source[r]``; no row is written twice."""

    source: SubMatrix
    targets: tuple[SubMatrix, ...]
    pairs: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class AddRowRanges:
    """``to[r] += alpha * source[begin:end].sum(0)`` for ``begin, end = ranges[r]``; -1, -1 is nothing."""

    to: SubMatrix
    source: SubMatrix
    ranges: Ints
    alpha: float


@dataclass(frozen=True, eq=False)
class NoOp:
    """Nothing: "permanent" ends the allocations of an unoptimised computation, "separator" its forward commands."""

    kind: Literal["permanent", "separator"]


Command = (
    Alloc
    | Dealloc
    | SetConst
    | AcceptInput
    | ProvideOutput
    | Propagate
    | Backprop
    | MatrixCopy
    | MatrixAdd
    | CopyRows
    | AddRows
    | CopyRowsMulti
    | AddRowsMulti
    | CopyToRowsMulti
    | AddToRowsMulti
    | AddRowRanges
    | NoOp
)
