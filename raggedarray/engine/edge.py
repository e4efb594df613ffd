"""The edge of the package: what every public function does before and after its own work.

Data that did not fit its capacity marks its array (`_marks`). Functions themselves know nothing of that: at the
edge they get splits within bounds, and where an argument was marked, their result is filled and marked. Where splits
can be read and fit, which is every eager call but for faults, nothing is done at all.

The edge also knows what the user called, which is how every error begins.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import isfunction
from typing import Any, ParamSpec, TypeVar

from .._array import RaggedArray
from .._errors import OP, error_text, named
from .._partition import BlockPartition, RowPartition, UniformPartition
from ..backends import is_array, is_numpy, kernels, kind
from ..structure.overflow import (
    entries_below,
    fill_unless,
    filled_rows,
    known_overflow,
    marked,
    needs,
    overflow,
    within,
)

P = ParamSpec("P")
T = TypeVar("T")

_CARRY = """
    abs acos acosh add asin asinh atan atanh ceil cos cosh cumulative_prod cumulative_sum divide exp exp2 expm1 floor
    log log10 log1p log2 multiply negative positive real reciprocal round sin sinh sqrt square subtract tan tanh
    trunc linear attention conv1d layer_norm rms_norm softmax log_softmax batch_norm embedding rotary gelu relu silu
    sigmoid softplus matmul gru lstm rnn sort flip
"""
CARRY = frozenset(_CARRY.split())
"""Functions whose results in the same rows are NaN wherever their arguments are: nothing need be filled again."""

_FACTS = """
    allclose array_equal validate nested_dim nested_size isdtype can_cast result_type finfo iinfo bucket_size
    broadcast_shapes checked checks grad value_and_grad
"""
FACTS = frozenset(_FACTS.split())
"""Functions of structure, dtypes and other functions, which need no data to be there."""


def guarded(f: Callable[P, T], op: str = "") -> Callable[P, T]:
    """``f`` for arguments that may be marked; errors begin with ``op``, or with its name."""
    op = op or f.__name__

    @wraps(f)
    def edge(*args: P.args, **options: P.kwargs) -> T:
        token = OP.set(op)
        try:
            given = _ragged((*args, *options.values()))
            doubtful = [x for x in given if known_overflow(x.partitions, x.capacity) is not False]
            if not doubtful:
                return f(*args, **options)
            marks = _Marks(f.__name__, doubtful)
            clamped: Any = f  # its arguments are of the same types
            out: T = marks.finish(clamped(*map(marks.clamp, args), **{k: marks.clamp(x) for k, x in options.items()}))
            return out
        finally:
            OP.reset(token)

    return edge


def guard(namespace: dict[str, Any], names: Iterable[str], module: str) -> None:
    """Put the edge around the public functions of a module."""
    prefix = module.partition(".")[2]
    for name in names:
        f = namespace.get(name)
        if isfunction(f) and not hasattr(f, "__wrapped__"):
            op = f"{prefix}.{name}" if prefix else _CALLED.get(name, name)
            namespace[name] = named(op)(f) if name in FACTS else guarded(f, op)
            namespace[name].__module__ = module  # so that a pickle finds what it was given


_CALLED = {"_at_get": "at", "_at_update": "at", "_getitem": "getitem", "_is_contiguous": "is_contiguous"}
"""Functions behind methods and brackets: what users call them."""


def _ragged(items: Iterable[Any]) -> list[RaggedArray]:
    found: list[RaggedArray] = []
    for x in items:
        if isinstance(x, RaggedArray):
            found.append(x)
        elif isinstance(x, list | tuple):
            found += (y for y in x if isinstance(y, RaggedArray))
        elif isinstance(x, dict):
            found += (y for y in x.values() if isinstance(y, RaggedArray))
    return found


class _Marks:
    """Which arguments of a call may be marked: what stands in for their partitions, and whether all data fits."""

    def __init__(self, op: str, doubtful: list[RaggedArray]) -> None:
        self.op = op
        self.carries = op in CARRY
        self.first = doubtful[0]
        self.clamped: dict[int, RaggedArray] = {}
        """Id of an argument -> the same within bounds."""
        self.true: dict[int, Any] = {}
        """Id of a partition within bounds, or of its splits -> the true one."""
        self.fits: dict[Any, Any] = {}
        """Structure -> whether its data fits."""
        self.above: list[set[Any]] = []
        """Of each structure, itself and those of its outer levels alone."""
        self.cut: dict[Any, Any] = {}
        """Arrays of a partition, and the entries below it -> the partition within bounds."""
        self.raised: dict[Any, Any] = {}
        """The same -> the partition with a mark, where a result has it last."""
        for x in doubtful:
            self._add(x)
        self.ok: Any = True
        for ok in self.fits.values():
            self.ok = ok if self.ok is True else self.ok & ok

    def _add(self, x: RaggedArray) -> None:
        key = _structure(x.partitions, x.capacity)
        below = entries_below(x.partitions, x.capacity)
        if key not in self.fits:
            over = known_overflow(x.partitions, x.capacity)
            self.fits[key] = self._fit(x) if over is None else not over
            self.above.append({_structure(x.partitions[: i + 1], n) for i, n in enumerate(below)})
        if self.op == "unbind" and self.fits[key] is False:  # rows of their true lengths, since they can be read
            self.clamped[id(x)] = RaggedArray(*filled_rows(x.values, x.partitions))
        else:
            self.clamped[id(x)] = RaggedArray(x.values, tuple(map(self._within, x.partitions, below)))

    def _within(self, p: Any, below: int) -> Any:
        """A partition within bounds, the same one wherever the same splits stand: operands that share them agree."""
        key = (*_identity(p), below)
        if key not in self.cut:
            q = self.cut[key] = within(p, below)
            self.true[id(q)] = p
            if isinstance(p, RowPartition):
                self.true[id(q.splits)] = p.splits
        return self.cut[key]

    def _fit(self, x: RaggedArray) -> Any:
        """Whether the data of ``x`` fits: traced, and checked where that is wanted."""
        for needed, available in needs(x.partitions, x.capacity):
            k = kernels(needed)
            if k.checking():
                advice = "Make the array with a larger one."
                text = error_text("a capacity of at least {needed}", f"{available}", advice)
                k.check(needed <= available, text, needed=needed)
        return ~overflow(x.partitions, x.capacity)

    def clamp(self, x: Any) -> Any:
        if isinstance(x, RaggedArray):
            return self.clamped.get(id(x), x)
        if type(x) in (list, tuple):
            return type(x)(map(self.clamp, x))
        if type(x) is dict:
            return {name: self.clamp(v) for name, v in x.items()}
        return x

    def finish(self, out: Any) -> Any:
        if isinstance(out, RaggedArray):
            return self._restored(out)
        if isinstance(out, tuple) and hasattr(out, "_fields"):
            return type(out)(*map(self.finish, out))
        if type(out) in (list, tuple):
            return type(out)(map(self.finish, out))
        if type(out) is dict:
            return {name: self.finish(v) for name, v in out.items()}
        return self._filled(out) if is_array(out) else out

    def _filled(self, values: Any) -> Any:
        if kind(values.dtype) not in ("bool", "int", "uint", "float", "complex"):
            return values
        if is_numpy(values) and not isinstance(self.ok, bool):
            values = kernels(self.ok).asarray(values)
        return fill_unless(values, self.ok)

    def _restored(self, x: RaggedArray) -> RaggedArray:
        true = tuple(self._true(p) for p in x.partitions)
        if self.op == "asarray":  # which moves splits
            true = tuple(self._moved(p, q) for p, q in zip(x.partitions, self.first.partitions, strict=True))
        structure = _structure(true, x.capacity)
        kept = all(structure in above for above in self.above)  # these splits are what travels, mark and all
        if kept and structure in self.fits and self.carries and kind(x.dtype) in ("float", "complex"):
            return RaggedArray(x.values, true)
        values = self._filled(x.values)
        if kept:
            return RaggedArray(values, true)
        key = (*_identity(true[-1]), x.capacity)
        if key not in self.raised:
            self.raised[key] = marked(true[-1], x.capacity, self.ok)
        return RaggedArray(values, (*true[:-1], self.raised[key]))

    def _moved(self, p: Any, true: Any) -> Any:
        if isinstance(p, RowPartition) and p.nrows == true.nrows:
            return RowPartition(kernels(p.splits).index(true.splits))
        return p

    def _true(self, p: Any) -> Any:
        if id(p) in self.true:
            return self.true[id(p)]
        if isinstance(p, RowPartition) and id(p.splits) in self.true:
            return RowPartition(self.true[id(p.splits)])
        return p


def _structure(partitions: tuple[Any, ...], capacity: int) -> Any:
    """What two arrays share that have the very same splits over as many slots."""
    return (*map(_identity, partitions), capacity)


def _identity(p: Any) -> tuple[Any, ...]:
    """What two partitions share that hold the very same arrays; arguments and results keep them alive."""
    if isinstance(p, UniformPartition):
        return p.nrows, p.length
    static = (p.axes, p.bound) if isinstance(p, BlockPartition) else ()
    return (*map(id, p.arrays()), *static)
