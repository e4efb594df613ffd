"""Networks with known outputs, input derivatives and parameter gradients: by the commands, plain and optimised, and in JAX.

In JAX everything past the rows in use is poisoned: inputs before, derivatives of outputs after.
"""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from raggedarray import nnet3
from raggedarray.nnet3._forward import forward
from raggedarray.nnet3._plan import make_plan
from raggedarray.ops.array.capacity import bucket_size

from ..harness.day import nightly_unless

CASES = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "cases/values").iterdir())}
COMPILED = (
    "gru_plain", "lstm_fast", "restricted_attention", "rnn_ragged", "rowwise_zoo_gradients", "stats_pooling",
    "tdnn_ragged", "time_height_conv",
)  # fmt: skip
"""Those whose programs on JAX are compiled by day."""
WITH_GRADIENTS = [name for name, case in CASES.items() if "output_derivs" in case]


def arrays(numbers: Any) -> Any:
    return jax.tree.map(lambda a: np.asarray(a, np.float32), numbers, is_leaf=lambda a: isinstance(a, list))


def request(case: dict[str, Any]) -> nnet3.ComputationRequest:
    inputs, outputs = (
        {name: np.asarray(rows, np.int32).reshape(-1, 3) for name, rows in case["request"][part].items()}
        for part in ("inputs", "outputs")
    )
    wanted = {}
    if "output_derivs" in case:
        wanted = {"input_derivs": list(case["input_derivs"]), "output_derivs": list(case["output_derivs"])}
        wanted["model_derivs"] = True
    return nnet3.ComputationRequest(inputs, outputs, **wanted)


def compare(got: Any, expected: Any, tolerance: float, what: str) -> int:
    """Compare every array of ``expected``; gives their number."""
    if isinstance(expected, dict):
        assert set(expected) <= set(got), what
        return sum(compare(got[name], expected[name], tolerance, f"{what}.{name}") for name in expected)
    expected = np.asarray(expected, np.float32)
    got = np.asarray(got)
    assert got.shape == expected.shape or expected.size == 0, (what, got.shape, expected.shape)
    error = np.max(np.abs(got.reshape(expected.shape) - expected) / np.maximum(1, np.abs(expected)), initial=0)
    assert error <= tolerance, (what, error)
    return 1


def test_counts() -> None:
    assert len(CASES) == 29
    assert len(WITH_GRADIENTS) == 28


@pytest.mark.parametrize("optimize", [False, True], ids=["plain", "optimised"])
@pytest.mark.parametrize("name", CASES)
def test_commands(name: str, optimize: bool) -> None:
    case = CASES[name]
    computation = nnet3.compile(nnet3.Network.from_config(case["config"]), request(case), optimize=optimize)
    derivs = arrays(case.get("output_derivs"))
    result = nnet3.run_reference(
        computation, arrays(case["params"]), arrays(case["inputs"]), output_derivs=derivs if derivs else None
    )
    outputs, input_derivs, grads = result if derivs else (result, {}, {})
    assert compare(outputs, case["outputs"], case["tolerance"], "outputs") == len(case["request"]["outputs"])
    if derivs:
        compare(input_derivs, case["input_derivs"], case["tolerance"], "input_derivs")
        compare(grads, case["param_grads"], case["tolerance"], "param_grads")


def padded(values: np.ndarray, size: int) -> jax.Array:
    return jnp.asarray(np.concatenate([values, np.full((size - len(values), values.shape[1]), np.nan, np.float32)]))


@pytest.mark.parametrize("name", [nightly_unless(name in COMPILED, name) for name in CASES])
def test_jax(name: str) -> None:
    case = CASES[name]
    net = nnet3.Network.from_config(case["config"])
    rows = request(case)
    capacities = {node: bucket_size(len(indexes) + 1) for node, indexes in rows.inputs.items()}
    structure, plan = make_plan(nnet3.compile(net, rows).program, net.components, capacities)
    inputs = {node: padded(values, capacities[node]) for node, values in arrays(case["inputs"]).items()}
    derivs = arrays(case.get("output_derivs", {}))

    @jax.jit
    def both(params: Any, inputs: Any, plan: Any) -> Any:
        outputs, vjp = jax.vjp(lambda p, x: forward(structure, plan, p, x, None)[0], params, inputs)
        if not derivs:
            return outputs, None
        return outputs, vjp({node: padded(derivs[node], out.shape[0]) for node, out in outputs.items()})

    outputs, grads = both(arrays(case["params"]), inputs, plan)
    used = {node: outputs[node][: len(wanted)] for node, wanted in rows.outputs.items()}
    compare(used, case["outputs"], case["tolerance"], "outputs")
    for node, wanted in rows.outputs.items():
        assert (np.asarray(outputs[node][len(wanted) :]) == 0).all()
    if derivs:
        by_inputs = {node: grads[1][node][: len(indexes)] for node, indexes in rows.inputs.items()}
        compare(by_inputs, case["input_derivs"], case["tolerance"], "input_derivs")
        compare(grads[0], case["param_grads"], case["tolerance"], "param_grads")
