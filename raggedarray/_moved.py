"""Where modules stood before 0.2: pickles and imports that name the former place get the present one."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# The files `creation`, `reduction` and `sorting` are missing: chapters of these names have what they had.
_CHAPTERS = {
    "ops.array": "blocks capacity comparison components conversion dtypes shapes",
    "ops.creation": "assembling dense_creation nesting",
    "ops.elementwise": "arithmetic logic numeric selection transcendental",
    "ops.indexing": "gathering masking updating",
    "ops.manipulation": "joining merging rearranging repeating reshaping rows splitting",
    "ops.reduction": "searching statistics",
    "ops.sorting": "scan sets",
}
_RENAMED = {
    "bucket_plan": "engine.components.plan",
    "decompositions": "linalg._decompositions",
    "einsum": "linalg._einsum",
    "linear_algebra": "linalg._products",
    "map_components": "ops.functions.components",
    "polynomials": "special._polynomials",
    "transforms": "ops.functions.autodiff",
}
_PLACES = {name: f"{chapter}.{name}" for chapter, names in _CHAPTERS.items() for name in names.split()}
_PLACES |= _RENAMED | {name: name for name in ("fft", "linalg", "nn", "random", "special")}
MOVED = {f"{__package__}.ops.{former}": f"{__package__}.{place}" for former, place in _PLACES.items()}
"""Former name of a module -> its present one."""


class _Former(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])


sys.meta_path.append(_Former())
