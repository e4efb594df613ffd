"""The types of the seam: what a backend is, and what its functions take and make."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from .._typing import Array, DType, Namespace

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
    """Static options of `generic.attention`."""

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
    """What ragged ops need and the array API standard lacks: what a backend must have, and all that it must.

    What more it may have, for the sake of speed or of gradients, are functions of `generic`; `implementation` finds
    them.
    """

    name: str
    xp: Namespace
    """The standard namespace of this library."""
    has_exact_sizes: bool
    """Whether values are cut to the used slots before an op sees them, and results are exact.

    A library of which it is false compiles, for static sizes: what it has made cannot be written to, and what is read
    comes from a device.
    """

    def call(self, body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
        """Run the body of an op: one dispatch when eager, inlined when traced."""

    def is_concrete(self, *trees: Any) -> bool:
        """Whether the content of these arrays can be read now."""

    def host(self, x: Array, /) -> Any:
        """A concrete array as a NumPy array."""

    def asarray(self, x: Any, /, *, dtype: DType | None = None) -> Array:
        """An array of any library or nested numbers as an array of this one; its own arrays stay what they are."""

    def index(self, x: Array, /) -> Array:
        """Integers of any library as indices of this one, int32 or int64; what does not fit raises."""

    def move(
        self,
        values: Array,
        /,
        *indices: Array,
        slots: int | None = None,
        dtype: DType | None = None,
        device: Any = None,
    ) -> list[Array]:
        """`asarray` of values and `index` of the others, in one transfer.

        ``slots`` (of values that come from NumPy), ``dtype`` (a wish) and a sharding over several devices are for the
        values alone; ``slots`` counts where sizes are static.
        """

    def dtype(self, name: DType, /) -> DType:
        """A dtype of this library from its name, or from another library's dtype."""

    def bound(self, needed: Array, limit: int, /) -> int:
        """A static size for ``needed`` entries: exact where data can be read, else ``limit``."""

    def row_ids(self, splits: Array, capacity: int, /) -> Array:
        """Row of each flat position; ``nrows`` past the last split."""

    def segment_reduce(self, how: Reduction, values: Array, segments: Segments, /) -> Array:
        """Reduce each segment, an empty one to `identity`: ``[capacity, *item] -> [num, *item]``."""

    def segment_scan(
        self, how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None
    ) -> Array:
        """Reduce each segment up to each position, or from it on in ``reverse``."""

    def segment_argsort(self, values: Array, splits: Array, /, *, longest: int | None) -> Array:
        """Position that each position of a sorted segment comes from (stable): an index, of the values' shape.

        ``longest`` is a static limit of the lengths, if one is known.
        """

    def pick(self, items: Array, index: Array, /, *, fill: int = 0) -> Array:
        """Items by index, ``fill`` where the index is ``len(items)``; gradients to those places are dropped."""

    def true_index(self, mask: Array, size: int, /) -> Array:
        """Index of each true element of a 1-D mask, in order; ``len(mask)`` once they run out."""

    def checking(self) -> bool:
        """Whether run-time checks are wanted where data is traced."""

    def check(self, ok: Array, text: str, /, **shown: Array) -> None:
        """Fail at run time with ``text`` (formatted with ``shown``) unless ``ok``."""


class Generator(Protocol):
    """Where random numbers come from: what `generic.generator` makes of a key."""

    def draw(self, how: str, like: Array, dtype: DType, /, *bounds: Any) -> Array:
        """Random numbers of the shape of ``like``: ``normal``, ``uniform`` in [0, 1), ``randint`` within bounds."""

    def shuffle(self, ids: Array, /) -> Array:
        """Order (in the dtype of ids) that sorts positions by id, and leaves those of one id in random order."""


class ComponentFunction(Protocol):
    """A function of single components: what `generic.component_function` makes of one."""

    def shapes(self, shapes: list[tuple[int, ...]], like: list[Array], /) -> tuple[list[tuple[int, ...]], Any]:
        """Shapes of the leaves of its result for arrays of these shapes, in the dtypes of ``like``; their tree."""

    def __call__(self, *stacks: Array) -> tuple[list[Array], Any]:
        """Of stacks of components: the leaves of its results, stacked, and their tree."""


class Transforms(Protocol):
    """What JAX knows of trees and of functions, whichever library arrays are of: the module `jax.transforms`."""

    def register(self, cls: type, static: bool, /) -> None:
        """Make a dataclass a pytree: its fields are children, but for those marked static, or all static."""

    def flatten(self, tree: Any, is_leaf: Callable[[Any], bool] | None = None, /) -> tuple[list[Any], Any]:
        """Leaves and structure of a pytree."""

    def unflatten(self, structure: Any, leaves: list[Any], /) -> Any:
        """The pytree of this structure."""

    def value_and_grad(self, f: Callable[[list[Array]], Any], has_aux: bool, /) -> Callable[[list[Array]], Any]:
        """JAX's, on a list of inexact arrays."""

    def checks(self) -> Any:
        """A context in which traced code checks its data at run time."""

    def checked(self, f: Callable[..., Any], options: dict[str, Any], /) -> Callable[..., Any]:
        """``f`` compiled with its checks, as a function that returns ``(error, result)``."""
