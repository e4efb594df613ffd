"""A recurrence as one scan over its waves, of a length that does not show in the program.

What a wave reads from other stages is taken for all waves at once before the scan, and multiplied by the weights
where an affine component reads it. Only what it reads of earlier waves is carried, as many waves as it looks back.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ..backends.jax.rows import alike
from ._run import Run
from ._structure import Block, Leaf, Node, Stage
from ._terms import add_optional, concat_blocks, filled, term
from .components import RowContext
from .components.affine import Affine


class Sums(NamedTuple):
    """What a wave of a node without component is summed from.

    inside   rows of this wave and of earlier ones, per block and leaf
    outside  the sum of all else, per block
    product  instead, where an affine component reads the node: all that times its weights
    """

    inside: tuple[tuple[Array | None, ...], ...]
    outside: tuple[Array | None, ...]
    product: Array | None


Waves = dict[int, Array]
"""Rows by number of node: of this wave, or of earlier ones, nearest first."""


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
        xs = {node.number: self._inputs(node) for node in self.stage.nodes}

        def wave(before: Waves, inputs: dict[int, RowContext | Sums]) -> tuple[Waves, Waves]:
            now: Waves = {}
            for node in self.stage.nodes:
                now[node.number] = self._node(node, inputs[node.number], now, before)
            longer = {k: jnp.concatenate([now[k], old]) if depths[k] > 1 else now[k] for k, old in before.items()}
            return {k: v[: before[k].shape[0]] for k, v in longer.items()}, {k: now[k] for k in self.kept if k in now}

        _, kept = jax.lax.scan(wave, alike(carry, xs), xs, length=self.stage.waves)
        for k, values in kept.items():
            self.outer.values[k] = jnp.reshape(values, (-1, values.shape[-1]))
        for node in self.stage.nodes:
            if node.component is not None and node.component.gathers:
                facts = self.facts[node.number]
                flat = jax.tree.map(lambda a: jnp.reshape(a, (-1, *a.shape[2:])), _varying(facts))
                self.outer.gather(node, self.outer.input(node), _complete(flat, facts))

    def _inputs(self, node: Node) -> RowContext | Sums:
        """What the scan hands to a node, wave by wave."""
        if node.component is not None:
            return _varying(self.facts[node.number])
        rows = self.outer.arrays[node.number].leaves
        inside = tuple(
            tuple(at if leaf.lags is not None else None for leaf, at in zip(block.leaves, leaves, strict=True))
            for block, leaves in zip(node.blocks, rows, strict=True)
        )
        outside = self.outer.outside(node)
        if node.number in self.fused:
            return Sums(inside, (), self._product(node, outside))
        return Sums(inside, tuple(outside), None)

    def _node(self, node: Node, inputs: RowContext | Sums, now: Waves, before: Waves) -> Array:
        if isinstance(inputs, Sums):
            inside = [_inside(b, ats, now, before) for b, ats in zip(node.blocks, inputs.inside, strict=True)]
            if inputs.product is None:
                return _side_by_side(node, inputs.outside, inside)
            product = self._product(node, inside, bias=False)
            return inputs.product if product is None else inputs.product + product
        assert node.component is not None
        if node.input in self.fused:
            return now[node.input]
        if node.input in self.nodes:
            x = now[node.input] if node.lags is None else _view(node.input, node.lags, now, before)
        else:
            x = self.outer.input(node)
        facts = _complete(inputs, self.facts[node.number])
        y: Array = node.component.forward(jnp, self.outer.params_of(node), x, facts)
        return y

    def _product(self, node: Node, blocks: list[Array | None], *, bias: bool = True) -> Array | None:
        """The blocks that there are times their columns of the weights of the affine component that reads them."""
        reader = self.fused[node.number]
        assert isinstance(reader.component, Affine)
        matrix, offset = reader.component.weights(self.outer.params_of(reader))
        ends = [0]
        for block in node.blocks:
            ends.append(ends[-1] + block.width)
        values = {k: value for k, value in enumerate(blocks) if value is not None}
        total = None
        if values:
            weights = jnp.concatenate([matrix[:, ends[k] : ends[k + 1]] for k in values], axis=1)
            total = jnp.matmul(jnp.concatenate(list(values.values()), axis=-1), weights.T)
        if not bias:
            return total
        waves = (self.stage.waves, node.size, matrix.shape[0])
        total = jnp.zeros(waves, jnp.float32) if total is None else total
        return total if offset is None else total + offset[None, None, :]


def _side_by_side(node: Node, outside: tuple[Array | None, ...], inside: list[Array | None]) -> Array:
    sums = (add_optional(a, b) for a, b in zip(outside, inside, strict=True))
    return concat_blocks([filled(block, v, (node.size,)) for block, v in zip(node.blocks, sums, strict=True)])


def _inside(block: Block, leaves: tuple[Array | None, ...], now: Waves, before: Waves) -> Array | None:
    total = None
    for leaf, rows in zip(block.leaves, leaves, strict=True):
        if leaf.used and leaf.lags is not None:
            total = add_optional(total, term(_source(leaf, now, before), leaf.columns, leaf.scale, rows))
    return total


def _source(leaf: Leaf, now: Waves, before: Waves) -> Array:
    assert leaf.lags is not None
    return _view(leaf.source, leaf.lags, now, before)


def _view(number: int, lags: tuple[int, int], now: Waves, before: Waves) -> Array:
    """The rows of this wave, of earlier ones, or both, nearest first: as row numbers count."""
    if lags[1] == 0:
        return now[number]
    return before[number] if lags[0] > 0 else jnp.concatenate([now[number], before[number]])


def _varying(facts: RowContext) -> RowContext:
    return facts._replace(groups=None, noise=None, parts=tuple(_varying(part) for part in facts.parts))


def _complete(facts: RowContext, shared: RowContext) -> RowContext:
    parts = tuple(_complete(a, b) for a, b in zip(facts.parts, shared.parts, strict=True))
    return facts._replace(groups=shared.groups, noise=shared.noise, parts=parts)
