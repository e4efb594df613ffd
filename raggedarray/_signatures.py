"""What type checkers and editors are told of the results of public functions.

A checker sees neither how many axes of an array are ragged, nor which axes a number names, nor a plain array's
library. Three rules follow, and hold for the whole package:

- Where a ragged operand always gives a ragged result, the function says so, with `T`, `like_first`, `like_second` or
  `like_operands`. These add nothing at run time.
- A plain array in gives the caller's own class back (`T`) where its dtype stays, else ``Any``: it is an array of the
  caller's library, which no common type is accepted as.
- Where data, a key or an axis decides (``x[0]``, ``sum(x, axis=1)``, ``x @ y``), the result is ``Any``: a union would
  ask for a cast before every use, and one class would be untrue of half of the calls.
"""

from collections.abc import Callable
from typing import (
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    SupportsComplex,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    overload,
    runtime_checkable,
)

from ._array import RaggedArray

P = ParamSpec("P")
Number: TypeAlias = SupportsFloat | SupportsComplex | SupportsIndex
"""A number of Python's or of NumPy's, but no text."""


@runtime_checkable
class Array(Protocol):
    """A plain array of any array-API library: ``numpy.ndarray``, ``jax.Array``, a tracer; for annotations.

    Functions of this package take one wherever they take a plain array. What they return is the library's own class.

    >>> isinstance(np.ones(3), ra.Array), isinstance(ragged([[1.0]]), ra.Array)
    (True, False)
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Axis sizes."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def dtype(self) -> Any:
        """Dtype of the elements."""

    @property
    def T(self) -> Any:
        """The transposed matrix; no ragged array has one."""

    def __getitem__(self, key: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __rpow__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __rmatmul__(self, other: Any, /) -> Any: ...


T = TypeVar("T", bound=RaggedArray | Array)
"""An operand whose class and dtype the result has."""


class LikeFirst(Protocol[P]):
    """Ragged where the first argument is."""

    @overload
    def __call__(self, x: RaggedArray, /, *args: P.args, **options: P.kwargs) -> RaggedArray: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **options: P.kwargs) -> Any: ...


def like_first(f: Callable[Concatenate[Any, P], Any]) -> LikeFirst[P]:
    """``f``, whose result is ragged where its first argument is."""
    return f


class LikeOperands(Protocol[P]):
    """Ragged where one of the first two arguments is."""

    @overload
    def __call__(self, x1: RaggedArray, x2: Any, /, *args: P.args, **options: P.kwargs) -> RaggedArray: ...
    @overload
    def __call__(self, x1: Array | Number, x2: RaggedArray, /, *args: P.args, **options: P.kwargs) -> RaggedArray: ...
    @overload
    def __call__(self, x1: Array, x2: Array | Number, /, *args: P.args, **options: P.kwargs) -> Any: ...
    @overload
    def __call__(self, x1: Number, x2: Array, /, *args: P.args, **options: P.kwargs) -> Any: ...


def like_operands(f: Callable[Concatenate[Any, Any, P], Any]) -> LikeOperands[P]:
    """``f``, whose result is ragged where one of its first two arguments is."""
    return f


class LikeSecond(Protocol[P]):
    """Ragged where the second argument is; the first is a random key, or a degree."""

    @overload
    def __call__(self, key: Any, x: RaggedArray, /, *args: P.args, **options: P.kwargs) -> RaggedArray: ...
    @overload
    def __call__(self, key: Any, x: Array, /, *args: P.args, **options: P.kwargs) -> Any: ...


def like_second(f: Callable[Concatenate[Any, Any, P], Any]) -> LikeSecond[P]:
    """``f`` of a random key, or a degree, and an array, whose result is ragged where the array is."""
    return f
