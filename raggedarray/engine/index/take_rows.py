"""Rows by index in an order that data decides: how many entries they need, and the static sizes they get.

The size is exact on NumPy. On JAX it is that of ``x`` where that is enough, else ``bucket_size`` of what is
needed; where that cannot be read, rows that may repeat need ``capacity=``.
"""

from typing import Any

from ..._array import RaggedArray
from ..._errors import OP, DynamicShapeError, error_text
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from ..._typing import Array
from ...backends import Kernels, Segments, backend, generic, implementation, kernels, namespace
from ...structure.agreement import agree_levels
from ...structure.levels import needed_entries, splits_of, take_rows
from ..arguments import level_sizes
from ..bucket_size import bucket_size
from ..indices import widened
from ..overflow import check_capacity, fill_unless
from ..unbind import host_partitions

Capacity = int | tuple[int, ...] | None


def taken_rows(
    x: RaggedArray, rows: Array, known: Any, capacity: Capacity, *, exist: bool = False, order: bool = False
) -> RaggedArray:
    """Rows by index; ``known`` are the same indices on the host, or None where they are traced.

    ``exist`` says that all of them were checked, ``order`` that they may be taken to be rows in another order.
    """
    sizes: tuple[int, ...] = ()
    ok: Any = True
    if not (exist and x.kernels.has_exact_sizes):
        sizes, ok = capacities(x, rows, known, capacity, order=order)
    values, partitions = x.kernels.call(take_body, x.values, x.partitions, rows, sizes=sizes, ok=ok, known=exist)
    return RaggedArray(values, partitions)


def capacities(
    x: RaggedArray, rows: Array, known: Any, capacity: Capacity, *, order: bool = False
) -> tuple[tuple[int, ...], Any]:
    """Static sizes of the levels below axis 0, and whether the rows fit them."""
    k, counts = x.kernels, entry_counts(x.partitions, x.capacity)[1:]
    readable = known is not None and k.is_concrete(x.partitions)
    if capacity is None and not readable:
        if known is not None and len(set(known.tolist())) == known.size:
            return counts, True  # no row twice, so they fit where they were
        if not order:
            op = "take" if OP.get() == "getitem" else OP.get()
            advice = f"Call `ra.{op}(x, indices, capacity=)`."
            raise DynamicShapeError(error_text("a static capacity", "traced rows or lengths", advice))
        capacity = counts
    if readable:
        host = backend("numpy")
        need: Any = [int(n) for n in needed_entries(host_partitions(x), host.index(known))]
    else:
        need = k.call(needed_entries, x.partitions, rows)
    if capacity is None:
        return tuple(
            m if k.has_exact_sizes else n if m <= n else bucket_size(m) for m, n in zip(need, counts, strict=True)
        ), True
    given = level_sizes(capacity, x.ragged_rank)
    sizes = (*(max(n, given) for n in counts[:-1]), given) if isinstance(given, int) else given
    ok: Any = True
    for p, n, m in zip(x.partitions, sizes, need, strict=True):
        if isinstance(p, RowPartition):
            ok = ok & check_capacity(m, n, "capacity", "capacity=")
    return sizes, ok


def take_body(
    values: Array, partitions: Any, rows: Array, *, sizes: tuple[int, ...], ok: Any, known: bool = False
) -> Any:
    """Rows by index, within static sizes. ``known``: all of them exist."""
    if known and kernels(values).has_exact_sizes:
        return _packed(values, partitions, rows)
    values, new = take_rows(values, partitions, rows, sizes)
    return fill_unless(values, ok), new


def _packed(values: Array, partitions: tuple[Partition, ...], rows: Array) -> Any:
    """The same at exact sizes, for rows that exist: no slack to look after, a third of the time on NumPy."""
    xp, k = namespace(rows), kernels(rows)
    new: tuple[Partition, ...] = ()
    for level, p in enumerate(levels_only(partitions), start=1):
        count = rows.shape[0]
        if isinstance(p, UniformPartition):
            new = (*new, UniformPartition(count, p.length))
            inside = xp.arange(p.length, dtype=rows.dtype)
            rows = xp.reshape(rows[:, None] * p.length + inside[None, :], (-1,))
            continue
        made = RowPartition(splits_of(xp.take(p.lengths, rows, axis=0)))
        starts = xp.take(p.splits[:-1], rows, axis=0)
        if level == len(partitions):
            return implementation(k, generic.take_runs)(values, starts, made.splits), (*new, made)
        begin = starts - made.splits[:-1]
        size = k.bound(made.splits[-1], 0)
        begin = implementation(k, generic.spread)(xp.astype(begin, xp.int64), Segments(count, splits=made.splits), size)
        begin += xp.arange(size, dtype=xp.int64)  # its own buffer: a second one costs as much as the sum
        rows, new = begin, (*new, made)
    return xp.take(values, rows, axis=0), new


def known_rows(k: Kernels, nrows: int, given: Array, used: Any = None) -> Any:
    """The indices on the host, checked (the first ``used`` of them); None where they are traced."""
    if not kernels(given).is_concrete(given):
        if k.checking() and used is None and given.shape[0]:
            given, xp = widened(given), namespace(given)
            text = error_text(f"rows from {-nrows} to {nrows - 1}", "{low} to {high}", "Check `len(x)`.")
            low, high = xp.min(given), xp.max(given)
            k.check((low >= -nrows) & (high < nrows), text, low=low, high=high)
        return None
    known = kernels(given).host(given)
    if not known.size:
        return backend("numpy").index(known)
    low, high = int(known.min()), int(known.max())
    if low < -nrows or high >= nrows:
        bad = ((known < -nrows) | (known >= nrows))[:used].nonzero()[0]
        if bad.size:
            got = f"{known[bad[0]]} at position {bad[0]}"
            raise IndexError(error_text(f"rows from {-nrows} to {nrows - 1}", got, "Check `len(x)`."))
    known = backend("numpy").index(known)
    return known if low >= 0 and high < nrows else known % max(nrows, 1)


def normal_rows(rows: Array, *, nrows: int) -> Array:
    xp = namespace(rows)
    rows = xp.where(rows < 0, rows + nrows, rows)
    return xp.where((rows < 0) | (rows >= nrows), xp.asarray(nrows, dtype=rows.dtype), rows)


def agree_above(x: RaggedArray, y: RaggedArray, level: int) -> None:
    """Raise unless two arrays have the same entries at ``level``, as far as can be known."""
    if x.nrows != y.nrows:
        raise ValueError(error_text(f"{x.nrows} rows", f"{y.nrows}", "Align the rows first."))

    def differ(axis: int) -> ValueError:
        got = f"{x.shape[axis]} and {y.shape[axis]}"
        return ValueError(error_text(f"the same entries along axis {axis}", got, "Align the rows first."))

    agree_levels(x.partitions[:level], y.partitions[:level], differ)
