"""Requests for a batch of utterances: row r of component n is Index (n, r, 0)."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .._array import RaggedArray
from .._errors import DynamicShapeError, error_text
from .._typing import Array
from ._indexes import ComputationRequest
from ._typing import Ints

Batch: TypeAlias = RaggedArray | Array
"""Utterances ``(batch, None, dim)``, or one row for each ``[batch, dim]``."""
Outputs: TypeAlias = str | Sequence[str] | Mapping[str, Array] | None
"""Names of output nodes, or Indexes by name."""


def request_for(
    x: RaggedArray, /, *, outputs: Outputs = None, context: tuple[int, int] | None = None, **inputs: Batch
) -> ComputationRequest:
    """The request for a batch ``(batch, None, dim)`` as node ``input``: its frames give the frames of node ``output``.

    The first and last frames of each utterance have no output if the network needs context there, see `Network.apply`.
    ``context=(left, right)`` says how many these are; by default a network that compiles the request decides.
    ``outputs`` names other output nodes, or gives Indexes by name. Further inputs are ragged batches, or arrays
    ``[batch, dim]`` with one row per utterance at t = 0, as i-vectors are.

    >>> x = ragged([[[1.0], [2.0], [3.0]], [[4.0]]], item_shape=(None, 1))
    >>> print(request_for(x, context=(1, 0)))
    input: [(0,0:2), (1,0)]
    output: [(0,1:2)]
    """
    frames = frames_of(x, "request_for")
    indexes = {"input": frames, **{name: frames_of(other, f"request_for: {name}") for name, other in inputs.items()}}
    if isinstance(outputs, Mapping):
        return ComputationRequest(indexes, outputs)
    names = ("output",) if outputs is None else (outputs,) if isinstance(outputs, str) else tuple(outputs)
    request = ComputationRequest(indexes, dict.fromkeys(names, frames), trim=context is None)
    return request if context is None else request.trimmed(*context)


def frames_of(x: Batch, op: str) -> Ints:
    """The Index of each row: its component, its position, 0. A row of a plain array is of t = 0."""
    if not isinstance(x, RaggedArray):
        if getattr(x, "ndim", 0) != 2:
            got = f"{type(x).__name__} of shape {getattr(x, 'shape', None)}"
            raise ValueError(error_text("a ragged batch or an array [batch, dim]", got, "Pass one of these.", op=op))
        n = np.arange(x.shape[0])
        return np.stack([n, 0 * n, 0 * n], axis=1).astype(np.int32)
    if x.ndim != 3 or len(x.partitions) != 1:
        raise ValueError(
            error_text("shape (batch, None, dim)", x.shape, "Pass one matrix of frames per utterance.", op=op)
        )
    if not x.kernels.is_concrete(x.row_splits):
        got = "traced row splits"
        raise DynamicShapeError(
            error_text("lengths that can be read", got, "Make a plan outside jit and pass plan=.", op=op)
        )
    splits = x.kernels.host(x.row_splits).astype(np.int64)
    lengths = np.diff(splits)
    n = np.repeat(np.arange(len(lengths)), lengths)
    t = np.arange(len(n)) - np.repeat(splits[:-1] - splits[0], lengths)
    return np.stack([n, t, np.zeros_like(n)], axis=1).astype(np.int32)
