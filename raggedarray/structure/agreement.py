"""Whether the ragged axes of two operands agree, and what is kept when they do.

The same splits array agrees at once. Splits that can be read are compared by value, on the host. Different
traced ones must agree in rows and are then taken to be equal; under `checks` that is verified at run time.
"""

from collections.abc import Callable
from typing import Any

from .._errors import error_text
from .._partition import BlockPartition, Partition, RowPartition, UniformPartition, levels_only
from .._typing import Array
from ..backends import Kernels, kernels, namespace
from .blocks import extents
from .sizes import nested_splits


def agree(p: RowPartition, q: RowPartition, level: int, *, outermost: bool) -> None:
    """Raise unless two partitions that meet on axis ``level`` are equal, as far as can be known."""
    if p.splits is q.splits:
        return
    k = kernels(p.splits)
    if outermost and p.nrows != q.nrows:
        raise ValueError(error_text(f"{p.nrows} rows along axis {level}", f"{q.nrows}", "Align the rows first."))
    if k.is_concrete(p.splits, q.splits):
        _compare(k.host(p.splits), k.host(q.splits), level)
    elif k.checking():
        n = min(p.nrows, q.nrows)
        a, b = (namespace(s).concat((s[1 : n + 1] - s[:n], s[-1:] - s[n : n + 1])) for s in (p.splits, q.splits))
        _check(a, b, level)


def agree_levels(
    first: tuple[Partition, ...], other: tuple[Partition, ...], differ: Exception | Callable[[int], Exception]
) -> None:
    """Raise unless two stacks of rows and uniform levels divide entries alike, as far as can be known.

    ``differ``, perhaps a function of the axis, is the error where they differ in kind or in a static size. Entries
    below a ragged axis may outnumber those in use, so only above the first one must there be as many in both.
    """
    for axis, (p, q) in enumerate(zip(levels_only(first), levels_only(other), strict=True), start=1):
        outermost = is_uniform(first[: axis - 1])
        if isinstance(p, RowPartition) and isinstance(q, RowPartition):
            agree(p, q, axis, outermost=outermost)
        elif p.axes != q.axes or (outermost and p.nrows != q.nrows):
            raise differ if isinstance(differ, Exception) else differ(axis)


def agree_partitions(
    first: tuple[Partition, ...], other: tuple[Partition, ...], differ: Exception | Callable[[int], Exception]
) -> None:
    """The same where both may end in a block of components, whose axes are of the same kind."""
    *above, p = first
    *others, q = other
    if isinstance(p, BlockPartition) and isinstance(q, BlockPartition):
        agree_levels(tuple(above), tuple(others), differ)
        for axis, (m, n) in enumerate(zip(extents(p), extents(q), strict=True), start=len(first)):
            agree_sizes(m, n, f"equal sizes along axis {axis}")
    else:
        agree_levels(first, other, differ)


def agree_sizes(
    a: Any, b: Any, expected: str, place: str = "at component {row}", advice: str = "Align the components first."
) -> None:
    """Raise unless components have equal sizes along an axis, ints or one for each, as far as can be known."""
    if a is b:
        return
    k = kernels(a if isinstance(b, int) else b)
    if k.is_concrete(a, b):
        known = [n if isinstance(n, int) else kernels(n).host(n) for n in (a, b)]
        same = known[0] == known[1]
        if not (same if isinstance(same, bool) else same.all()):
            row = 0 if isinstance(same, bool) else int(same.argmin())
            m, n = (n if isinstance(n, int) else int(n[0 if n.shape[0] == 1 else row]) for n in known)
            raise ValueError(error_text(expected, f"{m} and {n} {place.format(row=row)}", advice))
    elif k.checking():
        xp = namespace(a if isinstance(b, int) else b)
        same = a == b
        row = xp.argmin(xp.astype(same, xp.int32))
        a, b = (xp.broadcast_to(xp.asarray(n), same.shape)[row] for n in (a, b))
        k.check(xp.all(same), error_text(expected, f"{{a}} and {{b}} {place}", advice), a=a, b=b, row=row)


def agree_lengths(p: RowPartition, lengths: Array, level: int) -> Any:
    """The same for the row lengths of an operand that is stretched over the rows of ``p``; True, or a traced bool.

    These lengths were worked out anyway, so that the result can be spoiled where nothing can raise.
    """
    k = kernels(p.splits)
    if k.is_concrete(p.splits, lengths):
        host = k.host(p.splits)
        _same_lengths((host[1:] - host[:-1]).tolist(), k.host(lengths).tolist(), level)
        return True
    if k.checking():
        _check(p.lengths, lengths, level)
    return namespace(lengths).all(p.lengths == lengths)


def _check(a: Array, b: Array, level: int) -> None:
    if not a.shape[0]:
        return
    xp = namespace(a)
    row = xp.argmax(xp.astype(a != b, xp.int32))
    text = error_text(f"equal row lengths along axis {level}", "{a} and {b} at row {row}", "Align the rows first.")
    kernels(a).check(xp.all(a == b), text, a=a[row], b=b[row], row=row)


def is_uniform(partitions: tuple[Partition, ...]) -> bool:
    """Whether no ragged axis is among them."""
    return all(isinstance(p, UniformPartition) for p in partitions)


def _compare(a: Any, b: Any, level: int) -> None:
    n = min(len(a), len(b))
    if (
        bool((a[:n] == b[:n]).all())
        and bool((a[n:] == a[-1]).all())
        and bool((b[n:] == b[-1]).all())
        and a[-1] == b[-1]
    ):
        return
    longer = max(len(a), len(b)) - 1
    _same_lengths(_lengths(a, longer), _lengths(b, longer), level)


def _same_lengths(a: list[int], b: list[int], level: int) -> None:
    if a == b:
        return
    row = next(i for i, (m, n) in enumerate(zip(a, b, strict=True)) if m != n)
    raise ValueError(
        error_text(
            f"equal row lengths along axis {level}",
            f"{a[row]} and {b[row]} at row {row}",
            "Align the rows first, or use `ra.to_padded`.",
        )
    )


def _lengths(splits: Any, count: int) -> list[int]:
    lengths: list[int] = (splits[1:] - splits[:-1]).tolist()
    return lengths + [0] * (count - len(lengths))


def written_alike(k: Kernels, structures: list[Any], levels: int) -> list[tuple[Partition, ...]]:
    """The first ``levels`` of each structure, of rows and uniform levels: one that is ragged elsewhere as splits."""
    firsts = [tuple(partitions[:levels]) for partitions in structures]
    mixed = tuple(n for n, ps in enumerate(zip(*firsts, strict=True)) if len({type(p) for p in ps}) > 1)
    if not mixed:
        return firsts
    like = next(p.splits for ps in firsts for p in ps if isinstance(p, RowPartition))
    return [k.call(_written, ps, like, at=mixed) for ps in firsts]


def _written(partitions: tuple[Partition, ...], like: Array, *, at: tuple[int, ...]) -> tuple[Partition, ...]:
    splits = nested_splits(partitions, like)
    return tuple(RowPartition(splits[n]) if n in at else p for n, p in enumerate(partitions))


def cut(partitions: tuple[Partition, ...], sizes: tuple[int, ...]) -> tuple[Partition, ...]:
    """Partitions over fewer entries: ``sizes`` at each level. Splits stay true: what no longer fits is an overflow."""
    new: list[Partition] = []
    for i, p in enumerate(levels_only(partitions)):
        if isinstance(p, UniformPartition):
            new.append(UniformPartition(sizes[i], p.length))
        else:
            new.append(p if p.nrows == sizes[i] else kernels(p.splits).call(_cut_splits, p.splits, nrows=sizes[i]))
    return tuple(new)


def _cut_splits(splits: Array, *, nrows: int) -> RowPartition:
    return RowPartition(splits[: nrows + 1])
