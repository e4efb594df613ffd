"""Joining, reshaping, rearranging: against nested Python lists, with poisoned slack; views, sizes, gradients."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import DynamicShapeError, RaggedArray, ragged

from .harness.day import nightly
from .harness.ways import Way
from .nested import DOUBLE, EDGE, FLAT, INNER, LEADING, MIXED, TRIPLE, Layout, assert_nested, make, nest, values_for

LAYOUTS = [*FLAT[:3], INNER[0], *DOUBLE[:3], MIXED[0], LEADING[0], TRIPLE[0], *EDGE]
SHORT = [FLAT[0], INNER[0], DOUBLE[0], MIXED[0], LEADING[0], EDGE[0]]


def layouts(way: Way, every: list[Layout] = LAYOUTS) -> list[Layout]:
    """Those to try: all on NumPy, and few where every structure compiles anew."""
    if way.jax:
        return [INNER[0], DOUBLE[0], *([MIXED[0]] if nightly() else [])] if way.name == "jax-jit" else [DOUBLE[0]]
    return every if way.name == "numpy" else SHORT


def array(layout: Layout, seed: int = 0, dtype: str = "int32") -> RaggedArray:
    return make(layout, values_for(layout, dtype, 1, 99, seed))


def listed(layout: Layout, seed: int = 0, dtype: str = "int32") -> list[Any]:
    return plain(nest(layout, values_for(layout, dtype, 1, 99, seed)))


def plain(x: Any) -> Any:
    return [plain(y) for y in x] if isinstance(x, list) else np.asarray(x).tolist()


def along(axis: int, f: Callable[[list[Any]], list[Any]], x: list[Any]) -> list[Any]:
    """``f`` of every list at depth ``axis``."""
    return f(x) if axis == 0 else [along(axis - 1, f, y) for y in x]


def joined(axis: int, xs: list[list[Any]]) -> list[Any]:
    if axis == 0:
        return [y for x in xs for y in x]
    return [joined(axis - 1, list(ys)) for ys in zip(*xs, strict=True)]


def turned(x: list[Any], shift: int) -> list[Any]:
    return [x[(i - shift) % len(x)] for i in range(len(x))]


def windows(x: list[Any], size: int, step: int) -> list[Any]:
    return [x[i : i + size] for i in range(0, len(x) - size + 1, step)]


MOVES: dict[str, tuple[Callable[..., Any], Callable[[list[Any]], list[Any]]]] = {
    "flip": (lambda x, axis: ra.flip(x, axis=axis), lambda v: v[::-1]),
    "roll": (lambda x, axis: ra.roll(x, 2, axis=axis), lambda v: turned(v, 2)),
    "roll back": (lambda x, axis: ra.roll(x, -1, axis=axis), lambda v: turned(v, -1)),
    "repeat": (lambda x, axis: ra.repeat(x, 2, axis=axis), lambda v: [y for y in v for _ in range(2)]),
    "repeat 0": (lambda x, axis: ra.repeat(x, 0, axis=axis), lambda v: []),
    "tile": (lambda x, axis: ra.tile(x, (1,) * axis + (3,) + (1,) * (x.ndim - axis - 1)), lambda v: v * 3),
    "truncate": (lambda x, axis: ra.truncate(x, 2, axis=axis), lambda v: v[:2]),
    "window": (lambda x, axis: ra.sliding_window(x, 2, axis=axis), lambda v: windows(v, 2, 1)),
    "long steps": (lambda x, axis: ra.sliding_window(x, 1, step=3, axis=axis), lambda v: windows(v, 1, 3)),
    "window 3": (lambda x, axis: ra.sliding_window(x, 3, step=2, axis=axis), lambda v: windows(v, 3, 2)),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_along_every_axis(name: str, way: Way) -> None:
    op, f = MOVES[name]
    for layout in layouts(way):
        every = lambda x, n=layout.ndim: [op(x, axis) for axis in range(n)]  # noqa: E731
        for axis, got in enumerate(way.run((name, layout.ndim), every, way.arrays(array(layout)))):
            ra.validate(got) if not way.jax else None
            assert_nested(got, along(axis, f, listed(layout)))


@pytest.mark.parametrize("layout", [FLAT[0], DOUBLE[0], LEADING[0]])
def test_moves_along_several_axes(layout: Layout, way: Way) -> None:
    x, items = way.arrays(array(layout)), listed(layout)
    flipped = items
    for axis in range(layout.ndim):
        flipped = along(axis, lambda v: v[::-1], flipped)
    assert_nested(way.run("flip all", lambda x: ra.flip(x), x), flipped)
    turns = along(0, lambda v: turned(v, 1), along(layout.ndim - 1, lambda v: turned(v, -2), items))
    assert_nested(way.run("roll two", lambda x: ra.roll(x, (1, -2), axis=(0, -1)), x), turns)
    tiled = items * 2
    for axis in range(1, layout.ndim):
        tiled = along(axis, lambda v: v * 2, tiled)
    assert_nested(way.run("tile all", lambda x: ra.tile(x, (2,) * x.ndim), x), tiled)


def test_roll_all(way: Way) -> None:
    x = way.arrays(ragged([[1, 2], [], [3, 4, 5]]))
    assert_nested(way.run("roll all", lambda x: ra.roll(x, 2), x), [[4, 5], [], [1, 2, 3]])
    inner = way.arrays(ragged([np.array([[1, 2]]), np.array([[3, 4]])]))
    assert_nested(way.run("roll all by 1", lambda x: ra.roll(x, 1), inner), [[[4, 1]], [[2, 3]]])


def test_roll_by_a_traced_shift() -> None:
    x = ragged([[1, 2, 3], [4]]).to("jax")
    f = jax.jit(lambda x, n: ra.roll(x, n, axis=1))
    assert [f(x, n).tolist() for n in (0, 1)] == [[[1, 2, 3], [4]], [[3, 1, 2], [4]]]


@pytest.mark.parametrize("layout", [*FLAT[:2], INNER[0], DOUBLE[0], TRIPLE[0], EDGE[0]])
def test_pad(layout: Layout, way: Way) -> None:
    for axis in range(layout.ndim):
        got = way.run(("pad", axis), lambda x, a=axis: ra.pad(x, 1, 2, fill_value=7, axis=a), way.arrays(array(layout)))
        rank = len(layout.levels)
        fill: Any = 7 if axis >= rank else []
        for n in reversed(layout.inner[max(axis - rank, 0) :] if axis >= rank else ()):
            fill = [fill] * n
        assert_nested(got, along(axis, lambda v, fill=fill: [fill] + v + [fill] * 2, listed(layout)))


def test_pad_with_an_item(way: Way) -> None:
    x = way.arrays(ragged([np.ones((1, 2)), np.ones((0, 2))]))
    got = way.run("pad item", lambda x, fill: ra.pad(x, 0, 1, fill_value=fill), x, way.dense(np.array([5.0, 6.0])))
    assert_nested(got, [[[1, 1], [5, 6]], [[5, 6]]])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_concat(layout: Layout, way: Way) -> None:
    x, other = array(layout), array(layout, seed=1)
    for axis in range(layout.ndim):
        got = way.run(("concat", axis), lambda x, y, a=axis: ra.concat([x, y, x], axis=a), *map(way.arrays, (x, other)))
        assert_nested(got, joined(axis, [listed(layout), listed(layout, 1), listed(layout)]))
        assert [n is None for n in got.shape] == [n is None for n in x.shape]


PAIRS = [
    (FLAT[0], FLAT[2], (0, 1)),
    (INNER[0], INNER[2], (0, 1)),
    (Layout(3, ([2, 0, 1], [2, 0, 3])), Layout(3, ([0, 2, 2], [1, 1, 0, 4])), (0, 1)),
    (Layout(3, ([2, 0, 1], [2, 0, 3])), Layout(3, ([2, 0, 1], [0, 4, 1])), (0, 1, 2)),
    (MIXED[0], MIXED[1], (0, 1)),
    (Layout(2, (2, [2, 0, 1, 0])), Layout(2, (3, [1, 1, 0, 2, 0, 3])), (1,)),
    (Layout(2, (2, [2, 0, 1, 0])), Layout(4, (2, [1, 1, 0, 2, 0, 3, 1, 0])), (0,)),
    (Layout(2, ([1, 2], [3, 0, 1])), Layout(2, ([0, 3], 2)), (0, 1)),
    (Layout(2, ([1, 2], [3, 0, 1])), Layout(2, ([0, 3],), (2,)), (0, 1)),
    (Layout(2, (2, [1, 2, 0, 1])), Layout(2, ([0, 3], [1, 2, 1])), (0, 1)),
]


@pytest.mark.parametrize(("first", "second", "axes"), PAIRS)
def test_concat_of_different_lengths(first: Layout, second: Layout, axes: tuple[int, ...], way: Way) -> None:
    if isinstance(second.levels[-1], int):
        second = Layout(second.nrows, second.levels[:-1], (second.levels[-1],))
    for a, b in ((first, second), (second, first)):
        for axis in axes:
            xs = way.arrays(array(a)), way.arrays(array(b, 1))
            got = way.run(("two", axis), lambda x, y, a=axis: ra.concat([x, y], axis=a), *xs)
            assert_nested(got, joined(axis, [listed(a), listed(b, 1)]))
            assert got.capacity <= sum(x.capacity * (2 if x.ndim != x.ragged_rank + 1 else 1) for x in xs) or way.jax


def test_concat_with_plain_arrays(way: Way) -> None:
    x, b = ragged([[1, 2], [], [3]]), np.array([[7, 8], [9, 10], [11, 12]], dtype=np.int32)
    for axis in (0, 1):
        for flip in (False, True):
            pair = (way.arrays(x), way.arrays(b))
            f = lambda x, b, a=axis, flip=flip: ra.concat([b, x] if flip else [x, b], axis=a)  # noqa: E731
            items = [b.tolist(), x.tolist()] if flip else [x.tolist(), b.tolist()]
            assert_nested(way.run(("dense", axis, flip), f, *pair), joined(axis, items))
    assert ra.concat([ragged([np.ones((2, 1))]), np.zeros((1, 2, 1))], axis=2).tolist() == [[[1, 0], [1, 0]]]
    with pytest.raises(ValueError, match=r"^concat: expected equal row lengths along axis 1, got 3 and 2 at row 0. "):
        ra.concat([ragged([np.ones((3, 1))]), np.ones((1, 2, 1))], axis=2)


def test_concat_rows_of_slack_do_not_leak() -> None:
    """A uniform level has entries below slack rows; joined to a ragged one they must not count."""
    inner = Layout(2, ([1, 1], 2, [1, 0, 2, 0]))
    deep = Layout(2, ([1, 1], [1, 2], [3, 0, 1]))
    way = Way("numpy", 3)
    got = ra.validate(ra.concat([way.arrays(array(inner)), way.arrays(array(deep, 1))], axis=2))
    assert_nested(got, joined(2, [listed(inner), listed(deep, 1)]))


def test_concat_promotes_and_keeps_one() -> None:
    x, y = ragged([[1, 2]]), ragged([[0.5]])
    assert ra.concat([x, y]).dtype == np.float64
    assert ra.concat([x]).tolist() == [[1, 2]]
    assert ra.concat([np.ones(2), np.zeros(1)]).tolist() == [1, 1, 0]
    assert ra.concat([x, x], axis=None).tolist() == [1, 2, 1, 2]
    assert isinstance(ra.concat([x, y.to("jax")]).values, jax.Array)


def test_concat_keeps_uniform_axes() -> None:
    x = ra.from_nested_row_splits(np.arange(3), [np.array([0, 2, 4]), np.array([0, 1, 1, 2, 3])])
    pairs = RaggedArray(x.values, (ra.UniformPartition(2, 2), x.partitions[1]))
    assert ra.concat([pairs, pairs]).shape == (4, 2, None)
    assert ra.concat([pairs, pairs], axis=1).shape == (2, 4, None)
    assert ra.tile(pairs, (2, 3, 1)).shape == (4, 6, None)
    assert ra.repeat(pairs, 2, axis=1).shape == (2, 4, None)
    assert ra.flip(pairs, axis=1).shape == (2, 2, None)


@pytest.mark.parametrize("layout", [FLAT[0], INNER[0], DOUBLE[0], LEADING[0], EDGE[0]])
def test_stack_and_unstack(layout: Layout, way: Way) -> None:
    for axis in range(layout.ndim + 1):
        xs = way.arrays(array(layout)), way.arrays(array(layout, 1))
        got = way.run(("stack", axis), lambda x, y, a=axis: ra.stack([x, y], axis=a), *xs)
        want = joined(axis, [along(axis, lambda v: [v], wrap) for wrap in (listed(layout), listed(layout, 1))])
        if axis == layout.ndim:
            want = [listed(layout), listed(layout, 1)]
            want = paired(*want)
        assert got.shape[axis] == 2
        assert_nested(got, want)
        parts = way.run(("unstack", axis), lambda x, a=axis: ra.unstack(x, axis=a), got)
        for part, seed in zip(parts, (0, 1), strict=True):
            assert_nested(part, listed(layout, seed))


def paired(a: Any, b: Any) -> Any:
    return [paired(x, y) for x, y in zip(a, b, strict=True)] if isinstance(a, list) else [a, b]


def test_unstack_rows() -> None:
    assert [r.tolist() for r in ra.unstack(ragged([[1, 2], [3]]))] == [[1, 2], [3]]
    with pytest.raises(ValueError, match=re.escape("unstack: expected a uniform axis, got ragged axis 1.")):
        ra.unstack(ragged([[1, 2], [3]]), axis=1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_expand_and_squeeze(layout: Layout, way: Way) -> None:
    x = way.arrays(array(layout))
    for axis in range(layout.ndim + 1):
        got = way.run(("expand", axis), lambda x, a=axis: ra.expand_dims(x, axis=a), x)
        want = listed(layout)
        want = [want] if axis == 0 else along(axis - 1, lambda v: [[y] for y in v], want)
        assert_nested(got, want)
        assert got.shape == (*x.shape[:axis], 1, *x.shape[axis:])
        back = way.run(("squeeze", axis), lambda x, a=axis: ra.squeeze(x, axis=a), got)
        assert back.shape == x.shape
        assert_nested(back, listed(layout))
    both = ra.expand_dims(x, axis=(0, -1))
    assert both.shape == (1, *x.shape, 1)
    assert ra.squeeze(both, axis=(0, -1)).shape == x.shape


def merged(x: list[Any], outer: int, inner: int) -> list[Any]:
    for _ in range(inner - outer):
        x = along(outer, lambda v: [z for y in v for z in y], x)
    return x


@pytest.mark.parametrize("layout", LAYOUTS)
def test_merge(layout: Layout, way: Way) -> None:
    x = way.arrays(array(layout))
    for a in range(layout.ndim):
        for b in range(a, layout.ndim):
            want = merged(listed(layout), a, b)
            uniform = all(n is not None for n in x.shape[1 : b + 1])
            if way.name == "jax-jit" and a == 0 and not uniform and b:
                with pytest.raises(DynamicShapeError, match=re.escape("Pass `size=`.")):
                    way.run(("merge", a, b), lambda x, a=a, b=b: ra.merge_dims(x, a, b), x)
                for size in (90, 3):
                    f = lambda x, a=a, b=b, n=size: ra.merge_dims(x, a, b, size=n)  # noqa: E731
                    if len(want) <= size:
                        got = way.run(("sized", a, b, size), f, x)
                        assert_nested(Listed(got.tolist()[: len(want)]), want)
                        assert len(got) == size
                        assert not any(np.any(y) for y in got.tolist()[len(want) :])
                continue
            got = way.run(("merge", a, b), lambda x, a=a, b=b: ra.merge_dims(x, a, b), x)
            assert_nested(got, want)


class Listed:
    def __init__(self, items: Any) -> None:
        self.items = items

    def tolist(self) -> Any:
        return self.items


def test_merge_that_does_not_fit() -> None:
    x = ragged([[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match=re.escape("merge_dims: expected size of at least 3, got 2.")):
        ra.merge_dims(x, 0, 1, size=2)
    assert ra.merge_dims(x, 0, 1, size=4).tolist() == [1, 2, 3, 0]
    assert np.isnan(jax.jit(lambda x: ra.flatten(x, size=2))(x.to("jax"))).all()
    nested = ragged([[[1.0], [2.0, 3.0]], [[4.0]]])
    assert ra.merge_dims(nested, 0, 1, size=5).tolist() == [[1], [2, 3], [4], [], []]
    got = jax.jit(lambda x: ra.merge_dims(x, 0, 1, size=2))(nested.to("jax"))
    assert np.isnan(got.values).all()


def test_checked_raises_what_plain_jit_cannot() -> None:
    x = ragged([[1, 2], [3]]).to("jax")
    with pytest.raises(ValueError, match=re.escape("flatten: expected size of at least 3, got 2.")):
        ra.checked(lambda x: ra.flatten(x, size=2))(x)
    y = ragged([[1], [2, 3]]).to("jax")
    with pytest.raises(ValueError, match="stack: expected equal row lengths along axis 1, got 2 and 1 at row 0"):
        ra.checked(lambda x, y: ra.stack([x, y], axis=2))(x, y)


def test_flatten(way: Way) -> None:
    x = way.arrays(ragged([[1, 2], [], [3]]))
    got = way.run("flatten", lambda x: ra.flatten(x, size=3), x)
    assert_nested(got, [1, 2, 3])
    assert ra.flatten(np.ones((2, 3))).shape == (6,)


def test_split(way: Way) -> None:
    splits = np.array([0, 2, 2, 3], dtype=np.int32)
    x = ragged([[1, 2], [], [3]])
    f = lambda x, s: ra.split_dims(x, 0, s)  # noqa: E731
    assert_nested(way.run("split", f, way.arrays(x), way.dense(splits)), [[[1, 2], []], [], [[3]]])
    inner = ragged([np.array([[1, 2, 3]]), np.array([[4, 5, 6], [7, 8, 9]])])
    g = lambda x, s: ra.split_dims(x, 2, s)  # noqa: E731
    got = way.run("split inner", g, way.arrays(inner), way.dense(splits))
    assert got.shape == (2, None, 3, None)
    assert_nested(got, [[[[1, 2], [], [3]]], [[[4, 5], [], [6]], [[7, 8], [], [9]]]])
    middle = ra.stack([x, x, x], axis=1)
    got = way.run("split middle", lambda x, s: ra.split_dims(x, 1, s), way.arrays(middle), way.dense(splits))
    assert got.shape == (3, 3, None, None)
    assert got.tolist()[0] == [[[1, 2], [1, 2]], [], [[1, 2]]]
    dense = way.run("split dense", f, way.dense(np.arange(3)), way.dense(splits))
    assert_nested(dense, [[0, 1], [], [2]])


@pytest.mark.parametrize("splits", [[0, 2], [1, 3], [0, 2, 1, 3], [0, 4]])
def test_split_refuses(splits: list[int]) -> None:
    with pytest.raises(ValueError, match=r"split_dims: expected splits that rise from 0 to 3, got \["):
        ra.split_dims(ragged([[1], [2], [3]]), 0, np.array(splits))


def test_permute(way: Way) -> None:
    a = [np.arange(12).reshape(2, 2, 3), np.arange(6).reshape(1, 2, 3)]
    x = way.arrays(ragged(a))
    want = [np.moveaxis(v, 1, 2).tolist() for v in a]
    assert_nested(way.run("permute", lambda x: ra.permute_dims(x, (0, 1, 3, 2)), x), want)
    assert_nested(way.run("permute", lambda x: ra.permute_dims(x, (0, 1, -1, -2)), x), want)
    assert_nested(way.run("moveaxis", lambda x: ra.moveaxis(x, 3, 2), x), want)
    assert_nested(way.run("moveaxis2", lambda x: ra.moveaxis(x, (2, 3), (3, 2)), x), want)


def test_permute_the_axes_before_a_ragged_one(way: Way) -> None:
    x = array(LEADING[0])
    got = way.run("permute rows", lambda x: ra.permute_dims(x, (1, 0, 2)), way.arrays(x))
    assert got.shape == (3, 2, None)
    assert_nested(got, [list(rows) for rows in zip(*listed(LEADING[0]), strict=True)])
    deep = way.run("move rows", lambda x: ra.moveaxis(x, 0, 2), way.arrays(ra.expand_dims(x, axis=0)))
    assert deep.shape == (2, 3, 1, None)


@pytest.mark.parametrize("axes", [(0, 2, 1, 3), (1, 0, 2, 3), (0, 3, 2, 1), (0, 2, 3, 1)])
def test_permute_refuses(axes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"permute_dims: expected axes 1 to [12] in place"):
        ra.permute_dims(ragged([[np.ones((1, 2))]]) if axes[3] == 3 else ragged([np.ones((1, 2, 2))]), axes)


def test_views() -> None:
    x = ragged([np.ones((2, 2, 1, 3)), np.ones((1, 2, 1, 3))])
    views = [
        ra.permute_dims(x, (0, 1, 4, 3, 2)), ra.moveaxis(x, -1, 2), ra.squeeze(x, axis=3), ra.flip(x, axis=2),
        ra.expand_dims(x, axis=2), ra.expand_dims(x, axis=1), ra.with_inner_shape(x, (6,)), ra.merge_dims(x, 2, 4),
        ra.merge_dims(x, 1, 2), ra.merge_dims(x, 0, 1), ra.flatten(x), ra.split_dims(x, 0, np.array([0, 2])),
        ra.broadcast_to(x, (2, None, 2, 5, 3)), ra.truncate(x, 1, axis=2), *ra.unstack(x, axis=2), *ra.unstack(x),
        ra.reshape(x, (2, None, 3, 2)),
    ]  # fmt: skip
    for i, v in enumerate(views):
        assert np.shares_memory(getattr(v, "values", v), x.values), i
    assert not np.shares_memory(ra.reshape(x, (2, None, 6), copy=True).values, x.values)


def test_broadcast(way: Way) -> None:
    x = way.arrays(ragged([np.array([[1], [2]]), np.array([[3]])]))
    f = lambda x: ra.broadcast_to(x, (2, 2, None, 2))  # noqa: E731
    one = [[[1, 1], [2, 2]], [[3, 3]]]
    assert_nested(way.run("to", f, x), [one, one])
    row = way.arrays(ragged([[1, 2]]))
    assert_nested(way.run("rows", lambda x: ra.broadcast_to(x, (3, None)), row), [[1, 2]] * 3)
    y = way.dense(np.array([[[10]], [[20]]], dtype=np.int32))
    got = way.run("arrays", lambda *x: ra.broadcast_arrays(*x), x, y, way.dense(np.array([5, 6])))
    assert isinstance(got, tuple)
    for g, want in zip(got, (one, [[[10, 10], [10, 10]], [[20, 20]]], [[[5, 6], [5, 6]], [[5, 6]]]), strict=True):
        assert_nested(g, want)
    assert [a.shape for a in ra.broadcast_arrays(np.ones(2), np.ones((3, 1)))] == [(3, 2)] * 2
    assert ra.broadcast_arrays() == ()


def test_repeat_each_row(way: Way) -> None:
    x, n = ragged([[1, 2], [], [3]]), np.array([2, 0, 1], dtype=np.int32)
    f = lambda x, n: ra.repeat(x, n, axis=0, size=4, capacity=6)  # noqa: E731
    assert_nested(way.run("each", f, way.arrays(x), way.dense(n)), [[1, 2], [1, 2], [3], []])
    if way.name != "jax-jit":
        assert_nested(ra.repeat(way.arrays(x), way.dense(n), axis=0), [[1, 2], [1, 2], [3]])
    nested = ragged([[[1], [2, 3]], [], [[4]]])
    g = lambda x, n: ra.repeat(x, n, axis=0, size=3, capacity=(6, 8))  # noqa: E731
    assert_nested(way.run("each2", g, way.arrays(nested), way.dense(n)), [[[1], [2, 3]], [[1], [2, 3]], [[4]]])


def test_repeat_under_jit_names_its_keywords() -> None:
    x, n = ragged([[1.0, 2.0], [], [3.0]]).to("jax"), jnp.array([2, 0, 1])
    with pytest.raises(DynamicShapeError) as e:
        jax.jit(lambda x, n: ra.repeat(x, n, axis=0))(x, n)
    assert str(e.value) == "repeat: expected a static row count, got traced repeats. Pass `size=`."
    with pytest.raises(DynamicShapeError) as e:
        jax.jit(lambda x, n: ra.repeat(x, n, axis=0, size=3))(x, n)
    assert str(e.value) == "repeat: expected a static capacity, got traced repeats or lengths. Pass `capacity=`."
    for size, capacity in ((2, 9), (3, 4)):
        got = jax.jit(lambda x, n, s=size, c=capacity: ra.repeat(x, n, axis=0, size=s, capacity=c))(x, n)
        assert np.isnan(got.values).all()
        with pytest.raises(ValueError, match="repeat: expected"):
            ra.repeat(x, n, axis=0, size=size, capacity=capacity)
    assert ra.repeat(ragged([[1, 2], [3]]), 2).tolist() == [1, 1, 2, 2, 3, 3]
    with pytest.raises(DynamicShapeError, match=re.escape("Pass `size=`.")):
        jax.jit(ra.flatten)(x)
    with pytest.raises(DynamicShapeError, match=re.escape("Pass `size=`.")):
        jax.jit(lambda x: ra.squeeze(ra.concat([x])[:1], axis=0))(x)
    with pytest.raises(DynamicShapeError, match="unstack: expected row lengths that can be read"):
        jax.jit(ra.unstack)(x)


ERRORS: list[tuple[Callable[[RaggedArray], Any], type[Exception], str]] = [
    (
        lambda x: ra.concat([x, ragged([[1]])], axis=1), ValueError,
        "concat: expected shapes that agree with (2, None) but for axis 1, got (1, None) as "
        "operand 1. Align them first.",
    ),
    (lambda x: ra.concat([]), ValueError,
     "concat: expected a list or tuple of arrays, got an empty one. Pass at least one array."),
    (lambda x: ra.concat([x, 1]), TypeError,
     "concat: expected RaggedArrays or arrays, got int as operand 1. Make it an array first."),
    (lambda x: ra.concat([x, np.ones(2)]), ValueError,
     "concat: expected 2 axes, got 1 in operand 1. Add axes with `ra.expand_dims`."),
    (lambda x: ra.concat([x, x], axis=2), IndexError,
     "concat: expected an axis from -2 to 1, got 2. Check `x.shape`."),
    (lambda x: ra.stack([x, ragged([[1], [2]])], axis=2), ValueError,
     "stack: expected equal row lengths along axis 1, got 2 and 1 at row 0. Align the rows "
     "first, or use `ra.to_padded`."),
    (lambda x: ra.squeeze(x, 1), ValueError,
     "squeeze: expected an axis of size 1, got axis 1 of shape (2, None). Name another, or take `x[i]`."),
    (lambda x: ra.merge_dims(x, 1, 0), ValueError,
     "merge_dims: expected outer_axis <= inner_axis, got 1 and 0. Swap them."),
    (lambda x: ra.split_dims(x, 1, np.array([0, 3])), ValueError,
     "split_dims: expected the row axis or a uniform one, got ragged axis 1. Build it with "
     "`ra.from_nested_row_splits`."),
    (lambda x: ra.permute_dims(x, (1, 0)), ValueError,
     "permute_dims: expected axes 1 to 1 in place, got axis 1 in place 0 of shape (2, None). "
     "No axis passes a ragged one."),
    (lambda x: ra.permute_dims(x, (0,)), ValueError,
     "permute_dims: expected 2 axes, got (0,). Name each axis once."),
    (lambda x: ra.moveaxis(x, 1, 0), ValueError,
     "moveaxis: expected axes 1 to 1 in place, got axis 1 in place 0 of shape (2, None). No axis passes a ragged one."),
    (lambda x: ra.moveaxis(x, (0, 1), 0), ValueError,
     "moveaxis: expected as many sources as destinations, got 2 and 1. Pair them."),
    (lambda x: ra.flip(x, axis=(1, 1)), ValueError,
     "flip: expected each axis once, got (1, 1). Drop the repeated axis."),
    (lambda x: ra.roll(x, 1.5, axis=1), TypeError,
     "roll: expected an integer shift, got float. Pass an int, or one per axis."),
    (lambda x: ra.roll(x, (1, 2), axis=1), ValueError,
     "roll: expected 1 shifts, got 2. Pass one per axis, or one int."),
    (lambda x: ra.pad(x, -1, 0), ValueError,
     "pad: expected counts of at least 0, got -1, 0. Cut with `ra.truncate`."),
    (lambda x: ra.truncate(x, -1), ValueError,
     "truncate: expected a length of at least 0, got -1. Pass a length."),
    (lambda x: ra.sliding_window(x, 0), ValueError,
     "sliding_window: expected size and step of at least 1, got 0, 1. Pass larger."),
    (lambda x: ra.repeat(x, -1, axis=1), ValueError,
     "repeat: expected repeats of at least 0, got -1. Pass a count."),
    (lambda x: ra.repeat(x, np.array([1]), axis=0), ValueError,
     "repeat: expected 2 repeats, got 1. Pass one per row."),
    (lambda x: ra.repeat(x, np.array([1, 2]), axis=1), ValueError,
     "repeat: expected one count along axis 1, got an array. Repeat rows, or pass an int."),
    (lambda x: ra.tile(x, (1, -1)), ValueError,
     "tile: expected repetitions of at least 0, got (1, -1). Pass counts."),
    (lambda x: ra.broadcast_to(x, (2, 3)), ValueError,
     "broadcast_to: expected a shape that (2, None) stretches to, got (2, 3). Only axes of size "
     "1 stretch; None keeps a ragged one."),
    (lambda x: ra.broadcast_to(np.ones(2), (2, None)), ValueError,
     "broadcast_to: expected sizes for a plain array, got (2, None). Use `ra.broadcast_arrays` with a RaggedArray."),
    (lambda x: ra.broadcast_arrays(x, 1), TypeError,
     "broadcast_arrays: expected arrays, got 1 as operand 1. Make it an array."),
    (lambda x: ra.reshape(x, (3,)), ValueError,
     "reshape: expected a shape that begins with (2, None), got (3,). Use `ra.merge_dims` or `ra.split_dims`."),
    (lambda x: ra.with_inner_shape(x, (2,)), ValueError,
     "with_inner_shape: expected a shape of 1 elements, as (), got (2,). Check it."),
    (lambda x: ra.tile(x, (1, 2**31)), OverflowError,
     "tile: expected up to 2147483647 entries, got 6442450944. Use int64 splits (on JAX, x64)."),
    (lambda x: ra.pad(x, 1, 1, fill_value=0.5), TypeError,
     "pad: expected fill_value of dtype int64, got 0.5. Convert `x` first."),
    (lambda x: ra.concat(x), TypeError,
     "concat: expected a list or tuple of arrays, got RaggedArray. Put them in a list."),
    (lambda x: ra.flip([1, 2], axis=0), TypeError,
     "flip: expected a RaggedArray or an array, got list. Make one with `ra.ragged`."),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "text"), ERRORS, ids=range(len(ERRORS)))
def test_errors(f: Callable[[RaggedArray], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as e:
        f(ragged([[1, 2], [3]]))
    assert str(e.value) == text


def test_plain_arrays() -> None:
    a = np.arange(6).reshape(2, 3)
    assert ra.pad(a, 1, 0).tolist() == [[0, 0, 1, 2], [0, 3, 4, 5]]
    assert ra.truncate(a, 2).tolist() == [[0, 1], [3, 4]]
    assert ra.sliding_window(a, 2).tolist() == [[[0, 1], [1, 2]], [[3, 4], [4, 5]]]
    assert ra.merge_dims(a, 0, 1).tolist() == list(range(6))
    for name, args, options in [
        ("flip", (), {"axis": 1}), ("roll", (1,), {"axis": 1}), ("repeat", (2,), {"axis": 1}), ("tile", ((1, 2),), {}),
        ("expand_dims", (), {"axis": 1}), ("permute_dims", ((1, 0),), {}), ("moveaxis", (0, 1), {}),
        ("broadcast_to", ((2, 2, 3),), {}), ("reshape", ((3, 2),), {}),
    ]:  # fmt: skip
        np.testing.assert_array_equal(getattr(ra, name)(a, *args, **options), getattr(np, name)(a, *args, **options))
    assert ra.stack([a, a]).shape == (2, 2, 3)
    assert len(ra.unstack(a)) == 2
    assert ra.squeeze(a[None], axis=0).shape == (2, 3)


def test_numpy_functions_find_ours() -> None:
    x = ragged([[1, 2], [], [3]])
    assert np.concatenate([x, x], axis=1).tolist() == [[1, 2, 1, 2], [], [3, 3]]
    assert np.stack([x, x], axis=1).shape == (3, 2, None)
    assert np.roll(x, 1, axis=1).tolist() == [[2, 1], [], [3]]
    assert np.flip(x, 0).tolist() == [[3], [], [1, 2]]
    assert np.repeat(x, 2, axis=1).tolist() == [[1, 1, 2, 2], [], [3, 3]]
    assert np.tile(x, (1, 2)).tolist() == [[1, 2, 1, 2], [], [3, 3]]
    assert np.expand_dims(x, 1).shape == (3, 1, None)


def test_splits_of_two_widths_meet() -> None:
    x = ra.from_row_splits(np.arange(3), np.array([0, 2, 3], dtype=np.int64))
    y = ra.from_row_splits(np.arange(2), np.array([0, 0, 2], dtype=np.int32))
    for pair in ((x, y), (y, x)):
        assert [ra.concat(pair, axis=a).row_splits.dtype for a in (0, 1)] == [np.int64] * 2
    assert ra.pad(x, 1, 1).row_splits.dtype == np.int64


GRADIENTS: dict[str, Callable[..., Any]] = {
    "concat": lambda x, y: ra.concat([x, y, x]),
    "concat 1": lambda x, y: ra.concat([x, y, x], axis=1),
    "concat -1": lambda x, y: ra.concat([x, y], axis=-1),
    "stack": lambda x, y: ra.stack([x, y], axis=1),
    "flip": lambda x, y: ra.flip(x),
    "roll": lambda x, y: ra.roll(x, 1, axis=1),
    "roll all": lambda x, y: ra.roll(x, 2),
    "repeat": lambda x, y: ra.repeat(x, 2, axis=1),
    "tile": lambda x, y: ra.tile(x, (2, 2, 1)),
    "pad": lambda x, y: ra.pad(x, 1, 1),
    "truncate": lambda x, y: ra.truncate(x, 2),
    "sliding_window": lambda x, y: ra.sliding_window(x, 2),
    "merge": lambda x, y: ra.merge_dims(x, 1, 2),
    "merge rows": lambda x, y: ra.merge_dims(x, 0, 1, size=20),
    "broadcast": lambda x, y: ra.broadcast_to(x, (2, *x.shape)),
    "squeeze": lambda x, y: ra.squeeze(ra.expand_dims(x, axis=1), axis=1),
    "permute": lambda x, y: ra.permute_dims(ra.expand_dims(x, axis=2), (0, 1, 3, 2)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    """Of the sum of weighted squares, against finite differences of NumPy's result; slack is poisoned and gets 0."""
    op, layout = GRADIENTS[name], INNER[0]
    x, y = array(layout, dtype="float32"), array(layout, 1, dtype="float32")

    def loss(x: Any, y: Any) -> Any:
        out = op(x, y)
        weighted = out * out
        return ra.sum(ra.where(weighted > -1, weighted, 0.0)) / 2

    for way in (Way("jax-jit", 3), Way("jax-jit", 3, "inf")):
        g, h = jax.jit(ra.grad(loss, (0, 1)))(way.arrays(x), way.arrays(y))
        for have, which in ((g, 0), (h, 1)):
            assert_nested(have, plain(nest(layout, counted(op, x, y, which))), rtol=1e-4)
            assert not np.asarray(have.values)[x.capacity :].any()


def counted(op: Callable[..., Any], x: RaggedArray, y: RaggedArray, which: int) -> np.ndarray:
    """Gradient of half the sum of squares of an op that only moves elements: each times how often it is there."""
    pair = [ra.map_values(np.zeros_like, x), ra.map_values(np.zeros_like, y)]
    pair[which] = x.with_values(np.arange(1, x.values.size + 1, dtype=np.float32).reshape(x.values.shape))
    out = op(*pair)
    flat = np.ravel(np.asarray(getattr(out, "values", out))).astype(int)
    count = np.bincount(flat, minlength=x.values.size + 1)[1:].reshape(x.values.shape)
    return (count * (x, y)[which].values).astype(np.float32)


@pytest.mark.parametrize("name", ["concat 1", "flip", "pad", "sliding_window", "tile"])
def test_vmap(name: str) -> None:
    op = GRADIENTS[name]
    way = Way("jax-eager", 3)
    pairs = [tuple(way.arrays(array(f, seed, "float32")) for seed in (0, 1)) for f in INNER[:2]]
    xs, ys = (jax.tree.map(lambda *v: jnp.stack(v), *side) for side in zip(*pairs, strict=True))
    got = jax.vmap(op)(xs, ys)
    for i, (x, y) in enumerate(pairs):
        one = jax.tree.map(lambda v, i=i: v[i], got)
        assert_nested(one, op(x, y).tolist())


def gathers(f: Callable[..., Any], *args: Any) -> dict[str, int]:
    """Gathers and scatters of arrays of floats in the jaxpr, nested ones too."""
    found = {"gather": 0, "scatter": 0}

    def walk(jaxpr: Any) -> None:
        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            kind = "gather" if name == "gather" else "scatter" if name.startswith("scatter") else None
            if kind and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.floating):
                found[kind] += 1
            for p in eqn.params.values():
                for q in p if isinstance(p, tuple | list) else (p,):
                    if hasattr(q, "jaxpr"):
                        walk(q.jaxpr)
                    elif hasattr(q, "eqns"):
                        walk(q)

    walk(jax.make_jaxpr(f)(*args).jaxpr)
    return found


@pytest.mark.parametrize("name", GRADIENTS)
def test_one_gather_of_the_values(name: str) -> None:
    way = Way("jax-eager", 3)
    x, y = (way.arrays(array(INNER[0], s, "float32")) for s in (0, 1))
    assert sum(gathers(GRADIENTS[name], x, y).values()) <= 1


def test_capacities_under_jit() -> None:
    x = ra.with_capacity(ragged([[1.0, 2.0], [3.0]]).to("jax"), 10)
    sizes = {
        10: [lambda x: ra.flip(x), lambda x: ra.roll(x, 1, axis=1), lambda x: ra.truncate(x, 5)],
        4: [lambda x: ra.truncate(x, 2)],
        20: [lambda x: ra.concat([x, x]), lambda x: ra.concat([x, x], axis=1), lambda x: ra.repeat(x, 2, axis=0)],
        40: [lambda x: ra.tile(x, (2, 2))],
        16: [lambda x: ra.pad(x, 1, 2)],
        9: [lambda x: ra.sliding_window(x, 2)],
        5: [lambda x: ra.sliding_window(x, 2, step=3)],
    }
    for want, ops in sizes.items():
        for op in ops:
            assert jax.jit(op)(x).capacity == want
            assert op(x).capacity == want
    assert ra.concat([ragged([[1, 2]]), ragged([[3]])], axis=1).capacity == 3


def test_no_recompilation_when_lengths_change() -> None:
    def f(x: Any) -> Any:
        return ra.concat([ra.flip(x, axis=1), ra.tile(x, (1, 2)), ra.pad(x, 1, 0)], axis=1)

    counted = ra.testing.count_traces(f)
    g = jax.jit(counted)
    for lengths in ([1, 2, 3], [0, 0, 0], [6, 0, 1]):
        x = ra.from_row_lengths(np.arange(sum(lengths)), np.array(lengths))
        g(ra.asarray(x, xp="jax", capacity=16))
    assert counted.count == 1
