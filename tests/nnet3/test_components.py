"""Each component by itself: the formula on NumPy and JAX, and its derivative against JAX's."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from raggedarray.nnet3._reads import Blocks, Nothing, Taps, Window
from raggedarray.nnet3.components import NONE, TYPES, Component, RowContext, make_component

ROWS = 7
KEY = jax.random.key(3)
LINES = {
    "AffineComponent": "input-dim=3 output-dim=4",
    "NaturalGradientAffineComponent": "input-dim=3 output-dim=4 bias-mean=1 rank-in=2 alpha=4",
    "FixedAffineComponent": "input-dim=3 output-dim=2",
    "LinearComponent": "input-dim=4 output-dim=3 param-stddev=0.5 orthonormal-constraint=1",
    "PerElementScaleComponent": "dim=3 param-stddev=0.3",
    "NaturalGradientPerElementScaleComponent": "dim=3 param-mean=0.5 learning-rate=0.1",
    "PerElementOffsetComponent": "dim=6 block-dim=3 param-stddev=1",
    "ScaleAndOffsetComponent": "dim=6 block-dim=2",
    "FixedScaleComponent": "dim=3",
    "FixedBiasComponent": "dim=3",
    "ConstantFunctionComponent": "input-dim=2 output-dim=3 output-stddev=1",
    "ConstantComponent": "output-dim=3 output-mean=2",
    "RectifiedLinearComponent": "dim=4 block-dim=2 self-repair-scale=1e-5",
    "SigmoidComponent": "dim=3",
    "TanhComponent": "dim=3",
    "SoftmaxComponent": "dim=4",
    "LogSoftmaxComponent": "dim=4",
    "NoOpComponent": "dim=3 backprop-scale=-0.5",
    "NormalizeComponent": "dim=6 block-dim=3 target-rms=0.5 add-log-stddev=true",
    "BatchNormComponent": "dim=4 block-dim=2 target-rms=0.5",
    "ElementwiseProductComponent": "input-dim=6 output-dim=2",
    "SumBlockComponent": "input-dim=6 output-dim=3 scale=-2",
    "SumGroupComponent": "sizes=1,3,2",
    "PnormComponent": "input-dim=6 output-dim=2",
    "PermuteComponent": "column-map=2,0,3,1",
    "DistributeComponent": "input-dim=6 output-dim=2",
    "BackpropTruncationComponent": "dim=3 scale=2 clipping-threshold=1.5 zeroing-threshold=1 zeroing-interval=3",
    "ClipGradientComponent": "dim=3 clipping-threshold=0.5 norm-based-clipping=true",
    "DropoutComponent": "dim=5 dropout-proportion=0.4",
    "GeneralDropoutComponent": "dim=6 block-dim=3 dropout-proportion=0.3 time-period=2",
    "DropoutMaskComponent": "output-dim=4 dropout-proportion=0.4",
    "SpecAugmentTimeMaskComponent": "dim=3 zeroed-proportion=0.4 time-mask-max-frames=2",
    "LstmNonlinearityComponent": "cell-dim=2 use-dropout=true",
    "GruNonlinearityComponent": "cell-dim=3 recurrent-dim=2",
    "OutputGruNonlinearityComponent": "cell-dim=3",
    "TdnnComponent": "input-dim=3 output-dim=2 time-offsets=-1,0,2",
    "TimeHeightConvolutionComponent": "num-filters-in=2 num-filters-out=3 height-in=4 height-out=2 "
    "height-subsample-out=2 height-offsets=-1,0,1 time-offsets=-1,0 required-time-offsets=0",
    "StatisticsExtractionComponent": "input-dim=2 input-period=1 output-period=2",
    "StatisticsPoolingComponent": "input-dim=5 left-context=2 right-context=0 num-log-count-features=2 output-stddevs=true",
    "RestrictedAttentionComponent": "num-heads=2 key-dim=2 value-dim=3 num-left-inputs=1 num-right-inputs=2 "
    "num-left-inputs-required=0 num-right-inputs-required=1",
    "CompositeComponent": "num-components=3 component1='type=AffineComponent input-dim=3 output-dim=4' "
    "component2='type=TanhComponent dim=4' component3='type=LinearComponent input-dim=4 output-dim=2'",
}
MORE = [
    ("SumGroupComponent", "input-dim=6 output-dim=3"),
    ("NormalizeComponent", "input-dim=4"),
    ("BatchNormComponent", "dim=4 test-mode=true epsilon=0.1"),
    ("ClipGradientComponent", "dim=3 clipping-threshold=0.5"),
    ("BackpropTruncationComponent", "dim=3 clipping-threshold=0 zeroing-threshold=0"),
    ("DropoutComponent", "dim=5 dropout-proportion=0.4 dropout-per-frame=true"),
    ("DropoutComponent", "dim=5 dropout-proportion=0.4 test-mode=true"),
    ("GeneralDropoutComponent", "dim=6 dropout-proportion=0.3 continuous=true"),
    ("GeneralDropoutComponent", "dim=6 specaugment-max-proportion=0.6 specaugment-max-regions=2"),
    ("DropoutMaskComponent", "output-dim=4 dropout-proportion=0.25 continuous=true"),
    ("DropoutMaskComponent", "output-dim=4 dropout-proportion=0.25 test-mode=true"),
    ("GruNonlinearityComponent", "cell-dim=3"),
    ("LstmNonlinearityComponent", "cell-dim=2"),
    ("TdnnComponent", "input-dim=2 output-dim=6 time-offsets=0,1 use-bias=false"),
    ("TimeHeightConvolutionComponent", "num-filters-in=2 num-filters-out=2 height-in=3 height-out=3 "
     "offsets=0,0;-1,0;0,1 init-unit=true"),
    ("StatisticsPoolingComponent", "input-dim=3 left-context=1 right-context=1"),
    ("StatisticsExtractionComponent", "input-dim=2 include-variance=false"),
    ("RestrictedAttentionComponent", "key-dim=2 value-dim=2 num-left-inputs=1 num-right-inputs=0 output-context=false"),
]  # fmt: skip
CASES = [*LINES.items(), *MORE]


def component(kind: str, text: str) -> Component:
    from raggedarray.nnet3._lines import parse_pairs

    return make_component(kind, parse_pairs(text))


def setting(c: Component, seed: int = 0) -> tuple[dict, np.ndarray, RowContext, np.ndarray]:
    """Numbers, input, facts and a derivative of the output."""
    rng = np.random.default_rng(seed)
    index = np.stack([np.arange(ROWS) // 4, np.arange(ROWS) % 4 - 1, np.arange(ROWS) - 2], axis=1).astype(np.int32)
    in_rows = ROWS
    sources: tuple[np.ndarray, ...] = ()
    pairs = None
    if isinstance(c.reads, Taps):
        in_rows = ROWS + 2
        sources = tuple(rng.integers(-1, in_rows, ROWS).astype(np.int32) for _ in c.reads.offsets)
    elif isinstance(c.reads, Blocks):
        sources = (rng.integers(0, in_rows, ROWS).astype(np.int32),)
    elif isinstance(c.reads, Window):
        rows = np.concatenate([np.arange(ROWS), rng.integers(0, ROWS, 6)])
        pairs = np.sort(rows).astype(np.int32), rng.integers(0, in_rows, rows.size).astype(np.int32)
    facts = c.facts(index, sources, pairs)
    facts = c.drawn(facts, KEY)
    shapes = jax.eval_shape(c.init, jax.random.key(0))
    params = jax.tree.map(lambda a: rng.normal(size=a.shape, scale=0.5).astype(np.float32), shapes)
    if "stats_var" in params:
        params |= {"stats_var": params["stats_var"] ** 2 + 0.1, "count": np.float32(5)}
    width = 0 if isinstance(c.reads, Nothing) else c.input_dim
    x = rng.normal(size=(in_rows, width)).astype(np.float32)
    if isinstance(c.reads, Window) and c.kind == "StatisticsPoolingComponent":
        x = np.abs(x) + np.float32(0.5)
        x[:, 3:] += 5
        x[:, 0] = 1
    dy = rng.normal(size=(ROWS, c.output_dim)).astype(np.float32)
    return params, x, facts, dy


def on_numpy(facts: RowContext) -> RowContext:
    return facts if facts.noise is None else facts._replace(noise=np.asarray(facts.noise))


def test_every_type_has_a_case() -> None:
    assert set(LINES) == set(TYPES)
    assert len(TYPES) == 41


@pytest.mark.parametrize(("kind", "text"), CASES, ids=lambda a: a.split("Component")[0].split("=")[0])
def test_formula_and_derivative(kind: str, text: str) -> None:
    c = component(kind, text)
    params, x, facts, dy = setting(c)
    y = c.forward(np, params, x, on_numpy(facts))
    assert y.shape == (ROWS, c.output_dim) and y.dtype == np.float32

    @jax.jit
    def both(params: dict, x: jax.Array, dy: jax.Array, facts: RowContext) -> tuple[jax.Array, tuple[dict, jax.Array]]:
        got, vjp = jax.vjp(lambda params, x: c.forward(jnp, params, x, facts), params, x)
        return got, vjp(dy)

    nowhere = tuple(np.where(rows < 0, NONE, rows) for rows in facts.sources)
    got, (dparams, dx) = both(params, x, dy, facts._replace(sources=nowhere))
    np.testing.assert_allclose(got, y, rtol=1e-5, atol=1e-6)
    want_dx, want_dparams = c.backward(params, x, y, dy, on_numpy(facts))
    np.testing.assert_allclose(want_dx, dx, rtol=2e-4, atol=2e-5)
    for name in c.trained:
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5), want_dparams[name], dparams[name]
        )
    assert set(want_dparams) >= set(c.trained)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("Tdnn", "input-dim=2 output-dim=2 time-offsets=1,1", "time-offsets without repeats, got [1, 1]. List each offset once."),
        ("SumGroup", "sizes=2,0", "sizes of at least 1, got [2, 0]. Leave out empty groups."),
        ("Permute", "column-map=0,2", "each column from 0 to 1 once in column-map, got [0, 2]. Change the map."),
        ("Pnorm", "input-dim=5 output-dim=2", "output-dim that divides input-dim=5, got 2. Change one of them."),
        ("Sigmoid", "dim=0", "dim of at least 1, got 0. Pass a positive number."),
        ("Dropout", "dim=2 dropout-proportion=1.5", "dropout-proportion from 0 to 1, got 1.5. Change it."),
        ("GeneralDropout", "dim=2 dropout-proportion=0.6 continuous=true",
         "dropout-proportion from 0 to 0.5, got 0.6. Change it."),
        ("BatchNorm", "dim=2 epsilon=0", "epsilon and target-rms above 0, got 0.0, 1.0. Change them."),
        ("StatisticsExtraction", "input-dim=2 input-period=2 output-period=3",
         "output-period that is a multiple of input-period, got 3 and 2. Change one of them."),
        ("StatisticsPooling", "input-dim=4 left-context=1 right-context=1 output-stddevs=true",
         "an odd input-dim of at least 3, got 4. It is a count and the sums of StatisticsExtraction."),
        ("TimeHeightConvolution", "num-filters-in=1 num-filters-out=1 height-in=1 height-out=1 offsets=0,0;x",
         "offsets such as -1,0;0,0;1,0, got 0,0;x. Write time,height pairs."),
        ("RestrictedAttention", "key-dim=1 value-dim=1 num-left-inputs=1 num-right-inputs=0 num-left-inputs-required=2",
         "0 to 1 for num-left-inputs-required, got 2. Change it."),
        ("Composite", "num-components=2 component1='type=NoOpComponent dim=2' component2='type=TanhComponent dim=3'",
         "parts that fit together, got component1 with 2 columns and component2 with 3. Change a dim."),
        ("Composite", "num-components=1 component1='type=ConstantComponent output-dim=2'",
         "parts that read single rows, got component1 ConstantComponent. Use a node of its own."),
    ],
)  # fmt: skip
def test_bad_keys(kind: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        component(f"{kind}Component", text)
    assert str(error.value) == f"from_config: {kind}Component: expected {message}"


def test_files(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text(" [\n  1 2 3\n  4 5 6 ]\n")
    (tmp_path / "v.txt").write_text(" [ 1 2 ]\n")
    np.save(tmp_path / "m.npy", np.eye(2))
    affine = component("FixedAffineComponent", f"matrix={tmp_path}/m.txt")
    assert (affine.input_dim, affine.output_dim, affine.num_parameters()) == (2, 2, 0)
    params = affine.init(jax.random.key(0))
    assert params["linear_params"].tolist() == [[1, 2], [4, 5]] and params["bias_params"].tolist() == [3, 6]
    linear = component("LinearComponent", f"matrix={tmp_path}/m.npy")
    assert linear.init(jax.random.key(0))["params"].tolist() == [[1, 0], [0, 1]]
    for kind, key in (("FixedScale", "scales"), ("FixedBias", "bias"), ("PerElementScale", "vector")):
        c = component(f"{kind}Component", f"{key}={tmp_path}/v.txt")
        assert c.input_dim == 2 and [v.tolist() for v in c.init(jax.random.key(0)).values()] == [[1, 2]]
    with pytest.raises(ValueError, match="a vector in") as error:
        component("FixedBiasComponent", f"bias={tmp_path}/m.txt")
    assert str(error.value) == (
        f"from_config: FixedBiasComponent: expected a vector in '{tmp_path}/m.txt', got shape (2, 3). Name another file."
    )
    with pytest.raises(ValueError, match="No such file"):
        component("FixedBiasComponent", f"bias={tmp_path}/missing")


def test_test_mode_is_written() -> None:
    c = component("DropoutComponent", "dim=3 dropout-proportion=0.5").in_test_mode(True)
    assert c.text() == "type=DropoutComponent dim=3 dropout-proportion=0.5 test-mode=true"
    inside = "num-components=1 component1='type=DropoutComponent dim=3 dropout-proportion=0.5'"
    c = component("CompositeComponent", inside).in_test_mode(True)
    assert c.keys["component1"].endswith("test-mode=true") and not c.needs_key()
