"""Advice that can be followed: a keyword that a message names is one that a function which can give it takes.

Messages are read from the source, and so is which public functions reach them: callers, and callers of those.
"""

import ast
import inspect
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jax
import pytest

import raggedarray as ra

PACKAGE = Path(ra.__file__).parent
BARE, CALL = re.compile(r"`(\w+)=[^`(]*`"), re.compile(r"`ra\.([\w.]+)\(([^`]*)\)`")


class Module:
    """A file, its functions and what its imports mean."""

    def __init__(self, path: Path) -> None:
        self.name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        self.tree = ast.parse(path.read_text())
        self.functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name].append(node)
        self.classes = {c.name: c for c in ast.walk(self.tree) if isinstance(c, ast.ClassDef)}
        self.methods = {
            id(f): c.name for c in self.classes.values() for f in ast.walk(c) if isinstance(f, ast.FunctionDef)
        }
        package = self.name.split(".")[:-1]
        self.imports: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
                self.imports |= {a.asname or a.name: (source, a.name) for a in node.names}

    def owner(self, name: str) -> tuple[str, str]:
        """Where a function of this name is defined."""
        return (
            (self.name, name) if name in self.functions or name in self.classes else self.imports.get(name, ("", name))
        )


class Site(NamedTuple):
    """A name that is called or handed on, and the function that it stands in."""

    module: Module
    inside: ast.FunctionDef
    name: str
    call: ast.Call | None


@cache
def sites() -> list[Site]:
    """Every one of the package; read when the first test asks, as all workers collect this file."""
    out: dict[int, Site] = {}
    for module in map(Module, sorted(PACKAGE.rglob("*.py"))):
        for functions in module.functions.values():
            for f in functions:  # of nested functions the outermost, whose parameters the others see
                calls = {id(n.func): n for n in ast.walk(f) if isinstance(n, ast.Call)}
                for node in ast.walk(f):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        out.setdefault(id(node), Site(module, f, node.id, calls.get(id(node))))
    return list(out.values())


@cache
def uses() -> dict[tuple[str, str], list[Site]]:
    """Where a function is defined, and its name -> where it is called or handed on."""
    out: dict[tuple[str, str], list[Site]] = defaultdict(list)
    for site in sites():
        out[site.module.owner(site.name)].append(site)
    return out


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


def callers(site: Site, keyword: str) -> set[str]:
    """Names of all functions that reach a site; where ``keyword`` is handed on, those that have it to hand."""
    start = (site.module.name, site.inside.name)
    seen, todo = {start}, [(start, site.inside)]
    while todo:
        key, f = todo.pop()
        made = (key[0], site.module.methods.get(id(f), "")) if key == start else ("", "")
        for use in (*uses()[key], *uses()[made]):  # a method runs where its class is made
            handed = use.call is not None and keyword in parameters(f) and argument(use.call, f, keyword)
            if handed is not None and getattr(handed, "value", 0) is not None:
                above = (use.module.name, use.inside.name)
                todo += [(above, use.inside)] * (above not in seen)
                seen.add(above)
    return {name for _, name in seen}


SPACES = {"": ra, "nn.": ra.nn, "linalg.": ra.linalg, "fft.": ra.fft, "random.": ra.random, "special.": ra.special}
PUBLIC: dict[str, set[str]] = {"make": set(inspect.signature(ra.BucketPlan.make).parameters)}
"""Name of a public function -> its parameters."""
for space in (*SPACES.values(), ra.RaggedArray):
    for public, value in vars(space).items():
        if inspect.isroutine(value) and not public.startswith("_"):
            PUBLIC.setdefault(public, set()).update(inspect.signature(value).parameters)


def takes(name: str) -> set[str]:
    """The parameters of a public function, by the name that messages give it."""
    return PUBLIC.get(name.rpartition(".")[2], set())


@cache
def told() -> list[tuple[str, str, tuple[str, ...]]]:
    """Where a message is, what it says to pass, and which public functions it may be told by."""
    out: set[tuple[str, str, tuple[str, ...]]] = set()
    for s in sites():
        at = {"error_text": 2, "check_capacity": 3}.get(s.name)
        if at is None or s.call is None or len(s.call.args) <= at:
            continue
        for text in texts(s.call.args[at], s.inside):
            place = s.module.name.removeprefix("raggedarray.")
            for function, inside in CALL.findall(text):
                out |= {(place, word, (function,)) for word in re.findall(r"(\w+)=", inside)}
            bare = BARE.findall(text) if s.name == "error_text" else [text.rstrip("=")] * text.endswith("=")
            functions = re.findall(r"`ra\.([\w.]+)", text)
            for word in bare:  # a capacity is checked where one was passed
                if not any(word in takes(function) for function in functions):
                    out.add((place, word, tuple(sorted(callers(s, word) & PUBLIC.keys()))))
    return sorted(out)


def test_messages_were_read() -> None:
    assert len(told()) > 40
    assert any(p == "engine.rearrange.blocks" and w == "capacity" and "pad" in f for p, w, f in told())
    assert any(p == "engine.components.buckets" and w == "bucket" and "solve" in f for p, w, f in told())


def test_a_keyword_that_a_message_names_is_taken() -> None:
    assert [(place, w, fs) for place, w, fs in told() if not any(w in takes(f) for f in fs)] == []


@pytest.mark.parametrize(("pool", "want"), [("max", [5.0, 2.0]), ("avg", [3.0, 2.0])])
def test_a_pool_of_columns_takes_the_length_it_asks_for(pool: str, want: list[float]) -> None:
    x, f = ra.ragged([[1.0, 2.0], [5.0]]).to("jax"), getattr(ra.nn, f"global_{pool}_pool")
    with pytest.raises(ra.DynamicShapeError) as error:
        jax.jit(lambda x: f(x, axis=0))(x)
    assert str(error.value).endswith("expected a static length, got traced row lengths. Pass `length=`.")
    assert jax.jit(lambda x: f(x, axis=0, length=2))(x).tolist() == want
    assert f(x, axis=0).tolist() == want
