"""What happens when data does not fit a static size: an error, or, where nothing can raise, no silent loss.

Sizes that can be read raise at once. Traced ones are checked at run time under `checks`; under plain jit the result
is the fill in every row and slot, and what is computed from it too: see `structure.overflow`.
"""

from typing import Any

from .._array import RaggedArray
from ..backends import kernels, kind
from ..structure.checks import require
from ..structure.overflow import fill_unless as fill_unless
from ..structure.overflow import marked


def check_capacity(needed: Any, available: int, what: str, keyword: str) -> Any:
    """True, or a traced bool: whether ``needed`` entries fit the static size ``available``."""
    advice = f"Pass a larger `{keyword}`." if keyword else "Pass a larger one."
    if not hasattr(needed, "dtype") or kernels(needed).is_concrete(needed):
        needed = int(needed)  # which no limit of a dtype makes wrap
    return require(needed <= available, f"{what} of at least {{needed}}", f"{available}", advice, needed=needed)


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
