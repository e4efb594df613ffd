"""Functions of components, for components of like shapes at a time.

Components are read into dense stacks, a stack a bucket; a function of stacks is applied; what it gives is put back end
to end. Where sizes can be read, a bucket holds the components of one shape (``exact``), or of shapes that round up to
one (``padded``). Where they are traced, a `BucketPlan` says which buckets there are, and components are assigned to
them at run time: a component that is smaller than its bucket has zeros behind its end.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ..._errors import DynamicShapeError, error_text
from ..._typing import Array
from ...backends import Segments, kernels, namespace
from ...structure.blocks import starts
from ..arguments import sizes_of
from ..bucket_size import bucket_size
from ..host import host_namespace
from .form import Form, Sizes, used_components
from .plan import BucketPlan
from .stacks import Body, Bucket, Buckets, Rule, Shapes, assign, put_back, read_all, slices, work_on

ShapesOf: TypeAlias = Callable[[tuple[int, ...]], Shapes]
"""Shapes from the sizes along all ragged axes, one operand after the other."""

MAX_EXACT_SHAPES = 16
"""Shapes up to which components are worked on shape by shape, where both ways are possible."""


class StackFunction(NamedTuple):
    """``body(stacks, sizes, *shared, **static)``: what is applied to each bucket, and what it needs beside stacks."""

    body: Body
    static: tuple[tuple[str, Any], ...] = ()
    shared: tuple[Array, ...] = ()


def apply_in_buckets(
    function: StackFunction,
    forms: tuple[Form, ...],
    rule: Rule,
    *,
    shapes: Shapes | ShapesOf | None = None,
    bucket: Any = None,
    capacity: int | None = None,
) -> list[Any]:
    """The results for all components; for ``shapes`` see `divide`."""
    buckets = divide(forms, bucket, shapes)
    body, static, shared = function
    parts: list[list[Array]] = []
    for b in buckets.each:
        if buckets.place is None:
            stacks, sizes = read_bucket(forms, buckets, b)
            parts.append(list(body(stacks, sizes, *shared, **dict(static))))
        else:
            values, blocks = tuple(f.values for f in forms), tuple(f.block for f in forms)
            options: dict[str, Any] = {"shapes": b.shapes, "exact": buckets.exact, "body": body, "options": static}
            parts.append(kernels(forms[0].values).call(work_on, values, blocks, b.members, shared, **options))
    return put_back(forms, buckets, parts, rule, None if capacity is None else sizes_of(capacity))


def read_bucket(
    forms: tuple[Form, ...], buckets: Buckets, bucket: Bucket
) -> tuple[tuple[Array, ...], tuple[Sizes, ...]]:
    """A stack of each operand, and the sizes of its components."""
    if buckets.place is None:
        return slices(forms, bucket.shapes, bucket.members, buckets.slots)
    values, blocks = tuple(f.values for f in forms), tuple(f.block for f in forms)
    return read_all(values, blocks, bucket.members, shapes=bucket.shapes, exact=buckets.exact)


def own_shapes(forms: tuple[Form, ...]) -> ShapesOf:
    """Components read at their own sizes."""

    def shapes(sizes: tuple[int, ...]) -> Shapes:
        ragged = iter(sizes)
        return tuple(tuple(next(ragged) if n is None else n for n in f.block.axes) for f in forms)

    return shapes


def divide(forms: tuple[Form, ...], bucket: Any, shapes: Shapes | ShapesOf | None = None) -> Buckets:
    """Which components are worked on together, and what they are read at.

    ``shapes`` may be other ones than their own: one for all, cut or filled, or a function of the sizes.
    """
    if isinstance(bucket, BucketPlan):
        if not isinstance(shapes, tuple):
            _check_plan(bucket, forms)
    elif bucket not in (None, "exact", "padded"):
        want = "bucket 'exact', 'padded' or a BucketPlan"
        raise ValueError(error_text(want, repr(bucket), "Pass `bucket=` one of these."))
    like = forms[0].block.sizes
    if isinstance(shapes, tuple):
        order = namespace(like).arange(forms[0].block.nrows, dtype=like.dtype)
        return Buckets((Bucket(shapes, order),), True, order, of_component=(0,) * forms[0].block.nrows)
    shapes_of = own_shapes(forms) if shapes is None else shapes
    if isinstance(bucket, BucketPlan):
        return _by_plan(forms, bucket, shapes_of)
    if not kernels(forms[0].values).is_concrete(tuple(f.block.sizes for f in forms)):
        advice = "Pass `bucket=`, a `ra.BucketPlan` made outside jit."
        raise DynamicShapeError(error_text("sizes that can be read", "traced ones", advice))
    return _by_sizes(forms, bucket, shapes_of)


def _check_plan(plan: BucketPlan, forms: tuple[Form, ...]) -> None:
    need = tuple(f.columns for f in forms if f.columns)
    have = tuple(n for n in plan.groups if n)
    if need != have:
        want, got = f"a plan for {need} ragged axes of the operands", f"one for {have}"
        raise ValueError(error_text(want, got, "Make it of the same operands, with `ra.BucketPlan.make`."))


def _by_sizes(forms: tuple[Form, ...], bucket: str | None, shapes_of: ShapesOf) -> Buckets:
    table = host_namespace().concat([_on_host(f.block.sizes) for f in forms], axis=1)
    used, nrows = int(used_components(forms[0])), forms[0].block.nrows
    keys, of_component = _distinct(table[:used, :].tolist())
    k, like = kernels(forms[0].values), forms[0].block.sizes
    if bucket is None:
        bucket = "exact" if k.has_exact_sizes or len(keys) <= MAX_EXACT_SHAPES else "padded"
    exact = bucket == "exact"
    if not exact:
        rounded = [tuple(bucket_size(n, mantissa_bits=0, minimum=1) for n in key) for key in keys]
        keys = sorted(set(rounded))
        of_component = [keys.index(rounded[i]) for i in of_component]
    members: list[list[int]] = [[] for _ in keys]
    for i, which in enumerate(of_component):
        members[which].append(i)
    if not keys:  # a component that is missing, to learn what results look like
        keys, members, exact = [(1,) * table.shape[1]], [[nrows]], False
    shapes, own = [shapes_of(key) for key in keys], own_shapes(forms)
    if exact and k.has_exact_sizes and shapes == [own(key) for key in keys]:
        slots = tuple(_on_host(starts(f.block)).tolist() for f in forms)
        sliced = tuple(map(Bucket, shapes, members))
        return Buckets(sliced, True, None, slots, tuple(of_component))
    if not exact:
        members = [m + [nrows] * (bucket_size(len(m), mantissa_bits=0, minimum=1) - len(m)) for m in members]
    to_index = namespace(like).asarray
    place = [sum(map(len, members))] * nrows
    for p, i in enumerate(i for m in members for i in m):
        if i < nrows:
            place[i] = p
    each = tuple(Bucket(s, to_index(m, dtype=like.dtype)) for s, m in zip(shapes, members, strict=True))
    return Buckets(each, exact, to_index(place, dtype=like.dtype), of_component=tuple(of_component))


def _on_host(a: Array) -> Any:
    return kernels(a).host(a).astype("int64")


def _distinct(rows: list[list[int]]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Different rows in the order in which they come, and which of these each row is."""
    keys: dict[tuple[int, ...], int] = {}
    which = [keys.setdefault(tuple(row), len(keys)) for row in rows]
    return list(keys), which


def _by_plan(forms: tuple[Form, ...], plan: BucketPlan, shapes_of: ShapesOf) -> Buckets:
    tables = tuple(f.block.sizes for f in forms)
    place, members, missing = kernels(tables[0]).call(
        _assigned, tables, used_components(forms[0]), buckets=plan.buckets
    )
    each, first = [], 0
    for key, count in plan.buckets:
        each.append(Bucket(shapes_of(key), members[first : first + count]))
        first += count
    return Buckets(tuple(each), False, place, ok=_check_missing(missing))


def _check_missing(missing: Any) -> Any:
    k = kernels(missing)
    expected, advice = (
        "components that the buckets hold",
        "Make the plan of a larger batch, or with more by `ra.BucketPlan.make(x, headroom=)`.",
    )
    if k.is_concrete(missing):
        if int(missing) > 0:
            raise ValueError(error_text(expected, f"{int(missing)} without a place", advice))
        return True
    ok = missing == 0
    if k.checking():
        k.check(ok, error_text(expected, "{missing} without a place", advice), missing=missing)
    return ok


def _assigned(tables: tuple[Array, ...], used: Any, *, buckets: Any) -> tuple[Array, Array, Array]:
    xp = namespace(tables[0])
    table = xp.concat(tables, axis=1) if len(tables) > 1 else tables[0]
    place, missing = assign(table, used, buckets)
    n, total = table.shape[0], sum(count for _, count in buckets)
    back = xp.arange(n, dtype=table.dtype) - n
    members = kernels(table).segment_reduce("sum", back, Segments(total, ids=place)) + n
    return place, members, missing
