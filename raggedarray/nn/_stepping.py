"""The host part that recurrences share: which rows they run along, and states, which are one item a row."""

from collections.abc import Callable
from typing import Any

from .._array import RaggedArray, rebuild
from .._errors import error_text
from .._partition import RowPartition, UniformPartition, entry_counts
from .._typing import Array
from ..backends import is_array, is_half, kind, namespace
from ..engine.along_axis import Along, row_limit
from ..engine.arguments import ragged_only
from ..engine.axes import normal_axes
from ..engine.options import describe
from ..structure.agreement import agree_levels, cut


def rows_along(x: Any, axis: int | None = None) -> RowPartition:
    """The innermost row partition of ``x``, which ``axis`` must name if it is given."""
    last = ragged_only(x).partitions[-1]
    if not isinstance(last, RowPartition):
        got, advice = f"shape {x.shape}", "Use `ra.to_rows`, or `ra.map_components`."
        raise ValueError(error_text("rows along one ragged axis", got, advice))
    if axis is not None:
        (at,) = normal_axes(axis, x.ndim)
        if at != x.ragged_rank:
            got, advice = f"axis {axis} of shape {x.shape}", "Rows run along that axis."
            raise ValueError(error_text(f"the innermost ragged axis, {x.ragged_rank}", got, advice))
    return last


def limit(x: RaggedArray, max_length: int | None) -> tuple[int | None, Any]:
    """A static limit of the row lengths, if one is known, and whether the rows keep to it: True, or traced."""
    return row_limit(x, Along(x.ragged_rank, 0), max_length)


def state_rows(x: RaggedArray, state: Any, what: str) -> Array:
    """A state given as ``[nrows, *item]``, or for nested rows as an array of their structure: one item a row."""
    outer = x.partitions[:-1]
    if isinstance(state, RaggedArray):
        error = ValueError(error_text(f"{what} for rows {_outer(x)}", f"shape {state.shape}", "One item a row."))
        if not outer or len(state.partitions) != len(outer):
            raise error
        agree_levels(outer, state.partitions, error)
        return _sized(state.values, x.partitions[-1].nrows)
    lead = _outer(x)
    if not is_array(state):
        raise TypeError(error_text(f"{what} for rows {lead}", describe(state), "Spread it with `broadcast_to`."))
    if None in lead or tuple(state.shape[: len(lead)]) != lead:
        advice = "Give each row its own." if outer else "Spread it with `broadcast_to`."
        raise ValueError(error_text(f"{what} for rows {lead}", f"shape {tuple(state.shape)}", advice))
    return namespace(state).reshape(state, (x.partitions[-1].nrows, *state.shape[len(lead) :]))


def _outer(x: RaggedArray) -> tuple[int | None, ...]:
    below = (p.length if isinstance(p, UniformPartition) else None for p in x.partitions[:-1])
    return (x.nrows, *below)


def _sized(values: Array, count: int) -> Array:
    """As many items as there are rows, slack ones included."""
    have = values.shape[0]
    if have >= count:
        return values[:count, ...]
    xp = namespace(values)
    return xp.concat((values, xp.zeros((count - have, *values.shape[1:]), dtype=values.dtype)))


def per_row(x: RaggedArray, values: Array) -> Any:
    """One item a row as the caller sees it: ``[nrows, *item]``, or an array of nested rows."""
    return rebuild(x.partitions[:-1], values)


def common_dtype(arrays: list[Array], *, kinds: tuple[str, ...] = ("float",)) -> tuple[Any, Any]:
    """The dtype of the result, and the one to compute in: halves are computed in float32."""
    xp = namespace(arrays[0])
    for a in arrays:
        if kind(a.dtype) not in kinds:
            want = f"{' or '.join(kinds)} arrays"
            raise TypeError(error_text(want, f"dtype {a.dtype}", "Convert it with `ra.astype`."))
    out = xp.result_type(*arrays)
    return out, xp.float32 if is_half(out) else out


def cast(arrays: Any, dtype: Any) -> Any:
    """Arrays of nested tuples in one dtype; None stays."""
    if isinstance(arrays, tuple):
        return tuple(cast(a, dtype) for a in arrays)
    return None if arrays is None else namespace(arrays).astype(arrays, dtype, copy=False)


def same_rows(xs: list[RaggedArray]) -> tuple[RaggedArray, list[Array]]:
    """An array with the rows that all of these have, and the values of each over its slots."""
    first, *others = xs
    for v in others:
        if len(v.partitions) != len(first.partitions):
            raise ValueError(error_text(f"arrays of rows {_outer(first)}", f"{_outer(v)}", "Align them first."))
        error = ValueError(error_text(f"rows like {first.shape}", f"{v.shape}", "Align them first."))
        agree_levels(first.partitions, v.partitions, error)
    capacity = min(v.capacity for v in xs)
    if capacity < first.capacity:
        counts = entry_counts(first.partitions, first.capacity)
        first = RaggedArray(first.values[:capacity, ...], cut(first.partitions, (*counts[:-1], capacity)))
    return first, [v.values[:capacity, ...] for v in xs]


class Stepper:
    """A function of pytrees as one of lists of arrays, which checks what it returns."""

    def __init__(self, f: Callable[[Any, Any], tuple[Any, Any]], tree: Any, held: Any, element: Any) -> None:
        self._f, self._tree, self._held, self._given = f, tree, held, element
        self.structure: Any = None
        """Of the outputs, once it has been called."""

    def __call__(self, carry: list[Array], element: list[Array]) -> tuple[list[Array], list[Array]]:
        """``f(carry, element)``."""
        tree = self._tree
        result: Any = self._f(tree.unflatten(self._held, carry), tree.unflatten(self._given, element))
        if not (isinstance(result, tuple | list) and len(result) == 2):
            got = f"{len(result)} results" if isinstance(result, tuple | list) else describe(result)
            raise TypeError(error_text("`f` to return a pair (carry, output)", got, "Return both."))
        new, y = result
        after, held = tree.flatten(new, None)
        ys, self.structure = tree.flatten(y, None)
        if held != self._held:
            raise TypeError(error_text(f"a carry of structure {self._held}", f"{held}", "Keep the structure."))
        for old, now in zip(carry, after, strict=True):
            want, got = f"{old.dtype} {tuple(old.shape)}", f"{getattr(now, 'dtype', type(now).__name__)}"
            got += f" {tuple(getattr(now, 'shape', ()))}"
            if want != got:
                raise TypeError(error_text(f"a carry of {want}", got, "Convert it, or `init`."))
        for out in ys:
            if not is_array(out) or tuple(out.shape[:1]) != (element[0].shape[0],):
                got = f"shape {tuple(out.shape)}" if is_array(out) else type(out).__name__
                raise ValueError(error_text(f"outputs of {element[0].shape[0]} rows", got, "Keep the rows."))
        return after, ys
