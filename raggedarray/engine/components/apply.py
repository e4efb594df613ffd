"""Functions of components, for components of like shapes at a time.

Components are read into dense stacks, a stack a bucket; a function of stacks is applied; what it gives is put back end
to end.
"""

from typing import Any, NamedTuple

from ..._typing import Array
from ...backends import kernels
from ..arguments import sizes_of
from .buckets import Bucket, Buckets, Shapes, ShapesOf, divide
from .form import Form, Sizes
from .results import Rule, put_back
from .stacks import Body, read_all, slices, work_on


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
