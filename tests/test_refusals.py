"""What a RaggedArray is not asked for in vain: shapes that do not fit, methods of NumPy's arrays, functions of JAX."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import ragged

X = ragged([[1.0, 2.0, 3.0], [], [4.0]])
VECTORS = ra.from_rows([np.ones((3, 2)), np.ones((0, 2)), np.ones((1, 2))])
NESTED = ragged([[[1.0, 2.0], [3.0]], [], [[4.0]]])
BLOCK = ragged([np.ones((2, 2)), np.ones((1, 3)), np.ones((0, 2))])
J, JVECTORS = X.to("jax"), VECTORS.to("jax")


def raises(error: type[Exception], text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value) == text


WRITE = "add: expected shapes that broadcast with {}, got {}. Write `b[{}]`, of shape {}."
LACKING: list[tuple[Any, Any, str, Any]] = [
    (X, np.ones(3), ":, None", (3, 1)),
    (VECTORS, np.ones(3), ":, None, None", (3, 1, 1)),
    (VECTORS, np.ones((3, 2)), ":, None, :", (3, 1, 2)),
    (VECTORS, np.ones((3, 1)), "..., None", (3, 1, 1)),
    (VECTORS, X, "..., None", (3, None, 1)),
    (NESTED, np.ones(3), ":, None, None", (3, 1, 1)),
    (NESTED, np.ones((3, 1)), "..., None", (3, 1, 1)),
    (NESTED, ra.sum(NESTED, axis=2), "..., None", (3, None, 1)),
    (BLOCK, np.ones(3), ":, None, None", (3, 1, 1)),
    (BLOCK, ragged([[1.0, 2.0], [3.0], []]), "..., None", (3, None, 1)),
]


@pytest.mark.parametrize("xp", ["numpy", "jax"])
@pytest.mark.parametrize(("x", "b", "key", "shape"), LACKING)
def test_axes_of_size_1_that_an_operand_lacks(x: Any, b: Any, key: str, shape: Any, xp: str) -> None:
    text = WRITE.format(x.shape, b.shape, key, shape)
    x = x.to(xp)
    raises(ValueError, text, lambda: x + b)
    raises(ValueError, text, lambda: b + x)
    written = eval(f"b[{key}]", {"b": b})
    assert written.shape == shape
    assert (x + written).shape == x.shape


MEET = "add: expected shapes that broadcast with {}, got {}. {}"
ROWS = "add: expected operands of equal row counts, got {} and {}. "
ROWS += "Take the same rows of both, or add empty ones with `ra.with_rows`."
DENSE = "A dense axis may meet a ragged one only with size 1."
UNFIT: list[tuple[Any, Any, str]] = [
    (X, X[:2], ROWS.format(3, 2)),
    (X[:2], X, ROWS.format(2, 3)),
    (NESTED, NESTED[:2], ROWS.format(3, 2)),
    (VECTORS, VECTORS[:2], ROWS.format(3, 2)),
    (BLOCK, BLOCK[:2], ROWS.format(3, 2)),
    (X, np.ones(2), MEET.format((3, None), (2,), DENSE)),
    (X, np.ones((3, 3)), MEET.format((3, None), (3, 3), DENSE)),
    (X, np.ones((2, 1)), MEET.format((3, None), (2, 1), "Axes of 3 and 2 meet: make them equal, or one of them 1.")),
    (VECTORS, np.ones(4), MEET.format((3, None, 2), (4,), "Axes of 2 and 4 meet: make them equal, or one of them 1.")),
    (NESTED, VECTORS[:, :2], MEET.format((3, None, None), (3, None, 2),
     "A ragged axis meets a uniform one: use `ra.to_padded` on it.")),
    (BLOCK, np.ones((3, 4, 1)), MEET.format((3, None, None), (3, 4, 1), DENSE)),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "text"), UNFIT)
def test_shapes_that_do_not_fit(x: Any, y: Any, text: str) -> None:
    raises(ValueError, text, lambda: x + y)


def test_rows_that_do_not_fit_when_traced() -> None:
    raises(ValueError, ROWS.format(3, 2), lambda: jax.jit(lambda x: x + x[:2])(J))


ENTRY = "{}: expected index {} in every row along axis 1, got length 0 at row 1. Use `ra.{}(x, {}fill_value=)`."


@pytest.mark.parametrize("x", [X, J], ids=["numpy", "jax"])
def test_an_entry_that_an_empty_row_lacks(x: Any) -> None:
    raises(IndexError, ENTRY.format("first", 0, "first", ""), lambda: ra.first(x))
    raises(IndexError, ENTRY.format("last", -1, "last", ""), lambda: ra.last(x))
    raises(IndexError, ENTRY.format("getitem", 0, "row_item", "i, "), lambda: x[:, 0])
    raises(ValueError, ENTRY.format("first", 0, "first", ""), lambda: ra.checked(ra.first)(J))
    filled = (ra.first(x, fill_value=0), ra.last(x, fill_value=0), ra.row_item(x, 0, fill_value=0))
    assert [np.asarray(a).tolist() for a in filled] == [[1, 0, 4], [3, 0, 4], [1, 0, 4]]


def ours(name: str) -> str | None:
    """What the package calls what NumPy's arrays call ``name``."""
    names = {"conjugate": "conj", "cumprod": "cumulative_prod", "cumsum": "cumulative_sum", "transpose": "permute_dims"}
    name = names.get(name, name)
    return next((p + name for p, m in (("ra.", ra), ("ra.linalg.", ra.linalg)) if name in m.__all__), None)


METHODS = {n: ours(n) for n in dir(np.ndarray) if n[0] != "_" and ours(n) and n not in dir(ra.RaggedArray)}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_arrays_are_functions(name: str) -> None:
    text = f"RaggedArray: expected an attribute that it has, got {name!r}. Use `{METHODS[name]}(x)`."
    raises(AttributeError, text, lambda: getattr(X, name))
    assert not hasattr(X, name)
    assert eval(METHODS[name] or "", {"ra": ra})


def test_attributes() -> None:
    assert {"sum", "mean", "max", "argsort", "cumsum", "reshape"} <= set(METHODS)
    text = "RaggedArray: expected an attribute that it has, got {!r}. Use {}."
    raises(AttributeError, text.format("T", "`ra.permute_dims(x, axes)`, or `ra.matrix_transpose(x)`"), lambda: X.T)
    raises(AttributeError, text.format("mT", "`ra.matrix_transpose(x)`"), lambda: X.mT)
    raises(AttributeError, text.format("sum", "`ra.sum(x)`"), lambda: X.sum())
    for name in ("foo", "exp", "item", "_hidden"):
        raises(AttributeError, f"'RaggedArray' object has no attribute '{name}'", lambda name=name: getattr(X, name))
        assert not hasattr(X, name)


def test_a_property_that_fails_says_why() -> None:
    broken = jax.tree.map(lambda _: "name", X)
    raises(AttributeError, "'str' object has no attribute 'shape'", lambda: broken.capacity)


@pytest.mark.parametrize("x", [X, NESTED, BLOCK, J])
def test_copies_pickles_and_trees_are_unharmed(x: Any) -> None:
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), jax.tree.map(lambda a: a, x)):
        assert type(made) is ra.RaggedArray and ra.array_equal(made, x)
    assert jax.tree.structure(jax.tree.map(lambda _: None, x)) is not None
    leaves, form = jax.tree.flatten(x)
    assert type(jax.tree.unflatten(form, [object() for _ in leaves])) is ra.RaggedArray


JAX = "jax.numpy: expected plain arrays, got a RaggedArray of shape {}. Use the function of this name in `ra`, `ra.nn` "
JAX += (
    "or `ra.special`, or `ra.map_values(f, x)` for a function of single elements or a layer, `masked=True` if it has "
)
JAX += "weights."
OF_JAX: dict[str, Callable[[Any], Any]] = {
    "relu": jax.nn.relu, "softmax": jax.nn.softmax, "gelu": jax.nn.gelu, "sin": jnp.sin, "sum": jnp.sum,
    "asarray": jnp.asarray, "stack": lambda x: jnp.stack([x, x]), "where": lambda x: jnp.where(True, x, 0),
    "maximum": lambda x: jnp.maximum(x, 0), "matmul": lambda x: jnp.matmul(x, x),
    "einsum": lambda x: jnp.einsum("ij->i", x), "set": lambda x: jnp.zeros(3).at[0].set(x),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_JAX)
def test_functions_of_jax_want_plain_arrays(name: str) -> None:
    for x in (J, X):
        raises(TypeError, JAX.format(X.shape), lambda x=x: OF_JAX[name](x))
    raises(TypeError, JAX.format(X.shape), lambda: jax.jit(OF_JAX[name])(J))


def test_layers_want_plain_arrays() -> None:
    nnx = pytest.importorskip("flax.nnx")
    rngs = nnx.Rngs(0)
    for layer in (nnx.Linear(2, 3, rngs=rngs), nnx.LayerNorm(2, rngs=rngs), nnx.RMSNorm(2, rngs=rngs)):
        raises(TypeError, JAX.format((3, None, 2)), lambda layer=layer: layer(JVECTORS))
        assert ra.map_values(layer, JVECTORS, masked=True).nrows == 3


def test_operators_of_jax_arrays_still_find_ours() -> None:
    one = jnp.ones((3, 1))
    for got in (one + J, one - J, one * J, one / J, one**J, one // J, one % J, one == J, one < J, J + one, one >= J):
        assert isinstance(got, ra.RaggedArray) and got.shape == (3, None)
    assert jax.jit(lambda a, x: a + x)(one, J).shape == (3, None)


FIGURE = "to_numpy: expected rows of one length, got shape (3, None). "
FIGURE += 'Use `x.to("numpy")` to move it, `ra.to_padded(x)` or `x.values` for one array, or draw row by row: '
FIGURE += "`for row in x: plt.plot(row)`."


def test_plots() -> None:
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    for x in (X, J):
        raises(TypeError, FIGURE, lambda x=x: axes.plot(x))
        raises(TypeError, FIGURE, lambda x=x: axes.plot([1, 2, 3], x))
        raises(TypeError, FIGURE, lambda x=x: axes.hist(x))
    assert [len(axes.plot(row)) for row in X] == [1, 1, 1]


SAVE = "numpy.{}: expected plain arrays, got shape {}. {}"
FILES: list[tuple[Any, str]] = [
    (X, "Save `x.values` and `x.row_splits`, and rebuild with `ra.from_row_splits`."),
    (NESTED, "Save `x.values` and each of `x.nested_row_splits`, and rebuild with `ra.from_nested_row_splits`."),
    (BLOCK, "Save `ra.get_buffer(x)` and `x.block.sizes` of a packed `x`, and rebuild with `ra.from_blocks`."),
]


@pytest.mark.parametrize(("x", "advice"), FILES, ids=["rows", "nested", "block"])
def test_files(x: Any, advice: str) -> None:
    file = io.BytesIO()
    raises(TypeError, SAVE.format("savez", x.shape, advice), lambda: np.savez(file, x=x))
    raises(TypeError, SAVE.format("savez_compressed", x.shape, advice), lambda: np.savez_compressed(file, x))
    raises(TypeError, SAVE.format("save", x.shape, advice), lambda: np.save(file, x))
    raises(TypeError, SAVE.format("savetxt", x.shape, advice), lambda: np.savetxt(file, x))


def test_what_files_are_advised_to_hold_rebuilds() -> None:
    assert ra.array_equal(ra.from_row_splits(X.values, X.row_splits), X)
    assert ra.array_equal(ra.from_nested_row_splits(NESTED.values, NESTED.nested_row_splits), NESTED)
    assert ra.array_equal(ra.from_blocks(ra.get_buffer(BLOCK), BLOCK.block.sizes), BLOCK)
