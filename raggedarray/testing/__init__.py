"""Tools for testing code that uses ragged arrays: poisoned slack, trace counts, strategies, an oracle."""

from ._poison import poison
from ._traces import Traced, count_traces

__all__ = ["Traced", "count_traces", "poison"]
