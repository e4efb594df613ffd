"""Ratios of two callables, interleaved in one process, and what XLA says of their memory."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import jax


def _once(f: Callable[[], Any], inner: int) -> float:
    start = time.perf_counter()
    for _ in range(inner):
        out = f()
    jax.block_until_ready(out)
    return (time.perf_counter() - start) / inner


def seconds(*fs: Callable[[], Any], rounds: int = 21, inner: int = 1) -> list[float]:
    """Median time of each, taken in turn so that a slow moment of the machine meets all of them."""
    for f in fs:
        jax.block_until_ready(f())
    times: list[list[float]] = [[] for _ in fs]
    for _ in range(rounds):
        for f, t in zip(fs, times, strict=True):
            t.append(_once(f, inner))
    return [median(t) for t in times]


def temporary_bytes(f: Callable[..., Any], *args: Any) -> int:
    """Peak temporary memory of a compiled function, its result included."""
    stats = jax.jit(f).lower(*args).compile().memory_analysis()
    return int(stats.temp_size_in_bytes + stats.output_size_in_bytes)
