"""Networks as text: a TDNN and a recurrent network in Kaldi's nnet3 notation, trained to name the speaker of a vowel.

Nine speakers, 270 recordings to train on and 370 to test, 7 to 29 frames of 12 cepstrum coefficients each
(`data/README.md`). The configs below say which frames a layer reads. The frames at the edges of a recording have fewer
neighbours (`IfDefined`), statistics over all frames of a recording are taken at t = 0, and one output row is asked
for per recording. Nothing is padded in time: for each batch the compiler finds the rows that each layer has.

Settings were chosen on folds of the training recordings, without the test ones; `--select` scores a grid on one fold.

    python examples/nnet3_vowels.py            # both networks, three seeds
    python examples/nnet3_vowels.py --fast     # both networks, one seed, few epochs
    python examples/nnet3_vowels.py --select   # scores settings on one fold
"""

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure

import raggedarray as ra
from raggedarray import nnet3

DATA = Path(__file__).parent / "data" / "japanese_vowels.npz"
PICTURE = Path(__file__).parent / "out" / "nnet3_vowels.png"
COEFFICIENTS, SPEAKERS = 12, 9
BATCH = 90

DEVIATIONS = "output-stddevs=true variance-floor=1e-4"
POOLED = """
component name=stats type=StatisticsExtractionComponent input-dim={dim}
component name=pool type=StatisticsPoolingComponent input-dim={stats} left-context=0 right-context=99 {deviations}
component name=last type=NaturalGradientAffineComponent input-dim={pooled} output-dim=9 param-stddev=0 bias-stddev=0
component name=posterior type=LogSoftmaxComponent dim=9
component-node name=stats component=stats input={source}
component-node name=pool component=pool input=stats
component-node name=last component=last input=pool
component-node name=posterior component=posterior input=last
output-node name=output input=posterior
""".replace("{deviations}", DEVIATIONS)

TDNN = """
input-node name=input dim=12
component name=tdnn1 type=NaturalGradientAffineComponent input-dim=36 output-dim=128 bias-stddev=0
component name=relu1 type=RectifiedLinearComponent dim=128
component name=norm1 type=NormalizeComponent dim=128
component name=tdnn2 type=NaturalGradientAffineComponent input-dim=384 output-dim=128 bias-stddev=0
component name=relu2 type=RectifiedLinearComponent dim=128
component name=norm2 type=NormalizeComponent dim=128
component-node name=tdnn1 component=tdnn1 input=Append(IfDefined(Offset(input, -1)), input, IfDefined(Offset(input, 1)))
component-node name=relu1 component=relu1 input=tdnn1
component-node name=norm1 component=norm1 input=relu1
component-node name=tdnn2 component=tdnn2 input=Append(IfDefined(Offset(norm1, -2)), norm1, IfDefined(Offset(norm1, 2)))
component-node name=relu2 component=relu2 input=tdnn2
component-node name=norm2 component=norm2 input=relu2
""" + POOLED.format(dim=128, stats=257, pooled=256, source="norm2")

CELL = """
component name={name} type=NaturalGradientAffineComponent input-dim=44 output-dim=256 bias-stddev=0
component name={name}.cell type=LstmNonlinearityComponent cell-dim=64 param-stddev=0.1
component name={name}.project type=NaturalGradientAffineComponent input-dim=64 output-dim=32 bias-stddev=0
component name={name}.carry type=BackpropTruncationComponent dim=96
component-node name={name} component={name} input=Append(input, IfDefined(Offset({name}.r, {step})))
component-node name={name}.cell component={name}.cell input=Append({name}, IfDefined(Offset({name}.c, {step})))
dim-range-node name={name}.new input-node={name}.cell dim-offset=0 dim=64
dim-range-node name={name}.m input-node={name}.cell dim-offset=64 dim=64
component-node name={name}.project component={name}.project input={name}.m
component-node name={name}.carry component={name}.carry input=Append({name}.new, {name}.project)
dim-range-node name={name}.c input-node={name}.carry dim-offset=0 dim=64
dim-range-node name={name}.r input-node={name}.carry dim-offset=64 dim=32
"""

BLSTM = (
    "input-node name=input dim=12\n"
    + CELL.format(name="forward", step=-1)
    + CELL.format(name="backward", step=1)
    + POOLED.format(dim=128, stats=257, pooled=256, source="Append(forward.m, backward.m)")
)
NETWORKS = {"tdnn": TDNN, "blstm": BLSTM}


class Recordings(NamedTuple):
    """Frames ``(n, None, 12)`` and speakers ``(n,)``, on NumPy."""

    frames: ra.RaggedArray
    speakers: np.ndarray


class Settings(NamedTuple):
    """What `select` chooses."""

    learning_rate: float
    offset: float
    epochs: int


CHOSEN = {"tdnn": Settings(3e-3, 0.4, 40), "blstm": Settings(1e-2, 0.4, 40)}


class Run(NamedTuple):
    """A trained network, and how it went."""

    net: nnet3.Network
    accuracy: float
    loss: float
    traces: int
    structures: int
    seconds: float


def load() -> tuple[Recordings, Recordings]:
    """The training and the test recordings, each coefficient at mean 0 and deviation 1 over the training frames."""
    data = np.load(DATA)
    parts = [
        Recordings(ra.from_row_splits(data[f"{part}_values"], data[f"{part}_row_splits"]), data[f"{part}_speaker"])
        for part in ("train", "test")
    ]
    return standardized(*parts)


def standardized(train: Recordings, held: Recordings) -> tuple[Recordings, Recordings]:
    """Both by the mean and the deviation of the training frames."""
    mean, std = ra.mean(train.frames, axis=(0, 1)), ra.std(train.frames, axis=(0, 1))
    scaled = [Recordings((part.frames - mean) / std, part.speakers) for part in (train, held)]
    return scaled[0], scaled[1]


def one_each(frames: ra.RaggedArray) -> dict[str, np.ndarray]:
    """Indexes (n, 0, 0): one output row per recording."""
    n = np.arange(frames.nrows, dtype=np.int32)
    return {"output": np.stack([n, 0 * n, 0 * n], axis=1)}


def log_posterior(net: nnet3.Network, params: Any, frames: ra.RaggedArray, plan: Any) -> jax.Array:
    """``(batch, 9)``: each recording has one output row."""
    return net.apply(params, frames, plan=plan).values[: frames.nrows]


def make_step(net: nnet3.Network, optimizer: optax.GradientTransformation) -> Callable[..., Any]:
    """``step(params, state, frames, plan, speakers) -> (params, state, loss)``, not yet jitted."""

    def loss(params: Any, frames: ra.RaggedArray, plan: Any, speakers: jax.Array) -> jax.Array:
        log_p = log_posterior(net, params, frames, plan)
        return -jnp.mean(jnp.take_along_axis(log_p, speakers[:, None], axis=1))

    def step(params: Any, state: Any, frames: ra.RaggedArray, plan: Any, speakers: jax.Array) -> tuple[Any, Any, Any]:
        value, grads = jax.value_and_grad(loss)(params, frames, plan, speakers)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return step


def with_plan(net: nnet3.Network, frames: ra.RaggedArray, capacity: int) -> tuple[ra.RaggedArray, Any]:
    """The frames on JAX, and the plan of their lengths."""
    batch = ra.asarray(frames, xp="jax", capacity=capacity)
    return batch, net.plan(batch, outputs=one_each(batch))


def fit(config: str, train: Recordings, held: Recordings, settings: Settings, seed: int) -> Run:
    """Train one network and score it."""
    start = time.perf_counter()
    net = nnet3.Network.from_config(config)
    params = net.init(jax.random.key(seed))
    rng = np.random.default_rng(seed)
    count = len(train.speakers)
    batches = -(-count // BATCH)
    schedule = optax.cosine_decay_schedule(settings.learning_rate, settings.epochs * batches)
    optimizer = optax.adam(schedule)
    state = optimizer.init(params)
    traces = ra.testing.count_traces(make_step(net, optimizer))
    step = jax.jit(traces)
    capacity = ra.bucket_size(int(np.sort(train.frames.row_lengths())[-BATCH:].sum()))
    structures = set()
    for _ in range(settings.epochs):
        order = np.resize(rng.permutation(count), (batches, BATCH))
        for rows in order:
            channel = rng.standard_normal((BATCH, COEFFICIENTS), dtype=np.float32)
            frames = train.frames[rows] + settings.offset * channel[:, None, :]
            batch, plan = with_plan(net, frames, capacity)
            structures.add(plan.structure)
            params, state, _ = step(params, state, batch, plan, train.speakers[rows])

    batch, plan = with_plan(net, held.frames, held.frames.capacity)
    log_p = np.asarray(log_posterior(net, params, batch, plan))
    right = log_p.argmax(axis=1) == held.speakers
    held_loss = -log_p[np.arange(len(right)), held.speakers].mean()
    spent = time.perf_counter() - start
    return Run(net, float(right.mean()), float(held_loss), traces.count, len(structures), spent)


def select(train: Recordings, folds: int = 5) -> None:
    """Train on four fifths of the training recordings, score the rest; they lie speaker by speaker, 30 each."""
    fold = np.arange(len(train.speakers)) % 30 // (30 // folds)
    rows = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    kept, held = standardized(*(Recordings(train.frames[r], train.speakers[r]) for r in rows))
    for name, rate, offset, epochs in product(NETWORKS, (3e-3, 1e-2), (0.0, 0.4), (15, 40)):
        settings = Settings(rate, offset, epochs)
        run = fit(NETWORKS[name], kept, held, settings, seed=0)
        print(f"{name}  {settings}  held-out cross entropy {run.loss:.4f}  accuracy {run.accuracy:.4f}", flush=True)


def draw(nets: dict[str, nnet3.Network], path: Path, frames: int = 7) -> None:
    """A dot for each row that a recording of some frames makes each node compute, a line to each row that it reads."""
    figure = Figure(figsize=(6 * len(nets), 6.5), layout="constrained")
    for axes, (name, net) in zip(figure.subplots(1, len(nets), squeeze=False)[0], nets.items(), strict=True):
        x = ra.from_row_lengths(np.zeros((frames, COEFFICIENTS), np.float32), [frames])
        program = nnet3.compile(net, nnet3.request_for(x, outputs=one_each(x))).program
        shown = [k for k, layer in enumerate(program.layers) if layer.kind != "component_input"]
        recurrent = {k for epoch in program.epochs if epoch.recurrent for k in epoch.layers}
        height = {k: y for y, k in enumerate(shown)}
        for k in shown:
            layer = program.layers[k]
            for source, rows in reads(program, layer):
                for to, at in zip(layer.indexes[:, 1], rows, strict=True):
                    if at >= 0:
                        frame = program.layers[source].indexes[at, 1]
                        back = height[source] >= height[k]
                        color = "tab:red" if back else "tab:orange" if frame != to else "0.6"
                        axes.plot([frame, to], [height[source], height[k]], color=color, linewidth=0.7, zorder=1)
            color = "tab:blue" if k in recurrent else "black"
            axes.scatter(layer.indexes[:, 1], np.full(len(layer.indexes), height[k]), s=14, color=color, zorder=2)
        axes.set(title=name, xlabel="t", yticks=list(height.values()))
        axes.set_yticklabels([program.layers[k].name for k in shown])
    figure.suptitle("Rows of each node: reads at other times orange, of earlier waves red, recurrent nodes blue")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)


def reads(program: Any, layer: Any) -> list[tuple[int, np.ndarray]]:
    """The layers that a layer reads and the rows, through the input of a component."""
    if layer.kind == "component":
        inner = program.layers[layer.input]
        if layer.window is not None:
            source, splits = layer.window
            padded = ra.to_padded(ra.from_row_splits(source, splits), fill_value=-1)
            below = reads(program, inner)
            return [(k, np.where(rows >= 0, taken[rows], -1)) for rows in padded.T for k, taken in below]
        return reads(program, inner)
    return [(term.source, term.rows) for part in layer.parts for term in part.terms]


def main() -> None:
    """Print, draw, train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="one seed, few epochs")
    parser.add_argument("--select", action="store_true", help="score settings on a split of the training recordings")
    args = parser.parse_args()
    train, test = load()
    if args.select:
        return select(train)

    nets = {name: nnet3.Network.from_config(config) for name, config in NETWORKS.items()}
    short = ra.from_row_lengths(np.zeros((6, COEFFICIENTS), np.float32), [4, 2])
    print(nnet3.compile(nets["blstm"], nnet3.request_for(short, outputs=one_each(short))))
    draw(nets, PICTURE)
    seeds: Sequence[int] = (0,) if args.fast else (0, 1, 2)
    for name, config in NETWORKS.items():
        settings = CHOSEN[name]._replace(epochs=6) if args.fast else CHOSEN[name]
        runs = [fit(config, train, test, settings, seed) for seed in seeds]
        each = ", ".join(f"seed {seed} {run.accuracy:.4f}" for seed, run in zip(seeds, runs, strict=True))
        mean = np.mean([run.accuracy for run in runs])
        print(f"{name}: test accuracy  {each}, mean {mean:.4f}; {runs[0].net.num_parameters} parameters")
        compiled, spent = runs[0].traces, sum(run.seconds for run in runs)
        print(f"{name}: training step compiled {compiled} times, {spent:.0f} s")
        assert compiled == runs[0].structures, "a step was compiled for lengths alone"
        assert args.fast or mean >= 0.96, "the networks learn to name the speaker"
    print(f"picture of the rows of each node: {PICTURE.relative_to(Path(__file__).parents[1])}")


if __name__ == "__main__":
    main()
