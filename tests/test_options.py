"""Operands, parameters and options of layers that cannot be taken: each is named, whatever it is."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import raggedarray as ra

nn = ra.nn
S = ra.ragged([[1.0, 2.0], [3.0]])
X = ra.ragged([np.ones((2, 4)), np.ones((1, 4))])
Q = ra.from_row_lengths(np.ones((3, 1, 2)), np.array([2, 1]))
IDS = ra.ragged([[1, 0], [2]])
TABLE, KERNEL = np.ones((3, 2)), np.ones((3, 4, 2))
W, U, W4, U4 = np.ones((4, 2)), np.ones((2, 2)), np.ones((4, 8)), np.ones((2, 8))
KEY = np.random.default_rng(0)

MATRICES = ra.matrix_transpose(ra.ragged([np.ones((4, n)) for n in (3, 0, 5)], item_shape=(4, None)))

OPERANDS: dict[str, Callable[[Any], Any]] = {
    "attention": lambda x: nn.attention(x, Q, Q),
    "avg_pool": lambda x: nn.avg_pool(x, 1),
    "batch_norm": nn.batch_norm,
    "conv1d": lambda x: nn.conv1d(x, KERNEL),
    "cross_entropy": lambda x: nn.cross_entropy(x, IDS),
    "dropout": lambda x: nn.dropout(x, 0.5, key=KEY),
    "embedding": lambda x: nn.embedding(x, TABLE),
    "global_max_pool": nn.global_max_pool,
    "layer_norm": nn.layer_norm,
    "linear": lambda x: nn.linear(x, W),
    "max_pool": lambda x: nn.max_pool(x, 1),
    "one_hot": lambda x: nn.one_hot(x, 3),
    "rms_norm": nn.rms_norm,
    "softmax": nn.softmax,
}


@pytest.mark.parametrize("x", [[1.0], 1.0], ids=["list", "number"])
@pytest.mark.parametrize("name", OPERANDS)
def test_operand_that_is_no_array(name: str, x: Any) -> None:
    with pytest.raises(TypeError) as caught:
        OPERANDS[name](x)
    what = type(x).__name__
    assert str(caught.value) == (
        f"nn.{name}: expected a ragged or a plain array, got {what}. "
        "Make it an array first, with `ra.ragged` or `ra.asarray`."
    )


PARAMETERS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("batch_norm", "parameters of shape (4,)", lambda p: nn.batch_norm(X, None, p)),
    ("batch_norm", "parameters of shape (4,)", lambda p: nn.batch_norm(X, (None, p))),
    ("conv1d", "a kernel of shape (size, in, out)", lambda p: nn.conv1d(X, p)),
    ("conv1d", "a bias of shape (2,)", lambda p: nn.conv1d(X, KERNEL, p)),
    ("cross_entropy", "a weight of shape (4,)", lambda p: nn.cross_entropy(X, IDS, weight=p)),
    ("embedding", "a table of shape (n, *item)", lambda p: nn.embedding(IDS, p)),
    ("embedding_bag", "a table of shape (n, *item)", lambda p: nn.embedding_bag(IDS, p)),
    ("gru", "a bias of shape (6,)", lambda p: nn.gru(X, np.ones((4, 6)), np.ones((2, 6)), p)),
    ("linear", "a weight of shape (in, out)", lambda p: nn.linear(X, p)),
    ("linear", "a bias of shape (out,)", lambda p: nn.linear(X, W, p)),
    ("lstm", "a bias of shape (8,)", lambda p: nn.lstm(X, W4, U4, (np.ones(8), p))),
    ("rnn", "w_ih as a matrix", lambda p: nn.rnn(X, p, U)),
    ("rnn", "w_hh as a matrix", lambda p: nn.rnn(X, W, p)),
]


@pytest.mark.parametrize(("name", "expected", "call"), PARAMETERS)
def test_parameter_that_is_no_plain_array(name: str, expected: str, call: Callable[[Any], Any]) -> None:
    for p, got in ((0.5, "a number"), (S, "a ragged (2, None)")):
        with pytest.raises(TypeError) as caught:
            call(p)
        assert str(caught.value) == f"nn.{name}: expected {expected}, got {got}. Pass a plain array."


FLAGS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("attention", "causal", lambda b: nn.attention(Q, Q, Q, causal=b)),
    ("batch_norm", "training", lambda b: nn.batch_norm(X, training=b)),
    ("binary_cross_entropy", "from_logits", lambda b: nn.binary_cross_entropy(S, S, from_logits=b)),
    ("ctc_loss", "zero_infinity", lambda b: nn.ctc_loss(X, IDS[:, :0], zero_infinity=b)),
    ("gelu", "approximate", lambda b: nn.gelu(S, approximate=b)),
    ("kl_div", "log_target", lambda b: nn.kl_div(S, S, log_target=b)),
    ("linear_recurrence", "reverse", lambda b: nn.linear_recurrence(0.5, S, reverse=b)),
    ("lstm", "reverse", lambda b: nn.lstm(X, W4, U4, reverse=b)),
    ("scan", "reverse", lambda b: nn.scan(lambda c, v: (c, v), np.zeros(2), S, reverse=b)),
]


@pytest.mark.parametrize(("name", "option", "call"), FLAGS)
def test_flag_that_is_no_static_bool(name: str, option: str, call: Callable[[Any], Any]) -> None:
    for use, got in ((call, "str"), (jax.jit(lambda b: (call(b), None)[1]), "DynamicJaxprTracer")):
        with pytest.raises(TypeError) as caught:
            use("yes" if got == "str" else True)
        assert str(caught.value) == (f"nn.{name}: expected {option} as a static bool, got {got}. Pass True or False.")
    call(np.bool_(False))


STATICS: list[tuple[str, str, str, Callable[[Any], Any]]] = [
    ("attention", "dropout", "Pass a Python float.", lambda n: nn.attention(Q, Q, Q, dropout=n)),
    ("attention", "scale", "Multiply the queries by it instead.", lambda n: nn.attention(Q, Q, Q, scale=n)),
    ("rotary", "base", "Pass a Python float.", lambda n: nn.rotary(X, base=n)),
    ("sinusoidal", "base", "Pass a Python float.", lambda n: nn.sinusoidal(X, 4, base=n)),
    ("threshold", "the threshold", "Pass a Python float.", lambda n: nn.threshold(S, n, 0.0)),
]


@pytest.mark.parametrize(("name", "option", "advice", "call"), STATICS)
def test_number_that_is_not_static(name: str, option: str, advice: str, call: Callable[[Any], Any]) -> None:
    for use, got in ((call, "str"), (jax.jit(lambda n: (call(n), None)[1]), "DynamicJaxprTracer")):
        with pytest.raises(TypeError) as caught:
            use("1" if got == "str" else 0.5)
        assert str(caught.value) == f"nn.{name}: expected {option} as a static number, got {got}. {advice}"


NUMBERS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("batch_norm", "eps", lambda n: nn.batch_norm(X, eps=n)),
    ("batch_norm", "momentum", lambda n: nn.batch_norm(X, momentum=n)),
    ("cross_entropy", "label_smoothing", lambda n: nn.cross_entropy(X, IDS, label_smoothing=n)),
    ("dropout", "rate", lambda n: nn.dropout(S, n, key=KEY)),
    ("huber_loss", "delta", lambda n: nn.huber_loss(S, S, delta=n)),
    ("layer_norm", "eps", lambda n: nn.layer_norm(X, eps=n)),
]


@pytest.mark.parametrize(("name", "option", "call"), NUMBERS)
def test_number_for_each_slot(name: str, option: str, call: Callable[[Any], Any]) -> None:
    """As many as there are slots would broadcast with the flat values."""
    for n, got in ((np.full(3, 0.5), "shape (3,)"), (None, "NoneType"), (0.5j, "complex")):
        with pytest.raises(TypeError) as caught:
            call(n)
        assert str(caught.value) == (
            f"nn.{name}: expected {option} as one real number, got {got}. Pass one for all elements."
        )
    call(np.float64(0.5))


MESSAGES: list[tuple[type[Exception], Callable[[], Any], str]] = [
    (TypeError, lambda: nn.rnn(X, W, U, initial=1.0),
     "nn.rnn: expected initial states for rows (2,), got a number. Spread it with `broadcast_to`."),
    (TypeError, lambda: nn.linear_recurrence(0.5, X, initial=1.0),
     "nn.linear_recurrence: expected initial states for rows (2,), got a number. Spread it with `broadcast_to`."),
    (TypeError, lambda: nn.lstm(X, W4, U4, initial=1.0),
     "nn.lstm: expected a pair (h, c) as `initial`, got a number. Pass a tuple."),
    (TypeError, lambda: nn.scan(lambda c, v: c, np.zeros(2), S),
     "nn.scan: expected `f` to return a pair (carry, output), got (2,). Return both."),
    (TypeError, lambda: nn.scan(lambda c, v: (c, c, c), np.zeros(2), S),
     "nn.scan: expected `f` to return a pair (carry, output), got 3 results. Return both."),
    (TypeError, lambda: nn.scan(3, np.zeros(2), S),
     "nn.scan: expected a function of a carry and an element, got a number. Pass it first."),
    (ValueError, lambda: nn.rotary(X, base=0),
     "nn.rotary: expected a base above 0, got 0.0. Pass a positive number."),
    (TypeError, lambda: nn.sinusoidal(X, 4, dtype="int32"),
     "nn.sinusoidal: expected a floating dtype, got int32. Convert the result."),
    (TypeError, lambda: nn.linear(X, [1.0, 2.0]),
     "nn.linear: expected a list of parameters, one array per row, got a number. Pass a plain array."),
    (ValueError, lambda: nn.embedding(IDS, np.array(1.0)),
     "nn.embedding: expected a table of shape (n, *item), got (). Check the axes."),
    (IndexError, lambda: nn.embedding(np.array([0, -1]), TABLE),
     "nn.embedding: expected ids from 0 to 2, got -1 at slot 1. Check the vocabulary."),
    (ValueError, lambda: nn.batch_norm(X, np.ones((2, 4))),
     "nn.batch_norm: expected running= (mean, variance), got (2, 4). Pass a pair."),
    (TypeError, lambda: nn.batch_norm(X.astype(complex)),
     "nn.batch_norm: expected real values, got dtype complex128. Normalise real and imaginary parts."),
    (TypeError, lambda: nn.mse_loss(1.0, 2.0),
     "nn.mse_loss: expected a ragged or a plain array, got float. "
     "Make it an array first, with `ra.ragged` or `ra.asarray`."),
    (TypeError, lambda: nn.interpolate([1.0], 2),
     "nn.interpolate: expected a RaggedArray, got list. Make one with `ra.ragged`."),
    (ValueError, lambda: nn.interpolate(S, 2**31),
     "nn.interpolate: expected lengths that add up to at most 2147483647, got 4294967296. Pass smaller ones."),
    (ValueError, lambda: nn.interpolate(S, np.array([2**30, 2**30])),
     "nn.interpolate: expected lengths that add up to at most 2147483647, got 2147483648. Pass smaller ones."),
    (ValueError, lambda: nn.conv1d(X, KERNEL, stride=2**40),
     "nn.conv1d: expected windows and strides of at most 1073741824, "
     "got size 3, stride 1099511627776 and dilation 1. Pass smaller ones."),
    (ValueError, lambda: nn.max_pool(S, 2**40, stride=1),
     "nn.max_pool: expected windows and strides of at most 1073741824, "
     "got size 1099511627776, stride 1 and dilation 1. Pass smaller ones."),
    (ValueError, lambda: nn.interpolate(S, 2, capacity=3),
     "nn.interpolate: expected a capacity of at least 4, got 3. Pass a larger `capacity=`."),
    (TypeError, lambda: nn.threshold(IDS, 1, 0.5),
     "nn.threshold: expected a value of dtype int64, got 0.5. Convert `x` first."),
    (ValueError, lambda: nn.linear(MATRICES, W),
     "nn.linear: expected values with an inner axis, got shape (3, None, 4). Use `ra.to_rows(x)` first."),
    (ValueError, lambda: nn.batch_norm(MATRICES),
     "nn.batch_norm: expected values with an inner axis of channels, got shape (3, None, 4). "
     "Use `ra.to_rows(x)` first."),
    (ValueError, lambda: nn.layer_norm(X[:, :, :1], np.ones(4)),
     "nn.layer_norm: expected parameters that broadcast to (2, None, 1), got (4,). The result has the shape of `x`."),
    (TypeError, lambda: nn.layer_norm(np.ones((2, 1)), S),
     "nn.layer_norm: expected plain parameters for plain values, got a ragged (2, None). Pass a plain array."),
    (TypeError, lambda: nn.dropout(ra.asarray(S, xp="jax"), 0.5, key=jax.random.split(jax.random.key(0))),
     "nn.dropout: expected a jax.random key for JAX arrays, got keys of shape (2,). "
     "Make one with `jax.random.key(seed)`."),
]  # fmt: skip


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "layer_norm", "rms_norm"])
def test_complex_values(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(nn, name)(X.astype(complex))
    assert str(caught.value) == (
        f"nn.{name}: expected real values, got dtype complex128. Take real and imaginary parts."
    )


ALONG_ROWS: dict[str, Callable[[Any], Any]] = {
    "attention": lambda x: nn.attention(x, x, x),
    "conv1d": lambda x: nn.conv1d(x, KERNEL),
    "max_pool": lambda x: nn.max_pool(x, 2, axis=2),
    "rotary": nn.rotary,
    "sinusoidal": lambda x: nn.sinusoidal(x, 4),
}


@pytest.mark.parametrize("name", ALONG_ROWS)
def test_block_where_rows_are_needed(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        ALONG_ROWS[name](MATRICES)
    assert str(caught.value) == (
        f"nn.{name}: expected rows as the innermost ragged axis, got shape (3, None, 4). Use `ra.to_rows(x)`."
    )


@pytest.mark.parametrize(("error", "call", "text"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(error: type[Exception], call: Callable[[], Any], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
