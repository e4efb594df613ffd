"""The order of rows within a recurrence: a wave is what can be computed once the wave before it is there."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..._errors import error_text
from .._typing import Bools, Ints

Rows = NDArray[np.int64]
Edges = Sequence[tuple[int, int, bool, Ints, Ints]]
"""Per leaf: the reading vertex, the vertex read, whether that runs earlier within a wave, and pairs of rows."""
_NONE = np.zeros(0, np.int64)


def waves_of(used: Mapping[int, Bools], edges: Edges, names: Mapping[int, str]) -> dict[int, Ints]:
    """The wave of each used row, -1 for others; vertices are given in the order they run.

    A row is in the wave of the last row that it reads, or in the next one if that row's vertex runs later.
    """
    waves = {k: np.full(len(rows), -1, np.int32) for k, rows in used.items()}
    waiting = {k: np.zeros(len(rows), np.int64) for k, rows in used.items()}
    earliest = {k: np.zeros(len(rows), np.int32) for k, rows in used.items()}
    readers: dict[int, list[tuple[int, bool, _Readers]]] = {k: [] for k in used}
    for user, source, inner, rows, read in edges:
        waiting[user] += np.bincount(rows, minlength=len(used[user]))
        readers[source].append((user, inner, _Readers(rows, read, len(used[source]))))
    now: dict[int, list[Rows]] = {k: [np.flatnonzero(rows & (waiting[k] == 0))] for k, rows in used.items()}
    wave = 0
    while any(len(rows) for parts in now.values() for rows in parts):
        later: dict[int, list[Rows]] = {k: [] for k in used}
        for k in used:
            ready = now[k][0] if len(now[k]) == 1 else np.concatenate([_NONE, *now[k]])
            if not len(ready):
                continue
            waves[k][ready] = wave
            for user, inner, lists in readers[k]:
                reading = lists.of(ready)
                earliest[user][reading] = np.maximum(earliest[user][reading], wave if inner else wave + 1)
                if lists.once:
                    waiting[user][reading] -= 1
                else:
                    np.subtract.at(waiting[user], reading, 1)
                    reading = np.unique(reading)
                freed = reading[waiting[user][reading] == 0]
                if len(freed):
                    soon = earliest[user][freed] <= wave
                    now[user].append(freed[soon])
                    later[user].append(freed[~soon])
        now, wave = later, wave + 1
    stuck = [names[k] for k, rows in used.items() if (rows & (waves[k] < 0)).any()]
    if stuck:
        expected = "nodes that can be put in an order"
        got = f"a cycle at one frame, or in both directions of time, through {', '.join(map(repr, stuck))}"
        raise ValueError(
            error_text(expected, got, "Let each recurrence go one way in time, or split the node.", op="compile")
        )
    return waves


class _Readers:
    """The rows that read given rows, through one leaf."""

    def __init__(self, rows: Ints, read: Ints, count: int) -> None:
        self.once = len(rows) < 2 or bool((np.diff(rows) > 0).all())
        counts = np.bincount(read, minlength=count)
        self.table: Rows | None = None
        if self.once and (counts <= 1).all():
            self.table = np.full(count, -1, np.int64)
            self.table[read] = rows
        else:
            self.rows, self.counts = rows[np.argsort(read, kind="stable")].astype(np.int64), counts
            self.starts = np.cumsum(counts) - counts

    def of(self, read: Rows) -> Rows:
        """The rows that read these; each at most once if ``once``."""
        if self.table is not None:
            readers: Rows = self.table[read]
            return readers[readers >= 0]
        counts = self.counts[read]
        step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rows: Rows = self.rows[np.repeat(self.starts[read], counts) + step]
        return rows
