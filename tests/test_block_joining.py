"""Blocks under levels meet and are joined along every axis, as lists of arrays are; one form for one shape."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray
from raggedarray._partition import UniformPartition

from .block_model import KINDS, LEVELS, Case, case_of, filled, join, same, shapes_of, valid

A = np.arange(6.0).reshape(2, 3)
PAIR = np.stack([A, A + 1])
LIBRARIES = ["numpy", "jax"]


def level() -> RaggedArray:
    return ra.ragged(list(PAIR), item_shape=(None, None))[None]


def axes() -> RaggedArray:
    return ra.ragged([PAIR], item_shape=(2, None, None))


def view() -> RaggedArray:
    return ra.moveaxis(ra.ragged([np.moveaxis(PAIR, 1, 2)], item_shape=(2, None, None)), 2, 3)


MEETINGS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda x, y: x + y, lambda a, b: a + b),
    "equal": (lambda x, y: x == y, lambda a, b: a == b),
    "where": (lambda x, y: ra.where(x > 2, x, y + 1), lambda a, b: np.where(a > 2, a, b + 1)),
    "map_values": (lambda x, y: ra.map_values(lambda a, b: a - b, x, y), lambda a, b: a - b),
    "broadcast_arrays": (lambda x, y: ra.broadcast_arrays(x, y)[1], lambda a, b: b),
    "aligned": (lambda x, y: ra.aligned(x, like=y), lambda a, b: a),
    "concat 0": (lambda x, y: ra.concat([x, y]), lambda a, b: np.concatenate([a, b])),
    "concat 1": (lambda x, y: ra.concat([x, y], axis=1), lambda a, b: np.concatenate([a, b], 1)),
    "concat 2": (lambda x, y: ra.concat([x, y], axis=2), lambda a, b: np.concatenate([a, b], 2)),
    "concat 3": (lambda x, y: ra.concat([x, y], axis=3), lambda a, b: np.concatenate([a, b], 3)),
    "stack 0": (lambda x, y: ra.stack([x, y]), lambda a, b: np.stack([a, b])),
    "stack 1": (lambda x, y: ra.stack([x, y], axis=1), lambda a, b: np.stack([a, b], 1)),
    "stack 2": (lambda x, y: ra.stack([x, y], axis=2), lambda a, b: np.stack([a, b], 2)),
    "stack last": (lambda x, y: ra.stack([x, y], axis=-1), lambda a, b: np.stack([a, b], -1)),
    "matmul": (lambda x, y: x @ ra.matrix_transpose(y), lambda a, b: a @ np.moveaxis(b, -1, -2)),
    "mm": (lambda x, y: ra.mm(x, ra.matrix_transpose(y)), lambda a, b: a @ np.moveaxis(b, -1, -2)),
    "einsum": (lambda x, y: ra.einsum("nkij,nkil->nkjl", x, y), lambda a, b: np.einsum("nkij,nkil->nkjl", a, b)),
    "vecdot": (lambda x, y: ra.vecdot(x, y), lambda a, b: np.einsum("nkij,nkij->nki", a, b)),
    "map_components": (lambda x, y: ra.map_components(lambda a, b: a + b, x, y), lambda a, b: a + b),
}


PAIRS = {"level, axes": (level, axes), "axes, level": (axes, level), "level, view": (level, view)}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", MEETINGS)
def test_a_uniform_axis_above_meets_one_within(name: str, library: str) -> None:
    f, oracle = MEETINGS[name]
    for x, y in PAIRS.values() if library == "numpy" else [(axes, level)]:
        got = valid(f(x().to(library), y().to(library)))
        np.testing.assert_allclose(np.asarray(ra.to_padded(got)), oracle(PAIR[None], PAIR[None]), rtol=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_form_is_equal_to_the_other(library: str) -> None:
    x, y, z = (f().to(library) for f in (level, axes, view))
    assert ra.array_equal(x, y)
    assert ra.array_equal(y, x)
    assert ra.allclose(z, x)
    assert not ra.array_equal(x, y + 1)


def test_matrices_of_one_form_are_solved_for_the_other() -> None:
    a = np.stack([np.eye(2) + 1, np.eye(2) + 2])
    x = ra.ragged([a], item_shape=(2, None, None))
    np.testing.assert_allclose(ra.to_padded(ra.linalg.solve(x, level())), np.linalg.solve(a, PAIR)[None])


def test_they_meet_under_jit() -> None:
    f = jax.jit(lambda x, y: (x + y, ra.concat([y, x], axis=1), ra.array_equal(x, y)))
    added, joined, equal = f(level().to("jax"), view().to("jax"))
    same(added, [list(2 * PAIR)])
    same(joined, [[*PAIR, *PAIR]])
    assert equal


def test_aligned_compares_sizes_of_components() -> None:
    x, y = ra.ragged([A, A.T], item_shape=(None, None)), ra.ragged([A, A], item_shape=(None, None))
    with pytest.raises(ValueError) as error:
        ra.aligned(x, like=y)
    text = "aligned: expected equal sizes along axis 1, got 2 and 3 at component 1. Align the components first."
    assert str(error.value) == text
    view = ra.moveaxis(ra.ragged([A.T, A.T], item_shape=(None, None)), 1, 2)
    same(ra.aligned(view, like=y), [A, A])


ONES, TWOS = np.ones((2, 3, 2)), np.full((2, 3, 2), 2.0)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", [lambda x: x, ra.to_blocks], ids=["rows", "blocks"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_plain_array_is_joined_to_rows_as_to_blocks(axis: int, kind: Any, library: str) -> None:
    x = kind(ra.ragged(list(TWOS), item_shape=(None, 2))).to(library)
    for got, want in (
        (ra.concat([ONES, x], axis=axis), np.concatenate([ONES, TWOS], axis)),
        (ra.concat([x, ONES], axis=axis), np.concatenate([TWOS, ONES], axis)),
    ):
        assert got.shape[1] is None
        same(valid(got), list(want))


@pytest.mark.parametrize("kind", [lambda x: x, ra.to_blocks], ids=["rows", "blocks"])
def test_a_uniform_axis_before_the_joined_one_has_the_lengths_of_the_rows(kind: Any) -> None:
    x = kind(ra.ragged([np.ones((3, 2)), np.ones((1, 2))], item_shape=(None, 2)))
    with pytest.raises(ValueError, match=r"^concat: expected equal "):
        ra.concat([x, ONES], axis=2)


def random_cases(rng: np.random.Generator, kind: str, axis: int, *, empty: bool = True) -> list[Case]:
    """Two or three arrays that agree but for ``axis``, packed and strided."""
    inner = ((), (2,))[int(rng.integers(2))]
    shapes = shapes_of(rng, kind, empty)
    out: list[Case] = []
    for _ in range(int(rng.integers(2, 4))):
        mine = _other(rng, shapes, axis - LEVELS[kind], axis, int(not empty))
        out.append(case_of(filled(rng, mine, inner), kind, inner, strided=bool(rng.integers(2))))
    return out


def _other(rng: np.random.Generator, shapes: Any, r: int, axis: int, least: int) -> Any:
    """Shapes like these but along ``axis``, which of components is axis ``r``."""
    if isinstance(shapes, tuple):
        return tuple(int(rng.integers(least, 4)) if q == r else n for q, n in enumerate(shapes))
    if axis == 0:
        shapes = [shapes[int(i)] for i in rng.integers(len(shapes), size=len(shapes))] if shapes else []
    return [_other(rng, part, r, axis - 1, least) for part in shapes]


def run_joins(seed: int, count: int, library: str) -> None:
    """Joins of blocks; of every third the first operand is rows, and all are of the next."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        kind, how = KINDS[n % len(KINDS)], n // len(KINDS) % 3
        axis = int(rng.integers(LEVELS[kind] + 2))
        cases = random_cases(rng, kind, axis, empty=how != 1)  # rows of no entries say nothing of those below
        xs = [c.x.to(library) for c in cases]
        rows = [xs[:0], xs[:1], xs][how]
        got = valid(ra.concat([*map(ra.to_rows, rows), *xs[len(rows) :]], axis=axis))
        same(got, join([c.model for c in cases], LEVELS[kind], axis))


@pytest.mark.parametrize(("library", "count"), [("numpy", 200), ("jax", 6)])
def test_random_joins(library: str, count: int) -> None:
    run_joins(5, count, library)


@pytest.mark.nightly
@pytest.mark.parametrize(("library", "count"), [("numpy", 10000), ("jax", 300)])
def test_many_random_joins(library: str, count: int) -> None:
    run_joins(6, count, library)


@pytest.mark.parametrize("axis", range(4))
def test_joins_under_jit_read_no_slack(axis: int) -> None:
    rng = np.random.default_rng(8)
    cases = [case_of(filled(rng, s, ()), "rows", (), strided=False) for s in ([[(1, 2)], [(2, 2), (1, 1)], []],) * 2]
    xs = [ra.testing.poison(c.x.to("jax"), slack=2) for c in cases]
    same(jax.jit(lambda *xs: ra.concat(xs, axis=axis))(*xs), join([c.model for c in cases], 2, axis))


@pytest.mark.parametrize("library", LIBRARIES)
def test_components_of_other_sizes_are_stacked_as_rows_are(library: str) -> None:
    x, y = (ra.ragged(items, item_shape=(None, None)).to(library) for items in ([A, A.T], [A.T, A[:1]]))
    same(valid(ra.stack([x, y], axis=1)), [[A, A.T], [A.T, A[:1]]])
    three = ra.concat([ra.stack([x, x], axis=1), ra.expand_dims(y, axis=1)], axis=1)
    assert three.shape == (2, 3, None, None)
    same(valid(three), [[A, A, A.T], [A.T, A.T, A[:1]]])
    with pytest.raises(ValueError, match=r"^stack: expected equal sizes along component axis 0, got 2 and 3 at "):
        ra.stack([x, y], axis=2)


def test_shapes_that_do_not_agree_are_named() -> None:
    x, y = level(), ra.concat([level(), level()], axis=1)
    with pytest.raises(ValueError) as error:
        ra.concat([x, y], axis=0)
    want = "concat: expected shapes that agree with (1, 2, None, None) but for axis 0, "
    assert str(error.value) == want + "got (1, 4, None, None) as operand 1. Align them first."


def test_fewer_entries_above_a_uniform_level_are_not_taken_for_empty_ones() -> None:
    blocks = ra.ragged([A, A[:1]], item_shape=(None, None))
    few = ra.split_dims(ra.split_dims(blocks, 0, np.array([0, 1, 1, 2])), 0, np.array([0, 3]))
    many = ra.split_dims(ra.split_dims(blocks, 0, np.array([0, 1, 1, 2, 2, 2, 2])), 0, np.array([0, 3, 6]))
    few, many = (RaggedArray(x.values, (UniformPartition(n, 3), *x.partitions[1:])) for x, n in ((few, 1), (many, 2)))
    assert (few.shape, many.shape) == ((1, 3, None, None, None), (2, 3, None, None, None))
    with pytest.raises(ValueError, match=r"^add: expected shapes that broadcast .* Their outer axes must agree\.$"):
        _ = many + few
    with pytest.raises(ValueError, match=r"^einsum: expected operands with one structure along axis 1, got another"):
        ra.einsum("abcij,abcij->abcij", many, few)
