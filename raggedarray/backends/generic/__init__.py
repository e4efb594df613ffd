"""What ops need beside `Kernels`, written once: in the standard and those functions.

A backend may have its own of any, by the same name and signature; `implementation` finds it.
"""

from .attention import attention
from .components import component_function
from .ctc import ctc
from .generator import generator
from .products import bag, contract, einsum, embedding, grouped_matmul, linear
from .recurrence import linear_recurrence, recurrence, scan_rows
from .segments import scan_axis, segment_softmax, segment_sort, spread, take_runs
from .values import mask_gradient, once, pointwise, special, stop_gradient, strided

__all__ = [
    "attention",
    "bag",
    "component_function",
    "contract",
    "ctc",
    "einsum",
    "embedding",
    "generator",
    "grouped_matmul",
    "linear",
    "linear_recurrence",
    "mask_gradient",
    "once",
    "pointwise",
    "recurrence",
    "scan_axis",
    "scan_rows",
    "segment_softmax",
    "segment_sort",
    "special",
    "spread",
    "stop_gradient",
    "strided",
    "take_runs",
]
