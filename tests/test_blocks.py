"""Blocks: every op on components that vary in several axes equals the op on each component, wherever they lie."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from .harness.compare import assert_components
from .harness.ways import on_jax, strict

RNG = np.random.default_rng(7)
MATRICES = [RNG.normal(size=s) for s in [(2, 3), (1, 4), (0, 2), (3, 0), (2, 2)]]
FULL = [RNG.normal(size=s) for s in [(2, 3), (1, 4), (2, 2)]]
IMAGES = [RNG.normal(size=s) for s in [(2, 3, 2), (4, 1, 2)]]
CHANNELS = [RNG.normal(size=s) for s in [(2, 2, 3), (2, 4, 1)]]
SHAPES: dict[str, tuple[list[np.ndarray], tuple[int | None, ...]]] = {
    "matrices": (MATRICES, (None, None)),
    "full": (FULL, (None, None)),
    "images": (IMAGES, (None, None, 2)),
    "channels": (CHANNELS, (2, None, None)),
    "one": ([RNG.normal(size=(2, 3))], (None, None)),
}


def packed(items: list[np.ndarray], shape: tuple[int | None, ...]) -> RaggedArray:
    return ra.ragged(items, item_shape=shape)


def strided(items: list[np.ndarray], shape: tuple[int | None, ...]) -> RaggedArray:
    """The same components out of order, backwards, transposed, between holes of NaN."""
    last = max(i for i, n in enumerate(shape) if n is None) + 1
    inner = items[0].shape[last:]
    buffer, sizes, strides, offsets = [np.full((3, *inner), np.nan)], [], [], []
    at = 3
    where: dict[int, tuple[int, tuple[int, ...]]] = {}
    for i in reversed(range(len(items))):
        c = items[i]
        outer = c.shape[:last]
        stored = np.moveaxis(c, 0, last - 1)[::-1]
        flat = stored.reshape(-1, *inner)
        steps, size = [0] * last, 1
        for axis in reversed(range(last)):
            source = (axis + 1) % last
            steps[source] = size
            size *= outer[source]
        first = 1 if last > 1 else 0
        offset = at + steps[first] * max(outer[first] - 1, 0)
        steps[first] = -steps[first]
        where[i] = (offset, tuple(steps))
        buffer += [flat, np.full((2, *inner), np.nan)]
        at += flat.shape[0] + 2
    for i, c in enumerate(items):
        sizes.append([n for n, m in zip(c.shape, shape, strict=True) if m is None])
        offsets.append(where[i][0] if c.size else 0)
        strides.append(where[i][1])
    return ra.from_blocks(
        np.concatenate(buffer), np.asarray(sizes), strides=np.asarray(strides), offsets=np.asarray(offsets),
        axes=shape[:last],
    )  # fmt: skip


def views_on_jax(x: RaggedArray) -> RaggedArray:
    indices = tuple(p.map_arrays(lambda a: jax.numpy.asarray(a, jax.numpy.int32)) for p in x.partitions)
    return RaggedArray(jax.numpy.asarray(x.values), indices)


BUILD: dict[str, Callable[..., RaggedArray]] = {
    "numpy": packed,
    "numpy-strided": strided,
    "jax": lambda *a: on_jax(packed(*a), 24),
    "jax-strided": lambda *a: views_on_jax(strided(*a)),
}
STRICT = {"strict": lambda *a: strict(packed(*a)), "strict-strided": lambda *a: strict(strided(*a))}


@pytest.fixture(params=BUILD, ids=str)
def build(request: pytest.FixtureRequest) -> Callable[..., RaggedArray]:
    return BUILD[request.param]


KINDS = ("matrices", "images", "channels", "one")
WHERE = [(way, kind) for way in (*BUILD, "jit") for kind in KINDS]
WHERE += [("strict", "matrices"), ("strict-strided", "images")]


check = partial(assert_components, rtol=2e-5, atol=2e-6)


def softmax(c: np.ndarray, axis: int) -> np.ndarray:
    if c.shape[axis] == 0:
        return c
    e = np.exp(c - c.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def windows(c: np.ndarray) -> np.ndarray:
    if c.shape[1] < 2:
        return np.zeros((c.shape[0], 0, 2, *c.shape[2:]))
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(c, 2, axis=1), -1, 2)


def extreme(c: np.ndarray, axis: int) -> np.ndarray:
    return np.argmax(c, axis) if c.shape[axis] else np.full(np.delete(c.shape, axis), -1)


OPS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "self": (lambda x: x, lambda c: c),
    "contiguous": (ra.contiguous, lambda c: c),
    "unary": (lambda x: ra.exp(-x), lambda c: np.exp(-c)),
    "scalar": (lambda x: 2 * x + 1, lambda c: 2 * c + 1),
    "same": (lambda x: x * x, lambda c: c * c),
    "where": (lambda x: ra.where(x > 0, x, 0.0), lambda c: np.where(c > 0, c, 0)),
    "clip": (lambda x: ra.clip(x, -0.5, 0.5), lambda c: np.clip(c, -0.5, 0.5)),
    "astype": (lambda x: ra.astype(x, x.dtype), lambda c: c),
    "layer_norm": (lambda x: ra.nn.layer_norm(x, axis=-1), lambda c: (c - c.mean(-1, keepdims=True)) / np.sqrt(c.var(-1, keepdims=True) + 1e-5) if c.shape[-1] else c),
    "rms_norm rows": (lambda x: ra.nn.rms_norm(x, axis=1), lambda c: c / np.sqrt((c * c).mean(0, keepdims=True) + 1e-5) if c.shape[0] else c),
    "layer_norm all": (lambda x: ra.nn.layer_norm(x, axis=(1, 2)), lambda c: (c - c.mean((0, 1), keepdims=True)) / np.sqrt(c.var((0, 1), keepdims=True) + 1e-5) if c.size else c),
    "centre": (lambda x: x - ra.mean(x, axis=2, keepdims=True), lambda c: c - c.mean(1, keepdims=True) if c.shape[1] else c),
    "flip": (lambda x: ra.flip(x, axis=1), lambda c: c[::-1]),
    "flip both": (lambda x: ra.flip(x, axis=(1, 2)), lambda c: c[::-1, ::-1]),
    "rows": (lambda x: x[:, :1], lambda c: c[:1]),
    "columns": (lambda x: x[:, :, ::-2], lambda c: c[:, ::-2]),
    "last": (lambda x: x[:, -1:, 1:], lambda c: c[-1:, 1:]),
    "new axis": (lambda x: x[:, None], lambda c: c[None]),
    "new axis between": (lambda x: x[:, :, None], lambda c: c[:, None]),
    "new axis last": (lambda x: x[..., None], lambda c: c[..., None]),
    "squeeze": (lambda x: ra.squeeze(ra.expand_dims(x, axis=2), axis=2), lambda c: c),
    "moveaxis": (lambda x: ra.moveaxis(x, 1, -1), lambda c: np.moveaxis(c, 0, -1)),
    "moveaxis back": (lambda x: ra.moveaxis(ra.moveaxis(x, -1, 1), 1, -1) + 0, lambda c: c),
    "sort": (lambda x: ra.sort(x, axis=1), lambda c: np.sort(c, 0)),
    "sort down": (lambda x: ra.sort(x, axis=2, descending=True), lambda c: np.sort(c, 1)[:, ::-1]),
    "argsort": (lambda x: ra.argsort(x, axis=1), lambda c: np.argsort(c, 0, kind="stable")),
    "top_k": (lambda x: ra.top_k(x, 2, axis=2)[0], lambda c: np.sort(c, 1)[:, ::-1][:, :2]),
    "cumulative_sum": (lambda x: ra.cumulative_sum(x, axis=1), lambda c: np.cumsum(c, 0)),
    "cumulative_max": (lambda x: ra.cumulative_max(x, axis=2, reverse=True), lambda c: np.maximum.accumulate(c[:, ::-1], 1)[:, ::-1]),
    "diff": (lambda x: ra.diff(x, axis=1), lambda c: np.diff(c, axis=0) if c.shape[0] else c),
    "append": (lambda x: ra.concat([x, x[:, ::-1]], axis=1), lambda c: np.concatenate([c, c[::-1]])),
    "append columns": (lambda x: ra.concat([x, x], axis=2), lambda c: np.concatenate([c, c], 1)),
    "append new": (lambda x: ra.concat([x, ra.zeros_like(x[:, :1])], axis=1), lambda c: np.concatenate([c, 0 * c[:1]])),
    "stack": (lambda x: ra.stack([x, x], axis=1), lambda c: np.stack([c, c])),
    "stack last": (lambda x: ra.stack([x, x], axis=-1), lambda c: np.stack([c, c], -1)),
    "roll": (lambda x: ra.roll(x, 1, axis=2), lambda c: np.roll(c, 1, 1)),
    "repeat": (lambda x: ra.repeat(x, 2, axis=1), lambda c: np.repeat(c, 2, 0)),
    "tile": (lambda x: ra.tile(x, (1, 1, 3, *(1,) * (x.ndim - 3))), lambda c: np.concatenate([c] * 3, 1)),
    "pad": (lambda x: ra.pad(x, 1, 2, axis=2, fill_value=5, capacity=64), lambda c: np.pad(c, ((0, 0), (1, 2), *((0, 0),) * (c.ndim - 2)), constant_values=5)),
    "truncate": (lambda x: ra.truncate(x, 1, axis=2), lambda c: c[:, :1]),
    "sliding_window": (lambda x: ra.sliding_window(x, 2, axis=2), windows),
    "softmax 1": (lambda x: ra.nn.softmax(x, axis=1), lambda c: softmax(c, 0)),
    "softmax 2": (lambda x: ra.nn.softmax(x, axis=2), lambda c: softmax(c, 1)),
    "argmax": (lambda x: ra.argmax(x, axis=1), lambda c: extreme(c, 0)),
    "argmax 2": (lambda x: ra.argmax(x, axis=2), lambda c: extreme(c, 1)),
    "count": (lambda x: ra.count_nonzero(x > 0, axis=(1, 2)), lambda c: np.count_nonzero(c > 0, (0, 1))),
    "median": (lambda x: ra.median(x, axis=2), lambda c: np.median(c, 1) if c.shape[1] else np.full((c.shape[0], *c.shape[2:]), np.nan)),
    "vector_norm": (lambda x: ra.linalg.vector_norm(x, axis=2), lambda c: np.sqrt((c * c).sum(1))),
    "masked sum": (lambda x: ra.sum(x, axis=2, where=x > 0), lambda c: np.where(c > 0, c, 0).sum(1)),
}  # fmt: skip


@pytest.mark.parametrize(("way", "kind"), WHERE)
@pytest.mark.parametrize("name", OPS)
def test_each_component(name: str, way: str, kind: str) -> None:
    items, shape = SHAPES[kind]
    f, oracle = OPS[name]
    x = (BUILD | STRICT)["jax" if way == "jit" else way](items, shape)
    check(jax.jit(f)(x) if way == "jit" else f(x), [oracle(c) for c in items])


REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "var": np.var,
    "any": np.any,
}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("kind", ["full", "images", "channels"])
def test_reductions_over_every_set_of_axes(
    kind: str, name: str, keepdims: bool, build: Callable[..., RaggedArray]
) -> None:
    items, shape = SHAPES[kind]
    x = build(items, shape)
    axes = range(len(shape))
    some = [(a,) for a in axes] + [(0, 1), (1, 2), (0, 2), (0, 1, 2)]
    for axis in [a for a in some if max(a) < len(shape)]:
        got = getattr(ra, name)(x, axis=tuple(a + 1 for a in axis), keepdims=keepdims)
        check(got, [REDUCTIONS[name](c, axis=axis, keepdims=keepdims) for c in items])


def test_reductions_of_all_and_over_components(build: Callable[..., RaggedArray]) -> None:
    items, shape = SHAPES["full"]
    x = build(items, shape)
    np.testing.assert_allclose(ra.sum(x), sum(c.sum() for c in items), rtol=1e-5)
    np.testing.assert_allclose(ra.max(x), max(c.max() for c in items), rtol=1e-5)
    np.testing.assert_allclose(ra.mean(x), np.concatenate([c.ravel() for c in items]).mean(), rtol=1e-5)
    columns = ra.sum(x, axis=0) if x.kernels.has_exact_sizes else ra.sum(x, axis=0, length=2)
    padded = np.zeros((3, 2, 4))
    for i, c in enumerate(items):
        padded[i, : c.shape[0], : c.shape[1]] = c
    np.testing.assert_allclose(ra.to_padded(columns, length=4), padded.sum(0), rtol=1e-5, atol=1e-6)


def test_rows_and_back(build: Callable[..., RaggedArray]) -> None:
    items, shape = SHAPES["full"]
    x = build(items, shape)
    rows = ra.to_rows(x)
    assert rows.block is None
    assert rows.shape == x.shape
    assert rows.to("numpy").tolist() == x.to("numpy").tolist()
    back = ra.to_blocks(rows)
    assert back.block is not None
    check(back, items)
    assert back.values is rows.values


def test_rows_of_components_without_columns() -> None:
    x = packed(MATRICES, (None, None))
    assert ra.to_rows(x).tolist() == [c.tolist() for c in MATRICES]
    y = ra.asarray(x, xp="jax")
    assert ra.to_rows(y).to("numpy").tolist() == [np.float32(c).tolist() for c in MATRICES]


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_rows_that_outnumber_the_elements_have_room(library: str) -> None:
    items = [np.ones((9, 0)), np.ones((2, 1)), np.ones((5, 0))]
    x = packed(items, (None, None)).to(library)
    assert ra.to_rows(x).tolist() == [c.tolist() for c in items]
    assert ra.merge_dims(x, 1, 2).tolist() == [[], [1, 1], []]
    check(ra.nn.softmax(x, axis=0), items)
    check(ra.cumulative_sum(x, axis=0), items)
    check(x.at[1].set(2.0), [items[0], 2 * items[1], items[2]])
    wide = ra.broadcast_to(packed([np.ones((2, 1, 3)), np.ones((1, 1, 2))], (None, 1, None)), (2, None, 50, None))
    assert ra.merge_dims(wide.to(library), 2, 3).to("numpy").nested_size() == (((150,), (150,)), ((100,),))


def test_rows_that_find_no_room_in_a_trace_raise_in_checked_code() -> None:
    x = packed([np.ones((9, 0)), np.ones((2, 1))], (None, None)).to("jax")
    with pytest.raises(
        Exception, match=r"to_rows: expected a capacity of at least 11, got 8. Pass a larger `capacity=`."
    ):
        ra.checked(lambda x: ra.to_rows(ra.with_capacity(x, 8)))(x)
    assert ra.checked(lambda x: ra.to_rows(x, capacity=11))(x).tolist() == [[[]] * 9, [[1.0], [1.0]]]


def test_padding_and_masks(build: Callable[..., RaggedArray]) -> None:
    items, shape = SHAPES["images"]
    x = build(items, shape)
    want, mask = np.full((2, 4, 3, 2), -1.0), np.zeros((2, 4, 3), bool)
    for i, c in enumerate(items):
        want[i, : c.shape[0], : c.shape[1]] = c
        mask[i, : c.shape[0], : c.shape[1]] = True
    np.testing.assert_allclose(ra.to_padded(x, fill_value=-1), want, rtol=1e-6)
    assert (np.asarray(ra.to_mask(x)) == mask).all()
    assert ra.to_padded(x, length=(5, 6)).shape == (2, 5, 6, 2)
    with pytest.raises(
        ValueError, match=r"^to_padded: expected a length of at least 4, got 3. Pass a larger `length=`.$"
    ):
        ra.to_padded(x, length=(3, 6))


def test_choosing_components(build: Callable[..., RaggedArray]) -> None:
    items, shape = SHAPES["matrices"]
    x = build(items, shape)
    check(x[1:4], items[1:4])
    check(x[::-1], items[::-1])
    check(x[np.array([3, 1, -1, 1])], [items[i] for i in (3, 1, 4, 1)])
    check(x[np.array([True, False, False, True, True])], [items[i] for i in (0, 3, 4)])
    np.testing.assert_allclose(np.asarray(x[-1]), items[-1], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(x[0, 1]), items[0][1], rtol=1e-6)
    check(ra.concat([x, x[:2]], axis=0), [*items, *items[:2]])
    check(x[:2][:, 0], [c[0] for c in items[:2]])
    check(x[:2][:, 0, -1], [c[0, -1] for c in items[:2]])
    check(x[:2][:, :, np.array([2, 0])], [c[:, [2, 0]] for c in items[:2]])
    with pytest.raises(
        IndexError, match=r"^getitem: expected an index in every component along axis 1, got 1 in component 1 of size 1"
    ):
        x[:, 1]
    with pytest.raises(IndexError, match=r"^getitem: expected a row from -5 to 4, got 5. Check `len\(x\)`.$"):
        x[5]


def test_broadcasting(build: Callable[..., RaggedArray]) -> None:
    items, shape = SHAPES["full"]
    x = build(items, shape)
    moved = ra.asarray if x.kernels.has_exact_sizes else (lambda a: ra.asarray(a, xp="jax"))
    check(x + np.array([1.0, 2, 3], "float32")[:, None, None], [c + i + 1 for i, c in enumerate(items)])
    rows = moved(ra.ragged([c[:, 0] for c in items]))
    check(x * ra.expand_dims(rows, axis=2), [c * c[:, :1] for c in items])
    columns = moved(ra.ragged([c[0] for c in items]))
    check(ra.expand_dims(columns, axis=1) - x, [c[:1] - c for c in items])
    squares = build([c @ c.T for c in items], shape)
    check(squares + ra.moveaxis(squares, 1, 2), [c @ c.T + (c @ c.T).T for c in items])
    images = build(*SHAPES["images"])
    check(images * np.array([2.0, 3.0], "float32"), [c * [2.0, 3.0] for c in IMAGES])
    with pytest.raises(
        ValueError,
        match=r"^add: expected equal sizes along axis 1, got 2 and 1 at component 0. Align the components first.$",
    ):
        _ = x[:, :2] + ra.concat([x[:, :1], x[:, :0]], axis=1)
    with pytest.raises(ValueError, match=r"A dense axis may meet a ragged one only with size 1.$"):
        _ = x + np.zeros((3, 2, 1), "float32")
    nested = moved(ra.ragged([[[1.0, 2.0], [3.0]], [[1.0]], [[2.0]]]))
    with pytest.raises(ValueError, match=r"Make both one kind, with `ra.to_rows` or `ra.to_blocks`.$"):
        _ = x + nested


def test_views_share_memory_and_follow_the_address_formula() -> None:
    rng = np.random.default_rng(3)
    x = packed(MATRICES, (None, None))
    for _ in range(60):
        view, want = x, list(MATRICES)
        for _ in range(rng.integers(1, 5)):
            which = rng.integers(5)
            if which == 0:
                view, want = ra.moveaxis(view, 1, 2), [c.T for c in want]
            elif which == 1:
                view, want = view[:, ::-1], [c[::-1] for c in want]
            elif which == 2:
                a = int(rng.integers(-2, 3))
                view, want = view[:, :, a:], [c[:, a:] for c in want]
            elif which == 3:
                view, want = view[:, :-1:2], [c[:-1:2] for c in want]
            else:
                rows = rng.integers(0, len(want), size=len(want))
                view, want = view[rows], [want[i] for i in rows]
        assert view.values is x.values
        check(view, want)
        block: Any = view.partitions[-1]
        if block.strides is None:
            continue
        for i, c in enumerate(want):
            for j in np.ndindex(c.shape):
                assert x.values[block.offsets[i] + (np.array(j) * block.strides[i]).sum()] == c[j]


def test_components_of_views_share_memory() -> None:
    x = ra.moveaxis(packed(MATRICES, (None, None)), 1, 2)
    for c in x.unbind():
        assert c.size == 0 or np.shares_memory(c, x.values)
    stretched = ra.broadcast_to(x[:, None], (5, 6, None, None))
    assert stretched.values is x.values
    check(stretched, [np.broadcast_to(c.T, (6, *c.T.shape)) for c in MATRICES])
    check(ra.sum(stretched, axis=1), [6 * c.T for c in MATRICES])


def test_rows_of_components() -> None:
    items = [[MATRICES[0], MATRICES[1]], [], [MATRICES[4]]]
    x = ra.ragged(items)
    assert x.shape == (3, None, None, None)
    assert x.nested_size() == (((2, 3), (1, 4)), (), ((2, 2),))
    assert x.nested_dim() == ((2, 2), (), (2,))
    for y in (x, ra.testing.poison(ra.asarray(x, xp="jax"), slack=3)):
        flat = [c for row in items for c in row]
        found = [np.asarray(c) for row in (y + y).to("numpy").unbind() for c in row.unbind()]
        for a, c in zip(found, flat, strict=True):
            np.testing.assert_allclose(a, 2 * c, rtol=1e-6)
        np.testing.assert_allclose(ra.sum(y, axis=(2, 3)).to("numpy").values[:3], [c.sum() for c in flat], rtol=1e-5)
        np.testing.assert_allclose(ra.sum(y, axis=(1, 2, 3)), [sum(c.sum() for c in row) for row in items], rtol=1e-5)
        means = ra.max(y, axis=3)
        assert means.shape == (3, None, None)
        assert [len(r) for r in means.to("numpy").tolist()] == [2, 0, 1]
        assert ra.array_equal(ra.flip(ra.flip(y, axis=2), axis=2), y)
        ra.validate(y)


def test_gradients_ignore_holes_and_slack() -> None:
    items, shape = SHAPES["full"]

    def loss(x: Any, s: Any) -> Any:
        y = ra.sqrt(ra.abs(ra.moveaxis(x, 1, 2))) * s
        z = ra.nn.softmax(y, axis=1) + ra.cumulative_sum(y, axis=2) / ra.exp(y[:, ::-1])
        return ra.sum(z * z) + ra.sum(ra.log(1 + ra.sum(z, axis=1) ** 2))

    def dense(cs: list[Any], s: Any) -> Any:
        total = 0.0
        for c in cs:
            y = jax.numpy.sqrt(abs(c.T)) * s
            z = jax.nn.softmax(y, 0) + jax.numpy.cumsum(y, 1) / jax.numpy.exp(y[::-1])
            total += (z * z).sum() + jax.numpy.log(1 + z.sum(0) ** 2).sum()
        return total

    want, ds = jax.grad(dense, argnums=(0, 1))([jax.numpy.asarray(c, "float32") for c in items], 1.5)
    for x in (BUILD["jax"](items, shape), BUILD["jax-strided"](items, shape)):
        g, gs = ra.grad(loss, argnums=(0, 1))(x, jax.numpy.float32(1.5))
        check(g, want, rtol=2e-4)
        np.testing.assert_allclose(gs, ds, rtol=2e-4)
        assert np.isfinite(g.values).all()
        assert (np.asarray(g.values)[~np.asarray(x.used_mask())] == 0).all()


def test_one_trace_for_other_sizes() -> None:
    def f(x: RaggedArray) -> Any:
        y = ra.moveaxis(x[:, ::-1], 1, 2)
        return ra.sum(ra.nn.softmax(y, axis=1) * y, axis=2), ra.to_padded(ra.sort(x, axis=1), length=(4, 4))

    counted = ra.testing.count_traces(f)
    g = jax.jit(counted)
    for items in (FULL, [c.T.copy() for c in FULL], FULL[::-1]):
        x = ra.testing.poison(ra.asarray(packed(items, (None, None)), xp="jax", capacity=16))
        got, sorted_rows = g(x)
        check(got, [(softmax(c[::-1].T, 0) * c[::-1].T).sum(1) for c in items])
        for a, c in zip(np.asarray(sorted_rows), items, strict=True):
            np.testing.assert_allclose(a[: c.shape[0], : c.shape[1]], np.sort(c, 0), rtol=1e-6)
    assert counted.count == 1


def test_a_missing_entry_is_nan_under_jit() -> None:
    x = on_jax(packed(FULL, (None, None)), 24)
    got = jax.jit(lambda x: x[:, 1])(x)
    check(got, [FULL[0][1], np.full(4, np.nan), FULL[2][1]])
