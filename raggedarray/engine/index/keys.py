"""Reading a key: which step each axis takes. Static checks are here; data is read only where it is concrete.

Every axis of a key is indexed by itself, as with `take` on one axis after the other; index arrays side by side
broadcast together and go pointwise, as in NumPy. An index array stands where its first axis was.
"""

from itertools import pairwise
from math import prod
from operator import index as as_int
from typing import Any, NamedTuple

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text
from ..._typing import Array
from ...backends import Kernels, common, is_array, kernels, kind, namespace
from ..broadcast.rows import move_to
from ..indices import index_like
from ..rearrange.rows import inner_axes_to_levels
from .gather import ALL, INDEX_LIMIT, NEW, Step

SHAPE = "Check `x.shape`."


class IndexPlan(NamedTuple):
    """A key, read: ``x`` (perhaps with inner axes as uniform levels), new axes in front, steps, operands."""

    x: RaggedArray
    leading: int
    drop: bool
    """Whether the first axis of the selection goes: it was one row."""
    steps: tuple[Step, ...]
    inner: tuple[Step, ...]
    operands: tuple[Any, ...]


def as_items(key: Any) -> tuple[Any, ...]:
    """The parts of a key; lists as arrays."""
    items = key if isinstance(key, tuple) else (key,)
    return tuple(common([]).asarray(i, dtype=None if i else "int32") if isinstance(i, list) else i for i in items)


def expand(items: tuple[Any, ...], shape: Any) -> list[Any]:
    """One item per axis, and the new axes; masks as the index arrays of what is true in them."""
    taken = [1 if i is not None and i is not ... else 0 for i in items]
    taken = [i.ndim if _is_mask(i) else t for i, t in zip(items, taken, strict=True)]
    if sum(taken) > len(shape):
        raise IndexError(error_text(f"at most {len(shape)} indices", str(sum(taken)), "Check `x.shape`."))
    dots = [n for n, i in enumerate(items) if i is ...]
    if len(dots) > 1:
        raise IndexError(error_text("one `...`", str(len(dots)), "Write the other axes as `:`."))
    fill = [slice(None)] * (len(shape) - sum(taken))
    cut = dots[0] if dots else len(items)
    parts = [*items[:cut], *fill, *items[cut + 1 :]]
    out: list[Any] = []
    axis = 0
    for item in parts:
        if _is_mask(item):
            out += _true_index(item, shape[axis : axis + item.ndim], axis)
            axis += item.ndim
            continue
        out.append(item)
        axis += item is not None
    return out


def _is_mask(item: Any) -> bool:
    return is_array(item) and not isinstance(item, RaggedArray) and item.ndim > 0 and kind(item.dtype) == "bool"


def _true_index(mask: Any, shape: Any, axis: int) -> list[Any]:
    if tuple(mask.shape) != tuple(shape):
        got = f"bool {tuple(mask.shape)}"
        raise IndexError(error_text(f"a mask of shape {tuple(shape)} at axis {axis}", got, "Use a ragged mask."))
    if not kernels(mask).is_concrete(mask):
        advice = "Call `ra.boolean_mask(x, mask, size=)`." if axis == 0 else "Use `ra.where(mask, x, 0)`."
        what = "a static row count" if axis == 0 else "a mask that can be read"
        raise DynamicShapeError(error_text(what, "a traced mask" if axis == 0 else "a traced one", advice))
    return [common([]).index(i) for i in kernels(mask).host(mask).nonzero()]


def read(x: RaggedArray, items: list[Any]) -> IndexPlan:
    """The steps of a key without ragged parts and masks, one item per axis of ``x``."""
    arrays = [i for i in items if is_array(i) and i.ndim]
    k = common([x.values, *arrays])
    x = move_to(k, x).used_values()
    leading = next((n for n, i in enumerate(items) if i is not None), len(items))
    items = items[leading:]
    axes = [n for n, i in enumerate(items) if is_array(i) and i.ndim]
    shape: tuple[int, ...] = ()
    if axes:
        between = items[axes[0] : axes[-1] + 1]
        if len(axes) > 1 and any(i is None or isinstance(i, slice) for i in between):
            got = "something between them"
            raise IndexError(error_text("index arrays on neighbouring axes", got, "Index one axis at a time."))
        shape = _broadcast([tuple(items[n].shape) for n in axes])
        last = sum(i is not None for i in items[: axes[-1] + 1])
        if len(axes) > 1 and last > x.ragged_rank + 1:  # pointwise with a ragged axis, or within the inner shape
            x = inner_axes_to_levels(x, last - 1)
    steps: list[Step] = []
    operands: list[Any] = []
    drop = False
    axis, paired = 0, False
    for item in items:
        if item is None:
            steps.append(NEW)
            continue
        size = x.shape[axis]
        inner = axis > x.ragged_rank
        if isinstance(item, slice):
            step = _slice(item, size, axis, operands)
        elif is_array(item) and item.ndim:
            step = _array(k, x.values, item, size, axis, operands, shape, "each" if paired else "take")
            paired = True
        else:
            drop = drop or axis == 0
            step = _item(item, size, axis, operands, inner)
        if inner and size is not None:
            _check_traced(item, size, axis)
        steps.append(step)
        axis += 1
    head = _head(steps, x.ragged_rank + 1)
    return IndexPlan(x, leading, drop, tuple(steps[:head]), tuple(steps[head:]), tuple(operands))


def _head(steps: list[Step], axes: int) -> int:
    """How many steps belong to axis 0 and the partitions; new axes behind them go to the inner shape."""
    for n, step in enumerate(steps, start=1):
        axes -= step != NEW
        if axes == 0:
            return n
    raise AssertionError("a step for every axis")


def bounds_of(item: slice) -> tuple[int | None, int | None, int]:
    """The bounds of a slice, which must be static."""
    try:
        start, stop = (None if b is None else as_int(b) for b in (item.start, item.stop))
        stride = 1 if item.step is None else as_int(item.step)
    except TypeError as error:
        if any(is_array(b) and not kernels(b).is_concrete(b) for b in (item.start, item.stop, item.step)):
            advice = "Use `ra.narrow(x, axis, start, length)`."
            raise DynamicShapeError(error_text("a slice with static bounds", "traced ones", advice)) from None
        raise IndexError(error_text("a slice of integers", repr(item), "Use ints or None.")) from error
    if stride == 0:
        raise ValueError(error_text("a slice step other than 0", "0", "Use 1 for every entry."))
    return start, stop, max(min(stride, INDEX_LIMIT), -INDEX_LIMIT)


def slice_step(item: slice) -> Step:
    """The step of a slice along an axis behind the first."""
    bounds = bounds_of(item)
    return ALL if bounds in ((None, None, 1), (0, None, 1)) else Step("slice", bounds=bounds)


def int_of(item: Any) -> int | None:
    """A single index as an int; None where it is traced."""
    if is_array(item) and not kernels(item).is_concrete(item) and kind(item.dtype) in ("int", "uint"):
        return None
    try:
        if isinstance(item, bool):
            raise TypeError
        return as_int(item)
    except TypeError:
        got, convert = f"{type(item).__name__} {item!r}", "Convert it, or use `ra.boolean_mask`."
        raise IndexError(error_text("ints, slices, `...`, None and arrays of them", got, convert)) from None


def in_axis(i: int, size: int, axis: int, advice: str = SHAPE) -> int:
    """An index within an axis of static size, from 0."""
    if not -size <= i < size:
        what = (
            f"a row from {-size} to {size - 1}" if axis == 0 else f"an index from {-size} to {size - 1} on axis {axis}"
        )
        raise IndexError(error_text(what, str(i), "Check `len(x)`." if axis == 0 else advice))
    return i % size


def plain_steps(
    k: Kernels, values: Array, items: list[Any], axis: int, advice: str = SHAPE
) -> tuple[tuple[Step, ...], tuple[Any, ...]]:
    """What `index_inner` needs for a key of the axes behind the first of a plain array; errors call them ``axis`` on.

    At most one of the items is an index array.
    """
    steps: list[Step] = []
    operands: list[Any] = []
    sizes = iter(values.shape[1:])
    for item in items:
        if item is None:
            steps.append(NEW)
            continue
        size = next(sizes)
        if isinstance(item, slice):
            steps.append(slice_step(item))
        elif is_array(item) and item.ndim:
            shape = tuple(item.shape)
            steps.append(_array(k, values, item, size, axis, operands, shape, "take", advice))
        else:
            steps.append(_item(item, size, axis, operands, True, advice))
        _check_traced(item, size, axis, advice)
        axis += 1
    return tuple(steps), tuple(operands)


def _check_traced(item: Any, size: int, axis: int, advice: str = SHAPE) -> None:
    """Check at run time that a traced index is within an axis of static size."""
    if not is_array(item) or kernels(item).is_concrete(item) or not kernels(item).checking() or 0 in item.shape:
        return
    xp = namespace(item)
    low, high = xp.min(item), xp.max(item)
    text = error_text(f"indices from {-size} to {size - 1} on axis {axis}", "{low} to {high}", advice)
    kernels(item).check((low >= -size) & (high < size), text, low=low, high=high)


def _slice(item: slice, size: int | None, axis: int, operands: list[Any]) -> Step:
    if axis:
        return slice_step(item)
    assert size is not None
    start, stop, stride = slice(*bounds_of(item)).indices(size)
    if (start, stop, stride) == (0, size, 1):
        return ALL
    count = len(range(start, stop, stride))
    operands.append(start if count else 0)
    stride = stride if count > 1 else 1  # it may be too long for an index
    return Step("run", len(operands) - 1, (count,), (None, None, stride))


def _item(item: Any, size: int | None, axis: int, operands: list[Any], inner: bool, advice: str = SHAPE) -> Step:
    i = int_of(item)
    if i is None:
        operands.append(item)
        return Step("take" if inner else "at", len(operands) - 1)
    at = i if size is None else in_axis(i, size, axis, advice)
    if inner:
        return Step("at", bounds=(at, None, 1))
    operands.append(max(min(i, INDEX_LIMIT), -INDEX_LIMIT))
    return Step("at", len(operands) - 1)


def _array(
    k: Kernels,
    like: Any,
    item: Any,
    size: int | None,
    axis: int,
    operands: list[Any],
    shape: tuple[int, ...],
    how: str,
    advice: str = SHAPE,
) -> Step:
    if kind(item.dtype) not in ("int", "uint"):
        got = f"{item.dtype} {tuple(item.shape)}"
        raise IndexError(error_text("ints, slices, `...`, None and arrays of them", got, "Convert it."))
    repeats = prod(item.shape) if axis else 1 if prod(item.shape) < 2 else None
    if kernels(item).is_concrete(item):
        known = kernels(item).host(item).reshape(-1)
        if size is not None:
            bad = ((known < -size) | (known >= size)).nonzero()[0]
            if bad.size:
                what = f"rows from {-size} to {size - 1}" if axis == 0 else f"indices from {-size} to {size - 1}"
                got = f"{known[bad[0]]} at position {bad[0]}"
                raise IndexError(error_text(what, got, "Check `len(x)`." if axis == 0 else advice))
            known = common([]).index(known) % max(size, 1)
        if (size is not None or (known >= 0).all() or (known < 0).all()) and known.size:
            repeats = _most_equal(known) * (prod(shape) // known.size)
        elif not known.size:
            repeats = 0
    moved = index_like(like, item)
    if tuple(moved.shape) != shape:
        moved = namespace(moved).broadcast_to(moved, shape)
    operands.append(moved)
    return Step(how, len(operands) - 1, shape, repeats=repeats)


def _most_equal(known: Any) -> int:
    known = known.copy()
    known.sort()
    edges = (known[1:] != known[:-1]).nonzero()[0] + 1
    ends = [0, *edges.tolist(), known.size]
    return max(int(b) - int(a) for a, b in pairwise(ends))


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    ndim = max(map(len, shapes))
    out = []
    for sizes in zip(*((1,) * (ndim - len(s)) + s for s in shapes), strict=True):
        size = next((n for n in sizes if n != 1), 1)
        if any(n not in (1, size) for n in sizes):
            got = " and ".join(map(str, shapes))
            raise IndexError(error_text("index arrays that broadcast", got, "Give them one shape."))
        out.append(size)
    return tuple(out)
