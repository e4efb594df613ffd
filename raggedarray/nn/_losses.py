"""Losses, and how they are averaged: over all elements, over each row, or not at all.

``reduction`` is ``"mean"`` (one number, over all that counts), ``"sum"``, ``"row_mean"`` (``[nrows]``, each row's own
mean, so that long rows weigh no more than short ones once these are averaged) or ``"none"`` (one per element, ragged,
same capacity). A mean over nothing, of an empty row or an empty batch, is 0, and its gradient too. Losses are computed
in float32 at least and returned in the dtype of the operands. Slack counts nowhere. Plain arrays are taken too.
"""

from typing import Any, NamedTuple

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array
from ..backends import common, is_array, kernels, kind, namespace
from ..engine.arguments import holds, is_scalar, sizes_of
from ..engine.broadcast.rows import BroadcastPlan, lay_out, plan, to_common_backend
from ..engine.dense import dense_logsumexp
from ..engine.indices import widened
from ..engine.options import check_bool, check_real_scalar, in_range, need_shape, operand
from ..engine.overflow import fill_unless
from ..engine.reduce import accumulator
from ..structure.levels import column, used_mask
from ._ids import check_ids, need_ids, never_empty
from ._reductions import finished, in_rows, need_reduction, packed, reduced

__all__ = ["binary_cross_entropy", "cross_entropy", "huber_loss", "kl_div", "mse_loss"]


def cross_entropy(
    logits: Any, targets: Any, /, *, weight: Any = None, ignore_index: int | None = None, label_smoothing: Any = 0.0,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Cross entropy of classes: ``[nrows, (len), *inner, classes]`` and targets to a number, or as ``reduction`` says.

    Targets are ids ``[nrows, (len), *inner]``, or probabilities in the shape of the logits. ``weight`` is
    ``[classes]``; with ids a mean is divided by the weights of the targets. Targets equal to ``ignore_index`` count
    nowhere. ``label_smoothing`` mixes targets with the uniform distribution (Szegedy et al., 2016). All as in torch,
    but for means over nothing, which are 0, and that no id is ignored unless asked. Ids outside the classes
    raise `IndexError`, or under jit give NaN.

    >>> logits = ragged([[[0.0, 0.0], [0.0, 2.0]], []], item_shape=(None, 2))
    >>> targets = ragged([[0, 1], []])
    >>> cross_entropy(logits, targets).round(4)
    np.float64(0.41)
    >>> cross_entropy(logits, targets, reduction="row_mean").round(4)
    array([0.41, 0.  ])
    """
    need_reduction(reduction)
    label_smoothing = check_real_scalar("label_smoothing", label_smoothing)
    sane = in_range("label_smoothing from 0 to 1", label_smoothing, "Pass a share.", low=0, high=1)
    ignore_index = None if ignore_index is None else sizes_of(ignore_index)
    logits, targets = operand(logits), operand(targets)
    operands = (logits, targets) if weight is None else (logits, targets, weight)
    logits, targets, *rest = map(packed, operands)
    moved = targets
    if kind(targets.dtype) in ("int", "uint"):
        moved = widened(targets, common([a.values if isinstance(a, RaggedArray) else a for a in (logits, targets)]))
    k, (z, y, *rest) = to_common_backend((logits, moved, *rest))
    if isinstance(z, RaggedArray) is not isinstance(y, RaggedArray) or not z.ndim:
        what = f"{type(logits).__name__} and {type(targets).__name__}"
        raise TypeError(error_text("logits and targets that are both ragged, or both plain", what, "Convert one."))
    ids, classes = kind(y.dtype) != "float", z.shape[-1]
    if kind(z.dtype) != "float" or (isinstance(z, RaggedArray) and not z.inner_shape):
        got = f"{z.dtype} of shape {z.shape}"
        raise ValueError(error_text("floating logits with an inner axis of classes", got, "Check the axes."))
    want = z.shape[:-1] if ids else z.shape
    if tuple(y.shape) != tuple(want):
        got = f"{tuple(y.shape)}"
        raise ValueError(error_text(f"targets of shape {tuple(want)} for logits {tuple(z.shape)}", got, "Check them."))
    if rest:
        need_shape("a weight", rest[0], (classes,), "Pass one per class.")
    if not ids and ignore_index is not None:
        got = f"probabilities and ignore_index={ignore_index}"
        raise ValueError(error_text("ids where some are ignored", got, "Drop it, or pass ids."))
    if ids:
        need_ids(y, "targets")
        ignore_index = ignore_index if ignore_index is not None and holds(y, ignore_index) else None
        check_ids(targets, classes, what="targets", ignore=ignore_index)
    smooth = not is_scalar(label_smoothing) or label_smoothing != 0
    static = {"settings": _Settings(ignore_index, smooth, reduction)}
    w = rest[0] if rest else None
    if not isinstance(z, RaggedArray):
        return fill_unless(k.call(_cross_entropy, None, z, y, w, label_smoothing, states=None, **static), sane)
    if ids:
        y = RaggedArray(k.call(_with_last_axis, y.values), y.partitions)
    met = plan([z, y])
    out = k.call(_cross_entropy, met.template, *met.operands, w, label_smoothing, states=met.states, **static)
    return finished(met.template, fill_unless(fill_unless(out, met.ok), sane), reduction)


def _with_last_axis(v: Array) -> Array:
    return v[..., None]


class _Settings(NamedTuple):
    """Static options of `_cross_entropy`."""

    ignore: int | None
    smooth: bool
    reduction: str


def _cross_entropy(
    t: RaggedArray | None, z: Any, y: Any, w: Array | None, smoothing: Any, *, states: Any, settings: _Settings
) -> Array:
    """Of logits ``z``, and of ids or probabilities ``y``, laid out over ``t``."""
    used = None
    if t is not None:
        z, y = lay_out(BroadcastPlan(t, (z, y), states))
        used = None if kernels(z).has_exact_sizes else used_mask(in_rows(t).partitions, t.capacity)
    xp, out = namespace(z), z.dtype
    wide = accumulator(z, "float")
    z, y = xp.astype(z, wide, copy=False), _clean(y, used)
    w = None if w is None else xp.astype(never_empty(w), wide, copy=False)
    by_class = None if w is None else xp.reshape(w, (*(1,) * (z.ndim - 1), w.shape[0]))
    total = dense_logsumexp(z, axis=-1, keepdims=True, where=None, length=None)

    def expected(shares: Array | None) -> Array:
        """Minus the log probabilities of the classes, each times its weight, in these shares (None: all alike)."""
        minus_log = _clean(total - z, used)  # before it meets weights, whose gradient contracts over slots
        for factor in (shares, by_class):
            minus_log = minus_log if factor is None else minus_log * factor
        return xp.sum(minus_log, axis=-1)

    if kind(y.dtype) == "float":
        y = xp.astype(y, wide, copy=False)
        if settings.smooth:
            y = y * (1 - smoothing) + smoothing / z.shape[-1]
        return reduced(t, _clean(expected(y), used), None, settings.reduction, out)
    y = y[..., 0] if t is not None else y
    valid = (y >= 0) & (y < z.shape[-1])
    at = xp.where(valid, y, xp.zeros_like(y))
    loss = _clean(total[..., 0] - _entry(z, at), used)
    share = None if w is None else xp.reshape(xp.take(w, xp.reshape(at, (-1,)), axis=0), at.shape)
    loss = loss if share is None else loss * share
    if settings.smooth:
        loss = loss * (1 - smoothing) + expected(None) * (smoothing / z.shape[-1])
    loss = xp.where(valid, loss, xp.asarray(float("nan"), dtype=loss.dtype))
    if settings.ignore is not None:
        counts = y != settings.ignore
        loss = xp.where(counts, loss, xp.zeros_like(loss))
        share = xp.astype(counts, wide) if share is None else xp.where(counts, share, xp.zeros_like(share))
    return reduced(t, _clean(loss, used), share, settings.reduction, out)


def _entry(z: Array, at: Array) -> Array:
    """``z[..., at]``, one entry of the last axis each."""
    xp = namespace(z)
    flat = xp.reshape(z, (-1, z.shape[-1])) if z.shape[-1] else xp.zeros((at.size, 1), dtype=z.dtype)
    return xp.reshape(flat[xp.arange(flat.shape[0]), xp.reshape(at, (-1,))], at.shape)


def _clean(v: Array, used: Array | None) -> Array:
    """0 in slack, in value and in gradient."""
    return v if used is None else namespace(v).where(column(used, v), v, namespace(v).zeros_like(v))


def mse_loss(x: Any, targets: Any, /, *, reduction: str = "mean") -> Any:
    """Squared error ``(x - targets)**2``: ``[nrows, (len), *inner]`` to a number, or as ``reduction`` says.

    The operands broadcast.

    >>> mse_loss(ragged([[1.0, 2.0], [], [5.0]]), ragged([[1.0, 0.0], [], [2.0]]), reduction="row_mean")
    array([2., 0., 9.])
    """
    return _pointwise(_squared, (x, targets), (), reduction)


def _squared(x: Array, y: Array) -> Array:
    return (x - y) * (x - y)


def huber_loss(x: Any, targets: Any, /, *, delta: Any = 1.0, reduction: str = "mean") -> Any:
    """``d**2 / 2`` for errors ``d`` up to ``delta``, ``delta * (abs(d) - delta / 2)`` beyond (Huber, 1964).

    ``[nrows, (len), *inner]`` to a number, or as ``reduction`` says; the operands broadcast.

    >>> huber_loss(ragged([[1.0, 2.0], []]), ragged([[1.5, 5.0], []]), reduction="none").tolist()
    [[0.125, 2.5], []]
    """
    delta = check_real_scalar("delta", delta)
    ok = in_range("delta above 0", delta, "Pass a positive one.", low=0, above=True)
    return _pointwise(_huber, (x, targets), (delta,), reduction, ok=ok)


def _huber(x: Array, y: Array, delta: Any) -> Array:
    xp = namespace(x)
    far = xp.abs(x - y)
    return xp.where(far <= delta, 0.5 * far * far, delta * (far - 0.5 * delta))


def binary_cross_entropy(
    x: Any, targets: Any, /, *, from_logits: bool = False, weight: Any = None, pos_weight: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """``-(targets * log(x) + (1 - targets) * log(1 - x))``: ``[nrows, (len), *inner]`` to a number, or as asked.

    ``x`` are probabilities, whose logarithms are cut off at -100 (with gradient 0 there; outside 0 to 1 the loss is
    NaN), or with ``from_logits=True`` logits, which is the accurate way. ``weight`` scales elements, ``pos_weight`` (of
    logits) the positive part; both broadcast, and a mean is over elements whatever they weigh, as in torch.

    >>> binary_cross_entropy(ragged([[0.5, 1.0], []]), ragged([[1.0, 1.0], []]), reduction="sum").round(4)
    np.float64(0.6931)
    """
    has = (check_bool("from_logits", from_logits), weight is not None, pos_weight is not None)
    if pos_weight is not None and not has[0]:
        raise ValueError(error_text("pos_weight= with from_logits=True", "probabilities", "Pass logits."))
    operands = tuple(a for a in (x, targets, weight, pos_weight) if a is not None)
    return _pointwise(_binary, operands, (), reduction, has=has)


def _binary(x: Array, y: Array, *more: Array, has: tuple[bool, bool, bool]) -> Array:
    xp = namespace(x)
    from_logits, weighted, positive = has
    if from_logits:
        small = xp.log1p(xp.exp(-xp.abs(x))) + xp.where(x < 0, -x, xp.zeros_like(x))
        loss = (1 - y) * x + (small if not positive else (1 + (more[-1] - 1) * y) * small)
    else:
        loss = -(y * _cut_log(x) + (1 - y) * _cut_log(1 - x))
    return loss * more[0] if weighted else loss


def _cut_log(p: Array) -> Array:
    xp = namespace(p)
    inside = (p > 3.8e-44) | xp.isnan(p)  # exp(-100)
    cut = xp.where(p < 0, xp.full_like(p, float("nan")), xp.full_like(p, -100.0))
    return xp.where(inside, xp.log(xp.where(inside, p, xp.ones_like(p))), cut)


def kl_div(x: Any, targets: Any, /, *, log_target: bool = False, reduction: str = "mean") -> Any:
    """``targets * (log(targets) - x)`` of log probabilities ``x``: the pointwise Kullback-Leibler divergence.

    ``[nrows, (len), *inner]`` to a number, or as ``reduction`` says; the operands broadcast. A target of 0 gives 0.
    ``log_target`` takes logarithms as targets. ``"mean"`` is over elements, as in torch; ``"batchmean"``, the sum
    divided by the number of rows, is offered here too.

    >>> kl_div(ragged([[-0.5, -1.0], []]), ragged([[1.0, 0.0], []]), reduction="none").tolist()
    [[0.5, 0.0], []]
    """
    log = check_bool("log_target", log_target)
    return _pointwise(_divergence, (x, targets), (), reduction, ("batchmean",), log=log)


def _divergence(x: Array, y: Array, *, log: bool) -> Array:
    xp = namespace(x)
    if log:
        none = y == -float("inf")
        apart = xp.where(none, xp.zeros_like(y), y) - xp.where(none, xp.zeros_like(x), x)
        return xp.exp(y) * apart
    some = (y > 0) | xp.isnan(y)
    x = xp.where((y == 0) & xp.isinf(x), xp.zeros_like(x), x)
    return y * xp.log(xp.where(some, y, xp.ones_like(y))) - y * x


def _pointwise(
    f: Any, operands: tuple[Any, ...], scalars: tuple[Any, ...], reduction: str, more: tuple[str, ...] = (),
    *, ok: Any = True, **static: Any,
) -> Any:  # fmt: skip
    need_reduction(reduction, more)
    if all(map(is_scalar, operands)):
        operand(operands[0])
    k, moved = to_common_backend(tuple(map(packed, operands)))
    if any(kind(a.dtype) == "complex" for a in moved if is_array(a) or isinstance(a, RaggedArray)):
        raise TypeError(error_text("real values", "complex ones", "Take the loss of real and imaginary parts."))
    static |= {"f": f, "reduction": reduction, "operands": len(moved)}
    if not any(isinstance(a, RaggedArray) for a in moved):
        return fill_unless(k.call(_pointwise_body, None, *moved, *scalars, states=None, **static), ok)
    met = plan(moved)
    out = k.call(_pointwise_body, met.template, *met.operands, *scalars, states=met.states, **static)
    return finished(met.template, fill_unless(fill_unless(out, met.ok), ok), reduction)


def _pointwise_body(
    t: RaggedArray | None, *args: Any, f: Any, states: Any, reduction: str, operands: int, **static: Any
) -> Array:
    terms, scalars = list(args[:operands]), args[operands:]
    laid = terms if t is None else lay_out(BroadcastPlan(t, tuple(terms), states))
    arrays = [a for a in laid if not is_scalar(a)]
    xp = namespace(arrays[0])
    floats = [a for a in arrays if kind(a.dtype) == "float"]  # not their dtypes: a traced number is a weak array
    out = xp.result_type(*floats) if floats else accumulator(arrays[0], "float")
    wide = accumulator(xp.zeros((), dtype=out), "float")
    laid = [a if is_scalar(a) else xp.astype(a, wide, copy=False) for a in laid]
    if is_scalar(laid[0]) or is_scalar(laid[1]):
        laid[:2] = [xp.asarray(a, dtype=wide) for a in laid[:2]]
    return reduced(t, f(*laid, *scalars, **static), None, reduction, out)
