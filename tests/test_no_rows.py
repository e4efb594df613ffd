"""Layers, losses and recurrences of a batch of no rows, with slack and without, under jit: value and gradient."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

ONES, KEY = jnp.ones, jax.random.key(0)
LAYERS: dict[str, tuple[tuple[int, ...], Callable[[RaggedArray], Any]]] = {
    "attention": ((2, 4), lambda x: ra.nn.attention(x, x, x, causal=True)),
    "avg_pool": ((4,), lambda x: ra.nn.avg_pool(x, 2)),
    "binary_cross_entropy": ((), lambda x: ra.nn.binary_cross_entropy(x, 0 * x, from_logits=True)),
    "conv1d": ((4,), lambda x: ra.nn.conv1d(x, ONES((3, 4, 2)))),
    "cross_entropy": ((4,), lambda x: ra.nn.cross_entropy(x, _ids(x))),
    "ctc_loss": ((4,), lambda x: ra.nn.ctc_loss(x, _ids(x))),
    "dropout": ((), lambda x: ra.nn.dropout(x, 0.5, key=KEY)),
    "embedding": ((4,), lambda x: ra.nn.embedding(_ids(x), ONES((2, 4))) * x),
    "embedding_bag": ((4,), lambda x: ra.nn.embedding_bag(_ids(x), ONES((5, 4)) + jnp.sum(x.values[:0]))),
    "global_avg_pool": ((4,), lambda x: ra.nn.global_avg_pool(x)),
    "global_max_pool": ((4,), lambda x: ra.nn.global_max_pool(x)),
    "gru": ((4,), lambda x: ra.nn.gru(x, ONES((4, 9)), ONES((3, 9)))),
    "huber_loss": ((), lambda x: ra.nn.huber_loss(x, 2 * x)),
    "kl_div": ((), lambda x: ra.nn.kl_div(x, 0 * x)),
    "layer_norm": ((4,), lambda x: (ra.nn.layer_norm(x, ONES(4), ONES(4)), ra.nn.layer_norm(x, axis=(1, 2)))),
    "linear": (
        (4,),
        lambda x: (ra.nn.linear(x, ONES((4, 3)), ONES(3)), ra.nn.linear(x, ONES((0, 4, 3)), ONES((0, 3)))),
    ),
    "linear_recurrence": ((4,), lambda x: ra.nn.linear_recurrence(x, x)),
    "log_softmax": ((), lambda x: ra.nn.log_softmax(x)),
    "lstm": ((4,), lambda x: ra.nn.lstm(x, ONES((4, 12)), ONES((3, 12)))),
    "max_pool": ((4,), lambda x: ra.nn.max_pool(x, 2)),
    "mse_loss": ((), lambda x: ra.nn.mse_loss(x, 2 * x)),
    "rms_norm": ((4,), lambda x: ra.nn.rms_norm(x, ONES(4))),
    "rnn": ((4,), lambda x: ra.nn.rnn(x, ONES((4, 3)), ONES((3, 3)))),
    "rotary": ((2, 4), lambda x: ra.nn.rotary(x)),
    "scan": ((4,), lambda x: ra.nn.scan(lambda c, v: (c + v, c * v), ONES((0, 4)), x)),
    "softmax": ((), lambda x: ra.nn.softmax(x)),
}
BY_DAY = ("ctc_loss", "attention", "linear:matrices")


def _ids(x: RaggedArray) -> RaggedArray:
    return ra.from_row_splits(jnp.full(x.capacity, 99), jnp.zeros(1, "int32"))


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in BY_DAY else pytest.mark.nightly) for n in LAYERS])
def test_no_rows(name: str) -> None:
    inner, f = LAYERS[name]
    for capacity in (0, 3):
        x = ra.from_row_splits(jnp.full((capacity, *inner), jnp.nan), jnp.zeros(1, "int32"))

        def total(v: Any, x: RaggedArray = x) -> Any:
            out = jax.tree.leaves(f(x.with_values(v)), is_leaf=lambda a: isinstance(a, RaggedArray))
            return sum(ra.sum(a) for a in out)

        value, slope = jax.jit(jax.value_and_grad(total))(x.values)
        assert value == 0
        np.testing.assert_array_equal(slope, 0)
