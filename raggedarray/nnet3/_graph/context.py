"""How many frames around an output a network needs, found by asking what is computable from a window of input."""

import numpy as np

from ..._errors import error_text
from .._typing import Bools, Ints
from .rows import Graph
from .topology import Topology

FIRST, LAST = 40, 800
"""Widths of the window, tried by doubling."""


def context_of(topology: Topology, modulus: int) -> tuple[int, int]:
    """Left and right context of node ``output`` over node ``input``; optional frames do not count, neither is negative.

    The window starts at each t below the modulus, since a network with Round or Switch needs more at some t than at
    others. Further inputs are given at the same frames, or from one modulus earlier if called ``ivector``.
    """
    contexts = [_context(topology, shift, modulus) for shift in range(modulus)]
    left, right = zip(*contexts, strict=True)
    return max(left), max(right)


def _context(topology: Topology, shift: int, modulus: int) -> tuple[int, int]:
    width = FIRST
    while width < LAST:
        ok = computable(topology, shift, width, modulus)
        if ok.any():
            first = int(np.argmax(ok))
            after = ok[first:]
            last = first + (len(after) if after.all() else int(np.argmin(after)))
            return first, width - last
        width *= 2
    expected = f"an output that can be computed from {LAST // 2} frames of input"
    raise ValueError(
        error_text(expected, "none", "Check the offsets of the network, or its recurrences.", op="context")
    )


def computable(topology: Topology, shift: int, width: int, modulus: int) -> Bools:
    """Which frames of node ``output`` can be computed from a window of input."""
    window = _frames(shift, width)
    inputs = {vertex.name: window for vertex in topology.vertices if vertex.kind == "input"}
    if "ivector" in inputs:
        inputs["ivector"] = _frames(shift - modulus, width + modulus)
    graph = Graph(topology, inputs, {"output": window})
    k = topology.numbers["output"]
    return np.broadcast_to(graph.ok[k], width)


def _frames(first: int, width: int) -> Ints:
    t = np.arange(first, first + width)
    return np.stack([0 * t, t, 0 * t], axis=1).astype(np.int32)
