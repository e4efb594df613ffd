"""The ideas that nested tensors were proposed with, each as one short test; docs/from-nestedtensor.md lists them."""

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import BlockPartition, RaggedArray

PAGE = Path(__file__).parent.parent / "docs" / "from-nestedtensor.md"
A = np.arange(6.0).reshape(2, 3)
B = np.arange(20.0).reshape(4, 5)


def words() -> RaggedArray:
    """Two paragraphs of sentences of word ids."""
    return ra.ragged([[[0, 2, 4, 6], [1, 3, 5]], [[7, 9], [11], [13, 15, 17, 19]]])


def same(x: RaggedArray, want: list[Any]) -> None:
    for a, b in zip(x.unbind(), want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_list_of_arrays() -> None:
    x = ra.ragged([A, B])
    assert (x.shape, x.ndim, x.dtype) == ((2, None, None), A.ndim + 1, A.dtype)
    same(x, [A, B])
    assert ra.ragged((A, B)).shape == x.shape  # a tuple is as good


def test_list_of_nested_arrays() -> None:
    x = ra.ragged([ra.ragged([A, B]), ra.ragged([A.T], item_shape=(None, None))])
    assert x.nested_size() == (((2, 3), (4, 5)), ((3, 2),))
    assert x.ndim == 4


def test_nesting_is_inferred() -> None:
    assert ra.ragged([[A], [B, A]], item_shape=(None, None, None)).nested_size() == (((2, 3),), ((4, 5), (2, 3)))
    assert words().shape == (2, None, None)


def test_never_mixed() -> None:
    with pytest.raises(
        ValueError, match=r"^ragged: expected an array everywhere, as at \[0\], got a RaggedArray at \[1\]"
    ):
        ra.ragged([A, ra.ragged([A, B])])


def test_one_dtype_and_rank() -> None:
    with pytest.raises(
        TypeError, match=r"^ragged: expected dtype float64 everywhere, as at \[0\], got float32 at \[1\]"
    ):
        ra.ragged([A, B.astype("float32")])
    assert ra.ragged([A, B.astype("float32")], dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match=r"^ragged: expected 2 axes everywhere, as at \[0\], got 1 at \[1\]"):
        ra.ragged([A, B[0]])


def test_constructor_copies() -> None:
    x = ra.ragged([A, B])
    assert not np.shares_memory(x.values, A)
    again = ra.ragged(x)
    assert not np.shares_memory(again.values, x.values)
    assert ra.array_equal(again, x)


def test_empty_list() -> None:
    x = ra.ragged([])
    assert (x.shape, x.ragged_rank, len(x), x.nested_size(), x.unbind()) == ((0, None), 1, 0, (), ())


def test_unbind_gives_views_one_level_at_a_time() -> None:
    x = ra.ragged([[A, B], [A]], item_shape=(None, None, None))
    lists = x.unbind()
    assert isinstance(lists, tuple)
    assert [type(y) for y in lists] == [RaggedArray, RaggedArray]
    for component, want in zip(lists[0].unbind(), (A, B), strict=True):
        np.testing.assert_array_equal(component, want)
        assert np.shares_memory(component, x.values)


def test_nested_size() -> None:
    assert words().nested_size() == (((4,), (3,)), ((2,), (1,), (4,)))


def test_nested_dim() -> None:
    assert words().nested_dim() == ((1, 1), (1, 1, 1))
    assert ra.ragged([A, B]).nested_dim() == (2, 2)


def test_repr_nests() -> None:
    assert repr(ra.ragged([[8, 1, 3], [5]])).startswith("RaggedArray([\n  [8, 1, 3],\n  [5],\n]")
    assert repr(ra.ragged([[[8, 1], [5]], [[2]]])).startswith("RaggedArray([\n  [\n    [8, 1],\n    [5],\n  ],\n  [\n")


def test_storage() -> None:
    x = ra.ragged([A, B])
    view = ra.matrix_transpose(x)
    p = view.partitions[0]
    assert isinstance(p, BlockPartition)
    assert (x.values.shape, p.sizes.tolist()) == ((26,), [[3, 2], [5, 4]])
    assert (p.strides.tolist(), p.offsets.tolist()) == ([[1, 3], [1, 5]], [0, 6])


def test_wrapping_a_buffer() -> None:
    buffer = np.arange(10.0)
    x = ra.from_blocks(buffer, [[2, 2], [1, 3]], strides=[[1, 2], [0, -1]], offsets=[0, 9])
    assert x.values is buffer
    same(x, [[[0, 2], [1, 3]], [[9, 8, 7]]])
    text = r"^from_blocks: expected addresses from 0 to 9, got slots 5 to 10 for component 1"
    with pytest.raises(ValueError, match=text):
        ra.from_blocks(buffer, [[2, 2], [2, 3]], offsets=[0, 5])


def test_get_buffer() -> None:
    x = ra.ragged([A, B])
    buffer = ra.get_buffer(x)
    assert buffer.shape == (26,)
    assert np.shares_memory(buffer, x.values)


def test_addresses() -> None:
    x = ra.ragged([A, B])
    for view, moved in (
        (x, [A, B]),
        (x[:, ::-1], [A[::-1], B[::-1]]),
        (ra.matrix_transpose(x)[:, 1:], [A.T[1:], B.T[1:]]),
    ):
        p = view.partitions[0]
        strides = p.strides if p.strides is not None else np.array([[3, 1], [5, 1]])
        offsets = p.offsets if p.offsets is not None else np.array([0, 6])
        assert view.values is x.values
        for k, c in enumerate(moved):
            for at in np.ndindex(c.shape):
                assert x.values[offsets[k] + np.dot(at, strides[k])] == c[at]


def test_strides_of_zero_and_below() -> None:
    rows = ra.from_blocks(np.arange(5.0), [[2, 3], [3, 2]], strides=[[0, 1], [0, 1]], offsets=[0, 3])
    same(rows, [np.tile([0, 1, 2], (2, 1)), np.tile([3, 4], (3, 1))])
    same(ra.flip(rows, axis=2) * 1, [np.tile([2, 1, 0], (2, 1)), np.tile([4, 3], (3, 1))])
    assert ra.flip(rows, axis=2).values is rows.values


def test_more_nesting_moves_no_data() -> None:
    x = ra.ragged([A, B, A])
    nested = ra.split_dims(ra.to_rows(x), 0, np.array([0, 1, 3]))
    assert nested.tolist() == [[A.tolist()], [B.tolist(), A.tolist()]]
    assert np.shares_memory(nested.values, x.values)


def test_views_mean_what_they_show() -> None:
    x = ra.ragged([A, B])
    view = ra.matrix_transpose(x[:, 1:])
    for f in (
        lambda x: ra.sum(x, axis=1), lambda x: ra.nn.softmax(x, axis=2), lambda x: ra.nn.layer_norm(x, axis=1),
        lambda x: x + 1, lambda x: x * x, lambda x: ra.concat([x, x], axis=1), ra.contiguous, ra.sort,
    ):  # fmt: skip
        assert ra.allclose(f(view), f(ra.ragged([A[1:].T, B[1:].T])))


def test_flat_way() -> None:
    seen: list[Any] = []

    def f(values: Any) -> Any:
        seen.append(values.shape)
        return values + 1

    same(ra.map_values(f, ra.ragged([A, B])), [A + 1, B + 1])
    assert seen == [(26,)]  # one call, whatever the boundaries


def test_component_way() -> None:
    seen: list[Any] = []

    def f(c: Any) -> Any:
        seen.append(c.shape)
        return np.linalg.svd(c)[1]

    same(ra.map_components(f, ra.ragged([A, B])), [np.linalg.svd(A)[1], np.linalg.svd(B)[1]])
    assert {(2, 3), (4, 5)} <= set(seen)
    columns = [np.exp(c - c.max(0)) / np.exp(c - c.max(0)).sum(0) for c in (A, B)]
    same(ra.nn.softmax(ra.ragged([A, B]), axis=1), columns)


def test_conditional_fast_way() -> None:
    x = ra.asarray(ra.ragged([np.ones((2, 3)), np.ones((5, 3))]), xp="jax", capacity=8)
    assert x.shape == (2, None, 3)
    program = str(jax.make_jaxpr(lambda x, w: ra.nn.linear(x, w).values)(x, jnp.ones((3, 4))))
    assert program.count("dot_general") == 1
    assert "f32[8,4]" in program


def test_tensorwise_operations() -> None:
    x, y, z = (ra.ragged([f(A), f(B)]) for f in (np.sin, np.cos, np.tanh))
    got = ra.map_components(lambda a, b, c: a @ b.T + c.sum(), x, y, z)
    same(got, [np.sin(c) @ np.cos(c).T + np.tanh(c).sum() for c in (A, B)])


def test_structures_must_match() -> None:
    x = ra.ragged([[A, B], [A]], item_shape=(None, None, None))
    y = ra.ragged([[A], [B, A]], item_shape=(None, None, None))
    for name, f in (("add", ra.add), ("map_components", lambda a, b: ra.map_components(np.add, a, b))):
        with pytest.raises(ValueError, match=f"^{name}: expected equal row lengths along axis 1, got 2 and 1 at row 0"):
            f(x, y)
    with pytest.raises(ValueError, match=r"^add: expected equal sizes along axis 1, got 4 and 2 at component 1"):
        ra.add(ra.ragged([A, B]), ra.ragged([A, B[:2]]))


def test_results_must_form_an_array() -> None:
    with pytest.raises((ValueError, TypeError), match=r"^map_components: "):
        ra.map_components(lambda c: c if c.shape[0] == 2 else c.sum(), ra.ragged([A, B]))


def test_pointwise_operations() -> None:
    x = ra.ragged([A, B])
    same(ra.cos(x), [np.cos(A), np.cos(B)])
    same(ra.special.digamma(x + 1), [np.asarray(ra.special.digamma(c + 1)) for c in (A, B)])
    same(x * ra.sin(x), [A * np.sin(A), B * np.sin(B)])
    assert (x == x).tolist() == [np.full(c.shape, True).tolist() for c in (A, B)]


def test_broadcasting() -> None:
    x = ra.ragged([A, B])
    same(x - ra.mean(x, axis=2, keepdims=True), [c - c.mean(1, keepdims=True) for c in (A, B)])
    same(x * np.array([[[2.0]], [[3.0]]]), [2 * A, 3 * B])


def test_products_of_nested_lists() -> None:
    shapes = [[(3, 5)], [(1, 8), (7, 3)]], [[(5, 3)], [(8, 2), (3, 4)]]
    a, b = (ra.ragged([[np.ones(s) for s in row] for row in rows], item_shape=(None, None, None)) for rows in shapes)
    assert ra.matmul(a, b).nested_size() == (((3, 3),), ((1, 2), (7, 4)))


def test_products() -> None:
    x, t = ra.ragged([A, B]), ra.ragged([A.T, B.T])
    for product in (ra.mm(x, t), ra.bmm(x, t), x @ t, ra.mm(x, ra.matrix_transpose(x))):
        same(product, [A @ A.T, B @ B.T])
    same(ra.mv(x, ra.ragged([A[0], B[0]])), [A @ A[0], B @ B[0]])
    same(ra.addmm(ra.mm(x, t), x, t), [2 * A @ A.T, 2 * B @ B.T])


def test_spectra() -> None:
    x = ra.ragged([A, B])
    same(ra.fft.fft(x), [np.fft.fft(A), np.fft.fft(B)])
    same(ra.fft.ifft(ra.fft.fft(x)), [A, B])


def test_embedding_bag() -> None:
    table = np.arange(12.0).reshape(4, 3)
    got = ra.nn.embedding_bag(ra.ragged([[0, 1], [], [3]]), table)  # no offsets
    np.testing.assert_allclose(got, [table[:2].mean(0), [0, 0, 0], table[3]])


def test_recurrent_layers() -> None:
    rng = np.random.default_rng(0)
    items = [rng.normal(size=(n, 2)) for n in (1, 0, 3)]  # in no order, one empty
    w, h = rng.normal(size=(2, 4)), rng.normal(size=(4, 4))
    outputs, final = ra.nn.rnn(ra.ragged(items), w, h)
    for c, out, last in zip(items, outputs.unbind(), final, strict=True):
        state = np.zeros(4)
        for t, v in enumerate(c):
            state = np.tanh(v @ w + state @ h)
            np.testing.assert_allclose(out[t], state, rtol=1e-6)
        np.testing.assert_allclose(last, state, rtol=1e-6)


def test_cross_entropy() -> None:
    logits = ra.ragged([np.zeros((2, 3)), np.zeros((0, 3)), np.zeros((1, 3))])
    loss = ra.nn.cross_entropy(logits, ra.ragged([[0, 1], [], [2]]))  # no index to ignore
    np.testing.assert_allclose(loss, np.log(3))


def test_data_and_mask() -> None:
    data, mask = np.arange(6.0).reshape(2, 3), np.array([[False, True, True], [True, False, False]])
    x = ra.from_padded(data, mask=mask)  # left or right, or neither
    assert x.tolist() == [[1, 2], [3]]
    assert ra.to_padded(x, fill_value=-1).tolist() == [[1, 2], [3, -1]]
    assert ra.to_mask(x).tolist() == [[True, True], [True, False]]
    with pytest.raises(ValueError, match=r"^to_padded: expected a length of at least 2, got 1"):
        ra.to_padded(x, length=1)


def test_data_and_mask_are_differentiable() -> None:
    mask = np.array([[False, True, True], [True, False, False]])

    def loss(data: Any) -> Any:
        return jnp.sum(ra.to_padded(ra.from_padded(data, mask=mask), length=3) ** 2)

    data = np.arange(6.0, dtype="float32").reshape(2, 3)
    np.testing.assert_allclose(jax.grad(loss)(jnp.asarray(data)), 2 * data * mask)


def test_homogeneity_by_axis() -> None:
    x = ra.ragged([np.zeros((3, 2, 4)), np.zeros((3, 5, 1))], item_shape=(3, None, None))
    p = x.partitions[0]
    assert isinstance(p, BlockPartition)
    assert x.shape == (2, 3, None, None)
    assert (p.axes, p.sizes.tolist()) == ((3, None, None), [[2, 4], [5, 1]])
    assert ra.ragged([np.zeros((2, 8)), np.zeros((5, 8))]).values.shape == (7, 8)


def test_no_memory_for_padding() -> None:
    assert ra.ragged([np.zeros((1000, 1)), np.zeros((1, 1000))]).values.nbytes == 2000 * 8


def test_statistics_need_no_masks() -> None:
    x = ra.ragged([[1.0, 3.0], [-5.0]])
    assert (ra.mean(x, axis=1).tolist(), ra.max(x, axis=1).tolist()) == ([2, -5], [3, -5])


def test_what_is_not_implemented_raises() -> None:
    with pytest.raises(TypeError, match=r"^numpy.kron: expected a function that takes ragged arrays"):
        np.kron(ra.ragged([A, B]), ra.ragged([A, B]))


def rows_of_the_page() -> list[list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if not line.startswith("| idea")]


def test_the_page_names_every_test_and_has_no_empty_cell() -> None:
    rows = rows_of_the_page()
    assert all(len(row) == 3 and all(row) for row in rows)
    named = [name for row in rows for name in re.findall(r"`(test_\w+)`", row[2])]
    assert all(re.search(r"`test_\w+`", row[2]) for row in rows)
    ours = {name for name in globals() if name.startswith("test_") and not name.startswith("test_the_page")}
    assert set(named) == ours
