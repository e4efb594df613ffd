"""What sizes a function gives its results: found by trying it on arrays of ones of a few sizes.

The ragged axes of the operands get different prime sizes; where the function refuses those, some axes get the same
size, as the two inner ones of a product must have. A size of the result that is one of those primes, each time, is
the size of that axis; one that never changes is uniform; any other must be read off the results.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...backends import Kernels, generic, implementation
from .form import Form, Sizes

FIRST, SECOND = (7, 11, 13, 17, 19), (23, 29, 31, 37, 41)


class Read:
    """Stands for a size that is read off the results."""


READ = Read()
"""The one of its kind."""


@dataclass(frozen=True)
class SizeRules:
    """The rule of each result: a size, a column of the operands' sizes as ``(column,)``, or `READ`."""

    rules: list[tuple[Any, ...]]
    forms: tuple[Form, ...]

    def __call__(self, sizes: list[Sizes]) -> list[Sizes]:
        columns = ragged_sizes(sizes, self.forms)
        return [tuple(columns[n[0]] if isinstance(n, tuple) else n for n in rule) for rule in self.rules]


def ragged_sizes(sizes: Iterable[Sizes], forms: tuple[Form, ...]) -> list[Any]:
    """Those along the ragged axes of all operands, one operand after the other."""
    return [
        n
        for of_operand, form in zip(sizes, forms, strict=True)
        for n, m in zip(of_operand, form.block.axes, strict=False)
        if m is None
    ]


def find(k: Kernels, f: Callable[..., Any], forms: tuple[Form, ...], masks: bool) -> SizeRules | Exception:
    """The rule of ``f``, or what it raised last."""
    count = sum(form.columns for form in forms)
    problem: Exception = ValueError("too many ragged axes")
    for classes in _partitions(count) if count <= len(FIRST) else []:
        try:
            one = _try(k, f, forms, [FIRST[c] for c in classes], masks)
            two = _try(k, f, forms, [SECOND[c] for c in classes], masks)
        except Exception as e:  # whatever a user's function raises
            problem = e
            continue
        rules = []
        for a, b in zip(one[0], two[0], strict=True):
            rules.append(tuple(_rule(m, n, classes) for m, n in zip(a, b, strict=True)))
        return SizeRules(rules, forms)
    return problem


def _rule(m: int, n: int, classes: list[int]) -> Any:
    if m == n:
        return m
    for c in set(classes):
        if (m, n) == (FIRST[c], SECOND[c]):
            return (classes.index(c),)
    return READ


def _try(k: Kernels, f: Callable[..., Any], forms: tuple[Form, ...], sizes: list[int], masks: bool) -> Any:
    each = iter(sizes)
    shapes, of_masks = [], []
    for form in forms:
        block = tuple(next(each) if n is None else n for n in form.block.axes)
        shapes.append((*block, *form.values.shape[1:]))
        of_masks.append(block)
    like = [form.values for form in forms]
    function = implementation(k, generic.component_function)(f)
    if masks:
        bools = [form.values != form.values for form in forms]
        return function.shapes(shapes + of_masks, like + bools)
    return function.shapes(shapes, like)


def _partitions(count: int) -> Iterator[list[int]]:
    """Which axes have one size: from all different to all the same."""

    def grow(done: list[int]) -> Iterator[list[int]]:
        if len(done) == count:
            yield done
            return
        for c in range(max(done, default=-1) + 2):
            yield from grow([*done, c])

    yield from sorted(grow([]), key=lambda p: -max(p, default=0))


def from_results(
    results: list[list[tuple[int, ...]]], operands: Sequence[tuple[Sizes, ...]], forms: tuple[Form, ...]
) -> SizeRules:
    """Rules for a function that refused all trials, from the shapes of its results for each shape of the operands."""
    keys = [ragged_sizes(shapes, forms) for shapes in operands]
    rules = []
    for shapes in zip(*results, strict=True):
        rule: list[Any] = []
        for sizes in zip(*shapes, strict=False):
            columns = [c for c in range(len(keys[0])) if tuple(key[c] for key in keys) == sizes]
            rule.append((columns[0],) if columns else sizes[0] if len(set(sizes)) == 1 else READ)
        rules.append(tuple(rule))
    return SizeRules(rules, forms)
