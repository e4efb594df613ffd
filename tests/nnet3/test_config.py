"""Config texts: lines, nodes, components, and what is said about mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from raggedarray import nnet3
from raggedarray.nnet3._lines import Keys, parse_lines, parse_pairs

from .networks import Case, networks

CASES = Path(__file__).parent / "cases"
ERRORS = json.loads((CASES / "errors.json").read_text())
CONTEXTS = {path.stem: json.loads(path.read_text()) for path in sorted((CASES / "contexts").iterdir())}

NETWORK = """\
input-node name=input dim=3
component name=affine type=AffineComponent input-dim=6 output-dim=4
component-node name=hidden component=affine input=Append(input, Offset(input, 1))
output-node name=output input=hidden
"""


def read(text: str, **options: Any) -> nnet3.Network:
    return nnet3.Network.from_config(text, **options)


def lines(*several: str) -> str:
    return "\n".join(several) + "\n"


def test_counts() -> None:
    assert (len(ERRORS), len(CONTEXTS)) == (33, 10)


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case["name"])
def test_errors(case: dict[str, Any]) -> None:
    def build() -> nnet3.Network:
        return read(case["config"], strict=case["strict"])

    def run() -> None:
        request = nnet3.ComputationRequest(case["request"]["inputs"], case["request"]["outputs"])
        nnet3.compile(net, request, strict=case["strict"])

    if case["stage"] == "compile":
        net = build()
    with pytest.raises(ValueError) as error:
        run() if case["stage"] == "compile" else build()
    for word in case["must_mention"]:
        assert word.lower() in str(error.value).lower()


@pytest.mark.parametrize("case", CONTEXTS.values(), ids=CONTEXTS)
def test_contexts(case: dict[str, Any]) -> None:
    net = read(case["config"])
    assert (net.left_context, net.right_context) == (case["left_context"], case["right_context"])
    assert net.modulus == case["modulus"]
    assert net.num_parameters == case["num_parameters"]
    again = read(net.to_config())
    assert again.to_config() == net.to_config()
    assert again.nodes == net.nodes


def test_context_needs_its_nodes() -> None:
    with pytest.raises(ValueError, match="context: expected a node called 'output', got nodes"):
        _ = read("input-node name=input dim=1\noutput-node name=y input=input").left_context
    with pytest.raises(ValueError, match="context: expected an output that can be computed from 400 frames of input"):
        _ = read(
            "input-node name=input dim=1\noutput-node name=output input=Sum(input, Offset(input, 900))"
        ).left_context


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            NETWORK.replace("dim=3", "dim=three", 1),
            "from_config: line 1, input-node 'input': expected an integer for 'dim', got dim=three. Write dim as an "
            "integer.",
        ),
        (
            NETWORK.replace("dim=3", "dim = 3", 1),
            "from_config: line 1: expected pairs key=value, got 'name=input dim = 3'. Write '= 3' as a name, =, a value, "
            "no blanks around =.",
        ),
        (
            NETWORK.replace("output-dim=4", "output-dim=4 bias=1"),
            "from_config: line 2, component 'affine': expected keys that mean something here, got bias=1. Keys read: ",
        ),
        (
            NETWORK.replace("input=hidden", "input=hiden"),
            "from_config: line 4, output-node 'output': expected the name of a node, got 'hiden'. Descriptors name input, "
            "component and dim-range nodes. Did you mean 'hidden'?",
        ),
        (
            NETWORK.replace("input=hidden", "input=hidden color=red"),
            "from_config: line 4, output-node 'output': expected keys that mean something here, got color=red. Keys read: "
            "input, name, objective.",
        ),
        (
            NETWORK.replace("component=affine", "component=afine"),
            "from_config: line 3, component-node 'hidden': expected the name of a component, got 'afine'. Did you mean "
            "'affine'?",
        ),
        (
            NETWORK.replace("input-dim=6", "input-dim=7"),
            "from_config: line 3, component-node 'hidden': expected an input of dim 7, as component 'affine' has, got dim "
            "6 from Append(input, Offset(input, 1)). Change the input or the component.",
        ),
        (
            NETWORK + "input-node name=hidden_input dim=1\n",
            "from_config: line 3, component-node 'hidden': expected no node named 'hidden_input', got line 5. This name is "
            "taken for the input of the node; rename one of them.",
        ),
        (
            NETWORK + "component name=affine type=NoOpComponent dim=1\n",
            "from_config: line 5, component 'affine': expected a new component name, got 'affine' a second time. Name each "
            "component once.",
        ),
        (
            NETWORK + "dim-range-node name=a input-node=input dim=1 dim-offset=0\n"
            "dim-range-node name=b input-node=a dim=1 dim-offset=0\n",
            "from_config: line 6, dim-range-node 'b': expected an input-node or component-node to take columns of, got "
            "'a'. Known names: hidden, input.",
        ),
        (
            NETWORK + "dim-range-node name=a input-node=input dim=1 dim-offset=-1\n",
            "from_config: line 5, dim-range-node 'a': expected dim-offset >= 0, got dim-offset=-1. Give dim-offset=0 or "
            "more.",
        ),
        (
            NETWORK + "name=x\n",
            "from_config: line 5: expected a line of component, component-node, input-node, output-node, dim-range-node, "
            "got ''. Start the line with one of these.",
        ),
        (
            "# nothing\n",
            "from_config: expected an input-node, got none among 0 nodes. Add an input-node line.",
        ),
        (
            NETWORK + "output-node name='x input=hidden\n",
            "from_config: line 5: expected a value in quotes for 'name', got \"'x input=hidden\". Close the quote before a "
            "blank.",
        ),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        read(text)
    assert str(error.value)[: len(message)] == message


def test_lines_in_any_order() -> None:
    net, turned = read(NETWORK), read(lines(*reversed(NETWORK.splitlines())))
    assert {str(node) for node in net.nodes} == {str(node) for node in turned.nodes}
    assert (turned.left_context, turned.right_context) == (0, 1)


def test_comments_blanks_and_line_ends() -> None:
    text = NETWORK.replace("\n", "  # a comment with = and 'quotes\r\n\r\n\t \r\n")
    assert read("\t# first\n" + text).to_config() == read(NETWORK).to_config()


def test_a_comment_starts_even_inside_quotes() -> None:
    with pytest.raises(ValueError, match="Close the quote"):
        read("input-node name='a#b' dim=1\n")


def test_values() -> None:
    assert parse_pairs("a=1 b=x y z c='1=2' d= e=\"q r\"").pairs == {
        "a": "1",
        "b": "x y z",
        "c": "1=2",
        "d": "",
        "e": "q r",
    }
    assert parse_pairs("dim=3 dim=4").pairs == {"dim": "3"}  # the first wins
    assert [line.number for line in parse_lines("\n\na-b c=1\n\nd e=2")] == [3, 5]


def test_a_quote_within_a_value_is_a_letter() -> None:
    assert parse_pairs("a=b'c d=").pairs == {"a": "b'c", "d": ""}


@pytest.mark.parametrize("text", ["=3", "a", "1a=2", "a=(b=c)", "a ='b'", "a='b'c=1"])
def test_lines_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="from_config: expected"):
        parse_pairs(text)


def test_typed_values() -> None:
    keys = Keys({"i": "+3", "r": "1e-2", "yes": "True", "no": "f", "list": "1:-2,3"}, "line 7")
    assert (keys.integer("i"), keys.real("r"), keys.boolean("yes"), keys.boolean("no")) == (3, 0.01, True, False)
    assert keys.integers("list") == (1, -2, 3)
    assert keys.integer("absent", 5) == 5
    assert keys.text("absent", None) is None
    keys.finish()
    for read_it, word in [
        (lambda: Keys({"i": "3.0"}).integer("i"), "i=3.0"),
        (lambda: Keys({"i": "1e1"}).integer("i"), "i=1e1"),
        (lambda: Keys({"r": "x"}).real("r"), "a number for 'r'"),
        (lambda: Keys({"b": "1"}).boolean("b"), "true or false for 'b'"),
        (lambda: Keys({"l": "1:2,3"}).integers("l", separators=","), "l=1:2,3"),
        (lambda: Keys({"i": "3"}, "line 7").integer("j"), "line 7: expected a key 'j'"),
        (lambda: Keys({"i": "3"}, "line 7").finish(), "got i=3"),
        (lambda: keys.integer("i", at_least=4), "line 7: expected i >= 4, got i=3"),
    ]:
        with pytest.raises(ValueError, match="from_config") as error:
            read_it()
        assert word in str(error.value)


def test_names_and_kinds() -> None:
    net = read(
        lines(
            "input-node name=Sum dim=2",  # an operator may be the name of a node
            "component name=shared type=NoOpComponent dim=2",
            "component-node name=shared component=shared input=Sum",  # nodes and components have names of their own
            "component-node name=b-1.x_ component=shared input=Offset(shared, -1)",
            "dim-range-node name=alias input-node=Sum dim-offset=0 dim=2",
            "output-node name=output input=Append(b-1.x_, Sum(Sum, Scale(-1, alias))) objective=quadratic",
        )
    )
    assert net.input_dims == {"Sum": 2}
    assert net.output_dims == {"output": 4}
    assert net.num_parameters == 0
    assert read(net.to_config()).nodes == net.nodes
    assert net.nodes[-1].objective == "quadratic"


def test_config_keeps_components() -> None:
    text = lines(
        "input-node name=input dim=2",
        "component name=c type=CompositeComponent num-components=1 component1='type=NoOpComponent dim=2'",
        "component-node name=c component=c input=input",
        "output-node name=output input=c",
    )
    net = read(text)
    assert "component1='type=NoOpComponent dim=2'" in net.to_config()
    assert read(net.to_config()).to_config() == net.to_config()


@settings(max_examples=30)
@given(networks())
def test_random_configs_and_back(case: Case) -> None:
    net = read(case.config)
    assert read(net.to_config()).nodes == net.nodes
    assert read(net.to_config()).to_config() == net.to_config()


def test_info() -> None:
    assert read(NETWORK + "component name=spare type=NoOpComponent dim=2\n").info().splitlines() == [
        "left-context: 0",
        "right-context: 1",
        "modulus: 1",
        "num-parameters: 28",
        "component 'spare' is not used",
        "input-node name=input dim=3",
        "component-node name=hidden component=affine input=Append(input, Offset(input, 1)) input-dim=6 output-dim=4",
        "output-node name=output input=hidden objective=linear dim=4",
        "component name=affine type=AffineComponent, input-dim=6, output-dim=4",
        "component name=spare type=NoOpComponent, input-dim=2, output-dim=2",
    ]


def test_info_without_context() -> None:
    assert read("input-node name=x dim=1\noutput-node name=y input=Round(x, 2)\n").info().splitlines() == [
        "modulus: 2",
        "num-parameters: 0",
        "input-node name=x dim=1",
        "output-node name=y input=Round(x, 2) objective=linear dim=1",
    ]


def test_strict_is_about_compiling_too() -> None:
    frames = nnet3.parse_indexes("[(0,0:3)]")
    for descriptor, word in [
        ("Sum(Scale(2, input), input)", "one scale for node 'input'"),
        ("Failover(Offset(input, -1), Const(1, 2))", "no constants inside IfDefined and Failover"),
        ("IfDefined(Const(1, 2))", "no constants inside IfDefined and Failover"),
    ]:
        net = read(lines("input-node name=input dim=2", f"output-node name=output input={descriptor}"), strict=True)
        request = nnet3.ComputationRequest({"input": frames}, {"output": frames})
        nnet3.compile(net, request)
        with pytest.raises(ValueError, match="leave out strict=True") as error:
            nnet3.compile(net, request, strict=True)
        assert word in str(error.value)
    net = read(lines("input-node name=input dim=2", "output-node name=output input=Failover(input, Const(0, 2))"))
    nnet3.compile(net, nnet3.ComputationRequest({"input": frames}, {"output": frames}), strict=True)
