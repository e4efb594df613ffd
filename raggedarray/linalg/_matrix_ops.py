"""How a function of matrices runs: on flat values where both axes are inner ones, else on components."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import BlockPartition
from .._typing import Array
from ..backends import is_array, kernels, namespace
from ..engine.broadcast.rows import to_common_backend
from ..engine.components.buckets import StackFunction, apply_in_buckets
from ..engine.components.form import Form, Sizes, form_of, form_of_entries, same_structure
from ..engine.components.stacks import Rule
from ..engine.packing import contiguous
from ..structure.blocks import component_splits
from ._contraction import same_sizes
from ._matrices import body


def dense(name: str, *arrays: Any, args: tuple[Any, ...] = (), **options: Any) -> Any:
    """The library's own function of plain arrays."""
    _, moved = to_common_backend(arrays)
    return getattr(namespace(moved[0]).linalg, name)(*moved, *args, **options)


def same(sizes: list[Sizes]) -> list[Sizes]:
    """One result, of the sizes of the first operand."""
    return [sizes[0]]


def of_matrices(
    name: str,
    xs: tuple[Any, ...],
    rule: Rule,
    *,
    bucket: Any,
    square: bool = False,
    options: tuple[tuple[str, Any], ...] = (),
) -> list[Any]:
    """Function ``name`` of `_matrices` on each matrix of the first operand (and what the second has for it)."""
    _, moved = to_common_backend(xs)
    lead_x = next(x for x in moved if isinstance(x, RaggedArray))
    lead = form_of(lead_x)
    forms = tuple(_components(x, lead, matrices=not i) for i, x in enumerate(moved))
    same_structure(forms)
    first = forms[0]
    if square:
        _check_square(first)
    if all(isinstance(x, RaggedArray) for x in moved) and _inner_only(moved, forms):
        return _on_values(name, [x for x in moved if isinstance(x, RaggedArray)], options)
    function = StackFunction(body, (("name", name), ("options", options)))
    return apply_in_buckets(function, forms, rule, bucket=bucket)


def _components(x: Any, lead: Form, matrices: bool) -> Form:
    rank = x.ndim - len(x.partitions) if isinstance(x, RaggedArray) else x.ndim
    if matrices and rank < 2:
        advice = "Make rows of rows one block with `ra.to_blocks`, vectors matrices with `ra.expand_dims`."
        raise ValueError(error_text("components with two axes or more", f"shape {tuple(x.shape)}", advice))
    if isinstance(x, RaggedArray):
        return form_of(x)
    xp = namespace(x)
    if not is_array(x) or not x.ndim:
        raise ValueError(error_text("vectors or matrices", "a number", "Pass an array."))
    if x.ndim < 3:
        x = xp.broadcast_to(x, (lead.nrows, *x.shape))
    if x.shape[0] != lead.nrows or lead.above:
        want, got = f"an entry for each of {lead.nrows} rows", f"shape {tuple(x.shape)}"
        raise ValueError(error_text(want, got, "Pass a ragged operand."))
    return form_of_entries(x, lead)


def _check_square(form: Form) -> None:
    m, n = form.sizes[-2:]
    if isinstance(m, int) and isinstance(n, int):
        if m != n:
            raise ValueError(error_text("square matrices", f"{m} by {n}", "Use `ra.linalg.pinv` or `svd`."))
        return
    same_sizes(*((n, m) if isinstance(m, int) else (m, n)))


def _inner_only(xs: list[Any], forms: tuple[Form, ...]) -> bool:
    """Whether each operand's matrix or vector axes are inner axes, of slots that lie alike."""
    first = forms[0]
    return len(xs[0].inner_shape) >= 2 and all(
        f.block.axes == first.block.axes and len(x.inner_shape) >= 1 for x, f in zip(xs[1:], forms[1:], strict=True)
    )


def _on_values(name: str, xs: list[RaggedArray], options: Any) -> list[Any]:
    xs = [contiguous(x) for x in xs]
    size = min(x.capacity for x in xs)
    template = next(x for x in xs if x.capacity == size)
    block = form_of(template).block
    assert block.is_packed
    values = tuple(x.values[:size, ...] for x in xs)
    outs = template.kernels.call(_flat, values, block, name=name, options=options)
    return [RaggedArray(out, template.partitions) for out in outs]


def _flat(values: tuple[Array, ...], block: BlockPartition, *, name: str, options: Any) -> tuple[Array, ...]:
    """Slack becomes the identity, which nothing goes wrong with."""
    used = component_splits(block)[-1]
    clean = []
    for v in values:
        xp = namespace(v)
        if not kernels(v).has_exact_sizes:
            n = v.shape[0]
            mask = xp.reshape(xp.arange(n, dtype=used.dtype) < used, (n, *(1,) * (v.ndim - 1)))
            safe = xp.eye(*v.shape[-2:], dtype=v.dtype) if v.ndim > 2 else xp.zeros(v.shape[-1:], dtype=v.dtype)
            v = xp.where(mask, v, xp.reshape(safe, (*(1,) * (v.ndim - safe.ndim), *safe.shape)))
        clean.append(v)
    sizes: tuple[Sizes, ...] = tuple(tuple(v.shape[1:]) for v in clean)
    return body(tuple(clean), sizes, name=name, options=options)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two sizes, ints or arrays."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    xp = namespace(b if isinstance(a, int) else a)
    like = b if isinstance(a, int) else a
    a, b = (xp.full_like(like, n) if isinstance(n, int) else n for n in (a, b))
    return xp.minimum(a, b)
