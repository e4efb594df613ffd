"""Laws that hold for any ragged array, drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import raggedarray as ra
from raggedarray.testing import assert_matches
from raggedarray.testing.strategies import ragged_arrays

NUMBERS = st.floats(-100, 100, width=32)
FLAT = ragged_arrays(elements=NUMBERS)
DEEP = ragged_arrays(elements=NUMBERS, ragged_rank=2)
ANY = st.one_of(
    FLAT, DEEP, ragged_arrays(elements=NUMBERS, inner_shape=(2,)), ragged_arrays(dtype="int32", ragged_rank=3)
)


@given(ANY)
def test_round_trips(x: ra.RaggedArray) -> None:
    assert ra.array_equal(ra.from_nested_row_splits(x.values, x.nested_row_splits), x)
    assert ra.array_equal(ra.compact(x), x)
    assert ra.array_equal(x.to("jax").to("numpy"), x)
    assert ra.array_equal(ra.ragged(x), x)
    assert ra.ragged(x.tolist(), item_shape=x.shape[1:], dtype=x.dtype).tolist() == x.tolist()
    assert isinstance(repr(x), str)
    ra.validate(ra.with_capacity(x, x.capacity + 2))


@given(FLAT)
def test_padding_round_trips(x: ra.RaggedArray) -> None:
    padded = ra.to_padded(x, fill_value=7)
    assert ra.array_equal(ra.from_padded(padded, lengths=x.row_lengths()), x)
    assert ra.array_equal(ra.from_padded(padded, mask=ra.to_mask(x)), x)
    assert padded.size == 0 or np.all((padded == 7) | ra.to_mask(x))


@given(FLAT)
def test_rows_against_loops(x: ra.RaggedArray) -> None:
    x64 = x.astype("float64")
    assert_matches(lambda x: ra.sum(x, axis=1), lambda r: r.sum(), x64)
    assert_matches(lambda x: ra.max(x, axis=1), lambda r: r.max(initial=-np.inf), x64)
    assert_matches(lambda x: ra.var(x, axis=1), lambda r: r.var() if r.size else np.nan, x64, atol=1e-5)
    assert_matches(lambda x: x + x, lambda r: r + r, x64)
    assert_matches(
        lambda x: ra.nn.softmax(x),
        lambda r: np.exp(r - r.max(initial=-np.inf)) / np.exp(r - r.max(initial=-np.inf)).sum() if r.size else r,
        x64,
    )


@given(DEEP)
def test_sums_in_any_order(x: ra.RaggedArray) -> None:
    x = x.astype("float64")
    total = ra.sum(x)
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        np.testing.assert_allclose(ra.sum(ra.sum(x, axis=axes)), total, rtol=1e-9, atol=1e-9)
        kept = ra.sum(x, axis=axes, keepdims=True)
        assert kept.ndim == 3
        np.testing.assert_allclose(ra.sum(kept), total, rtol=1e-9, atol=1e-9)
    assert ra.array_equal(ra.sum(ra.sum(x, axis=2), axis=1), ra.sum(ra.sum(x, axis=2), axis=1))


@given(FLAT, st.data())
def test_rows_by_index(x: ra.RaggedArray, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-x.nrows, x.nrows - 1), max_size=6) if x.nrows else st.just([]))
    taken = x[np.array(rows, dtype=int)]
    assert taken.tolist() == [x.tolist()[i] for i in rows]
    start, stop, step = (data.draw(st.one_of(st.none(), st.integers(-6, 6))) for _ in range(3))
    key = slice(start, stop, step or None)
    assert x[key].tolist() == x.tolist()[key]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=x.nrows, max_size=x.nrows)), dtype=bool)
    assert x[mask].tolist() == [row for row, m in zip(x.tolist(), mask, strict=True) if m]
    ra.validate(x[mask])


@given(st.integers(0, 10**9), st.integers(0, 5))
def test_buckets(n: int, bits: int) -> None:
    size = ra.bucket_size(n, mantissa_bits=bits, minimum=1)
    assert size >= n
    assert size <= max(n * (1 + 2.0**-bits), 1)
    assert ra.bucket_size(size, mantissa_bits=bits, minimum=1) == size


@pytest.mark.nightly
@given(ANY)
def test_reductions_agree_between_libraries(x: ra.RaggedArray) -> None:
    for axis in range(x.ndim):
        a, b = ra.max(x, axis=axis), ra.max(x.to("jax"), axis=axis)
        b = b.to("numpy") if isinstance(b, ra.RaggedArray) else np.asarray(b)
        assert ra.array_equal(a, b)
