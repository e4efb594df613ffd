"""Remember a number through a long and noisy row: a diagonal state-space layer against a window that cannot.

Each row is a sequence of 20 to 400 steps. At a random place in it a marked number stands among noise; the task is to
give that number at the end of the row. A layer of damped oscillators keeps it: a complex linear recurrence
``h[t] = a * h[t - 1] + b[t]`` with one ``a`` per channel, as in S4D and the linear recurrent unit, and gated inputs.
Every row starts from 0 whatever lies before it in the storage, and the training step compiles once for all lengths. The
baseline sees the last 32 steps, and knows the number only if it stood there.

Gu et al., On the parameterization and initialization of diagonal state space models, 2022. Orvieto et al.,
Resurrecting recurrent neural networks for long sequences, 2023.

    python examples/state_space.py            # 1000 steps
    python examples/state_space.py --fast     # 400 steps
"""

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure

import raggedarray as ra

PICTURE = Path(__file__).parent / "out" / "state_space.png"
ROWS, SHORTEST, LONGEST = 32, 20, 400
CAPACITY = 6144
CHANNELS, HIDDEN, WINDOW = 32, 32, 32

Params = dict[str, jax.Array]


def draw(rng: np.random.Generator, rows: int = ROWS) -> tuple[ra.RaggedArray, np.ndarray, np.ndarray]:
    """Rows ``(n, None, 2)`` of noise and a mark, the numbers that are marked, and how long ago they stood."""
    lengths = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), rows)).astype(np.int32)
    place = rng.integers(0, lengths)
    numbers = rng.uniform(-1, 1, rows).astype(np.float32)
    values = np.zeros((lengths.sum(), 2), np.float32)
    values[:, 0] = rng.uniform(-1, 1, len(values))
    at = np.cumsum(lengths) - lengths + place
    values[at] = np.stack([numbers, np.ones(rows)], axis=1)
    return ra.from_row_lengths(values, lengths), numbers, lengths - 1 - place


def init_params(key: jax.Array) -> Params:
    """Channels that forget within a few steps to a few thousand, and turn slowly."""
    keys = jax.random.split(key, 5)
    normal = jax.random.normal
    memory = jnp.exp(jax.random.uniform(keys[0], (CHANNELS,), minval=0.0, maxval=jnp.log(4000.0)))
    return {
        "decay": -jnp.log(memory),  # a logarithm, so that no channel can explode
        "angle": 0.02 * jax.random.uniform(keys[1], (CHANNELS,)),
        "w_in": normal(keys[2], (2, 2 * CHANNELS)),
        "b_in": jnp.zeros(2 * CHANNELS),
        "w_hidden": normal(keys[3], (2 * CHANNELS, HIDDEN)) / CHANNELS**0.5,
        "b_hidden": jnp.zeros(HIDDEN),
        "w_out": 0.1 * normal(keys[4], (HIDDEN, 1)),
    }


def states(params: Params, x: ra.RaggedArray) -> ra.RaggedArray:
    """The states of the channels, ``(n, None, CHANNELS)``, complex."""
    both = ra.nn.linear(x, params["w_in"], params["b_in"])
    driven = both[..., :CHANNELS] * ra.nn.sigmoid(both[..., CHANNELS:])
    factor = jnp.exp(-jnp.exp(params["decay"]) + 1j * params["angle"])
    return ra.nn.linear_recurrence(factor, ra.astype(driven, "complex64"))


def predict(params: Params, x: ra.RaggedArray) -> jax.Array:
    """The number of each row, from its last state."""
    last = ra.row_item(states(params, x), -1)
    parts = jnp.concatenate([last.real, last.imag], axis=-1)
    hidden = jax.nn.gelu(parts @ params["w_hidden"] + params["b_hidden"])
    return (hidden @ params["w_out"])[:, 0]


def loss(params: Params, x: ra.RaggedArray, numbers: jax.Array) -> jax.Array:
    """Mean squared error; 1/3 is that of a guess of 0."""
    return jnp.mean((predict(params, x) - numbers) ** 2)


def window_guess(x: ra.RaggedArray) -> np.ndarray:
    """The best that the last steps tell: the marked number if it is among them, else 0."""
    tail = x[:, -WINDOW:]
    return ra.sum(tail[..., 0] * tail[..., 1], axis=1)


def train(steps: int, seed: int = 0) -> tuple[Params, np.ndarray, Any]:
    """Parameters, the loss of every step, and the count of compilations."""
    optimizer = optax.adam(optax.cosine_decay_schedule(1e-2, steps))
    params, rng = init_params(jax.random.key(seed)), np.random.default_rng(seed)
    moments = optimizer.init(params)

    @ra.testing.count_traces
    def step(params: Params, moments: Any, x: ra.RaggedArray, numbers: jax.Array) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x, numbers)
        updates, moments = optimizer.update(grads, moments, params)
        return optax.apply_updates(params, updates), moments, value

    jitted = jax.jit(step)
    losses = np.zeros(steps)
    for n in range(steps):
        x, numbers, _ = draw(rng)
        params, moments, losses[n] = jitted(params, moments, ra.asarray(x, xp="jax", capacity=CAPACITY), numbers)
    return params, losses, step


def plot(losses: np.ndarray, ages: np.ndarray, errors: dict[str, np.ndarray], path: Path) -> None:
    """The loss, and the error by how long ago the number stood."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    smooth = np.convolve(losses, np.ones(20) / 20, mode="valid")
    left.plot(np.arange(len(smooth)) + 20, smooth)
    left.axhline(1 / 3, color="gray", linestyle=":", label="a guess of 0")
    left.set(xlabel="step", ylabel="squared error, mean of 20 steps", yscale="log")
    left.legend()
    edges = np.geomspace(1, LONGEST, 9)
    bins = np.digitize(ages + 1, edges)
    for name, error in errors.items():
        mean = [error[bins == b].mean() if np.any(bins == b) else np.nan for b in range(1, len(edges))]
        right.plot(np.sqrt(edges[1:] * edges[:-1]), mean, marker="o", label=name)
    right.set(xlabel="steps since the number stood", ylabel="squared error", xscale="log")
    right.legend()
    figure.suptitle("Remembering a number: a diagonal state-space layer over rows of 20 to 400 steps")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Train, test, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="few steps")
    args = parser.parse_args()
    start = time.perf_counter()
    params, losses, step = train(400 if args.fast else 1000)
    seconds = time.perf_counter() - start

    x, numbers, ages = draw(np.random.default_rng(1000), rows=256)
    got = np.asarray(jax.jit(predict)(params, ra.asarray(x, xp="jax")))
    errors = {"state space": (got - numbers) ** 2, f"last {WINDOW} steps": (window_guess(x) - numbers) ** 2}
    plot(losses, ages, errors, PICTURE)
    for name, error in errors.items():
        print(f"squared error   {name}: {error.mean():.4f}, numbers of {WINDOW} steps ago and more "
              f"{error[ages >= WINDOW].mean():.4f}")  # fmt: skip
    print(f"training        {len(losses)} steps, {seconds:.0f} s, compiled {step.count} time")
    print(f"picture         {PICTURE.relative_to(Path(__file__).parents[1])}")
    assert step.count == 1, "the training step was compiled more than once"
    assert errors["state space"].mean() < errors[f"last {WINDOW} steps"].mean()


if __name__ == "__main__":
    main()
