"""Kernels for JAX: sizes are static, slack is dropped into a dummy segment, and the gradient rules live here.

Facts that shape this file, with their reports: row ids come from a scatter and an integer cumsum, exact and
independent of the row count; reductions go into ``num + 1`` segments and drop the last, so that no index is
ever out of range (``checkify.index_checks`` ignores ``mode=``, jax #31568); ``indices_are_sorted`` is never
passed (38 ms against 0.4 ms on a GPU, xla #22233); halves accumulate in float32 (jax #26227).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax import lax
from jax.core import Tracer

from ..._errors import error_text
from ..._typing import Array, DType
from .._protocol import Reduction, Segments
from . import rows as _jax_rows
from .attention import attention as attention
from .bags_and_ctc import bag as bag
from .bags_and_ctc import contract as contract
from .bags_and_ctc import ctc as ctc
from .components import component_function as component_function
from .components import einsum as einsum
from .generator import generator as generator
from .grouped_products import grouped_matmul as grouped_matmul
from .moving import asarray as asarray
from .moving import index as index
from .moving import move as move
from .recurrence import recurrence as recurrence
from .rows import Rows, alike, unhalved
from .rows import row_ids as row_ids
from .scan import linear_recurrence as linear_recurrence
from .scan import scan_rows as scan_rows
from .transforms import check as check
from .transforms import checking as checking

name = "jax"
xp = jnp
has_exact_sizes = False

_COMPILED: dict[Any, Callable[..., Any]] = {}


def _compiled(body: Callable[..., Any], static: dict[str, Any]) -> Callable[..., Any]:
    key = (body, *((name, _typed(value)) for name, value in static.items()))
    if key not in _COMPILED:
        _COMPILED[key] = jax.jit(partial(body, **static))
    return _COMPILED[key]


def _typed(value: Any) -> Any:
    """A key that tells 1, 1.0 and True apart."""
    return tuple(map(_typed, value)) if type(value) is tuple else (type(value), value)


def call(body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
    if is_concrete(args):
        return _compiled(body, static)(*args)
    return body(*args, **static)


def is_concrete(*trees: Any) -> bool:
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(trees))


def host(x: Array, /) -> Any:
    return np.asarray(x)


def dtype(name: DType, /) -> DType:
    try:
        return jax.dtypes.canonicalize_dtype(name)
    except TypeError:
        raise TypeError(error_text("a dtype or its name", repr(name), "Use one like 'float32'.", op="dtype")) from None


def bound(needed: Array, limit: int, /) -> int:
    return limit


def _ids(segments: Segments, capacity: int) -> Array:
    return segments.ids if segments.splits is None else row_ids(segments.splits, capacity)


_SEGMENT: dict[str, Callable[..., Array]] = {
    "sum": jax.ops.segment_sum,
    "min": jax.ops.segment_min,
    "max": jax.ops.segment_max,
}


def segment_reduce(how: Reduction, values: Array, segments: Segments, /) -> Array:
    ids = _ids(segments, values.shape[0])
    if how == "prod":
        return _segment_prod(*alike((values, ids)), segments.num + 1)[: segments.num]
    return _SEGMENT[how](values, ids, segments.num + 1, mode="promise_in_bounds")[: segments.num]


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _segment_prod(values: Array, ids: Array, num: int) -> Array:
    """``jax.ops.segment_prod`` has no gradient; this one has, at zeros too."""
    return jax.ops.segment_prod(values, ids, num)


@_segment_prod.defjvp
def _segment_prod_jvp(num: int, primals: Any, tangents: Any) -> tuple[Array, Array]:
    values, ids = primals
    order = jnp.argsort(ids, stable=True)  # the scans need each segment side by side
    mine, v, dv = ids[order], values[order], tangents[0][order]
    v = jnp.where(_column(mine < num - 1, v), v, jnp.ones_like(v))
    edge = jnp.concatenate((jnp.ones(1, bool), mine[1:] != mine[:-1]))[: len(mine)]
    others = _products_before(v, edge) * _products_before(v[::-1], jnp.roll(edge, -1)[::-1])[::-1]
    out = _segment_prod(values, ids, num)
    return out, jax.ops.segment_sum(others * dv, mine, num)


def _products_before(v: Array, starts: Array) -> Array:
    """Product of the elements before each one within its segment: ``others`` without a division."""

    def join(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
        left = jnp.where(_column(b[0], b[1]), jnp.ones_like(a[1]), a[1])  # not `a * b` first: 0 * nan
        return a[0] | b[0], left * b[1]

    shifted = jnp.concatenate((jnp.ones_like(v[:1]), v[:-1]))[: len(v)]
    shifted = jnp.where(_column(starts, v), jnp.ones_like(v), shifted)
    return lax.associative_scan(join, (starts, shifted))[1]


def _column(mask: Array, like: Array) -> Array:
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))


def _wide(x: Array) -> Array:
    """Halves as float32: the cotangent of a spread or a lookup is summed, and bf16 sums stop at 256."""
    return x.astype(unhalved(x.dtype))


def pick(items: Array, index: Array, /, *, fill: int = 0) -> Array:
    size = items.shape[0]
    if size == 0:
        return jnp.full((*index.shape, *items.shape[1:]), fill, items.dtype)
    wide = _wide(items)
    if size <= index.size:
        padded = jnp.concatenate((wide, jnp.full((1, *items.shape[1:]), fill, wide.dtype)))
        return padded[index].astype(items.dtype)
    known = index < size
    found = wide[jnp.where(known, index, 0)].astype(items.dtype)
    return jnp.where(_column(known, found), found, jnp.full_like(found, fill))


def segment_softmax(values: Array, segments: Segments, /, *, log: bool) -> Array:
    return _softmax(*alike((values, _ids(segments, values.shape[0]))), segments.num + 1, log)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def _softmax(values: Array, ids: Array, num: int, log: bool) -> Array:
    peak = jax.ops.segment_max(values, ids, num)
    shifted = values - jnp.where(peak == -jnp.inf, 0, peak)[ids]
    weight = jnp.exp(shifted)
    total = jax.ops.segment_sum(weight, ids, num)
    safe = jnp.where(total == 0, jnp.ones_like(total), total)  # 0: every element is -inf
    return shifted - jnp.log(safe)[ids] if log else weight / safe[ids]


@_softmax.defjvp
def _softmax_jvp(num: int, log: bool, primals: Any, tangents: Any) -> tuple[Array, Array]:
    values, ids = primals
    dx = tangents[0]
    out = _softmax(values, ids, num, log)
    if log:
        return out, dx - jax.ops.segment_sum(jnp.exp(out) * dx, ids, num)[ids]
    weighted = out * dx
    return out, weighted - out * jax.ops.segment_sum(weighted, ids, num)[ids]


def segment_sort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    return _jax_rows.segment_sort(values, Rows.of(splits, values, row_ids), longest)


def segment_argsort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    return _jax_rows.segment_argsort(values, Rows.of(splits, values, row_ids), longest)


def segment_scan(how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None) -> Array:
    return _jax_rows.segment_scan(how, values, Rows.of(splits, values, row_ids), reverse, longest)


def scan_axis(how: Reduction, values: Array, axis: int, /, *, reverse: bool) -> Array:
    scan = {"sum": lax.cumsum, "prod": lax.cumprod, "max": lax.cummax, "min": lax.cummin}[how]
    return scan(values, axis, reverse=reverse) if values.size else values


def _used(x: Array, used: Array) -> Array:
    return _column(jnp.arange(x.shape[0], dtype=used.dtype) < used, x)


def linear(x: Array, weight: Array, bias: Array | None, used: Array, /) -> Array:
    return _affine(*alike((x, weight, jnp.zeros((), x.dtype) if bias is None else bias, used)))


@jax.custom_jvp
def _affine(x: Array, weight: Array, bias: Array, used: Array) -> Array:
    return jnp.matmul(x, weight) + bias


@_affine.defjvp
def _affine_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    x, weight, bias, used = primals
    dx, dweight, dbias, _ = tangents
    valid = _used(x, used)
    out = _affine(x, weight, bias, used)
    # Both factors of the weight's gradient are masked: slack of x here, slack of the cotangent by the outer `where`,
    # which serves both gradients (two uses of a cotangent, masked and not, compute it twice). The forward product
    # stays unmasked, since a mask there costs 2.75 times its time.
    to_parameters = jnp.matmul(jnp.where(valid, x, 0), dweight) + dbias
    through_x = _affine(dx, weight, jnp.zeros((), x.dtype), used)
    return out, jnp.where(valid, through_x + to_parameters, 0).astype(out.dtype)


def embedding(table: Array, ids: Array, used: Array, /) -> Array:
    safe = jnp.where(_used(ids, used), ids, 0)
    return _lookup(*alike((table, jnp.where(safe < 0, table.shape[0], safe), used)))


@jax.custom_jvp
def _lookup(table: Array, ids: Array, used: Array) -> Array:
    fill = jnp.nan if jnp.issubdtype(table.dtype, jnp.inexact) else None
    return jnp.take(table, ids, axis=0, mode="fill", fill_value=fill)


@_lookup.defjvp
def _lookup_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    table, ids, used = primals
    found = _lookup(_wide(tangents[0]), ids, used)
    known = _column(_used(ids, used) & (ids < table.shape[0]), found)
    return _lookup(table, ids, used), jnp.where(known, found, 0).astype(table.dtype)


def true_index(mask: Array, size: int, /) -> Array:
    return jnp.nonzero(mask, size=size, fill_value=mask.shape[0])[0]


def stop_gradient(x: Array, /) -> Array:
    return lax.stop_gradient(x)


def once(x: Array, /) -> Array:
    """Divided by 1: XLA computes sums and products anew for each reader, with other roundings, but no quotients.

    ``optimization_barrier`` is dropped before fusion on a CPU. The 1 is one that XLA cannot know, by the bits of an
    element; it is 2, of which nobody can tell in comparisons, for one NaN in a few million.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating) or not x.size:
        return x
    bits = lax.bitcast_convert_type(x.reshape(-1)[0], jnp.dtype(f"int{x.dtype.itemsize * 8}"))
    rare = lax.bitcast_convert_type(jnp.asarray(jnp.nan, x.dtype), bits.dtype) + 41
    return x / jnp.where(bits == rare, jnp.asarray(2, x.dtype), jnp.asarray(1, x.dtype))


def mask_gradient(values: Array, splits: Array, /) -> Array:
    if is_concrete(values) or not jnp.issubdtype(values.dtype, jnp.inexact):
        return values
    return _with_clean_gradient(*alike((values, jnp.asarray(splits)[-1])))


@jax.custom_jvp
def _with_clean_gradient(values: Array, used: Array) -> Array:
    return values


@_with_clean_gradient.defjvp
def _with_clean_gradient_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    values, used = primals
    # Not bare `values`: what the gradient reads of them is differentiated too, and 0 * nan is nan in slack there.
    return _with_clean_gradient(values, used), jnp.where(_used(values, used), tangents[0], 0)


def special(name: str, /) -> Callable[..., Array]:
    function: Callable[..., Array] = getattr(jax.scipy.special, name)
    return partial(_in_float32, function) if name in ("ndtr", "log_ndtr", "ndtri") else function


def _in_float32(function: Callable[..., Array], x: Array) -> Array:
    """Halves, which the function refuses, rounded at the end."""
    return function(_wide(x)).astype(x.dtype) if jnp.issubdtype(x.dtype, jnp.floating) else function(x)
