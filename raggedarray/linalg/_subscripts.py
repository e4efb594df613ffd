"""Products by letters: which axis of each operand is which letter, and how long each letter is.

The letters of the levels above the components come first in every ragged operand, ``b`` in ``"bld,bmd->blm"``. A
plain array may begin with the first of them, and then has an entry for each row; without it is one for all.
"""

from typing import Any, NamedTuple

from .._array import RaggedArray
from .._errors import OP, error_text
from .._partition import RowPartition
from .._typing import Array
from ..backends import kernels
from ..engine.components.form import Form, form_of, form_of_entries, same_structure
from ..structure.agreement import agree_sizes
from ..structure.levels import ancestors


class Term(NamedTuple):
    """An operand of a product: components, or one plain array for all."""

    letters: str
    """Of the axes of a component, or of the array."""
    form: Form | None
    array: Array | None
    ragged: bool


class Product(NamedTuple):
    """What is to be computed."""

    terms: list[Term]
    out: str
    """Letters of the components of the result."""
    sizes: dict[str, int | None]
    """Of each letter; None is ragged."""
    dtype: Any
    rows: str
    """The letter of axis 0, which no component has: free to name what components lie along here."""

    @property
    def forms(self) -> list[Form]:
        """Operands that are components."""
        return [t.form for t in self.terms if t.form is not None]


def spelled(letters: str, operands: list[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the result."""
    terms, arrow, out = letters.replace(" ", "").partition("->")
    given = terms.split(",")
    if not arrow:
        every = "".join(given)
        out = "".join(sorted(c for c in set(every) if every.count(c) == 1))
    bad = sorted({c for c in "".join(given) + out if not (c.isascii() and c.isalpha())})
    if bad:
        raise ValueError(error_text("letters, commas and an arrow", repr(letters), "Name every axis by a letter."))
    if len(given) != len(operands):
        want, got = f"{len(given)} operands for {letters!r}", f"{len(operands)}"
        raise ValueError(error_text(want, got, "Pass one for each term."))
    for i, (term, x) in enumerate(zip(given, operands, strict=True)):
        if len(term) != x.ndim:
            want, got = f"{len(term)} axes for {term!r}", f"shape {tuple(x.shape)} as operand {i}"
            advice = (
                "Name every axis by a letter."
                if OP.get() == "einsum"
                else "Rows of rows become matrices by `ra.to_blocks`."
            )
            raise ValueError(error_text(want, got, advice))
    unknown = sorted(set(out) - set("".join(given)))
    if unknown or len(set(out)) < len(out):
        raise ValueError(error_text("a result of different letters of the operands", repr(out), "Check the letters."))
    return given, out


def product_of(given: list[str], out: str, operands: list[Any], dtype: Any) -> Product:
    """Check a product of which some operand is ragged; ``out`` are the letters of its components."""
    lead_term, lead_x = next((t, x) for t, x in zip(given, operands, strict=True) if isinstance(x, RaggedArray))
    lead = form_of(lead_x)
    depth = 1 + len(lead.above)
    prefix = lead_term[:depth]
    terms: list[Term] = []
    for i, (term, x) in enumerate(zip(given, operands, strict=True)):
        if isinstance(x, RaggedArray):
            form = lead if x is lead_x else form_of(x)
            if term[:depth] != prefix or set(prefix) & set(term[depth:]) or len(form.above) != len(lead.above):
                want = f"ragged operands that begin with {prefix!r}"
                raise ValueError(error_text(want, repr(term), "Rows meet rows of the same index."))
            terms.append(Term(term[depth:], form, None, True))
        elif term[:1] == prefix[:1] and not set(prefix) & set(term[1:]):
            if x.shape[0] != lead.nrows:
                want, got = f"{lead.nrows} entries along {prefix[0]!r}", f"{x.shape[0]} in operand {i}"
                raise ValueError(error_text(want, got, "Pass one entry for each row."))
            terms.append(Term(term[1:], form_of_entries(_by_component(x, lead), lead), None, False))
        elif set(prefix) & set(term):
            want = f"a plain operand that begins with {prefix[0]!r}, or is without {prefix!r}"
            raise ValueError(error_text(want, repr(term), "Move that axis to the front."))
        else:
            terms.append(Term(term, None, x, False))
    same_structure([t.form for t in terms if t.form is not None])
    return Product(terms, out, _letter_sizes(terms), dtype, prefix[0])


def _by_component(x: Array, lead: Form) -> Array:
    if not lead.above:
        return x
    k = kernels(x)
    return k.call(_spread, x, lead.above, lead.block.sizes)


def _spread(x: Array, above: Any, sizes: Array) -> Array:
    return kernels(x).pick(x, ancestors(above, 0, sizes.shape[0], sizes))


def _letter_sizes(terms: list[Term]) -> dict[str, int | None]:
    uniform: dict[str, int] = {}
    for term in terms:
        axes = term.form.axes if term.form is not None else tuple(term.array.shape)  # type: ignore[union-attr]
        for letter, n in zip(term.letters, axes, strict=True):
            if n is not None and uniform.setdefault(letter, n) != n:
                want, got = "equal sizes where axes meet", f"{uniform[letter]} and {n}"
                raise ValueError(error_text(want, got, "Check the shapes."))
    found: dict[str, int | None] = {}
    first: dict[str, tuple[Any, Form]] = {}
    for term in terms:
        if term.form is None:
            found |= {letter: uniform[letter] for letter in term.letters}
            continue
        for letter, size in zip(term.letters, term.form.sizes, strict=True):
            found[letter] = uniform.get(letter)
            if isinstance(size, int):
                continue
            if letter in uniform:
                same_sizes(size, uniform[letter])
            elif letter not in first:
                first[letter] = (size, term.form)
            elif not _same_origin(first[letter][1], term.form) or first[letter][1] is term.form:
                same_sizes(first[letter][0], size)
    return found


def _same_origin(a: Form, b: Form) -> bool:
    p, q = a.origin, b.origin
    return isinstance(p, RowPartition) and isinstance(q, RowPartition) and p.splits is q.splits


def same_sizes(a: Any, b: Any) -> None:
    """Raise unless components agree along an axis; traced sizes are compared under `checks`."""
    agree_sizes(a, b, "equal sizes where axes meet", "in component {row}", "Check the shapes.")
