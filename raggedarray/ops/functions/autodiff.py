"""Gradients with respect to RaggedArrays, and run-time checks of traced data."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from ..._array import RaggedArray
from ..._errors import error_text
from ..._typing import Array
from ...backends import backend, transforms
from ...engine.arguments import sizes_of
from ...engine.broadcast.rows import move_to
from ...engine.trees import is_inexact, is_ragged, values_of

__all__ = ["checked", "checks", "grad", "value_and_grad"]

P = ParamSpec("P")
X = TypeVar("X")
Y = TypeVar("Y")


@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], Y], *, has_aux: bool = False
) -> Callable[Concatenate[X, P], tuple[Y, X]]: ...
@overload
def value_and_grad(
    f: Callable[P, Y], argnums: int | tuple[int, ...], *, has_aux: bool = False
) -> Callable[P, tuple[Y, Any]]: ...
def value_and_grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """``jax.value_and_grad`` for arguments that hold RaggedArrays: ``g(*args) -> (value, gradient)``.

    Only inexact arrays are differentiated (``jax.grad`` raises on the integer splits). The gradient of a
    RaggedArray is one with the same partitions, 0 in slack; of an array an array; where nothing can be
    differentiated, None.

    >>> x = ragged([[1.0, 2.0], [3.0]], xp="jax")
    >>> value_and_grad(lambda x: sum(x * x))(x)[1].to("numpy").tolist()
    [[2.0, 4.0], [6.0]]
    """
    return _differentiated(f, argnums, has_aux)


@overload
def grad(  # type: ignore[overload-overlap]
    f: Callable[Concatenate[X, P], Any], *, has_aux: Literal[False] = False
) -> Callable[Concatenate[X, P], X]: ...
@overload
def grad(
    f: Callable[Concatenate[X, P], tuple[Any, Y]], *, has_aux: Literal[True]
) -> Callable[Concatenate[X, P], tuple[X, Y]]: ...
@overload
def grad(f: Callable[P, Any], argnums: int | tuple[int, ...], *, has_aux: bool = False) -> Callable[P, Any]: ...
@overload
def grad(f: Callable[P, Any], *, has_aux: bool) -> Callable[P, Any]: ...
def grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient alone; see `value_and_grad`. With ``has_aux``, ``(gradient, aux)``.

    >>> grad(lambda x: sum(x * x))(ragged([[1.0, 2.0], [3.0]], xp="jax")).to("numpy").tolist()
    [[2.0, 4.0], [6.0]]
    """
    both = _differentiated(f, argnums, has_aux)

    @wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def _differentiated(f: Callable[..., Any], argnums: int | tuple[int, ...], has_aux: bool) -> Callable[..., Any]:
    jax, trees = backend("jax"), transforms()
    several = isinstance(argnums, tuple | list)
    positions = sizes_of(argnums, many=True)
    positions = positions if several else (positions,)

    @wraps(f)
    def both(*args: Any, **kwargs: Any) -> Any:
        which = tuple(i + len(args) if i < 0 else i for i in positions)
        if any(not 0 <= i < len(args) for i in which) or len(set(which)) < len(which):
            want = f"distinct positional arguments, of which there are {len(args)}"
            raise ValueError(
                error_text(want, f"argnums={argnums}", "Pass what is differentiated by position.", op="grad")
            )
        chosen = tuple(args[i] for i in which)
        leaves, structure = trees.flatten(chosen, is_ragged)
        at = [i for i, leaf in enumerate(leaves) if _differentiable(leaf)]

        def of_values(values: list[Array]) -> Any:
            new = list(leaves)
            for i, v in zip(at, values, strict=True):
                new[i] = leaves[i].with_values(v) if isinstance(leaves[i], RaggedArray) else v
            full = list(args)
            for i, arg in zip(which, trees.unflatten(structure, new), strict=True):
                full[i] = arg
            return f(*full, **kwargs)

        values = [jax.asarray(values_of(leaves[i])) for i in at]
        result, grads = trees.value_and_grad(of_values, has_aux)(values)
        out: list[Any] = [None] * len(leaves)
        for i, g in zip(at, grads, strict=True):
            out[i] = RaggedArray(g, move_to(jax, leaves[i]).partitions) if isinstance(leaves[i], RaggedArray) else g
        rebuilt = trees.unflatten(structure, out)
        return result, rebuilt if several else rebuilt[0]

    return both


def _differentiable(leaf: Any) -> bool:
    return is_inexact(leaf) or isinstance(leaf, float | complex)


def checks() -> Any:
    """A context in which traced code checks its data at run time: agreement of rows, capacities, ids.

    The checks are ``checkify.check`` calls, so what is traced inside must be functionalised by
    ``jax.experimental.checkify``; `checked` does all of it. The flag is part of jit's cache key.
    """
    return transforms().checks()


def checked(f: Callable[P, Y], **options: Any) -> Callable[P, Y]:
    """``f``, compiled, with its data checked at run time; a failed check raises `ValueError`.

    ``options`` go to ``jax.jit``. The checks cost about as much as the comparisons they make.

    >>> import jax
    >>> total = checked(lambda x, y: sum(x + y))
    >>> float(total(ragged([[1.0], [2.0]], xp="jax"), ragged([[3.0], [4.0]], xp="jax")))
    10.0
    """
    compiled = transforms().checked(f, options)

    @wraps(f)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> Y:
        out: Y
        with transforms().checks():
            error, out = compiled(*args, **kwargs)
        text = error.get()
        if text is not None:
            raise ValueError(text.split(" (`check` failed)")[0])
        return out

    return with_checks
