"""Products by letters, of ragged and plain operands: what `einsum` and every matrix product call."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from ..backends import namespace
from ..engine.broadcast.rows import to_common_backend
from ..ops.reduction.reduction import sum as sum_
from ._strategies import compute
from ._subscripts import product_of, spelled


def product(letters: str, operands: Any, bucket: Any = None, capacity: int | None = None) -> Any:
    """`raggedarray.einsum`, also under the name of another function."""
    if not operands:
        raise TypeError(error_text("an operand", "none", "Pass arrays after the letters."))
    k, moved = to_common_backend(operands)
    terms, out = spelled(letters, moved)
    arrays = [x.values if isinstance(x, RaggedArray) else x for x in moved]
    dtype = namespace(arrays[0]).result_type(*arrays)
    lead = next((t for t, x in zip(terms, moved, strict=True) if isinstance(x, RaggedArray)), None)
    if lead is None:
        xp = namespace(arrays[0])
        return xp.astype(k.einsum(f"{','.join(terms)}->{out}", *arrays), dtype, copy=False)
    x = next(x for x in moved if isinstance(x, RaggedArray))
    prefix = lead[: len(x.partitions)]
    gone = not set(prefix) & set(out)
    if not gone and not out.startswith(prefix):
        want = f"a result that begins with {prefix!r}, or is without it"
        raise ValueError(error_text(want, repr(out), "Rows stay where they are."))
    result = compute(product_of(terms, out if gone else out[len(prefix) :], moved, dtype), bucket, capacity)
    if not gone:
        return result
    summed = sum_(result, axis=tuple(range(len(prefix))))
    if isinstance(summed, RaggedArray):
        return RaggedArray(summed.xp.astype(summed.values, dtype, copy=False), summed.partitions)
    return namespace(summed).astype(summed, dtype, copy=False)
