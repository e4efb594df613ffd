"""Components: what nodes compute. One class each, in files by subject.

A config line becomes a component by the fields of its class; see `_base`.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from .._lines import Keys, parse_pairs
from . import (
    affine,
    attention,
    batchnorm,
    blocks,
    clipping,
    composite,
    dropout,
    elementwise,
    gates,
    scaling,
    statistics,
    temporal,
)
from ._base import NONE, Component, Key, Params, RowContext

__all__ = ["NONE", "TYPES", "Component", "Key", "Params", "RowContext", "make_component"]

_FILES = (affine, scaling, elementwise, batchnorm, blocks, clipping, dropout, gates, temporal, statistics, attention)
TYPES: dict[str, type[Component]] = {c.kind: c for file in (*_FILES, composite) for c in file.KINDS}
"""Every component by the name of its type."""


def make_component(kind: str, keys: Keys | Mapping[str, str]) -> Component:
    """The component of a config line: its type, and its other keys.

    >>> make_component("TdnnComponent", {"input-dim": "2", "output-dim": "3", "time-offsets": "-1,0"}).info()
    'type=TdnnComponent, input-dim=2, output-dim=3'
    """
    keys = keys if isinstance(keys, Keys) else Keys(keys)
    written = {key: value for key, value in keys.pairs.items() if key not in ("name", "type")}
    if kind not in TYPES:
        raise keys.error("a component type", kind, f"Known types: {', '.join(TYPES)}.")
    cls = TYPES[kind]
    values: dict[str, Any] = {**_parts(keys)} if cls is composite.Composite else {}
    for name, read in _readers(cls):
        values[name] = read(keys, name.replace("_", "-"))
    for key in cls.ignored:
        keys.text(key, None)
    keys.finish()
    try:
        return cls(**values, keys=written)
    except ValueError as error:
        where = f"from_config: {keys.subject}" if keys.subject else "from_config"
        raise ValueError(f"{where}: {error}") from None


Reader = Callable[[Keys, str], object]


def _readers(cls: type[Component]) -> tuple[tuple[str, Reader], ...]:
    hints = get_type_hints(cls)
    keys = [f for f in fields(cls) if f.name not in ("keys", "components")]
    return tuple((f.name, _reader(hints[f.name], f.default)) for f in keys)


def _reader(hint: object, default: object) -> Reader:
    words = str(hint)
    if "tuple" in words:
        return lambda keys, key: keys.integers(key, default)
    if "bool" in words:
        return lambda keys, key: keys.boolean(key, default)
    if "float" in words:
        return lambda keys, key: keys.real(key, default)
    if "int" in words:
        return lambda keys, key: keys.integer(key, default)
    return lambda keys, key: keys.text(key, default)


def _parts(keys: Keys) -> dict[str, tuple[Component, ...]]:
    count = keys.integer("num-components", at_least=1)
    parts = []
    for number in range(1, count + 1):
        inner = parse_pairs(keys.text(f"component{number}"), f"{keys.subject}, component{number}".lstrip(", "))
        parts.append(make_component(inner.text("type"), inner))
    return {"components": tuple(parts)}
