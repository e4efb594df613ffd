"""Products whose ragged axes all belong to one operand, or all to the result: each element by the address it needs.

The elements are those of packed components, the span: its axes are those of the result down to its last ragged one,
then the ragged axes that are summed. What an element meets of each operand is read by address, multiplied over the
dense axes that are left, and summed over the last axes of the span.
"""

from math import prod
from typing import Any, NamedTuple

from .._partition import BlockPartition
from .._typing import Array
from ..backends import Segments, kernels, namespace
from ..engine.along_axis import pick_at
from ..engine.components.form import Form, absorb_inner_axes, block_axes, block_of_sizes, reassemble
from ..engine.components.stacks import bound_of
from ..engine.overflow import fill_unless
from ..structure.blocks import Elements, component_splits, elements, extents, groups, starts, steps
from ..structure.views import entries
from ._contraction import ROWS, Axes, Contraction, Operand, cast, dense_product


def by_element(c: Contraction) -> Any:
    """One product for each element of the span, summed where axes are contracted."""
    lead, k = c.forms[0], c.kernels
    sizes = _sizes(c)
    kept = c.out[: block_axes(tuple(sizes[axis] for axis in c.out))]
    span_axes = kept + c.contracted
    span = block_of_sizes(tuple(sizes[axis] for axis in span_axes), 0, kernels(lead.block.sizes))
    limit = min((_elements_in(o, c, span_axes) for o in c.spanning), default=c.capacity)
    bound, ok = bound_of(span, None, limit, None if c.contracted else c.capacity)
    span = BlockPartition(span.sizes, axes=span.axes, bound=bound)
    layout = _Layout(
        tuple(o.axes for o in c.operands), span_axes, c.out[len(kept) :], tuple(sorted(_uniform(c).items()))
    )
    blocks = tuple(None if o.form is None else o.form.block for o in c.operands)
    values = k.call(_each_element, tuple(o.values for o in c.operands), blocks, span, layout=layout)
    if not c.contracted:
        return reassemble(lead, span, fill_unless(cast(values, c.dtype), ok))
    if not kept:
        summed = k.call(_total, values, span)
        return reassemble(lead, None, fill_unless(cast(summed, c.dtype), ok))
    left = block_of_sizes(tuple(sizes[axis] for axis in kept), 0, kernels(lead.block.sizes))
    most, fits = bound_of(left, None, bound, c.capacity)
    values, left = k.call(_summed, values, span, kept=len(kept), limit=most)
    result = BlockPartition(left.sizes, axes=left.axes, bound=int(values.shape[0]))
    return reassemble(lead, result, fill_unless(fill_unless(cast(values, c.dtype), ok), fits))


def _uniform(c: Contraction) -> dict[int, int]:
    return {axis: n for axis, n in c.sizes.items() if n is not None}


def _sizes(c: Contraction) -> dict[int, Any]:
    """Of each axis: an int, or the sizes in each component as the first operand that has it knows them."""
    sizes: dict[int, Any] = {}
    for o in c.operands:
        if o.form is not None:
            sizes = dict(zip(o.axes, o.form.sizes, strict=True)) | sizes
    return sizes | _uniform(c)


def _elements_in(o: Operand, c: Contraction, span: Axes) -> int:
    """A limit of the elements of the span, whose ragged axes all belong to this operand."""
    assert o.form is not None
    return o.form.block.bound * prod(
        n for axis in span if (n := c.sizes[axis]) is not None and axis not in o.block_axes
    )


class _Layout(NamedTuple):
    """Axes of each operand, of the span, and of what the product leaves for each element; the uniform sizes."""

    axes: tuple[Axes, ...]
    span: Axes
    out: Axes
    sizes: tuple[tuple[int, int], ...]


def _each_element(
    arrays: tuple[Array, ...], blocks: tuple[BlockPartition | None, ...], span: BlockPartition, *, layout: _Layout
) -> Array:
    e = elements(span, span.bound)
    factors, factor_axes = [], []
    for a, block, axes in zip(arrays, blocks, layout.axes, strict=True):
        component = e.component
        if block is None:  # one component for all
            a, block = entries(namespace(a).expand_dims(a, axis=0), a.ndim, span.sizes)
            component = namespace(component).astype(component >= span.nrows, component.dtype)
        inner = axes[len(block.axes) :]
        count = max((i + 1 for i, axis in enumerate(inner) if axis in layout.span), default=0)
        form = absorb_inner_axes(Form(a, block, (), 0, span), count)
        own, inner = axes[: len(form.block.axes)], axes[len(form.block.axes) :]
        factors.append(_read(form, Elements(component, e.at), own, layout))
        factor_axes.append((ROWS, *(axis for axis in own if axis not in layout.span), *inner))
    return dense_product(factors, factor_axes, (ROWS, *layout.out))


def _read(form: Form, e: Elements, axes: Axes, layout: _Layout) -> Array:
    """What each element meets of an operand: ``[elements, *dense, *inner]``; 0 in slack.

    ``dense`` are those ``axes`` of its block that the span does not have.
    """
    block = form.block
    k, xp = kernels(block.sizes), namespace(block.sizes)
    count, dtype = e.component.shape[0], block.sizes.dtype
    sizes, rank = dict(layout.sizes), sum(axis not in layout.span for axis in axes)

    def column(v: Array) -> Array:
        return xp.reshape(v, (count, *(1,) * rank))

    slot = column(k.pick(starts(block), e.component))
    inside = column(e.component < block.nrows)
    dense = 0
    for axis, step, size in zip(axes, steps(block), extents(block), strict=True):
        stride = column(k.pick(step, e.component))
        if axis in layout.span:
            slot = slot + stride * column(e.at[layout.span.index(axis)])
            continue
        n, dense = sizes[axis], dense + 1
        at = xp.reshape(xp.arange(n, dtype=dtype), (*(1,) * dense, n, *(1,) * (rank - dense)))
        slot = slot + stride * at
        if not isinstance(size, int):
            inside = inside & (at < column(k.pick(size, e.component)))
    slot = xp.where(inside, slot, xp.asarray(form.values.shape[0], dtype=slot.dtype))
    return pick_at(form.values, slot)


def _total(values: Array, span: BlockPartition) -> Array:
    splits = component_splits(span)
    return kernels(values).segment_reduce("sum", values, Segments(span.nrows, splits=splits))


def _summed(values: Array, span: BlockPartition, *, kept: int, limit: int) -> tuple[Array, BlockPartition]:
    left, segments = groups(span, tuple(range(kept, len(span.axes))), span.bound, limit)
    return kernels(values).segment_reduce("sum", values, segments), left
