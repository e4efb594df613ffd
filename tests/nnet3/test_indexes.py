"""Lists of Indexes, and requests."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import raggedarray as ra
from raggedarray import nnet3

LISTS = json.loads((Path(__file__).parent / "cases/parse_indexes.json").read_text())


def test_count() -> None:
    assert len(LISTS["cases"]) + len(LISTS["errors"]) == 13


@pytest.mark.parametrize("case", LISTS["cases"], ids=lambda case: case["text"])
def test_lists(case: dict[str, Any]) -> None:
    got = nnet3.parse_indexes(case["text"])
    assert got.dtype == np.int32
    assert got.shape == (len(case["indexes"]), 3)
    assert got.tolist() == case["indexes"]
    if "note" not in case:
        assert nnet3.format_indexes(got) == case["text"]


@pytest.mark.parametrize("text", [*LISTS["errors"], "[(0,1),]", "[(0,1) (0,2)]", "[(0,2:1)]", "[(0,1,2,3)]", "[(a,1)]"])
def test_malformed(text: str) -> None:
    with pytest.raises(ValueError, match=r"parse_indexes: expected a list of Indexes, got .* Write \[\(n,t\)"):
        nnet3.parse_indexes(text)


@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), max_size=12))
def test_text_and_back(rows: list[tuple[int, int, int]]) -> None:
    assert nnet3.parse_indexes(nnet3.format_indexes(rows)).tolist() == [list(row) for row in rows]


def test_extreme_indexes() -> None:
    rows = [[2**31 - 1, -(2**31), 0], [0, 2**31 - 1, -(2**31)]]
    assert nnet3.parse_indexes(nnet3.format_indexes(np.array(rows))).tolist() == rows


def test_request() -> None:
    rows = [[0, 1, 0], [0, 0, 0]]
    request = nnet3.ComputationRequest({"input": rows}, {"output": np.array(rows)})
    assert request.inputs["input"].dtype == np.int32
    assert str(request) == "input: [(0,1), (0,0)]\noutput: [(0,1), (0,0)]"
    assert nnet3.ComputationRequest({"input": []}, {"output": []}).inputs["input"].shape == (0, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ({"input": [[0, 3, 0], [0, 3, 0]]}, {"output": [[0, 0, 0]]}),
            "ComputationRequest: input: expected different Indexes, got (0,3) twice. List each Index once.",
        ),
        (
            ({"input": [[0, 3]]}, {"output": [[0, 0, 0]]}),
            "ComputationRequest: input: expected Indexes of shape [rows, 3], got shape (1, 2). Give int32 rows n, t, x.",
        ),
        (
            ({"input": [[0, 3, 0.5]]}, {"output": [[0, 0, 0]]}),
            "ComputationRequest: input: expected whole numbers, got dtype float64. Give int32 rows n, t, x.",
        ),
        (
            ({"input": [[0, 2**31, 0]]}, {"output": [[0, 0, 0]]}),
            "ComputationRequest: input: expected numbers of int32, got 2147483648. Give int32 rows n, t, x.",
        ),
        (
            ({"input": [[0, 3, 0]]}, {}),
            "ComputationRequest: expected an output, got no outputs. Name an output node and its Indexes.",
        ),
        (
            ({"input": [[0, 3, 0]]}, {"output": []}, ["input"]),
            "ComputationRequest: expected output_derivs with derivatives asked for, got none. Name the outputs whose "
            "derivatives will be given.",
        ),
        (
            ({"input": [[0, 3, 0]]}, {"output": []}, ["inputs"], ["output"]),
            "ComputationRequest: expected input_derivs among ['input'], got ['inputs']. Give them in inputs too.",
        ),
    ],
)
def test_request_messages(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError) as error:
        nnet3.ComputationRequest(*arguments)
    assert str(error.value) == message


def test_masked_indexes_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"^ComputationRequest: input: expected a plain array, got a masked one"):
        nnet3.ComputationRequest({"input": np.ma.array([[0, 3, 0]])}, {"output": [[0, 0, 0]]})


def batch() -> ra.RaggedArray:
    return ra.ragged([np.zeros((3, 2)), np.zeros((0, 2)), np.zeros((1, 2))], item_shape=(None, 2))


def test_request_for() -> None:
    request = nnet3.request_for(batch(), ivector=np.zeros((3, 5)))
    assert nnet3.format_indexes(request.inputs["input"]) == "[(0,0:2), (2,0)]"
    assert nnet3.format_indexes(request.inputs["ivector"]) == "[(0,0), (1,0), (2,0)]"
    assert nnet3.format_indexes(request.outputs["output"]) == "[(0,0:2), (2,0)]"


@pytest.mark.parametrize(("context", "expected"), [((1, 0), "[(0,1:2)]"), ((1, 1), "[(0,1)]"), ((2, 2), "[ ]")])
def test_request_with_context(context: tuple[int, int], expected: str) -> None:
    outputs = nnet3.request_for(batch(), context=context, outputs=["output", "xent"]).outputs
    assert [nnet3.format_indexes(rows) for rows in outputs.values()] == [expected, expected]
    assert list(outputs) == ["output", "xent"]


def test_request_waits_for_the_context() -> None:
    net = nnet3.Network.from_config(
        "input-node name=input dim=2\noutput-node name=output input=Sum(Offset(input, -1), Round(input, 2))\n"
    )
    request = nnet3.request_for(batch())
    assert (request.trim, nnet3.format_indexes(request.outputs["output"])) == (True, "[(0,0:2), (2,0)]")
    computation = nnet3.compile(net, request)
    assert (net.left_context, net.right_context) == (1, 0)
    assert nnet3.format_indexes(computation.request.outputs["output"]) == "[(0,1:2)]"
    with pytest.raises(ValueError, match=r"2 of 4 rows of output 'output' without what they need: \(0,0\), \(2,0\)"):
        nnet3.compile(net, nnet3.request_for(batch(), context=(0, 0)))


def test_request_ignores_slack() -> None:
    x = ra.testing.poison(ra.with_capacity(batch(), 9)).to("jax")
    assert nnet3.format_indexes(nnet3.request_for(x).inputs["input"]) == "[(0,0:2), (2,0)]"
    assert nnet3.request_for(x, outputs={"h": [[0, 1, 0]]}).outputs["h"].tolist() == [[0, 1, 0]]


def test_request_for_nothing() -> None:
    empty = ra.ragged([], item_shape=(None, 2))
    assert nnet3.format_indexes(nnet3.request_for(empty).outputs["output"]) == "[ ]"


def test_request_for_messages() -> None:
    with pytest.raises(ValueError, match=r"request_for: expected shape \(batch, None, dim\), got \(2, None\)"):
        nnet3.request_for(ra.ragged([[1.0], [2.0]]))
    with pytest.raises(
        ValueError, match=r"request_for: iv: expected a ragged batch or an array \[batch, dim\], got ndarray"
    ):
        nnet3.request_for(batch(), iv=np.zeros(3))
    with pytest.raises(ra.DynamicShapeError, match="Make a plan outside jit and pass plan="):
        jax.jit(nnet3.request_for)(batch().to("jax"))
