"""Segment softmax for graphs: attention over each node's incoming edges, as an example of ragged rows, not as an API.

Edges are grouped by the node they point at: row ``i`` of ``senders``, a ragged array ``(nodes, None)``, lists the
nodes with an edge to node ``i``. That one array is the graph. Attention then is a lookup, a softmax along each row and
a sum: nodes without neighbours are empty rows, and slack takes the place of padding edges. The layer is that of
Veličković et al., Graph attention networks, 2018, with several heads.

The data are drawn here, so that the right answer is known: random graphs of 120 to 200 nodes in three communities,
most edges within one. A few nodes of each graph tell their community, the others must find theirs from the edges. A
network that sees each node alone cannot do better than guess. Every graph has other sizes; the step compiles once.

    python examples/graph_network.py            # 400 steps
    python examples/graph_network.py --fast     # 120 steps
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure

import raggedarray as ra

PICTURE = Path(__file__).parent / "out" / "graph_network.png"
COMMUNITIES, TOLD = 3, 0.1
NODES, EDGES = 256, 3072
"""Capacities."""
HEADS, WIDTH, LAYERS = 4, 16, 3

Params = dict[str, Any]


class Graph(NamedTuple):
    """Senders of each node's edges ``(nodes, None)``, features ``(nodes, 3)``, communities and which are asked for."""

    senders: ra.RaggedArray
    features: np.ndarray
    community: np.ndarray
    asked: np.ndarray


def draw(rng: np.random.Generator) -> Graph:
    """A random graph, padded with nodes that have no edges and are not asked for."""
    nodes = int(rng.integers(120, 201))
    community = np.full(NODES, -1)
    community[:nodes] = rng.integers(0, COMMUNITIES, nodes)
    same = community[:, None] == community[None, :]
    edge = np.triu(rng.random((NODES, NODES)) < np.where(same, 0.1, 0.01), k=1)
    edge[nodes:] = edge[:, nodes:] = False
    edge |= edge.T
    receivers, senders = np.nonzero(edge)
    told = np.zeros(NODES, bool)
    told[: int(TOLD * nodes)] = True
    features = np.where(told[:, None], np.eye(COMMUNITIES)[community], 0).astype(np.float32)
    grouped = ra.from_row_ids(senders.astype(np.int32), receivers, NODES)
    return Graph(ra.asarray(grouped, xp="jax", capacity=EDGES), features, community, (community >= 0) & ~told)


def init_params(key: jax.Array) -> Params:
    """A few layers of graph attention, and a classifier of nodes."""
    normal, total = jax.random.normal, HEADS * WIDTH
    keys = iter(jax.random.split(key, 4 * LAYERS + 1))
    layers = []
    for n in range(LAYERS):
        size = COMMUNITIES if n == 0 else total
        layers.append({
            "w": normal(next(keys), (size, total)) / size**0.5,
            "own": normal(next(keys), (size, total)) / size**0.5,
            "to": normal(next(keys), (HEADS, WIDTH)) / WIDTH**0.5,
            "from": normal(next(keys), (HEADS, WIDTH)) / WIDTH**0.5,
        })  # fmt: skip
    return {"layers": layers, "out": 0.1 * normal(next(keys), (total, COMMUNITIES))}


def attend(layer: Params, nodes: jax.Array, senders: ra.RaggedArray) -> jax.Array:
    """``(nodes, size)`` to ``(nodes, HEADS * WIDTH)``: each node's mean of its neighbours, weighted by attention."""
    seen = (nodes @ layer["w"]).reshape(-1, HEADS, WIDTH)
    to, by = (jnp.sum(seen * layer[side][None], axis=-1) for side in ("to", "from"))
    scores = ra.nn.leaky_relu(ra.nn.embedding(senders, by) + to[:, None], negative_slope=0.2)
    weights = ra.nn.softmax(scores, axis=1)  # per receiver, over its edges
    messages = ra.nn.embedding(senders, seen) * weights[..., None]
    return ra.sum(messages, axis=1).reshape(-1, HEADS * WIDTH)


def attend_by_hand(layer: Params, nodes: np.ndarray, graph: Graph) -> np.ndarray:
    """The same, a node at a time: the check."""
    seen = np.asarray(nodes @ layer["w"]).reshape(-1, HEADS, WIDTH)
    to, by = (np.sum(seen * np.asarray(layer[side]), axis=-1) for side in ("to", "from"))
    out = np.zeros((len(nodes), HEADS, WIDTH), np.float32)
    for i, row in enumerate(graph.senders.to("numpy")):
        if len(row):
            score = by[row] + to[i]
            score = np.exp(np.where(score > 0, score, 0.2 * score))
            out[i] = np.einsum("eh,ehw->hw", score / score.sum(axis=0), seen[row])
    return out.reshape(-1, HEADS * WIDTH)


def logits(params: Params, features: jax.Array, senders: ra.RaggedArray) -> jax.Array:
    """Of each node's community."""
    nodes = features
    for layer in params["layers"]:
        nodes = jax.nn.elu(attend(layer, nodes, senders) + nodes @ layer["own"])
    return nodes @ params["out"]


def loss(params: Params, features: jax.Array, senders: ra.RaggedArray, community: jax.Array, asked: jax.Array) -> Any:
    """Cross entropy over the nodes that are asked for, and their accuracy."""
    out = logits(params, features, senders)
    each = optax.softmax_cross_entropy_with_integer_labels(out, jnp.where(asked, community, 0))
    right = jnp.argmax(out, axis=-1) == community
    return jnp.sum(jnp.where(asked, each, 0)) / jnp.sum(asked), jnp.sum(right & asked) / jnp.sum(asked)


def train(steps: int, seed: int = 0) -> tuple[Params, np.ndarray, Any]:
    """Parameters, the accuracy of every step on its new graph, and the count of compilations."""
    optimizer = optax.adam(optax.cosine_decay_schedule(5e-3, steps))
    params, rng = init_params(jax.random.key(seed)), np.random.default_rng(seed)
    moments = optimizer.init(params)

    @ra.testing.count_traces
    def step(params: Params, moments: Any, *graph: Any) -> Any:
        (_, accuracy), grads = jax.value_and_grad(loss, has_aux=True)(params, *graph)
        updates, moments = optimizer.update(grads, moments, params)
        return optax.apply_updates(params, updates), moments, accuracy

    jitted, accuracies = jax.jit(step), np.zeros(steps)
    for n in range(steps):
        g = draw(rng)
        params, moments, accuracies[n] = jitted(params, moments, g.features, g.senders, g.community, g.asked)
    return params, accuracies, step


def propagated(graph: Graph, rounds: int = 20) -> float:
    """Accuracy of label propagation, by which told nodes hand on their community: a rule that learns nothing."""
    told, belief = graph.features.any(axis=1, keepdims=True), graph.features
    edges = graph.senders.to("numpy")
    for _ in range(rounds):
        total = ra.sum(ra.nn.embedding(edges, belief), axis=1)
        total = total / np.maximum(total.sum(axis=1, keepdims=True), 1e-9)
        belief = np.where(told, graph.features, total)
    return float(np.mean(belief.argmax(axis=1)[graph.asked] == graph.community[graph.asked]))


def plot(accuracies: np.ndarray, test: float, rule: float, path: Path) -> None:
    """Accuracy on the graph of each step, before the step saw it."""
    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(accuracies, ".", markersize=3, alpha=0.5, label="graph of the step")
    axes.axhline(test, color="tab:orange", label="mean of 40 other graphs")
    axes.axhline(rule, color="tab:green", linestyle="--", label="label propagation on them")
    axes.axhline(1 / COMMUNITIES, color="gray", linestyle=":", label="a guess")
    axes.set(xlabel="step", ylabel="nodes named right", ylim=(0, 1))
    axes.legend(loc="lower right")
    figure.suptitle("Finding the community of a node by attention over its edges")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Check a layer, train, test, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="few steps")
    args = parser.parse_args()
    graph = draw(np.random.default_rng(7))
    layer = init_params(jax.random.key(7))["layers"][0]
    got = attend(layer, jnp.asarray(graph.features), graph.senders)
    np.testing.assert_allclose(got, attend_by_hand(layer, graph.features, graph), rtol=1e-5, atol=1e-6)

    start = time.perf_counter()
    params, accuracies, step = train(120 if args.fast else 400)
    seconds = time.perf_counter() - start
    rng, score = np.random.default_rng(1000), jax.jit(loss)
    graphs = [draw(rng) for _ in range(40)]
    test = float(np.mean([score(params, g.features, g.senders, g.community, g.asked)[1] for g in graphs]))
    rule = float(np.mean([propagated(g) for g in graphs]))
    plot(accuracies, test, rule, PICTURE)
    edges = [int(g.senders.size) for g in graphs]
    print(f"layer           equal to a loop over nodes, {int(graph.senders.size)} edges")
    print(
        f"test accuracy   {test:.3f} on 40 graphs of {min(edges)} to {max(edges)} edges, label propagation {rule:.3f}"
    )
    print(f"training        {len(accuracies)} graphs, {seconds:.0f} s, compiled {step.count} time")
    print(f"picture         {PICTURE.relative_to(Path(__file__).parents[1])}")
    assert step.count == 1, "the training step was compiled more than once"
    assert test > (0.6 if args.fast else 0.8)


if __name__ == "__main__":
    main()
