"""What 0.1 pickled, and where it imported from, before modules moved."""

import copy
import importlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import raggedarray as ra
from raggedarray._moved import MOVED

PICKLED = Path(__file__).parent / "data" / "pickled_by_0_1_0.pkl"


def test_pickles_load() -> None:
    loaded = pickle.loads(PICKLED.read_bytes())
    assert loaded["rows"].tolist() == [[1.0, 2.0], [], [3.0]]
    assert [c.shape for c in ra.unbind(loaded["blocks"])] == [(2, 3), (1, 4)]
    assert loaded["nested"].tolist() == [[[1, 2], [3]], [], [[4]]]
    assert type(loaded["plan"]) is ra.BucketPlan
    assert loaded["plan"] == ra.BucketPlan.make(loaded["blocks"], loaded["blocks"])
    assert [type(p) for p in loaded["partitions"]] == [ra.RowPartition, ra.RowPartition]
    assert np.asarray(loaded["slogdet"].sign).tolist() == [1.0, 1.0]
    assert type(loaded["unique"]) is type(ra.unique_all(loaded["nested"]))


def test_pickled_functions_load() -> None:
    functions = pickle.loads(PICKLED.read_bytes())["functions"]
    names = [f.__name__ for f in functions]
    assert names == ["sum", "softmax", "det", "rfft", "normal", "erf", "matmul", "eval_legendre"]
    x = ra.ragged([[1.0, 2.0], [3.0]])
    assert functions[0](x, axis=1).tolist() == [3.0, 3.0]
    assert ra.allclose(functions[1](x), ra.nn.softmax(x))


def test_copies() -> None:
    loaded = pickle.loads(PICKLED.read_bytes())
    assert ra.array_equal(copy.deepcopy(loaded["rows"]), loaded["rows"])
    assert copy.deepcopy(ra.nn.softmax) is ra.nn.softmax


@pytest.mark.parametrize("former", sorted(MOVED))
def test_former_modules_import(former: str) -> None:
    present = importlib.import_module(MOVED[former])
    assert importlib.import_module(former) is present
    assert present.__spec__ is not None
    assert present.__spec__.name == MOVED[former]
