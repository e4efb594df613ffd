"""Sets of Indexes as sorted integers: an Index is a key, ordered by t, then x, then n, and an offset is an addition."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._typing import Ints
from .rules import Maps

Keys = NDArray[np.int64]
DENSE = 8
"""A table over all keys between the first and last serves lookups if it has at most this many slots per key."""


class Space:
    """The keys of all Indexes that a request can touch: n among ``lanes``, t and x in a range."""

    def __init__(self, lanes: Ints, t: tuple[int, int], x: tuple[int, int]) -> None:
        self.lanes = lanes
        self.t0, self.x0 = t[0], x[0]
        self.nx = x[1] - x[0] + 1
        self.frame = self.nx * max(len(lanes), 1)
        if (t[1] - t[0] + 1) * self.frame > 2**62:
            raise ValueError(
                f"compile: expected Indexes within 2**62 of each other, got t in {t} and x in {x}. Split the request."
            )
        self._mapped: dict[tuple[int, Maps], tuple[KeySet, Keys]] = {}
        self._sets: dict[tuple[int, int, int], list[KeySet]] = {}
        self._decoded: dict[int, tuple[KeySet, Ints]] = {}

    def encode(self, indexes: Ints) -> Keys:
        """Keys of rows n, t, x."""
        lane = np.searchsorted(self.lanes, indexes[:, 0])
        return self.keys(lane, indexes[:, 1], indexes[:, 2])

    def keys(self, lane: Keys, t: NDArray[np.integer], x: NDArray[np.integer]) -> Keys:
        """Keys of Indexes given by the number of n among the lanes, t, and x."""
        key: Keys = (t.astype(np.int64) - self.t0) * self.nx + (x.astype(np.int64) - self.x0)
        out: Keys = key * len(self.lanes) + lane
        return out

    def decode(self, keys: Keys) -> Ints:
        """Rows n, t, x of keys."""
        out = np.empty((len(keys), 3), np.int32)
        if len(keys):
            rest, lane = np.divmod(keys, len(self.lanes))
            t, x = np.divmod(rest, self.nx) if self.nx > 1 else (rest, 0)
            out[:, 0], out[:, 1], out[:, 2] = self.lanes[lane], t + self.t0, x + self.x0
        return out

    def indexes(self, keys: "KeySet") -> Ints:
        """Rows n, t, x of a set; the same array every time."""
        if id(keys) not in self._decoded:
            self._decoded[id(keys)] = keys, self.decode(keys.keys)
        return self._decoded[id(keys)][1]

    def frames(self, keys: Keys) -> Keys:
        """t of keys."""
        return keys // self.frame + self.t0

    def mapped(self, keys: "KeySet", maps: Maps) -> Keys:
        """The keys that index operators make of a set, in its order; each x on the way is in the range."""
        if not maps:
            return keys.keys
        cached = self._mapped.get((id(keys), maps))
        if cached is None:
            out = self._apply(self.mapped(keys, maps[:-1]), *maps[-1])
            cached = self._mapped[id(keys), maps] = keys, out
        return cached[1]

    def _apply(self, keys: Keys, kind: str, a: int, b: int) -> Keys:
        lanes = len(self.lanes)
        if kind == "offset":
            return keys + (a * self.nx + b) * lanes
        if kind == "round":
            return keys - (self.frames(keys) % a) * self.frame
        if kind == "t":
            return keys % self.frame + (a - self.t0) * self.frame
        x = keys // lanes % self.nx + self.x0
        new = x // a if kind == "floor" else a
        return keys + (new - x) * lanes

    def interned(self, keys: Keys) -> "KeySet":
        """The set of sorted keys; equal sets are one object, so that work on them is shared."""
        mark = (len(keys), int(keys[0]), int(keys[-1])) if len(keys) else (0, 0, 0)
        candidates = self._sets.setdefault(mark, [])
        for other in candidates:
            if other.keys is keys or np.array_equal(other.keys, keys):
                return other
        candidates.append(KeySet(keys))
        return candidates[-1]

    def union(self, arrays: Sequence[Keys]) -> "KeySet":
        """The set of all keys in some arrays, which may be unsorted and repeat."""
        distinct = list({id(keys): keys for keys in arrays if len(keys)}.values())
        if len(distinct) == 1 and bool((np.diff(distinct[0]) > 0).all()):
            return self.interned(distinct[0])
        return self.interned(sorted_union(distinct))


class KeySet:
    """Sorted keys, each once, that can be looked up."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self._positions: dict[int, tuple[Keys, Ints]] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def _table(self) -> Ints | None:
        n = len(self.keys)
        if not n or (size := int(self.keys[-1] - self.keys[0]) + 1) > DENSE * n + 1024:
            return None
        table = np.full(size, -1, np.int32)
        table[self.keys - self.keys[0]] = np.arange(n, dtype=np.int32)
        return table

    @cached_property
    def identity(self) -> Ints:
        """The position of each key of the set itself."""
        return np.arange(len(self.keys), dtype=np.int32)

    def find(self, keys: Keys) -> Ints:
        """Position of each key, -1 where it is not in the set."""
        cached = self._positions.get(id(keys))
        if cached is None:
            cached = self._positions[id(keys)] = keys, self._find(keys)
        return cached[1]

    def _find(self, keys: Keys) -> Ints:
        n = len(self.keys)
        if keys is self.keys:
            return self.identity
        if not n:
            return np.full(len(keys), -1, np.int32)
        if self._table is None:
            at = np.minimum(np.searchsorted(self.keys, keys), n - 1)
            return np.where(self.keys[at] == keys, at, -1).astype(np.int32)
        at = keys - self.keys[0]
        size = len(self._table)
        if len(at) and at.min() >= 0 and at.max() < size:
            out: Ints = self._table[at]
            return out
        inside = (at >= 0) & (at < size)
        return np.where(inside, self._table[np.where(inside, at, 0)], -1).astype(np.int32)


def sorted_union(arrays: Sequence[Keys]) -> Keys:
    """All keys of several arrays, sorted, each once."""
    if not arrays:
        return np.zeros(0, np.int64)
    low, high = min(int(k.min()) for k in arrays), max(int(k.max()) for k in arrays)
    if high - low < DENSE * sum(map(len, arrays)) + 1024:
        present = np.zeros(high - low + 1, np.bool_)
        for keys in arrays:
            present[keys - low] = True
        return np.flatnonzero(present) + low
    return np.unique(np.concatenate(arrays))
