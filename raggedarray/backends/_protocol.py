"""What a backend is: the functions of `Kernels`, which ragged ops need and the array API standard lacks."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from .._typing import Array, DType

Reduction = Literal["sum", "prod", "min", "max"]


class Segments(NamedTuple):
    """Which segment each flat position belongs to; positions that belong to none have id ``num``.

    Either ``splits`` is given (segments lie end to end: ``int[num + 1]``) or ``ids`` is
    (in any order: ``int[capacity]``).
    """

    num: int
    splits: Array | None = None
    ids: Array | None = None


class AttentionOptions(NamedTuple):
    """Static options of `Kernels.attention`."""

    scale: float
    left: int | None
    """How far before its own position a query sees keys, ``right`` how far after it; None without limit."""
    right: int | None
    dropout: float
    longest: tuple[int | None, int | None]
    """Static limits of the lengths of the rows of queries and of keys."""
    same: bool
    """Whether the keys are known to lie as the queries do."""
    implementation: str | None


class Kernels(Protocol):
    """What ragged ops need and the array API standard lacks. ``generic`` says what each one means."""

    name: str
    has_exact_sizes: bool
    """Whether values are cut to the used slots before an op sees them, and results are exact."""

    def call(self, body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
        """Run the body of an op: one dispatch when eager, inlined when traced."""

    def pointwise(
        self, f: Callable[..., Array], args: tuple[Any, ...], static: dict[str, Any], /, *, single: bool
    ) -> Array:
        """``f`` of elements, given arrays and Python numbers: the dtype is what arrays promote to, numbers are weak.

        ``single`` tells a function of the library from one of several steps.
        """

    def is_concrete(self, *trees: Any) -> bool:
        """Whether the content of these arrays can be read now."""

    def host(self, x: Array, /) -> Any:
        """A concrete array as a NumPy array."""

    def asarray(self, x: Any, /, *, dtype: DType | None = None) -> Array:
        """Bring an array or nested numbers into this library."""

    def index(self, x: Any, /) -> Array:
        """Bring integers into this library as index type; what does not fit raises."""

    def move(
        self,
        values: Array,
        /,
        *indices: Array,
        slots: int | None = None,
        dtype: DType | None = None,
        device: Any = None,
    ) -> list[Array]:
        """Values and integers into this library, in one transfer.

        ``slots`` (of values that come from NumPy), ``dtype`` (a wish) and a sharding over several devices are for the
        values alone.
        """

    def dtype(self, name: DType, like: Array | None = None, /) -> DType:
        """A dtype of this library (that of ``like``) from its name, or from another library's dtype."""

    def bound(self, needed: Array, limit: int, /) -> int:
        """A static size for ``needed`` entries: exact where data can be read, else ``limit``."""

    def row_ids(self, splits: Array, capacity: int, /) -> Array:
        """Row of each flat position; ``nrows`` past the last split."""

    def segment_reduce(self, how: Reduction, values: Array, segments: Segments, /) -> Array:
        """Reduce each segment: ``[capacity, *item] -> [num, *item]``."""

    def spread(self, items: Array, segments: Segments, capacity: int, /, *, fill: int = 0) -> Array:
        """Give each position its segment's item, ``fill`` to the others: ``[num, *item] -> [capacity, *item]``."""

    def pick(self, items: Array, index: Array, /, *, fill: int = 0) -> Array:
        """Items by index, ``fill`` where the index is ``len(items)``; gradients to those places are dropped."""

    def segment_sort(self, values: Array, splits: Array, /, *, longest: int | None) -> Array:
        """Sort each segment, ascending and NaN last; ``longest`` is a static limit of the lengths, if one is known."""

    def segment_argsort(self, values: Array, splits: Array, /, *, longest: int | None) -> Array:
        """Position that each position of a sorted segment comes from (stable): an index, of the values' shape."""

    def segment_scan(
        self, how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None
    ) -> Array:
        """Reduce each segment up to each position, or from it on in ``reverse``."""

    def scan_axis(self, how: Reduction, values: Array, axis: int, /, *, reverse: bool) -> Array:
        """The same along a uniform axis."""

    def take_runs(self, items: Array, starts: Array, splits: Array, /) -> Array:
        """Runs of items end to end: run ``i`` begins at ``starts[i]`` and fills ``splits[i]:splits[i + 1]``; else 0."""

    def segment_softmax(self, values: Array, segments: Segments, /, *, log: bool) -> Array:
        """Softmax (or its logarithm) within each segment."""

    def linear(self, x: Array, weight: Array, bias: Array | None, used: Array, /) -> Array:
        """``x @ weight + bias``; gradients ignore positions at ``used`` and after."""

    def grouped_matmul(self, x: Array, weights: Array, splits: Array, /) -> Array:
        """``x[rows of i] @ weights[i]`` for each row ``i``; 0 past the last split."""

    def embedding(self, table: Array, ids: Array, used: Array, /) -> Array:
        """``table[ids]``; ids past ``used`` may be anything, an id outside the table gives NaN."""

    def attention(
        self,
        query: Array,
        key: Array,
        value: Array,
        splits: tuple[Array, Array],
        bias: Array | None,
        rng: Any,
        options: AttentionOptions,
        /,
    ) -> Array:
        """Each query's mean of the values of its row, weighted by the softmax of its scores: ``[capacity, H, E]``.

        ``splits`` are those of the queries and of the keys. ``bias`` is added to the scores: ``[H or 1, I, J]`` by
        position, or ``[H or 1, 2 * m + 1]`` by distance. A query that sees no key gives 0.
        """

    def contract(self, x: Array, w: Array, /) -> Array:
        """``x @ w``, of halves in float32."""

    def bag(self, how: Reduction, table: Array, ids: Array, weights: Array | None, splits: Array, /) -> Array:
        """Entries of a table ``[n, item]`` by id, weighted, reduced over rows: ``[nrows, item]``; halves in float32.

        An id outside the table gives NaN, one in slack may be anything.
        """

    def ctc(self, frames: Array, classes: Array, counts: Array, splits: Array, /) -> Array:
        """Minus the log probability of each row's labels in log probabilities ``[capacity, classes]`` of frames.

        ``classes`` are those of the states, ``[nrows, states]``: a blank before, between and behind ``counts`` labels.
        """

    def recurrence(
        self,
        how: str,
        x: Array,
        weights: tuple[Array, Array],
        biases: tuple[Array | None, Array | None],
        initial: tuple[Array, ...],
        splits: Array,
        /,
        *,
        reverse: bool,
        limit: int | None,
    ) -> tuple[Array, tuple[Array, ...]]:
        """The outputs of a recurrent layer (``rnn``, ``gru``, ``lstm``), 0 past the last split, and final states.

        ``limit`` is a static limit of the row lengths, which nothing needs but derivatives of the gradient.
        """

    def linear_recurrence(self, a: Array, b: Array, initial: Array | None, splits: Array, /, *, reverse: bool) -> Array:
        """``h[t] = a[t] * h[t - 1] + b[t]`` within each row."""

    def scan_rows(
        self,
        f: Callable[[list[Array], list[Array]], tuple[list[Array], list[Array]]],
        carry: list[Array],
        xs: list[Array],
        splits: Array,
        /,
        *,
        steps: int,
        reverse: bool,
    ) -> tuple[list[Array], list[Array]]:
        """``carry, y = f(carry, x)`` along all rows, side by side: the last carry of each, and ``y`` at each slot.

        No row is longer than ``steps``. What ``f`` gives for rows that have ended is dropped.
        """

    def true_index(self, mask: Array, size: int, /) -> Array:
        """Index of each true element of a 1-D mask, in order; ``len(mask)`` once they run out."""

    def strided(self, buffer: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], /) -> Array:
        """``buffer[offset + sum(i * strides)]`` for each index of ``shape``, not empty: ``[*shape, *item]``."""

    def each(self, f: Callable[..., Any], /) -> Callable[..., tuple[list[Array], Any]]:
        """``f`` of single components as a function of stacks: the leaves of its results, stacked, and their tree."""

    def result_shapes(
        self, f: Callable[..., Any], shapes: list[tuple[int, ...]], like: list[Array], /
    ) -> tuple[list[tuple[int, ...]], Any]:
        """Shapes of the leaves of ``f``'s result for arrays of these shapes, in the dtypes of ``like``; their tree."""

    def einsum(self, letters: str, /, *arrays: Array) -> Array:
        """Sum of products, by letters; of halves in float32."""

    def stop_gradient(self, x: Array, /) -> Array:
        """``x``, as a constant."""

    def once(self, x: Array, /) -> Array:
        """``x``, the very same numbers for all who read them: a compiler may compute it anew, and round otherwise."""

    def mask_gradient(self, values: Array, splits: Array, /) -> Array:
        """``values``, whose gradient is 0 past the last split."""

    def special(self, name: str, /) -> Callable[..., Array]:
        """A function of ``scipy.special``."""

    def check_key(self, key: Any, /) -> None:
        """Raise unless ``key`` is what random numbers come from here."""

    def random(self, how: str, key: Any, like: Array, dtype: DType, /, *bounds: Any) -> Array:
        """Random numbers of the shape of ``like``: ``normal``, ``uniform`` in [0, 1), ``randint`` within bounds."""

    def shuffle(self, key: Any, ids: Array, /) -> Array:
        """Order (in the dtype of ids) that sorts positions by id, and leaves those of one id in random order."""

    def checking(self) -> bool:
        """Whether run-time checks are wanted where data is traced."""

    def check(self, ok: Array, text: str, /, **shown: Array) -> None:
        """Fail at run time with ``text`` (formatted with ``shown``) unless ``ok``."""
