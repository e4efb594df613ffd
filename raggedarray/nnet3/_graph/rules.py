"""What a row of a node needs, as a rule over rows of other nodes: the static form of descriptors and of reads.

A leaf carries all index operators above it, from the outside in. Rules are evaluated for all rows of a node at once:
what a leaf contributes is a bool per row.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count
from operator import and_

import numpy as np
from numpy.typing import NDArray

from .._reads import Blocks, Nothing, Reads, Same, Taps, Window
from .._typing import Bools
from ..descriptors import Const, Descriptor, Failover, IfDefined, Node, Offset, ReplaceIndex, Round, Scale, Sum, Switch

Map = tuple[str, int, int]
"""An index operator: ("offset", t, x), ("round", m, 0), ("t", c, 0), ("x", c, 0) or ("floor", k, 0)."""
Maps = tuple[Map, ...]
Truth = Bools | np.bool_


@dataclass(frozen=True)
class Leaf:
    """A row of node ``source``, some of its columns, scaled."""

    number: int
    source: int
    columns: tuple[int, int]
    scale: float
    maps: Maps


@dataclass(frozen=True)
class Span:
    """The rows of node ``source`` in a window; one of them must exist."""

    number: int
    source: int
    window: Window


@dataclass(frozen=True)
class Constant:
    """A number."""

    value: float


@dataclass(frozen=True)
class Every:
    """All of them."""

    children: tuple["Rule", ...]


@dataclass(frozen=True)
class Either:
    """The first where it is computable, else the second."""

    first: "Rule"
    second: "Rule"


@dataclass(frozen=True)
class Maybe:
    """The inner one where it is computable."""

    inner: "Rule"


@dataclass(frozen=True)
class Choose:
    """One of them, by t as it is below ``maps``."""

    maps: Maps
    children: tuple["Rule", ...]


Rule = Leaf | Span | Constant | Every | Either | Maybe | Choose
Resolve = Callable[[str], tuple[int, tuple[int, int]]]
"""From the name of a node to the number of the node that has its rows, and the columns there."""


def of_parts(parts: tuple[Descriptor, ...], resolve: Resolve) -> tuple[Rule, ...]:
    """The rules of the parts of a descriptor; leaves are numbered from left to right."""
    numbers = count()
    return tuple(_of(part, resolve, numbers, (), 1.0) for part in parts)


def of_reads(reads: Reads, source: int, width: int) -> Rule:
    """The rule of a component that reads rows of its input."""
    columns = (0, width)
    match reads:
        case Same():
            return Leaf(0, source, columns, 1.0, ())
        case Nothing():
            return Every(())
        case Blocks(k):
            return Leaf(0, source, columns, 1.0, (("floor", k, 0),))
        case Window():
            return Span(0, source, reads)
        case Taps(offsets, required):
            taps = [Leaf(k, source, columns, 1.0, _shifted((), t, 0)) for k, t in enumerate(offsets)]
            return Every(tuple(tap if must else Maybe(tap) for tap, must in zip(taps, required, strict=True)))


def _of(d: Descriptor, resolve: Resolve, numbers: Iterator[int], maps: Maps, scale: float) -> Rule:
    def inside(child: Descriptor, more: Maps = maps) -> Rule:
        return _of(child, resolve, numbers, more, scale)

    match d:
        case Node(name):
            return Leaf(next(numbers), *resolve(name), scale, maps)
        case Const(value, _):
            return Constant(scale * value)
        case Sum(terms):
            return Every(tuple(inside(term) for term in terms))
        case Failover(first, second):
            return Either(inside(first), inside(second))
        case IfDefined(inner):
            return Maybe(inside(inner))
        case Switch(choices):
            return Choose(maps, tuple(inside(choice) for choice in choices))
        case Offset(inner, t, x):
            return inside(inner, _shifted(maps, t, x))
        case Round(inner, m):
            return inside(inner, (*maps, ("round", m, 0)))
        case ReplaceIndex(inner, variable, value):
            return inside(inner, (*maps, (variable, value, 0)))
        case Scale(s, inner):
            return _of(inner, resolve, numbers, maps, s * scale)
    raise AssertionError("parts of a normal form hold no Append")


def _shifted(maps: Maps, t: int, x: int) -> Maps:
    if maps and maps[-1][0] == "offset":
        _, first_t, first_x = maps[-1]
        maps, t, x = maps[:-1], t + first_t, x + first_x
    return (*maps, ("offset", t, x)) if t or x else maps


def leaves(rule: Rule) -> Iterator[Leaf | Span]:
    """The leaves from left to right."""
    match rule:
        case Leaf() | Span():
            yield rule
        case Every(children) | Choose(_, children):
            for child in children:
                yield from leaves(child)
        case Either(first, second):
            yield from leaves(first)
            yield from leaves(second)
        case Maybe(inner):
            yield from leaves(inner)


def demanded(rule: Rule) -> Iterator[Leaf | Span]:
    """The leaves that are not optional."""
    match rule:
        case Leaf() | Span():
            yield rule
        case Every(children) | Choose(_, children):
            for child in children:
                yield from demanded(child)


def choices(rule: Rule) -> Iterator[Choose]:
    """The places where t decides."""
    match rule:
        case Choose(_, children):
            yield rule
            for child in children:
                yield from choices(child)
        case Every(children):
            for child in children:
                yield from choices(child)
        case Either(first, second):
            yield from choices(first)
            yield from choices(second)
        case Maybe(inner):
            yield from choices(inner)


def has_constants(rule: Rule) -> bool:
    """Whether a constant may be added."""
    match rule:
        case Constant(value):
            return value != 0
        case Every(children) | Choose(_, children):
            return any(has_constants(child) for child in children)
        case Either(first, second):
            return has_constants(first) or has_constants(second)
        case Maybe(inner):
            return has_constants(inner)
    return False


@dataclass(frozen=True, eq=False)
class Rows:
    """What a rule is evaluated on: per leaf whether it is computable, and per Choose which child it takes."""

    leaf: dict[int, Truth]
    choice: dict[Choose, NDArray[np.int64]]

    def computable(self, rule: Rule) -> Truth:
        """Whether all that the rule demands is there."""
        match rule:
            case Leaf(number) | Span(number):
                return self.leaf[number]
            case Every(children):
                return reduce(and_, map(self.computable, children), np.True_)
            case Either(first, second):
                return self.computable(first) | self.computable(second)
            case Choose(_, children):
                ok: Truth = np.False_
                for k, child in enumerate(children):
                    ok = ok | ((self.choice[rule] == k) & self.computable(child))
                return ok
        return np.True_

    def reached(self, rule: Rule, active: Truth) -> Iterator[tuple[Leaf | Span, Truth]]:
        """Where each leaf may matter, whatever is computable."""
        match rule:
            case Leaf() | Span():
                yield rule, active
            case Every(children):
                for child in children:
                    yield from self.reached(child, active)
            case Either(first, second):
                yield from self.reached(first, active)
                yield from self.reached(second, active)
            case Maybe(inner):
                yield from self.reached(inner, active)
            case Choose(_, children):
                for k, child in enumerate(children):
                    yield from self.reached(child, active & (self.choice[rule] == k))

    def used(self, rule: Rule, active: Truth) -> Iterator[tuple[Leaf | Span | Constant, Truth]]:
        """Where each leaf and constant takes part, in rows that are active; leaves come from left to right."""
        match rule:
            case Leaf() | Span() | Constant():
                yield rule, active
            case Every(children):
                for child in children:
                    yield from self.used(child, active)
            case Either(first, second):
                ok = self.computable(first)
                yield from self.used(first, active & ok)
                yield from self.used(second, active & ~ok)
            case Maybe(inner):
                yield from self.used(inner, active & self.computable(inner))
            case Choose(_, children):
                for k, child in enumerate(children):
                    yield from self.used(child, active & (self.choice[rule] == k))

    def lacking(self, rule: Rule, active: Truth) -> Iterator[tuple[Leaf | Span, Truth]]:
        """Where each leaf is one that makes an active row uncomputable."""
        match rule:
            case Leaf(number) | Span(number):
                yield rule, active & ~self.leaf[number]
            case Every(children):
                for child in children:
                    yield from self.lacking(child, active)
            case Either(first, second):
                uncomputable = active & ~self.computable(rule)
                yield from self.lacking(first, uncomputable)
                yield from self.lacking(second, uncomputable)
            case Choose(_, children):
                for k, child in enumerate(children):
                    yield from self.lacking(child, active & (self.choice[rule] == k))
