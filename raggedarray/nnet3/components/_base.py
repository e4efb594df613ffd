"""What every component is: config keys, numbers, a formula, and which rows it reads.

A component is a frozen dataclass. Its fields are its config keys, with ``_`` for ``-``; the annotation of
a field is the type of the key, and a field whose default is `REQUIRED` is a key that must be given. The formula
is written once over an array namespace; ``backward`` is its derivative in NumPy, for the reference.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import jax
import numpy as np

from ..._errors import error_text
from ..._typing import Array, Namespace
from ...backends.jax.rows import alike
from .._lines import REQUIRED as REQUIRED
from .._reads import Reads, Same
from .._typing import Floats, Ints

Key: TypeAlias = jax.Array
"""A key of `jax.random`."""

Pairs: TypeAlias = tuple[Ints, Ints]
"""Row numbers of outputs, and of an input that each of them reads."""

Params: TypeAlias = dict[str, Any]
"""The numbers of one component: leaf name to array (a Composite has a dict per part)."""

NONE = int(np.iinfo(np.int32).max)
"""The row number of a missing row: past the end of every array."""


class RowContext(NamedTuple):
    """What a formula may use besides the input rows.

    sources  ``int[rows]`` per tap: row of the input, -1 or `NONE` where it is missing
    pairs    ``int[P]`` twice: output row and input row, where one output row reads any number of rows
    mark     ``int[rows, ...]``: integers that only the component itself interprets
    groups   ``int[G, ...]``: the groups of rows that share random numbers
    valid    ``bool[rows]``: rows in use; None where all are
    noise    random numbers, one item per group
    parts    the facts of each part of a Composite
    """

    sources: tuple[Array, ...] = ()
    pairs: tuple[Array, Array] | None = None
    mark: Array | None = None
    groups: Array | None = None
    valid: Array | None = None
    noise: Array | None = None
    parts: "tuple[RowContext, ...]" = ()


@dataclass(frozen=True, kw_only=True)
class Component:
    """The base of all components: a function of single rows, without numbers, unless it says otherwise."""

    kind: ClassVar[str]
    ignored: ClassVar[frozenset[str]] = frozenset()
    """Keys that are read and have no effect here."""
    leaves: ClassVar[tuple[str, ...]] = ()
    """Names of the numbers: those of the text model, in snake case."""
    tags: ClassVar[tuple[str, ...]] = ()
    """Tags of the text model, in order; each stands for the field or leaf of its name. A tag with ``?`` is written
    where it differs from the default, one with ``!`` is a flag without a value."""
    backprop_needs: ClassVar[frozenset[str]] = frozenset({"input"})
    """Which of "input" and "output" the derivative is computed from."""
    in_place: ClassVar[bool] = False
    """Whether the output may be written over the input."""
    adds_on_backprop: ClassVar[bool] = False
    """Whether the derivative of the input is added to what is there."""
    random: ClassVar[bool] = False
    """Whether the formula may draw random numbers."""

    keys: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The config line as it was written, without name and type."""

    def __post_init__(self) -> None:
        """Check the fields, and complete those that follow from others."""
        self._complete()

    def _complete(self) -> None:
        pass

    @property
    def input_dim(self) -> int:
        """Columns read."""
        raise NotImplementedError

    @property
    def output_dim(self) -> int:
        """Columns made."""
        return self.input_dim

    @property
    def reads(self) -> Reads:
        """Which input rows an output row reads."""
        return Same()

    @property
    def trained(self) -> tuple[str, ...]:
        """The leaves that training changes."""
        return ()

    def trained_of(self, params: Params) -> Params:
        """Whether training changes them, for each of the numbers."""
        return {name: name in self.trained for name in params}

    @property
    def updatable(self) -> bool:
        """Whether training changes anything."""
        return bool(self.trained)

    def init(self, key: Key) -> Params:
        """Fresh numbers."""
        return {}

    def num_parameters(self) -> int:
        """Trained numbers."""
        shapes = jax.eval_shape(self.init, jax.random.key(0)) if self.trained else {}
        return sum(int(np.prod(shapes[name].shape)) for name in self.trained)

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Output rows ``[rows, output_dim]`` of input rows ``x``."""
        raise NotImplementedError

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """Derivatives by the input and by the trained numbers, in NumPy."""
        raise NotImplementedError

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """RowContext of the output rows ``index``, made on the host."""
        return RowContext(sources, pairs)

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """Config keys that follow from the shapes of the numbers."""
        return {}

    def needs_key(self) -> bool:
        """Whether this component, as configured, draws random numbers."""
        return False

    def noise(self, key: Key, groups: Array) -> Array | None:
        """Random numbers of each group, from a JAX key."""
        return None

    def drawn(self, facts: RowContext, key: Key) -> RowContext:
        """The facts with random numbers, if any are needed."""
        if not self.needs_key():
            return facts
        return facts._replace(noise=_noise(self, key, facts.groups))

    @property
    def gathers(self) -> bool:
        """Whether `statistics` gives anything."""
        return False

    def statistics(self, params: Params, x: Array, facts: RowContext) -> Params:
        """Numbers that these rows change without training, in JAX."""
        return {}

    def check_statistics(self, params: Params) -> None:
        """Raise ValueError if statistics are needed and missing."""

    def in_test_mode(self, on: bool) -> "Component":
        """The same component in test or in training mode."""
        if not hasattr(self, "test_mode"):
            return self
        changed: Component = replace(self, test_mode=on, keys=self.keys | {"test-mode": str(on).lower()})  # type: ignore[call-arg]
        return changed

    def info(self) -> str:
        """One line: type and dims."""
        return f"type={self.kind}, input-dim={self.input_dim}, output-dim={self.output_dim}"

    def text(self) -> str:
        """Type and keys, as a config line has them after the name."""
        return " ".join([f"type={self.kind}", *(f"{key}={value}" for key, value in self.keys.items())])

    def error(self, expected: str, got: object, advice: str) -> ValueError:
        """An error about this component."""
        return ValueError(error_text(expected, got, advice, op=self.kind))


@dataclass(frozen=True, kw_only=True)
class Updatable(Component):
    """A component with numbers that training changes; the options of its update are kept and have no effect."""

    ignored: ClassVar[frozenset[str]] = frozenset(
        {"rank", "rank-in", "rank-out", "rank-inout", "alpha", "alpha-in", "alpha-out", "alpha-inout"}
        | {"update-period", "num-samples-history", "use-natural-gradient", "max-change-per-sample"}
    )
    learning_rate: float = 0.001
    learning_rate_factor: float = 1.0
    max_change: float = 0.0
    l2_regularize: float = 0.0

    @property
    def trained(self) -> tuple[str, ...]:
        """All leaves."""
        return self.leaves


@dataclass(frozen=True, kw_only=True)
class Rowwise(Component):
    """A component of ``dim`` columns in and out."""

    dim: int = REQUIRED

    def _complete(self) -> None:
        positive(self, "dim")

    @property
    def input_dim(self) -> int:
        """Columns."""
        return self.dim


_noise = jax.jit(lambda component, key, groups: component.noise(key, groups), static_argnums=0)


def positive(component: Component, *names: str) -> None:
    """Refuse dims below 1."""
    for name in names:
        if (value := getattr(component, name)) < 1:
            raise component.error(f"{name.replace('_', '-')} of at least 1", value, "Pass a positive number.")


def divides(component: Component, part: str, total: str) -> None:
    """Refuse a part that does not divide its total."""
    a, b = getattr(component, part), getattr(component, total)
    if b % a:
        names = part.replace("_", "-"), total.replace("_", "-")
        raise component.error(f"{names[0]} that divides {names[1]}={b}", a, "Change one of them.")


def pick(xp: Namespace, x: Array, rows: Array) -> Array:
    """Rows of ``x`` by number, zeros for missing ones: ``rows`` of any shape."""
    if xp is not np:
        return x.at[rows].get(mode="fill", fill_value=0, wrap_negative_indices=False)
    present = (rows >= 0) & (rows < x.shape[0])
    out = np.zeros((*rows.shape, *x.shape[1:]), x.dtype)
    out[present] = x[rows[present]]
    return out


def scatter_add(dy: Floats, rows: Ints, count: int) -> Floats:
    """The derivative of `pick`: rows added back where they came from."""
    out = np.zeros((count, *dy.shape[rows.ndim :]), dy.dtype)
    present = (rows >= 0) & (rows < count)
    np.add.at(out, rows[present], dy[present])
    return out


Rule: TypeAlias = Callable[[Namespace, Array, Array | None], Array]


def gradient_by(xp: Namespace, rule: Rule, x: Array, mark: Array | None = None) -> Array:
    """``x``, with the derivative ``rule(xp, dy, mark)`` instead of its own."""
    return x if xp is np else _identity(rule, *alike((x, mark)))


def _identity_fwd(_rule: Rule, x: Array, mark: Array | None) -> tuple[Array, Array | None]:
    return x, mark


def _identity_bwd(rule: Rule, mark: Array | None, dy: Array) -> tuple[Array, None]:
    return rule(jax.numpy, dy, mark), None


_identity = jax.custom_vjp(lambda _rule, x, _mark: x, nondiff_argnums=(0,))
_identity.defvjp(_identity_fwd, _identity_bwd)


def stop_gradient(xp: Namespace, x: Array) -> Array:
    """``x`` as a constant for the gradient."""
    return x if xp is np else jax.lax.stop_gradient(x)


def normal(key: Key, stddev: float, *shape: int, mean: float = 0.0) -> jax.Array:
    """Normal numbers in float32."""
    return mean + stddev * jax.random.normal(key, shape, dtype=np.float32)


def sigmoid(xp: Namespace, x: Array) -> Array:
    """``1 / (1 + exp(-x))``, without overflow."""
    return 0.5 + 0.5 * xp.tanh(0.5 * x)
