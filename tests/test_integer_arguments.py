"""Ids, counts, lengths, indices and sizes of every integer dtype, at its limits, say what they say in int32."""

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from .harness.compare import host
from .harness.day import nightly_unless
from .harness.ways import strict
from .integer_arguments import CASES, EXEMPT, NAMES, SIZES, Case

DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "uint64", "int64"]
WAYS = ["numpy", "strict", "jax", "jit"]
MODULES = {"": ra, "fft.": ra.fft, "linalg.": ra.linalg, "nn.": ra.nn, "nnet3.": ra.nnet3, "random.": ra.random,
           "special.": ra.special, "testing.": ra.testing}  # fmt: skip


def sizes(case: Case, dtype: str) -> list[int]:
    """Numbers of entries: the first that the dtype does not have, and one well past it."""
    most = int(np.iinfo(dtype).max)
    if most < 1 << 10:
        return [most + 1, 300]
    return [most + 1, 70_000] if most < 1 << 20 and case.wide else [300]


def cell(day: bool, *values: Any) -> Any:
    return nightly_unless(day, *values, id="-".join(str(getattr(v, "name", v)) for v in values))


def in_turn(i: int, dtype: str, way: str) -> bool:
    """By day each is tried with one dtype on NumPy, in turn, and every tenth on JAX."""
    return dtype == DTYPES[i % len(DTYPES)] and (way in ("numpy", "strict") or i % 10 == 0)


def cells() -> Iterator[Any]:
    for i, case in enumerate(CASES):
        for dtype in DTYPES:
            for n in sizes(case, dtype):
                for way in WAYS:
                    if (way != "jit" or case.traces) and (way != "strict" or (n <= 300 and case.strict)):
                        yield cell(in_turn(i, dtype, way) and n <= 300, case, dtype, n, way)


def mapped(f: Any, x: Any) -> Any:
    return x.with_values(f(x.values)) if isinstance(x, RaggedArray) else f(x)


def given(case: Case, dtype: str, n: int) -> tuple[Any, Any]:
    """The ids in this dtype, and in int32."""
    limits = np.iinfo(dtype)
    low = max(-n, int(limits.min)) if case.negative else 0
    high = min(n - 1 + case.past, int(limits.max))
    ids = case.ids(low, high)
    narrow, plain = mapped(lambda a: a.astype(dtype), ids), mapped(lambda a: a.astype("int32"), ids)
    if case.beyond and limits.bits > 16:  # past everything, there as here
        narrow = mapped(lambda a: np.where(a == high, limits.max, a).astype(dtype), narrow)
        plain = mapped(lambda a: np.where(a == high, 1 << 30, a).astype("int32"), plain)
    return narrow, plain


def moved(x: Any, way: str) -> Any:
    if way == "strict":
        return strict(x) if isinstance(x, RaggedArray) else array_api_strict.asarray(x)
    if way == "numpy":
        return x
    if isinstance(x, RaggedArray):
        return ra.asarray(x, xp="jax")
    return jnp.asarray(x)


def facts(x: Any) -> Any:
    """What a result says: its elements and its structure, whose indices have at least 32 bits."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, list | tuple):
        return [facts(y) for y in x]
    if not isinstance(x, RaggedArray):
        return host(x) if hasattr(x, "dtype") else x
    arrays = [getattr(p, name, None) for p in x.partitions for name in ("splits", "sizes", "strides", "offsets")]
    assert all(str(a.dtype).rpartition(".")[2] in ("int32", "int64") for a in arrays if a is not None)
    x = ra.compact(ra.contiguous(host(x)))
    return [x.values, *(x.nested_row_splits if x.block is None else (x.block.sizes,))]


def same(got: Any, want: Any) -> None:
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
    elif isinstance(want, str):
        assert got == want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("case", "dtype", "n", "way"), list(cells()))
def test_ids_of_any_dtype(case: Case, dtype: str, n: int, way: str) -> None:
    ids, plain = given(case, dtype, n)
    want = facts(case.call(case.data(n), plain))
    data, wide = moved(case.data(n), way), np.dtype(dtype).itemsize == 8
    # JAX has 64 bits in a trace under x64 only. Else it would wrap them, so that they come to the op on the host.
    with jax.enable_x64(True) if way == "jit" and wide else nullcontext():
        f = jax.jit(case.call) if way == "jit" else case.call
        ids = ids if way == "jax" and wide else moved(ids, way)
        same(facts(f(data, ids)), want)


@pytest.mark.parametrize(
    ("name", "dtype", "way"),
    [
        cell(in_turn(i, d, way), name, d, way)
        for i, name in enumerate(SIZES)
        for d in DTYPES
        for way in ("numpy", "jax")
    ],
)
def test_static_sizes_of_any_dtype(name: str, dtype: str, way: str) -> None:
    n = min(int(np.iinfo(dtype).max), 300)
    same(*(facts(SIZES[name](lambda x: moved(x, way), size)) for size in (np.dtype(dtype).type(n), n)))


def parameters() -> Iterator[str]:
    """``function.parameter`` of everything public, methods of public classes too."""
    for prefix, module in MODULES.items():
        for name in module.__all__:
            f = getattr(module, name)
            methods = [f"{name}.{m}" for m in vars(f) if not m.startswith("_")] if inspect.isclass(f) else []
            for called in (name, *methods):
                g = getattr(f, called.partition(".")[2], None) if "." in called else f
                if callable(g) and not inspect.ismodule(g):
                    yield from (f"{prefix}{called}.{p}" for p in signature(g))


def signature(f: Any) -> list[str]:
    try:
        return list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        return []


def test_every_parameter_that_takes_integers_is_tried() -> None:
    """A new one belongs into `CASES` or `SIZES` of `integer_arguments`, or with a reason into `EXEMPT`."""
    tried = {case.parameter for case in CASES} | {name.partition("[")[0] for name in SIZES} | set(EXEMPT)
    assert [p for p in parameters() if p.rpartition(".")[2] in NAMES and p not in tried] == []
    assert sorted(tried - set(parameters()) - {"at.key", "getitem.key"}) == []


def test_what_a_narrow_dtype_cannot_hold_has_its_say_in_errors() -> None:
    table, ids = np.ones((256, 2), np.float32), np.array([0, 255], np.uint8)
    rows = ra.from_row_lengths(ids, np.array([2]))
    assert ra.checked(ra.nn.embedding)(ra.asarray(rows, xp="jax"), jnp.asarray(table)).shape == (1, None, 2)
    few = jnp.asarray(table[:255])
    for call in (ra.nn.embedding, ra.checked(ra.nn.embedding)):
        with pytest.raises((IndexError, ValueError)) as caught:
            call(jnp.asarray(ids), few)
        assert str(caught.value).startswith("nn.embedding: expected ids from 0 to 254, got ")
    with pytest.raises(IndexError) as far:
        ra.nn.embedding(np.array([2**63], np.uint64), few)
    assert str(far.value) == (
        "nn.embedding: expected ids from 0 to 254, got 9223372036854775808 at slot 0. Check the vocabulary."
    )


def test_numbers_that_jax_cannot_hold_do_not_wrap_on_their_way() -> None:
    far = 2**32 + 1  # 1 in the last 32 bits
    x, table = ra.ragged([[1.0, 2.0, 3.0], [4.0]], xp="jax"), jnp.ones((3, 2))
    ids = ra.from_row_lengths(np.array([far]), np.array([1]))
    for call in (
        lambda: ra.nn.embedding(ids, table),
        lambda: ra.nn.embedding_bag(ids, table),
        lambda: ra.nn.cross_entropy(table, np.array([0, far, 0])),
        lambda: ra.take(x, np.array([far])),
        lambda: ra.take(x, ids),
        lambda: ra.take(table, ids),
        lambda: ra.gather(x, ra.from_row_lengths(np.array([far]), np.array([1, 0])), batch_dims=1),
        lambda: ra.from_padded(jnp.ones((1, 3)), lengths=np.array([far])),
        lambda: ra.narrow(x, 1, np.array([far, 0]), 1),
    ):
        with pytest.raises((IndexError, ValueError), match=r": expected .*, got .*\. "):
            call()
    assert np.isnan(ra.row_item(x, np.array([far, 0]))[0])
    assert ra.truncate(x, np.array([far, 0])).tolist() == [[1.0, 2.0, 3.0], []]
    assert not ra.nn.one_hot(np.array([far]), 3).any()


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_a_padding_that_the_dtype_lacks_pads_nothing(xp: Any) -> None:
    array = xp.asarray(np.array([[1, 255], [255, 255]], np.uint8))
    assert ra.from_padded(array, padding=-1).tolist() == [[1, 255], [255, 255]]
    assert ra.from_padded(array, padding=255).tolist() == [[1], []]


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_numbers_that_the_dtype_lacks_compare_as_numbers(jitted: bool) -> None:
    x = ra.ragged([[1, 255], [], [3]], dtype="uint8")

    def facts_of(x: Any) -> list[Any]:
        over = [x == 300, x != 300, x < 300, x <= 300, x > 300, x >= 300, ra.less(300, x), ra.equal(300, x)]
        return [*over, x == -1, x != -1, x < -1, x >= -1, ra.less(-1, x), x == 255, x < 256]

    want = [y.tolist() for y in facts_of(x)]
    assert want[0] == [[False, False], [], [False]] and want[2] == [[True, True], [], [True]]
    f = jax.jit(facts_of) if jitted else facts_of
    assert [y.tolist() for y in f(ra.asarray(x, xp="jax"))] == want
