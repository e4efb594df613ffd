"""What a config declares: nodes and components, and all that follows from these two.

Whatever compiles, runs or writes a network takes a `Definition`; `Network` is the definition that users hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from math import lcm

from .._errors import error_text
from ._graph.context import context_of
from ._graph.topology import Topology
from ._nodes import ComponentNode, InputNode, NetNode, OutputNode
from ._normal import modulus
from ._reads import Window
from .components import Component


@dataclass(frozen=True, eq=False)
class Definition:
    """Components, and nodes that connect them, with descriptors in normal form."""

    nodes: tuple[NetNode, ...]
    components: Mapping[str, Component]

    @property
    def input_dims(self) -> dict[str, int]:
        """Dims of the input nodes."""
        return {node.name: node.dim for node in self.nodes if isinstance(node, InputNode)}

    @property
    def output_dims(self) -> dict[str, int]:
        """Dims of the output nodes."""
        return {vertex.name: vertex.dim for vertex in self.topology.vertices if vertex.kind == "output"}

    @cached_property
    def topology(self) -> Topology:
        """The nodes as the compiler sees them."""
        return Topology(self.nodes, self.components)

    @cached_property
    def modulus(self) -> int:
        """The smallest shift of t that changes nothing."""
        periods = [modulus(p) for n in self.nodes if isinstance(n, ComponentNode | OutputNode) for p in n.parts]
        periods += [c.reads.period for c in self.components.values() if isinstance(c.reads, Window)]
        return reduce(lcm, periods, 1)

    @property
    def left_context(self) -> int:
        """Frames before an output that it cannot be computed without."""
        return self._context[0]

    @property
    def right_context(self) -> int:
        """Frames after an output that it cannot be computed without."""
        return self._context[1]

    @cached_property
    def _context(self) -> tuple[int, int]:
        for name in ("input", "output"):
            if name not in self.topology.numbers:
                got = f"nodes {sorted(self.topology.numbers)}"
                raise ValueError(
                    error_text(f"a node called {name!r}", got, "Contexts are between these two.", op="context")
                )
        return context_of(self.topology, self.modulus)
