"""The commands of a computation, one by one, in NumPy: what every other way of running it is tested against."""

from collections.abc import Mapping
from typing import overload

import jax
import numpy as np

from .._errors import error_text, named
from .._typing import Array
from . import commands as c
from ._computation import NnetComputation
from ._executor import check_statistics
from ._terms import node_key
from ._typing import Floats, Ints
from .components import Component, Key, Params, RowContext


@overload
def run_reference(
    computation: NnetComputation,
    params: Mapping[str, Params],
    inputs: Mapping[str, Array],
    /,
    *,
    output_derivs: None = None,
    key: Key | None = None,
) -> dict[str, Floats]: ...
@overload
def run_reference(
    computation: NnetComputation,
    params: Mapping[str, Params],
    inputs: Mapping[str, Array],
    /,
    *,
    output_derivs: Mapping[str, Array],
    key: Key | None = None,
) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, Params]]: ...
@named("run_reference")
def run_reference(
    computation: NnetComputation,
    params: Mapping[str, Params],
    inputs: Mapping[str, Array],
    /,
    *,
    output_derivs: Mapping[str, Array] | None = None,
    key: Key | None = None,
) -> dict[str, Floats] | tuple[dict[str, Floats], dict[str, Floats], dict[str, Params]]:
    """Interpret a computation: outputs by node name, ``float32[rows, dim]`` in the order of the request.

    With ``output_derivs``, for the outputs that the request names so, the backward commands run too, and the result is
    ``(outputs, input_derivs, param_grads)``. Matrices hold NaN until they are written. ``key`` gives the random numbers
    that the jitted computation draws from it.
    """
    machine = _Machine(computation, params, inputs, output_derivs or {}, key)
    for command in computation.commands:
        if output_derivs is None and isinstance(command, c.NoOp) and command.kind == "separator":
            break
        machine.step(command)
    return machine.outputs if output_derivs is None else (machine.outputs, machine.input_derivs, machine.grads)


class _Machine:
    def __init__(
        self,
        computation: NnetComputation,
        params: Mapping[str, Params],
        inputs: Mapping[str, Array],
        output_derivs: Mapping[str, Array],
        key: Key | None,
    ) -> None:
        self.computation, self.key = computation, key
        self.components: Mapping[str, Component] = computation.network.components
        check_statistics(self.components, params)
        self.params = {name: jax.tree.map(_float, numbers) for name, numbers in params.items()}
        self.inputs, self.output_derivs = inputs, output_derivs
        self.matrices: dict[int, Floats] = {}
        self.outputs: dict[str, Floats] = {}
        self.input_derivs: dict[str, Floats] = {}
        self.grads = {
            name: jax.tree.map(np.zeros_like, {leaf: self.params[name][leaf] for leaf in component.trained})
            for name, component in self.components.items()
            if component.trained and name in self.params
        }

    def at(self, sub: c.SubMatrix) -> Floats:
        """A view of a part of a matrix."""
        return self.matrices[sub.matrix][slice(*sub.rows), slice(*sub.columns)]

    def step(self, command: c.Command) -> None:
        """Do what a command says."""
        match command:
            case c.Alloc(matrix):
                shape = self.computation.matrices[matrix]
                self.matrices[matrix] = np.full((shape.rows, shape.cols), np.nan, np.float32)
            case c.Dealloc(matrix):
                del self.matrices[matrix]
            case c.SetConst(to, value):
                self.at(to)[:] = value
            case c.AcceptInput(matrix, node):
                self._accept(matrix, node)
            case c.ProvideOutput(matrix, node):
                provided = self.input_derivs if self.computation.matrices[matrix].deriv else self.outputs
                provided[node] = self.matrices[matrix].copy()
            case c.Propagate():
                self._propagate(command)
            case c.Backprop():
                self._backprop(command)
            case c.NoOp():
                pass
            case _:
                self._move(command)

    def _move(self, command: c.Command) -> None:
        match command:
            case c.MatrixCopy(to, source, alpha):
                self.at(to)[:] = np.float32(alpha) * self.at(source)
            case c.MatrixAdd(to, source, alpha):
                self.at(to)[:] += np.float32(alpha) * self.at(source)
            case c.CopyRows(to, source, rows, alpha):
                self.at(to)[:] = np.float32(alpha) * _rows(self.at(source), rows)
            case c.AddRows(to, source, rows, alpha):
                self.at(to)[:] += np.float32(alpha) * _rows(self.at(source), rows)
            case c.CopyRowsMulti(to, sources, pairs, alpha) | c.AddRowsMulti(to, sources, pairs, alpha):
                target = self.at(to)
                if isinstance(command, c.CopyRowsMulti):
                    target[:] = 0
                for k, source in enumerate(sources):
                    of_source = (pairs[:, 0] == k) & (pairs[:, 1] >= 0)
                    target[of_source] += np.float32(alpha) * self.at(source)[pairs[of_source, 1]]
            case c.CopyToRowsMulti(source, targets, pairs, alpha) | c.AddToRowsMulti(source, targets, pairs, alpha):
                values = np.float32(alpha) * self.at(source)
                for k, to in enumerate(targets):
                    to_target = (pairs[:, 0] == k) & (pairs[:, 1] >= 0)
                    rows = pairs[to_target, 1]
                    before = 0 if isinstance(command, c.CopyToRowsMulti) else self.at(to)[rows]
                    self.at(to)[rows] = before + values[to_target]
            case c.AddRowRanges(to, source, ranges, alpha):
                target, values = self.at(to), self.at(source)
                for row, (begin, end) in enumerate(ranges):
                    if begin >= 0:
                        target[row] += np.float32(alpha) * values[begin:end].sum(axis=0)
            case _:
                raise TypeError(error_text("a command", command, "Compile the computation anew."))

    def _accept(self, matrix: int, node: str) -> None:
        shape = self.computation.matrices[matrix]
        arrays = self.output_derivs if shape.deriv else self.inputs
        what = "output_derivs" if shape.deriv else "inputs"
        if node not in arrays:
            raise ValueError(error_text(f"{what} with {node!r}", sorted(arrays), "Pass an array for it."))
        values = _float(arrays[node])
        if values.shape != (shape.rows, shape.cols):
            expected = f"{what}[{node!r}] of shape {(shape.rows, shape.cols)}"
            raise ValueError(error_text(expected, values.shape, "Pass a row per Index."))
        self.matrices[matrix] = values.copy()

    def _facts(self, component: Component, command: c.Propagate | c.Backprop) -> RowContext:
        reads: tuple[Ints, ...] = ()
        pairs = None
        if command.precomputed is not None:
            precomputed = self.computation.precomputed[command.precomputed]
            reads = precomputed.reads
            if precomputed.window is not None:
                source, splits = precomputed.window
                pairs = np.repeat(np.arange(len(splits) - 1, dtype=np.int32), np.diff(splits)), source
        facts = component.facts(command.indexes, reads, pairs)
        if not component.needs_key():
            return facts
        if self.key is None:
            expected = f"a key, for the random numbers of {command.node}"
            raise ValueError(error_text(expected, None, "Pass key=, or use net.in_test_mode()."))
        drawn: RowContext = jax.tree.map(np.asarray, component.drawn(facts, node_key(self.key, command.node)))
        return drawn

    def _propagate(self, command: c.Propagate) -> None:
        component, to = self.components[command.component], self.at(command.to)
        x = np.zeros((to.shape[0], 0), np.float32) if command.source is None else self.at(command.source)
        params = self.params.get(command.component, {})
        to[:] = component.forward(np, params, x, self._facts(component, command))

    def _backprop(self, command: c.Backprop) -> None:
        component, dy = self.components[command.component], self.at(command.output_deriv)
        x, y = (
            np.full((rows, dim), np.nan, np.float32) if sub is None else self.at(sub)
            for sub, rows, dim in (
                (command.source, self._input_rows(command), component.input_dim),
                (command.output, dy.shape[0], component.output_dim),
            )
        )
        params = self.params.get(command.component, {})
        dx, grads = component.backward(params, x, y, dy, self._facts(component, command))
        if command.input_deriv is not None:
            self.at(command.input_deriv)[:] = dx
        if command.model:
            self.grads[command.component] = jax.tree.map(np.add, self.grads[command.component], grads)

    def _input_rows(self, command: c.Backprop) -> int:
        deriv = command.input_deriv
        return self.at(command.output_deriv).shape[0] if deriv is None else deriv.height


def _float(values: Array) -> Floats:
    return np.asarray(values, np.float32)


def _rows(values: Floats, rows: Ints) -> Floats:
    out = np.zeros((len(rows), values.shape[1]), values.dtype)
    out[rows >= 0] = values[rows[rows >= 0]]
    return out
