"""Which rows are computed, in which waves, and what is said about rows that cannot be."""

import time
from typing import Any

import numpy as np
import pytest

from raggedarray import nnet3

FRAMES = nnet3.parse_indexes("[(0,0:3)]")


def network(*lines: str, dim: int = 1) -> nnet3.Network:
    """A network with node ``input``, and a component ``same`` that changes nothing."""
    head = [f"input-node name=input dim={dim}", f"component name=same type=NoOpComponent dim={dim}"]
    return nnet3.Network.from_config("\n".join([*head, *lines]))


def output(descriptor: str, *lines: str, dim: int = 1) -> nnet3.Network:
    return network(*lines, f"output-node name=output input={descriptor}", dim=dim)


def run(net: nnet3.Network, inputs: Any, outputs: Any, values: Any, params: Any = None, **options: Any) -> np.ndarray:
    input_rows, output_rows = ({name: np.asarray(rows)} for name, rows in (("input", inputs), ("output", outputs)))
    computation = nnet3.compile(net, nnet3.ComputationRequest(input_rows, output_rows), **options)
    got: np.ndarray = nnet3.run_reference(computation, params or {}, {"input": np.asarray(values, np.float32)})[
        "output"
    ]
    return got


def waves(net: nnet3.Network, inputs: Any, outputs: Any, node: str) -> list[str]:
    """The rows of a node, wave by wave."""
    layers = nnet3.compile(net, nnet3.ComputationRequest({"input": inputs}, {"output": outputs})).program.layers
    (layer,) = (layer for layer in layers if layer.name == node)
    return [nnet3.format_indexes(layer.indexes[a:b]) for a, b in zip(layer.waves[:-1], layer.waves[1:], strict=True)]


@pytest.mark.parametrize(
    ("descriptor", "expected"),
    [
        ("Round(Offset(input, 1), 3)", [1, 1, 1, 4, 4, 4]),  # operators map the Index from the outside in
        ("Offset(Round(input, 3), 1)", [0, 0, 3, 3, 3, 6]),
        ("Offset(ReplaceIndex(input, t, 2), 5)", [2, 2, 2, 2, 2, 2]),
        ("ReplaceIndex(Offset(input, 5), t, 1)", [6, 6, 6, 6, 6, 6]),
        ("Switch(input, Offset(input, 1), Offset(input, 2))", [0, 2, 4, 3, 5, 7]),
        ("Offset(Switch(input, Scale(-1, input)), 1)", [-1, 2, -3, 4, -5, 6]),
        ("Switch(Switch(input, Scale(10, input)), Const(9, 1))", [0, 9, 2, 9, 4, 9]),
        ("Sum(input, input)", [0, 2, 4, 6, 8, 10]),
        ("Sum(Scale(2, input), input)", [0, 3, 6, 9, 12, 15]),
        ("IfDefined(Sum(Offset(input, -3), input))", [0, 0, 0, 3, 5, 7]),  # all or nothing
        ("Failover(Offset(input, -4), Const(-1, 1))", [-1, -1, -1, -1, 0, 1]),
        ("Sum(Offset(Const(1, 1), 7), IfDefined(Offset(input, 99)))", [1, 1, 1, 1, 1, 1]),
    ],
)
def test_meaning(descriptor: str, expected: list[int]) -> None:
    rows = nnet3.parse_indexes("[(0,0:9)]")
    assert run(output(descriptor), rows, rows[:6], np.arange(10)[:, None])[:, 0].tolist() == expected


def test_negative_t() -> None:
    rows = nnet3.parse_indexes("[(0,-6:2)]")
    net = output("Append(Round(input, 3), Switch(input, Scale(0, input)))")
    got = run(net, rows, rows, rows[:, 1:2])
    assert got[:, 0].tolist() == [-6, -6, -6, -3, -3, -3, 0, 0, 0]
    assert got[:, 1].tolist() == [-6, 0, -4, 0, -2, 0, 0, 0, 2]


def test_x() -> None:
    rows = np.array([[0, 0, x] for x in range(-2, 3)])
    net = output("Append(IfDefined(Offset(input, 0, -1)), ReplaceIndex(input, x, 2))")
    assert run(net, rows, rows, rows[:, 2:]).tolist() == [[0, 2], [-2, 2], [-1, 2], [0, 2], [1, 2]]


def test_x_on_the_way() -> None:
    """Operators may pass an x, or a t, that no row has."""
    rows = np.array([[0, t, x] for t in range(-4, 4) for x in (0, 1)])
    net = output(
        "Append(Offset(ReplaceIndex(input, x, 0), 1, -5), Offset(Round(Offset(input, 0, 7), 2), 0, -7), "
        "Offset(Switch(Offset(input, 0, 9), Const(5, 1)), 0, -9), Offset(ReplaceIndex(input, t, 1), 99, 0))"
    )
    got = run(net, rows, rows[2:-2], 10 * rows[:, 1:2] + rows[:, 2:])
    for (_, t, x), row in zip(rows[2:-2].tolist(), got.tolist(), strict=True):
        assert row == [10 * (t + 1), 10 * (t - t % 2) + x, 5 if t % 2 else 10 * t + x, 10 + x]


RECURRENCE = "component-node name=a component=same input=Sum(input, IfDefined(Offset(a, {})))"


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        ("-1", ["[(0,0), (1,5)]", "[(0,1), (1,6)]", "[(0,2)]", "[(0,3)]"]),
        ("-3", ["[(0,0:2), (1,5:6)]", "[(0,3)]"]),  # three frames a wave
        ("2", ["[(0,2:3), (1,5:6)]", "[(0,0:1)]"]),
        ("7", ["[(0,0:3), (1,5:6)]"]),
    ],
)
def test_waves(offset: str, expected: list[str]) -> None:
    rows = nnet3.parse_indexes("[(0,0:3), (1,5:6)]")
    net = output("a", RECURRENCE.format(offset))
    assert waves(net, rows, rows, "a") == expected
    total = {tuple(row): 1.0 for row in rows.tolist()}
    step = int(offset)
    for n, t, x in sorted(total, key=lambda row: row[1], reverse=step > 0):
        total[n, t, x] += total.get((n, t + step, x), 0)
    assert run(net, rows, rows, np.ones((6, 1)))[:, 0].tolist() == list(total.values())


def test_waves_over_x() -> None:
    rows = np.array([[0, 0, x] for x in range(4)])
    net = output("a", "component-node name=a component=same input=Sum(input, IfDefined(Offset(a, 0, -1)))")
    assert len(waves(net, rows, rows, "a")) == 4
    assert run(net, rows, rows, np.ones((4, 1)))[:, 0].tolist() == [1, 2, 3, 4]


def test_a_loop_of_two_offsets_is_not_split_further() -> None:
    """What reads two frames back through another node that reads one back goes three frames a wave."""
    net = output(
        "b",
        "component-node name=a component=same input=Sum(input, IfDefined(Offset(b, -2)))",
        "component-node name=b component=same input=Offset(a, -1)",
    )
    rows = nnet3.parse_indexes("[(0,0:9)]")
    assert [len(w) for w in (waves(net, rows, rows[1:], "a"), waves(net, rows, rows[1:], "b"))] == [3, 3]


def test_a_cycle_of_nodes_that_is_none_of_rows() -> None:
    net = output(
        "Append(a, b)",
        "component-node name=a component=same input=Switch(input, b)",
        "component-node name=b component=same input=Switch(a, Sum(input, input))",
    )
    assert run(net, FRAMES, FRAMES, np.ones((4, 1))).tolist() == [[1, 1], [2, 2], [1, 1], [2, 2]]


@pytest.mark.parametrize("optimize", [False, True])
def test_taps_within_a_recurrence(optimize: bool) -> None:
    net = output(
        "a",
        "component name=t type=TdnnComponent input-dim=2 output-dim=1 time-offsets=-1,0 use-bias=false",
        "component-node name=t component=t input=Append(input, IfDefined(Offset(a, -2)))",
        "component-node name=a component=same input=t",
    )
    inputs, outputs = nnet3.parse_indexes("[(0,0:9), (1,2:7)]"), nnet3.parse_indexes("[(0,1:9), (1,3:7)]")
    weights = np.array([[0.5, 0.25, 1, 1]], np.float32)

    def expected(values: np.ndarray) -> list[float]:
        x = {tuple(row): float(v) for row, v in zip(inputs.tolist(), values[:, 0], strict=True)}
        known: dict[Any, float] = {}

        def row(n: int, t: int) -> float:
            if (n, t) not in known:
                known[n, t] = sum(
                    float(w[0]) * x[n, s, 0] + float(w[1]) * (row(n, s - 2) if (n, s - 3, 0) in x else 0)
                    for w, s in zip(weights.reshape(2, 2), (t - 1, t), strict=True)
                )
            return known[n, t]

        return [row(n, t) for n, t, _ in outputs.tolist()]

    values = np.arange(16, dtype=np.float32)[:, None]
    request = nnet3.ComputationRequest({"input": inputs}, {"output": outputs}, ["input"], ["output"], True)
    computation = nnet3.compile(net, request, optimize=optimize)
    params = {"t": {"linear_params": weights}}
    ones = {"output": np.ones((len(outputs), 1), np.float32)}
    got, derivs, grads = nnet3.run_reference(computation, params, {"input": values}, output_derivs=ones)
    np.testing.assert_allclose(got["output"][:, 0], expected(values), rtol=1e-6)
    for k in range(16):  # linear in the input: differences are exact
        shifted = sum(expected(values + (np.arange(16) == k)[:, None])) - sum(expected(values))
        np.testing.assert_allclose(derivs["input"][k, 0], shifted, rtol=1e-5)
    assert grads["t"]["linear_params"].shape == (1, 4)


@pytest.mark.parametrize("optimize", [False, True])
def test_windows_within_a_recurrence(optimize: bool) -> None:
    """A node that reads how many frames of itself the last period had, and their sum."""
    net = output(
        "h",
        "component name=a type=AffineComponent input-dim=3 output-dim=1",
        "component-node name=h component=a input=Append(input, IfDefined(Offset(p, -3)))",
        "component name=p type=StatisticsExtractionComponent input-dim=1 output-period=3 include-variance=false",
        "component-node name=p component=p input=h",
    )
    rows = nnet3.parse_indexes("[(0,-2:8), (1,1:4), (1,7:9)]")
    values = np.arange(18.0)[:, None] % 5
    x = {(n, t): float(v) for (n, t, _), v in zip(rows.tolist(), values[:, 0], strict=True)}

    def h(n: int, t: int) -> float:
        start = t - 3 - (t - 3) % 3
        before = [h(n, s) for s in range(start, start + 3) if (n, s) in x]
        return x[n, t] + 0.5 * len(before) + 0.25 * sum(before) + 1

    params = {"a": {"linear_params": np.array([[1, 0.5, 0.25]]), "bias_params": np.ones(1)}}
    got = run(net, rows, rows, values, params, optimize=optimize)
    np.testing.assert_allclose(got[:, 0], [h(n, t) for n, t, _ in rows.tolist()], rtol=1e-6)


def test_given_rows_may_be_anything() -> None:
    """Rows in any order, far apart, with gaps and surplus; an input that nothing reads; no rows at all."""
    net = nnet3.Network.from_config(
        "input-node name=input dim=1\ninput-node name=spare dim=2\ninput-node name=lost dim=1\n"
        "output-node name=output input=Sum(input, IfDefined(Offset(input, 1)))\n"
        "output-node name=other input=lost\n"
    )
    rows = np.array([[7, 2**31 - 1, 0], [7, -(2**31), 0], [-5, 0, 2**20], [-5, 1, 2**20], [2**31 - 1, 3, -9]])
    request = nnet3.ComputationRequest({"input": rows, "spare": FRAMES}, {"output": rows[[3, 0, 2]]})
    computation = nnet3.compile(net, request)
    values = {"input": np.array([[1.0], [2], [3], [4], [5]]), "spare": np.zeros((4, 2))}
    assert nnet3.run_reference(computation, {}, values)["output"].tolist() == [[4], [1], [7]]
    nothing = np.zeros((0, 3), int)
    for frames in (nothing, FRAMES):
        empty = nnet3.compile(net, nnet3.ComputationRequest({"input": frames}, {"output": nothing}))
        got = nnet3.run_reference(empty, {}, {"input": np.zeros((len(frames), 1))})
        assert got["output"].shape == (0, 1)


def test_a_gap_ends_a_recurrence() -> None:
    rows = np.array([[0, 0, 0], [0, 1, 0], [0, 5, 0], [0, 6, 0]])
    net = output("a", RECURRENCE.format(-1))
    assert run(net, rows, rows, np.ones((4, 1)))[:, 0].tolist() == [1, 2, 1, 2]


def test_short_sequences_drop_out() -> None:
    rows = nnet3.parse_indexes("[(0,0:2), (1,0), (2,0:1)]")
    assert waves(output("a", RECURRENCE.format(-1)), rows, rows, "a") == [
        "[(0,0), (1,0), (2,0)]",
        "[(0,1), (2,1)]",
        "[(0,2)]",
    ]


def test_only_what_is_used_is_computed() -> None:
    lines = [f"component-node name={name} component=same input=input" for name in "abc"]
    net = output("Append(Failover(a, b), IfDefined(Offset(c, -2)))", *lines)
    request = nnet3.ComputationRequest({"input": FRAMES}, {"output": FRAMES})
    layers = {layer.name: nnet3.format_indexes(layer.indexes) for layer in nnet3.compile(net, request).program.layers}
    assert (layers["a"], layers["b"], layers["c"]) == ("[(0,0:3)]", "[ ]", "[(0,0:1)]")


def test_structure_depends_on_names_only() -> None:
    """Layers, terms and their order are those of the network, whatever the rows are."""
    net = output("Append(Failover(a, Offset(a, 3)), Sum(input, Const(1, 1)))", RECURRENCE.format(-1))

    def shape(rows: Any) -> Any:
        program = nnet3.compile(net, nnet3.ComputationRequest({"input": rows}, {"output": rows})).program
        parts = [
            [(p.width, p.constant is None, [t.source for t in p.terms]) for p in layer.parts]
            for layer in program.layers
        ]
        return [layer.name for layer in program.layers], parts, program.epochs

    assert shape(FRAMES) == shape(FRAMES[:1]) == shape(FRAMES[:0]) == shape(nnet3.parse_indexes("[(3,1:9), (2,0)]"))


@pytest.mark.parametrize(
    ("net", "outputs", "message"),
    [
        (
            output("Append(Offset(input, -2), Offset(input, 1))"),
            FRAMES,
            "compile: expected outputs that can be computed, got 3 of 4 rows of output 'output' without what they need: "
            "(0,0:1), (0,3). Missing: input 'input' lacks (0,-2:-1), (0,4). Give more input or ask for fewer outputs: the "
            "network needs a left context of 2 and a right context of 1 frames.",
        ),
        (
            output("Sum(a, Offset(a, -1))", RECURRENCE.format(-1)),
            FRAMES[:1],
            "compile: expected outputs that can be computed, got 1 of 1 rows of output 'output' without what they need: "
            "(0,0). Missing: input 'input' lacks (0,-1). Give more input or ask for fewer outputs: the network needs a left "
            "context of 1 and a right context of 0 frames.",
        ),
        (
            output("a", "component-node name=a component=same input=Sum(input, Offset(a, 1))"),
            FRAMES,
            "compile: expected outputs that can be computed, got 4 of 4 rows of output 'output' without what they need: "
            "(0,0:3). Missing: a recurrence through 'a_input', 'a' that has no start at these frames. Make what a "
            "recurrence reads of itself optional with IfDefined.",
        ),
        (
            output("a", "component-node name=a component=same input=Sum(input, IfDefined(a))"),
            FRAMES,
            "compile: expected nodes that can be put in an order, got a cycle at one frame, or in both directions of "
            "time, through 'a_input', 'a'. Let each recurrence go one way in time, or split the node.",
        ),
        (
            output(
                "a",
                "component-node name=a component=same input=Sum(ReplaceIndex(input, t, 0), IfDefined(Offset(a, 1)))",
            ),
            FRAMES,
            "compile: expected recurrences that start somewhere, got one without end through nodes 'a_input', 'a'. Let it "
            "read an input at its own t, so that it ends where the input does.",
        ),
        (
            output(
                "p",
                "component name=p type=StatisticsPoolingComponent input-dim=3 input-period=2 left-context=2 right-context=2",
                "component-node name=p component=p input=input",
                dim=3,
            ),
            FRAMES,
            "compile: expected rows of 'p' asked for at multiples of t = 2, got t = 1. Read it through Round(..., 2).",
        ),
    ],
)
def test_messages(net: nnet3.Network, outputs: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:
        nnet3.compile(net, nnet3.ComputationRequest({"input": FRAMES}, {"output": outputs}))
    assert str(error.value) == message


def test_long_lists_are_cut_in_messages() -> None:
    rows = np.array([[0, 3 * t, 0] for t in range(20)])
    with pytest.raises(
        ValueError, match=r"\(0,27\) and 10 more runs\. Missing: .* lacks \(0,1\), .* and 10 more runs\."
    ):
        nnet3.compile(output("Offset(input, 1)"), nnet3.ComputationRequest({"input": rows}, {"output": rows}))


def test_names_in_requests() -> None:
    net = output("input")
    for inputs, outputs, message in [
        (
            {"in": FRAMES},
            {"output": FRAMES},
            "compile: expected names of input nodes in inputs, got 'in'. The network has input.",
        ),
        (
            {"input": FRAMES},
            {"input": FRAMES},
            "compile: expected names of output nodes in outputs, got 'input'. The network has output.",
        ),
    ]:
        with pytest.raises(ValueError) as error:
            nnet3.compile(net, nnet3.ComputationRequest(inputs, outputs))
        assert str(error.value) == message


def test_a_component_is_no_input() -> None:
    """Kaldi accepts a component node as input of a request, and then breaks."""
    net = output("a", RECURRENCE.format(-1))
    with pytest.raises(ValueError, match="expected names of input nodes in inputs, got 'a'"):
        nnet3.compile(net, nnet3.ComputationRequest({"a": FRAMES}, {"output": FRAMES}))


def test_a_scale_whose_optional_partner_is_missing() -> None:
    """Kaldi aborts if no row of the step has the optional term."""
    net = output("Sum(Scale(0.5, input), IfDefined(Offset(input, -1)))")
    assert run(net, FRAMES, FRAMES[:1], [[1], [2], [3], [4]]).tolist() == [[0.5]]


def test_strict_does_not_conclude_from_where_the_input_ends() -> None:
    net = output("a", "component-node name=a component=same input=Failover(Offset(a, -1), input)")
    assert run(net, FRAMES, FRAMES, [[1], [2], [3], [4]])[:, 0].tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="recurrences that start somewhere"):
        run(net, FRAMES, FRAMES, [[1], [2], [3], [4]], strict=True)
    guarded = output("a", RECURRENCE.format(-1))
    assert run(guarded, FRAMES, FRAMES, [[1], [2], [3], [4]], strict=True)[:, 0].tolist() == [1, 3, 6, 10]


def test_a_wide_recurrence_is_refused() -> None:
    rows = np.array([[0, 0, 0], [0, 2 * 10**9, 0]])
    with pytest.raises(ValueError, match="expected a recurrence over at most 67108864 rows, got 2000000001"):
        nnet3.compile(output("a", RECURRENCE.format(-1)), nnet3.ComputationRequest({"input": rows}, {"output": rows}))


@pytest.mark.parametrize(
    ("kind", "frames"),
    [
        (
            "StatisticsExtractionComponent input-dim=1 input-period=2 output-period=6",
            lambda t: range(t - t % 6, t - t % 6 + 6, 2),
        ),
        (
            "StatisticsPoolingComponent input-dim=3 input-period=3 left-context=6 right-context=9999",
            lambda t: range(t - 6, t + 10**4, 3),
        ),
    ],
)
def test_windows(kind: str, frames: Any) -> None:
    """Rows that a window reads, with gaps and other starts; a window without any row does not exist."""
    dim = 3 if "Pooling" in kind else 1
    net = output("p", f"component name=p type={kind}", "component-node name=p component=p input=input", dim=dim)
    inputs = [(n, t, x) for n, t, x in np.ndindex(2, 40, 2) if (7 * t + n) % 5 < 3 and t > 10 * n + 5]
    inputs = [(n + 1, t - 20, x) for n, t, x in inputs]
    outputs = [(n, t, x) for n in (1, 2) for t in range(-27, 40, 3) for x in (0, 1)]
    reads = {i: [(i[0], t, i[2]) for t in frames(i[1]) if (i[0], t, i[2]) in set(inputs)] for i in outputs}
    exist = [i for i in outputs if reads[i]]
    assert 0 < len(exist) < len(outputs)
    program = nnet3.compile(net, nnet3.ComputationRequest({"input": inputs}, {"output": exist})).program
    layers = {layer.name: layer for layer in program.layers}
    rows, splits = layers["p"].window or ((), ())
    for index, a, b in zip(layers["p"].indexes.tolist(), splits[:-1], splits[1:], strict=True):
        got = [tuple(layers["p_input"].indexes[r].tolist()) for r in rows[a:b]]
        assert sorted(got) == sorted(reads[tuple(index)])
    for index in set(outputs) - set(exist):
        with pytest.raises(ValueError, match="1 of 1 rows"):
            nnet3.compile(net, nnet3.ComputationRequest({"input": inputs}, {"output": [index]}))


def test_context_is_measured() -> None:
    """Sums of offsets are wrong with Round, and optional frames do not count."""
    net = output("Append(Offset(Round(Offset(a, -1), 4), 2), IfDefined(Offset(a, 9)))", RECURRENCE.format(-5))
    assert (net.left_context, net.right_context, net.modulus) == (2, 1, 4)


def ragged_frames(count: int, mean: int) -> Any:
    lengths = np.random.default_rng(0).integers(mean // 2, 3 * mean // 2, count)
    n = np.repeat(np.arange(count), lengths)
    t = np.arange(len(n)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.stack([n, t, 0 * t], axis=1)


def test_time_is_linear_in_frames() -> None:
    """Eight times the frames take less than 20 times as long, far below what a loop over rows or pairs takes."""
    lines = [
        f"component-node name=h{k} component=same input=Sum(Offset({previous}, -1), IfDefined(Offset({previous}, 1)))"
        for k, previous in enumerate(["input", *(f"h{k}" for k in range(15))])
    ]
    net = output("h15", *lines)

    def seconds(frames: int) -> float:
        rows = ragged_frames(16, frames)
        request = nnet3.ComputationRequest({"input": rows}, {"output": rows}, trim=True)
        times = []
        for _ in range(3):
            start = time.process_time()
            _ = nnet3.compile(net, request).program
            times.append(time.process_time() - start)
        return min(times)

    seconds(50)
    short, long = seconds(400), seconds(3200)
    assert long < 20 * short
    assert long < 1.0
