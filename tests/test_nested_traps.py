"""What nested tensors get wrong elsewhere without a word, or crash on: here each is right, or an error that says so."""

import pickle
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

A = np.arange(6.0).reshape(3, 2)
B = np.arange(10.0).reshape(5, 2) + 10
BUFFER = np.concatenate([A, B])
EMPTY = np.zeros((0, 2))


def on_jax(x: RaggedArray, capacity: int = 20) -> RaggedArray:
    return ra.testing.poison(ra.asarray(x, xp="jax", capacity=capacity))


def as_it_is(x: RaggedArray) -> RaggedArray:
    return x


def rows(*items: np.ndarray) -> RaggedArray:
    return ra.ragged(list(items), item_shape=(None, 2))


def block(*items: np.ndarray) -> RaggedArray:
    return ra.ragged(list(items), item_shape=(None, None))


def holes(xp: Any = np) -> RaggedArray:
    """Rows 0 and 1, and 3 to 6, of a buffer of eight: two rows are hidden."""
    offsets = np.array([0, 3])
    return ra.from_blocks(xp.asarray(BUFFER, dtype="float32"), np.array([[2], [4]]), offsets=offsets)


VISIBLE = [BUFFER[:2], BUFFER[3:7]]
EACH_KIND = pytest.mark.parametrize("make", [rows, block], ids=["rows", "block"])
EACH_BACKEND = pytest.mark.parametrize("on", [as_it_is, on_jax], ids=["numpy", "jax"])


def close(got: Any, want: Any, tol: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(got, dtype=np.result_type(np.asarray(got), "f8")), want, rtol=tol, atol=tol)


def components(x: RaggedArray) -> list[np.ndarray]:
    return [np.asarray(c) for c in x.to("numpy").unbind()]


def each_close(got: RaggedArray, want: list[Any], tol: float = 1e-5) -> None:
    for a, b in zip(components(got), want, strict=True):
        assert a.shape == np.shape(b)
        close(a, b, tol)


@pytest.mark.parametrize("make, f", [(rows, ra.nn.softmax), (block, ra.nn.softmax), (rows, ra.nn.log_softmax)])
def test_softmax_gradient_over_the_ragged_axis(make: Any, f: Any) -> None:
    x = on_jax(make(A, EMPTY, B))
    weights = on_jax(make(*(np.cos(c) for c in (A, EMPTY, B))))
    got = jax.jit(ra.grad(lambda x: ra.sum(f(x, axis=1) * weights)))(x)
    want = []
    for c in (A, EMPTY, B):
        w, share = np.cos(c), np.exp(c - c.max(0, initial=0)) / np.exp(c - c.max(0, initial=0)).sum(0)
        want.append(share * (w - (w * share).sum(0)) if f is ra.nn.softmax else w - share * w.sum(0))
    each_close(got, want)
    if f is ra.nn.softmax:  # columns sum to 1 whatever x is
        each_close(jax.jit(ra.grad(lambda x: ra.sum(f(x, axis=-2))))(x), [0 * A, EMPTY, 0 * B])


@EACH_BACKEND
def test_transpose_then_reduce_or_pad(on: Any) -> None:
    x = on(block(A, B))
    flipped = ra.matrix_transpose(x)
    for f in (ra.max,) if on is on_jax else (ra.sum, ra.mean, ra.max, ra.min, ra.argmax):
        each_close(f(flipped, axis=-1), [np.asarray(c) for c in components(f(x, axis=1))])
    padded = np.zeros((2, 2, 5))
    padded[0, :, :3], padded[1] = A.T, B.T
    close(ra.to_padded(flipped), padded)


@EACH_BACKEND
def test_widths_come_from_the_lengths_whatever_ran_before(on: Any) -> None:
    x = on(ra.from_row_lengths(np.arange(4.0), np.array([1, 3])))
    before = ra.to_padded(x)
    ra.nn.softmax(x, axis=1)
    assert before.shape == ra.to_padded(x).shape == (2, 3)
    close(before, [[0, 0, 0], [1, 2, 3]])


@pytest.mark.parametrize("make, on", [(rows, as_it_is), (block, as_it_is), (block, on_jax)])
def test_extremes_of_components_of_infinities(make: Any, on: Any) -> None:
    low, ordinary = np.full((2, 2), -np.inf), np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 0.0]])
    x = on(make(low, ordinary))

    def of(y: Any) -> Any:
        return [np.asarray(c) for c in (components(y) if isinstance(y, RaggedArray) else y)]

    close(of(ra.max(x, axis=1)), [[-np.inf, -np.inf], [3, 5]])
    close(of(ra.argmax(x, axis=1)), [[0, 0], [2, 0]])
    close(of(ra.min(-x, axis=1)), [[np.inf, np.inf], [-3, -5]])
    close(of(ra.argmin(-x, axis=1)), [[0, 0], [2, 0]])
    close(of(ra.logsumexp(x, axis=1))[0], [-np.inf, -np.inf])
    assert not components(ra.nn.softmax(x, axis=1))[0].any()


@EACH_KIND
def test_gradients_of_components_of_infinities_are_zero(make: Any) -> None:
    x = on_jax(make(np.full((2, 2), -np.inf), A))
    for f in (
        lambda x: ra.nn.softmax(x, axis=1),
        lambda x: ra.where(ra.isfinite(y := ra.logsumexp(x, axis=1)), y, 0.0),
    ):
        got = components(jax.jit(ra.grad(lambda x, f=f: ra.sum(f(x))))(x))
        assert np.isfinite(got[1]).all()
        assert not got[0].any()


@EACH_KIND
@EACH_BACKEND
def test_reductions_of_empty_components(make: Any, on: Any) -> None:
    x = on(make(A, EMPTY, B))
    wanted = {
        "sum": 0,
        "prod": 1,
        "max": -np.inf,
        "min": np.inf,
        "argmax": -1,
        "argmin": -1,
        "mean": np.nan,
        "std": np.nan,
    }
    for name in ("max", "argmax", "mean") if on is on_jax else wanted:
        nothing = wanted[name]
        got = getattr(ra, name)(x, axis=1)
        got = components(got)[1] if isinstance(got, RaggedArray) else got[1]
        close(got, [nothing, nothing])
    none = on(make(EMPTY, EMPTY))
    each = ra.max(none, axis=1)
    close(components(each) if isinstance(each, RaggedArray) else each, np.full((2, 2), -np.inf))
    assert ra.to_padded(none).shape[:2] == (2, 0)
    assert ra.add(none, none).shape == none.shape


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_hidden_rows_reach_no_reduction(xp: Any) -> None:
    h = holes(xp)
    everything = np.concatenate(VISIBLE)
    for name in ("sum", "mean", "max", "min", "std", "prod", "count_nonzero"):
        close(getattr(ra, name)(h), getattr(np, name)(everything))
    close(ra.linalg.vector_norm(h), np.linalg.norm(everything))
    close(ra.logsumexp(h), np.log(np.exp(everything).sum()))
    assert not bool(ra.any(h > 17))
    assert bool(ra.all(h <= 17))
    assert int(h.size) == 12
    close(ra.sum(h, axis=(0, 1)), everything.sum(0))
    each_close(ra.nn.softmax(h, axis=1), [np.exp(c - c.max(0)) / np.exp(c - c.max(0)).sum(0) for c in VISIBLE])
    weight = xp.asarray(np.eye(2, 3, dtype="float32"))
    each_close(ra.nn.linear(h, weight), [c @ np.eye(2, 3) for c in VISIBLE])
    close(ra.to_padded(h)[0, 2:], np.zeros((2, 2)))


def test_hidden_rows_reach_no_gradient() -> None:
    h = ra.testing.poison(holes(jnp))  # NaN in the holes

    def loss(h: Any, s: Any, w: Any, t: Any) -> Any:
        return ra.sum(h * s) + ra.sum(ra.nn.linear(h, w)) + ra.sum(h * t) + ra.sum(h * h)

    given = (h, jnp.float32(2), jnp.ones((2, 3)), jnp.ones(2))
    buffer, scalar, weight, items = jax.jit(ra.grad(loss, (0, 1, 2, 3)))(*given)
    everything = np.concatenate(VISIBLE)
    close(scalar, everything.sum())
    close(weight, np.broadcast_to(everything.sum(0)[:, None], (2, 3)))
    close(items, everything.sum(0))
    each_close(buffer, [2 * c + 6 for c in VISIBLE])
    assert not np.asarray(buffer.values)[[2, 7]].any()


@pytest.mark.parametrize("convert", [lambda x: x, ra.to_blocks], ids=["rows", "block"])
@EACH_BACKEND
def test_narrow_with_gaps(convert: Any, on: Any) -> None:
    x = convert(on(ra.ragged([[0.0, 1.0], [2.0, 3.0]])))
    y = ra.narrow(x, 1, np.array([0, 1]), np.array([2, 1]))
    each_close(y, [[0, 1], [3]])
    close(ra.sum(y), 4)
    each_close(y * 2 + y, [[0, 3], [9]])
    each_close(ra.concat([y, y], axis=1), [[0, 1, 0, 1], [3, 3]])
    each_close(ra.narrow(y, 1, np.array([1, 0]), np.array([1, 1])), [[1], [3]])


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_a_buffer_covered_in_part(xp: Any) -> None:
    x = ra.from_row_splits(xp.arange(10.0), np.array([0, 2, 5]))
    assert (int(x.size), float(ra.sum(x)), float(ra.mean(x)), float(ra.max(x))) == (5, 10, 2, 4)
    y = ra.from_blocks(xp.arange(10.0), np.array([[2], [3]]))
    assert (int(y.size), float(ra.sum(y)), float(ra.max(y))) == (5, 10, 4)


def test_malformed_structure_is_refused() -> None:
    values = np.arange(4.0)
    for splits, text in (
        ([0, 3, 2], "splits that never decrease, got 2 after 3 at index 2. Check the row lengths."),
        (
            [1, 3, 4],
            "splits that start at 0, got 1. Pass `splits - splits[0]` with `values[splits[0]:splits[-1]]`, "
            "or prepend the 0 if it is missing.",
        ),
        ([0, 3, 5], "splits that end at 4 or before, got 5. Pass the missing values."),
    ):
        with pytest.raises(ValueError, match=f"^from_row_splits: expected {re.escape(text)}$"):
            ra.from_row_splits(values, np.array(splits))
    with pytest.raises(TypeError, match=r"^from_row_splits: expected "):
        ra.from_row_splits(values, np.array([0.0, 4.0]))
    with pytest.raises(ValueError, match=r"^from_blocks: "):
        ra.from_blocks(values, [[2], [3]])
    with pytest.raises(ValueError, match=r"^from_blocks: "):
        ra.from_blocks(values, [[2]], offsets=[3])


@EACH_KIND
def test_a_length_that_is_too_small_is_refused(make: Any) -> None:
    x = make(A, B)
    text = r"^to_padded: expected a length of at least 5, got 4. Pass a larger `length=`.$"
    with pytest.raises(ValueError, match=text):
        ra.to_padded(x, length=(4, 2) if make is block else 4)
    q = ra.ragged([np.ones((3, 1, 4)), np.ones((5, 1, 4))])
    with pytest.raises(ValueError, match=r"^nn.attention: expected a length of at least 5, got 2."):
        ra.nn.attention(q, q, q, max_length=2)


def test_a_length_that_is_too_small_under_jit_is_nan_or_raises() -> None:
    x = on_jax(rows(A, B))
    cut = jax.jit(lambda x: ra.to_padded(x, length=4))(x)
    assert np.isnan(cut).all()
    with pytest.raises(ValueError, match=r"^to_padded: expected a length of at least 5, got 4."):
        ra.checked(lambda x: ra.to_padded(x, length=4))(x)


@EACH_BACKEND
def test_negative_indices_count_from_the_end_of_their_own_row(on: Any) -> None:
    x = on(rows(A, B))
    want = B.copy()
    want[-1] = 7
    each_close(x.at[1, -1].set(7.0), [A, want])
    each_close(x.at[np.array([1]), np.array([-1])].set(7.0), [A, want])
    close(x[:, -1], [A[-1], B[-1]])
    with pytest.raises(IndexError, match=r"^at: expected index -4 in every row along axis 1, got length 3 at row 0."):
        x.at[0, -4].set(7.0)


@EACH_BACKEND
def test_half_precision_means_of_many_ones(on: Any) -> None:
    ones = np.ones(70_000, np.float16)
    x = ra.ragged([ones, ones[:3]])
    x = x if on is not on_jax else on_jax(x, 70_010)
    assert np.asarray(ra.mean(x, axis=1)).tolist() == [1, 1]
    assert float(ra.mean(x)) == 1
    y = ra.to_blocks(ra.ragged([ones.reshape(700, 100), ones[:3].reshape(1, 3)]))
    y = y if on is not on_jax else on_jax(y, 70_010)
    assert np.asarray(ra.mean(y, axis=(1, 2))).tolist() == [1, 1]


def test_gradients_of_parts() -> None:
    x = on_jax(ra.ragged([np.ones((3, 4)), np.ones((0, 4)), np.ones((5, 4))]))

    def loss(x: Any) -> Any:
        first, second = ra.split(x, [1], axis=-1)
        return ra.sum(first * 2) + ra.sum(second * 3)

    got = jax.jit(ra.grad(loss))(x)
    each_close(got, [np.tile([2.0, 3, 3, 3], (n, 1)) for n in (3, 0, 5)])
    assert not np.asarray(got.values)[8:].any()
    along = jax.jit(ra.grad(lambda x: ra.sum(ra.split(x, [2], axis=1)[1])))(x)
    each_close(
        along, [np.repeat([[0.0], [0], [1]], 4, 1), np.zeros((0, 4)), np.repeat([[0.0], [0], [1], [1], [1]], 4, 1)]
    )


def test_parts_that_do_not_fit_are_refused() -> None:
    x = rows(A, B)
    with pytest.raises(
        ValueError, match=r"^split: expected a number of parts that divides 2, got 3. Use `ra.array_split`.$"
    ):
        ra.split(x, 3)
    with pytest.raises(ValueError, match=r"^split: expected positions along a ragged axis, got 2 parts of axis 1."):
        ra.split(x, 2, axis=1)
    assert [p.shape[0] for p in ra.array_split(x, 3)] == [1, 1, 0]


def copies(x: RaggedArray) -> list[RaggedArray]:
    """The same array with splits (or sizes) that are other objects."""
    made = [
        pickle.loads(pickle.dumps(x)),
        ra.asarray(x, copy=True),
        ra.ragged(list(x.unbind()), item_shape=x.shape[1:]),
    ]
    if x.block is None:
        made += [
            ra.from_padded(ra.to_padded(x), lengths=x.row_lengths()),
            ra.from_row_splits(x.values, x.row_splits.copy()),
        ]
    return made


@EACH_KIND
def test_equal_rows_meet_whatever_object_says_so(make: Any) -> None:
    x = make(A, EMPTY, B)
    for y in copies(x):
        each_close(x - y, [0 * A, EMPTY, 0 * B])
        assert bool(ra.all(x == y))
        assert ra.array_equal(x, y)
        assert x.shape == y.shape
    what = ("sizes", "component", "components") if make is block else ("row lengths", "row", "rows")
    text = f"^subtract: expected equal {what[0]} along axis 1, got 5 and 4 at {what[1]} 2. Align the {what[2]} first"
    with pytest.raises(ValueError, match=text):
        _ = x - make(A, EMPTY, B[:4])


@EACH_KIND
@EACH_BACKEND
def test_concat_and_stack_along_every_axis(make: Any, on: Any) -> None:
    x, y = on(make(A, B)), on(make(B, A))
    each_close(ra.concat([x, y], axis=1), [np.concatenate([A, B]), np.concatenate([B, A])])
    each_close(ra.concat([x, x], axis=2), [np.concatenate([c, c], 1) for c in (A, B)])
    each_close(ra.concat([x, y], axis=0), [A, B, B, A])
    each_close(ra.concat([on(make(A[:1], B[:1])), x], axis=1), [np.concatenate([c[:1], c]) for c in (A, B)])
    assert ra.stack([x, x], axis=1).tolist() == [np.stack([c, c]).tolist() for c in (A, B)]
    close(ra.sum(ra.concat([x, y], axis=1)), 2 * BUFFER.sum())


def test_one_token_before_every_row() -> None:
    token = np.full((2, 1, 2), 9.0)
    each_close(ra.concat([token, rows(A, B)], axis=1), [np.concatenate([token[0], c]) for c in (A, B)])


@EACH_KIND
def test_padded_and_back_is_differentiable(make: Any) -> None:
    x = on_jax(make(A, B))

    def loss(x: Any) -> Any:
        padded = ra.to_padded(x, length=(5, 2) if make is block else 5) * 3
        mask = ra.to_mask(x, length=(5, 2) if make is block else 5)
        return jnp.sum(jnp.where(jnp.broadcast_to(mask.reshape(2, 5, -1), padded.shape), padded, 0) ** 2)

    each_close(jax.jit(ra.grad(loss))(x), [18 * A, 18 * B], tol=1e-4)
    if make is rows:

        def product(x: Any) -> Any:
            return ra.sum(x * ra.from_padded(ra.to_padded(x, length=5), lengths=x.row_lengths()))

        back = jax.jit(ra.grad(product))(x)
        each_close(back, [2 * A, 2 * B])


@EACH_KIND
@pytest.mark.parametrize("axis", [1, None], ids=str)
def test_reductions_are_differentiable_over_any_axis(make: Any, axis: Any) -> None:
    items = [np.cos(A), np.sin(B)]
    got = jax.jit(ra.grad(lambda x: ra.sum(ra.std(x, axis=axis))))(on_jax(make(*items)))
    whole = None if axis is None else tuple(a - 1 for a in (axis if isinstance(axis, tuple) else (axis,)))

    def dense(*c: Any) -> Any:
        return jnp.std(jnp.concatenate(c)) if whole is None else sum(jnp.sum(jnp.std(a, axis=whole)) for a in c)

    each_close(got, list(jax.grad(dense, (0, 1))(*map(jnp.asarray, items))))


def test_a_batch_of_equal_lengths_keeps_its_axes() -> None:
    equal, other = [np.ones((4, 7)), np.ones((4, 7))], [np.ones((4, 7)), np.ones((4, 6))]
    assert {ra.ragged(items, item_shape=(4, None)).shape for items in (equal, other)} == {(2, 4, None)}


def test_masks_of_any_shape() -> None:
    padded = np.arange(8.0).reshape(2, 4)
    mask = np.array([[False, True, False, True], [True, False, False, False]])
    assert ra.from_padded(padded, mask=mask).tolist() == [[1, 3], [4]]
    strided = np.arange(16.0).reshape(2, 8)[:, ::2]
    assert ra.from_padded(strided, lengths=np.array([1, 3])).tolist() == [[0], [8, 10, 12]]


def test_rows_can_be_chosen_cut_and_counted() -> None:
    x = ra.ragged([[0, 1, 2, 3], [4, 5, 6, 7, 8], [8, 9]])
    assert x[:, :3].tolist() == [[0, 1, 2], [4, 5, 6], [8, 9]]
    assert x[[1, 0]].tolist() == [[4, 5, 6, 7, 8], [0, 1, 2, 3]]
    assert x[np.array([True, False, True])].tolist() == [[0, 1, 2, 3], [8, 9]]
    assert x[1:].tolist() == [[4, 5, 6, 7, 8], [8, 9]]
    assert x.position_ids().tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1]
    assert (x + np.array([[10], [20], [30]]))[:, 0].tolist() == [10, 24, 38]
    assert len(x) == 3
    assert (len(ra.ragged([])), ra.ragged([]).shape) == (0, (0, None))


@EACH_BACKEND
def test_attention_of_empty_rows_is_finite(on: Any) -> None:
    items = [np.ones((3, 1, 4)), np.ones((0, 1, 4)), np.ones((2, 1, 4))]
    q, k = on(ra.ragged(items, item_shape=(None, 1, 4))), on(ra.ragged(items[::-1], item_shape=(None, 1, 4)))
    out = components(ra.nn.attention(q, k, k))
    assert [c.shape for c in out] == [(3, 1, 4), (0, 1, 4), (2, 1, 4)]
    assert all(np.isfinite(c).all() for c in out)


@EACH_BACKEND
def test_axes_of_size_zero(on: Any) -> None:
    items = [np.zeros((0, 3)), np.zeros((2, 0)), np.ones((1, 2))]
    x = on(block(*items))
    close(ra.sum(x), 2)
    each_close(ra.sum(x, axis=2), [c.sum(1) for c in items])
    each_close(ra.max(x, axis=1), [np.full(3, -np.inf), np.zeros(0), np.ones(2)])
    each_close(ra.nn.softmax(x, axis=2), [items[0], items[1], [[0.5, 0.5]]])
    each_close(ra.matrix_transpose(x) * 2, [2 * c.T for c in items])
    each_close(ra.concat([x, x], axis=2), [np.concatenate([c, c], 1) for c in items])
    if on is not on_jax:
        each_close(ra.matmul(x, ra.matrix_transpose(x)), [c @ c.T for c in items])
        assert ra.to_rows(x).tolist() == [c.tolist() for c in items]
        assert [c.shape for c in x.unbind()] == [c.shape for c in items]
    assert ra.to_padded(x).shape == (3, 2, 3)


@EACH_KIND
@EACH_BACKEND
def test_a_single_component(make: Any, on: Any) -> None:
    x = on(make(B))
    assert x.shape[0] == 1
    close(ra.sum(x), B.sum())
    each_close(x + x, [2 * B])
    each_close(ra.concat([x, x], axis=0), [B, B])
    close(ra.to_padded(x), B[None])
    each_close(x[:, 1:], [B[1:]])


def test_components_without_axes_are_refused() -> None:
    text = r"^ragged: expected at least one ragged axis, got entries of shape \(\). Wrap the rows in a list.$"
    for items in ([np.array(1.0), np.array(2.0)], [jnp.array(1.0)], [1.0, 2.0]):
        with pytest.raises(ValueError, match=text):
            ra.ragged(items)
    with pytest.raises(ValueError, match=r"^from_rows: expected rows with at least one axis, got shape \(\) as row 0."):
        ra.from_rows([np.array(1.0)])


@EACH_BACKEND
def test_complex_components(on: Any) -> None:
    items = [np.exp(1j * A), np.exp(1j * B[:2]) * 2]
    x = on(block(*items))
    close(ra.sum(x), sum(c.sum() for c in items))
    each_close(ra.sum(x, axis=1), [c.sum(0) for c in items])
    each_close(ra.mean(x, axis=2), [c.mean(1) for c in items])
    each_close(ra.abs(x), [np.abs(c) for c in items])
    each_close(ra.conj(ra.matrix_transpose(x)), [c.conj().T for c in items])
    each_close(x * x - 1j, [c * c - 1j for c in items])
    if on is not on_jax:
        each_close(ra.matmul(x, ra.matrix_transpose(x)), [c @ c.T for c in items])
    padded = np.zeros((2, 3, 2), complex)
    padded[0], padded[1, :2] = items
    close(ra.to_padded(x), padded)
    with pytest.raises(TypeError, match=r"^max: expected real values, got dtype complex\d+. Compare `ra.abs\(x\)`."):
        ra.max(x, axis=1)
