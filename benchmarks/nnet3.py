"""Compiling nnet3 requests on the host: the program for ragged batches, and the commands made of it."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from raggedarray import nnet3

from .nnet3_forward import config

UTTERANCES = 64


def lstm(layers: int, dim: int = 64) -> str:
    """Projected LSTMs that look three frames back, on spliced frames."""
    lines = ["input-node name=input dim=40"]

    def node(name: str, kind: str, source: str) -> None:
        lines.append(f"component name={name} type={kind}")
        lines.append(f"component-node name={name} component={name} input={source}")

    last, width = "Append(Offset(input, -1), input, Offset(input, 1))", 120
    for k in range(layers):
        name = f"l{k}"
        back = f"IfDefined(Offset({name}.c, -3))"
        inside = f"Append({last}, IfDefined(Offset({name}.m, -3)))"
        node(f"{name}.w", f"AffineComponent input-dim={width + dim} output-dim={4 * dim}", inside)
        node(f"{name}.lstm", f"LstmNonlinearityComponent cell-dim={dim}", f"Append({name}.w, {back})")
        lines.append(f"dim-range-node name={name}.c input-node={name}.lstm dim-offset=0 dim={dim}")
        lines.append(f"dim-range-node name={name}.m input-node={name}.lstm dim-offset={dim} dim={dim}")
        last, width = f"{name}.m", dim
    lines.append(f"output-node name=output input={last}")
    return "\n".join(lines)


def request(net: nnet3.Network, frames: int, seed: int) -> nnet3.ComputationRequest:
    """A batch of utterances of about so many frames, with the context that the network needs."""
    lengths = np.random.default_rng(seed).normal(frames, frames / 5, UTTERANCES).astype(int)
    left, right = net.left_context, net.right_context

    def rows(before: int, after: int) -> np.ndarray:
        counts = lengths + before + after
        n = np.repeat(np.arange(UTTERANCES), counts)
        t = np.arange(len(n)) - np.repeat(np.cumsum(counts) - counts, counts) - before
        return np.stack([n, t, 0 * t], axis=1)

    return nnet3.ComputationRequest({"input": rows(left, right)}, {"output": rows(0, 0)})


def cpu_seconds(f: Callable[[], Any]) -> tuple[float, Any]:
    """Time on one core, since what runs beside must not count; and the result."""
    start = time.process_time()
    out = f()
    return time.process_time() - start, out


def measured(net: nnet3.Network, frames: int) -> tuple[int, float, float]:
    """Rows of all layers, milliseconds of the program and of its commands; each batch has other lengths."""
    batches = [request(net, frames, seed) for seed in range(3)]
    made = [cpu_seconds(partial(nnet3.compile, net, batch)) for batch in batches]
    computation = made[-1][1]
    commands, _ = cpu_seconds(lambda: computation.commands)
    total = sum(len(layer.indexes) for layer in computation.program.layers)
    return total, min(seconds for seconds, _ in made) * 1e3, commands * 1e3


def rows() -> list[tuple[str, int, int, float, float]]:
    """Case, frames of an utterance, rows of all layers, milliseconds of the program and of its commands."""
    out = []
    for name, text in (("TDNN-F of 16 layers", config(40, 64, 16, 32)), ("LSTM of 3 layers", lstm(3))):
        net = nnet3.Network.from_config(text)
        nnet3.compile(net, request(net, 50, 9))
        out += [(name, frames, *measured(net, frames)) for frames in (150, 300, 600)]
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
