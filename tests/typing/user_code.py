"""What users write. A type checker finds no fault here, and reveals the types that the comments say.

The file is run too: what is said to be a RaggedArray is one.
"""

from typing import Any, reveal_type

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

import raggedarray as ra
from raggedarray import BucketPlan, RaggedArray, ragged

Floats = npt.NDArray[np.float64]
x: RaggedArray = ragged([[1.0, 2.0, 3.0], [], [4.0]])
feats: RaggedArray = ra.ragged([[[1.0, 2.0]], [], [[3.0, 4.0]]], item_shape=(None, 2))
ids: RaggedArray = ra.ragged([[0, 1], [2]])
plain: Floats = np.ones((3, 1))
numbers: npt.NDArray[np.int64] = np.arange(3)
on_jax: jax.Array = jnp.ones((3, 1))
rng = np.random.default_rng(0)


# Operators: ragged where an operand is.
reveal_type(x + 1)  # RaggedArray
reveal_type(1.0 - x)  # RaggedArray
reveal_type(x * x)  # RaggedArray
reveal_type(plain / (x + 1))  # RaggedArray
reveal_type(sum([x, x], x))  # RaggedArray
reveal_type(x / plain)  # RaggedArray
reveal_type(-(abs(x) ** 2))  # RaggedArray
reveal_type(x > 1)  # RaggedArray
reveal_type(x > 1)  # RaggedArray
reveal_type(x == 2.0)  # RaggedArray
reveal_type(~(x > 1) & (x != 4))  # RaggedArray
reveal_type(feats @ np.ones((2, 3)))  # Any

# Indexing: slices and lists of rows keep rows; what else a key leaves, the data say.
reveal_type(x[1:])  # RaggedArray
reveal_type(x[:, ::-1])  # RaggedArray
reveal_type(x[..., None])  # RaggedArray
reveal_type(x[[0, 2]])  # RaggedArray
reveal_type(x[x > 1])  # RaggedArray
reveal_type(x[0])  # Any
reveal_type(feats[:, :, 0])  # Any
reveal_type(x.at[:, :1].set(0.0))  # RaggedArray
reveal_type(x.at[0].get())  # Any
row_means: Floats = np.stack([row.mean() if len(row) else np.zeros(()) for row in x])

# Facts and structure.
reveal_type(x.shape)  # tuple[int | None, ...]
reveal_type(x.nrows)  # int
reveal_type(x.astype("float32").to("jax"))  # RaggedArray
reveal_type(x.with_values(x.values * 2))  # RaggedArray
lengths: npt.NDArray[np.int32] = x.row_lengths()

# Elementwise functions.
reveal_type(ra.exp(x))  # RaggedArray
reveal_type(ra.abs(x))  # RaggedArray
reveal_type(ra.isnan(x))  # RaggedArray
reveal_type(ra.round(x, decimals=1))  # RaggedArray
reveal_type(ra.add(x, plain))  # RaggedArray
reveal_type(ra.multiply(np.float32(2.0), x))  # RaggedArray
reveal_type(ra.maximum(0.0, x))  # RaggedArray
reveal_type(ra.equal(on_jax, x))  # RaggedArray
reveal_type(ra.special.erf(x))  # RaggedArray
reveal_type(ra.square(plain))  # ndarray
reveal_type(ra.square(on_jax))  # Array
reveal_type(ra.exp(plain))  # Any
reveal_type(ra.where(x > 1, x, 0.0))  # RaggedArray
reveal_type(ra.clip(x, 0.0, 1.0))  # RaggedArray
reveal_type(ra.astype(x, "float32"))  # RaggedArray
reveal_type(ra.zeros_like(x))  # RaggedArray

# Reductions, sorts and scans.
total: Floats = ra.sum(x)
per_row: Floats = ra.mean(x, axis=1)
halved: Floats = 0.5 * ra.sum(x, axis=1)
reveal_type(ra.subtract(x, ra.mean(x, axis=1, keepdims=True)))  # RaggedArray
reveal_type(ra.sum(x, axis=1))  # Any
reveal_type(ra.sort(x))  # RaggedArray
reveal_type(ra.argsort(x, descending=True))  # RaggedArray
reveal_type(ra.cumulative_sum(x, axis=1))  # RaggedArray
reveal_type(ra.flip(x, axis=1))  # RaggedArray
reveal_type(ra.to_padded(x))  # Any

# Layers.
reveal_type(ra.nn.linear(feats, np.ones((2, 4)), np.zeros(4)))  # RaggedArray
reveal_type(ra.nn.relu(x))  # RaggedArray
reveal_type(ra.nn.softmax(x, axis=1))  # RaggedArray
reveal_type(ra.nn.layer_norm(feats))  # RaggedArray
reveal_type(ra.nn.embedding(ids, np.ones((3, 4))))  # RaggedArray
reveal_type(ra.nn.dropout(x, 0.5, key=rng))  # RaggedArray
reveal_type(ra.nn.conv1d(feats, np.ones((3, 2, 4))))  # RaggedArray
reveal_type(ra.nn.attention(feats[:, :, None], feats[:, :, None], feats[:, :, None], causal=True))  # RaggedArray
normal, _ = ra.nn.batch_norm(feats)
reveal_type(normal)  # RaggedArray
hidden, last = ra.nn.gru(feats, np.ones((2, 12)), np.ones((4, 12)))
reveal_type(hidden)  # RaggedArray
ctc: Floats = ra.nn.ctc_loss(feats, ra.ragged([[1], [], [1]]), reduction="sum")

# Linear algebra, Fourier transforms, random numbers.
square: RaggedArray = ra.ragged([2 * np.eye(2), np.ones((1, 1))])
reveal_type(BucketPlan.from_sizes([[2, 2], [1, 1]]))  # BucketPlan
reveal_type(ra.linalg.inv(square))  # RaggedArray
reveal_type(ra.fft.fftshift(x, axes=1))  # RaggedArray
reveal_type(ra.fft.fft(x, axis=1))  # Any
determinants: Floats = ra.linalg.det(square)
reveal_type(ra.random.normal(rng, x))  # RaggedArray


# Losses, jitted and differentiated; library-agnostic helpers.
def loss(weight: jax.Array, x: RaggedArray, *, scale: float = 1.0) -> jax.Array:
    error: jax.Array = 0.5 * scale * ra.mean(ra.square(ra.nn.linear(x, weight)))
    return error


w: jax.Array = jnp.ones((2, 1))
reveal_type(ra.grad(loss)(w, feats.to("jax"), scale=2.0))  # Array
value, gradient = ra.value_and_grad(loss)(w, feats.to("jax"))
reveal_type(value)  # Array
reveal_type(gradient)  # Array
reveal_type(ra.checked(loss)(w, feats.to("jax")))  # Array
reveal_type(jax.jit(loss)(w, feats.to("jax")))  # Any
counted = ra.testing.count_traces(loss)
reveal_type(counted(w, feats.to("jax")))  # Array
reveal_type(counted.count)  # int


def standardised(a: ra.Array) -> Any:
    """Of any library's array."""
    return (a - 1.0) * 2.0 / a.shape[0]


reveal_type(standardised(plain))  # Any
reveal_type(standardised(on_jax))  # Any
reveal_type(jnp.exp(ra.sum(x.to("jax"), axis=1)))  # Array

# Kaldi's networks.
net = ra.nnet3.Network.from_config(
    "input-node name=input dim=2\n"
    "component name=affine type=NaturalGradientAffineComponent input-dim=2 output-dim=3\n"
    "component-node name=affine component=affine input=input\n"
    "output-node name=output input=affine\n"
)
reveal_type(net)  # Network
reveal_type(ra.nnet3.request_for(feats))  # ComputationRequest
