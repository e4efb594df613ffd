"""An array's components and rows, one by one: on NumPy they are views."""

from itertools import pairwise
from typing import Any

from ..._array import RaggedArray
from ..._partition import block_of
from ...engine.arguments import ragged_only
from ...engine.unbind import need_lengths, rows_of
from ...structure.blocks import on_host

__all__ = ["nested_dim", "nested_size", "unbind"]


def unbind(x: RaggedArray, /) -> tuple[Any, ...]:
    """The entries of axis 0, one level taken off: arrays ``(len, *inner)``, or RaggedArrays.

    Views of ``values`` on NumPy; on JAX new arrays of exact size. Not under jit, where lengths are data.

    >>> [row.tolist() for row in unbind(ragged([[1, 2], [], [3]]))]
    [[1, 2], [], [3]]
    """
    ragged_only(x)
    return tuple(rows_of(x, range(x.nrows), "Use `ra.to_padded(x, length=)`."))


def nested_size(x: RaggedArray, /) -> tuple[Any, ...]:
    """Shapes of the components as nested tuples, nested like the array.

    >>> nested_size(ragged([[[1, 2], []], []]))
    (((2,), (0,)), ())
    """
    return _nested(x, lambda sizes: (*sizes, *x.inner_shape))


def nested_dim(x: RaggedArray, /) -> tuple[Any, ...]:
    """Ranks of the components as nested tuples, nested like the array.

    >>> nested_dim(ragged([[[1, 2], []], []]))
    ((1, 1), ())
    """
    return _nested(x, lambda sizes: len(sizes) + len(x.inner_shape))


def _nested(x: RaggedArray, leaf: Any) -> tuple[Any, ...]:
    ragged_only(x)
    need_lengths(x, "Use `x.row_lengths()`.")
    block = block_of(x.partitions)
    if block is None:
        *outer, last = [x.kernels.host(s).tolist() for s in x.nested_row_splits]
        items = [leaf((b - a,)) for a, b in pairwise(last)]
    else:
        above = RaggedArray(block.sizes, x.partitions[:-1])
        outer = [x.kernels.host(s).tolist() for s in above.nested_row_splits] if above.partitions else []
        items = [leaf(tuple(sizes)) for sizes in on_host(block).sizes.tolist()]
    for ends in reversed(outer):
        items = [tuple(items[a:b]) for a, b in pairwise(ends)]
    return tuple(items)
