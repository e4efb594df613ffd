"""The nodes of a network, and a config line for each."""

from dataclasses import dataclass

from .descriptors import Append, Descriptor


@dataclass(frozen=True)
class InputNode:
    """Rows that the user gives."""

    name: str
    dim: int

    def __str__(self) -> str:
        return f"input-node name={self.name} dim={self.dim}"


@dataclass(frozen=True)
class ComponentNode:
    """A component applied to the rows of a descriptor, given by the parts of its normal form."""

    name: str
    component: str
    parts: tuple[Descriptor, ...]

    def __str__(self) -> str:
        return f"component-node name={self.name} component={self.component} input={_joined(self.parts)}"


@dataclass(frozen=True)
class OutputNode:
    """Rows that the user gets."""

    name: str
    parts: tuple[Descriptor, ...]
    objective: str = "linear"

    def __str__(self) -> str:
        return f"output-node name={self.name} input={_joined(self.parts)} objective={self.objective}"


@dataclass(frozen=True)
class DimRangeNode:
    """Columns of another node."""

    name: str
    source: str
    offset: int
    dim: int

    def __str__(self) -> str:
        return f"dim-range-node name={self.name} input-node={self.source} dim-offset={self.offset} dim={self.dim}"


NetNode = InputNode | ComponentNode | OutputNode | DimRangeNode


def _joined(parts: tuple[Descriptor, ...]) -> Descriptor:
    return parts[0] if len(parts) == 1 else Append(parts)
