"""Every public parameter that takes ids, counts, lengths, indices or sizes, and a call in which it matters.

A `Case` is a parameter that takes an array: ``call(data, ids)`` on data of ``n`` rows, classes or entries, and the
ids that it may be given between two limits. `SIZES` are parameters that take a static int.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import raggedarray as ra
from raggedarray import RaggedArray

NAMES = {
    "after", "batch_dims", "before", "blank", "capacity", "counts", "dilation", "groups", "i", "ids", "ignore_index",
    "indexes", "indices", "indices_or_sections", "k", "labels", "length", "lengths", "max_buckets", "max_labels",
    "max_length", "minimum", "n", "n_cols", "n_rows", "nested_row_lengths", "nested_row_splits", "nrows", "num",
    "num_classes", "offset", "offsets", "repeats", "repetitions", "row_ids", "row_lengths", "row_splits", "s", "shape",
    "shift", "size", "sizes", "sorter", "splits", "start", "step", "stop", "stride", "strides", "targets", "window",
}  # fmt: skip
"""Names of parameters that hold such numbers."""


def ragged_ids(ids: np.ndarray) -> RaggedArray:
    """The ids in rows, with an empty one between."""
    half = len(ids) // 2
    return ra.from_row_lengths(ids, np.array([half, 0, len(ids) - half]))


def entries(n: int) -> RaggedArray:
    """``n`` rows of one or two numbers."""
    lengths = np.arange(n) % 2 + 1
    return ra.from_row_lengths(np.arange(lengths.sum(), dtype=np.float32), lengths)


def long_rows(n: int) -> RaggedArray:
    """Rows of ``n``, 0 and ``n - 1`` numbers."""
    return ra.from_row_lengths(np.arange(2 * n - 1, dtype=np.float32), np.array([n, 0, n - 1]))


def three(low: int, high: int) -> np.ndarray:
    """One number for each row of `long_rows`."""
    return np.array([high, 0, low])


def broad(n: int) -> RaggedArray:
    """Components ``(1, n)`` and ``(2, n)``."""
    return ra.from_blocks(np.arange(3 * n, dtype=np.float32), np.array([[1, n], [2, n]]))


def tall(n: int) -> RaggedArray:
    """Components ``(n, 1)`` and ``(n, 2)``."""
    return ra.from_blocks(np.arange(3 * n, dtype=np.float32), np.array([[n, 1], [n, 2]]))


def table(n: int) -> np.ndarray:
    return (np.arange(2 * n, dtype=np.float32) * 7 % 11).reshape(n, 2)


def some(low: int, high: int) -> np.ndarray:
    """Ids between limits, both of which are among them."""
    return np.array([0, high, low, high // 2, low // 2, high])


@dataclass(frozen=True)
class Case:
    name: str
    """``function.parameter``, and what else tells it apart in brackets."""
    call: Callable[..., Any]
    data: Callable[[int], Any] = entries
    ids: Callable[[int, int], Any] = some
    negative: bool = False
    """Whether ids below 0 count from the end."""
    past: int = 0
    """How far past the last entry an id may be: 1 for a count or a length of them."""
    wide: bool = True
    """Whether it is tried with more entries than 16 bits can count."""
    beyond: bool = False
    """Whether ids that do not exist have an answer."""
    traces: bool = True
    """Whether the ids may be traced."""
    strict: bool = True
    """Whether it is tried on a library that has only the standard."""

    @property
    def parameter(self) -> str:
        return self.name.partition("[")[0]


def splits_to(low: int, high: int) -> np.ndarray:
    return np.array([0, high // 2, high // 2, high])


def lengths_to(low: int, high: int) -> np.ndarray:
    return np.array([high, 0, high])


def sorted_ids(low: int, high: int) -> np.ndarray:
    return np.array([0, 0, high // 2, high])


def one(low: int, high: int) -> np.ndarray:
    return np.asarray(high)


def two(low: int, high: int) -> np.ndarray:
    return np.array([high, 1])


def flat(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


def twice(n: int) -> np.ndarray:
    return np.arange(2 * n, dtype=np.float32)


def logits(n: int) -> np.ndarray:
    return (np.arange(6 * n, dtype=np.float32) * 5 % 7 / 7).reshape(6, n)


def ragged_logits(n: int) -> RaggedArray:
    return ra.from_row_lengths(logits(n), np.array([3, 0, 3]))


def frames(n: int) -> RaggedArray:
    z = (np.arange(9 * n, dtype=np.float32) * 5 % 7 / 7).reshape(9, n)
    return ra.from_row_lengths(z, np.array([5, 0, 4]))


def padded(n: int) -> np.ndarray:
    return np.arange(3 * n, dtype=np.float32).reshape(3, n)


def label_rows(low: int, high: int) -> RaggedArray:
    return ra.from_row_lengths(np.array([high, 1, high, high // 2]), np.array([2, 0, 2]))


def each_entry(low: int, high: int) -> RaggedArray:
    """A count for each entry of `few`: `high` only once."""
    return ra.from_row_lengths(np.array([high, 0, 2]), np.array([2, 0, 1]))


def few(n: int) -> RaggedArray:
    return ra.from_row_lengths(np.arange(3, dtype=np.float32), np.array([2, 0, 1]))


def few_blocks(n: int) -> RaggedArray:
    return ra.from_blocks(np.arange(6, dtype=np.float32), np.array([[1, 2], [2, 1], [1, 2]]))


def falling(n: int) -> RaggedArray:
    """One row of 100 numbers, in falling order."""
    return ra.from_row_lengths(np.arange(100, 0, -1, dtype=np.float32), np.array([100]))


def order(low: int, high: int) -> RaggedArray:
    return ra.from_row_lengths(np.arange(99, -1, -1), np.array([100]))


def squares(low: int, high: int) -> np.ndarray:
    return np.array([[high, 1], [1, high]])


CASES = [
    Case("take.indices", lambda x, i: ra.take(x, i, capacity=64), negative=True),
    Case("take.indices[many axes]", lambda x, i: ra.take(x, i[None, :], capacity=64), negative=True),
    Case("take.indices[ragged]", lambda x, i: ra.take(x, i, capacity=64), ids=lambda a, b: ragged_ids(some(a, b)),
         negative=True),
    Case("take.indices[plain]", lambda x, i: ra.take(x, i, axis=0), table, negative=True),
    Case("take.indices[plain by ragged]", lambda x, i: ra.take(x, i), table, lambda a, b: ragged_ids(some(a, b)),
         negative=True),
    Case("take.indices[uniform axis]", lambda x, i: ra.take(x, i, axis=2),
         lambda n: ra.from_row_lengths(table(n).reshape(2, n), np.array([0, 2])), negative=True),
    Case("take.indices[block]", lambda x, i: ra.take(x, i, capacity=64),
         lambda n: ra.from_blocks(np.arange(2 * n, dtype=np.float32), np.tile([[1, 2]], (n, 1))), negative=True,
         strict=False),
    Case("take.indices[block axis]", lambda x, i: ra.take(x, i, axis=2), broad, negative=True,
         strict=False),
    Case("gather.indices", lambda x, i: ra.gather(x, i, batch_dims=1), lambda n: long_rows(n + 1),
         lambda a, b: ragged_ids(some(a, b)), negative=True),
    Case("gather.indices[rows]", lambda x, i: ra.gather(x, i, capacity=64), negative=True),
    Case("take_along_axis.indices", lambda x, i: ra.take_along_axis(x, i, axis=1), lambda n: long_rows(n + 1),
         lambda a, b: ragged_ids(some(a, b)), negative=True),
    Case("take_along_axis.indices[plain]", lambda x, i: ra.take_along_axis(x, i[:, None], axis=0), table,
         negative=True),
    Case("getitem.key", lambda x, i: x[i], traces=False, negative=True),
    Case("getitem.key[within rows]", lambda x, i: x[:, i], lambda n: long_rows(n + 1)[::2], negative=True),
    Case("getitem.key[pairs]", lambda x, i: x[:, :, i], lambda n: ra.from_row_lengths(table(n).reshape(2, n), [0, 2]),
         negative=True),
    Case("getitem.key[one]", lambda x, i: x[:, i], lambda n: long_rows(n + 1)[::2], one),
    Case("getitem.key[ragged]", lambda x, i: x[i], lambda n: long_rows(n + 1), lambda a, b: ragged_ids(some(a, b)),
         negative=True),
    Case("getitem.key[block]", lambda x, i: x[:, i], tall, negative=True, strict=False),
    Case("at.key", lambda x, i: x.at[i].add(1.0), traces=False, negative=True),
    Case("at.key[within rows]", lambda x, i: x.at[:, i].add(1.0), lambda n: long_rows(n + 1)[::2], negative=True),
    Case("row.i", lambda x, i: ra.row(x, i, length=3), ids=one),
    Case("row_item.i", lambda x, i: ra.row_item(x, i), long_rows, three, negative=True, beyond=True),
    Case("row_item.i[one]", lambda x, i: ra.row_item(x, i), long_rows, one, negative=True, beyond=True),
    Case("narrow.start", lambda x, i: ra.narrow(x, 1, i, np.array([1, 0, 1])), lambda n: long_rows(n + 1), three,
         negative=True, strict=False),
    Case("narrow.start[inner]", lambda x, i: ra.narrow(x, 2, i, 1),
         lambda n: ra.from_row_lengths(table(n).reshape(2, n), np.array([0, 2])), one),
    Case("narrow.start[block]", lambda x, i: ra.narrow(x, 2, i, 1), broad, two, strict=False),
    Case("narrow.length", lambda x, i: ra.narrow(x, 1, 0, i), lambda n: long_rows(n + 1), three, past=1),
    Case("truncate.length", lambda x, i: ra.truncate(x, i), long_rows, three, past=1, beyond=True),
    Case("truncate.length[block]", lambda x, i: ra.truncate(x, i, axis=2), broad, two, past=1,
         beyond=True, strict=False),
    Case("pad.before", lambda x, i: ra.pad(x, i, 0, capacity=140_064), few, three, past=1, strict=False),
    Case("pad.after", lambda x, i: ra.pad(x, 0, i, capacity=140_064), few, three, past=1, strict=False),
    Case("repeat.repeats", lambda x, i: ra.repeat(x, i, axis=0, size=140_064, capacity=280_128), few,
         lambda a, b: np.array([b, 0, b]), past=1),
    Case("repeat.repeats[entries]", lambda x, i: ra.repeat(x, i, axis=1, capacity=70_064), few, each_entry, past=1),
    Case("repeat.repeats[inner]", lambda x, i: ra.repeat(x, i, axis=2),
         lambda n: ra.from_row_lengths(np.ones((2, 2), np.float32), np.array([0, 2])), two, past=1, traces=False),
    Case("repeat.repeats[plain]", lambda x, i: ra.repeat(x, i, axis=0), lambda n: np.arange(2.0), two, past=1,
         traces=False),
    Case("repeat.repeats[block]", lambda x, i: ra.repeat(x, i, axis=0, capacity=8), few_blocks,
         lambda a, b: np.array([1, 0, 2]), traces=False, strict=False),
    Case("roll.shift", lambda x, i: ra.roll(x, i, axis=1), long_rows, one, negative=True),
    Case("roll.shift[all]", lambda x, i: ra.roll(x, i), long_rows, one, negative=True),
    Case("roll.shift[plain]", lambda x, i: ra.roll(x, i, axis=0), flat, one, strict=False),
    Case("searchsorted.sorter", lambda x, i: ra.searchsorted(x, np.array([[2.0, 9.0]], np.float32), sorter=i), falling,
         order, wide=False, strict=False),
    Case("searchsorted.sorter[plain]", lambda x, i: ra.searchsorted(x, np.array([2.0, 9.0], np.float32), sorter=i),
         lambda n: falling(n).values, lambda a, b: np.arange(99, -1, -1), wide=False, strict=False),
    Case("from_row_splits.row_splits", ra.from_row_splits, flat, splits_to, past=1),
    Case("from_nested_row_splits.nested_row_splits",
         lambda x, i: ra.from_nested_row_splits(x, [np.array([0, 2, 3]), i]), flat, splits_to, past=1),
    Case("from_row_lengths.row_lengths", lambda x, i: ra.from_row_lengths(x, i, exact=False), twice, lengths_to,
         past=1),
    Case("from_nested_row_lengths.nested_row_lengths",
         lambda x, i: ra.from_nested_row_lengths(x, [np.array([1, 2]), i], exact=False), twice, lengths_to, past=1),
    Case("from_row_ids.row_ids", lambda x, i: ra.from_row_ids(x, i, 70_000), lambda n: np.arange(4.0), sorted_ids),
    Case("from_padded.lengths", lambda x, i: ra.from_padded(x, lengths=i), padded, three, past=1),
    Case("from_blocks.sizes", lambda x, i: ra.from_blocks(x, i), twice, squares, past=1, traces=False, strict=False),
    Case("from_blocks.strides", lambda x, i: ra.from_blocks(x, np.array([[2]]), strides=i), flat,
         lambda a, b: np.array([[b]]), traces=False, strict=False),
    Case("from_blocks.offsets", lambda x, i: ra.from_blocks(x, np.array([[1], [1]]), offsets=i), flat, two,
         traces=False, strict=False),
    Case("split_dims.row_splits", lambda x, i: ra.split_dims(x[: i.max()], 0, i), entries, splits_to, past=1,
         traces=False, strict=False),
    Case("split_dims.row_splits[of few]", lambda x, i: ra.split_dims(x, 0, i), lambda n: entries(100),
         lambda a, b: splits_to(0, 100), wide=False),
    Case("split.indices_or_sections", lambda x, i: ra.split(x, i, axis=1), long_rows,
         lambda a, b: np.array([1, b]), beyond=True, traces=False, strict=False),
    Case("array_split.indices_or_sections", lambda x, i: ra.array_split(x, i, axis=1), long_rows,
         lambda a, b: np.array([1, b]), beyond=True, traces=False, strict=False),
    Case("nn.embedding.ids", lambda x, i: ra.nn.embedding(i, x), table, lambda a, b: ragged_ids(some(0, b))),
    Case("nn.embedding.ids[plain]", lambda x, i: ra.nn.embedding(i, x), table, lambda a, b: some(0, b)),
    Case("nn.embedding_bag.ids", lambda x, i: ra.nn.embedding_bag(i, x), table, lambda a, b: ragged_ids(some(0, b))),
    Case("nn.embedding_bag.ids[max]", lambda x, i: ra.nn.embedding_bag(i, x, mode="max"), table,
         lambda a, b: ragged_ids(some(0, b))),
    Case("nn.one_hot.ids", lambda x, i: ra.nn.one_hot(i, x.shape[0]), flat, lambda a, b: ragged_ids(some(a, b)),
         beyond=True),
    Case("nn.one_hot.ids[plain]", lambda x, i: ra.nn.one_hot(i, x.shape[0]), flat, beyond=True),
    Case("nn.cross_entropy.targets", ra.nn.cross_entropy, ragged_logits, lambda a, b: ragged_ids(some(0, b))),
    Case("nn.cross_entropy.targets[plain]", ra.nn.cross_entropy, logits, lambda a, b: some(0, b)),
    Case("nn.cross_entropy.targets[ignored]", lambda x, i: ra.nn.cross_entropy(x, i, ignore_index=-1), logits,
         lambda a, b: some(min(a, 0) // 70_000, b), negative=True),
    Case("nn.ctc_loss.labels", lambda x, i: ra.nn.ctc_loss(x, i, max_labels=2), frames, label_rows),
    Case("nn.interpolate.lengths", lambda x, i: ra.nn.interpolate(x, i, capacity=140_064), few, three, past=1),
    Case("nn.interpolate.lengths[ragged]",
         lambda x, i: ra.nn.interpolate(x, i, capacity=70_064),
         lambda n: ra.from_nested_row_lengths(np.arange(3, dtype=np.float32), [[1, 1], [2, 1]]),
         lambda a, b: ra.from_row_lengths(np.array([b, 1]), np.array([1, 1])), past=1),
    Case("nnet3.format_indexes.indexes", lambda x, i: ra.nnet3.format_indexes(i), flat,
         lambda a, b: np.array([[0, a, 0], [0, b, 1]]), negative=True, traces=False, strict=False),
    Case("BucketPlan.from_sizes.sizes", lambda x, i: ra.BucketPlan.from_sizes(i).buckets, flat, squares, past=1,
         traces=False),
]  # fmt: skip


X = ra.from_row_lengths(np.arange(5, dtype=np.float32), np.array([3, 0, 2]))
"""Operands for static sizes, in the library that ``on`` moves them to."""
D = ra.from_row_lengths(np.arange(10, dtype=np.float32).reshape(5, 2), np.array([3, 0, 2]))
SMALL = ra.from_blocks(np.arange(8, dtype=np.float32), np.array([[2, 2], [1, 4]]))
SQUARE = ra.from_blocks(np.arange(8, dtype=np.float32), np.array([[2, 2], [2, 2]]))
PAIR = np.ones((3, 2), np.float32)
ONE = np.eye(2, dtype=np.float32)
LABELS = ra.from_row_lengths(np.array([1, 0]), np.array([1, 0, 1]))
GATES = np.ones((2, 8), np.float32)
Sizes = dict[str, Callable[[Any, Any], Any]]


def reduced(name: str) -> Sizes:
    return {f"{name}.length": lambda on, n: getattr(ra, name)(on(X), axis=0, length=n)}


def scanned(name: str) -> Sizes:
    return {f"{name}.max_length": lambda on, n: getattr(ra, name)(on(X), axis=1, max_length=n)}


def transformed(name: str) -> Sizes:
    short = name.removesuffix("2").removesuffix("n")
    f = getattr(ra.fft, name)
    if name == short:
        return {f"fft.{name}.n": lambda on, n: f(on(X), n=n)}
    return {f"fft.{name}.s": lambda on, n: f(on(SMALL), s=(n, 2), axes=(-2, -1))}


REDUCTIONS = ["all", "any", "argmax", "argmin", "count_nonzero", "logsumexp", "max", "mean", "median", "min", "nanmean",
              "nansum", "prod", "std", "sum", "var"]  # fmt: skip
SCANS = ["argsort", "cumulative_max", "cumulative_min", "cumulative_prod", "cumulative_sum", "sort"]
TRANSFORMS = ["fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn", "rfft",
              "rfft2", "rfftn"]  # fmt: skip

SIZES: Sizes = {
    name: call
    for group in (*map(reduced, REDUCTIONS), *map(scanned, SCANS), *map(transformed, TRANSFORMS))
    for name, call in group.items()
}
SIZES |= {
    "quantile.length": lambda on, n: ra.quantile(on(X), 0.5, axis=0, length=n),
    "nn.logsumexp.length": lambda on, n: ra.nn.logsumexp(on(X), axis=0, length=n),
    "linalg.vector_norm.length": lambda on, n: ra.linalg.vector_norm(on(X), axis=0, length=n),
    "top_k.k": lambda on, n: ra.top_k(on(X), n, axis=1),
    "top_k.max_length": lambda on, n: ra.top_k(on(X), 2, axis=1, max_length=n),
    "to_padded.length": lambda on, n: ra.to_padded(on(X), length=n),
    "to_mask.length": lambda on, n: ra.to_mask(on(X), length=n),
    "row.length": lambda on, n: ra.row(on(X), 0, length=n),
    "truncate.length[static]": lambda on, n: ra.truncate(on(X), n),
    "narrow.length[static]": lambda on, n: ra.narrow(on(long_rows(301)[::2]), 1, 0, n),
    "narrow.start[static]": lambda on, n: ra.narrow(on(long_rows(301)[::2]), 1, n, 0),
    "pad.before[static]": lambda on, n: ra.pad(on(X), n, 0),
    "pad.after[static]": lambda on, n: ra.pad(on(X), 0, n),
    "pad.capacity": lambda on, n: ra.pad(on(X), 0, np.array([1, 0, 1]), capacity=n),
    "roll.shift[static]": lambda on, n: ra.roll(on(X), n, axis=1),
    "row.i[static]": lambda on, n: ra.row(on(entries(301)), n, length=2),
    "row_item.i[static]": lambda on, n: ra.row_item(on(X), n),
    "sliding_window.size": lambda on, n: ra.sliding_window(on(long_rows(302)), n),
    "sliding_window.step": lambda on, n: ra.sliding_window(on(long_rows(302)), 2, step=n),
    "repeat.repeats[static]": lambda on, n: ra.repeat(on(X), n, axis=1),
    "repeat.size": lambda on, n: ra.repeat(on(X), np.array([1, 0, 2]), axis=0, size=n),
    "repeat.capacity": lambda on, n: ra.repeat(on(X), np.array([1, 0, 2]), axis=0, capacity=n),
    "tile.repetitions": lambda on, n: ra.tile(on(X), (1, n)),
    "take.capacity": lambda on, n: ra.take(on(X), np.array([0, 2, 0]), capacity=n),
    "gather.capacity": lambda on, n: ra.gather(on(X), np.array([0, 2, 0]), capacity=n),
    "gather.batch_dims": lambda on, n: ra.gather(on(X), on(LABELS), batch_dims=type(n)(1)),
    "boolean_mask.size": lambda on, n: ra.boolean_mask(on(X), on(np.array([True, False, True])), size=n),
    "boolean_mask.capacity": lambda on, n: ra.boolean_mask(on(X), on(np.array([True, False, True])), capacity=n),
    "nonzero.size": lambda on, n: ra.nonzero(on(X), size=n),
    "flatten.size": lambda on, n: ra.flatten(on(X), size=n),
    "squeeze.size": lambda on, n: ra.squeeze(on(X[:1, None]), axis=0, size=n),
    "merge_dims.size": lambda on, n: ra.merge_dims(on(ra.split_dims(X, 0, np.array([0, 2, 3]))), 0, 1, size=n),
    "asarray.capacity": lambda on, n: ra.asarray(on(X), capacity=n),
    "asarray.nrows": lambda on, n: ra.asarray(on(X), nrows=n),
    "from_rows.capacity": lambda on, n: ra.from_rows([on(ONE[0]), on(PAIR[:, 0])], capacity=n),
    "from_rows.nrows": lambda on, n: ra.from_rows([on(ONE[0]), on(PAIR[:, 0])], nrows=n),
    "ragged.capacity": lambda on, n: ra.ragged([on(ONE[0]), on(PAIR[:, 0])], capacity=n),
    "with_capacity.capacity": lambda on, n: ra.with_capacity(on(X), n),
    "with_rows.nrows": lambda on, n: ra.with_rows(on(X), n),
    "with_inner_shape.shape": lambda on, n: ra.with_inner_shape(on(D), (type(n)(2), type(n)(1))),
    "to_rows.capacity": lambda on, n: ra.to_rows(on(SMALL), capacity=n),
    "bucket_size.n": lambda on, n: ra.bucket_size(n),
    "bucket_size.minimum": lambda on, n: ra.bucket_size(3, minimum=n),
    "from_row_ids.nrows": lambda on, n: ra.from_row_ids(on(X.values), on(np.zeros(5, np.int32)), n),
    "split.indices_or_sections[static]": lambda on, n: ra.split(on(X), type(n)(3)),
    "array_split.indices_or_sections[static]": lambda on, n: ra.array_split(on(X), type(n)(2)),
    "arange.stop": lambda on, n: ra.arange(0, n),
    "arange.start": lambda on, n: ra.arange(n, 301),
    "arange.step": lambda on, n: ra.arange(0, 301, n),
    "linspace.num": lambda on, n: ra.linspace(0.0, 1.0, n),
    "eye.n_rows": lambda on, n: ra.eye(n),
    "eye.n_cols": lambda on, n: ra.eye(2, n),
    "eye.k": lambda on, n: ra.eye(2, 301, k=n),
    "tril.k": lambda on, n: ra.tril(on(SMALL), k=n),
    "triu.k": lambda on, n: ra.triu(on(SMALL), k=n),
    "linalg.diagonal.offset": lambda on, n: ra.linalg.diagonal(on(SMALL), offset=n),
    "linalg.trace.offset": lambda on, n: ra.linalg.trace(on(SMALL), offset=n),
    "linalg.matrix_power.n": lambda on, n: ra.linalg.matrix_power(on(SQUARE) * 0.01, type(n)(3)),
    "zeros.shape": lambda on, n: ra.zeros((2, n)),
    "ones.shape": lambda on, n: ra.ones(n),
    "empty.shape": lambda on, n: ra.empty((2, n)).shape,
    "full.shape": lambda on, n: ra.full((2, n), 1.0),
    "reshape.shape": lambda on, n: ra.reshape(on(D), (type(n)(3), None, type(n)(1), type(n)(2))),
    "broadcast_to.shape": lambda on, n: ra.broadcast_to(on(X[:, :, None]), (3, None, n)),
    "diff.n": lambda on, n: ra.diff(on(X), axis=1, n=type(n)(2)),
    "fft.fftfreq.n": lambda on, n: ra.fft.fftfreq(n),
    "fft.rfftfreq.n": lambda on, n: ra.fft.rfftfreq(n),
    "addmm.capacity": lambda on, n: ra.addmm(on(SQUARE), on(SQUARE), on(SQUARE), capacity=n),
    "bmm.capacity": lambda on, n: ra.bmm(on(SQUARE), on(SQUARE), capacity=n),
    "matmul.capacity": lambda on, n: ra.matmul(on(SQUARE), on(SQUARE), capacity=n),
    "mm.capacity": lambda on, n: ra.mm(on(SQUARE), on(ONE), capacity=n),
    "mv.capacity": lambda on, n: ra.mv(on(SQUARE), on(ONE[0]), capacity=n),
    "einsum.capacity": lambda on, n: ra.einsum("bij,bjk->bik", on(SQUARE), on(SQUARE), capacity=n),
    "tensordot.capacity": lambda on, n: ra.tensordot(on(SQUARE), on(ONE), axes=1, capacity=n),
    "linalg.matmul.capacity": lambda on, n: ra.linalg.matmul(on(SQUARE), on(SQUARE), capacity=n),
    "linalg.tensordot.capacity": lambda on, n: ra.linalg.tensordot(on(SQUARE), on(ONE), axes=1, capacity=n),
    "linalg.outer.capacity": lambda on, n: ra.linalg.outer(on(X), on(X), capacity=n),
    "map_components.capacity": lambda on, n: ra.map_components(lambda a: a * 2, on(SMALL), capacity=n),
    "BucketPlan.make.max_buckets": lambda on, n: ra.BucketPlan.make(on(SMALL), max_buckets=n).buckets,
    "BucketPlan.from_sizes.max_buckets": lambda on, n: ra.BucketPlan.from_sizes(np.eye(3, dtype=int), max_buckets=n)
    .buckets,
    "nn.one_hot.num_classes": lambda on, n: ra.nn.one_hot(on(LABELS), n),
    "nn.cross_entropy.ignore_index": lambda on, n: ra.nn.cross_entropy(on(logits(2)), np.array([1, 0] * 3),
                                                                       ignore_index=n),
    "nn.ctc_loss.blank": lambda on, n: ra.nn.ctc_loss(on(ra.from_row_lengths(logits(301), [3, 1, 2])), on(LABELS),
                                                      blank=n),
    "nn.ctc_loss.max_labels": lambda on, n: ra.nn.ctc_loss(on(ra.from_row_lengths(logits(3), [3, 1, 2])), on(LABELS),
                                                           blank=2, max_labels=n),
    "nn.interpolate.lengths[static]": lambda on, n: ra.nn.interpolate(on(X[::2]), n),
    "nn.interpolate.capacity": lambda on, n: ra.nn.interpolate(on(X), np.array([1, 0, 2]), capacity=n),
    "nn.sinusoidal.size": lambda on, n: ra.nn.sinusoidal(on(X), n // 2 * 2),
    "nn.attention.window": lambda on, n: attended(on, window=n),
    "nn.attention.max_length": lambda on, n: attended(on, max_length=n),
    "nn.global_avg_pool.length": lambda on, n: ra.nn.global_avg_pool(on(D), axis=0, length=n),
    "nn.global_max_pool.length": lambda on, n: ra.nn.global_max_pool(on(D), axis=0, length=n),
    "nn.avg_pool.size": lambda on, n: ra.nn.avg_pool(on(long_rows(302)), n),
    "nn.avg_pool.stride": lambda on, n: ra.nn.avg_pool(on(long_rows(302)), 2, stride=n),
    "nn.max_pool.size": lambda on, n: ra.nn.max_pool(on(long_rows(302)), n),
    "nn.max_pool.stride": lambda on, n: ra.nn.max_pool(on(long_rows(302)), 2, stride=n),
    "nn.conv1d.stride": lambda on, n: convolved(on, stride=n),
    "nn.conv1d.dilation": lambda on, n: convolved(on, dilation=n),
    "nn.conv1d.groups": lambda on, n: convolved(on, groups=type(n)(1)),
    "nn.rnn.max_length": lambda on, n: ra.nn.rnn(on(D), on(GATES[:, :2]), on(ONE), max_length=n),
    "nn.gru.max_length": lambda on, n: ra.nn.gru(on(D), on(GATES[:, :6]), on(GATES[:, :6]), max_length=n),
    "nn.lstm.max_length": lambda on, n: ra.nn.lstm(on(D), on(GATES), on(GATES), max_length=n),
    "nn.linear_recurrence.max_length": lambda on, n: ra.nn.linear_recurrence(on(D), on(D), max_length=n),
    "nn.scan.max_length": lambda on, n: ra.nn.scan(lambda c, v: (c + v, c), on(np.zeros(3, np.float32)), on(X),
                                                   max_length=n),
}  # fmt: skip


def attended(on: Callable[[Any], Any], **options: Any) -> Any:
    q = ra.with_inner_shape(on(D), (1, 2))
    return ra.nn.attention(q, q, q, **options)


def convolved(on: Callable[[Any], Any], **options: Any) -> Any:
    return ra.nn.conv1d(on(D), on(np.ones((3, 2, 2), np.float32)), **options)


PARTS = "a part of a structure, which the factories check"
VALUES = "values, which ids may have the name of in another loss"
DEGREES = "a degree or an order: an operand of SciPy's function, not an index"
EXEMPT = {
    **dict.fromkeys(["BlockPartition.sizes", "BlockPartition.strides", "BlockPartition.offsets", "RowPartition.splits",
                     "UniformPartition.nrows", "UniformPartition.length", "BucketPlan.groups"], PARTS),
    **dict.fromkeys(["nn.binary_cross_entropy.targets", "nn.huber_loss.targets", "nn.kl_div.targets",
                     "nn.mse_loss.targets", "linspace.start", "linspace.stop"], VALUES),
    **dict.fromkeys([f"special.{name}.n" for name in ra.special.__all__ if name.startswith("eval_")], DEGREES),
    "special.polygamma.n": DEGREES,
    "map_components.shape": "a function",
}  # fmt: skip
"""Parameters with such a name that hold no ids, counts, lengths, indices or sizes, and why."""
