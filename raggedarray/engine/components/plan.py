"""Plans of how components of many shapes are padded to few: made once from sizes, then static."""

from dataclasses import dataclass, field
from math import prod
from typing import Any

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text, named
from ..._typing import Array
from ...backends import kernels, kind, register
from ..bucket_size import bucket_size
from ..host import host_namespace
from .form import form_of

__all__ = ["BucketPlan"]


@dataclass(frozen=True)
class BucketPlan:
    """Buckets of padded components, for functions of single components under jit: static and hashable.

    Make one outside jit with `BucketPlan.make` from operands, or with `from_sizes`. A function that is compiled with
    it, closed over or passed as an argument, works on any later batch that the buckets hold, without compiling again.

    Each component goes into the smallest bucket that it fits and that has a place left, in order. A batch that the
    buckets cannot hold is an error: it raises, or under plain jit gives NaN.

    buckets
        For each bucket the sizes along the ragged axes of all operands, one after the other, and how many places it
        has; smallest first.
    groups
        How many of the axes belong to each operand.
    waste
        Share of padding among the elements of all places, for the sizes that the plan was made from.

    >>> x = ragged([np.ones((2, 3)), np.ones((4, 4)), np.ones((3, 2))])
    >>> plan = BucketPlan.make(x, headroom=0.0, max_buckets=1)
    >>> plan.buckets, f"{plan.waste:.2f}"
    ((((4, 4), 3),), '0.42')
    """

    buckets: tuple[tuple[tuple[int, ...], int], ...]
    groups: tuple[int, ...]
    waste: float = field(default=0.0, compare=False)

    @staticmethod
    @named("BucketPlan.make")
    def make(*xs: Any, headroom: float = 2.0, max_buckets: int = 24, mantissa_bits: int = 1) -> "BucketPlan":
        """A plan for functions of these operands; plain arrays among them need none.

        Sizes are rounded up to those of `bucket_size` with ``mantissa_bits``, and buckets merged, where that pads
        least, until at most ``max_buckets`` are left. A bucket that ``c`` components of this batch fall into gets
        ``c + headroom * sqrt(c)`` places: so many standard deviations of a random batch.
        """
        forms = [form_of(x) for x in xs if isinstance(x, RaggedArray)]
        if not forms:
            raise TypeError(error_text("a RaggedArray", "none", "Pass the operands."))
        return BucketPlan.from_sizes(
            *(f.block.sizes for f in forms), headroom=headroom, max_buckets=max_buckets, mantissa_bits=mantissa_bits
        )

    @staticmethod
    @named("BucketPlan.from_sizes")
    def from_sizes(*sizes: Array, headroom: float = 2.0, max_buckets: int = 24, mantissa_bits: int = 1) -> "BucketPlan":
        """The same from the sizes of each operand's components along its ragged axes: ``int[n, R]``."""
        table, groups = _joined(sizes)
        if not 0 <= headroom < 1 << 31 or max_buckets < 1:
            want, got = "headroom >= 0 and max_buckets >= 1", f"{headroom} and {max_buckets}"
            raise ValueError(error_text(want, got, "Pass such numbers."))
        rounded = [[bucket_size(n, mantissa_bits=mantissa_bits, minimum=1) for n in row] for row in table.tolist()]
        counts: dict[tuple[int, ...], int] = {}
        for row in rounded:
            counts[tuple(row)] = counts.get(tuple(row), 0) + 1
        merged = _merge(counts, groups, max_buckets)
        places = [(shape, n + round(headroom * n**0.5 + 0.499)) for shape, n in merged]
        places.sort(key=lambda b: (_volume(b[0], groups), b[0]))
        plan = BucketPlan(tuple(places), groups)
        return BucketPlan(plan.buckets, groups, plan._waste(table))

    @property
    def places(self) -> int:
        """Places of all buckets."""
        return sum(n for _, n in self.buckets)

    @named("BucketPlan.padding_waste")
    def padding_waste(self, *xs: Any) -> float:
        """Share of padding among the elements of all places, for this batch (readable, not under jit)."""
        sizes = [form_of(x).block.sizes for x in xs if isinstance(x, RaggedArray)]
        table, groups = _joined(sizes)
        if groups != self.groups:
            got = f"{groups}"
            want = f"operands with {self.groups} ragged axes"
            raise ValueError(error_text(want, got, "Pass those of the plan."))
        return self._waste(table)

    def _waste(self, table: Any) -> float:
        total = sum(n * _volume(shape, self.groups) for shape, n in self.buckets)
        used, start = 0, 0
        for width in self.groups:
            used += int(table[:, start : start + width].prod(axis=1).sum())
            start += width
        return 1 - used / total if total else 0.0


register(BucketPlan, static=True)


def _joined(sizes: Any) -> tuple[Any, tuple[int, ...]]:
    """Sizes of all operands side by side, on the host."""
    hx = host_namespace()
    tables: list[Any] = []
    for i, s in enumerate(sizes):
        s = s if hasattr(s, "shape") else hx.asarray(s)
        if not kernels(s).is_concrete(s):
            raise DynamicShapeError(error_text("sizes that can be read", "traced ones", "Make the plan outside jit."))
        table = kernels(s).host(s).astype("int64")
        if kind(s.dtype) not in ("int", "uint") or (table < 0).any():
            got = f"dtype {s.dtype}" if kind(s.dtype) not in ("int", "uint") else f"{int(table.min())}"
            raise ValueError(error_text("integer sizes of 0 or more", got, "Pass sizes of components."))
        if table.ndim != 2:
            raise ValueError(error_text("sizes of shape (n, R)", f"{table.shape}", "Pass a row for each component."))
        if tables and table.shape[0] != tables[0].shape[0]:
            want, got = f"{tables[0].shape[0]} components", f"{table.shape[0]} in operand {i}"
            raise ValueError(error_text(want, got, "Pass one component for each."))
        tables.append(table)
    return hx.concat(tables, axis=1), tuple(t.shape[1] for t in tables)


def _volume(shape: tuple[int, ...], groups: tuple[int, ...]) -> int:
    """Elements of one component of each operand."""
    total, start = 0, 0
    for width in groups:
        size = prod(shape[start : start + width])
        total, start = total + size, start + width
    return total


def _merge(
    of_shape: dict[tuple[int, ...], int], groups: tuple[int, ...], limit: int
) -> list[tuple[tuple[int, ...], int]]:
    """Buckets until there are few: each time the two whose union adds the least padding."""
    hx = host_namespace()
    shapes = hx.asarray(list(of_shape), dtype="int64").reshape(len(of_shape), sum(groups))
    counts = hx.asarray(list(of_shape.values()), dtype="int64")
    while len(shapes) > limit:
        both = hx.maximum(shapes[:, None, :], shapes[None, :, :])
        one = _volumes(shapes, groups) * counts
        cost = _volumes(both, groups) * (counts[:, None] + counts[None, :]) - one[:, None] - one[None, :]
        cost = hx.where(hx.eye(len(shapes), dtype=bool), cost.max() + 1, cost)
        i, j = divmod(int(cost.argmin()), len(shapes))
        shapes[i], counts[i] = both[i, j], counts[i] + counts[j]
        keep = hx.arange(len(shapes)) != j
        shapes, counts = shapes[keep], counts[keep]
    total: dict[tuple[int, ...], int] = {}
    for shape, n in zip(shapes.tolist(), counts.tolist(), strict=True):
        total[tuple(shape)] = total.get(tuple(shape), 0) + n
    return list(total.items())


def _volumes(shapes: Any, groups: tuple[int, ...]) -> Any:
    total, start = 0, 0
    for width in groups:
        total, start = total + shapes[..., start : start + width].prod(axis=-1), start + width
    return total
