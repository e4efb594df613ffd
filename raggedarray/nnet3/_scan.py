"""A recurrence as one scan over its waves, of a length that does not show in the program.

What a wave reads from other stages is taken for all waves at once before the scan, and multiplied by the weights
where an affine component reads it. Only what it reads of earlier waves is carried, as many waves as it looks back.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .._typing import Array
from ..backends.jax.rows import alike
from ._run import Run
from ._structure import Block, Leaf, Node, Stage
from ._terms import add_optional, concat_blocks, filled, term
from .components import RowContext
from .components.affine import Affine


def scan(run: Run, stage: Stage) -> None:
    """Compute all nodes of a recurrent stage, and keep the values of those that are read later."""
    _Scan(run, stage).run()


class _Scan:
    def __init__(self, run: Run, stage: Stage) -> None:
        self.outer, self.stage = run, stage
        self.nodes = {node.number: node for node in stage.nodes}
        self.facts = {n.number: run.facts(n, n.component) for n in stage.nodes if n.component is not None}
        self.fused = {n.input: n for n in stage.nodes if n.input in self.nodes and isinstance(n.component, Affine)}
        gathering = (n.input for n in stage.nodes if n.component is not None and n.component.gathers)
        self.kept = {*stage.kept, *(k for k in gathering if k is not None)}

    def run(self) -> None:
        depths = dict(self.stage.depths)
        carry = {k: jnp.zeros((d * self.nodes[k].size, self.nodes[k].dim), jnp.float32) for k, d in depths.items()}
        given = {node.number: self._given(node) for node in self.stage.nodes}

        def wave(before: dict[int, Array], xs: dict[int, Any]) -> tuple[dict[int, Array], dict[Any, Array]]:
            now: dict[int, Array] = {}
            for node in self.stage.nodes:
                now[node.number] = self._node(node, xs[node.number], now, before)
            longer = {k: jnp.concatenate([now[k], old]) if depths[k] > 1 else now[k] for k, old in before.items()}
            return {k: v[: before[k].shape[0]] for k, v in longer.items()}, {k: now[k] for k in self.kept if k in now}

        _, out = jax.lax.scan(wave, alike(carry, given), given, length=self.stage.waves)
        for k, values in out.items():
            self.outer.values[k] = jnp.reshape(values, (-1, values.shape[-1]))
        for node in self.stage.nodes:
            if node.component is not None and node.component.gathers:
                facts = self.facts[node.number]
                flat = jax.tree.map(lambda a: jnp.reshape(a, (-1, *a.shape[2:])), _per_wave(facts))
                self.outer.gather(node, self.outer.input(node), _whole(flat, facts))

    def _given(self, node: Node) -> Any:
        """What the scan hands to a node, wave by wave."""
        if node.component is not None:
            return _per_wave(self.facts[node.number])
        rows = self.outer.arrays[node.number].leaves
        inside = tuple(
            tuple(at if leaf.lags is not None else None for leaf, at in zip(block.leaves, leaves, strict=True))
            for block, leaves in zip(node.blocks, rows, strict=True)
        )
        outside = self.outer.outside(node)
        return inside, self._product(node, outside) if node.number in self.fused else outside

    def _node(self, node: Node, given: Any, now: dict[int, Array], before: dict[int, Array]) -> Array:
        if node.component is None:
            leaves, outside = given
            inside = [_inside(b, ats, now, before) for b, ats in zip(node.blocks, leaves, strict=True)]
            if node.number in self.fused:
                product = self._product(node, inside, bias=False)
                return outside if product is None else outside + product
            return _together(node, outside, inside)
        if node.input in self.fused:
            return now[node.input]
        if node.input in self.nodes:
            x = now[node.input] if node.lags is None else _view(node.input, node.lags, now, before)
        else:
            x = self.outer.input(node)
        facts = _whole(given, self.facts[node.number])
        return node.component.forward(jnp, self.outer.own(node), x, facts)

    def _product(self, node: Node, blocks: list[Array | None], *, bias: bool = True) -> Array | None:
        """The blocks that there are times their columns of the weights of the affine component that reads them."""
        reader = self.fused[node.number]
        assert isinstance(reader.component, Affine)
        matrix, offset = reader.component.weights(self.outer.own(reader))
        ends = [0]
        for block in node.blocks:
            ends.append(ends[-1] + block.width)
        there = [k for k, value in enumerate(blocks) if value is not None]
        total = None
        if there:
            weights = jnp.concatenate([matrix[:, ends[k] : ends[k + 1]] for k in there], axis=1)
            values = [value for value in blocks if value is not None]
            total = jnp.matmul(jnp.concatenate(values, axis=-1), weights.T)
        if not bias:
            return total
        waves = (self.stage.waves, node.size, matrix.shape[0])
        total = jnp.zeros(waves, jnp.float32) if total is None else total
        return total if offset is None else total + offset[None, None, :]


def _together(node: Node, outside: list[Array | None], inside: list[Array | None]) -> Array:
    sums = (add_optional(a, b) for a, b in zip(outside, inside, strict=True))
    return concat_blocks([filled(block, v, (node.size,)) for block, v in zip(node.blocks, sums, strict=True)])


def _inside(
    block: Block, leaves: tuple[Array | None, ...], now: Mapping[int, Array], before: Mapping[int, Array]
) -> Array | None:
    total = None
    for leaf, rows in zip(block.leaves, leaves, strict=True):
        if leaf.used and leaf.lags is not None:
            total = add_optional(total, term(_source(leaf, now, before), leaf.columns, leaf.scale, rows))
    return total


def _source(leaf: Leaf, now: Mapping[int, Array], before: Mapping[int, Array]) -> Array:
    assert leaf.lags is not None
    return _view(leaf.source, leaf.lags, now, before)


def _view(number: int, lags: tuple[int, int], now: Mapping[int, Array], before: Mapping[int, Array]) -> Array:
    """The rows of this wave, of earlier ones, or both, nearest first: as row numbers count."""
    if lags[1] == 0:
        return now[number]
    return before[number] if lags[0] > 0 else jnp.concatenate([now[number], before[number]])


def _per_wave(facts: RowContext) -> RowContext:
    return facts._replace(groups=None, noise=None, parts=tuple(_per_wave(part) for part in facts.parts))


def _whole(facts: RowContext, shared: RowContext) -> RowContext:
    parts = tuple(_whole(a, b) for a, b in zip(facts.parts, shared.parts, strict=True))
    return facts._replace(groups=shared.groups, noise=shared.noise, parts=parts)
