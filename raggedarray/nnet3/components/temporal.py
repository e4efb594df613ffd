"""Layers that read several frames: a TDNN layer, and a convolution over time and height."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import jax
import numpy as np

from ..._typing import Array, Namespace
from .._reads import Reads, Taps
from .._typing import Floats
from ._base import REQUIRED, Component, Key, Params, RowContext, Updatable, normal, pick, positive, scatter_add


@dataclass(frozen=True, kw_only=True)
class Tdnn(Updatable):
    """``y(t) = Σ_k W_k x(t + o_k) + b``, where all frames it reads exist."""

    kind: ClassVar[str] = "TdnnComponent"
    leaves: ClassVar[tuple[str, ...]] = ("linear_params", "bias_params")
    tags: ClassVar[tuple[str, ...]] = (
        *("TimeOffsets", "LinearParams", "BiasParams", "OrthonormalConstraint", "UseNaturalGradient"),
        *("NumSamplesHistory", "AlphaInOut", "RankInOut"),
    )
    input_dim: int = REQUIRED
    output_dim: int = REQUIRED
    time_offsets: tuple[int, ...] = REQUIRED
    use_bias: bool = True
    param_stddev: float | None = None
    bias_stddev: float = 1.0
    orthonormal_constraint: float = 0.0

    def _complete(self) -> None:
        positive(self, "input_dim", "output_dim")
        if len(set(self.time_offsets)) != len(self.time_offsets):
            raise self.error("time-offsets without repeats", list(self.time_offsets), "List each offset once.")

    @property
    def reads(self) -> Reads:
        """All offsets."""
        return Taps(self.time_offsets, (True,) * len(self.time_offsets))

    @property
    def trained(self) -> tuple[str, ...]:
        """No bias with ``use-bias=false``."""
        return self.leaves if self.use_bias else self.leaves[:1]

    def init(self, key: Key) -> Params:
        """Weights of deviation ``param-stddev``, by default one over the root of the columns read; biases of 1."""
        weights, biases = jax.random.split(key)
        columns = self.input_dim * len(self.time_offsets)
        stddev = columns**-0.5 if self.param_stddev is None else self.param_stddev
        params = {"linear_params": normal(weights, stddev, self.output_dim, columns)}
        return params | ({"bias_params": normal(biases, self.bias_stddev, self.output_dim)} if self.use_bias else {})

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Rows are taken where they are narrower: before the product, or after it."""
        weights, count, n = params["linear_params"], len(self.time_offsets), self.input_dim
        if count * n <= self.output_dim or count == 1:
            y = xp.matmul(xp.concatenate([pick(xp, x, rows) for rows in facts.sources], axis=1), weights.T)
        else:
            parts = (xp.matmul(x, weights[:, k * n : (k + 1) * n].T) for k in range(count))
            y = sum(pick(xp, part, rows) for part, rows in zip(parts, facts.sources, strict=True))
        return y + params["bias_params"][None, :] if self.use_bias else y

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Offset by offset."""
        n, weights = self.input_dim, params["linear_params"]
        dx, dw = np.zeros_like(x), np.zeros_like(weights)
        for k, rows in enumerate(facts.sources):
            columns = slice(k * n, (k + 1) * n)
            dx += scatter_add(dy @ weights[:, columns], rows, x.shape[0])
            dw[:, columns] = dy.T @ pick(np, x, rows)
        return dx, {"linear_params": dw} | ({"bias_params": dy.sum(axis=0)} if self.use_bias else {})


def _offset_pairs(component: Component, text: str) -> tuple[tuple[int, int], ...]:
    try:
        pairs = [tuple(int(number) for number in pair.split(",")) for pair in text.split(";")]
        return tuple(sorted((t, h) for t, h in pairs))
    except ValueError:
        raise component.error("offsets such as -1,0;0,0;1,0", text, "Write time,height pairs.") from None


@dataclass(frozen=True, kw_only=True)
class TimeHeightConvolution(Updatable):
    """A convolution over time and height of rows that hold ``height-in`` blocks of ``num-filters-in`` columns.

    Outside the height, and where frames that are not required are missing, it reads zeros.
    """

    kind: ClassVar[str] = "TimeHeightConvolutionComponent"
    leaves: ClassVar[tuple[str, ...]] = ("linear_params", "bias_params")
    tags: ClassVar[tuple[str, ...]] = (
        *("Model", "LinearParams", "BiasParams", "MaxMemoryMb", "UseNaturalGradient"),
        *("NumMinibatchesHistory", "AlphaInOut", "RankInOut"),
    )
    num_filters_in: int = REQUIRED
    num_filters_out: int = REQUIRED
    height_in: int = REQUIRED
    height_out: int = REQUIRED
    height_offsets: tuple[int, ...] = ()
    time_offsets: tuple[int, ...] = ()
    offsets: str = ""
    required_time_offsets: tuple[int, ...] | None = None
    height_subsample_out: int = 1
    param_stddev: float | None = None
    bias_stddev: float = 0.0
    init_unit: bool = False
    ignored: ClassVar[frozenset[str]] = Updatable.ignored | {"max-memory-mb", "num-minibatches-history"}

    def _complete(self) -> None:
        positive(self, "num_filters_in", "num_filters_out", "height_in", "height_out", "height_subsample_out")
        times = {t for t, _ in self.pairs}
        required = times if self.required_time_offsets is None else set(self.required_time_offsets)
        if not times or not required <= times:
            got = f"{sorted(required)} of {sorted(times)}"
            raise self.error("required-time-offsets among the time offsets", got, "Give time-offsets or offsets.")
        if self.init_unit and self.num_filters_in != self.num_filters_out:
            got = f"{self.num_filters_in} and {self.num_filters_out}"
            raise self.error("as many filters in as out for init-unit", got, "Leave out init-unit.")

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Offsets in time and height, sorted: the order of the blocks of columns of the weights."""
        if self.offsets:
            return _offset_pairs(self, self.offsets)
        return tuple((t, h) for t in sorted(set(self.time_offsets)) for h in sorted(set(self.height_offsets)))

    @cached_property
    def _times(self) -> tuple[int, ...]:
        return tuple(sorted({t for t, _ in self.pairs}))

    @property
    def input_dim(self) -> int:
        """Blocks of ``num-filters-in``, a height each."""
        return self.num_filters_in * self.height_in

    @property
    def output_dim(self) -> int:
        """Blocks of ``num-filters-out``, a height each."""
        return self.num_filters_out * self.height_out

    @property
    def reads(self) -> Reads:
        """All time offsets, not all of them required."""
        return Taps(self._times, tuple(t in self.required for t in self._times))

    @property
    def required(self) -> tuple[int, ...]:
        """Times that must exist."""
        return self._times if self.required_time_offsets is None else self.required_time_offsets

    def init(self, key: Key) -> Params:
        """Weights of deviation ``param-stddev``, by default one over the root of the columns read; biases of 0."""
        weights, biases = jax.random.split(key)
        columns = len(self.pairs) * self.num_filters_in
        stddev = columns**-0.5 if self.param_stddev is None else self.param_stddev
        matrix = normal(weights, stddev, self.num_filters_out, columns)
        if self.init_unit and (0, 0) in self.pairs:
            at = self.pairs.index((0, 0)) * self.num_filters_in
            unit = np.eye(self.num_filters_out, columns, at, dtype=np.float32)
            matrix = jax.numpy.asarray(unit)
        return {"linear_params": matrix, "bias_params": normal(biases, self.bias_stddev, self.num_filters_out)}

    @cached_property
    def _patches(self) -> tuple[np.ndarray, np.ndarray]:
        """Time and height that each (output height, offset) reads; ``height-in`` where it is outside."""
        times = np.asarray([self._times.index(t) for t, _ in self.pairs])
        at = np.arange(self.height_out)[:, None] * self.height_subsample_out
        heights = at + np.asarray([h for _, h in self.pairs])[None, :]
        inside = (heights >= 0) & (heights < self.height_in)
        return np.broadcast_to(times, heights.shape), np.where(inside, heights, self.height_in)

    def _columns(self, xp: Namespace, x: Array, facts: RowContext) -> Array:
        """What each output position reads: ``[rows * height_out, offsets * filters]``."""
        frames = xp.stack([pick(xp, x, rows) for rows in facts.sources], axis=1)
        rows, count = frames.shape[:2]
        frames = xp.reshape(frames, (rows, count, self.height_in, self.num_filters_in))
        frames = xp.pad(frames, ((0, 0), (0, 0), (0, 1), (0, 0)))
        times, heights = self._patches
        return xp.reshape(frames[:, times, heights], (rows * self.height_out, -1))

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A matrix product on patches."""
        columns = self._columns(xp, x, facts)
        y = xp.matmul(columns, params["linear_params"].T) + params["bias_params"][None, :]
        return xp.reshape(y, (-1, self.output_dim))

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Patches put back."""
        rows, filters = dy.shape[0], self.num_filters_in
        g = dy.reshape(-1, self.num_filters_out)
        patches = (g @ params["linear_params"]).reshape(rows, self.height_out, -1, filters)
        padded = np.zeros((rows, len(self._times), self.height_in + 1, filters), dy.dtype)
        times, heights = self._patches
        np.add.at(padded, (slice(None), times, heights), patches)  # type: ignore[arg-type]
        frames = padded[:, :, : self.height_in].reshape(rows, len(self._times), self.input_dim)
        dx = np.zeros_like(x)
        for k, at in enumerate(facts.sources):
            dx += scatter_add(frames[:, k], at, x.shape[0])
        return dx, {"linear_params": g.T @ self._columns(np, x, facts), "bias_params": g.sum(axis=0)}


KINDS: tuple[type[Component], ...] = (Tdnn, TimeHeightConvolution)
