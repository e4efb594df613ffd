"""Rows and components of an array whose splits can be read, one by one."""

from typing import Any

from .._array import RaggedArray, rebuild
from .._errors import DynamicShapeError, error_text
from .._partition import BlockPartition, Level, Partition, RowPartition, UniformPartition, levels_only
from .._typing import Array
from ..backends import Kernels, generic, implementation, kernels, namespace
from ..structure.blocks import on_host
from .innermost import innermost


def need_lengths(x: RaggedArray, advice: str) -> None:
    if not x.kernels.is_concrete(x.partitions):
        raise DynamicShapeError(error_text("row lengths that can be read", "traced ones", advice))


def host_partitions(x: RaggedArray) -> tuple[Partition, ...]:
    """The partitions with their splits as NumPy arrays (concrete)."""
    return tuple(p.map_arrays(lambda a: kernels(a).host(a)) for p in x.partitions)


def rows_of(x: RaggedArray, index: Any, advice: str) -> list[Any]:
    """Single rows by index (concrete structure)."""
    need_lengths(x, advice)
    k = x.kernels
    if x.block is not None:
        return _of_block(x, index)
    partitions = levels_only(x.partitions)
    splits = [None if isinstance(p, UniformPartition) else k.host(p.splits) for p in partitions]
    concrete = not k.has_exact_sizes and k.is_concrete(x.values)
    values = k.host(x.values) if concrete else x.values  # slicing a JAX array compiles once a length
    return [_row(k, partitions, splits, values, i, concrete) for i in index]


def _of_block(x: RaggedArray, index: Any) -> list[Any]:
    """Components of a block, or rows of them."""
    k, block = x.kernels, innermost(x)
    concrete = not k.has_exact_sizes and k.is_concrete(x.values)
    values = k.host(x.values) if concrete else x.values
    if len(x.partitions) > 1:
        return [_row_of_components(x, i) for i in index]
    host = on_host(block)
    out = []
    for i in index:
        shape, at = tuple(host.sizes[i].tolist()), int(host.offsets[i])
        if block.is_packed or not all(shape):
            here = values[at : at + int(host.counts[i]), ...] if all(shape) else values[:0, ...]
            component = namespace(here).reshape(here, (*shape, *values.shape[1:]))
        else:
            strided = implementation(kernels(values), generic.strided)
            component = strided(values, at, shape, tuple(host.strides[i].tolist()))
        out.append(k.asarray(component) if concrete else component)
    return out


def _row_of_components(x: RaggedArray, i: int) -> RaggedArray:
    """One row of a list of lists of components: the same buffer, fewer components."""
    block = innermost(x)
    k, host = kernels(block.sizes), on_host(block)
    ends = [k.host(s) for s in RaggedArray(block.sizes, x.partitions[:-1]).nested_row_splits]
    first, last = i, i + 1
    above: tuple[Partition, ...] = ()
    for level, (p, s) in enumerate(zip(x.partitions[:-1], ends, strict=True)):
        if level and isinstance(p, UniformPartition):
            above = (*above, UniformPartition(last - first, p.length))
        elif level:
            above = (*above, RowPartition(k.index(s[first : last + 1] - s[first])))
        first, last = int(s[first]), int(s[last])
    sizes = block.sizes[first:last, ...]
    if block.is_packed:
        total = int(host.counts[first:last].sum())
        start = int(host.offsets[first]) if last > first else 0
        part = BlockPartition(sizes, axes=block.axes, bound=total)
        return RaggedArray(x.values[start : start + total, ...], (*above, part))
    assert block.strides is not None and block.offsets is not None
    part = BlockPartition(
        sizes, block.strides[first:last, ...], block.offsets[first:last, ...], axes=block.axes, bound=block.bound
    )
    return RaggedArray(x.values, (*above, part))


def _row(k: Kernels, partitions: tuple[Level, ...], splits: list[Any], values: Array, i: int, move: bool) -> Any:
    start, end = i, i + 1
    new: tuple[Partition, ...] = ()
    nrows = None
    for p, s in zip(partitions, splits, strict=True):
        if isinstance(p, UniformPartition):
            first, last = start * p.length, end * p.length
        else:
            first, last = int(s[start]), int(s[end])
        if nrows is None:
            nrows = last - first
        elif isinstance(p, UniformPartition):
            new = (*new, UniformPartition(end - start, p.length))
        else:
            new = (*new, RowPartition(k.index(s[start : end + 1] - first)))
        start, end = first, last
    here = values[start:end, ...]
    return rebuild(new, k.asarray(here) if move else here)
