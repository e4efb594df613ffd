"""The static half of a plan: what a compiled program depends on. Sizes and wiring, no data.

A stage is a run of nodes over all their rows at once, or, with ``waves``, a recurrence: wave by wave, each node
in turn. Nodes of a recurrence have ``size`` slots in every wave; their rows lie wave after wave.
"""

from dataclasses import dataclass
from functools import cached_property

from .components import Component


@dataclass(frozen=True)
class Leaf:
    """A term: columns of the rows of a source, scaled.

    ``same`` says that row r reads row r. ``lags`` is None where the source is of another stage, else how many waves
    back it reads: at least and at most. ``used`` is false where all rows are missing.
    """

    source: int
    columns: tuple[int, int]
    scale: float
    same: bool
    lags: tuple[int, int] | None
    used: bool


@dataclass(frozen=True)
class Block:
    """One part of an Append: leaves, and whether there is a constant per row."""

    width: int
    leaves: tuple[Leaf, ...]
    constant: bool


@dataclass(frozen=True)
class Node:
    """A layer: blocks, or a component with the layer it reads."""

    number: int
    name: str
    dim: int
    size: int
    blocks: tuple[Block, ...]
    key: str | None
    component: Component | None
    input: int | None
    lags: tuple[int, int] | None
    """How many waves back the component reads, where it reads other rows than its own of an input of its stage."""


@dataclass(frozen=True)
class Stage:
    """Nodes in the order they run; those that another stage reads; how many waves back each node is read."""

    nodes: tuple[Node, ...]
    waves: int
    kept: tuple[int, ...]
    depths: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Structure:
    """All stages; name, number and slots of inputs, number and dim of those not given, and outputs."""

    stages: tuple[Stage, ...]
    inputs: tuple[tuple[str, int, int], ...]
    missing: tuple[tuple[int, int], ...]
    outputs: tuple[tuple[str, int], ...]

    @cached_property
    def _hash(self) -> int:
        return hash((self.stages, self.inputs, self.missing, self.outputs))

    def __hash__(self) -> int:
        """Computed once."""
        return self._hash

    @property
    def random(self) -> tuple[str, ...]:
        """Nodes that draw random numbers."""
        nodes = (node for stage in self.stages for node in stage.nodes)
        return tuple(node.name for node in nodes if node.component is not None and node.component.needs_key())
