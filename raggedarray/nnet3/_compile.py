"""From a network and a request to a program."""

from .._errors import error_text
from ._definition import Definition
from ._graph.assemble import assemble
from ._graph.faults import uncomputable
from ._graph.rows import Graph
from ._graph.uses import Uses
from ._indexes import ComputationRequest
from ._program import Program
from ._strict import check_strict


def program(net: Definition, request: ComputationRequest, /, *, strict: bool = False) -> Program:
    """The layers of rows that a request makes a network compute; `trimmed_request` comes before."""
    topology = net.topology
    for part, kind in (("inputs", "input"), ("outputs", "output")):
        names = [vertex.name for vertex in topology.vertices if vertex.kind == kind]
        for name in getattr(request, part):
            if name not in names:
                advice = f"The network has {', '.join(names)}."
                raise ValueError(error_text(f"names of {kind} nodes in {part}", repr(name), advice, op="compile"))
    if strict:
        check_strict(net.nodes)
    graph = Graph(topology, request.inputs, request.outputs, strict=strict)
    if graph.missing():
        raise uncomputable(graph, lambda: _context(net))
    return assemble(graph, Uses(graph), net.components)


def trimmed_request(net: Definition, request: ComputationRequest) -> ComputationRequest:
    """The request with the frames left out that lack the context of the network, if it asks for that."""
    if not request.trim:
        return request
    try:
        context = net.left_context, net.right_context
    except ValueError:  # a network without the two nodes that contexts are between, or with outputs out of reach
        context = 0, 0
    return request.trimmed(*context)


def _context(net: Definition) -> str:
    try:
        return (
            f"the network needs a left context of {net.left_context} and a right context of {net.right_context} frames"
        )
    except ValueError:
        return "the network has outputs that no amount of input makes computable"
