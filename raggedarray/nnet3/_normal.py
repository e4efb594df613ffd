"""The normal form of a descriptor, an Append of sums, and what follows from it: widths and modulus."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from math import lcm

from .._errors import error_text
from .descriptors import (
    Append,
    Const,
    Descriptor,
    Failover,
    IfDefined,
    Node,
    Offset,
    ReplaceIndex,
    Round,
    Scale,
    Sum,
    Switch,
    children,
)

DEPTH = 150
"""Levels that a normal form may have; functions of descriptors recurse once for each."""


def normal_form(descriptor: Descriptor, /, *, strict: bool = False) -> Descriptor:
    """Rewrite a descriptor as an Append of sums.

    Append moves to the outside, and index operators and scales move inside sums. ``strict=True`` refuses what does not
    fit the hierarchy of Kaldi: Scale above anything but a node below index operators, index operators above Const,
    Switch above sums.

    >>> print(normal_form(nnet3.descriptors.parse("Offset(Append(a, Sum(b, Scale(2, c))), 2)")))
    Append(Offset(a, 2), Sum(Offset(b, 2), Offset(Scale(2, c), 2)))
    """
    out = parts(descriptor, strict=strict)
    return out[0] if len(out) == 1 else Append(out)


def parts(descriptor: Descriptor, *, strict: bool = False) -> tuple[Descriptor, ...]:
    """The parts of the normal form, from left to right."""
    out = tuple(_rewritten(_part(descriptor, k), strict) for k in range(_count(descriptor)))
    if (deep := _depth(out)) > DEPTH:
        got, advice = f"{deep} levels", "A Sum of many counts a level for each; split it over several nodes."
        raise ValueError(error_text(f"at most {DEPTH} levels of operators", got, advice, op="descriptor"))
    if strict:
        for part in out:
            _check_sum(part)
    return out


def width(part: Descriptor, dims: Mapping[str, int]) -> int:
    """Number of columns of a part; arguments that differ in it are an error."""
    match part:
        case Node(name):
            return dims[name]
        case Const(_, dim):
            return dim
    widths = [width(child, dims) for child in children(part)]
    if len(set(widths)) > 1:
        operator = type(part).__name__
        got = " and ".join(f"{child} of dim {w}" for child, w in zip(children(part), widths, strict=True))
        raise ValueError(
            error_text(f"arguments of {operator} of one dim", got, "Give them the same dim.", op=str(part))
        )
    return widths[0]


def modulus(descriptor: Descriptor) -> int:
    """The smallest shift of t that does not change the meaning, as far as the operators tell."""
    inner = reduce(lcm, (modulus(child) for child in children(descriptor)), 1)
    match descriptor:
        case Switch(choices):
            return lcm(len(choices), inner)
        case Round(_, m):
            return lcm(m, inner)
        case ReplaceIndex(_, "t", _):
            return 1
    return inner


def rebuilt(descriptor: Descriptor, f: Callable[[Descriptor], Descriptor]) -> Descriptor:
    """The same operator on changed children."""
    match descriptor:
        case Append(parts):
            return Append(tuple(f(child) for child in parts))
        case Sum(parts):
            return Sum(tuple(f(child) for child in parts))
        case Switch(parts):
            return Switch(tuple(f(child) for child in parts))
        case Failover(first, second):
            return Failover(f(first), f(second))
        case IfDefined() | Offset() | Round() | ReplaceIndex() | Scale():
            return replace(descriptor, inner=f(descriptor.inner))
    return descriptor


def _depth(descriptors: tuple[Descriptor, ...]) -> int:
    deep = 0
    while descriptors:
        descriptors, deep = tuple(child for descriptor in descriptors for child in children(descriptor)), deep + 1
    return deep


def _count(descriptor: Descriptor) -> int:
    counts = [_count(child) for child in children(descriptor)]
    if isinstance(descriptor, Append):
        return sum(counts)
    if len(set(counts)) > 1:
        advice = "Give each argument the same number of Append parts."
        got = " and ".join(map(str, counts))
        raise ValueError(error_text("arguments with as many parts as each other", got, advice, op=str(descriptor)))
    return counts[0] if counts else 1


def _part(descriptor: Descriptor, k: int) -> Descriptor:
    if not isinstance(descriptor, Append):
        return rebuilt(descriptor, lambda child: _part(child, k))
    for child in descriptor.parts:
        if k < _count(child):
            return _part(child, k)
        k -= _count(child)
    raise AssertionError("part numbers stay below the count")


def _rewritten(descriptor: Descriptor, strict: bool) -> Descriptor:
    while (new := _step(descriptor, strict)) is not descriptor:
        descriptor = new
    new = rebuilt(descriptor, lambda child: _rewritten(child, strict))
    return new if _step(new, strict) is new else _rewritten(new, strict)


def _step(d: Descriptor, strict: bool) -> Descriptor:
    match d:
        case Sum((only,)):
            return only
        case Sum((first, second, third, *rest)):
            return Sum((first, Sum((second, third, *rest))))
        case Offset(inner, 0, 0):
            return inner
        case Offset(Offset(inner, t, x), more_t, more_x):
            return Offset(inner, t + more_t, x + more_x)
        case Offset(Sum() | Failover() | IfDefined() as inner) | Round(Sum() | Failover() | IfDefined() as inner):
            return rebuilt(inner, lambda child: replace(d, inner=child))
        case ReplaceIndex(Sum() | Failover() | IfDefined() as inner):
            return rebuilt(inner, lambda child: replace(d, inner=child))
        case Switch((Sum() | Failover() | IfDefined() as inner,)):
            return rebuilt(inner, lambda child: Switch((child,)))
        case Scale(1, Node() as inner):
            return inner
        case Scale(s, Scale(r, inner)):
            return Scale(s * r, inner)
        case Scale(s, Offset() | ReplaceIndex() | Round() | Sum() as inner):
            return rebuilt(inner, lambda child: Scale(s, child))
    return d if strict else _lifted(d)


def _lifted(d: Descriptor) -> Descriptor:
    """Steps that go beyond Kaldi: a weighted sum of rows can carry any scale and any constant."""
    match d:
        case Scale(s, Const(value, dim)):
            return Const(s * value, dim)
        case Scale(s, IfDefined() | Failover() | Switch() as inner):
            return rebuilt(inner, lambda child: Scale(s, child))
        case Offset(Const() as inner) | Round(Const() as inner) | ReplaceIndex(Const() as inner):
            return inner
    return d


def _check_sum(part: Descriptor) -> None:
    if isinstance(part, Sum | Failover | IfDefined):
        for child in children(part):
            _check_sum(child)
    elif not isinstance(part, Const):
        _check_forwarding(part)


def _check_forwarding(part: Descriptor) -> None:
    for child in children(part):
        inside = Node if isinstance(part, Scale) else Node | Scale | Offset | Switch | Round | ReplaceIndex
        if not isinstance(child, inside):
            expected = "a node" if isinstance(part, Scale) else "nodes and index operators"
            got = f"{type(part).__name__} over {type(child).__name__}"
            advice = "Move it outside or to a node of its own, or leave out strict=True."
            raise ValueError(error_text(f"{expected} inside {type(part).__name__}", got, advice, op=str(part)))
        _check_forwarding(child)
