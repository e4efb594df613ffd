"""Running a plan in JAX: stage after stage, recurrences as scans over waves.

Rows past the count of a node are never read by rows in use. They hold what formulas make of zeros, so that no
gradient meets an infinity: inputs are masked when they come in, and outputs when they go out.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .._typing import Array
from ..backends.jax.rows import alike
from ._plan import Rows
from ._scan import scan
from ._structure import Block, Node, Stage, Structure
from ._terms import add_optional, concat_blocks, filled, node_key, term, valid
from .components import Component, Params, RowContext


def forward(
    structure: Structure,
    arrays: Mapping[int, Rows],
    params: Mapping[str, Params],
    inputs: Mapping[str, Array],
    key: Any,
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


class Run:
    """Values of the layers so far, and what nodes are computed from."""

    def __init__(self, arrays: Mapping[int, Rows], params: Mapping[str, Params], key: Any, statistics: bool) -> None:
        self.arrays, self.params, self.key, self.statistics = arrays, params, key, statistics
        self.values: dict[int, Array] = {}
        self.gathered: dict[str, Params] = {}

    def flat(self, stage: Stage) -> None:
        """All rows of each node at once."""
        for node in stage.nodes:
            if node.component is None:
                blocks = (filled(b, v, (node.size,)) for b, v in zip(node.blocks, self.outside(node), strict=True))
                self.values[node.number] = concat_blocks(list(blocks))
            else:
                x, facts = self.input(node), self.facts(node, node.component)
                self.values[node.number] = node.component.forward(jnp, self.own(node), x, facts)
                self.gather(node, x, facts)

    def outside(self, node: Node) -> list[Array | None]:
        """Each block's sum of what other stages give, and of its constant; None where there is nothing."""
        rows = self.arrays[node.number]
        return [self._sum(*each) for each in zip(node.blocks, rows.leaves, rows.constants, strict=True)]

    def _sum(self, block: Block, leaves: tuple[Array | None, ...], constant: Array | None) -> Array | None:
        total = None
        for leaf, rows in zip(block.leaves, leaves, strict=True):
            if leaf.used and leaf.lags is None:
                total = add_optional(total, term(self.values[leaf.source], leaf.columns, leaf.scale, rows))
        if constant is None:
            return total
        spread = constant[..., None]
        return jnp.broadcast_to(spread, (*constant.shape, block.width)) if total is None else total + spread

    def input(self, node: Node) -> Array:
        """What a component reads; no columns where it reads nothing."""
        size = node.size
        return jnp.zeros((size, 0), jnp.float32) if node.input is None else self.values[node.input]

    def own(self, node: Node) -> Params:
        """The numbers of a node's component."""
        return self.params.get(node.key, {}) if node.key is not None else {}

    def facts(self, node: Node, component: Component) -> RowContext:
        """The facts of a node's rows, complete."""
        rows = self.arrays[node.number]
        facts = rows.facts._replace(valid=valid(rows.count, node.size))
        return component.drawn(facts, node_key(self.key, node.name)) if component.needs_key() else facts

    def gather(self, node: Node, x: Array, facts: RowContext) -> None:
        """Note statistics, if they are asked for."""
        if self.statistics and node.component is not None and node.component.gathers:
            assert node.key is not None
            before = self.gathered.get(node.key, self.own(node))
            self.gathered[node.key] = {**before, **node.component.statistics(before, x, facts)}
