"""`Transforms`: trees, gradients and run-time checks, as JAX knows them."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax.experimental import checkify

from ..._typing import Array

_checks: Any = cast(Any, jax).make_user_context(False)  # part of jit's cache key, which a plain global is not


def checking() -> bool:
    return bool(_checks.value)


def check(ok: Array, text: str, /, **shown: Array) -> None:
    checkify.check(jnp.asarray(ok), text, **shown)


def checks() -> Any:
    return _checks(True)


def checked(f: Callable[..., Any], options: dict[str, Any], /) -> Callable[..., Any]:
    return jax.jit(checkify.checkify(f, errors=checkify.user_checks), **options)


def value_and_grad(f: Callable[[list[Array]], Any], has_aux: bool, /) -> Callable[[list[Array]], Any]:
    return jax.value_and_grad(f, has_aux=has_aux)


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None, /) -> tuple[list[Any], Any]:
    return jax.tree.flatten(tree, is_leaf=is_leaf)


def unflatten(structure: Any, leaves: list[Any], /) -> Any:
    return jax.tree.unflatten(structure, leaves)


def register(cls: type, static: bool, /) -> None:
    """Unflattening checks nothing: JAX passes ``None``, ``object()``, float0 and batched leaves."""
    fixed = [f.name for f in fields(cls) if f.metadata.get("static")]
    names = [f.name for f in fields(cls) if f.name not in fixed]
    keys = [jax.tree_util.GetAttrKey(n) for n in names]

    def aux(x: Any) -> Any:
        return tuple(getattr(x, n) for n in fixed)

    def children(x: Any) -> tuple[list[Any], Any]:
        return [getattr(x, n) for n in names], aux(x)

    def keyed(x: Any) -> tuple[list[Any], Any]:
        return [(k, getattr(x, n)) for k, n in zip(keys, names, strict=True)], aux(x)

    def rebuild(static: Any, leaves: Any) -> Any:
        new: Any = object.__new__(cls)
        for n, value in zip((*fixed, *names), (*static, *leaves), strict=True):
            object.__setattr__(new, n, value)
        return new

    if static:
        jax.tree_util.register_static(cls)
    else:
        jax.tree_util.register_pytree_with_keys(cls, keyed, rebuild, children)
