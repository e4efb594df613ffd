"""What a network means, one row at a time: plain recursion over (node, Index), with descriptors as they were written."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from raggedarray import nnet3
from raggedarray.nnet3 import descriptors as d
from raggedarray.nnet3._lines import parse_lines

Index = tuple[int, int, int]
FAR = 40
"""Nothing that is asked for here is computable beyond this t, or a quarter of it in x."""


class Oracle:
    """Computability as a least fixed point, by rounds over all rows in reach; values by recursion."""

    def __init__(self, config: str, inputs: Mapping[str, Mapping[Index, Any]], params: Mapping[str, Any]) -> None:
        net = nnet3.Network.from_config(config)
        self.inputs, self.params, self.components = inputs, params, net.components
        self.nodes = {node.name: node for node in net.nodes}
        self.parts: dict[str, tuple[d.Descriptor, ...]] = {}
        for line in parse_lines(config):
            if "input" in line.keys:
                tree = d.parse(line.keys.text("input"))
                self.parts[line.keys.text("name")] = tree.parts if isinstance(tree, d.Append) else (tree,)
        self.ok: dict[tuple[str, Index], bool] = {}
        self.values: dict[tuple[str, Index], Any] = {}

    def computable(self, name: str, index: Index) -> bool:
        """Whether a row is computable."""
        if (name, index) not in self.ok:
            self._settle(name, index)
        return self.ok[name, index]

    def _settle(self, name: str, index: Index) -> None:
        reach, todo = [], [(name, index)]
        seen = set(todo)
        while todo:
            at = todo.pop()
            reach.append(at)
            new = {key for key in self._dependencies(*at) if key not in seen and key not in self.ok}
            seen |= new
            todo += new
        state = dict.fromkeys(reach, False)
        changed = True
        while changed:
            changed = False
            for at in reversed(reach):
                if not state[at] and self._holds(*at, state):
                    state[at] = changed = True
        self.ok |= state

    def _reads(self, name: str, index: Index) -> list[Index]:
        """The rows of its own input that a component row needs."""
        reads = self.components[self.nodes[name].component].reads
        n, t, x = index
        return [(n, t + o, x) for o in getattr(reads, "offsets", (0,))]

    def _dependencies(self, name: str, index: Index) -> set[tuple[str, Index]]:
        node = self.nodes[name]
        if is_far(index) or name in self.inputs:
            return set()
        if hasattr(node, "source"):
            return {(node.source, index)}
        rows = self._reads(name, index) if hasattr(node, "component") else [index]
        return {leaf for i in rows for part in self.parts[name] for leaf in leaves(part, i)}

    def _holds(self, name: str, index: Index, state: Mapping[Any, bool]) -> bool:
        node = self.nodes[name]
        if name in self.inputs:
            return index in self.inputs[name]
        if is_far(index) or hasattr(node, "source"):
            return not is_far(index) and self._state(node.source, index, state)
        rows = self._reads(name, index) if hasattr(node, "component") else [index]
        return all(self._part_holds(part, i, state) for i in rows for part in self.parts[name])

    def _state(self, name: str, index: Index, state: Mapping[Any, bool]) -> bool:
        return state[name, index] if (name, index) in state else self.ok[name, index]

    def _part_holds(self, part: d.Descriptor, i: Index, state: Mapping[Any, bool]) -> bool:
        match part:
            case d.Node(name):
                return self._state(name, i, state)
            case d.Const() | d.IfDefined():
                return True
            case d.Failover(a, b):
                return self._part_holds(a, i, state) or self._part_holds(b, i, state)
            case d.Switch(several):
                return self._part_holds(several[i[1] % len(several)], i, state)
        return all(self._part_holds(child, moved(part, i), state) for child in d.children(part))

    def value(self, name: str, index: Index) -> Any:
        """A computable row."""
        if (name, index) not in self.values:
            assert self.computable(name, index)
            self.values[name, index] = self._value(name, index)
        return self.values[name, index]

    def _value(self, name: str, index: Index) -> Any:
        node = self.nodes[name]
        if name in self.inputs:
            return np.asarray(self.inputs[name][index], np.float64)
        if hasattr(node, "source"):
            return self.value(node.source, index)[node.offset : node.offset + node.dim]
        if not hasattr(node, "component"):
            return np.concatenate([self._part(part, index) for part in self.parts[name]])
        rows = [np.concatenate([self._part(part, i) for part in self.parts[name]]) for i in self._reads(name, index)]
        return self._formula(node.component, np.concatenate(rows))

    def _formula(self, component: str, x: Any) -> Any:
        p = {leaf: np.asarray(a, np.float64) for leaf, a in self.params.get(component, {}).items()}
        match self.components[component].kind:
            case "AffineComponent" | "TdnnComponent":
                return p["linear_params"] @ x + p["bias_params"]
            case "LinearComponent":
                return p["params"] @ x
            case "TanhComponent":
                return np.tanh(x)
            case "RectifiedLinearComponent":
                return np.maximum(x, 0)
        return x

    def _part(self, part: d.Descriptor, i: Index) -> Any:
        ok = self.ok
        match part:
            case d.Node(name):
                return self.value(name, i)
            case d.Const(value, dim):
                return np.full(dim, value)
            case d.Scale(s, inner):
                return s * self._part(inner, i)
            case d.Sum(terms):
                return sum(self._part(term, i) for term in terms)
            case d.Failover(a, b):
                return self._part(a if self._part_holds(a, i, ok) else b, i)
            case d.IfDefined(inner):
                return self._part(inner, i) if self._part_holds(inner, i, ok) else np.zeros(2)
            case d.Switch(several):
                return self._part(several[i[1] % len(several)], i)
        (inner,) = d.children(part)
        return self._part(inner, moved(part, i))


def is_far(index: Index) -> bool:
    """Whether an Index is outside of all that can be computable."""
    return abs(index[1]) > FAR or abs(index[2]) > FAR // 4


def moved(part: d.Descriptor, index: Index) -> Index:
    """The Index that an operator hands to its argument."""
    n, t, x = index
    match part:
        case d.Offset(_, dt, dx):
            return n, t + dt, x + dx
        case d.Round(_, m):
            return n, t - t % m, x
        case d.ReplaceIndex(_, "t", value):
            return n, value, x
        case d.ReplaceIndex(_, _, value):
            return n, t, value
    return index


def leaves(part: d.Descriptor, index: Index) -> set[tuple[str, Index]]:
    """All rows that a part may read."""
    if isinstance(part, d.Node):
        return {(part.name, index)}
    several = d.children(part)
    if isinstance(part, d.Switch):
        several = (several[index[1] % len(several)],)
    return {leaf for child in several for leaf in leaves(child, moved(part, index))}
