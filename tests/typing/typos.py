"""What users write by mistake: a type checker refuses every line that ends in ``# refused``, and no other."""

# ruff: noqa: B018

import numpy as np

import raggedarray as ra
from raggedarray import RaggedArray


def names(x: RaggedArray) -> None:
    ra.sofmax(x)  # refused
    ra.sumation(x)  # refused
    ra.nn.atention(x, x, x)  # refused
    ra.nn.softmx(x)  # refused
    ra.linalg.inverse(x)  # refused
    ra.random.gaussian(np.random.default_rng(), x)  # refused
    ra.fft.ftt(x)  # refused
    ra.nnet3.Netwrok  # refused
    ra.complaint  # refused


def attributes(x: RaggedArray) -> None:
    x.valuess  # refused
    x.row_length()  # refused
    x.mean()  # refused
    x.T  # refused
    (x + 1).shap  # refused
    ra.exp(x).valuess  # refused
    ra.nn.relu(x[1:]).nrow  # refused
    x.at[0].sett(1.0)  # refused
    x.to_numpy()  # refused


def arguments(x: RaggedArray) -> None:
    ra.softplus  # refused
    ra.sum(x, axs=1)  # refused
    ra.sort(x, descend=True)  # refused
    ra.exp(x, out=x)  # refused
    ra.exp("text")  # refused
    ra.exp([1.0, 2.0])  # refused
    ra.add(x)  # refused
    ra.add("text", x)  # refused
    ra.nn.softmax(x, dim=1)  # refused
    ra.nn.embedding(x)  # refused
    ra.nn.dropout(x, 0.5)  # refused
    ra.nn.batch_norm(x, train=True)  # refused
    ra.cumulative_sum(x, exclusive=True)  # refused
    ra.ragged([[1.0]], dytpe="float32")  # refused
    x[1:].astype()  # refused


def loss(weight: np.ndarray, x: RaggedArray) -> float:
    return float(ra.sum(ra.nn.linear(x, weight)))


def wrappers(x: RaggedArray) -> None:
    ra.grad(loss)(x, x)  # refused
    ra.value_and_grad(loss)(np.ones(2))  # refused
    ra.checked(loss)(np.ones(2), y=x)  # refused
    ra.testing.count_traces(loss)(x)  # refused
    ra.array_equal(ra.grad(loss)(np.ones(2), x), x)
