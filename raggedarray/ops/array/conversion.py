"""Between libraries, dense arrays and RaggedArrays: moving, padding, masks."""

from typing import Any

from array_api_compat import array_namespace

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text
from ..._partition import BlockPartition, RowPartition, block_of
from ..._typing import Array, DType
from ...backends import Kernels, backend, common, is_array, is_masked, is_numpy, kernels, kind, namespace
from ...engine.arguments import checked_scalar, holds, is_scalar, level_sizes, ragged_only, sizes_of
from ...engine.broadcast.rows import move_to
from ...engine.bucket_size import bucket_size
from ...engine.columns import column, numeric
from ...engine.overflow import check_capacity, fill_unless
from ...engine.packing import contiguous
from ...engine.resizing import used_entries, with_capacity
from ...engine.unbind import host_partitions
from ...structure.blocks import extents, starts, steps
from ...structure.levels import library, splits_of
from ..elementwise.selection import astype
from .capacity import with_rows

__all__ = ["asarray", "from_padded", "to_mask", "to_padded"]


def asarray(
    x: Any,
    /,
    *,
    xp: Any = None,
    dtype: DType | None = None,
    capacity: int | tuple[int, ...] | None = None,
    nrows: int | None = None,
    device: Any = None,
    copy: bool | None = None,
) -> Any:
    """Move to another library (``"numpy"``, ``"jax"`` or a namespace) and dtype; plain arrays too.

    A RaggedArray that moves to JAX gets the capacity ``bucket_size(used)``, and its inner row counts are
    rounded up alike, so that batches of any size meet few compiled programs; ``capacity`` sets it instead
    (one int, or one size per level below axis 0), and ``nrows`` adds empty rows up to that many, so that batches of
    any row count do too. Slots and rows are added on the host and everything moves in one transfer: nothing compiles.
    One that moves to NumPy gets its exact size. What moves to JAX is copied; ``device`` is that of the splits as well.
    Splits that JAX cannot hold raise `OverflowError`. Nested lists become plain arrays, NumPy's unless ``xp`` says
    else.

    >>> x = asarray(ragged([[1.0, 2.0], [3.0]]), xp="jax", nrows=4)
    >>> x.capacity, x.tolist()
    (8, [[1.0, 2.0], [3.0], [], []])
    """
    if not isinstance(x, RaggedArray):
        for name, size in (("capacity", capacity), ("nrows", nrows)):
            if size is not None:
                raise ValueError(error_text(f"no {name}= for a plain array", f"{size}", "Drop it."))
        return _dense(x, xp, dtype, device, copy)
    capacity = None if capacity is None else level_sizes(capacity, x.ragged_rank)
    k = x.kernels if xp is None else _backend(xp)
    if k is not x.kernels:
        return _moved(k, x, dtype, capacity, nrows, device, copy)
    moved = x if nrows is None else with_rows(x, nrows)
    moved = moved if capacity is None else with_capacity(moved, capacity)
    if dtype is not None and moved.dtype != k.dtype(dtype):
        moved = astype(moved, dtype)
    if copy is False and moved.values is not x.values:
        raise _needs_copy()
    if copy and moved.values is x.values:
        moved = RaggedArray(array_namespace(x.values).asarray(x.values, copy=True), moved.partitions)
    return moved if device is None else move_to(k, moved, device=device)


def _needs_copy() -> ValueError:
    return ValueError(error_text("no copy to be needed", "copy=False", "Leave copy=None."))


def _backend(xp: Any) -> Kernels:
    name = (
        xp
        if isinstance(xp, str)
        else str(getattr(xp, "__name__", xp)).removeprefix("array_api_compat.").removeprefix("jax.")
    )
    name = "jax" if name == "numpy" and not isinstance(xp, str) and xp.__name__ == "jax.numpy" else name
    if name in ("numpy", "jax"):
        return backend(name)
    raise ValueError(error_text("xp 'numpy' or 'jax'", repr(name), "Build it from arrays of that library."))


def _moved(
    k: Kernels,
    x: RaggedArray,
    dtype: DType | None,
    capacity: int | tuple[int, ...] | None,
    nrows: int | None,
    device: Any,
    copy: bool | None,
) -> RaggedArray:
    """Resize on the host, where sizes cost no compilation, then move everything at once."""
    if not x.is_concrete():
        advice = "Move them outside jit."
        raise DynamicShapeError(error_text("values that can be read", "traced ones", advice))
    if copy is False:
        raise _needs_copy()
    host = move_to(backend("numpy"), RaggedArray(x.kernels.host(x.values), host_partitions(x)))
    host = host if nrows is None else with_rows(host, nrows)
    dtype = None if dtype is None else k.dtype(dtype)
    if k.has_exact_sizes:
        out = with_capacity(host, used_entries(host) if capacity is None else capacity)
        if copy:
            out = RaggedArray(array_namespace(out.values).asarray(out.values, copy=True), out.partitions)
    else:
        host = contiguous(host)
        used = used_entries(host)
        sizes = _sizes_there(used, capacity)
        if len(sizes) == 1 and sizes[0] >= used[0] and host.block is None:  # the slots alone change
            out = move_to(k, host, slots=sizes[0], dtype=dtype, device=device)
        else:
            bare = with_capacity(RaggedArray(host.values[..., None][..., :0], host.partitions), sizes)
            out = move_to(k, RaggedArray(host.values, bare.partitions), slots=bare.capacity, dtype=dtype, device=device)
    return out if dtype is None or out.dtype == dtype else astype(out, dtype)


def _sizes_there(used: tuple[int, ...], capacity: int | tuple[int, ...] | None) -> tuple[int, ...]:
    rounded = tuple(bucket_size(n) for n in used)
    return rounded if capacity is None else (*rounded[:-1], capacity) if isinstance(capacity, int) else capacity


def _dense(x: Any, xp: Any, dtype: DType | None, device: Any, copy: bool | None) -> Array:
    x = column(x)
    k = _backend("numpy" if xp is None else xp)
    if xp is None and is_array(x):
        k = kernels(x)
    if is_array(x) and kernels(x) is not k:
        if copy is False:
            raise _needs_copy()
        x = kernels(x).host(x) if kernels(x).is_concrete(x) else x
    dtype = None if dtype is None else k.dtype(dtype)
    if is_array(x) and is_numpy(x):
        numeric(x)
    if is_array(x) and kernels(x) is k:
        return array_namespace(x).asarray(x, dtype=dtype, device=device, copy=copy)
    out = numeric(k.asarray(x, dtype=dtype))
    out = out if device is None else array_namespace(out).asarray(out, device=device)
    return (
        array_namespace(out).asarray(out, copy=True) if copy and k.has_exact_sizes else out
    )  # what left NumPy is a copy


def to_padded(x: RaggedArray, /, *, length: int | tuple[int, ...] | None = None, fill_value: Any = 0) -> Array:
    """Rows in a dense array, ``fill_value`` behind each: ``[nrows, (len), *inner]`` to ``[nrows, length, *inner]``.

    Every ragged axis is padded, to its longest row or to ``length`` (with several ragged axes, a tuple).
    Under jit ``length`` is needed. A row longer than ``length`` raises; nothing is cut. Under plain jit,
    where nothing can raise, the result is then NaN (the lowest integer, True) everywhere. Gradients reach used slots
    only.

    >>> to_padded(ragged([[1, 2, 3], [], [4]]))
    array([[1, 2, 3],
           [0, 0, 0],
           [4, 0, 0]])
    """
    x = ragged_only(x).used_values()
    lengths, ok = _padded_lengths(x, length)
    fill = x.kernels.asarray(checked_scalar(x, fill_value, "fill_value"), dtype=x.dtype)
    if fill.ndim:
        raise ValueError(error_text("one number to fill with", f"shape {tuple(fill.shape)}", "Pass a scalar."))
    return x.kernels.call(_to_padded, x, fill, ok=ok, lengths=lengths)


def to_mask(x: RaggedArray, /, *, length: int | tuple[int, ...] | None = None) -> Array:
    """Where `to_padded` holds data: ``bool[nrows, length]``; one more axis per further ragged or uniform one.

    >>> to_mask(ragged([[1, 2, 3], [], [4]]))
    array([[ True,  True,  True],
           [False, False, False],
           [ True, False, False]])
    """
    lengths, _ = _padded_lengths(ragged_only(x), length)
    return x.kernels.call(_to_mask, x.partitions, lengths=lengths)


def _padded_lengths(x: RaggedArray, length: int | tuple[int, ...] | None) -> tuple[tuple[int, ...], Any]:
    """A static length for each level below axis 0, and whether all rows fit."""
    rows = [n for n in x.shape[1 : x.ndim - len(x.inner_shape)] if n is None]
    length = None if length is None else sizes_of(length, many=True)
    limits = [None] * len(rows) if length is None else [length] if isinstance(length, int) else list(length)
    if len(limits) != len(rows):
        raise ValueError(error_text(f"{len(rows)} lengths", f"{length}", "Pass one per ragged axis."))
    wanted, ok, out = iter(limits), True, []
    for size in _sizes(x):
        if isinstance(size, int):
            out.append(size)
            continue
        n, k = next(wanted), kernels(size)
        if k.is_concrete(size):
            longest: Any = int(k.host(size).max(initial=0))
        elif n is None:
            raise DynamicShapeError(error_text("a static length", "traced row lengths", "Pass `length=`."))
        else:
            longest = namespace(size).max(size) if size.shape[0] else 0
        ok = ok & check_capacity(longest, longest if n is None else n, "a length", "length=")
        out.append(longest if n is None else n)
    return tuple(out), ok


def _sizes(x: RaggedArray) -> list[Any]:
    """Size of each axis below axis 0 that a partition holds: an int, or the lengths of its rows."""
    return [size for p in x.partitions for size in extents(p)]


def _slots(partitions: Any, lengths: tuple[int, ...]) -> tuple[Array, Array]:
    """Slot of each padded position and whether it holds data: two arrays ``[nrows, *lengths]``, flattened."""
    like = library(partitions, None)
    xp, k = namespace(like), kernels(like)
    entry = xp.arange(partitions[0].nrows, dtype=like.dtype)
    filled = xp.ones(entry.shape, dtype=xp.bool)
    block = block_of(partitions)
    rows = partitions if block is None else partitions[:-1]
    for p, n in zip(rows, lengths, strict=False):
        at = xp.arange(n, dtype=like.dtype)[None, :]
        if isinstance(p, RowPartition):
            safe = xp.where(filled, entry, xp.zeros_like(entry))
            start, size = k.pick(p.splits[:-1], safe)[:, None], k.pick(p.lengths, safe)[:, None]
            here = filled[:, None] & (at < size)
        else:
            start, here = entry[:, None] * n, xp.broadcast_to(filled[:, None], (entry.shape[0], n))
        entry, filled = xp.reshape(start + at, (-1,)), xp.reshape(here, (-1,))
    return (entry, filled) if block is None else _block_slots(block, lengths[len(rows) :], entry, filled)


def _block_slots(
    block: BlockPartition, lengths: tuple[int, ...], component: Array, filled: Array
) -> tuple[Array, Array]:
    """The same for the positions of components."""
    xp, k = namespace(block.sizes), kernels(block.sizes)
    component = xp.where(filled, component, xp.asarray(block.nrows, dtype=component.dtype))
    slot = k.pick(starts(block), component)
    for size, step, n in zip(extents(block), steps(block), lengths, strict=True):
        at = xp.arange(n, dtype=component.dtype)[None, :]
        limit: Any = size if isinstance(size, int) else k.pick(size, component)[..., None]
        filled = xp.expand_dims(filled, axis=-1) & (at < limit)
        slot = xp.expand_dims(slot, axis=-1) + xp.expand_dims(k.pick(step, component), axis=-1) * at
        slot, filled, component = (xp.reshape(a, (-1,)) for a in (slot, filled, xp.repeat(component, n)))
    return slot, filled


def _to_padded(x: RaggedArray, fill: Array, *, ok: Any, lengths: tuple[int, ...]) -> Array:
    xp = x.xp
    slot, filled = _slots(x.partitions, lengths)
    padded = x.kernels.pick(x.values, xp.where(filled, slot, xp.asarray(x.capacity, dtype=slot.dtype)))
    mask = xp.reshape(filled, (filled.shape[0], *(1,) * len(x.inner_shape)))
    out = xp.where(mask, padded, xp.reshape(fill, (1,) * padded.ndim))
    return fill_unless(xp.reshape(out, (x.nrows, *lengths, *x.inner_shape)), ok)


def _to_mask(partitions: Any, *, lengths: tuple[int, ...]) -> Array:
    _, filled = _slots(partitions, lengths)
    return namespace(filled).reshape(filled, (partitions[0].nrows, *lengths))


def from_padded(
    array: Array, /, *, lengths: Array | None = None, mask: Array | None = None, padding: Any = None
) -> RaggedArray:
    """Rows from a dense array: ``[nrows, length, *inner]`` to ``[nrows, (len), *inner]``, values copied.

    One of: ``lengths`` ``int[nrows]``, the row starts that count; ``mask`` ``bool[nrows, length]``, the
    elements that count, anywhere in the row and in order, so that left padding works too; ``padding``, a
    value whose run at the end of a row is dropped (NaN equals NaN). With none every element counts. The
    capacity is ``nrows * length``, the exact size on NumPy. Gradients flow to the elements that count.

    An array of `numpy.ma` says by its mask what is missing: where that is the end of each row, no more need be given.

    >>> from_padded(np.array([[1, 2], [3, 0]]), lengths=np.array([2, 1])).tolist()
    [[1, 2], [3]]
    """
    if is_masked(array):
        if lengths is not None or mask is not None or padding is not None:
            got, advice = "it and a keyword", "Pass `x.filled(value)`, or drop the keyword."
            raise ValueError(error_text("the mask of the array alone", got, advice))
        array, lengths = array.data, _lengths_of_mask(array) if array.ndim > 1 else None
    array, lengths, mask = (column(a) for a in (array, lengths, mask))
    arrays = [a for a in (array, lengths, mask) if is_array(a)]
    k = common(arrays)
    array, mask = (a if a is None else k.asarray(a) for a in (array, mask))
    if numeric(array).ndim < 2:
        raise ValueError(error_text("shape (nrows, length, ...)", f"{tuple(array.shape)}", "Add the axes."))
    if sum(a is not None for a in (lengths, mask, padding)) > 1:
        raise ValueError(error_text("one of lengths=, mask=, padding=", "several", "Drop the others."))
    nrows, width = array.shape[:2]
    if mask is not None:
        if tuple(mask.shape) != (nrows, width) or kind(mask.dtype) != "bool":
            got = f"{mask.dtype} {tuple(mask.shape)}"
            raise ValueError(error_text(f"a bool mask of shape {(nrows, width)}", got, "Reshape it."))
        values, splits = k.call(_from_mask, array, mask)
        return RaggedArray(values, (RowPartition(k.index(splits)),))
    lengths, ok = (None, True) if lengths is None else _checked_lengths(k, lengths, nrows, width)
    if not (padding is None or is_scalar(padding) or is_array(padding)):
        raise TypeError(error_text("a number as padding=", repr(padding), "Pass the value that pads."))
    if isinstance(padding, int) and kind(array.dtype) in ("int", "uint") and not holds(array, padding):
        padding = None  # nothing is equal to it
    values, splits = k.call(_from_lengths, array, lengths, padding, ok=ok)
    return RaggedArray(values, (RowPartition(k.index(splits)),))


def _lengths_of_mask(array: Any) -> Array:
    """How many entries of each row stand before those that the mask of an array of `numpy.ma` calls missing."""
    xp = namespace(array.data)
    missing = xp.broadcast_to(xp.asarray(array.mask), array.shape)
    kept = xp.any(~missing, axis=tuple(range(2, array.ndim)))
    lengths = xp.sum(kept, axis=1)
    inside = xp.arange(kept.shape[1])[None, :] < lengths[:, None]
    wrong = missing == xp.reshape(inside, (*inside.shape, *(1,) * (array.ndim - 2)))
    if wrong.any():
        at = tuple(int(axis[0]) for axis in wrong.nonzero())
        want, advice = "a mask that is true from some place to the row's end", "Pass `x.filled(value)`, `mask=~x.mask`."
        raise ValueError(error_text(want, f"a missing entry at {at}", advice))
    return lengths


def _checked_lengths(k: Kernels, lengths: Array, nrows: int, width: int) -> tuple[Array, Any]:
    """Lengths as indices of this library, and whether each is one: raises where that can be read."""
    lengths = lengths if is_array(lengths) else k.asarray(lengths)
    if tuple(lengths.shape) != (nrows,):
        raise ValueError(error_text(f"lengths of shape {(nrows,)}", f"{tuple(lengths.shape)}", "Pass one per row."))
    if kind(lengths.dtype) not in ("int", "uint"):
        raise TypeError(error_text("integer lengths", f"dtype {lengths.dtype}", "Convert them."))
    own = kernels(lengths)
    if own.is_concrete(lengths):
        on_host = own.host(lengths)
        bad = ((on_host < 0) | (on_host > width)).nonzero()[0]
        if bad.size:
            got = f"{on_host[bad[0]]} at row {bad[0]}"
            raise ValueError(error_text(f"lengths from 0 to {width}", got, "Pad the array further."))
        return k.index(lengths), True
    lengths = k.index(lengths)
    xp = namespace(lengths)
    ok = xp.all((lengths >= 0) & (lengths <= width))
    if k.checking():
        text = error_text(f"lengths from 0 to {width}", "{low} to {high}", "Pad the array further.")
        k.check(ok, text, low=xp.min(lengths), high=xp.max(lengths))
    return lengths, ok


def _from_lengths(array: Array, lengths: Array | None, padding: Array | None, *, ok: Any) -> tuple[Array, Array]:
    xp, (nrows, width) = namespace(array), array.shape[:2]
    at = xp.arange(width, dtype=xp.int32)
    if padding is not None:
        data = array != padding
        if kind(array.dtype) == "float" and padding is not None:
            data = data & ~(xp.isnan(array) & (padding != padding))  # NaN pads where the padding is NaN
        data = xp.any(data, axis=tuple(range(2, array.ndim))) if array.ndim > 2 else data
        lengths = xp.max(xp.where(data, at[None, :] + 1, xp.zeros_like(at)[None, :]), axis=1) if width else None
    if lengths is None:
        lengths = xp.full((nrows,), width, dtype=xp.int32)
    mask = at[None, :] < xp.astype(lengths, xp.int32)[:, None]
    values, splits = _from_mask(array, mask)
    return fill_unless(values, ok), splits


def _from_mask(array: Array, mask: Array) -> tuple[Array, Array]:
    xp, k = namespace(array), kernels(array)
    splits = splits_of(xp.sum(xp.astype(mask, xp.int32), axis=1, dtype=xp.int32))
    flat = xp.reshape(array, (array.shape[0] * array.shape[1], *array.shape[2:]))
    slots = k.true_index(xp.reshape(mask, (-1,)), k.bound(splits[-1], flat.shape[0]))
    return k.pick(flat, slots), splits
