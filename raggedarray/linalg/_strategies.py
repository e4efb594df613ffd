"""Four ways to compute a product of components, from the cheapest to the most general.

- Operands that lie slot by slot as one another do: a product of flat values, as a dense one would be.
- Row by row with a matrix for each: `Kernels.grouped_matmul`.
- Any other product whose ragged letters are all in one operand or all in the result: each element by address.
- Components of like shapes at a time: see `_buckets`.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import DynamicShapeError, error_text
from .._partition import BlockPartition
from .._typing import Array
from ..backends import Kernels, Segments, kernels, kind, namespace
from ..engine.along_axis import pick_at
from ..engine.arguments import sizes_of
from ..engine.components.buckets import Work, bound_of
from ..engine.components.form import Form, Sizes, absorb_inner_axes, block_axes, block_of_sizes, reassemble
from ..engine.overflow import fill_unless
from ..engine.packing import contiguous
from ..ops.reduction.reduction import sum as sum_
from ..structure.blocks import Elements, component_splits, elements, extents, groups, starts, steps
from ..structure.views import entries
from ._subscripts import Product, Term


def compute(p: Product, bucket: Any, capacity: int | None) -> Any:
    """The product, cast to its dtype."""
    capacity = None if capacity is None else sizes_of(capacity)
    if bucket is None and capacity is None:
        core = _core(p)
        if core is not None:
            return _flat(p, core)
    known = kernels(p.forms[0].values).is_concrete(tuple(f.block.sizes for f in p.forms))
    ragged = [c for c, n in p.sizes.items() if n is None]
    contracted = [c for c in ragged if c not in p.out]
    whole = any(t.ragged and set(ragged) <= set(t.letters) for t in p.terms)
    summed = [c for c in p.sizes if c not in p.out]
    if bucket is None and (whole or not contracted) and not (known and summed):
        if not known and capacity is None and not whole:
            advice = "Pass `capacity=`, or `bucket=`, a `ra.BucketPlan` made outside jit."
            raise DynamicShapeError(error_text("a result of static size", "traced sizes", advice))
        return _by_address(p, ragged, contracted, capacity)
    return _in_buckets(p, bucket, capacity)


def _cast(values: Array, dtype: Any) -> Array:
    return namespace(values).astype(values, dtype, copy=False)


def _core(p: Product) -> str | None:
    """The letters of the block of all ragged operands, if these lie alike and the result begins with them."""
    forms = [(t, t.form) for t in p.terms if t.ragged and t.form is not None]
    cores = {t.letters[: len(f.block.axes)] for t, f in forms}
    core = cores.pop()
    if cores or len(set(core)) < len(core):
        return None
    for t, f in forms:
        inner = t.letters[len(core) :]
        fixed = any(n is None and p.sizes[c] is not None for c, n in zip(core, f.block.axes, strict=True))
        if set(inner) & set(core) or fixed:
            return None
    if any(set(t.letters) & set(core) for t in p.terms if not t.ragged):
        return None
    kept = [c for c in p.out if c in core]
    return core if p.out[: len(kept)] == "".join(c for c in core if c in kept) else None


def _flat(p: Product, core: str) -> Any:
    """Flat values as they lie; what a letter of the core does not reach in the result is summed afterwards."""
    width = len(core)
    terms = []
    for t in p.terms:
        form = t.form
        if form is not None and t.ragged and not form.block.is_packed:
            whole = contiguous(RaggedArray(form.values, (*form.above, form.origin)))
            assert whole.block is not None
            form = form._replace(values=whole.values, block=whole.block, origin=whole.partitions[-1])
        terms.append(t._replace(form=form))
    ragged = [t.form for t in terms if t.ragged and t.form is not None]
    size = min(f.values.shape[0] for f in ragged)
    lead = next(f for f in ragged if f.values.shape[0] == size)
    inner = p.out[len([c for c in p.out if c in core]) :]
    linear = _linear(p, terms, width, inner)
    if linear is not None:
        values = lead.values
        out = kernels(values).call(linear[0], values, linear[1], lead.block)
    else:
        arrays = tuple(
            t.array if t.form is None else t.form.values[:size, ...] if t.ragged else _entries(t.form) for t in terms
        )
        kinds = tuple("one" if t.form is None else "slot" if t.ragged else "row" for t in terms)
        spec = ",".join(
            t.letters if t.form is None else p.rows + (t.letters[width:] if t.ragged else t.letters) for t in terms
        )
        out = kernels(lead.values).call(
            _slot_by_slot, arrays, (lead.values, lead.block), kinds=kinds,
            spec=f"{spec}->{p.rows}{inner}",
        )  # fmt: skip
    result: Any = RaggedArray(out, (*lead.above, lead.origin))
    depth = 1 + len(lead.above)
    gone = tuple(depth + i for i, c in enumerate(core) if c not in p.out)
    if gone:
        result = sum_(result, axis=gone)
    if isinstance(result, RaggedArray):
        return RaggedArray(_cast(result.values, p.dtype), result.partitions)
    return _cast(result, p.dtype)


def _entries(form: Form) -> Array:
    return namespace(form.values).reshape(form.values, (form.block.nrows, *(n or 0 for n in form.block.axes)))


def _slot_by_slot(arrays: Any, lead: Any, *, kinds: tuple[str, ...], spec: str) -> Array:
    values, block = lead
    k, xp = kernels(values), namespace(values)
    splits = component_splits(block)
    size = values.shape[0]
    shared = "one" in kinds and not k.has_exact_sizes
    used = xp.arange(size, dtype=splits.dtype) < k.asarray(splits[-1])

    def clean(a: Array) -> Array:
        return xp.where(xp.reshape(used, (size, *(1,) * (a.ndim - 1))), a, xp.zeros_like(a)) if shared else a

    met = []
    for a, how in zip(arrays, kinds, strict=True):
        if how == "row":
            a = kernels(a).spread(a, Segments(splits.shape[0] - 1, splits=splits), size)
        met.append(a if how == "one" else clean(a))
    return clean(k.einsum(spec, *met))


def _linear(p: Product, terms: list[Term], width: int, inner: str) -> Any:
    """The kernel for rows times one matrix, or a matrix for each, if the product is one of these; and the matrix."""
    if len(terms) != 2 or any(kind(_dtype(t)) not in ("float", "complex") for t in terms):
        return None
    rows, weight = terms if terms[0].ragged else (terms[1], terms[0])
    if not rows.ragged or weight.ragged or rows.form is None:
        return None
    mine = rows.letters[width:]
    if not mine or _dtype(rows) != _dtype(weight):
        return None
    if weight.array is not None and weight.letters == mine[-1] and inner == mine[:-1]:
        return _times_vector, weight.array
    e = weight.letters[-1:]
    if weight.letters != mine[-1] + e or inner != mine[:-1] + e or e in mine:
        return None
    if weight.array is not None:
        return _times_matrix, weight.array
    assert weight.form is not None
    return _times_matrices, _entries(weight.form)


def _dtype(t: Term) -> Any:
    return t.array.dtype if t.form is None else t.form.values.dtype  # type: ignore[union-attr]


def _times_matrix(values: Array, weight: Array, block: BlockPartition) -> Array:
    return kernels(values).linear(values, weight, None, component_splits(block)[-1])


def _times_vector(values: Array, weight: Array, block: BlockPartition) -> Array:
    xp = namespace(values)
    out = kernels(values).linear(values, xp.expand_dims(weight, axis=1), None, component_splits(block)[-1])
    return out[..., 0]


def _times_matrices(values: Array, weight: Array, block: BlockPartition) -> Array:
    return kernels(values).grouped_matmul(values, weight, component_splits(block))


def _by_address(p: Product, ragged: list[str], contracted: list[str], capacity: int | None) -> Any:
    """One product for each element of the block that all ragged letters span, summed where letters are contracted."""
    sizes = {c: n for c, n in p.sizes.items() if n is not None}
    known: dict[str, Any] = {}
    for t in p.terms:
        if t.form is not None:
            known = {c: n for c, n in zip(t.letters, t.form.sizes, strict=True) if c in ragged} | known
    kept = p.out[: block_axes(tuple(sizes.get(c, known.get(c)) for c in p.out))]
    span = kept + "".join(contracted)
    entries: Sizes = tuple(sizes[c] if c in sizes else known[c] for c in span)
    lead = p.forms[0]
    union = block_of_sizes(entries, 0, kernels(lead.block.sizes))
    limit = min((_most(t.form, sizes, span, t.letters) for t in p.terms if t.form is not None and t.ragged
                 and set(ragged) <= set(t.letters)), default=None)  # fmt: skip
    cap = capacity if not contracted else None
    bound, ok = bound_of(union, None, limit if limit is not None else capacity, cap)
    union = BlockPartition(union.sizes, axes=union.axes, bound=bound)
    arrays = tuple(t.array if t.form is None else t.form.values for t in p.terms)
    blocks = tuple(None if t.form is None else t.form.block for t in p.terms)
    terms = tuple(t.letters for t in p.terms)
    static: dict[str, Any] = {"terms": terms, "span": span, "sizes": tuple(sorted(sizes.items()))}
    static |= {"out": p.out[len(kept) :], "slot": p.rows}
    values = lead_kernels(p).call(_elementwise, arrays, blocks, union, **static)
    if not contracted:
        return reassemble(lead, union, fill_unless(_cast(values, p.dtype), ok))
    if not kept:
        summed = lead_kernels(p).call(_total, values, union)
        return reassemble(lead, None, fill_unless(_cast(summed, p.dtype), ok))
    left = block_of_sizes(entries[: len(kept)], 0, kernels(lead.block.sizes))
    most, fit = bound_of(left, None, bound, capacity)
    values, made = lead_kernels(p).call(_summed, values, union, kept=len(kept), limit=most)
    result = BlockPartition(made.sizes, axes=made.axes, bound=int(values.shape[0]))
    return reassemble(lead, result, fill_unless(fill_unless(_cast(values, p.dtype), ok), fit))


def lead_kernels(p: Product) -> Kernels:
    """The backend that a product is computed in."""
    return kernels(p.forms[0].values)


def _most(form: Form, sizes: dict[str, int], span: str, letters: str) -> int:
    """Elements of the span, whose ragged letters are all in this operand."""
    extra = 1
    axes = dict(zip(letters, form.axes, strict=True))
    for c in span:
        if c in sizes and (c not in axes or letters.index(c) >= len(form.block.axes)):
            extra *= sizes[c]
    return form.block.bound * extra


def _elementwise(
    arrays: Any,
    blocks: Any,
    union: BlockPartition,
    *,
    terms: tuple[str, ...],
    span: str,
    sizes: Any,
    out: str,
    slot: str,
) -> Array:
    e = elements(union, union.bound)
    at = dict(zip(span, e.at, strict=True))
    given = dict(sizes)
    met, spec = [], []
    for a, block, letters in zip(arrays, blocks, terms, strict=True):
        if block is None:
            a, block = _once(a, union)
            e_here = Elements(namespace(e.component).zeros_like(e.component), e.at)
            e_here = Elements(
                namespace(e.component).where(e.component < union.nrows, e_here.component, e_here.component + 1), e.at
            )
        else:
            e_here = e
        inner = letters[len(block.axes) :]
        count = max((i + 1 for i, c in enumerate(inner) if c in span), default=0)
        form = absorb_inner_axes(Form(a, block, (), 0, union), count)
        a, block = form.values, form.block
        mine = letters[: len(block.axes)]
        rest = "".join(c for c in mine if c not in span)
        met.append(_gather(a, block, e_here, mine, at, given, rest))
        spec.append(slot + rest + letters[len(mine) :])
    k = kernels(met[0])
    return k.einsum(",".join(spec) + "->" + slot + out, *met)


def _once(a: Array, union: BlockPartition) -> tuple[Array, BlockPartition]:
    """A plain array as the only component of its kind."""
    return entries(namespace(a).expand_dims(a, axis=0), a.ndim, union.sizes)


def _gather(
    a: Array, block: BlockPartition, e: Elements, letters: str, at: dict[str, Array], sizes: dict[str, int], rest: str
) -> Array:
    """The part of an operand that each element meets: ``[elements, *rest, *inner]``; 0 in slack."""
    k, xp = kernels(block.sizes), namespace(block.sizes)
    count, dtype = e.component.shape[0], block.sizes.dtype
    component = e.component
    rank = len(rest)

    def column(v: Array) -> Array:
        return xp.reshape(v, (count, *(1,) * rank))

    slot = column(k.pick(starts(block), component))
    there = column(component < block.nrows)
    for letter, step, size in zip(letters, steps(block), extents(block), strict=True):
        here = column(k.pick(step, component))
        if letter in at:
            slot = slot + here * column(at[letter])
            continue
        i = rest.index(letter)
        n = sizes[letter]
        along = xp.reshape(xp.arange(n, dtype=dtype), (1, *(1,) * i, n, *(1,) * (rank - i - 1)))
        slot = slot + here * along
        if not isinstance(size, int):
            there = there & (along < column(k.pick(size, component)))
    slot = xp.where(there, slot, xp.asarray(a.shape[0], dtype=slot.dtype))
    return pick_at(a, slot)


def _total(values: Array, union: BlockPartition) -> Array:
    splits = component_splits(union)
    return kernels(values).segment_reduce("sum", values, Segments(union.nrows, splits=splits))


def _summed(values: Array, union: BlockPartition, *, kept: int, limit: int) -> tuple[Array, BlockPartition]:
    reduced = tuple(range(kept, len(union.axes)))
    made, segments = groups(union, reduced, union.bound, limit)
    return kernels(values).segment_reduce("sum", values, segments), made


def _in_buckets(p: Product, bucket: Any, capacity: int | None) -> Any:
    stacked = [t for t in p.terms if t.form is not None]
    forms = p.forms
    letters = [(t.letters, t.form.block.axes) for t in stacked if t.form is not None]

    def shapes(key: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        each = iter(key)
        most: dict[str, int] = {}
        for mine, axes in letters:
            for c, n in zip(mine, axes, strict=False):
                size = next(each) if n is None else n
                known = p.sizes[c]
                most[c] = max(most.get(c, 0), size) if known is None else known
        return tuple(tuple(most[c] for c in mine[: len(axes)]) for mine, axes in letters)

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        known: dict[str, Any] = {}
        for t, mine in zip(stacked, sizes, strict=True):
            known = dict(zip(t.letters, mine, strict=True)) | known
        for t in p.terms:
            known |= {c: p.sizes[c] for c in t.letters if p.sizes[c] is not None}
        return [tuple(known[c] for c in p.out)]

    spec = ",".join(t.letters if t.form is None else p.rows + t.letters for t in p.terms) + "->" + p.rows + p.out
    order = tuple(t.form is not None for t in p.terms)
    extras = tuple(t.array for t in p.terms if t.array is not None)
    work = Work(
        _product, forms, rule, extras=extras, shapes=shapes, bucket=bucket, capacity=capacity,
        static=(("dtype", str(p.dtype)), ("order", order), ("spec", spec)),
    )  # fmt: skip
    (result,) = work.run()
    return result


def _product(
    k: Kernels, stacks: tuple[Array, ...], sizes: Any, extras: tuple[Array, ...], *,
    spec: str, order: tuple[bool, ...], dtype: str,
) -> tuple[Array, ...]:  # fmt: skip
    some, others = iter(stacks), iter(extras)
    arrays = [next(some) if stacked else next(others) for stacked in order]
    out = k.einsum(spec, *arrays)
    return (namespace(out).astype(out, k.dtype(dtype.rsplit(".", 1)[-1], out), copy=False),)
