"""How a RaggedArray looks: as text, in a notebook, as nested lists.

One component per line, nested ones indented, long ones elided (the NestedTensor convention). Nothing here
may raise: a repr is what one looks at when something else did.
"""

from html import escape
from itertools import pairwise
from typing import Any

from .backends import kernels

_EDGE = 3
"""Entries shown at either end of a long axis."""


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


def _number(v: Any) -> str:
    if isinstance(v, float):
        text = f"{v:.4g}"
        return text if any(c in text for c in ".en") else text + "."
    return str(v)


def _flat(items: Any) -> str:
    if not isinstance(items, list):
        return _number(items)
    edge = _EDGE if not isinstance(items[0] if items else 0, list) else 1
    if len(items) > 2 * edge + 1:
        return "[" + ", ".join([*map(_flat, items[:edge]), "...", *map(_flat, items[-edge:])]) + "]"
    return "[" + ", ".join(map(_flat, items)) + "]"


def _lines(items: list[Any], depth: int, indent: str) -> list[str]:
    shown = items if len(items) <= 2 * _EDGE + 1 else [*items[:_EDGE], ..., *items[-_EDGE:]]
    out = []
    for item in shown:
        if item is ...:
            out.append(f"{indent}...")
        elif depth == 1 or not item:
            out.append(f"{indent}{_flat(item)},")
        else:
            out += [f"{indent}[", *_lines(item, depth - 1, indent + "  "), f"{indent}],"]
    return out


def _summary(x: Any) -> str:
    parts = [f"shape={x.shape}", f"dtype={x.dtype}", f"capacity={x.capacity}", f"backend={kernels(x.values).name}"]
    return f"RaggedArray({', '.join(parts)})"


def text(x: Any) -> str:
    """``repr(x)``: the components, or the shapes where data is traced."""
    try:
        if not x.is_concrete():
            return _summary(x)
        body = "\n".join(_lines(_edges(x), x.ragged_rank, "  "))
        head = "RaggedArray([\n" + body + "\n]" if body else "RaggedArray([]"
        return f"{head}, shape={x.shape}, dtype={x.dtype})"
    except Exception:  # JAX rebuilds pytrees with leaves of any kind, and shows them in its own errors
        return f"RaggedArray(values={type(x.values).__name__}, partitions={type(x.partitions).__name__})"


def _edges(x: Any) -> list[Any]:
    """`nested_list` of what is shown, so that a repr of a large array stays cheap."""
    if x.nrows <= 2 * _EDGE + 1:
        return nested_list(x)
    edges = (*range(_EDGE), *range(x.nrows - _EDGE, x.nrows))
    rows = [row.tolist() for row in (x[i] for i in edges)]
    return [*rows[:_EDGE], *([[]] * (x.nrows - 2 * _EDGE)), *rows[_EDGE:]]


def html(x: Any) -> str:
    """A notebook's view: the summary, the row lengths as bars, and how full the storage is."""
    try:
        title = escape(_summary(x))
        if not x.is_concrete():
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
