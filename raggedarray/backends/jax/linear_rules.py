"""Linear functions on JAX whose transpose is given, and that are batched and differentiated in every mode all the same.

``custom_vjp`` has no forward mode, and no second derivative if its functions have none. What lets a function name its
own transpose and keeps all of JAX's rules is a linear solve: of ``x = a, y - f(x) = b`` for ``y``.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..._typing import Array
from .rows import alike


def linear_call(
    plain: Callable[..., Any], forward: Callable[..., Any], transpose: Callable[..., Any], saved: Any, given: Any
) -> Any:
    """``plain(saved, given)``, linear in ``given``, computed by ``forward`` of the same.

    Its transpose is ``transpose(saved, cotangent)``. Derivatives of either come from ``plain``, the only one of the
    three that JAX differentiates and transposes.
    """
    saved, given = alike((saved, given))
    like = jax.eval_shape(lambda given: plain(saved, given), given)

    def equations(x: Any) -> Any:
        link = _nothing(saved) * _nothing(x)
        return _add(link, x[0]), _add(link, jax.tree.map(jnp.subtract, x[1], plain(saved, x[0])))

    def solved(_: Any, b: Any) -> Any:
        return b[0], jax.tree.map(jnp.add, b[1], forward(saved, b[0]))

    def transposed(_: Any, c: Any) -> Any:
        return jax.tree.map(jnp.add, c[0], transpose(saved, c[1])), c[1]

    # JAX asks of everything that is solved for, and of its cotangents, to be a function of what is unknown.
    link = _nothing(given)
    zeros = jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), like)
    same, out = lax.custom_linear_solve(equations, (_add(link, given), _add(link, zeros)), solved, transposed)
    return _add(_nothing(same), out)


def _nothing(tree: Any) -> Array:
    """0, as a linear function of every inexact array, which XLA folds away."""
    nothing = jnp.zeros((), jnp.float32)
    for a in jax.tree.leaves(tree):
        if jnp.issubdtype(jnp.result_type(a), jnp.inexact):
            nothing = nothing + jnp.sum(jnp.where(False, a, 0)).astype(jnp.float32)
    return nothing


def _add(link: Array, tree: Any) -> Any:
    return jax.tree.map(lambda a: a + link.astype(a.dtype), tree)
