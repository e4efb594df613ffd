"""cuDNN's attention of packed rows, where the installed JAX and the device offer it.

JAX reaches it by a private function that takes, for one long sequence, the length and the offset of each row in
it. `refusal` says why a call cannot be served, so that the caller can take the portable path; what cuDNN then
computes is masked on both sides, for neither slack nor empty rows may reach it.
"""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from inspect import signature
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import custom_batching

from ...._typing import Array
from ..._protocol import AttentionOptions
from ..rows import row_ids

_one_by_one = cast(Any, custom_batching).sequential_vmap
_MODULE = "jax._src.cudnn.fused_attention_stablehlo"


@cache
def _function() -> Any:
    """The module, or None where it is not there, or not as it was when this was written."""
    try:
        module = import_module(_MODULE)
        known = signature(module.dot_product_attention).parameters
        wanted = {"q_seqlen", "kv_seqlen", "q_offsets", "kv_offsets", "scale", "mask_type", "qkv_layout"}
        return module if wanted <= set(known) and hasattr(module.MaskType, "PADDING_CAUSAL") else None
    except (ImportError, AttributeError):
        return None


@cache
def _device() -> str | None:
    """Why the default device cannot run it."""
    if jax.default_backend() != "gpu" or "cuda" not in jax.devices()[0].client.platform_version:
        return "no NVIDIA GPU"
    capability = str(jax.devices()[0].compute_capability)
    if tuple(int(n) for n in capability.split(".")) < (9, 0):
        return f"compute capability {capability}, below 9.0"
    return None


def refusal(query: Array, key: Array, value: Array, bias: Array | None, options: AttentionOptions) -> str | None:
    """Why cuDNN cannot serve this call; None if it can."""
    size = query.shape[-1]
    if _device() is not None:
        return _device()
    if _function() is None:
        return f"no packed attention in jax {jax.__version__}"
    if query.dtype not in (jnp.float16, jnp.bfloat16):
        return f"dtype {query.dtype}"
    if size % 8 or size > 256 or value.shape[-1] != size:
        return f"heads of size {size} and {value.shape[-1]}"
    if max(query.shape[0], key.shape[0]) * query.shape[1] * size >= 2**31:
        return "more than 2**31 elements"
    if bias is not None or options.dropout:
        return "a bias" if bias is not None else "dropout"
    if options.left is not None or options.right not in (None, 0):
        return "a window"
    if options.right == 0 and not options.same:
        return "a causal mask over other rows than those of the queries"
    return None


def attention(query: Array, key: Array, value: Array, splits: tuple[Array, Array], options: AttentionOptions) -> Array:
    ends = [jnp.asarray(s).astype(jnp.int32) for s in splits]
    lengths = [jnp.diff(s) for s in ends]
    known = (lengths[0] > 0) & (lengths[1] > 0)
    geometry = [_packed(s, n, known) for s, n in zip(ends, lengths, strict=True)]
    used = [jnp.concatenate((known, jnp.zeros(1, bool)))[row_ids(s, n)] for s, n in zip(
        splits, (query.shape[0], key.shape[0]), strict=True
    )]  # fmt: skip
    share = query.shape[1] // key.shape[1]
    key, value = (jnp.repeat(a, share, axis=1) for a in (key, value))  # offsets of fewer key heads came out wrong
    query, key, value = (
        jnp.where(u[:, None, None], a, 0) for u, a in zip((used[0], used[1], used[1]), (query, key, value), strict=True)
    )
    call = _call(options.scale, options.right == 0)
    out = call(query, key, value, (geometry[0], geometry[1]))
    return jnp.where(used[0][:, None, None], out, 0)


def _packed(splits: Array, lengths: Array, known: Array) -> tuple[Array, Array]:
    """Lengths and offsets of the rows; -1 for rows that are left out, and one more, so that it counts as packed."""
    more = jnp.full(1, -1, jnp.int32)
    starts = jnp.where(known, splits[:-1], -1)
    return (
        jnp.concatenate((jnp.where(known, lengths, -1), more))[None],
        jnp.concatenate((starts, splits[-1:], more))[None],
    )


@cache
def _call(scale: float, causal: bool) -> Callable[..., Any]:
    """The function with a gradient, run once for each member of a batch under `vmap`."""

    def plain(q: Array, k: Array, v: Array, geometry: Any) -> Array:
        module = _function()
        (q_lengths, q_offsets), (k_lengths, k_offsets) = geometry
        mask = module.MaskType.PADDING_CAUSAL if causal else module.MaskType.PADDING
        out = module.dot_product_attention(
            q[None], k[None], v[None], q_seqlen=q_lengths, kv_seqlen=k_lengths, q_offsets=q_offsets,
            kv_offsets=k_offsets, scale=scale, mask_type=mask, qkv_layout="BTNH",
        )  # fmt: skip
        return out[0]

    def forward(q: Array, k: Array, v: Array, geometry: Any) -> Any:
        trees: list[Any] = []  # the pullback's structure compares by identity, which a batching rule does not keep

        def run(q: Array, k: Array, v: Array, geometry: Any) -> Any:
            out, pull = jax.vjp(partial(plain, geometry=geometry), q, k, v)
            leaves, tree = jax.tree.flatten(pull)
            trees.append(tree)
            return out, leaves

        out, leaves = _one_by_one(run)(q, k, v, geometry)
        return out, (leaves, _Kept(trees[0]))

    def backward(saved: Any, ct: Array) -> Any:
        leaves, kept = saved
        pull = _one_by_one(lambda leaves, ct: jax.tree.unflatten(kept.tree, leaves)(ct))
        return (*pull(leaves, ct), None)

    call: Any = jax.custom_vjp(_one_by_one(plain))
    call.defvjp(forward, backward)
    return cast(Callable[..., Any], call)


@jax.tree_util.register_static
class _Kept:
    """A structure that is part of another one."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
