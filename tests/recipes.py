"""What each public op is called with, so that a transformation can be tried on all of them: one table.

A recipe is a function of one ragged array of one of the `KINDS`, and of weights, which are the same for every batch.
Integers, masks and second operands are made of the array by the recipe. `batches` gives arrays of a kind, the last one
without elements; `on_jax` gives them one structure, so that they stack, with poison in slack.
"""

from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import BucketPlan, RaggedArray

from . import oracle

Recipe = Callable[..., Any]
KEY = jax.random.key(3)
ROW = np.array([[1.0], [2.0], [3.0]], np.float32)
MASK = np.array([True, False, True])
ROWS_PLAN = BucketPlan.from_sizes([[8]] * 3, headroom=0.0, max_buckets=1)
PLAN = BucketPlan.from_sizes([[3, 3]] * 3, headroom=0.0, max_buckets=1)
PAIR_PLAN = BucketPlan.from_sizes([[3, 3]] * 3, [[3, 3]] * 3, headroom=0.0, max_buckets=1)


def ids(x: RaggedArray, size: int) -> RaggedArray:
    """Integers from 0 to ``size``, made of the values, with huge ones in slack."""
    return ra.testing.poison(ra.astype(ra.abs(ra.sin(7 * x)) * size * 0.999, "int32"))


def moved(x: RaggedArray) -> RaggedArray:
    """Other numbers in the same rows."""
    return ra.flip(x, axis=1) * 0.5 + 0.25


def gates(w: Any, n: int) -> Any:
    xp = ra.backends.namespace(w)
    return xp.concat([w * (1 + 0.1 * i) for i in range(n)], axis=-1)


FLAT: dict[str, Recipe] = {
    "getitem:slices": lambda x: (x[:, ::-1], x[:, 1:3], x[1:], x[::-1]),
    "getitem:new": lambda x: x[:, None, :2],
    "getitem:rows": lambda x: x[np.array([2, 0])],
    "getitem:mask": lambda x: x[x > 0.1],
    "at.get": lambda x: x.at[:, 0].get(fill_value=0.0),
    "at.set": lambda x: x.at[:, 1:].set(7.0),
    "at.add": lambda x: x.at[np.array([0, 2])].add(x[np.array([0, 2])]),
    "at.multiply": lambda x: x.at[x > 0].multiply(3.0),
    "at.min": lambda x: x.at[1].min(0.25),
    "at.max": lambda x: x.at[:, -2:].max(0.25),
    "take": lambda x: ra.take(x, np.array([2, 0, 2]), capacity=24),
    "gather": lambda x: ra.gather(x, ra.argsort(x), batch_dims=1),
    "take_along_axis": lambda x: ra.take_along_axis(x, ra.argsort(x, descending=True), axis=1),
    "boolean_mask": lambda x: (ra.boolean_mask(x, x < 0.3), ra.boolean_mask(x, MASK)),
    "boolean_mask:traced": lambda x: ra.boolean_mask(x, x.row_lengths() > 1, size=3),
    "nonzero": lambda x: ra.nonzero(x > 0, size=8),
    "row": lambda x: ra.row(x, 0, length=8),
    "row_item": lambda x: (ra.row_item(x, 1, fill_value=0.0), ra.row_item(x, x.row_lengths() // 2, fill_value=0.0)),
    "first": lambda x: ra.first(x, fill_value=0.0),
    "last": lambda x: ra.last(x, fill_value=0.0),
    "narrow": lambda x: ra.narrow(x, 1, x.row_lengths() // 3, x.row_lengths() // 2),
    "sort": lambda x: (ra.sort(x), ra.sort(x, axis=0)),
    "sort:limit": lambda x: ra.sort(x, descending=True, max_length=8),
    "argsort": lambda x: ra.argsort(x),
    "top_k": lambda x: ra.top_k(x, 2),
    "unique_all": lambda x: ra.unique_all(x),
    "unique_counts": lambda x: ra.unique_counts(x),
    "unique_inverse": lambda x: ra.unique_inverse(x),
    "unique_values": lambda x: ra.unique_values(x),
    "isin": lambda x: ra.isin(x > 0, np.array([True])),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=1, reverse=True, include_initial=True),
    "cumulative_prod": lambda x: ra.cumulative_prod(x, axis=1, max_length=8),
    "cumulative_max": lambda x: (ra.cumulative_max(x, axis=1), ra.cumulative_max(x, axis=0)),
    "cumulative_min": lambda x: ra.cumulative_min(x, axis=1, reverse=True),
    "diff": lambda x: ra.diff(x, n=2, prepend=0.5),
    "median": lambda x: ra.median(x, axis=1),
    "quantile": lambda x: ra.quantile(x, np.array([0.3, 0.9]), axis=1, where=x < 1.5),
    "argmax": lambda x: ra.argmax(x, axis=1),
    "argmin": lambda x: ra.argmin(x, axis=1),
    "count_nonzero": lambda x: ra.count_nonzero(x > 0, axis=1),
    "searchsorted": lambda x: ra.searchsorted(ra.sort(x), x),
    "concat": lambda x: (ra.concat([x, 2 * x], axis=1), ra.concat([x, ROW])),
    "stack": lambda x: (ra.stack([x, 2 * x]), ra.stack([x, 2 * x], axis=1), ra.stack([x, 2 * x], axis=-1)),
    "broadcast_arrays": lambda x: ra.broadcast_arrays(x, ROW),
    "broadcast_to": lambda x: ra.broadcast_to(x, (2, 3, None)),
    "expand_dims": lambda x: (ra.expand_dims(x, axis=1), ra.expand_dims(x, axis=2)),
    "squeeze": lambda x: ra.squeeze(ra.expand_dims(x, axis=1), axis=1),
    "flip": lambda x: ra.flip(x),
    "pad": lambda x: ra.pad(x, 1, 2),
    "roll": lambda x: (ra.roll(x, 2, axis=1), ra.roll(x, -1)),
    "sliding_window": lambda x: ra.sliding_window(x, 2),
    "truncate": lambda x: ra.truncate(x, 2),
    "repeat": lambda x: ra.repeat(x, 2, axis=1),
    "repeat:rows": lambda x: ra.repeat(x, x.row_lengths() // 2, axis=0, size=6, capacity=24),
    "pad:rows": lambda x: ra.pad(x, x.row_lengths() // 2, 1, capacity=24),
    "truncate:rows": lambda x: ra.truncate(x, (x.row_lengths() + 1) // 2),
    "repeat:entries": lambda x: ra.repeat(x, ra.astype(x > 0, "int32") * 2, axis=1, capacity=16),
    "isin:rows": lambda x: ra.isin(x > 0.5, x[:, :1] > 0.2),
    "tile": lambda x: ra.tile(x, (2, 2)),
    "flatten": lambda x: ra.flatten(x, size=8),
    "merge_dims": lambda x: ra.merge_dims(x, 0, 1, size=8),
    "split_dims": lambda x: ra.split_dims(x, 0, np.array([0, 2, 3])),
}
INNER: dict[str, Recipe] = {
    "getitem": lambda x: (x[..., ::-1], x[:, :, 1], x[:, ::2, [1, 0]]),
    "take": lambda x: ra.take(x, np.array([1, 0, 1]), axis=2),
    "sort": lambda x: ra.sort(x, axis=1),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=2),
    "concat": lambda x: ra.concat([x, 3 * x], axis=2),
    "unstack": lambda x: ra.unstack(x, axis=2),
    "moveaxis": lambda x: ra.moveaxis(ra.expand_dims(x, axis=3), 3, 2),
    "permute_dims": lambda x: ra.permute_dims(ra.expand_dims(x, axis=3), (0, 1, 3, 2)),
    "reshape": lambda x: ra.reshape(x, (3, None, 2, 1)),
    "with_inner_shape": lambda x: ra.with_inner_shape(x, (1, 2)),
    "merge_dims": lambda x: ra.merge_dims(x, 1, 2),
    "split_dims": lambda x: ra.split_dims(x, 2, np.array([0, 1, 2])),
    "flip": lambda x: ra.flip(x, axis=(1, 2)),
}
NESTED: dict[str, Recipe] = {
    "getitem": lambda x: (x[:, ::-1], x[:, :, :1], x[::-1, :1]),
    "take": lambda x: ra.take(x, np.array([1, 0])),
    "sort": lambda x: ra.sort(x, axis=1),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=2),
    "concat": lambda x: (ra.concat([x, 2 * x], axis=1), ra.concat([x, 2 * x], axis=2)),
    "flip": lambda x: ra.flip(x),
    "pad": lambda x: ra.pad(x, 1, 1, axis=2),
    "repeat": lambda x: ra.repeat(x, 2, axis=1),
    "merge_dims": lambda x: (ra.merge_dims(x, 1, 2), ra.merge_dims(x, 0, 1, size=5)),
    "roll": lambda x: ra.roll(x, 1, axis=1),
}
RANDOM: dict[str, Recipe] = {
    "random.normal": lambda x: ra.random.normal(KEY, x),
    "random.uniform": lambda x: ra.random.uniform(KEY, x),
    "random.bernoulli": lambda x: ra.random.bernoulli(KEY, x),
    "random.randint": lambda x: ra.random.randint(KEY, x, low=0, high=9),
    "random.permutation": lambda x: ra.random.permutation(KEY, x),
    "nn.dropout": lambda x: ra.nn.dropout(x, 0.4, key=KEY),
}


def _of_elements(name: str, o: oracle.Oracle) -> Recipe:
    """An op that has an oracle, on numbers between the oracle's bounds."""
    f = named(name)

    def operand(x: RaggedArray, i: int, dtype: str) -> RaggedArray:
        u = (ra.sin(x * (3 + i)) + 1) * ((o.high - o.low) / 2) + o.low
        return u > 0 if dtype == "bool" else u if dtype == "float32" else ra.astype(u, dtype)

    def of_each(x: RaggedArray) -> Any:
        if name == "where":
            return f(x > 0.2, x, 2 * x)
        return tuple(f(*(operand(x, i, d) for i in range(o.arity))) for d in o.dtypes)

    def of_rows(x: RaggedArray) -> Any:
        given = operand(x, 0, o.dtypes[0])
        if o.role == "normalizes":
            return f(given)
        return (f(given, axis=1), f(given, axis=0, length=8), *(() if o.axis_only else (f(given),)))

    return of_each if o.role == "each" else of_rows


def named(name: str) -> Any:
    """The function of this dotted name."""
    found: Any = ra
    for part in name.split("."):
        found = getattr(found, part)
    return found


def dotted(name: str) -> str:
    return name.replace("nn_", "nn.", 1) if name.startswith("nn_") else name.replace("special_", "special.", 1)


def _polynomial(name: str, x: RaggedArray) -> Any:
    return getattr(ra.special, name)(3, x / 3)


EACH: dict[str, Recipe] = {
    **{dotted(name): _of_elements(dotted(name), o) for name, o in vars(oracle).items() if isinstance(o, oracle.Oracle)},
    **{f"special.{name}": partial(_polynomial, name) for name in ra.special.__all__ if name.startswith("eval_")},
    "special.multigammaln": lambda x: ra.special.multigammaln(x + 4, 2),
    "special.polygamma": lambda x: ra.special.polygamma(1, x + 4),
    "frexp": lambda x: ra.frexp(x),
    "nextafter": lambda x: ra.nextafter(ra.map_values(x.kernels.stop_gradient, x), 9.0),  # JAX has no derivative of it
    "astype": lambda x: (ra.astype(x, "int32"), ra.astype(x, "float16")),
    "map_values": lambda x: ra.map_values(lambda v: v * v, x),
    "aligned": lambda x: ra.aligned(x, like=x + 1) + x,
    "nn.threshold": lambda x: ra.nn.threshold(x, 0.3, 9.0),
    "nn.logsumexp": lambda x: ra.nn.logsumexp(x, axis=1),
    "empty_like": lambda x: ra.empty_like(x) * 0 == 0,
    "full_like": lambda x: ra.full_like(x, 2.0) * x,
    "ones_like": lambda x: ra.cumulative_sum(ra.ones_like(x), axis=1) * x,
    "zeros_like": lambda x: ra.zeros_like(x) + x,
}
FORMS: dict[str, Recipe] = {
    "to_padded": lambda x: ra.to_padded(x, length=8, fill_value=3.0),
    "to_mask": lambda x: ra.to_mask(x, length=8),
    "to_rows": lambda x: ra.to_rows(ra.flip(ra.to_blocks(x), axis=1)),
    "to_blocks": lambda x: ra.to_rows(ra.to_blocks(x)),
    "contiguous": lambda x: ra.to_rows(ra.contiguous(ra.flip(ra.to_blocks(x), axis=1))),
    "get_buffer": lambda x: x.with_values(ra.get_buffer(ra.to_blocks(x))),
    "with_capacity": lambda x: ra.with_capacity(x, 24),
    "with_rows": lambda x: ra.with_rows(x, 5),
    "asarray": lambda x: ra.asarray(x, dtype="float32"),
    "array_equal": lambda x: ra.array_equal(x, x + 0),
    "allclose": lambda x: ra.allclose(x, x + 1e-9),
    "validate": lambda x: ra.validate(x),
    "from_row_splits": lambda x: ra.from_row_splits(x.values, x.row_splits),
    "from_row_lengths": lambda x: ra.from_row_lengths(x.values, x.row_lengths()),
    "from_row_ids": lambda x: ra.from_row_ids(x.values, x.row_ids(), 3),
    "from_nested_row_splits": lambda x: ra.from_nested_row_splits(x.values, x.nested_row_splits),
    "from_nested_row_lengths": lambda x: ra.from_nested_row_lengths(x.values, [x.row_lengths()]),
    "from_padded": lambda x: ra.from_padded(ra.to_padded(x, length=8), lengths=x.row_lengths()),
    "meshgrid": lambda x: ra.meshgrid(ra.sum(x, axis=1), ra.prod(x, axis=0, length=8)),
    "split": lambda x: tuple(ra.split(x, 3)),
    "array_split": lambda x: tuple(ra.array_split(x, 2)),
    "broadcast_shapes": lambda x: ra.broadcast_to(x, ra.broadcast_shapes((3, None), (2, 1, 1))),
    "map_components": lambda x: ra.map_components(lambda r, m: r * 2 * m, x, bucket=ROWS_PLAN),
    "fft.fft": lambda x: ra.fft.fft(x, bucket=ROWS_PLAN),
    "fft.ifft": lambda x: (ra.fft.ifft(x, bucket=ROWS_PLAN), ra.fft.ifft(x, n=4)),
    "fft.rfft": lambda x: (ra.fft.rfft(x, bucket=ROWS_PLAN), ra.fft.rfft(x, n=4)),
    "fft.irfft": lambda x: (ra.fft.irfft(x, bucket=ROWS_PLAN), ra.fft.irfft(x, n=4)),
    "fft.hfft": lambda x: ra.fft.hfft(x, bucket=ROWS_PLAN),
    "fft.ihfft": lambda x: ra.fft.ihfft(x, bucket=ROWS_PLAN),
    "fft.fftshift": lambda x: ra.fft.fftshift(x),
    "fft.ifftshift": lambda x: ra.fft.ifftshift(x),
    "nn.one_hot": lambda x: ra.nn.one_hot(ids(x, 4), 4),
    "nn.interpolate": lambda x: (
        ra.nn.interpolate(x, 4), ra.nn.interpolate(x, x.row_lengths() * 2, capacity=24, method="linear"),
    ),
    "nn.avg_pool": lambda x: (ra.nn.avg_pool(x, 2), ra.nn.avg_pool(x, 3, stride=1, padding="SAME")),
    "nn.max_pool": lambda x: (ra.nn.max_pool(x, 2), ra.nn.max_pool(x, 40, padding="SAME")),
    "nn.global_avg_pool": lambda x: ra.nn.global_avg_pool(x),
    "nn.global_max_pool": lambda x: ra.nn.global_max_pool(x),
    "nn.sinusoidal": lambda x: ra.nn.sinusoidal(x, 4),
    "nn.binary_cross_entropy": lambda x: ra.nn.binary_cross_entropy(x, ra.nn.sigmoid(moved(x)), from_logits=True),
    "nn.huber_loss": lambda x: ra.nn.huber_loss(x, moved(x), reduction="row_mean"),
    "nn.kl_div": lambda x: ra.nn.kl_div(ra.nn.log_softmax(x), ra.nn.softmax(moved(x)), reduction="sum"),
    "nn.mse_loss": lambda x: ra.nn.mse_loss(x, moved(x), reduction="none"),
}  # fmt: skip
ITEMS: dict[str, Recipe] = {
    "matmul": lambda x, w, v: (ra.matmul(x, w), x @ v),
    "mm": lambda x, w, v: ra.mm(x, w),
    "mv": lambda x, w, v: ra.mv(x, w[:, 0]),
    "addmm": lambda x, w, v: ra.addmm(x, x, w, beta=0.5, alpha=2),
    "bmm": lambda x, w, v: ra.bmm(x, v),
    "vecdot": lambda x, w, v: ra.vecdot(x, w[:1], axis=2),
    "tensordot": lambda x, w, v: ra.tensordot(x, w, axes=1),
    "einsum": lambda x, w, v: (ra.einsum("bld,de->ble", x, w), ra.einsum("bld,bmd->blm", x, x, capacity=80)),
    "linalg.matmul": lambda x, w, v: ra.linalg.matmul(x, w),
    "linalg.tensordot": lambda x, w, v: ra.linalg.tensordot(x, w, axes=1),
    "linalg.vecdot": lambda x, w, v: ra.linalg.vecdot(x, w[:1], axis=2),
    "linalg.vector_norm": lambda x, w, v: (ra.linalg.vector_norm(x, axis=2), ra.linalg.vector_norm(x, axis=1, ord=3)),
    "linalg.cross": lambda x, w, v: ra.linalg.cross(ra.concat([x, x[..., :1]], axis=2), ROW[None, :, 0]),
    "linalg.outer": lambda x, w, v: ra.linalg.outer(x[..., 0], w[0]),
    "nn.linear": lambda x, w, v: (ra.nn.linear(x, w, w[0]), ra.nn.linear(x, v, v[:, 0])),
    "nn.layer_norm": lambda x, w, v: ra.nn.layer_norm(x, w[0], w[1]),
    "nn.rms_norm": lambda x, w, v: ra.nn.rms_norm(x, w[0]),
    "nn.batch_norm": lambda x, w, v: ra.nn.batch_norm(x, (w[0], w[1] ** 2 + 1), w[0], w[1]),
    "nn.embedding": lambda x, w, v: (ra.nn.embedding(ids(x, 2), w), ra.nn.embedding(ids(x[..., 0], 2), w)),
    "nn.embedding_bag": lambda x, w, v: tuple(
        ra.nn.embedding_bag(ids(x[..., 0], 2), w, mode=mode) for mode in ("sum", "mean", "max")
    ),
    "nn.embedding_bag:weights": lambda x, w, v: ra.nn.embedding_bag(
        ids(x[..., 0], 2), w, mode="sum", weights=x[..., 1]
    ),
    "nn.cross_entropy": lambda x, w, v: ra.nn.cross_entropy(x, ids(x[..., 0], 2), weight=w[0] ** 2 + 0.1),
    "nn.ctc_loss": lambda x, w, v: ra.nn.ctc_loss(
        ra.matmul(x, gates(w, 2)), ids(x[..., 0], 3)[:, ::2][:, :4] + 1, zero_infinity=True, max_labels=4
    ),
    "nn.rotary": lambda x, w, v: ra.nn.rotary(x),
    "nn.conv1d": lambda x, w, v: (ra.nn.conv1d(x, v, w[0]), ra.nn.conv1d(x, v, stride=2, padding="VALID")),
    "nn.rnn": lambda x, w, v: ra.nn.rnn(x, w, w * 0.5, w[0]),
    "nn.gru": lambda x, w, v: ra.nn.gru(x, gates(w, 3), gates(w, 3) * 0.5, gates(w[0], 3), initial=v[:, 0]),
    "nn.lstm": lambda x, w, v: ra.nn.lstm(x, gates(w, 4), gates(w, 4) * 0.5, reverse=True),
    "nn.linear_recurrence": lambda x, w, v: (
        ra.nn.linear_recurrence(ra.nn.sigmoid(x), x), ra.nn.linear_recurrence(ra.nn.sigmoid(x), x * w[0], reverse=True)
    ),
    "nn.scan": lambda x, w, v: ra.nn.scan(lambda c, r: (c * 0.5 + r @ w, c + w[:1]), v[:, 0], x, max_length=8),
}  # fmt: skip
HEADS: dict[str, Recipe] = {
    "nn.attention": lambda x, b: (ra.nn.attention(x, moved(x), x), ra.nn.attention(x, x, x, causal=True, window=2)),
    "nn.attention:bias": lambda x, b: ra.nn.attention(x, moved(x), x, bias=b),
    "nn.attention:distance": lambda x, b: ra.nn.attention(x, moved(x), x, bias=b[:, 0, :7], max_length=8),
    "nn.attention:groups": lambda x, b: ra.nn.attention(x, x[:, ::2, :1], x[:, ::2, 1:], bias=b, max_length=8),
    "nn.rotary": lambda x, b: ra.nn.rotary(x),
}
BLOCKS: dict[str, Recipe] = {
    "from_blocks": lambda x: ra.from_blocks(x.values, x.block.sizes) * 2,
    "to_blocks": lambda x: ra.to_blocks(x),
    "to_rows": lambda x: ra.to_rows(ra.matrix_transpose(x)),
    "contiguous": lambda x: ra.contiguous(ra.matrix_transpose(x)),
    "matrix_transpose": lambda x: ra.matrix_transpose(x) * 2,
    "linalg.matrix_transpose": lambda x: ra.linalg.matrix_transpose(x) + 1,
    "linalg.matmul": lambda x: ra.linalg.matmul(x, ra.matrix_transpose(x), bucket=PAIR_PLAN),
    "linalg.diagonal": lambda x: ra.linalg.diagonal(x),
    "linalg.trace": lambda x: ra.linalg.trace(x),
    "linalg.matrix_norm": lambda x: (ra.linalg.matrix_norm(x), ra.linalg.matrix_norm(x, ord=2, bucket=PLAN)),
    "linalg.matrix_rank": lambda x: ra.linalg.matrix_rank(x, bucket=PLAN),
    "linalg.pinv": lambda x: ra.linalg.pinv(x, bucket=PLAN),
    "linalg.qr": lambda x: tuple(ra.abs(a) for a in ra.linalg.qr(x, bucket=PLAN)),
    "linalg.svd": lambda x: tuple(ra.abs(a) for a in ra.linalg.svd(x, full_matrices=False, bucket=PLAN)),
    "linalg.svdvals": lambda x: ra.linalg.svdvals(x, bucket=PLAN),
    "tril": lambda x: ra.tril(x),
    "triu": lambda x: ra.triu(x, k=1),
    "fft.fft2": lambda x: ra.fft.fft2(x, bucket=PLAN),
    "fft.ifft2": lambda x: ra.fft.ifft2(x, bucket=PLAN),
    "fft.rfft2": lambda x: ra.fft.rfft2(x, bucket=PLAN),
    "fft.irfft2": lambda x: ra.fft.irfft2(x, bucket=PLAN),
    "fft.fftn": lambda x: ra.fft.fftn(x, bucket=PLAN),
    "fft.ifftn": lambda x: ra.fft.ifftn(x, bucket=PLAN),
    "fft.rfftn": lambda x: ra.fft.rfftn(x, bucket=PLAN),
    "fft.irfftn": lambda x: ra.fft.irfftn(x, bucket=PLAN),
    "map_components": lambda x: ra.map_components(lambda m, mask: m * mask, x, bucket=PLAN),
    "sum": lambda x: (ra.sum(x), ra.sum(x, axis=1), ra.sum(x, axis=(1, 2))),
    "sort": lambda x: ra.sort(x, axis=1),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=2),
    "concat": lambda x: ra.concat([x, x], axis=2),
    "nn.softmax": lambda x: ra.nn.softmax(x, axis=1),
}
SQUARES: dict[str, Recipe] = {
    "linalg.det": lambda x: ra.linalg.det(x, bucket=PLAN),
    "linalg.slogdet": lambda x: ra.linalg.slogdet(x, bucket=PLAN),
    "linalg.inv": lambda x: ra.linalg.inv(x, bucket=PLAN),
    "linalg.solve": lambda x: ra.linalg.solve(x, x + 1, bucket=PAIR_PLAN),
    "linalg.cholesky": lambda x: ra.linalg.cholesky(x + ra.matrix_transpose(x), bucket=PLAN),
    "linalg.eigh": lambda x: tuple(ra.abs(a) for a in ra.linalg.eigh(x + ra.matrix_transpose(x), bucket=PLAN)),
    "linalg.eigvalsh": lambda x: ra.linalg.eigvalsh(x + ra.matrix_transpose(x), bucket=PLAN),
    "linalg.matrix_power": lambda x: ra.linalg.matrix_power(x, 3, bucket=PLAN),
}
LONG: dict[str, Recipe] = {
    "sum": lambda x, t: (ra.sum(x, axis=1), ra.prod(1 + x / 1000, axis=1)),
    "sort": lambda x, t: ra.sort(x),
    "argsort": lambda x, t: ra.argsort(x, max_length=1024),
    "cumulative_sum": lambda x, t: (ra.cumulative_sum(x, axis=1), ra.cumulative_max(x, axis=1, max_length=1024)),
    "top_k": lambda x, t: ra.top_k(x, 5, max_length=1024),
    "unique_values": lambda x, t: ra.unique_values(x),
    "median": lambda x, t: ra.median(x, axis=1),
    "nn.softmax": lambda x, t: ra.nn.softmax(x),
    "nn.embedding": lambda x, t: ra.nn.embedding(ids(x, 5000), t),
    "nn.embedding_bag": lambda x, t: tuple(
        ra.nn.embedding_bag(ids(x, 5000), t, mode=mode) for mode in ("sum", "mean", "max")
    ),
    "nn.embedding_bag:weights": lambda x, t: ra.nn.embedding_bag(ids(x, 5000), t, mode="sum", weights=x),
    "nn.linear_recurrence": lambda x, t: ra.nn.linear_recurrence(ra.nn.sigmoid(x), x),
    "nn.scan": lambda x, t: ra.nn.scan(lambda c, r: (c * 0.9 + r, c), t[0, 0] * ROW[:, 0], x),
    "searchsorted": lambda x, t: ra.searchsorted(ra.sort(x), x),
    "random.permutation": lambda x, t: (
        ra.sort(ra.random.permutation(KEY, x)) if not x.kernels.has_exact_sizes else ra.sort(x)
    ),
}
LONG_ITEMS: dict[str, Recipe] = {
    "sort": lambda x, w, v: ra.sort(x, axis=1, max_length=1024),
    "nn.rnn": lambda x, w, v: ra.nn.rnn(x, w, w * 0.5, w[0]),
    "nn.gru": lambda x, w, v: ra.nn.gru(x, gates(w, 3), gates(w, 3) * 0.5, max_length=1024),
    "nn.lstm": lambda x, w, v: ra.nn.lstm(x, gates(w, 4), gates(w, 4) * 0.5),
    "nn.conv1d": lambda x, w, v: ra.nn.conv1d(x, v, w[0]),
    "nn.max_pool": lambda x, w, v: ra.nn.max_pool(x, 100),
    "nn.ctc_loss": ITEMS["nn.ctc_loss"],
    "matmul": lambda x, w, v: (x @ w, x @ v),
    "nn.linear_recurrence": lambda x, w, v: ra.nn.linear_recurrence(ra.nn.sigmoid(x), x * w[0], initial=v[:, 0]),
}
LONG_HEADS: dict[str, Recipe] = {
    "nn.attention": lambda x, b: (ra.nn.attention(x, moved(x), x), ra.nn.attention(x, x, x, causal=True)),
    "nn.attention:limit": lambda x, b: ra.nn.attention(x, moved(x), x, window=(40, 3), max_length=1024),
    "nn.attention:bias": lambda x, b: ra.nn.attention(x, moved(x), x, bias=b[:, 0, :7]),
}
MANY: dict[str, Recipe] = {
    **{name: ITEMS[name] for name in ("nn.rnn", "nn.gru", "nn.lstm", "nn.ctc_loss")},
    "nn.attention": lambda x, w, v: ra.nn.attention(x[:, :, None], x[:, :, None], x[:, :, None], max_length=8),
    "sort": lambda x, w, v: ra.sort(x, axis=1, max_length=64),
}


class Kind(NamedTuple):
    """Arrays of one structure: lengths of the rows of each batch, at every level, or sizes of its matrices."""

    recipes: dict[str, Recipe]
    batches: list[Any]
    item: tuple[int, ...] = ()
    capacity: int | tuple[int, ...] = 8
    weights: tuple[tuple[int, ...], ...] = ()


SHORT = [[3, 0, 2], [0, 5, 1], [2, 2, 4], [0, 0, 0]]
ROWS_1000 = [[700, 0, 1000], [0, 900, 3], [5, 5, 5], [0, 0, 0]]
ROWS_40 = [[k * (n + 1) % 7 for k in range(40)] for n in range(3)] + [[0] * 40]
LISTS = [([2, 0, 1], [2, 0, 3]), ([0, 1, 1], [4, 1]), ([1, 1, 1], [1, 2, 2]), ([0, 0, 0], [])]
MATRICES = [[(2, 3), (0, 2), (1, 2)], [(3, 1), (1, 1), (2, 2)], [(1, 3), (3, 2), (2, 0)], [(0, 0), (0, 3), (2, 0)]]
SQUARE = [[(2, 2), (1, 1), (3, 3)], [(3, 3), (1, 1), (1, 1)], [(0, 0), (2, 2), (2, 2)], [(0, 0)] * 3]
KINDS = {
    "flat": Kind(FLAT | EACH | FORMS, SHORT),
    "inner": Kind(INNER, SHORT, (2,)),
    "nested": Kind(NESTED, LISTS, (), (5, 8)),
    "random": Kind(RANDOM, SHORT),
    "items": Kind(ITEMS, SHORT, (2,), 8, ((2, 2), (3, 2, 2))),
    "heads": Kind(HEADS, SHORT, (2, 4), 8, ((2, 8, 8),)),
    "blocks": Kind(BLOCKS, MATRICES, (), 16),
    "squares": Kind(SQUARES, SQUARE, (), 16),
    "long": Kind(LONG, ROWS_1000, (), 6000, ((5000, 64),)),
    "long items": Kind(LONG_ITEMS, ROWS_1000, (2,), 6000, ((2, 2), (3, 2, 2))),
    "long heads": Kind(LONG_HEADS, ROWS_1000, (2, 4), 6000, ((2, 8, 8),)),
    "many": Kind(MANY, ROWS_40, (2,), 160, ((2, 2), (40, 2, 2))),
}
CASES = {f"{name}-{kind}": (f, kind) for kind, k in KINDS.items() for name, f in k.recipes.items()}
MOVING = [f"{name}-{kind}" for kind, table in (("flat", FLAT), ("inner", INNER), ("nested", NESTED), ("random", RANDOM))
          for name in table]  # fmt: skip
"""Those that index, move, sort, scan or draw."""
NO_GRADIENT = {
    "argsort": "indices", "nonzero": "indices", "argmax": "indices", "argmin": "indices", "searchsorted": "indices",
    "count_nonzero": "counts", "isin": "bools", "random.bernoulli": "bools", "random.randint": "integers",
}  # fmt: skip
"""Ops whose results are not inexact, so that there is nothing to differentiate."""
READS: dict[str, Callable[[RaggedArray], Any]] = {
    "compact": ra.compact,
    "from_rows": lambda x: ra.from_rows(list(x)),
    "nested_size": ra.nested_size,
    "ragged": lambda x: ra.ragged([x]),
    "unbind": ra.unbind,
}
"""Functions that must read the sizes of rows, which no traced array lets them."""
PLAIN = {
    "__array_namespace_info__", "arange", "bucket_size", "can_cast", "checked", "checks", "empty", "eye", "fft.fftfreq",
    "fft.rfftfreq", "finfo", "from_dlpack", "full", "grad", "iinfo", "isdtype", "linspace", "nested_dim", "ones",
    "result_type", "value_and_grad", "zeros",
}  # fmt: skip
"""Functions of sizes, dtypes, functions or nothing: no ragged array goes in."""


def by_day(cases: Iterable[str], chosen: Container[str]) -> list[Any]:
    """The cases as parameters: by day those that are chosen, nightly all."""
    return [pytest.param(c, marks=() if c in chosen else pytest.mark.nightly) for c in cases]


def batches(kind: str) -> list[RaggedArray]:
    """Arrays of one structure, with distinct values, on NumPy; the last one has no elements."""
    rng = np.random.default_rng(0)
    out = []
    for sizes in KINDS[kind].batches:
        if kind in ("blocks", "squares"):
            n = int(np.prod(sizes, axis=1).sum())
            values = rng.permutation(np.linspace(-1.0, 2.0, n) + 0.07)
            if kind == "squares":
                values = values + 5 * np.concatenate([np.eye(n).ravel() for n, _ in sizes])
            out.append(ra.from_blocks(values, np.array(sizes)))
            continue
        nested = sizes if kind == "nested" else (sizes,)
        shape = (int(sum(nested[-1])), *KINDS[kind].item)
        values = rng.permutation(np.linspace(-1.0, 2.0, int(np.prod(shape))) + 0.07).reshape(shape)
        out.append(ra.from_nested_row_lengths(values, [np.array(n, dtype=int) for n in nested]))
    return out


def weights(kind: str) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.uniform(-0.9, 0.9, shape).astype(np.float32) for shape in KINDS[kind].weights]


def on_jax(x: RaggedArray, kind: str, fill: str = "nan") -> RaggedArray:
    capacity = KINDS[kind].capacity
    return ra.testing.poison(ra.asarray(x, xp="jax", dtype="float32", capacity=capacity), fill=fill)


def leaves(out: Any) -> list[Any]:
    return [a for part in out for a in leaves(part)] if isinstance(out, tuple | list) else [out]


def loss(f: Recipe, x: RaggedArray, *given: Any) -> Any:
    """The weighted sum of every inexact result; missing elements, which are NaN or infinite, count nothing."""
    total: Any = 0.0
    for out in leaves(f(x, *given)):
        values = out.values if isinstance(out, RaggedArray) else out
        if not hasattr(values, "dtype") or np.dtype(values.dtype).kind not in "fc":
            continue
        weighted = ra.map_values(_weighted, out) if isinstance(out, RaggedArray) else _weighted(out)
        total = total + ra.sum(weighted)
    return total


def _weighted(v: Any) -> Any:
    xp = ra.backends.namespace(v)
    v = xp.real(v) + 2 * xp.imag(v) if np.dtype(v.dtype).kind == "c" else v
    factors = np.cos(1 + np.arange(v.size, dtype=np.float64)).reshape(v.shape)
    return xp.where(xp.isfinite(v), v, xp.zeros_like(v)) * xp.asarray(factors, dtype=v.dtype)


def same(got: Any, want: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    for a, b in zip(leaves(got), leaves(want), strict=True):
        assert isinstance(a, RaggedArray) == isinstance(b, RaggedArray)
        if isinstance(a, RaggedArray):
            a, b = ra.compact(ra.contiguous(a.to("numpy"))), ra.compact(ra.contiguous(b.to("numpy")))
            np.testing.assert_equal(_sizes(a), _sizes(b))
            a, b = a.values, b.values
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def _sizes(x: RaggedArray) -> Any:
    return x.block.sizes if x.block is not None else x.nested_row_splits


def stack(xs: list[Any]) -> Any:
    return jax.tree.map(lambda *a: jnp.stack(a), *xs)
