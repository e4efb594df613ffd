"""Computations and batches in JAX: random networks against the commands, compiled programs shared between lengths, options."""

from typing import Any

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np

import raggedarray as ra
from raggedarray import nnet3
from raggedarray.nnet3._forward import forward
from raggedarray.nnet3._plan import make_plan
from raggedarray.ops.array.capacity import bucket_size

from ..harness.day import examples
from .networks import Case, networks


def padded(values: Any, size: int) -> np.ndarray:
    values = np.asarray(values, np.float32)
    return np.concatenate([values, np.full((size - len(values), values.shape[1]), np.nan, np.float32)])


def agree(case: Case) -> None:
    """Outputs, input derivatives and parameter gradients in JAX, slack poisoned, are those of the commands."""
    net = nnet3.Network.from_config(case.config)
    rng = np.random.default_rng(0)
    derivs = {
        name: rng.integers(-4, 5, (len(rows), net.output_dims[name])).astype(np.float32) / 4
        for name, rows in case.outputs.items()
    }
    request = nnet3.ComputationRequest(
        case.inputs, case.outputs, input_derivs=list(case.inputs), output_derivs=list(case.outputs), model_derivs=True
    )
    computation = nnet3.compile(net, request)
    want = nnet3.run_reference(computation, case.params, case.values, output_derivs=derivs)
    capacities = {name: bucket_size(len(rows)) for name, rows in case.inputs.items()}
    structure, plan = make_plan(computation.program, net.components, capacities)
    inputs = {name: padded(values, capacities[name]) for name, values in case.values.items()}

    @jax.jit
    def both(params: Any, inputs: Any, plan: Any) -> Any:
        outputs, vjp = jax.vjp(lambda p, x: forward(structure, plan, p, x, None)[0], params, inputs)
        return outputs, *vjp({name: jnp.asarray(padded(derivs[name], len(out))) for name, out in outputs.items()})

    outputs, by_params, by_inputs = both(case.params, inputs, plan)

    def close(got: Any, expected: Any) -> None:
        expected = np.asarray(expected)
        np.testing.assert_allclose(np.asarray(got)[: len(expected)], expected, rtol=1e-4, atol=1e-4)

    jax.tree.map(close, outputs, want[0])
    jax.tree.map(close, by_inputs, want[1])
    jax.tree.map(close, by_params, want[2])


@hypothesis.settings(max_examples=examples(2, 300))
@hypothesis.given(networks(recurrent=False))
def test_random_networks(case: Case) -> None:
    hypothesis.assume(case.outputs)
    agree(case)


@hypothesis.settings(max_examples=examples(2, 300))
@hypothesis.given(networks(recurrent=True))
def test_random_recurrences(case: Case) -> None:
    hypothesis.assume(case.outputs)
    agree(case)


LOOP = """
input-node name=input dim=2
component name=tanh type=TanhComponent dim=2
component name=norm type=BatchNormComponent dim=2 epsilon=0.5
component name=taps type=TdnnComponent input-dim=2 output-dim=2 time-offsets=-1,0
component name=sums type=StatisticsExtractionComponent input-dim=2 input-period=1 output-period=1 include-variance=false
component name=pool type=StatisticsPoolingComponent input-dim=3 left-context=2 right-context=0
component name=cut type=BackpropTruncationComponent dim=2 clipping-threshold=0.1 zeroing-threshold=0.05 zeroing-interval=3
component-node name=h component=tanh input=Sum(input, Scale(0.5, IfDefined(Offset(norm, -2))), IfDefined(Offset(cut, -1)))
component-node name=taps component=taps input=h
component-node name=norm component=norm input=taps
component-node name=sums component=sums input=h
component-node name=pool component=pool input=sums
component-node name=cut component=cut input=pool
output-node name=output input=Append(h, IfDefined(norm))
"""


def test_what_reads_several_frames_in_a_recurrence() -> None:
    rows = [(0, t, 0) for t in range(-2, 6)] + [(1, t, 0) for t in range(3)] + [(4, 7, 0)]
    rng = np.random.default_rng(0)
    numbers = {"linear_params": rng.normal(size=(2, 4)), "bias_params": rng.normal(size=2)}
    params = {"taps": {name: v.astype(np.float32) for name, v in numbers.items()}}
    values = {"input": rng.normal(size=(len(rows), 2)).astype(np.float32)}
    indexes = np.array(rows, np.int32)
    agree(Case(LOOP, {"input": indexes}, {"output": indexes}, params, values))


def test_statistics_of_a_recurrence() -> None:
    net = nnet3.Network.from_config(LOOP)
    x = ra.from_row_lengths(np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32), [6, 3])
    params = net.init(jax.random.key(0))
    y, after = net.apply(params, x, statistics=True)
    assert float(after["norm"]["count"]) == 7  # the first frame of each utterance has no taps
    normed = np.concatenate([np.asarray(row)[1:, 2:] for row in y])
    assert normed.shape == (7, 2) and float(jnp.abs(after["norm"]["stats_mean"]).max()) > 0


def test_everything_is_computed_in_float32() -> None:
    net = nnet3.Network.from_config(LOOP)
    x = ra.from_row_lengths(np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32), [6, 3])
    params = net.init(jax.random.key(0))
    want = net.apply(params, x)
    halves = net.apply(jax.tree.map(lambda a: a.astype(jnp.bfloat16), params), ra.astype(x, np.float16))
    assert halves.dtype == want.dtype == np.float32
    np.testing.assert_allclose(halves.values, want.values, rtol=0.1, atol=0.1)


def test_a_computation_that_is_traced_first_runs_eagerly_after() -> None:
    net = nnet3.Network.from_config(LOOP)
    frames = nnet3.parse_indexes("[(0,0:4)]")
    computation = nnet3.compile(net, nnet3.ComputationRequest({"input": frames}, {"output": frames[1:]}))
    params, x = net.init(jax.random.key(0)), {"input": np.ones((5, 2), np.float32)}
    traced = jax.jit(lambda params, x: computation(params, x))(params, x)
    np.testing.assert_allclose(computation(params, x)["output"], traced["output"], rtol=1e-6)
