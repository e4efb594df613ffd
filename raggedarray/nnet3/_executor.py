"""Networks and computations as JAX functions: plans on the host, one compiled program per structure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from .._array import RaggedArray
from .._errors import error_text
from .._partition import RowPartition
from .._typing import Array
from ..backends import backend, kernels
from ..engine.bucket_size import bucket_size
from ._batches import Batch, Outputs, request_for
from ._compile import program, trimmed_request
from ._definition import Definition
from ._forward import forward
from ._indexes import ComputationRequest
from ._plan import Rows, make_plan
from ._program import Program
from ._structure import Structure
from ._typing import Ints
from .components import Component, Key, Params

Tree = TypeVar("Tree")
_compiled = jax.jit(forward, static_argnames=("structure", "statistics"))


@partial(
    jax.tree_util.register_dataclass, data_fields=["arrays", "input_splits", "output_splits"], meta_fields=["structure"]
)
@dataclass(frozen=True)
class BatchPlan:
    """The host's part of a batch: which rows each layer has and reads, for one set of lengths, as padded arrays.

    A pytree. Plans with the same ``structure`` run the same compiled program.
    """

    structure: Structure = field(repr=False)
    arrays: dict[int, Rows] = field(repr=False)
    input_splits: dict[str, Array]
    """Row splits of ragged inputs."""
    output_splits: dict[str, Array]


class RequestPlan(NamedTuple):
    """The host's part of a request, as that of a batch."""

    structure: Structure
    arrays: dict[int, Rows]


def plan_batch(
    net: Definition, x: RaggedArray, outputs: Outputs, context: tuple[int, int] | None, inputs: Mapping[str, Batch]
) -> BatchPlan:
    """The plan of a batch."""
    request = trimmed_request(net, request_for(x, outputs=outputs, context=context, **inputs))
    batches = {"input": x, **inputs}
    capacities = {name: _capacity(batch) for name, batch in batches.items()}
    structure, arrays = make_plan(program(net, request), net.components, capacities, x.nrows)
    input_splits = {name: b.kernels.host(b.row_splits) for name, b in batches.items() if isinstance(b, RaggedArray)}
    output_splits = {name: _splits(name, rows, x.nrows) for name, rows in request.outputs.items()}
    return BatchPlan(structure, *_on_device((arrays, input_splits, output_splits)))


def apply(
    net: Definition,
    params: Mapping[str, Params],
    x: RaggedArray,
    plan: BatchPlan,
    inputs: Mapping[str, Batch],
    key: Key | None,
    statistics: bool,
) -> tuple[dict[str, RaggedArray], dict[str, Params]]:
    """The outputs for a batch by name, and the numbers of components that gather statistics."""
    batches = {"input": x, **inputs}
    names = [name for name, _, _ in plan.structure.inputs]
    if set(names) != set(batches):
        raise ValueError(error_text(f"inputs {sorted(names)}", sorted(batches), "Pass those of the plan."))
    values = {name: _values(plan, name, size, batches[name], net) for name, _, size in plan.structure.inputs}
    _check(plan.structure, net.components, params, key)
    outputs, gathered = _compiled(plan.structure, plan.arrays, dict(params), values, key, statistics=statistics)
    for name, batch in batches.items():
        if isinstance(batch, RaggedArray) and not _can_compare(batch, plan.input_splits[name]):
            outputs = _nan_unless_planned(outputs, batch.row_splits, plan.input_splits[name])
    return {name: RaggedArray(v, (RowPartition(plan.output_splits[name]),)) for name, v in outputs.items()}, gathered


def plan_request(net: Definition, request: ComputationRequest, program: Program) -> RequestPlan:
    """The plan of a request that has been compiled to a program."""
    capacities = {name: bucket_size(rows.shape[0]) for name, rows in request.inputs.items()}
    structure, arrays = make_plan(program, net.components, capacities)
    return RequestPlan(structure, _on_device(arrays))


def run(
    net: Definition,
    request: ComputationRequest,
    plan: RequestPlan,
    params: Mapping[str, Params],
    inputs: Mapping[str, Array],
    *,
    key: Key | None = None,
) -> dict[str, jax.Array]:
    """The outputs of a request by name, rows in its order."""
    structure, arrays = plan
    if set(inputs) != set(request.inputs):
        advice = "Pass an array [rows, dim] for each."
        raise ValueError(error_text(f"inputs {sorted(request.inputs)}", sorted(inputs), advice))
    values = {}
    for name, _, size in structure.inputs:
        shape, got = (request.inputs[name].shape[0], net.input_dims[name]), tuple(inputs[name].shape)
        if got != shape:
            raise ValueError(error_text(f"shape {shape}", got, "Pass a row per Index.", op=f"computation: {name!r}"))
        values[name] = _padded(inputs[name], size)
    _check(structure, net.components, params, key)
    outputs, _ = _compiled(structure, arrays, dict(params), values, key)
    return {name: outputs[name][: rows.shape[0]] for name, rows in request.outputs.items()}


def check_statistics(components: Mapping[str, Component], params: Mapping[str, Params]) -> None:
    """Refuse test mode without statistics, where they can be read."""
    for name, component in components.items():
        try:
            component.check_statistics(params.get(name, {}))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


def _check(
    structure: Structure, components: Mapping[str, Component], params: Mapping[str, Params], key: Key | None
) -> None:
    if key is None and structure.random:
        expected = f"a key, for the random numbers of {', '.join(structure.random)}"
        raise ValueError(error_text(expected, None, "Pass key=, or use net.in_test_mode()."))
    check_statistics(components, params)


def _on_device(tree: Tree) -> Tree:
    """Host arrays on the device: numbers, not tracers, even while a function is traced, so that they can be kept."""
    with jax.ensure_compile_time_eval():
        placed: Tree = jax.device_put(tree)
    return placed


def _capacity(batch: Batch) -> int:
    if not isinstance(batch, RaggedArray):
        return int(batch.shape[0])
    return bucket_size(batch.used_values().capacity) if batch.kernels.has_exact_sizes else batch.capacity


def _splits(name: str, rows: Ints, nrows: int) -> Ints:
    n = rows[:, 0]
    if len(n) and ((np.diff(n) < 0).any() or n[0] < 0 or n[-1] >= nrows):
        expected, advice = f"Indexes in order of n, from 0 to {nrows - 1}", "Sort them, or use compile(net, request)."
        raise ValueError(error_text(expected, f"n from {n.min()} to {n.max()}", advice, op=f"apply: output {name!r}"))
    return np.concatenate(([0], np.cumsum(np.bincount(n, minlength=nrows)))).astype(np.int32)


def _values(plan: BatchPlan, name: str, size: int, batch: Batch, net: Definition) -> Array:
    dim, op = net.input_dims[name], f"apply: input {name!r}"
    if not isinstance(batch, RaggedArray):
        if tuple(batch.shape) != (size, dim):
            raise ValueError(
                error_text(f"shape {(size, dim)}", tuple(batch.shape), "Pass one row per utterance.", op=op)
            )
        return backend("jax").asarray(batch)
    if batch.inner_shape != (dim,):
        raise ValueError(error_text(f"shape (batch, None, {dim})", batch.shape, "Pass frames of this dim.", op=op))
    splits = plan.input_splits[name]
    if batch.row_splits.shape != splits.shape:
        expected = f"{splits.shape[0] - 1} utterances, as in the plan"
        raise ValueError(error_text(expected, batch.nrows, "Make a plan for this batch.", op=op))
    if _can_compare(batch, splits):
        lengths, planned = np.diff(batch.kernels.host(batch.row_splits)), np.diff(np.asarray(splits))
        if (lengths != planned).any():
            first = int(np.flatnonzero(lengths != planned)[0])
            expected = f"{planned[first]} frames in utterance {first}, as in the plan"
            raise ValueError(error_text(expected, lengths[first], "Make a plan for this batch.", op=op))
    return _padded(batch.values, size)


def _can_compare(batch: RaggedArray, planned: Array) -> bool:
    return batch.kernels.is_concrete(batch.partitions) and not isinstance(planned, jax.core.Tracer)


def _nan_unless_planned(outputs: dict[str, Array], splits: Array, planned: Array) -> dict[str, Array]:
    """NaN where traced lengths are not those of the plan, as nothing can be raised; an error if checks are on."""
    as_planned = jnp.all(splits == planned)
    if kernels(splits).checking():
        text = error_text("the lengths of the plan", "others", "Make a plan for this batch.")
        kernels(splits).check(as_planned, text)
    return {name: jnp.where(as_planned, v, jnp.nan) for name, v in outputs.items()}


def _padded(values: Array, size: int) -> Array:
    short = size - values.shape[0]
    if short <= 0:
        return backend("jax").asarray(values[:size])
    if isinstance(values, np.ndarray):  # on the host, where a new size compiles nothing
        return backend("jax").asarray(np.concatenate([values, np.zeros((short, *values.shape[1:]), values.dtype)]))
    return jnp.pad(values, ((0, short), (0, 0)))
