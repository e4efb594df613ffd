"""The one error class of our own, and the one sentence every error is written in."""


class DynamicShapeError(TypeError):
    """A result's size depends on data that is traced, and no static size was given.

    The message names the keyword (``length=``, ``capacity=``, ``size=``) that would fix it.
    """


DynamicShapeError.__module__ = "raggedarray"  # where users find it, and what a traceback shows


def error_text(op: str, expected: str, got: object, advice: str) -> str:
    """``op: expected X, got Y. Do Z.``"""
    return f"{op}: expected {expected}, got {got}. {advice}"
