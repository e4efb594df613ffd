"""Broadcasting with blocks: the element of each operand that meets each element of the result, by address.

Operands of one packed layout are taken as they are. Anything else is read into a packed layout first, element by
element: a dense axis of size 1, or an axis of size 1 of a block, stretches; ragged axes that meet must agree.
"""

from typing import Any, NamedTuple

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text
from ..._partition import BlockPartition, RowPartition, UniformPartition, block_of
from ..._typing import Array
from ...backends import is_array, kernels, kind, namespace
from ...structure.agreement import agree_levels, agree_sizes
from ...structure.blocks import as_table, elements, extents, known_total, starts, steps
from ...structure.levels import ancestors
from ...structure.views import absorb_inner_axes, entries, repeated
from ..innermost import innermost
from .mismatch import mismatch

Met = tuple[RaggedArray, tuple[Any, ...], tuple[Any, ...]]
"""Template, operands over its slots, and their states: all ``same``, or None for a number."""


class _Form(NamedTuple):
    """An operand as seen from the components: ``values`` by slot, its block, and how its entries are numbered."""

    values: Array
    block: BlockPartition
    entry: str
    """``same`` component by component, ``row`` one for each entry of axis 0, ``one`` for all."""


def meet_blocks(operands: list[Any]) -> Met:
    """Bring operands, of one library and at least one of them with a block, to the slots of one template."""
    blocks = [x for x in operands if isinstance(x, RaggedArray) and x.block is not None]
    lead = max(blocks, key=lambda x: (x.ndim, x.nrows != 1))
    arrays = [x for x in operands if _is_operand(x)]
    rows = {x.shape[0] for x in arrays if x.ndim == lead.ndim} - {1}
    if lead.ragged_rank == lead.nrows == len(rows) == 1:
        view = lead.kernels.call(repeated, innermost(lead), n=rows.pop())
        many = RaggedArray(lead.values, (view,))
        lead, operands = many, [many if x is lead else x for x in operands]
    if any(x.ndim > lead.ndim for x in arrays):
        tall = next(x for x in arrays if x.ndim > lead.ndim)
        raise mismatch(lead, tall, "Leading axes cannot be added to a block.")
    if all(x is lead or not _is_operand(x) for x in operands) and innermost(lead).is_packed:
        return _as_they_are(lead, operands)
    forms = [None if x is not lead and not _is_operand(x) else _form(x, lead) for x in operands]
    template = _template(forms, lead, operands)
    k, block = lead.kernels, innermost(template)
    out: list[Any] = []
    for x, form in zip(operands, forms, strict=True):
        if form is None:
            out.append(x)
        elif form.entry == "same" and form.block.is_packed and form.block.axes == block.axes:
            out.append(RaggedArray(form.values[: block.bound, ...], template.partitions))
        else:
            values = k.call(_read, form.values, form.block, block, template.partitions[:-1], entry=form.entry)
            out.append(RaggedArray(values, template.partitions))
    like = next(x for x, f in zip(out, forms, strict=True) if f is not None)
    same = ("same",) * (len(template.partitions) + 1)
    states = tuple(None if f is None else same for f in forms)
    return RaggedArray(like.values, template.partitions), tuple(out), states


def _is_operand(x: Any) -> bool:
    return isinstance(x, RaggedArray) or is_array(x)


def _as_they_are(lead: RaggedArray, operands: list[Any]) -> Met:
    same = ("same",) * (len(lead.partitions) + 1)
    return lead, tuple(operands), tuple(same if x is lead else None for x in operands)


def _form(x: Any, lead: RaggedArray) -> _Form:
    above, axes = len(lead.partitions) - 1, len(innermost(lead).axes)
    if isinstance(x, RaggedArray):
        if x.ndim < lead.ndim:
            raise mismatch(lead, x, "Insert axes of size 1 with `ra.expand_dims`.")
        if len(x.partitions) == above and x.block is None:
            return _from_entries(x, lead, above, axes)
        if len(x.partitions) <= above:
            raise mismatch(lead, x, "Their outer axes must agree.")
        entry = _outer(x, lead, above)
        block = block_of(x.partitions)
        if block is None:
            return _from_rows(x, lead, above, entry)
        return _Form(*absorb_inner_axes(x.values, block, axes - len(block.axes)), entry)
    shape = (1,) * (lead.ndim - x.ndim) + tuple(x.shape)
    rows, outer, component, inner = shape[0], shape[1 : above + 1], shape[above + 1 :][:axes], shape[above + 1 + axes :]
    if any(n != 1 for n in outer) or rows not in (1, lead.nrows):
        raise mismatch(lead, x)
    values, block = entries(namespace(x).reshape(x, (rows, *component, *inner)), axes, innermost(lead).sizes)
    entry = ("row" if above else "same") if rows == lead.nrows else "one"
    return _Form(values, block, entry)


def _from_entries(x: RaggedArray, lead: RaggedArray, above: int, axes: int) -> _Form:
    """One item for each component, ragged as the axes above them are."""
    _agree_above(x, lead, above)
    return _Form(*entries(x.values, axes, innermost(lead).sizes), "same")


def _agree_above(x: RaggedArray, lead: RaggedArray, above: int) -> None:
    error = mismatch(lead, x, "Their outer axes must agree.")
    agree_levels(lead.partitions[:above], x.partitions[:above], error)


def _outer(x: RaggedArray, lead: RaggedArray, above: int) -> str:
    """Whether the entries above the components are the same."""
    _agree_above(x, lead, above)
    n, m = innermost(lead).nrows, x.partitions[above].nrows
    if n == m:
        return "same"
    if m == 1 and not above:
        return "one"
    raise mismatch(lead, x)


def _from_rows(x: RaggedArray, lead: RaggedArray, above: int, entry: str) -> _Form:
    """Rows with one ragged axis among those of the components."""
    parts = x.partitions[above:]
    rows = [p for p in parts if isinstance(p, RowPartition)]
    ahead = [p.length for p in parts[:-1] if isinstance(p, UniformPartition)]
    if len(rows) != 1 or any(n != 1 for n in ahead) or not isinstance(parts[-1], RowPartition):
        advice = "Make both one kind, with `ra.to_rows` or `ra.to_blocks`."
        raise ValueError(error_text(f"blocks that broadcast with {lead.shape}", f"nested rows {x.shape}", advice))
    rows_below = innermost(x)
    block = BlockPartition(rows_below.sizes, axes=(*(1 for _ in ahead), None), bound=x.capacity)
    return _Form(*absorb_inner_axes(x.values, block, len(innermost(lead).axes) - len(block.axes)), entry)


def _template(forms: list[_Form | None], lead: RaggedArray, operands: list[Any]) -> RaggedArray:
    """The packed block that the operands broadcast to."""
    there = [(f, x) for f, x in zip(forms, operands, strict=True) if f is not None]
    other = next((x for _, x in there if x is not lead), lead)
    block = innermost(lead)
    axes: list[int | None] = []
    columns: list[Array] = []
    for r in range(len(block.axes)):
        found: Any = None
        for f, _ in there:
            if len(f.block.axes) != len(block.axes):
                raise mismatch(lead, other, "A ragged axis meets a uniform one.")
            n = f.block.axes[r]
            if n == 1:
                continue
            size = extents(f.block)[r]
            if found is None:
                found = (n, size, f)
            elif (n is None) != (found[0] is None) or (n is not None and n != found[0]):
                raise mismatch(lead, other)
            elif n is None:
                agree_sizes(found[1], size, f"equal sizes along axis {len(lead.partitions) + r}")
        axes.append(1 if found is None else found[0])
        if found is not None and found[0] is None:
            columns.append(found[1] if found[2].entry != "one" else _everywhere(found[1], block.nrows))
    sizes = as_table(columns, block.nrows, block.sizes)
    made = BlockPartition(sizes, axes=tuple(axes), bound=0)
    _inner(there, lead)
    whole = [f.block for f, _ in there if f.block.axes == made.axes and f.entry == "same"]
    shared = next((b.sizes for b in whole if b.is_packed), None)
    sizes = sizes if shared is None else shared
    bound = min((_most(f) for f, _ in there if any(f.block is b for b in whole)), default=None)
    if bound is None:
        total = known_total(made)
        if not isinstance(total, int):
            raise DynamicShapeError(
                error_text("one operand as large as the result", "traced sizes", "Broadcast outside jit.")
            )
        bound = total
    final = BlockPartition(sizes, axes=made.axes, bound=bound)
    return RaggedArray(lead.values[:0, ...], (*lead.partitions[:-1], final))


def _most(f: _Form) -> int:
    """A static limit of the elements of an operand."""
    return min(f.block.bound, int(f.values.shape[0])) if f.block.is_packed else f.block.bound


def _everywhere(column: Array, n: int) -> Array:
    xp = namespace(column)
    return xp.broadcast_to(column, (n,))


def _inner(there: list[tuple[_Form, Any]], lead: RaggedArray) -> None:
    shapes = [tuple(f.values.shape[1:]) for f, _ in there]
    for i in range(max(map(len, shapes))):
        sizes = {s[-1 - i] for s in shapes if len(s) > i} - {1}
        if len(sizes) > 1:
            x = next(x for f, x in there if x is not lead and len(f.values.shape) > i + 1)
            raise mismatch(lead, x)


def _read(values: Array, block: BlockPartition, to: BlockPartition, above: tuple[Any, ...], *, entry: str) -> Array:
    """The element of an operand that meets each slot of the packed ``to``; `neutral` in slack."""
    e = elements(to, to.bound)
    k, xp = kernels(to.sizes), namespace(to.sizes)
    component = e.component
    if entry == "one":
        component = xp.where(component < to.nrows, xp.zeros_like(component), xp.ones_like(component))
    elif entry == "row":
        rows = ancestors(above, 0, to.nrows, to.sizes)
        component = xp.where(
            component < to.nrows, k.pick(rows, component), xp.asarray(block.nrows, dtype=component.dtype)
        )
    component = xp.minimum(component, xp.asarray(block.nrows, dtype=component.dtype))
    slot = k.pick(starts(block), component)
    for step, at, n, m in zip(steps(block), e.at, block.axes, to.axes, strict=True):
        if n == 1 and m != 1:
            continue
        slot = slot + k.pick(step, component) * at
    slot = xp.where(e.component < to.nrows, slot, xp.asarray(values.shape[0], dtype=slot.dtype))
    return kernels(values).pick(values, slot, fill=neutral(values))


def neutral(values: Array) -> int:
    """What stands in slack where an operand is spread over rows or read by address: 1, or False.

    With 1 no quotient, power, logarithm or angle of it is NaN there, nor is its gradient; 0 left 0 / 0, which no
    result holds but ``jax_debug_nans`` sees.
    """
    return 0 if kind(values.dtype) == "bool" else 1
