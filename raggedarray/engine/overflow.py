"""What happens when data does not fit a static size: an error, or, where nothing can raise, no silent loss.

Sizes that can be read raise at once. Traced ones are checked at run time under `checks`; under plain jit the result
is the fill in every row and slot, and what is computed from it too: see `structure.overflow`.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from ..backends import kernels, kind
from ..structure.overflow import fill_unless as fill_unless
from ..structure.overflow import marked


def check_capacity(needed: Any, available: int, what: str, keyword: str) -> Any:
    """True, or a traced bool: whether ``needed`` entries fit the static size ``available``."""
    advice = f"Pass a larger `{keyword}`." if keyword else "Pass a larger one."
    k = kernels(needed) if hasattr(needed, "dtype") else None
    if k is None or k.is_concrete(needed):
        if int(needed) > available:
            raise ValueError(error_text(f"{what} of at least {int(needed)}", f"{available}", advice))
        return True
    ok = needed <= available
    if k.checking():
        k.check(ok, error_text(f"{what} of at least {{needed}}", available, advice), needed=needed)
    return ok


def both(a: Any, b: Any) -> Any:
    """Whether two conditions hold, each True or traced."""
    return b if a is True else a if b is True else a & b


def with_mark(x: Any, ok: Any) -> Any:
    """A result, spoiled before unless ``ok``, and marked where its fill does not carry itself on.

    NaN does, so partitions of inexact values stay as they are, and all results of one structure share their row ids.
    """
    if ok is True or not isinstance(x, RaggedArray) or kind(x.dtype) in ("float", "complex"):
        return x
    return RaggedArray(x.values, (*x.partitions[:-1], marked(x.partitions[-1], x.capacity, ok)))
