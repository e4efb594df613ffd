"""Tell solids apart by points on their surface: a small PointNet on clouds of different sizes (Qi et al., 2017).

Six solids, each cloud with its own number of points (20 to 600, most of them small), its own proportions, rotation
and noise, and only the side that a camera sees. A perceptron with batch normalisation sees every point; the largest
value of each feature over a cloud describes it. Clouds are rows of a ragged array ``(n, None, 3)``: nothing is
sampled to a common size, and points of different clouds never meet. All batches have one capacity, so the training
step compiles once.

The learning rate and the width were chosen on clouds held out of the training set (`--select` prints that table);
the test clouds were scored once, after the last epoch.

    python examples/point_cloud.py            # about two minutes
    python examples/point_cloud.py --fast     # few clouds, few epochs
    python examples/point_cloud.py --select   # how the settings were chosen
"""

import argparse
import time
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure

import raggedarray as ra

PICTURE = Path(__file__).parent / "out" / "point_cloud.png"
SOLIDS = ("ball", "box", "cylinder", "cone", "torus", "tetrahedron")
SMALLEST, LARGEST = 20, 600
BATCH = 64


class Clouds(NamedTuple):
    """Points ``(n, None, 3)`` and solids ``(n,)``, on NumPy."""

    points: ra.RaggedArray
    solids: np.ndarray


class Settings(NamedTuple):
    """What `select` chooses."""

    learning_rate: float = 3e-3
    width: int = 64
    epochs: int = 12


Params = dict[str, Any]
Statistics = list[tuple[jax.Array, jax.Array]]


def surface(solid: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Points on the surface of a solid of unit size: ``[n, 3]``."""
    u, v, w = rng.random((3, n))
    around = 2 * np.pi * u
    circle = np.stack((np.cos(around), np.sin(around)), axis=1)
    if solid == "ball":
        points = rng.standard_normal((n, 3))
        return points / np.linalg.norm(points, axis=1, keepdims=True)
    if solid == "box":
        points = rng.uniform(-1, 1, (n, 3))
        points[np.arange(n), rng.integers(0, 3, n)] = np.sign(v - 0.5)
        return points
    if solid == "cylinder":  # two lids of a quarter of the surface each
        radius = np.where(w < 0.5, np.sqrt(v), 1.0)
        return np.column_stack((circle * radius[:, None], np.where(w < 0.5, np.sign(w - 0.25), 2 * v - 1)))
    if solid == "cone":
        radius = np.sqrt(v)
        return np.column_stack((circle * radius[:, None], np.where(w < 0.4, -1.0, 1 - 2 * radius)))
    if solid == "torus":
        tube = 2 * np.pi * v
        return np.column_stack((circle * (1 + 0.4 * np.cos(tube))[:, None], 0.4 * np.sin(tube)))
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    faces = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])[rng.integers(0, 4, n)]
    return np.einsum("nk,nkd->nd", rng.dirichlet(np.ones(3), n), corners[faces])


def cloud(solid: str, rng: np.random.Generator) -> np.ndarray:
    """A solid as a camera sees it: stretched, turned, half of it hidden, with noise."""
    n = int(np.clip(rng.lognormal(np.log(100), 0.9), SMALLEST, LARGEST))
    points = surface(solid, 2 * n, rng) * rng.uniform(0.6, 1.4, 3)
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    points = points @ turn
    near = np.argsort(points[:, 2] + 0.3 * rng.standard_normal(2 * n))[:n]
    return (points[near] + 0.03 * rng.standard_normal((n, 3)) + rng.standard_normal(3)).astype(np.float32)


def draw_clouds(count: int, seed: int) -> Clouds:
    """As many clouds, all solids equally often."""
    rng = np.random.default_rng(seed)
    solids = np.arange(count) % len(SOLIDS)
    return Clouds(ra.from_rows([cloud(SOLIDS[i], rng) for i in solids]), solids)


def init_params(key: jax.Array, width: int) -> tuple[Params, Statistics]:
    """Three layers per point, two per cloud, and the running statistics of the former."""
    sizes = [3, width // 2, width, 4 * width]
    keys = iter(jax.random.split(key, len(sizes) + 1))
    he, zeros = jax.nn.initializers.he_normal(), jnp.zeros
    params = {
        "points": [{"w": he(next(keys), (m, n)), "scale": jnp.ones(n), "shift": zeros(n)} for m, n in pairwise(sizes)],
        "hidden": {"w": he(next(keys), (sizes[-1], width)), "b": zeros(width)},
        "out": {"w": 0.1 * he(next(keys), (width, len(SOLIDS))), "b": zeros(len(SOLIDS))},
    }
    return params, [(zeros(n), jnp.ones(n)) for n in sizes[1:]]


def features(params: Params, statistics: Statistics, points: ra.RaggedArray, training: bool) -> Any:
    """Features of every point, ``(n, None, features)``, and new running statistics."""
    centred = points - ra.mean(points, axis=1, keepdims=True)
    size = ra.sqrt(ra.mean(ra.sum(ra.square(centred), axis=2), axis=1))
    hidden, running = centred / size[:, None, None], []
    for layer, old in zip(params["points"], statistics, strict=True):
        hidden = ra.nn.linear(hidden, layer["w"])
        hidden, new = ra.nn.batch_norm(hidden, old, layer["scale"], layer["shift"], training=training)
        hidden = ra.nn.relu(hidden)
        running.append(new)
    return hidden, running


def logits_of(params: Params, statistics: Statistics, points: ra.RaggedArray, key: Any = None) -> Any:
    """``(n, None, 3)`` to ``(n, solids)``, and new running statistics; with a key in training."""
    hidden, statistics = features(params, statistics, points, training=key is not None)
    pooled = ra.nn.global_max_pool(hidden)
    pooled = jax.nn.relu(pooled @ params["hidden"]["w"] + params["hidden"]["b"])
    if key is not None:
        pooled = ra.nn.dropout(pooled, 0.3, key=key)
    return pooled @ params["out"]["w"] + params["out"]["b"], statistics


def make_step(optimizer: optax.GradientTransformation) -> Callable[..., Any]:
    """``step(state, points, solids, key) -> (state, loss)``, not yet jitted."""

    def loss(params: Params, statistics: Statistics, points: ra.RaggedArray, solids: Any, key: Any) -> Any:
        logits, statistics = logits_of(params, statistics, points, key)
        return ra.nn.cross_entropy(logits, solids, label_smoothing=0.1), statistics

    def step(state: Any, points: ra.RaggedArray, solids: Any, key: Any) -> Any:
        params, statistics, opt_state = state
        (value, statistics), grads = jax.value_and_grad(loss, has_aux=True)(params, statistics, points, solids, key)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), statistics, opt_state), value

    return step


class Run(NamedTuple):
    """A trained model and how it came about."""

    params: Params
    statistics: Statistics
    losses: np.ndarray
    traces: int
    capacity: int
    seconds: float


def fit(train: Clouds, settings: Settings, seed: int = 0, log: Callable[[str], None] = print) -> Run:
    """Train for some epochs, on minibatches of one capacity."""
    rng = np.random.default_rng(seed)
    count = len(train.solids) // BATCH
    orders = [rng.permutation(len(train.solids))[: count * BATCH].reshape(count, BATCH) for _ in range(settings.epochs)]
    lengths = train.points.row_lengths()
    capacity = ra.bucket_size(max(int(lengths[rows].sum()) for order in orders for rows in order), mantissa_bits=4)
    optimizer = optax.adam(optax.cosine_decay_schedule(settings.learning_rate, settings.epochs * count))
    traces = ra.testing.count_traces(make_step(optimizer))
    step = jax.jit(traces)
    params, statistics = init_params(jax.random.key(seed), settings.width)
    state = (params, statistics, optimizer.init(params))
    keys = iter(jax.random.split(jax.random.key(seed + 1), settings.epochs * count))
    losses, start = [], time.perf_counter()
    for epoch, order in enumerate(orders):
        values = []
        for rows in order:
            points = ra.asarray(train.points[rows], xp="jax", capacity=capacity)
            state, loss = step(state, points, train.solids[rows], next(keys))
            values.append(loss)
        losses.append(float(np.mean(values)))
        log(f"epoch {epoch + 1:2}  loss {losses[-1]:.3f}")
    seconds = time.perf_counter() - start
    return Run(state[0], state[1], np.array(losses), traces.count, capacity, seconds)


@jax.jit
def _predict(params: Params, statistics: Statistics, points: ra.RaggedArray) -> jax.Array:
    return jnp.argmax(logits_of(params, statistics, points)[0], axis=-1)


def predict(run: Run, clouds: Clouds) -> np.ndarray:
    """The most likely solid of each cloud."""
    return np.asarray(_predict(run.params, run.statistics, ra.asarray(clouds.points, xp="jax")))


def deciding_points(run: Run, points: ra.RaggedArray) -> np.ndarray:
    """Which points of one cloud hold the largest value of some feature: all that the classifier sees of it."""
    hidden, _ = features(run.params, run.statistics, points.to("jax"), training=False)
    return np.unique(np.asarray(ra.argmax(hidden, axis=1))[0])


def plot(run: Run, test: Clouds, right: np.ndarray, path: Path) -> None:
    """A cloud of each solid with its deciding points, and accuracy by size."""
    figure = Figure(figsize=(11, 5.6), layout="constrained")
    lengths = test.points.row_lengths()
    for i, solid in enumerate(SOLIDS):
        axes = figure.add_subplot(2, 4, i + 1 + i // 3, projection="3d")
        row = max(np.flatnonzero((test.solids == i) & right), key=lambda r: min(lengths[r], 400))
        points, few = test.points[row], deciding_points(run, test.points[row : row + 1])
        axes.scatter(*points.T, s=2, color="0.75")
        axes.scatter(*points[few].T, s=7, color="tab:red")
        axes.set_title(f"{solid}: {len(few)} of {len(points)} points", fontsize=9)
        axes.set_axis_off()
    edges = np.array([SMALLEST, 40, 80, 160, LARGEST + 1])
    share = [right[(lengths >= a) & (lengths < b)].mean() for a, b in pairwise(edges)]
    axes = figure.add_subplot(2, 4, 4)
    axes.bar([f"{a}-{b - 1}" for a, b in pairwise(edges)], share, color="tab:blue")
    axes.set(ylim=(0, 1), title="test accuracy by points")
    axes.tick_params(axis="x", labelsize=7)
    axes = figure.add_subplot(2, 4, 8)
    axes.plot(np.arange(1, len(run.losses) + 1), run.losses)
    axes.set(xlabel="epoch", title="training loss")
    figure.suptitle("Clouds, and in red the points that decide")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def select(train: Clouds) -> None:
    """Accuracy on the last sixth of the training clouds, trained on the others."""
    held = len(train.solids) * 5 // 6
    kept, rest = (Clouds(train.points[rows], train.solids[rows]) for rows in (slice(held), slice(held, None)))
    for rate, width in product((1e-3, 3e-3), (64, 128)):
        settings = Settings(rate, width)
        run = fit(kept, settings, log=lambda line: None)
        print(f"{settings}  held-out accuracy {np.mean(predict(run, rest) == rest.solids):.4f}", flush=True)


def main() -> None:
    """Train, score, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="few clouds, few epochs")
    parser.add_argument("--select", action="store_true", help="score settings on held-out training clouds")
    args = parser.parse_args()
    train = draw_clouds(640 if args.fast else 1800, seed=0)
    if args.select:
        return select(train)
    run = fit(train, Settings(width=48, epochs=6) if args.fast else Settings())
    test = draw_clouds(300 if args.fast else 1200, seed=1)
    right = predict(run, test) == test.solids
    plot(run, test, right, PICTURE)
    used = train.points.row_lengths().mean() * BATCH
    per_second = used * len(run.losses) * (len(train.solids) // BATCH) / run.seconds
    print(f"test accuracy   {right.mean():.4f} on {len(right)} clouds (chance {1 / len(SOLIDS):.2f})")
    print(f"training step   compiled: {run.traces}, {per_second:,.0f} points per second")
    print(f"points in use   ragged {used / run.capacity:.0%} of {run.capacity}, padded {used / (BATCH * LARGEST):.0%}")
    print(f"picture         {PICTURE.relative_to(Path(__file__).parents[1])}")
    assert run.traces == 1, "the training step was compiled more than once"
    assert right.mean() > (0.4 if args.fast else 0.7)


if __name__ == "__main__":
    main()
