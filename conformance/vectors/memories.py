#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/svdf.json: small cases with results of a model in NumPy.

usage: pip install numpy; python memories.py <repository>
"""
import numpy as np

from numpy_common import add, f32, write


def model(x, features, time, bias, state, rank):
    x, features, time, state = (np.asarray(a, np.float64) for a in (x, features, time, state))
    batch, (filters, steps) = x.shape[0], time.shape
    old = state.reshape(batch, filters, steps)
    kept = np.concatenate([old[:, :, :-1], (x @ features.T)[:, :, None]], axis=2)
    y = np.einsum("bfm,fm->bf", kept, time).reshape(batch, filters // rank, rank).sum(axis=2)
    if bias is not None:
        y = y + bias
    after = np.concatenate([kept[:, :, 1:], np.zeros((batch, filters, 1))], axis=2)
    return y, after.reshape(batch, filters * steps)


def svdf():
    def case(name, batch, inputs, units, rank, steps, bias=True, dtype=np.float32):
        filters = units * rank
        x, features, time = f32(batch, inputs), f32(filters, inputs), f32(filters, steps)
        b, state = f32(units) if bias else None, f32(batch, filters * steps)
        ins = [None if a is None else a.astype(dtype) for a in (x, features, time, b, state)]
        y, after = model(*ins, rank)
        add("svdf", "svdf", name, {"Rank": rank}, ins, [y.astype(dtype), after.astype(dtype)])

    case("one of each", 1, 1, 1, 1, 1)
    case("rank 1", 2, 3, 4, 1, 5)
    case("rank 2", 2, 3, 4, 2, 10)
    case("rank 3, no bias", 3, 7, 2, 3, 4, bias=False)
    case("one step", 2, 3, 2, 2, 1)
    case("float16", 2, 3, 2, 2, 3, dtype=np.float16)
    case("float64", 2, 5, 3, 2, 3, dtype=np.float64)


if __name__ == "__main__":
    svdf()
    write()
