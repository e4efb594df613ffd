"""Connectionist temporal classification (Graves et al., 2006) of ragged frames and ragged labels."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array
from ..backends import common, generic, implementation, kernels, kind, namespace
from ..engine.arguments import ragged_only, sizes_of
from ..engine.broadcast.rows import move_to
from ..engine.bucket_size import bucket_size
from ..engine.dense import dense_softmax
from ..engine.indices import widened
from ..engine.options import check_bool
from ..engine.overflow import check_capacity, fill_unless
from ..engine.reduce import accumulator
from ..structure.levels import column, longest_row, traced_longest, used_mask
from ._ids import check_ids, need_ids
from ._reductions import need_reduction

__all__ = ["ctc_loss"]


def ctc_loss(
    logits: Any, labels: Any, /, *, blank: int = 0, zero_infinity: bool = False, reduction: str = "mean",
    max_labels: int | None = None,
) -> Any:  # fmt: skip
    """Minus the log probability of each row's labels, over all alignments with its frames.

    Logits are ``[nrows, (frames), classes]`` (logarithms of probabilities will do), labels ids ``[nrows, (labels)]``.
    An alignment gives each frame a label or a ``blank``; repeated ones are merged and blanks taken out. Where there is
    none, as a row has fewer frames than labels and repeats, the loss is inf, or 0 with ``zero_infinity``, and its
    gradient 0 both ways. A row without labels has all blanks; one without frames either has loss 0.

    ``reduction="none"`` gives ``[nrows]``, ``"row_mean"`` the same divided by the number of labels (1 for none),
    ``"mean"`` the mean of the latter, as in torch, and ``"sum"`` the sum of the former. Labels that are blanks or no
    classes raise, or under jit give NaN. Computed in log space, in float32 at least; time is that of the longest
    row's frames, memory ``capacity * (2 * max_labels + 1)``. ``max_labels`` is a static limit of the label counts, by
    default the longest row's, or where lengths are traced the capacity of ``labels``. Differentiable in every mode, to
    any order; derivatives of the gradient go through a scan over the slots.

    >>> logits = ragged([[[0.0, 0.0], [0.0, 0.0]], []], item_shape=(None, 2))
    >>> ctc_loss(logits, ragged([[1], []], dtype=int), reduction="none").round(4)
    array([0.2877, 0.    ])
    """
    need_reduction(reduction)
    need_ids(ragged_only(labels), "labels")
    k = common([ragged_only(logits).values, labels.values])
    z, y = (move_to(k, a).used_values() for a in (logits, widened(labels, k)))
    if z.ragged_rank != 1 or len(z.inner_shape) != 1 or kind(z.dtype) != "float":
        got = f"{z.dtype} of shape {z.shape}"
        raise ValueError(error_text("floating logits of shape (nrows, None, classes)", got, "Check the axes."))
    if y.shape != (z.nrows, None):
        raise ValueError(error_text(f"labels of shape ({z.nrows}, None)", f"{y.shape}", "Pass one row per row."))
    classes, blank = z.inner_shape[0], sizes_of(blank)
    if not 0 <= blank < classes:
        raise ValueError(error_text(f"blank from 0 to {classes - 1}", f"{blank}", "Pass a class."))
    check_ids(labels, classes, what="labels")
    if y.is_concrete():
        at = (k.host(y.values)[: int(k.host(y.row_splits)[-1])] == blank).nonzero()[0]
        if at.size:
            got = f"it at slot {at[0]}"
            raise ValueError(error_text(f"labels other than blank {blank}", got, "Pass another `blank=`."))
    limit, ok = _label_limit(y, max_labels)
    loss, each = k.call(_ctc, z, y, limit=limit, blank=blank, zero=check_bool("zero_infinity", zero_infinity))
    if reduction not in ("none", "row_mean"):
        out = k.call(_over_rows, each if reduction == "mean" else loss, mean=reduction == "mean")
    else:
        out = loss if reduction == "none" else each
    return fill_unless(out, ok)


def _label_limit(y: RaggedArray, limit: int | None) -> tuple[int, Any]:
    """A static limit of the label counts, and whether they keep to it."""
    limit = None if limit is None else sizes_of(limit)
    p: Any = y.partitions[0]
    k = kernels(p.splits)
    if k.is_concrete(p.splits):
        longest = longest_row(p)
        if limit is not None:
            check_capacity(longest, limit, "labels", "max_labels=")
            return limit, True
        return longest if k.has_exact_sizes else bucket_size(longest, minimum=1), True
    if limit is None:
        return y.capacity, True
    return limit, check_capacity(k.call(traced_longest, p), limit, "labels", "max_labels=")


def _ctc(z: RaggedArray, y: RaggedArray, *, limit: int, blank: int, zero: bool) -> tuple[Array, Array]:
    """Loss of each row, and that divided by its label count."""
    xp, k = z.xp, z.kernels
    v = xp.astype(z.values, accumulator(z.values, "float"), copy=False)
    if not k.has_exact_sizes:
        v = xp.where(column(used_mask(z.partitions, z.capacity), v), v, xp.zeros_like(v))
    frames = dense_softmax(v, 1, log=True)
    states, counts, bad = _states(y, z.inner_shape[0], limit, blank)
    counts = xp.astype(counts, z.row_splits.dtype, copy=False)
    loss = implementation(k, generic.ctc)(frames, states, counts, z.row_splits)
    if zero:
        loss = xp.where(loss == float("inf"), xp.zeros_like(loss), loss)
    loss = xp.where(bad, xp.asarray(float("nan"), dtype=loss.dtype), loss)
    each = loss / xp.astype(xp.where(counts > 0, counts, xp.ones_like(counts)), loss.dtype)
    return xp.astype(loss, z.dtype, copy=False), xp.astype(each, z.dtype, copy=False)


def _states(y: RaggedArray, classes: int, limit: int, blank: int) -> tuple[Array, Array, Array]:
    """Classes of each row's states, a blank around every label: ``[nrows, 2 * limit + 1]``; counts; unknown labels."""
    xp, k, splits = y.xp, y.kernels, y.row_splits
    nrows, counts = y.nrows, splits[1:] - splits[:-1]
    at = xp.arange(limit, dtype=splits.dtype)[None, :]
    inside = xp.broadcast_to(at, (nrows, limit)) < counts[:, None]
    index = xp.where(inside, splits[:-1, None] + at, xp.asarray(y.capacity, dtype=splits.dtype))
    state_classes = xp.reshape(k.pick(y.values, xp.reshape(index, (nrows * limit,))), (nrows, limit))
    unknown = (state_classes < 0) | (state_classes >= classes) | (state_classes == blank)
    state_classes = xp.where(inside & ~unknown, state_classes, xp.asarray(blank, dtype=state_classes.dtype))
    blanks = xp.full((nrows, limit), blank, dtype=state_classes.dtype)
    both = xp.reshape(xp.stack((blanks, state_classes), axis=2), (nrows, 2 * limit))
    states = xp.concat((both, xp.full((nrows, 1), blank, dtype=state_classes.dtype)), axis=1)
    bad = xp.any(inside & unknown, axis=1) if limit else xp.zeros((nrows,), dtype=xp.bool)
    return xp.astype(states, splits.dtype, copy=False), counts, bad


def _over_rows(loss: Array, *, mean: bool) -> Array:
    xp = namespace(loss)
    wide = xp.sum(xp.astype(loss, accumulator(loss, "float"), copy=False))
    return xp.astype(wide / max(loss.shape[0], 1) if mean else wide, loss.dtype, copy=False)
