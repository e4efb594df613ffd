"""Descriptors: text, normal form, and what follows from it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from raggedarray import nnet3
from raggedarray.nnet3 import descriptors as d
from raggedarray.nnet3._normal import modulus, parts, width

FORMS = json.loads((Path(__file__).parent / "cases/normal_forms.json").read_text())
DIMS = FORMS["nodes"]


def network(text: str, *, strict: bool = False) -> nnet3.Network:
    nodes = "".join(f"input-node name={name} dim={dim}\n" for name, dim in DIMS.items())
    return nnet3.Network.from_config(f"{nodes}output-node name=output input={text}\n", strict=strict)


def written(net: nnet3.Network) -> str:
    line = net.to_config().splitlines()[-1]
    return line.partition(" input=")[2].removesuffix(" objective=linear")


def test_count() -> None:
    assert len(FORMS["cases"]) == 59


@pytest.mark.parametrize("case", [c for c in FORMS["cases"] if "error" in c], ids=lambda case: case["text"])
def test_forms_that_are_refused(case: dict[str, Any]) -> None:
    for strict in (False, True) if case["error"] == "always" else (True,):
        with pytest.raises(ValueError, match="line 5"):
            network(case["text"], strict=strict)


@pytest.mark.parametrize("case", [c for c in FORMS["cases"] if "error" not in c], ids=lambda case: case["text"])
def test_forms(case: dict[str, Any]) -> None:
    for strict in (False, True):
        net = network(case["text"], strict=strict)
        assert written(net) == case["normal"]
        assert net.modulus == case.get("modulus", net.modulus)
        assert nnet3.Network.from_config(net.to_config()).to_config() == net.to_config()
        assert len(parts(d.parse(case["text"]))) == case["parts"]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Switch(Sum(a,b),c)", "Switch(Sum(a, b), c)"),
        ("Scale(2, IfDefined(a))", "IfDefined(Scale(2, a))"),
        ("Scale(2, Failover(a, Sum(b, c)))", "Failover(Scale(2, a), Sum(Scale(2, b), Scale(2, c)))"),
        ("Scale(2, Switch(a, b))", "Switch(Scale(2, a), Scale(2, b))"),
        ("Scale(0.5, Const(3, 2))", "Const(1.5, 2)"),
        ("ReplaceIndex(Round(Offset(Const(1, 2), 1), 3), t, 0)", "Const(1, 2)"),
        ("Switch(Append(Sum(a, b), c), Append(c, d))", "Append(Switch(Sum(a, b), c), Switch(c, d))"),
    ],
)
def test_lifted_forms(text: str, normal: str) -> None:
    assert written(network(text)) == normal
    with pytest.raises(ValueError, match="leave out strict=True"):
        network(text, strict=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Round(Round(a, 2), 3)", 6),
        ("Offset(Switch(a, Round(b, 3)), 1)", 6),
        ("Sum(Switch(a, b), Switch(a, b, c))", 6),
        ("ReplaceIndex(Round(a, 5), t, 0)", 1),
        ("ReplaceIndex(Round(a, 5), x, 0)", 5),
        ("Append(a, IfDefined(Offset(a, 7)))", 1),
    ],
)
def test_modulus(text: str, expected: int) -> None:
    assert modulus(d.parse(text)) == expected


def test_width() -> None:
    dims = {"a": 2, "wide": 3}
    assert [width(part, dims) for part in parts(d.parse("Append(a, Switch(wide, wide), Const(1, 5))"))] == [2, 3, 5]
    with pytest.raises(ValueError) as error:
        width(d.parse("Sum(a, Offset(wide, 1))"), dims)
    assert str(error.value) == (
        "Sum(a, Offset(wide, 1)): expected arguments of Sum of one dim, got a of dim 2 and Offset(wide, 1) of dim 3. "
        "Give them the same dim."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Offset(a",
            "descriptor 'Offset(a': expected ',', got its end. Balance the parentheses and separate arguments by "
            "commas.",
        ),
        (
            "Round(a, 0)",
            "descriptor 'Round(a, 0)': expected an integer >= 1 in Round, got '0' after 'Round ( a ,'. Write it "
            "without point or exponent.",
        ),
        (
            "Round(a, -2)",
            "descriptor 'Round(a, -2)': expected an integer >= 1 in Round, got '-2' after 'Round ( a ,'. Write "
            "it without point or exponent.",
        ),
        (
            "Mean(a, b)",
            "descriptor 'Mean(a, b)': expected an operator before '(', got 'Mean'. Use one of Append, Sum, "
            "Failover, IfDefined, Offset, Switch, Round, ReplaceIndex, Scale, Const.",
        ),
        (
            "",
            "descriptor '': expected a node name or an operator, got its end. A name is a letter or _, then letters, "
            "digits or any of _.-.",
        ),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        d.parse(text)
    assert str(error.value) == message


def test_long_sums() -> None:
    net = network(f"Sum({', '.join(['a'] * 140)})")
    assert nnet3.Network.from_config(net.to_config()).to_config() == net.to_config()
    assert network(f"Append({', '.join(['a'] * 500)})").output_dims == {"output": 1000}
    for count, word in ((200, "at most 150 levels of operators, got 200 levels"), (2000, "not so deep")):
        with pytest.raises(ValueError, match=word):
            network(f"Sum({', '.join(['a'] * count)})")


def test_words_that_are_names() -> None:
    assert d.parse("Sum(Sum, Offset(Offset, 1))") == d.Sum((d.Node("Sum"), d.Offset(d.Node("Offset"), 1)))
    assert list(d.names(d.parse("Append(Sum, a.b-c_1, Sum)"))) == ["Sum", "a.b-c_1", "Sum"]


numbers = st.floats(-1e6, 1e6, allow_nan=False)
trees = st.recursive(
    st.sampled_from("abc").map(d.Node) | st.builds(d.Const, numbers, st.integers(1, 9)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda several: d.Append(tuple(several))),
        st.lists(inner, min_size=1, max_size=4).map(lambda several: d.Sum(tuple(several))),
        st.lists(inner, min_size=1, max_size=3).map(lambda several: d.Switch(tuple(several))),
        st.builds(d.Failover, inner, inner),
        st.builds(d.IfDefined, inner),
        st.builds(d.Offset, inner, st.integers(-9, 9), st.integers(-1, 1)),
        st.builds(d.Round, inner, st.integers(1, 9)),
        st.builds(d.ReplaceIndex, inner, st.sampled_from("tx"), st.integers(-9, 9)),
        st.builds(d.Scale, numbers, inner),
    ),
    max_leaves=8,
)


@given(trees)
def test_text_and_back(tree: d.Descriptor) -> None:
    assert d.parse(str(tree)) == tree


@given(trees)
def test_normal_form_is_settled(tree: d.Descriptor) -> None:
    try:
        normal = nnet3.normal_form(tree)
    except ValueError:
        reject()
    assert nnet3.normal_form(normal) == normal
    assert d.parse(str(normal)) == normal
    assert not any(isinstance(part, d.Append) for child in d.children(normal) for part in d.children(child))
