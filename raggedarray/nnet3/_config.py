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
    """Read a config; ``components`` are there already, as when the numbers come from a model text."""
    made = dict(components or {})
    named: dict[str, Line] = {}
    for line in parse_lines(text):
        name = _name(line)
        if line.kind == "component":
            if name in made:
                raise line.keys.complain("a new component name", f"{name!r} a second time", "Name each component once.")
            made[name] = _component(line)
        else:
            if name in named:
                got = f"{name!r} a second time, after line {named[name].number}"
                raise line.keys.complain("a new node name", got, "Name each node once.")
            named[name] = line
    dims = _dims(named, made)
    nodes = tuple(_node(name, line, made, dims, strict) for name, line in named.items())
    for kind, what in ((InputNode, "input-node"), (OutputNode, "output-node")):
        if not any(isinstance(node, kind) for node in nodes):
            raise ValueError(
                error_text(f"an {what}", f"none among {len(nodes)} nodes", f"Add an {what} line.", op="from_config")
            )
    return Definition(nodes, made)


def _name(line: Line) -> str:
    if line.kind not in KINDS:
        raise line.keys.complain(f"a line of {', '.join(KINDS)}", repr(line.kind), "Start the line with one of these.")
    name: str = line.keys.text("name")
    if not NAME.fullmatch(name):
        raise line.keys.complain("a name of letters, digits and any of _.-", repr(name), "Start it with a letter or _.")
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


def _dims(named: Mapping[str, Line], made: Mapping[str, Component]) -> dict[str, int]:
    """Columns of the nodes that descriptors may name."""
    dims: dict[str, int] = {}
    for name, line in named.items():
        keys = line.keys
        if line.kind == "input-node":
            dims[name] = keys.integer("dim", at_least=1)
        elif line.kind == "component-node":
            component = keys.text("component")
            if component not in made:
                raise keys.complain("the name of a component", repr(component), _suggest(component, made))
            if f"{name}_input" in named:
                advice = "This name is taken for the input of the node; rename one of them."
                raise keys.complain(
                    f"no node named {name + '_input'!r}", f"line {named[f'{name}_input'].number}", advice
                )
            dims[name] = made[component].output_dim
        elif line.kind == "dim-range-node":
            dims[name] = keys.integer("dim", at_least=1)
    for name, line in named.items():
        if line.kind == "dim-range-node":
            _check_range(name, line, named, dims)
    return dims


def _check_range(name: str, line: Line, named: Mapping[str, Line], dims: Mapping[str, int]) -> None:
    keys = line.keys
    source, offset = keys.text("input-node"), keys.integer("dim-offset", at_least=0)
    allowed = [other for other in named if named[other].kind in ("input-node", "component-node")]
    if source not in allowed:
        raise keys.complain(
            "an input-node or component-node to take columns of", repr(source), _suggest(source, allowed)
        )
    if offset + dims[name] > dims[source]:
        got = f"columns {offset} to {offset + dims[name] - 1}"
        raise keys.complain(
            f"columns of {source!r}, which has dim {dims[source]}", got, "Make dim or dim-offset smaller."
        )


def _node(name: str, line: Line, made: Mapping[str, Component], dims: Mapping[str, int], strict: bool) -> NetNode:
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
                raise keys.complain("objective linear or quadratic", repr(objective), "Write one of these.")
            node = OutputNode(name, _parts(line, dims, strict), objective)
        case _:
            component = keys.text("component")
            several = _parts(line, dims, strict)
            total, wanted = sum(width(part, dims) for part in several), made[component].input_dim
            if total != wanted:
                expected = f"an input of dim {wanted}, as component {component!r} has"
                raise keys.complain(
                    expected, f"dim {total} from {keys.text('input')}", "Change the input or the component."
                )
            node = ComponentNode(name, component, several)
    keys.finish()
    return node


def _parts(line: Line, dims: Mapping[str, int], strict: bool) -> tuple[Descriptor, ...]:
    try:
        tree = descriptors.parse(line.keys.text("input"))
        for name in descriptors.names(tree):
            if name not in dims:
                advice = f"Descriptors name input, component and dim-range nodes. {_suggest(name, dims)}"
                raise line.keys.complain("the name of a node", repr(name), advice)
        several = parts(tree, strict=strict)
        for part in several:
            width(part, dims)
    except ValueError as error:
        if str(error).startswith("from_config"):
            raise
        raise ValueError(f"from_config: {line.keys.subject}: {error}") from None
    except RecursionError:
        advice = "Split it over several nodes."
        raise line.keys.complain("a descriptor that is not so deep", line.keys.text("input"), advice) from None
    return several


def _suggest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Known names: {', '.join(sorted(known)) or 'none'}."
