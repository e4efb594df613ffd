"""How a RaggedArray looks: as text, in a notebook, as nested lists.

One component per line, nested ones indented (the NestedTensor convention); numbers, and when entries are left out,
as `numpy.printoptions` says. Nothing here may raise: a repr is what one looks at when something else did.
"""

from html import escape
from itertools import pairwise
from typing import Any

from ._partition import BlockPartition, RowPartition, UniformPartition
from .backends import kernels
from .backends.numpy.text import options, written
from .structure.overflow import filled_rows, known_overflow


def nested_list(x: Any) -> list[Any]:
    """Nested Python lists; see `RaggedArray.tolist`."""
    k = kernels(x.values)
    if x.block is not None:
        return [row.tolist() for row in x.unbind()]
    levels = [k.host(splits).tolist() for splits in x.nested_row_splits]  # indexing on a device compiles once a shape
    items = k.host(x.values)[: levels[-1][-1]].tolist()
    for ends in reversed(levels):
        items = [items[a:b] for a, b in pairwise(ends)]
    return list(items)


def _components(x: Any, first: int, stop: int) -> list[Any]:
    """Rows from ``first`` to ``stop`` as nested lists of components, these as arrays on the host."""
    k = kernels(x.values)
    if x.block is not None:
        rows = [x[i] for i in range(first, stop)]
        return [_components(row, 0, row.nrows) if hasattr(row, "partitions") else k.host(row) for row in rows]
    levels: list[list[int]] = []
    for splits in x.nested_row_splits:
        ends = k.host(splits)[first : stop + 1].tolist()
        first, stop = ends[0], ends[-1]
        levels.append([end - first for end in ends])
    items: Any = k.host(x.values)[first:stop]
    for ends in reversed(levels):
        items = [items[a:b] for a, b in pairwise(ends)]
    return list(items)


def _shown(items: Any, edge: int) -> list[Any]:
    """The entries to show, `...` for those left out; ``edge`` at either end, 0 for all."""
    if not edge or len(items) <= 2 * edge:
        return list(items)
    return [*items[:edge], ..., *items[len(items) - edge :]]


def _flat(item: Any, edge: int) -> str:
    if item is ...:
        return "..."
    if isinstance(item, list) or item.ndim:
        return "[" + ", ".join(_flat(i, edge) for i in _shown(item, edge)) + "]"
    return written(item)


def _wrapped(text: str, indent: str, width: int) -> list[str]:
    """A component on as many lines as it takes."""
    lines, line = [], indent
    for part in text.split(", "):
        if len(line) + len(part) >= width and line.strip():
            lines.append(line.rstrip())
            line = indent + " "
        line += part + ", "
    return [*lines, line[:-2] + ","]


def _lines(items: list[Any], depth: int, indent: str, edge: int, width: int) -> list[str]:
    out = []
    for item in items:
        if item is ...:
            out.append(f"{indent}...")
        elif depth == 1 or not len(item):
            out += _wrapped(_flat(item, edge), indent, width)
        else:
            inside = _lines(_shown(item, edge), depth - 1, indent + "  ", edge, width)
            out += [f"{indent}[", *inside, f"{indent}],"]
    return out


def _stacked(x: Any) -> tuple[int, ...]:
    """Leading axes that all leaves have: of arrays stacked, as `jax.vmap` gives them back."""
    for p in x.partitions:
        if isinstance(p, RowPartition):
            return tuple(p.splits.shape[:-1])
        if isinstance(p, BlockPartition):
            return tuple(p.sizes.shape[:-2])
    return ()


def _summary(x: Any) -> str:
    """Shapes, read off the leaves, which may be stacks of arrays or hold no data."""
    lead = _stacked(x)
    first, capacity, *inner = (int(n) for n in (0, *x.values.shape[len(lead) :]))
    axes: list[int | None] = []
    for p in x.partitions:
        if isinstance(p, UniformPartition):
            above, here = p.nrows, [p.length]
        elif isinstance(p, BlockPartition):
            above, here = int(p.sizes.shape[len(lead)]), list(p.axes)  # type: ignore[arg-type]
        else:
            above, here = int(p.splits.shape[len(lead)]) - 1, [None]  # type: ignore[list-item]
        first = first if axes else above
        axes += here
    shape = (first, *axes, *inner)
    parts = [f"shape={shape}", f"dtype={x.values.dtype}", f"capacity={capacity}"]
    if lead:
        parts[0] = f"stack of {lead}, each of shape={shape}"
    library = _library(x)
    parts.append("shapes only" if library is None else f"backend={library}")
    return f"RaggedArray({', '.join(parts)})"


def _library(x: Any) -> str | None:
    """Which the values are of; None of leaves without data, as `jax.eval_shape` gives."""
    try:
        return kernels(x.values).name
    except TypeError:
        return None


def _can_be_read(x: Any) -> bool:
    return _library(x) is not None and not _stacked(x) and bool(x.is_concrete())


def text(x: Any) -> str:
    """``repr(x)``: the components, or the shapes where data is traced, stacked or missing."""
    try:
        if not _can_be_read(x):
            return _summary(x)
        over = known_overflow(x.partitions, x.values.shape[0])
        if over:
            x = type(x)(*filled_rows(x.values, x.partitions))
        how = options()
        size, edge = x.size + x.nrows, 0
        if size > how.threshold:
            edge = max(how.edge, 1)
        lines = _lines(_rows(x, edge), x.ragged_rank, "  ", edge, how.width)
        head = "RaggedArray([\n" + "\n".join(lines) + "\n]" if lines else "RaggedArray([]"
        return f"{head}, shape={x.shape}, dtype={x.dtype}{', overflow=True' if over else ''})"
    except Exception:  # JAX rebuilds pytrees with leaves of any kind, and shows them in its own errors
        return f"RaggedArray(values={type(x.values).__name__}, partitions={type(x.partitions).__name__})"


def _rows(x: Any, edge: int) -> list[Any]:
    """The components to show; no others are read."""
    if not edge or x.nrows <= 2 * edge:
        return _components(x, 0, x.nrows)
    return [*_components(x, 0, edge), ..., *_components(x, x.nrows - edge, x.nrows)]


def html(x: Any) -> str:
    """A notebook's view: the summary, the row lengths as bars, and how full the storage is."""
    try:
        title = escape(_summary(x))
        if not _can_be_read(x):
            return f"<code>{title}</code>"
        lengths = kernels(x.values).host(x.row_lengths() if len(x.partitions) == 1 else x.row_splits).tolist()
        if len(x.partitions) > 1:
            lengths = [b - a for a, b in pairwise(lengths)]
        bars, top = lengths[:64], max(lengths, default=0) or 1
        rects = "".join(
            f'<rect x="{5 * i}" y="{40 - round(40 * n / top)}" width="4" height="{round(40 * n / top)}">'
            f"<title>row {i}: {n}</title></rect>"
            for i, n in enumerate(bars)
        )
        used, capacity = int(x.used_mask().sum()) if x.is_contiguous else x.capacity, x.capacity
        fill = f"{used} of {capacity} slots used" + (f" ({used / capacity:.0%})" if capacity else "")
        more = f", first {len(bars)} of {len(lengths)} rows" if len(bars) < len(lengths) else ""
        chart = f'<svg width="{5 * max(len(bars), 1)}" height="40" fill="#4c72b0">{rects}</svg>'
        return f"<div><code>{title}</code><br>{chart}<br><small>{fill}{more}</small></div>"
    except Exception:
        return f"<code>{escape(text(x))}</code>"
