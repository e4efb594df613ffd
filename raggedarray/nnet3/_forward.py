"""Running a plan in JAX: stage after stage, recurrences as scans over waves.

Rows past the count of a node are never read by rows in use. They hold what formulas make of zeros, so that no
gradient meets an infinity: inputs are masked when they come in, and outputs when they go out.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from jax import Array

from ..backends.jax.rows import alike
from ._plan import Rows
from ._run import Run
from ._scan import scan
from ._structure import Structure
from ._terms import valid
from .components import Key, Params


def forward(
    structure: Structure,
    arrays: Mapping[int, Rows],
    params: Mapping[str, Params],
    inputs: Mapping[str, Array],
    key: Key | None,
    *,
    statistics: bool = False,
) -> tuple[dict[str, Array], dict[str, Params]]:
    """Outputs by name, padded, zeros past the rows in use; and the new numbers of components that gather statistics.

    All in float32, whatever the dtypes of parameters and inputs.
    """
    params, inputs = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), (params, inputs))
    arrays, params, inputs, key = alike((arrays, params, inputs, key))
    run = Run(arrays, params, key, statistics)
    for name, number, size in structure.inputs:
        run.values[number] = jnp.where(valid(arrays[number].count, size)[:, None], inputs[name], 0)
    for number, dim in structure.missing:
        run.values[number] = jnp.zeros((1, dim), jnp.float32)
    for stage in structure.stages:
        if stage.waves:
            scan(run, stage)
        else:
            run.flat(stage)
    outputs = {}
    for name, number in structure.outputs:
        values = run.values[number]
        outputs[name] = jnp.where(valid(arrays[number].count, values.shape[0])[:, None], values, 0)
    return outputs, run.gathered
