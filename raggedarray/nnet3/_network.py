"""Networks as users hold them: a definition that is read and written as text, and runs on batches."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, overload

import jax

from .._array import RaggedArray
from .._typing import Array
from ..engine.edge import guarded
from . import _executor, _text
from ._batches import Batch, Outputs
from ._config import declare
from ._definition import Definition
from ._executor import BatchPlan
from ._nodes import ComponentNode, NetNode, OutputNode
from .components import Component, Key, Params

Result: TypeAlias = RaggedArray | dict[str, RaggedArray]


class Network(Definition):
    """A network as text describes it: components, and nodes that connect them.

    >>> net = Network.from_config('''
    ... input-node name=input dim=3
    ... component name=affine type=AffineComponent input-dim=6 output-dim=2
    ... component-node name=affine component=affine input=Append(input, Offset(input, 1))
    ... output-node name=output input=affine
    ... ''')
    >>> net.left_context, net.right_context, net.modulus
    (0, 1, 1)
    """

    @classmethod
    def from_config(cls, text: str, /, *, strict: bool = False) -> "Network":
        """Read a config. Errors are ``ValueError`` and name the line and what does not fit.

        Lines declare components and nodes in any order; see the guide for the grammar. ``strict=True`` refuses
        descriptors that Kaldi refuses although they have a meaning.
        """
        declared = declare(text, strict=strict)
        return cls(declared.nodes, declared.components)

    @classmethod
    def from_lines(cls, text: str, components: Mapping[str, Component], /) -> "Network":
        """Read node lines only; ``components`` are those that they name."""
        declared = declare(text, components=components)
        return cls(declared.nodes, declared.components)

    def to_config(self) -> str:
        """Write a config that reads as this network; descriptors are in normal form.

        >>> net = Network.from_config(
        ...     "input-node name=a dim=2 \\n output-node name=b input=Scale(2,Sum(a,Offset(a,1)))"
        ... )
        >>> print(net.to_config(), end="")
        input-node name=a dim=2
        output-node name=b input=Sum(Scale(2, a), Offset(Scale(2, a), 1)) objective=linear
        """
        lines = [_component_line(name, component) for name, component in self.components.items()]
        return "".join(f"{line}\n" for line in [*lines, *self.nodes])

    def info(self) -> str:
        """A summary to read: contexts, sizes, nodes with their dims, components."""
        unused = sorted(set(self.components) - {n.component for n in self.nodes if isinstance(n, ComponentNode)})
        try:
            lines = [f"left-context: {self.left_context}", f"right-context: {self.right_context}"]
        except ValueError:  # a network without these names has no context in this sense
            lines = []
        lines += [f"modulus: {self.modulus}", f"num-parameters: {self.num_parameters}"]
        lines += [f"component {name!r} is not used" for name in unused]
        lines += [f"{node}{self._dims(node)}" for node in self.nodes]
        lines += [f"component name={name} {component.info()}" for name, component in self.components.items()]
        return "\n".join(lines)

    def _dims(self, node: NetNode) -> str:
        match node:
            case ComponentNode(_, name, _):
                component = self.components[name]
                return f" input-dim={component.input_dim} output-dim={component.output_dim}"
            case OutputNode(name):
                return f" dim={self.topology.vertices[self.topology.numbers[name]].dim}"
        return ""

    @property
    def num_parameters(self) -> int:
        """Number of trained elements; a component that several nodes share counts once."""
        return sum(component.num_parameters() for component in self.components.values())

    def init(self, key: Key, /) -> dict[str, Params]:
        """Fresh parameters by component name, then tag of Kaldi's text model; components without any have no entry."""
        keys = jax.random.split(key, max(len(self.components), 1))
        params = {name: component.init(k) for (name, component), k in zip(self.components.items(), keys, strict=False)}
        return {name: numbers for name, numbers in params.items() if numbers}

    def trained(self, params: Mapping[str, Params], /) -> dict[str, Params]:
        """Which of ``params`` training changes: a bool for each leaf, as labels for `optax.multi_transform`."""
        return {name: self.components[name].trained_of(numbers) for name, numbers in params.items()}

    def in_test_mode(self, on: bool = True, /) -> "Network":
        """The network in test mode: batch norms use their statistics, and nothing is random.

        >>> net = Network.from_config('''
        ... input-node name=input dim=2
        ... component name=drop type=DropoutComponent dim=2 dropout-proportion=0.5
        ... component-node name=drop component=drop input=input
        ... output-node name=output input=drop
        ... ''')
        >>> net.in_test_mode().components["drop"].test_mode
        True
        """
        return Network(self.nodes, {name: c.in_test_mode(on) for name, c in self.components.items()})

    @classmethod
    def from_text(cls, text: str, /) -> tuple["Network", dict[str, Params]]:
        """Read a model in Kaldi's text form: the network, and its parameters.

        Anything before ``<Nnet3>`` is skipped.
        """
        lines, components = _text.lines_and_components(text)
        return cls.from_lines(lines, components), _text.params_from_text(text)

    def to_text(self, params: Mapping[str, Params], /) -> str:
        """Write the network and its parameters in Kaldi's text form.

        >>> net = Network.from_config('''
        ... input-node name=input dim=2
        ... component name=scale type=FixedScaleComponent dim=2
        ... component-node name=scale component=scale input=input
        ... output-node name=output input=scale
        ... ''')
        >>> print(net.to_text({"scale": {"scales": np.array([0.5, 2.0])}}).split("\\n\\n")[1])
        <NumComponents> 1
        <ComponentName> scale <FixedScaleComponent> <Scales>  [ 0.5 2 ]
        </FixedScaleComponent>
        </Nnet3>
        """
        return _text.to_text(self, params)

    def plan(
        self,
        x: RaggedArray,
        /,
        *,
        outputs: Outputs = None,
        context: tuple[int, int] | None = None,
        **inputs: Batch,
    ) -> BatchPlan:
        """The host's part of `apply` for the lengths of ``x``: a pytree to hand to a jitted function, with ``plan=``.

        Its arrays are padded to sizes that follow from the capacity of ``x``, so that batches of other lengths with the
        same capacity and number of utterances run the same compiled program. A network with recurrences has one program
        for each size that the longest utterance is rounded up to. The arguments are those of `apply`.
        """
        return _executor.plan_batch(self, x, outputs, context, inputs)

    @overload
    def apply(  # type: ignore[overload-overlap]  # a str is a Sequence[str] too
        self,
        params: Mapping[str, Params],
        x: RaggedArray,
        /,
        *,
        outputs: str | None = None,
        context: tuple[int, int] | None = None,
        plan: BatchPlan | None = None,
        key: Key | None = None,
        statistics: Literal[False] = False,
        **inputs: Batch,
    ) -> RaggedArray: ...

    @overload
    def apply(  # type: ignore[overload-overlap]
        self,
        params: Mapping[str, Params],
        x: RaggedArray,
        /,
        *,
        outputs: str | None = None,
        context: tuple[int, int] | None = None,
        plan: BatchPlan | None = None,
        key: Key | None = None,
        statistics: Literal[True],
        **inputs: Batch,
    ) -> tuple[RaggedArray, dict[str, Params]]: ...

    @overload
    def apply(
        self,
        params: Mapping[str, Params],
        x: RaggedArray,
        /,
        *,
        outputs: Sequence[str] | Mapping[str, Array],
        context: tuple[int, int] | None = None,
        plan: BatchPlan | None = None,
        key: Key | None = None,
        statistics: Literal[False] = False,
        **inputs: Batch,
    ) -> dict[str, RaggedArray]: ...

    @overload
    def apply(
        self,
        params: Mapping[str, Params],
        x: RaggedArray,
        /,
        *,
        outputs: Sequence[str] | Mapping[str, Array],
        context: tuple[int, int] | None = None,
        plan: BatchPlan | None = None,
        key: Key | None = None,
        statistics: Literal[True],
        **inputs: Batch,
    ) -> tuple[dict[str, RaggedArray], dict[str, Params]]: ...

    @guarded
    def apply(
        self,
        params: Mapping[str, Params],
        x: RaggedArray,
        /,
        *,
        outputs: Outputs = None,
        context: tuple[int, int] | None = None,
        plan: BatchPlan | None = None,
        key: Key | None = None,
        statistics: bool = False,
        **inputs: Batch,
    ) -> Result | tuple[Result, dict[str, Params]]:
        """Run the network on a batch, in JAX: node ``input`` ``[batch, (frames), dim]`` to ``[batch, (frames), out]``.

        Outputs are those of node ``output`` at the frames that have the context they need, so that rows get shorter by
        ``left_context + right_context``; ``context=(left, right)`` sets other margins. ``outputs`` names other output
        nodes, or gives Indexes by name; several names and Indexes give a dict. Further inputs by node name are ragged
        batches, or arrays ``[batch, dim]`` with one row per utterance at t = 0.

        Under ``jit`` and ``grad`` pass a `plan`, made outside for the same lengths; without one, traced lengths raise
        `DynamicShapeError`, and other lengths than the plan's give NaN. ``key`` is needed where components draw random
        numbers. With ``statistics=True`` the result is a pair: the output, and ``params`` with the statistics of batch
        norms updated. Everything is computed in float32.

        An utterance that is shorter than the context, or empty, gives an empty row.

        >>> net = Network.from_config('''
        ... input-node name=input dim=1
        ... component name=sum type=SumBlockComponent input-dim=2 output-dim=1
        ... component-node name=sum component=sum input=Append(input, Offset(input, 1))
        ... output-node name=output input=sum
        ... ''')
        >>> x = ragged([[[1.0], [2.0], [4.0]], [[3.0], [5.0]]], item_shape=(None, 1))
        >>> net.apply({}, x).tolist()
        [[[3.0], [6.0]], [[8.0]]]
        """
        if plan is None:
            plan = self.plan(x, outputs=outputs, context=context, **inputs)
        results, gathered = _executor.apply(self, params, x, plan, inputs, key, statistics)
        single = len(results) == 1 and (outputs is None or isinstance(outputs, str))
        result = next(iter(results.values())) if single else results
        return (result, {**params, **gathered}) if statistics else result


def _component_line(name: str, component: Component) -> str:
    pairs = [f"{key}={_quoted(value)}" for key, value in component.keys.items()]
    return " ".join([f"component name={name} type={component.kind}", *pairs])


def _quoted(value: str) -> str:
    if "=" not in value:
        return value
    return f'"{value}"' if "'" in value else f"'{value}'"
