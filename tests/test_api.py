"""Public names are exported, documented with an example that runs, and have an oracle or a test of their own."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import raggedarray as ra
from raggedarray import ops

from . import oracle

FAMILIES = [
    importlib.import_module(m.name)
    for m in pkgutil.walk_packages(ops.__path__, "raggedarray.ops.")
    if not m.name.rsplit(".", 1)[1].startswith("_")
]
NOT_ELEMENTWISE = {
    "raggedarray.ops.capacity", "raggedarray.ops.comparison", "raggedarray.ops.components",
    "raggedarray.ops.assembling", "raggedarray.ops.blocks", "raggedarray.ops.conversion",
    "raggedarray.ops.dense_creation", "raggedarray.ops.dtypes", "raggedarray.ops.fft", "raggedarray.ops.linalg",
    "raggedarray.ops.bucket_plan", "raggedarray.ops.decompositions", "raggedarray.ops.einsum",
    "raggedarray.ops.map_components",
    "raggedarray.ops.linear_algebra", "raggedarray.ops.random", "raggedarray.ops.shapes",
    "raggedarray.ops.creation", "raggedarray.ops.gathering", "raggedarray.ops.indexing", "raggedarray.ops.masking",
    "raggedarray.ops.scan", "raggedarray.ops.sets", "raggedarray.ops.sorting", "raggedarray.ops.statistics",
    "raggedarray.ops.rows", "raggedarray.ops.joining", "raggedarray.ops.merging", "raggedarray.ops.rearranging",
    "raggedarray.ops.repeating", "raggedarray.ops.reshaping",
    "raggedarray.ops.nn.bags", "raggedarray.ops.nn.batch_norm", "raggedarray.ops.nn.convolution",
    "raggedarray.ops.nn.ctc", "raggedarray.ops.nn.dropout", "raggedarray.ops.nn.interpolation",
    "raggedarray.ops.nn.losses", "raggedarray.ops.nn.pooling",
    "raggedarray.ops.nn.attention", "raggedarray.ops.nn.positions",
    "raggedarray.ops.nn.recurrent", "raggedarray.ops.polynomials", "raggedarray.ops.splitting",
    "raggedarray.ops.updating", "raggedarray.ops.nesting", "raggedarray.ops.transforms",
}  # fmt: skip
"""Families whose functions are not of single elements or groups: they have test files of their own."""
SHARED = {
    "as_block", "as_rows", "at_get", "at_update", "flat_only", "is_contiguous", "pack_values",
    "finished", "need_reduction", "packed", "reduced",
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
    if ".nn" in module.__name__:
        return "nn_"
    return "special_" if module.__name__.endswith(("special", "polynomials")) else ""


@pytest.mark.parametrize("module", FAMILIES, ids=lambda m: m.__name__)
def test_all_is_complete(module: ModuleType) -> None:
    public = {
        name
        for name, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__ and not name.startswith("_")
    }
    assert public - SHARED <= set(module.__all__)
    own = (ra.special, ra.linalg, ra.fft, ra.random)
    namespace = {"nn_": ra.nn, "special_": ra.special}.get(prefix(module), module if module in own else ra)
    namespace = ra.linalg if module.__name__.endswith("decompositions") else namespace
    assert all(hasattr(namespace, name) for name in module.__all__)


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
