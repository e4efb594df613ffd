"""The layers of the package, and the picture of them: ``python docs/_ext/layers.py``. A test runs it and compares."""

import ast
from pathlib import Path

DOCS = Path(__file__).parent.parent
PACKAGE = DOCS.parent / "raggedarray"
PICTURE = DOCS / "img" / "layers.svg"
LAYERS = [
    ["_errors", "_typing", "_names", "_moved"],
    ["_partition", "_refusals"],
    ["backends"],
    ["structure"],
    ["_repr", "_protocols"],
    ["_array"],
    ["_signatures"],
    ["engine"],
    ["ops"],
    ["nnet3", "random", "special"],
    ["linalg"],
    ["nn", "fft"],
    ["config", "data", "io", "params", "plot", "sharding", "_vmap"],
    ["testing"],
    ["__init__"],
]
"""What stands in one line is one layer; each imports its own and those above it in this list. Some are to come."""
FILES = {
    ".".join(p.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): p for p in PACKAGE.rglob("*.py")
}
"""Dotted name within the package -> file."""


def targets(module: str, is_package: bool, source: str) -> tuple[set[str], set[str]]:
    """What a file imports, in branches for type checkers too: modules of the package, and packages outside."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    package = [] if module == "__init__" else package
    own, outside = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            outside |= {a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            outside.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            name = ".".join(part for part in base if part)
            submodules = {f"{name}.{a.name}".strip(".") for a in node.names}
            own |= {s if s in FILES else name or "__init__" for s in submodules}
    return own, outside


def imports() -> dict[str, set[str]]:
    """Which files each file imports; a package is its ``__init__``."""
    return {
        module: targets(module, path.name == "__init__.py", path.read_text())[0] - {module}
        for module, path in FILES.items()
    }


def picture() -> str:
    """An SVG: a box a module or package, from the top layer down, with its files and what it imports directly."""
    graph = imports()
    top = {
        name: {t.split(".")[0] for m in graph if m.split(".")[0] == name for t in graph[m]}
        for layer in LAYERS
        for name in layer
    }
    shown = [[n for n in layer if any(m.split(".")[0] == n for m in FILES)] for layer in reversed(LAYERS)]
    order = [n for layer in reversed(shown) for n in layer]
    parts, y = [], 8
    for layer in filter(None, shown):
        width = 720 / len(layer)
        for i, name in enumerate(layer):
            count = sum(m.split(".")[0] == name for m in FILES)
            below = [n for n in order if n in top[name] and n != name]
            label = name if count == 1 else f"{name}/ ({count} files)"
            x = 8 + i * width
            parts += [
                f'<rect x="{x:.0f}" y="{y}" width="{width - 8:.0f}" height="44" rx="4"/>',
                f'<text x="{x + 8:.0f}" y="{y + 18}">{label}</text>',
            ]
            text = _fit(below, int((width - 24) / 5.2))
            parts.append(f'<text class="below" x="{x + 8:.0f}" y="{y + 35}">{text}</text>')
        y += 52
    style = (
        "rect{fill:#eef1f5;stroke:#607d8b}text{font:14px sans-serif;fill:#263238}.below{font-size:10px;fill:#546e7a}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 736 {y}" width="736" height="{y}">'
    return "\n".join([head, f"<style>{style}</style>", *parts, "</svg>"]) + "\n"


def _fit(names: list[str], size: int) -> str:
    """As many of the nearest layers as there is room for."""
    text = ", ".join(reversed(names))
    return text if len(text) <= size else text[: size - 2].rsplit(",", 1)[0] + ", .."


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture())
