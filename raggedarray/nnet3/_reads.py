"""Which rows of its input a component reads for an output row: declared, never enumerated by the component."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Same:
    """The row of the same Index."""


@dataclass(frozen=True)
class Nothing:
    """No row: the output does not depend on an input."""


@dataclass(frozen=True)
class Taps:
    """The rows at ``t + offset``; an output exists where all required ones do."""

    offsets: tuple[int, ...]
    required: tuple[bool, ...]


@dataclass(frozen=True)
class Window:
    """The rows at ``start + first, start + first + step, ..., start + last``; an output exists where one of them does.

    ``start`` is the beginning of the period that t lies in. Outputs may be asked for only at multiples of ``align``.
    """

    first: int
    last: int
    step: int
    period: int = 1
    align: int = 1


@dataclass(frozen=True)
class Blocks:
    """The row of Index (n, t, floor(x / count))."""

    count: int


Reads = Same | Nothing | Taps | Window | Blocks
