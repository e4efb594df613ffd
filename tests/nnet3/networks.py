"""Random networks and requests, as text and as arrays, for tests that hold one way of running them against another."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import hypothesis.strategies as st
import numpy as np

from raggedarray import nnet3

from .oracle import Oracle

DIM = 2
"""Columns of every node, so that any node can stand anywhere in a descriptor."""
ROWWISE = ["NoOpComponent dim={i}", "TanhComponent dim={i}", "RectifiedLinearComponent dim={i}"]
MIXING = ["AffineComponent input-dim={i} output-dim=2", "LinearComponent input-dim={i} output-dim=2"]
TDNN = "TdnnComponent input-dim={i} output-dim=2 time-offsets={offsets}"


@dataclass
class Case:
    """A config, and a request of rows that can all be computed."""

    config: str
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    params: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)


class Writer:
    """Writes a random config line by line."""

    def __init__(self, random: Random, recurrent: bool, wide: bool) -> None:
        self.random, self.wide = random, wide
        self.lines = ["input-node name=input dim=2", "input-node name=ivector dim=2"]
        self.names = ["input", "input", "input"]
        for k in range(random.randint(1, 4)):
            self.layer(k)
        if recurrent:
            for k in range(random.randint(1, 2)):
                self.recurrence(k)
        for k in range(random.randint(1, 2)):
            self.lines.append(f"output-node name=output{k or ''} input={self.append()}")
        self.lines = [self.lines[0], self.lines[1], *random.sample(self.lines[2:], len(self.lines) - 2)]

    def layer(self, k: int) -> None:
        name = f"h{k}"
        width = self.random.randint(1, 2)
        inside = self.append(width)
        if self.random.random() < 0.3:
            offsets = sorted(self.random.sample(range(-2, 3), self.random.randint(1, 3)))
            kind = TDNN.format(i=DIM * width, offsets=",".join(map(str, offsets)))
        elif width > 1 or self.random.random() < 0.5:
            kind = self.random.choice(MIXING).format(i=DIM * width)
        else:
            kind = self.random.choice(ROWWISE).format(i=DIM)
        self.component(name, kind, inside)
        self.names.append(name)
        if self.random.random() < 0.2:
            self.lines.append(f"dim-range-node name={name}.range input-node={name} dim-offset=0 dim=2")
            self.names.append(f"{name}.range")

    def recurrence(self, k: int) -> None:
        """Two nodes in a loop that lives where the input does, forward or backward in time."""
        a, b, way = f"r{k}", f"s{k}", self.random.choice([-3, -2, -1, 1, 2])
        back = f"IfDefined(Offset({b}, {way}))"
        if self.wide and self.random.random() < 0.5:
            back = f"IfDefined(Offset({b}, {self.random.randint(0, 1) * way}, -1))"
        if self.random.random() < 0.3:
            back = (
                f"Failover(Offset({b}, {way}), {self.random.choice([f'IfDefined(Offset({b}, {3 * way}))', 'input'])})"
            )
        first = f"Append(input, {back})" if self.random.random() < 0.5 else f"Append(input, Sum(input, {back}))"
        self.component(a, MIXING[0].format(i=2 * DIM), first)
        second = a if self.random.random() < 0.7 else f"Sum({a}, IfDefined(Offset({b}, {2 * way})))"
        self.component(b, "TanhComponent dim=2", second)
        self.names += [a, b]

    def component(self, name: str, kind: str, inside: str) -> None:
        self.lines.append(f"component name={name}.c type={kind}")
        self.lines.append(f"component-node name={name} component={name}.c input={inside}")

    def append(self, width: int | None = None) -> str:
        parts = [self.term(2) for _ in range(width or self.random.randint(1, 3))]
        if len(parts) == 1:
            return parts[0]
        return f"Append({', '.join(parts)})"

    def term(self, depth: int) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.25:
            return r.choice(self.names)
        t = self.term(depth - 1)
        k = r.randint(0, 11)
        if self.wide and r.random() < 0.3:
            x = f"ReplaceIndex({t}, x, {r.randint(0, 1)})"
            return r.choice([f"Offset({t}, {r.randint(-1, 1)}, {r.choice([-1, 1])})", x])
        if k <= 2:
            return f"Offset({t}, {r.randint(-2, 2)})"
        if k == 3:
            return f"Round({t}, {r.randint(1, 3)})"
        if k == 4:
            return f"Switch({t}, {self.term(depth - 1)})"
        if k == 5:
            return r.choice([f"ReplaceIndex({t}, t, {r.randint(0, 1)})", "ReplaceIndex(ivector, t, 0)"])
        if k == 6:
            return f"Scale({r.choice([-1, 0.5, 2])}, {t})"
        if k == 7:
            return f"Sum({t}, {self.term(depth - 1)})"
        if k == 8:
            return f"Failover({t}, {self.term(depth - 1)})"
        if k == 9:
            return f"IfDefined({t})"
        if k == 10:
            return f"Sum({t}, Const({r.choice([-1, 0.25])}, 2))"
        return f"Sum({t}, IfDefined({self.term(depth - 1)}), {self.term(0)})"


@st.composite
def networks(draw: Any, *, recurrent: bool | None = None) -> Case:
    """Networks with a request, parameters and input values; rows of the request are in a random order."""
    random = draw(st.randoms(use_true_random=False))
    return make(random, random.random() < 0.5 if recurrent is None else recurrent)


def make(random: Random, recurrent: bool) -> Case:
    """The case that a source of random numbers gives."""
    wide = random.random() < 0.2
    config = "\n".join(Writer(random, recurrent, wide).lines) + "\n"
    net = nnet3.Network.from_config(config)
    frames, sequences = [], range(random.randint(1, 3))
    for n in sequences:
        first, length = random.randint(-3, 3), random.randint(1, 8)
        several = range(first, first + length)
        frames += [(3 * n + 1, t, x) for t in several for x in range(1 + wide) if random.random() < 0.95]
    ivector = [(3 * n + 1, 0, 0) for n in sequences]
    inputs = {"input": random.sample(frames, len(frames)), "ivector": ivector}
    rng = np.random.default_rng(random.randint(0, 10**6))
    params = {
        name: {leaf: rng.integers(-8, 9, np.shape(a)).astype(np.float32) / 8 for leaf, a in shapes(component).items()}
        for name, component in net.components.items()
        if shapes(component)
    }
    values = {name: rng.integers(-8, 9, (len(rows), DIM)).astype(np.float32) / 4 for name, rows in inputs.items()}
    oracle = Oracle(config, {name: dict(zip(rows, values[name], strict=True)) for name, rows in inputs.items()}, params)
    wanted = [(3 * n + 1, t, x) for n in sequences for t in range(-5, 12) for x in range(1 + wide)]
    outputs = {}
    for name in net.output_dims:
        rows = [index for index in random.sample(wanted, len(wanted)) if oracle.computable(name, index)]
        if rows:
            outputs[name] = np.array(rows[: random.randint(1, len(rows))])
    arrays = {name: np.array(rows, np.int32).reshape(-1, 3) for name, rows in inputs.items()}
    return Case(config, arrays, outputs, params, values)


def shapes(component: Any) -> dict[str, tuple[int, ...]]:
    """Names of numbers and zeros of their shapes."""
    columns, rows = component.input_dim, component.output_dim
    match component.kind:
        case "AffineComponent":
            return {"linear_params": np.zeros((rows, columns)), "bias_params": np.zeros(rows)}
        case "LinearComponent":
            return {"params": np.zeros((rows, columns))}
        case "TdnnComponent":
            taps = len(component.reads.offsets)
            return {"linear_params": np.zeros((rows, taps * columns)), "bias_params": np.zeros(rows)}
    return {}
