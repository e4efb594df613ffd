"""Axes added, dropped, permuted and stretched; the entries and their order stay.

Rows and ragged axes keep their places: an axis is ragged because rows differ along it, which has no meaning
elsewhere. What happens to inner axes happens to the plain values, as views on NumPy.
"""

from math import prod
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import Partition, UniformPartition, entry_counts, uniform_levels
from ..._signatures import like_first
from ..._typing import Array, Shape
from ...backends import namespace
from ...engine.arguments import is_scalar, ragged_only, sizes_of
from ...engine.axes import axes_in_order
from ...engine.broadcast.rows import BroadcastPlan, lay_out, plan, to_common_backend
from ...engine.overflow import fill_unless
from ...engine.rearrange.reshape_blocks import expand_block, permute_block, squeeze_block, stretch_block
from ...engine.rearrange.rows import array_of, move
from ...structure.index_maps import Move
from ...structure.levels import library, take_rows
from .merging import merge_rows

__all__ = [
    "broadcast_arrays", "broadcast_to", "expand_dims", "moveaxis", "permute_dims", "reshape", "squeeze",
    "with_inner_shape",
]  # fmt: skip


@like_first
def expand_dims(x: Any, /, axis: int | tuple[int, ...]) -> Any:
    """A new axis of size 1 at position ``axis`` of the result: same values, same capacity.

    Behind the last ragged axis it is an inner axis, before that a uniform one between ragged ones; it is
    never ragged. Several axes are positions in the result. Plain arrays too.

    >>> expand_dims(ragged([[1, 2], [3]]), axis=1).shape
    (2, 1, None)
    """
    x = _views(x)
    wanted = axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(axes_in_order(wanted, x.ndim + len(wanted)))
    for a in axes:
        x = _expand(x, a)
    return x


def _expand(x: Any, a: int) -> Any:
    if not isinstance(x, RaggedArray):
        return namespace(x).expand_dims(x, axis=a)
    if x.block is not None and a:
        return expand_block(x, a)
    if a > x.ragged_rank:
        shape = (*x.values.shape[: a - x.ragged_rank], 1, *x.values.shape[a - x.ragged_rank :])
        return RaggedArray(x.xp.reshape(x.values, shape), x.partitions)
    if a == 0:
        return RaggedArray(x.values, (UniformPartition(1, x.nrows), *x.partitions))
    entries = entry_counts(x.partitions, x.capacity)[a - 1]
    return RaggedArray(x.values, (*x.partitions[: a - 1], UniformPartition(entries, 1), *x.partitions[a - 1 :]))


def _views(x: Any) -> Any:
    """An operand, blocks as they are: what happens to their axes moves nothing."""
    return x if isinstance(x, RaggedArray) and x.block is not None else array_of(x)


def squeeze(x: Any, /, axis: int | tuple[int, ...], *, size: int | None = None) -> Any:
    """Axes of size 1 dropped: same values, same capacity. A ragged axis is never one, whatever its lengths.

    Dropping axis 0 in front of a ragged axis makes the entries of the one row the rows of the result, or a
    plain array: see `merge_dims` for ``size``. Plain arrays too.

    >>> squeeze(ragged([np.ones((2, 1)), np.ones((3, 1))]), axis=2).shape
    (2, None)
    """
    x = _views(x)
    if not isinstance(x, RaggedArray):
        return namespace(x).squeeze(x, axis=axis)
    axes = sorted(axes_in_order(axis, x.ndim), reverse=True)
    for a in axes:
        if x.shape[a] != 1:
            got = f"axis {a} of shape {x.shape}"
            raise ValueError(error_text("an axis of size 1", got, "Name another, or take `x[i]`."))
    for a in axes:
        if x.block is not None:
            x = squeeze_block(x, a)
        elif a > x.ragged_rank:
            shape = tuple(n for i, n in enumerate(x.values.shape) if i != a - x.ragged_rank)
            x = RaggedArray(x.xp.reshape(x.values, shape), x.partitions)
        elif a:
            x = RaggedArray(x.values, (*x.partitions[: a - 1], *x.partitions[a:]))
        else:
            x = merge_rows(x, 1, size)
    return x


def with_inner_shape(x: RaggedArray, /, shape: int | tuple[int, ...]) -> RaggedArray:
    """The inner axes in another shape of as many elements, -1 for one size to be found: same rows, same capacity.

    >>> with_inner_shape(ragged([np.ones((2, 6)), np.ones((1, 6))]), (2, -1)).shape
    (2, None, 2, 3)
    """
    x = ragged_only(x).used_values()
    wanted = sizes_of(shape, many=True)
    return RaggedArray(x.values, x.partitions) if wanted == x.inner_shape else _with_inner(x, wanted)


def _with_inner(x: RaggedArray, shape: Any) -> RaggedArray:
    shape = shape if isinstance(shape, tuple) else (shape,)
    have, stated = prod(x.inner_shape), prod(n for n in shape if n != -1)
    if shape.count(-1) == 1 and stated > 0 and have % stated == 0:
        shape = tuple(have // stated if n == -1 else n for n in shape)
    if min(shape, default=0) < 0 or prod(shape) != have:
        raise ValueError(error_text(f"a shape of {have} elements, as {x.inner_shape}", str(shape), "Check it."))
    return RaggedArray(x.xp.reshape(x.values, (x.capacity, *shape)), x.partitions)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Another shape of as many elements. Of a RaggedArray only the inner axes change: the others must stay.

    >>> reshape(ragged([np.ones((2, 6)), np.ones((1, 6))]), (2, None, 2, 3)).shape
    (2, None, 2, 3)
    """
    x = array_of(x)
    if not isinstance(x, RaggedArray):
        return namespace(x).reshape(x, shape, copy=copy)
    outer = x.depth + 1
    wanted = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if wanted[:outer] != x.shape[:outer]:
        advice = "Use `ra.merge_dims` or `ra.split_dims`."
        raise ValueError(error_text(f"a shape that begins with {x.shape[:outer]}", str(wanted), advice))
    out = _with_inner(x, sizes_of(wanted[outer:], many=True))
    return RaggedArray(namespace(out.values).asarray(out.values, copy=True), out.partitions) if copy else out


@like_first
def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """Axes in another order; ragged ones must stay where they are: same capacity.

    Inner axes change places among themselves, as a view on NumPy; so do the rows and the uniform axes before the
    first ragged one, by one gather. No axis may pass a ragged one. Plain arrays too.

    >>> permute_dims(ragged([np.ones((2, 3, 4)), np.ones((1, 3, 4))]), (0, 1, 3, 2)).shape
    (2, None, 4, 3)
    """
    return _permute(_views(x), tuple(axes))


def _permute(x: Any, axes: tuple[int, ...]) -> Any:
    order = axes_in_order(axes, x.ndim)
    if len(order) != x.ndim:
        raise ValueError(error_text(f"{x.ndim} axes", str(axes), "Name each axis once."))
    if not isinstance(x, RaggedArray):
        return namespace(x).permute_dims(x, order)
    if x.block is not None:
        return permute_block(x, order)
    rank, first = x.ragged_rank, x.shape.index(None)
    for place, a in enumerate(order):
        if (a < first) != (place < first) or (a > rank) != (place > rank) or (first <= a <= rank and a != place):
            got = f"axis {a} in place {place} of shape {x.shape}"
            raise ValueError(error_text(f"axes {first} to {rank} in place", got, "No axis passes a ragged one."))
    inner = (0, *(a - rank for a in order[rank + 1 :]))
    if inner != tuple(range(len(inner))):
        x = RaggedArray(x.xp.permute_dims(x.values, inner), x.partitions)
    outer = order[:first]
    if outer == tuple(range(first)):
        return x
    sizes = tuple(n for n in x.shape[:first] if n is not None)
    below = x.partitions[first - 1 :]
    limits = entry_counts(below, x.capacity)[1:]
    values, partitions = x.kernels.call(_permute_rows, x.values, below, sizes=sizes, order=outer, limits=limits)
    first_size, *others = (sizes[a] for a in outer)
    return RaggedArray(values, (*uniform_levels(first_size, tuple(others)), *partitions))


def _permute_rows(
    values: Array, partitions: Any, *, sizes: tuple[int, ...], order: tuple[int, ...], limits: tuple[int, ...]
) -> tuple[Array, tuple[Partition, ...]]:
    like = library(partitions, values)
    xp = namespace(like)
    rows = xp.reshape(xp.arange(prod(sizes), dtype=like.dtype), sizes)
    return take_rows(values, partitions, xp.reshape(xp.permute_dims(rows, order), (-1,)), limits)


@like_first
def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Any:
    """Axes moved to other places, the rest in order: what `permute_dims` can do to a RaggedArray.

    >>> moveaxis(ragged([np.ones((2, 3, 4)), np.ones((1, 3, 4))]), -1, 2).shape
    (2, None, 4, 3)
    """
    x = _views(x)
    taken, places = (axes_in_order(axis, x.ndim) for axis in (source, destination))
    if len(taken) != len(places):
        got = f"{len(taken)} and {len(places)}"
        raise ValueError(error_text("as many sources as destinations", got, "Pair them."))
    order = [a for a in range(x.ndim) if a not in taken]
    for place, a in sorted(zip(places, taken, strict=True)):
        order.insert(place, a)
    return _permute(x, tuple(order))


def broadcast_to(x: Any, /, shape: Shape) -> Any:
    """``x`` stretched to ``shape``, where None stands for its own ragged axes: axes of size 1 and new ones in front.

    Along inner axes a view on NumPy. The capacity is that of ``x``, times the sizes that rows and axes before
    a ragged one are stretched to. To give a plain array the rows of another use `broadcast_arrays`.

    >>> broadcast_to(ragged([[[1], [2]], [[3]]], item_shape=(None, 1)), (2, None, 3)).tolist()
    [[[1, 1, 1], [2, 2, 2]], [[3, 3, 3]]]
    """
    x = _views(x)
    shape = shape if isinstance(shape, tuple | list) else (sizes_of(shape),)
    shape = tuple(n if n is None else sizes_of(n) for n in shape)
    if not isinstance(x, RaggedArray):
        if None in shape:
            advice = "Use `ra.broadcast_arrays` with a RaggedArray."
            raise ValueError(error_text("sizes for a plain array", str(shape), advice))
        return namespace(x).broadcast_to(x, shape)
    have = (*(1,) * (len(shape) - x.ndim), *x.shape)
    if len(shape) < x.ndim or any(m != n and (m != 1 or n is None) for m, n in zip(have, shape, strict=True)):
        advice = "Only axes of size 1 stretch; None keeps a ragged one."
        raise ValueError(error_text(f"a shape that {x.shape} stretches to", str(shape), advice))
    if x.block is not None:
        return stretch_block(x, shape)
    for _ in range(len(shape) - x.ndim):
        x = _expand(x, 0)
    rank = x.ragged_rank
    copies = {a: n for a, (m, n) in enumerate(zip(x.shape, shape, strict=True)) if m != n and n is not None}
    x = move(x, {a: Move("tile", n) for a, n in copies.items() if a <= rank})
    if any(a > rank for a in copies):
        x = RaggedArray(x.xp.broadcast_to(x.values, (x.capacity, *shape[rank + 1 :])), x.partitions)
    return x


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Every array stretched to the shape they broadcast to: with a RaggedArray among them, all are RaggedArrays.

    Rows and capacity are those of the one that is as large as the result; where none is, the capacity is that of one
    of them times the sizes it is stretched to. Values that are stretched are 1 in slack.

    >>> [x.tolist() for x in broadcast_arrays(ragged([[1, 2], [3]]), np.array([[10], [20]]))]
    [[[1, 2], [3]], [[10, 10], [20]]]
    """
    for i, x in enumerate(arrays):
        if is_scalar(x):
            raise TypeError(error_text("arrays", f"{x!r} as operand {i}", "Make it an array."))
    if not arrays:
        return ()
    k, moved = to_common_backend(arrays)
    if not any(isinstance(x, RaggedArray) for x in moved):
        return tuple(namespace(moved[0]).broadcast_arrays(*moved))
    met = plan(moved)
    t = met.template
    shape = _stretched(t.capacity, t.inner_shape, [x.inner_shape for x in met.operands])
    values = k.call(_spread_out, t, *met.operands, states=met.states, shape=shape)
    return tuple(rebuild(t.partitions, fill_unless(v, met.ok)) for v in values)


def _stretched(capacity: int, inner: tuple[int, ...], others: list[tuple[int, ...]]) -> tuple[int, ...]:
    sizes = list(inner)
    for shape in others:
        for i, n in enumerate(reversed(shape), start=1):
            sizes[-i] = n if sizes[-i] == 1 else sizes[-i]
    return (capacity, *sizes)


def _spread_out(t: RaggedArray, *operands: Any, states: Any, shape: tuple[int, ...]) -> list[Array]:
    laid = lay_out(BroadcastPlan(t, operands, states))
    return [_spread_inner(v, shape) for v in laid]


def _spread_inner(v: Array, shape: tuple[int, ...]) -> Array:
    xp = namespace(v)
    if v.ndim < len(shape):
        v = xp.reshape(v, (v.shape[0], *(1,) * (len(shape) - v.ndim), *v.shape[1:]))
    return v if v.shape == shape else xp.broadcast_to(v, shape)
