"""Sums over stretches of time, and means and deviations of them."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np

from ..._typing import Array, Namespace
from .._reads import Reads, Window
from .._typing import Floats, Ints
from ._base import (
    REQUIRED,
    Component,
    Pairs,
    Params,
    RowContext,
    pick,
    positive,
    scatter_add,
    stop_gradient,
)


def _sums(xp: Namespace, x: Array, facts: RowContext, rows: int) -> Array:
    """Sum of the input rows that each output row reads."""
    assert facts.pairs is not None
    to, source = facts.pairs
    if xp is np:
        out = np.zeros((rows, x.shape[1]), x.dtype)
        np.add.at(out, to, x[source])
        return out
    return jax.ops.segment_sum(pick(xp, x, source), to, num_segments=rows)


def _spread(dy: Floats, facts: RowContext, rows: int) -> Floats:
    assert facts.pairs is not None
    to, source = facts.pairs
    return scatter_add(dy[to], source, rows)


@dataclass(frozen=True, kw_only=True)
class StatisticsExtraction(Component):
    """Count, sum and, with ``include-variance``, sum of squares of the frames of a period."""

    kind: ClassVar[str] = "StatisticsExtractionComponent"
    tags: ClassVar[tuple[str, ...]] = ("InputDim", "InputPeriod", "OutputPeriod", "IncludeVarinance")
    input_dim: int = REQUIRED
    input_period: int = 1
    output_period: int = 1
    include_variance: bool = True

    def _complete(self) -> None:
        positive(self, "input_dim", "input_period", "output_period")
        if self.output_period % self.input_period:
            got = f"{self.output_period} and {self.input_period}"
            raise self.error("output-period that is a multiple of input-period", got, "Change one of them.")

    @property
    def output_dim(self) -> int:
        """A count, and one or two blocks."""
        return 1 + self.input_dim * (1 + self.include_variance)

    @property
    def reads(self) -> Reads:
        """The frames of the period of t."""
        return Window(0, self.output_period - 1, self.input_period, period=self.output_period)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Sums over the frames that exist."""
        assert facts.mark is not None
        ones = xp.ones_like(x[:, :1])
        parts = [ones, x, x * x] if self.include_variance else [ones, x]
        return _sums(xp, xp.concatenate(parts, axis=1), facts, facts.mark.shape[0])

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Back to the frames."""
        n = self.input_dim
        g = _spread(dy, facts, x.shape[0])
        return g[:, 1 : n + 1] + (2 * x * g[:, n + 1 :] if self.include_variance else 0), {}

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """The pairs, and a ``mark`` as long as there are rows."""
        return RowContext(pairs=pairs, mark=np.zeros(index.shape[0], np.int32))


@dataclass(frozen=True, kw_only=True)
class StatisticsPooling(Component):
    """Means, and with ``output-stddevs`` deviations, from ``t - left-context`` to ``t + right-context``."""

    kind: ClassVar[str] = "StatisticsPoolingComponent"
    tags: ClassVar[tuple[str, ...]] = (
        *("InputDim", "InputPeriod", "LeftContext", "RightContext"),
        *("NumLogCountFeatures", "OutputStddevs", "VarianceFloor"),
    )
    input_dim: int = REQUIRED
    input_period: int = 1
    left_context: int = REQUIRED
    right_context: int = REQUIRED
    num_log_count_features: int = 0
    output_stddevs: bool = False
    variance_floor: float = 1e-10

    def _complete(self) -> None:
        positive(self, "input_period")
        if self.input_dim < 2 or (self.output_stddevs and self.input_dim % 2 == 0):
            what = "an odd input-dim of at least 3" if self.output_stddevs else "input-dim of at least 2"
            raise self.error(what, self.input_dim, "It is a count and the sums of StatisticsExtraction.")
        if self.left_context % self.input_period or self.right_context % self.input_period:
            got = f"{self.left_context}, {self.right_context} and {self.input_period}"
            raise self.error("contexts that are multiples of input-period", got, "Change one of them.")
        if min(self.left_context, self.right_context) < 0 or self.num_log_count_features < 0:
            got = f"{self.left_context}, {self.right_context}, {self.num_log_count_features}"
            raise self.error("contexts and num-log-count-features of at least 0", got, "Change them.")

    @property
    def output_dim(self) -> int:
        """Log counts, and everything but the count."""
        return self.input_dim - 1 + self.num_log_count_features

    @property
    def reads(self) -> Reads:
        """The window; t must be a multiple of the period."""
        return Window(-self.left_context, self.right_context, self.input_period, align=self.input_period)

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """The pairs, and a ``mark`` as long as there are rows."""
        return RowContext(pairs=pairs, mark=np.zeros(index.shape[0], np.int32))

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Sums over counts; the count is a constant for the gradient."""
        assert facts.mark is not None
        total = _sums(xp, x, facts, facts.mark.shape[0])
        count = stop_gradient(xp, total[:, :1])
        count = xp.where(count > 0, count, 1)
        means = total[:, 1:] / count
        logs = [xp.log(count)] * self.num_log_count_features
        if not self.output_stddevs:
            return xp.concatenate([*logs, means], axis=1)
        n = (self.input_dim - 1) // 2
        var = means[:, n:] - means[:, :n] ** 2
        return xp.concatenate([*logs, means[:, :n], xp.sqrt(xp.maximum(var, self.variance_floor))], axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Through the deviations where they are above the floor."""
        k, n = self.num_log_count_features, (self.input_dim - 1) // 2
        total = _sums(np, x, facts, dy.shape[0])
        count = np.where(total[:, :1] > 0, total[:, :1], 1)
        g = dy[:, k:].copy()
        if self.output_stddevs:
            mean, std = y[:, k : k + n], y[:, k + n :]
            above = std > self.variance_floor**0.5
            dvar = np.where(above, 0.5 * g[:, n:] / std, 0)
            g = np.concatenate([g[:, :n] - 2 * mean * dvar, dvar], axis=1)
        g = np.concatenate([np.zeros_like(count), g / count], axis=1)
        return _spread(g, facts, x.shape[0]), {}

    backprop_needs: ClassVar[frozenset[str]] = frozenset({"input", "output"})


KINDS: tuple[type[Component], ...] = (StatisticsExtraction, StatisticsPooling)
