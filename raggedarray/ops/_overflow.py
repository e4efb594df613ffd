"""What happens when data does not fit a static size: an error, or, where nothing can raise, no silent loss.

Sizes that can be read raise at once. Traced ones are checked at run time under `checks`; under plain jit an
inexact result is NaN in every slot. Integer results are then unspecified.
"""

from typing import Any

from .._errors import complaint
from .._typing import Array
from ..backends import kernels, kind, namespace


def fits(op: str, needed: Any, available: int, what: str, keyword: str) -> Any:
    """True, or a traced bool: whether ``needed`` entries fit the static size ``available``."""
    advice = f"Pass a larger `{keyword}`." if keyword else "Pass a larger one."
    k = kernels(needed) if hasattr(needed, "dtype") else None
    if k is None or k.is_concrete(needed):
        if int(needed) > available:
            raise ValueError(complaint(op, f"{what} of at least {int(needed)}", f"{available}", advice))
        return True
    ok = needed <= available
    if k.checking():
        k.check(ok, f"{op}: expected {what} of at least {{needed}}, got {available}. {advice}", needed=needed)
    return ok


def spoil(values: Array, ok: Any) -> Array:
    """Inexact values as they are, or NaN everywhere unless ``ok``."""
    if ok is True or kind(values.dtype) not in ("float", "complex"):
        return values
    xp = namespace(values)
    return xp.where(xp.asarray(ok), values, xp.asarray(float("nan"), dtype=values.dtype))
