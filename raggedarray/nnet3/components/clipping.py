"""The identity forward, a smaller gradient backward."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._typing import Array, Namespace
from .._typing import Floats, Ints
from ._base import Component, Pairs, Params, RowContext, Rowwise, gradient_by


def _norm(xp: Namespace, dy: Array) -> Array:
    return xp.sqrt(xp.sum(dy * dy, axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class BackpropTruncation(Rowwise):
    """``scale x``; long gradients are shrunk, and those that cross a boundary in time are cut."""

    kind: ClassVar[str] = "BackpropTruncationComponent"
    tags: ClassVar[tuple[str, ...]] = (
        *("Dim", "Scale", "ClippingThreshold", "ZeroingThreshold", "ZeroingInterval", "RecurrenceInterval"),
        *("NumElementsClipped", "NumElementsZeroed", "NumElementsProcessed", "NumZeroingBoundaries"),
    )
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    in_place: ClassVar[bool] = True
    scale: float = 1.0
    clipping_threshold: float = 30.0
    zeroing_threshold: float = 15.0
    zeroing_interval: int = 20
    recurrence_interval: int = 1

    def _complete(self) -> None:
        super()._complete()
        if self.zeroing_interval < 1 or self.recurrence_interval < 1:
            got = f"{self.zeroing_interval}, {self.recurrence_interval}"
            raise self.error("zeroing-interval and recurrence-interval of at least 1", got, "Change them.")

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """Which rows cross a multiple of the zeroing interval, counted from n."""
        t = index[:, 1].astype(np.int64) - index[:, 0]
        interval = self.zeroing_interval
        return RowContext(mark=(t // interval != (t - self.recurrence_interval) // interval).astype(np.int32))

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A scale."""
        y = gradient_by(xp, self._rule, x, facts.mark)
        return y if self.scale == 1.0 else y * self.scale

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Scaled, then cut or shrunk."""
        return self._rule(np, dy * self.scale, facts.mark), {}

    def _rule(self, xp: Namespace, dy: Array, mark: Array | None) -> Array:
        assert mark is not None
        norm = _norm(xp, dy)
        if self.clipping_threshold > 0:
            long = norm > self.clipping_threshold
            dy = dy * xp.where(long, self.clipping_threshold / xp.where(long, norm, 1), 1)
        if self.zeroing_threshold > 0:
            dy = xp.where((mark[:, None] > 0) & (norm > self.zeroing_threshold), xp.zeros_like(dy), dy)
        return dy


@dataclass(frozen=True, kw_only=True)
class ClipGradient(Rowwise):
    """``x``; each element of the gradient is clipped, or each of its rows shrunk to ``clipping-threshold``."""

    kind: ClassVar[str] = "ClipGradientComponent"
    ignored: ClassVar[frozenset[str]] = frozenset(
        {"self-repair-clipped-proportion-threshold", "self-repair-target", "self-repair-scale"}
    )
    tags: ClassVar[tuple[str, ...]] = (
        *("Dim", "ClippingThreshold", "NormBasedClipping"),
        *("SelfRepairClippedProportionThreshold", "SelfRepairTarget", "SelfRepairScale"),
        *("NumElementsClipped", "NumElementsProcessed", "NumSelfRepaired", "NumBackpropped"),
    )
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    in_place: ClassVar[bool] = True
    clipping_threshold: float = 15.0
    norm_based_clipping: bool = False

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """The identity."""
        return gradient_by(xp, self._rule, x)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Clipped."""
        return self._rule(np, dy, None), {}

    def _rule(self, xp: Namespace, dy: Array, mark: Array | None) -> Array:
        limit = self.clipping_threshold
        if limit <= 0:
            return dy
        if not self.norm_based_clipping:
            return xp.clip(dy, -limit, limit)
        norm = _norm(xp, dy)
        return dy * xp.where(norm > limit, limit / xp.where(norm > limit, norm, 1), 1)


KINDS: tuple[type[Component], ...] = (BackpropTruncation, ClipGradient)
