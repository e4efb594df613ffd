"""The nodes of a network as the compiler sees them: what each needs, and the order in which they can run.

A component node is two of these, its input and itself, as in Kaldi. A dim-range node is none: it names columns of
another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .._nodes import ComponentNode, DimRangeNode, InputNode, NetNode, OutputNode
from .._normal import width
from .._reads import Nothing
from ..components import Component
from .rules import Every, Leaf, Rule, Span, demanded, leaves, of_parts, of_reads

Edge = tuple[int, int]
"""A vertex, and the number of the leaf it reads another one by."""


@dataclass(frozen=True)
class Vertex:
    """A node with rows of its own: a rule and a width per part of its descriptor, or the one rule of a component."""

    name: str
    kind: Literal["input", "component_input", "component", "output"]
    dim: int
    rules: tuple[Rule, ...] = ()
    widths: tuple[int, ...] = ()
    component: str | None = None
    input: int | None = None

    @cached_property
    def rule(self) -> Rule:
        """All rules as one."""
        return Every(self.rules)

    @cached_property
    def needs(self) -> tuple[Leaf | Span, ...]:
        """All leaves, those of one part after those of another."""
        return tuple(leaves(self.rule))


@dataclass(frozen=True)
class Group:
    """Vertices that depend on each other, in the order they run, or one that does not depend on itself.

    ``inner`` are the edges between them that go along with this order. The others reach into earlier waves.
    """

    members: tuple[int, ...]
    recurrent: bool
    inner: frozenset[Edge]


class Topology:
    """All vertices of a network, and the groups in the order they run."""

    def __init__(self, nodes: Sequence[NetNode], components: Mapping[str, Component]) -> None:
        self.numbers: dict[str, int] = {}
        self._columns: dict[str, tuple[str, tuple[int, int]]] = {}
        dims: dict[str, int] = {}
        for node in nodes:
            if isinstance(node, DimRangeNode):
                self._columns[node.name] = node.source, (node.offset, node.offset + node.dim)
                dims[node.name] = node.dim
                continue
            if isinstance(node, ComponentNode):
                self.numbers[f"{node.name}_input"] = len(self.numbers)
                dims[node.name] = components[node.component].output_dim
            elif isinstance(node, InputNode):
                dims[node.name] = node.dim
            if not isinstance(node, OutputNode):
                self._columns[node.name] = node.name, (0, dims[node.name])
            self.numbers[node.name] = len(self.numbers)
        self.vertices = tuple(vertex for node in nodes for vertex in self._vertices(node, components, dims))

    def _resolve(self, name: str) -> tuple[int, tuple[int, int]]:
        source, columns = self._columns[name]
        return self.numbers[source], columns

    def _vertices(
        self, node: NetNode, components: Mapping[str, Component], dims: Mapping[str, int]
    ) -> Iterator[Vertex]:
        match node:
            case InputNode(name, dim):
                yield Vertex(name, "input", dim)
            case OutputNode(name, parts):
                widths = tuple(width(part, dims) for part in parts)
                yield Vertex(name, "output", sum(widths), of_parts(parts, self._resolve), widths)
            case ComponentNode(name, key, parts):
                widths, component = tuple(width(part, dims) for part in parts), components[key]
                number = self.numbers[f"{name}_input"]
                yield Vertex(f"{name}_input", "component_input", sum(widths), of_parts(parts, self._resolve), widths)
                rule = of_reads(component.reads, number, component.input_dim)
                source = None if isinstance(component.reads, Nothing) else number
                yield Vertex(name, "component", component.output_dim, (rule,), (), key, source)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The strongly connected components in the order they run, which is that of a search from the outputs."""
        return tuple(self._group(members) for members in self._strong())

    def _sources(self, vertex: int) -> list[int]:
        return [leaf.source for leaf in self.vertices[vertex].needs]

    def _strong(self) -> list[list[int]]:
        """Tarjan's algorithm without recursion: a component is complete after all that it reads."""
        number: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        components: list[list[int]] = []
        done: set[int] = set()
        roots = [k for k, vertex in enumerate(self.vertices) if vertex.kind == "output"]
        for root in [*roots, *range(len(self.vertices))]:
            work = [] if root in number else [(root, iter(self._sources(root)))]
            for vertex, _ in work:
                number[vertex] = low[vertex] = len(number)
                stack.append(vertex)
            while work:
                vertex, rest = work[-1]
                for source in rest:
                    if source not in number:
                        number[source] = low[source] = len(number)
                        stack.append(source)
                        work.append((source, iter(self._sources(source))))
                        break
                    if source not in done:
                        low[vertex] = min(low[vertex], number[source])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[vertex])
                    if low[vertex] == number[vertex]:
                        at = stack.index(vertex)
                        components.append(sorted(stack[at:]))
                        done.update(stack[at:])
                        del stack[at:]
        return components

    def _group(self, members: list[int]) -> Group:
        inside = set(members)
        edges = [(k, j) for k in members for j, leaf in enumerate(self.vertices[k].needs) if leaf.source in inside]
        if not edges:
            return Group(tuple(members), False, frozenset())
        below: dict[int, set[int]] = {k: set() for k in members}
        inner: set[Edge] = set()
        for edge in sorted(edges, key=self._rank):
            user, source = edge[0], self.vertices[edge[0]].needs[edge[1]].source
            if not _reaches(below, source, user):
                below[user].add(source)
                inner.add(edge)
        order: list[int] = []
        while len(order) < len(members):
            order.append(next(k for k in members if k not in order and below[k] <= set(order)))
        return Group(tuple(order), True, frozenset(inner))

    def _rank(self, edge: Edge) -> int:
        """Which edges to keep within a wave first: from a component to its input, within a frame, then what must exist.

        An optional edge is where a recurrence starts, so that the waves begin with it.
        """
        leaf = self.vertices[edge[0]].needs[edge[1]]
        if isinstance(leaf, Span) or leaf.maps:
            return 2 if leaf in tuple(demanded(self.vertices[edge[0]].rule)) else 3
        return 0 if self.vertices[edge[0]].kind == "component" else 1

    def reachable(self, outputs: Sequence[str]) -> set[int]:
        """The vertices that outputs depend on."""
        reached: set[int] = set()
        todo = [self.numbers[name] for name in outputs]
        while todo:
            vertex = todo.pop()
            if vertex not in reached:
                reached.add(vertex)
                todo += self._sources(vertex)
        return reached


def _reaches(below: Mapping[int, set[int]], start: int, goal: int) -> bool:
    reached, todo = set(), [start]
    while todo:
        vertex = todo.pop()
        if vertex == goal:
            return True
        if vertex not in reached:
            reached.add(vertex)
            todo += below[vertex]
    return False
