"""Reductions on NumPy, against ``np.add.reduceat`` and Awkward."""

import numpy as np

import raggedarray as ra

from ._timing import seconds


def splits_for(slots: int, nrows: int) -> np.ndarray:
    cuts = np.sort(np.random.default_rng(0).integers(0, slots, nrows - 1))
    return np.concatenate(([0], cuts, [slots])).astype(np.int32)


def rows() -> list[tuple[str, str, float, float, float]]:
    """Case, peer, milliseconds of ours and the peer's, and the ratio."""
    import awkward as ak

    out = []
    for nrows in (70_000, 700):
        splits = splits_for(700_000, nrows)
        rng = np.random.default_rng(1)
        flat = rng.standard_normal(700_000).astype(np.float32)
        wide = rng.standard_normal((700_000, 64)).astype(np.float32)
        x, y = ra.from_row_splits(flat, splits), ra.from_row_splits(wide, splits)
        offsets = ak.index.Index64(splits.astype(np.int64))
        a = ak.Array(ak.contents.ListOffsetArray(offsets, ak.contents.NumpyArray(flat)))
        b = ak.Array(ak.contents.ListOffsetArray(offsets, ak.contents.NumpyArray(wide)))
        order = rng.permutation(nrows)
        full = splits[:-1][splits[1:] > splits[:-1]]
        cases = (
            (
                "sum of scalars",
                "np.add.reduceat",
                lambda x=x: ra.sum(x, axis=1),
                lambda v=flat, s=full: np.add.reduceat(v, s),
            ),
            ("sum of scalars", "ak.sum", lambda x=x: ra.sum(x, axis=1), lambda a=a: ak.sum(a, axis=1)),
            ("sum of [700k, 64]", "ak.sum", lambda y=y: ra.sum(y, axis=1), lambda b=b: ak.sum(b, axis=1)),
            ("max of [700k, 64]", "ak.max", lambda y=y: ra.max(y, axis=1), lambda b=b: ak.max(b, axis=1)),
            ("x[rows], scalars", "ak.to_packed", lambda x=x, r=order: x[r], lambda a=a, r=order: ak.to_packed(a[r])),
            ("softmax of scalars", "ak.softmax", lambda x=x: ra.nn.softmax(x), lambda a=a: ak.softmax(a, axis=1)),
        )
        for name, peer, f, g in cases:
            s, t = seconds(f, g, rounds=9 if "64" in name else 31)
            out.append((f"{name}, {nrows} rows", peer, s * 1e3, t * 1e3, s / t))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
