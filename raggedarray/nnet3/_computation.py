"""Compiled computations: a program, the commands that carry it out, and running them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import jax

from .._errors import named
from .._typing import Array
from . import _executor
from ._compile import program, trimmed_request
from ._executor import RequestPlan
from ._indexes import ComputationRequest
from ._network import Network
from ._program import Program
from .commands import Command, Matrix, NoOp, Precomputed, ProvideOutput
from .commands._backward import Backward, with_derivs
from .commands._lower import Lowering
from .commands._optimize import optimized
from .commands._print import computation_text
from .components import Key, Params


@dataclass(frozen=True, eq=False)
class NnetComputation:
    """What a network does for a request, as commands on matrices; ``print`` shows it in Kaldi's form.

    ``program`` is the same by meaning: which rows are computed from which. ``matrices``, ``precomputed`` and
    ``commands`` are made when they are first used.
    """

    network: Network
    request: ComputationRequest
    program: Program
    optimize: bool

    @named("computation")
    def __call__(
        self, params: Mapping[str, Params], inputs: Mapping[str, Array], /, *, key: Key | None = None
    ) -> dict[str, jax.Array]:
        """Run it, compiled by JAX: arrays ``[rows, dim]`` by node name, rows in the order of the request.

        ``key`` is needed where components draw random numbers.
        """
        return _executor.run(self.network, self.request, self._plan, params, inputs, key=key)

    @cached_property
    def _plan(self) -> RequestPlan:
        return _executor.plan_request(self.network, self.request, self.program)

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Sizes of the matrices, and which Indexes of which nodes their rows are."""
        return self._lowered[0]

    @property
    def precomputed(self) -> tuple[Precomputed, ...]:
        """What components that do not work row by row must know, by number."""
        return self._lowered[1]

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands in order."""
        return self._lowered[2]

    @cached_property
    def _lowered(self) -> tuple[tuple[Matrix, ...], tuple[Precomputed, ...], tuple[Command, ...]]:
        components = self.network.components
        lowering = Lowering(self.program, components, with_derivs(self.program, components, self.request))
        commands = [*lowering.forward(), NoOp("separator"), *Backward(lowering, self.request).commands()]
        kept = {command.matrix for command in commands if isinstance(command, ProvideOutput)}
        commands += lowering.release(kept)
        matrices = lowering.matrices
        if self.optimize:
            matrices, commands = optimized(matrices, commands, components)
        return tuple(matrices), tuple(lowering.precomputed), tuple(commands)

    def __str__(self) -> str:
        return computation_text(self.matrices, self.commands)


def compile(
    net: Network, request: ComputationRequest, /, *, strict: bool = False, optimize: bool = True
) -> NnetComputation:
    """Decide what to compute for a request, and in which order.

    Errors are ``ValueError``: outputs that cannot be computed, with what they lack, and cycles. ``strict=True`` refuses
    weighted sums that Kaldi refuses; ``optimize=False`` leaves the commands plain: every matrix set to zero, and then
    only added to.
    """
    request = trimmed_request(net, request)
    return NnetComputation(net, request, program(net, request, strict=strict), optimize)
