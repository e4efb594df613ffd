"""Comparing a function of ragged arrays with the same function of one component at a time."""

from collections.abc import Callable
from typing import Any

from .._array import RaggedArray
from ..ops.array.components import unbind
from ..ops.array.conversion import asarray


def assert_matches(
    f: Callable[..., Any], per_component: Callable[..., Any], *xs: RaggedArray, rtol: float = 1e-5, atol: float = 1e-6
) -> None:
    """Assert that ``f`` of arrays of one ragged axis is ``per_component`` of every row, a NumPy array.

    A ragged result must have the rows that ``per_component`` gives, a plain one their stack.

    >>> from raggedarray.testing import assert_matches
    >>> assert_matches(lambda x: sum(x, axis=1), lambda row: row.sum(axis=0), ragged([[1.0, 2.0], []]))
    """
    import numpy as np

    rows = zip(*(unbind(asarray(x, xp="numpy")) for x in xs), strict=True)
    want = [np.asarray(per_component(*components)) for components in rows]
    got = f(*xs)
    got_rows = unbind(asarray(got, xp="numpy")) if isinstance(got, RaggedArray) else np.asarray(got)
    if len(got_rows) != len(want):
        raise AssertionError(f"assert_matches: expected {len(want)} rows, got {len(got_rows)}.")
    for i, (a, b) in enumerate(zip(got_rows, want, strict=True)):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=f"row {i}")
