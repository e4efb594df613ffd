"""From the host to JAX: one transfer, nothing compiled, nothing shared."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

COMPILED: list[str] = []


def _listen(event: str, duration: float, **kwargs: Any) -> None:
    if event == "/jax/core/compile/backend_compile_duration":
        COMPILED.append(event)


@pytest.fixture(scope="module", autouse=True)
def _listening() -> Iterator[None]:
    jax.monitoring.register_event_duration_secs_listener(_listen)
    yield
    jax.monitoring.unregister_event_duration_listener(_listen)


def rows(n: int) -> RaggedArray:
    return ra.from_row_lengths(np.arange(200.0, dtype=np.float32), lengths(n))


def lengths(n: int) -> np.ndarray:
    return np.random.default_rng(n).multinomial(200, np.ones(n) / n)


def aligned(size: int) -> np.ndarray:
    """Memory that JAX could share."""
    raw = np.zeros(size * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * 4].view(np.float32)


BLOCKS = [np.ones((2, 3)), np.ones((3, 2))]
VALUES = jnp.arange(200, dtype=jnp.float32)
MOVES: dict[str, Callable[[int], Any]] = {
    "asarray": lambda n: ra.asarray(rows(n), xp="jax", capacity=256),
    "asarray to a bucket": lambda n: ra.asarray(rows(n), xp="jax"),
    "asarray, copied": lambda n: ra.asarray(rows(n), xp="jax", capacity=200, copy=True),
    "asarray, rows too": lambda n: ra.asarray(rows(n), xp="jax", capacity=256, nrows=64),
    "asarray, another dtype": lambda n: ra.asarray(rows(n), xp="jax", dtype="bfloat16", nrows=64),
    "asarray, to a device": lambda n: ra.asarray(rows(n), xp="jax", device=jax.devices()[0]),
    "asarray of rows of rows": lambda n: ra.asarray(ra.ragged([[[1.0], [2.0]]] * n), xp="jax", capacity=(64, 99)),
    "asarray of matrices": lambda n: ra.asarray(ra.ragged(BLOCKS * n), xp="jax", capacity=512, nrows=64),
    "asarray of float64": lambda n: ra.asarray(np.ones((n, 3)), xp="jax"),
    "asarray of float32": lambda n: ra.asarray(np.ones((n, 3), np.float32), xp="jax"),
    "asarray of a list": lambda n: ra.asarray([1.0] * n, xp="jax"),
    "ragged": lambda n: ra.ragged([[1.0, 2.0]] * n, xp="jax"),
    "x.to": lambda n: rows(n).to("jax"),
    "from_row_splits": lambda n: ra.from_row_splits(VALUES, rows(n).row_splits),
    "from_row_lengths": lambda n: ra.from_row_lengths(VALUES, lengths(n)),
    "from_row_lengths of a list": lambda n: ra.from_row_lengths(VALUES, lengths(n).tolist()),
    "from_nested_row_lengths": lambda n: ra.from_nested_row_lengths(VALUES, [np.array([n - 1, 1]), lengths(n)]),
    "from_row_ids": lambda n: ra.from_row_ids(VALUES, np.repeat(np.arange(n), lengths(n)), n),
    "from_blocks": lambda n: ra.from_blocks(VALUES, np.full((n, 2), 2)),
    "with_values": lambda n: rows(n).with_values(VALUES),
    "and back": lambda n: ra.asarray(rows(n).to("jax"), xp="numpy").tolist() and rows(n).to("jax").tolist(),
}


@pytest.mark.parametrize("name", MOVES)
def test_new_row_counts_compile_nothing(name: str) -> None:
    MOVES[name](30)
    COMPILED.clear()
    for n in (17, 23, 29, 31):
        MOVES[name](n)
    assert COMPILED == []


def test_the_count_of_programs_can_fail() -> None:
    COMPILED.clear()
    jax.jit(lambda x: x * 3.25)(jnp.ones(7))
    assert COMPILED != []


@pytest.mark.parametrize("capacity", [200, 256])
@pytest.mark.parametrize("dtype", [None, "float16"])
def test_what_moves_is_not_shared(capacity: int, dtype: str | None) -> None:
    buffer, splits = aligned(200), np.arange(0, 201, 10, dtype=np.int32)
    moved = ra.asarray(ra.from_row_splits(buffer, splits), xp="jax", capacity=capacity, dtype=dtype)
    mixed = ra.from_row_splits(VALUES, splits)
    dense = ra.asarray(buffer, xp="jax", dtype=dtype)
    buffer[:], splits[1:] = 7, 200
    for x in (moved, mixed):
        np.testing.assert_array_equal(x.row_splits, np.arange(0, 201, 10))
    assert float(jnp.max(moved.values)) == float(jnp.max(dense)) == 0


def test_back_to_numpy_with_a_copy_is_writable() -> None:
    x = rows(3).to("jax")
    moved = ra.asarray(x, xp="numpy", copy=True)
    moved.values[0] = 7
    assert float(x.values[0]) == 0
    assert not ra.asarray(x, xp="numpy").values.flags.writeable
    dense = ra.asarray(VALUES, xp="numpy", copy=True)
    dense[0] = 7
    assert float(VALUES[0]) == 0


@pytest.mark.parametrize("xp", ["numpy", "jax", None])
def test_nrows_adds_empty_rows(xp: str | None) -> None:
    x = ra.asarray(ra.ragged([[1.0, 2.0], [3.0]]), xp=xp, nrows=4)
    assert x.tolist() == [[1.0, 2.0], [3.0], [], []]
    nested = ra.asarray(ra.ragged([[[1.0, 2.0], [3.0]]]), xp=xp, nrows=2)
    assert nested.tolist() == [[[1.0, 2.0], [3.0]], []]
    blocks = ra.asarray(ra.ragged([np.ones((1, 2)), np.ones((2, 1))]), xp=xp, nrows=3)
    assert blocks.nested_size() == ((1, 2), (2, 1), (0, 0))
    ra.validate(x), ra.validate(nested), ra.validate(blocks)


def test_nrows_and_copy_that_cannot_be() -> None:
    with pytest.raises(ValueError) as e:
        ra.asarray(rows(3), xp="jax", nrows=2)
    assert str(e.value) == "asarray: expected at least 3 rows, got 2. Take rows with `x[:n]`."
    with pytest.raises(ValueError) as e:
        ra.asarray(np.ones(3), xp="jax", nrows=2)
    assert str(e.value) == "asarray: expected no nrows= for a plain array, got 2. Drop it."
    for x in (rows(3), np.ones(3)):
        with pytest.raises(ValueError) as e:
            ra.asarray(x, xp="jax", copy=False)
        assert str(e.value) == "asarray: expected no copy to be needed, got copy=False. Leave copy=None."


def test_device_holds_for_splits_too() -> None:
    device = jax.devices()[0]
    for x in (rows(3), rows(3).to("jax")):
        moved = ra.asarray(x, xp="jax", device=device)
        assert all(leaf.committed for leaf in jax.tree.leaves(moved))
    assert not any(leaf.committed for leaf in jax.tree.leaves(rows(3).to("jax")))


def test_arrays_of_any_shape_and_byte_order() -> None:
    for given in (np.array(2.0), np.array(True), np.zeros((0, 3)), np.zeros((2, 0)), np.array([1, 2], ">i4")):
        got = ra.asarray(given, xp="jax")
        assert got.shape == given.shape
        np.testing.assert_array_equal(np.asarray(got), given)
    spare = ra.with_capacity(ra.ragged([[1.0, 2.0], [3.0]]), 10)
    for capacity in (3, 4, 12):
        moved = ra.asarray(spare, xp="jax", capacity=capacity)
        assert moved.capacity == capacity and moved.tolist() == spare.tolist()
    x = ra.ragged([[1.0, 2.0]], xp="jax")
    assert (x * np.array(2.0)).tolist() == [[2.0, 4.0]]


def test_dtypes_are_those_of_jax() -> None:
    given = np.array([0.5, 1e30, -1e30, np.nan], np.float32)
    for dtype in ("float32", "float16", "bfloat16", "int32", "bool", "complex64"):
        want, wide = jnp.asarray(given).astype(dtype), "complex64" if dtype == "complex64" else "float64"
        x = ra.asarray(ra.from_row_lengths(given, np.array([4])), xp="jax", capacity=4, dtype=dtype)
        for got in (x.values, ra.asarray(given, xp="jax", dtype=dtype)):
            assert got.dtype == want.dtype and not got.weak_type
            np.testing.assert_array_equal(np.asarray(got).astype(wide), np.asarray(want).astype(wide))
    assert ra.asarray(np.array([1e300]), xp="jax").tolist() == [np.inf]
    with pytest.raises(OverflowError):
        ra.asarray([2**40], xp="jax")
