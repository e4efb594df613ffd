"""Functions of components, for components of like shapes at a time.

Components are read into dense stacks, a stack a bucket, by address; a function of stacks is applied; what it gives
is put back end to end. Where sizes can be read, a bucket holds the components of one shape (``exact``), or of shapes
that round up to one (``padded``). Where they are traced, a `BucketPlan` says which buckets there are, and components
are assigned to them at run time: a component that is smaller than its bucket has zeros behind its end.
"""

from collections.abc import Callable
from math import prod
from typing import Any

from ..._errors import DynamicShapeError, error_text
from ..._partition import BlockPartition
from ..._typing import Array
from ...backends import Kernels, Segments, kernels, namespace
from ...structure.blocks import starts
from ..arguments import sizes_of
from ..bucket_size import bucket_size
from ..host import host_namespace
from ..overflow import check_capacity, fill_unless
from .form import Form, Sizes, block_axes, block_of_sizes, packed_like, reassemble, used_components
from .plan import BucketPlan
from .shape_inference import READ
from .stacks import Body, assign, each_of, pack_results, work_on

Rule = Callable[[list[Sizes]], list[Sizes]]
"""Sizes of the results from the sizes of the operands: an entry that is an int is a uniform axis."""

MAX_EXACT_SHAPES = 16
"""Shapes up to which components are worked on shape by shape, where both ways are possible."""


class Work:
    """One application of a function to all components."""

    def __init__(
        self,
        body: Body,
        forms: list[Form],
        rule: Rule,
        *,
        extras: tuple[Array, ...] = (),
        shapes: Callable[[tuple[int, ...]], tuple[tuple[int, ...], ...]] | None = None,
        bucket: Any = None,
        capacity: int | None = None,
        inline: bool = False,
        whole: bool = False,
        views: bool = True,
        static: tuple[tuple[str, Any], ...] = (),
    ) -> None:
        self.body, self.forms, self.rule = body, tuple(forms), rule
        self.extras, self.bucket, self.static = extras, bucket, static
        self.capacity: int | None = None if capacity is None else sizes_of(capacity)
        self.inline = inline
        """Whether the body is the user's, of which no compiled program is kept."""
        self.whole = whole
        """Whether every ragged axis is read to one size, so that all components are one bucket."""
        self.views = views
        """Whether components are read at their own sizes."""
        self._check_bucket()
        self.k: Kernels = kernels(forms[0].values)
        self.shapes = self._padded if shapes is None else shapes
        self.sizes = [f.sizes for f in forms]
        self.ok: Any = True
        self.keys: list[tuple[int, ...]] = []
        """Sizes along the ragged axes that each bucket was made for, where they can be read."""
        self.which: list[int] = []
        """The bucket of each component, where sizes can be read."""
        self.result_shapes: list[list[tuple[int, ...]]] = []
        """Shapes of the results for a component of each bucket."""

    def _padded(self, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        each = iter(sizes)
        return tuple(tuple(next(each) if n is None else n for n in f.block.axes) for f in self.forms)

    def _check_bucket(self) -> None:
        bucket = self.bucket
        if isinstance(bucket, BucketPlan):
            need = tuple(f.columns for f in self.forms if f.columns)
            have = tuple(n for n in bucket.groups if n)
            if need != have and not self.whole:
                want, got = f"a plan for {need} ragged axes of the operands", f"one for {have}"
                advice = "Make it of the same operands, with `ra.BucketPlan.make`."
                raise ValueError(error_text(want, got, advice))
        elif bucket is not None and bucket not in ("exact", "padded"):
            want = "bucket 'exact', 'padded' or a BucketPlan"
            raise ValueError(error_text(want, repr(bucket), "Pass `bucket=` one of these."))

    def run(self) -> list[Any]:
        """The results, put together."""
        tables = tuple(f.block.sizes for f in self.forms)
        known = self.k.is_concrete(tables)
        bucket = self.bucket
        if self.whole:
            n, like = self.forms[0].block.nrows, tables[0]
            order = namespace(like).arange(n, dtype=like.dtype)
            return self._finish((((0,) * sum(f.columns for f in self.forms), n),), [order], order, True)
        if isinstance(bucket, BucketPlan):
            return self._planned(bucket, tables)
        if not known:
            advice = "Pass `bucket=`, a `ra.BucketPlan` made outside jit."
            raise DynamicShapeError(error_text("sizes that can be read", "traced ones", advice))
        hx = host_namespace()
        table = hx.concat([kernels(t).host(t).astype("int64") for t in tables], axis=1)
        used = used_components(self.forms[0])
        table = table[: int(used), :]
        if not table.shape[0]:
            table = table[:0, :]
        keys, which = _distinct(table)
        if bucket is None:
            bucket = "exact" if self.k.has_exact_sizes or len(keys) <= MAX_EXACT_SHAPES else "padded"
        if bucket == "exact" and self.views and self.k.has_exact_sizes and table.shape[0]:
            return self._views(keys, which)
        if bucket == "padded":
            rounded = [tuple(bucket_size(n, mantissa_bits=0, minimum=1) for n in key) for key in keys]
            found = sorted(set(rounded))
            of_key = [found.index(r) for r in rounded]
            which, keys = [of_key[w] for w in which], found
        members: list[list[int]] = [[] for _ in keys]
        for i, w in enumerate(which):
            members[w].append(i)
        n = self.forms[0].block.nrows
        exact = bucket == "exact"
        self.keys, self.which = keys, which
        if not keys:  # a component that is missing, to learn what results look like
            keys, members, exact = [(1,) * table.shape[1]], [[n]], False
            self.keys = keys
        buckets, index = [], []
        for key, mine in zip(keys, members, strict=True):
            count = len(mine) if exact else bucket_size(len(mine), mantissa_bits=0, minimum=1)
            buckets.append((key, count))
            index.append(mine + [n] * (count - len(mine)))
        place = [sum(c for _, c in buckets)] * n
        flat = [i for mine in index for i in mine]
        for p, i in enumerate(flat):
            if i < n:
                place[i] = p
        like = tables[0]
        to_index = namespace(like).asarray
        at = [to_index(mine, dtype=like.dtype) for mine in index]
        return self._finish(tuple(buckets), at, to_index(place, dtype=like.dtype), exact)

    def _planned(self, plan: BucketPlan, tables: tuple[Array, ...]) -> list[Any]:
        used = used_components(self.forms[0])
        place, members, missing = kernels(tables[0]).call(_assigned, tables, used, buckets=plan.buckets)
        k = kernels(missing)
        if k.is_concrete(missing) and int(missing) > 0:
            raise ValueError(self._overflow(f"{int(missing)}"))
        if not k.is_concrete(missing):
            self.ok = missing == 0
            if k.checking():
                k.check(self.ok, self._overflow("{missing}"), missing=missing)
        at, first = [], 0
        for _, count in plan.buckets:
            at.append(members[first : first + count])
            first += count
        return self._finish(plan.buckets, at, place, False)

    def _overflow(self, missing: str) -> str:
        return error_text(
            "components that the buckets hold",
            f"{missing} without a place",
            "Make the plan of a larger batch, or with more by `ra.BucketPlan.make(x, headroom=)`.",
        )

    def _finish(self, buckets: Any, members: list[Array], place: Array, exact: bool) -> list[Any]:
        values, blocks = tuple(f.values for f in self.forms), tuple(f.block for f in self.forms)
        made: list[list[Array]] = []
        for (sizes, _), mine in zip(buckets, members, strict=True):
            static: dict[str, Any] = {"shapes": self.shapes(sizes), "exact": exact}
            static |= {"body": self.body, "options": self.static}
            args = (values, blocks, mine, self.extras)
            made.append(work_on(*args, **static) if self.inline else self.k.call(work_on, *args, **static))
        self.result_shapes = [[tuple(part.shape[1:]) for part in parts] for parts in made]
        rules = self._rules([key for key, _ in buckets], exact)
        return [self._collect([m[i] for m in made], sizes, place) for i, sizes in enumerate(rules)]

    def _rules(self, keys: list[tuple[int, ...]], exact: bool) -> list[Sizes]:
        """Sizes of the results; where those of single shapes can be read and are others, they are read off."""
        out = []
        at_keys = [self.rule([(*s, *f.axes[len(s) :]) for s, f in zip(self.shapes(key), self.forms, strict=True)])
                   for key in keys]  # fmt: skip
        for i, sizes in enumerate(self.rule(self.sizes)):
            want = [rule[i] for rule in at_keys]
            have = [shapes[i] for shapes in self.result_shapes]
            self._check_shapes(want, have, exact)
            as_said = [all(w[r] == h[r] for w, h in zip(want, have, strict=True)) for r in range(len(sizes))]
            out.append(
                tuple(
                    n if n is not READ and (ok or not exact) else self._read_off([h[r] for h in have])
                    for r, (n, ok) in enumerate(zip(sizes, as_said, strict=True))
                )
            )
        return out

    def _check_shapes(self, want: list[Sizes], have: list[tuple[int, ...]], exact: bool) -> None:
        for w, h in zip(want, have, strict=True):
            if len(w) != len(h) or (not exact and any(m is READ or m > n for m, n in zip(w, h, strict=True))):
                advice = "Call `ra.map_components(f, x, shape=)` with a function of the sizes."
                raise ValueError(error_text(f"a result of shape {w}", f"{h}", advice))

    def _read_off(self, of_buckets: list[int]) -> Array:
        like = self.forms[0].block.sizes
        found = [of_buckets[w] for w in self.which] + [0] * (like.shape[0] - len(self.which))
        if kernels(like).name == "jax":
            made: Array = host_namespace().asarray(found, dtype="int32")
            return made
        return namespace(like).asarray(found, dtype=like.dtype)

    def _collect(self, parts: list[Array], sizes: Sizes, place: Array) -> Any:
        first = self.forms[0]
        count = block_axes(sizes)
        if not count:
            return reassemble(first, None, fill_unless(self.k.call(each_of, parts, place), self.ok))
        twin = packed_like(sizes, self.forms, self.sizes)
        block = block_of_sizes(sizes[:count], 0, kernels(first.block.sizes)) if twin is None else twin
        places = sum(prod(p.shape[: count + 1]) for p in parts)
        bound, ok = bound_of(block, twin, places, self.capacity)
        block = block if block.bound == bound else BlockPartition(block.sizes, axes=block.axes, bound=bound)
        values = self.k.call(pack_results, parts, place, block, count=count)
        return reassemble(first, block, fill_unless(fill_unless(values, self.ok), ok), self.forms)

    def _views(self, keys: list[tuple[int, ...]], which: list[int]) -> list[Any]:
        """Component by component where data can be read and arrays sliced for free."""
        k = self.k
        xp = namespace(self.forms[0].values)
        offsets = [kernels(s).host(s).tolist() for s in (starts(f.block) for f in self.forms)]
        pieces: dict[int, list[list[Array]]] = {}
        members: list[list[int]] = [[] for _ in keys]
        for i, w in enumerate(which):
            members[w].append(i)
        self.keys, self.which = keys, which
        for key, mine in zip(keys, members, strict=True):
            shapes = self.shapes(key)
            stacks, sizes = [], []
            for form, shape, begin in zip(self.forms, shapes, offsets, strict=True):
                size = prod(shape)
                inner = tuple(form.values.shape[1:])
                views = [xp.reshape(form.values[begin[i] : begin[i] + size, ...], (1, *shape, *inner)) for i in mine]
                stacks.append(views[0] if len(views) == 1 else xp.concat(views))
                sizes.append((*shape, *inner))
            outs = self.body(k, tuple(stacks), tuple(sizes), self.extras, **dict(self.static))
            self.result_shapes.append([tuple(o.shape[1:]) for o in outs])
            for i, results in zip(mine, zip(*(_unstack(o) for o in outs), strict=True), strict=True):
                pieces[i] = list(results)
        rules = self._rules(keys, True)
        return [self._joined([pieces[i][j] for i in range(len(which))], sizes) for j, sizes in enumerate(rules)]

    def _joined(self, pieces: list[Array], sizes: Sizes) -> Any:
        xp, first = namespace(pieces[0]), self.forms[0]
        count = block_axes(sizes)
        if not count:
            missing = first.block.nrows - len(pieces)
            return reassemble(first, None, xp.stack([*pieces, *([xp.zeros_like(pieces[0])] * missing)]))
        inner = pieces[0].shape[count:]
        values = xp.concat([xp.reshape(p, (prod(p.shape[:count]), *inner)) for p in pieces])
        if self.capacity is not None:
            check_capacity(values.shape[0], self.capacity, "a capacity", "capacity=")
        twin = packed_like(sizes, self.forms, self.sizes)
        block = block_of_sizes(sizes[:count], values.shape[0], kernels(first.block.sizes)) if twin is None else twin
        if block.bound != values.shape[0]:
            block = BlockPartition(block.sizes, axes=block.axes, bound=values.shape[0])
        return reassemble(first, block, values, self.forms)


def _unstack(stack: Array) -> list[Array]:
    return [stack[i, ...] for i in range(stack.shape[0])]


def bound_of(block: BlockPartition, twin: Any, limit: int | None, capacity: int | None) -> tuple[int, Any]:
    """Capacity of a packed result, and whether it holds: as much as it needs, or the least of what is known."""
    k = kernels(block.sizes)
    if k.is_concrete(block.sizes):
        host = k.host(block.sizes).astype("int64")
        need = int(host.prod(axis=1).sum()) * prod(tuple(n for n in block.axes if n is not None))
        if capacity is not None:
            check_capacity(need, capacity, "a capacity", "capacity=")
            return capacity, True
        if k.has_exact_sizes:
            return need, True
        return (twin.bound if twin is not None and twin.bound >= need else bucket_size(need, minimum=1)), True
    if capacity is None:
        return (twin.bound if twin is not None or limit is None else limit), True
    return capacity, check_capacity(kernels(block.sizes).call(_need, block), capacity, "a capacity", "capacity=")


def _need(block: BlockPartition) -> Array:
    xp = namespace(block.sizes)
    total = xp.sum(xp.prod(block.sizes, axis=1, dtype=block.sizes.dtype), dtype=block.sizes.dtype)
    return total * prod(tuple(n for n in block.axes if n is not None))


def _distinct(table: Any) -> tuple[list[tuple[int, ...]], list[int]]:
    keys: dict[tuple[int, ...], int] = {}
    which = [keys.setdefault(tuple(row), len(keys)) for row in table.tolist()]
    return list(keys), which


def _assigned(tables: tuple[Array, ...], used: Any, *, buckets: Any) -> tuple[Array, Array, Array]:
    xp = namespace(tables[0])
    table = xp.concat(tables, axis=1) if len(tables) > 1 else tables[0]
    place, missing = assign(table, used, buckets)
    n, total = table.shape[0], sum(count for _, count in buckets)
    back = xp.arange(n, dtype=table.dtype) - n
    members = kernels(table).segment_reduce("sum", back, Segments(total, ids=place)) + n
    return place, members, missing
