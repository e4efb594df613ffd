"""Sums of products whose axes are named by letters. Letters end here: what computes products knows ids of axes."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from ..backends import generic, implementation, namespace
from ..engine.broadcast.rows import to_common_backend
from ._contraction import Axes, cast
from ._strategies import contract

__all__ = ["einsum"]


def einsum(subscripts: str, /, *operands: Any, bucket: Any = None, capacity: int | None = None) -> Any:
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
    if not operands:
        raise TypeError(error_text("an operand", "none", "Pass arrays after the letters."))
    k, arrays = to_common_backend(operands)
    terms, out = parse_subscripts(subscripts, arrays)
    if not any(isinstance(x, RaggedArray) for x in arrays):
        dtype = namespace(arrays[0]).result_type(*arrays)
        return cast(implementation(k, generic.einsum)(f"{','.join(terms)}->{out}", *arrays), dtype)
    row_letter = check_rows(terms, out, arrays)
    ids = {letter: i for i, letter in enumerate(dict.fromkeys("".join(terms)))}
    axes: list[Axes] = [tuple(ids[letter] for letter in term) for term in terms]
    kept = tuple(ids[letter] for letter in out)
    return contract(axes, kept, arrays, bucket=bucket, capacity=capacity, row_axis=repr(row_letter))


def parse_subscripts(subscripts: str, arrays: list[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the result."""
    left, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow:
        every = "".join(terms)
        out = "".join(sorted(c for c in set(every) if every.count(c) == 1))
    bad = sorted({c for c in "".join(terms) + out if not (c.isascii() and c.isalpha())})
    if bad:
        raise ValueError(error_text("letters, commas and an arrow", repr(subscripts), "Name every axis by a letter."))
    if len(terms) != len(arrays):
        want, got = f"{len(terms)} operands for {subscripts!r}", f"{len(arrays)}"
        raise ValueError(error_text(want, got, "Pass one for each term."))
    for i, (term, x) in enumerate(zip(terms, arrays, strict=True)):
        if len(term) != x.ndim:
            want, got = f"{len(term)} axes for {term!r}", f"shape {tuple(x.shape)} as operand {i}"
            raise ValueError(error_text(want, got, "Name every axis by a letter."))
    unknown = sorted(set(out) - set("".join(terms)))
    if unknown or len(set(out)) < len(out):
        raise ValueError(error_text("a result of different letters of the operands", repr(out), "Check the letters."))
    return terms, out


def check_rows(terms: list[str], out: str, arrays: list[Any]) -> str:
    """Raise unless the letters of the levels above the components come first everywhere; the first of them."""
    lead, depth = next((t, len(x.partitions)) for t, x in zip(terms, arrays, strict=True) if isinstance(x, RaggedArray))
    rows = lead[:depth]
    if set(rows) & set(out) and not out.startswith(rows):
        want = f"a result that begins with {rows!r}, or is without it"
        raise ValueError(error_text(want, repr(out), "Rows stay where they are."))
    for term, x in zip(terms, arrays, strict=True):
        if isinstance(x, RaggedArray):
            if term[:depth] != rows or set(rows) & set(term[depth:]) or len(x.partitions) != depth:
                want = f"ragged operands that begin with {rows!r}"
                raise ValueError(error_text(want, repr(term), "Rows meet rows of the same index."))
        elif set(rows) & set(term.removeprefix(rows[0])):
            want = f"a plain operand that begins with {rows[0]!r}, or is without {rows!r}"
            raise ValueError(error_text(want, repr(term), "Move that axis to the front."))
    return rows[0]
