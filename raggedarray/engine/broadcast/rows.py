"""Broadcasting: which entry of each operand meets which slot, decided by structure, never by data.

Shapes are right-aligned. Every operand is seen as levels over a flat axis, as the template is: a dense axis
is a uniform level. The template is the operand that has all axes of the result down to the last ragged one; where
none has, one of them is stretched first. Going down the levels, an operand either has the template's entries
(``same``), one entry for all (``one``), or some entry for each (``index``).
"""

from typing import Any, NamedTuple

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from ..._typing import Array
from ...backends import Kernels, Segments, common, generic, implementation, is_array, kernels, kind, namespace
from ...structure.agreement import agree, agree_lengths, cut, is_uniform
from ...structure.levels import column, composed_splits, library, parents, positions, splits_of, used_mask
from ..arguments import is_scalar
from ..overflow import both
from .blocks import meet_blocks, neutral
from .levels import same_levels
from .mismatch import mismatch
from .stretch import repeated, under_rows, with_unit_axes

State = str
"""``same``, ``one`` or ``index``."""


class BroadcastPlan(NamedTuple):
    """A template, the operands as levels over a flat axis, and how each is laid out (static)."""

    template: RaggedArray
    operands: tuple[Any, ...]
    states: tuple[tuple[State, ...] | None, ...]
    """Per operand its state at each level; None for a Python scalar."""
    ok: Any = True
    """Whether stretched rows agree: True, or traced."""


def to_common_backend(operands: tuple[Any, ...]) -> tuple[Kernels, list[Any]]:
    """Bring operands into one library, without slack where the library trims it, and blocks to one form."""
    for i, x in enumerate(operands):
        if not (isinstance(x, RaggedArray) or is_scalar(x) or is_array(x)):
            advice = "Make a list an array first, with `ra.ragged` or `ra.asarray`."
            raise TypeError(
                error_text("ragged arrays, arrays or numbers", f"{type(x).__name__} as operand {i}", advice)
            )
    arrays = [x.values if isinstance(x, RaggedArray) else x for x in operands if not is_scalar(x)]
    k = common(arrays)
    moved: list[Any] = []
    for x in operands:
        if isinstance(x, RaggedArray):
            moved.append(move_to(k, x).used_values())
        else:
            moved.append(x if is_scalar(x) else k.asarray(x))
    return k, same_levels(moved)


def move_to(k: Kernels, x: RaggedArray, *, device: Any = None, **how: Any) -> RaggedArray:
    """The array in this backend, slots and all, in one transfer; the options are those of `Kernels.move`."""
    indices = [a for p in x.partitions for a in p.arrays()]
    if device is None and kernels(x.values) is k and all(kernels(a) is k for a in indices):
        return x
    values, *moved = k.move(x.values, *indices, device=device, **how)
    rest = iter(moved)
    return RaggedArray(values, tuple(p.map_arrays(lambda _: next(rest)) for p in x.partitions))


def plan(operands: list[Any]) -> BroadcastPlan:
    """Find how these operands (already of one library) meet, or say why they do not."""
    ragged = [x for x in operands if isinstance(x, RaggedArray)]
    if any(x.block is not None for x in ragged):
        return BroadcastPlan(*meet_blocks(operands))
    first = ragged[0]
    if all(is_scalar(x) or x is first or _is_twin(x, first) for x in operands):
        same = ("same",) * (first.ragged_rank + 1)
        return BroadcastPlan(first, tuple(operands), tuple(None if is_scalar(x) else same for x in operands))
    template, operands = _template(operands, ragged)
    levels = [x if is_scalar(x) else _as_levels(x, template) for x in operands]
    states: list[tuple[State, ...] | None] = []
    ok: Any = True
    for x, given in zip(levels, operands, strict=True):
        found, agrees = (None, True) if is_scalar(x) else _states(template, x, given)
        states.append(found)
        ok = both(ok, agrees)
    template = _smallest(template, levels, tuple(states))
    return BroadcastPlan(template, tuple(levels), tuple(states), ok)


def _is_twin(x: Any, first: RaggedArray) -> bool:
    """Whether an operand has the very partitions of another, and values of the same shape."""
    return isinstance(x, RaggedArray) and x.partitions is first.partitions and x.values.shape == first.values.shape


def _template(operands: list[Any], ragged: list[RaggedArray]) -> tuple[RaggedArray, list[Any]]:
    """The operand that the others are laid out over, stretched if need be, and the operands with it in its place."""
    arrays = [x for x in operands if not is_scalar(x)]
    tallest = max(ragged, key=lambda x: x.ragged_rank)
    if _has_all_axes(tallest, arrays):
        return tallest, operands
    ndim, inner = max(x.ndim for x in arrays), min(len(x.inner_shape) for x in ragged)
    shapes = [(*(1,) * (ndim - x.ndim), *x.shape) for x in arrays]
    met = [{n for n in sizes if n != 1} for sizes in zip(*(s[: ndim - inner] for s in shapes), strict=True)]
    if any(len(sizes) > 1 for sizes in met):
        return _tallest(arrays, ragged), operands
    want = [sizes.pop() if sizes else 1 for sizes in met]

    def cost(x: RaggedArray) -> tuple[int, int, int]:
        have = (*(1,) * (ndim - x.ndim), *x.shape)
        lacks = [n for m, n in zip(have, want, strict=False) if m != n]
        return lacks.count(None), len(lacks), -x.ragged_rank

    chosen = min((x for x in ragged if len(x.inner_shape) == inner), key=cost)
    t = with_unit_axes(chosen, ndim - chosen.ndim)
    for level, n in enumerate(want):
        if t.shape[level] == n:
            continue
        t = repeated(t, level, n) if n is not None else under_rows(t, level, _rows_of(t, level, arrays))
    return t, operands if t is chosen else [t if x is chosen else x for x in operands]


def _has_all_axes(t: RaggedArray, arrays: list[Any]) -> bool:
    """Whether no operand has an axis, down to the last ragged one, on which the template is 1 or another size."""
    shape, front, inner = t.shape, t.ragged_rank + 1, t.values.ndim
    for x in arrays:
        missing = len(shape) - x.ndim
        if missing < 0 or (isinstance(x, RaggedArray) and x.values.ndim < inner):
            return False
        if any(m not in (1, n) for m, n in zip(x.shape, shape[missing:front], strict=False)):
            return False
    return True


def _tallest(arrays: list[Any], ragged: list[RaggedArray]) -> RaggedArray:
    """The operand to name where shapes do not fit, under the leading axes of others."""
    t = max(ragged, key=lambda x: (x.ragged_rank, x.ndim))
    ndim = max(x.ndim for x in arrays)
    extra, sizes = ndim - t.ndim, [1] * (ndim - t.ndim)
    for x in arrays:
        for i, n in enumerate(x.shape[:extra] if x.ndim == ndim else ()):
            if n is None or (1 not in (n, sizes[i]) and n != sizes[i]):
                raise mismatch(t, x)
            sizes[i] = n if sizes[i] == 1 else sizes[i]
    t = with_unit_axes(t, extra)
    for level, n in enumerate(sizes):
        t = repeated(t, level, n) if n != 1 else t
    return t


def _rows_of(t: RaggedArray, level: int, arrays: list[Any]) -> RowPartition:
    """The rows along the axis ``level``, on which the template has size 1, of each of its entries above."""
    given = next(x for x in arrays if level - t.ndim + x.ndim >= 0 and x.shape[level - t.ndim] is None)
    x = _as_levels(given, t)
    states, _ = _states(t, x, given, above=level)
    p = x.partitions[level - 1]
    assert isinstance(p, RowPartition)
    if set(states) != {"same"}:
        p = RowPartition(t.kernels.call(_met_splits, t, x, states=states))
    if not t.kernels.is_concrete(p, t.partitions):
        got = f"traced row lengths of shapes {t.shape} and {tuple(given.shape)}"
        raise DynamicShapeError(error_text("one operand as large as the result", got, "Broadcast outside jit."))
    return p


def _as_levels(x: Any, template: RaggedArray) -> RaggedArray:
    """An operand with as many partitions as the template, right-aligned; dense axes are uniform levels."""
    missing = template.ndim - x.ndim
    if isinstance(x, RaggedArray):
        values, item = x.values, x.inner_shape
        partitions = ((UniformPartition(1, x.nrows),) if missing else ()) + x.partitions
        partitions = (UniformPartition(1, 1),) * (missing - 1) + partitions
        entries = x.capacity
    else:
        values, partitions = x, ()
        entries, *rest = ((1,) * missing) + tuple(x.shape)
        item = tuple(rest)
    unfolded = template.ragged_rank - len(partitions)
    if unfolded < 0:
        raise mismatch(template, x)
    for n in item[:unfolded]:
        partitions = (*partitions, UniformPartition(entries, n))
        entries *= n
    shape = (entries, *item[unfolded:])
    return RaggedArray(values if values.shape == shape else namespace(values).reshape(values, shape), partitions)


def _states(t: RaggedArray, x: RaggedArray, given: Any, *, above: int | None = None) -> tuple[tuple[State, ...], Any]:
    """The state of an operand at each level of the template, and whether it agrees; raises if an axis does not fit.

    ``above`` names a level at which to stop.
    """
    ok: Any = True
    rows = x.partitions[0].nrows
    if rows == t.nrows:
        state = "same"
    elif rows == 1:
        state = "one"
    else:
        raise mismatch(t, given)
    states = [state]
    for level, (pt, px) in enumerate(zip(levels_only(t.partitions), levels_only(x.partitions), strict=True), start=1):
        if level == above:
            return tuple(states), ok
        if isinstance(px, UniformPartition):
            stretches = px.length == 1
            if isinstance(pt, UniformPartition) and (pt.length == px.length or stretches):
                if (state == "one" and not stretches) or (state == "same" and pt.length != px.length):
                    state = "index"
            elif stretches:
                state = "index" if state == "same" else state
            else:
                raise mismatch(t, given)
        elif isinstance(pt, RowPartition):
            if state == "same":
                agree(pt, px, level, outermost=is_uniform(t.partitions[: level - 1]))
            else:
                met = kernels(px.splits).call(_met_lengths, t, x, states=tuple(states))
                agrees = agree_lengths(pt, met, level)
                ok = both(ok, agrees)
                state = "index"
        else:
            raise mismatch(t, given)
        states.append(state)
    for a, b in zip(reversed(t.inner_shape), reversed(x.inner_shape), strict=False):
        if a != b and 1 not in (a, b):
            raise mismatch(t, given)
    return tuple(states), ok


def _smallest(t: RaggedArray, levels: list[Any], states: tuple[tuple[State, ...] | None, ...]) -> RaggedArray:
    """The template, cut to the smallest capacity at each level of the operands that share its entries."""
    sizes = list(entry_counts(t.partitions, t.capacity))
    for x, state in zip(levels, states, strict=True):
        if state is not None:
            for level, n in enumerate(entry_counts(x.partitions, x.capacity)):
                if state[level] == "same":
                    sizes[level] = min(sizes[level], n)
    if sizes == list(entry_counts(t.partitions, t.capacity)):
        return t
    return RaggedArray(t.values[: sizes[-1], ...], cut(t.partitions, tuple(sizes)))


def lay_out(plan: BroadcastPlan) -> list[Any]:
    """Each operand over the slots of the template (in the body of an op).

    An operand that is spread over rows is 1 in slack (`neutral`), and gets no gradient from there.
    """
    t = plan.template
    return [
        x if state is None else _lay_out_one(t, x, state) for x, state in zip(plan.operands, plan.states, strict=True)
    ]


def _lay_out_one(t: RaggedArray, x: RaggedArray, states: tuple[State, ...]) -> Array:
    if states[-1] == "same":
        return x.values[: t.capacity, ...] if x.capacity != t.capacity else x.values
    if states[-1] == "one":
        return _spread_one(t, x.values)
    first = states.index("index")
    if states[first - 1] == "same" and _stretch(x.partitions[first - 1 :]):
        splits = composed_splits(t.partitions[first - 1 :], library(t.partitions, t.values))
        segments = Segments(splits.shape[0] - 1, splits=splits)
        spread = implementation(kernels(x.values), generic.spread)
        return spread(x.values[: segments.num, ...], segments, t.capacity, fill=neutral(x.values))
    return kernels(x.values).pick(x.values, _index(t, x, states), fill=neutral(x.values))


def _spread_one(t: RaggedArray, values: Array) -> Array:
    xp, k = namespace(values), kernels(values)
    if k.has_exact_sizes or kind(values.dtype) not in ("float", "complex"):
        return values
    mask = used_mask(t.partitions, t.capacity)
    return xp.where(column(mask, values), values, xp.full_like(values, neutral(values)))


def _stretch(partitions: tuple[Partition, ...]) -> bool:
    return all(isinstance(p, UniformPartition) and p.length == 1 for p in partitions)


def _index(t: RaggedArray, x: RaggedArray, states: tuple[State, ...]) -> Array:
    """Which entry of the operand each entry of the template meets at level ``len(states) - 1``.

    One past the last entry in slack.
    """
    like = library(t.partitions, t.values)
    xp, k = namespace(like), kernels(like)
    counts, mine = entry_counts(t.partitions, t.capacity), entry_counts(x.partitions, x.capacity)
    index = xp.arange(counts[0], dtype=like.dtype) if states[0] == "same" else xp.zeros((counts[0],), dtype=like.dtype)
    for level, (pt, px) in enumerate(zip(levels_only(t.partitions), levels_only(x.partitions), strict=True), start=1):
        if level == len(states):
            break
        above = parents(pt, counts[level], like)
        at = positions(pt, above)
        met = k.pick(index, above)
        if isinstance(px, RowPartition):
            inside = k.pick(px.splits[:-1], met) + at
        else:
            inside = met * px.length + (at if px.length > 1 else xp.zeros_like(at))
        known = (above < counts[level - 1]) & (met < mine[level - 1])
        index = xp.where(known, inside, xp.asarray(mine[level], dtype=inside.dtype))
    return index


def _met_splits(t: RaggedArray, x: RaggedArray, *, states: tuple[State, ...]) -> Array:
    return splits_of(_met_lengths(t, x, states=states))


def _met_lengths(t: RaggedArray, x: RaggedArray, *, states: tuple[State, ...]) -> Array:
    """The operand's row lengths on the axis below ``states``, as the template's entries meet them."""
    p = x.partitions[len(states) - 1]
    assert isinstance(p, RowPartition)
    return kernels(p.splits).pick(p.lengths, _index(t, x, states))
