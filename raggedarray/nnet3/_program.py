"""What a request makes a network do, by meaning: layers of rows, and which rows each of them reads.

The structure depends on the network and on the names in the request; only the arrays depend on its rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ._typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Term:
    """One leaf of a descriptor: per row of the layer, the row of the source that is added ``scale`` times, or -1."""

    source: int
    columns: tuple[int, int]
    scale: float
    rows: Ints


@dataclass(frozen=True, eq=False)
class Part:
    """One part of an Append: a sum of terms and, where the descriptor has constants, a number per row."""

    width: int
    terms: tuple[Term, ...]
    constant: Floats | None


@dataclass(frozen=True, eq=False)
class Layer:
    """The rows of one node.

    Rows of inputs and outputs stand in the order of the request, others by wave, then t, x, n. ``waves`` are the row
    splits of the waves. A component that does not read rows of the same Index says which rows of its input layer it
    reads: one array per tap, -1 for none, or the rows and row splits of a window.
    """

    name: str
    kind: Literal["input", "component_input", "component", "output"]
    dim: int
    indexes: Ints
    waves: Ints
    parts: tuple[Part, ...] = ()
    component: str | None = None
    input: int | None = None
    reads: tuple[Ints, ...] = ()
    window: tuple[Ints, Ints] | None = None


@dataclass(frozen=True)
class Epoch:
    """Layers that run one after the other; if recurrent, wave by wave."""

    layers: tuple[int, ...]
    recurrent: bool


@dataclass(frozen=True, eq=False)
class Program:
    """All layers, the order they run in, and the numbers of the layers that are inputs and outputs."""

    layers: tuple[Layer, ...]
    epochs: tuple[Epoch, ...]
    inputs: dict[str, int]
    outputs: dict[str, int]

    def __str__(self) -> str:
        """The graph of rows in Kaldi's form: a paragraph per layer, with the rows that each row reads.

        Of a layer at most 50 rows are shown, of a row at most 5 that it reads.
        """
        return "".join(f"{' '.join(_rows(self.layers, layer))}\n" for layer in self.layers if len(layer.indexes))


SHOWN, READS_SHOWN = 50, 5


def _rows(layers: tuple[Layer, ...], layer: Layer) -> Iterator[str]:
    reads = list(_reads(layer))
    for row in range(min(len(layer.indexes), SHOWN)):
        sources = dict.fromkeys((number, r) for number, rows in reads for r in rows(row) if r >= 0)
        texts = [_row(layers[number], r) for number, r in list(sources)[:READS_SHOWN]]
        texts += ["..."] if len(sources) > READS_SHOWN else []
        yield f"[ {_row(layer, row)}{' -> ' if texts else ''}{', '.join(texts)} ]"
    if len(layer.indexes) > SHOWN:
        yield "..."


def _reads(layer: Layer) -> Iterator[tuple[int, Callable[[int], list[int]]]]:
    """Per layer that is read, a function from a row to the rows there."""
    for part in layer.parts:
        for term in part.terms:
            yield term.source, partial(_one, (term.rows,))
    if layer.input is None:
        return
    if layer.window is not None:
        read, splits = layer.window
        yield layer.input, lambda row: read[splits[row] : splits[row + 1]].tolist()
    elif layer.reads:
        yield layer.input, partial(_one, layer.reads)
    else:
        yield layer.input, lambda row: [row]


def _one(taps: tuple[Ints, ...], row: int) -> list[int]:
    return [int(rows[row]) for rows in taps]


def _row(layer: Layer, row: int) -> str:
    n, t, x = layer.indexes[row].tolist()
    return f"{layer.name}({n},{t},{x})" if x else f"{layer.name}({n},{t})"
