"""How each operation of torch's table of nested operations is written here, and what it means on one component.

The text of a recipe is what the coverage page shows and what the test runs: an expression of ``x``, ``y``, ``z`` and,
for reductions, ``axis``. Its oracle is NumPy on the components of the operands, one component at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import ml_dtypes
import numpy as np
import scipy.special

import raggedarray as ra

Shapes = tuple[tuple[int, ...], ...]

ROWS: Shapes = ((3,), (0,), (5,))
FILLED: Shapes = ((3,), (1,), (4,))
WIDE: Shapes = ((2, 4), (0, 4), (1, 4))
BLOCKS: Shapes = ((2, 3), (0, 2), (1, 2))
FULL: Shapes = ((2, 3), (1, 2))
IMAGES: Shapes = ((2, 1, 4), (1, 1, 4))
ITEM = {
    ROWS: (None,),
    FILLED: (None,),
    WIDE: (None, 4),
    BLOCKS: (None, None),
    FULL: (None, None),
    IMAGES: (None, None, 4),
}


@dataclass(frozen=True)
class Operand:
    """Numbers from a range; ``shapes`` are those of its components, by default those of the layout."""

    low: float = -2.0
    high: float = 2.0
    dtype: str = "float64"
    shapes: Shapes | None = None
    item: tuple[int | None, ...] = (None, None)
    dense: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Recipe:
    """An expression, its meaning on components, and the operands that it is tried on."""

    text: str
    oracle: Callable[..., Any]
    operands: tuple[Operand, ...]
    layouts: tuple[Shapes, ...] = (ROWS, BLOCKS)
    reduces: bool = False
    smooth: bool = True
    at: tuple[Operand, ...] | None = None
    """Operands of the gradient, where they are others: real ones for functions of complex numbers."""
    exact: Callable[..., Any] | None = None
    """The oracle of the gradient, where rounding hides it."""
    wrt: tuple[int, ...] | None = None
    rtol: float = 1e-5

    @property
    def function(self) -> Callable[..., Any]:
        """The text as a function of the operands (and, for a reduction, the axis)."""
        names = [*"xyz"[: len(self.operands)], *(["axis"] if self.reduces else [])]
        return _compiled(", ".join(names), self.text)


@cache
def _compiled(names: str, text: str) -> Callable[..., Any]:
    made: Callable[..., Any] = eval(f"lambda {names}: ({text})", {"ra": ra})
    return made


X = Operand()
POSITIVE = Operand(0.3, 3.0)
UNIT = Operand(-0.8, 0.8)
SHARE = Operand(0.1, 0.9)
ABOVE_ONE = Operand(1.2, 3.0)
COMPLEX = Operand(dtype="complex128")
INTEGER = Operand(-5, 5, "int64")
COUNT = Operand(1, 6, "int64")
BOOL = Operand(dtype="bool")

RECIPES: dict[str, Recipe] = {}
"""By torch's name."""


def add(names: str, text: str, oracle: Callable[..., Any], *operands: Operand, **options: Any) -> None:
    for name in names.split():
        assert name not in RECIPES, name
        RECIPES[name] = Recipe(text, oracle, operands or (X,), **options)


def each(ours: str, operand: Operand = X, *, theirs: str = "", oracle: Any = None, **options: Any) -> None:
    """A function of one array that NumPy has under this name, or the given one."""
    base = ours.rsplit(".", 1)[-1]
    oracle = oracle or getattr(scipy.special if ours.startswith("special.") else np, base)
    add(theirs or base, f"ra.{ours}(x)", oracle, operand, **options)


def both(
    ours: str, a: Operand = X, b: Operand | None = None, *, theirs: str = "", oracle: Any = None, **o: Any
) -> None:
    """A function of two arrays."""
    base = ours.rsplit(".", 1)[-1]
    oracle = oracle or getattr(scipy.special if ours.startswith("special.") else np, base)
    add(theirs or base, f"ra.{ours}(x, y)", oracle, a, a if b is None else b, **o)


def cosine_pair(n: int, x: Any) -> tuple[Any, Any]:
    """Chebyshev polynomials of the third and fourth kind, by their angles."""
    t = np.arccos(x)
    return np.cos((n + 0.5) * t) / np.cos(t / 2), np.sin((n + 0.5) * t) / np.sin(t / 2)


NOT_SMOOTH: dict[str, Any] = {"smooth": False}
REAL_AT: dict[str, Any] = {"at": (X,)}

for name in ("abs", "ceil", "cos", "cosh", "exp", "expm1", "floor", "sin", "sinc", "sinh", "square", "tanh", "trunc"):
    each(name)
for name in ("deg2rad", "rad2deg", "exp2", "isfinite", "isinf", "isnan", "isposinf", "isneginf", "sign", "signbit"):
    each(name, **({"smooth": False} if name.startswith("is") or name == "signbit" else {}))
each("acos", UNIT, oracle=np.arccos)
each("acosh", ABOVE_ONE, oracle=np.arccosh)
each("asin", UNIT, oracle=np.arcsin)
each("asinh", oracle=np.arcsinh)
each("atan", oracle=np.arctan)
each("atanh", UNIT, oracle=np.arctanh)
each("angle", COMPLEX, at=(X,))
each("bitwise_invert", INTEGER, theirs="bitwise_not", **NOT_SMOOTH)
each("conj", COMPLEX, theirs="conj conj_physical", **REAL_AT)
each("real", COMPLEX, **REAL_AT)
each("imag", COMPLEX, **NOT_SMOOTH)
each("isreal", COMPLEX, **NOT_SMOOTH)
each("log", POSITIVE)
each("log10", POSITIVE)
each("log1p", POSITIVE)
each("log2", POSITIVE)
each("logical_not", BOOL, **NOT_SMOOTH)
each("negative", theirs="neg")
each("positive")
each("reciprocal", POSITIVE)
each("sqrt", POSITIVE)
each("tan", UNIT)
each("nan_to_num", X)
each("round")
each("sign", COMPLEX, theirs="sgn", **REAL_AT)
add("round.decimals_0", "ra.round(x, decimals=0)", np.round)
add("round.decimals_3", "ra.round(x, decimals=3)", lambda c: np.round(c, 3))
add("round.decimals_neg_3", "ra.round(x, decimals=-3)", lambda c: np.round(c, -3), Operand(-9000, 9000))
add("frac", "ra.fmod(x, 1)", lambda c: np.fmod(c, 1))
add("rsqrt", "ra.pow(x, -0.5)", lambda c: c**-0.5, POSITIVE)
add("frexp", "ra.frexp(x)", np.frexp, POSITIVE)
add("fill", "ra.full_like(x, 2.5)", lambda c: np.full_like(c, 2.5))

SPECIAL = {
    "digamma": ("digamma", POSITIVE), "erf": ("erf", X), "erfc": ("erfc", X), "erfinv": ("erfinv", UNIT),
    "lgamma": ("gammaln", POSITIVE), "logit": ("logit", SHARE), "i0": ("i0", X), "sigmoid": ("expit", X),
    "special.i0e": ("i0e", POSITIVE), "special.i1": ("i1", X), "special.i1e": ("i1e", POSITIVE),
    "special.ndtr": ("ndtr", X), "special.ndtri": ("ndtri", SHARE), "special.log_ndtr": ("log_ndtr", X),
    "special.entr": ("entr", POSITIVE), "special.erfcx": ("erfcx", X), "special.modified_bessel_i0": ("i0", X),
    "special.modified_bessel_i1": ("i1", X),
}  # fmt: skip
for theirs, (name, operand) in SPECIAL.items():
    each(f"special.{name}", operand, theirs=theirs)
add("special.spherical_bessel_j0", f"ra.sinc(x / {np.pi})", lambda c: scipy.special.spherical_jn(0, c), POSITIVE)
for n in range(5):
    add(
        f"polygamma.polygamma_n_{n}",
        f"ra.special.polygamma({n}, x)",
        lambda c, n=n: scipy.special.polygamma(n, c),
        POSITIVE,
    )
add(
    "special.polygamma.special_polygamma_n_0",
    "ra.special.polygamma(0, x)",
    lambda c: scipy.special.polygamma(0, c),
    POSITIVE,
)
for d in (1, 3, 5):
    add(
        f"mvlgamma.mvlgamma_p_{d}", f"ra.special.multigammaln(x, {d})",
        lambda c, d=d: np.reshape([scipy.special.multigammaln(v, d) for v in c.ravel()], c.shape), Operand(2.5, 4.0),
    )  # fmt: skip
for kind, ours in (("t", "chebyt"), ("u", "chebyu"), ("v", "chebyv"), ("w", "chebyw")):

    def chebyshev(c: Any, kind: str = kind) -> Any:
        if kind in "tu":
            return getattr(scipy.special, f"eval_cheby{kind}")(3, c)
        return cosine_pair(3, c)["vw".index(kind)]

    add(f"special.chebyshev_polynomial_{kind}", f"ra.special.eval_{ours}(3, x)", chebyshev, UNIT)
    add(
        f"special.shifted_chebyshev_polynomial_{kind}", f"ra.special.eval_sh_{ours}(3, x)",
        lambda c, f=chebyshev: f(2 * c - 1), SHARE,
    )  # fmt: skip
for theirs, ours in (
    ("hermite_polynomial_h", "hermite"), ("hermite_polynomial_he", "hermitenorm"),
    ("laguerre_polynomial_l", "laguerre"), ("legendre_polynomial_p", "legendre"),
):  # fmt: skip
    degree_four = partial(getattr(scipy.special, f"eval_{ours}"), 4)
    add(f"special.{theirs}", f"ra.special.eval_{ours}(4, x)", degree_four)

DTYPES = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16",
    "float": "float32", "double": "float64", "bfloat16": "bfloat16", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
for theirs, dtype in DTYPES.items():
    given = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    floating = "float" in dtype or "complex" in dtype
    add(
        theirs, f'ra.astype(x, "{dtype}")', lambda c, given=given: c.astype(given), Operand(0.0, 4.0), smooth=floating,
        exact=lambda c: c, rtol=2e-2 if "16" in dtype else 1e-5,
    )  # fmt: skip
add("to", 'ra.astype(x, "float32")', lambda c: c.astype("float32"), exact=lambda c: c)


def logistic(c: Any) -> Any:
    return 1 / (1 + np.exp(-c))


ALPHA = 1.6732632423543772
ACTIVATIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "relu": ("relu(x)", lambda c: np.where(c > 0, c, 0)),
    "elu": ("elu(x, alpha=0.7)", lambda c: np.where(c > 0, c, 0.7 * np.expm1(c))),
    "celu": ("celu(x, alpha=0.7)", lambda c: np.where(c > 0, c, 0.7 * np.expm1(c / 0.7))),
    "selu": ("selu(x)", lambda c: 1.0507009873554805 * np.where(c > 0, c, ALPHA * np.expm1(c))),
    "silu": ("silu(x)", lambda c: c * logistic(c)),
    "hardsigmoid": ("hard_sigmoid(x)", lambda c: np.clip(c / 6 + 0.5, 0, 1)),
    "logsigmoid": ("log_sigmoid(x)", lambda c: np.log(logistic(c))),
    "mish": ("mish(x)", lambda c: c * np.tanh(np.log1p(np.exp(c)))),
    "softsign": ("soft_sign(x)", lambda c: c / (1 + np.abs(c))),
    "softplus": ("softplus(x)", lambda c: np.log1p(np.exp(c))),
    "tanhshrink": ("tanh_shrink(x)", lambda c: c - np.tanh(c)),
    "threshold": ("threshold(x, 0.5, -3.0)", lambda c: np.where(c > 0.5, c, -3.0)),
    "softshrink": ("soft_shrink(x)", lambda c: np.sign(c) * np.maximum(np.abs(c) - 0.5, 0)),
    "hardshrink": ("hard_shrink(x)", lambda c: np.where(np.abs(c) > 0.5, c, 0)),
    "hardtanh": ("hard_tanh(x)", lambda c: np.clip(c, -1, 1)),
    "relu6": ("relu6(x)", lambda c: np.clip(c, 0, 6)),
}
for theirs, (text, oracle) in ACTIVATIONS.items():
    add(f"nn.functional.{theirs}", f"ra.nn.{text}", oracle)
add("nn.functional.silu.complex", "ra.nn.silu(x)", lambda c: c * logistic(c), COMPLEX, **NOT_SMOOTH)
LEAKY = "ra.nn.leaky_relu(x, negative_slope=y)"
add("nn.functional.prelu", LEAKY, lambda c, w: np.where(c > 0, c, w * c), X, Operand(0.1, 0.4, dense=()))
add("nn.functional.rrelu", LEAKY, lambda c, slope: np.where(c > 0, c, slope * c), X, Operand(1 / 8, 1 / 3))

for theirs, name in {"add": "add", "mul": "multiply", "sub": "subtract", "fmax": "fmax", "fmin": "fmin"}.items():
    both(name, theirs=theirs)
for theirs in ("maximum", "max.binary"):
    both("maximum", theirs=theirs)
for theirs in ("minimum", "min.binary"):
    both("minimum", theirs=theirs)
both("atan2", POSITIVE, oracle=np.arctan2)
both("copysign", POSITIVE, X)
both("divide", X, POSITIVE, theirs="true_divide div.no_rounding_mode")
add("div.trunc_rounding", "ra.trunc(x / y)", lambda a, b: np.trunc(a / b), X, POSITIVE)
add("div.floor_rounding", "ra.floor(x / y)", lambda a, b: np.floor(a / b), X, POSITIVE)
both("floor_divide", X, POSITIVE, **NOT_SMOOTH)
both("fmod", X, POSITIVE)
both("remainder", X, POSITIVE)
both("hypot", POSITIVE)
both("ldexp", X, COUNT)
both("logaddexp")
both("nextafter", **NOT_SMOOTH)
both("pow", POSITIVE, X)
both("float_power", POSITIVE, X)
both("heaviside", X, **NOT_SMOOTH)
both("isclose", COUNT, **NOT_SMOOTH)
both("gcd", INTEGER, **NOT_SMOOTH)
both("lcm", COUNT, **NOT_SMOOTH)
for theirs, name in (
    ("eq", "equal"), ("ne", "not_equal"), ("ge", "greater_equal"), ("gt", "greater"), ("le", "less_equal"),
    ("lt", "less"),
):  # fmt: skip
    both(name, INTEGER, theirs=theirs, **NOT_SMOOTH)
for name in ("logical_and", "logical_or", "logical_xor"):
    both(name, BOOL, **NOT_SMOOTH)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    both(name, INTEGER, **NOT_SMOOTH)
for name in ("bitwise_left_shift", "bitwise_right_shift"):
    both(name, COUNT, **NOT_SMOOTH)
both("special.gammainc", POSITIVE, theirs="igamma")
both("special.gammaincc", POSITIVE, theirs="igammac")
both("special.xlogy", X, POSITIVE, theirs="xlogy")
both("special.xlog1py", X, POSITIVE, theirs="special.xlog1py")
both("special.zeta", Operand(1.5, 4.0), POSITIVE, theirs="special.zeta", wrt=(1,))
add("clamp_min", "ra.clip(x, y)", np.maximum, X, X)
add("clamp_max", "ra.clip(x, None, y)", np.minimum, X, X)
add("complex", "x + 1j * y", lambda a, b: a + 1j * b, X, X)
add("polar", "x * ra.exp(1j * y)", lambda a, b: a * np.exp(1j * b), POSITIVE, X)
add("__radd__", "2.5 + x", lambda c: 2.5 + c)
add("__rdiv__", "2.5 / x", lambda c: 2.5 / c, POSITIVE)
add("__rmul__", "2.5 * x", lambda c: 2.5 * c)
add("__rsub__", "2.5 - x", lambda c: 2.5 - c)
add("__rmod__", "2.5 % x", lambda c: np.remainder(2.5, c), POSITIVE)
add("__rpow__", "2.5**x", lambda c: 2.5**c)
add("__rand__", "6 & x", lambda c: 6 & c, INTEGER, **NOT_SMOOTH)
add("__ror__", "6 | x", lambda c: 6 | c, INTEGER, **NOT_SMOOTH)
add("__rxor__", "6 ^ x", lambda c: 6 ^ c, INTEGER, **NOT_SMOOTH)
add("rsub", "ra.subtract(y, x)", lambda a, b: b - a, X, X)
add("where", "ra.where(x > y, x, z)", lambda a, b, c: np.where(a > b, a, c), X, X, X)


def over(names: str, text: str, oracle: Callable[..., Any], *operands: Operand, **options: Any) -> None:
    add(names, text, oracle, *operands, reduces=True, **options)


def none(f: Callable[..., Any], value: float) -> Callable[..., Any]:
    """A reduction that NumPy does not do over nothing."""

    def run(c: Any, *more: Any) -> Any:
        *others, axis = more
        gone = 1
        for a in axis:
            gone *= c.shape[a]
        if gone:
            return f(c, *others, axis)
        return np.full([n for a, n in enumerate(c.shape) if a not in axis], value, float if value != -1 else int)

    return run


def index_of(f: Callable[..., Any]) -> Callable[..., Any]:
    return none(lambda c, axis: f(c, axis[0] if len(axis) < c.ndim else None), -1)


def where(f: Callable[..., Any], nothing: float) -> Callable[..., Any]:
    """A reduction of what a mask picks."""

    def run(c: Any, mask: Any, axis: Any) -> Any:
        kept = np.ma.masked_array(c, ~mask)
        return np.ma.filled(np.ma.asarray(f(kept, axis), dtype=float), nothing) + 0.0

    return none(run, nothing)


INF = np.inf
over("sum", "ra.sum(x, axis=axis)", np.sum)
over("prod", "ra.prod(x, axis=axis)", np.prod)
over("mean", "ra.mean(x, axis=axis)", none(np.mean, np.nan))
over("nansum", "ra.nansum(x, axis=axis)", np.nansum)
over("nanmean", "ra.nanmean(x, axis=axis)", none(np.nanmean, np.nan))
over("amax", "ra.max(x, axis=axis)", none(np.max, -INF))
over("amin", "ra.min(x, axis=axis)", none(np.min, INF))
over("all", "ra.all(x, axis=axis)", np.all, BOOL, **NOT_SMOOTH)
over("any", "ra.any(x, axis=axis)", np.any, BOOL, **NOT_SMOOTH)
over("argmax", "ra.argmax(x, axis=axis)", index_of(np.argmax), **NOT_SMOOTH)
over("argmin", "ra.argmin(x, axis=axis)", index_of(np.argmin), **NOT_SMOOTH)
over("count_nonzero", "ra.count_nonzero(x, axis=axis)", np.count_nonzero, BOOL, **NOT_SMOOTH)


def spread(f: Callable[..., Any]) -> Callable[..., Any]:
    """Variance or deviation with one element less; NaN of fewer than two."""

    def run(c: Any, axis: Any) -> Any:
        with np.errstate(all="ignore"):
            return none(
                lambda c, axis: f(c, axis, ddof=1) if 1 not in _counted(c, axis) else np.nan + c.sum(axis), np.nan
            )(c, axis)

    return run


def _counted(c: Any, axis: Any) -> tuple[int]:
    count = 1
    for a in axis:
        count *= c.shape[a]
    return (count,)


over("var", "ra.var(x, axis=axis)", none(np.var, np.nan))
over("std", "ra.std(x, axis=axis)", none(np.std, np.nan))
over("var.unbiased", "ra.var(x, axis=axis, correction=1)", spread(np.var))
over("std.unbiased", "ra.std(x, axis=axis, correction=1)", spread(np.std))
over("linalg.vector_norm", "ra.linalg.vector_norm(x, axis=axis)", lambda c, axis: np.sqrt(np.sum(c * c, axis)))
over(
    "max.reduction_with_dim",
    "ra.max(x, axis=axis), ra.argmax(x, axis=axis)",
    lambda c, a: (none(np.max, -INF)(c, a), index_of(np.argmax)(c, a)),
)
over(
    "min.reduction_with_dim",
    "ra.min(x, axis=axis), ra.argmin(x, axis=axis)",
    lambda c, a: (none(np.min, INF)(c, a), index_of(np.argmin)(c, a)),
)
MASKED: dict[str, tuple[str, float]] = {
    "sum": ("sum", 0), "prod": ("prod", 1), "amax": ("max", -INF), "amin": ("min", INF), "mean": ("mean", np.nan),
    "var": ("var", np.nan), "std": ("std", np.nan),
}  # fmt: skip
for theirs, (name, nothing) in MASKED.items():
    over(f"masked.{theirs}", f"ra.{name}(x, axis=axis, where=y)", where(getattr(np.ma, name), nothing), X, BOOL)
over(
    "masked.logsumexp",
    "ra.logsumexp(x, axis=axis, where=y)",
    where(lambda c, axis: np.ma.log(np.ma.sum(np.ma.exp(c), axis)), -INF),
    X,
    BOOL,
)
over(
    "masked.norm",
    "ra.linalg.vector_norm(ra.where(y, x, 0.0), axis=axis)",
    lambda c, m, axis: np.sqrt(np.sum(np.where(m, c * c, 0), axis)),
    X,
    BOOL,
)
for name, f, worst in (("argmax", np.argmax, -INF), ("argmin", np.argmin, INF)):
    over(
        f"masked.{name}", f"ra.{name}(x, axis=axis, where=y)",
        lambda c, m, axis, f=f, worst=worst: np.where(np.any(m, axis), index_of(f)(np.where(m, c, worst), axis), -1),
        X, BOOL, **NOT_SMOOTH,
    )  # fmt: skip

LEFT: Shapes = ((2, 3), (1, 2))
A = Operand(shapes=LEFT)
B = Operand(shapes=((3, 1), (2, 2)))
add("bmm", "ra.bmm(x, y)", np.matmul, A, B, layouts=(LEFT,))
add("matmul", "ra.matmul(x, y)", np.matmul, A, B, layouts=(LEFT,))
add("chunk", "ra.array_split(x, 2, axis=-1)", lambda c: tuple(np.array_split(c, 2, -1)), layouts=(WIDE, IMAGES))
add("split", "ra.split(x, 2, axis=-1)", lambda c: tuple(np.split(c, 2, -1)), layouts=(WIDE, IMAGES))
add(
    "split_with_sizes", "ra.split(x, [1, 3], axis=-1)", lambda c: tuple(np.split(c, [1, 3], -1)), layouts=(WIDE, IMAGES)
)
add("clone", "ra.asarray(x, copy=True)", np.copy)
add("masked_select", "ra.boolean_mask(x, y)", lambda c, m: c[m], X, BOOL, layouts=(ROWS,))
add("narrow", "ra.narrow(x, 1, 0, 1)", lambda c: c[:1], layouts=(FILLED, FULL))
add("select", "x[:, -1]", lambda c: c[-1], layouts=(FILLED, FULL))
add("index_put", "x.at[:, -1].set(2.5)", lambda c: np.concatenate([c[:-1], 0 * c[-1:] + 2.5]), layouts=(FILLED,))
add("squeeze", "ra.squeeze(ra.expand_dims(x, axis=1), axis=1)", lambda c: c)
add("unsqueeze", "ra.expand_dims(x, axis=-1)", lambda c: c[..., None])
add("unflatten", "ra.with_inner_shape(x, (2, 2))", lambda c: c.reshape(*c.shape[:-1], 2, 2), layouts=(WIDE,))
WEIGHT, BIAS, SCALE = Operand(dense=(4, 2)), Operand(dense=(2,)), Operand(dense=(4,))
add("nn.functional.linear", "ra.nn.linear(x, y, z)", lambda c, w, b: c @ w + b, X, WEIGHT, BIAS, layouts=(WIDE, IMAGES))
add(
    "nn.functional.rms_norm", "ra.nn.rms_norm(x, y, axis=-1)",
    lambda c, w: c / np.sqrt(np.mean(c * c, -1, keepdims=True) + 1e-5) * w, X, SCALE, layouts=(WIDE, IMAGES),
)  # fmt: skip
IDS, TABLE = Operand(0, 4, "int64"), Operand(dense=(5, 2))
add("nn.functional.embedding", "ra.nn.embedding(x, y)", lambda c, t: t[c], IDS, TABLE)
add(
    "nn.functional.embedding_bag", "ra.nn.embedding_bag(x, y)",
    lambda c, t: t[c].mean(0) if len(c) else np.zeros(2), IDS, TABLE, layouts=(ROWS,),
)  # fmt: skip

KERNEL = "There is no Bessel function of this kind in JAX; on NumPy values, `ra.map_values(scipy.special.{}, x)`."
UNCOVERED: dict[str, str] = {
    "jiterator_unary": "A kernel from a string of C++. `ra.map_values` takes any function of the flat values.",
    "jiterator_binary": "A kernel from a string of C++. `ra.map_values` takes any function of the flat values.",
    "jiterator_binary_return_by_ref": "A kernel from a string of C++. `ra.map_values` takes any function of values.",
    "hash_tensor": "A checksum of torch's own. Hash the bytes of `x.values` and of the splits.",
    "chalf": "Neither NumPy nor JAX has complex numbers of two halves.",
    "special.airy_ai": "JAX has no Airy function; on NumPy values, `ra.map_values` with one of `scipy.special.airy`.",
    "special.bessel_j0": KERNEL.format("j0"),
    "special.bessel_j1": KERNEL.format("j1"),
    "special.bessel_y0": KERNEL.format("y0"),
    "special.bessel_y1": KERNEL.format("y1"),
    "special.modified_bessel_k0": KERNEL.format("k0"),
    "special.modified_bessel_k1": KERNEL.format("k1"),
    "special.scaled_modified_bessel_k0": KERNEL.format("k0e"),
    "special.scaled_modified_bessel_k1": KERNEL.format("k1e"),
}
"""Operations without a function here, and why."""
