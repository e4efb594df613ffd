"""Components in dense stacks: read by address, worked on, and put back end to end."""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, TypeAlias

from ..._errors import error_text
from ..._partition import BlockPartition
from ..._typing import Array
from ...backends import kernels, namespace
from ...structure.blocks import extents, pack, starts, steps
from ..along_axis import pick_at
from ..bucket_size import bucket_size
from ..host import host_namespace
from ..overflow import check_capacity, fill_unless
from .form import Form, Sizes, block_axes, block_of_sizes, packed_like, reassemble
from .shape_inference import READ

Body = Callable[..., tuple[Array, ...]]
"""``body(stacks, sizes, *shared, **static)``: results stacked as the operands are.

``sizes`` are those of each operand's components: ints, or ``int[count]`` along axes that are padded.
"""

Rule: TypeAlias = Callable[[list[Sizes]], list[Sizes]]
"""Sizes of the results from the sizes of the operands: an entry that is an int is a uniform axis."""

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
"""What each operand's components are read at: sizes along the axes of its block."""


class Bucket(NamedTuple):
    """Components that are worked on together."""

    shapes: Shapes
    members: Any
    """Their indices; one past the last component is none. A list of ints where they are sliced."""


class Buckets(NamedTuple):
    """How components are divided."""

    each: tuple[Bucket, ...]
    exact: bool
    """Whether components fill their stacks."""
    place: Array | None
    """Where each component is among the members of all buckets; None where they are sliced."""
    slots: tuple[list[int], ...] = ()
    """Of each operand, where components begin that are sliced."""
    of_component: tuple[int, ...] = ()
    """The bucket of each component, where sizes can be read."""
    ok: Any = True
    """Whether each component has a place: True, or traced."""


def read(values: Array, block: BlockPartition, members: Array, shape: tuple[int, ...]) -> Array:
    """Some components as a stack ``[count, *shape, *inner]``; 0 behind the end of each."""
    k, xp = kernels(block.sizes), namespace(block.sizes)
    rank = len(shape)

    def column(a: Array) -> Array:
        return xp.reshape(k.pick(a, members), (members.shape[0], *(1,) * rank))

    slot = column(starts(block))
    inside = xp.reshape(members < block.nrows, (members.shape[0], *(1,) * rank))
    for r, (n, size, step) in enumerate(zip(shape, extents(block), steps(block), strict=True)):
        at = xp.reshape(xp.arange(n, dtype=block.sizes.dtype), (1, *(1,) * r, n, *(1,) * (rank - r - 1)))
        slot = slot + column(step) * at
        if not isinstance(size, int):
            inside = inside & (at < column(size))
    slot = xp.where(inside, slot, xp.asarray(values.shape[0], dtype=slot.dtype))
    return pick_at(values, slot)


def slices(
    forms: tuple[Form, ...], shapes: tuple[tuple[int, ...], ...], members: list[int], slots: tuple[list[int], ...]
) -> tuple[tuple[Array, ...], tuple[Sizes, ...]]:
    """The same for components that lie end to end, at these slots, where data can be read and slicing is free."""
    stacks, sizes = [], []
    for form, shape, begin in zip(forms, shapes, slots, strict=True):
        xp, size, inner = namespace(form.values), prod(shape), tuple(form.values.shape[1:])
        views = [xp.reshape(form.values[begin[i] : begin[i] + size, ...], (1, *shape, *inner)) for i in members]
        stacks.append(views[0] if len(views) == 1 else xp.concat(views))
        sizes.append((*shape, *inner))
    return tuple(stacks), tuple(sizes)


def read_all(
    values: tuple[Array, ...], blocks: tuple[BlockPartition, ...], members: Array, *,
    shapes: tuple[tuple[int, ...], ...], exact: bool,
) -> tuple[tuple[Array, ...], tuple[Sizes, ...]]:  # fmt: skip
    """One bucket: a stack of each operand, and the sizes of its components."""
    stacks, sizes = [], []
    for v, block, shape in zip(values, blocks, shapes, strict=True):
        k = kernels(block.sizes)
        stacks.append(read(v, block, members, shape))
        own = shape if exact else tuple(n if isinstance(n, int) else k.pick(n, members) for n in extents(block))
        sizes.append((*own, *v.shape[1:]))
    return tuple(stacks), tuple(sizes)


def work_on(
    values: tuple[Array, ...], blocks: tuple[BlockPartition, ...], members: Array, shared: tuple[Array, ...], *,
    shapes: tuple[tuple[int, ...], ...], exact: bool, body: Body, options: tuple[tuple[str, Any], ...],
) -> list[Array]:  # fmt: skip
    """One bucket, read and worked on."""
    stacks, sizes = read_all(values, blocks, members, shapes=shapes, exact=exact)
    return list(body(stacks, sizes, *shared, **dict(options)))


def each_of(parts: list[Array], place: Array) -> Array:
    """One result of each component."""
    xp = namespace(parts[0])
    return kernels(parts[0]).pick(xp.concat(parts) if len(parts) > 1 else parts[0], place)


def pack_results(parts: list[Array], place: Array, block: BlockPartition, *, count: int) -> Array:
    """Results of all components, packed: in their places they are strided blocks of one buffer."""
    xp, k = namespace(parts[0]), kernels(place)
    flat, begin, along = [], [], []
    first = 0
    for p in parts:
        shape = p.shape[1 : count + 1]
        size = prod(shape)
        flat.append(xp.reshape(p, (p.shape[0] * size, *p.shape[count + 1 :])))
        begin += [first + i * size for i in range(p.shape[0])]
        along += [[prod(shape[r + 1 :]) for r in range(count)]] * p.shape[0]
        first += p.shape[0] * size
    index = namespace(place)
    offsets = k.pick(index.asarray(begin, dtype=place.dtype), place)
    strides = k.pick(index.asarray(along, dtype=place.dtype), place)
    in_places = BlockPartition(block.sizes, strides, offsets, axes=block.axes, bound=block.bound)
    return pack(xp.concat(flat) if len(flat) > 1 else flat[0], in_places, block.bound)


def assign(table: Array, used: Any, buckets: tuple[tuple[tuple[int, ...], int], ...]) -> tuple[Array, Array]:
    """The place of each component, ``int[n]``, and how many found none: those have the number of places."""
    xp = namespace(table)
    n, total = table.shape[0], sum(count for _, count in buckets)
    free = xp.arange(n, dtype=table.dtype) < used
    place = xp.full((n,), total, dtype=table.dtype)
    first = 0
    for shape, count in buckets:
        fits = free & xp.all(table <= xp.asarray(shape, dtype=table.dtype)[None, :], axis=1) if shape else free
        rank = xp.cumulative_sum(xp.astype(fits, table.dtype), dtype=table.dtype) - 1
        taken = fits & (rank < count)
        place = xp.where(taken, rank + first, place)
        free, first = free & ~taken, first + count
    return place, xp.sum(xp.astype(free, table.dtype), dtype=table.dtype)


def put_back(
    forms: tuple[Form, ...], buckets: Buckets, parts: list[list[Array]], rule: Rule, capacity: int | None
) -> list[Any]:
    """The results, of which ``parts`` are those of each bucket."""
    of_operands = [f.sizes for f in forms]
    build = _joined if buckets.place is None else _packed
    results = []
    for i, sizes in enumerate(_sizes(forms, buckets, parts, rule, rule(of_operands))):
        twin = packed_like(sizes, forms, of_operands)
        results.append(build(forms, buckets, [part[i] for part in parts], sizes, twin, capacity))
    return results


def _sizes(
    forms: tuple[Form, ...], buckets: Buckets, parts: list[list[Array]], rule: Rule, by_rule: list[Sizes]
) -> list[Sizes]:
    """Sizes of the results; where those of single shapes can be read and are others, they are read off."""
    of_shapes = [rule([(*s, *f.axes[len(s) :]) for s, f in zip(b.shapes, forms, strict=True)]) for b in buckets.each]
    out = []
    for i, sizes in enumerate(by_rule):
        expected = [rules[i] for rules in of_shapes]
        shapes = [tuple(part[i].shape[1:]) for part in parts]
        _check_shapes(expected, shapes, buckets.exact)
        agrees = [all(s[r] == shape[r] for s, shape in zip(expected, shapes, strict=True)) for r in range(len(sizes))]
        out.append(
            tuple(
                n
                if n is not READ and (same or not buckets.exact)
                else _read_off(forms[0], buckets, [shape[r] for shape in shapes])
                for r, (n, same) in enumerate(zip(sizes, agrees, strict=True))
            )
        )
    return out


def _check_shapes(expected: list[Sizes], shapes: list[tuple[int, ...]], exact: bool) -> None:
    for s, shape in zip(expected, shapes, strict=True):
        if len(s) != len(shape) or (not exact and any(m is READ or m > n for m, n in zip(s, shape, strict=True))):
            advice = "Call `ra.map_components(f, x, shape=)` with a function of the sizes."
            raise ValueError(error_text(f"a result of shape {s}", f"{shape}", advice))


def _read_off(form: Form, buckets: Buckets, of_buckets: list[int]) -> Array:
    """The size of the result of each component, 0 for those in slack."""
    like = form.block.sizes
    sizes = [of_buckets[i] for i in buckets.of_component]
    sizes += [0] * (like.shape[0] - len(sizes))
    if kernels(like).has_exact_sizes:
        return namespace(like).asarray(sizes, dtype=like.dtype)
    on_host: Array = host_namespace().asarray(sizes, dtype="int32")
    return on_host


def _packed(
    forms: tuple[Form, ...], buckets: Buckets, parts: list[Array], sizes: Sizes, twin: BlockPartition | None,
    capacity: int | None,
) -> Any:  # fmt: skip
    """One result, from stacks whose members have places."""
    first, place, ok = forms[0], buckets.place, buckets.ok
    k, count = kernels(first.values), block_axes(sizes)
    if not count:
        return reassemble(first, None, fill_unless(k.call(each_of, parts, place), ok))
    block = block_of_sizes(sizes[:count], 0, kernels(first.block.sizes)) if twin is None else twin
    places = sum(prod(p.shape[: count + 1]) for p in parts)
    bound, fits = bound_of(block, twin, places, capacity)
    block = _with_bound(block, bound)
    values = k.call(pack_results, parts, place, block, count=count)
    return reassemble(first, block, fill_unless(fill_unless(values, ok), fits), forms)


def _joined(
    forms: tuple[Form, ...], buckets: Buckets, parts: list[Array], sizes: Sizes, twin: BlockPartition | None,
    capacity: int | None,
) -> Any:  # fmt: skip
    """One result, where arrays are sliced for free."""
    first, count, xp = forms[0], block_axes(sizes), namespace(parts[0])
    of_component = {
        i: part[p, ...] for b, part in zip(buckets.each, parts, strict=True) for p, i in enumerate(b.members)
    }
    pieces = [of_component[i] for i in range(len(of_component))]
    if not count:
        missing = first.block.nrows - len(pieces)
        return reassemble(first, None, xp.stack([*pieces, *([xp.zeros_like(pieces[0])] * missing)]))
    inner = pieces[0].shape[count:]
    values = xp.concat([xp.reshape(p, (prod(p.shape[:count]), *inner)) for p in pieces])
    if capacity is not None:
        check_capacity(values.shape[0], capacity, "a capacity", "capacity=")
    block = block_of_sizes(sizes[:count], 0, kernels(first.block.sizes)) if twin is None else twin
    return reassemble(first, _with_bound(block, values.shape[0]), values, forms)


def _with_bound(block: BlockPartition, bound: int) -> BlockPartition:
    """The block with this bound: the same one where it has it, which `reassemble` takes for a twin."""
    return block if block.bound == bound else BlockPartition(block.sizes, axes=block.axes, bound=bound)


def bound_of(
    block: BlockPartition, twin: BlockPartition | None, limit: int | None, capacity: int | None
) -> tuple[int, Any]:
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
        if twin is not None:
            return twin.bound, True
        assert limit is not None
        return limit, True
    return capacity, check_capacity(kernels(block.sizes).call(_need, block), capacity, "a capacity", "capacity=")


def _need(block: BlockPartition) -> Array:
    xp = namespace(block.sizes)
    total = xp.sum(xp.prod(block.sizes, axis=1, dtype=block.sizes.dtype), dtype=block.sizes.dtype)
    return total * prod(tuple(n for n in block.axes if n is not None))
