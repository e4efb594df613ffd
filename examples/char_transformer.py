"""A small causal transformer that learns to spell: lines of text of very different lengths, never padded.

The text is 459 sayings of 8 to 339 characters (`data/README.md`). A batch is a ragged array of characters; positions
are those within a line, attention never leaves a line, and the mean loss counts characters, so there is no mask. All
batches have one capacity, so the training step compiles once. Every tenth line is held out. At the end the model writes
lines of its own, all at the same time, each as long as it wants.

Learning rate and dropout were chosen by the loss on every tenth of the remaining lines; `--select` prints that table.

    python examples/char_transformer.py            # 20 epochs
    python examples/char_transformer.py --fast     # 2 epochs
    python examples/char_transformer.py --select   # how the settings were chosen
"""

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure

import raggedarray as ra

TEXT = Path(__file__).parent / "data" / "village_sayings.txt"
PICTURE = Path(__file__).parent / "out" / "char_transformer.png"

WIDTH, HEADS, LAYERS = 96, 4, 3
BATCH = 24
END = "\n"
"""The character that ends a line, and that the first one of a line follows."""

Params = dict[str, Any]


class Settings(NamedTuple):
    """What `select` chooses."""

    learning_rate: float = 6e-3
    dropout: float = 0.0
    epochs: int = 20


class Text(NamedTuple):
    """Lines as ragged character ids ``(n, None)`` on NumPy, and the characters."""

    lines: ra.RaggedArray
    characters: str

    def decode(self, ids: Any) -> str:
        """Characters of one line."""
        return "".join(self.characters[i] for i in ids)


def load() -> Text:
    """Every line, with `END` on both sides."""
    text = TEXT.read_text(encoding="utf-8")
    characters = END + "".join(sorted(set(text) - {END}))
    ids = {c: i for i, c in enumerate(characters)}
    return Text(
        ra.ragged([[ids[c] for c in END + line + END] for line in text.splitlines()], dtype="int32"), characters
    )


def split(lines: ra.RaggedArray) -> tuple[ra.RaggedArray, ra.RaggedArray]:
    """Every tenth line is held out."""
    held = np.arange(lines.nrows) % 10 == 9
    return lines[np.flatnonzero(~held)], lines[np.flatnonzero(held)]


def init_params(key: jax.Array, vocabulary: int) -> Params:
    """The layers are stacked along axis 0, for `jax.lax.scan`."""
    keys = jax.random.split(key, 5)

    def normal(key: jax.Array, *shape: int) -> jax.Array:
        return jax.random.normal(key, shape) * shape[-2] ** -0.5

    return {
        "embedding": jax.random.normal(keys[0], (vocabulary, WIDTH)) * 0.1,
        "layers": {
            "qkv": normal(keys[1], LAYERS, WIDTH, 3 * WIDTH),
            "out": normal(keys[2], LAYERS, WIDTH, WIDTH) * 0.3,
            "up": normal(keys[3], LAYERS, WIDTH, 4 * WIDTH),
            "down": normal(keys[4], LAYERS, 4 * WIDTH, WIDTH) * 0.3,
            "norms": jnp.ones((LAYERS, 2, WIDTH)),
        },
        "norm": jnp.ones(WIDTH),
    }


def attend(qkv: ra.RaggedArray, dropout: float, key: jax.Array) -> ra.RaggedArray:
    """Causal attention of ``(n, None, 3 * width)``."""
    qkv = ra.with_inner_shape(qkv, (3, HEADS, WIDTH // HEADS))
    query, keys, value = (qkv[:, :, i] for i in range(3))
    out = ra.nn.attention(ra.nn.rotary(query), ra.nn.rotary(keys), value, causal=True, dropout=dropout, key=key)
    return ra.with_inner_shape(out, (WIDTH,))


def model(params: Params, characters: ra.RaggedArray, key: jax.Array, dropout: float = 0.0) -> ra.RaggedArray:
    """``(n, None)`` characters to ``(n, None, vocabulary)`` scores of the next ones."""
    x = ra.nn.embedding(characters, params["embedding"])

    def layer(x: ra.RaggedArray, p: tuple[Params, jax.Array]) -> tuple[ra.RaggedArray, None]:
        p, key = p
        h = ra.nn.rms_norm(x, p["norms"][0][None, None])
        x = x + ra.nn.linear(attend(ra.nn.linear(h, p["qkv"]), dropout, key), p["out"])
        h = ra.nn.rms_norm(x, p["norms"][1][None, None])
        return x + ra.nn.linear(ra.nn.gelu(ra.nn.linear(h, p["up"])), p["down"]), None

    x, _ = jax.lax.scan(layer, x, (params["layers"], jax.random.split(key, LAYERS)))
    return ra.nn.linear(ra.nn.rms_norm(x, params["norm"][None, None]), params["embedding"].T)


def pairs(lines: ra.RaggedArray) -> tuple[ra.RaggedArray, ra.RaggedArray]:
    """What the model reads, and what follows each character of it: both ``(n, None)``."""
    return lines[:, :-1], lines[:, 1:]


def loss_of(params: Params, read: ra.RaggedArray, follow: ra.RaggedArray, key: jax.Array, dropout: float) -> jax.Array:
    """Mean cross entropy of a character, in bits."""
    return ra.nn.cross_entropy(model(params, read, key, dropout), follow) / jnp.log(2.0)


def make_step(optimizer: optax.GradientTransformation, dropout: float) -> Callable[..., Any]:
    """``step(state, read, follow, key) -> (state, loss)``, not yet jitted."""

    def step(state: Any, read: ra.RaggedArray, follow: ra.RaggedArray, key: jax.Array) -> Any:
        params, moments = state
        value, grads = jax.value_and_grad(loss_of)(params, read, follow, key, dropout)
        updates, moments = optimizer.update(grads, moments, params)
        return (optax.apply_updates(params, updates), moments), value

    return step


class Schedule(NamedTuple):
    """Batches ``int[epochs, batches, BATCH]`` of row numbers, and a capacity that holds each of them."""

    rows: np.ndarray
    capacity: int


def schedule_for(lines: ra.RaggedArray, epochs: int, seed: int = 0) -> Schedule:
    """Each epoch a permutation, wrapped around to whole batches."""
    rng = np.random.default_rng(seed)
    count = -(-lines.nrows // BATCH)
    rows = np.stack([np.resize(rng.permutation(lines.nrows), (count, BATCH)) for _ in range(epochs)])
    return Schedule(rows, ra.bucket_size(int(lines.row_lengths()[rows].sum(axis=-1).max())))


def batch(lines: ra.RaggedArray, rows: np.ndarray, capacity: int) -> tuple[ra.RaggedArray, ra.RaggedArray]:
    """One batch, moved to JAX at the capacity of all."""
    read, follow = (ra.asarray(x, xp="jax", capacity=capacity) for x in pairs(lines[rows]))
    return read, follow


class Run(NamedTuple):
    """Bits a character in training and on held-out lines, per epoch, and what was trained."""

    train: list[float]
    held: list[float]
    params: Params
    traces: int
    characters_per_second: float


def fit(
    train: ra.RaggedArray, held: ra.RaggedArray, vocabulary: int, settings: Settings, log: Callable[[str], None] = print
) -> Run:
    """Train, and score the held-out lines after each epoch."""
    plan = schedule_for(train, settings.epochs)
    steps = plan.rows.shape[0] * plan.rows.shape[1]
    warm_up = optax.warmup_cosine_decay_schedule(0.0, settings.learning_rate, min(30, steps // 4), steps)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warm_up))
    params = init_params(jax.random.key(0), vocabulary)
    state = params, optimizer.init(params)
    traces = ra.testing.count_traces(make_step(optimizer, settings.dropout))
    step, score = jax.jit(traces), jax.jit(lambda p, r, f: loss_of(p, r, f, jax.random.key(0), 0.0))
    unseen = [ra.asarray(x, xp="jax") for x in pairs(held)]
    curves: tuple[list[float], list[float]] = ([], [])
    read_so_far, busy = 0, 0.0
    for epoch, batches in enumerate(plan.rows):
        losses = []
        for number, rows in enumerate(batches):
            read, follow = batch(train, rows, plan.capacity)
            key = jax.random.fold_in(jax.random.key(1), epoch * len(batches) + number)
            start = time.perf_counter()
            state, loss = jax.block_until_ready(step(state, read, follow, key))
            if epoch + number:  # the first step compiles
                busy += time.perf_counter() - start
                read_so_far += int(read.size)
            losses.append(float(loss))
        curves[0].append(float(np.mean(losses)))
        curves[1].append(float(score(state[0], *unseen)))
        log(f"epoch {epoch + 1:2}  bits a character: {curves[0][-1]:.3f}, held out {curves[1][-1]:.3f}")
    return Run(*curves, state[0], traces.count, read_so_far / busy)


def write(params: Params, text: Text, lines: int = 6, longest: int = 120, seed: int = 0) -> list[str]:
    """Lines of the model's own, drawn at once: a row that has ended stays as it is."""
    rng = np.random.default_rng(seed)
    capacity = lines * longest

    @jax.jit
    def last_scores(characters: ra.RaggedArray) -> jax.Array:
        return ra.row_item(model(params, characters, jax.random.key(0)), -1)

    rows = [[0] for _ in range(lines)]
    for _ in range(longest - 1):
        scores = last_scores(ra.asarray(ra.ragged(rows, dtype="int32"), xp="jax", capacity=capacity))
        chance = np.asarray(jax.nn.softmax(scores / 0.7, axis=-1), dtype=np.float64)
        for row, p in zip(rows, chance, strict=True):
            if len(row) == 1 or row[-1] != 0:
                row.append(int(rng.choice(len(p), p=p / p.sum())))
        if all(len(row) > 1 and row[-1] == 0 for row in rows):
            break
    return [text.decode(row).strip(END) for row in rows]


def plot(run: Run, written: list[str], path: Path) -> None:
    """Bits a character per epoch, and what the model writes."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    epochs = np.arange(1, len(run.train) + 1)
    left.plot(epochs, run.train, color="tab:blue", label="training")
    left.plot(epochs, run.held, color="tab:orange", label="held out")
    left.set(xlabel="epoch", ylabel="bits a character")
    left.grid(alpha=0.3)
    left.legend()
    right.axis("off")
    for i, line in enumerate(written):
        right.text(0, 1 - (i + 0.5) / len(written), line, wrap=True, va="center", fontsize=8, family="monospace")
    figure.suptitle("A transformer on lines of 8 to 339 characters, and what it writes")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def select(train: ra.RaggedArray, vocabulary: int) -> None:
    """Loss on a tenth of the training lines after 8 epochs, for each setting."""
    kept, held = split(train)
    for rate, dropout in product((3e-3, 6e-3), (0.0, 0.1)):
        settings = Settings(rate, dropout, epochs=8)
        run = fit(kept, held, vocabulary, settings, log=lambda line: None)
        print(f"{settings}  held out {run.held[-1]:.3f} bits a character", flush=True)


def main() -> None:
    """Train, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="two epochs")
    parser.add_argument("--select", action="store_true", help="compare settings on a part of the training lines")
    args = parser.parse_args()
    text = load()
    train, held = split(text.lines)
    if args.select:
        return select(train, len(text.characters))
    settings = Settings(epochs=2) if args.fast else Settings()
    run = fit(train, held, len(text.characters), settings)
    written = write(run.params, text, longest=24 if args.fast else 120)
    plot(run, written, PICTURE)
    plan = schedule_for(train, settings.epochs)
    used = train.row_lengths()[plan.rows].sum(axis=-1).mean()
    longest = int(train.row_lengths().max())
    print("\n".join(f"  {line}" for line in written))
    print(f"held-out loss  {run.held[-1]:.3f} bits a character; {np.log2(len(text.characters)):.2f} for a blind guess")
    print(f"training step  compiled: {run.traces}, run: {plan.rows[:, :, 0].size}, lines per batch: {BATCH}")
    print(f"slots in use   ragged {used / plan.capacity:.0%} of {plan.capacity}, padded {used / (BATCH * longest):.0%}")
    print(f"speed          {run.characters_per_second:.0f} characters a second")
    print(f"picture        {PICTURE.relative_to(Path(__file__).parents[1])}")
    assert run.traces == 1, "the training step was compiled more than once"


if __name__ == "__main__":
    main()
