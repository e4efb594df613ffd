"""Trees of parameters: what `ra.params` makes of them, and what optax makes of an array that is not split."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged

X = ra.asarray(ragged([[1.0, 2.0], [3.0]]), xp="jax", capacity=4)
GRADIENT = ra.grad(lambda w: ra.sum(w * w))(X)
BLOCK = ra.asarray(ragged([np.ones((2, 3)), np.ones((1, 2))]), xp="jax")
NESTED = ra.asarray(ragged([[[1.0], [2.0, 3.0]], [], [[4.0]]]), xp="jax", capacity=(4, 6))
TREE: dict[str, Any] = {
    "rows": X, "nested": [NESTED, None], "block": BLOCK, "strided": ra.matrix_transpose(BLOCK),
    "numpy": ragged([[1.5], []]),
    "ids": ra.asarray(ragged([[1], [2, 3]]), xp="jax"), "dense": jnp.ones((2, 2)), "halves": jnp.ones(2, "bfloat16"),
    "complex": np.ones(2, complex), "scalar": np.float32(2), "ints": jnp.arange(3), "number": 2.5, "count": 3,
    "on": True, "name": "gelu", "function": jax.nn.relu, "key": jax.random.key(0),
}  # fmt: skip


def same(a: Any, b: Any) -> bool:
    (left, form), (right, other) = (jax.tree.flatten(t) for t in (a, b))
    return form == other and all(x is y for x, y in zip(left, right, strict=True))


def test_merge_restores_exactly() -> None:
    assert same(ra.params.merge(*ra.params.split(TREE)), TREE)
    assert same(ra.params.merge(*ra.params.split(X)), X)
    assert same(ra.params.merge(*ra.params.split([])), [])


def test_trainable_holds_inexact_arrays_only() -> None:
    trainable, structure = ra.params.split(TREE)
    leaves = jax.tree.leaves(trainable)
    assert all(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in leaves)
    assert trainable["rows"] is X.values and trainable["ids"] is None and trainable["number"] is None
    assert not any(jnp.issubdtype(jnp.asarray(s).dtype, jnp.inexact) for s in jax.tree.leaves(structure["rows"]))
    assert structure["dense"] is None


def loss(tree: Any) -> Any:
    return ra.sum(ra.sqrt(tree["rows"])) + ra.sum(tree["nested"][0] ** 2) + ra.sum(tree["strided"] ** 2)


def test_both_parts_go_through_jax() -> None:
    trainable, structure = ra.params.split({**TREE, "complex": None})
    step = jax.jit(jax.grad(lambda t, s: loss(ra.params.merge(t, s))))
    gradient = step(trainable, structure)
    assert jax.tree.structure(gradient) == jax.tree.structure(trainable)
    np.testing.assert_allclose(gradient["rows"], [0.5, 0.5 / 2**0.5, 0.5 / 3**0.5, 0], rtol=1e-6)
    np.testing.assert_allclose(gradient["nested"][0], [2, 4, 6, 8, 0, 0])
    many = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), trainable)
    out = jax.vmap(step, in_axes=(0, None))(many, structure)
    np.testing.assert_allclose(out["nested"][0][1], 2 * gradient["nested"][0])
    carried = jax.lax.scan(lambda t, _: (step(t, structure), None), trainable, None, length=1)[0]
    np.testing.assert_allclose(carried["rows"], gradient["rows"])


@pytest.mark.parametrize("fill", ["nan", "inf"])
def test_slack_gets_no_gradient(fill: str) -> None:
    trainable, structure = ra.params.split(
        {name: ra.testing.poison(TREE[name], slack=2, fill=fill) for name in ("rows",)}
    )
    gradient = jax.grad(lambda t: ra.sum(ra.sqrt(ra.params.merge(t, structure)["rows"])))(trainable)
    assert gradient["rows"][3:].tolist() == [0] * 3
    assert np.isfinite(global_norm(gradient))


@pytest.mark.parametrize("x", [X, NESTED, BLOCK], ids=["rows", "nested", "block"])
def test_stacks_and_overflowed_arrays_are_restored(x: RaggedArray) -> None:
    stack = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), {"x": x})
    parts = ra.params.split(stack)
    assert same(ra.params.merge(*parts), stack)
    sums = jax.vmap(lambda t, s: ra.sum(ra.params.merge(t, s)["x"]))(*parts)
    np.testing.assert_allclose(sums, [ra.sum(x)] * 2)
    over = jax.jit(lambda x: ra.with_capacity(x, 2))(x)
    restored = ra.params.merge(*ra.params.split(over))
    assert over.overflow and restored.overflow and same(restored.partitions, over.partitions)
    assert np.isnan(restored.values).all()


def test_no_compilation_for_new_lengths() -> None:
    step = ra.testing.count_traces(lambda t, s: ra.sum(ra.params.merge(t, s)))
    compiled = jax.jit(step)
    for rows in ([[1.0, 2.0], [3.0]], [[], [1.0]], [[1.0], [2.0, 3.0, 4.0]]):
        compiled(*ra.params.split(ra.asarray(ragged(rows), xp="jax", capacity=4)))
    assert step.count == 1


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: ra.params.merge({"a": X.values}, ra.params.split({"b": X})[1]),
     "params.merge: expected both trees of one `params.split`, got PyTreeDef({'a': *}) and PyTreeDef({'b': *}). "
     "Split the tree again."),
    (lambda: ra.params.merge({"a": None}, ra.params.split({"a": X})[1]),
     "params.merge: expected values for each ragged array, got NoneType. Split the tree again."),
    (lambda: ra.params.merge({"a": X.values}, {"a": 3}),
     "params.merge: expected both trees of one `params.split`, got ArrayImpl where nothing is trained. "
     "Split the tree again."),
    (lambda: ra.params.merge({"a": X.values[:2]}, ra.params.split({"a": X})[1]),
     "params.merge: expected 4 slots, got shape (2,). Keep the shapes of `trainable`."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), WRONG)
def test_messages(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        call()
    assert str(caught.value) == text


def test_labels() -> None:
    tree = {
        "rows": X,
        "strided": TREE["strided"],
        "ids": TREE["ids"],
        "ints": jnp.arange(2),
        "count": 3,
        "name": "gelu",
    }
    found = ra.params.labels(tree)
    assert jax.tree.structure(found) == jax.tree.structure(tree)
    labels = {jax.tree_util.keystr(path): label for path, label in jax.tree.leaves_with_path(found)}
    assert [path for path, label in labels.items() if label == "trainable"] == ["['rows'].values", "['strided'].values"]
    assert set(labels.values()) == {"trainable", "frozen"}


def global_norm(tree: Any) -> Any:
    """Optax's under its old name, which newer versions warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return optax.global_norm(tree)


def inexact(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.issubdtype(leaf.dtype, jnp.inexact), tree)


def steps(optimiser: Any) -> Callable[[Any, Any], Any]:
    def run(parameter: Any, gradient: Any) -> Any:
        state = optimiser.init(parameter)
        for _ in range(2):
            updates, state = optimiser.update(gradient, state, parameter)
            parameter = optax.apply_updates(parameter, updates)
        return parameter

    return run


SGD = optax.sgd(0.1)
DIVIDED = {"trainable": optax.adam(0.1), "frozen": optax.set_to_zero()}
OPTAX: dict[str, Callable[[Any, Any], Any]] = {
    "`sgd`": steps(SGD),
    "`sgd`, momentum": steps(optax.sgd(0.1, momentum=0.9)),
    "`adam`": steps(optax.adam(0.1)),
    "`adamw`": steps(optax.adamw(0.1)),
    "`lion`": steps(optax.lion(0.1)),
    "`add_decayed_weights`": steps(optax.chain(optax.add_decayed_weights(0.1), optax.scale(-1))),
    "`clip`": steps(optax.chain(optax.clip(1.0), SGD)),
    "`clip_by_global_norm`": steps(optax.chain(optax.clip_by_global_norm(1.0), SGD)),
    "`apply_if_finite`": steps(optax.apply_if_finite(SGD, 3)),
    "`MultiSteps`": steps(optax.MultiSteps(SGD, 1)),
    "`masked`, splits unmasked": steps(optax.masked(SGD, inexact)),
    "`multi_transform` with `ra.params.labels`": steps(optax.multi_transform(DIVIDED, ra.params.labels)),
    "`set_to_zero`": steps(optax.set_to_zero()),
    "`ema`": steps(optax.ema(0.9)),
    "`incremental_update`": lambda x, g: optax.incremental_update(g, x, 0.1),
    "`apply_updates` of `-0.1 * gradient`": lambda x, g: optax.apply_updates(x, jax.tree.map(lambda a: -0.1 * a, g)),
    "`global_norm`": lambda x, g: global_norm(g),
}  # fmt: skip
PAGE = Path(__file__).parent.parent / "docs" / "parameters.md"
ROWS = dict(re.findall(r"^\| (`.*?) \| (.*?) \|$", PAGE.read_text().partition("not split\n")[2], re.M))


def test_the_table_has_every_transformation() -> None:
    assert list(ROWS) == list(OPTAX)


def outcome(f: Callable[[Any, Any], Any]) -> Any:
    try:
        out = jax.jit(f)(X, GRADIENT)
    except TypeError:
        return "raises `TypeError`"
    if isinstance(out, RaggedArray):
        return f"`{np.round(np.asarray(out.row_splits), 3).tolist()}`"
    return f"counts them: {float(out):.2f} for {float(f(X.values, GRADIENT.values)):.2f}"


@pytest.mark.parametrize("name", list(OPTAX))
def test_what_optax_does_to_an_array_that_is_not_split(name: str) -> None:
    assert outcome(OPTAX[name]) == ROWS[name]


@pytest.mark.parametrize("name", [n for n in OPTAX if n != "`global_norm`"])
def test_what_it_does_to_a_split_one(name: str) -> None:
    trainable, structure = ra.params.split(X)
    out = ra.params.merge(jax.jit(OPTAX[name])(trainable, ra.params.split(GRADIENT)[0]), structure)
    assert out.row_splits is X.row_splits
    assert np.isfinite(out.values).all() and out.values[3] == 0
    moved = (np.asarray(out.values[:3]) != np.asarray(X.values[:3])).all()
    assert moved == (name != "`set_to_zero`")


def test_labels_train_a_tree_that_is_not_split_as_split_does_it() -> None:
    """Clipping by the norm of what is trained, which a transformation of the whole tree would not be."""
    clipped = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1))
    whole = optax.multi_transform({"trainable": clipped, "frozen": optax.set_to_zero()}, ra.params.labels)
    got = jax.jit(steps(whole))(X, GRADIENT)
    want = jax.jit(steps(clipped))(X.values, GRADIENT.values)
    np.testing.assert_allclose(got.values, want, rtol=1e-6)
    assert got.row_splits.tolist() == X.row_splits.tolist() and got.row_splits.dtype == X.row_splits.dtype


def test_one_train_step_of_a_poisoned_tree() -> None:
    """Clipping by the global norm sees neither splits nor slack, and a second layout of slots runs the same program."""
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1))

    @jax.jit
    def step(trainable: Any, structure: Any) -> Any:
        gradient = jax.grad(lambda t: ra.sum(ra.sqrt(ra.params.merge(t, structure))))(trainable)
        updates, _ = optimiser.update(gradient, optimiser.init(trainable), trainable)
        return optax.apply_updates(trainable, updates), global_norm(gradient)

    (clean, norm), (dirty, again) = (step(*ra.params.split(x)) for x in (X, ra.testing.poison(X)))
    np.testing.assert_array_equal(clean[:3], dirty[:3])
    assert norm == again
