"""Why shapes do not broadcast, and what to write instead: the errors of broadcasting, from shapes alone."""

from itertools import combinations
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text

Sizes = tuple[int | None, ...]


def mismatch(x: Any, y: Any, advice: str = "") -> ValueError:
    """The error for two operands that do not fit; ``advice`` is given where shapes alone do not tell why."""
    big, small = (x, y) if len(x.shape) >= len(y.shape) else (y, x)
    want, got = tuple(big.shape), tuple(small.shape)
    ragged = isinstance(big, RaggedArray) and isinstance(small, RaggedArray)
    if ragged and len(want) == len(got) and 1 not in (want[0], got[0]) and want[0] != got[0]:
        counts = f"{x.shape[0]} and {y.shape[0]}"
        rows = "Take the same rows of both, or add empty ones with `ra.with_rows`."
        return ValueError(error_text("operands of equal row counts", counts, rows))
    advice = _lacking(want, got) or advice or _meeting(want, got, ragged)
    return ValueError(error_text(f"shapes that broadcast with {want}", str(got), advice))


def _lacking(want: Sizes, got: Sizes) -> str:
    """What to write where the first axes agree, and axes of size 1 are all that the smaller operand lacks."""
    if not got or len(got) >= len(want):
        return ""
    for rest in combinations(range(1, len(want)), len(got) - 1):
        places = dict(zip((0, *rest), got, strict=True))
        if all(want[i] == n or (n == 1 and i) for i, n in places.items()):
            behind = len(got) > 1 and rest == tuple(range(1, len(got)))
            key = ", ".join(":" if i in places else "None" for i in range(len(want)))
            key = f"...{', None' * (len(want) - len(got))}" if behind else key
            return f"Write `b[{key}]`, of shape {tuple(places.get(i, 1) for i in range(len(want)))}."
    return ""


def _meeting(want: Sizes, got: Sizes, ragged: bool) -> str:
    """What to say of the first two axes that meet and do not fit."""
    n = len(got)
    met = [pair for pair in zip(want[len(want) - n :], got, strict=True) if 1 not in pair and pair[0] != pair[1]]
    if met and None not in met[0]:
        return f"Axes of {met[0][0]} and {met[0][1]} meet: make them equal, or one of them 1."
    if ragged:
        return "A ragged axis meets a uniform one: use `ra.to_padded` on it."
    return "A dense axis may meet a ragged one only with size 1."
