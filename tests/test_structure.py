"""The value itself: properties, views, immutability, text, protocols, libraries."""

import copy
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged


def test_properties() -> None:
    x = ragged([[[1.0, 2.0], []], [[3.0]], []])
    assert (x.shape, x.ndim, x.nrows, x.capacity, x.size, x.ragged_rank) == ((3, None, None), 3, 3, 3, 3, 2)
    assert len(x) == 3 and x.inner_shape == () and x.dtype == np.float64
    np.testing.assert_array_equal(x.row_splits, [0, 2, 3, 3])
    np.testing.assert_array_equal(x.row_ids(), [0, 0, 1])
    np.testing.assert_array_equal(x.row_ids(axis=2), [0, 0, 2])
    np.testing.assert_array_equal(x.position_ids(), [0, 1, 0])
    assert [row.tolist() for row in x] == [[[1.0, 2.0], []], [[3.0]], []]
    assert jax.jit(lambda x: x.size)(x.to("jax")) == 3


def test_uniform_levels() -> None:
    x = ragged([[[1, 2], [3]], [[], [4]]], item_shape=(2, None))
    assert x.shape == (2, 2, None)
    assert [s.tolist() for s in x.nested_row_splits] == [[0, 2, 4], [0, 2, 3, 3, 4]]
    assert x.row_lengths(axis=2).tolist() == [[2, 1], [0, 1]]
    assert x.row_lengths(axis=1).tolist() == [2, 2]
    assert ra.sum(x, axis=2).tolist() == [[3, 3], [0, 4]]
    assert not isinstance(ra.sum(x, axis=2), RaggedArray)
    assert x.unbind()[1].tolist() == [[], [4]]


def test_views_share_memory_and_constructors_do_not() -> None:
    values = np.arange(12.0).reshape(6, 2)
    x = ra.from_row_splits(values, np.array([0, 2, 2, 6]))
    assert x.values is values
    for view in (*x.unbind(), x[0], x[2]):
        assert view.size == 0 or np.shares_memory(view, values)
    assert np.shares_memory(x[1:].values, values)
    assert np.shares_memory(ragged([[1], [2]]).unbind()[0], ragged([[1], [2]]).values) is False
    assert not np.shares_memory(ragged(x).values, values)
    assert not np.shares_memory(ragged([values[:2], values[2:]]).values, values)
    nested = ra.from_nested_row_splits(values, [np.array([0, 2, 3]), np.array([0, 1, 2, 6])])
    assert np.shares_memory(nested[1].values, values) and nested[1].tolist() == values[2:].tolist().__class__(
        [values[2:].tolist()]
    )


def test_immutable_and_arguments_untouched() -> None:
    x = ragged([[1.0, 2.0], [3.0]])
    with pytest.raises(AttributeError):
        x.values = x.values  # type: ignore[misc]
    values, splits = np.arange(3.0), np.array([0, 2, 3])
    values.flags.writeable = splits.flags.writeable = False
    y = ra.from_row_splits(values, splits)
    for f in (ra.exp, lambda x: x + x, lambda x: ra.sum(x, axis=1), ra.nn.softmax, ra.to_padded, lambda x: x[::-1]):
        f(y)
    np.testing.assert_array_equal(values, [0, 1, 2])


def test_copies() -> None:
    x = ragged([[1.0, 2.0], [3.0]])
    for y in (copy.copy(x), copy.deepcopy(x), x.to("jax").to("numpy")):
        assert ra.array_equal(x, y)
    assert copy.deepcopy(x).values is not x.values


def test_repr() -> None:
    assert repr(ragged([[1.0, 2.5], [], [3.0]])) == (
        "RaggedArray([\n  [1., 2.5],\n  [],\n  [3.],\n], shape=(3, None), dtype=float64)"
    )
    assert repr(ragged([[[1], []], []])) == (
        "RaggedArray([\n  [\n    [1],\n    [],\n  ],\n  [],\n], shape=(2, None, None), dtype=int64)"
    )
    assert repr(ragged([])) == "RaggedArray([], shape=(0, None), dtype=float64)"
    long = repr(ragged([list(range(100))] * 50))
    assert "[0, 1, 2, ..., 97, 98, 99]," in long and long.count("\n") == 8
    seen: list[str] = []
    jax.jit(lambda x: seen.append(repr(x)) or x)(ragged([[1.0]], xp="jax"))
    assert seen == ["RaggedArray(shape=(1, None), dtype=float32, capacity=8, backend=jax)"]


def test_repr_follows_print_options_and_keeps_neighbours_apart() -> None:
    x = ragged([[997000.0, 997001.0, 1 / 3], [], [1e-10]])
    assert repr(x).split("\n")[1:4] == ["  [997000., 997001., 0.33333333],", "  [],", "  [1.e-10],"]
    with np.printoptions(precision=3, suppress=True):
        assert repr(x).split("\n")[1:4] == ["  [997000., 997001., 0.333],", "  [],", "  [0.],"]
    with np.printoptions(formatter={"float": lambda v: f"<{v:g}>"}):
        assert "[<1>]" in repr(ragged([[1.0]]))
    y = ragged([[[1, 2, 3], [4], [5]]] * 3)
    assert "..." not in repr(y)
    with np.printoptions(threshold=9, edgeitems=1):
        assert repr(y) == (
            "RaggedArray([\n  [\n    [1, ..., 3],\n    ...\n    [5],\n  ],\n  ...\n  [\n    [1, ..., 3],\n    ...\n"
            "    [5],\n  ],\n], shape=(3, None, None), dtype=int64)"
        )
    with np.printoptions(linewidth=20):
        assert repr(ragged([list(range(10))])).split("\n")[1:3] == ["  [0, 1, 2, 3, 4, 5,", "   6, 7, 8, 9],"]
    assert "[1.6777216e+07]" in repr(ragged([[2.0**24]], dtype="float32"))
    deep = ragged([[np.ones((2, 1)), np.zeros((1, 2))], []], item_shape=(None, None, None))
    assert "    [[1.], [1.]],\n    [[0., 0.]],\n  ],\n  [],\n]" in repr(deep)
    strict = of_strict(1.5, 2.5)
    assert "  [1.5],\n  [2.5],\n]" in repr(strict)


def of_strict(*numbers: float) -> RaggedArray:
    splits = array_api_strict.asarray(range(len(numbers) + 1))
    return RaggedArray(array_api_strict.asarray(numbers), (ra.RowPartition(splits),))


BLOCK = ragged([np.ones((2, 1)), np.zeros((1, 2))], item_shape=(None, None))


@pytest.mark.parametrize("x", [ragged([[1.0, 2.0], []]), ragged([[[1.0], []], [[2.0]]])[:, None], BLOCK], ids=str)
def test_repr_of_stacks_and_of_shapes_says_what_they_are(x: Any) -> None:
    x = x.to("jax")
    about = f"shape={x.shape}, dtype=float32, capacity={x.capacity}"
    stack = jax.tree.map(lambda *leaves: jnp.stack(leaves), x, x, x)
    assert repr(stack) == f"RaggedArray(stack of (3,), each of {about}, backend=jax)"
    assert repr(jax.tree.map(lambda a: a[None], stack)) == f"RaggedArray(stack of (1, 3), each of {about}, backend=jax)"
    assert repr(jax.vmap(lambda n: x.map_values(lambda v: v + n))(jnp.arange(3.0))).startswith(
        "RaggedArray(stack of (3,)"
    )
    assert stack._repr_html_() == f"<code>{stack!r}</code>"
    shapes = jax.eval_shape(lambda x: x, x)
    assert repr(shapes) == f"RaggedArray({about}, shapes only)"
    assert shapes._repr_html_() == f"<code>{shapes!r}</code>"
    assert stack.nbytes == 3 * x.nbytes == 3 * shapes.nbytes


def test_bytes_and_readiness() -> None:
    x = ragged([[1.0, 2.0], [3.0]])
    assert x.nbytes == 3 * 8 + 3 * 4
    assert ra.with_capacity(x, 8).nbytes == 8 * 8 + 3 * 4
    assert BLOCK.nbytes == 4 * 8 + 4 * 4 and BLOCK[:, ::-1].nbytes == 4 * 8 + (4 + 4 + 2) * 4
    strict = of_strict(1.5, 2.5)
    assert strict.nbytes == 2 * 8 + 3 * 8
    for y in (x, x.to("jax"), BLOCK.to("jax"), jax.eval_shape(lambda x: x, x.to("jax"))):
        assert y.block_until_ready() is y
    seen: list[int] = []
    jax.jit(lambda x: seen.append(x.block_until_ready().nbytes) or x)(ragged([[1.0]], xp="jax"))
    assert seen == [8 * 4 + 2 * 4]


def test_html() -> None:
    text = ra.with_capacity(ragged([[1.0, 2.0], []]), 4)._repr_html_()
    assert text.count("<rect") == 2 and "2 of 4 slots used (50%)" in text
    assert "<code>RaggedArray(" in ragged([])._repr_html_()


def test_numpy_protocols() -> None:
    x = ragged([[1.0, 2.0], [], [4.0]])
    assert np.exp(x).shape == (3, None) and np.add(x, 1).tolist() == [[2, 3], [], [5]]
    assert (np.ones((3, 1)) * x).tolist() == x.tolist() and (np.float64(2) * x).tolist() == [[2, 4], [], [8]]
    np.testing.assert_array_equal(np.sum(x, 1), [3, 0, 4])
    np.testing.assert_allclose(np.std(x, axis=1, ddof=1), [np.sqrt(0.5), np.nan, np.nan])
    assert np.clip(x, 1.5, 3).tolist() == [[1.5, 2], [], [3]] and np.clip(x, 0, a_max=1).tolist() == [[1, 1], [], [1]]
    assert np.where(x > 1, x, 0).tolist() == [[0, 2], [], [4]]
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((3, None), 2, 3)
    assert x.__array_namespace__() is ra


@pytest.mark.parametrize("scalar", [2, 2.0, True, 1 + 2j])
def test_python_scalars_are_weak(scalar: Any) -> None:
    for dtype in ("float32", "int8", "complex64"):
        x = ragged([[1, 2], [3]], dtype=dtype)
        want = (x.values * scalar).dtype
        assert (x * scalar).dtype == want and (scalar * x).dtype == want
        got = x.to("jax") * scalar
        assert got.dtype == (x.to("jax").values * scalar).dtype


def test_libraries_meet_in_jax() -> None:
    x, row = ragged([[1.0, 2.0], [3.0]]), jnp.ones((2, 1))
    for y in (x + row, row + x, x + x.to("jax"), x.to("jax") + x, ra.where(x > 1, row, x)):
        assert isinstance(y.values, jax.Array) and isinstance(y.row_splits, jax.Array)
    traced = jax.jit(lambda b: x * b)(jnp.ones((2, 1)))
    assert traced.tolist() == [[1.0, 2.0], [3.0]]


def test_comparison_is_elementwise() -> None:
    x = ragged([[1, 2], [3]])
    assert (x == 2).tolist() == [[False, True], [False]]
    assert (x < 2).tolist() == [[True, False], [False]]
    assert ra.array_equal(x, ragged([[1, 2], [3]])) is True
    assert ra.array_equal(x, ragged([[1], [2, 3]])) is False
    assert ra.array_equal(ragged([[np.nan]]), ragged([[np.nan]])) is False
    assert ra.array_equal(ragged([[np.nan]]), ragged([[np.nan]]), equal_nan=True) is True


def test_broadcasting_of_levels() -> None:
    x = ragged([[[1.0, 2.0], [3.0]], [], [[4.0]]])
    means = ra.mean(x, axis=2, keepdims=True)
    assert (x - means).tolist() == [[[-0.5, 0.5], [0.0]], [], [[0.0]]]
    assert (means - x).tolist() == [[[0.5, -0.5], [0.0]], [], [[0.0]]]
    same = ragged([[[1.0, 2.0], [3.0, 4.0]], [[5.0]]])
    columns = ra.mean(same, axis=1, keepdims=True)
    assert columns.shape == (2, 1, None)
    assert (same - columns).tolist() == [[[-1.0, -1.0], [1.0, 1.0]], [[0.0]]]
    with pytest.raises(ValueError, match=r"^subtract: expected equal row lengths along axis 2, got 1 and 2 at row 1. "):
        x - ra.mean(x, axis=1, keepdims=True)
    lead = ragged([[1.0], [2.0, 3.0]]) * np.array([1.0, 10.0])[:, None, None]
    assert lead.shape == (2, 2, None) and lead.tolist() == [[[1.0], [2.0, 3.0]], [[10.0], [20.0, 30.0]]]
    padded = ra.testing.poison(ra.asarray(ragged([[1.0], [2.0, 3.0]]), xp="jax", capacity=7))
    assert (padded * jnp.array([1.0, 10.0])[:, None, None]).tolist() == lead.tolist()


def test_row_weights() -> None:
    x = ragged([np.ones((2, 3)), np.ones((0, 3)), 2 * np.ones((1, 3))])
    w, b = np.arange(18.0).reshape(3, 3, 2), np.arange(6.0).reshape(3, 2)
    want = [r @ w[i] + b[i] for i, r in enumerate(x.unbind())]
    for y in (x, ra.testing.poison(x.to("jax"))):
        got = ra.nn.linear(y, w, b)
        for g, v in zip(got.unbind(), want, strict=True):
            np.testing.assert_allclose(g, v, rtol=1e-6)
    grad = jax.grad(lambda w: ra.sum(ra.nn.linear(ra.testing.poison(x.to("jax")), w, jnp.asarray(b))))(jnp.asarray(w))
    assert np.isfinite(grad).all() and not np.any(grad[1])
