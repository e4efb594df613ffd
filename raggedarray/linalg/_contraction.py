"""What a product of ragged and plain operands is: which axis of each operand is which, and how long each axis is.

An axis is an id, the same int in every operand that has it. Ragged operands begin with the axes of the levels above
their components. A plain array that begins with the first of them has an entry for each row, any other is one for all.
"""

from collections.abc import Sequence
from string import ascii_letters
from typing import Any, NamedTuple, TypeAlias

from .._array import RaggedArray
from .._errors import error_text
from .._partition import RowPartition
from .._typing import Array
from ..backends import Kernels, generic, implementation, kernels, namespace
from ..engine.arguments import sizes_of
from ..engine.components.form import Form, form_of, form_of_entries, same_structure
from ..structure.agreement import agree_sizes
from ..structure.levels import ancestors

Axes: TypeAlias = tuple[int, ...]
"""Ids of axes, from 0 up."""

ROWS = -1
"""The axis that components lie along, or their elements: no component has it."""


class Operand(NamedTuple):
    """A factor of a product: components, or one plain array for all."""

    axes: Axes
    """Of a component, or of the array."""
    values: Array
    """The slots of the components, or the array."""
    form: Form | None
    ragged: bool
    """Whether its components are those of a ragged operand, not the entries of a plain one."""

    @property
    def block_axes(self) -> Axes:
        """Those that vary per component, or lie between such."""
        return () if self.form is None else self.axes[: len(self.form.block.axes)]

    @property
    def inner_axes(self) -> Axes:
        """The others."""
        return self.axes[len(self.block_axes) :]

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Size of each axis; None is ragged."""
        return tuple(self.values.shape) if self.form is None else self.form.axes


class Contraction(NamedTuple):
    """A sum of products: what is multiplied, and which axes are left."""

    operands: tuple[Operand, ...]
    out: Axes
    """Of the components of the result."""
    sizes: dict[int, int | None]
    """Of each axis; None is ragged."""
    dtype: Any
    bucket: Any
    capacity: int | None

    @property
    def forms(self) -> tuple[Form, ...]:
        """Operands that are components."""
        return tuple(o.form for o in self.operands if o.form is not None)

    @property
    def kernels(self) -> Kernels:
        """The backend it is computed in."""
        return kernels(self.forms[0].values)

    @property
    def is_concrete(self) -> bool:
        """Whether sizes can be read."""
        return self.kernels.is_concrete(tuple(f.block.sizes for f in self.forms))

    @property
    def ragged(self) -> Axes:
        """Ragged axes."""
        return tuple(axis for axis, n in self.sizes.items() if n is None)

    @property
    def contracted(self) -> Axes:
        """Ragged axes that are summed."""
        return tuple(axis for axis in self.ragged if axis not in self.out)

    @property
    def spanning(self) -> list[Operand]:
        """Operands that have all ragged axes: the result has no more elements than these."""
        return [o for o in self.operands if o.ragged and set(self.ragged) <= set(o.axes)]


def contraction_of(
    axes: Sequence[Axes], out: Axes, arrays: Sequence[Any], *, bucket: Any, capacity: int | None, row_axis: str
) -> Contraction:
    """Check a product of which some operand is ragged; ``out`` are the axes of its components.

    Errors call axis 0 ``row_axis``.
    """
    lead_axes, lead_array = next((a, x) for a, x in zip(axes, arrays, strict=True) if isinstance(x, RaggedArray))
    lead = form_of(lead_array)
    depth = len(lead_array.partitions)
    operands: list[Operand] = []
    for i, (own, x) in enumerate(zip(axes, arrays, strict=True)):
        if isinstance(x, RaggedArray):
            if len(x.partitions) != depth:
                got = f"{depth} in shape {lead_array.shape} and {len(x.partitions)} in shape {x.shape}"
                advice = "Rows of rows become matrices by `ra.to_blocks`."
                raise ValueError(error_text("operands with as many levels of rows", got, advice))
            operands.append(Operand(own[depth:], x.values, lead if x is lead_array else form_of(x), True))
        elif own[:1] == lead_axes[:1]:
            if x.shape[0] != lead.nrows:
                want, got = f"{lead.nrows} entries along {row_axis}", f"{x.shape[0]} in operand {i}"
                raise ValueError(error_text(want, got, "Pass one entry for each row."))
            form = form_of_entries(_by_component(x, lead), lead)
            operands.append(Operand(own[1:], form.values, form, False))
        else:
            operands.append(Operand(own, x, None, False))
    same_structure([o.form for o in operands if o.form is not None])
    values = [x.values if isinstance(x, RaggedArray) else x for x in arrays]
    dtype = namespace(values[0]).result_type(*values)
    capacity = None if capacity is None else sizes_of(capacity)
    return Contraction(tuple(operands), out, _axis_sizes(operands), dtype, bucket, capacity)


def _by_component(x: Array, lead: Form) -> Array:
    return kernels(x).call(_spread, x, lead.above, lead.block.sizes) if lead.above else x


def _spread(x: Array, above: Any, sizes: Array) -> Array:
    return kernels(x).pick(x, ancestors(above, 0, sizes.shape[0], sizes))


def _axis_sizes(operands: list[Operand]) -> dict[int, int | None]:
    uniform: dict[int, int] = {}
    for o in operands:
        for axis, n in zip(o.axes, o.shape, strict=True):
            if n is not None and uniform.setdefault(axis, n) != n:
                want, got = "equal sizes where axes meet", f"{uniform[axis]} and {n}"
                raise ValueError(error_text(want, got, "Check the shapes."))
    sizes: dict[int, int | None] = {}
    first: dict[int, tuple[Any, Form]] = {}
    for o in operands:
        sizes |= {axis: uniform.get(axis) for axis in o.axes}
        if o.form is None:
            continue
        for axis, size in zip(o.axes, o.form.sizes, strict=True):
            if isinstance(size, int):
                continue
            if axis in uniform:
                same_sizes(size, uniform[axis])
            elif axis not in first:
                first[axis] = (size, o.form)
            elif not _same_origin(first[axis][1], o.form) or first[axis][1] is o.form:
                same_sizes(first[axis][0], size)
    return sizes


def _same_origin(a: Form, b: Form) -> bool:
    p, q = a.origin, b.origin
    return isinstance(p, RowPartition) and isinstance(q, RowPartition) and p.splits is q.splits


def same_sizes(a: Any, b: Any) -> None:
    """Raise unless components agree along an axis; traced sizes are compared under `checks`."""
    agree_sizes(a, b, "equal sizes where axes meet", "in component {row}", "Check the shapes.")


def dense_product(arrays: Sequence[Array], axes: Sequence[Axes], out: Axes) -> Array:
    """The sum of products of plain arrays, in the dtype that their library sums in."""
    letters: dict[int, str] = {}
    for axis in (axis for own in axes for axis in own):
        letters.setdefault(axis, ascii_letters[len(letters)])
    terms = ("".join(letters[axis] for axis in own) for own in axes)
    subscripts = f"{','.join(terms)}->{''.join(letters[axis] for axis in out)}"
    return implementation(kernels(arrays[0]), generic.einsum)(subscripts, *arrays)


def cast(values: Array, dtype: Any) -> Array:
    """Values in the dtype of the result."""
    return namespace(values).astype(values, dtype, copy=False)
