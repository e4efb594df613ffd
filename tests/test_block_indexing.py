"""Keys of blocks under levels: every index on every axis, where it exists and where it does not."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from .block_model import KINDS, Case, case_of, counted, filled, leaves, look, replaced, same, shapes_of, valid


def matrices() -> RaggedArray:
    return ra.ragged([np.arange(6.0).reshape(2, 3), np.ones((4, 1))])


def images() -> RaggedArray:
    return ra.ragged([np.arange(24.0).reshape(2, 3, 4), np.ones((4, 1, 4))], item_shape=(None, None, 4))


def leveled() -> RaggedArray:
    return matrices()[None]


ALL, BACK = slice(None), slice(None, None, -1)
ITEM = "Use `ra.row_item(x, i, fill_value=)`."
ROW, SIZE, SHAPE = "Check `len(x)`.", "Check `x.nested_size()`.", "Check `x.shape`."
EVERY = "expected an index in every component along axis"
MISSING: dict[str, tuple[Any, Any, str]] = {
    "row": (matrices, 9, f"expected a row from -2 to 1, got 9. {ROW}"),
    "rows": (matrices, [9], f"expected rows from -2 to 1, got 9 at position 0. {ROW}"),
    "int of one": (matrices, (0, 7), f"expected an index from -2 to 1 on axis 1, got 7. {SIZE}"),
    "negative int of one": (matrices, (0, -3), f"expected an index from -2 to 1 on axis 1, got -3. {SIZE}"),
    "array of one": (matrices, (0, [7]), f"expected indices from -2 to 1, got 7 at position 0. {SIZE}"),
    "second int of one": (matrices, (0, 1, 9), f"expected an index from -3 to 2 on axis 2, got 9. {SIZE}"),
    "last int of one": (matrices, (0, ..., 9), f"expected an index from -3 to 2 on axis 2, got 9. {SIZE}"),
    "last array of one": (matrices, (0, ..., [1, 9]), f"expected indices from -3 to 2, got 9 at position 1. {SIZE}"),
    "int of each": (matrices, (ALL, 3), f"{EVERY} 1, got 3 in component 0 of size 2. Use a slice."),
    "array of each": (matrices, (ALL, [0, -5]), f"{EVERY} 1, got -5 in component 0 of size 2. Use a slice."),
    "last int of each": (matrices, (..., 1), f"{EVERY} 2, got 1 in component 1 of size 1. Use a slice."),
    "second int of each": (matrices, (ALL, 0, 1), f"{EVERY} 2, got 1 in component 1 of size 1. Use a slice."),
    "inner int": (images, (..., 9), f"expected an index from -4 to 3 on axis 3, got 9. {SHAPE}"),
    "inner array": (images, (..., [0, 9]), f"expected indices from -4 to 3, got 9 at position 1. {SHAPE}"),
    "inner int of one": (images, (1, 0, 0, -5), f"expected an index from -4 to 3 on axis 3, got -5. {SIZE}"),
    "level int": (leveled, (ALL, 2), f"expected an index from -2 to 1 on axis 1, got 2. {SHAPE}"),
    "level int of one": (leveled, (0, 2), f"expected an index from -2 to 1 on axis 1, got 2. {SIZE}"),
    "level array": (leveled, (ALL, [2]), f"expected indices from -2 to 1, got 2 at position 0. {SHAPE}"),
    "below a level": (leveled, (0, ALL, 2), f"{EVERY} 2, got 2 in component 0 of size 2. Use a slice."),
    "of one below a level": (leveled, (0, 1, 0, 1), f"expected an index from -1 to 0 on axis 3, got 1. {SIZE}"),
    "rows of each": (
        lambda: ra.ragged([[np.ones((1, 2))], []]),
        (ALL, 0),
        f"expected index 0 in every row along axis 1, got length 0 at row 1. {ITEM}",
    ),
}


@pytest.mark.parametrize("library", ["numpy", "jax"])
@pytest.mark.parametrize("name", MISSING)
def test_an_index_that_is_not_there_raises(name: str, library: str) -> None:
    make, key, text = MISSING[name]
    x = make().to(library)
    with pytest.raises(IndexError) as error:
        x[key]
    assert str(error.value) == f"getitem: {text}"


TAKEN = {
    0: f"expected rows from -2 to 1, got 9 at position 1. {ROW}",
    1: f"{EVERY} 1, got 9 in component 0 of size 2. Use a slice.",
    2: f"{EVERY} 2, got 9 in component 0 of size 3. Use a slice.",
    3: f"expected indices from -4 to 3, got 9 at position 1. {SHAPE}",
}


@pytest.mark.parametrize("library", ["numpy", "jax"])
@pytest.mark.parametrize("axis", TAKEN)
def test_take_names_itself(axis: int, library: str) -> None:
    with pytest.raises(IndexError) as error:
        ra.take(images().to(library), np.array([0, 9]), axis=axis)
    assert str(error.value) == f"take: {TAKEN[axis]}"


OTHERS: dict[str, tuple[Any, str]] = {
    "take_along_axis": (
        lambda x: ra.take_along_axis(x, ra.ragged([[[0], [3]], [[0]] * 4]), axis=2),
        "take_along_axis: expected index 3 in every row along axis 2, got length 3 at row 0. Check `x.row_lengths()`.",
    ),
    "gather": (
        lambda x: ra.gather(x, ra.ragged([[2], [0]]), batch_dims=1),
        "gather: expected index 2 in every row along axis 1, got length 2 at row 0. Check `x.row_lengths()`.",
    ),
    "at get": (
        lambda x: x.at[:, 2].get(),
        "at: expected index 2 in every row along axis 1, got length 2 at row 0. Check `x.row_lengths()`.",
    ),
    "at set": (
        lambda x: x.at[:, 0, 1].set(0.0),
        "at: expected index 1 in every row along axis 2, got length 1 at row 2. Check `x.row_lengths()`.",
    ),
}


@pytest.mark.parametrize("library", ["numpy", "jax"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_ops_raise_too(name: str, library: str) -> None:
    f, text = OTHERS[name]
    with pytest.raises(IndexError) as error:
        f(matrices().to(library))
    assert str(error.value) == text


def traced(f: Any, x: RaggedArray, *index: Any) -> Any:
    return jax.jit(f)(x.to("jax"), *(jnp.asarray(i) for i in index))


@pytest.mark.parametrize(("dtype", "fill"), [("float32", np.nan), ("int16", -(2**15)), ("uint8", 255)])
def test_traced_indices_that_are_not_there_give_the_fill_value(dtype: str, fill: Any) -> None:
    x = ra.astype(ra.ragged([np.arange(24.0).reshape(2, 3, 4), np.ones((4, 1, 4))], item_shape=(None, None, 4)), dtype)

    def read(x: RaggedArray, i: Any, several: Any) -> Any:
        return x[..., i], x[..., several], x[:, :, i], x[:, several], x[:, i, 0]

    inner, inners, column, rows, cell = traced(read, x, 3, [0, 9])
    filled_with = np.full((), fill, dtype)
    a, b = (np.asarray(c) for c in x.unbind())
    same(inner, [a[..., 3], b[..., 3]])
    for found, c in zip(inners.to("numpy").unbind(), (a, b), strict=True):
        np.testing.assert_array_equal(found[..., 0], c[..., 0])
        np.testing.assert_array_equal(found[..., 1], np.broadcast_to(filled_with, c.shape[:2]))
    same(column, [np.full((2, 4), filled_with), np.full((4, 4), filled_with)])
    same(rows, [np.stack([a[0], np.full((3, 4), filled_with)]), np.stack([b[0], np.full((1, 4), filled_with)])])
    same(cell, [np.stack([np.full((4,), filled_with), b[3, 0]])][0])


def test_a_traced_index_into_one_component_of_known_size_fills() -> None:
    x = matrices().to("jax")
    out = jax.jit(lambda i: (x[0, i], x[0, :, i], x[1, i, 0]))(jnp.asarray(2))
    np.testing.assert_array_equal(out[0], np.full(3, np.nan))
    np.testing.assert_array_equal(out[1], [2.0, 5.0])
    np.testing.assert_array_equal(out[2], 1.0)


def test_checked_code_raises_for_traced_indices() -> None:
    x = images().to("jax")
    inner = ra.checked(lambda x, i: x[..., i])
    np.testing.assert_array_equal(inner(x, jnp.asarray(1)).values, x.values[:, 1])
    with pytest.raises(
        Exception, match=r"getitem: expected indices from -4 to 3 on axis 3, got 9 to 9. Check `x.shape`."
    ):
        inner(x, jnp.asarray(9))
    row = ra.checked(lambda x, i: x[:, i])
    with pytest.raises(Exception, match=rf"getitem: {EVERY} 1, got 2 in component 0 of size 2. Use a slice."):
        row(x, jnp.asarray(2))


KEYS: list[tuple[Any, ...]] = [
    (BACK,), ([0],), (ALL, 0), (ALL, BACK), (ALL, [1, 0, 1]), (ALL, ALL, 0), (ALL, 1, BACK), (ALL, None, BACK),
]  # fmt: skip


@pytest.mark.parametrize("library", ["numpy", "jax"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_block_under_a_uniform_level_is_indexed(key: Any, library: str) -> None:
    items = [[np.arange(6.0).reshape(2, 3), np.ones((4, 1))]]
    x = ra.ragged(items[0]).to(library)[None]
    parts = [np.asarray(p) if isinstance(p, list) else p for p in key]
    same(valid(x[key]), look(items, 2, parts))


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_moves_of_a_block_under_a_uniform_level(library: str) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.ones((4, 1))
    x = ra.ragged([a, b]).to(library)[None]
    same(valid(ra.flip(x, axis=(0, 1))), [[b, a]])
    same(valid(ra.flip(x)), [[b[::-1, ::-1], a[::-1, ::-1]]])
    same(valid(ra.take(x, np.array([0, 0]))), [[a, b], [a, b]])
    same(valid(ra.take(x, np.array([1]), axis=1)), [[b]])


def test_take_of_components_under_levels_takes_a_capacity() -> None:
    x = matrices().to("jax")[None]
    a, b = (np.asarray(c) for c in matrices().unbind())
    out = jax.jit(lambda x, i: ra.take(x, i, axis=1, capacity=16))(x, jnp.asarray([1, 0, 7]))
    assert (out.shape, out.partitions[-1].bound) == ((1, 3, None, None), 16)
    same(valid(out), [[b, a, np.zeros((0, 0))]])
    with pytest.raises(ra.DynamicShapeError) as error:
        jax.jit(lambda x, i: x[i])(x, jnp.asarray([0, 0]))
    text = "getitem: expected a static capacity, got traced components. Call `ra.take(x, indices, capacity=)`."
    assert str(error.value) == text


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_setting_one_entry_of_each_row_of_a_row(library: str) -> None:
    x = ra.ragged([[[1.0, 2.0], [3.0, 4.0]], [[5.0], [6.0]]])
    for y in (ra.stack([ra.ragged([[1.0, 2.0], [5.0]]), ra.ragged([[3.0, 4.0], [6.0]])], axis=1), ra.to_blocks(x)):
        z = y.to(library)
        assert z.at[0, :, -1].set(np.array([8.0, 9.0])).tolist() == [[[1, 8], [3, 9]], [[5], [6]]]
        assert z.at[1, 0, :].set(7.0).tolist() == [[[1, 2], [3, 4]], [[7], [6]]]
    uniform = ra.stack([ra.ragged([[1.0, 2.0], [5.0]]), ra.ragged([[3.0, 4.0], [6.0]])], axis=1).to(library)
    assert uniform.at[0, :, -1].set(np.array([[8.0, 9.0]])).tolist() == [[[1, 8], [3, 9]], [[5], [6]]]
    with pytest.raises(ValueError) as error:
        uniform.at[0, :, -1].set(np.ones(3))
    assert str(error.value) == "at: expected values that fit into (2,), got shape (3,). Align them first."


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_setting_components_without_elements(library: str) -> None:
    x = ra.ragged([np.ones((2, 3, 0)), np.ones((1, 2, 0))], item_shape=(None, None, 0)).to(library)
    for y in (x.at[0].set(1.0), x.at[:, 0].add(1.0)):
        same(y, [np.ones((2, 3, 0)), np.ones((1, 2, 0))])


def random_case(rng: np.random.Generator) -> Case:
    kind = str(rng.choice(KINDS))
    inner = ((), (2,))[int(rng.integers(2))]
    model = counted(filled(rng, shapes_of(rng, kind), inner))
    return case_of(model, kind, inner, strided=bool(rng.integers(2)))


def random_slice(rng: np.random.Generator) -> slice:
    ends = [None if rng.integers(2) else int(rng.integers(-4, 5)) for _ in range(2)]
    return slice(*ends, int(rng.choice([-2, -1, 1, 1, 2])))


def random_key(rng: np.random.Generator, ndim: int) -> list[Any]:
    """One item for some of the first axes, new axes between, at most one index array."""
    items: list[Any] = []
    arrays = 0
    for _ in range(int(rng.integers(1, ndim + 1))):
        how = rng.integers(6)
        if how == 5 and not items:
            items.append(None)
        elif how == 4 and not arrays:
            arrays += 1
            items.append(rng.integers(-2, 2, size=[(2,), (1, 3), (0,)][int(rng.integers(3))]))
        elif how >= 3:
            items.append(int(rng.integers(-2, 2)))
        else:
            items.append(ALL if how == 0 else random_slice(rng))
    return items


def run_keys(seed: int, count: int, library: str) -> None:
    """Read by so many keys that find something; those between that find nothing must raise."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        case = random_case(rng)
        items = random_key(rng, case.x.ndim)
        try:
            want = look(case.model, case.levels, items)
        except IndexError:
            with pytest.raises(IndexError, match=r"^getitem: expected "):
                case.x.to(library)[tuple(items)]
            continue
        if not leaves(want):  # an index may be missing where there is nothing to take it from
            continue
        same(valid(case.x.to(library)[tuple(items)]), want)
        found += 1


def run_updates(seed: int, count: int, library: str) -> None:
    """Write by so many keys that find something."""
    rng = np.random.default_rng(seed)
    written = 0
    while written < count:
        case = random_case(rng)
        items = [i for i in random_key(rng, case.x.ndim) if i is not None]
        try:
            found = leaves(look(case.model, case.levels, items))
        except IndexError:
            continue
        if found:
            chosen = np.concatenate([np.ravel(c) for c in found])
            got = valid(case.x.to(library).at[tuple(items)].set(-5.0))
            same(got, replaced(case.model, chosen, -5.0))
            written += 1


@pytest.mark.parametrize(("library", "count"), [("numpy", 80), ("jax", 2)])
def test_random_updates(library: str, count: int) -> None:
    run_updates(5, count, library)


@pytest.mark.nightly
def test_many_random_updates() -> None:
    run_updates(6, 2000, "numpy")


@pytest.mark.parametrize(("library", "count"), [("numpy", 200), ("jax", 3)])
def test_random_keys(library: str, count: int) -> None:
    run_keys(3, count, library)


@pytest.mark.nightly
@pytest.mark.parametrize(("library", "count"), [("numpy", 8000), ("jax", 150)])
def test_many_random_keys(library: str, count: int) -> None:
    run_keys(4, count, library)
