"""Results of any library against what each component should be."""

from typing import Any

import numpy as np

from raggedarray import RaggedArray


def host(x: Any) -> Any:
    """A result of any library on NumPy."""
    if not isinstance(x, RaggedArray):
        return np.from_dlpack(x) if _is_strict(x) else np.asarray(x)
    if not _is_strict(x.values):
        return x.to("numpy")
    return RaggedArray(np.from_dlpack(x.values), tuple(p.map_arrays(np.from_dlpack) for p in x.partitions))


def _is_strict(x: Any) -> bool:
    return type(x).__module__.startswith("array_api_strict")


def components(x: Any) -> list[np.ndarray]:
    """The components of a result, or the entries of a plain array."""
    x = host(x)
    return [np.asarray(c) for c in (x.unbind() if isinstance(x, RaggedArray) else x)]


def assert_components(got: Any, want: list[Any], rtol: float = 1e-5, atol: float = 1e-6, what: Any = "") -> None:
    """Shapes and elements of every component."""
    parts = components(got)
    assert len(parts) == len(want), what
    for i, (a, b) in enumerate(zip(parts, want, strict=True)):
        assert a.shape == np.shape(b), (what, i, a.shape, np.shape(b))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=f"{what} component {i}")
