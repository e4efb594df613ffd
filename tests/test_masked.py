"""Arrays of `numpy.ma`: their mask is read where it says the lengths of rows, and refused, not dropped, elsewhere."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import ragged

X = ragged([[1.0, 2.0, 3.0], [], [4.0]])
J = ragged([[1.0, 2.0, 3.0], [], [4.0]], xp="jax")
IDS = ragged([[0, 1], [], [1]])
BLOCK = ragged([np.arange(6.0).reshape(2, 3), np.ones((1, 2))])
TABLE = np.eye(3)


def masked(*values: float, dtype: str = "int32") -> np.ma.MaskedArray:
    """The first entry is missing."""
    return np.ma.array(np.array(values, dtype), mask=np.arange(len(values)) == 0)


M = np.ma.array([[1.0, 2.0, 9.0], [3.0, 9.0, 9.0]], mask=[[False, False, True], [False, True, True]])


REFUSED: list[Callable[[], Any]] = [
    lambda: ragged(M),
    lambda: ragged([M, M]),
    lambda: ragged([[1, np.ma.masked]]),
    lambda: ragged(M, item_shape=(None,)),
    lambda: ra.asarray(M),
    lambda: ra.asarray(M, xp="jax"),
    lambda: ra.asarray([M[0], M[1]]),
    lambda: ra.asarray([M[0], M[1]], xp="jax"),
    lambda: ra.from_rows([M[0]]),
    lambda: ra.from_rows([jnp.ones(3), M[0]]),
    lambda: ra.from_blocks(masked(1, 2, 3), [[3, 1]]),
    lambda: ra.from_blocks(np.arange(4), np.ma.array([[2, 2]], mask=True)),
    lambda: ra.from_blocks(jnp.arange(4), np.ma.array([[2, 2]], mask=True)),
    lambda: ra.from_blocks(np.arange(4), [[2, 2]], offsets=masked(0)),
    lambda: ra.from_row_splits(masked(1, 2, 3), np.array([0, 3])),
    lambda: ra.from_row_splits(np.arange(3), masked(0, 3)),
    lambda: ra.from_row_splits(jnp.arange(3), masked(0, 3)),
    lambda: ra.from_row_lengths(np.arange(3), masked(3)),
    lambda: ra.from_nested_row_lengths(np.arange(3), [np.array([1]), masked(3)]),
    lambda: ra.from_row_ids(np.arange(3), masked(0, 0, 1), 2),
    lambda: ra.from_padded(np.ones((2, 3)), lengths=masked(1, 2)),
    lambda: ra.from_padded(np.ones((1, 3)), mask=masked(0, 1, 1, dtype="bool")[None]),
    lambda: ra.split_dims(X, 0, masked(0, 3)),
    lambda: ra.take(X, masked(0, 2)),
    lambda: ra.take(J, masked(0, 2)),
    lambda: ra.take(BLOCK, masked(0, 1)),
    lambda: ra.take(TABLE, masked(0, 2)),
    lambda: ra.gather(X, masked(0, 2)),
    lambda: ra.boolean_mask(X, masked(1, 0, 1, dtype="bool")),
    lambda: ra.row_item(X, masked(0, 0, 0)),
    lambda: ra.narrow(X, 1, masked(0, 0, 0), 0),
    lambda: ra.narrow(BLOCK, 1, masked(0, 0), 1),
    lambda: ra.truncate(X, masked(0, 0, 0)),
    lambda: ra.pad(X, masked(0, 1, 0), 0),
    lambda: ra.repeat(X, masked(0, 1, 0)),
    lambda: ra.nn.interpolate(X, masked(1, 0, 1)),
    lambda: ra.nn.embedding(masked(0, 1), TABLE),
    lambda: ra.nn.embedding(IDS, np.ma.array(TABLE)),
    lambda: ra.nn.one_hot(masked(0, 1), 3),
    lambda: ra.nn.cross_entropy(np.ones((2, 3)), masked(0, 1)),
    lambda: ra.where(masked(0, 1, 1, dtype="bool")[:, None], X, 0.0),
    lambda: ra.isin(X, masked(0, 1)),
    lambda: X + masked(1, 2, 3)[:, None],
    lambda: np.add(X, masked(1, 2, 3)[:, None]),
    lambda: X.with_values(masked(1, 2, 3, 4, dtype="float64")),
    lambda: X[masked(0, 2)],
    lambda: X[masked(1, 0, 1, dtype="bool")],
    lambda: X[:2, masked(0)],
    lambda: X.at[masked(0, 2)].set(0.0),
    lambda: X.at[:, 0].set(masked(1, 2, 3, dtype="float64")),
    lambda: ra.sum(M),
    lambda: ra.nnet3.ComputationRequest({"input": np.ma.array([[0, 0, 0]])}, {}),
]


@pytest.mark.parametrize("call", REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_a_mask_is_refused(call: Callable[[], Any]) -> None:
    text = (
        r"^[\w:. ]+: expected a plain array, got a masked one\. "
        r"Pass `x\.filled\(value\)`, and the mask apart; `ra\.from_padded` reads one that ends rows\.$"
    )
    with pytest.raises(TypeError, match=text):
        call()


def test_a_mask_of_trailing_entries_says_the_lengths() -> None:
    assert ra.from_padded(M).tolist() == [[1.0, 2.0], [3.0]]
    none = np.ma.array(np.arange(6).reshape(2, 3))  # without a mask nothing is missing
    assert ra.from_padded(none).tolist() == [[0, 1, 2], [3, 4, 5]]
    empty = np.ma.masked_all((2, 3))
    assert ra.from_padded(empty).tolist() == [[], []]
    assert ra.from_padded(np.ma.masked_all((0, 3))).shape == (0, None)
    inner = np.ma.array(np.arange(8).reshape(2, 2, 2), mask=np.array([[0, 1], [1, 1]])[:, :, None] * [1, 1])
    assert ra.from_padded(inner).tolist() == [[[0, 1]], []]


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.ma.array(np.ones((2, 3)), mask=[[0, 0, 0], [0, 1, 0]]), "a missing entry at (1, 1)"),
        (np.ma.array(np.ones((1, 2, 2)), mask=[[[0, 0], [0, 1]]]), "a missing entry at (0, 1, 1)"),
        (np.ma.array(np.ones((1, 3)), mask=[[1, 0, 0]]), "a missing entry at (0, 0)"),
    ],
)
def test_a_mask_with_holes_is_refused(array: Any, got: str) -> None:
    with pytest.raises(ValueError) as caught:
        ra.from_padded(array)
    assert str(caught.value) == (
        "from_padded: expected a mask that is true from some place to the row's end, "
        f"got {got}. Pass `x.filled(value)`, `mask=~x.mask`."
    )


def test_a_mask_and_a_keyword_are_refused() -> None:
    for options in ({"lengths": np.array([1, 1])}, {"mask": np.ones((2, 3), bool)}, {"padding": 0}):
        with pytest.raises(ValueError) as caught:
            ra.from_padded(M, **options)
        assert str(caught.value) == (
            "from_padded: expected the mask of the array alone, got it and a keyword. "
            "Pass `x.filled(value)`, or drop the keyword."
        )
