"""NumPy kernels of layers: bags of table entries without a copy of every entry."""

import numpy as np
import scipy.sparse

from ..._typing import Array
from .._identity import identity
from .._protocol import Reduction


def bag(how: Reduction, table: Array, ids: Array, weights: Array | None, splits: Array, /) -> Array:
    """Sums are one product with a sparse matrix; the others go through the rows, or through places within them."""
    wide = np.dtype("float32")
    table = table.astype(wide) if table.dtype.itemsize < 4 and table.dtype.kind not in "iub" else table
    num = len(splits) - 1
    if how == "sum":
        if weights is not None and weights.dtype.itemsize < 4:
            weights = weights.astype(wide)
        weights = np.ones(len(ids), dtype=table.dtype) if weights is None else weights
        product = scipy.sparse.csr_array((weights, ids.astype(splits.dtype), splits), shape=(num, len(table))) @ table
        return np.asarray(product)
    out = np.full((num, table.shape[1]), identity(how, table.dtype, np), dtype=table.dtype)
    lengths = np.diff(splits)
    order = np.argsort(-lengths, kind="stable")
    if int(lengths.max(initial=0)) * 4 > num:
        for i in np.flatnonzero(lengths):
            np.max(table.take(ids[splits[i] : splits[i + 1]], axis=0), axis=0, out=out[i])
        return out
    for t in range(int(lengths.max(initial=0))):
        longer = order[: np.count_nonzero(lengths > t)]
        out[longer] = np.maximum(out[longer], table.take(ids[splits[longer] + t], axis=0))
    return out
