"""A TDNN-F forward on ragged utterances, against the same network by hand on padded ones.

The layers are those of Povey et al., "Semi-Orthogonal Low-Rank Matrix Factorization for Deep Neural Networks" (2018):
a bottleneck that reads two frames, an affine layer that reads two bottlenecks, ReLU, batch norm, and a scaled bypass.
The padded network slices its frames, so that edges need no mask; its cost is that of the padding alone.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import raggedarray as ra
from raggedarray import nnet3

from ._timing import seconds

UTTERANCES, FRAMES, FILL = 64, 300, 0.6
STRIDES = (1, 1, 1, 0, *(3,) * 12)


def config(features: int, dim: int, bottleneck: int, targets: int, strides: tuple[int, ...] = STRIDES) -> str:
    """The config of a TDNN-F, batch norms in test mode."""
    lines = [f"input-node name=input dim={features}"]

    def layer(name: str, kind: str, keys: str, source: str) -> None:
        lines.append(f"component name={name} type={kind}Component {keys}")
        lines.append(f"component-node name={name} component={name} input={source}")

    def nonlinear(name: str, source: str) -> None:
        layer(f"{name}.relu", "RectifiedLinear", f"dim={dim}", source)
        layer(f"{name}.bn", "BatchNorm", f"dim={dim} test-mode=true", f"{name}.relu")

    splice = "Append(Offset(input, -1), input, Offset(input, 1))"
    layer("first", "NaturalGradientAffine", f"input-dim={3 * features} output-dim={dim}", splice)
    nonlinear("first", "first")
    last = "first.bn"
    for k, stride in enumerate(strides):
        name = f"f{k}"
        before, after = ("0", "0") if stride == 0 else (f"-{stride},0", f"0,{stride}")
        keys = f"input-dim={dim} output-dim={bottleneck} time-offsets={before} use-bias=false"
        layer(f"{name}.linear", "Tdnn", keys, last)
        keys = f"input-dim={bottleneck} output-dim={dim} time-offsets={after}"
        layer(f"{name}.affine", "Tdnn", keys, f"{name}.linear")
        nonlinear(name, f"{name}.affine")
        layer(f"{name}.sum", "NoOp", f"dim={dim}", f"Sum(Scale(0.66, {last}), {name}.bn)")
        last = f"{name}.sum"
    layer("last", "NaturalGradientAffine", f"input-dim={dim} output-dim={targets}", last)
    lines.append("output-node name=output input=last")
    return "\n".join(lines)


def with_statistics(params: dict[str, Any]) -> dict[str, Any]:
    """Batch norms that have seen something."""
    return {
        name: {**leaves, "count": jnp.float32(1), "stats_var": jnp.ones_like(leaves["stats_var"])}
        if "stats_var" in leaves
        else leaves
        for name, leaves in params.items()
    }


def padded(params: dict[str, Any], x: jax.Array) -> jax.Array:
    """The same network on ``[batch, frames, features]``, by slices of frames."""

    def cut(h: jax.Array, left: int, right: int) -> jax.Array:
        return h[:, left : h.shape[1] - right]

    def normalised(name: str, h: jax.Array) -> jax.Array:
        stats = params[f"{name}.bn"]
        return (jnp.maximum(h, 0) - stats["stats_mean"][None, None]) * (stats["stats_var"] + 1e-3)[None, None] ** -0.5

    def tdnn(name: str, h: jax.Array, stride: int) -> jax.Array:
        p = params[name]
        weights = p["linear_params"]
        dim = h.shape[2]
        if stride == 0:
            y = h @ weights.T
        elif weights.shape[0] < dim:  # frames are cut after the product, where they are narrower
            y = cut(h @ weights[:, :dim].T, 0, stride) + cut(h @ weights[:, dim:].T, stride, 0)
        else:
            y = jnp.concatenate([cut(h, 0, stride), cut(h, stride, 0)], axis=2) @ weights.T
        return y + p["bias_params"][None, None] if "bias_params" in p else y

    spliced = jnp.concatenate([cut(x, 0, 2), cut(x, 1, 1), cut(x, 2, 0)], axis=2)
    h = normalised("first", spliced @ params["first"]["linear_params"].T + params["first"]["bias_params"][None, None])
    for k, stride in enumerate(STRIDES):
        y = normalised(f"f{k}", tdnn(f"f{k}.affine", tdnn(f"f{k}.linear", h, stride), stride))
        h = 0.66 * cut(h, stride, stride) + y
    return h @ params["last"]["linear_params"].T + params["last"]["bias_params"][None, None]


def batch(features: int) -> tuple[ra.RaggedArray, jax.Array]:
    """Utterances of about 300 frames, ragged, and padded so that 60 % is in use."""
    rng = np.random.default_rng(0)
    longest = round(FRAMES / FILL)
    lengths = rng.integers(2 * FRAMES - longest, longest + 1, UTTERANCES)
    lengths[0] = longest
    splits = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    x = ra.from_row_splits(rng.standard_normal((splits[-1], features)).astype(np.float32), splits)
    ragged = ra.asarray(x, xp="jax", capacity=ra.bucket_size(x.capacity, mantissa_bits=4))
    return ragged, jnp.asarray(ra.to_padded(x, length=longest))


def rows(
    features: int = 40, dim: int = 256, bottleneck: int = 64, targets: int = 200, rounds: int = 3
) -> list[tuple[Any, ...]]:
    """Case, peer, milliseconds of ours and the peer's, and the ratio."""
    net = nnet3.Network.from_config(config(features, dim, bottleneck, targets))
    params = with_statistics(net.init(jax.random.key(0)))
    x, dense = batch(features)
    plan = net.plan(x)
    by_hand = jax.jit(padded)
    for row, whole in zip(net.apply(params, x, plan=plan), by_hand(params, dense), strict=True):
        np.testing.assert_allclose(row, whole[: len(row)], rtol=2e-3, atol=2e-3)
    ours, theirs = seconds(
        lambda: net.apply(params, x, plan=plan).values, lambda: by_hand(params, dense), rounds=rounds
    )
    return [("TDNN-F forward, 64 utterances", "padded by hand", ours * 1e3, theirs * 1e3, ours / theirs)]


if __name__ == "__main__":
    for row in rows():
        print(*row)
