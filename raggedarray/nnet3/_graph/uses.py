"""Which rows a graph really uses: those that the wanted rows read, with every choice and option decided."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from .._typing import Floats, Ints
from .rows import Graph
from .rules import Constant, Leaf, Span, Truth
from .topology import Edge, Group
from .waves import waves_of


class Uses:
    """Uses per vertex.

    ``rows`` says which rows of its set are used, ``waves`` is the wave of each used row of a recurrent vertex.
    ``leaves`` says in which used rows each leaf takes part, True standing for all rows; ``constants`` is what constants
    add to each part of each row.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.rows = {k: np.full(len(rows), k in graph.outputs) for k, rows in graph.sets.items()}
        self._full: set[int] = set()
        self.leaves: dict[Edge, Truth] = {}
        self.constants: dict[tuple[int, int], Floats] = {}
        self.waves: dict[int, Ints] = {}
        for group in reversed(graph.groups):
            if group.recurrent:
                self._reach(group)
            for k in group.members:
                self._use(k)
                for leaf in graph.vertices[k].needs:
                    if leaf.source not in group.members:
                        self._mark(k, leaf)
            if group.recurrent:
                names = {k: graph.vertices[k].name for k in group.members}
                edges = [
                    (k, leaf.source, (k, leaf.number) in group.inner, *self.edges(k, leaf))
                    for k in group.members
                    for leaf in graph.vertices[k].needs
                    if leaf.source in group.members
                ]
                self.waves |= waves_of({k: self.rows[k] for k in group.members}, edges, names)

    def _mark(self, k: int, leaf: Leaf | Span) -> None:
        """Note that a vertex reads rows of another."""
        if leaf.source not in self._full:
            _, at = self.edges(k, leaf)
            self.rows[leaf.source][at] = True
            if at is self.graph.sets[leaf.source].identity:
                self._full.add(leaf.source)

    def _use(self, k: int) -> None:
        """Decide the leaves of a vertex whose used rows are known."""
        active = np.True_ if k in self._full or self.rows[k].all() else self.rows[k]
        for part, rule in enumerate(self.graph.vertices[k].rules):
            for leaf, mask in self.graph.rows[k].used(rule, active):
                if isinstance(leaf, Constant):
                    if leaf.value:
                        added = self.constants.setdefault((k, part), np.zeros(len(self.rows[k]), np.float32))
                        added += np.float32(leaf.value) * mask
                else:
                    self.leaves[k, leaf.number] = (
                        mask if np.ndim(mask) or mask else np.zeros(len(self.rows[k]), np.bool_)
                    )

    def edges(self, k: int, leaf: Leaf | Span) -> tuple[Ints, Ints]:
        """Rows of vertex ``k`` where a leaf takes part, and the rows of the source that they read."""
        at, mask = self.graph.reads[k, leaf.number], self.leaves[k, leaf.number]
        if isinstance(leaf, Span):
            ids, computable = self.graph.spans[k, leaf.number][0], self.graph.ok[leaf.source]
            read = np.append(computable, False)[at] if np.ndim(computable) else at >= 0
            read = read & np.broadcast_to(mask, len(self.rows[k]))[ids]
            return ids[read], at[read]
        if not np.ndim(mask):
            return np.arange(len(at), dtype=np.int32), at
        users = np.flatnonzero(mask).astype(np.int32)
        return users, at[users]

    def _reach(self, group: Group) -> None:
        """Mark what the rows used so far read within a recurrence, directly or through other rows."""
        graph, members = self.graph, group.members
        sizes = [len(graph.sets[k]) for k in members]
        start = dict(zip(members, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        root = sum(sizes)
        users, sources = [], []
        for k in members:
            used, self.rows[k] = self.rows[k], np.broadcast_to(graph.ok[k], len(graph.sets[k]))
            self._use(k)
            self.rows[k] = used
            for leaf in graph.vertices[k].needs:
                if leaf.source in start:
                    reader, read = self.edges(k, leaf)
                    users.append(reader + start[k])
                    sources.append(read + start[leaf.source])
            marked = np.flatnonzero(used)
            users.append(np.full(len(marked), root))
            sources.append(marked + start[k])
        self.constants = {key: value for key, value in self.constants.items() if key[0] not in start}
        i, j = np.concatenate(users), np.concatenate(sources)
        links = csr_array((np.ones(len(i)), (i, j)), shape=(root + 1, root + 1))
        reached = np.zeros(root + 1, np.bool_)
        reached[breadth_first_order(links, root, directed=True, return_predecessors=False)] = True
        for k, size in zip(members, sizes, strict=True):
            self.rows[k] = reached[start[k] : start[k] + size]
