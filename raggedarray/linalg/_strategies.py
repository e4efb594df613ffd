"""A product of ragged operands: the first of three ways that applies to it, from the cheapest to the most general."""

from collections.abc import Sequence
from typing import Any, Protocol

from .._array import RaggedArray
from ..ops.reduction.reduction import sum as sum_
from ._bucketed import Bucketed
from ._contraction import Axes, Contraction, cast, contraction_of
from ._flat import Flat
from ._per_element import PerElement


class Strategy(Protocol):
    """A way to compute a product."""

    def applies(self, c: Contraction, /) -> bool:
        """Whether this product can be computed in this way, and should be."""

    def run(self, c: Contraction, /) -> Any:
        """The product, in its dtype."""


def contract(
    axes: Sequence[Axes],
    out: Axes,
    arrays: Sequence[Any],
    *,
    bucket: Any = None,
    capacity: int | None = None,
    row_axis: str = "axis 0",
) -> Any:
    """Sum of products of arrays of one library, some of them ragged, whose ``axes`` are ids.

    ``out`` begins with the axes of the levels above the components, or has none of them: these are summed then.
    """
    levels = next(own[: len(x.partitions)] for own, x in zip(axes, arrays, strict=True) if isinstance(x, RaggedArray))
    summed = out[:1] != levels[:1]
    c = contraction_of(
        axes, out if summed else out[len(levels) :], arrays, bucket=bucket, capacity=capacity, row_axis=row_axis
    )
    strategies: tuple[Strategy, ...] = (Flat, PerElement, Bucketed)
    result = next(s for s in strategies if s.applies(c)).run(c)
    if not summed:
        return result
    total = sum_(result, axis=tuple(range(len(levels))))
    if isinstance(total, RaggedArray):
        return RaggedArray(cast(total.values, c.dtype), total.partitions)
    return cast(total, c.dtype)
