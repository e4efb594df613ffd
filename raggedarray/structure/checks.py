"""What data must satisfy: an error where it can be read, a check at run time where it is traced under `checks`."""

from typing import Any

from .._errors import error_text
from ..backends import kernels


def require(
    ok: Any, expected: str, got: str, advice: str, /, *, error: type[Exception] = ValueError, **shown: Any
) -> Any:
    """True, or a traced bool where neither can raise: whether ``ok``. Texts name the values ``shown`` in braces."""
    k = None if isinstance(ok, bool) else kernels(ok)
    if k is None or k.is_concrete(ok):
        if not ok:
            values = {name: v if isinstance(v, int | float) else kernels(v).host(v)[()] for name, v in shown.items()}
            raise error(error_text(expected, got, advice).format(**values))
        return True
    if k.checking():
        k.check(ok, error_text(expected, got, advice), **shown)
    return ok


def forbid(bad: Any, expected: str, got: str, advice: str, /, **options: Any) -> Any:
    """The same for what must not be: whether it is not."""
    ok = not bad if kernels(bad).is_concrete(bad) else ~bad  # no program for what the host can tell
    return require(ok, expected, got, advice, **options)
