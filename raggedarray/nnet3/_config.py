"""From the text of a config to checked nodes and components.

Names are declared first, descriptors are read second: lines may stand in any order.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from .._errors import error_text
from . import descriptors
from ._definition import Definition
from ._lines import NAME, Line, parse_lines
from ._nodes import ComponentNode, DimRangeNode, InputNode, NetNode, OutputNode
from ._normal import parts, width
from .components import Component, make_component
from .descriptors import Descriptor

KINDS = ("component", "component-node", "input-node", "output-node", "dim-range-node")


def declare(text: str, *, components: Mapping[str, Component] | None = None, strict: bool = False) -> Definition:
    """Read a config; ``components`` are declared already, as when a model text has their numbers."""
    declared = dict(components or {})
    node_lines: dict[str, Line] = {}
    for line in parse_lines(text):
        name = _name(line)
        if line.kind == "component":
            if name in declared:
                raise line.keys.error("a new component name", f"{name!r} a second time", "Name each component once.")
            declared[name] = _component(line)
        else:
            if name in node_lines:
                got = f"{name!r} a second time, after line {node_lines[name].number}"
                raise line.keys.error("a new node name", got, "Name each node once.")
            node_lines[name] = line
    dims = _dims(node_lines, declared)
    nodes = tuple(_node(name, line, declared, dims, strict) for name, line in node_lines.items())
    for kind, what in ((InputNode, "input-node"), (OutputNode, "output-node")):
        if not any(isinstance(node, kind) for node in nodes):
            raise ValueError(
                error_text(f"an {what}", f"none among {len(nodes)} nodes", f"Add an {what} line.", op="from_config")
            )
    return Definition(nodes, declared)


def _name(line: Line) -> str:
    if line.kind not in KINDS:
        raise line.keys.error(f"a line of {', '.join(KINDS)}", repr(line.kind), "Start the line with one of these.")
    name: str = line.keys.text("name")
    if not NAME.fullmatch(name):
        raise line.keys.error("a name of letters, digits and any of _.-", repr(name), "Start it with a letter or _.")
    line.keys.subject += f", {line.kind} {name!r}"
    return name


def _component(line: Line) -> Component:
    kind = line.keys.text("type")
    try:
        return make_component(kind, line.keys.without("name", "type"))
    except ValueError as error:
        if str(error).startswith("from_config"):
            raise
        raise ValueError(f"from_config: {line.keys.subject}: {error}") from None


def _dims(lines: Mapping[str, Line], components: Mapping[str, Component]) -> dict[str, int]:
    """Columns of the nodes that descriptors may name."""
    dims: dict[str, int] = {}
    for name, line in lines.items():
        keys = line.keys
        if line.kind == "input-node":
            dims[name] = keys.integer("dim", at_least=1)
        elif line.kind == "component-node":
            component = keys.text("component")
            if component not in components:
                raise keys.error("the name of a component", repr(component), _suggest(component, components))
            if f"{name}_input" in lines:
                advice = "This name is taken for the input of the node; rename one of them."
                raise keys.error(f"no node named {name + '_input'!r}", f"line {lines[f'{name}_input'].number}", advice)
            dims[name] = components[component].output_dim
        elif line.kind == "dim-range-node":
            dims[name] = keys.integer("dim", at_least=1)
    for name, line in lines.items():
        if line.kind == "dim-range-node":
            _check_range(name, line, lines, dims)
    return dims


def _check_range(name: str, line: Line, lines: Mapping[str, Line], dims: Mapping[str, int]) -> None:
    keys = line.keys
    source, offset = keys.text("input-node"), keys.integer("dim-offset", at_least=0)
    allowed = [other for other in lines if lines[other].kind in ("input-node", "component-node")]
    if source not in allowed:
        raise keys.error("an input-node or component-node to take columns of", repr(source), _suggest(source, allowed))
    if offset + dims[name] > dims[source]:
        got = f"columns {offset} to {offset + dims[name] - 1}"
        raise keys.error(f"columns of {source!r}, which has dim {dims[source]}", got, "Make dim or dim-offset smaller.")


def _node(name: str, line: Line, components: Mapping[str, Component], dims: Mapping[str, int], strict: bool) -> NetNode:
    keys = line.keys
    node: NetNode
    match line.kind:
        case "input-node":
            node = InputNode(name, dims[name])
        case "dim-range-node":
            node = DimRangeNode(name, keys.text("input-node"), keys.integer("dim-offset"), dims[name])
        case "output-node":
            objective = keys.text("objective", "linear")
            if objective not in ("linear", "quadratic"):
                raise keys.error("objective linear or quadratic", repr(objective), "Write one of these.")
            node = OutputNode(name, _parts(line, dims, strict), objective)
        case _:
            component = keys.text("component")
            pieces = _parts(line, dims, strict)
            total, input_dim = sum(width(part, dims) for part in pieces), components[component].input_dim
            if total != input_dim:
                expected = f"an input of dim {input_dim}, as component {component!r} has"
                raise keys.error(
                    expected, f"dim {total} from {keys.text('input')}", "Change the input or the component."
                )
            node = ComponentNode(name, component, pieces)
    keys.finish()
    return node


def _parts(line: Line, dims: Mapping[str, int], strict: bool) -> tuple[Descriptor, ...]:
    try:
        tree = descriptors.parse(line.keys.text("input"))
        for name in descriptors.names(tree):
            if name not in dims:
                advice = f"Descriptors name input, component and dim-range nodes. {_suggest(name, dims)}"
                raise line.keys.error("the name of a node", repr(name), advice)
        pieces = parts(tree, strict=strict)
        for part in pieces:
            width(part, dims)
    except ValueError as error:
        if str(error).startswith("from_config"):
            raise
        raise ValueError(f"from_config: {line.keys.subject}: {error}") from None
    except RecursionError:
        advice = "Split it over several nodes."
        raise line.keys.error("a descriptor that is not so deep", line.keys.text("input"), advice) from None
    return pieces


def _suggest(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, list(names), n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Known names: {', '.join(sorted(names)) or 'none'}."
