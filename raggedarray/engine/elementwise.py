"""How an elementwise op runs: operands laid out over the same slots, one function of flat values.

The result has the template's partitions and capacity (used slots only on NumPy), whatever slack holds.
"""

from collections.abc import Callable
from typing import Any, overload

from .._array import RaggedArray, rebuild
from .._errors import error_text
from .._signatures import T
from .._typing import Array
from ..backends import generic, implementation, is_array, kernels, kind, namespace
from .arguments import holds, is_scalar
from .broadcast.rows import BroadcastPlan, lay_out, move_to, plan, to_common_backend
from .overflow import fill_unless

Function = str | Callable[..., Array]
"""A name in the standard, or a function of laid-out operands defined at module level."""


COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))


@overload
def elementwise(function: Function, x: T, /, **static: Any) -> T: ...
@overload
def elementwise(function: Function, /, *operands: Any, **static: Any) -> Any: ...
def elementwise(function: Function, /, *operands: Any, **static: Any) -> Any:
    """Apply a function to operands that broadcast; without a ragged one, by their own library."""
    if function in COMPARISONS:
        operands = _comparable(*operands)
    if not any(isinstance(x, RaggedArray) for x in operands):
        return _dense(function, operands, static)
    first = operands[0]
    if isinstance(first, RaggedArray) and all(is_scalar(x) for x in operands[1:]):  # nothing to lay out
        first = move_to(kernels(first.values), first).used_values()
        values = first.kernels.call(_apply, first.values, *operands[1:], function=function, **static)
        return RaggedArray(values, first.partitions)
    k, moved = to_common_backend(operands)
    met = plan(moved)
    t = met.template
    if all(state is None or set(state) == {"same"} for state in met.states):  # the same slots: nothing to lay out
        flat = [
            x if state is None else x.values[: t.capacity, ...] if x.capacity != t.capacity else x.values
            for x, state in zip(met.operands, met.states, strict=True)
        ]
        return rebuild(t.partitions, k.call(_apply, *flat, function=function, **static))
    args = (met.template, *met.operands)
    values = k.call(_apply_laid_out, *args, function=function, states=met.states, **static)
    return rebuild(met.template.partitions, fill_unless(values, met.ok))


def _comparable(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, of which an int that the other's dtype lacks is infinite on JAX, which would wrap it."""
    for n, other in ((x, y), (y, x)):
        if type(n) is not int or not is_array(other) or kind(other.dtype) not in ("int", "uint"):
            continue
        if not kernels(other.values if isinstance(other, RaggedArray) else other).has_exact_sizes and not holds(
            other, n
        ):
            far = float("inf") if n > 0 else -float("inf")
            return (far, y) if n is x else (x, far)
    return x, y


def _apply(*args: Any, function: Function, **static: Any) -> Array:
    first = next(x for x in args if not is_scalar(x))
    single = isinstance(function, str)
    f = getattr(namespace(first), function) if isinstance(function, str) else function
    return implementation(kernels(first), generic.pointwise)(f, args, static, single=single)


def _apply_laid_out(template: RaggedArray, *operands: Any, function: Function, states: Any, **static: Any) -> Array:
    laid = lay_out(BroadcastPlan(template, operands, states))
    return _apply(*laid, function=function, **static)


def _dense(function: Function, operands: tuple[Any, ...], static: dict[str, Any]) -> Any:
    for i, x in enumerate(operands):
        if not (is_scalar(x) or is_array(x)):
            advice = "Make a list an array first, with `ra.ragged` or `ra.asarray`."
            raise TypeError(
                error_text("ragged arrays, arrays or numbers", f"{type(x).__name__} as operand {i}", advice)
            )
    if all(is_scalar(x) for x in operands):
        raise TypeError(error_text("at least one array", "only numbers", "Use Python's own operators."))
    _, moved = to_common_backend(operands)
    return _apply(*moved, function=function, **static)
