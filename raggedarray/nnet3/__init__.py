"""Kaldi's nnet3: networks described by text, compiled to computations over indexed rows."""

from . import commands, components, descriptors
from ._batches import request_for
from ._computation import NnetComputation, compile
from ._indexes import ComputationRequest, format_indexes, parse_indexes
from ._network import Network
from ._normal import normal_form
from ._reference import run_reference
from ._text import params_from_text

__all__ = [
    "ComputationRequest",
    "Network",
    "NnetComputation",
    "commands",
    "compile",
    "components",
    "descriptors",
    "format_indexes",
    "normal_form",
    "params_from_text",
    "parse_indexes",
    "request_for",
    "run_reference",
]
