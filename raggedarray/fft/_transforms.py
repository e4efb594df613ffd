"""Fourier transforms and shifts of the components of a RaggedArray."""

from collections.abc import Sequence
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import BlockPartition
from .._typing import Array
from ..backends import kernels, kind, namespace
from ..engine.axes import normal_axes
from ..engine.broadcast.rows import to_common_backend
from ..engine.components.buckets import ShapesOf, StackFunction, apply_in_buckets
from ..engine.components.form import Form, Sizes, form_of, reassemble
from ..engine.components.stacks import Shapes
from ..engine.packing import contiguous
from ..structure.blocks import Elements, addresses, elements, extents
from ._dft import Step, body, result_size, transform_size

KINDS = {"fft": "c", "ifft": "c", "fftn": "c", "ifftn": "c", "rfft": "r", "rfftn": "r", "irfft": "h", "irfftn": "h",
         "hfft": "h", "ihfft": "r"}  # fmt: skip
"""What happens along the last axis."""


def _component_axes(x: RaggedArray, axes: Any) -> tuple[int, ...]:
    depth = len(x.partitions)
    if axes is None:
        return tuple(range(x.ndim - depth))
    positive: tuple[int, ...] = ()
    for a in (axes,) if isinstance(axes, int) else axes:
        positive = (*positive, *normal_axes(a, x.ndim))
    if len(set(positive)) < len(positive):
        raise ValueError(error_text("different axes", f"{tuple(axes)}", "Name each once."))
    if any(a < depth for a in positive):
        got = str(next(a for a in positive if a < depth))
        raise ValueError(error_text(f"axes from {depth} to {x.ndim - 1}", got, "Name axes of the components."))
    return tuple(a - depth for a in positive)


def transform(
    name: str, x: RaggedArray, s: tuple[int, ...] | None, axes: tuple[int, ...] | None, norm: str, bucket: Any
) -> Any:
    """Transform ``name`` along ``axes``, cut or filled to ``s``."""
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(error_text("norm 'backward', 'ortho' or 'forward'", repr(norm), "Pass one of these."))
    _, (x,) = to_common_backend((x,))
    if axes is None and s is not None:
        axes = tuple(range(-len(s), 0))
    along = _component_axes(x, axes)
    if s is not None and (len(s) != len(along) or any(n < 1 for n in s)):
        raise ValueError(error_text(f"{len(along)} sizes of 1 or more", f"{s}", "Pass one for each axis."))
    how = KINDS[name]
    if how == "r" and kind(x.dtype) == "complex":
        raise TypeError(error_text("real numbers", f"dtype {x.dtype}", "Use `ra.fft.fft`."))
    steps = _steps(how, along, s)
    inverse = name.startswith("i")
    scale = "sqrt" if norm == "ortho" else "n" if inverse == (norm == "backward") else "none"
    options = {"steps": steps, "inverse": inverse, "scale": scale}
    form = form_of(x)
    width = len(form.block.axes)
    if min(along, default=width) >= width:
        out = x.kernels.call(_flat, x.values, width=width, options=tuple(options.items()))
        return RaggedArray(out, x.partitions)
    return _in_components(form, steps, bucket, tuple(options.items()))


def _steps(how: str, along: tuple[int, ...], s: tuple[int, ...] | None) -> tuple[Step, ...]:
    """Transforms in order: the axis that is halved is the first one of real numbers and the last one to them."""
    sizes = s or (None,) * len(along)
    *others, last = [("c", a, n) for a, n in zip(along, sizes, strict=True)]
    final = (how, *last[1:])
    return (*others, final) if how != "r" else (final, *others)


def _flat(values: Array, *, width: int, options: Any) -> Array:
    """Along inner axes: slots are alike, whatever they hold."""
    static = dict(options)
    static["steps"] = tuple((how, axis - width, n) for how, axis, n in static["steps"])
    return body((values,), (tuple(values.shape[1:]),), **static)[0]


def _in_components(form: Form, steps: tuple[Step, ...], bucket: Any, static: Any) -> Any:
    fixed = {a: n // 2 + 1 if how == "h" else n for how, a, n in steps if n is not None}
    axes = form.block.axes
    ragged = [r for r, n in enumerate(axes) if n is None]

    def cut_or_filled(sizes: tuple[int, ...]) -> Shapes:
        of_axis = dict(zip(ragged, sizes, strict=True)) | fixed
        return (tuple(of_axis[r] if n is None else n for r, n in enumerate(axes)),)

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        now = list(sizes[0])
        for how, axis, n in steps:
            now[axis] = result_size(how, transform_size(how, now[axis], n))
        return [tuple(now)]

    shapes: Shapes | ShapesOf | None = None
    if all(r in fixed for r in ragged):
        shapes = cut_or_filled((0,) * len(ragged))
    elif any(r in fixed for r in ragged):
        shapes = cut_or_filled
    (result,) = apply_in_buckets(StackFunction(body, static), (form,), rule, shapes=shapes, bucket=bucket)
    return result


def shifted(name: str, x: RaggedArray, axes: int | Sequence[int] | None) -> Any:
    """Components rolled by half of their sizes."""
    _, (x,) = to_common_backend((x,))
    along = _component_axes(x, axes)
    x = contiguous(x)
    form = form_of(x)
    width = len(form.block.axes)
    values = form.values
    inner = tuple(a - width for a in along if a >= width)
    if inner:
        values = x.kernels.call(_shift_inner, values, name=name, axes=tuple(a + 1 for a in inner))
    block = tuple(a for a in along if a < width)
    if block:
        values = x.kernels.call(_shift, values, form.block, axes=block, back=name == "ifftshift")
    return reassemble(form, form.block, values, (form,))


def _shift_inner(values: Array, *, name: str, axes: tuple[int, ...]) -> Array:
    return getattr(namespace(values).fft, name)(values, axes=axes)


def _shift(values: Array, block: BlockPartition, *, axes: tuple[int, ...], back: bool) -> Array:
    e = elements(block, values.shape[0])
    k, xp = kernels(block.sizes), namespace(block.sizes)
    at = list(e.at)
    for r, size in enumerate(extents(block)):
        if r not in axes:
            continue
        n = xp.full_like(at[r], size) if isinstance(size, int) else k.pick(size, e.component)
        n = xp.maximum(n, xp.ones_like(n))
        half = n // 2
        at[r] = (at[r] + (half if back else n - half)) % n
    return kernels(values).pick(values, addresses(block, Elements(e.component, tuple(at)), values.shape[0]))
