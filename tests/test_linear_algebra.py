"""Products and linear algebra on lists of matrices, against each component alone, with poisoned slack."""

import string
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import BlockPartition, BucketPlan, RaggedArray, ragged

from .harness.compare import assert_components

RNG = np.random.default_rng(1)
SIZES = {
    "one": [(2, 3, 4), (0, 2, 5), (4, 1, 1), (2, 0, 3), (3, 3, 2)],
    "two": [(1, 3, 2), (3, 2, 4), (2, 2, 3), (0, 0, 1), (4, 3, 4)],
}
SLOTS = 60
"""Slots of every operand, so that both batches have one structure."""


def draw(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def symmetric(n: int) -> np.ndarray:
    a = draw(n, n)
    return a @ a.T + n * np.eye(n)


DATA: dict[str, dict[str, list[np.ndarray]]] = {
    name: {
        "a": [draw(m, k) for m, k, _ in sizes],
        "b": [draw(k, n) for _, k, n in sizes],
        "v": [draw(k) for _, k, _ in sizes],
        "w": [draw(n) for _, _, n in sizes],
        "q": [draw(m, 2) for m, _, _ in sizes],
        "r": [draw(k, 2) for _, k, _ in sizes],
        "s": [symmetric(m) for m, _, _ in sizes],
        "c": [draw(m, n) for m, _, n in sizes],
    }
    for name, sizes in SIZES.items()
}
DENSE = {"d": draw(2, 3), "e": draw(5, 2, 3), "f": draw(2)}
ITEM = {"q": (None, 2), "r": (None, 2), "v": (None,), "w": (None,)}


def operand(key: str, batch: str, xp: str) -> Any:
    if key in DENSE:
        return jnp.asarray(DENSE[key]) if xp == "jax" else DENSE[key]
    x = ragged(DATA[batch][key], item_shape=ITEM.get(key, (None, None)), xp=xp)
    return ra.testing.poison(ra.with_capacity(x, SLOTS)) if xp == "jax" else x


def component(key: str, batch: str, i: int) -> np.ndarray:
    return DATA[batch][key][i] if key not in DENSE else DENSE[key][i] if key == "e" else DENSE[key]


Case = tuple[str, Callable[..., Any], Callable[..., Any], bool]
PRODUCTS: list[Case] = [
    ("ab", ra.matmul, np.matmul, True),
    ("av", ra.mv, np.matmul, True),
    ("va", lambda v, a, **k: ra.matmul(v, ra.map_components(lambda m: m.T, a) if not k else a, **k),
     lambda v, a: v @ a.T, False),
    ("qd", lambda q, d, **k: ra.mm(q, d), np.matmul, False),
    ("qe", lambda q, e, **k: ra.bmm(q, e), np.matmul, False),
    ("qf", lambda q, f, **k: q @ f, np.matmul, False),
    ("ar", ra.matmul, np.matmul, True),
    ("cab", lambda c, a, b, **k: ra.addmm(c, a, b, beta=0.5, alpha=2.0, **k), lambda c, a, b: c / 2 + 2 * a @ b, True),
    ("qr", lambda q, r, **k: ra.einsum("bld,bmd->blm", q, r, **k), lambda q, r: q @ r.T, True),
    ("aqr", lambda a, q, r, **k: ra.einsum("blm,bld,bmd->bl", a, q, r, **k),
     lambda a, q, r: np.einsum("lm,ld,md->l", a, q, r), True),
    ("qq", lambda q, p, **k: ra.einsum("bld,ble->bde", q, p), lambda q, p: q.T @ p, False),
    ("qq", lambda q, p, **k: ra.vecdot(q, p, axis=1), lambda q, p: (q * p).sum(axis=0), False),
    ("qd", lambda q, d, **k: ra.tensordot(q, d, axes=1), lambda q, d: q @ d, False),
    ("vw", lambda v, w, **k: ra.linalg.outer(v, w, **k), np.multiply.outer, True),
    ("vf", lambda v, f, **k: ra.linalg.outer(v, f), np.multiply.outer, False),
    ("c", lambda c, **k: ra.einsum("bij->bji", c, **k), np.transpose, True),
    ("s", lambda s, **k: ra.einsum("bii->b", s, **k), np.trace, True),
    ("ab", lambda a, b, **k: ra.einsum("bij,bjk->b", a, b, **k), lambda a, b: (a @ b).sum(), True),
    ("q", lambda q, **k: ra.einsum("bld->bd", q), lambda q: q.sum(axis=0), False),
]  # fmt: skip
SPECTRAL: list[Case] = [
    ("s", ra.linalg.inv, np.linalg.inv, True),
    ("s", ra.linalg.det, np.linalg.det, True),
    ("s", lambda s, **k: ra.linalg.slogdet(s, **k).logabsdet, lambda s: np.linalg.slogdet(s)[1], True),
    ("s", ra.linalg.cholesky, np.linalg.cholesky, True),
    ("s", lambda s, **k: ra.linalg.cholesky(s, upper=True, **k), lambda s: np.linalg.cholesky(s).T, True),
    ("s", ra.linalg.eigvalsh, np.linalg.eigvalsh, True),
    ("s", lambda s, **k: abs(ra.linalg.eigh(s, **k).eigenvectors), lambda s: abs(np.linalg.eigh(s)[1]), True),
    ("s", lambda s, **k: ra.linalg.matrix_power(s, 3, **k), lambda s: s @ s @ s, True),
    ("sc", ra.linalg.solve, np.linalg.solve, True),
    ("sq", ra.linalg.solve, np.linalg.solve, True),
    ("a", ra.linalg.pinv, np.linalg.pinv, True),
    ("a", ra.linalg.matrix_rank, np.linalg.matrix_rank, True),
    ("a", ra.linalg.svdvals, np.linalg.svdvals, True),
    ("a", lambda a, **k: ra.linalg.trace(a, offset=1), lambda a: np.trace(a, 1), False),
    ("a", lambda a, **k: ra.linalg.diagonal(a, offset=-1), lambda a: np.diagonal(a, -1), False),
    ("q", lambda q, **k: ra.linalg.diagonal(q), np.diagonal, False),
    *(("c", lambda c, ord=ord, **k: ra.linalg.matrix_norm(c, ord=ord), lambda c, ord=ord: norm(c, ord), False)
      for ord in ("fro", 1, float("inf"))),
    ("c", lambda c, **k: ra.linalg.matrix_norm(c, ord="nuc", **k), lambda c: np.linalg.svdvals(c).sum(), True),
    ("a", lambda a, **k: abs(ra.linalg.qr(a, **k).R), lambda a: abs(np.linalg.qr(a)[1]), True),
    ("a", lambda a, **k: abs(ra.linalg.svd(a, full_matrices=False, **k).U),
     lambda a: abs(np.linalg.svd(a, full_matrices=False)[0]), True),
]  # fmt: skip


def norm(a: np.ndarray, ord: Any) -> Any:
    sums = abs(a).sum(axis=0 if ord == 1 else 1)
    return np.sqrt((a * a).sum()) if ord == "fro" else sums.max(initial=0)


def check(got: Any, want: list[Any], what: str = "", rtol: float = 1e-6) -> None:
    assert_components(got, want, rtol, 1e-7, what)


def wanted(case: Case, batch: str) -> list[Any]:
    keys, _, f, _ = case
    return [f(*(component(key, batch, i) for key in keys)) for i in range(5)]


@pytest.mark.parametrize("case", [c for c in PRODUCTS + SPECTRAL], ids=lambda c: c[0])
@pytest.mark.parametrize("bucket", [None, "padded", "plan"])
def test_numpy(case: Case, bucket: Any) -> None:
    keys, f, _, planned = case
    if bucket is not None and not planned:
        pytest.skip("needs no plan")
    xs = [operand(key, "one", "numpy") for key in keys]
    factors = xs[-2:] if keys == "cab" else xs
    options = {} if bucket is None else {"bucket": BucketPlan.make(*factors) if bucket == "plan" else bucket}
    check(f(*xs, **options), wanted(case, "one"))


@pytest.mark.parametrize(
    "cases", [pytest.param(PRODUCTS, id="products"), pytest.param(SPECTRAL, id="spectral", marks=pytest.mark.nightly)]
)
def test_jitted_with_a_plan(cases: list[Case]) -> None:
    """One trace for two sets of sizes, whatever slack holds."""
    with jax.enable_x64(True):
        plans = []
        for keys, _, _, _ in cases:
            sizes = [np.concatenate([operand(k, n, "numpy").block.sizes if k not in ITEM else
                                     np.diff(operand(k, n, "numpy").row_splits)[:, None] for n in SIZES])
                     for k in keys.removeprefix("c" if keys == "cab" else "-") if k not in DENSE]  # fmt: skip
            plans.append(BucketPlan.from_sizes(*sizes, headroom=0.0, max_buckets=1))
        run = [c for c in cases if c[0] != "va"]
        used = [p for c, p in zip(cases, plans, strict=True) if c[0] != "va"]
        keys = sorted(set("".join(c[0] for c in run)))

        def every(given: dict[str, Any]) -> list[Any]:
            return [
                f(*(given[k] for k in names), **({"bucket": plan} if planned else {}))
                for (names, f, _, planned), plan in zip(run, used, strict=True)
            ]

        traced = ra.testing.count_traces(every)
        compiled = jax.jit(traced)
        for batch in SIZES:
            results = compiled({k: operand(k, batch, "jax") for k in keys})
            for i, (case, got) in enumerate(zip(run, results, strict=True)):
                check(got, wanted(case, batch), f"{batch} {case[0]} {i}")
        assert traced.count == 1


DIFFERENTIABLE: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
    ("ab", ra.matmul, jnp.matmul),
    ("qd", lambda q, d, **k: ra.matmul(q, d), jnp.matmul),
    ("qe", lambda q, e, **k: ra.matmul(q, e), jnp.matmul),
    ("qr", lambda q, r, **k: ra.einsum("bld,bmd->blm", q, r, **k), lambda q, r: q @ r.T),
    ("ar", lambda a, r, **k: ra.einsum("blm,bmd->bld", a, r), jnp.matmul),
    ("qf", lambda q, f, **k: ra.einsum("bld,d->bl", q, f), jnp.matmul),
    ("s", ra.linalg.inv, jnp.linalg.inv),
    ("s", lambda s, **k: ra.linalg.slogdet(s, **k).logabsdet, lambda s: jnp.linalg.slogdet(s)[1]),
    ("s", ra.linalg.cholesky, jnp.linalg.cholesky),
    ("s", lambda s, **k: ra.linalg.eigh(s, **k).eigenvectors ** 2, lambda s: jnp.linalg.eigh(s)[1] ** 2),
    ("sc", ra.linalg.solve, jnp.linalg.solve),
    ("a", ra.linalg.pinv, jnp.linalg.pinv),
    ("t", lambda t, **k: ra.linalg.svd(t, full_matrices=False, **k).U ** 2,
     lambda t: jnp.linalg.svd(t, full_matrices=False)[0] ** 2),
    ("t", lambda t, **k: ra.linalg.qr(t, **k).Q ** 2, lambda t: jnp.linalg.qr(t)[0] ** 2),
    ("t", lambda t, **k: ra.linalg.matrix_norm(t), jnp.linalg.norm),
]  # fmt: skip


def test_gradients() -> None:
    """Of all operands, under jit with a plan, against `jax.grad` of each component."""
    data = {k: v[:3] for k, v in DATA["one"].items()}
    sizes = [(2, 3, 4), (3, 2, 5), (4, 1, 1)]
    data |= {"a": [draw(m, k) for m, k, _ in sizes], "b": [draw(k, n) for _, k, n in sizes]}
    data |= {"q": [draw(m, 2) for m, _, _ in sizes], "r": [draw(k, 2) for _, k, _ in sizes]}
    data |= {"s": [symmetric(m) for m, _, _ in sizes], "c": [draw(m, n) for m, _, n in sizes]}
    data["t"] = [draw(m + 1, m) for m, _, _ in sizes]
    dense = DENSE | {"e": DENSE["e"][:3]}

    def loss_of(out: Any) -> Any:
        return ra.sum(ra.sin(out)) if isinstance(out, RaggedArray) else jnp.sum(jnp.sin(out))

    with jax.enable_x64(True):
        given: dict[str, Any] = {k: jnp.asarray(v) for k, v in dense.items()}
        for key in data:
            x = ragged(data[key], item_shape=ITEM.get(key, (None, None)), xp="jax")
            given[key] = ra.testing.poison(ra.with_capacity(x, SLOTS))
        plans = [
            BucketPlan.make(*(given[k] for k in names), headroom=0.0, max_buckets=1) for names, _, _ in DIFFERENTIABLE
        ]

        def ours(given: dict[str, Any]) -> list[Any]:
            return [
                ra.grad(lambda *xs, f=f, p=p: loss_of(f(*xs, bucket=p)), tuple(range(len(n))))(*(given[k] for k in n))
                for (n, f, _), p in zip(DIFFERENTIABLE, plans, strict=True)
            ]

        def theirs(parts: dict[str, Any]) -> list[Any]:
            def total(f: Any, *xs: Any) -> Any:
                return sum(jnp.sum(jnp.sin(f(*each))) for each in zip(*xs, strict=True))

            return [
                jax.grad(lambda *xs, f=f: total(f, *xs), tuple(range(len(n))))(*(parts[k] for k in n))
                for n, _, f in DIFFERENTIABLE
            ]

        parts = {k: [jnp.asarray(a) for a in v] for k, v in data.items()}
        parts |= {"d": [given["d"]] * 3, "f": [given["f"]] * 3, "e": list(given["e"])}
        for (names, _, _), got, want in zip(DIFFERENTIABLE, jax.jit(ours)(given), jax.jit(theirs)(parts), strict=True):
            for name, g, w in zip(names, got, want, strict=True):
                if isinstance(g, RaggedArray):
                    check(g, w, f"{names} {name}", rtol=1e-5)
                    assert not np.asarray(g.values)[sum(a.size // np.prod(g.inner_shape, dtype=int) for a in w) :].any()
                else:
                    summed = np.stack(w) if name == "e" else np.sum(w, axis=0)
                    np.testing.assert_allclose(g, summed, rtol=1e-5, err_msg=f"{names} {name}")


def view(xp: str) -> tuple[RaggedArray, list[np.ndarray]]:
    """Transposed and reversed components over a buffer with holes."""
    buffer = np.full(40, np.nan)
    sizes, strides, offsets, want = [(3, 2), (1, 4), (2, 2)], [(1, 4), (5, 1), (-3, 1)], [1, 12, 25], []
    for (h, w), (s, t), o in zip(sizes, strides, offsets, strict=True):
        a = draw(h, w)
        for i in range(h):
            for j in range(w):
                buffer[o + i * s + j * t] = a[i, j]
        want.append(a)
    buffer = buffer.astype("float32") if xp == "jax" else buffer
    x = ra.from_blocks(buffer if xp == "numpy" else jnp.asarray(buffer), np.array(sizes),
                       strides=np.array(strides), offsets=np.array(offsets))  # fmt: skip
    return x, want


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_strided_views(xp: str) -> None:
    x, parts = view(xp)
    check(ra.einsum("bij,bkj->bik", x, x), [a @ a.T for a in parts], rtol=1e-4)
    check(ra.linalg.diagonal(x), [np.diagonal(a) for a in parts])
    check(ra.linalg.svdvals(x), [np.linalg.svdvals(a) for a in parts], rtol=1e-4)
    check(ra.einsum("bij->b", x), [a.sum() for a in parts], rtol=1e-4)


def test_products_without_a_plan() -> None:
    """Rows times rows over an inner axis, and a block times rows, are computed by address under jit."""
    q, r = operand("q", "one", "jax"), operand("r", "one", "jax")

    def f(q: RaggedArray, r: RaggedArray) -> tuple[Any, Any]:
        scores = ra.einsum("bld,bmd->blm", q, r, capacity=50)
        return scores, ra.matmul(scores, r, capacity=40)

    scores, out = jax.jit(f)(q, r)
    assert (scores.capacity, out.capacity) == (50, 40)
    check(scores, [a @ b.T for a, b in zip(DATA["one"]["q"], DATA["one"]["r"], strict=True)], rtol=1e-4)
    check(out, [a @ b.T @ b for a, b in zip(DATA["one"]["q"], DATA["one"]["r"], strict=True)], rtol=1e-4)
    short = jax.jit(lambda q, r: ra.einsum("bld,bmd->blm", q, r, capacity=3))(q, r)
    assert np.isnan(short.values).all()


def test_dtypes() -> None:
    a = [np.full((1, 600), 1.0, np.float16), np.full((2, 3), 0.1, np.float16)]
    for xp in ("numpy", "jax"):
        x = ragged(a, xp=xp)
        out = ra.einsum("bij,bkj->bik", x, x)
        assert str(out.dtype) == "float16"
        assert out.to("numpy").tolist()[0] == [[600.0]]
    z = [draw(2, 2) + 1j * draw(2, 2), draw(3, 3) + 1j * draw(3, 3)]
    check(ra.linalg.inv(ragged(z)), [np.linalg.inv(a) for a in z])
    check(ra.linalg.inv(ragged(z), bucket="padded"), [np.linalg.inv(a) for a in z])
    i = ragged([np.array([[1, 2], [3, 4]]), np.array([[5]])])
    assert (i @ i).dtype == np.dtype(int)
    assert (i @ i).tolist() == [[[7, 10], [15, 22]], [[25]]]
    assert ra.linalg.inv(ragged([np.array([[2]]), np.eye(2, dtype=int)])).tolist() == [[[0.5]], [[1, 0], [0, 1]]]
    assert ra.linalg.cross(ragged([[[1, 0, 0]], []], item_shape=(None, 3)), np.array([0, 1, 0])).tolist() == [
        [[0, 0, 1]],
        [],
    ]


def test_strict_library() -> None:
    def moved(x: RaggedArray) -> RaggedArray:
        p: Any = x.block
        sizes = array_api_strict.asarray(p.sizes)
        parts: Any = (BlockPartition(sizes, axes=p.axes, bound=p.bound),)
        return RaggedArray(array_api_strict.asarray(x.values), parts)

    a, b, s = (moved(operand(k, "one", "numpy")) for k in "abs")
    for got, key in ((a @ b, "ab"), (ra.linalg.inv(s), "s")):
        want = wanted(PRODUCTS[0] if key == "ab" else SPECTRAL[0], "one")
        np.testing.assert_allclose(np.asarray(got.values), np.concatenate([w.ravel() for w in want]), rtol=1e-6)


def test_images_and_lists_of_matrices() -> None:
    """Channel-first images, matrices in rows, and singular matrices that padding must not mix with."""
    images = [draw(3, 2, 4), draw(3, 1, 2)]
    x = ragged(images, item_shape=(3, None, None))
    check(ra.linalg.matrix_norm(x), [np.linalg.norm(a, axis=(1, 2)) for a in images])
    check(ra.linalg.svdvals(x, bucket=BucketPlan.make(x)), [np.linalg.svdvals(a) for a in images])
    flat = [draw(2, 3, 3), draw(0, 3, 3)]
    check(ra.linalg.inv(ragged(flat, item_shape=(None, 3, 3))), [np.linalg.inv(a) for a in flat])
    weight = draw(3, 2)
    check(ragged(flat, item_shape=(None, 3, 3)) @ weight, [a @ weight for a in flat])
    ranks = [np.ones((4, 2)), np.zeros((2, 3)), draw(1, 3)]
    y = ragged(ranks)
    for full in (False, True):
        u, s, vh = ra.linalg.svd(y, full_matrices=full, bucket=BucketPlan.make(y))
        for a, u1, s1, v1 in zip(ranks, u.unbind(), s.unbind(), vh.unbind(), strict=True):
            k = min(a.shape)
            np.testing.assert_allclose(u1[:, :k] * s1 @ v1[:k], a, atol=1e-12)
            np.testing.assert_allclose(u1.T @ u1, np.eye(u1.shape[1]), atol=1e-12)
            np.testing.assert_allclose(v1 @ v1.T, np.eye(v1.shape[0]), atol=1e-12)


X, Y = ragged([np.ones((2, 3)), np.ones((1, 2))]), ragged([[1.0, 2.0], [3.0]])
MESSAGES = [
    (lambda: X @ X, ValueError, "matmul: expected equal sizes where axes meet, got 3 and 2 in component 0. "
     "Check the shapes."),
    (lambda: Y @ 2.0, ValueError, "matmul: expected vectors and matrices, got a number. Use `ra.multiply`."),
    (lambda: ra.mm(Y, X), ValueError, "mm: expected matrices as operand 0, got shape (2, None). Use `ra.matmul` for "
     "other products."),
    (lambda: ra.linalg.inv(Y), ValueError,
     "linalg.inv: expected components with two axes or more, got shape (2, None). Make rows of rows one block with "
     "`ra.to_blocks`, vectors matrices with `ra.expand_dims`."),
    (lambda: ra.linalg.det(X), ValueError,
     "linalg.det: expected equal sizes where axes meet, got 2 and 3 in component "
     "0. Check the shapes."),
    (lambda: X @ np.ones((3, 2, 2)), ValueError,
     "matmul: expected 2 entries along axis 0, got 3 in operand 1. Pass one entry for each row."),
    (lambda: ra.einsum("bij,bjk->bik", X, np.ones((3, 2, 2))), ValueError,
     "einsum: expected 2 entries along 'b', got 3 in operand 1. Pass one entry for each row."),
    (lambda: ragged([[[1.0]], [[2.0], []]]) @ Y, ValueError,
     "matmul: expected operands with as many levels of rows, got 2 in shape (2, None, None) and 1 in shape (2, None). "
     "Rows of rows become matrices by `ra.to_blocks`."),
    (lambda: ra.einsum("bi,ci->bc", Y, Y), ValueError,
     "einsum: expected ragged operands that begin with 'b', got 'ci'. "
     "Rows meet rows of the same index."),
    (lambda: ra.einsum("bi->ib", Y), ValueError,
     "einsum: expected a result that begins with 'b', or is without it, got "
     "'ib'. Rows stay where they are."),
    (lambda: ra.einsum("bij", Y), ValueError, "einsum: expected 3 axes for 'bij', got shape (2, None) as operand 0. "
     "Name every axis by a letter."),
    (lambda: ra.tensordot(X, X), ValueError, "tensordot: expected a plain second operand, got shape (2, None, None). "
     "Name the axes with `ra.einsum`."),
    (lambda: jax.jit(ra.matmul)(X.to("jax"), X.to("jax")), ra.DynamicShapeError, "matmul: expected sizes that can be "
     "read, got traced ones. Pass `bucket=`, a `ra.BucketPlan` made outside jit."),
    (lambda: jax.jit(ra.linalg.outer)(Y.to("jax"), Y.to("jax")), ra.DynamicShapeError,
     "linalg.outer: expected a result "
     "of static size, got traced sizes. Pass `capacity=`, or `bucket=`, a `ra.BucketPlan` made outside jit."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), MESSAGES, ids=lambda v: "")
def test_messages(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


SPECS = ["bij,bik->bjk", "bld,bmd->blm", "bld,bld,de->ble", "bld,bd,de->bl", "bld,d->b", "bld,bl->bd", "blm,bld,bmd->b"]
"""Buckets, addresses, flat values; every kind of axis as a letter kept and summed."""


def of_spec(spec: str, xp: str) -> list[Any]:
    ragged_letters = {"i": "m", "j": "k", "k": "n", "l": "m", "m": "k"}
    sizes = [dict(zip("mkn", s, strict=True)) for s in SIZES["one"]]
    rng = np.random.default_rng(2)
    made: list[Any] = []
    for term in spec.split("->")[0].split(","):
        item = tuple(None if c in ragged_letters else 2 for c in term[1:])
        if term[0] != "b":
            made.append(rng.normal(size=(2,) * len(term)))
        elif None in item:
            shapes = [tuple(of.get(ragged_letters.get(c, ""), 2) for c in term[1:]) for of in sizes]
            x = ra.with_capacity(ragged([rng.normal(size=s) for s in shapes], item_shape=item), SLOTS)
            made.append(ra.testing.poison(x).to(xp))
        else:
            made.append(rng.normal(size=(5, *item)))
    return made


@pytest.mark.parametrize(
    ("spec", "xp", "names"),
    [*((s, "numpy", string.ascii_letters) for s in SPECS), (SPECS[0], "jax", "Y"), (SPECS[2], "jax", "Z")],
)
def test_any_letter_may_name_any_axis(spec: str, xp: str, names: str) -> None:
    operands = of_spec(spec, xp)
    want = ra.einsum(spec, *operands)
    for role in sorted(set(spec) - set(",->")):
        for name in names:
            swapped = spec.translate(str.maketrans(role + name, name + role))
            assert ra.allclose(ra.einsum(swapped, *operands), want, rtol=1e-5), swapped


@pytest.mark.parametrize("convert", [lambda x: x, ra.to_blocks], ids=["rows", "block"])
@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_rows_under_a_level_of_one_are_matrices_of_one_row(convert: Callable[[Any], Any], xp: str) -> None:
    parts = [draw(3), draw(0), draw(2)]
    x = ra.testing.poison(ra.with_capacity(ragged(parts), 8)) if xp == "jax" else ragged(parts)
    row = ra.expand_dims(convert(x.to(xp)), axis=1)
    assert row.shape == (3, 1, None)
    columns, one = draw(3, 2, 1), draw(2, 1)
    check(columns @ row, [a @ v[None] for a, v in zip(columns, parts, strict=True)], rtol=1e-5)
    check(one @ row, [one @ v[None] for v in parts], rtol=1e-5)
    if xp == "jax":
        got = jax.jit(lambda a, x: a @ x)(jnp.asarray(columns), row)
        check(got, [a @ v[None] for a, v in zip(columns, parts, strict=True)], rtol=1e-5)


def files_at_once(call: Callable[[], Any]) -> list[str]:
    """Files of operations that a call stands in, one called by the other, where it enters a kernel: the most there are.

    What every function does before and after is not counted: the edge of the package, and the kernels themselves.
    """
    package = Path(ra.__file__).parent
    most: list[str] = []

    def enter(frame: Any, event: str, _: Any) -> None:
        if event != "call" or package / "backends" not in Path(frame.f_code.co_filename).parents:
            return
        files: dict[str, None] = {}
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(package):
                name = path.relative_to(package).as_posix()
                if name.split("/")[0] in ("engine", "linalg", "ops") and name != "engine/edge.py":
                    files[name] = None
            frame = frame.f_back
        if len(files) > len(most):
            most[:] = list(files)[::-1]

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return most


@pytest.mark.parametrize("keys", ["qd", "qe", "ar", "ab"])
@pytest.mark.parametrize("bucket", [None, "padded", "plan"])
def test_a_product_passes_few_files(keys: str, bucket: Any) -> None:
    xs = [operand(key, "one", "numpy") for key in keys]
    if bucket == "plan":
        bucket = BucketPlan.make(*xs)
    files = files_at_once(lambda: ra.matmul(*xs, bucket=bucket))
    assert files[:2] == ["linalg/_products.py", "linalg/_strategies.py"]
    assert len(files) <= 5, files
