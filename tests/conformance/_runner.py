"""Reading the conformance cases, building their arguments, comparing their results.

A case says: this call on these arguments gives this. Values are written as in `build`; `expect` may be an
error. Each case runs on NumPy, on JAX eagerly and on JAX under jit, the last two with poisoned slack.
"""

from __future__ import annotations

import json
import operator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

import raggedarray as ra
from raggedarray import RaggedArray

from ..harness.ways import on_jax

CASES = Path(__file__).parent / "cases"
ERRORS = {"ValueError": ValueError, "TypeError": TypeError, "IndexError": IndexError, "OverflowError": OverflowError}
ERRORS["DynamicShapeError"] = ra.DynamicShapeError
METHODS = ("unbind", "nested_size", "nested_dim", "tolist", "row_lengths", "row_ids", "position_ids")
INDEX_TEXT = {"__builtins__": {}, "None": None, "Ellipsis": ...}


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text().splitlines()]


def _number(x: Any) -> Any:
    if isinstance(x, str):
        return float(x)
    return complex(*x) if isinstance(x, list) else x


def _array(nested: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype in ("int", "float", "any"):
        dtype = {"int": "int64", "float": "float64", "any": "float64"}[dtype]
    depth = len(shape)

    def numbers(x: Any, level: int) -> Any:
        return _number(x) if level == 0 else [numbers(y, level - 1) for y in x]

    flat = np.array(numbers(nested, depth), dtype=object).reshape(shape)
    return flat.astype(np.complex128 if "complex" in dtype else np.float64 if "float" in dtype else None).astype(
        np.dtype(dtype)
    )


def build(value: Any, xp: str, slack: bool) -> Any:
    """A value of a case in backend ``xp``; ragged ones get poisoned slack."""
    if isinstance(value, list):
        return [build(v, xp, slack) for v in value]
    if not isinstance(value, dict):
        return _number(value) if value in ("nan", "inf", "-inf") else value
    if "tuple" in value:
        return tuple(build(v, xp, slack) for v in value["tuple"])
    if "dense" in value:
        a = _array(value["dense"], tuple(value["shape"]), value["dtype"])
        return jax.numpy.asarray(a) if xp == "jax" else a
    if "blocks" in value:
        items = [_array(b["values"], (len(b["values"]),), value["dtype"]).reshape(b["shape"]) for b in value["blocks"]]
        x = ra.ragged(items, item_shape=(None,) * items[0].ndim)
        return placed(x, (x.capacity + 3,), xp, slack)
    spec = value["ragged"]
    n = spec["row_splits"][-1][-1]
    values = _array(spec["values"], (n, *spec["inner_shape"]), spec["dtype"])
    x = ra.from_nested_row_splits(values, [np.asarray(s, dtype=np.int32) for s in spec["row_splits"]])
    return placed(x, tuple(c + 3 for c in (*(len(s) - 1 for s in spec["row_splits"][1:]), n)), xp, slack)


def placed(x: RaggedArray, sizes: tuple[int, ...], xp: str, slack: bool) -> RaggedArray:
    """On JAX over so many slots, on NumPy with slack too if asked for; slack is poisoned."""
    if xp == "jax":
        return on_jax(x, sizes)
    return ra.testing.poison(ra.with_capacity(x, sizes[-1])) if slack else x


def function(call: str) -> Any:
    if call.startswith("grad:"):
        return partial(gradient, function(call.removeprefix("grad:")))
    if call == "getitem":
        return lambda x, key: x[_key(key)]
    if call.startswith("operator."):
        return getattr(operator, call.split(".")[1])
    if call.startswith("attr."):
        return lambda x: getattr(x, call.split(".")[1])
    if call.startswith("at."):
        method = call.split(".")[1]
        return lambda x, key, *v: getattr(x.at[_key(key)], method)(*v)
    if call in METHODS:
        return lambda x, **kw: getattr(x, call)(**kw)
    target: Any = ra
    for part in call.split("."):
        target = getattr(target, part)
    return target


def gradient(f: Any, x: Any, *args: Any, w: Any, **options: Any) -> Any:
    """The gradient of ``sum(f(x, ...) * w)`` with respect to ``x``."""
    return ra.grad(lambda x: ra.sum(f(x, *args, **options) * w))(x)


def _key(key: Any) -> Any:
    """What Python text between brackets means; arrays stand for themselves."""
    return eval(f"_[{key}]", {**INDEX_TEXT, "_": _Key()}) if isinstance(key, str) else key


class _Key:
    def __getitem__(self, key: Any) -> Any:
        return key


def run(case: dict[str, Any], xp: str, jit: bool, slack: bool) -> Any:
    """The result of a case's call, or the exception it raised."""
    special = case.get("jit") if jit else None
    kwargs = dict(case["kwargs"]) | (special.get("kwargs", {}) if isinstance(special, dict) else {})
    f = function(case["call"])
    args = [build(a, xp, slack) for a in case["args"]]
    options = {k: build(v, xp, slack) for k, v in kwargs.items()}
    if not jit:
        return f(*args, **options)
    leaves = {i: a for i, a in enumerate(args) if _traced(a)}
    named = {k: v for k, v in options.items() if _traced(v)}

    def compiled(leaves: dict[int, Any], named: dict[str, Any]) -> Any:
        return f(*(leaves.get(i, a) for i, a in enumerate(args)), **options | named)

    return jax.jit(compiled)(leaves, named)


def _traced(x: Any) -> bool:
    if isinstance(x, tuple):
        return any(map(_traced, x))
    return isinstance(x, RaggedArray | jax.Array | np.ndarray)


def expected(case: dict[str, Any], jit: bool) -> Any:
    special = case.get("jit") if jit else None
    if isinstance(special, dict) and "raises" in special:
        return {"raises": special["raises"]}
    return special["expect"] if isinstance(special, dict) and "expect" in special else case["expect"]


def raises(expect: Any) -> tuple[type[Exception], ...] | None:
    if isinstance(expect, dict) and "raises" in expect:
        return tuple(ERRORS[name] for name in expect["raises"].split("|"))
    return None


def post(result: Any, steps: list[str] | str) -> Any:
    for step in [steps] if isinstance(steps, str) else steps:
        if step == "abs":
            result = jax.tree.map(abs, result) if isinstance(result, tuple) else abs(result)
        else:
            result = result[int(step.split(":")[1])]
    return result


def compare(got: Any, want: Any, case: dict[str, Any]) -> None:
    """Assert that a result is what a case expects."""
    if case["call"] in ("row_ids", "position_ids"):  # one per slot; slack has its own documented value
        got = got[: want["shape"][0]]
    if isinstance(want, dict) and "ragged" in want:
        spec = want["ragged"]
        n = spec["row_splits"][-1][-1]
        values = _array(spec["values"], (n, *spec["inner_shape"]), spec["dtype"])
        assert isinstance(got, RaggedArray), f"expected a RaggedArray, got {type(got)}"
        host = ra.compact(got.to("numpy"))
        assert len(host.nested_row_splits) == len(spec["row_splits"]), (host.shape, spec["row_splits"])
        for have, need in zip(host.nested_row_splits, spec["row_splits"], strict=True):
            assert have.tolist() == need
        if "shape" in spec:
            assert list(host.shape) == spec["shape"]
        close(host.values, values, spec["dtype"], case)
    elif isinstance(want, dict) and "blocks" in want:
        assert isinstance(got, RaggedArray), f"expected a RaggedArray, got {type(got)}"
        items = got.to("numpy").unbind()
        assert len(items) == len(want["blocks"])
        for item, b in zip(items, want["blocks"], strict=True):
            close(
                np.asarray(item),
                _array(b["values"], (len(b["values"]),), want["dtype"]).reshape(b["shape"]),
                want["dtype"],
                case,
            )
    elif isinstance(want, dict) and "dense" in want:
        assert not isinstance(got, RaggedArray), "expected a plain array"
        close(np.asarray(got), _array(want["dense"], tuple(want["shape"]), want["dtype"]), want["dtype"], case)
    elif isinstance(want, dict) and "tuple" in want:
        items = got.unbind() if isinstance(got, RaggedArray) else got
        assert isinstance(items, tuple)
        assert len(items) == len(want["tuple"])
        for g, w in zip(items, want["tuple"], strict=True):
            compare(g, w, case)
    elif isinstance(want, bool):
        assert bool(got) is want
    elif isinstance(want, list):
        assert got == want
    else:
        close(np.asarray(got), np.asarray(want), "any", case)


def close(got: np.ndarray, want: np.ndarray, dtype: str, case: dict[str, Any]) -> None:
    assert got.shape == want.shape, (got.shape, want.shape)
    kinds = {"int": "iu", "float": "f", "any": "biufc"}
    if dtype in kinds:
        assert got.dtype.kind in kinds[dtype], got.dtype
    elif jax.config.jax_enable_x64 or not dtype.endswith(("64", "128")):
        assert str(got.dtype) == dtype, (got.dtype, dtype)
    rtol = max(case["rtol"], 0 if jax.config.jax_enable_x64 else 1e-4)
    if np.issubdtype(want.dtype, np.inexact) or want.dtype.kind == "V":
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=case["atol"], equal_nan=True)
    else:
        np.testing.assert_array_equal(got, want)
