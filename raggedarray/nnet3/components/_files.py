"""Matrices and vectors that a config names by file: Kaldi's text form, or NumPy's ``.npy``."""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from ._base import Component


def matrix(component: Component, path: str) -> np.ndarray:
    """``float32[rows, columns]``."""
    return _checked(component, path, 2)


def vector(component: Component, path: str) -> np.ndarray:
    """``float32[dim]``."""
    return _checked(component, path, 1)


def parse(text: str) -> np.ndarray:
    """Numbers in brackets: rows on lines of their own make a matrix.

    >>> parse(" [ 1 2 ]"), parse(" [\\n 1 2\\n 3 4 ]").shape
    (array([1., 2.], dtype=float32), (2, 2))
    """
    inside = re.fullmatch(r"\s*\[(.*)\]\s*", text, re.DOTALL)
    if inside is None:
        raise ValueError("no numbers in brackets")
    body = inside[1]
    rows = [[float(number) for number in line.split()] for line in body.split("\n") if line.strip()]
    if "\n" not in body.rstrip():
        return np.asarray(rows[0] if rows else [], np.float32)
    return np.asarray(rows, np.float32)


def _checked(component: Component, path: str, ndim: int) -> np.ndarray:
    what = ("vector", "matrix")[ndim - 1]
    try:
        numbers = _read(path, Path(path).stat().st_mtime_ns)
    except (OSError, ValueError) as error:
        raise component.error(f"a {what} in {path!r}", error, "Write numbers in brackets, or a .npy file.") from None
    if numbers.ndim != ndim:
        raise component.error(f"a {what} in {path!r}", f"shape {numbers.shape}", "Name another file.")
    return numbers


@lru_cache(maxsize=64)
def _read(path: str, changed: int) -> np.ndarray:  # noqa: ARG001 - a part of the cache's key
    numbers = np.asarray(np.load(path), np.float32) if path.endswith(".npy") else parse(Path(path).read_text())
    numbers.flags.writeable = False
    return numbers
