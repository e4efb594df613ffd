"""Operands as lists of components, whatever divides them: rows, or blocks of several axes.

A component has the axes of its block, which for rows is the one ragged axis, and then the inner axes. Results of
components are put together here: equal sizes give a plain array, one ragged axis rows, several a packed block.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import BlockPartition, Partition, RowPartition
from ..._typing import Array
from ...backends import Kernels, kernels, namespace
from ...structure.agreement import agree_levels
from ...structure.blocks import extents, packed
from ...structure.levels import splits_of, used_at
from ...structure.views import absorb_inner_axes as fold_inner
from ...structure.views import entries
from ..innermost import innermost

Sizes = tuple[Any, ...]
"""Sizes of a component along its axes: an int where it is uniform, ``int[n]`` where it is ragged."""


class Form(NamedTuple):
    """Components: where the elements of each lie, and the levels above them."""

    values: Array
    block: BlockPartition
    above: tuple[Partition, ...]
    nrows: int
    origin: Partition
    """What divided the operand: the same object, or the same splits, means the same sizes."""

    @property
    def axes(self) -> tuple[int | None, ...]:
        """Axes of a component, None where ragged."""
        return (*self.block.axes, *self.values.shape[1:])

    @property
    def sizes(self) -> Sizes:
        """Sizes of all components: on the host where they can be read, where a step costs no compiled program."""
        block, k = self.block, kernels(self.block.sizes)
        if not k.has_exact_sizes and k.is_concrete(block.sizes):
            block = BlockPartition(k.host(block.sizes), axes=block.axes, bound=block.bound)
        return (*extents(block), *self.values.shape[1:])

    @property
    def columns(self) -> int:
        """How many axes are ragged."""
        return self.block.axes.count(None)


def any_ragged(*xs: Any) -> bool:
    """Whether some operand is ragged."""
    return any(isinstance(x, RaggedArray) for x in xs)


def form_of(x: RaggedArray) -> Form:
    """The innermost components of ``x``."""
    *above, last = x.partitions
    return Form(x.values, innermost(x), tuple(above), x.nrows, last)


def form_of_entries(values: Array, lead: Form) -> Form:
    """The entries ``values[i]`` of a plain array as components, one for each row of ``lead``."""
    flat, block = entries(values, values.ndim - 1, lead.block.sizes)
    return Form(flat, block, lead.above, lead.nrows, block)


def same_structure(forms: Sequence[Form]) -> None:
    """Raise, naming the first differing place, unless operands have the same levels above as many components."""
    first = forms[0]
    for i, form in enumerate(forms[1:], start=1):
        if len(form.above) != len(first.above):
            want, got = f"{len(first.above)} levels above the components", f"{len(form.above)} in operand {i}"
            raise ValueError(error_text(want, got, "Nest both alike."))
        agree_levels(first.above, form.above, partial(_another, i))
        if form.block.nrows != first.block.nrows:
            want, got = f"{first.block.nrows} components", f"{form.block.nrows} in operand {i}"
            raise ValueError(error_text(want, got, "Pass one component for each."))


def _another(i: int, axis: int) -> ValueError:
    want, got = f"operands with one structure along axis {axis}", f"another in operand {i}"
    return ValueError(error_text(want, got, "Nest both alike."))


def used_components(form: Form) -> Any:
    """How many components there are: an int, or where rows may be slack an array."""
    return used_at((*form.above, form.block), len(form.above))


def absorb_inner_axes(form: Form, count: int) -> Form:
    """The first ``count`` inner axes as axes of the block."""
    values, block = fold_inner(form.values, form.block, count)
    return form._replace(values=values, block=block)


def block_axes(sizes: Sizes) -> int:
    """How many leading axes of a component belong to its block: all up to the last ragged one."""
    return max((i + 1 for i, n in enumerate(sizes) if not isinstance(n, int)), default=0)


def block_of_sizes(sizes: Sizes, bound: int, k: Kernels) -> BlockPartition:
    """Packed components of these sizes, at least one of them ragged, in backend ``k``."""
    columns = [n for n in sizes if not isinstance(n, int)]
    axes = tuple(n if isinstance(n, int) else None for n in sizes)
    table = namespace(columns[0]).stack(columns, axis=1)
    return BlockPartition(k.index(table), axes=axes, bound=bound)


def reassemble(form: Form, block: BlockPartition | None, values: Array, like: tuple[Form, ...] = ()) -> Any:
    """Components over the levels above ``form``: packed in ``block``, or without one an entry of ``values`` each.

    One that agrees with an operand of ``like`` takes the partition of that operand, which is the same then.
    """
    if block is None:
        return rebuild(form.above, values)
    last: Any = block
    if block.axes == (None,):
        twin = next((f for f in like if isinstance(f.origin, RowPartition) and f.block is block), None)
        last = RowPartition(_column_splits(block.sizes)) if twin is None else twin.origin
    return RaggedArray(values, (*form.above, last))


def _column_splits(sizes: Array) -> Array:
    k = kernels(sizes)
    concrete = not k.has_exact_sizes and k.is_concrete(sizes)
    return k.index(splits_of(k.host(sizes)[:, 0])) if concrete else splits_of(sizes[:, 0])


def packed_like(sizes: Sizes, forms: tuple[Form, ...], of_operands: list[Sizes]) -> BlockPartition | None:
    """The packed block of the operand whose sizes these are: the same arrays."""
    for form, of_operand in zip(forms, of_operands, strict=True):
        count = len(form.block.axes)
        pairs = zip(sizes[:count], of_operand, strict=False)
        if block_axes(sizes) == count and all(a == b if type(a) is type(b) is int else a is b for a, b in pairs):
            bound = _bound(form)
            return form.block if form.block.is_packed and form.block.bound == bound else packed(form.block, bound)
    return None


def _bound(form: Form) -> int:
    return min(form.block.bound, int(form.values.shape[0])) if form.block.is_packed else form.block.bound
