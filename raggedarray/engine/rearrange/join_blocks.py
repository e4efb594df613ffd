"""Components joined: more of them under the levels above, or each made of one part from every operand."""

from collections.abc import Callable
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import BlockPartition
from ..._typing import Array
from ...backends import kernels, namespace
from ...structure.agreement import agree_levels, agree_sizes, cut, written_alike
from ...structure.blocks import Elements, addresses, as_table, elements, extents, known_total, on_host, starts, steps
from ...structure.views import absorb_inner_axes, entries
from ..broadcast.levels import leveled, same_levels
from ..index.gather_blocks import numbered
from ..innermost import innermost
from ..packing import contiguous, to_blocks
from .rows import inner_axes_to_levels

Join = Callable[[list[Any], int], Any]
"""Rows joined along an axis: what component numbers do."""


def join_blocks(xs: list[Any], a: int, join: Join) -> RaggedArray:
    """Join blocks, rows and plain arrays (of one library and rank) along axis ``a``; ``join`` does it for rows."""
    xs = same_levels(xs)
    ragged = [x for x in xs if isinstance(x, RaggedArray)]
    lead = next(x for x in ragged if x.block is not None)
    above = max(len(x.partitions) for x in ragged if x.block is not None) - 1
    forms = [_below(x, above, lead, i) for i, x in enumerate(xs)]
    axes = max(len(block.axes) for block in map(_block, forms) if block is not None)
    forms = [_as_block(x, axes, lead) for x in forms]
    inner = a - above - axes
    for i, x in enumerate(forms):
        shapes = [list(y.inner_shape) for y in (forms[0], x)]
        for shape in shapes if inner > 0 else ():
            del shape[inner - 1 : inner]
        if len(innermost(x).axes) != axes or shapes[0] != shapes[1]:
            raise _unfit(lead, x, a, i)
    if a > above and inner <= 0 and _of_other_sizes(forms, a - above - 1):
        forms = [leveled(x, a) for x in forms]
        above = a
    if a <= above:
        return _append(forms, a, join)
    forms = _alike(forms, a)
    return _join_inner(forms, inner) if inner > 0 else _along(forms, a - above - 1)


def _of_other_sizes(forms: list[RaggedArray], r: int) -> bool:
    """Whether parts along a uniform component axis ``r`` can be read to differ behind it: each is then a component."""
    blocks = [innermost(x) for x in forms]
    k = forms[0].kernels
    if any(None in b.axes[: r + 1] or b.nrows != blocks[0].nrows for b in blocks) or not k.is_concrete(blocks):
        return False
    sizes = [on_host(b).sizes[:, r + 1 :] for b in blocks]
    return any(bool((sizes[0] != other).any()) for other in sizes[1:])


def _unfit(lead: RaggedArray, x: Any, a: int, i: int) -> ValueError:
    got = f"{tuple(x.shape)} as operand {i}"
    return ValueError(error_text(f"shapes that agree with {lead.shape} but for axis {a}", got, "Align them first."))


def _block(x: RaggedArray) -> BlockPartition | None:
    return x.block if x.partitions else None


def _below(x: Any, above: int, lead: RaggedArray, i: int) -> RaggedArray:
    """An operand with ``above`` levels, and a block below them if it is ragged there."""
    if isinstance(x, RaggedArray) and x.block is not None:
        if len(x.partitions) != above + 1:
            want = f"{above} levels above the components, as in {lead.shape}"
            raise ValueError(error_text(want, f"{x.shape} as operand {i}", "Nest both alike."))
        return x
    rows = inner_axes_to_levels(x, above)
    if len(rows.partitions) == above:
        return rows
    below = to_blocks(RaggedArray(rows.values, rows.partitions[above:]))
    return RaggedArray(below.values, (*rows.partitions[:above], *below.partitions))


def _as_block(x: RaggedArray, axes: int, lead: RaggedArray) -> RaggedArray:
    """An operand as components of so many axes; without a block its entries are."""
    block = _block(x)
    if block is None:
        values, made = entries(x.values, min(axes, x.values.ndim - 1), innermost(lead).sizes)
        return RaggedArray(values, (*x.partitions, made))
    values, made = absorb_inner_axes(x.values, block, axes - len(block.axes))
    return RaggedArray(values, (*x.partitions[:-1], made))


def _alike(forms: list[RaggedArray], a: int) -> list[RaggedArray]:
    """Operands whose levels above the components agree, cut to the fewest entries of them."""
    k = forms[0].kernels
    levels = written_alike(k, [x.partitions[:-1] for x in forms], len(forms[0].partitions) - 1)
    for i, mine in enumerate(levels[1:], start=1):
        agree_levels(levels[0], mine, _unfit(forms[0], forms[i], a, i))
        if forms[i].nrows != forms[0].nrows:
            got = f"{forms[0].nrows} and {forms[i].nrows}"
            raise ValueError(error_text("as many components in each operand", got, "Align them first."))
    counts = [(*(p.nrows for p in x.partitions),) for x in forms]
    fewest = tuple(min(column) for column in zip(*counts, strict=True))
    out: list[RaggedArray] = []
    for x, mine, have in zip(forms, levels, counts, strict=True):
        block, n = innermost(x), fewest[-1]
        if have != fewest:
            tables = (None if t is None else t[:n, ...] for t in (block.strides, block.offsets))
            block = BlockPartition(block.sizes[:n, ...], *tables, axes=block.axes, bound=block.bound)
            mine = cut(mine, fewest)
        out.append(RaggedArray(x.values, (*mine, block)))
    return out


def _merged(forms: list[RaggedArray], r: int) -> list[int | None]:
    """Component axes of the result; raises unless sizes agree but for axis ``r``."""
    blocks = [innermost(x) for x in forms]
    axes: list[int | None] = []
    for q in range(len(blocks[0].axes)):
        static = [b.axes[q] for b in blocks]
        known = [n for n in static if n is not None]
        if q == r:
            axes.append(sum(known) if len(known) == len(static) else None)
        else:
            axes.append(static[0] if len(set(static)) == 1 else None)
            first, *others = (extents(b)[q] for b in blocks)
            for i, other in enumerate(others, start=1):
                place = f"at component {{row}} of operand {i}"
                agree_sizes(first, other, f"equal sizes along component axis {q}", place, "Align them first.")
    return axes


def _table(axes: list[int | None], sizes: list[Any], like: Array) -> Array:
    xp = namespace(like)
    columns = [s for s, n in zip(sizes, axes, strict=True) if n is None]
    columns = [xp.full((like.shape[0],), s, dtype=like.dtype) if isinstance(s, int) else s for s in columns]
    return as_table(columns, like.shape[0], like)


def _append(forms: list[RaggedArray], a: int, join: Join) -> RaggedArray:
    """All components, in the order in which their numbers are joined under the levels above."""
    k = forms[0].kernels
    values, block = k.call(_append_body, [x.values for x in forms], [innermost(x) for x in forms])
    if len(forms[0].partitions) == 1:
        return contiguous(RaggedArray(values, (block,)))
    every, numbers, base = namespace(block.sizes).arange(block.nrows, dtype=block.sizes.dtype), [], 0
    for i, x in enumerate(forms):
        sizes = zip(forms[0].shape, x.shape[: len(x.partitions)], strict=False)
        if any(axis != a and None not in (m, n) and m != n for axis, (m, n) in enumerate(sizes)):
            raise _unfit(forms[0], x, a, i)
        n = innermost(x).nrows
        numbers.append(rebuild(x.partitions[:-1], every[base : base + n]))
        base += n
    found = join(numbers, a)
    found = inner_axes_to_levels(found, found.ndim - 1)
    made = k.call(numbered, block, found.values, found.partitions)
    return contiguous(RaggedArray(values, (*found.partitions, made)))


def _append_body(values: list[Array], blocks: list[BlockPartition]) -> tuple[Array, BlockPartition]:
    xp = namespace(blocks[0].sizes)
    axes = [b[0] if len(set(b)) == 1 else None for b in zip(*(p.axes for p in blocks), strict=True)]
    tables = [_table(axes, list(extents(p)), p.sizes) for p in blocks]
    base, offsets = 0, []
    for v, p in zip(values, blocks, strict=True):
        offsets.append(starts(p) + base)
        base += v.shape[0]
    strides = xp.concat([xp.stack(steps(p), axis=1) for p in blocks])
    made = BlockPartition(
        xp.concat(tables), strides, xp.concat(offsets), axes=tuple(axes), bound=sum(p.bound for p in blocks)
    )
    return namespace(values[0]).concat(values), made


def _along(forms: list[RaggedArray], r: int) -> RaggedArray:
    blocks = [innermost(x) for x in forms]
    axes = _merged(forms, r)
    table = forms[0].kernels.call(_table_body, blocks, axes=tuple(axes), r=r)
    made = BlockPartition(table, axes=tuple(axes), bound=0)
    total = known_total(made)
    bound = total if isinstance(total, int) and forms[0].kernels.has_exact_sizes else sum(b.bound for b in blocks)
    made = BlockPartition(table, axes=tuple(axes), bound=bound)
    values = forms[0].kernels.call(_along_body, [x.values for x in forms], blocks, made, r=r)
    return RaggedArray(values, (*forms[0].partitions[:-1], made))


def _table_body(blocks: list[BlockPartition], *, axes: tuple[int | None, ...], r: int) -> Array:
    sizes = list(extents(blocks[0]))
    for q in range(len(axes)):
        each = [extents(b)[q] for b in blocks]
        if q == r:
            sizes[q] = each[0]
            for n in each[1:]:
                sizes[q] = sizes[q] + n
        else:
            sizes[q] = next((n for n in each if not isinstance(n, int)), each[0])
    return _table(list(axes), sizes, blocks[0].sizes)


def _along_body(values: list[Array], blocks: list[BlockPartition], made: BlockPartition, *, r: int) -> Array:
    e = elements(made, made.bound)
    k, xp = kernels(made.sizes), namespace(made.sizes)
    total = sum(v.shape[0] for v in values)
    slot = xp.full_like(e.component, total)
    begin: Any = 0
    base = 0
    for v, block in zip(values, blocks, strict=True):
        size = extents(block)[r]
        length: Any = size if isinstance(size, int) else k.pick(size, e.component)
        at = e.at[r] - begin
        here = (at >= 0) & (at < length) & (e.component < made.nrows)
        found = addresses(block, Elements(e.component, (*e.at[:r], at, *e.at[r + 1 :])), v.shape[0])
        slot = xp.where(here, found + base, slot)
        begin, base = begin + length, base + v.shape[0]
    return kernels(values[0]).pick(namespace(values[0]).concat(values), slot)


def _join_inner(forms: list[RaggedArray], axis: int) -> RaggedArray:
    forms = [contiguous(x) for x in forms]
    axes = tuple(_merged(forms, -1))
    size = min(x.capacity for x in forms)
    k, blocks = forms[0].kernels, [innermost(x) for x in forms]
    table = next((b.sizes for b in blocks if b.axes == axes), None)
    table = k.call(_table_body, blocks, axes=axes, r=-1) if table is None else table
    values = k.call(_inner_body, [x.values for x in forms], axis=axis, size=size)
    block = BlockPartition(table, axes=axes, bound=size)
    return RaggedArray(values, (*forms[0].partitions[:-1], block))


def _inner_body(values: list[Array], *, axis: int, size: int) -> Array:
    return namespace(values[0]).concat([v[:size, ...] for v in values], axis=axis)
