"""Name the speaker of a spoken vowel with a bidirectional GRU, on recordings of different lengths.

The data are those of `speaker_from_speech.py`: nine speakers, 270 recordings to train on, 370 to test, 7 to 29 frames
each (`data/README.md`). One GRU reads each recording forward, one from its end; their mean and their last states go
into a linear classifier. Rows of any lengths go in as they are, in any order: nothing is sorted, padded or masked, and
the training step compiles once.

The settings were chosen without the test recordings: 5-fold cross-validation on the training ones, each fold six
consecutive recordings of every speaker, least held-out cross entropy. `--select` prints that table. The test
recordings are scored once, after training.

    python examples/speaker_gru.py            # three seeds
    python examples/speaker_gru.py --fast     # one seed, few epochs
    python examples/speaker_gru.py --select   # how the settings were chosen
"""

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure
from speaker_from_speech import Recordings, augmented, draw_batches, load, standardized

import raggedarray as ra

PICTURE = Path(__file__).parent / "out" / "speaker_gru.png"
COEFFICIENTS, SPEAKERS, WIDTH = 12, 9, 64
CAPACITY = 1792
"""Frames of a batch of 90, with room to spare; a batch that does not fit would raise."""

Params = dict[str, Any]


class Settings(NamedTuple):
    """What `select` chooses."""

    learning_rate: float = 1e-2
    offset: float = 0.4
    epochs: int = 30


def init_params(key: jax.Array, width: int = WIDTH) -> Params:
    """Two GRUs and a classifier. Torch's layout, transposed: reset gate, update gate, new state."""
    keys = iter(jax.random.split(key, 5))
    glorot, orthogonal = jax.nn.initializers.glorot_normal(), jax.nn.initializers.orthogonal()

    def direction() -> tuple[jax.Array, ...]:
        recurrent = [orthogonal(k, (width, width)) for k in jax.random.split(next(keys), 3)]
        bias = jnp.zeros(3 * width)
        return glorot(next(keys), (COEFFICIENTS, 3 * width)), jnp.concatenate(recurrent, axis=1), bias, bias

    forward, backward = direction(), direction()
    small = 0.01 * jax.random.normal(next(keys), (4 * width, SPEAKERS))
    return {"forward": forward, "backward": backward, "w_out": small, "b_out": jnp.zeros(SPEAKERS)}


def logits(params: Params, frames: ra.RaggedArray) -> jax.Array:
    """``(n, None, 12)`` to ``(n, 9)``."""
    seen = []
    for name, reverse in (("forward", False), ("backward", True)):
        w_ih, w_hh, *bias = params[name]
        outputs, last = ra.nn.gru(frames, w_ih, w_hh, tuple(bias), reverse=reverse)
        seen += [ra.mean(outputs, axis=1), last]
    return jnp.concatenate(seen, axis=-1) @ params["w_out"] + params["b_out"]


def loss(params: Params, frames: ra.RaggedArray, speakers: jax.Array) -> jax.Array:
    """Cross entropy, a mean over the recordings."""
    return optax.softmax_cross_entropy_with_integer_labels(logits(params, frames), speakers).mean()


@ra.testing.count_traces
def step(params: Params, moments: Any, frames: ra.RaggedArray, speakers: jax.Array, rate: jax.Array) -> Any:
    """One step of Adam; the rate is an argument, so that settings share a program."""
    value, grads = jax.value_and_grad(loss)(params, frames, speakers)
    updates, moments = optax.scale_by_adam().update(grads, moments)
    return jax.tree.map(lambda p, u: p - rate * u, params, updates), moments, value


jitted_step = jax.jit(step)
jitted_logits = jax.jit(logits)


def fit(train: Recordings, settings: Settings, seed: int) -> tuple[Params, np.ndarray]:
    """Train one model: its parameters, and the loss of each epoch."""
    params = init_params(jax.random.key(seed))
    moments, rng = optax.scale_by_adam().init(params), np.random.default_rng(seed)
    schedule = draw_batches(len(train.speakers), settings.epochs, seed)
    steps = schedule.shape[0] * schedule.shape[1]
    rate = optax.cosine_decay_schedule(settings.learning_rate, steps)
    losses = np.zeros(schedule.shape[:2])
    for n, (epoch, i) in enumerate(np.ndindex(*losses.shape)):
        rows = schedule[epoch, i]
        batch = ra.asarray(augmented(train.frames[rows], settings.offset, rng), xp="jax", capacity=CAPACITY)
        params, moments, losses[epoch, i] = jitted_step(params, moments, batch, train.speakers[rows], rate(n))
    return params, losses.mean(axis=1)


def score(params: Params, held: Recordings) -> tuple[float, np.ndarray]:
    """Cross entropy on recordings, and the speaker that each is taken for."""
    out = jitted_logits(params, ra.asarray(held.frames, xp="jax"))
    entropy = optax.softmax_cross_entropy_with_integer_labels(out, jnp.asarray(held.speakers)).mean()
    return float(entropy), np.asarray(jnp.argmax(out, axis=-1))


def select(train: Recordings, folds: int = 5) -> None:
    """Cross-validate on the training recordings; they lie speaker by speaker, 30 each."""
    fold = np.arange(len(train.speakers)) % 30 // (30 // folds)
    for epochs, rate, offset in product((30, 60), (3e-3, 1e-2), (0.2, 0.4, 0.6)):
        settings, scores = Settings(rate, offset, epochs), []
        for i in range(folds):
            kept, held = (
                Recordings(train.frames[rows], train.speakers[rows])
                for rows in (np.flatnonzero(fold != i), np.flatnonzero(fold == i))
            )
            kept, held = standardized(kept, held)
            entropy, guess = score(fit(kept, settings, seed=0)[0], held)
            scores.append((entropy, np.mean(guess == held.speakers)))
        entropy, accuracy = np.mean(scores, axis=0)
        print(f"{settings}  held-out cross entropy {entropy:.4f}  accuracy {accuracy:.4f}", flush=True)


def plot(losses: np.ndarray, confusion: np.ndarray, path: Path) -> None:
    """The training loss, a line per seed, and which test speakers are taken for which."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    left.plot(np.arange(1, losses.shape[1] + 1), losses.T)
    left.set(xlabel="epoch", ylabel="cross entropy of augmented training data", yscale="log")
    left.grid(alpha=0.3)
    share = confusion / confusion.sum(axis=1, keepdims=True)
    right.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for i, j in zip(*np.nonzero(confusion), strict=True):
        right.text(
            j, i, str(confusion[i, j]), ha="center", va="center", color="white" if share[i, j] > 0.5 else "black"
        )
    right.set(xlabel="named", ylabel="speaker", xticks=range(SPEAKERS), yticks=range(SPEAKERS))
    figure.suptitle("Naming the speaker with a bidirectional GRU: training, and the test recordings of all seeds")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Train, test once, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="one seed, few epochs")
    parser.add_argument("--select", action="store_true", help="cross-validate settings on the training recordings")
    args = parser.parse_args()
    train, test = load()
    if args.select:
        return select(train)

    train, test = standardized(train, test)
    seeds, settings = ((0,), Settings(epochs=12)) if args.fast else ((0, 1, 2), Settings())
    start = time.perf_counter()
    models, losses = zip(*(fit(train, settings, seed) for seed in seeds), strict=True)
    seconds = time.perf_counter() - start

    confusion, accuracies = np.zeros((SPEAKERS, SPEAKERS), int), []
    for params in models:
        guess = score(params, test)[1]
        np.add.at(confusion, (test.speakers, guess), 1)
        accuracies.append(np.mean(guess == test.speakers))
    plot(np.stack(losses), confusion, PICTURE)
    by_seed = ", ".join(f"seed {seed} {value:.4f}" for seed, value in zip(seeds, accuracies, strict=True))
    print(f"test accuracy   {by_seed}, mean {np.mean(accuracies):.4f}")
    print(f"training        {settings.epochs} epochs a seed, {seconds:.0f} s in all, compiled {step.count} time")
    print(f"picture         {PICTURE.relative_to(Path(__file__).parents[1])}")
    assert step.count == 1, "the training step was compiled more than once"


if __name__ == "__main__":
    main()
