"""Every public op inside ``jax.shard_map``, on meshes of both kinds: values and gradients as on one device.

Each of four devices has an array of its own, one of a stack that is sharded along the leading axis of all its leaves;
the last one has no elements, and slack is poisoned. Weights are the same on all devices: their gradients are sums.
By day a few ops are tried.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import raggedarray as ra
from raggedarray import RaggedArray

from .recipes import CASES, Recipe, batches, by_day, loss, on_jax, same, stack, weights

MESHES = {kind: jax.make_mesh((4,), ("data",), axis_types=(kind,)) for kind in (AxisType.Auto, AxisType.Explicit)}
DAY = {"nn.attention:bias-heads", "nn.softmax-flat"}
TRACED = {*DAY, "nn.ctc_loss-items", "nn.embedding_bag-long", "cumulative_sum-long"}


def scaled(f: Recipe, x: RaggedArray, given: Any) -> Any:
    """The recipe of the array times a weight, which is 1."""
    scale, *rest = given
    return f(x * scale, *rest)


def own(parts: Any) -> Any:
    """This device's part of a stack."""
    return jax.tree.map(lambda a: a[0], parts)


def varying(out: Any) -> Any:
    """Results as parts of a stack; JAX asks that of results which are the same on all devices too."""

    def part(a: Any) -> Any:
        a = jnp.asarray(a)[None]
        return a if "data" in jax.typeof(a).manual_axis_type.varying else jax.lax.pcast(a, ("data",), to="varying")

    return jax.tree.map(part, out)


def slopes(f: Recipe, x: RaggedArray, given: Any) -> Any:
    return jax.grad(lambda v, given: loss(partial(scaled, f), x.with_values(v), given), argnums=(0, 1))(x.values, given)


def results(f: Recipe, given: Any, parts: Any) -> Any:
    return varying(scaled(f, own(parts), given))


def gradients(f: Recipe, given: Any, parts: Any) -> Any:
    """Of this device's loss; those of weights that all devices share are then sums already."""
    of_values, of_weights = slopes(f, own(parts), given)
    return varying(of_values), of_weights


def through(f: Recipe, mesh: Mesh) -> Callable[..., Any]:
    """The gradients of the sum of all losses, which pass `jax.shard_map`."""

    def local(given: Any, values: Any, parts: Any) -> Any:
        return varying(loss(partial(scaled, f), own(parts).with_values(values[0]), given))

    specs = (P(), P("data"), P("data"))
    each = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"))
    slope = jax.grad(lambda given, values, parts: jnp.sum(each(given, values, parts)), argnums=(1, 0))
    return lambda given, parts: slope(given, parts.values, parts)


def on_mesh(f: Callable[..., Any], mesh: Mesh, *shared: Any) -> Callable[..., Any]:
    """``f`` on each device's part; ``shared`` are the specs of further results that all devices share."""
    out = (P("data"), *shared) if shared else P("data")
    return jax.shard_map(f, mesh=mesh, in_specs=(P(), P("data")), out_specs=out)


def operands(kind: str, mesh: Mesh) -> tuple[list[RaggedArray], Any, Any]:
    """The arrays, what all devices share, and the stack."""
    xs = [on_jax(x, kind) for x in batches(kind)]
    given = [np.float32(1), *weights(kind)]
    return (
        xs,
        jax.device_put(given, NamedSharding(mesh, P())),
        jax.device_put(stack(xs), NamedSharding(mesh, P("data"))),
    )


@pytest.mark.parametrize("case", by_day(CASES, DAY))
def test_as_on_one_device(case: str) -> None:
    f, kind = CASES[case]
    found = []
    for mesh in MESHES.values():
        xs, given, parts = operands(kind, mesh)
        inside = on_mesh(partial(gradients, f), mesh, P())
        grads = inside if mesh is MESHES[AxisType.Auto] else through(f, mesh)
        every = jax.jit(lambda given, parts, grads=grads, mesh=mesh: (
            on_mesh(partial(results, f), mesh)(given, parts), grads(given, parts),
        ))  # fmt: skip
        found.append(jax.tree.map(np.asarray, every(given, parts)))
    alone = jax.jit(partial(slopes, f))
    want = [alone(x, [np.float32(1), *weights(kind)]) for x in xs]
    shared = jax.tree.map(lambda *a: sum(a), *(w[1] for w in want))
    for out, (of_values, of_weights) in found:
        for i, x in enumerate(batches(kind)):
            mine = xs[i] if kind == "random" else ra.astype(x, "float32")
            same(jax.tree.map(lambda a, i=i: a[i], out), f(mine, *weights(kind)), rtol=2e-4, atol=2e-5)
            np.testing.assert_allclose(of_values[i], want[i][0], rtol=2e-4, atol=2e-5)
        same(of_weights, shared, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("case", by_day(CASES, TRACED))
def test_what_differs(case: str) -> None:
    """Devices may differ in values, splits and weights, in all or in some: each is traced, with its gradients."""
    f, kind = CASES[case]
    for mesh in MESHES.values():
        _, given, parts = operands(kind, mesh)
        jax.eval_shape(on_mesh(partial(gradients, f), mesh, P()), given, parts)
        jax.eval_shape(through(f, mesh), given, parts)
    leaves, tree = jax.tree.flatten(stack([on_jax(x, kind) for x in batches(kind)]))
    given = [np.stack([w] * 4) for w in (np.float32(1), *weights(kind))]

    def both(given: Any, parts: Any) -> Any:
        part = jax.tree.map(lambda a: a[0], parts)
        return varying((scaled(f, part, own(given)), slopes(f, part, own(given))))

    for varies in (("values",), ("splits",), ("weights",), ("values", "weights"), ("splits", "weights")):
        spec = {what: P("data") if what in varies else P() for what in ("values", "splits", "weights")}
        specs = jax.tree.unflatten(tree, [spec["values"], *[spec["splits"]] * (len(leaves) - 1)])
        each = jax.shard_map(both, mesh=MESHES[AxisType.Auto], in_specs=(spec["weights"], specs), out_specs=P("data"))
        jax.eval_shape(each, given, jax.tree.unflatten(tree, leaves))


@pytest.mark.parametrize("case", by_day(CASES, TRACED))
def test_vmap_over_a_sharded_stack(case: str) -> None:
    """On a mesh of explicit axes, which are left to the compiler; traced, with gradients."""
    f, kind = CASES[case]
    mesh = MESHES[AxisType.Explicit]
    _, given, parts = operands(kind, mesh)

    def both(x: RaggedArray, given: Any) -> Any:
        return jax.tree.map(jnp.asarray, scaled(f, x, given)), slopes(f, x, given)

    vmapped = jax.sharding.auto_axes(
        jax.vmap(both, (0, None)), axes="data", out_sharding=NamedSharding(mesh, P("data"))
    )
    jax.eval_shape(vmapped, parts, given)
