"""Keys, sizes and numbers at the edges: what is right for a list is right here, and what is wrong says so."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import DynamicShapeError, RaggedArray, ragged

ROWS = [[1, 2, 3], [4]]
DEEP = [[[1, 2, 3], [4]], [], [[5]]]


def both(rows: Any, **options: Any) -> list[RaggedArray]:
    x = ragged(rows, **options)
    return [x, ra.testing.poison(ra.with_capacity(x.to("jax"), x.capacity + 2))]


@pytest.mark.parametrize("key", [slice(None, None, 10**10), slice(-1, None, -(10**10)), slice(-4, -6, -2),
                                 slice(3, 7, -2), slice(None, None, -1)], ids=str)  # fmt: skip
def test_slices_of_rows(key: slice) -> None:
    for x in both(ROWS):
        assert x[key].tolist() == ROWS[key]
    assert ragged([], item_shape=(None,))[key].tolist() == []


def test_new_axes_behind_a_row() -> None:
    keys = [(0, None), (0, None, slice(1, None)), (None, 0, None), (0, None, None), (1, None, slice(None, None, -1)),
            (0, None, 1), (0, slice(None), None)]  # fmt: skip
    for x in both(ROWS):
        for key in keys:
            row = np.array(ROWS[key[0] if key[0] is not None else key[1]])
            want = row[key[1:]] if key[0] is not None else row[key[2:]][None]
            assert not isinstance(x[key], RaggedArray)
            np.testing.assert_array_equal(x[key], want)
    for x in both(DEEP):
        assert np.asarray(x[0, 0, None]).tolist() == [[1, 2, 3]]
        assert x[0, None].shape == (1, 2, None) and x[0, None, :, 1:].tolist() == [[[2, 3], []]]


def test_masks_that_are_known_under_jit() -> None:
    x, mask = both(ROWS)[1], np.array([True, False])
    assert jax.jit(lambda x: x[mask])(x).tolist() == jax.jit(lambda x: x[[True, False]])(x).tolist() == [[1, 2, 3]]


def test_masks_of_leading_axes_take_a_size() -> None:
    x = ra.ragged([[[1, 2], [3]], [[4], []]], item_shape=(2, None), xp="jax")
    mask = jnp.array([[True, False], [True, True]])
    got = jax.jit(lambda x, m: ra.boolean_mask(x, m, size=4))(x, mask)
    assert got.tolist() == [[1, 2], [4], [], []]


def test_masks_above_inner_axes() -> None:
    for inner in ((1, 1), (2, 2), (2, 0)):
        x = ragged([[np.ones((2, *inner)), np.ones((1, *inner))], [np.ones((1, *inner))]])
        assert x[ragged([[True, False], [True]])].shape == (2, None, None, *inner)


def test_narrow_from_a_traced_start() -> None:
    x = ra.ragged([[[1.0, 2.0], [3.0]], [[4.0], []]], item_shape=(2, None), xp="jax")
    w = ra.ragged([np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3)], xp="jax")
    rows, inner = (jax.jit(lambda x, i, a=a, n=n: ra.narrow(x, a, i, n)) for a, n in ((0, 1), (2, 2)))
    assert rows(x, 1).tolist() == rows(x, -1).tolist() == [[[4], []]]
    assert inner(w, 1).tolist() == [[[1, 2], [4, 5]], [[1, 2]]]
    for lost in (rows(x, 2), inner(w, 2)):
        assert np.isnan(np.asarray(lost.values)).all()
    with pytest.raises(ValueError, match="narrow: expected a run within 2 entries of axis 0, got 1 from 2"):
        ra.checked(lambda x, i: ra.narrow(x, 0, i, 1))(x, 2)


def test_groups_of_an_axis_below_slack() -> None:
    x = both([np.array([[1.0, 2.0, 3.0]]), np.zeros((0, 3))])[1]
    y = ra.validate(ra.split_dims(x, 2, [0, 2, 3]))
    assert int(y.size) == 3 and float(ra.sum(y)) == 6 and y.tolist() == [[[[1, 2], [3]]], []]
    assert np.asarray(ra.grad(lambda y: ra.sum(y * y))(y).values).tolist() == [2, 4, 6] + [0] * 6


def test_updates_of_one_row() -> None:
    for x in both(DEEP):
        assert x.at[0].set(x[0] * 10).tolist() == [[[10, 20, 30], [40]], [], [[5]]]
        assert x.at[0].add(x.xp.asarray([[100], [200]])).tolist() == [[[101, 102, 103], [204]], [], [[5]]]
        assert x.at[0, :, 0].set(x.xp.asarray([7, 8])).tolist() == [[[7, 2, 3], [8]], [], [[5]]]
    for x in both(ROWS):
        assert x.at[0, 1:, None].set(x.xp.asarray([[8], [9]])).tolist() == [[1, 8, 9], [4]]
    for x in both([[True, False], [True]]):
        assert x.at[0].add(True).tolist() == [[True, True], [True]]
        assert x.at[:, 0].multiply(False).tolist() == [[False, False], [False]]


def test_extended_floats_with_nan() -> None:
    nan = float("nan")
    for x in both([[nan, 2, 1], [0, 3, nan, 0]], dtype="float32"):
        half = ra.astype(x, ml_dtypes.bfloat16)
        assert ra.sort(half).dtype == ml_dtypes.bfloat16
        for f in (ra.sort, lambda x: ra.top_k(x, 2).values, ra.unique_values, lambda x: ra.max(x, axis=1),
                  lambda x: ra.cumulative_max(x, axis=1), lambda x: ra.sort(x, axis=0, descending=True)):  # fmt: skip
            np.testing.assert_equal(str(f(half).tolist()), str(f(x).tolist()))
        assert ra.argsort(half).tolist() == [[2, 1, 0], [0, 3, 1, 2]]
        test = x.xp.astype(x.xp.asarray([nan, 3, 2]), half.dtype)
        assert ra.isin(half, test).tolist() == [[False, True, False], [False, True, False, False]]
        assert ra.searchsorted(ra.sort(half), half).tolist() == [[2, 1, 0], [0, 2, 3, 0]]


def test_numbers_out_of_range() -> None:
    for x in both([[1, 255]], dtype="uint8"):
        assert ra.isin(x, 257).tolist() == ra.isin(x, -1).tolist() == [[False, False]]
        calls: list[Any] = [
            lambda x: x.at[0, 0].set(300), lambda x: ra.searchsorted(x, 300), lambda x: ra.diff(x, prepend=300),
            lambda x: ra.row_item(x, 5, fill_value=300), lambda x: x.at[:, 5].get(fill_value=300),
            lambda x: ra.row(x, 0, length=3, fill_value=300),
        ]  # fmt: skip
        for f in calls:
            with pytest.raises(OverflowError, match="of dtype uint8, got 300"):
                f(x)
        with pytest.raises(TypeError, match=r"at: expected values of dtype uint8, got 1\.5"):
            x.at[0, 0].set(1.5)


def test_large_counts() -> None:
    x = ragged(ROWS)
    assert ra.truncate(x, 2**40).tolist() == ROWS
    assert ra.roll(x, 2**40, axis=1).tolist() == [[3, 1, 2], [4]]
    assert ra.top_k(x, 2**40).values.tolist() == [[3, 2, 1], [4]]
    assert ra.diff(x, n=2**40).tolist() == [[], []]
    assert ra.sliding_window(x, 1, step=2**40).tolist() == [[[1]], [[4]]]


def test_nonzero_of_plain_arrays_takes_a_size() -> None:
    for a in (np.array([[0, 1], [2, 0]]), jnp.array([[0, 1], [2, 0]])):
        assert [i.tolist() for i in ra.nonzero(a, size=3)] == [[0, 1, -1], [1, 0, -1]]
    with pytest.raises(ValueError, match="nonzero: expected size of at least 2, got 1"):
        ra.nonzero(np.array([0, 1, 1]), size=1)


def test_quantiles_of_a_ragged_result() -> None:
    for x in both(DEEP):
        assert ra.quantile(x, [0.5, 1.0], axis=2).tolist() == [[[2, 4], [], [5]], [[3, 4], [], [5]]]
        assert ra.quantile(x, [], axis=2).shape == (0, 3, None)


def test_transpose_without_axes_complains() -> None:
    with pytest.raises(ValueError, match="permute_dims: expected axes 1 to 1 in place, got axis 1 in place 0"):
        np.transpose(ragged(ROWS))
    assert np.transpose(ragged([np.ones((2, 3, 4))]), (0, 1, 3, 2)).shape == (1, None, 4, 3)


def test_initial_is_of_the_dtype_asked_for() -> None:
    for x in both([[1, 2, 3], [4]], dtype="int8"):
        assert np.asarray(ra.sum(x, axis=1, dtype="float32", initial=0.5)).tolist() == [6.5, 4.5]
        assert np.asarray(ra.sum(x, axis=1, initial=300)).tolist() == [306, 304]
        with pytest.raises(TypeError, match="sum: expected initial of dtype int"):
            ra.sum(x, axis=1, initial=0.5)


def test_rows_that_do_not_agree_spoil_the_result() -> None:
    x, mask, w = (ra.asarray(ragged(r), xp="jax", capacity=8) for r in ([[1.0, 2, 3]] * 2, [[True, False]], [[1.0, 2]]))
    calls: list[Any] = [
        lambda x, m, w: ra.sum(x, axis=1, where=m), lambda x, m, w: ra.map_values(lambda a, b: a + b, x, w).values,
        lambda x, m, w: ra.nn.layer_norm(x, w, axis=1).values, lambda x, m, w: ra.broadcast_arrays(x, w)[1].values,
    ]  # fmt: skip
    for f in calls:
        assert np.isnan(np.asarray(jax.jit(f)(x, mask, w))).all()
        with pytest.raises(ValueError, match="expected equal row lengths along axis 1, got 3 and 2 at row 0"):
            ra.checked(f)(x, mask, w)


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda x: x[0:"a"], IndexError,
     "getitem: expected a slice of integers, got slice(0, 'a', None). Use ints or None."),
    (lambda x: ra.take(x, np.array([0]), axis=None), TypeError, "take: expected one axis, got None. Pass an int."),
    (lambda x: ra.take([1], [0]), TypeError,
     "take: expected a RaggedArray or an array, got list. Make one with `ra.ragged`."),
    (lambda x: ra.cumulative_sum(5), TypeError,
     "cumulative_sum: expected a RaggedArray or an array, got int. Make one with `ra.ragged`."),
    (lambda x: ra.unique_values([1]), TypeError,
     "unique_values: expected a RaggedArray or an array, got list. Make one with `ra.ragged`."),
    (lambda x: ra.narrow(x, 1, 0, 2**40), ValueError,
     "narrow: expected a length within the rows, got 1099511627776. Use `x[:, a:b]` to clip."),
    (lambda x: ra.row_item(x, 1.0), TypeError,
     "row_item: expected an integer index, got float. Pass an int, or one per row."),
    (lambda x: ra.diff(x, prepend=0.5), TypeError,
     "diff: expected prepend or append of dtype int64, got 0.5. Convert `x` first."),
    (lambda x: ra.diff(x, prepend=np.array([1, 2])), ValueError,
     "diff: expected prepend and append of 2 axes and 2 rows, got shape (2,). Give each row its own."),
    (lambda x: ra.roll(x, 2**70, axis=1), OverflowError,
     "roll: expected a shift that fits its index, got 1180591620717411303424. Take a smaller one."),
    (lambda x: ra.flatten(np.ones(3), size=9), ValueError,
     "flatten: expected no size= for a plain array, got 9. Drop it."),
    (lambda x: x.at[:, 0].set(np.array([1, 2, 3])), ValueError,
     "at: expected values that fit into (2,), got shape (3,). Align them first."),
    (lambda x: x.at["a"].set(0), IndexError,
     "at: expected ints, slices, `...`, None and arrays of them, got str. Convert it."),
    (lambda x: ra.random.randint(np.random.default_rng(0), x, low=np.array([[0], [10]]), high=20), TypeError,
     "random.randint: expected ints as bounds, got shape (2, 1). Scale `ra.random.uniform` instead."),
    (lambda x: ra.quantile(x, "a"), TypeError,
     "quantile: expected q from 0 to 1, got str. Pass a number, or several in an array."),
    (lambda x: ra.broadcast_to(x, (2.5, 2, None)), TypeError,
     "broadcast_to: expected a static size, got float. Pass an int that does not depend on data."),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "text"), ERRORS, ids=[str(i) for i in range(len(ERRORS))])
def test_errors(f: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        f(ragged(ROWS))
    assert str(caught.value) == text


TRACED: list[tuple[Any, str]] = [
    (lambda x: x[0], "getitem: expected a row whose length can be read, got a traced one. "
     "Use `ra.take(x, indices, capacity=)`."),
    (lambda x: x[x.row_splits[0] :],
     "getitem: expected a slice with static bounds, got traced ones. Use `ra.narrow(x, axis, start, length)`."),
    (lambda x: ra.repeat(x, 2), "repeat: expected axis= where row lengths are traced, got None. "
     "Flatten it with `ra.flatten(x, size=)`."),
    (lambda x: ra.concat([x, x], axis=None), "concat: expected axis= where row lengths are traced, got None. "
     "Flatten it with `ra.flatten(x, size=)`."),
]  # fmt: skip


@pytest.mark.parametrize(("f", "text"), TRACED, ids=[str(i) for i in range(len(TRACED))])
def test_traced_errors(f: Any, text: str) -> None:
    with pytest.raises(DynamicShapeError) as caught:
        jax.jit(f)(both(DEEP)[1])
    assert str(caught.value) == text


def test_what_the_errors_advise_works() -> None:
    x = both(DEEP)[1]
    assert jax.jit(lambda x: ra.take(x, np.array([0])))(x).tolist() == [DEEP[0]]
    assert jax.jit(lambda x, i: ra.take(x, i, capacity=9))(x, jnp.array([2])).tolist() == [DEEP[2]]
    assert jax.jit(lambda x: ra.repeat(ra.flatten(x, size=6), 2))(x).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 0]


def test_uniform_axes_behind_a_ragged_one_have_slack_too() -> None:
    x = ra.split_dims(ragged([np.arange(6.0).reshape(2, 3), np.zeros((0, 3)), np.ones((1, 3))]), 2, [0, 1, 3])
    j = ra.testing.poison(ra.asarray(x, xp="jax", capacity=(7, 14, 20)))
    mask = ra.from_row_lengths(np.array([[True, False], [True, True], [False, True]]), np.array([2, 0, 1]))
    known = ra.asarray(mask, xp="jax", capacity=8)
    known = known.with_values(known.values.at[3:].set(True))
    assert ra.validate(j[known]).tolist() == x[mask].tolist()
    index = ra.astype(mask, "int32") - 1
    slots = ra.testing.poison(ra.asarray(index, xp="jax", capacity=8))
    assert ra.gather(j, index * 0, batch_dims=2).tolist() == ra.gather(x, index * 0, batch_dims=2).tolist()
    assert ra.take(j, slots).tolist() == ra.take(x, index).tolist()
    repeats = ra.testing.poison(ra.asarray(ra.astype(mask, "int32"), xp="jax", capacity=8))
    assert (
        ra.validate(ra.repeat(j, repeats, axis=2)).tolist() == ra.repeat(x, ra.astype(mask, "int32"), axis=2).tolist()
    )
