"""Attention over the innermost ragged axis: queries of a row see the keys of the same row, and nothing else."""

from operator import index
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import Partition, RowPartition, partition_shape
from .._signatures import like_first
from .._typing import Array
from ..backends import AttentionOptions, Kernels, generic, implementation, kernels, kind, namespace
from ..engine.arguments import last_rows
from ..engine.broadcast.rows import to_common_backend
from ..engine.options import check_bool, operand, static_number
from ..engine.overflow import check_capacity, fill_unless
from ..structure.agreement import agree_levels
from ..structure.levels import traced_longest

Limits = tuple[int | None, int | None]

__all__ = ["attention"]


@like_first
def attention(
    query: Any,
    keys: Any,
    value: Any,
    /,
    *,
    causal: bool = False,
    window: int | tuple[int | None, int | None] | None = None,
    scale: float | None = None,
    bias: Any = None,
    max_length: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    dropout: float = 0.0,
    key: Any = None,
) -> Any:
    """Scaled dot-product attention within rows: ``[nrows, (len), H, D]`` to ``[nrows, (len), H, E]``.

    Keys are ``[nrows, (klen), G, D]`` and values ``[nrows, (klen), G, E]``, of as many rows as the queries, each of its
    own length. ``H`` is a multiple of ``G``: query head ``h`` reads head ``h // (H // G)``. Rows and capacity of the
    result are those of the queries; its dtype is the common one, and halves are computed in float32. A query without
    keys gives 0. What other rows hold never changes a row's result; within a row inf and NaN spread, masked or not
    (a weight of 0 times inf). Plain arrays ``[B, T, H, D]`` work as rows of
    one length.

    causal
        A query sees keys up to its own position in the row. Positions are counted from the start of both rows.
    window
        Position ``i`` sees ``j`` with ``abs(i - j) <= window``; a pair is (left, right), None on one side is no limit.
    scale
        Factor of the scores; by default ``1 / sqrt(D)``.
    bias
        Added to the scores: ``[H, I, J]`` by the positions of query and key, at least as long as the longest rows; or
        ``[H, 2 * m + 1]`` by distance, entry ``m + j - i``, where distances beyond ``m`` take the outermost entry. An
        ``H`` of 1 serves all heads.
    max_length
        Static limit of the row lengths, or a pair for queries and keys. Rows that nearly all reach it are computed
        without an inner loop. A row that is longer raises, or under jit makes the result NaN.
    implementation
        ``"xla"``, or ``"cudnn"`` on an NVIDIA GPU of the Hopper generation or later with halves, without bias and
        dropout; by default the second where it serves.
    dropout
        Weights that are set to 0, as a fraction; it needs ``key``, a ``jax.random`` key or a NumPy generator. On JAX
        which ones follows from the key and from row, head and positions.

    On JAX memory is linear in the slots: weights exist a block at a time and are computed again for the gradient. Time
    follows the sum of squared row lengths. Differentiable in every mode, to any order; derivatives of the gradient are
    slower, and faster with ``max_length``. cuDNN offers the gradient alone. After Vaswani et al. (2017); the blocks are
    those of FlashAttention (Dao et al., 2022).

    >>> x = ragged([[[[1.0, 0.0]], [[0.0, 1.0]]], []], item_shape=(None, 1, 2))
    >>> attention(x, x, x, causal=True).map_values(lambda v: v.round(2)).tolist()
    [[[[1.0, 0.0]], [[0.33, 0.67]]], []]
    """
    causal = check_bool("causal", causal)
    operands = tuple(operand(x) for x in (query, keys, value))
    k, met = to_common_backend(operands if bias is None else (*operands, bias))
    query, keys, value = _of_rows(met[:3])
    bias = met[3] if len(met) > 3 else None
    q, kv, _ = (_last(x) for x in (query, keys, value))
    _check_shapes(query, keys, value)
    limits, bias = _limits(max_length), _check_bias(bias, query)
    options = AttentionOptions(
        _scale(scale, query.inner_shape[-1]),
        *_window(window, causal),
        _rate(dropout, key, k),
        limits,
        q.splits is kv.splits,
        _implementation(implementation, k),
    )
    ok: Any = True
    if bias is not None and bias.ndim == 3:
        for p, n, m in zip((q, kv), bias.shape[1:], limits, strict=True):
            ok = ok & (True if m is not None and m <= n else _fits(k, p, n, "a bias for positions", ""))
    for p, n in zip((q, kv), limits, strict=True):
        ok = ok & (True if n is None else _fits(k, p, n, "a length", "max_length="))
    dtype = query.xp.result_type(query.dtype, keys.dtype, value.dtype)
    arrays = query.values, keys.values, value.values, (q.splits, kv.splits), bias, key
    values = k.call(_attention, *arrays, ok=ok, options=options, dtype=dtype)
    out = RaggedArray(values, query.partitions)
    return _dense(out, met[0]) if not isinstance(met[0], RaggedArray) else out


def _attention(
    query: Array,
    key: Array,
    value: Array,
    splits: tuple[Array, Array],
    bias: Array | None,
    rng: Any,
    *,
    ok: Any,
    options: AttentionOptions,
    dtype: Any,
) -> Array:
    xp, k = namespace(query), kernels(query)
    query, key, value = (xp.astype(a, dtype, copy=False) for a in (query, key, value))
    return fill_unless(implementation(k, generic.attention)(query, key, value, splits, bias, rng, options), ok)


def _of_rows(operands: list[Any]) -> list[RaggedArray]:
    """Plain arrays as rows of one length."""
    ragged = [isinstance(x, RaggedArray) for x in operands]
    if all(ragged):
        return operands
    if any(ragged):
        kinds = ", ".join("ragged" if r else "plain" for r in ragged)
        raise TypeError(error_text("three ragged arrays, or three plain ones", kinds, "Use `ra.from_padded`."))
    return [_rows_of(x) for x in operands]


def _rows_of(x: Array) -> RaggedArray:
    if x.ndim != 4:
        raise ValueError(error_text("plain arrays [B, T, H, D]", f"shape {tuple(x.shape)}", "Add the axes."))
    xp, (n, length) = namespace(x), x.shape[:2]
    splits = kernels(x).index(xp.arange(n + 1) * length)
    return RaggedArray(xp.reshape(x, (n * length, *x.shape[2:])), (RowPartition(splits),))


def _dense(out: RaggedArray, like: Array) -> Array:
    return out.xp.reshape(out.values, (*like.shape[:2], *out.inner_shape))


def _last(x: RaggedArray) -> RowPartition:
    p = last_rows(x)
    if len(x.inner_shape) != 2:
        raise ValueError(
            error_text("rows [nrows, (len), heads, size]", f"shape {x.shape}", "Split the last axis into heads.")
        )
    return p


def _check_shapes(query: RaggedArray, keys: RaggedArray, value: RaggedArray) -> None:
    for x in (query, keys, value):
        if kind(x.dtype) != "float":
            raise TypeError(error_text("floating values", f"dtype {x.dtype}", "Convert them with `.astype`."))
    (heads, size), (groups, key_size), (others, _) = (x.inner_shape for x in (query, keys, value))
    got = f"{query.inner_shape}, {keys.inner_shape} and {value.inner_shape}"
    if key_size != size or others != groups:
        raise ValueError(error_text("inner shapes (H, D), (G, D) and (G, E)", got, "Check the axes."))
    if not groups or heads % groups:
        raise ValueError(error_text("query heads in a multiple of the key heads", got, "Check the axes."))
    _agree(query.partitions[:-1], keys.partitions[:-1])
    if query.partitions[-1].nrows != keys.partitions[-1].nrows:
        got = f"{query.partitions[-1].nrows} and {keys.partitions[-1].nrows}"
        raise ValueError(error_text("as many rows of queries as of keys", got, "Align the rows first."))
    _agree(keys.partitions, value.partitions)


def _agree(a: tuple[Partition, ...], b: tuple[Partition, ...]) -> None:
    shapes = [partition_shape(p) if p else () for p in (a, b)]
    error = ValueError(error_text(f"axes {shapes[0]} in all operands", f"{shapes[1]}", "Align the rows first."))
    if shapes[0] != shapes[1]:
        raise error
    agree_levels(a, b, error)


def _window(window: Any, causal: bool) -> Limits:
    if window is None:
        left, right = None, None
    else:
        left, right = window if isinstance(window, tuple) and len(window) == 2 else (window, window)
        left, right = (None if n is None else _size("window", n, 0) for n in (left, right))
    return left, (0 if causal else right)


def _limits(max_length: Any) -> Limits:
    if max_length is None:
        return None, None
    pair = max_length if isinstance(max_length, tuple) and len(max_length) == 2 else (max_length, max_length)
    return _size("max_length", pair[0], 1), _size("max_length", pair[1], 1)


def _size(name: str, n: Any, least: int) -> int:
    try:
        size = index(n)
    except TypeError:
        what = f"{type(n).__name__}"
        raise TypeError(error_text(f"{name} as an int or a pair", what, "Pass a static size.")) from None
    if size < least:
        raise ValueError(error_text(f"{name} of at least {least}", f"{size}", "Pass a larger one."))
    return size


def _scale(scale: Any, size: int) -> float:
    advice = "Multiply the queries by it instead."
    return max(size, 1) ** -0.5 if scale is None else static_number("scale", scale, advice)


def _rate(dropout: Any, key: Any, k: Kernels) -> float:
    rate = static_number("dropout", dropout)
    if not 0 <= rate < 1:
        raise ValueError(error_text("dropout from 0 up to, without, 1", f"{dropout}", "Pass a fraction."))
    if rate:
        implementation(k, generic.generator)(key)  # raises unless it is a key
    return rate


def _implementation(name: str | None, k: Kernels) -> str | None:
    if name not in (None, "xla", "cudnn"):
        raise ValueError(error_text("implementation None, 'xla' or 'cudnn'", repr(name), "Pass one of these."))
    if name and implementation(k, generic.attention) is generic.attention:
        raise ValueError(error_text("JAX arrays for an implementation", k.name, 'Move them with `x.to("jax")`.'))
    return name


def _check_bias(bias: Any, query: RaggedArray) -> Any:
    if bias is None:
        return None
    heads = query.inner_shape[0]
    shape = tuple(getattr(bias, "shape", ()))
    if isinstance(bias, RaggedArray) or len(shape) not in (2, 3) or shape[0] not in (1, heads):
        want = f"a bias ({heads} or 1, queries, keys) or ({heads} or 1, distances)"
        raise ValueError(error_text(want, f"shape {shape}", "Put the heads first."))
    if kind(bias.dtype) not in ("float", "int", "uint"):
        raise TypeError(error_text("a real bias", f"dtype {bias.dtype}", "Convert it."))
    if len(shape) == 2 and shape[1] % 2 == 0:
        raise ValueError(error_text("an odd number of distances", f"{shape[1]}", "Put distance 0 in the middle."))
    return bias


def _fits(k: Kernels, p: RowPartition, n: int, what: str, keyword: str) -> Any:
    return check_capacity(k.call(traced_longest, p), n, what, keyword)
