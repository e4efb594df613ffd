"""Components joined: more of them, or each made of one part from every operand along an axis."""

from typing import Any

from .._array import RaggedArray, as_last, block_in
from .._blocks import Elements, addresses, as_table, elements, extents, is_packed, known_total, starts, steps
from .._errors import complaint
from .._partition import BlockPartition, RowPartition
from .._typing import Array
from ..backends import kernels, namespace
from ._agreement import agree
from ._block_views import entries, fold
from .blocks import contiguous, to_blocks


def join_blocks(op: str, xs: list[Any], a: int) -> RaggedArray:
    """Join blocks, rows and plain arrays (of one library and rank) along axis ``a``."""
    lead = next(x for x in xs if isinstance(x, RaggedArray) and x.block is not None)
    above, axes = len(lead.partitions) - 1, block_in(lead).axes
    forms = [_as_block(op, x, lead, i) for i, x in enumerate(xs)]
    for i, x in enumerate(forms):
        for level, (p, q) in enumerate(zip(lead.partitions[:above], x.partitions[:above], strict=True), start=1):
            if isinstance(p, RowPartition) and isinstance(q, RowPartition) and a > level - 1:
                agree(op, p, q, level, outermost=level == 1)
        if x.ndim != lead.ndim or (x.inner_shape != lead.inner_shape and a <= above + len(axes)):
            raise _unfit(op, lead, x, a, i)
    if above and a <= above:
        advice = "Join their rows with `ra.ragged([*x, *y])` outside jit."
        raise ValueError(complaint(op, f"an axis from {above + 1}, of components", f"axis {a}", advice))
    if a > above + len(axes):
        return _join_inner(op, forms, a - above - len(axes))
    if a == 0:
        return _append(op, forms)
    return _along(op, forms, a - above - 1)


def _unfit(op: str, lead: RaggedArray, x: Any, a: int, i: int) -> ValueError:
    got = f"{tuple(x.shape)} as operand {i}"
    return ValueError(complaint(op, f"shapes that agree with {lead.shape} but for axis {a}", got, "Align them first."))


def _as_block(op: str, x: Any, lead: RaggedArray, i: int) -> RaggedArray:
    """An operand as a block with the component axes of ``lead``."""
    axes, above = len(block_in(lead).axes), len(lead.partitions) - 1
    if isinstance(x, RaggedArray):
        x = to_blocks(x) if x.block is None and not above else x
        assert isinstance(x, RaggedArray)
        if x.block is None or len(x.partitions) != above + 1:
            raise ValueError(complaint(op, f"blocks, as {lead.shape}", f"{x.shape} as operand {i}", "Convert them."))
        values, block = fold(x.values, block_in(x), axes - len(block_in(x).axes))
        return RaggedArray(values, (*x.partitions[:-1], as_last(block)))
    if above:
        raise ValueError(complaint(op, f"blocks, as {lead.shape}", f"a plain array as operand {i}", "Make it ragged."))
    values, block = entries(x, axes, block_in(lead).sizes)
    return RaggedArray(values, (as_last(block),))


def _merged(op: str, forms: list[RaggedArray], r: int) -> list[int | None]:
    """Component axes of the result; raises unless sizes agree but for axis ``r``."""
    blocks = [block_in(x) for x in forms]
    axes: list[int | None] = []
    for q in range(len(blocks[0].axes)):
        static = [b.axes[q] for b in blocks]
        known = [n for n in static if n is not None]
        if q == r:
            axes.append(sum(known) if len(known) == len(static) else None)
        else:
            axes.append(static[0] if len(set(static)) == 1 else None)
            _same_sizes(op, [extents(b)[q] for b in blocks], q, blocks[0])
    return axes


def _same_sizes(op: str, each: list[Any], q: int, block: BlockPartition) -> None:
    first = each[0]
    k = kernels(block.sizes)
    for i, other in enumerate(each[1:], start=1):
        if first is other:
            continue
        if not k.is_concrete(first, other):
            if k.checking():
                row = namespace(block.sizes).argmax(namespace(block.sizes).astype(first != other, block.sizes.dtype))
                text = complaint(
                    op, f"equal sizes along component axis {q}", "others at component {row}", "Align them."
                )
                k.check(namespace(block.sizes).all(first == other), text, row=row)
            continue
        one, two = (n if isinstance(n, int) else k.host(n) for n in (first, other))
        bad = one != two
        if bad if isinstance(bad, bool) else bad.any():
            row = 0 if isinstance(bad, bool) else int(bad.argmax())
            a, b = (n if isinstance(n, int) else int(n[row]) for n in (one, two))
            got = f"{a} and {b} at component {row} of operand {i}"
            raise ValueError(complaint(op, f"equal sizes along component axis {q}", got, "Align them first."))


def _table(axes: list[int | None], sizes: list[Any], like: Array) -> Array:
    xp = namespace(like)
    columns = [s for s, n in zip(sizes, axes, strict=True) if n is None]
    columns = [xp.full((like.shape[0],), s, dtype=like.dtype) if isinstance(s, int) else s for s in columns]
    return as_table(columns, like.shape[0], like)


def _append(op: str, forms: list[RaggedArray]) -> RaggedArray:
    """All components, one operand's after the other's."""
    values, block = forms[0].kernels.call(_append_body, [x.values for x in forms], [block_in(x) for x in forms])
    return contiguous(RaggedArray(values, (as_last(block),)))


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


def _along(op: str, forms: list[RaggedArray], r: int) -> RaggedArray:
    blocks = [block_in(x) for x in forms]
    if len({b.nrows for b in blocks}) > 1:
        got = " and ".join(str(b.nrows) for b in blocks)
        raise ValueError(complaint(op, "as many components in each operand", got, "Align them first."))
    axes = _merged(op, forms, r)
    table = forms[0].kernels.call(_table_body, blocks, axes=tuple(axes), r=r)
    made = BlockPartition(table, axes=tuple(axes), bound=0)
    total = known_total(made)
    bound = total if isinstance(total, int) and forms[0].kernels.trims else sum(b.bound for b in blocks)
    made = BlockPartition(table, axes=tuple(axes), bound=bound)
    values = forms[0].kernels.call(_along_body, [x.values for x in forms], blocks, made, r=r)
    return RaggedArray(values, (*forms[0].partitions[:-1], as_last(made)))


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


def _join_inner(op: str, forms: list[RaggedArray], axis: int) -> RaggedArray:
    forms = [contiguous(x) for x in forms]
    _merged(op, forms, -1)
    size = min(x.capacity for x in forms)
    first = block_in(forms[0])
    values = forms[0].kernels.call(_inner_body, [x.values for x in forms], axis=axis, size=size)
    assert is_packed(first)
    block = BlockPartition(first.sizes, axes=first.axes, bound=size)
    return RaggedArray(values, (*forms[0].partitions[:-1], as_last(block)))


def _inner_body(values: list[Array], *, axis: int, size: int) -> Array:
    return namespace(values[0]).concat([v[:size, ...] for v in values], axis=axis)
