"""Whether partitions describe what they claim to: the checks of the factories and of `validate`."""

from operator import index
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import RowPartition, UniformPartition, entry_counts, levels_only
from ..backends import is_array, kernels, kind, namespace


def ragged_only(x: Any) -> RaggedArray:
    """``x``, which must be a RaggedArray."""
    if not isinstance(x, RaggedArray):
        raise TypeError(error_text("a RaggedArray", type(x).__name__, "Make one with `ra.ragged`."))
    return x


def is_scalar(x: object) -> bool:
    """A Python number, whose dtype is weak."""
    return isinstance(x, bool | int | float | complex) and not is_array(x)


def checked_scalar(x: RaggedArray, value: Any, what: str = "initial", *, dtype: Any = None) -> Any:
    """A value to be taken in the dtype of ``x`` (or this one): a Python number must be one of that kind."""
    dtype = x.dtype if dtype is None else dtype
    allowed: dict[str, Any] = {
        "bool": bool,
        "int": int,
        "uint": int,
        "float": (float, int),
        "complex": (complex, float, int),
    }
    if is_array(value) or (value is None and what == "initial"):
        return value
    k = kind(dtype)
    if k == "bool" and isinstance(value, int) and value in (0, 1):
        return bool(value)
    if not isinstance(value, allowed.get(k, object)) and not (k != "bool" and isinstance(value, bool)):
        raise TypeError(error_text(f"{what} of dtype {dtype}", repr(value), "Convert `x` first."))
    if k in ("int", "uint") and not isinstance(value, bool) and not holds(x, value, dtype=dtype):
        raise OverflowError(error_text(f"{what} of dtype {dtype}", repr(value), "Convert `x` first."))
    return value


def holds(x: Any, n: int, *, dtype: Any = None) -> bool:
    """Whether the integer dtype of ``x`` (or this one) has this number. JAX would wrap one that it lacks."""
    limits = namespace(x.values if isinstance(x, RaggedArray) else x).iinfo(x.dtype if dtype is None else dtype)
    return int(limits.min) <= n <= int(limits.max)


def sizes_of(n: Any, *, many: bool = False) -> Any:
    """A static size, or a tuple of them, as Python ints; NumPy's integers are welcome."""
    if many and isinstance(n, tuple | list):
        return tuple(sizes_of(m) for m in n)
    try:
        return index(n)
    except TypeError:
        what = type(n).__name__
        raise TypeError(error_text("a static size", what, "Pass an int that does not depend on data.")) from None


def item_shape_of(given: Any) -> tuple[int | None, ...]:
    """The shape of an entry of axis 0, None along a ragged axis."""
    try:
        return tuple(None if n is None else index(n) for n in given)
    except TypeError:
        raise TypeError(error_text("item_shape of ints and None", repr(given), "Pass a tuple.")) from None


def level_sizes(capacity: Any, rank: int, *, given: int = 0) -> Any:
    """What ``capacity=`` says, an int or one size for each level of a result of ``rank`` levels, from ``given`` on.

    A tuple is read the same everywhere: levels below axis 0, outermost first, the slots of ``values`` last. Those that
    are known otherwise, the first ``given`` ones and uniform ones, are in it, and what it says of them is not read.
    """
    sizes = sizes_of(capacity, many=True)
    if isinstance(sizes, int):
        if sizes < 0:
            raise ValueError(error_text("a capacity of 0 or more", f"{capacity}", "Pass a size."))
        return sizes
    if len(sizes) != rank or any(n < 0 for n in sizes):
        advice = "Pass one per level below axis 0."
        raise ValueError(error_text(f"{rank} sizes of 0 or more", f"{capacity}", advice))
    return sizes[given:]


def check_min_int(what: str, n: Any, least: int) -> int:
    """A static int that is not less than ``least``."""
    n = sizes_of(n)
    if n < least:
        raise ValueError(error_text(f"a {what} of at least {least}", str(n), "Pass a larger one."))
    return int(n)


def check_partitions(x: RaggedArray) -> None:
    """Splits start at 0, never decrease, end within the entries below; traced ones at run time under `checks`."""
    counts = entry_counts(x.partitions, x.capacity)
    used = counts[0]
    known = kernels(x.values).is_concrete(x.partitions)
    for level, p in enumerate(levels_only(x.partitions)):
        if isinstance(p, UniformPartition):
            used *= p.length
            continue
        if not known:
            _check_traced(p.splits, counts[level + 1])
        else:
            used = _check_splits(
                kernels(p.splits).host(p.splits), used, counts[level + 1], level + 1, level + 1 == x.ragged_rank
            )


def _check_traced(splits: Any, below: int) -> None:
    k = kernels(splits)
    if not k.checking():
        return
    xp = namespace(splits)
    ok = (splits[0] == 0) & (splits[-1] <= below) & xp.all(splits[1:] >= splits[:-1])
    text = error_text(f"splits that rise from 0 to at most {below}", "{splits}", "Check the row lengths.")
    k.check(ok, text, splits=splits)


def _check_splits(splits: Any, above: int, below: int, axis: int, last: bool) -> int:
    """Check the splits of one level with ``above`` entries in use; return how many they use below."""
    where = f" of axis {axis}" if axis > 1 else ""
    if splits[0] != 0:
        advice = "Pass `splits - splits[0]` with `values[splits[0]:splits[-1]]`, or prepend the 0 if it is missing."
        raise ValueError(error_text(f"splits{where} that start at 0", f"{splits[0]}", advice))
    down = (splits[1:] < splits[:-1]).nonzero()[0]
    if down.size:
        i = int(down[0])
        found = f"{splits[i + 1]} after {splits[i]} at index {i + 1}"
        raise ValueError(error_text(f"splits{where} that never decrease", found, "Check the row lengths."))
    if splits[above] != splits[-1]:
        i = int((splits[above:] != splits[above]).argmax()) + above
        raise ValueError(
            error_text(
                f"splits{where} that repeat {splits[above]} past row {above}",
                f"{splits[i]} at index {i}",
                "Slack rows must be empty.",
            )
        )
    if splits[-1] > below:
        advice = "Pass the missing values." if last else "The splits of the next axis have fewer rows."
        raise ValueError(error_text(f"splits{where} that end at {below} or before", f"{splits[-1]}", advice))
    return int(splits[-1])


def check_consistent(x: RaggedArray) -> None:
    """Levels that fit together: a uniform level has the entries it says, values have a first axis."""
    if getattr(x.values, "ndim", 0) == 0:
        raise ValueError(error_text("values with a first axis", "shape ()", "Pass at least one axis of slots."))
    counts = entry_counts(x.partitions, x.capacity)
    for level, p in enumerate(x.partitions):
        if isinstance(p, UniformPartition) and p.nrows * p.length != counts[level + 1]:
            raise ValueError(
                error_text(
                    f"{p.nrows * p.length} entries below axis {level + 1}", str(counts[level + 1]), "Rebuild it."
                )
            )
        if isinstance(p, RowPartition) and (p.splits.ndim != 1 or p.splits.shape[0] == 0):
            raise ValueError(
                error_text("row splits of shape (nrows + 1,)", f"shape {p.splits.shape}", "Start them with 0.")
            )


def last_rows(x: RaggedArray) -> RowPartition:
    """The innermost partition, which must be of rows."""
    p: Any = x.partitions[-1]
    if not isinstance(p, RowPartition):
        raise TypeError(error_text("rows as the innermost ragged axis", f"shape {x.shape}", "Use `ra.to_rows(x)`."))
    return p
