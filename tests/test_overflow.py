"""Data that outgrew its capacity under plain jit: the mark, and the fill in every value and gradient behind it."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray
from raggedarray.engine import edge

from . import recipes

ROWS = [[1.5, 2.0, 3.0], [], [5.0], [2.0, 2.5, -1.0, 4.0]]
Recipe = Callable[[Any], Any]
KEY = jax.random.key(1)
MATRICES = [np.arange(6.0).reshape(2, 3) + 1, np.arange(2.0).reshape(2, 1)]


class Arrays(NamedTuple):
    """Arrays of the same rows: floats, ints, bytes, bools, pairs, heads; and rows of rows, blocks, square matrices."""

    x: Any
    i: Any
    u: Any
    b: Any
    pairs: Any
    heads: Any
    nested: Any
    blocks: Any
    squares: Any


def given() -> Arrays:
    x = ra.asarray(ra.ragged(ROWS), xp="jax", dtype="float32", capacity=8)
    nested = ra.asarray(ra.ragged([[[1.0, 2.0], []], [[3.0, 4.0, 5.0]]]), xp="jax", dtype="float32", capacity=(4, 8))
    blocks = ra.astype(ra.ragged(MATRICES).to("jax"), "float32")
    squares = ra.astype(ra.ragged([np.eye(2), 2 * np.eye(2)], item_shape=(None, None)).to("jax"), "float32")
    return Arrays(
        x=x, i=ra.astype(x, "int32"), u=ra.astype(ra.abs(x), "uint8"), b=x > 1.8,
        pairs=ra.stack([x, 2 * x], axis=-1), nested=nested, blocks=blocks, squares=squares,
        heads=ra.reshape(ra.stack([x, x, x, x], axis=-1), (4, None, 2, 2)),
    )  # fmt: skip


def small(fine: Arrays) -> Arrays:
    """The same over too few slots."""
    n = {"nested": (4, 3), "squares": 6}
    return Arrays(**{name: ra.with_capacity(x, n.get(name, 4)) for name, x in fine._asdict().items()})


FINE = given()
ONE = ra.BucketPlan.make(FINE.squares)
PLAN = ra.BucketPlan.make(FINE.squares, FINE.squares)
MARKED = jax.jit(small)(FINE)


def is_fill(values: Any) -> bool:
    a = np.asarray(values)
    if a.dtype.kind == "b":
        return bool(a.all())
    if a.dtype.kind in "iu":
        limits = np.iinfo(a.dtype)
        return bool((a == (limits.min if a.dtype.kind == "i" else limits.max)).all())
    return bool(np.isnan(a).all())


def leaves(out: Any) -> list[Any]:
    return jax.tree.leaves(out, is_leaf=lambda a: isinstance(a, RaggedArray))


def faults(out: Any, mark: bool = True) -> list[str]:
    """What in a result is not the fill, or does not say that it overflowed, unless it has the outer rows that fit."""
    found = []
    for a in leaves(out):
        values = a.values if isinstance(a, RaggedArray) else a
        if not is_fill(values):
            found.append(f"{values}")
        if mark and isinstance(a, RaggedArray) and not bool(a.overflow) and not _outer(a):
            found.append(f"no mark on {a.shape}")
    return found


def _outer(x: RaggedArray) -> bool:
    """Whether these are the rows of rows that `MARKED.nested` has, of which only the slots are too few."""
    splits, kept = x.partitions[0].splits, MARKED.nested.partitions[0].splits
    return len(x.partitions) == 1 and x.capacity == 4 and splits.tolist() == kept.tolist()


UNARY = """
abs acos acosh asin asinh atan atanh ceil conj cos cosh deg2rad exp exp2 expm1 floor imag log log10 log1p log2 negative
positive rad2deg real reciprocal round sign sin sinc sinh sqrt square tan tanh trunc angle nan_to_num isfinite isinf
isnan isneginf isposinf isreal signbit logical_not argsort sort unique_values unique_counts unique_inverse unique_all
all any logsumexp max mean min nanmean nansum prod std sum var argmax argmin count_nonzero
to_rows to_blocks contiguous get_buffer frexp to_padded to_mask
nn.celu nn.elu nn.gelu nn.hard_shrink nn.hard_sigmoid nn.hard_silu nn.hard_tanh nn.leaky_relu nn.log_sigmoid nn.mish
nn.relu nn.relu6 nn.selu nn.sigmoid nn.silu nn.soft_shrink nn.soft_sign nn.softplus nn.tanh_shrink nn.softmax
nn.log_softmax nn.logsumexp special.digamma special.entr special.erf special.erfc special.erfcx special.erfinv
special.expit special.gammaln special.i0 special.i0e special.i1 special.i1e special.log_ndtr special.logit special.ndtr
special.ndtri
"""
BINARY = """
add atan2 copysign divide float_power floor_divide fmax fmin fmod heaviside hypot logaddexp maximum minimum multiply
nextafter pow remainder subtract equal greater greater_equal isclose less less_equal not_equal logical_and logical_or
logical_xor special.betaln special.gammainc special.gammaincc special.xlog1py special.xlogy special.zeta
"""
ROWWISE = "max mean min prod std sum var logsumexp nanmean nansum all any argmax argmin count_nonzero median"
COLUMNS = "cumulative_max cumulative_min cumulative_prod cumulative_sum"


def _op(name: str) -> Callable[..., Any]:
    f: Any = ra
    for part in name.split("."):
        f = getattr(f, part)
    return f


OPS: dict[str, Recipe] = {}
for _name in UNARY.split():
    OPS[_name] = lambda m, f=_op(_name): f(m.x, **_length(f))  # noqa: B008
for _name in BINARY.split():
    OPS[_name] = lambda m, f=_op(_name): (f(m.x, 2.0), f(m.x, m.x))  # noqa: B008
for _name in ROWWISE.split():
    OPS[f"{_name}:axes"] = lambda m, f=_op(_name): (f(m.x, axis=1), f(m.x, axis=0, length=5))  # noqa: B008
for _name in ("sum", "prod", "max", "min", "any"):
    OPS[f"{_name}:ints"] = lambda m, f=_op(_name): (f(m.i, axis=1), f(m.i))  # noqa: B008
for _name in COLUMNS.split():
    OPS[_name] = lambda m, f=_op(_name): (f(m.x, axis=1), f(m.i, axis=1, reverse=True), f(m.pairs, axis=2))  # noqa: B008
OPS |= {f"inner:{name}": lambda m, f=f: f(m.pairs) for name, f in recipes.INNER.items() if name != "reshape"}
OPS |= {
    "bitwise_and": lambda m: m.i & 3,
    "bitwise_or": lambda m: (m.i | 3, m.b | m.b),
    "bitwise_xor": lambda m: m.i ^ m.i,
    "bitwise_invert": lambda m: (~m.i, ~m.b),
    "bitwise_left_shift": lambda m: m.i << 1,
    "bitwise_right_shift": lambda m: m.i >> 1,
    "gcd": lambda m: ra.gcd(m.i, 4),
    "lcm": lambda m: ra.lcm(m.u, 4),
    "ldexp": lambda m: ra.ldexp(m.x, m.i),
    "arithmetic:ints": lambda m: (m.i + 1, m.u * 2, -m.i, m.i // 2, m.i % 3, m.i**2, ra.abs(m.i), ra.sign(m.i)),
    "mixed": lambda m: (m.x + FINE.x, FINE.x * m.x, ra.where(FINE.b, FINE.x, m.x), FINE.i - m.i),
    "per row": lambda m: (m.x + np.ones((4, 1), np.float32), m.x / ra.sum(FINE.x, axis=1, keepdims=True)),
    "where": lambda m: (ra.where(m.b, 1.0, 0.0), ra.where(m.x > 0, m.x, FINE.x), ra.where(FINE.b, m.i, 0)),
    "clip": lambda m: (ra.clip(m.x, 0.0, 1.0), ra.clip(m.i, 0, 2)),
    "astype": lambda m: (ra.astype(m.x, "int32"), ra.astype(m.i, "float32"), ra.astype(m.b, "int32")),
    "map_values": lambda m: ra.map_values(lambda v: jnp.where(jnp.isnan(v), 0.0, v), m.x),
    "aligned": lambda m: ra.aligned(m.x, like=m.x),
    "take": lambda m: ra.take(m.x, np.array([2, 0, 2]), capacity=24),
    "gather": lambda m: ra.gather(m.x, ra.argsort(m.x), batch_dims=1),
    "take_along_axis": lambda m: ra.take_along_axis(FINE.x, ra.argsort(m.x), axis=1),
    "boolean_mask": lambda m: (ra.boolean_mask(FINE.x, m.b), ra.boolean_mask(m.x, FINE.b)),
    "boolean_mask:rows": lambda m: ra.boolean_mask(m.x, np.array([True, False, True, True])),
    "nonzero": lambda m: ra.nonzero(m.x > 0, size=9),
    "getitem": lambda m: (m.x[:, ::-1], m.x[:, 1:3], m.x[1:], m.x[::-1], m.x[:, None, :2], m.x[np.array([2, 0])]),
    "getitem:item": lambda m: (m.x[:, 0], m.i[:, -1], m.pairs[..., 1], m.x[m.x > 0.1]),
    "at.get": lambda m: m.x.at[:, 0].get(fill_value=0.0),
    "at.set": lambda m: (m.x.at[:, :].set(7.0), m.i.at[:, 0].set(1)),
    "at.add": lambda m: m.i.at[np.array([0, 2])].add(1),
    "at.multiply": lambda m: m.x.at[m.x > 0].multiply(3.0),
    "at.min": lambda m: m.x.at[0].min(0.25),
    "at.max": lambda m: m.x.at[:, -2:].max(0.25),
    "row": lambda m: ra.row(m.x, 0, length=8),
    "row_item": lambda m: ra.row_item(m.i, 1, fill_value=0),
    "first": lambda m: ra.first(m.x, fill_value=0.0),
    "last": lambda m: ra.last(m.i, fill_value=0),
    "narrow": lambda m: ra.narrow(m.x, 1, m.x.row_lengths() // 3, m.x.row_lengths() // 2),
    "sort": lambda m: (ra.sort(m.x), ra.sort(m.i, descending=True, max_length=8), ra.sort(m.x, axis=0)),
    "top_k": lambda m: (ra.top_k(m.x, 2), ra.top_k(m.i, 1)),
    "isin": lambda m: ra.isin(m.i, np.array([2])),
    "diff": lambda m: (ra.diff(m.x), ra.diff(m.i, n=2)),
    "quantile": lambda m: ra.quantile(m.x, 0.3, axis=1),
    "searchsorted": lambda m: (ra.searchsorted(FINE.x, m.x), ra.searchsorted(m.x, FINE.x)),
    "concat": lambda m: (
        ra.concat([m.x, FINE.x], axis=1),
        ra.concat([FINE.i, m.i]),
        ra.concat([m.pairs, FINE.pairs], axis=2),
    ),
    "stack": lambda m: (ra.stack([m.x, FINE.x]), ra.stack([FINE.i, m.i], axis=-1), ra.stack([m.x, m.x], axis=1)),
    "unstack": lambda m: ra.unstack(m.pairs, axis=2),
    "broadcast_arrays": lambda m: ra.broadcast_arrays(m.i, np.ones((4, 1), np.float32)),
    "broadcast_to": lambda m: ra.broadcast_to(m.i, (2, 4, None)),
    "expand_dims": lambda m: (ra.expand_dims(m.i, axis=1), ra.expand_dims(m.i, axis=2)),
    "squeeze": lambda m: ra.squeeze(ra.expand_dims(m.i, axis=1), axis=1),
    "flip": lambda m: (ra.flip(m.x), ra.flip(m.i, axis=1)),
    "pad": lambda m: (ra.pad(m.x, 1, 2), ra.pad(m.i, 1, m.x.row_lengths(), capacity=24)),
    "roll": lambda m: ra.roll(m.i, 2, axis=1),
    "sliding_window": lambda m: ra.sliding_window(m.i, 2),
    "truncate": lambda m: ra.truncate(m.i, 1),
    "repeat": lambda m: (ra.repeat(m.i, 2, axis=1), ra.repeat(m.x, m.x.row_lengths(), axis=0, size=9, capacity=32)),
    "tile": lambda m: ra.tile(m.i, (2, 2)),
    "flatten": lambda m: (ra.flatten(m.x, size=9), ra.flatten(m.i, size=9)),
    "merge_dims": lambda m: (
        ra.merge_dims(m.i, 0, 1, size=9),
        ra.merge_dims(m.nested, 1, 2),
        ra.merge_dims(m.nested, 0, 1, size=5),
    ),
    "split_dims": lambda m: ra.split_dims(m.i, 0, np.array([0, 2, 4])),
    "moveaxis": lambda m: ra.moveaxis(ra.expand_dims(m.pairs, axis=3), 3, 2),
    "permute_dims": lambda m: ra.permute_dims(ra.expand_dims(m.pairs, axis=3), (0, 1, 3, 2)),
    "reshape": lambda m: ra.reshape(m.pairs, (4, None, 2, 1)),
    "with_inner_shape": lambda m: ra.with_inner_shape(m.pairs, (1, 2)),
    "with_rows": lambda m: ra.with_rows(m.i, 6),
    "with_capacity": lambda m: (ra.with_capacity(m.i, 32), ra.with_capacity(m.x, 32)),
    "split": lambda m: ra.split(m.i, 2),
    "array_split": lambda m: ra.array_split(m.i, 3),
    "asarray": lambda m: ra.asarray(m.i, dtype="float32"),
    "full_like": lambda m: ra.full_like(m.i, 3),
    "ones_like": lambda m: ra.ones_like(m.x),
    "zeros_like": lambda m: ra.zeros_like(m.x),
    "empty_like": lambda m: ra.empty_like(m.x),
    "to_padded": lambda m: (
        ra.to_padded(m.x, length=8),
        ra.to_padded(m.i, length=8),
        ra.to_padded(m.nested, length=(3, 4)),
    ),
    "to_mask": lambda m: ra.to_mask(m.x, length=8),
    "matmul": lambda m: (m.pairs @ np.ones((2, 3), np.float32), ra.matmul(m.squares, FINE.squares, bucket=PLAN)),
    "bmm": lambda m: ra.bmm(m.squares, FINE.squares, bucket=PLAN),
    "mv": lambda m: ra.mv(m.pairs, np.ones(2, np.float32)),
    "addmm": lambda m: ra.addmm(m.squares, FINE.squares, FINE.squares, bucket=PLAN),
    "mm": lambda m: ra.mm(m.squares, FINE.squares, bucket=PLAN),
    "linalg.inv": lambda m: ra.linalg.inv(m.squares, bucket=ONE),
    "map_components": lambda m: ra.map_components(lambda v, *_: -v, m.squares, bucket=ONE, shape=lambda n: n),
    "vecdot": lambda m: ra.vecdot(m.pairs, FINE.pairs),
    "tensordot": lambda m: ra.tensordot(m.pairs, np.ones((2, 3), np.float32), axes=1),
    "einsum": lambda m: (
        ra.einsum("bld,de->ble", m.pairs, np.ones((2, 3), np.float32)),
        ra.einsum("bl,bl->b", m.x, FINE.x),
    ),
    "matrix_transpose": lambda m: ra.matrix_transpose(m.blocks),
    "blocks": lambda m: (
        m.blocks + 1,
        ra.sum(m.blocks, axis=1),
        ra.sum(m.blocks, axis=(1, 2)),
        m.blocks[:, 0],
        m.blocks[:, ::-1],
    ),
    "blocks:padded": lambda m: (ra.to_padded(m.blocks, length=(2, 3)), ra.to_rows(m.blocks), ra.contiguous(m.blocks)),
    "nested": lambda m: (ra.sum(m.nested, axis=2), ra.sum(m.nested, axis=1), m.nested[:, ::-1], ra.max(m.nested)),
    "nested:more": lambda m: (
        ra.sort(m.nested, axis=2),
        ra.cumulative_sum(m.nested, axis=2),
        ra.concat([m.nested, FINE.nested], axis=1),
    ),
    "random.normal": lambda m: ra.random.normal(KEY, m.x),
    "random.uniform": lambda m: ra.random.uniform(KEY, m.x),
    "random.bernoulli": lambda m: ra.random.bernoulli(KEY, m.x),
    "random.randint": lambda m: ra.random.randint(KEY, m.x, low=0, high=9),
    "random.permutation": lambda m: ra.random.permutation(KEY, m.i),
    "nn.threshold": lambda m: ra.nn.threshold(m.x, 0.1, 20.0),
    "nn.attention": lambda m: ra.nn.attention(m.heads, m.heads, FINE.heads),
    "nn.embedding_bag": lambda m: ra.nn.embedding_bag(m.i, np.ones((9, 2), np.float32)),
    "nn.embedding": lambda m: ra.nn.embedding(m.i, np.ones((9, 2), np.float32)),
    "nn.one_hot": lambda m: ra.nn.one_hot(m.i, 9),
    "nn.batch_norm": lambda m: ra.nn.batch_norm(m.pairs),
    "nn.conv1d": lambda m: ra.nn.conv1d(m.pairs, np.ones((3, 2, 2), np.float32)),
    "nn.ctc_loss": lambda m: ra.nn.ctc_loss(m.pairs, FINE.u[:, :1] * 0 + 1, max_labels=2),
    "nn.dropout": lambda m: ra.nn.dropout(m.x, 0.5, key=KEY),
    "nn.linear": lambda m: ra.nn.linear(m.pairs, np.ones((2, 3), np.float32)),
    "nn.interpolate": lambda m: ra.nn.interpolate(m.pairs, np.array([2, 1, 1, 2]), capacity=8),
    "nn.binary_cross_entropy": lambda m: ra.nn.binary_cross_entropy(m.x, FINE.x),
    "nn.cross_entropy": lambda m: ra.nn.cross_entropy(m.pairs, ra.zeros_like(FINE.i)),
    "nn.huber_loss": lambda m: ra.nn.huber_loss(m.x, FINE.x),
    "nn.kl_div": lambda m: ra.nn.kl_div(m.x, FINE.x),
    "nn.mse_loss": lambda m: (ra.nn.mse_loss(m.x, FINE.x), ra.nn.mse_loss(FINE.x, m.x, reduction="none")),
    "nn.layer_norm": lambda m: ra.nn.layer_norm(m.pairs),
    "nn.rms_norm": lambda m: ra.nn.rms_norm(m.pairs),
    "nn.avg_pool": lambda m: ra.nn.avg_pool(m.pairs, 2),
    "nn.max_pool": lambda m: ra.nn.max_pool(m.pairs, 2),
    "nn.global_avg_pool": lambda m: ra.nn.global_avg_pool(m.pairs),
    "nn.global_max_pool": lambda m: ra.nn.global_max_pool(m.pairs),
    "nn.rotary": lambda m: ra.nn.rotary(m.heads),
    "nn.sinusoidal": lambda m: ra.nn.sinusoidal(m.pairs, 4),
    "nn.gru": lambda m: ra.nn.gru(m.pairs, np.ones((2, 6), np.float32), np.ones((2, 6), np.float32)),
    "nn.lstm": lambda m: ra.nn.lstm(m.pairs, np.ones((2, 8), np.float32), np.ones((2, 8), np.float32)),
    "nn.rnn": lambda m: ra.nn.rnn(m.pairs, np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)),
    "nn.linear_recurrence": lambda m: ra.nn.linear_recurrence(m.x, FINE.x),
    "nn.scan": lambda m: ra.nn.scan(lambda c, v: (c + 1.0, c), jnp.zeros(4), m.x),
    "linalg.vector_norm": lambda m: (ra.linalg.vector_norm(m.x, axis=1), ra.linalg.vector_norm(m.x)),
    "linalg.outer": lambda m: ra.linalg.outer(m.x, FINE.x, capacity=32),
    "linalg.trace": lambda m: ra.linalg.trace(m.squares),
    "linalg.matrix_norm": lambda m: ra.linalg.matrix_norm(m.squares),
    "linalg.cross": lambda m: ra.linalg.cross(ra.stack([m.x, m.x, m.x], axis=-1), np.ones(3, np.float32)),
    "linalg.diagonal": lambda m: ra.linalg.diagonal(m.squares),
    "special.multigammaln": lambda m: ra.special.multigammaln(m.x, 1),
    "special.polygamma": lambda m: ra.special.polygamma(1, m.x),
    "tril": lambda m: ra.tril(m.squares),
    "triu": lambda m: ra.triu(m.squares),
}


def _length(f: Callable[..., Any]) -> dict[str, Any]:
    return {"length": 8} if f in (ra.to_padded, ra.to_mask) else {}


GROUPS = [list(OPS)[i::12] for i in range(12)]


def by_day(count: int, days: int) -> list[Any]:
    """Numbers of parts, all but the first few of them nightly: each is one large program."""
    return [pytest.param(i, marks=[pytest.mark.nightly] * (i >= days)) for i in range(count)]


@pytest.mark.parametrize("group", by_day(len(GROUPS), 2))
def test_marked_argument(group: int) -> None:
    """Every op on a marked array gives the fill in every row and slot, and marks what is ragged."""
    out = jax.jit(lambda m: {name: OPS[name](m) for name in GROUPS[group]})(MARKED)
    assert {name: bad for name in GROUPS[group] if (bad := faults(out[name]))} == {}


NOT_HERE = """
arange asarray empty eye from_blocks from_dlpack from_nested_row_lengths from_nested_row_splits from_padded
from_row_ids from_row_lengths from_row_splits from_rows full linspace meshgrid ones ragged zeros
nn.sinusoidal __array_namespace_info__ compact unbind
"""


def test_the_table_is_whole() -> None:
    known = {name.split(":")[0] for name in OPS} | set(NOT_HERE.split()) | set(edge.FACTS)
    missing = [
        name
        for prefix, module in (("", ra), ("nn.", ra.nn), ("random.", ra.random), ("special.", ra.special))
        for name in (prefix + n for n in module.__all__)
        if inspect.isfunction(_op(name)) and name not in known and not name.startswith("special.eval_")
    ]
    assert missing == []


ONES = {n: np.ones(n, np.float32) for n in ((2, 2), (2, 6), (2, 8))}
SIZES: dict[str, Recipe] = {
    "with_capacity": lambda x: ra.with_capacity(x, 4),
    "asarray": lambda x: ra.asarray(x, capacity=4),
    "to_padded": lambda x: ra.to_padded(x, length=2),
    "take": lambda x: ra.take(x, np.array([3, 3, 0]), capacity=8),
    "gather": lambda x: ra.gather(x, ra.full_like(x, 3, dtype="int32")[:1], capacity=8),
    "boolean_mask:size": lambda x: ra.boolean_mask(x, x.row_lengths() > 0, size=2),
    "boolean_mask:capacity": lambda x: ra.boolean_mask(x, x > 0, capacity=3),
    "nonzero": lambda x: ra.nonzero(x > 0, size=3),
    "repeat:size": lambda x: ra.repeat(x, x.row_lengths(), axis=0, size=5, capacity=64),
    "repeat:capacity": lambda x: ra.repeat(x, x.row_lengths(), axis=0, size=9, capacity=8),
    "repeat:entries": lambda x: ra.repeat(x, ra.full_like(x, 2, dtype="int32"), axis=1, capacity=8),
    "pad": lambda x: ra.pad(x, x.row_lengths(), 1, capacity=10),
    "flatten": lambda x: ra.flatten(x, size=4),
    "merge_dims": lambda x: ra.merge_dims(x, 0, 1, size=4),
    "narrow": lambda x: ra.narrow(x, 1, 0, x.row_lengths() + 1),
    "row": lambda x: ra.row(x, 3, length=2),
    "sort": lambda x: ra.sort(x, max_length=2),
    "argsort": lambda x: ra.argsort(x, max_length=2),
    "top_k": lambda x: ra.top_k(x, 2, max_length=2),
    "quantile": lambda x: ra.quantile(x, 0.5, axis=0, length=2),
    "einsum": lambda x: ra.einsum("bl,bm->blm", x, x, capacity=8),
    "linalg.outer": lambda x: ra.linalg.outer(x, x, capacity=8),
    "linalg.vector_norm": lambda x: ra.linalg.vector_norm(x, axis=0, length=2),
    "nn.logsumexp": lambda x: ra.nn.logsumexp(x, axis=0, length=2),
    "nn.attention": lambda x: ra.nn.attention(*(ra.expand_dims(ra.stack([x, x], axis=-1), axis=3),) * 3, max_length=2),
    "nn.gru": lambda x: ra.nn.gru(ra.stack([x, x], axis=-1), ONES[2, 6], ONES[2, 6], max_length=2),
    "nn.lstm": lambda x: ra.nn.lstm(ra.stack([x, x], axis=-1), ONES[2, 8], ONES[2, 8], max_length=2),
    "nn.rnn": lambda x: ra.nn.rnn(ra.stack([x, x], axis=-1), ONES[2, 2], ONES[2, 2], max_length=2),
    "nn.linear_recurrence": lambda x: ra.nn.linear_recurrence(x, x, max_length=2),
    "nn.scan": lambda x: ra.nn.scan(lambda c, v: (c + 1.0, c * v), jnp.zeros(4), x, max_length=2),
    "nn.interpolate": lambda x: ra.nn.interpolate(ra.expand_dims(x, axis=2), x.row_lengths() + 1, capacity=8),
    "nn.ctc_loss": lambda x: ra.nn.ctc_loss(ra.stack([x, x], axis=-1), ra.full_like(x, 1, dtype="int32"), max_labels=2),
    **{n: lambda x, n=n: _op(n)(x, axis=1, max_length=2) for n in COLUMNS.split()},
    **{n: lambda x, n=n: _op(n)(x, axis=0, length=2) for n in ROWWISE.split()},
}
"""Each function with a size that is too small for `ROWS`."""
FLOATS_ONLY = "argsort nonzero nn. linalg. logsumexp mean std var nan median quantile einsum"


def _takes(name: str) -> bool:
    return not any(name.startswith(prefix) for prefix in FLOATS_ONLY.split())


def _loss(out: Any) -> Any:
    parts = [a.values if isinstance(a, RaggedArray) else a for a in leaves(out)]
    return sum(jnp.sum(jnp.sin(a)) for a in parts if jnp.issubdtype(a.dtype, jnp.inexact))


PARTS = [list(SIZES)[i::4] for i in range(4)]


@pytest.mark.parametrize("part", by_day(4, 1))
def test_size_that_is_too_small(part: int) -> None:
    """Values, integers and bools are the fill; what is ragged says so, or holds NaN that carries itself on."""
    kinds = {"x": PARTS[part], "i": [*filter(_takes, PARTS[part])], "b": [n for n in PARTS[part] if n in WHOLE.split()]}
    out = jax.jit(lambda m: {k: {n: SIZES[n](getattr(m, k)) for n in names} for k, names in kinds.items()})(FINE)
    assert {(k, n): bad for k in out for n in out[k] if (bad := faults(out[k][n], mark=k != "x"))} == {}


WHOLE = """
with_capacity asarray to_padded take gather boolean_mask:size boolean_mask:capacity repeat:size repeat:capacity
repeat:entries pad flatten merge_dims row
"""


@pytest.mark.parametrize("part", by_day(4, 1))
def test_gradient_of_a_size_that_is_too_small(part: int) -> None:
    names = [
        n for n in PARTS[part] if n not in ["argsort", "nonzero", "all", "any", "argmax", "argmin", "count_nonzero"]
    ]
    slopes = {n: jax.grad(lambda w, x, n=n: _loss(SIZES[n](x * w))) for n in names}
    out = jax.jit(lambda x: {n: slope(jnp.float32(1.0), x) for n, slope in slopes.items()})(FINE.x)
    assert [n for n, g in out.items() if not np.isnan(g)] == []


def test_examples() -> None:
    """Whole values: what overflowed keeps its splits, and rows without a slot are filled too."""
    x = ra.ragged([[1, 2, 3], [5], [2, 2]]).to("jax")
    y = jax.jit(lambda x: ra.with_capacity(ra.concat([x, x], axis=1), 8))(x)
    low = np.iinfo(np.int32).min
    assert y.overflow and y.row_splits.tolist() == [0, 6, 8, 12] and not x.overflow
    assert y.tolist() == [[low] * 6, [low] * 2, [low] * 4] == ra.asarray(y, xp="numpy").tolist()
    assert [row.tolist() for row in y] == y.tolist()
    assert jax.jit(lambda y: ra.sum(y, axis=1))(y).tolist() == [low] * 3 == ra.sum(y, axis=1).tolist()
    assert ra.sum(ra.asarray(y, xp="numpy"), axis=1).tolist() == [np.iinfo(np.int64).min] * 3
    assert ra.to_padded(y, length=6).tolist() == [[low] * 6] * 3
    v = ra.astype(x, "float32")
    g = lambda w, x: ra.sum(ra.with_capacity(x * w, 2))  # noqa: E731
    assert np.isnan(jax.jit(g)(2.0, v)) and np.isnan(jax.jit(jax.grad(g))(2.0, v))
    slope = jax.jit(jax.grad(lambda u, x: g(2.0, x.with_values(u))))
    assert np.isnan(slope(v.values, v)[:6]).all()  # of what was cut off too
    assert np.isnan(jax.jit(lambda x: ra.sum(ra.with_capacity(x, 2), axis=1))(v)).all()
    assert not ra.array_equal(y, y) and not jax.jit(ra.array_equal)(y, y)
    with pytest.raises(ValueError, match="validate"):
        ra.validate(y)


def test_checked_names_the_op_and_both_numbers() -> None:
    with pytest.raises(ValueError) as e:
        ra.checked(lambda m: ra.sum(m, axis=1))(MARKED.x)
    assert str(e.value) == "sum: expected a capacity of at least 8, got 4. Make the array with a larger one."


def test_what_fits_is_exact() -> None:
    """Where nothing overflowed, neither values nor gradients change, -0.0 and inf among them."""
    x = ra.asarray(ra.ragged([[-0.0, np.inf], [], [1e-40, 2.0]]), xp="jax", dtype="float32", capacity=6)
    y = jax.jit(lambda x: ra.with_capacity(ra.concat([x], axis=1), 5))(x)
    assert np.asarray(y.values[:4]).tobytes() == np.asarray(x.values[:4]).tobytes()
    slope = jax.jit(jax.grad(lambda v: ra.sum(ra.with_capacity(x.with_values(v), 5) * 3.0)))(x.values)
    assert slope.tolist() == [3.0] * 4 + [0.0] * 2


def test_no_recompilation() -> None:
    f = ra.testing.count_traces(lambda x: ra.sum(ra.with_capacity(x, 4), axis=1))
    jitted = jax.jit(f)
    for lengths in ([1, 2, 0, 1], [4, 4, 0, 0], [0, 0, 0, 0]):
        jitted(ra.asarray(ra.from_row_lengths(np.ones(sum(lengths), np.float32), lengths), xp="jax", capacity=8))
    assert f.count == 1


STACK = jax.tree.map(lambda *a: jnp.stack(a), FINE.x, FINE.x)
"""Two arrays whose leaves were stacked, as `jax.vmap` returns them."""


@pytest.mark.parametrize(
    "use", [lambda s: ra.sum(s, axis=1), lambda s: s.shape, lambda s: s.nrows, lambda s: s.capacity, len,
            lambda s: s + 1, lambda s: s[0], lambda s: s.tolist(), lambda s: ra.to_padded(s, length=4)]
)  # fmt: skip
def test_a_stack_is_not_an_array(use: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError) as e:
        use(STACK)
    advice = "Work on it inside `jax.vmap`, or take one with `jax.tree.map(lambda a: a[i], x)`."
    assert str(e.value) == f"raggedarray: expected one ragged array, got a stack of (2,) of them. {advice}"


def test_a_stack_can_be_looked_at_and_mapped_over() -> None:
    assert STACK.values.shape == (2, 8) and len(STACK.partitions) == 1 and repr(STACK)
    np.testing.assert_array_equal(jax.vmap(lambda x: ra.sum(x, axis=1))(STACK), np.stack([ra.sum(FINE.x, axis=1)] * 2))
    assert jax.tree.leaves(STACK)[0].shape == (2, 8)


def test_networks_of_indexed_rows() -> None:
    net = ra.nnet3.Network.from_config(
        "component name=a type=NaturalGradientAffineComponent input-dim=2 output-dim=3\n"
        "input-node name=input dim=2\ncomponent-node name=a component=a input=input\noutput-node name=output input=a"
    )
    params, plan = net.init(KEY), net.plan(FINE.pairs)
    assert not faults(jax.jit(lambda x: net.apply(params, x, plan=plan))(MARKED.pairs), mark=False)
