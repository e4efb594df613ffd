"""Windows that slide along an axis and stop at its ends: what `conv1d` and the pools share.

    rows        [a b c d e], [], [f g]      size 3, stride 1
    SAME        -ab abc bcd cde de-   -fg fg-       as many windows as elements; `-` is padding
    CAUSAL      --a -ab abc bcd cde   --f -fg       a window ends at its element
    VALID       abc bcd cde                         no padding: a row shorter than the window has none

Every row is padded by itself, by its own length where the stride makes that differ, so that no window holds
elements of two rows. With stride 1 the elements of all windows at one place (a tap) are a shifted slice of the
flat values, masked where it crosses the end of a row; with a longer stride they are read by one gather.
"""

from typing import Any, NamedTuple

from .._array import RaggedArray
from .._errors import error_text
from .._partition import Partition, RowPartition
from .._typing import Array
from ..backends import kernels, namespace
from ..engine.arguments import sizes_of
from ..structure.levels import column, parents, positions, splits_of

UNROLLED = 16
"""Larger windows are read by one gather whatever their stride: a program of that many slices compiles for long."""

FARTHEST = 2**30
"""The largest stride and extent: sums of one and a length fit in 32 bits."""


class Window(NamedTuple):
    """What slides (static)."""

    size: int
    stride: int = 1
    dilation: int = 1
    padding: str = "VALID"

    @property
    def extent(self) -> int:
        """Elements from the first of a window to its last."""
        return (self.size - 1) * self.dilation + 1

    def count(self, length: Any) -> Any:
        """How many windows a row of this length has: of an int, or of an array of them."""
        if self.padding != "VALID":
            return -(-length // self.stride)  # adding to a length might not fit
        full = (length - self.extent) // self.stride + 1
        if isinstance(length, int):
            return max(full, 0)
        return namespace(full).maximum(full, namespace(full).zeros_like(full))

    def before(self, length: Any) -> Any:
        """Padding in front of a row of this length."""
        if self.padding == "VALID":
            return 0
        if self.padding == "CAUSAL":
            return self.extent - 1
        if self.stride == 1:
            return (self.extent - 1) // 2
        total = (self.count(length) - 1) * self.stride - length + self.extent
        if isinstance(length, int):
            return max(total, 0) // 2
        return namespace(total).maximum(total, namespace(total).zeros_like(total)) // 2

    def limit(self, slots: int, nrows: int) -> int:
        """The most windows that rows in so many slots can have."""
        if self.padding != "VALID":
            return min(slots, (slots + min(nrows, slots) * (self.stride - 1)) // self.stride)
        if self.extent >= self.stride:  # one long row has the most
            return max((slots - self.extent) // self.stride + 1, 0) if nrows else 0
        rows = min(nrows, slots // self.extent)
        return (slots - rows * self.extent) // self.stride + rows if rows else 0

    @property
    def keeps(self) -> bool:
        """Whether every row keeps its length."""
        return self.stride == 1 and (self.padding != "VALID" or self.extent == 1)


def window(size: Any, stride: Any, dilation: Any, padding: Any) -> Window:
    """A checked `Window`."""
    size, stride, dilation = (sizes_of(n) for n in (size, stride, dilation))
    for name, n in (("window size", size), ("stride=", stride), ("dilation=", dilation)):
        if n < 1:
            raise ValueError(error_text(f"a {name} of at least 1", f"{n}", "Pass a positive int."))
    if max(stride, size, (size - 1) * dilation + 1) > FARTHEST:
        got = f"size {size}, stride {stride} and dilation {dilation}"
        raise ValueError(error_text(f"windows and strides of at most {FARTHEST}", got, "Pass smaller ones."))
    if padding not in ("SAME", "VALID", "CAUSAL"):
        raise ValueError(error_text("padding='SAME', 'VALID' or 'CAUSAL'", repr(padding), "Pass one of these."))
    return Window(size, stride, dilation, padding)


def with_rows_of(x: RaggedArray, values: Array, splits: Array | None) -> RaggedArray:
    """Values in rows of other lengths (None: the same) below the other levels of ``x``."""
    outer: tuple[Partition, ...] = x.partitions[:-1]
    return RaggedArray(values, x.partitions if splits is None else (*outer, RowPartition(splits)))


class Taps(NamedTuple):
    """The elements of all windows, and which of them are elements of the row.

    Either ``each`` holds ``size`` arrays ``[windows, *item]``, and ``known`` as many masks, or ``every`` is one array
    ``[windows, size, *item]`` and ``inside`` one mask. ``pick`` is the window of each result: None where there are
    exactly as many, else an index for `Kernels.pick`.
    """

    splits: Array | None
    pick: Array | None = None
    each: tuple[Array, ...] = ()
    known: tuple[Array, ...] = ()
    every: Array | None = None
    inside: Array | None = None

    def finish(self, out: Array) -> Array:
        """One item per window to the result's slots."""
        return out if self.pick is None else kernels(out).pick(out, self.pick)

    def places(self) -> tuple[Array, ...]:
        """An array for each place of a window."""
        if self.every is None:
            return self.each
        return tuple(self.every[:, j, ...] for j in range(self.every.shape[1]))

    def elements(self) -> Array:
        """How many elements each window has, at least 1."""
        xp = namespace(self.known[0] if self.inside is None else self.inside)
        if self.inside is None:
            n = xp.astype(self.known[0], xp.int32)
            for a in self.known[1:]:
                n = n + xp.astype(a, xp.int32)
        else:
            n = xp.sum(xp.astype(self.inside, xp.int32), axis=1, dtype=xp.int32)
        return xp.where(n > 0, n, xp.ones_like(n))


def taps(v: Array, p: RowPartition, w: Window, fill: Any) -> Taps:
    """Windows along rows that lie end to end in ``v``: ``[capacity, *item]``; ``fill`` stands for padding."""
    xp, k = namespace(v), kernels(v)
    partition = None if w.keeps else RowPartition(splits_of(w.count(p.lengths)))
    nothing = xp.asarray(fill, dtype=v.dtype)
    if w.stride == 1 and w.size <= UNROLLED:
        each, valid = _shifted(v, p, w, nothing)
        kept = None if partition is None else _kept(p, partition, v, w)
        return Taps(None if partition is None else partition.splits, kept, tuple(each), tuple(valid))
    rows = p if partition is None else partition
    size = v.shape[0] if partition is None else k.bound(partition.splits[-1], w.limit(v.shape[0], p.nrows))
    row = parents(rows, size, rows.splits)
    starts, lengths = k.pick(p.splits[:-1], row), k.pick(p.lengths, row)
    first = positions(rows, row) * w.stride - w.before(lengths)
    if w.size <= UNROLLED:
        return _gathered(v, p, w, nothing, rows.splits, (row, starts, lengths, first))
    at = first[:, None] + w.dilation * xp.arange(w.size, dtype=first.dtype)[None, :]
    inside = (row < p.nrows)[:, None] & (at >= 0) & (at < lengths[:, None])
    index = xp.where(inside, starts[:, None] + at, xp.asarray(v.shape[0], dtype=at.dtype))
    every = xp.reshape(k.pick(v, xp.reshape(index, (-1,))), (size, w.size, *v.shape[1:]))
    if fill:
        every = xp.where(xp.reshape(inside, (size, w.size, *(1,) * (v.ndim - 1))), every, nothing)
    return Taps(None if partition is None else partition.splits, every=every, inside=inside)


def _gathered(v: Array, p: RowPartition, w: Window, nothing: Array, splits: Array, at: tuple[Array, ...]) -> Taps:
    xp, k = namespace(v), kernels(v)
    row, starts, lengths, first = at
    missing = xp.asarray(v.shape[0], dtype=starts.dtype)
    if k.has_exact_sizes:  # the zero that a missing index gives, once for all taps
        v = xp.concat((v, xp.zeros((1, *v.shape[1:]), dtype=v.dtype)))
    each, valid = [], []
    for j in range(w.size):
        slot = first + j * w.dilation
        inside = (row < p.nrows) & (slot >= 0) & (slot < lengths)
        tap = k.pick(v, xp.where(inside, starts + slot, missing))
        each.append(xp.where(column(inside, tap), tap, nothing))
        valid.append(inside)
    return Taps(splits, None, tuple(each), tuple(valid))


def _shifted(v: Array, p: RowPartition, w: Window, nothing: Array) -> tuple[list[Array], list[Array]]:
    xp, k = namespace(v), kernels(v)
    n = v.shape[0]
    first = -w.before(0)
    before, after = min(-first, n), min(w.extent - 1 + first, n)
    ids = k.row_ids(p.splits, n)
    used = ids < p.nrows

    def around(a: Array, edge: Array) -> Array:
        return xp.concat(
            [xp.broadcast_to(edge, (before, *a.shape[1:])), a, xp.broadcast_to(edge, (after, *a.shape[1:]))]
        )

    wide, padded_ids = around(v, nothing), around(ids, xp.asarray(-1, dtype=ids.dtype))
    each, valid = [], []
    for shift in range(first, first + w.extent, w.dilation):
        j = min(max(shift, -n), n) + before  # farther away there is but padding
        inside = (padded_ids[j : j + n] == ids) & used
        each.append(xp.where(column(inside, v), wide[j : j + n, ...], nothing))
        valid.append(inside)
    return each, valid


def _kept(p: RowPartition, partition: RowPartition, v: Array, w: Window) -> Array:
    """Slot at which each window begins; one past the last in slack."""
    xp, k = namespace(partition.splits), kernels(partition.splits)
    size = k.bound(partition.splits[-1], w.limit(v.shape[0], p.nrows))
    row = parents(partition, size, partition.splits)
    index = k.pick(p.splits[:-1], row) + positions(partition, row)
    return xp.where(row < p.nrows, index, xp.asarray(v.shape[0], dtype=index.dtype))


def dense_taps(v: Array, axis: int, w: Window, fill: Any) -> tuple[list[Array], list[int]]:
    """The same along a uniform axis, and how many elements each window has; taps that see but padding are left out."""
    xp, length = namespace(v), v.shape[axis]
    count, first = w.count(length), -w.before(length)
    key = [slice(None)] * v.ndim
    if not count:
        key[axis] = slice(0, 0)
        return [v[tuple(key)]], []
    last = (count - 1) * w.stride  # where the last window begins, but for padding
    shifts = [i for i in range(max(first, -last), min(first + w.extent, length)) if (i - first) % w.dilation == 0]
    before, after = max(-shifts[0], 0), max(shifts[-1] + last + 1 - length, 0)
    edge = xp.asarray(fill, dtype=v.dtype)
    shape = [(*v.shape[:axis], n, *v.shape[axis + 1 :]) for n in (before, after)]
    wide = xp.concat([xp.broadcast_to(edge, shape[0]), v, xp.broadcast_to(edge, shape[1])], axis=axis)
    each, sizes = [], [0] * count
    for i in shifts:
        key[axis] = slice(i + before, i + before + last + 1, w.stride)
        each.append(wide[tuple(key)])
        sizes = [n + (0 <= at * w.stride + i < length) for at, n in enumerate(sizes)]
    return each, sizes
