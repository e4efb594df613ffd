"""What a reduction leaves of packed components: the groups of their elements, and the structure of the result."""

from math import prod
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._partition import BlockPartition, RowPartition, uniform_levels
from ..._typing import Array
from ...structure.blocks import component_splits, groups
from ...structure.checks import require
from ...structure.levels import Groups
from ..innermost import innermost


def block_groups(x: RaggedArray, reduced: tuple[int, ...]) -> tuple[Groups, Any]:
    """Groups of elements of components, and whether there are as many as fit: more only where nothing is reduced."""
    block = innermost(x)
    left = [block.axes[r] for r in range(len(block.axes)) if r not in reduced]
    limit = x.capacity
    if None not in left:
        limit = block.nrows * prod(n or 0 for n in left)
    remaining, segments = groups(block, reduced, x.capacity, limit)
    if None not in left or x.kernels.has_exact_sizes:
        return Groups(x.nrows, (remaining,), segments, new=True), True
    need = component_splits(remaining)[-1]
    element_groups = Groups(x.nrows, (remaining,), segments, new=True)
    advice = "Call `ra.with_capacity(x, n)` first."
    return element_groups, require(need <= limit, "a capacity of at least {need}", f"{limit}", advice, need=need)


def rebuild_components(x: RaggedArray, remaining: Any, values: Array, units: tuple[int, ...]) -> Any:
    """What is left of the components of ``x``: one ragged axis is rows, none is a uniform axis."""
    axes = list(remaining.axes)
    for r in units:
        axes.insert(r, 1)
    block = BlockPartition(remaining.sizes, axes=tuple(axes), bound=remaining.bound)
    if None not in axes:
        uniform = uniform_levels(block.nrows, tuple(n or 0 for n in axes))
        return rebuild((*x.partitions[:-1], *uniform), values)
    if axes == [None]:
        return RaggedArray(values, (*x.partitions[:-1], RowPartition(x.kernels.call(component_splits, block))))
    return RaggedArray(values, (*x.partitions[:-1], block))
