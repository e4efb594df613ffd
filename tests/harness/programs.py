"""How many compiled programs a process keeps.

Each maps a few pieces of memory, of which a process may have 65,530: past that the compiler crashes. They are dropped
when many are mapped or much memory is held, and not at the end of each file, so that tests share what they can.
"""

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

COMPILED: dict[Any, Callable[..., Any]] = {}
"""One jitted function per op and options: layouts of one capacity then share a program."""
MAPS = Path("/proc/self/maps")
STATM = Path("/proc/self/statm")
MOST_MAPS = 25_000
MOST_BYTES = 3 << 30
EVERY = 25
"""So many tests pass between two looks."""
_tests = 0
_kept = 0
"""The memory that dropping the programs did not give back the last time."""


def jitted(key: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """``jax.jit(f)``, one for each key among the functions of one name."""
    named = getattr(f, "func", f)
    key = (named.__module__, named.__qualname__, key)
    if key not in COMPILED:
        COMPILED[key] = jax.jit(f)
    return COMPILED[key]


def after_each_test() -> None:
    """Look from time to time whether programs are to be dropped."""
    global _tests
    _tests += 1
    if _tests % EVERY == 0 and MAPS.exists() and full():
        forget()


def full() -> bool:
    return resident() > max(MOST_BYTES, _kept + (1 << 30)) or MAPS.read_bytes().count(b"\n") > MOST_MAPS


def resident() -> int:
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def forget() -> None:
    global _kept
    COMPILED.clear()
    jax.clear_caches()
    gc.collect()
    _kept = resident()
