"""Bad input: the whole text of every error."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import ragged

X = ragged([[1.0, 2.0, 3.0], [], [4.0]])
V = np.arange(4.0)


def splits(*s: int, dtype: str = "int32") -> np.ndarray:
    return np.array(s, dtype=dtype)


EAGER: list[tuple[Any, type[Exception], str]] = [
    (lambda: ra.from_row_splits(V, splits(0, 3, 2, 4)), ValueError,
     "from_row_splits: expected splits that never decrease, got 2 after 3 at index 2. Check the row lengths."),
    (lambda: ra.from_row_splits(V, splits(1, 4)), ValueError,
     "from_row_splits: expected splits that start at 0, got 1. "
     "Pass `splits - splits[0]` with `values[splits[0]:splits[-1]]`, or prepend the 0 if it is missing."),
    (lambda: ra.from_row_splits(V, splits(0, 5)), ValueError,
     "from_row_splits: expected splits that end at 4 or before, got 5. Pass the missing values."),
    (lambda: ra.from_row_splits(V, splits(0, 4, dtype="float32")), TypeError,
     "from_row_splits: expected integer row splits, got dtype float32. Convert them with `.astype(int)`."),
    (lambda: ra.from_row_splits(V, np.zeros((1, 2), int)), ValueError,
     "from_row_splits: expected row splits of shape (nrows + 1,), got shape (1, 2). Start them with 0."),
    (lambda: ra.from_row_splits(np.float32(1), splits(0)), ValueError,
     "from_row_splits: expected values with a first axis, got shape (). Pass at least one axis of slots."),
    (lambda: ra.from_nested_row_splits(V, []), ValueError,
     "from_nested_row_splits: expected at least one splits array, got none. Pass the outermost row splits."),
    (lambda: ra.from_nested_row_splits(V, [splits(0, 1, 4), splits(0, 2, 4)]), ValueError,
     "from_nested_row_splits: expected splits that end at 2 or before, got 4. "
     "The splits of the next axis have fewer rows."),
    (lambda: ra.from_nested_row_splits(V, [splits(0, 1), splits(0, 2, 4)]), ValueError,
     "from_nested_row_splits: expected splits of axis 2 that repeat 2 past row 1, got 4 at index 2. "
     "Slack rows must be empty."),
    (lambda: ra.from_row_lengths(V, splits(2, -1)), ValueError,
     "from_row_lengths: expected lengths of 0 or more, got -1 at row 1. Count the rows again."),
    (lambda: ra.from_row_ids(V, splits(0, 0, 3, 1), 4), ValueError,
     "from_row_ids: expected sorted row ids, got 1 after 3 at slot 3. Sort values by row id first."),
    (lambda: ra.from_row_ids(V, splits(0, 0, 1, 4), 4), ValueError,
     "from_row_ids: expected ids from 0 to 3, got 4 at slot 3. Pass a larger nrows, or drop them."),
    (lambda: ra.from_row_ids(V, splits(0, 0), 4), ValueError,
     "from_row_ids: expected one row id per slot of values (4,), got shape (2,). Pass ids of shape (capacity,)."),
    (lambda: ra.from_rows([np.ones(2), np.ones((1, 2))]), ValueError,
     "from_rows: expected rows of dtype float64 and shape (len, *()) as row 0, got float64 (1, 2) as row 1. "
     "Convert the rows, or use `ra.ragged`."),
    (lambda: ragged([[1, 2], [[3]]]), ValueError,
     "ragged: expected a number everywhere, as at [0][0], got a list at [1][0]. Bring the leaves to one depth and kind."),
    (lambda: ragged([np.ones(2, "float32"), np.ones(2, "int32")]), TypeError,
     "ragged: expected dtype float32 everywhere, as at [0], got int32 at [1]. Pass `dtype=`."),
    (lambda: ragged([np.ones(2), np.ones((1, 2))]), ValueError,
     "ragged: expected 1 axes everywhere, as at [0], got 2 at [1]. Bring the arrays to one rank."),
    (lambda: ragged([1, 2]), ValueError,
     "ragged: expected at least one ragged axis, got entries of shape (). Wrap the rows in a list."),
    (lambda: ragged("ab"), TypeError,
     "ragged: expected lists, arrays or RaggedArrays, got str. Pass a list of rows; for an iterator use `ra.from_rows`."),
    (lambda: ragged([["a"]]), TypeError,
     "ragged: expected numbers or arrays as leaves, got str 'a' at [0][0]. Convert it."),
    (lambda: ra.to_padded(X, length=2), ValueError,
     "to_padded: expected a length of at least 3, got 2. Pass a larger `length=`."),
    (lambda: ra.from_padded(np.ones((2, 3)), lengths=splits(1, 9)), ValueError,
     "from_padded: expected lengths from 0 to 3, got 9 at row 1. Pad the array further."),
    (lambda: ra.from_padded(np.ones((2, 3)), lengths=splits(1, 2), padding=0), ValueError,
     "from_padded: expected one of lengths=, mask=, padding=, got several. Drop the others."),
    (lambda: ra.with_capacity(X, 3), ValueError,
     "with_capacity: expected capacity of at least 4, got 3. Pass a larger `capacity=`."),
    (lambda: ra.with_rows(X, 2), ValueError,
     "with_rows: expected at least 3 rows, got 2. Take rows with `x[:n]`."),
    (lambda: X + ragged([[1.0], [], [2.0, 3.0, 4.0]]), ValueError,
     "add: expected equal row lengths along axis 1, got 3 and 1 at row 0. "
     "Align the rows first, or use `ra.to_padded`."),
    (lambda: X + ragged([[1.0]]) * np.ones((2, 1, 1)), ValueError, None),
    (lambda: X + np.ones(3), ValueError,
     "add: expected shapes that broadcast with (3, None), got (3,). Write `b[:, None]`, of shape (3, 1)."),
    (lambda: X + np.ones((3, 3)), ValueError,
     "add: expected shapes that broadcast with (3, None), got (3, 3). "
     "A dense axis may meet a ragged one only with size 1."),
    (lambda: X + "a", TypeError, "unsupported operand type(s) for +: 'RaggedArray' and 'str'"),
    (lambda: X == "a", TypeError,
     "equal: expected ragged arrays, arrays or numbers, got str as operand 1. "
     "Make a list an array first, with `ra.ragged` or `ra.asarray`."),
    (lambda: ra.sum(X, axis=2), IndexError, "sum: expected an axis from -2 to 1, got 2. Check `x.shape`."),
    (lambda: ra.sum(X, axis=(1, -1)), ValueError, "sum: expected each axis once, got (1, -1). Drop the repeated axis."),
    (lambda: ra.sum(X, axis=1, length=3), ValueError,
     "sum: expected no length=, as the result's size is known, got 3. Drop it, or reduce axis 0."),
    (lambda: ra.argmax(X, axis=(0, 1)), TypeError,
     "argmax: expected one axis or None, got (0, 1). Reduce one axis at a time."),
    (lambda: bool(X), ValueError,
     "bool: expected one truth value, got a RaggedArray of shape (3, None). Use `ra.all` or `ra.any`."),
    (lambda: hash(X), TypeError,
     "hash: expected an immutable key, got a RaggedArray. Pass it as an argument, not as a static one."),
    (lambda: np.asarray(X), TypeError,
     "asarray: expected rows of one length, got shape (3, None). Use `ra.to_padded(x)`, `x.values` or `x.tolist()`."),
    (lambda: X[3], IndexError, "getitem: expected a row from -3 to 2, got 3. Check `len(x)`."),
    (lambda: X[np.array([0, 7])], IndexError,
     "getitem: expected rows from -3 to 2, got 7 at position 1. Check `len(x)`."),
    (lambda: X[np.array([True])], IndexError,
     "getitem: expected a bool mask of shape (3,), got bool (1,). Use one entry per row."),
    (lambda: np.add.reduce(X), TypeError, "numpy.add: expected a plain call, got method 'reduce'. Use `ra.add`."),
    (lambda: ra.nn.linear(ragged([np.ones((2, 3))]), np.ones((4, 2))), ValueError,
     "nn.linear: expected a weight of shape (3, out), got (4, 2). Check the axes."),
    (lambda: ra.nn.embedding(ragged([[0, 3]]), np.ones((3, 2))), IndexError,
     "nn.embedding: expected ids from 0 to 2, got 3 at slot 1. Check the vocabulary."),
    (lambda: ra.nn.embedding(X, np.ones((3, 2))), TypeError,
     "nn.embedding: expected integer ids, got dtype float64. Convert them with `.astype(int)`."),
    (lambda: ra.map_values(lambda v: v[:1], X), ValueError,
     "map_values: expected a result of 4 slots, got shape (1,). Keep the first axis."),
    (lambda: X.with_values(np.ones(2)), ValueError,
     "with_values: expected at least 4 slots, got shape (2,). Keep the first axis."),
    (lambda: X.row_lengths(axis=2), IndexError, "row_lengths: expected an axis from 1 to 1, got 2. Name a ragged axis."),
    (lambda: ra.bucket_size(9, policy=[4, 8]), ValueError,
     "bucket_size: expected a size of at least 9, got [4, 8]. Add a larger size."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), EAGER, ids=[str(i) for i in range(len(EAGER))])
def test_eager(call: Any, error: type[Exception], text: str | None) -> None:
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert text is None or str(caught.value) == text


J = ra.asarray(X, xp="jax")
TRACED: list[tuple[Any, str]] = [
    (lambda x: ra.to_padded(x), "to_padded: expected a static length, got traced row lengths. Pass `length=`."),
    (lambda x: ra.to_mask(x), "to_mask: expected a static length, got traced row lengths. Pass `length=`."),
    (lambda x: ra.sum(x, axis=0), "sum: expected a static length, got traced row lengths. Pass `length=`."),
    (lambda x: x[0], "getitem: expected a row whose length can be read, got a traced one. Use `ra.row(x, i, length=)`."),
    (lambda x: x[x.row_lengths()],
     "getitem: expected a static capacity, got traced rows or lengths. Call `ra.take(x, indices, capacity=)`."),
    (lambda x: x[x.row_lengths() > 0],
     "getitem: expected a static row count, got a traced mask. Call `ra.boolean_mask(x, mask, size=)`."),
    (lambda x: x.unbind(),
     "unbind: expected row lengths that can be read, got traced ones. Use `ra.to_padded(x, length=)`."),
    (lambda x: list(x), "iter: expected row lengths that can be read, got traced ones. Use `ra.to_padded(x, length=)`."),
    (lambda x: ra.compact(x),
     "compact: expected row lengths that can be read, got traced ones. Use `ra.with_capacity(x, capacity)`."),
    (lambda x: x.tolist(), "tolist: expected values that can be read, got traced ones. Use `ra.to_padded(x, length=)`."),
    (lambda x: ra.asarray(x, xp="numpy"),
     "asarray: expected values that can be read, got traced ones. Move them outside jit."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), TRACED, ids=[t[1].split(":")[0] + str(i) for i, t in enumerate(TRACED)])
def test_traced(call: Any, text: str) -> None:
    with pytest.raises(ra.DynamicShapeError) as caught:
        jax.jit(call)(J)
    assert str(caught.value) == text


WITH_KEYWORD: list[tuple[Any, Any]] = [
    (lambda x: ra.to_padded(x, length=3), [[1, 2, 3], [0, 0, 0], [4, 0, 0]]),
    (lambda x: ra.to_mask(x, length=3), [[True] * 3, [False] * 3, [True, False, False]]),
    (lambda x: ra.sum(x, axis=0, length=3), [5, 2, 3]),
    (lambda x: ra.row(x, -1, length=2), [4, 0]),
    (lambda x: ra.row(x, x.row_lengths()[1], length=3), [1, 2, 3]),
    (lambda x: ra.take(x, jnp.array([2, 0]), capacity=4), [[4], [1, 2, 3]]),
    (lambda x: ra.take(x, x.row_lengths() - 1, capacity=9), [[4], [4], [1, 2, 3]]),
    (lambda x: ra.boolean_mask(x, x.row_lengths() > 0, size=2), [[1, 2, 3], [4]]),
    (lambda x: ra.boolean_mask(x, x.row_lengths() > 0, size=3), [[1, 2, 3], [4], []]),
    (lambda x: ra.with_capacity(x, 5), [[1, 2, 3], [], [4]]),
    (lambda x: x[1:], [[], [4]]),
    (lambda x: x[::-1], [[4], [], [1, 2, 3]]),
    (lambda x: x[[2, 0]], [[4], [1, 2, 3]]),
]


@pytest.mark.parametrize(("call", "want"), WITH_KEYWORD, ids=[str(i) for i in range(len(WITH_KEYWORD))])
def test_what_the_errors_advise_works(call: Any, want: Any) -> None:
    got = jax.jit(call)(ra.testing.poison(J))
    assert got.tolist() == want


def test_splits_of_a_slice_work_as_the_error_advises() -> None:
    values, splits = np.arange(9.0), np.array([0, 3, 3, 4, 7])[1:]
    with pytest.raises(ValueError, match="splits that start at 0, got 3"):
        ra.from_row_splits(values, splits)
    got = ra.from_row_splits(values[splits[0] : splits[-1]], splits - splits[0])
    assert got.tolist() == [[], [3.0], [4.0, 5.0, 6.0]]
