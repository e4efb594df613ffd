"""What Kaldi refuses when it compiles, although a weighted sum of rows has a meaning: for ``strict=True``."""

from collections.abc import Iterable, Iterator

from .._errors import error_text
from ._nodes import ComponentNode, NetNode, OutputNode
from .descriptors import Const, Descriptor, Failover, IfDefined, Node, Scale, children


def check_strict(nodes: Iterable[NetNode]) -> None:
    """Refuse constants that may be left out, and nodes that have two scales in one part."""
    for node in nodes:
        if isinstance(node, ComponentNode | OutputNode):
            for part in node.parts:
                _check_constants(node.name, part, optional=False)
                scales: dict[str, float] = {}
                for name, scale in _scales(part, 1.0):
                    if scales.setdefault(name, scale) != scale:
                        expected = f"one scale for node {name!r} in a part of node {node.name!r}"
                        advice = "Read it through a dim-range-node of full width too, or leave out strict=True."
                        raise ValueError(error_text(expected, f"{scales[name]:g} and {scale:g}", advice, op="compile"))


def _scales(part: Descriptor, scale: float) -> Iterator[tuple[str, float]]:
    if isinstance(part, Node):
        yield part.name, scale
    for child in children(part):
        yield from _scales(child, scale * part.scale if isinstance(part, Scale) else scale)


def _check_constants(name: str, part: Descriptor, *, optional: bool) -> None:
    if isinstance(part, Const) and part.value and optional:
        expected = f"no constants inside IfDefined and Failover in node {name!r}"
        raise ValueError(error_text(expected, str(part), "Make it a node, or leave out strict=True.", op="compile"))
    for child in children(part):
        _check_constants(name, child, optional=optional or isinstance(part, IfDefined | Failover))
