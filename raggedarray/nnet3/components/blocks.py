"""Sums, products, norms and orders of the columns of a row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._typing import Array, Namespace
from .._reads import Blocks, Reads
from .._typing import Floats, Ints
from ._base import REQUIRED, Component, Pairs, Params, RowContext, divides, pick, positive, scatter_add


@dataclass(frozen=True, kw_only=True)
class Narrowing(Component):
    """A component with several input columns per output column."""

    tags: ClassVar[tuple[str, ...]] = ("InputDim", "OutputDim")
    input_dim: int = REQUIRED
    output_dim: int = REQUIRED

    def _complete(self) -> None:
        positive(self, "output_dim", "input_dim")
        divides(self, "output_dim", "input_dim")

    @property
    def count(self) -> int:
        """Input columns per output column."""
        return self.input_dim // self.output_dim


@dataclass(frozen=True, kw_only=True)
class ElementwiseProduct(Narrowing):
    """The product of the blocks of ``output-dim`` columns."""

    kind: ClassVar[str] = "ElementwiseProductComponent"

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Block times block."""
        parts = xp.reshape(x, (-1, self.count, self.output_dim))
        y = parts[:, 0]
        for k in range(1, self.count):
            y = y * parts[:, k]
        return y

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The product of the other blocks, so that a 0 does no harm."""
        parts = x.reshape(-1, self.count, self.output_dim)
        others = [np.prod(np.delete(parts, k, axis=1), axis=1) for k in range(self.count)]
        return np.stack([dy * p for p in others], axis=1).reshape(x.shape), {}


@dataclass(frozen=True, kw_only=True)
class SumBlock(Narrowing):
    """``scale`` times the sum of the blocks of ``output-dim`` columns."""

    kind: ClassVar[str] = "SumBlockComponent"
    tags: ClassVar[tuple[str, ...]] = ("InputDim", "OutputDim", "Scale")
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    scale: float = 1.0

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """A sum over blocks."""
        return self.scale * xp.sum(xp.reshape(x, (-1, self.count, self.output_dim)), axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The same for every block."""
        return np.tile(self.scale * dy, (1, self.count)), {}


@dataclass(frozen=True, kw_only=True)
class Pnorm(Narrowing):
    """The 2-norm of consecutive columns."""

    kind: ClassVar[str] = "PnormComponent"
    backprop_needs: ClassVar[frozenset[str]] = frozenset({"input", "output"})

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """The root of the sum of squares; its derivative at 0 is 0."""
        square = xp.sum(xp.reshape(x, (-1, self.output_dim, self.count)) ** 2, axis=2)
        return xp.where(square > 0, xp.sqrt(xp.where(square > 0, square, 1)), 0)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """``x / y``."""
        ratio = np.where(y > 0, dy / np.where(y > 0, y, 1), 0)
        return x * np.repeat(ratio, self.count, axis=1), {}


@dataclass(frozen=True, kw_only=True)
class SumGroup(Component):
    """Sums of consecutive columns, ``sizes`` of them each, or equally many."""

    kind: ClassVar[str] = "SumGroupComponent"
    tags: ClassVar[tuple[str, ...]] = ("Sizes",)
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    sizes: tuple[int, ...] = ()
    input_dim: int = 0
    output_dim: int = 0

    def _complete(self) -> None:
        if not self.sizes:
            positive(self, "output_dim", "input_dim")
            divides(self, "output_dim", "input_dim")
            object.__setattr__(self, "sizes", (self.input_dim // self.output_dim,) * self.output_dim)
        if min(self.sizes) < 1:
            raise self.error("sizes of at least 1", list(self.sizes), "Leave out empty groups.")
        object.__setattr__(self, "input_dim", sum(self.sizes))
        object.__setattr__(self, "output_dim", len(self.sizes))

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Group by group."""
        ends = np.cumsum(self.sizes)
        sums = [xp.sum(x[:, end - size : end], axis=1) for end, size in zip(ends, self.sizes, strict=True)]
        return xp.stack(sums, axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The same for each column of a group."""
        return np.repeat(dy, self.sizes, axis=1), {}


@dataclass(frozen=True, kw_only=True)
class Permute(Component):
    """``y[i] = x[column_map[i]]``."""

    kind: ClassVar[str] = "PermuteComponent"
    tags: ClassVar[tuple[str, ...]] = ("ColumnMap",)
    backprop_needs: ClassVar[frozenset[str]] = frozenset()
    column_map: tuple[int, ...] = REQUIRED

    def _complete(self) -> None:
        if sorted(self.column_map) != list(range(len(self.column_map))):
            every = f"each column from 0 to {len(self.column_map) - 1} once in column-map"
            raise self.error(every, list(self.column_map), "Change the map.")

    @property
    def input_dim(self) -> int:
        """Columns."""
        return len(self.column_map)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Columns by number."""
        return xp.take(x, np.asarray(self.column_map), axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """The inverse order."""
        return dy[:, np.argsort(self.column_map)], {}


@dataclass(frozen=True, kw_only=True)
class Distribute(Narrowing):
    """The row at x is block ``x mod k`` of the input row at ``floor(x / k)``."""

    kind: ClassVar[str] = "DistributeComponent"
    backprop_needs: ClassVar[frozenset[str]] = frozenset()

    @property
    def reads(self) -> Reads:
        """The row that holds the block."""
        return Blocks(self.count)

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """The block of each row."""
        return RowContext(sources, mark=(index[:, 2] % self.count).astype(np.int32))

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Rows, then blocks, by number."""
        parts = xp.reshape(x, (-1, self.output_dim))
        return pick(xp, parts, self._blocks(xp, facts, x.shape[0]))

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Blocks put back."""
        dx = scatter_add(dy, self._blocks(np, facts, x.shape[0]), x.shape[0] * self.count)
        return dx.reshape(x.shape), {}

    def _blocks(self, xp: Namespace, facts: RowContext, rows: int) -> Array:
        source = facts.sources[0]
        present = (source >= 0) & (source < rows)
        return xp.where(present, xp.where(present, source, 0) * self.count + facts.mark, rows * self.count)


KINDS: tuple[type[Component], ...] = (ElementwiseProduct, SumBlock, Pnorm, SumGroup, Permute, Distribute)
