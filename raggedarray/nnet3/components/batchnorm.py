"""Batch normalisation: by the rows at hand in training, by gathered statistics in test mode."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ..._typing import Array, Namespace
from .._typing import Floats
from ._base import Component, Key, Params, RowContext, Rowwise, divides, positive


@dataclass(frozen=True, kw_only=True)
class BatchNorm(Rowwise):
    """Columns brought to mean 0 and root mean square ``target-rms``; with ``block-dim``, all blocks alike.

    In training the mean and the biased variance are those of all rows of the step. `statistics` adds them to the
    numbers, which are not trained: ``count``, ``stats_mean``, ``stats_var``. In test mode those are used.
    """

    kind: ClassVar[str] = "BatchNormComponent"
    leaves: ClassVar[tuple[str, ...]] = ("count", "stats_mean", "stats_var")
    tags: ClassVar[tuple[str, ...]] = (
        *("Dim", "BlockDim", "Epsilon", "TargetRms", "TestMode"),
        *("Count", "StatsMean", "StatsVar"),
    )
    block_dim: int = 0
    epsilon: float = 1e-3
    target_rms: float = 1.0
    test_mode: bool = False

    def _complete(self) -> None:
        super()._complete()
        object.__setattr__(self, "block_dim", self.block_dim or self.dim)
        positive(self, "block_dim")
        divides(self, "block_dim", "dim")
        if not (self.epsilon > 0 and self.target_rms > 0):
            got = f"{self.epsilon}, {self.target_rms}"
            raise self.error("epsilon and target-rms above 0", got, "Change them.")

    def init(self, key: Key) -> Params:
        """No statistics: a count of 0."""
        zeros = jnp.zeros(self.block_dim, jnp.float32)
        return {"count": jnp.zeros((), jnp.float32), "stats_mean": zeros, "stats_var": zeros}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """``(x - mean) target-rms / sqrt(variance + epsilon)``."""
        rows = xp.reshape(x, (-1, self.block_dim))
        mean, var = self._stored(xp, params) if self.test_mode else self._moments(xp, rows, facts.valid)[1:]
        y = (rows - mean[None, :]) * (self.target_rms * (var + self.epsilon) ** -0.5)[None, :]
        return xp.reshape(y, x.shape)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Through mean and variance in training."""
        shape, rows, dy = x.shape, x.reshape(-1, self.block_dim), dy.reshape(-1, self.block_dim)
        if self.test_mode:
            _, var = self._stored(np, params)
            return (dy * (self.target_rms * (var + self.epsilon) ** -0.5)).reshape(shape), {}
        _, mean, var = self._moments(np, rows, None)
        scale = self.target_rms * (var + self.epsilon) ** -0.5
        n = max(rows.shape[0], 1)
        centred = rows - mean
        along = (dy * centred).sum(axis=0) / (n * (var + self.epsilon))
        return (scale * (dy - dy.sum(axis=0) / n - centred * along)).reshape(shape), {}

    @property
    def gathers(self) -> bool:
        """In training."""
        return not self.test_mode

    def statistics(self, params: Params, x: Array, facts: RowContext) -> Params:
        """The numbers after these rows: those of all rows ever seen, as if in one batch."""
        rows = jax.lax.stop_gradient(jnp.reshape(x, (-1, self.block_dim)))
        count, mean, var = self._moments(jnp, rows, facts.valid)
        before = params.get("count", jnp.zeros((), jnp.float32))
        total = before + count
        share = jnp.where(total > 0, count / jnp.where(total > 0, total, 1), 0)
        off = mean - params["stats_mean"]
        return {
            "count": total,
            "stats_mean": params["stats_mean"] + share * off,
            "stats_var": (1 - share) * params["stats_var"] + share * var + share * (1 - share) * off * off,
        }

    def check_statistics(self, params: Params) -> None:
        """Refuse test mode without statistics, where the count can be read."""
        count = params.get("count")
        if self.test_mode and count is not None and not isinstance(count, jax.core.Tracer) and not float(count) > 0:
            raise self.error(
                "statistics for test mode", f"count {float(count):g}", "Gather them with `apply(..., statistics=True)`."
            )

    def _stored(self, xp: Namespace, params: Params) -> tuple[Array, Array]:
        # A traced count cannot be refused, so that numbers without statistics give NaN.
        count = params.get("count", 1.0)
        return params["stats_mean"], xp.where(xp.asarray(count) > 0, params["stats_var"], xp.nan)

    def _moments(self, xp: Namespace, rows: Array, valid: Array | None) -> tuple[Array, Array, Array]:
        if valid is None:
            count = xp.asarray(max(rows.shape[0], 1), dtype=rows.dtype)
            mean = xp.sum(rows, axis=0) / count
            var = xp.sum((rows - mean[None, :]) ** 2, axis=0) / count
            return xp.asarray(rows.shape[0], dtype=rows.dtype), mean, var
        mask = xp.repeat(valid, self.dim // self.block_dim)[:, None]
        in_use = xp.sum(mask, dtype=rows.dtype)
        count = xp.maximum(in_use, 1)
        mean = xp.sum(xp.where(mask, rows, 0), axis=0) / count
        return in_use, mean, xp.sum(xp.where(mask, rows - mean[None, :], 0) ** 2, axis=0) / count


KINDS: tuple[type[Component], ...] = (BatchNorm,)
