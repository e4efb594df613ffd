"""Recurrences along rows: each row starts from its own initial state and ends with its own final one.

Rows may come in any order of length. An empty row keeps its initial state, and nothing that is not an element of a row
changes its state. With ``reverse=True`` each row is read from its end; outputs stand where their inputs do. Rows of
nested arrays are those of the innermost ragged axis; the final state is then an array of the outer structure.

Under jit the loops of `rnn`, `gru`, `lstm` and `linear_recurrence` end with the longest row, and their memory is
linear in the capacity. ``max_length`` is a promise: rows that are longer raise, or under plain jit give NaN everywhere.
All are differentiated in every mode, to any order. Halves are computed in float32.
"""

from collections.abc import Callable
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import RowPartition
from .._typing import Array
from ..backends import common, generic, implementation, is_array, kernels, kind, namespace, transforms
from ..backends.generic.recurrence import CELLS
from ..engine.arguments import is_scalar
from ..engine.broadcast.rows import BroadcastPlan, lay_out, move_to, plan, to_common_backend
from ..engine.options import check_bool, describe, need_shape, plain_only
from ..engine.overflow import both, fill_unless
from ..ops.elementwise.selection import astype
from ..structure.levels import longest_row
from ._stepping import Stepper, cast, common_dtype, limit, per_row, rows_along, same_rows, state_rows

__all__ = ["gru", "linear_recurrence", "lstm", "rnn", "scan"]


def rnn(
    x: RaggedArray, w_ih: Array, w_hh: Array, bias: Any = None, /, *, initial: Any = None, reverse: bool = False,
    max_length: int | None = None,
) -> tuple[RaggedArray, Any]:  # fmt: skip
    """``h = tanh(x @ w_ih + h @ w_hh + bias)`` along each row: ``[nrows, (len), D]`` to ``[nrows, (len), H]``.

    Returns ``(outputs, final)``, in torch's order: the outputs, of the capacity of ``x``, and the final states
    ``[nrows, H]``. ``w_ih`` is ``[D, H]``, ``w_hh`` is ``[H, H]``, ``bias`` is ``[H]`` or a pair of them, for the input
    and the hidden side. ``initial`` is ``[nrows, H]``, by default 0; an empty row ends with it. (Elman, Finding
    structure in time, 1990)

    >>> x = ragged([[1.0, 2.0], [], [3.0]])
    >>> one = np.ones((1, 1))
    >>> h, last = rnn(x.map_values(lambda v: v[:, None]), one, one)
    >>> h.shape, last.round(3).tolist()
    ((3, None, 1), [[0.992], [0.0], [0.995]])
    """
    return _layer("rnn", x, w_ih, w_hh, bias, initial, reverse, max_length)


def gru(
    x: RaggedArray, w_ih: Array, w_hh: Array, bias: Any = None, /, *, initial: Any = None, reverse: bool = False,
    max_length: int | None = None,
) -> tuple[RaggedArray, Any]:  # fmt: skip
    """Gated recurrent units along each row: ``[nrows, (len), D]`` to ``[nrows, (len), H]``.

    Returns ``(outputs, final)``, in torch's order: the outputs, of the capacity of ``x``, and the final states
    ``[nrows, H]``. ``w_ih`` is ``[D, 3 * H]``, ``w_hh`` is ``[H, 3 * H]``: reset gate, update gate, new state, as in
    torch, transposed. ``bias`` is ``[3 * H]``, or a pair, for the input and the hidden side (the reset gate applies
    after the latter). ``initial`` is ``[nrows, H]``, by default 0; an empty row ends with it. (Cho et al., 2014)

    >>> x = ragged([np.ones((2, 4)), np.ones((0, 4))])
    >>> h, last = gru(x, np.zeros((4, 6)), np.zeros((2, 6)), initial=np.ones((2, 2)))
    >>> h.tolist(), last.tolist()
    ([[[0.5, 0.5], [0.25, 0.25]], []], [[0.25, 0.25], [1.0, 1.0]])
    """
    return _layer("gru", x, w_ih, w_hh, bias, initial, reverse, max_length)


def lstm(
    x: RaggedArray, w_ih: Array, w_hh: Array, bias: Any = None, /, *, initial: Any = None, reverse: bool = False,
    max_length: int | None = None,
) -> tuple[RaggedArray, tuple[Any, Any]]:  # fmt: skip
    """Long short-term memory along each row: ``[nrows, (len), D]`` to ``[nrows, (len), H]``.

    Returns ``(outputs, (h, c))``, in torch's order: the outputs, of the capacity of ``x``, and the final states,
    ``[nrows, H]`` each. ``w_ih`` is ``[D, 4 * H]``, ``w_hh`` is ``[H, 4 * H]``: input gate, forget gate, cell, output
    gate, as in torch, transposed. ``bias`` is ``[4 * H]``, or a pair. ``initial`` is a pair ``(h, c)``, by default 0;
    an empty row ends with it. (Hochreiter and Schmidhuber, 1997; Gers et al., 2000)

    >>> x = ragged([np.ones((2, 3)), np.ones((0, 3))])
    >>> h, (last, cell) = lstm(x, np.zeros((3, 4)), np.zeros((1, 4)), np.array([0.0, 0.0, 1.0, 0.0]))
    >>> h.shape, cell.round(3).tolist()
    ((2, None, 1), [[0.571], [0.0]])
    """
    return _layer("lstm", x, w_ih, w_hh, bias, initial, reverse, max_length)


def _layer(
    how: str, x: Any, w_ih: Any, w_hh: Any, bias: Any, initial: Any, reverse: bool, max_length: int | None
) -> tuple[RaggedArray, Any]:
    _op, gates, states = f"nn.{how}", CELLS[how].gates, CELLS[how].states
    rows_along(x)
    reverse = check_bool("reverse", reverse)
    for name, w in (("w_ih", w_ih), ("w_hh", w_hh)):
        plain_only(f"{name} as a matrix", w)
    pair = isinstance(bias, tuple | list)
    biases = tuple(bias) if pair else (bias, None)
    if states > 1 and not (initial is None or isinstance(initial, tuple | list)):
        raise TypeError(error_text("a pair (h, c) as `initial`", describe(initial), "Pass a tuple."))
    states_before = () if initial is None else tuple(initial) if states > 1 else (initial,)
    if len(biases) != 2 or len(states_before) not in (0, states):
        what = (
            ("one bias or a pair", len(biases))
            if len(biases) != 2
            else (f"{states} initial states", len(states_before))
        )
        raise ValueError(error_text(what[0], str(what[1]), "Pass (input, hidden) biases, (h, c) states."))
    present = [b for b in biases if b is not None]
    k, moved = to_common_backend((x, w_ih, w_hh, *present, *states_before))
    x, w_ih, w_hh, *rest = moved
    taken = iter(rest)
    biases = tuple(None if b is None else next(taken) for b in biases)
    _check_shapes(x, w_ih, w_hh, biases, gates)
    hidden = w_hh.shape[0]
    begin = tuple(state_rows(x, s, "initial states") for s in taken)
    for s in begin:
        if tuple(s.shape[1:]) != (hidden,):
            raise ValueError(error_text(f"initial states of size ({hidden},)", f"{tuple(s.shape[1:])}", "As w_hh."))
    common_dtype([x.values, w_ih, w_hh, *(b for b in biases if b is not None), *begin])
    _, ok = limit(x, max_length)
    static = {"ok": ok, "how": how, "states": states, "reverse": reverse, "limit": max_length}
    out, final = k.call(_run, x.values, x.partitions[-1], (w_ih, w_hh), biases, begin, **static)
    last = tuple(per_row(x, s) for s in final)
    return RaggedArray(out, x.partitions), last if states > 1 else last[0]


def _check_shapes(x: RaggedArray, w_ih: Any, w_hh: Any, biases: tuple[Any, ...], gates: int) -> None:
    if len(x.inner_shape) != 1:
        raise ValueError(error_text("rows of vectors, (nrows, None, D)", f"shape {x.shape}", "Use one inner axis."))
    if w_hh.ndim != 2 or w_hh.shape[1] != gates * w_hh.shape[0]:
        want = f"w_hh of shape (H, {gates} * H)" if gates > 1 else "w_hh of shape (H, H)"
        raise ValueError(error_text(want, f"{tuple(w_hh.shape)}", "Transpose torch's weights."))
    want_ih = (x.inner_shape[0], w_hh.shape[1])
    if tuple(w_ih.shape) != want_ih:
        raise ValueError(error_text(f"w_ih of shape {want_ih}", f"{tuple(w_ih.shape)}", "Check the axes."))
    for b in biases:
        if b is not None:
            need_shape("a bias", b, want_ih[1:])


def _run(
    values: Array, rows: RowPartition, weights: Any, biases: Any, initial: Any, /, *, ok: Any, how: str, states: int,
    reverse: bool, limit: int | None,
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    xp = namespace(values)
    operands = [values, *weights, *(b for b in biases if b is not None), *initial]
    out, wide = common_dtype(operands)
    if not initial:
        initial = (xp.zeros((rows.nrows, weights[1].shape[0]), dtype=wide),) * states
    values, weights, biases, initial = cast((values, weights, biases, initial), wide)
    outputs, final = implementation(kernels(values), generic.recurrence)(
        how, values, weights, biases, initial, rows.splits, reverse=reverse, limit=limit
    )
    outputs, final = cast((outputs, final), out)
    return fill_unless(outputs, ok), tuple(fill_unless(s, ok) for s in final)


def linear_recurrence(
    a: Any, b: RaggedArray, /, *, initial: Any = None, reverse: bool = False, max_length: int | None = None
) -> RaggedArray:
    """``h[t] = a[t] * h[t - 1] + b[t]`` along each row, element by element: ``[nrows, (len), *inner]``, as ``b``.

    The state of diagonal state-space models and linear recurrent units. ``a`` has the rows of ``b``, or is an array or
    number that broadcasts with it, such as ``[*inner]``; both may be complex. A row starts from ``initial``,
    ``[nrows, *inner]``, by default 0. Same capacity. On JAX it takes ``O(log(capacity))`` steps for all rows at once
    (Martin and Cundy, Parallelizing linear recurrent neural nets over sequence length, 2018); nothing crosses rows,
    neither NaN nor infinity.

    >>> linear_recurrence(0.5, ragged([[1.0, 0.0, 0.0], [], [4.0]])).tolist()
    [[1.0, 0.5, 0.25], [], [4.0]]
    >>> x = ragged([[1.0, 1.0], [2.0]])
    >>> linear_recurrence(x, x, initial=np.array([10.0, 20.0])).tolist()
    [[11.0, 12.0], [42.0]]
    """
    rows_along(b)
    reverse = check_bool("reverse", reverse)
    k, moved = to_common_backend((b, a) if initial is None else (b, a, initial))
    b, a, *begin = moved
    if is_array(a) and kind(a.dtype) in ("int", "uint"):
        a = astype(a, b.dtype)  # as weak as a number
    elif is_scalar(a) and not isinstance(a, complex):
        a = float(a)
    met = plan([b, a])
    t = met.template
    if t.shape[: t.ragged_rank + 1] != b.shape[: b.ragged_rank + 1] or not _broadcasts(met):
        got = f"{tuple(a.shape)}"
        raise ValueError(error_text(f"`a` that broadcasts to {b.shape}", got, "Repeat `b` first."))
    start = tuple(state_rows(b, s, "initial states") for s in begin)
    for s in start:
        if tuple(s.shape[1:]) != b.inner_shape:
            got = f"{tuple(s.shape[1:])}"
            raise ValueError(error_text(f"initial states of shape {b.inner_shape}", got, "One item a row."))
    arrays = [b.values, *([] if is_scalar(a) else [a.values if isinstance(a, RaggedArray) else a]), *start]
    common_dtype(arrays, kinds=("float", "complex"))
    _, ok = limit(b, max_length)
    ok = both(ok, met.ok)
    static = {"states": met.states, "ok": ok, "reverse": reverse}
    return RaggedArray(k.call(_run_linear, t, start, *met.operands, **static), t.partitions)


def _broadcasts(met: BroadcastPlan) -> bool:
    """Whether the inner axes of the second operand stretch to those of the first."""
    b, a = met.operands
    if is_scalar(a):
        return True
    small, large = a.inner_shape[::-1], b.inner_shape[::-1]
    return len(small) <= len(large) and all(m in (1, n) for m, n in zip(small, large, strict=False))


def _run_linear(
    t: RaggedArray, initial: tuple[Array, ...], *operands: Any, states: Any, ok: Any, reverse: bool
) -> Array:
    b, a = lay_out(BroadcastPlan(t, operands, states))
    xp, rows = namespace(b), t.partitions[-1]
    assert isinstance(rows, RowPartition)
    a = xp.asarray(a, dtype=b.dtype) if is_scalar(a) else a
    out, wide = common_dtype([a, b, *initial], kinds=("float", "complex"))
    a, b, initial = cast((xp.broadcast_to(a, b.shape), b, initial), wide)
    recurrence = implementation(kernels(b), generic.linear_recurrence)
    outputs = recurrence(a, b, initial[0] if initial else None, rows.splits, reverse=reverse)
    return fill_unless(cast(outputs, out), ok)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, x: Any, /, *, axis: int = 1, reverse: bool = False,
    max_length: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Run ``carry, y = f(carry, element)`` along each row, all rows side by side.

    Returns ``(carry, ys)``, in the order of `jax.lax.scan`, which is not that of `rnn`, `gru` and `lstm`: the last
    carry, and every ``y``.

    ``f`` gets one element of each row, ``[nrows, *inner]``, and a carry whose arrays are ``[nrows, ...]``, as ``init``
    is; it returns a carry of the same shapes and dtypes, and outputs ``[nrows, ...]``, which become
    ``[nrows, (len), ...]``. Carry, outputs and ``x`` may be pytrees; the arrays of ``x`` have equal rows. For a
    function of one row pass ``jax.vmap(f)``. ``axis`` is the innermost ragged axis.

    A row that has ended keeps its carry: ``f`` still gets it, with the row's last element, and what comes of it is
    dropped, in the gradient too. So rows must not be mixed in ``f``. Under jit it takes as many steps as
    ``max_length``, by default the capacity; steps after the longest row are skipped, but they cost memory. Outside jit
    every call compiles ``f`` anew.

    >>> x = ragged([[1, 2, 3], [], [4]])
    >>> carry, seen = scan(lambda c, v: (c + v, c), np.zeros(3, int), x)
    >>> carry.tolist(), seen.tolist()
    ([6, 0, 4], [[0, 1, 3], [], [0]])
    """
    if not callable(f):
        raise TypeError(error_text("a function of a carry and an element", describe(f), "Pass it first."))
    reverse = check_bool("reverse", reverse)
    tree = transforms()
    leaves, structure = tree.flatten(x, _is_ragged)
    for v in leaves or [x]:
        rows_along(v, axis)
    begin, held = tree.flatten(init, _is_ragged)
    for c in begin:
        if not (_is_ragged(c) or is_array(c)):
            raise TypeError(error_text("a carry of arrays", type(c).__name__, "Give each row its own."))
    k = common([a.values if _is_ragged(a) else a for a in (*leaves, *begin)])
    moved = [move_to(k, v).used_values() for v in leaves]
    begin = [move_to(k, c) if _is_ragged(c) else k.asarray(c) for c in begin]
    first, values = same_rows(moved)
    carry = [state_rows(first, c, "a carry") for c in begin]
    longest, ok = limit(first, max_length)
    last = first.partitions[-1]
    assert isinstance(last, RowPartition)
    steps = (
        longest_row(last) if k.has_exact_sizes else first.capacity if longest is None else min(longest, first.capacity)
    )
    step = Stepper(f, tree, held, structure)
    carry, ys = implementation(k, generic.scan_rows)(step, carry, values, last.splits, steps=steps, reverse=reverse)
    ended = [per_row(first, fill_unless(c, ok)) for c in carry]
    results = [RaggedArray(fill_unless(y, ok), first.partitions) for y in ys]
    return tree.unflatten(held, ended), tree.unflatten(step.structure, results)


def _is_ragged(x: Any) -> bool:
    return isinstance(x, RaggedArray)
