"""Scales, offsets and constants of columns."""

from dataclasses import dataclass
from typing import ClassVar, cast

import jax.numpy as jnp
import numpy as np

from ..._typing import Array, Namespace
from .._reads import Nothing, Reads
from .._typing import Floats
from . import _files
from ._base import (
    REQUIRED,
    Component,
    Key,
    Params,
    RowContext,
    Updatable,
    divides,
    normal,
    positive,
    stop_gradient,
)


class _Columns:
    """``dim`` columns, and a parameter for each, or for each of a block that repeats."""

    leaves: ClassVar[tuple[str, ...]]
    file: ClassVar[str]
    """The key that may name a file of the parameter, whose size is then ``dim``."""
    sized: ClassVar[str] = "dim"
    """The key that the size of the parameter gives."""
    dim: int

    def _complete(self) -> None:
        if name := getattr(self, self.file):
            object.__setattr__(self, "dim", _files.vector(cast(Component, self), name).shape[0])
        positive(cast(Component, self), "dim")

    @property
    def input_dim(self) -> int:
        """Columns."""
        return self.dim

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """The size of a row, or of its block."""
        return {cls.sized: params[cls.leaves[0]].shape[0]}


@dataclass(frozen=True, kw_only=True)
class PerElementScale(_Columns, Updatable):
    """``y = s x``, a scale per column."""

    kind: ClassVar[str] = "PerElementScaleComponent"
    leaves: ClassVar[tuple[str, ...]] = ("params",)
    tags: ClassVar[tuple[str, ...]] = ("Params",)
    file: ClassVar[str] = "vector"
    dim: int = 0
    param_mean: float = 1.0
    param_stddev: float = 0.0
    vector: str = ""

    def init(self, key: Key) -> Params:
        """Scales around ``param-mean``."""
        if self.vector:
            return {"params": _files.vector(self, self.vector)}
        return {"params": normal(key, self.param_stddev, self.dim, mean=self.param_mean)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Column by column."""
        return x * params["params"][None, :]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Column by column."""
        return dy * params["params"], {"params": (x * dy).sum(axis=0)}


@dataclass(frozen=True, kw_only=True)
class NaturalGradientPerElementScale(PerElementScale):
    """`PerElementScale`; the natural gradient is left to the optimiser."""

    kind: ClassVar[str] = "NaturalGradientPerElementScaleComponent"
    tags: ClassVar[tuple[str, ...]] = ("Params", "Rank", "UpdatePeriod", "NumSamplesHistory", "Alpha")


@dataclass(frozen=True, kw_only=True)
class PerElementOffset(_Columns, Updatable):
    """``y = x + o``; the offsets repeat per block."""

    kind: ClassVar[str] = "PerElementOffsetComponent"
    leaves: ClassVar[tuple[str, ...]] = ("offsets",)
    tags: ClassVar[tuple[str, ...]] = ("Offsets", "Dim", "UseNaturalGradient")
    sized: ClassVar[str] = "block-dim"
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    dim: int = 0
    block_dim: int = 0
    param_mean: float = 0.0
    param_stddev: float = 0.0
    vector: str = ""

    def _complete(self) -> None:
        if self.vector:
            object.__setattr__(self, "block_dim", _files.vector(self, self.vector).shape[0])
            object.__setattr__(self, "dim", self.dim or self.block_dim)
        positive(self, "dim")
        object.__setattr__(self, "block_dim", self.block_dim or self.dim)
        divides(self, "block_dim", "dim")

    def init(self, key: Key) -> Params:
        """Offsets around ``param-mean``."""
        if self.vector:
            return {"offsets": _files.vector(self, self.vector)}
        return {"offsets": normal(key, self.param_stddev, self.block_dim, mean=self.param_mean)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Block by block."""
        return x + xp.tile(params["offsets"], self.dim // self.block_dim)[None, :]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The offsets' derivative is a sum over rows and blocks."""
        return dy, {"offsets": dy.reshape(-1, self.block_dim).sum(axis=0)}


@dataclass(frozen=True, kw_only=True)
class ScaleAndOffset(_Columns, Updatable):
    """``y = s x + o``; both repeat per block."""

    kind: ClassVar[str] = "ScaleAndOffsetComponent"
    leaves: ClassVar[tuple[str, ...]] = ("scales", "offsets")
    tags: ClassVar[tuple[str, ...]] = ("Dim", "Scales", "Offsets", "UseNaturalGradient", "Rank")
    sized: ClassVar[str] = "block-dim"
    dim: int = 0
    block_dim: int = 0

    def _complete(self) -> None:
        positive(self, "dim")
        object.__setattr__(self, "block_dim", self.block_dim or self.dim)
        divides(self, "block_dim", "dim")

    def init(self, key: Key) -> Params:
        """The identity."""
        return {"scales": jnp.ones(self.block_dim, jnp.float32), "offsets": jnp.zeros(self.block_dim, jnp.float32)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Block by block."""
        y = xp.reshape(x, (-1, self.block_dim)) * params["scales"][None, :] + params["offsets"][None, :]
        return xp.reshape(y, x.shape)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Sums over rows and blocks."""
        g = dy.reshape(-1, self.block_dim)
        by_scale = (g * x.reshape(-1, self.block_dim)).sum(axis=0)
        return (g * params["scales"]).reshape(dy.shape), {"scales": by_scale, "offsets": g.sum(axis=0)}


@dataclass(frozen=True, kw_only=True)
class FixedScale(_Columns, Component):
    """``y = s x``, not trained."""

    kind: ClassVar[str] = "FixedScaleComponent"
    leaves: ClassVar[tuple[str, ...]] = ("scales",)
    tags: ClassVar[tuple[str, ...]] = ("Scales",)
    file: ClassVar[str] = "scales"
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    in_place: ClassVar[bool] = True
    dim: int = 0
    scale: float | None = None
    scales: str = ""

    def init(self, key: Key) -> Params:
        """The file's numbers, or ``scale``, or random ones."""
        if self.scales:
            return {"scales": _files.vector(self, self.scales)}
        if self.scale is not None:
            return {"scales": jnp.full(self.dim, self.scale, jnp.float32)}
        return {"scales": normal(key, 1.0, self.dim)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Column by column."""
        return x * params["scales"][None, :]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Column by column."""
        return dy * params["scales"], {}


@dataclass(frozen=True, kw_only=True)
class FixedBias(_Columns, Component):
    """``y = x + b``, not trained."""

    kind: ClassVar[str] = "FixedBiasComponent"
    leaves: ClassVar[tuple[str, ...]] = ("bias",)
    tags: ClassVar[tuple[str, ...]] = ("Bias",)
    file: ClassVar[str] = "bias"
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    in_place: ClassVar[bool] = True
    dim: int = 0
    bias: str = ""

    def init(self, key: Key) -> Params:
        """The file's numbers, or random ones."""
        return {"bias": _files.vector(self, self.bias) if self.bias else normal(key, 1.0, self.dim)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Column by column."""
        return x + params["bias"][None, :]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The identity."""
        return dy, {}


@dataclass(frozen=True, kw_only=True)
class ConstantFunction(Updatable):
    """The same learned row for every row it reads."""

    kind: ClassVar[str] = "ConstantFunctionComponent"
    leaves: ClassVar[tuple[str, ...]] = ("output",)
    tags: ClassVar[tuple[str, ...]] = ("InputDim", "Output", "IsUpdatable", "UseNaturalGradient")
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    input_dim: int = REQUIRED
    output_dim: int = REQUIRED
    output_mean: float = 0.0
    output_stddev: float = 0.0
    is_updatable: bool = True

    def _complete(self) -> None:
        positive(self, "output_dim", "input_dim")

    @property
    def trained(self) -> tuple[str, ...]:
        """Nothing with ``is-updatable=false``."""
        return self.leaves if self.is_updatable else ()

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """The size of a row, or of its block."""
        return {"output-dim": params[cls.leaves[0]].shape[0]}

    def init(self, key: Key) -> Params:
        """Numbers around ``output-mean``."""
        return {"output": normal(key, self.output_stddev, self.output_dim, mean=self.output_mean)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """One row, repeated."""
        row = params["output"] if self.is_updatable else stop_gradient(xp, params["output"])
        return xp.broadcast_to(row[None, :], (x.shape[0], self.output_dim))

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """A sum over rows; nothing for the input."""
        return np.zeros_like(x), {"output": dy.sum(axis=0)} if self.is_updatable else {}


@dataclass(frozen=True, kw_only=True)
class Constant(ConstantFunction):
    """A learned row wherever it is asked for; no input is needed, so it may name its own node as input."""

    kind: ClassVar[str] = "ConstantComponent"
    tags: ClassVar[tuple[str, ...]] = ("Output", "IsUpdatable", "UseNaturalGradient")
    input_dim: int = 0

    def _complete(self) -> None:
        positive(self, "output_dim")
        object.__setattr__(self, "input_dim", self.input_dim or self.output_dim)

    @property
    def reads(self) -> Reads:
        """Nothing."""
        return Nothing()


KINDS: tuple[type[Component], ...] = (
    *(PerElementScale, NaturalGradientPerElementScale, PerElementOffset, ScaleAndOffset),
    *(FixedScale, FixedBias, ConstantFunction, Constant),
)
