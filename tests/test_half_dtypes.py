"""Half-precision floats on NumPy: the dtype of every result is the one that JAX gives.

JAX is asked for shapes and dtypes only, so that nothing compiles.
"""

import warnings
from collections.abc import Callable
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from .harness.day import nightly

HALVES = [ml_dtypes.bfloat16, np.float16]
DTYPES = [*HALVES, ml_dtypes.float8_e4m3fn]
LENGTHS = np.array([2, 0, 3])
RNG = np.random.default_rng(0)


def rows(*item: int, dtype: Any) -> RaggedArray:
    return ra.from_row_lengths(RNG.uniform(0.1, 0.9, (5, *item)).astype(dtype), LENGTHS)


def dense(*shape: int, dtype: Any) -> np.ndarray:
    return np.asarray(RNG.uniform(0.1, 0.9, shape)).astype(dtype)


def on_jax(x: Any) -> Any:
    if isinstance(x, RaggedArray):
        return ra.asarray(x, xp="jax", capacity=x.capacity)
    return jax.device_put(x) if isinstance(x, np.ndarray) else x


WITHOUT_X64 = {"int64": "int32", "uint64": "uint32"}


def dtypes(tree: Any) -> list[str]:
    """Dtypes of the arrays of a result; structure left out, and 64-bit integers named as JAX has them."""
    values = [x.values if isinstance(x, RaggedArray) else x for x in jax.tree.leaves(tree, is_leaf=_ragged)]
    names = [
        "bool" if isinstance(x, bool) else x.dtype.name for x in values if hasattr(x, "dtype") or x in (True, False)
    ]
    return [WITHOUT_X64.get(name, name) for name in names]


def _ragged(x: Any) -> bool:
    return isinstance(x, RaggedArray)


def outcome(f: Callable[..., Any], args: tuple[Any, ...], *, lazy: bool) -> list[str] | str:
    """Dtypes, or an error that is not one of our own; nothing for a call that we refuse."""
    arrays = [i for i, a in enumerate(args) if isinstance(a, RaggedArray | np.ndarray)]

    def of_arrays(*given: Any) -> Any:
        full = list(args)
        for i, a in zip(arrays, given, strict=True):
            full[i] = a
        return f(*full)

    with warnings.catch_warnings(), jax.numpy_rank_promotion("allow"), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            given = [args[i] for i in arrays]
            return dtypes(jax.eval_shape(of_arrays, *map(on_jax, given)) if lazy else of_arrays(*given))
        except Exception as e:
            return [] if ": expected " in str(e) else f"{type(e).__name__}: {e}"


NOT_OPS = {
    "asarray", "astype", "can_cast", "finfo", "iinfo", "isdtype", "ragged", "float_power", "result_type", "repeat",
    "linspace", "full", "arange", "checked", "grad", "value_and_grad", "nested_map", "map_components", "map_values",
}  # fmt: skip
"""No ops on numbers; or of float64, which JAX has not without x64; or tested below."""

SPACES = {"": ra, "nn.": ra.nn, "special.": ra.special, "linalg.": ra.linalg, "fft.": ra.fft}
NAMES = [
    (prefix + name, f)
    for prefix, space in SPACES.items()
    for name in space.__all__
    if callable(f := getattr(space, name)) and not isinstance(f, type) and name not in NOT_OPS
]


def calls(dtype: Any) -> dict[str, tuple[Any, ...]]:
    x, wide = rows(dtype=dtype), rows(3, dtype=dtype)
    return {
        "x": (x,), "x of items": (wide,), "x, 2": (x, 2), "x, 0.5": (x, 0.5), "0.5, x": (0.5, x), "x, x": (x, x),
        "x, dense": (x, dense(dtype=dtype)), "2, x": (2, x), "items": (wide, wide),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", [
    HALVES[0], *(pytest.param(d, marks=pytest.mark.nightly) for d in DTYPES[1:])
], ids=lambda d: np.dtype(d).name)  # fmt: skip
def test_every_function_gives_the_dtype_of_jax(dtype: Any) -> None:
    known, wrong = 0, []
    every = calls(dtype)
    tried = every if nightly() else {text: every[text] for text in ("x", "x, x", "items")}
    for name, f in NAMES:
        for text, args in tried.items():
            want = outcome(f, args, lazy=True)
            if want and not isinstance(want, str):
                known += 1
                got = outcome(f, args, lazy=False)
                if got not in ([], want):
                    wrong.append(f"{name}({text}): {got}, on JAX {want}")
    assert wrong == []
    assert known > (550 if nightly() else 200)


def matrices(dtype: Any) -> RaggedArray:
    return ra.ragged([dense(2, 2, dtype=dtype) + 2 * np.eye(2, dtype=dtype), dense(3, 3, dtype=dtype)])


IDS = ra.from_row_lengths(np.array([0, 1, 1, 2, 0]), LENGTHS)
LAYERS: dict[str, Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "linear": lambda d: (ra.nn.linear, (rows(3, dtype=d), dense(3, 2, dtype=d), dense(2, dtype=d))),
    "linear, no bias": lambda d: (ra.nn.linear, (rows(3, dtype=d), dense(3, 2, dtype=d))),
    "linear, per row": lambda d: (ra.nn.linear, (rows(3, dtype=d), dense(3, 3, 2, dtype=d), dense(3, 2, dtype=d))),
    "linear, dense": lambda d: (ra.nn.linear, (dense(4, 3, dtype=d), dense(3, 2, dtype=d), dense(2, dtype=d))),
    "embedding": lambda d: (ra.nn.embedding, (IDS, dense(3, 2, dtype=d))),
    "embedding_bag": lambda d: (ra.nn.embedding_bag, (IDS, dense(3, 2, dtype=d))),
    "embedding_bag, sum": lambda d: (lambda i, t: ra.nn.embedding_bag(i, t, mode="sum"), (IDS, dense(3, 2, dtype=d))),
    "embedding_bag, max": lambda d: (lambda i, t: ra.nn.embedding_bag(i, t, mode="max"), (IDS, dense(3, 2, dtype=d))),
    "embedding_bag, weights": lambda d: (
        lambda i, t, w: ra.nn.embedding_bag(i, t, mode="sum", weights=w),
        (IDS, dense(3, 2, dtype=d), rows(dtype=d)),
    ),
    "one_hot": lambda d: (lambda i: ra.nn.one_hot(i, 3, dtype=d), (IDS,)),
    "layer_norm": lambda d: (ra.nn.layer_norm, (rows(3, dtype=d), dense(3, dtype=d), dense(3, dtype=d))),
    "rms_norm": lambda d: (ra.nn.rms_norm, (rows(3, dtype=d), dense(3, dtype=d))),
    "batch_norm": lambda d: (
        lambda x, w, b: ra.nn.batch_norm(x, None, w, b),
        (rows(3, dtype=d), dense(3, dtype=d), dense(3, dtype=d)),
    ),
    "attention": lambda d: (ra.nn.attention, tuple(rows(2, 4, dtype=d) for _ in range(3))),
    "conv1d": lambda d: (ra.nn.conv1d, (rows(3, dtype=d), dense(3, 3, 2, dtype=d))),
    "conv1d, bias": lambda d: (
        lambda x, w, b: ra.nn.conv1d(x, w, b),
        (rows(3, dtype=d), dense(3, 3, 2, dtype=d), dense(2, dtype=d)),
    ),
    "max_pool": lambda d: (lambda x: ra.nn.max_pool(x, 2), (rows(3, dtype=d),)),
    "avg_pool": lambda d: (lambda x: ra.nn.avg_pool(x, 2), (rows(3, dtype=d),)),
    "rnn": lambda d: (ra.nn.rnn, (rows(3, dtype=d), dense(3, 2, dtype=d), dense(2, 2, dtype=d), dense(2, dtype=d))),
    "gru": lambda d: (ra.nn.gru, (rows(3, dtype=d), dense(3, 6, dtype=d), dense(2, 6, dtype=d), dense(6, dtype=d))),
    "lstm": lambda d: (ra.nn.lstm, (rows(3, dtype=d), dense(3, 8, dtype=d), dense(2, 8, dtype=d), dense(8, dtype=d))),
    "linear_recurrence": lambda d: (ra.nn.linear_recurrence, (rows(3, dtype=d), rows(3, dtype=d))),
    "cross_entropy": lambda d: (ra.nn.cross_entropy, (rows(3, dtype=d), IDS)),
    "cross_entropy, smoothed": lambda d: (
        lambda x, y: ra.nn.cross_entropy(x, y, label_smoothing=0.1, reduction="none"),
        (rows(3, dtype=d), IDS),
    ),
    "mse_loss": lambda d: (lambda x, y: ra.nn.mse_loss(x, y, reduction="none"), (rows(dtype=d), rows(dtype=d))),
    "rotary": lambda d: (ra.nn.rotary, (rows(2, 4, dtype=d),)),
    "sinusoidal": lambda d: (lambda x: ra.nn.sinusoidal(x, 4), (rows(4, dtype=d),)),
    "interpolate": lambda d: (
        lambda x: ra.nn.interpolate(x, np.array([3, 0, 2]), method="linear", capacity=5),
        (rows(3, dtype=d),),
    ),
    "elu, alpha": lambda d: (lambda x: ra.nn.elu(x, alpha=0.7), (rows(dtype=d),)),
    "leaky_relu, slopes": lambda d: (lambda x, a: ra.nn.leaky_relu(x, negative_slope=a), (rows(dtype=d),) * 2),
    "threshold": lambda d: (lambda x: ra.nn.threshold(x, 0.5, -3.0), (rows(dtype=d),)),
    "matmul": lambda d: (ra.matmul, (rows(3, dtype=d), dense(3, 2, dtype=d))),
    "addmm": lambda d: (
        lambda c, a, b: ra.addmm(c, a, b, beta=0.5, alpha=2),
        (rows(2, dtype=d), rows(3, dtype=d), dense(3, 2, dtype=d)),
    ),
    "where": lambda d: (lambda x: ra.where(x > 0.5, x, 0.5), (rows(dtype=d),)),
    "where, numbers": lambda d: (lambda x: ra.where(x > 0.5, 1, x), (rows(dtype=d),)),
    "clip": lambda d: (lambda x: ra.clip(x, 0.2, 1), (rows(dtype=d),)),
    "x * bool": lambda d: (lambda x: x * True, (rows(dtype=d),)),
    "x + per row": lambda d: (lambda x, b: x + ra.multiply(b, 2.5)[:, None], (rows(dtype=d), dense(3, dtype=d))),
    "x + float32": lambda d: (lambda x, b: x + 0.5 * b, (rows(dtype=d), dense(1, 1, dtype=np.float32))),
    "x * complex": lambda d: (lambda x: x * 1j, (rows(dtype=d),)),
    "sum, initial": lambda d: (lambda x: ra.sum(x, axis=1, initial=0.5), (rows(dtype=d),)),
    "max, where": lambda d: (lambda x: ra.max(x, axis=1, where=x > 0.5), (rows(dtype=d),)),
    "var": lambda d: (lambda x: ra.var(x, axis=1, correction=1), (rows(dtype=d),)),
    "mean of columns": lambda d: (lambda x: ra.mean(x, axis=0, length=3), (rows(dtype=d),)),
    "cumulative_sum": lambda d: (lambda x: ra.cumulative_sum(x, axis=1, include_initial=True), (rows(dtype=d),)),
    "full_like": lambda d: (lambda x: ra.full_like(x, 0.5), (rows(dtype=d),)),
    "to_padded": lambda d: (lambda x: ra.to_padded(x, length=3, fill_value=0.5), (rows(dtype=d),)),
    "pad": lambda d: (lambda x: ra.pad(x, 1, 1, fill_value=0.5), (rows(dtype=d),)),
    "x.at": lambda d: (lambda x: x.at[x > 0.5].set(0.25), (rows(dtype=d),)),
    "x.at, add": lambda d: (lambda x: x.at[:, :1].add(0.25), (rows(dtype=d),)),
    "polygamma": lambda d: (lambda x: ra.special.polygamma(1, x), (rows(dtype=d),)),
    "eval_chebyt": lambda d: (lambda x: ra.special.eval_chebyt(3, x), (rows(dtype=d),)),
    "result_type": lambda d: (lambda x: ra.zeros(1, dtype=ra.result_type(x, 0.5, 2)), (rows(dtype=d),)),
}


@pytest.mark.parametrize("dtype", HALVES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_dtype_of_jax(name: str, dtype: Any) -> None:
    f, args = LAYERS[name](dtype)
    with jax.numpy_rank_promotion("allow"):
        want = dtypes(jax.eval_shape(f, *map(on_jax, args)))
    assert want != [] and dtypes(f(*args)) == want


@pytest.mark.parametrize("dtype", HALVES, ids=lambda d: np.dtype(d).name)
def test_products_of_matrices(dtype: Any) -> None:
    a = matrices(dtype)
    for out in (ra.matmul(a, a), ra.einsum("nij,njk->nik", a, a), ra.linalg.inv(a), ra.linalg.matrix_transpose(a) * 2):
        assert out.dtype == dtype


def test_numbers_are_weak_beside_what_numpy_does_not_know() -> None:
    x, ids = rows(dtype=ml_dtypes.bfloat16), IDS
    assert (x + ids).dtype == (ids * x).dtype == ra.result_type(x, ids, 0.5) == ml_dtypes.bfloat16
    assert ra.result_type(x, 1j) == np.complex64 and ra.result_type(x, np.float32) == np.float32
    assert ra.result_type(x, np.zeros(1)) == (x * np.ones((1, 1))).dtype == np.float64
    assert ra.float_power(x, 2).dtype == np.float64


def test_one_rounding() -> None:
    x = rows(dtype=ml_dtypes.bfloat16)
    wide = ra.astype(x, "float32")
    for f in (ra.nn.gelu, ra.nn.selu, ra.special.erf, ra.sinc, lambda x: ra.nn.elu(x, alpha=0.5)):
        np.testing.assert_array_equal(f(x).values, f(wide).values.astype(ml_dtypes.bfloat16))
    third = float(ml_dtypes.bfloat16(1 / 3))
    for number in (1 / 3, 3):
        want = (wide * (third if number == 1 / 3 else number)).values.astype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal((x * number).values, want)
    edge = ra.ragged([np.array([np.nan, np.inf, -np.inf], ml_dtypes.bfloat16)])
    high = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    assert ra.nan_to_num(edge).tolist() == [[0.0, high, -high]]
    assert ra.nextafter(x, x + 1).dtype == ml_dtypes.bfloat16


def test_jax_takes_halves_where_its_own_functions_do_not() -> None:
    x = rows(dtype=np.float16)
    for f in (ra.special.ndtr, ra.special.log_ndtr, ra.special.ndtri):
        got = f(on_jax(x))
        assert got.dtype == np.float16
        np.testing.assert_allclose(np.asarray(got.values, np.float32), f(x).values.astype(np.float32), rtol=2e-3)
