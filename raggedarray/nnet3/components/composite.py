"""A chain of components as one."""

from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ..._typing import Array, Namespace
from .._reads import Same
from .._typing import Floats, Ints
from ._base import REQUIRED, Component, Key, Pairs, Params, RowContext, Updatable


@dataclass(frozen=True, kw_only=True)
class Composite(Updatable):
    """Simple components, one after the other; ``max-rows-process`` is kept and has no effect."""

    kind: ClassVar[str] = "CompositeComponent"
    ignored: ClassVar[frozenset[str]] = Updatable.ignored | {"max-rows-process"}
    tags: ClassVar[tuple[str, ...]] = ("MaxRowsProcess", "NumComponents")
    components: tuple[Component, ...] = REQUIRED

    def _complete(self) -> None:
        if not self.components:
            raise self.error("num-components of at least 1", 0, "Add component1='type=...'.")
        for number, part in enumerate(self.components, start=1):
            if part.reads != Same():
                got = f"component{number} {part.kind}"
                raise self.error("parts that read single rows", got, "Use a node of its own.")
        for number, (a, b) in enumerate(zip(self.components, self.components[1:], strict=False), start=1):
            if a.output_dim != b.input_dim:
                got = f"component{number} with {a.output_dim} columns and component{number + 1} with {b.input_dim}"
                raise self.error("parts that fit together", got, "Change a dim.")

    @property
    def input_dim(self) -> int:
        """Of the first part."""
        return self.components[0].input_dim

    @property
    def output_dim(self) -> int:
        """Of the last part."""
        return self.components[-1].output_dim

    @property
    def trained(self) -> tuple[str, ...]:
        """The parts with trained numbers; see `trained` of each."""
        return tuple(f"component{k}" for k, part in enumerate(self.components, start=1) if part.trained)

    def trained_of(self, params: Params) -> Params:
        """Part by part."""
        parts = {f"component{k}": part for k, part in enumerate(self.components, start=1)}
        return {name: parts[name].trained_of(numbers) for name, numbers in params.items()}

    def init(self, key: Key) -> Params:
        """A dict per part that has numbers."""
        keys = jax.random.split(key, len(self.components))
        inits = ((f"component{k + 1}", part.init(keys[k])) for k, part in enumerate(self.components))
        return {name: params for name, params in inits if params}

    def num_parameters(self) -> int:
        """Of all parts."""
        return sum(part.num_parameters() for part in self.components)

    def needs_key(self) -> bool:
        """Whether a part does."""
        return any(part.needs_key() for part in self.components)

    def facts(self, index: Ints, sources: tuple[Ints, ...], pairs: Pairs | None = None) -> RowContext:
        """One set of facts per part."""
        return RowContext(parts=tuple(part.facts(index, sources, pairs) for part in self.components))

    def drawn(self, facts: RowContext, key: Key) -> RowContext:
        """Each part from a key of its own."""
        pairs = enumerate(zip(self.components, facts.parts, strict=True))
        return facts._replace(
            parts=tuple(part.drawn(part_facts, jax.random.fold_in(key, k)) for k, (part, part_facts) in pairs)
        )

    @property
    def gathers(self) -> bool:
        """Whether a part does."""
        return any(part.gathers for part in self.components)

    def statistics(self, params: Params, x: Array, facts: RowContext) -> Params:
        """Of the parts, where they have any."""
        values = self.values(jnp, params, x, facts)
        new: Params = {}
        for k, part in enumerate(self.components):
            name = f"component{k + 1}"
            if part.gathers:
                changed = part.statistics(params[name], values[k], facts.parts[k]._replace(valid=facts.valid))
                new[name] = params[name] | changed
        return new

    def check_statistics(self, params: Params) -> None:
        """Of every part."""
        for k, part in enumerate(self.components):
            part.check_statistics(params.get(f"component{k + 1}", {}))

    def in_test_mode(self, on: bool) -> Component:
        """Every part in test or in training mode."""
        parts = tuple(part.in_test_mode(on) for part in self.components)
        texts = {f"component{k}": part.text() for k, part in enumerate(parts, start=1)}
        return replace(self, components=parts, keys={**self.keys, **texts})

    def values(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> list[Array]:
        """The input of each part, then the output of the last one."""
        values = [x]
        for k, part in enumerate(self.components):
            part_facts = facts.parts[k]._replace(valid=facts.valid)
            values.append(part.forward(xp, params.get(f"component{k + 1}", {}), values[-1], part_facts))
        return values

    def forward(self, xp: Namespace, params: Params, x: Array, facts: RowContext) -> Array:
        """Part after part."""
        return self.values(xp, params, x, facts)[-1]

    def backward(self, params: Params, x: Floats, y: Floats, dy: Floats, facts: RowContext) -> tuple[Floats, Params]:
        """From the last part to the first; the values between are computed again."""
        values = self.values(np, params, x, facts)
        grads: Params = {}
        for k in reversed(range(len(self.components))):
            name = f"component{k + 1}"
            part, (before, after) = self.components[k], values[k : k + 2]
            dy, by_params = part.backward(params.get(name, {}), before, after, dy, facts.parts[k])
            grads |= {name: by_params} if by_params else {}
        return dy, grads


KINDS: tuple[type[Component], ...] = (Composite,)
