"""`map_components` and `BucketPlan`: which components lie together is nothing a result may show."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import BucketPlan, RaggedArray, ragged

from .harness.compare import assert_components
from .harness.ways import strict

RNG = np.random.default_rng(0)
SHAPES = [(2, 3), (0, 2), (4, 1), (2, 3), (1, 0)]
MATRICES = [RNG.normal(size=s).astype("float32") for s in SHAPES]
ROWS = [RNG.normal(size=(n, 2)).astype("float32") for n in (3, 0, 1, 4)]
NESTED = [[np.arange(3.0), np.arange(1.0)], [], [np.arange(2.0)]]


same = assert_components


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_exact(xp: str) -> None:
    x = ra.testing.poison(ra.with_capacity(ragged(MATRICES, xp=xp), 24))
    same(ra.map_components(lambda m: m.T @ m, x), [m.T @ m for m in MATRICES])
    same(ra.map_components(lambda m: m.sum(), x), [m.sum() for m in MATRICES])
    same(ra.map_components(lambda m: m.reshape(-1), x), [m.reshape(-1) for m in MATRICES])
    out = ra.map_components(lambda m: {"first": m[:1], "both": (m + 1, m.sum(axis=0))}, x)
    same(out["first"], [m[:1] for m in MATRICES])
    same(out["both"][0], [m + 1 for m in MATRICES])
    same(out["both"][1], [m.sum(axis=0) for m in MATRICES])
    assert out["both"][0].capacity == (24 if xp == "jax" else 16)


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_rows_and_nested_rows(xp: str) -> None:
    x = ragged(ROWS, item_shape=(None, 2), xp=xp)
    out = ra.map_components(lambda r: r[::-1] * 2, x)
    same(out, [r[::-1] * 2 for r in ROWS])
    assert out.partitions[0] is x.partitions[0]
    same(ra.map_components(lambda r, w: r @ w, x, np.ones((4, 2, 3), np.float32)), [r @ np.ones((2, 3)) for r in ROWS])
    deep = ragged(NESTED, item_shape=(None, None), xp=xp)
    out = ra.map_components(lambda r: r - r.sum(), deep)
    assert out.shape == (3, None, None)
    assert out.to("numpy").tolist() == [[(r - r.sum()).tolist() for r in row] for row in NESTED]
    assert ra.map_components(lambda r: r.sum(), deep).to("numpy").tolist() == [[3.0, 0.0], [], [1.0]]


def test_structure_follows_f_alone() -> None:
    """A batch of equal shapes has the structure of any other."""
    x = ragged([np.ones((3, 3)), np.ones((3, 3))], item_shape=(None, None))
    assert ra.map_components(lambda m: m[0, :3], x).shape == (2, 3)
    assert ra.map_components(lambda m: m[0], x).shape == (2, None)
    assert ra.map_components(lambda m: m[:, None], x).shape == (2, None, 1, None)
    none = ra.from_blocks(np.zeros(0), np.zeros((0, 2), int))
    assert ra.map_components(lambda m: m.T @ m, none).shape == (0, None, None)
    assert ra.map_components(lambda m: m.sum(), none).shape == (0,)
    refuses = ragged([[1.0, 2.0], [3.0, 4.0, 5.0, 6.0]])
    assert ra.map_components(lambda r: r.reshape(-1, 2), refuses).tolist() == [[[1, 2]], [[3, 4], [5, 6]]]


def test_strict_library() -> None:
    x = strict(ragged(MATRICES))
    out = ra.map_components(lambda m: m @ m.T, x)
    assert [np.asarray(m.shape).tolist() for m in out.unbind()] == [[s[0], s[0]] for s in SHAPES]


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_padded_has_masks(xp: str) -> None:
    x = ra.testing.poison(ra.with_capacity(ragged(MATRICES, xp=xp), 24))

    def f(m: Any, mask: Any) -> Any:
        assert m.shape == mask.shape
        return (m * mask).sum(), m + mask

    total, more = ra.map_components(f, x, bucket="padded")
    same(total, [m.sum() for m in MATRICES])
    same(more, [m + 1 for m in MATRICES])
    rows = ragged(ROWS, item_shape=(None, 2), xp=xp)
    out = ra.map_components(lambda r, mask: (r * mask[:, None]).sum(), rows, bucket=BucketPlan.make(rows))
    same(out, [r.sum() for r in ROWS])
    half = ra.map_components(lambda r, mask: r[::2], rows, bucket="padded", shape=lambda s: ((s[0] + 1) // 2, 2))
    same(half, [r[::2] for r in ROWS])


def test_plan_compiles_once() -> None:
    """One trace for two sets of sizes; overflow is NaN, or raises where it can."""
    x = ragged(MATRICES, xp="jax")
    plan = BucketPlan.make(x, max_buckets=2)
    f = ra.testing.count_traces(lambda x: ra.map_components(lambda m, mask: m.T @ m, x, bucket=plan))
    g = jax.jit(f)
    same(g(ra.testing.poison(ra.with_capacity(x, 25))), [m.T @ m for m in MATRICES])
    other = [RNG.normal(size=s).astype("float32") for s in [(1, 3), (4, 1), (0, 0), (2, 2), (1, 3)]]
    y = ra.testing.poison(ra.with_capacity(ragged(other, xp="jax"), 25))
    same(g(y), [m.T @ m for m in other])
    assert f.count == 1
    large = ra.with_capacity(ragged([np.ones((1, 5), np.float32)] * 5, item_shape=(None, None), xp="jax"), 25)
    assert np.isnan(g(large).values).all()
    assert f.count == 1
    with pytest.raises(ValueError, match=r"^map_components: expected components that the buckets hold, got 5 without"):
        ra.map_components(lambda m, mask: m.T @ m, large, bucket=plan)
    with pytest.raises(Exception, match="expected components that the buckets hold, got 5 without a place"):
        ra.checked(lambda x: ra.map_components(lambda m, mask: m.T @ m, x, bucket=plan))(large)


def test_plan() -> None:
    x, y = ragged(MATRICES), ragged([m.T for m in MATRICES])
    plan = BucketPlan.make(x, y, headroom=0.0, max_buckets=3)
    assert plan == BucketPlan.from_sizes(x.block.sizes, y.block.sizes, headroom=0.0, max_buckets=3)
    assert hash(plan) == hash(BucketPlan.make(x, y, headroom=0.0, max_buckets=3))
    assert plan.groups == (2, 2)
    assert plan.places == 5
    assert len(plan.buckets) <= 3
    padded = sum(n * (s[0] * s[1] + s[2] * s[3]) for s, n in plan.buckets)
    used = 2 * sum(m.size for m in MATRICES)
    assert plan.waste == plan.padding_waste(x, y) == pytest.approx(1 - used / padded)
    assert BucketPlan.make(x, headroom=2.0).places > BucketPlan.make(x, headroom=0.0).places == 5
    assert jax.tree.leaves(plan) == []
    many = BucketPlan.from_sizes(RNG.integers(1, 200, size=(300, 2)), max_buckets=5)
    assert len(many.buckets) <= 5
    assert all(a <= b for a, b in zip(many.buckets, many.buckets[1:], strict=False) if a[0] == b[0])


def test_gradient() -> None:
    x = ra.testing.poison(ra.with_capacity(ragged(MATRICES, xp="jax"), 20))

    def f(m: Any) -> Any:
        return jnp.tanh(m.T @ m)

    plan = BucketPlan.make(x, max_buckets=1)
    want = [jax.grad(lambda m: f(m).sum())(jnp.asarray(m)) for m in MATRICES]
    for bucket, g in (("exact", f), (plan, lambda m, mask: f(m))):

        def loss(x: RaggedArray, bucket: Any = bucket, g: Any = g) -> Any:
            return ra.sum(ra.map_components(g, x, bucket=bucket))

        got = ra.grad(loss)(x)
        same(got, [np.asarray(w) for w in want])
        assert not np.asarray(got.values)[16:].any()


MESSAGES = [
    (lambda: ra.map_components(len, np.ones(3)), TypeError,
     "map_components: expected a RaggedArray among the operands, got ndarray. Call `f` itself."),
    (lambda: ra.map_components(lambda a, b: a, ragged([[1.0], [2.0]]), ragged([[1.0]])), ValueError,
     "map_components: expected 2 components, got 1 in operand 1. Pass one component for each."),
    (lambda: ra.map_components(lambda a, b: a, ragged(NESTED, item_shape=(None, None)), ragged([[1.0]] * 3)),
     ValueError, "map_components: expected 1 levels above the components, got 0 in operand 1. Nest both alike."),
    (lambda: ra.map_components(lambda a, b: a, ragged([[[1.0], [2.0]], []]), ragged([[[1.0]], [[2.0]]])), ValueError,
     "map_components: expected equal row lengths along axis 1, got 2 and 1 at row 0. Align the rows first, or use "
     "`ra.to_padded`."),
    (lambda: ra.map_components(lambda a: a, ragged([[1.0]]), bucket="best"), ValueError,
     "map_components: expected bucket 'exact', 'padded' or a BucketPlan, got 'best'. Pass `bucket=` one of these."),
    (lambda: ra.map_components(lambda a, m: a[::2], ragged([[1.0]]), bucket="padded"), ValueError,
     "map_components: expected sizes that follow those of an operand, got others. Pass `shape=`, a function of the "
     "sizes."),
    (lambda: ra.map_components(lambda a: a, ragged([[1.0]]), bucket=BucketPlan.make(ragged(MATRICES))), ValueError,
     "map_components: expected a plan for (1,) ragged axes of the operands, got one for (2,). Make it of the same "
     "operands, with `ra.BucketPlan.make`."),
    (lambda: jax.jit(lambda x: ra.map_components(lambda a: a, x))(ragged([[1.0]], xp="jax")), ra.DynamicShapeError,
     "map_components: expected sizes that can be read, got traced ones. Pass `bucket=`, a `ra.BucketPlan` made outside "
     "jit."),
    (lambda: jax.jit(lambda x: BucketPlan.make(x).places)(ragged([[1.0]], xp="jax")), ra.DynamicShapeError,
     "BucketPlan.from_sizes: expected sizes that can be read, got traced ones. Make the plan outside jit."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), MESSAGES, ids=lambda v: "")
def test_messages(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
