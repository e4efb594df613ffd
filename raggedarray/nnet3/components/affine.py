"""Products with a matrix, trained and fixed."""

from dataclasses import dataclass
from typing import ClassVar

import jax

from ..._typing import Array, Namespace
from .._typing import Floats
from . import _files
from ._base import Component, Key, Params, RowContext, Updatable, normal, positive


@dataclass(frozen=True, kw_only=True)
class Affine(Updatable):
    """``y = W x + b``."""

    kind: ClassVar[str] = "AffineComponent"
    leaves: ClassVar[tuple[str, ...]] = ("linear_params", "bias_params")
    tags: ClassVar[tuple[str, ...]] = ("LinearParams", "BiasParams", "OrthonormalConstraint?")
    input_dim: int = 0
    output_dim: int = 0
    param_stddev: float | None = None
    bias_stddev: float = 1.0
    bias_mean: float = 0.0
    matrix: str = ""
    orthonormal_constraint: float = 0.0

    def _complete(self) -> None:
        if self.matrix:
            rows, columns = _files.matrix(self, self.matrix).shape
            object.__setattr__(self, "output_dim", rows)
            object.__setattr__(self, "input_dim", columns - len(self.leaves) + 1)
        positive(self, "input_dim", "output_dim")

    def init(self, key: Key) -> Params:
        """Weights of deviation ``param-stddev``, by default one over the root of ``input-dim``; biases of 1."""
        if self.matrix:
            m = _files.matrix(self, self.matrix)
            return {"linear_params": m[:, :-1], "bias_params": m[:, -1]}
        weights, biases = jax.random.split(key)
        stddev = self.input_dim**-0.5 if self.param_stddev is None else self.param_stddev
        return {
            "linear_params": normal(weights, stddev, self.output_dim, self.input_dim),
            "bias_params": normal(biases, self.bias_stddev, self.output_dim, mean=self.bias_mean),
        }

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """The dims of the matrix."""
        output_dim, input_dim = params[cls.leaves[0]].shape
        return {"input-dim": input_dim, "output-dim": output_dim}

    def weights(self, params: Params) -> tuple[Array, Array | None]:
        """Matrix and bias."""
        return params["linear_params"], params["bias_params"]

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A matrix product and a bias."""
        return xp.matmul(x, params["linear_params"].T) + params["bias_params"][None, :]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Two matrix products and a sum."""
        return dy @ params["linear_params"], {"linear_params": dy.T @ x, "bias_params": dy.sum(axis=0)}


@dataclass(frozen=True, kw_only=True)
class NaturalGradientAffine(Affine):
    """`Affine`; the natural gradient is left to the optimiser."""

    kind: ClassVar[str] = "NaturalGradientAffineComponent"
    tags: ClassVar[tuple[str, ...]] = (
        *("LinearParams", "BiasParams", "RankIn", "RankOut", "OrthonormalConstraint?"),
        *("UpdatePeriod", "NumSamplesHistory", "Alpha"),
    )


@dataclass(frozen=True, kw_only=True)
class FixedAffine(Affine):
    """`Affine` that training does not change."""

    kind: ClassVar[str] = "FixedAffineComponent"
    tags: ClassVar[tuple[str, ...]] = ("LinearParams", "BiasParams")

    @property
    def trained(self) -> tuple[str, ...]:
        """Nothing."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Linear(Affine):
    """``y = W x``."""

    kind: ClassVar[str] = "LinearComponent"
    leaves: ClassVar[tuple[str, ...]] = ("params",)
    tags: ClassVar[tuple[str, ...]] = (
        *("Params", "OrthonormalConstraint?", "UseNaturalGradient"),
        *("RankInOut", "Alpha", "NumSamplesHistory", "UpdatePeriod"),
    )

    def init(self, key: Key) -> Params:
        """Weights of deviation ``param-stddev``, by default one over the root of ``input-dim``."""
        if self.matrix:
            return {"params": _files.matrix(self, self.matrix)}
        stddev = self.input_dim**-0.5 if self.param_stddev is None else self.param_stddev
        return {"params": normal(key, stddev, self.output_dim, self.input_dim)}

    def weights(self, params: Params) -> tuple[Array, Array | None]:
        """The matrix."""
        return params["params"], None

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A matrix product."""
        return xp.matmul(x, params["params"].T)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Two matrix products."""
        return dy @ params["params"], {"params": dy.T @ x}


KINDS: tuple[type[Component], ...] = (Affine, NaturalGradientAffine, FixedAffine, Linear)
