"""Sums of products by letters, on ragged and plain operands."""

from typing import Any

from ._by_subscripts import product

__all__ = ["einsum"]


def einsum(letters: str, /, *operands: Any, bucket: Any = None, capacity: int | None = None) -> Any:
    """Sum of products, an axis by a letter: ``"bld,bmd->blm"`` multiplies the rows of two arrays, row by row.

    A letter whose axis is ragged in an operand is ragged in the result. Ragged operands begin with the same letters,
    those of the rows (and of the levels above the innermost components); a plain operand that begins with the first of
    them has an entry for each row, any other is the same for all. Axes that meet must have equal sizes. The dtype is
    that of the operands after promotion; halves are summed in float32. Every operand may be a strided view.

    Where all ragged letters keep their place the product is one of the flat values, and the result has the
    operand's capacity. Other products take components of like shapes together: under jit they need ``bucket``, a
    `BucketPlan` made of the same operands, or ``capacity``, the elements of the result.

    >>> x, y = ragged([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], item_shape=(None, 2)), np.ones((2, 3))
    >>> einsum("bld,de->ble", x, y).shape
    (2, None, 3)
    >>> einsum("bld,bmd->blm", x, x).tolist()
    [[[5.0]], [[25.0, 39.0], [39.0, 61.0]]]
    """
    return product(letters, operands, bucket, capacity)
