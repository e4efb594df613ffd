"""The array API's names and signatures, its behaviour on plain arrays, and the pages that list functions."""

import importlib.util
import inspect
import re
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import array_api_strict
import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import raggedarray as ra
from raggedarray import RaggedArray

from . import nested
from .harness.ways import Way

ROOT = Path(__file__).parent.parent


def page_tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "_ext" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = page_tables()
OWN = {
    "ArrayAPIStrictFlags", "Device", "__version__", "get_array_api_strict_flags", "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}  # fmt: skip
"""Names of array-api-strict that are not of the standard."""
MAIN = sorted(set(array_api_strict.__all__) - OWN)
EXTENSIONS = ("linalg", "fft")
NAMES = [n for n in MAIN if n not in EXTENSIONS] + [
    f"{extension}.{n}" for extension in EXTENSIONS for n in getattr(array_api_strict, extension).__all__
]


def lookup(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


FUNCTIONS = [n for n in NAMES if inspect.isfunction(lookup(array_api_strict, n))]


def exists(name: str) -> bool:
    try:
        TABLES.find(name)
    except AttributeError:
        return False
    return True


def test_version() -> None:
    assert ra.__array_api_version__ == array_api_strict.__array_api_version__ == TABLES.standard.VERSION


@pytest.mark.parametrize("name", NAMES)
def test_name_exists(name: str) -> None:
    module, _, last = name.rpartition(".")
    assert hasattr(lookup(ra, module) if module else ra, last)
    assert last in (lookup(ra, module) if module else ra).__all__


def faults(ours: Any, theirs: Any) -> list[str]:
    """In what our signature does not accept all that theirs does."""
    mine, out = list(inspect.signature(ours).parameters.values()), []
    for i, p in enumerate(inspect.signature(theirs).parameters.values()):
        if p.kind is p.POSITIONAL_ONLY:
            q = mine[i] if i < len(mine) else None
        elif p.kind is p.VAR_POSITIONAL:
            q = next((q for q in mine if q.kind is p.kind), None)
        else:
            q = next((q for q in mine if q.name == p.name), None)
        if q is None:
            out.append(f"lacks {p.name}")
            continue
        default = None if "UNDEF" in repr(p.default) else p.default  # strict's mark of an argument not given
        if q.kind is not p.kind or (p.kind is p.POSITIONAL_OR_KEYWORD and mine.index(q) != i):
            out.append(f"{p.name} is {q.kind.description}, not {p.kind.description}")
        if q.default is not default and q.default != default:
            out.append(f"{p.name} defaults to {q.default}, not {default}")
    theirs_too = set(inspect.signature(theirs).parameters)
    needed = [q for q in mine if q.default is q.empty and q.kind not in (q.POSITIONAL_ONLY, q.VAR_POSITIONAL)]
    return out + [f"needs {q.name}" for q in needed if q.name not in theirs_too]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature(name: str) -> None:
    found = faults(lookup(ra, name), lookup(array_api_strict, name))
    assert bool(found) == (name in TABLES.standard.EXCEPTIONS), found


def test_the_signature_test_can_fail() -> None:
    def renamed(a: Any, /, *, axes: int = 0) -> None: ...
    def positional(x: Any, axis: int = 0) -> None: ...
    def needy(x: Any, /, *, axis: int = 0, length: int) -> None: ...
    def right(x: Any, /, *, axis: int = 0, length: int = 1) -> None: ...
    def standard(x: Any, /, *, axis: int = 0) -> None: ...

    assert faults(renamed, standard) == ["lacks axis"]
    assert faults(positional, standard) == [
        "x is positional or keyword, not positional-only",
        "axis is positional or keyword, not keyword-only",
    ]
    assert faults(needy, standard) == ["needs length"]
    assert faults(right, standard) == []


def test_dtypes_and_constants() -> None:
    for name in ("bool", "int8", "int64", "uint8", "uint64", "float32", "complex128"):
        assert getattr(ra, name) == np.dtype(name)
        assert ra.ragged([[1], []], dtype=getattr(ra, name)).dtype == getattr(ra, name)
    assert jax.numpy.zeros(1).dtype == ra.float32
    for name in ("e", "pi", "inf"):
        assert getattr(ra, name) == getattr(np, name)
    assert np.isnan(ra.nan)
    assert ra.newaxis is None
    info = ra.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"]
    assert info.default_dtypes()["real floating"] == ra.float64
    assert info.default_device() in info.devices()
    assert set(info.dtypes(kind="bool").values()) == {ra.bool}


def test_dtype_functions() -> None:
    x, y = ra.ragged([[1.5]], dtype="float32"), ra.ragged([[1.5]], dtype="bfloat16", xp="jax")
    assert ra.finfo(y).bits == ra.finfo(y.dtype).bits == 16
    assert ra.finfo("float32").bits == ra.finfo(x).bits == 32
    assert ra.iinfo(ra.ragged([[1]], dtype="uint8")).max == 255
    assert ra.isdtype(y.dtype, "real floating")
    assert not ra.isdtype(ra.int8, ("unsigned integer", "bool"))
    assert ra.can_cast(x, ra.float64)
    assert not ra.can_cast(ra.float64, "float32")
    assert ra.result_type(x, 2, 1.5) == ra.float32
    assert ra.result_type(x, ra.float64) == ra.float64
    assert ra.result_type(ra.int8, ra.uint8) == ra.int16
    assert ra.result_type(y, np.zeros(2)) == ra.float32  # the NumPy array moves to JAX
    for scalar in (np.float32, jax.numpy.float32):
        assert ra.isdtype(scalar, "real floating")
        assert ra.finfo(scalar).bits == 32
        assert ra.can_cast(scalar, np.float64)
        assert ra.result_type(scalar, np.float64) == ra.float64
    assert ra.finfo(jax.numpy.bfloat16).bits == 16
    assert ra.can_cast(jax.numpy.bfloat16, ra.float32)
    strict = array_api_strict
    assert ra.can_cast(strict.int8, strict.int16)
    assert ra.can_cast(strict.ones(2, dtype=strict.int8), strict.int16)
    assert ra.isdtype(strict.float32, "real floating")
    assert ra.result_type(strict.int8, strict.int16) == strict.int16
    with pytest.raises(TypeError, match=r"^result_type: expected at least one array or dtype, got 2 numbers"):
        ra.result_type(1, 2.0)


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_like(xp: str) -> None:
    x = ra.ragged([[[1, 2], [3, 4]], [], [[5, 6]]], item_shape=(None, 2), xp=xp)
    x = ra.testing.poison(x)
    for f, value in ((ra.zeros_like, 0), (ra.ones_like, 1), (lambda x, **k: ra.full_like(x, 7, **k), 7)):
        y = f(x)
        assert y.dtype == x.dtype
        assert y.tolist() == [[[value] * 2] * 2, [], [[value] * 2]]
        assert f(x, dtype="float32").dtype == ra.float32
    assert ra.empty_like(x).shape == x.shape
    text = r"^full_like: expected a fill value of dtype \w+, got 7.5. Pass `dtype=`.$"
    with pytest.raises(TypeError, match=text):
        ra.full_like(x, 7.5)
    assert ra.full_like(x, 7.5, dtype=ra.float32).tolist()[2] == [[7.5, 7.5]]
    assert isinstance(ra.zeros_like(x.values), type(x.values))


@pytest.mark.parametrize("xp", ["numpy", "jax"])
@pytest.mark.parametrize("k", [-1, 0, 1])
def test_triangles(xp: str, k: int) -> None:
    rng = np.random.default_rng(0)
    inner = [rng.random((n, 3)) for n in (2, 0, 5)]
    square = [[[1.0, 2.0, 3.0], [4.0, 5.0]], [], [[6.0], [], [7.0, 8.0, 9.0, 10.0]]]
    deep = [rng.random((n, 3, 4)) for n in (2, 1)]
    for name in ("tril", "triu"):
        f, oracle = getattr(ra, name), getattr(np, name)
        kept = (lambda i, j: j - i <= k) if name == "tril" else (lambda i, j: j - i >= k)
        run = jax.jit(partial(f, k=k)) if xp == "jax" else partial(f, k=k)
        for rows in (inner, deep):
            x = ra.testing.poison(ra.asarray(ra.from_rows(rows), xp=xp))
            for got, row in zip(run(x).to("numpy").unbind(), rows, strict=True):
                np.testing.assert_allclose(got, oracle(row, k=k), rtol=1e-6)
        x = ra.testing.poison(ra.ragged(square, xp=xp))
        want = [[[v * kept(i, j) for j, v in enumerate(r)] for i, r in enumerate(m)] for m in square]
        assert run(x).to("numpy").tolist() == want
        flat = ra.ragged([[1, 2, 3], [], [4, 5]], xp=xp)
        want_flat = [[v * kept(i, j) for j, v in enumerate(r)] for i, r in enumerate([[1, 2, 3], [], [4, 5]])]
        assert run(flat).to("numpy").tolist() == want_flat
    if xp == "jax":
        g = ra.grad(lambda x: ra.sum(ra.tril(x, k=k)))(x)
        assert ra.compact(g.to("numpy")).tolist() == [
            [[float(j - i <= k) for j in range(len(r))] for i, r in enumerate(m)] for m in square
        ]


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_matrix_transpose(xp: str) -> None:
    rows = [np.arange(n * 6.0, dtype=np.float32).reshape(n, 2, 3) for n in (2, 0, 1)]
    x = ra.testing.poison(ra.asarray(ra.from_rows(rows), xp=xp))
    y = (jax.jit(ra.matrix_transpose) if xp == "jax" else ra.linalg.matrix_transpose)(x)
    assert y.shape == (3, None, 3, 2)
    assert y.to("numpy").tolist() == [r.swapaxes(1, 2).tolist() for r in rows]
    if xp == "numpy":
        assert np.shares_memory(y.values, x.values)
    with pytest.raises(TypeError, match=r"^matrix_transpose: expected matrices as components, got rows of shape"):
        ra.matrix_transpose(ra.ragged([[1.0]], xp=xp))


def test_refusal_text() -> None:
    x = ra.ragged([[1.0]])
    with pytest.raises(TypeError) as caught:
        ra.meshgrid(x)
    assert str(caught.value) == ("meshgrid: expected plain arrays, got shape (1, None). Use `ra.to_padded(x)`.")


@pytest.mark.parametrize("ord", [2, 1, 0, 3, 0.5, -1, float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "float16"])
def test_vector_norm(ord: float, dtype: str) -> None:
    rng = np.random.default_rng(0)
    rows = [(rng.normal(size=(n, 2)) * 4).astype("complex64" if dtype == "complex64" else "float32") for n in (3, 0, 2)]
    rows = [r.astype(dtype) for r in rows]
    empty = 0.0 if ord >= 0 else np.inf
    with np.errstate(divide="ignore"):
        want = np.stack([np.linalg.norm(r.astype(complex), ord, axis=0) if len(r) else np.full(2, empty) for r in rows])
        for xp in ("numpy", "jax"):
            x = ra.testing.poison(ra.asarray(ra.from_rows(rows), xp=xp))
            run = lambda x: [ra.linalg.vector_norm(x, axis=axis, ord=ord) for axis in (1, None)]  # noqa: E731
            got, whole = (jax.jit(run) if xp == "jax" else run)(x)
            assert np.dtype(got.dtype).kind == "f"
            assert (got.dtype == np.float16) == (dtype == "float16")
            np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 2e-5)
            flat = np.concatenate(rows).reshape(-1).astype(complex)
            np.testing.assert_allclose(
                np.asarray(whole), np.linalg.norm(flat, ord), rtol=5e-3 if dtype == "float16" else 2e-5
            )


@pytest.mark.parametrize("ord", [2, 1, 3, 1.5, float("inf")])
def test_vector_norm_gradient(ord: float) -> None:
    rows = [np.array([3.0, -4.0], np.float32), np.zeros(0, np.float32), np.zeros(2, np.float32), np.ones(1, np.float32)]
    x = ra.testing.poison(ra.asarray(ra.from_rows(rows), xp="jax"))
    g = ra.grad(lambda x: ra.sum(ra.linalg.vector_norm(x, axis=1, ord=ord)))(x)
    got = ra.compact(g.to("numpy")).unbind()
    a = np.abs(rows[0])
    norm = a.max() if np.isinf(ord) else (a**ord).sum() ** (1 / ord)
    want = np.sign(rows[0]) * ((a == norm) if np.isinf(ord) else (a / norm) ** (ord - 1))
    np.testing.assert_allclose(got[0], want, rtol=1e-5)
    assert (got[2] == 0).all()
    np.testing.assert_allclose(got[3], 1)


# Plain arrays: whatever the standard defines comes out as array-api-strict says.

STRICT = make_strategies_namespace(array_api_strict)
REAL = ["int8", "int32", "uint8", "int64", "float32", "float64"]
FLOATS = ["float32", "float64"]
NATIVE = {"numpy": (REAL, FLOATS, 3, 4), "jax": (["int32", "float32"], ["float32"], 2, 2)}
"""Library -> dtypes, floating dtypes, axes and sizes that are tried: JAX compiles each anew."""


def elements(dtype: str, magnitude: float = 4) -> Any:
    """Numbers that any float dtype holds exactly, and none that a library may flush to 0."""
    if "int" in dtype:
        return st.integers(0 if dtype.startswith("u") else -int(magnitude), int(magnitude))
    return st.floats(-magnitude, magnitude, width=32, allow_subnormal=False)


def arrays(
    xp: str, floats: bool = False, min_dims: int = 0, max_dims: int = 3, min_side: int = 0, magnitude: float = 4
) -> Any:
    all_dtypes, floating, dims, side = NATIVE[xp]

    def of(dtype: str) -> Any:
        shapes = STRICT.array_shapes(
            min_dims=min_dims, max_dims=max(min_dims, min(dims, max_dims)), min_side=min_side, max_side=side
        )
        return STRICT.arrays(getattr(array_api_strict, dtype), shapes, elements=elements(dtype, magnitude))

    return st.sampled_from(floating if floats else all_dtypes).flatmap(of)


def native(x: Any, xp: str) -> Any:
    """A strict array in another library."""
    if not isinstance(x, array_api_strict._array_object.Array):
        return x
    host = np.asarray(np.from_dlpack(x)).copy()
    return jax.numpy.asarray(host) if xp == "jax" else host


def same(got: Any, want: Any, xp: str) -> None:
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, xp)
        return
    host = np.from_dlpack(want)
    assert isinstance(got, jax.Array if xp == "jax" else np.ndarray | np.generic)
    assert got.shape == host.shape
    assert np.dtype(got.dtype) == host.dtype or (xp == "jax" and np.dtype(got.dtype).kind == host.dtype.kind)
    np.testing.assert_allclose(np.asarray(got), host, rtol=2e-4, atol=2e-4)


UNARY = [
    "abs", "negative", "positive", "square", "sign", "isnan", "isfinite", "isinf", "ceil", "floor", "round", "trunc",
]  # fmt: skip
SMOOTH = ["exp", "expm1", "sin", "cos", "tanh", "sinh", "cosh", "atan", "asinh", "signbit"]
BINARY = [
    "add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal",
]  # fmt: skip
BINARY_SMOOTH = ["atan2", "copysign", "hypot", "logaddexp"]
REDUCING = ["sum", "prod", "any", "all", "count_nonzero"]
NOT_EMPTY = ["min", "max", "mean", "var", "std", "argmin", "argmax"]
XP = pytest.mark.parametrize("xp", ["numpy", "jax"])
FEW = settings(max_examples=10)


@XP
@pytest.mark.parametrize("name", UNARY + SMOOTH)
@given(data=st.data())
@FEW
def test_unary(name: str, xp: str, data: st.DataObject) -> None:
    x = data.draw(arrays(xp, floats=name in SMOOTH))
    same(getattr(ra, name)(native(x, xp)), getattr(array_api_strict, name)(x), xp)


@XP
@pytest.mark.parametrize("name", BINARY + BINARY_SMOOTH)
@given(data=st.data())
@FEW
def test_binary(name: str, xp: str, data: st.DataObject) -> None:
    real, floating, dims, side = NATIVE[xp]
    dtype = data.draw(st.sampled_from(real if name in BINARY else floating))
    one, two = data.draw(STRICT.mutually_broadcastable_shapes(2, max_dims=dims, max_side=side)).input_shapes
    draw = [data.draw(STRICT.arrays(getattr(array_api_strict, dtype), s, elements=elements(dtype))) for s in (one, two)]
    with jax.numpy_rank_promotion("allow"):
        same(getattr(ra, name)(*(native(x, xp) for x in draw)), getattr(array_api_strict, name)(*draw), xp)


@XP
@pytest.mark.parametrize("name", REDUCING + NOT_EMPTY)
@given(data=st.data())
@FEW
def test_reductions(name: str, xp: str, data: st.DataObject) -> None:
    floats = name in ("mean", "var", "std")
    x = data.draw(arrays(xp, floats, min_dims=1, min_side=0 if name in REDUCING else 1, magnitude=2))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    options = {"axis": axis, "keepdims": data.draw(st.booleans())}
    same(getattr(ra, name)(native(x, xp), **options), getattr(array_api_strict, name)(x, **options), xp)


def shaped(name: str, x: Any, data: st.DataObject) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments behind the array for one call of a function that rearranges or sorts."""
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    if name == "reshape":
        return (-1,), {}
    if name == "broadcast_to":
        return (2, *x.shape), {}
    if name == "permute_dims":
        return tuple(data.draw(st.permutations(range(x.ndim)))), {}
    if name == "moveaxis":
        return (axis, 0), {}
    if name == "expand_dims":
        return (), {"axis": axis}
    if name == "repeat":
        return (2,), {"axis": axis}
    if name == "tile":
        return (2,) * x.ndim, {}
    if name == "roll":
        return (data.draw(st.integers(-5, 5)),), {"axis": axis}
    if name in ("cumulative_sum", "cumulative_prod"):
        return (), {"axis": axis, "include_initial": data.draw(st.booleans())}
    if name in ("sort", "argsort"):
        return (), {"axis": axis, "descending": data.draw(st.booleans())}
    if name in ("flip", "unstack", "diff"):
        return (), {"axis": axis}
    return (), {}


WRAPPED = ("reshape", "broadcast_to", "permute_dims", "tile")
ALONE = [
    "reshape", "broadcast_to", "permute_dims", "moveaxis", "expand_dims", "repeat", "tile", "roll", "flip", "unstack",
    "cumulative_sum", "cumulative_prod", "diff", "sort", "argsort", "nonzero", "unique_values", "unique_all",
    "unique_counts", "unique_inverse", "zeros_like", "ones_like",
]  # fmt: skip
MATRIX = ["tril", "triu", "matrix_transpose", "linalg.diagonal", "linalg.trace", "linalg.matrix_transpose"]


@XP
@pytest.mark.parametrize("name", ALONE)
@given(data=st.data())
@FEW
def test_rearranging(name: str, xp: str, data: st.DataObject) -> None:
    x = data.draw(arrays(xp, min_dims=1, min_side=1, magnitude=2))
    args, options = shaped(name, x, data)
    args = (args,) if name in WRAPPED else args
    same(getattr(ra, name)(native(x, xp), *args, **options), getattr(array_api_strict, name)(x, *args, **options), xp)


@XP
@pytest.mark.parametrize("name", MATRIX)
@given(data=st.data())
@FEW
def test_matrices(name: str, xp: str, data: st.DataObject) -> None:
    x = data.draw(arrays(xp, min_dims=2, min_side=1))
    same(lookup(ra, name)(native(x, xp)), lookup(array_api_strict, name)(x), xp)


@XP
@given(data=st.data())
@FEW
def test_joining_and_taking(xp: str, data: st.DataObject) -> None:
    x = data.draw(arrays(xp, min_dims=2, max_dims=2, min_side=1))
    y = native(x, xp)
    strict = array_api_strict
    axis = data.draw(st.integers(0, 1))
    n = x.shape[axis]
    index = strict.asarray(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4)))
    calls: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = {
        "concat": (([y, y],), ([x, x],), {"axis": axis}),
        "stack": (([y, y],), ([x, x],), {"axis": axis}),
        "take": ((y, native(index, xp)), (x, index), {"axis": axis}),
        "take_along_axis": (
            (y, native(strict.argsort(x, axis=axis), xp)),
            (x, strict.argsort(x, axis=axis)),
            {"axis": axis},
        ),
        "searchsorted": ((native(strict.sort(x[0, :]), xp), y[0]), (strict.sort(x[0, :]), x[0, :]), {}),
        "where": ((y > 0, y, -y), (x > 0, x, -x), {})
        if "u" not in str(x.dtype)
        else ((y > 0, y, y), (x > 0, x, x), {}),
        "squeeze": ((y[None], 0), (x[None, ...], 0), {}),
        "broadcast_arrays": ((y, y[:1]), (x, x[:1, :]), {}),
        "meshgrid": ((y[0], y[0]), (x[0, :], x[0, :]), {"indexing": "ij"}),
    }
    if "int" in str(x.dtype):
        calls["isin"] = ((y, y[:1]), (x, x[:1, :]), {})
    for name, (mine, theirs, options) in calls.items():
        same(getattr(ra, name)(*mine, **options), getattr(strict, name)(*theirs, **options), xp)


@XP
@given(data=st.data())
@FEW
def test_linear_algebra(xp: str, data: st.DataObject) -> None:
    strict = array_api_strict
    x = data.draw(arrays(xp, True, min_dims=2, max_dims=2, min_side=1))
    y = native(x, xp)
    same(ra.matmul(y, y.T), strict.matmul(x, x.T), xp)
    same(ra.vecdot(y, y), strict.vecdot(x, x), xp)
    same(ra.tensordot(y, y, axes=2), strict.tensordot(x, x, axes=2), xp)
    same(ra.linalg.outer(y[0], y[0]), strict.linalg.outer(x[0, :], x[0, :]), xp)
    same(ra.linalg.matrix_norm(y), strict.linalg.matrix_norm(x), xp)
    same(ra.linalg.vector_norm(y, axis=0, ord=1), strict.linalg.vector_norm(x, axis=0, ord=1), xp)
    gram = x.T @ x + strict.eye(x.shape[1], dtype=x.dtype) * 50  # well conditioned
    square = native(gram, xp)
    for name in ("det", "inv", "cholesky", "eigvalsh", "svdvals", "pinv", "slogdet", "matrix_rank"):
        got, want = getattr(ra.linalg, name)(square), getattr(strict.linalg, name)(gram)
        if name == "det":  # its size is that of a product of many
            got, want = got / 50.0 ** x.shape[1], want / 50.0 ** x.shape[1]
        same(got, want, xp)
    same(ra.linalg.solve(square, y[0]), strict.linalg.solve(gram, x[0, :]), xp)
    same(ra.linalg.matrix_power(square / 50, 2), strict.linalg.matrix_power(gram / 50, 2), xp)
    for name in ("qr", "svd", "eigh"):
        assert getattr(ra.linalg, name)(square)._fields == getattr(strict.linalg, name)(gram)._fields
    three = native(x, xp)[..., :1].repeat(3, axis=-1)
    assert ra.linalg.cross(three, three).shape == three.shape


@XP
@given(data=st.data())
@FEW
def test_fft(xp: str, data: st.DataObject) -> None:
    strict = array_api_strict
    x = data.draw(arrays(xp, True, min_dims=1, max_dims=2, min_side=2))
    z = strict.astype(x, strict.complex64)
    for name in ("rfft", "ihfft", "rfftn", "fftshift", "ifftshift"):
        same(getattr(ra.fft, name)(native(x, xp)), getattr(strict.fft, name)(x), xp)
    for name in ("fft", "ifft", "irfft", "hfft", "fftn", "ifftn", "irfftn"):
        same(getattr(ra.fft, name)(native(z, xp)), getattr(strict.fft, name)(z), xp)
    same(ra.fft.fft(native(z, xp), n=3, axis=0, norm="ortho"), strict.fft.fft(z, n=3, axis=0, norm="ortho"), xp)


def test_creation() -> None:
    strict = array_api_strict
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("arange", (3,), {}), ("arange", (1, 7, 2), {}), ("arange", (2,), {"dtype": "float32"}),
        ("eye", (2, 3), {"k": 1}), ("full", ((2,), 1.5), {}), ("full", (2, True), {}), ("linspace", (0, 1, 4), {}),
        ("linspace", (0, 1, 4), {"endpoint": False}), ("ones", ((2, 3),), {}), ("zeros", (3,), {"dtype": "int8"}),
    ]  # fmt: skip
    for name, args, options in calls:
        theirs = {k: getattr(strict, v) if k == "dtype" else v for k, v in options.items()}
        same(getattr(ra, name)(*args, **options), getattr(strict, name)(*args, **theirs), "numpy")
    same(ra.fft.fftfreq(5, d=2.0), strict.fft.fftfreq(5, d=2.0), "numpy")
    same(ra.fft.rfftfreq(5), strict.fft.rfftfreq(5), "numpy")
    same(ra.from_dlpack(strict.ones(2)), strict.ones(2), "numpy")
    with pytest.raises(TypeError):
        ra.full((2,), 1.5, dtype="int32")


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_numpys_functions(xp: str) -> None:
    x = ra.ragged([[1.0, 2.0], []], xp=xp)
    assert np.zeros_like(x).tolist() == [[0, 0], []]
    assert np.full_like(x, 7, dtype="int32").tolist() == [[7, 7], []]
    assert np.tril(x).tolist() == [[1, 0], []]
    assert np.result_type(x, np.float32) == x.dtype
    np.testing.assert_allclose(np.linalg.vector_norm(x, axis=1), [5**0.5, 0], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(np.fft.fft(x)[0]), np.fft.fft([1.0, 2.0]), rtol=1e-6)
    np.testing.assert_allclose(np.matmul(x, x), [5, 0], rtol=1e-6)
    text = (
        "linalg.inv: expected components with two axes or more, got shape (2, None). "
        "Make rows of rows one block with `ra.to_blocks`, vectors matrices with `ra.expand_dims`."
    )
    with pytest.raises(ValueError) as caught:
        np.linalg.inv(x)
    assert str(caught.value) == text
    for f in (lambda: np.matmul(x, np.ones((2, 2))), lambda: x @ np.ones((2, 2))):
        with pytest.raises(ValueError) as caught:
            f()
        assert str(caught.value) == (
            "matmul: expected equal sizes where axes meet, got 0 and 2 in component 1. Check the shapes."
        )


def test_the_package_serves_as_namespace() -> None:
    own = make_strategies_namespace(ra)

    @given(own.arrays(own.scalar_dtypes(), own.array_shapes(max_dims=2, max_side=3)))
    @FEW
    def check(x: Any) -> None:
        assert x.__array_namespace__ if hasattr(x, "__array_namespace__") else True
        assert ra.isdtype(x.dtype, ("bool", "numeric"))
        assert ra.asarray(x).shape == x.shape

    check()


# The pages.


def test_the_table_is_the_standard() -> None:
    assert set(TABLES.standard.FUNCTIONS) == set(FUNCTIONS)
    objects = {n for names in TABLES.standard.OBJECTS for n in names.split(", ")}
    assert objects == set(NAMES) - set(FUNCTIONS)


@pytest.mark.parametrize("file", TABLES.PAGES)
def test_pages_are_up_to_date(file: str) -> None:
    assert (ROOT / "docs" / file).read_text() == TABLES.PAGES[file](), "run `python docs/_ext/tables.py`"


def test_names_of_ours_exist() -> None:
    groups = [*TABLES.peers.TENSORFLOW.values(), *TABLES.peers.AWKWARD.values()]
    names = {name for rows in groups for _, ours, _ in rows for name in ours.split(", ") if name}
    assert {n for n in names if not exists(n)} == set()
    assert all(ours or remark for rows in groups for _, ours, remark in rows), "say why there is none"


SPACES = (ra, ra.nn, ra.special, ra.linalg, ra.fft, ra.random, RaggedArray)
"""Where a name of ours may be looked for."""
HOMONYMS = {"Array", "cross", "to_numpy"}
"""Theirs that ours of the name do not do: our `Array` is an annotation, a cross of features is no cross product, and
our `to_numpy` refuses."""


def names_of_theirs(cell: str) -> set[str]:
    """The last parts of the names in a cell, without what is prose, an index or an ellipsis."""
    return {m[1] for part in cell.split(", ") if (m := re.fullmatch(r"(?:\w+\.)*([a-zA-Z]\w*)(\(.*\))?", part))}


def test_a_name_that_is_theirs_and_ours_is_not_shown_as_missing() -> None:
    for rows in (*TABLES.peers.TENSORFLOW.values(), *TABLES.peers.AWKWARD.values()):
        for theirs, ours, _ in rows:
            public = {n for n in names_of_theirs(theirs) if any(n in getattr(s, "__all__", dir(s)) for s in SPACES)}
            assert public <= {name.rpartition(".")[2] for name in ours.split(", ")} | HOMONYMS, theirs


def test_names_that_pages_mention_exist() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    mentioned = {(p.name, n) for p in pages for n in re.findall(r"(?<![\w.])ra\.((?:\w+\.)*\w+)", p.read_text())}
    assert {(page, name) for page, name in mentioned if not exists(name)} == set()


def test_ragged_sentences_hold() -> None:
    """Functions that the table calls elementwise keep rows; those it calls plain-only refuse them."""
    x = ra.ragged([[0.5, 0.25], []])
    for name, text in TABLES.standard.FUNCTIONS.items():
        if text == TABLES.standard.EACH and name not in ("bitwise_invert", "logical_not", "acosh", "astype"):
            assert isinstance(got := getattr(ra, name)(x), RaggedArray)
            assert got.row_splits.tolist() == [0, 2, 2]
        if (
            text == TABLES.standard.PAIR
            and not name.startswith(("bitwise", "logical"))
            and name not in ("where", "clip")
        ):
            assert getattr(ra, name)(x, x).shape == (2, None)


@pytest.mark.parametrize("layout", [*nested.DOUBLE[:2], nested.MIXED[0], nested.TRIPLE[0], *nested.EDGE[:3]], ids=repr)
def test_norms_and_copies_on_every_way(way: Way, layout: nested.Layout) -> None:
    """Deep structures, poisoned slack, the generic kernels."""
    values = nested.values_for(layout, "float32", -3, 3, 0)
    x = way.arrays(nested.make(layout, values))
    for axis in range(1, x.ndim):
        run = partial(ra.linalg.vector_norm, axis=axis)
        want = nested.reduce_nested(lambda v: (v.astype(float) ** 2).sum() ** 0.5, layout, values, (axis,), False)
        nested.assert_nested(way.run(("norm", axis), run, x), want)
    for f in (ra.zeros_like, ra.ones_like):
        got = way.run(f.__name__, f, x)
        full = np.full_like(values, float(f is ra.ones_like))
        nested.assert_nested(got, nested.make(layout, full).tolist())
        assert got.capacity == (x.capacity if way.jax else x.used_values().capacity)


def test_vmap() -> None:
    x = ra.testing.poison(ra.ragged([[1.0, 2.0], [], [3.0]], xp="jax"))
    batch = jax.numpy.stack([x.values, 2 * x.values])
    for f in (partial(ra.linalg.vector_norm, axis=1), partial(ra.tril, k=0), ra.zeros_like):
        both = jax.vmap(lambda v, f=f: f(x.with_values(v)))(batch)
        for i, v in enumerate(batch):
            one = f(x.with_values(v))
            got = both.values[i] if isinstance(one, RaggedArray) else both[i]
            want = one.values if isinstance(one, RaggedArray) else one
            used = 3 if isinstance(one, RaggedArray) else len(want)
            np.testing.assert_allclose(got[:used], want[:used])
