"""Attention over a window of frames."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._typing import Array, Namespace
from .._reads import Reads, Taps
from .._typing import Floats
from ._base import REQUIRED, Component, Params, RowContext, pick, positive, scatter_add


@dataclass(frozen=True, kw_only=True)
class RestrictedAttention(Component):
    """Per head: the values of a window of frames, weighted by softmax of ``key-scale`` key · query + bias.

    Input columns per head: key, value, query, a bias per position. Output columns per head: the weighted value, and
    with ``output-context`` the weights. A missing frame that is not required is a row of zeros.
    """

    kind: ClassVar[str] = "RestrictedAttentionComponent"
    tags: ClassVar[tuple[str, ...]] = (
        *("NumHeads", "KeyDim", "ValueDim", "NumLeftInputs", "NumRightInputs", "TimeStride"),
        *("NumLeftInputsRequired", "NumRightInputsRequired", "OutputContext", "KeyScale"),
    )
    num_heads: int = 1
    key_dim: int = REQUIRED
    value_dim: int = REQUIRED
    num_left_inputs: int = REQUIRED
    num_right_inputs: int = REQUIRED
    num_left_inputs_required: int = -1
    num_right_inputs_required: int = -1
    time_stride: int = 1
    output_context: bool = True
    key_scale: float | None = None

    def _complete(self) -> None:
        positive(self, "num_heads", "key_dim", "value_dim", "time_stride")
        for side in ("num_left_inputs", "num_right_inputs"):
            count, required = getattr(self, side), getattr(self, f"{side}_required")
            if required < 0:
                object.__setattr__(self, f"{side}_required", required := count)
            if not 0 <= required <= count:
                raise self.error(f"0 to {count} for {side.replace('_', '-')}-required", required, "Change it.")
        if self.key_scale is None:
            object.__setattr__(self, "key_scale", self.key_dim**-0.5)

    @property
    def context(self) -> int:
        """Positions of the window."""
        return self.num_left_inputs + 1 + self.num_right_inputs

    @property
    def input_dim(self) -> int:
        """Key, value, query and biases of each head."""
        return self.num_heads * (2 * self.key_dim + self.value_dim + self.context)

    @property
    def output_dim(self) -> int:
        """Value, and perhaps weights, of each head."""
        return self.num_heads * (self.value_dim + self.output_context * self.context)

    @property
    def reads(self) -> Reads:
        """Every ``time-stride``-th frame of the window."""
        steps = range(-self.num_left_inputs, self.num_right_inputs + 1)
        required = (-self.num_left_inputs_required <= k <= self.num_right_inputs_required for k in steps)
        return Taps(tuple(k * self.time_stride for k in steps), tuple(required))

    @property
    def _centre(self) -> int:
        return self.num_left_inputs

    def _parts(self, xp: Namespace, x: Array, facts: RowContext) -> tuple[Array, Array, Array, Array]:
        """Keys and values ``[rows, K, heads, dim]``, queries and biases ``[rows, heads, dim]``."""
        k, v = self.key_dim, self.value_dim
        heads = xp.reshape(x, (-1, self.num_heads, self.input_dim // self.num_heads))
        window = xp.stack([pick(xp, heads[:, :, : k + v], rows) for rows in facts.sources], axis=1)
        row = pick(xp, heads[:, :, k + v :], facts.sources[self._centre])
        return window[..., :k], window[..., k:], row[..., :k], row[..., k:]

    def _weights(self, xp: Namespace, keys: Array, query: Array, bias: Array) -> Array:
        scores = self.key_scale * xp.einsum("rkhd,rhd->rhk", keys, query) + bias
        e = xp.exp(scores - xp.max(scores, axis=2, keepdims=True))
        return e / xp.sum(e, axis=2, keepdims=True)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Softmax over the window."""
        keys, values, query, bias = self._parts(xp, x, facts)
        weights = self._weights(xp, keys, query, bias)
        out = xp.einsum("rhk,rkhd->rhd", weights, values)
        if self.output_context:
            out = xp.concatenate([out, weights], axis=2)
        return xp.reshape(out, (-1, self.output_dim))

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Through weights and values, back to the frames of the window."""
        k, v, scale = self.key_dim, self.value_dim, self.key_scale
        keys, values, query, bias = self._parts(np, x, facts)
        weights = self._weights(np, keys, query, bias)
        g = dy.reshape(-1, self.num_heads, self.output_dim // self.num_heads)
        dweights = np.einsum("rhd,rkhd->rhk", g[..., :v], values)
        if self.output_context:
            dweights = dweights + g[..., v:]
        dscores = weights * (dweights - (weights * dweights).sum(axis=2, keepdims=True))
        dkeys = scale * np.einsum("rhk,rhd->rkhd", dscores, query)
        dvalues = np.einsum("rhk,rhd->rkhd", weights, g[..., :v])
        dquery = scale * np.einsum("rhk,rkhd->rhd", dscores, keys)
        rows = x.shape[0]
        dx = np.zeros((rows, self.num_heads, self.input_dim // self.num_heads), x.dtype)
        dwindow = np.concatenate([dkeys, dvalues], axis=3)
        for j, at in enumerate(facts.sources):
            dx[:, :, : k + v] += scatter_add(dwindow[:, j], at, rows)
        dx[:, :, k + v :] += scatter_add(np.concatenate([dquery, dscores], axis=2), facts.sources[self._centre], rows)
        return dx.reshape(x.shape), {}


KINDS: tuple[type[Component], ...] = (RestrictedAttention,)
