"""The state of a run: values of the layers so far, and what nodes are computed from."""

from collections.abc import Mapping

import jax.numpy as jnp
from jax import Array

from ._plan import Rows
from ._structure import Block, Node, Stage
from ._terms import add_optional, concat_blocks, filled, node_key, term, valid
from .components import Component, Key, Params, RowContext


class Run:
    """Values of the layers so far, and what nodes are computed from."""

    def __init__(
        self, arrays: Mapping[int, Rows], params: Mapping[str, Params], key: Key | None, statistics: bool
    ) -> None:
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
                self.values[node.number] = node.component.forward(jnp, self.params_of(node), x, facts)
                self.gather(node, x, facts)

    def outside(self, node: Node) -> list[Array | None]:
        """Each block's sum of what other stages give, and of its constant; None where there is nothing."""
        rows = self.arrays[node.number]
        return [self._sum(*parts) for parts in zip(node.blocks, rows.leaves, rows.constants, strict=True)]

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

    def params_of(self, node: Node) -> Params:
        """The numbers of a node's component."""
        return self.params.get(node.key, {}) if node.key is not None else {}

    def facts(self, node: Node, component: Component) -> RowContext:
        """The facts of a node's rows, complete."""
        rows = self.arrays[node.number]
        facts = rows.facts._replace(valid=valid(rows.count, node.size))
        if not component.needs_key():
            return facts
        assert self.key is not None
        return component.drawn(facts, node_key(self.key, node.name))

    def gather(self, node: Node, x: Array, facts: RowContext) -> None:
        """Keep statistics, if they are asked for."""
        if self.statistics and node.component is not None and node.component.gathers:
            assert node.key is not None
            before = self.gathered.get(node.key, self.params_of(node))
            self.gathered[node.key] = {**before, **node.component.statistics(before, x, facts)}
