"""Any function of single components, applied to all of them."""

from collections.abc import Callable
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._typing import Array
from ...backends import Kernels, generic, implementation, is_array, namespace, transforms
from ...engine.arguments import sizes_of
from ...engine.broadcast.rows import to_common_backend
from ...engine.components.buckets import divide, read_bucket
from ...engine.components.form import Form, Sizes, form_of, form_of_entries, same_structure
from ...engine.components.shape_inference import READ, SizeRules, find, from_results
from ...engine.components.stacks import Rule, put_back

__all__ = ["map_components"]


def map_components(
    f: Callable[..., Any],
    /,
    *xs: Any,
    bucket: Any = "exact",
    shape: Callable[..., Any] | None = None,
    capacity: int | None = None,
) -> Any:
    """``f`` applied to matching components: arrays ``(len, *inner)`` of rows, ``(h, w, *inner)`` of blocks.

    ``f`` takes one array from each operand, which must be nested alike, and gives an array or a tree of arrays. A plain
    operand has a component for each row, ``x[i]``. Results of one shape become a plain array ``[n, *shape]``, of one
    ragged axis rows, of several a block. JAX maps ``f`` with ``vmap`` over components that lie together:

    ``"exact"``
        those of one shape, which must be readable; ``f`` may be anything. NumPy calls it for each component.
    ``"padded"``
        those whose sizes round up to the same powers of two, with zeros behind their ends. ``f`` then takes a mask for
        each operand too, behind the components: bool, True inside, of the component's shape without the inner axes.
    a `BucketPlan`
        the same in the buckets of the plan, under jit too: lengths are then data, and nothing is compiled again.

    What ``f`` gives outside of its true size is dropped. ``shape`` says that size: a function of the operands'
    component sizes, tuples of ints and integer arrays, to a tuple of them, ``shape=lambda x: (x[0] // 2 + 1,)`` say; a
    tuple of such tuples where ``f`` gives several arrays. An entry that is an int is a uniform axis, any other a ragged
    one. Without ``shape``, ``f`` is tried on ones of a few sizes, to see which axes follow which; the structure of the
    result then depends on ``f`` alone. For a function that refuses all of them (or needs sizes of some kind) it is
    taken from the results, so that an axis in which they happen to agree is uniform.

    The result has room for all places of the buckets, or the capacity of an operand whose sizes it keeps, or
    ``capacity`` elements. Eagerly capacities follow from the data. Empty components are passed too.

    >>> x = ragged([np.ones((2, 3)), np.ones((1, 1))])
    >>> map_components(lambda a: a.T @ a, x).tolist()
    [[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]], [[1.0]]]
    >>> map_components(lambda a, mask: (a * mask).sum(), x, bucket="padded")
    array([6., 1.])
    """
    if not any(isinstance(x, RaggedArray) for x in xs):
        got = ", ".join(type(x).__name__ for x in xs) or "no operand"
        raise TypeError(error_text("a RaggedArray among the operands", got, "Call `f` itself."))
    k, moved = to_common_backend(xs)
    lead = form_of(next(x for x in moved if isinstance(x, RaggedArray)))
    forms = tuple(form_of(x) if isinstance(x, RaggedArray) else _entries(x, lead, i) for i, x in enumerate(moved))
    same_structure(forms)
    if bucket is None:
        want = "bucket 'exact', 'padded' or a BucketPlan"
        raise ValueError(error_text(want, "None", "Pass `bucket=` one of these."))
    masked = bucket != "exact"
    buckets = divide(forms, bucket)
    size_rules = None if shape is not None else find(k, f, forms, masked)
    if isinstance(size_rules, Exception) and masked:
        advice = "Pass `shape=`, a function of the sizes."
        raise ValueError(
            error_text("a function whose sizes can be found by trying", repr(size_rules), advice)
        ) from size_rules
    if masked and isinstance(size_rules, SizeRules) and any(n is READ for rule in size_rules.rules for n in rule):
        advice = "Pass `shape=`, a function of the sizes."
        raise ValueError(error_text("sizes that follow those of an operand", "others", advice))
    parts = []
    for b in buckets.each:
        leaves, structure = _applied(k, f, forms, read_bucket(forms, buckets, b), masked)
        parts.append(leaves)
    rule: Rule
    if shape is not None:
        rule = _rule_of(shape, structure, len(parts[0]))
    elif isinstance(size_rules, SizeRules):
        rule = size_rules
    else:
        results = [[tuple(a.shape[1:]) for a in part] for part in parts]
        rule = from_results(results, [b.shapes for b in buckets.each], forms)
    return _tree(structure, put_back(forms, buckets, parts, rule, None if capacity is None else sizes_of(capacity)))


def _applied(
    k: Kernels, f: Callable[..., Any], forms: tuple[Form, ...], bucket: Any, masked: bool
) -> tuple[list[Array], Any]:
    """What ``f`` gives for each component of a bucket, stacked, and the tree that one result is."""
    stacks, sizes = bucket
    masks = [_mask(s, n[: len(form.block.axes)]) for form, s, n in zip(forms, stacks, sizes, strict=True) if masked]
    leaves, structure = implementation(k, generic.component_function)(f)(*stacks, *masks)
    if not leaves or not all(map(is_array, leaves)):
        got = ", ".join(type(x).__name__ for x in leaves[:3] if not is_array(x)) or "nothing"
        raise TypeError(error_text("a function that gives arrays", got, "Return arrays from it."))
    return leaves, structure


def _rule_of(shape: Callable[..., Any], structure: Any, count: int) -> Rule:
    """The rule that the user gives: one tuple where the result is a bare array, else one for each."""
    leaf = object()
    bare = count == 1 and _tree(structure, [leaf]) is leaf

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        result = shape(*sizes)
        return [tuple(result)] if bare else [tuple(s) for s in result]

    return rule


def _tree(structure: Any, leaves: list[Any]) -> Any:
    return transforms().unflatten(structure, leaves)


def _entries(x: Any, lead: Form, i: int) -> Form:
    if not is_array(x) or lead.above or not x.ndim or x.shape[0] != lead.block.nrows:
        want = f"an array with {lead.block.nrows} entries, one for each component"
        got = f"shape {tuple(x.shape)}" if is_array(x) else repr(x)
        raise ValueError(error_text(want, f"{got} as operand {i}", "Close over what is the same for all."))
    return form_of_entries(x, lead)


def _mask(stack: Array, sizes: Sizes) -> Array:
    """Which places of a stack lie inside their component."""
    xp = namespace(stack)
    rank, count = len(sizes), stack.shape[0]
    out = xp.ones((count, *stack.shape[1 : rank + 1]), dtype=xp.bool)
    for r, size in enumerate(sizes):
        if isinstance(size, int):
            continue
        n = stack.shape[r + 1]
        at = xp.reshape(xp.arange(n, dtype=size.dtype), (1, *(1,) * r, n, *(1,) * (rank - r - 1)))
        out = out & (at < xp.reshape(size, (count, *(1,) * rank)))
    return out
