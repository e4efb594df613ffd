"""Fourier transforms of rows and blocks, each at its own size, against NumPy's of each component."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import BucketPlan, RaggedArray, ragged

from .harness.compare import assert_components

RNG = np.random.default_rng(2)
LENGTHS = {"one": (5, 0, 1, 8, 3), "two": (2, 7, 4, 1, 0)}
SHAPES = {"one": [(2, 3), (4, 2), (1, 5)], "two": [(3, 4), (1, 2), (2, 2)]}


def noise(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


ROWS = {n: [noise(m) for m in lengths] for n, lengths in LENGTHS.items()}
GRIDS = {n: [noise(*s) for s in shapes] for n, shapes in SHAPES.items()}
ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
TWO_AXES = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "irfftn"]
HALF = ("rfft", "rfft2", "ihfft", "rfftn")


def data(name: str, batch: str) -> list[np.ndarray]:
    rows = ROWS[batch] if name in ONE_AXIS else GRIDS[batch]
    return [r.real for r in rows] if name in HALF else rows


def reference(name: str, a: np.ndarray, **options: Any) -> np.ndarray:
    n = options.get("n")
    if not a.shape[0] and n is None:
        return np.zeros(0)
    if not a.shape[0]:
        a = np.zeros(1)
    if a.shape == (1,) and n is None and name in ("irfft", "hfft"):
        return np.zeros(0)
    found: np.ndarray = getattr(np.fft, name)(a, **options)
    return found


def check(got: Any, want: list[np.ndarray], what: Any = "") -> None:
    small = np.dtype(got.dtype) in (np.float32, np.complex64)
    assert_components(got, want, *((1e-5, 1e-6) if small else (1e-7, 1e-10)), what)


@pytest.mark.parametrize("name", ONE_AXIS + TWO_AXES)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_numpy(name: str, norm: Any) -> None:
    """At exact sizes, padded, and cut or filled to one size."""
    rows = data(name, "one")
    x = ragged(rows, item_shape=(None,) * rows[0].ndim)
    f = getattr(ra.fft, name)
    want = [reference(name, r, norm=norm) for r in rows]
    for bucket in (None, "padded", BucketPlan.make(x)):
        check(f(x, norm=norm, bucket=bucket), want, (name, norm, bucket))
    if name in ONE_AXIS:
        out = f(x, n=4, norm=norm)
        assert isinstance(out, np.ndarray)
        check(out, [reference(name, r, n=4, norm=norm) for r in rows])
    else:
        check(f(x, s=(2, 4), norm=norm), [getattr(np.fft, name)(r, s=(2, 4), axes=(0, 1), norm=norm) for r in rows])


def test_jitted_with_a_plan() -> None:
    """One trace for two sets of sizes, whatever slack holds; ``n`` needs no plan."""
    names = [*ONE_AXIS, *TWO_AXES]
    with jax.enable_x64(True):
        both = {n: [*data(n, "one"), *data(n, "two")] for n in names}
        plans = {n: BucketPlan.from_sizes([r.shape for r in both[n]], headroom=0.0, max_buckets=1) for n in names}

        def every(given: dict[str, RaggedArray]) -> Any:
            out = {n: getattr(ra.fft, n)(x, bucket=plans[n]) for n, x in given.items()}
            return (
                out,
                {n: getattr(ra.fft, n)(given[n], n=4) for n in ("rfft", "irfft")},
                ra.fft.fftshift(given["fft2"]),
            )

        traced = ra.testing.count_traces(every)
        compiled = jax.jit(traced)
        for batch in LENGTHS:
            given = {}
            for n in names:
                rows = data(n, batch)
                x = ragged(rows, item_shape=(None,) * rows[0].ndim, xp="jax")
                given[n] = ra.testing.poison(ra.with_capacity(x, 24))
            out, cut, shift = compiled(given)
            for n in names:
                check(out[n], [reference(n, r) for r in data(n, batch)], (batch, n))
            for n, got in cut.items():
                check(got, [reference(n, r, n=4) for r in data(n, batch)], (batch, n))
            check(shift, [np.fft.fftshift(r) for r in data("fft2", batch)])
        assert traced.count == 1


def test_gradient() -> None:
    with jax.enable_x64(True):
        rows = [RNG.normal(size=n) for n in (5, 1, 4)]
        x = ra.testing.poison(ra.with_capacity(ragged(rows, xp="jax"), 14))
        plan = BucketPlan.make(x, max_buckets=1)

        def power(x: RaggedArray) -> Any:
            return ra.sum(ra.abs(ra.fft.rfft(x, bucket=plan)) ** 2)

        got = jax.jit(ra.grad(power))(x)
        for g, r in zip(got.to("numpy").unbind(), rows, strict=True):
            want = jax.grad(lambda r: jnp.sum(jnp.abs(jnp.fft.rfft(r)) ** 2))(jnp.asarray(r))
            np.testing.assert_allclose(g, want, rtol=1e-8)
        assert not np.asarray(got.values)[10:].any()


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_other_axes(xp: str) -> None:
    rows = [RNG.normal(size=(n, 4)).astype("float32") for n in (3, 0, 2)]
    x = ragged(rows, item_shape=(None, 4), xp=xp)
    inner = ra.fft.rfft(x)
    assert inner.shape == (3, None, 3)
    check(ra.map_values(lambda v: v.astype("complex128" if xp == "numpy" else "complex64"), inner),
          [np.fft.rfft(r).astype("complex64") for r in rows])  # fmt: skip
    shifted = ra.fft.fftshift(x)
    check(shifted, [np.fft.fftshift(r) for r in rows])
    check(ra.fft.ifftshift(shifted), rows)
    assert shifted.partitions[0] is x.partitions[0]
    if xp == "numpy":
        check(ra.fft.fft(x, axis=1), [np.fft.fft(r, axis=0) if len(r) else r for r in rows])
        half = ra.fft.rfft(ragged([np.ones(3, np.float16), np.ones(2, np.float16)]))
        assert half.dtype == np.complex64


X = ragged([[1.0, 2.0], [3.0]])
MESSAGES = [
    (lambda: ra.fft.fft(X, axis=0), ValueError,
     "fft.fft: expected axes from 1 to 1, got 0. Name axes of the components."),
    (lambda: ra.fft.rfft(X * 1j), TypeError,
     "fft.rfft: expected real numbers, got dtype complex128. Use `ra.fft.fft`."),
    (lambda: ra.fft.fft(X, n=0), ValueError,
     "fft.fft: expected 1 sizes of 1 or more, got (0,). Pass one for each axis."),
    (lambda: ra.fft.fft(X, norm="none"), ValueError,  # type: ignore[arg-type]
     "fft.fft: expected norm 'backward', 'ortho' or 'forward', got 'none'. Pass one of these."),
    (lambda: ra.fft.fftn(X, axes=(1, -1)), ValueError,
     "fft.fftn: expected different axes, got (1, -1). Name each once."),
    (lambda: jax.jit(ra.fft.fft)(X.to("jax")), ra.DynamicShapeError,
     "fft.fft: expected sizes that can be read, got traced ones. Pass `bucket=`, a `ra.BucketPlan` made outside jit."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), MESSAGES, ids=lambda v: "")
def test_messages(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
