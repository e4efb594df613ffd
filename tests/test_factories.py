"""What the factories take, what they refuse, and with which words."""

from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra

VALUES = np.arange(4.0)
SPARE = "Pass the length of every row, or `exact=False` if what is left over is slack."


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_lengths_account_for_every_value(xp: Any) -> None:
    values = xp.asarray(VALUES)
    for lengths in ([1, 2], np.array([1, 2]), xp.asarray([1, 2])):
        with pytest.raises(ValueError) as e:
            ra.from_row_lengths(values, lengths)
        text = f"from_row_lengths: expected lengths that sum to the 4 values, got a sum of 3. {SPARE}"
        assert str(e.value) == text
        spare = ra.from_row_lengths(values, lengths, exact=False)
        assert spare.tolist() == [[0.0], [1.0, 2.0]] and spare.capacity == 4
    with pytest.raises(ValueError) as e:
        ra.from_row_lengths(values, [])
    assert str(e.value) == f"from_row_lengths: expected lengths that sum to the 4 values, got a sum of 0. {SPARE}"
    with pytest.raises(ValueError) as e:
        ra.from_row_lengths(values, [2, 3])
    want = "from_row_lengths: expected lengths that sum to the 4 values, got a sum of 5. Pass the missing values."
    assert str(e.value) == want
    assert ra.from_row_lengths(values[:0], []).shape == (0, None)


def test_lengths_of_every_axis_account_for_the_next() -> None:
    op = "from_nested_row_lengths"
    for lengths, text in (
        ([[2], [1, 2]], f"expected lengths that sum to the 4 values, got a sum of 3. {SPARE}"),
        ([[2], [1, 2, 1]], f"expected lengths that sum to the 3 rows of axis 2, got a sum of 2. {SPARE}"),
        ([[3], [2, 2]], "expected lengths that sum to the 2 rows of axis 2, got a sum of 3. Pass the missing values."),
    ):
        with pytest.raises(ValueError) as e:
            ra.from_nested_row_lengths(VALUES, [np.array(n) for n in lengths])
        assert str(e.value) == f"{op}: {text}"
    spare = ra.from_nested_row_lengths(VALUES, [np.array([2]), np.array([1, 2, 0])], exact=False)
    assert spare.tolist() == [[[0.0], [1.0, 2.0]]]
    assert ra.from_nested_row_lengths(VALUES, [np.array([2]), np.array([1, 3])]).nested_size() == (((1,), (3,)),)


def test_on_jax_lengths_may_leave_slack() -> None:
    values = jnp.asarray(VALUES)
    assert ra.from_row_lengths(values, [1, 2]).tolist() == [[0.0], [1.0, 2.0]]
    assert ra.from_nested_row_lengths(values, [[2], [1, 2]]).tolist() == [[[0.0], [1.0, 2.0]]]
    with pytest.raises(ValueError) as e:
        ra.from_row_lengths(values, [1, 2], exact=True)
    assert str(e.value) == f"from_row_lengths: expected lengths that sum to the 4 values, got a sum of 3. {SPARE}"
    with pytest.raises(TypeError) as e:
        ra.from_row_lengths(values, [1, 2], exact="yes")  # type: ignore[arg-type]
    assert str(e.value) == "from_row_lengths: expected exact as a static bool, got str. Pass True or False."


def test_traced_lengths_are_counted_under_checks() -> None:
    def total(values: Any, lengths: Any) -> Any:
        return ra.sum(ra.from_row_lengths(values, lengths, exact=True), axis=1)

    values, short = jnp.asarray(VALUES, jnp.float32), jnp.array([1, 2])
    assert jax.jit(total)(values, short).tolist() == [0.0, 3.0]
    assert ra.checked(total)(values, jnp.array([1, 3])).tolist() == [0.0, 6.0]
    with pytest.raises(ValueError) as e:
        ra.checked(total)(values, short)
    want = "from_row_lengths: expected lengths that sum to the 4 values, got a sum of 3. Count them."
    assert str(e.value).startswith(want)


def wide(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def structure(x: Any) -> list[Any]:
    if x.block is not None:
        return [a for a in (x.block.sizes, x.block.strides, x.block.offsets) if a is not None]
    return list(x.nested_row_splits)


LONG = ra.from_row_splits(VALUES, wide(0, 2, 4))
MADE = {
    "from_row_lengths": lambda: ra.from_row_lengths(VALUES, wide(2, 2)),
    "from_nested_row_lengths": lambda: ra.from_nested_row_lengths(VALUES, [wide(1, 1), wide(2, 2)]),
    "from_row_ids": lambda: ra.from_row_ids(VALUES, wide(0, 0, 1, 1), 2),
    "from_padded": lambda: ra.from_padded(VALUES[None], lengths=wide(3)),
    "from_blocks": lambda: ra.from_blocks(VALUES, np.array([[2, 1], [1, 2]])),
    "from_blocks, strided": lambda: ra.from_blocks(
        VALUES, wide(2, 2)[None], strides=wide(-2, -1)[None], offsets=wide(3)
    ),
    "from_rows": lambda: ra.from_rows([VALUES]),
    "ragged": lambda: ra.ragged([LONG, LONG]),
}


@pytest.mark.parametrize("name", MADE)
def test_splits_are_int32_where_that_is_enough(name: str) -> None:
    assert {a.dtype for a in structure(MADE[name]())} == {np.dtype("int32")}


def test_splits_that_are_passed_as_such_are_kept() -> None:
    splits = wide(0, 2, 4)
    assert ra.from_row_splits(VALUES, splits).row_splits is splits


def test_int64_where_it_is_needed() -> None:
    far = np.broadcast_to(np.float32(1), (2**31 + 8,))
    assert ra.from_row_lengths(far, wide(2**31, 8)).row_splits.dtype == np.int64
    assert (
        structure(ra.from_blocks(far, wide(1)[None], strides=wide(1)[None], offsets=wide(2**31)))[2].dtype == np.int64
    )
    assert ra.from_row_ids(VALUES, np.array([0, 0, 1, 1], np.uint8), 300).shape == (300, None)


def test_other_libraries_get_splits_of_their_own() -> None:
    values = array_api_strict.asarray(VALUES)
    arrays = type(values)
    for x in (
        ra.from_row_lengths(values, [2, 2]),
        ra.from_row_splits(values, np.array([0, 4])),
        ra.from_row_ids(values, np.array([0, 0, 0, 1]), 2),
        ra.from_rows([values, values]),
        ra.ragged([values, values]),
        ra.ragged([array_api_strict.reshape(values, (2, 2)), array_api_strict.reshape(values, (1, 4))]),
    ):
        assert {type(a) for a in structure(x)} == {arrays}
        assert len(x.unbind()) == x.nrows
