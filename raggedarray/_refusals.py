"""What other libraries ask of an array and a RaggedArray cannot give: each says what to do instead.

Methods of NumPy's arrays are functions here, JAX's functions want plain arrays, and a file or a plot wants numbers of
one shape.
"""

from typing import Any

from ._errors import error_text
from ._names import counterpart

_METHODS = {
    "all", "any", "argmax", "argmin", "argsort", "clip", "conj", "conjugate", "cumprod", "cumsum", "diagonal",
    "flatten", "imag", "max", "mean", "min", "nonzero", "prod", "real", "repeat", "reshape", "round", "searchsorted",
    "sort", "squeeze", "std", "sum", "take", "trace", "transpose", "var",
}  # fmt: skip
"""Methods of NumPy's arrays that are functions here."""
_TRANSPOSES = {"T": "`ra.permute_dims(x, axes)`, or `ra.matrix_transpose(x)`", "mT": "`ra.matrix_transpose(x)`"}


def missing(self: Any, name: str) -> Any:
    """``__getattr__``: an `AttributeError`, which names the function where a method of NumPy's arrays was asked for."""
    if hasattr(type(self), name):  # a property that failed: its own error
        return object.__getattribute__(self, name)
    text = f"{type(self).__name__!r} object has no attribute {name!r}"
    if name in _METHODS or name in _TRANSPOSES:
        function = _TRANSPOSES.get(name) or f"`{counterpart(self.__array_namespace__(), name)[0]}(x)`"
        text = error_text("an attribute that it has", repr(name), f"Use {function}.", op="RaggedArray")
    raise AttributeError(text, name=name, obj=self)


def to_array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """``__array__``, without which NumPy would make an array of objects."""
    advice = "Use `ra.to_padded(x)`, `x.values` or `x.tolist()`."
    raise TypeError(error_text("rows of one length", f"shape {self.shape}", advice, op="asarray"))


def to_numpy(self: Any) -> Any:
    """Raises `TypeError`: Matplotlib asks for this, and would else draw the values of all rows as those of one."""
    advice = (
        'Use `x.to("numpy")` to move it, `ra.to_padded(x)` or `x.values` for one array, or draw row by row: '
        "`for row in x: plt.plot(row)`."
    )
    raise TypeError(error_text("rows of one length", f"shape {self.shape}", advice, op="to_numpy"))


def to_jax_array(self: Any) -> Any:
    """``__jax_array__``, which JAX's functions and operators call."""
    return _NoArray(self.shape)


class _NoArray:
    """What JAX gets in place of a RaggedArray. Operators of `jax.Array` leave it to ours; to read it is an error.

    JAX has no other hook: without one, its functions say that they want arrays, and nothing else.
    """

    __slots__ = ("_of",)

    def __init__(self, shape: Any) -> None:
        self._of = shape

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        advice = (
            "Use the function of this name in `ra`, `ra.nn` or `ra.special`, or `ra.map_values(f, x)` for a function "
            "of single elements or a layer, `masked=True` if it has weights."
        )
        raise TypeError(error_text("plain arrays", f"a RaggedArray of shape {self._of}", advice, op="jax.numpy"))

    __str__ = __repr__ = __format__ = __array__ = __iter__ = __len__ = __float__ = __int__ = __index__ = _refuse
    dtype = shape = ndim = size = __jax_array__ = property(_refuse)


def saving(x: Any) -> str:
    """How to write an array to a file of plain arrays, and read it again."""
    if x.block is not None:
        return "Save `ra.get_buffer(x)` and `x.block.sizes` of a packed `x`, and rebuild with `ra.from_blocks`."
    if x.ragged_rank > 1:
        return "Save `x.values` and each of `x.nested_row_splits`, and rebuild with `ra.from_nested_row_splits`."
    return "Save `x.values` and `x.row_splits`, and rebuild with `ra.from_row_splits`."
