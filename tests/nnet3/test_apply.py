"""Networks on ragged batches: plans, compiled programs, edges, errors."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import raggedarray as ra
from raggedarray import nnet3

CONFIG = """
input-node name=input dim=2
input-node name=ivector dim=1
component name=w type=AffineComponent input-dim=6 output-dim=8
component name=cell type=LstmNonlinearityComponent cell-dim=2
component name=tdnn type=TdnnComponent input-dim=2 output-dim=3 time-offsets=-1,0,2
component name=loop type=AffineComponent input-dim=4 output-dim=2
component-node name=w component=w input=Append(input, ReplaceIndex(ivector, t, 0), Const(0.5, 1), IfDefined(Offset(m, -1)))
component-node name=cell component=cell input=Append(w, IfDefined(Offset(c, -1)))
dim-range-node name=c input-node=cell dim-offset=0 dim=2
dim-range-node name=m input-node=cell dim-offset=2 dim=2
component-node name=tdnn component=tdnn input=m
component-node name=loop component=loop input=Append(m, IfDefined(Offset(loop, 3)))
output-node name=output input=tdnn
output-node name=all input=Append(loop, m)
"""
NET = nnet3.Network.from_config(CONFIG)
PARAMS = jax.tree.map(
    lambda a: jnp.asarray(np.random.default_rng(a.size).normal(scale=0.5, size=a.shape).astype(np.float32)),
    jax.eval_shape(NET.init, jax.random.key(0)),
)


def batch(lengths: list[int], capacity: int = 40, seed: int = 0) -> tuple[ra.RaggedArray, jax.Array]:
    """Frames with poisoned slack, and an i-vector each."""
    rng = np.random.default_rng(seed)
    x = ra.from_row_lengths(rng.normal(size=(sum(lengths), 2)).astype(np.float32), lengths)
    x = ra.testing.poison(ra.asarray(x, xp="jax", capacity=capacity))
    return x, jnp.asarray(rng.normal(size=(len(lengths), 1)).astype(np.float32))


def alone(frames: np.ndarray, ivector: np.ndarray, start: int, outputs: dict[str, tuple[int, int]]) -> Any:
    """One utterance whose first frame is at ``start``, by the commands in NumPy."""
    rows = [(5, start + t, 0) for t in range(len(frames))]
    request = nnet3.ComputationRequest(
        {"input": np.array(rows).reshape(-1, 3), "ivector": [[5, 0, 0]]},
        {
            name: [(5, start + t, 0) for t in range(left, len(frames) - right)]
            for name, (left, right) in outputs.items()
        },
    )
    values = {"input": np.asarray(frames), "ivector": np.asarray(ivector)[None]}
    return nnet3.run_reference(nnet3.compile(NET, request), PARAMS, values)


def test_context() -> None:
    assert (NET.left_context, NET.right_context) == (1, 2)


def test_batch_is_its_utterances() -> None:
    lengths = [7, 4, 11, 1, 0, 3]
    x, ivector = batch(lengths)
    y = NET.apply(PARAMS, x, ivector=ivector)
    assert isinstance(y, ra.RaggedArray)
    assert y.row_lengths().tolist() == [max(n - 3, 0) for n in lengths]
    both = NET.apply(PARAMS, x, ivector=ivector, outputs=["output", "all"], context=(1, 2))
    wide = NET.apply(PARAMS, x, ivector=ivector, outputs="all", context=(0, 0))
    assert wide.row_lengths().tolist() == lengths
    for k, (row, again, all_of) in enumerate(zip(y, both["output"], wide, strict=True)):
        if lengths[k] > 3:
            want = alone(x[k], ivector[k], 0, {"output": (1, 2), "all": (0, 0)})
            np.testing.assert_allclose(row, want["output"], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(again, want["output"], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(all_of, want["all"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("start", [-9, 4])
def test_time_may_start_anywhere(start: int) -> None:
    x, ivector = batch([7])
    at_zero = alone(x[0], ivector[0], 0, {"output": (1, 2), "all": (0, 0)})
    at_start = alone(x[0], ivector[0], start, {"output": (1, 2), "all": (0, 0)})
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6), at_zero, at_start)


def test_different_starts_in_one_computation() -> None:
    frames = np.random.default_rng(1).normal(size=(9, 2)).astype(np.float32)
    rows = [(0, t, 0) for t in range(-4, 2)] + [(7, 3, 0), (7, 4, 0)] + [(2, -1, 0)]
    request = nnet3.ComputationRequest(
        {"input": rows, "ivector": [[7, 0, 0], [2, 0, 0], [0, 0, 0]]}, {"all": rows[::-1], "output": [[0, -1, 0]]}
    )
    ivector = np.array([[0.5], [-1.0], [2.0]], np.float32)
    computation = nnet3.compile(NET, request)
    got = computation(PARAMS, {"input": frames, "ivector": ivector})
    want = nnet3.run_reference(computation, PARAMS, {"input": frames, "ivector": ivector})
    assert got["all"].shape == (9, 4)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), got, want)
    single = alone(frames[8:], ivector[1], -1, {"all": (0, 0)})
    np.testing.assert_allclose(got["all"][:1], single["all"], rtol=1e-5, atol=1e-5)


def test_other_lengths_run_the_same_program() -> None:
    def loss(params: Any, x: ra.RaggedArray, ivector: jax.Array, plan: Any) -> jax.Array:
        y = NET.apply(params, x, plan=plan, ivector=ivector)
        return ra.sum(y * y)

    traces = ra.testing.count_traces(jax.value_and_grad(loss))
    step = jax.jit(traces)
    structures = set()
    for seed, lengths in enumerate(([7, 4, 11, 3], [11, 11, 9, 9], [12, 1, 4, 6], [11, 4, 4, 3])):
        x, ivector = batch(lengths, seed=seed)
        plan = NET.plan(x, ivector=ivector)
        structures.add(plan.structure)
        value, grads = step(PARAMS, x, ivector, plan)
        assert np.isfinite(value) and all(np.isfinite(g).all() for g in jax.tree.leaves(grads))
        eager = sum(float((np.asarray(row) ** 2).sum()) for row in NET.apply(PARAMS, x, plan=plan, ivector=ivector))
        np.testing.assert_allclose(value, eager, rtol=1e-5)
    assert len(structures) == 1
    assert traces.count == 1


def test_traced_lengths_that_are_not_planned_show() -> None:
    x, ivector = batch([7, 4])
    other, _ = batch([6, 5])
    plan = NET.plan(x, ivector=ivector)
    run = jax.jit(lambda x, plan: NET.apply(PARAMS, x, plan=plan, ivector=ivector))
    assert np.isfinite(run(x, plan).values).all()
    assert np.isnan(run(other, plan).values).all()


def test_gradients_are_those_of_the_utterances() -> None:
    lengths = [6, 0, 4, 2]
    x, ivector = batch(lengths)
    plan = NET.plan(x, ivector=ivector)

    def loss(params: Any, values: jax.Array) -> jax.Array:
        y = NET.apply(params, x.with_values(values), plan=plan, ivector=ivector)
        return ra.sum(ra.sin(y))

    by_params, by_values = jax.jit(jax.grad(loss, argnums=(0, 1)))(PARAMS, x.values)
    assert (np.asarray(by_values[sum(lengths) :]) == 0).all()
    rows, wanted = [(n, t, 0) for n in (0, 2) for t in range(lengths[n])], [(0, t, 0) for t in (1, 2, 3)] + [(2, 1, 0)]
    request = nnet3.ComputationRequest(
        {"input": rows, "ivector": [[0, 0, 0], [2, 0, 0]]},
        {"output": wanted},
        input_derivs=["input"],
        output_derivs=["output"],
        model_derivs=True,
    )
    computation = nnet3.compile(NET, request)
    values = {"input": np.asarray(x.values[:10]), "ivector": np.asarray(ivector)[[0, 2]]}
    outputs = nnet3.run_reference(computation, PARAMS, values, output_derivs={"output": np.zeros((4, 3))})[0]
    derivs = {"output": np.cos(outputs["output"])}
    _, input_derivs, grads = nnet3.run_reference(computation, PARAMS, values, output_derivs=derivs)
    np.testing.assert_allclose(by_values[:10], input_derivs["input"], rtol=1e-4, atol=1e-5)
    for name in ("w", "cell", "tdnn"):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), by_params[name], grads[name])


def test_on_devices() -> None:
    """Inside ``jax.shard_map``: values of their own, a plan and parameters that are shared."""
    parts = [batch([6, 0, 4, 2], seed=i) for i in range(4)]
    plan = NET.plan(parts[0][0], ivector=parts[0][1])

    def loss(params: Any, x: ra.RaggedArray, ivector: jax.Array, plan: Any) -> jax.Array:
        return ra.sum(ra.sin(NET.apply(params, x, plan=plan, ivector=ivector)))

    alone = jax.jit(jax.value_and_grad(loss))
    want = [alone(PARAMS, *part, plan) for part in parts]
    mesh = jax.make_mesh((4,), ("data",))
    specs = (P(), P("data"), P())

    def local(params: Any, stack: Any, plan: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, *jax.tree.map(lambda a: a[0], stack), plan)
        return value[None], grads

    run = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=(P("data"), P())))
    stack = jax.tree.map(lambda *a: jnp.stack(a), *parts)
    shared = NamedSharding(mesh, P())
    operands = jax.device_put(PARAMS, shared), jax.device_put(stack, NamedSharding(mesh, P("data")))
    values, grads = run(*operands, jax.device_put(plan, shared))
    np.testing.assert_allclose(values, [value for value, _ in want], rtol=1e-5, atol=1e-5)
    total = jax.tree.map(lambda *a: sum(a), *(g for _, g in want))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), grads, total)


def test_program_does_not_grow_with_length() -> None:
    def size(lengths: list[int]) -> int:
        x, ivector = batch(lengths, capacity=256)
        plan = NET.plan(x, ivector=ivector)
        program = jax.make_jaxpr(lambda p: NET.apply(p, x, plan=plan, ivector=ivector).values)(PARAMS)
        return str(program).count(" = ")  # one per operation, those of the scan's body included

    assert size([9, 8]) == size([130, 110])


def test_numpy_batches() -> None:
    x = ra.ragged([[[1.0, 2.0]] * 5, [[0.5, 1.0]] * 4], dtype="float32", item_shape=(None, 2))
    ivector = np.ones((2, 1), np.float32)
    got = NET.apply(PARAMS, x, ivector=ivector)
    want = NET.apply(PARAMS, ra.asarray(x, xp="jax", capacity=20), ivector=jnp.asarray(ivector))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def message(f: Any, error: type[Exception] = ValueError) -> str:
    with pytest.raises(error) as caught:
        f()
    return str(caught.value)


def test_errors() -> None:
    x, ivector = batch([5, 4])
    plan = NET.plan(x, ivector=ivector)
    other, _ = batch([5, 5])
    assert message(lambda: NET.apply(PARAMS, other, plan=plan, ivector=ivector)) == (
        "apply: input 'input': expected 4 frames in utterance 1, as in the plan, got 5. Make a plan for this batch."
    )
    three, _ = batch([5, 2, 2])
    assert message(lambda: NET.apply(PARAMS, three, plan=plan, ivector=ivector)) == (
        "apply: input 'input': expected 2 utterances, as in the plan, got 3. Make a plan for this batch."
    )
    assert message(lambda: NET.apply(PARAMS, x, plan=plan)) == (
        "apply: expected inputs ['input', 'ivector'], got ['input']. Pass those of the plan."
    )
    assert message(lambda: NET.apply(PARAMS, x, plan=plan, ivector=ivector[:1])) == (
        "apply: input 'ivector': expected shape (2, 1), got (1, 1). Pass one row per utterance."
    )
    assert message(lambda: NET.apply(PARAMS, x.with_values(x.values[:, :1]), plan=plan, ivector=ivector)) == (
        "apply: input 'input': expected shape (batch, None, 2), got (2, None, 1). Pass frames of this dim."
    )
    traced = message(lambda: jax.jit(lambda x: NET.apply(PARAMS, x, ivector=ivector))(x), ra.DynamicShapeError)
    assert traced == (
        "request_for: expected lengths that can be read, got traced row splits. Make a plan outside jit and pass plan=."
    )
    request = nnet3.ComputationRequest({"input": [[0, 0, 0]], "ivector": [[0, 0, 0]]}, {"all": [[0, 0, 0]]})
    computation = nnet3.compile(NET, request)
    assert message(lambda: computation(PARAMS, {"input": np.zeros((1, 2))})) == (
        "computation: expected inputs ['input', 'ivector'], got ['input']. Pass an array [rows, dim] for each."
    )
    assert message(lambda: computation(PARAMS, {"input": np.zeros((2, 2)), "ivector": np.zeros((1, 1))})) == (
        "computation: 'input': expected shape (1, 2), got (2, 2). Pass a row per Index."
    )
    assert message(lambda: nnet3.run_reference(computation, PARAMS, {"input": np.zeros((1, 2))})) == (
        "run_reference: expected inputs with 'ivector', got ['input']. Pass an array for it."
    )
    backwards = {"all": np.array([[1, 0, 0], [0, 0, 0]])}
    assert message(lambda: NET.plan(x, outputs=backwards, ivector=ivector)) == (
        "apply: output 'all': expected Indexes in order of n, from 0 to 1, got n from 0 to 1. "
        "Sort them, or use compile(net, request)."
    )
