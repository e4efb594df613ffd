"""Name the speaker of a spoken vowel: a jitted training loop on minibatches of recordings of different lengths.

Nine speakers, 270 recordings to train on and 370 to test, 7 to 29 frames of 12 cepstrum coefficients each
(`data/README.md`). Batches are picked and augmented as NumPy-backed ragged arrays, and move to JAX with one
fixed capacity, so the training step compiles once. A perceptron sees every frame; a softmax over the ragged
axis, the mean and the standard deviation pool the frames of a recording. The same model with padding and
masks, written by hand, is timed next to it.

The settings below were chosen without the test recordings: 5-fold cross-validation on the training ones, each
fold six consecutive recordings of every speaker, least held-out cross entropy. `--select` prints that table.
The test recordings are scored after each epoch for the learning curve alone; the last epoch counts.

    python examples/speaker_from_speech.py            # three seeds
    python examples/speaker_from_speech.py --fast     # one seed, few epochs
    python examples/speaker_from_speech.py --select   # how the settings were chosen
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

DATA = Path(__file__).parent / "data" / "japanese_vowels.npz"
PICTURE = Path(__file__).parent / "out" / "speaker_from_speech.png"

COEFFICIENTS, SPEAKERS, LONGEST = 12, 9, 29
WIDTH = 256
BATCH = 90

Params = dict[str, jax.Array]
State = tuple[Params, optax.OptState]


class Recordings(NamedTuple):
    """Frames ``(n, None, 12)`` and speakers ``(n,)``, on NumPy."""

    frames: ra.RaggedArray
    speakers: np.ndarray


class Settings(NamedTuple):
    """What `select` chooses."""

    learning_rate: float = 3e-3
    offset: float = 0.4
    epochs: int = 40


class Run(NamedTuple):
    """Training histories ``[epochs, seeds]``, and what made them."""

    loss: np.ndarray
    held_loss: np.ndarray
    held_accuracy: np.ndarray
    step: Callable[..., Any]
    traces: ra.testing.Traced
    optimizer: optax.GradientTransformation
    schedule: np.ndarray
    capacity: int


def load() -> tuple[Recordings, Recordings]:
    """The training and the test recordings."""
    data = np.load(DATA)
    train, test = (
        Recordings(ra.from_row_splits(data[f"{part}_values"], data[f"{part}_row_splits"]), data[f"{part}_speaker"])
        for part in ("train", "test")
    )
    return train, test


def standardized(train: Recordings, held: Recordings) -> tuple[Recordings, Recordings]:
    """Both, with each coefficient at mean 0 and deviation 1 over the training frames."""
    mean, std = ra.mean(train.frames, axis=(0, 1)), ra.std(train.frames, axis=(0, 1))
    scaled = [Recordings((part.frames - mean) / std, part.speakers) for part in (train, held)]
    return scaled[0], scaled[1]


def init_params(key: jax.Array) -> Params:
    """Two layers per frame, one attention score, a linear classifier on three pooled vectors."""
    keys = jax.random.split(key, 4)
    he = jax.nn.initializers.he_normal()
    small = jax.nn.initializers.normal(0.01)
    return {
        "w1": he(keys[0], (COEFFICIENTS, WIDTH)),
        "b1": jnp.zeros(WIDTH),
        "w2": he(keys[1], (WIDTH, WIDTH)),
        "b2": jnp.zeros(WIDTH),
        "score": small(keys[2], (WIDTH, 1)),
        "w_out": small(keys[3], (3 * WIDTH, SPEAKERS)),
        "b_out": jnp.zeros(SPEAKERS),
    }


def ragged_logits(params: Params, frames: ra.RaggedArray) -> jax.Array:
    """``(n, None, 12)`` to ``(n, 9)``."""
    hidden = ra.nn.relu(ra.nn.linear(frames, params["w1"], params["b1"]))
    hidden = ra.nn.relu(ra.nn.linear(hidden, params["w2"], params["b2"]))
    attention = ra.nn.softmax(ra.nn.linear(hidden, params["score"]), axis=1)
    pooled = [ra.sum(attention * hidden, axis=1), ra.mean(hidden, axis=1), ra.std(hidden, axis=1)]
    return jnp.concatenate(pooled, axis=-1) @ params["w_out"] + params["b_out"]


def padded_logits(params: Params, batch: tuple[jax.Array, jax.Array]) -> jax.Array:
    """The same by hand: frames ``(n, 29, 12)`` and mask ``(n, 29)`` to ``(n, 9)``."""
    frames, mask = batch[0], batch[1][..., None]
    hidden = jax.nn.relu(frames @ params["w1"] + params["b1"])
    hidden = jax.nn.relu(hidden @ params["w2"] + params["b2"])
    attention = jax.nn.softmax(hidden @ params["score"], axis=1, where=mask)
    variance = jnp.var(hidden, axis=1, where=mask)
    # The square root has no gradient at 0, where a unit is silent in every frame.
    flat = variance == 0
    std = jnp.where(flat, 0, jnp.sqrt(jnp.where(flat, 1, variance)))
    pooled = [jnp.sum(attention * hidden, axis=1), jnp.mean(hidden, axis=1, where=mask), std]
    return jnp.concatenate(pooled, axis=-1) @ params["w_out"] + params["b_out"]


def cross_entropy(logits: jax.Array, speakers: jax.Array) -> jax.Array:
    """Mean over the recordings."""
    return optax.softmax_cross_entropy_with_integer_labels(logits, speakers).mean()


def make_step(model: Callable[..., jax.Array], optimizer: optax.GradientTransformation) -> Callable[..., Any]:
    """``step(state, batch, speakers) -> (state, loss)``, not yet jitted."""

    def loss(params: Params, batch: Any, speakers: jax.Array) -> jax.Array:
        return cross_entropy(model(params, batch), speakers)

    def step(state: State, batch: Any, speakers: jax.Array) -> tuple[State, jax.Array]:
        params, opt_state = state
        value, grads = jax.value_and_grad(loss)(params, batch, speakers)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), value

    return step


@jax.jit
def evaluate(params: Params, frames: ra.RaggedArray, speakers: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Cross entropy and accuracy."""
    logits = ragged_logits(params, frames)
    return cross_entropy(logits, speakers), jnp.mean(jnp.argmax(logits, axis=-1) == speakers)


def draw_batches(recordings: int, epochs: int, seed: int) -> np.ndarray:
    """Rows of each batch: ``int[epochs, batches, BATCH]``, each epoch a permutation that wraps around."""
    rng = np.random.default_rng(seed)
    batches = -(-recordings // BATCH)
    return np.stack([np.resize(rng.permutation(recordings), (batches, BATCH)) for _ in range(epochs)])


def augmented(frames: ra.RaggedArray, offset: float, rng: np.random.Generator) -> ra.RaggedArray:
    """Each recording through a channel of its own, which adds a constant to its cepstrum."""
    channel = rng.standard_normal((frames.nrows, COEFFICIENTS), dtype=np.float32)
    return frames + offset * channel[:, None, :]


def initial_state(optimizer: optax.GradientTransformation, seed: int) -> State:
    """Parameters and optimizer state."""
    params = init_params(jax.random.key(seed))
    return params, optimizer.init(params)


def fit(
    train: Recordings, held: Recordings, settings: Settings, seeds: Sequence[int], log: Callable[[str], None] = print
) -> Run:
    """Train one model per seed, side by side, and score them after each epoch."""
    schedule = np.stack([draw_batches(len(train.speakers), settings.epochs, seed) for seed in seeds], axis=1)
    # The batches are drawn before training, so the largest is known, and with it a capacity that fits them all.
    most = int(train.frames.row_lengths()[schedule].sum(axis=-1).max())
    capacity = ra.bucket_size(most, mantissa_bits=4)

    optimizer = optax.adam(optax.cosine_decay_schedule(settings.learning_rate, settings.epochs * schedule.shape[2]))
    traces = ra.testing.count_traces(make_step(ragged_logits, optimizer))
    step = jax.jit(traces)
    states = [initial_state(optimizer, seed) for seed in seeds]
    rngs = [np.random.default_rng(seed) for seed in seeds]
    held_frames, held_speakers = ra.asarray(held.frames, xp="jax"), jnp.asarray(held.speakers)

    history = np.zeros((settings.epochs, 3, len(seeds)))
    for epoch, by_seed in enumerate(schedule):
        for i, batches in enumerate(by_seed):
            losses = []
            for rows in batches:
                batch = augmented(train.frames[rows], settings.offset, rngs[i])
                batch = ra.asarray(batch, xp="jax", capacity=capacity)
                states[i], loss = step(states[i], batch, train.speakers[rows])
                losses.append(loss)
            history[epoch, :, i] = np.mean(losses), *evaluate(states[i][0], held_frames, held_speakers)
        losses, _, accuracies = (" ".join(f"{value:.3f}" for value in values) for values in history[epoch])
        log(f"epoch {epoch + 1:2}  loss {losses}  test accuracy {accuracies}")
    return Run(*history.swapaxes(0, 1), step, traces, optimizer, schedule, capacity)


def step_times(run: Run, train: Recordings, rounds: int) -> tuple[float, float]:
    """Median milliseconds of a ragged and of a padded step, taken in turns on the same batches."""
    padded_step = jax.jit(make_step(padded_logits, run.optimizer))
    pairs = []
    for rows in run.schedule[:, 0].reshape(-1, BATCH)[:8]:
        frames, speakers = train.frames[rows], jnp.asarray(train.speakers[rows])
        ragged = ra.asarray(frames, xp="jax", capacity=run.capacity)
        padded = ra.to_padded(frames, length=LONGEST), ra.to_mask(frames, length=LONGEST)
        pairs.append((ragged, jax.device_put(padded), speakers))

    ragged_state = padded_state = initial_state(run.optimizer, 0)
    times = np.zeros((rounds + 1, 2))
    for i in range(rounds + 1):
        ragged, padded, speakers = pairs[i % len(pairs)]
        start = time.perf_counter()
        ragged_state, ragged_loss = jax.block_until_ready(run.step(ragged_state, ragged, speakers))
        middle = time.perf_counter()
        padded_state, padded_loss = jax.block_until_ready(padded_step(padded_state, padded, speakers))
        times[i] = middle - start, time.perf_counter() - middle
        if i == 0:
            np.testing.assert_allclose(ragged_loss, padded_loss, rtol=1e-4)
    ragged_time, padded_time = np.median(times[1:], axis=0)  # the first padded step compiles
    return ragged_time * 1e3, padded_time * 1e3


def plot(run: Run, path: Path) -> None:
    """Loss and test accuracy per epoch: a thin line per seed, a thick one for their mean."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    epochs = np.arange(1, len(run.loss) + 1)
    for axes, values, label, color in (
        (left, run.loss, "training, augmented", "tab:blue"),
        (left, run.held_loss, "test", "tab:orange"),
        (right, run.held_accuracy, "test", "tab:orange"),
    ):
        axes.plot(epochs, values, color=color, alpha=0.35, linewidth=1)
        axes.plot(epochs, values.mean(axis=1), color=color, label=label)
        axes.grid(alpha=0.3)
    left.set(xlabel="epoch", ylabel="cross entropy", yscale="log")
    left.legend()
    right.set(xlabel="epoch", ylabel="test accuracy")
    figure.suptitle("Naming the speaker: runs (thin) and their mean (bold)")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def select(train: Recordings, folds: int = 5) -> None:
    """Cross-validate on the training recordings; they lie speaker by speaker, 30 each."""
    fold = np.arange(len(train.speakers)) % 30 // (30 // folds)
    for rate, offset, epochs in product((1e-3, 3e-3), (0.0, 0.2, 0.4, 0.6), (40, 80)):
        settings = Settings(rate, offset, epochs)
        scores = []
        for i in range(folds):
            kept, held = (
                Recordings(train.frames[rows], train.speakers[rows])
                for rows in (np.flatnonzero(fold != i), np.flatnonzero(fold == i))
            )
            run = fit(*standardized(kept, held), settings, seeds=(0,), log=lambda line: None)
            scores.append((run.held_loss[-1], run.held_accuracy[-1]))
        loss, accuracy = np.mean(scores, axis=(0, 2))
        print(f"{settings}  held-out cross entropy {loss:.4f}  accuracy {accuracy:.4f}", flush=True)


def main() -> None:
    """Train, time, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="one seed, few epochs")
    parser.add_argument("--select", action="store_true", help="cross-validate settings on the training recordings")
    args = parser.parse_args()
    train, test = load()
    if args.select:
        return select(train)

    train, test = standardized(train, test)
    seeds = (0,) if args.fast else (0, 1, 2)
    settings = Settings(epochs=8) if args.fast else Settings()
    run = fit(train, test, settings, seeds)
    ragged, padded = step_times(run, train, rounds=30 if args.fast else 200)
    plot(run, PICTURE)

    accuracy = run.held_accuracy[-1]
    by_seed = ", ".join(f"seed {seed} {value:.4f}" for seed, value in zip(seeds, accuracy, strict=True))
    used = train.frames.row_lengths()[run.schedule].sum(axis=-1)
    ragged_fill, padded_fill = used.mean() / run.capacity, used.mean() / (BATCH * LONGEST)
    print(f"test accuracy   {by_seed}, mean {accuracy.mean():.4f}")
    print(f"training step   compiled: {run.traces.count}, run: {used.size}, recordings per batch: {BATCH}")
    print(f"frames in use   ragged {ragged_fill:.0%} of {run.capacity}, padded {padded_fill:.0%} of {BATCH * LONGEST}")
    print(f"time of a step  ragged {ragged:.2f} ms, padded by hand {padded:.2f} ms, ratio {ragged / padded:.2f}")
    print(f"learning curve  {PICTURE.relative_to(Path(__file__).parents[1])}")
    assert run.traces.count == 1, "the training step was compiled more than once"


if __name__ == "__main__":
    main()
