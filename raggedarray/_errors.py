"""The one error class of our own, and the one sentence every error is written in."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DynamicShapeError(TypeError):
    """A result's size depends on data that is traced, and no static size was given.

    The message names the keyword (``length=``, ``capacity=``, ``size=``) that would fix it.
    """


DynamicShapeError.__module__ = "raggedarray"  # where users find it, and what a traceback shows

OP: ContextVar[str] = ContextVar("OP", default="raggedarray")
"""The public function that was called: the first word of every error. The edge of the package sets it."""


def error_text(expected: str, got: object, advice: str, *, op: str = "") -> str:
    """``op: expected X, got Y. Do Z.``, of the public function that was called unless another is named."""
    return f"{op or OP.get()}: expected {expected}, got {got}. {advice}"


def named(op: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator of what is called by users, but is no function of the namespace: errors begin with ``op``."""

    def decorate(f: Callable[P, T]) -> Callable[P, T]:
        @wraps(f)
        def call(*args: P.args, **options: P.kwargs) -> T:
            token = OP.set(op)
            try:
                return f(*args, **options)
            finally:
                OP.reset(token)

        return call

    return decorate
