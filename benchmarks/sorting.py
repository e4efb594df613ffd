"""Sorting and scanning rows: on NumPy against Awkward, under jit against a loop over rows."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import numpy as np

import raggedarray as ra

from ._timing import seconds

NROWS = 1_000_000
LOOPED = 20_000
"""Rows that the loop is timed on; it takes its time row by row, so that the rest is a multiple."""


def lengths_for(kind: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.full(NROWS, 10) if kind == "all of 10" else rng.poisson(10, NROWS)


def loop(f: Callable[[np.ndarray], np.ndarray], values: np.ndarray, splits: np.ndarray) -> np.ndarray:
    """What a user without ragged arrays writes."""
    ends = splits.tolist()
    return np.concatenate([f(values[a:b]) for a, b in pairwise(ends)])


def rows() -> list[tuple[str, str, float, float, float]]:
    """Case, peer, milliseconds of ours and the peer's, and the ratio."""
    import awkward as ak

    out = []
    for kind in ("all of 10", "10 on average"):
        lengths = lengths_for(kind)
        splits = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        flat = np.random.default_rng(1).standard_normal(splits[-1]).astype(np.float32)
        x = ra.from_row_splits(flat, splits)
        offsets = ak.index.Index64(splits.astype(np.int64))
        a = ak.Array(ak.contents.ListOffsetArray(offsets, ak.contents.NumpyArray(flat)))
        s, t = seconds(lambda x=x: ra.sort(x), lambda a=a: ak.sort(a, axis=1), rounds=9)
        out.append((f"sort, {NROWS} rows, {kind}", "ak.sort", s * 1e3, t * 1e3, s / t))

        few = splits[: LOOPED + 1]
        part, times = flat[: few[-1]], NROWS / LOOPED
        y, longest = x.to("jax"), int(lengths.max())
        cases: tuple[tuple[str, Any, Any, Any], ...] = (
            ("sort", np.sort, partial(ra.sort, max_length=longest), ra.sort),
            (
                "cumulative_sum",
                np.cumsum,
                partial(ra.cumulative_sum, axis=1, max_length=longest),
                partial(ra.cumulative_sum, axis=1),
            ),
        )
        for name, numpy, limited, free in cases:
            f, g = jax.jit(limited), jax.jit(free)
            s, u, t = seconds(
                lambda f=f, y=y: f(y).values,
                lambda g=g, y=y: g(y).values,
                lambda h=numpy, v=part, p=few: loop(h, v, p),
                rounds=3,
            )
            t *= times
            peer = f"np.{numpy.__name__} of each row"
            out.append((f"{name}, jit, max_length={longest}, {kind}", peer, s * 1e3, t * 1e3, s / t))
            out.append((f"{name}, jit, {kind}", peer, u * 1e3, t * 1e3, u / t))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
