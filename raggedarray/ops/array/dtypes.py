"""Dtypes, constants, and questions about dtypes, as the array API standard names them.

The dtype objects are NumPy's, which JAX shares: ``x.dtype == ra.float32`` is right for arrays of either library.
Functions here take a dtype of any library (extended floats such as bfloat16 too), an array or a RaggedArray.
Without an array they answer for NumPy; with a JAX array, as JAX promotes.
"""

from importlib import import_module
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._typing import DType, Namespace
from ...backends import backend, common, generic, implementation, is_array, kind, namespace
from ...engine.arguments import is_scalar
from ...engine.host import host_namespace

__all__ = [
    "__array_namespace_info__", "bool", "can_cast", "complex64", "complex128", "e", "finfo", "float32", "float64",
    "iinfo", "inf", "int8", "int16", "int32", "int64", "isdtype", "nan", "newaxis", "pi", "result_type", "uint8",
    "uint16", "uint32", "uint64",
]  # fmt: skip

_named = backend("numpy").dtype

bool = _named("bool")
int8, int16, int32, int64 = _named("int8"), _named("int16"), _named("int32"), _named("int64")
uint8, uint16, uint32, uint64 = _named("uint8"), _named("uint16"), _named("uint32"), _named("uint64")
float32, float64 = _named("float32"), _named("float64")
complex64, complex128 = _named("complex64"), _named("complex128")

e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")
newaxis = None


def _space(dtype: DType) -> Namespace:
    """A namespace that knows this dtype."""
    library = type(dtype).__module__.partition(".")[0]
    if library not in ("builtins", "numpy", "ml_dtypes"):
        return import_module(library)
    standard = isinstance(dtype, str) or str(getattr(dtype, "__name__", dtype)) in _STANDARD
    return host_namespace() if standard else backend("jax").xp


_STANDARD = {"bool", "bool_", "float16", "float128", "longdouble", "clongdouble", "complex256"} | {
    name + bits
    for name, sizes in {"int": "8 16 32 64", "uint": "8 16 32 64", "float": "32 64", "complex": "64 128"}.items()
    for bits in sizes.split()
}
"""Dtypes that NumPy itself can answer for."""


def _plain(x: Any) -> Any:
    """The values of a RaggedArray; a dtype for its name or scalar class; anything else as it is."""
    if isinstance(x, str | type):
        return backend("numpy").dtype(x)
    return x.values if isinstance(x, RaggedArray) else x


def can_cast(from_: Any, to: DType, /) -> Any:
    """Whether a dtype, or the dtype of an array, can become ``to`` by the standard's promotion rules.

    >>> can_cast(ra.int8, ra.int16), can_cast(ragged([[1.5]]), "int32")
    (True, False)
    """
    from_, to = _plain(from_), _plain(to)
    from_ = from_.dtype if is_array(from_) else from_
    return (_space(to) if _space(from_) is host_namespace() else _space(from_)).can_cast(from_, to)


def finfo(type: Any, /) -> Any:
    """Limits of a floating dtype, or of the dtype of an array: ``bits eps max min smallest_normal dtype``.

    >>> float(finfo(ragged([[1.5]])).eps) == 2.0**-52
    True
    """
    return _limits("finfo", type)


def iinfo(type: Any, /) -> Any:
    """Limits of an integer dtype, or of the dtype of an array: ``bits max min dtype``.

    >>> iinfo("int8").max, iinfo(ragged([[1, 2]])).bits
    (127, 64)
    """
    return _limits("iinfo", type)


def _limits(name: str, x: Any) -> Any:
    x = _plain(x)
    dtype = x.dtype if is_array(x) else x
    return getattr(_space(dtype), name)(dtype)


def isdtype(dtype: DType, kind: Any) -> Any:
    """Whether a dtype is ``kind``: a dtype, a kind's name such as ``"real floating"``, or one of a tuple of these.

    >>> isdtype(ra.float32, "real floating"), isdtype("int8", ("bool", ra.int8))
    (True, True)
    """
    return _space(_plain(dtype)).isdtype(_plain(dtype), kind)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Dtype that arrays, RaggedArrays, dtypes and numbers promote to; Python numbers are weak.

    >>> result_type(ragged([[1.5]]), ra.float32, 1)
    dtype('float64')
    """
    plain = [_plain(x) for x in arrays_and_dtypes]
    if all(is_scalar(x) for x in plain):
        raise TypeError(error_text("at least one array or dtype", f"{len(plain)} numbers", "Pass one more."))
    arrays = [x for x in plain if is_array(x)]
    if arrays:
        k = common(arrays)
        plain = [k.asarray(x) if is_array(x) else x for x in plain]
        xp = k.xp
        operands = (x if is_scalar(x) or (is_array(x) and not k.has_exact_sizes) else _of_dtype(xp, x) for x in plain)
        return implementation(k, generic.pointwise)(_promoted, tuple(operands), {}, single=False).dtype
    spaces = [_space(x) for x in plain if not is_scalar(x)]
    return next((s for s in spaces if s is not host_namespace()), spaces[0]).result_type(*plain)


def _of_dtype(xp: Namespace, x: Any) -> Any:
    return xp.zeros((), dtype=x.dtype if is_array(x) else x)


def _promoted(*args: Any) -> Any:
    xp = namespace(next(x for x in args if is_array(x)))
    return xp.zeros((), dtype=xp.result_type(*args))


def __array_namespace_info__() -> Any:
    """What the standard's inspection functions tell: ``capabilities default_device default_dtypes devices dtypes``.

    It answers for NumPy, whose arrays the creation functions make.

    >>> sorted(__array_namespace_info__().default_dtypes())
    ['complex floating', 'indexing', 'integral', 'real floating']
    """
    return host_namespace().__array_namespace_info__()


def need_kind(value: Any, dtype: DType) -> None:
    """Raise unless a Python number can be written in this dtype without losing its kind."""
    order = ("bool", "uint", "int", "float", "complex")
    have = "int" if isinstance(value, int) else "float" if isinstance(value, float) else "complex"
    if is_scalar(value) and order.index(have) > 2 and order.index(have) > order.index(kind(dtype)):
        raise TypeError(error_text(f"a fill value of dtype {dtype}", f"{value!r}", "Pass `dtype=`."))
