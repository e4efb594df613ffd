"""NumPy's names for the functions of this package."""

from typing import Any

STANDARD = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "around": "round",
    "concatenate": "concat", "conjugate": "conj", "cumprod": "cumulative_prod", "cumsum": "cumulative_sum",
    "fabs": "abs", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "mod": "remainder", "power": "pow",
    "right_shift": "bitwise_right_shift", "rint": "round", "transpose": "permute_dims", "true_divide": "divide",
}  # fmt: skip
"""NumPy's name of a function -> the standard's, where they differ."""


def counterpart(namespace: Any, name: str) -> tuple[str, Any]:
    """Our function for a name of NumPy's and what it is called with, or an empty name."""
    ours = STANDARD.get(name, name)
    families = {"ra": namespace, **{f"ra.{part}": getattr(namespace, part) for part in ("special", "linalg", "fft")}}
    for prefix, family in families.items():
        if ours in family.__all__ and callable(getattr(family, ours)):  # `ra.fft` is no function
            return f"{prefix}.{ours}", getattr(family, ours)
    return "", None
