"""Numbers as text, as NumPy's print options say: precision, suppression of small numbers, formatters."""

from typing import Any, NamedTuple

import numpy as np


class Options(NamedTuple):
    """What of `numpy.printoptions` concerns more than one number."""

    threshold: float
    """Number of elements above which an array is shown in part."""
    edge: int
    """Entries shown at either end of an axis then."""
    width: int
    """Of a line."""


def options() -> Options:
    """The options in force."""
    given = np.get_printoptions()
    return Options(given["threshold"], given["edgeitems"], given["linewidth"])


def written(number: Any) -> str:
    """One number by itself, so that what stands beside it takes no digit away."""
    return np.array2string(np.asarray(number))
