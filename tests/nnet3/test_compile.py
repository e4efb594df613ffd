"""What the compiler decides, against known plans and against recursion over single rows."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from raggedarray import nnet3

from .networks import Case, networks
from .oracle import Oracle
from .symbolic import ONE, Symbolic

PLANS = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "cases/plans").iterdir())}


def plain(case: dict[str, Any]) -> nnet3.NnetComputation:
    net = nnet3.Network.from_config(case["config"])
    request = nnet3.ComputationRequest(case["request"]["inputs"], case["request"]["outputs"])
    return nnet3.compile(net, request, optimize=False)


def sums(rows: list[dict[str, Any]]) -> dict[tuple[int, ...], list[dict[Any, float]]]:
    """Rows of a known step as sums of symbols."""
    out = {}
    for row in rows:
        columns: list[dict[Any, float]] = []
        for block in row["blocks"]:
            first, last = block["columns"]
            for c in range(last - first + 1):
                element = {ONE: block["constant"]} if block.get("constant") else {}
                for term in block.get("terms", []):
                    symbol = (term["node"], tuple(term["index"]), term["columns"][0] + c)
                    element[symbol] = element.get(symbol, 0) + term["scale"]
                columns.append(element)
        out[tuple(row["index"])] = columns
    return out


def test_count() -> None:
    assert len(PLANS) == 4


@pytest.mark.parametrize("case", PLANS.values(), ids=PLANS)
def test_plans(case: dict[str, Any]) -> None:
    text = Symbolic(str(plain(case)))
    got = sorted((node, text.sizes[m], sorted(rows)) for m, (node, rows) in text.rows.items())
    assert got == sorted(
        (m["node"], (m["rows"], m["cols"]), sorted(map(tuple, m["indexes"]))) for m in case["matrices"]
    )
    assert sorted(text.printed.values()) == sorted(m["printed"] for m in case["matrices"])
    steps = list(case["steps"])
    for component, matrix, block in text.inputs:
        node, rows = text.rows[matrix]
        step = next(s for s in steps if s["kind"] == "component" and s["node"] == node and same(s["indexes"], rows))
        assert step["component"] == component
        steps.remove(step)
        inside = next(s for s in steps if s["node"] == f"{node}_input" and same([r["index"] for r in s["rows"]], rows))
        steps.remove(inside)
        assert dict(zip(rows, block, strict=True)) == sums(inside["rows"])
    for name, block in text.outputs.items():
        step = next(s for s in steps if s["kind"] == "output" and s["node"] == name)
        steps.remove(step)
        assert dict(zip(map(tuple, case["request"]["outputs"][name]), block, strict=True)) == sums(step["rows"])
    assert {s["kind"] for s in steps} == {"input"}


def same(a: list[Any], b: list[Any]) -> bool:
    return sorted(map(tuple, a)) == sorted(map(tuple, b))


@pytest.mark.parametrize("case", PLANS.values(), ids=PLANS)
def test_commands_of_plans(case: dict[str, Any]) -> None:
    """The same commands, up to their order and the numbers of matrices."""
    kinds = {"accept_input": "AcceptInput", "alloc": "Alloc", "set_const": "SetConst", "add_rows": "AddRows"}
    kinds |= {"add_rows_multi": "AddRowsMulti", "matrix_add": "MatrixAdd", "propagate": "Propagate", "no_op": "NoOp"}
    kinds |= {"provide_output": "ProvideOutput", "segment": "NoOp", "dealloc": "Dealloc"}
    expected = sorted(kinds[command["op"]] for command in case["commands"])
    assert sorted(type(command).__name__ for command in plain(case).commands) == expected


RECURRENT = PLANS["rnn_ragged_plan"]


def test_printed() -> None:
    assert str(plain(PLANS["round_plan"])).splitlines() == [
        "matrix m1(12, 3), m2(4, 3), m3(4, 4), m4(9, 4)",
        "# Which rows of which node each matrix holds: (n,t,x), or (n,first:last) for a run of t.",
        "m1 == value: input[(0,-6:5)]",
        "m2 == value: a_input[(0,-6), (0,-3), (0,0), (0,3)]",
        "m3 == value: a[(0,-6), (0,-3), (0,0), (0,3)]",
        "m4 == value: output[(0,-4:4)]",
        "# begin forward commands",
        "c0: m1 = user input [for node: 'input']",
        "c1: m2 = undefined(4,3)",
        "c2: m2.set(0) [dim = 4 x 3];",
        "c3: m3 = undefined(4,4)",
        "c4: m3.set(0) [dim = 4 x 4];",
        "c5: m4 = undefined(9,4)",
        "c6: m4.set(0) [dim = 9 x 4];",
        "c7: [no-op-permanent]",
        "c8: m2.AddRows(1, m1[0, 3, 6, 9])",
        "c9: a.Propagate(NULL, m2, &m3)",
        "c10: m4.AddRows(1, m3[0, 1, 1, 1, 2x3, 3, 3])",
        "c11: output m4 to user [for node: 'output']",
        "c12: # computation segment separator [e.g., begin backward commands]",
        "c13: m1 = []",
        "c14: m2 = []",
        "c15: m3 = []",
    ]


def test_printed_backward() -> None:
    net = nnet3.Network.from_config(RECURRENT["config"])
    request = RECURRENT["request"]
    both = nnet3.ComputationRequest(request["inputs"], request["outputs"], ["input"], ["output"], True)
    text = str(nnet3.compile(net, both, optimize=False)).splitlines()
    start = next(k for k, line in enumerate(text) if "separator" in line)
    assert [line.partition(": ")[2] for line in text[start + 1 : start + 21]] == [
        "m32 = user input [for node: 'output']",
        "m30.AddRows(1, m32[0, 3, 1, 2])",
        "out.Backprop(NULL, m27, [], m30, [component-pointer], &m28)",
        "m28.AddToRowsMulti(1, [m10(0,:),m10(1,:),m18(0,:),m26(0,:)])",
        "nl.Backprop(NULL, [], m25, m26, NULL, &m24)",
        "m6.AddRows(1, m24[-1x3, 0])",
        "m22 += m24",
        "rec.Backprop(NULL, m19, [], m22, [component-pointer], &m20)",
        "m18 += m20",
        "nl.Backprop(NULL, [], m17, m18, NULL, &m16)",
        "m6.AddRows(1, m16[-1, -1, 0, -1])",
        "m14 += m16",
        "rec.Backprop(NULL, m11, [], m14, [component-pointer], &m12)",
        "m10.AddRows(1, m12[0, -1])",
        "nl.Backprop(NULL, [], m9, m10, NULL, &m8)",
        "m6.AddRows(1, m8[0, 1, -1, -1])",
        "affine1.Backprop(NULL, m3, [], m6, [component-pointer], &m4)",
        "m2.AddRows(1, m4(0:3, 0:2)[0, 2, 3, -1, 1, -1])",
        "m2.AddRows(1, m4(0:3, 3:5)[-1, 0, 2, 3, -1, 1])",
        "output m2 to user [for node: 'input']",
    ]


def test_printed_optimised() -> None:
    net = nnet3.Network.from_config(RECURRENT["config"])
    text = str(nnet3.compile(net, nnet3.ComputationRequest(**RECURRENT["request"]))).splitlines()
    start = next(k for k, line in enumerate(text) if line.startswith("c0"))
    assert [line.partition(": ")[2] for line in text[start:]] == [
        "m1 = user input [for node: 'input']",
        "[no-op-permanent]",
        "m2 = undefined(4,6)",
        "m2(0:3, 0:2).CopyRows(1, m1[0, 4, 1, 2])",
        "m2(0:3, 3:5).CopyRows(1, m1[1, 5, 2, 3])",
        "m1 = []",
        "m3 = undefined(4,4)",
        "affine1.Propagate(NULL, m2, &m3)",
        "m2 = []",
        "nl.Propagate(NULL, m3(0:1, 0:3), &m3(0:1, 0:3))",
        "m4 = undefined(1,4)",
        "rec.Propagate(NULL, m3(0:0, 0:3), &m4)",
        "m3(2:2, 0:3) += m4",
        "m4 = []",
        "nl.Propagate(NULL, m3(2:2, 0:3), &m3(2:2, 0:3))",
        "m5 = undefined(1,4)",
        "rec.Propagate(NULL, m3(2:2, 0:3), &m5)",
        "m3(3:3, 0:3) += m5",
        "m5 = []",
        "nl.Propagate(NULL, m3(3:3, 0:3), &m3(3:3, 0:3))",
        "m6 = undefined(4,2)",
        "out.Propagate(NULL, m3, &m6)",
        "m3 = []",
        "m7 = undefined(4,2)",
        "m7.CopyRows(1, m6[0, 2, 3, 1])",
        "m6 = []",
        "output m7 to user [for node: 'output']",
        "# computation segment separator [e.g., begin backward commands]",
    ]


def test_printed_graph() -> None:
    """The rows that are computed, and what each reads."""
    assert str(plain(RECURRENT).program).splitlines() == [
        "[ input(0,-1) ] [ input(0,0) ] [ input(0,1) ] [ input(0,2) ] [ input(1,-1) ] [ input(1,0) ]",
        "[ affine1_input(0,0) -> input(0,-1), input(0,0) ] [ affine1_input(1,0) -> input(1,-1), input(1,0) ] "
        "[ affine1_input(0,1) -> input(0,0), input(0,1) ] [ affine1_input(0,2) -> input(0,1), input(0,2) ]",
        "[ affine1(0,0) -> affine1_input(0,0) ] [ affine1(1,0) -> affine1_input(1,0) ] "
        "[ affine1(0,1) -> affine1_input(0,1) ] [ affine1(0,2) -> affine1_input(0,2) ]",
        "[ rec_input(0,1) -> nl(0,0) ] [ rec_input(0,2) -> nl(0,1) ]",
        "[ rec(0,1) -> rec_input(0,1) ] [ rec(0,2) -> rec_input(0,2) ]",
        "[ nl_input(0,0) -> affine1(0,0) ] [ nl_input(1,0) -> affine1(1,0) ] "
        "[ nl_input(0,1) -> affine1(0,1), rec(0,1) ] [ nl_input(0,2) -> affine1(0,2), rec(0,2) ]",
        "[ nl(0,0) -> nl_input(0,0) ] [ nl(1,0) -> nl_input(1,0) ] [ nl(0,1) -> nl_input(0,1) ] [ nl(0,2) -> nl_input(0,2) ]",
        "[ out_input(0,0) -> nl(0,0) ] [ out_input(1,0) -> nl(1,0) ] [ out_input(0,1) -> nl(0,1) ] [ out_input(0,2) -> nl(0,2) ]",
        "[ out(0,0) -> out_input(0,0) ] [ out(1,0) -> out_input(1,0) ] [ out(0,1) -> out_input(0,1) ] [ out(0,2) -> out_input(0,2) ]",
        "[ output(0,0) -> out(0,0) ] [ output(0,1) -> out(0,1) ] [ output(0,2) -> out(0,2) ] [ output(1,0) -> out(1,0) ]",
    ]


def test_printed_graph_is_cut() -> None:
    net = nnet3.Network.from_config(
        "input-node name=input dim=1\ncomponent name=c type=StatisticsExtractionComponent input-dim=1 output-period=9\n"
        "component-node name=c component=c input=input\noutput-node name=output input=c\n"
    )
    frames = nnet3.parse_indexes("[(0,0:59)]")
    program = nnet3.compile(net, nnet3.ComputationRequest({"input": frames}, {"output": frames[:1]})).program
    first, _, third, _ = str(program).splitlines()
    assert first.endswith("[ input(0,49) ] ...")
    assert third == "[ c(0,0) -> c_input(0,0), c_input(0,1), c_input(0,2), c_input(0,3), c_input(0,4), ... ]"


def test_long_lines_are_whole() -> None:
    net = nnet3.Network.from_config("input-node name=input dim=1\noutput-node name=output input=Offset(input, 1)\n")
    rows = np.stack([np.arange(400) % 3, np.arange(400), 0 * np.arange(400)], axis=1)
    computation = nnet3.compile(net, nnet3.ComputationRequest({"input": rows + np.array([0, 1, 0])}, {"output": rows}))
    assert nnet3.format_indexes(rows) in str(computation)
    assert "..." not in str(computation)


VALUES = {
    path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "cases/values").iterdir())
}


def test_strict_refuses_what_kaldi_cannot_read() -> None:
    with pytest.raises(ValueError, match="leave out strict=True"):
        nnet3.Network.from_config(VALUES["lifted_scale_const"]["config"], strict=True)


@pytest.mark.parametrize("name", [name for name in VALUES if name != "lifted_scale_const"])
def test_strict_accepts_what_kaldi_ran(name: str) -> None:
    case = VALUES[name]
    request = nnet3.ComputationRequest(case["request"]["inputs"], case["request"]["outputs"])
    strict = nnet3.compile(nnet3.Network.from_config(case["config"], strict=True), request, strict=True)
    assert str(strict.program) == str(nnet3.compile(nnet3.Network.from_config(case["config"]), request).program)


def run(case: Case, *, optimize: bool, derivs: bool = False) -> Any:
    net = nnet3.Network.from_config(case.config)
    asked = (list(case.inputs), list(case.outputs), True) if derivs else ()
    computation = nnet3.compile(net, nnet3.ComputationRequest(case.inputs, case.outputs, *asked), optimize=optimize)
    weights = {name: np.full((len(rows), net.output_dims[name]), 0.5) for name, rows in case.outputs.items()}
    options = {"output_derivs": weights} if derivs else {}
    return computation, nnet3.run_reference(computation, case.params, case.values, **options)


@settings(max_examples=100)
@given(networks())
def test_against_single_rows(case: Case) -> None:
    assume(case.outputs)
    given_rows = {
        name: dict(zip(map(tuple, rows.tolist()), case.values[name], strict=True)) for name, rows in case.inputs.items()
    }
    oracle = Oracle(case.config, given_rows, case.params)
    computation, got = run(case, optimize=False)
    for name, rows in case.outputs.items():
        expected = np.array([oracle.value(name, tuple(row)) for row in rows.tolist()])
        np.testing.assert_allclose(got[name], expected, rtol=1e-3, atol=1e-3)
    shorter, again = run(case, optimize=True)
    assert len(shorter.commands) <= len(computation.commands)
    for name in got:
        np.testing.assert_allclose(again[name], got[name], rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(networks())
def test_optimised_derivatives(case: Case) -> None:
    assume(case.outputs)
    (_, a), (_, b) = (run(case, optimize=optimize, derivs=True) for optimize in (False, True))
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4), a, b)


@settings(max_examples=40)
@given(networks(), st.integers(-6, 12))
def test_refuses_what_is_not_computable(case: Case, t: int) -> None:
    net = nnet3.Network.from_config(case.config)
    given_rows = {name: dict.fromkeys(map(tuple, rows.tolist())) for name, rows in case.inputs.items()}
    oracle = Oracle(case.config, given_rows, case.params)
    index = (int(case.inputs["ivector"][0, 0]), t, 0)
    for name in net.output_dims:
        request = nnet3.ComputationRequest(case.inputs, {name: [index]})
        if oracle.computable(name, index):
            nnet3.compile(net, request)
        else:
            with pytest.raises(ValueError, match=f"1 of 1 rows of output '{name}' without what they need"):
                nnet3.compile(net, request)


@settings(max_examples=25)
@given(networks())
def test_matrices_say_what_they_hold(case: Case) -> None:
    """In a plain computation a matrix is one thing; together the matrices are all rows of the program, each once."""
    assume(case.outputs)
    net = nnet3.Network.from_config(case.config)
    computation = nnet3.compile(net, nnet3.ComputationRequest(case.inputs, case.outputs), optimize=False)
    layers = {layer.name: layer for layer in computation.program.layers}
    rows_held: dict[str, list[tuple[int, ...]]] = {name: [] for name in layers}
    for matrix in computation.matrices:
        assert len(matrix.held) == 1
        assert (len(matrix.indexes), matrix.cols) == (matrix.rows, layers[matrix.node].dim)
        rows_held[matrix.node] += map(tuple, matrix.indexes.tolist())
    for name, rows in rows_held.items():
        assert len(set(rows)) == len(rows)
        assert sorted(rows) == sorted(map(tuple, layers[name].indexes.tolist()))
    optimised = nnet3.compile(net, nnet3.ComputationRequest(case.inputs, case.outputs))
    for matrix in optimised.matrices:
        for held in matrix.held:
            assert len(held.indexes) == held.rows[1] - held.rows[0]
            assert 0 <= held.rows[0] <= held.rows[1] <= matrix.rows
            assert 0 <= held.columns[0] < held.columns[1] <= matrix.cols
            rows = set(map(tuple, layers[held.node].indexes.tolist()))
            assert set(map(tuple, held.indexes.tolist())) <= rows
