"""Advice that can be followed: a keyword that a message names is one that the function it speaks of takes.

Messages are read from the source. Where ``op`` is a parameter, those of its callers count, and of theirs.
"""

import ast
import inspect
import re
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import pytest

import raggedarray as ra

PACKAGE = Path(ra.__file__).parent
BARE, CALL = re.compile(r"`(\w+)=[^`(]*`"), re.compile(r"`ra\.([\w.]+)\(([^`]*)\)`")
CARRIERS = {"_buckets": "Work", "_products": "Product", "_select": "_Walk"}
"""Classes whose first argument is the name of the op, and the files that read it from ``.op``."""


class Module:
    """A file, its functions and what its imports mean."""

    def __init__(self, path: Path) -> None:
        self.name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        self.tree = ast.parse(path.read_text())
        self.functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name].append(node)
        package = self.name.split(".")[:-1]
        self.imports: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
                self.imports |= {a.asname or a.name: (source, a.name) for a in node.names}

    def owner(self, name: str) -> tuple[str, str]:
        """Where a function of this name is defined."""
        return (self.name, name) if name in self.functions else self.imports.get(name, ("", name))


class Site(NamedTuple):
    """A call, and the function that it stands in."""

    module: Module
    inside: ast.FunctionDef
    call: ast.Call


def sites() -> list[Site]:
    found: dict[int, Site] = {}
    for module in map(Module, sorted(PACKAGE.rglob("*.py"))):
        for functions in module.functions.values():
            for f in functions:  # of nested functions the outermost, whose parameters the others see
                for node in ast.walk(f):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                        found.setdefault(id(node), Site(module, f, node))
    return list(found.values())


SITES = sites()
CALLS: dict[tuple[str, str], list[Site]] = defaultdict(list)
for site in SITES:
    assert isinstance(site.call.func, ast.Name)
    CALLS[site.module.owner(site.call.func.id)].append(site)


def parameters(f: ast.FunctionDef) -> list[str]:
    return [a.arg for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)]


def argument(call: ast.Call, f: ast.FunctionDef, name: str) -> ast.expr | None:
    """What a call passes for a parameter."""
    given = {k.arg: k.value for k in call.keywords}
    at = parameters(f).index(name)
    return given.get(name, call.args[at] if at < len(call.args) else None)


def values(node: ast.expr, f: ast.FunctionDef) -> list[ast.expr]:
    """The expressions that a local name may stand for."""
    if not isinstance(node, ast.Name) or node.id in parameters(f):
        return [node]
    out: list[ast.expr] = []
    for assign in (n for n in ast.walk(f) if isinstance(n, ast.Assign)):
        for target in assign.targets:
            if isinstance(target, ast.Name) and target.id == node.id:
                out.append(assign.value)
            elif isinstance(target, ast.Tuple) and isinstance(assign.value, ast.Tuple):
                pairs = zip(target.elts, assign.value.elts, strict=True)
                out += [v for t, v in pairs if isinstance(t, ast.Name) and t.id == node.id]
    return out


def texts(node: ast.expr, f: ast.FunctionDef) -> set[str]:
    """Strings in the expressions of an argument."""
    found = (n for v in values(node, f) for n in ast.walk(v))
    return {n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def ops(site: Site, node: ast.expr, keyword: str | None, seen: tuple[Any, ...] = ()) -> set[str]:
    """What ``op`` may be. ``keyword``: of callers whose function passes this one on, those that have it to pass."""
    f, out = site.inside, set()
    for value in values(node, f):
        if isinstance(value, ast.Constant):
            out.add(str(value.value))
        elif isinstance(value, ast.IfExp):
            out |= ops(site, value.body, keyword, seen) | ops(site, value.orelse, keyword, seen)
        elif isinstance(value, ast.JoinedStr):
            parts = [
                {str(p.value)} if isinstance(p, ast.Constant) else ops(site, p.value, keyword, seen)  # type: ignore[attr-defined]
                for p in value.values
            ]
            out |= {"".join(p) for p in product(*parts)}
        elif isinstance(value, ast.Attribute) and value.attr == "op":
            carrier = CARRIERS.get(site.module.name.rpartition(".")[2])
            for made in (m for m in SITES if carrier and getattr(m.call.func, "id", "") == carrier and m.call.args):
                passed = {k.arg for k in made.call.keywords if getattr(k.value, "value", 0) is not None}
                if carrier not in seen and (keyword is None or carrier != "Work" or keyword in passed):
                    out |= ops(made, made.call.args[0], keyword, (*seen, carrier))
        elif isinstance(value, ast.Name) and value.id in parameters(f):
            key = (site.module.name, f.name)
            for caller in CALLS[key] if key not in seen else ():
                passed = keyword in parameters(f) and argument(caller.call, f, str(keyword))
                if keyword in parameters(f) and (not passed or getattr(passed, "value", 0) is None):
                    continue
                given = argument(caller.call, f, value.id)
                out |= set() if given is None else ops(caller, given, keyword, (*seen, key))
    return out


def takes(name: str) -> set[str] | None:
    """The parameters of a public function, by the name that messages give it."""
    spaces = (ra, ra.nn, ra.linalg, ra.fft, ra.random, ra.special, ra.RaggedArray)
    for space in spaces:
        found: Any = space
        for part in name.split("."):
            found = getattr(found, part, None)
        if inspect.isroutine(found):
            return set(inspect.signature(found).parameters)
    return None


def told() -> list[tuple[str, str, str]]:
    """Where a message is, what it says to pass, and to what."""
    out: set[tuple[str, str, str]] = set()
    for s in SITES:
        name = getattr(s.call.func, "id", "")
        if name not in ("complaint", "fits") or len(s.call.args) < 4 + (name == "fits"):
            continue
        for text in texts(s.call.args[3 + (name == "fits")], s.inside):
            place = s.module.name.removeprefix("raggedarray.")
            for function, inside in CALL.findall(text):
                out |= {(place, word, function) for word in re.findall(r"(\w+)=", inside)}
            bare = BARE.findall(text) if name == "complaint" else [text.rstrip("=")] * text.endswith("=")
            named = re.findall(r"`ra\.([\w.]+)", text)
            for word in bare:  # `fits` is asked where a size was passed
                if any(word in (takes(function) or ()) for function in named):
                    continue
                op = s.call.args[0]
                of = ops(s, op, word if name == "fits" else None)
                found = of or (set() if ops(s, op, None) else {ast.unparse(op)})
                out |= {(place, word, function) for function in found}
    return sorted(out)


TOLD = told()


def test_messages_were_read() -> None:
    assert len(TOLD) > 100
    assert ("ops._block_moves", "capacity", "pad") in TOLD
    assert ("ops._buckets", "bucket", "linalg.solve") in TOLD


@pytest.mark.parametrize("place", sorted({p for p, _, _ in TOLD}))
def test_a_keyword_that_a_message_names_is_taken(place: str) -> None:
    wrong = []
    for _, word, op in (t for t in TOLD if t[0] == place):
        known = takes(op)
        if known is None or word not in known:
            wrong.append((op, word))
    assert wrong == []


@pytest.mark.parametrize(("pool", "want"), [("max", [5.0, 2.0]), ("avg", [3.0, 2.0])])
def test_a_pool_of_columns_takes_the_length_it_asks_for(pool: str, want: list[float]) -> None:
    x, f = ra.ragged([[1.0, 2.0], [5.0]]).to("jax"), getattr(ra.nn, f"global_{pool}_pool")
    with pytest.raises(ra.DynamicShapeError) as error:
        jax.jit(lambda x: f(x, axis=0))(x)
    assert str(error.value).endswith("expected a static length, got traced row lengths. Pass `length=`.")
    assert jax.jit(lambda x: f(x, axis=0, length=2))(x).tolist() == want
    assert f(x, axis=0).tolist() == want
