"""Three ways to compute a product of ragged operands, from the cheapest to the most general: the first that applies."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .._array import RaggedArray
from .._errors import DynamicShapeError, error_text
from .._partition import BlockPartition
from .._typing import Array
from ..backends import Segments, generic, implementation, kernels, kind, namespace
from ..engine.components.buckets import StackFunction, apply_in_buckets
from ..engine.components.form import Form, Sizes
from ..engine.packing import contiguous
from ..ops.reduction.reduction import sum as sum_
from ..structure.blocks import component_splits
from ._contraction import ROWS, Axes, Contraction, Operand, cast, contraction_of, dense_product
from ._per_element import by_element


class Strategy(Protocol):
    """A way to compute a product."""

    def applies(self, c: Contraction, /) -> bool:
        """Whether this product can be computed in this way, and should be."""

    def run(self, c: Contraction, /) -> Any:
        """The product, in its dtype."""


def contract(
    axes: Sequence[Axes],
    out: Axes,
    arrays: Sequence[Any],
    *,
    bucket: Any = None,
    capacity: int | None = None,
    row_axis: str = "axis 0",
) -> Any:
    """Sum of products of arrays of one library, some of them ragged, whose ``axes`` are ids.

    ``out`` begins with the axes of the levels above the components, or has none of them: these are summed then.
    """
    levels = next(own[: len(x.partitions)] for own, x in zip(axes, arrays, strict=True) if isinstance(x, RaggedArray))
    summed = out[:1] != levels[:1]
    c = contraction_of(
        axes, out if summed else out[len(levels) :], arrays, bucket=bucket, capacity=capacity, row_axis=row_axis
    )
    strategies: tuple[Strategy, ...] = (Flat, PerElement, Bucketed)
    result = next(s for s in strategies if s.applies(c)).run(c)
    if not summed:
        return result
    total = sum_(result, axis=tuple(range(len(levels))))
    if isinstance(total, RaggedArray):
        return RaggedArray(cast(total.values, c.dtype), total.partitions)
    return cast(total, c.dtype)


class Flat:
    """Operands that lie slot by slot as one another do: a product of flat values, as a dense one would be.

    Rows times one matrix, or a matrix for each row, are functions of their own: `generic.linear`,
    `generic.grouped_matmul`.
    """

    @staticmethod
    def applies(c: Contraction) -> bool:
        """Whether ragged operands lie alike, and the result begins as they do."""
        return c.bucket is None and c.capacity is None and _common_axes(c) is not None

    @staticmethod
    def run(c: Contraction) -> Any:
        """Slot by slot; an axis of the blocks that the result does not have is summed afterwards."""
        common = _common_axes(c)
        assert common is not None
        operands = [_packed(o) for o in c.operands]
        lead = min((o.form for o in operands if o.ragged and o.form is not None), key=lambda f: int(f.values.shape[0]))
        inner = tuple(a for a in c.out if a not in common)
        linear = _linear(operands, inner)
        if linear is not None:
            body, weight = linear
            out = kernels(lead.values).call(body, lead.values, weight, lead.block)
        else:
            out = kernels(lead.values).call(
                _slot_by_slot,
                tuple(_entries(o.form) if o.form is not None and not o.ragged else o.values for o in operands),
                lead.block,
                size=int(lead.values.shape[0]),
                belonging=tuple("all" if o.form is None else "slot" if o.ragged else "row" for o in operands),
                axes=tuple(map(_dense_axes, operands)),
                out=(ROWS, *inner),
            )
        result: Any = RaggedArray(out, (*lead.above, lead.origin))
        depth = 1 + len(lead.above)
        summed = tuple(depth + i for i, a in enumerate(common) if a not in c.out)
        if summed:
            result = sum_(result, axis=summed)
        if isinstance(result, RaggedArray):
            return RaggedArray(cast(result.values, c.dtype), result.partitions)
        return cast(result, c.dtype)


def _common_axes(c: Contraction) -> Axes | None:
    """The axes of the blocks of all ragged operands, if nothing else has one and they keep their order."""
    common, *others = {o.block_axes for o in c.operands if o.ragged}
    if others or len(set(common)) < len(common):
        return None
    for o in c.operands:
        if set(o.inner_axes if o.ragged else o.axes) & set(common):
            return None
        if o.ragged and any(n is None and c.sizes[a] is not None for a, n in zip(o.axes, o.shape, strict=True)):
            return None
    kept = tuple(a for a in common if a in c.out)
    return common if c.out[: len(kept)] == kept else None


def _dense_axes(o: Operand) -> Axes:
    return o.axes if o.form is None else (ROWS, *(o.inner_axes if o.ragged else o.axes))


def _packed(o: Operand) -> Operand:
    form = o.form
    if not o.ragged or form is None or form.block.is_packed:
        return o
    x = contiguous(RaggedArray(form.values, (*form.above, form.origin)))
    assert x.block is not None
    return o._replace(values=x.values, form=form._replace(values=x.values, block=x.block, origin=x.partitions[-1]))


def _entries(form: Form) -> Array:
    """The plain array whose entries these components are."""
    return namespace(form.values).reshape(form.values, (form.block.nrows, *(n or 0 for n in form.block.axes)))


def _slot_by_slot(
    arrays: tuple[Array, ...], block: BlockPartition, *,
    size: int, belonging: tuple[str, ...], axes: tuple[Axes, ...], out: Axes,
) -> Array:  # fmt: skip
    """Of ``size`` slots; each array belongs to a slot, to a row, or to all."""
    k, xp = kernels(arrays[0]), namespace(arrays[0])
    splits = component_splits(block)
    masked = "all" in belonging and not k.has_exact_sizes
    used = xp.arange(size, dtype=splits.dtype) < k.asarray(splits[-1])

    def clean(a: Array) -> Array:
        return xp.where(xp.reshape(used, (size, *(1,) * (a.ndim - 1))), a, xp.zeros_like(a)) if masked else a

    factors = []
    for a, belongs_to in zip(arrays, belonging, strict=True):
        if belongs_to == "row":
            a = implementation(kernels(a), generic.spread)(a, Segments(splits.shape[0] - 1, splits=splits), size)
        factors.append(a if belongs_to == "all" else clean(a[:size, ...]))
    return clean(dense_product(factors, axes, out))


def _linear(operands: list[Operand], inner: Axes) -> tuple[Callable[..., Array], Array] | None:
    """The kernel for rows times one matrix, or a matrix for each, if the product is one of these; and the matrix."""
    if len(operands) != 2 or any(kind(o.values.dtype) not in ("float", "complex") for o in operands):
        return None
    rows, weight = operands if operands[0].ragged else operands[::-1]
    if not rows.ragged or weight.ragged or not rows.inner_axes or rows.values.dtype != weight.values.dtype:
        return None
    *kept, width = rows.inner_axes
    if weight.form is None and weight.axes == (width,) and inner == tuple(kept):
        return _times_vector, weight.values
    new = weight.axes[-1:]
    if weight.axes != (width, *new) or inner != (*kept, *new) or set(new) & set(rows.inner_axes):
        return None
    return (_times_matrix, weight.values) if weight.form is None else (_times_matrices, _entries(weight.form))


def _times_matrix(values: Array, weight: Array, block: BlockPartition) -> Array:
    return implementation(kernels(values), generic.linear)(values, weight, None, component_splits(block)[-1])


def _times_vector(values: Array, weight: Array, block: BlockPartition) -> Array:
    xp = namespace(values)
    linear = implementation(kernels(values), generic.linear)
    return linear(values, xp.expand_dims(weight, axis=1), None, component_splits(block)[-1])[..., 0]


def _times_matrices(values: Array, weight: Array, block: BlockPartition) -> Array:
    return implementation(kernels(values), generic.grouped_matmul)(values, weight, component_splits(block))


class PerElement:
    """Ragged axes that all belong to one operand, or all to the result: element by element."""

    @staticmethod
    def applies(c: Contraction) -> bool:
        """Whether elements can be numbered; where sizes can be read and something is summed, buckets do better."""
        if c.bucket is not None or (c.contracted and not c.spanning):
            return False
        return not c.is_concrete or all(axis in c.out for axis in c.sizes)

    @staticmethod
    def run(c: Contraction) -> Any:
        """Each element by the addresses it needs."""
        if not c.spanning and c.capacity is None and not c.is_concrete:
            advice = "Pass `capacity=`, or `bucket=`, a `ra.BucketPlan` made outside jit."
            raise DynamicShapeError(error_text("a result of static size", "traced sizes", advice))
        return by_element(c)


class Bucketed:
    """Any product: components of like shapes at a time. Under jit that takes a `BucketPlan`."""

    @staticmethod
    def applies(c: Contraction) -> bool:
        """Whether some operand has components."""
        return bool(c.forms)

    @staticmethod
    def run(c: Contraction) -> Any:
        """One dense product a bucket."""
        components = [(o.axes, o.form.block.axes) for o in c.operands if o.form is not None]

        def shapes(ragged: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
            """An axis of several operands has one size, the largest, in all stacks of a bucket."""
            sizes, largest = iter(ragged), dict[int, int]()
            for own, block in components:
                for axis, n in zip(own, block, strict=False):
                    size, uniform = next(sizes) if n is None else n, c.sizes[axis]
                    largest[axis] = max(largest.get(axis, 0), size) if uniform is None else uniform
            return tuple(tuple(largest[axis] for axis in own[: len(block)]) for own, block in components)

        def rule(sizes: list[Sizes]) -> list[Sizes]:
            of_axis: dict[int, Any] = {}
            for (own, _), of_operand in zip(components, sizes, strict=True):
                of_axis = dict(zip(own, of_operand, strict=True)) | of_axis
            of_axis |= {axis: n for axis, n in c.sizes.items() if n is not None}
            return [tuple(of_axis[axis] for axis in c.out)]

        static: dict[str, Any] = {
            "axes": tuple(o.axes if o.form is None else (ROWS, *o.axes) for o in c.operands),
            "out": (ROWS, *c.out),
            "stacked": tuple(o.form is not None for o in c.operands),
            "dtype": str(c.dtype),
        }
        shared = tuple(o.values for o in c.operands if o.form is None)
        function = StackFunction(_product, tuple(static.items()), shared)
        (result,) = apply_in_buckets(function, c.forms, rule, shapes=shapes, bucket=c.bucket, capacity=c.capacity)
        return result


def _product(
    stacks: tuple[Array, ...], _sizes: Any, *shared: Array,
    axes: tuple[Axes, ...], out: Axes, stacked: tuple[bool, ...], dtype: str,
) -> tuple[Array, ...]:  # fmt: skip
    of_components, of_all = iter(stacks), iter(shared)
    product = dense_product([next(of_components) if s else next(of_all) for s in stacked], axes, out)
    name = dtype.rsplit(".", 1)[-1]
    return (namespace(product).astype(product, kernels(product).dtype(name), copy=False),)
