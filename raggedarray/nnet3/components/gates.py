"""The nonlinear part of gated recurrent cells, in one component each."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._typing import Array, Namespace
from .._typing import Floats
from ._base import REQUIRED, Component, Key, Params, RowContext, Updatable, normal, positive, sigmoid

SELF_REPAIR = frozenset({"self-repair-scale", "self-repair-threshold", "tanh-self-repair-threshold"}) | {
    "sigmoid-self-repair-threshold"
}


@dataclass(frozen=True, kw_only=True)
class LstmNonlinearity(Updatable):
    """Gates, cell and output of an LSTM with peepholes.

    Input columns: (i, f, g, o, previous c), ``cell-dim`` each, and with ``use-dropout`` three scales of the row.
    Output columns: (c, m).
    """

    kind: ClassVar[str] = "LstmNonlinearityComponent"
    ignored: ClassVar[frozenset[str]] = Updatable.ignored | SELF_REPAIR
    leaves: ClassVar[tuple[str, ...]] = ("params",)
    tags: ClassVar[tuple[str, ...]] = (
        *("Params", "ValueAvg", "DerivAvg", "SelfRepairConfig"),
        *("SelfRepairProb", "UseDropout", "Count"),
    )
    cell_dim: int = REQUIRED
    use_dropout: bool = False
    param_stddev: float = 1.0

    def _complete(self) -> None:
        positive(self, "cell_dim")

    @property
    def input_dim(self) -> int:
        """Five blocks, and perhaps three scales."""
        return 5 * self.cell_dim + 3 * self.use_dropout

    @property
    def output_dim(self) -> int:
        """Two blocks."""
        return 2 * self.cell_dim

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """The columns of the peepholes."""
        return {"cell-dim": params["params"].shape[1]}

    def init(self, key: Key) -> Params:
        """Peepholes of deviation ``param-stddev``."""
        return {"params": normal(key, self.param_stddev, 3, self.cell_dim)}

    def _gates(self, xp: Namespace, params: Params, x: Array) -> tuple[Array, ...]:
        n = self.cell_dim
        i, f, g, o, before = (x[:, k * n : (k + 1) * n] for k in range(5))
        peep = params["params"]
        i, f, g = sigmoid(xp, i + peep[0:1] * before), sigmoid(xp, f + peep[1:2] * before), xp.tanh(g)
        si, sf, so = (x[:, 5 * n + k : 5 * n + k + 1] if self.use_dropout else 1.0 for k in range(3))
        c = f * before * sf + i * g * si
        o = sigmoid(xp, o + peep[2:3] * c)
        return i, f, g, o, before, c, si, sf, so

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """``c = f c₋ + i tanh g``, ``m = o tanh c``, with gates that see the cell."""
        *_, o, _, c, _, _, so = self._gates(xp, params, x)
        return xp.concatenate([c, o * xp.tanh(c) * so], axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """By the chain rule, from the output gate back."""
        n, peep = self.cell_dim, params["params"]
        i, f, g, o, before, c, si, sf, so = self._gates(np, params, x)
        tanh_c, dm = np.tanh(c), dy[:, n:]
        do = dm * tanh_c * so * o * (1 - o)
        dc = dy[:, :n] + dm * o * so * (1 - tanh_c**2) + do * peep[2]
        di, df, dg = dc * g * si * i * (1 - i), dc * before * sf * f * (1 - f), dc * i * si * (1 - g * g)
        dbefore = dc * f * sf + di * peep[0] + df * peep[1]
        parts = [di, df, dg, do, dbefore]
        if self.use_dropout:
            scales = (dc * i * g, dc * f * before, dm * o * tanh_c)
            parts += [s.sum(axis=1, keepdims=True) for s in scales]
        dpeep = np.stack([(di * before).sum(0), (df * before).sum(0), (do * c).sum(0)])
        return np.concatenate(parts, axis=1), {"params": dpeep}


@dataclass(frozen=True, kw_only=True)
class GruNonlinearity(Updatable):
    """New state of a GRU, plain or projected.

    Input columns: (z, r, h part, previous c, previous s) with dims (C, R, C, C, R); without ``recurrent-dim``, or
    where it is ``cell-dim``, (z, r, h part, previous y). Output columns: (h, c).
    """

    kind: ClassVar[str] = "GruNonlinearityComponent"
    ignored: ClassVar[frozenset[str]] = Updatable.ignored | SELF_REPAIR
    leaves: ClassVar[tuple[str, ...]] = ("w_h",)
    tags: ClassVar[tuple[str, ...]] = ("CellDim", "RecurrentDim", "w_h", "ValueAvg", "DerivAvg", "Count")
    cell_dim: int = REQUIRED
    recurrent_dim: int = 0
    param_stddev: float | None = None

    def _complete(self) -> None:
        positive(self, "cell_dim")
        object.__setattr__(self, "recurrent_dim", self.recurrent_dim or self.cell_dim)
        positive(self, "recurrent_dim")

    @property
    def _plain(self) -> bool:
        return self.recurrent_dim == self.cell_dim

    @property
    def input_dim(self) -> int:
        """Four or five blocks."""
        return 3 * self.cell_dim + self.recurrent_dim * (1 if self._plain else 2)

    @property
    def output_dim(self) -> int:
        """Two blocks."""
        return 2 * self.cell_dim

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """The dims of the matrix."""
        cell_dim, recurrent_dim = params["w_h"].shape
        return {"cell-dim": cell_dim, "recurrent-dim": recurrent_dim}

    def init(self, key: Key) -> Params:
        """Weights of deviation ``param-stddev``, by default one over the root of ``recurrent-dim``."""
        stddev = self.recurrent_dim**-0.5 if self.param_stddev is None else self.param_stddev
        return {"w_h": normal(key, stddev, self.cell_dim, self.recurrent_dim)}

    def _split(self, x: Array) -> tuple[Array, ...]:
        c, r = self.cell_dim, self.recurrent_dim
        z, reset, part, before = x[:, :c], x[:, c : c + r], x[:, c + r : 2 * c + r], x[:, 2 * c + r : 3 * c + r]
        return z, reset, part, before, before if self._plain else x[:, 3 * c + r :]

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """``h = tanh(h part + W (r s₋))``, ``c = (1 - z) h + z c₋``."""
        z, reset, part, before, state = self._split(x)
        h = xp.tanh(part + xp.matmul(reset * state, params["w_h"].T))
        return xp.concatenate([h, (1 - z) * h + z * before], axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """By the chain rule, from the cell back."""
        n = self.cell_dim
        z, reset, _, before, state = self._split(x)
        h, dc = y[:, :n], dy[:, n:]
        da = (dy[:, :n] + dc * (1 - z)) * (1 - h * h)
        dstate = da @ params["w_h"]
        parts = [dc * (before - h), dstate * state, da, dc * z, dstate * reset]
        if self._plain:
            parts[3] = parts[3] + parts.pop()
        return np.concatenate(parts, axis=1), {"w_h": da.T @ (reset * state)}

    backprop_needs: ClassVar[frozenset[str]] = frozenset({"input", "output"})


@dataclass(frozen=True, kw_only=True)
class OutputGruNonlinearity(Updatable):
    """New state of a GRU whose reset gate stands at the output: (z, h part, previous c) to (h, c)."""

    kind: ClassVar[str] = "OutputGruNonlinearityComponent"
    ignored: ClassVar[frozenset[str]] = Updatable.ignored | SELF_REPAIR
    leaves: ClassVar[tuple[str, ...]] = ("w_h",)
    tags: ClassVar[tuple[str, ...]] = ("CellDim", "w_h", "ValueAvg", "DerivAvg", "Count")
    backprop_needs: ClassVar[frozenset[str]] = frozenset({"input", "output"})
    cell_dim: int = REQUIRED
    param_mean: float = 0.0
    param_stddev: float = 1.0

    def _complete(self) -> None:
        positive(self, "cell_dim")

    @property
    def input_dim(self) -> int:
        """Three blocks."""
        return 3 * self.cell_dim

    @property
    def output_dim(self) -> int:
        """Two blocks."""
        return 2 * self.cell_dim

    @classmethod
    def keys_of(cls, params: Params) -> dict[str, int]:
        """The size of the cell."""
        return {"cell-dim": params["w_h"].shape[0]}

    def init(self, key: Key) -> Params:
        """Weights around ``param-mean``."""
        return {"w_h": normal(key, self.param_stddev, self.cell_dim, mean=self.param_mean)}

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """``h = tanh(h part + w c₋)``, ``c = (1 - z) h + z c₋``."""
        n = self.cell_dim
        z, part, before = x[:, :n], x[:, n : 2 * n], x[:, 2 * n :]
        h = xp.tanh(part + params["w_h"][None, :] * before)
        return xp.concatenate([h, (1 - z) * h + z * before], axis=1)

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """By the chain rule, from the cell back."""
        n = self.cell_dim
        z, before, h, dc = x[:, :n], x[:, 2 * n :], y[:, :n], dy[:, n:]
        da = (dy[:, :n] + dc * (1 - z)) * (1 - h * h)
        dx = np.concatenate([dc * (before - h), da, dc * z + da * params["w_h"]], axis=1)
        return dx, {"w_h": (da * before).sum(axis=0)}


KINDS: tuple[type[Component], ...] = (LstmNonlinearity, GruNonlinearity, OutputGruNonlinearity)
