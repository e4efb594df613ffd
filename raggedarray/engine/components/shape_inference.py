"""What sizes a function gives its results: found by trying it on arrays of ones of a few sizes.

The ragged axes of the operands get different prime sizes; where the function refuses those, some axes get the same
size, as the two inner ones of a product must have. A size of the result that is one of those primes, each time, is
the size of that axis; one that never changes is uniform; any other must be read off the results.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...backends import Kernels
from .form import Form, Sizes

FIRST, SECOND = (7, 11, 13, 17, 19), (23, 29, 31, 37, 41)


class Read:
    """Stands for a size that is read off the results."""


READ = Read()
"""The one of its kind."""


class Found(NamedTuple):
    """The rule of each result: a size, a column of the operands' sizes as ``(column,)``, or `READ`."""

    rules: list[tuple[Any, ...]]
    forms: tuple[Form, ...]

    def __call__(self, sizes: list[Sizes]) -> list[Sizes]:
        columns = [
            n
            for mine, form in zip(sizes, self.forms, strict=True)
            for n, m in zip(mine, form.block.axes, strict=False)
            if m is None
        ]
        return [tuple(columns[n[0]] if isinstance(n, tuple) else n for n in rule) for rule in self.rules]


def find(k: Kernels, f: Callable[..., Any], forms: list[Form], masks: bool) -> Found | Exception:
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
        return Found(rules, tuple(forms))
    return problem


def _rule(m: int, n: int, classes: list[int]) -> Any:
    if m == n:
        return m
    for c in set(classes):
        if (m, n) == (FIRST[c], SECOND[c]):
            return (classes.index(c),)
    return READ


def _try(k: Kernels, f: Callable[..., Any], forms: list[Form], sizes: list[int], masks: bool) -> Any:
    each = iter(sizes)
    shapes, of_masks = [], []
    for form in forms:
        block = tuple(next(each) if n is None else n for n in form.block.axes)
        shapes.append((*block, *form.values.shape[1:]))
        of_masks.append(block)
    like = [form.values for form in forms]
    if masks:
        bools = [form.values != form.values for form in forms]
        return k.result_shapes(f, shapes + of_masks, like + bools)
    return k.result_shapes(f, shapes, like)


def _partitions(count: int) -> Iterator[list[int]]:
    """Which axes have one size: from all different to all the same."""

    def grow(done: list[int]) -> Iterator[list[int]]:
        if len(done) == count:
            yield done
            return
        for c in range(max(done, default=-1) + 2):
            yield from grow([*done, c])

    yield from sorted(grow([]), key=lambda p: -max(p, default=0))


def from_results(shapes: list[list[tuple[int, ...]]], keys: list[tuple[int, ...]]) -> list[tuple[Any, ...]]:
    """Rules for a function that refused all trials, from the shapes of its results for each shape of the operands."""
    rules = []
    for result in zip(*shapes, strict=True):
        rule: list[Any] = []
        for r in range(len(result[0])):
            mine = [s[r] for s in result]
            same = [c for c in range(len(keys[0])) if [key[c] for key in keys] == mine]
            rule.append((same[0],) if same else mine[0] if len(set(mine)) == 1 else READ)
        rules.append(tuple(rule))
    return rules
