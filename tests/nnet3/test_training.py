"""Random masks, statistics of batch norms, test mode, trained leaves, initial numbers, and bugs that Kaldi's users met."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import nnet3

MASKS = """
input-node name=input dim=4
component name=drop type=DropoutComponent dim=4 dropout-proportion=0.4
component name=frame type=DropoutComponent dim=4 dropout-proportion=0.4 dropout-per-frame=true
component name=general type=GeneralDropoutComponent dim=4 dropout-proportion=0.25
component name=period type=GeneralDropoutComponent dim=4 block-dim=2 time-period=3 continuous=true dropout-proportion=0.2
component name=mask type=DropoutMaskComponent output-dim=4 dropout-proportion=0.5
component name=spec type=SpecAugmentTimeMaskComponent dim=4 zeroed-proportion=0.3 time-mask-max-frames=3
component name=linear type=AffineComponent input-dim=4 output-dim=4
component-node name=drop component=drop input=input
component-node name=frame component=frame input=input
component-node name=general component=general input=input
component-node name=period component=period input=input
component-node name=mask component=mask input=mask
component-node name=spec component=spec input=input
component-node name=linear component=linear input=Sum(input, IfDefined(Offset(loop, -1)))
component-node name=loop component=drop input=linear
output-node name=o-drop input=drop
output-node name=o-frame input=frame
output-node name=o-general input=general
output-node name=o-period input=period
output-node name=o-mask input=mask
output-node name=o-spec input=spec
output-node name=o-loop input=loop
"""
NORMS = """
input-node name=input dim=4
component name=norm type=BatchNormComponent dim=4 block-dim=2 target-rms=2
component name=chain type=CompositeComponent num-components=2 component1='type=TanhComponent dim=4' component2='type=BatchNormComponent dim=4'
component-node name=norm component=norm input=input
component-node name=chain component=chain input=norm
output-node name=output input=chain
"""


def ones(lengths: list[int], capacity: int) -> ra.RaggedArray:
    x = ra.from_row_lengths(np.ones((sum(lengths), 4), np.float32), lengths)
    return ra.testing.poison(ra.asarray(x, xp="jax", capacity=capacity))


@pytest.mark.nightly
def test_masks() -> None:
    net = nnet3.Network.from_config(MASKS)
    params = {"linear": {"linear_params": 0.5 * jnp.eye(4), "bias_params": jnp.ones(4)}}
    names = tuple(net.output_dims)
    x = ones([30, 50, 20], 120)
    key = jax.random.key(1)
    outputs = net.apply(params, x, outputs=names, key=key)

    drop = np.asarray(outputs["o-drop"].values[:100])
    assert set(np.unique(drop)) == {0.0, 1.0} and 0.5 < drop.mean() < 0.7
    frame = np.asarray(outputs["o-frame"].values[:100])
    assert (frame == frame[:, :1]).all() and 0.4 < frame.mean() < 0.8
    for row in outputs["o-general"]:
        row = np.asarray(row)
        assert (row == row[:1]).all() and set(np.unique(row)) <= {0.0, np.float32(1 / 0.75)}
    period = np.asarray(outputs["o-period"][1])
    assert (period[:, :2] == period[:, 2:]).all() and (period[:48].reshape(16, 3, 4) == period[:48:3, None]).all()
    assert 0.6 <= period.min() < 0.8 < 1.2 < period.max() <= 1.4 and len(np.unique(period)) > 20
    assert 0.4 < np.asarray(outputs["o-mask"].values[:100]).mean() < 0.6
    spec = np.concatenate([np.asarray(row) for row in outputs["o-spec"]])
    assert set(np.unique(spec)) == {0.0, 1.0} and (spec == spec[:, :1]).all() and 0.5 < spec.mean() < 0.9
    for row in outputs["o-spec"]:
        zeros = "".join("01"[int(v)] for v in np.asarray(row)[:, 0]).split("1")
        assert max(len(run) for run in zeros) <= 3

    # The numbers of an utterance depend on the key and its n, not on the rest of the batch, nor on how it is run.
    rows = [[1, t, 0] for t in range(50)]
    few = ("o-period", "o-spec", "o-loop")
    request = nnet3.ComputationRequest({"input": rows}, dict.fromkeys(few, rows))
    values = {"input": np.ones((50, 4), np.float32)}
    alone = nnet3.run_reference(nnet3.compile(net, request), params, values, key=key)
    for name in few:
        np.testing.assert_allclose(outputs[name][1], alone[name], rtol=1e-5)
        assert (np.asarray(outputs[name][1])[:20] != np.asarray(outputs[name][2])).any()


def test_masks_need_a_key_or_test_mode() -> None:
    net = nnet3.Network.from_config(MASKS)
    x = ones([3, 2], 6)
    with pytest.raises(ValueError, match="key") as error:
        net.apply({}, x, outputs=["o-drop", "o-mask"])
    assert str(error.value) == (
        "apply: expected a key, for the random numbers of drop, mask, got None. Pass key=, or use net.in_test_mode()."
    )
    outputs = net.in_test_mode().apply({}, x, outputs=["o-drop", "o-mask", "o-general", "o-spec"])
    means = {name: float(rows.values[:5].mean()) for name, rows in outputs.items()}
    want = {"o-drop": 0.6, "o-mask": 0.5, "o-general": 1, "o-spec": 1}
    assert means == pytest.approx(want)


def test_statistics() -> None:
    net = nnet3.Network.from_config(NORMS)
    rng = np.random.default_rng(0)
    frames = (3 + 2 * rng.normal(size=(23, 4))).astype(np.float32)
    params = net.init(jax.random.key(0))
    for part, lengths in ((frames[:9], [4, 5]), (frames[9:], [14, 0])):
        x = ra.from_row_lengths(part, lengths)
        x = ra.testing.poison(ra.asarray(x, xp="jax", capacity=16))
        _, params = net.apply(params, x, statistics=True)
    blocks = frames.reshape(-1, 2)
    assert float(params["norm"]["count"]) == 46
    np.testing.assert_allclose(params["norm"]["stats_mean"], blocks.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(params["norm"]["stats_var"], blocks.var(axis=0), rtol=1e-4)
    assert float(params["chain"]["component2"]["count"]) == 23

    test = net.in_test_mode()
    whole = ra.from_row_lengths(frames, [23])
    y = np.asarray(test.apply(params, whole)[0])
    normed = 2 * (blocks - blocks.mean(axis=0)) / np.sqrt(blocks.var(axis=0) + 1e-3)
    hidden, own = np.tanh(normed.reshape(-1, 4)), params["chain"]["component2"]
    want = (hidden - np.asarray(own["stats_mean"])) / np.sqrt(np.asarray(own["stats_var"]) + 1e-3)
    np.testing.assert_allclose(y, want, rtol=1e-3, atol=1e-4)


def test_test_mode_without_statistics_is_refused() -> None:
    net = nnet3.Network.from_config(NORMS).in_test_mode()
    params, x = net.init(jax.random.key(0)), ones([2], 2)
    for run in (
        lambda: net.apply(params, x),
        lambda: nnet3.run_reference(nnet3.compile(net, nnet3.request_for(x)), params, {"input": x.values}),
    ):
        with pytest.raises(ValueError, match="statistics") as error:
            run()
        assert str(error.value) == (
            "norm: BatchNormComponent: expected statistics for test mode, got count 0. "
            "Gather them with `apply(..., statistics=True)`."
        )
    plan = net.plan(x)  # a traced count cannot be looked at: the result shows it
    assert np.isnan(jax.jit(lambda p: net.apply(p, x, plan=plan).values[:2])(params)).all()


def test_trained() -> None:
    config = NORMS + "component name=fixed type=FixedAffineComponent input-dim=4 output-dim=2\n"
    config += "component name=kept type=ConstantComponent output-dim=2 is-updatable=false\n"
    config += "component name=tdnn type=TdnnComponent input-dim=4 output-dim=2 time-offsets=0 use-bias=false\n"
    net = nnet3.Network.from_config(config)
    params = net.init(jax.random.key(0))
    assert net.trained(params) == {
        "norm": dict.fromkeys(("count", "stats_mean", "stats_var"), False),
        "chain": {"component2": dict.fromkeys(("count", "stats_mean", "stats_var"), False)},
        "fixed": {"linear_params": False, "bias_params": False},
        "kept": {"output": False},
        "tdnn": {"linear_params": True},
    }
    assert net.num_parameters == 8


def test_init() -> None:
    net = nnet3.Network.from_config(
        "input-node name=input dim=400\n"
        "component name=a type=NaturalGradientAffineComponent input-dim=400 output-dim=100 bias-mean=2 bias-stddev=0.5\n"
        "component name=b type=ScaleAndOffsetComponent dim=6 block-dim=3\n"
        "component name=c type=PerElementScaleComponent dim=5\n"
        "component name=d type=LinearComponent input-dim=400 output-dim=100 param-stddev=0.2\n"
        "component-node name=a component=a input=input\n"
        "output-node name=output input=a\n"
    )
    params = net.init(jax.random.key(0))
    assert float(jnp.std(params["a"]["linear_params"])) == pytest.approx(0.05, rel=0.05)
    assert float(jnp.mean(params["a"]["bias_params"])) == pytest.approx(2, abs=0.2)
    assert float(jnp.std(params["a"]["bias_params"])) == pytest.approx(0.5, rel=0.3)
    assert float(jnp.std(params["d"]["params"])) == pytest.approx(0.2, rel=0.05)
    assert params["b"]["scales"].tolist() == [1, 1, 1] and params["b"]["offsets"].tolist() == [0, 0, 0]
    assert params["c"]["params"].tolist() == [1] * 5
    assert (np.asarray(net.init(jax.random.key(1))["d"]["params"]) != np.asarray(params["d"]["params"])).all()


def both_ways(config: str, inputs: Any, outputs: Any, values: Any, params: Any = {}) -> dict[str, np.ndarray]:  # noqa: B006
    """Outputs by the commands, after checking that JAX gives the same."""
    net = nnet3.Network.from_config(config)
    computation = nnet3.compile(net, nnet3.ComputationRequest(inputs, outputs))
    want = nnet3.run_reference(computation, params, values)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), computation(params, values), want)
    return want


def test_a_scaled_sum_whose_optional_node_is_never_used() -> None:
    config = (
        "input-node name=input dim=1\n"
        "component name=n type=NoOpComponent dim=1\n"
        "component-node name=b component=n input=Offset(input, -5)\n"
        "output-node name=output input=Sum(Scale(0.5, input), IfDefined(Offset(b, -1)))\n"
    )
    got = both_ways(config, {"input": [[0, 0, 0]]}, {"output": [[0, 0, 0]]}, {"input": np.float32([[4]])})
    assert got["output"].tolist() == [[2]]


def test_one_node_with_two_scales() -> None:
    config = "input-node name=input dim=1\noutput-node name=output input=Sum(Scale(2, input), Scale(-0.5, Offset(input, 1)), input)\n"
    got = both_ways(
        config, {"input": [[0, 0, 0], [0, 1, 0]]}, {"output": [[0, 0, 0]]}, {"input": np.float32([[4], [6]])}
    )
    assert got["output"].tolist() == [[9]]


@pytest.mark.parametrize("way", [-2, -1, 1, 3])
def test_dim_range_under_recurrences_of_both_signs(way: int) -> None:
    config = (
        "input-node name=input dim=1\n"
        "component name=n type=NoOpComponent dim=2\n"
        f"component-node name=n component=n input=Append(input, Sum(input, IfDefined(Offset(low, {way}))))\n"
        "dim-range-node name=low input-node=n dim-offset=1 dim=1\n"
        "output-node name=output input=low\n"
    )
    values = np.float32([[1], [10], [100], [1000], [10000]])
    rows = [[0, t, 0] for t in range(5)]
    got = both_ways(config, {"input": rows}, {"output": rows}, {"input": values})
    want = [sum(10**s for s in range(t, 5 if way > 0 else -1, way)) for t in range(5)]
    assert got["output"][:, 0].tolist() == want


def test_rows_of_subsampled_outputs_are_exact() -> None:
    """No row is computed twice or missing where t goes in steps of 3 and layers read every frame between."""
    config = (
        "input-node name=input dim=1\n"
        "component name=a type=TdnnComponent input-dim=1 output-dim=1 time-offsets=-1,0,1\n"
        "component name=b type=TdnnComponent input-dim=1 output-dim=1 time-offsets=-3,3 use-bias=false\n"
        "component-node name=a component=a input=input\n"
        "component-node name=b component=b input=a\n"
        "output-node name=output input=b\n"
    )
    values = np.arange(17, dtype=np.float32)[:, None]
    params = {"a": {"linear_params": np.float32([[1, 2, 3]]), "bias_params": np.float32([0.5])}}
    params["b"] = {"linear_params": np.float32([[1, -1]])}
    rows = [[0, t, 0] for t in range(17)]
    got = both_ways(config, {"input": rows}, {"output": [[0, 4, 0], [0, 7, 0], [0, 10, 0]]}, {"input": values}, params)
    assert got["output"].tolist() == [[-36]] * 3
    net = nnet3.Network.from_config(config)
    program = nnet3.compile(net, nnet3.ComputationRequest({"input": rows}, {"output": [[0, 4, 0], [0, 10, 0]]})).program
    a = next(layer for layer in program.layers if layer.name == "a")
    assert a.indexes[:, 1].tolist() == [1, 7, 13]


def test_an_utterance_shorter_than_the_context_is_an_empty_row() -> None:
    net = nnet3.Network.from_config(
        "input-node name=input dim=1\n"
        "component name=a type=TdnnComponent input-dim=1 output-dim=1 time-offsets=-2,2 use-bias=false\n"
        "component-node name=a component=a input=input\noutput-node name=output input=a\n"
    )
    params = {"a": {"linear_params": jnp.ones((1, 2))}}
    y = net.apply(params, ra.ragged([[[1.0]] * 4, [[1.0]] * 6, []], dtype="float32", item_shape=(None, 1)))
    assert y.tolist() == [[], [[2.0], [2.0]], []]
