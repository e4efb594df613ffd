"""The RaggedArray value type.

    rows        [[a, b, c], [], [d]]        shape (3, None), capacity 6
    values      a b c d ? ?                 two slots of slack
    splits      0 3 3 4                     row i is values[splits[i] : splits[i + 1]]
    row ids     0 0 0 2 3 3                 slack belongs to row `nrows`, which every op drops

The class holds storage, structure and what can be read off them. Operators, indexing and NumPy's
protocols find their functions through ``__array_namespace__``, the one import that points upward.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, overload

from . import _protocols, _refusals, _repr
from ._errors import DynamicShapeError, error_text
from ._partition import BlockPartition, Partition, RowPartition, UniformPartition, block_of, partition_shape
from ._protocols import Operators, Updates
from ._typing import Array, DType, Namespace, Shape, Span
from .backends import Kernels, is_array, is_numpy, kernels, namespace, register
from .structure import sizes as _structure
from .structure.blocks import known_total, pack, packed
from .structure.levels import library, used_slots
from .structure.overflow import fill_unless, filled_rows, known_overflow, overflow


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class RaggedArray(Operators):
    """A batch of arrays of different shapes as one value: ``[nrows, (len), *inner]``.

    Make one with `ragged`, `from_row_splits` or the other factories; this constructor checks nothing.

    values
        Flat storage ``[capacity, *inner_shape]``, components end to end. Slots past the last split are
        slack: they hold anything, and nothing they hold reaches a value or a gradient.
    partitions
        How rows, rows of rows, ... divide the slots, outermost first.

    >>> x = ragged([[1.0, 2.0, 3.0], [], [4.0]])
    >>> x.shape, x.nrows, x.capacity
    ((3, None), 3, 4)
    """

    values: Array
    partitions: tuple[Partition, ...]

    @property
    def shape(self) -> Shape:
        """Axis sizes, ``None`` where an axis is ragged."""
        self._nothing_stacked()
        return (*partition_shape(self.partitions), *self.values.shape[1:])

    def _nothing_stacked(self) -> None:
        """Raise where the leaves have a leading axis, as behind `jax.vmap`: the last partition always has one."""
        _ = self.partitions[-1].nrows

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.depth + int(self.values.ndim)

    @property
    def dtype(self) -> DType:
        """Dtype of the values."""
        return self.values.dtype

    @property
    def device(self) -> Any:
        """Device of the values."""
        return self.values.device

    @property
    def capacity(self) -> int:
        """Slots of ``values`` (static)."""
        self._nothing_stacked()
        return int(self.values.shape[0])

    @property
    def nrows(self) -> int:
        """Size of axis 0 (static)."""
        self._nothing_stacked()
        return self.partitions[0].nrows

    @property
    def ragged_rank(self) -> int:
        """Number of partitions."""
        return len(self.partitions)

    @property
    def depth(self) -> int:
        """Number of axes that the partitions hold, below axis 0; the axes behind are inner ones."""
        return sum(len(p.axes) for p in self.partitions)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """The uniform axes right of the last partition."""
        return tuple(self.values.shape[1:])

    @property
    def size(self) -> Any:
        """Stored elements: an int, or traced."""
        return _structure.used_count(self.partitions) * prod(self.inner_shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the values, slack too, and of splits, or sizes, strides and offsets (static)."""
        return _structure.nbytes(self.values, self.partitions)

    @property
    def overflow(self) -> Array:
        """Whether more data was asked for than there is room for, so that every result is the fill: ``bool[]``.

        Only code under plain `jax.jit`, which cannot raise, makes such an array; it keeps its true splits.

        >>> ragged([[1, 2], [3]]).overflow
        np.False_
        """
        return overflow(self.partitions, self.capacity)

    @property
    def block(self) -> BlockPartition | None:
        """The `BlockPartition` that divides the innermost components, if there is one."""
        return block_of(self.partitions)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in order, without gaps: always but for views of blocks, as far as can be told."""
        return bool(self.__array_namespace__()._is_contiguous(self))

    @property
    def row_splits(self) -> Array:
        """Splits of the outermost ragged axis: ``int[nrows + 1]``."""
        for p in self.partitions:
            if isinstance(p, RowPartition):
                return p.splits
        raise ValueError(
            error_text("row partitions", f"a block of shape {self.shape}", "Use `ra.to_rows(x)`.", op="row_splits")
        )

    @property
    def nested_row_splits(self) -> tuple[Array, ...]:
        """Splits of every partition, outermost first; uniform levels are written as splits.

        >>> ragged([[[1, 2], []], [[3]]]).nested_row_splits
        (array([0, 2, 3], dtype=int32), array([0, 2, 2, 3], dtype=int32))
        """
        if self.block is not None:
            got = f"a block of shape {self.shape}"
            raise ValueError(error_text("row partitions", got, "Use `ra.to_rows(x)`.", op="nested_row_splits"))
        return _structure.nested_splits(self.partitions, self.values)

    @property
    def xp(self) -> Namespace:
        """The standard namespace of the values' library."""
        return namespace(self.values)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """This package."""
        return import_module(__package__)

    def row_lengths(self, axis: int = 1) -> Any:
        """Lengths of the rows along ``axis``: ``[nrows]``, or a RaggedArray of them below axis 1.

        >>> ragged([[[1, 2], []], [[3]]]).row_lengths(axis=2).tolist()
        [[2, 0], [1]]
        """
        above, lengths = _structure.lengths_at(self.partitions, self._level(axis, "row_lengths"), self.values)
        return rebuild(above, lengths)

    def row_ids(self, axis: int = 1) -> Array:
        """Flat index of the row along ``axis`` that each slot lies in: ``int[capacity]``; slack gets the row count.

        >>> ragged([[1.0, 2.0], [], [3.0]]).row_ids()
        array([0, 0, 2], dtype=int32)
        """
        return _structure.ids_at(self.partitions, self._level(axis, "row_ids") - 1, self.values)

    def position_ids(self) -> Array:
        """Index of each slot within its innermost row: ``int[capacity]``; 0 in slack.

        >>> ragged([[1.0, 2.0], [], [3.0]]).position_ids()
        array([0, 1, 0], dtype=int32)
        """
        return _structure.position_ids(self.partitions, self.values)

    def _level(self, axis: int, op: str) -> int:
        level = axis + self.ndim if axis < 0 else axis
        if not 1 <= level <= self.depth:
            raise IndexError(error_text(f"an axis from 1 to {self.depth}", str(axis), "Name a ragged axis.", op=op))
        return level

    def components_as_rows(self) -> "RaggedArray":
        """Rows of elements, one for each component of a packed block; rows as they are."""
        partitions = _structure.flat_rows(self.partitions)
        return self if partitions is self.partitions else RaggedArray(self.values, partitions)

    def with_values(self, values: Array) -> "RaggedArray":
        """The same rows over other values ``[capacity, *inner]``; no check but of the size.

        The gradient with respect to ``values`` is 0 in slack, so they can be an optimiser's parameter.

        >>> x = ragged([[1, 2], [3]])
        >>> x.with_values(x.values * 10).tolist()
        [[10, 20], [30]]
        """
        strided = not self.partitions[-1].is_packed
        over = known_overflow(self.partitions, self.capacity)
        need = None if strided or over else _structure.used_count(self.partitions)
        known = isinstance(need, int)
        got = values.shape[0] if getattr(values, "ndim", 0) else None
        if got is None or (got < need if known else got != self.capacity):
            slots = f"at least {need}" if known else f"{self.capacity}"
            what = f"shape {tuple(values.shape)}" if is_array(values) else type(values).__name__
            raise ValueError(error_text(f"{slots} slots", what, "Keep the first axis.", op="with_values"))
        like = library(self.partitions, values)
        values = values if is_numpy(like) and not is_numpy(values) else kernels(like).asarray(values)
        values = values if over is False else fill_unless(values, ~overflow(self.partitions, self.capacity))
        return RaggedArray(_structure.mask_gradient(self.partitions, values), self.partitions)

    def map_values(self, f: Callable[..., Array], *xs: Any, masked: bool = False) -> "RaggedArray":
        """``f`` applied to the flat values; see `raggedarray.map_values`."""
        out: RaggedArray = self.__array_namespace__().map_values(f, self, *xs, masked=masked)
        return out

    def astype(self, dtype: DType) -> "RaggedArray":
        """The values in another dtype: same shape, same capacity."""
        out: RaggedArray = self.__array_namespace__().astype(self, dtype)
        return out

    def to(self, xp: Any) -> "RaggedArray":
        """Move to another library: ``x.to("jax")``, ``x.to("numpy")``; short for ``ra.asarray(x, xp=xp)``."""
        out: RaggedArray = self.__array_namespace__().asarray(self, xp=xp)
        return out

    def tolist(self) -> list[Any]:
        """Nested Python lists of numbers."""
        if not self.is_concrete():
            raise DynamicShapeError(
                error_text("values that can be read", "traced ones", "Use `ra.to_padded(x, length=)`.", op="tolist")
            )
        if known_overflow(self.partitions, self.capacity):
            return RaggedArray(*filled_rows(self.values, self.partitions)).tolist()
        return _repr.nested_list(self)

    def unbind(self) -> tuple[Any, ...]:
        """The entries of axis 0, one level taken off: arrays, or RaggedArrays. On NumPy they are views.

        >>> ragged([[1, 2], [3]]).unbind()
        (array([1, 2]), array([3]))
        """
        return tuple(self.__array_namespace__().unbind(self))

    def nested_size(self) -> tuple[Any, ...]:
        """Shapes of the components, nested like the array.

        >>> ragged([[1, 2], [3]]).nested_size()
        ((2,), (1,))
        """
        return tuple(self.__array_namespace__().nested_size(self))

    def nested_dim(self) -> tuple[Any, ...]:
        """Ranks of the components, nested like the array."""
        return tuple(self.__array_namespace__().nested_dim(self))

    def block_until_ready(self) -> "RaggedArray":
        """This array, once the device has computed it; at once on NumPy and under jit."""
        _structure.wait(self.values, self.partitions)
        return self

    def used_values(self) -> "RaggedArray":
        """Without slack, where the size can be read and exact sizes cost nothing (NumPy); else unchanged."""
        k, block = kernels(self.values), self.block
        if not k.has_exact_sizes:
            return self
        if block is not None:
            total = int(known_total(block))
            if block.is_packed and self.values.shape[0] == total == block.bound:
                return self
            values = self.values[:total, ...] if block.is_packed else pack(self.values, block, total)
            return RaggedArray(values, (*self.partitions[:-1], packed(block, total)))
        used = int(used_slots(self.partitions))
        return self if used == self.values.shape[0] else RaggedArray(self.values[:used, ...], self.partitions)

    def used_mask(self) -> Array:
        """Which slots hold data: ``bool[capacity]``."""
        return _structure.mask(self.partitions, self.capacity)

    @property
    def kernels(self) -> Kernels:
        """The backend of the values."""
        return kernels(self.values)

    def is_concrete(self) -> bool:
        """Whether values and structure can be read now."""
        return self.kernels.is_concrete(self.values, self.partitions)

    def __len__(self) -> int:
        return self.nrows

    def __iter__(self) -> Iterator[Any]:
        if not self.kernels.is_concrete(self.partitions):
            raise DynamicShapeError(
                error_text("row lengths that can be read", "traced ones", "Use `ra.to_padded(x, length=)`.", op="iter")
            )
        return iter(self.unbind())

    def __contains__(self, value: Any) -> bool:
        return bool(self.__array_namespace__().any(self == value))

    @overload
    def __getitem__(self, key: "Span | tuple[Span, ...] | list[int] | RaggedArray") -> "RaggedArray": ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        return self.__array_namespace__()._getitem(self, key)

    @property
    def at(self) -> Updates["RaggedArray"]:
        """``x.at[key].set(values)``, also ``add``, ``multiply``, ``min``, ``max``, ``get``: a new array, changed."""
        at: Updates[RaggedArray] = self.__array_namespace__()._At(self)
        return at

    def __bool__(self) -> bool:
        raise ValueError(
            error_text(
                "one truth value", f"a RaggedArray of shape {self.shape}", "Use `ra.all` or `ra.any`.", op="bool"
            )
        )

    def __hash__(self) -> int:
        raise TypeError(
            error_text("an immutable key", "a RaggedArray", "Pass it as an argument, not as a static one.", op="hash")
        )

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in _INTERNAL]

    if not TYPE_CHECKING:  # to a type checker an unknown attribute is an error, and so is what always raises
        __getattr__ = _refusals.missing
        to_numpy = _refusals.to_numpy
        __array__ = _refusals.to_array

    __jax_array__ = _refusals.to_jax_array
    __array_ufunc__ = _protocols.array_ufunc
    __array_function__ = _protocols.array_function
    __repr__ = _repr.text
    _repr_html_ = _repr.html


_INTERNAL = {"components_as_rows", "is_concrete", "kernels", "to_numpy", "used_values"}
"""What other modules of the package read and users need not."""


def rebuild(partitions: tuple[Partition, ...], values: Array) -> Any:
    """A RaggedArray of this structure, uniform innermost levels folded into the inner shape.

    Without ragged axes left the result is the plain array.
    """
    xp = namespace(values)
    while partitions and isinstance(partitions[-1], UniformPartition):
        p = partitions[-1]
        values = xp.reshape(values, (p.nrows, p.length, *values.shape[1:]))
        partitions = partitions[:-1]
    return RaggedArray(values, partitions) if partitions else values


register(RowPartition)
register(UniformPartition, static=True)
register(BlockPartition)
register(RaggedArray)
