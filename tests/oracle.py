"""What every op means, on one component or one group of elements at a time, in plain NumPy.

One line an op, under the op's name. ``each`` is a function of single elements; ``reduces`` one of all the
elements of a group, a 1-D array, an empty group included; ``normalizes`` maps a group to a group of the same
size. Each is written for any array namespace ``xp``, so that ``jax.grad`` of the same line, a component at a
time, is the oracle of the gradient. Adding an op is adding its line here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import scipy.special

REAL, FLOAT, INTEGER, BOOL, COMPLEX = ("float32", "int32"), ("float32",), ("int32",), ("bool",), ("complex64",)


@dataclass(frozen=True)
class Oracle:
    """An op on arrays of namespace ``xp``, and which operands it is tried on."""

    f: Callable[..., Any]
    role: str
    arity: int = 1
    dtypes: tuple[str, ...] = REAL
    low: float = -3.0
    high: float = 3.0
    smooth: bool = True
    kwargs: tuple[tuple[str, Any], ...] = ()
    axis_only: bool = False


def each(f: Callable[..., Any], arity: int = 1, **options: Any) -> Oracle:
    return Oracle(f, "each", arity, **options)


def reduces(f: Callable[..., Any], **options: Any) -> Oracle:
    return Oracle(f, "reduces", **options)


def normalizes(f: Callable[..., Any], **options: Any) -> Oracle:
    return Oracle(f, "normalizes", **{"dtypes": FLOAT} | options)


def named(name: str, arity: int = 1, **options: Any) -> Oracle:
    return each(lambda xp, *a: getattr(xp, name)(*a), arity, **options)


def scipy_named(name: str, arity: int = 1, **options: Any) -> Oracle:
    """A special function: scipy's on NumPy, jax.scipy's for gradients."""

    def f(xp: Any, *a: Any) -> Any:
        return getattr(jax.scipy.special if xp is jax.numpy else scipy.special, name)(*a)

    return each(f, arity, **{"dtypes": FLOAT} | options)


UNIT = {"dtypes": FLOAT, "low": -0.9, "high": 0.9}
POSITIVE = {"dtypes": FLOAT, "low": 0.2}
NOT_SMOOTH: dict[str, Any] = {"smooth": False}

abs = named("abs", low=0.5)
add = named("add", 2)
ceil = named("ceil", dtypes=FLOAT, **NOT_SMOOTH)
angle = named("angle", dtypes=FLOAT, low=0.5)
conj = named("conj", dtypes=COMPLEX, **NOT_SMOOTH)
copysign = named("copysign", 2, dtypes=FLOAT, low=0.5)
divide = named("divide", 2, **POSITIVE)
float_power = named("float_power", 2, dtypes=INTEGER, low=1, **NOT_SMOOTH)
floor = named("floor", dtypes=FLOAT, **NOT_SMOOTH)
floor_divide = named("floor_divide", 2, low=1, **NOT_SMOOTH)
fmax = named("fmax", 2)
fmin = named("fmin", 2)
fmod = named("fmod", 2, low=1, **NOT_SMOOTH)
gcd = named("gcd", 2, dtypes=INTEGER, **NOT_SMOOTH)
heaviside = each(lambda xp, x, y: xp.where(x == 0, y, xp.where(x > 0, 1 + 0 * x, 0 * x)), 2, **NOT_SMOOTH)
hypot = named("hypot", 2, **POSITIVE)
imag = named("imag", dtypes=COMPLEX, **NOT_SMOOTH)
lcm = named("lcm", 2, dtypes=INTEGER, **NOT_SMOOTH)
ldexp = each(lambda xp, x, y: x * 2.0**y, 2, dtypes=INTEGER, **NOT_SMOOTH)
maximum = named("maximum", 2)
minimum = named("minimum", 2)
multiply = named("multiply", 2)
negative = named("negative")
nan_to_num = named("nan_to_num", dtypes=FLOAT)
nextafter = named("nextafter", 2, dtypes=FLOAT, **NOT_SMOOTH)
positive = named("positive")
pow = named("pow", 2, **POSITIVE)
real = named("real", dtypes=COMPLEX, **NOT_SMOOTH)
reciprocal = named("reciprocal", **POSITIVE)
remainder = named("remainder", 2, dtypes=REAL, low=1, **NOT_SMOOTH)
round = named("round", dtypes=FLOAT, **NOT_SMOOTH)
sign = named("sign", **NOT_SMOOTH)
sqrt = named("sqrt", **POSITIVE)
square = named("square")
subtract = named("subtract", 2)
trunc = named("trunc", dtypes=FLOAT, **NOT_SMOOTH)

acos = named("acos", **UNIT)
acosh = named("acosh", dtypes=FLOAT, low=1.1)
asin = named("asin", **UNIT)
asinh = named("asinh", dtypes=FLOAT)
atan = named("atan", dtypes=FLOAT)
atan2 = named("atan2", 2, **POSITIVE)
atanh = named("atanh", **UNIT)
cos = named("cos", dtypes=FLOAT)
cosh = named("cosh", dtypes=FLOAT)
deg2rad = named("deg2rad", dtypes=FLOAT)
exp = named("exp", dtypes=FLOAT)
exp2 = named("exp2", dtypes=FLOAT)
expm1 = named("expm1", dtypes=FLOAT)
log = named("log", **POSITIVE)
log10 = named("log10", **POSITIVE)
log1p = named("log1p", **POSITIVE)
log2 = named("log2", **POSITIVE)
logaddexp = named("logaddexp", 2, dtypes=FLOAT)
rad2deg = named("rad2deg", dtypes=FLOAT)
sin = named("sin", dtypes=FLOAT)
sinc = named("sinc", dtypes=FLOAT)
sinh = named("sinh", dtypes=FLOAT)
tan = named("tan", **UNIT)
tanh = named("tanh", dtypes=FLOAT)

bitwise_and = named("bitwise_and", 2, dtypes=(*INTEGER, *BOOL), **NOT_SMOOTH)
bitwise_invert = named("bitwise_invert", dtypes=(*INTEGER, *BOOL), **NOT_SMOOTH)
bitwise_left_shift = named("bitwise_left_shift", 2, dtypes=INTEGER, low=0, **NOT_SMOOTH)
bitwise_or = named("bitwise_or", 2, dtypes=(*INTEGER, *BOOL), **NOT_SMOOTH)
bitwise_right_shift = named("bitwise_right_shift", 2, dtypes=INTEGER, low=0, **NOT_SMOOTH)
bitwise_xor = named("bitwise_xor", 2, dtypes=(*INTEGER, *BOOL), **NOT_SMOOTH)
equal = named("equal", 2, **NOT_SMOOTH)
greater = named("greater", 2, **NOT_SMOOTH)
greater_equal = named("greater_equal", 2, **NOT_SMOOTH)
isclose = named("isclose", 2, **NOT_SMOOTH)
isfinite = named("isfinite", **NOT_SMOOTH)
isinf = named("isinf", **NOT_SMOOTH)
isnan = named("isnan", **NOT_SMOOTH)
isneginf = named("isneginf", **NOT_SMOOTH)
isposinf = named("isposinf", **NOT_SMOOTH)
isreal = named("isreal", dtypes=(*REAL, *COMPLEX), **NOT_SMOOTH)
less = named("less", 2, **NOT_SMOOTH)
less_equal = named("less_equal", 2, **NOT_SMOOTH)
logical_and = named("logical_and", 2, dtypes=BOOL, **NOT_SMOOTH)
logical_not = named("logical_not", dtypes=BOOL, **NOT_SMOOTH)
logical_or = named("logical_or", 2, dtypes=BOOL, **NOT_SMOOTH)
logical_xor = named("logical_xor", 2, dtypes=BOOL, **NOT_SMOOTH)
not_equal = named("not_equal", 2, **NOT_SMOOTH)
signbit = named("signbit", dtypes=FLOAT, **NOT_SMOOTH)

clip = each(lambda xp, x, a, b: xp.minimum(xp.maximum(x, a), b), 3)
where = each(lambda xp, c, x, y: xp.where(c != 0, x, y), 3)

special_betaln = scipy_named("betaln", 2, **POSITIVE)
special_digamma = scipy_named("digamma", **POSITIVE)
special_entr = scipy_named("entr", **POSITIVE)
special_erf = scipy_named("erf")
special_erfc = scipy_named("erfc")
special_erfcx = scipy_named("erfcx")
special_erfinv = scipy_named("erfinv", **UNIT)
special_expit = scipy_named("expit")
special_gammainc = scipy_named("gammainc", 2, **POSITIVE)
special_gammaincc = scipy_named("gammaincc", 2, **POSITIVE)
special_gammaln = scipy_named("gammaln", **POSITIVE)
special_i0 = scipy_named("i0")
special_i0e = scipy_named("i0e", low=0.2)
special_i1 = scipy_named("i1")
special_i1e = scipy_named("i1e", low=0.2)
special_log_ndtr = scipy_named("log_ndtr")
special_logit = scipy_named("logit", low=0.1, high=0.9)
special_ndtr = scipy_named("ndtr")
special_ndtri = scipy_named("ndtri", low=0.1, high=0.9)
special_xlog1py = scipy_named("xlog1py", 2, **POSITIVE)
special_xlogy = scipy_named("xlogy", 2, **POSITIVE)
special_zeta = scipy_named("zeta", 2, low=1.5, dtypes=FLOAT, **NOT_SMOOTH)


def _erf(xp: Any, x: Any) -> Any:
    return special_erf.f(xp, x)


nn_celu = each(lambda xp, x: xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0 * x))), dtypes=FLOAT)
nn_elu = each(lambda xp, x: xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0 * x))), dtypes=FLOAT)
nn_gelu = each(lambda xp, x: 0.5 * x * (1 + xp.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), dtypes=FLOAT)
nn_hard_shrink = each(lambda xp, x: xp.where(xp.abs(x) <= 0.5, 0 * x, x), dtypes=FLOAT)
nn_hard_sigmoid = each(lambda xp, x: xp.clip(x / 6 + 0.5, 0, 1), dtypes=FLOAT)
nn_hard_silu = each(lambda xp, x: x * xp.clip(x / 6 + 0.5, 0, 1), dtypes=FLOAT)
nn_hard_tanh = each(lambda xp, x: xp.clip(x, -1, 1), dtypes=FLOAT)
nn_leaky_relu = each(lambda xp, x: xp.where(x > 0, x, 0.01 * x), dtypes=FLOAT)
nn_log_sigmoid = each(lambda xp, x: -xp.log1p(xp.exp(-x)), dtypes=FLOAT)
nn_mish = each(lambda xp, x: x * xp.tanh(xp.log1p(xp.exp(x))), dtypes=FLOAT)
nn_relu = each(lambda xp, x: xp.where(x > 0, x, 0 * x), dtypes=FLOAT)
nn_relu6 = each(lambda xp, x: xp.clip(x, 0, 6), dtypes=FLOAT)
nn_selu = each(
    lambda xp, x: 1.0507009873554805 * xp.where(x > 0, x, 1.6732632423543772 * xp.expm1(xp.minimum(x, 0 * x))),
    dtypes=FLOAT,
)
nn_sigmoid = each(lambda xp, x: 1 / (1 + xp.exp(-x)), dtypes=FLOAT)
nn_silu = each(lambda xp, x: x / (1 + xp.exp(-x)), dtypes=FLOAT)
nn_soft_shrink = each(lambda xp, x: xp.sign(x) * xp.maximum(xp.abs(x) - 0.5, 0 * x), dtypes=FLOAT)
nn_soft_sign = each(lambda xp, x: x / (1 + xp.abs(x)), dtypes=FLOAT)
nn_softplus = each(lambda xp, x: xp.log1p(xp.exp(x)), dtypes=FLOAT)
nn_tanh_shrink = each(lambda xp, x: x - xp.tanh(x), dtypes=FLOAT)


def _at_least_one(f: Callable[..., Any], nothing: Any) -> Callable[..., Any]:
    return lambda xp, v: f(xp, v) if v.shape[0] else xp.asarray(nothing(v))


def _limit(sign: int) -> Callable[[Any], Any]:
    def nothing(v: Any) -> Any:
        dtype = np.dtype(v.dtype)
        if dtype.kind in "iu":
            return np.asarray(np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max, dtype)
        return np.asarray(sign * np.inf, dtype)

    return nothing


def _nan(v: Any) -> Any:
    return np.asarray(np.nan, v.dtype if np.dtype(v.dtype).kind == "f" else np.float64)


sum = reduces(lambda xp, v: xp.sum(v))
prod = reduces(lambda xp, v: xp.prod(v))
min = reduces(_at_least_one(lambda xp, v: xp.min(v), _limit(1)))
max = reduces(_at_least_one(lambda xp, v: xp.max(v), _limit(-1)))
mean = reduces(_at_least_one(lambda xp, v: xp.mean(v), _nan))
nanmean = reduces(_at_least_one(lambda xp, v: xp.nanmean(v), _nan), dtypes=FLOAT)
nansum = reduces(lambda xp, v: xp.nansum(v), dtypes=FLOAT)
var = reduces(_at_least_one(lambda xp, v: xp.var(v), _nan))
std = reduces(_at_least_one(lambda xp, v: xp.std(v) if v.shape[0] > 1 else 0 * v[0], _nan))
any = reduces(lambda xp, v: xp.any(v != 0), dtypes=(*REAL, *BOOL), **NOT_SMOOTH)
all = reduces(lambda xp, v: xp.all(v != 0), dtypes=(*REAL, *BOOL), **NOT_SMOOTH)
count_nonzero = reduces(lambda xp, v: xp.sum(v != 0), dtypes=(*REAL, *BOOL), **NOT_SMOOTH)
argmin = reduces(lambda xp, v, at: at[xp.argmin(v)] if v.shape[0] else -1, axis_only=True, **NOT_SMOOTH)
argmax = reduces(lambda xp, v, at: at[xp.argmax(v)] if v.shape[0] else -1, axis_only=True, **NOT_SMOOTH)
logsumexp = reduces(
    _at_least_one(lambda xp, v: xp.log(xp.sum(xp.exp(v - xp.max(v)))) + xp.max(v), _limit(-1)), dtypes=FLOAT
)


def _softmax(xp: Any, v: Any) -> Any:
    return xp.exp(v - xp.max(v)) / xp.sum(xp.exp(v - xp.max(v)))


nn_softmax = normalizes(_softmax)
nn_log_softmax = normalizes(lambda xp, v: v - xp.max(v) - xp.log(xp.sum(xp.exp(v - xp.max(v)))))
nn_layer_norm = normalizes(lambda xp, v: (v - xp.mean(v)) / xp.sqrt(xp.var(v) + 1e-5))
nn_rms_norm = normalizes(lambda xp, v: v / xp.sqrt(xp.mean(v * v) + 1e-5))
