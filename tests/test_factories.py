"""What the factories take, what they refuse, and with which words."""

from decimal import Decimal
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


def test_an_empty_row_has_no_dtype_of_its_own() -> None:
    x = ra.from_rows([[1, 2], [], [3]])
    assert x.tolist() == [[1, 2], [], [3]] and x.dtype == np.int64
    halves = np.ones(2, np.float16)
    for rows in ([halves, np.array([]), halves], [[], halves, halves], [halves, np.zeros(0, np.int8), halves]):
        for x in (ra.from_rows(rows), ra.ragged([np.asarray(row) for row in rows])):
            assert x.dtype == np.float16 and sum(x.row_lengths()) == 4
    assert ra.from_rows([[], [[1, 2], [3, 4]]]).shape == (2, None, 2)
    assert ra.from_rows([[], np.zeros((0, 3), np.int8)]).values.shape == (0, 3)
    assert ra.from_rows([[], np.zeros((0, 3), np.int8)]).dtype == np.int8
    assert ra.from_rows([[], []]).dtype == np.float64
    assert ra.from_rows([np.zeros((2, 0)), np.zeros((3, 0))]).row_lengths().tolist() == [2, 3]
    on_jax = ra.from_rows([jnp.ones(2), [], [1.0], np.ones(1)])
    assert on_jax.dtype == np.float32 and on_jax.tolist() == [[1.0, 1.0], [], [1.0], [1.0]]
    rows = [ra.ragged([]), ra.ragged([[1]])]
    assert ra.ragged(rows).dtype == np.int64 and ra.ragged(rows).tolist() == [[], [[1]]]
    matrices = ra.ragged([np.ones((2, 0)), np.ones((1, 2), np.int8)])
    assert matrices.dtype == np.int8 and matrices.nested_size() == ((2, 0), (1, 2))


def test_rows_of_a_given_structure() -> None:
    for xp in (None, "jax"):
        x = ra.from_rows([], item_shape=(None, 3), dtype="float16", nrows=2, capacity=7, xp=xp)
        assert x.shape == (2, None, 3) and x.dtype == np.float16 and x.capacity == 7
        x = ra.from_rows([[1, 2], [3.5]], dtype="float32", nrows=4, capacity=5, xp=xp)
        assert x.tolist() == [[1.0, 2.0], [3.5], [], []] and x.dtype == np.float32 and x.capacity == 5
        x = ra.from_rows(iter([np.ones((2, 3)), np.ones((1, 1))]), item_shape=(None, None), nrows=3, xp=xp)
        assert x.nested_size() == ((2, 3), (1, 1), (0, 0))
        x = ra.from_rows([np.ones((2, 3))], item_shape=(2, None), xp=xp)
        assert x.shape == (1, 2, None)
    assert ra.from_rows([], item_shape=(None, None)).shape == (0, None, None)
    assert ra.from_rows([], dtype="int8").dtype == np.int8
    assert ra.ragged([[1, 2], [3]], capacity=8).capacity == 8
    assert ra.ragged([[1, 2], [3]], capacity=9, xp="jax").capacity == 9
    assert ra.ragged([[[1, 2], [3]]], capacity=(4, 8)).partitions[1].nrows == 4


@pytest.mark.parametrize(("f", "error", "text"), [
    (lambda: ra.from_rows([[1, 2], [3.5]]), TypeError,
     "from_rows: expected rows of dtype int64 and shape (len, *()) as row 0, got float64 (1,) as row 1. "
     "Pass `dtype=`."),
    (lambda: ra.from_rows([[], np.ones((1, 2)), np.ones((1, 3))]), ValueError,
     "from_rows: expected rows of dtype float64 and shape (len, *(2,)) as row 1, got float64 (1, 3) as row 2. "
     "Convert the rows, or use `ra.ragged`."),
    (lambda: ra.from_rows([[1], [2]], nrows=1), ValueError,
     "from_rows: expected at most 1 rows, got 2. Pass a larger nrows."),
    (lambda: ra.from_rows([np.ones((2, 3))], item_shape=(None, 2)), ValueError,
     "from_rows: expected rows of shape (None, 2), got (2, 3) as row 0. Change item_shape."),
    (lambda: ra.from_rows([], item_shape="x"), TypeError,
     "from_rows: expected item_shape of ints and None, got 'x'. Pass a tuple."),
    (lambda: ra.from_rows([[1, 2]], capacity=1), ValueError,
     "from_rows: expected capacity of at least 2, got 1. Pass a larger `capacity=`."),
    (lambda: ra.from_rows([[1], None]), ValueError,
     "from_rows: expected a row, got None as row 1. Leave it out, or put an empty row `[]` there."),
    (lambda: ra.ragged([[1], None]), ValueError,
     "ragged: expected a row, got None at [1]. Leave it out, or put an empty row `[]` there."),
    (lambda: ra.ragged([None, np.ones(2)]), ValueError,
     "ragged: expected a row, got None at [0]. Leave it out, or put an empty row `[]` there."),
    (lambda: ra.ragged([[[1], None]]), ValueError,
     "ragged: expected a row, got None at [0][1]. Leave it out, or put an empty row `[]` there."),
    (lambda: ra.ragged([[1], float("nan")]), ValueError,
     "ragged: expected a row, got nan at [1]. Leave it out, or put an empty row `[]` there."),
    (lambda: ra.ragged([[1.0], [None, 2.0]]), ValueError,
     "ragged: expected a number, got None at [1][0]. Leave it out, or put a number such as nan there."),
    (lambda: ra.ragged([Decimal(1), Decimal(2)]), TypeError,
     "ragged: expected numbers or arrays as leaves, got Decimal Decimal('1') at [0]. Convert it."),
    (lambda: ra.from_rows([[[1, 2], [3]]]), ValueError,
     "from_rows: expected rows that are arrays, got lists of unequal length as row 0. Use `ra.ragged`."),
    (lambda: ra.from_rows(Table()), TypeError, "from_rows: expected an iterable of rows, got Table. Pass one column."),
    (lambda: ra.ragged(Table()), TypeError,
     "ragged: expected lists, arrays or RaggedArrays, got Table. Pass one column."),
])  # fmt: skip
def test_refusals(f: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as e:
        f()
    assert str(e.value) == text


class Column:
    """What a column of pandas or polars can do, as far as it is looked at."""

    def __init__(self, found: np.ndarray) -> None:
        self._found = found
        self.dtype, self.shape = "list", found.shape

    def to_numpy(self) -> np.ndarray:
        return self._found


class Table:
    """What a data frame can do."""

    shape, columns = (2, 1), ("ids",)


def objects(*items: Any) -> np.ndarray:
    out = np.empty(len(items), object)
    out[:] = items
    return out


LISTS = objects([1, 2], [], [3])
ARRAYS = objects(np.array([1, 2]), np.array([]), np.array([3]))


@pytest.mark.parametrize("ids", [LISTS, ARRAYS, Column(LISTS), Column(ARRAYS), [Column(a) for a in ARRAYS]])
@pytest.mark.parametrize("f", [ra.ragged, ra.from_rows])
def test_columns_and_arrays_of_objects(f: Any, ids: Any) -> None:
    x = f(ids)
    assert x.tolist() == [[1, 2], [], [3]] and x.dtype == np.int64


def test_columns_of_lists_of_lists() -> None:
    deep = Column(objects(objects(np.array([1, 2]), np.array([3])), objects(), objects(np.array([4]))))
    assert ra.ragged(deep).tolist() == [[[1, 2], [3]], [], [[4]]]
    assert ra.ragged(deep).shape == (3, None, None)
    with pytest.raises(ValueError) as e:
        ra.ragged(Column(objects([1], None)))
    assert str(e.value) == "ragged: expected a row, got None at [1]. Leave it out, or put an empty row `[]` there."


def test_flat_columns() -> None:
    values, sizes = Column(VALUES), Column(np.array([1, 3]))
    assert ra.from_row_lengths(values, sizes).tolist() == [[0.0], [1.0, 2.0, 3.0]]
    assert ra.from_row_splits(values, Column(np.array([0, 4]))).tolist() == [VALUES.tolist()]
    assert ra.asarray(values) is VALUES
    assert ra.from_padded(Column(VALUES[None]), lengths=Column(np.array([2]))).tolist() == [[0.0, 1.0]]


NO_NUMBERS = [
    np.array(["a", "b"]), objects(1, 2), np.array(["2020", "2021"], "M8[Y]"), np.array([1, 2], "m8[s]"),
    np.zeros(2, [("a", int)]), np.array([b"a", b"b"]),
]  # fmt: skip
FACTORIES = {
    "from_row_splits": lambda a: ra.from_row_splits(a, [0, 2]),
    "from_nested_row_splits": lambda a: ra.from_nested_row_splits(a, [[0, 1], [0, 2]]),
    "from_row_lengths": lambda a: ra.from_row_lengths(a, [2]),
    "from_nested_row_lengths": lambda a: ra.from_nested_row_lengths(a, [[1], [2]]),
    "from_row_ids": lambda a: ra.from_row_ids(a, [0, 0], 1),
    "from_padded": lambda a: ra.from_padded(a[None]),
    "from_blocks": lambda a: ra.from_blocks(a, [[1, 2]]),
    "from_rows": lambda a: ra.from_rows([a]),
    "ragged": lambda a: ra.ragged([a]),
    "asarray": ra.asarray,
}


@pytest.mark.parametrize("name", FACTORIES)
def test_what_holds_no_numbers_is_refused_in_the_same_words(name: str) -> None:
    for a in NO_NUMBERS:
        if a.dtype == object and name in ("ragged", "from_rows"):
            continue  # opened: the objects are numbers
        with pytest.raises(TypeError) as e:
            FACTORIES[name](a)
        text = f"{name}: expected values of a numeric dtype, got dtype {a.dtype}. Convert them to numbers."
        assert str(e.value) == text


def test_no_dtype_of_what_holds_no_numbers() -> None:
    for f in (lambda: ra.ragged([[1]], dtype="U3"), lambda: ra.ragged([np.ones(2)], dtype="U3")):
        with pytest.raises(TypeError) as e:
            f()
        assert str(e.value).startswith("ragged: expected values of a numeric dtype, got dtype <U3")
    with pytest.raises(TypeError) as e:
        ra.from_rows([[1], ["a"]])
    assert str(e.value) == "from_rows: expected values of a numeric dtype, got dtype <U1. Convert them to numbers."
