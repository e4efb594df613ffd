"""Kaldi's text form of models: numbers read, models written as Kaldi writes them."""

import json
import re
from pathlib import Path

import jax
import numpy as np
import pytest

from raggedarray import nnet3

HERE = Path(__file__).parent / "cases"
MODELS = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "models").iterdir())}
VALUES = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "values").iterdir())}


def same(a: str, b: str) -> bool:
    try:
        return abs(float(a) - float(b)) <= 1e-6 * max(1, abs(float(a)))
    except ValueError:
        return a == b


def test_counts() -> None:
    assert (len(MODELS), len(VALUES)) == (3, 29)


@pytest.mark.parametrize("name", MODELS)
def test_reads_numbers(name: str) -> None:
    params = nnet3.params_from_text("<TransitionModel> 3 \n</TransitionModel> \n" + MODELS[name]["model_text"])
    for component, leaves in MODELS[name]["params"].items():
        for leaf, numbers in leaves.items():
            assert params[component][leaf].dtype == np.float32
            np.testing.assert_allclose(params[component][leaf], np.asarray(numbers, np.float32), rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_writes_what_was_read(name: str) -> None:
    text = MODELS[name]["model_text"]
    net, params = nnet3.Network.from_text(text)
    want, got = text.split(), net.to_text(params).split()
    different = [(a, b) for a, b in zip(want, got, strict=True) if not same(a, b)]
    assert different == []


@pytest.mark.parametrize("name", VALUES)
def test_round_trip(name: str) -> None:
    net = nnet3.Network.from_config(VALUES[name]["config"])
    numbers = VALUES[name]["params"]
    params = jax.tree.map(lambda a: np.asarray(a, np.float32), numbers, is_leaf=lambda a: isinstance(a, list))
    text = net.to_text(params)
    again, params_again = nnet3.Network.from_text(text)
    assert {c: type(k) for c, k in again.components.items()} == {c: type(k) for c, k in net.components.items()}
    for component, k in net.components.items():
        dims = (again.components[component].input_dim, again.components[component].output_dim)
        assert dims == (k.input_dim, k.output_dim)
        assert again.components[component].reads == k.reads
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), params, params_again)
    assert again.to_text(params_again) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "params_from_text: expected <Nnet3> ... <NumComponents> ... </Nnet3>, got ''."),
        (
            "<Nnet3> <NumComponents> 1 <ComponentName> a <Foo> </Foo> </Nnet3>",
            "params_from_text: expected a component type, got <Foo>.",
        ),
        ("<Nnet3> <NumComponents> 2 </Nnet3>", "params_from_text: expected 2 components, got 0."),
        (
            "<Nnet3> <NumComponents> 1 <ComponentName> a <FixedBiasComponent> <Bias> [ 1 x ] </Nnet3>",
            "params_from_text: expected </FixedBiasComponent>, got the end of the model.",
        ),
        (
            "<Nnet3> <NumComponents> 1 <ComponentName> a <FixedBiasComponent> <Bias> [ 1 x ] </FixedBiasComponent> </Nnet3>",
            "params_from_text: expected numbers for bias of FixedBiasComponent, got '[ 1 x ]'.",
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="params_from_text") as error:
        nnet3.params_from_text(text)
    assert str(error.value) == message + " Write the model with nnet3-copy --binary=false."


def test_composite_and_flags() -> None:
    config = re.sub(
        r"\n\s+",
        "\n",
        """
        input-node name=input dim=4
        component name=c type=CompositeComponent num-components=2 component1='type=LinearComponent input-dim=4 output-dim=4' component2='type=GeneralDropoutComponent dim=4 continuous=true test-mode=true'
        component-node name=c component=c input=input
        output-node name=output input=c
        """,
    )
    net = nnet3.Network.from_config(config)
    params = {"c": {"component1": {"params": np.eye(4, dtype=np.float32)}}}
    text = net.to_text(params)
    assert "<TestMode> <Continuous> </GeneralDropoutComponent>" in text
    again, params = nnet3.Network.from_text(text)
    assert again.components["c"].components[1].continuous
    np.testing.assert_array_equal(params["c"]["component1"]["params"], np.eye(4))
