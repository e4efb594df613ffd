"""Public names are exported, documented with an example that runs, and have an oracle or a test of their own."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import raggedarray as ra

from . import oracle

ROOTS = (ra.ops, ra.linalg, ra.fft, ra.nn, ra.random, ra.special)
FAMILIES = [
    module
    for root in ROOTS
    for m in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
    if not m.ispkg and hasattr(module := importlib.import_module(m.name), "__all__")
]
_NOT_ELEMENTWISE = """
    ops.array.capacity ops.array.comparison ops.array.components ops.creation.assembling ops.array.blocks
    ops.array.conversion ops.creation.dense_creation ops.array.dtypes fft._standard linalg._standard
    ops.functions.plans linalg._decompositions linalg._einsum ops.functions.components linalg._products
    random._sampling ops.array.shapes ops.creation.creation ops.indexing.gathering ops.indexing.indexing
    ops.indexing.masking ops.sorting.scan ops.sorting.sets ops.sorting.sorting ops.reduction.statistics
    ops.manipulation.rows ops.manipulation.joining ops.manipulation.merging ops.manipulation.rearranging
    ops.manipulation.repeating ops.manipulation.reshaping nn._bags nn._batch_norm nn._convolution nn._ctc
    nn._dropout nn._interpolation nn._losses nn._pooling nn._attention nn._positions nn._recurrent
    special._polynomials ops.manipulation.splitting ops.indexing.updating ops.creation.nesting
    ops.functions.autodiff
"""
NOT_ELEMENTWISE = {f"raggedarray.{name}" for name in _NOT_ELEMENTWISE.split()}
"""Families whose functions are not of single elements or groups: they have test files of their own."""
SHARED = {
    "as_block", "as_rows", "at_get", "at_update", "flat_only", "is_contiguous", "pack_values",
    "check_rows", "finished", "need_reduction", "packed", "parse_subscripts", "reduced",
    "entries_at", "getitem", "host_namespace", "host_partitions", "levels", "longest_row", "merge_rows", "need_kind",
    "plain", "reduce", "rows_at", "rows_below", "rows_of", "total", "used_entries",
}  # fmt: skip
"""Functions that sibling families use."""
OWN_TESTS = {
    "searchsorted", "aligned", "astype", "map_values", "nn_linear", "nn_embedding", "nn_logsumexp",
    "nn_attention", "nn_rotary", "nn_sinusoidal",
    "nn_gru", "nn_linear_recurrence", "nn_lstm", "nn_rnn", "nn_scan",
    "frexp", "nn_threshold", "special_multigammaln", "special_polygamma",
    *(f"special_{name}" for name in ra.special.__all__ if name.startswith("eval_")),
}  # fmt: skip
OWN_TESTS |= {
    "nn_binary_cross_entropy", "nn_cross_entropy", "nn_huber_loss", "nn_kl_div",
    "nn_mse_loss", "nn_ctc_loss", "nn_conv1d", "nn_max_pool",
    "nn_avg_pool", "nn_global_max_pool", "nn_global_avg_pool", "nn_interpolate",
    "nn_embedding_bag", "nn_one_hot", "nn_dropout", "nn_batch_norm",
}  # fmt: skip


def prefix(module: ModuleType) -> str:
    package = module.__name__.split(".")[1]
    return f"{package}_" if package in ("nn", "special") else ""


@pytest.mark.parametrize("module", FAMILIES, ids=lambda m: m.__name__)
def test_all_is_complete(module: ModuleType) -> None:
    public = {
        name
        for name, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__ and not name.startswith("_")
    }
    assert public - SHARED <= set(module.__all__)
    package = importlib.import_module(module.__name__.rsplit(".", 1)[0])
    assert set(module.__all__) <= set(package.__all__) or package is ra.linalg  # whose products are in the namespace
    namespace = package if package in ROOTS[2:] or module.__name__.endswith("_standard") else ra
    assert all(hasattr(namespace, name) or hasattr(ra.linalg, name) for name in module.__all__)


@pytest.mark.parametrize("module", FAMILIES, ids=lambda m: m.__name__)
def test_docstrings_have_examples(module: ModuleType) -> None:
    for name in module.__all__:
        doc = inspect.getdoc(getattr(module, name)) or ""
        if inspect.isfunction(getattr(module, name)) and name not in ("checks",):
            assert ">>>" in doc, f"{name}: add an example"
        if not callable(getattr(module, name)):  # constants and dtypes
            continue
        assert doc.split("\n")[0].endswith((".", "``.")), f"{name}: end the first line with a full stop"


@pytest.mark.parametrize("module", [m for m in FAMILIES if m.__name__ not in NOT_ELEMENTWISE], ids=lambda m: m.__name__)
def test_oracles_exist(module: ModuleType) -> None:
    names = {prefix(module) + name for name in module.__all__ if inspect.isfunction(getattr(module, name))}
    assert {n for n in names - OWN_TESTS if not hasattr(oracle, n)} == set(), "add a line to oracle.py"


def test_package_all() -> None:
    assert len(ra.__all__) == len(set(ra.__all__))
    assert all(hasattr(ra, name) for name in ra.__all__)
