"""Functions of single elements, and of the elements of a row together, without numbers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._typing import Array, Namespace
from .._typing import Floats
from ._base import Component, Params, RowContext, Rowwise, divides, gradient_by, positive, sigmoid

NONLINEAR_TAGS = (
    *("Dim", "BlockDim?", "ValueAvg", "DerivAvg", "Count", "OderivRms", "OderivCount"),
    *("NumDimsSelfRepaired", "NumDimsProcessed"),
)


@dataclass(frozen=True, kw_only=True)
class Nonlinear(Rowwise):
    """What the nonlinearities share: keys for self-repair, which are kept and have no effect."""

    ignored: ClassVar[frozenset[str]] = frozenset(
        {"self-repair-lower-threshold", "self-repair-upper-threshold", "self-repair-scale"}
    )
    tags: ClassVar[tuple[str, ...]] = NONLINEAR_TAGS
    backprop_needs: ClassVar[frozenset[str]] = frozenset({"output"})
    in_place: ClassVar[bool] = True
    block_dim: int = 0

    def _complete(self) -> None:
        super()._complete()
        if self.block_dim:
            divides(self, "block_dim", "dim")


@dataclass(frozen=True, kw_only=True)
class RectifiedLinear(Nonlinear):
    """``max(x, 0)``, with derivative 0 at 0."""

    kind: ClassVar[str] = "RectifiedLinearComponent"

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """The positive part; NaN stays NaN."""
        return xp.where(x <= 0, xp.zeros_like(x), x)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Passes where the output is positive."""
        return dy * (y > 0), {}


@dataclass(frozen=True, kw_only=True)
class Sigmoid(Nonlinear):
    """``1 / (1 + exp(-x))``."""

    kind: ClassVar[str] = "SigmoidComponent"

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """The logistic function."""
        return sigmoid(xp, x)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """``y (1 - y)``."""
        return dy * y * (1 - y), {}


@dataclass(frozen=True, kw_only=True)
class Tanh(Nonlinear):
    """``tanh(x)``."""

    kind: ClassVar[str] = "TanhComponent"

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """The hyperbolic tangent."""
        return xp.tanh(x)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """``1 - y²``."""
        return dy * (1 - y * y), {}


@dataclass(frozen=True, kw_only=True)
class LogSoftmax(Nonlinear):
    """``x - log Σ exp x`` over the row."""

    kind: ClassVar[str] = "LogSoftmaxComponent"

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Shifted by the row's maximum."""
        x = x - xp.max(x, axis=1, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), axis=1, keepdims=True))

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """``dy - softmax Σ dy``."""
        return dy - np.exp(y) * dy.sum(axis=1, keepdims=True), {}


@dataclass(frozen=True, kw_only=True)
class Softmax(Nonlinear):
    """``exp x / Σ exp x`` over the row, at least 1e-20."""

    kind: ClassVar[str] = "SoftmaxComponent"

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Shifted by the row's maximum."""
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return xp.maximum(e / xp.sum(e, axis=1, keepdims=True), 1e-20)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """``y (dy - Σ y dy)``."""
        return y * (dy - (y * dy).sum(axis=1, keepdims=True)), {}


@dataclass(frozen=True, kw_only=True)
class NoOp(Rowwise):
    """``y = x``; the gradient is multiplied by ``backprop-scale``."""

    kind: ClassVar[str] = "NoOpComponent"
    tags: ClassVar[tuple[str, ...]] = ("Dim", "BackpropScale")
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    in_place: ClassVar[bool] = True
    backprop_scale: float = 1.0

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """The identity."""
        return x if self.backprop_scale == 1.0 else gradient_by(xp, self._rule, x)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """``backprop-scale dy``."""
        return self._rule(np, dy, None), {}

    def _rule(self, xp: Namespace, dy: Array, mark: Array | None) -> Array:
        return dy * self.backprop_scale


@dataclass(frozen=True, kw_only=True)
class Normalize(Component):
    """Rows, or blocks of rows, brought to root mean square ``target-rms``; the log of what it was may be appended."""

    kind: ClassVar[str] = "NormalizeComponent"
    tags: ClassVar[tuple[str, ...]] = ("InputDim", "BlockDim?", "TargetRms", "AddLogStddev")
    dim: int | None = None
    input_dim: int = 0
    block_dim: int = 0
    target_rms: float = 1.0
    add_log_stddev: bool = False

    def _complete(self) -> None:
        object.__setattr__(self, "input_dim", self.input_dim or self.dim or 0)
        positive(self, "input_dim")
        object.__setattr__(self, "block_dim", self.block_dim or self.input_dim)
        divides(self, "block_dim", "input_dim")

    @property
    def output_dim(self) -> int:
        """One more column per block with ``add-log-stddev``."""
        return self.input_dim + self.add_log_stddev * (self.input_dim // self.block_dim)

    def _square(self, xp: Namespace, x: Array) -> Array:
        return xp.sum(x * x, axis=1, keepdims=True) / (self.block_dim * self.target_rms**2)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """``x`` over its scaled norm, which is floored at 2⁻³³."""
        rows = x.shape[0]
        x = xp.reshape(x, (-1, self.block_dim))
        square = xp.maximum(self._square(xp, x), 2.0**-66)
        y = x * square**-0.5
        if self.add_log_stddev:
            y = xp.concatenate([y, 0.5 * xp.log(square) + float(np.log(self.target_rms))], axis=1)
        return xp.reshape(y, (rows, self.output_dim))

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Of the quotient; below the floor the norm is a constant."""
        shape, block = x.shape, self.block_dim
        x, dy = x.reshape(-1, block), dy.reshape(-1, block + self.add_log_stddev)
        square = self._square(np, x)
        above = square > 2.0**-66
        f = np.maximum(square, 2.0**-66) ** -0.5
        dot = (dy[:, :block] * x).sum(axis=1, keepdims=True)
        dx = f * dy[:, :block] - above * x * dot * f**3 / (block * self.target_rms**2)
        if self.add_log_stddev:
            norm = (x * x).sum(axis=1, keepdims=True)
            dx += above * x * dy[:, block:] / np.where(above, norm, 1)
        return dx.reshape(shape), {}


KINDS: tuple[type[Component], ...] = (
    *(RectifiedLinear, Sigmoid, Tanh, LogSoftmax, Softmax),
    *(NoOp, Normalize),
)
