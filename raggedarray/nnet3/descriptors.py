"""Descriptors: the expressions that say which rows of which nodes a node reads, as values with a text form.

``parse`` reads a text, ``str`` writes one, and ``raggedarray.nnet3.normal_form`` rewrites one as an Append of sums.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from .._errors import error_text
from ._lines import INTEGER, NAME

TOKEN: Final = re.compile(r"\s*([(),]|[^\s(),]+)")


@dataclass(frozen=True)
class Node:
    """The rows of a node, by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Append:
    """The columns of each, side by side."""

    parts: tuple["Descriptor", ...]

    def __str__(self) -> str:
        return _call("Append", *self.parts)


@dataclass(frozen=True)
class Sum:
    """The sum of all; each must be computable."""

    terms: tuple["Descriptor", ...]

    def __str__(self) -> str:
        return _call("Sum", *self.terms)


@dataclass(frozen=True)
class Failover:
    """The first where all of it is computable, else the second."""

    first: "Descriptor"
    second: "Descriptor"

    def __str__(self) -> str:
        return _call("Failover", self.first, self.second)


@dataclass(frozen=True)
class IfDefined:
    """The inner one where all of it is computable, else zero."""

    inner: "Descriptor"

    def __str__(self) -> str:
        return _call("IfDefined", self.inner)


@dataclass(frozen=True)
class Offset:
    """The inner one at ``t + t_offset`` and ``x + x_offset``."""

    inner: "Descriptor"
    t: int
    x: int = 0

    def __str__(self) -> str:
        return _call("Offset", self.inner, self.t, *([self.x] if self.x else []))


@dataclass(frozen=True)
class Switch:
    """Choice number ``t mod k`` of k."""

    choices: tuple["Descriptor", ...]

    def __str__(self) -> str:
        return _call("Switch", *self.choices)


@dataclass(frozen=True)
class Round:
    """The inner one at ``t - t mod modulus``."""

    inner: "Descriptor"
    modulus: int

    def __str__(self) -> str:
        return _call("Round", self.inner, self.modulus)


@dataclass(frozen=True)
class ReplaceIndex:
    """The inner one with ``t`` or ``x`` set to a value."""

    inner: "Descriptor"
    variable: str
    value: int

    def __str__(self) -> str:
        return _call("ReplaceIndex", self.inner, self.variable, self.value)


@dataclass(frozen=True)
class Scale:
    """The inner one times a number."""

    scale: float
    inner: "Descriptor"

    def __str__(self) -> str:
        return _call("Scale", self.scale, self.inner)


@dataclass(frozen=True)
class Const:
    """A number in each of ``dim`` columns."""

    value: float
    dim: int

    def __str__(self) -> str:
        return _call("Const", self.value, self.dim)


Descriptor = Node | Append | Sum | Failover | IfDefined | Offset | Switch | Round | ReplaceIndex | Scale | Const


def parse(text: str, /) -> Descriptor:
    """Read a descriptor.

    >>> descriptor = parse("Sum(a,Offset(Scale(0.5,b),-3))")
    >>> descriptor
    Sum(terms=(Node(name='a'), Offset(inner=Scale(scale=0.5, inner=Node(name='b')), t=-3, x=0)))
    >>> print(descriptor)
    Sum(a, Offset(Scale(0.5, b), -3))
    """
    reader = _Reader(text)
    out = reader.descriptor()
    if reader.token:
        raise reader.error("the end of the descriptor", "Write one descriptor.")
    return out


def names(descriptor: Descriptor, /) -> Iterator[str]:
    """The node names in a descriptor, from left to right.

    >>> list(names(parse("Append(a, Sum(b, a))")))
    ['a', 'b', 'a']
    """
    if isinstance(descriptor, Node):
        yield descriptor.name
    for child in children(descriptor):
        yield from names(child)


def children(descriptor: Descriptor, /) -> tuple[Descriptor, ...]:
    """The descriptors right inside one."""
    match descriptor:
        case Append(parts) | Sum(parts) | Switch(parts):
            return parts
        case Failover(first, second):
            return first, second
        case IfDefined(inner) | Offset(inner) | Round(inner) | ReplaceIndex(inner) | Scale(_, inner):
            return (inner,)
    return ()


def number(value: float) -> str:
    """The shortest text of a number; whole numbers have no point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _call(name: str, *args: "Descriptor | float | str") -> str:
    return f"{name}({', '.join(number(a) if isinstance(a, int | float) else str(a) for a in args)})"


class _Reader:
    """A cursor over the tokens of a descriptor; ``token`` is empty at the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [m[1] for m in TOKEN.finditer(text)]
        self.at = 0

    @property
    def token(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def error(self, expected: str, advice: str, got: str | None = None) -> ValueError:
        rest = f"{self.token!r} after {' '.join(self.tokens[: self.at])!r}" if self.token else "its end"
        return ValueError(error_text(expected, got or rest, advice, op=f"descriptor {self.text!r}"))

    def take(self, token: str) -> None:
        if self.token != token:
            raise self.error(repr(token), "Balance the parentheses and separate arguments by commas.")
        self.at += 1

    def descriptor(self) -> Descriptor:
        word = self.token
        if not NAME.fullmatch(word):
            raise self.error(
                "a node name or an operator", "A name is a letter or _, then letters, digits or any of _.-."
            )
        self.at += 1
        if self.token != "(":
            return Node(word)
        if word not in OPERATORS:
            raise self.error("an operator before '('", f"Use one of {', '.join(OPERATORS)}.", repr(word))
        self.at += 1
        out = OPERATORS[word](self)
        if self.token == ",":
            raise self.error(f"')' after the arguments of {word}", "Leave out what is too much.")
        self.take(")")
        return out

    def arguments(self) -> tuple[Descriptor, ...]:
        out = [self.descriptor()]
        while self.token == ",":
            self.at += 1
            out.append(self.descriptor())
        return tuple(out)

    def next(self) -> Descriptor:
        self.take(",")
        return self.descriptor()

    def integer(self, operator: str, *, at_least: int | None = None) -> int:
        self.take(",")
        word = self.token
        if not INTEGER.fullmatch(word) or (at_least is not None and int(word) < at_least):
            least = f" >= {at_least}" if at_least is not None else ""
            raise self.error(f"an integer{least} in {operator}", "Write it without point or exponent.")
        self.at += 1
        return int(word)

    def real(self, operator: str) -> float:
        try:
            value = float(self.token)
        except ValueError:
            raise self.error(f"a number first in {operator}", f"Write {operator}(number, ...).") from None
        self.at += 1
        return value

    def variable(self) -> str:
        self.take(",")
        if self.token not in ("t", "x"):
            raise self.error("t or x in ReplaceIndex", "Other indexes cannot be replaced.")
        self.at += 1
        return self.tokens[self.at - 1]

    def offset(self) -> Offset:
        inner, t = self.descriptor(), self.integer("Offset")
        return Offset(inner, t, self.integer("Offset") if self.token == "," else 0)

    def const(self) -> Const:
        return Const(self.real("Const"), self.integer("Const", at_least=1))


OPERATORS: Final[dict[str, Callable[[_Reader], Descriptor]]] = {
    "Append": lambda r: Append(r.arguments()),
    "Sum": lambda r: Sum(r.arguments()),
    "Failover": lambda r: Failover(r.descriptor(), r.next()),
    "IfDefined": lambda r: IfDefined(r.descriptor()),
    "Offset": _Reader.offset,
    "Switch": lambda r: Switch(r.arguments()),
    "Round": lambda r: Round(r.descriptor(), r.integer("Round", at_least=1)),
    "ReplaceIndex": lambda r: ReplaceIndex(r.descriptor(), r.variable(), r.integer("ReplaceIndex")),
    "Scale": lambda r: Scale(r.real("Scale"), r.next()),
    "Const": _Reader.const,
}
