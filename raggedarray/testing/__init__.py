"""Tools for testing code that uses ragged arrays.

`poison` fills slack, `count_traces` counts traces, `assert_matches` compares with one component at a time;
``raggedarray.testing.strategies`` (imported by name, as it needs hypothesis) draws ragged arrays.
"""

from ._oracle import assert_matches
from ._poison import poison
from ._traces import Traced, count_traces

__all__ = ["Traced", "assert_matches", "count_traces", "poison"]


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]
