"""The innermost components of an array: what every op on components sees, whatever divides them."""

from .._array import RaggedArray
from .._partition import BlockPartition, RowPartition
from .._typing import Array
from ..backends import kernels, namespace


def innermost(x: RaggedArray) -> BlockPartition:
    """The block that divides the innermost components, or their rows as a block of one axis."""
    last = x.partitions[-1]
    if isinstance(last, BlockPartition):
        return last
    assert isinstance(last, RowPartition)  # a uniform level is never last, see `rebuild`
    k = kernels(last.splits)
    known = not k.has_exact_sizes and k.is_concrete(last)  # on the host, where a step costs no compiled program
    sizes = k.index(_as_column(last.map_arrays(k.host))) if known else _as_column(last)
    return BlockPartition(sizes, axes=last.axes, bound=x.capacity)


def _as_column(p: RowPartition) -> Array:
    return namespace(p.splits).reshape(p.lengths, (p.nrows, 1))
