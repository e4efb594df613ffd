"""Trees of parameters that hold RaggedArrays, for optimisers, which map over every leaf and must not see row splits.

`split` takes a tree apart into what is trained and the rest, `merge` puts it together again, and `labels` says which
leaf is which. The functions work on any pytree: dicts, lists, dataclasses, modules of Equinox.
"""

from dataclasses import dataclass, field
from typing import Any

from ._array import RaggedArray
from ._errors import error_text
from ._partition import Partition, block_of
from .backends import is_array, register, transforms
from .engine.trees import is_inexact, is_ragged, values_of
from .structure.levels import library

__all__ = ["labels", "merge", "split"]


@dataclass(frozen=True)
class Structure:
    """A RaggedArray without its values, or a stack of them."""

    partitions: tuple[Partition, ...]
    capacity: int = field(metadata={"static": True})


def _stack_axes(partitions: tuple[Partition, ...], values: Any) -> int:
    """How many axes in front a stack of arrays has, as outside of `jax.vmap`."""
    axes = 1 if block_of(partitions) is None else 2
    return max(int(getattr(library(partitions, values), "ndim", axes)) - axes, 0)


@dataclass(frozen=True)
class Static:
    """A leaf that is no array and no number, as a name or a function: `jax.jit` takes it as static."""

    value: Any


register(Structure)
register(Static, static=True)


def split(tree: Any, /) -> tuple[Any, Any]:
    """A tree as ``(trainable, structure)``: the arrays of floating or complex numbers, and all the rest.

    Both have the form of ``tree``. In ``trainable`` stand plain arrays: the values ``[capacity, *inner]`` of a
    RaggedArray, and other inexact arrays as they are; None for what is not trained. ``structure`` holds row splits,
    integers, keys, numbers, names and functions. Both go through ``jit``, ``vmap`` and ``jax.tree.map``;
    ``trainable`` also through ``grad`` and optimisers, whose state then holds no splits either.

    >>> trainable, structure = ra.params.split({"table": ragged([[1.0, 2.0], [3.0]]), "steps": 3})
    >>> trainable
    {'steps': None, 'table': array([1., 2., 3.])}
    >>> ra.params.merge(trainable, structure)["table"].tolist()
    [[1.0, 2.0], [3.0]]
    """
    trees = transforms()
    leaves, form = trees.flatten(tree, is_ragged)
    trainable = [values_of(leaf) if is_inexact(leaf) else None for leaf in leaves]
    return trees.unflatten(form, trainable), trees.unflatten(form, [_rest(leaf) for leaf in leaves])


def _rest(leaf: Any) -> Any:
    if is_inexact(leaf):
        return _structure(leaf) if isinstance(leaf, RaggedArray) else None
    return leaf if is_array(leaf) or isinstance(leaf, bool | int | float | complex) else Static(leaf)


def _structure(x: RaggedArray) -> Structure:
    return Structure(x.partitions, int(x.values.shape[_stack_axes(x.partitions, x.values)]))


def merge(trainable: Any, structure: Any, /) -> Any:
    """The tree that `split` took apart, with other trained arrays of the same shapes, dtypes free.

    The gradient with respect to ``trainable`` is 0 in slack, so that slack neither moves nor counts in the norm of
    a gradient. Trees that do not belong together raise `ValueError`.

    >>> trainable, structure = ra.params.split({"w": ragged([[1.0, 2.0], [3.0]], xp="jax")})
    >>> def loss(trainable):
    ...     return sum(ra.params.merge(trainable, structure)["w"] ** 2)
    >>> import jax
    >>> np.asarray(jax.grad(loss)(trainable)["w"])[:3]
    array([2., 4., 6.], dtype=float32)
    """
    trees = transforms()
    values, form = trees.flatten(trainable, _is_none)
    rest, other = trees.flatten(structure, _is_rest)
    if form != other:
        what = f"{form} and {other}"
        raise ValueError(
            error_text("both trees of one `params.split`", what, "Split the tree again.", op="params.merge")
        )
    return trees.unflatten(form, [_merged(v, r) for v, r in zip(values, rest, strict=True)])


def _is_none(x: Any) -> bool:
    return x is None


def _is_rest(x: Any) -> bool:
    return x is None or isinstance(x, Structure | Static | RaggedArray)


def _merged(value: Any, rest: Any) -> Any:
    if isinstance(rest, Structure):
        if not is_array(value):
            what = type(value).__name__
            raise ValueError(
                error_text("values for each ragged array", what, "Split the tree again.", op="params.merge")
            )
        stacked = _stack_axes(rest.partitions, value)
        if value.shape[stacked : stacked + 1] != (rest.capacity,):
            what = f"shape {tuple(value.shape)}"
            raise ValueError(
                error_text(f"{rest.capacity} slots", what, "Keep the shapes of `trainable`.", op="params.merge")
            )
        merged = RaggedArray(value, rest.partitions)
        return merged if stacked else merged.with_values(value)
    if rest is None:
        return value
    if value is not None:
        what = f"{type(value).__name__} where nothing is trained"
        raise ValueError(
            error_text("both trees of one `params.split`", what, "Split the tree again.", op="params.merge")
        )
    return rest.value if isinstance(rest, Static) else rest


def labels(tree: Any, /) -> Any:
    """``"trainable"`` or ``"frozen"`` in place of each leaf, the row splits of RaggedArrays too.

    This is what ``optax.multi_transform`` asks for, where a tree is trained that is not split; it takes the function
    itself as well. A leaf is trained if it is an array of floating or complex numbers.

    >>> from jax import tree
    >>> tree.leaves(ra.params.labels({"steps": 3, "table": ragged([[1.0, 2.0], [3.0]])}))
    ['frozen', 'trainable', 'frozen']
    """
    trees = transforms()
    leaves, form = trees.flatten(tree)
    return trees.unflatten(form, ["trainable" if is_inexact(leaf) else "frozen" for leaf in leaves])


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]
