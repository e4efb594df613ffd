"""Hypothesis strategies for ragged arrays. Needs `hypothesis`, so it is imported by name:

``from raggedarray.testing import strategies``.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from .._array import RaggedArray
from ..engine.resizing import with_capacity
from ..ops.creation.creation import from_nested_row_lengths
from ._poison import poison

__all__ = ["nested_row_lengths", "ragged_arrays"]


@st.composite
def nested_row_lengths(
    draw: st.DrawFn, *, ragged_rank: int = 1, max_rows: int = 5, max_length: int = 4
) -> tuple[list[int], ...]:
    """Row lengths of ``ragged_rank`` levels, outermost first: no rows, empty rows and one row are drawn often."""
    count = draw(st.integers(0, max_rows))
    levels = []
    for _ in range(ragged_rank):
        lengths = draw(st.lists(st.integers(0, max_length), min_size=count, max_size=count))
        levels.append(lengths)
        count = sum(lengths)
    return tuple(levels)


@st.composite
def ragged_arrays(
    draw: st.DrawFn,
    *,
    dtype: Any = "float32",
    ragged_rank: int = 1,
    inner_shape: tuple[int, ...] = (),
    elements: st.SearchStrategy[Any] | None = None,
    max_rows: int = 5,
    max_length: int = 4,
    max_slack: int = 3,
) -> RaggedArray:
    """NumPy-backed RaggedArrays of any layout, with up to ``max_slack`` slots of poisoned slack."""
    lengths = draw(nested_row_lengths(ragged_rank=ragged_rank, max_rows=max_rows, max_length=max_length))
    total = sum(lengths[-1])
    values = draw(hnp.arrays(np.dtype(dtype), (total, *inner_shape), elements=elements))
    x = from_nested_row_lengths(values, [np.asarray(n, dtype=np.int32) for n in lengths])
    slack = draw(st.integers(0, max_slack))
    return poison(with_capacity(x, total + slack)) if slack else x
