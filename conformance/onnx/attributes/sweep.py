"""Sweeps over the attributes, optional inputs and opset versions of an operator, on the evaluators of ../cases/gen.py."""
import gzip
import io
import itertools
import os
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases"))

import numpy as np
from onnx import TensorProto, helper

import gen as base

base.rng = rng = np.random.Generator(np.random.PCG64(20240611))


def f32(*shape):
    """Random multiples of 1/256, which compress well, between -2 and 2."""
    return (rng.integers(-512, 513, shape) / 256).astype(np.float32)


def node(op, ins, outs="y", **attrs):
    """A node; the name - stands for an input or output that is absent."""
    absent = lambda names: ["" if n == "-" else n for n in names.split()]
    return helper.make_node(op, absent(ins), absent(outs), **attrs)


def ints(*v):
    return np.array(v, np.int64)


def add(name, nodes, feeds, inits=None, **kw):
    nodes = nodes if isinstance(nodes, list) else [nodes]
    read = set(helper.make_graph(nodes, "", [], []).node[0].input)
    for n in nodes:
        read |= set(n.input)
        for a in n.attribute:
            for b in a.g.node:
                read |= set(b.input)
    base.add(name, nodes, {k: v for k, v in feeds.items() if k in read}, {k: v for k, v in (inits or {}).items() if k in read}, **kw)


def sweep(name, op, opsets, ins, feeds, vary=None, inits=None, fixed=None, outs="y", same=(), **kw):
    """Adds the operator without attributes but the fixed ones for each list of inputs, and, with the first list, with each attribute at each of
    its values. same names those whose outputs are those of others by definition."""
    for opset in opsets if isinstance(opsets, tuple) else (opsets,):
        made = {}
        forms = [("default" if i == 0 else "inputs_" + x.replace(" ", "_").replace("-", "0"), x, {}) for i, x in enumerate(ins)]
        for k, values in (vary or {}).items():
            forms += [(f"{k}_{i}", ins[0], {k: v}) for i, v in enumerate(values)]
        for form, x, attrs in forms:
            full = f"{name}_{opset}_{form}"
            add(full, node(op, x, outs, **{**(fixed or {}), **attrs}), feeds, inits, opset=opset, **kw)
            if form in same or full not in base.cases:
                continue
            made[full] = [(v.dtype, v.shape, v.tobytes()) for v in base.cases[full][2].values()]
        for a, b in itertools.combinations(made, 2):
            if made[a] == made[b]:
                sys.exit(f"{a} and {b} have the same outputs")


def finish(path):
    """Writes the cases as a zip file compressed as a whole: they have much in common."""
    stored = io.BytesIO()
    base.write(stored, zipfile.ZIP_STORED)
    with open(path, "wb") as f:
        f.write(gzip.compress(stored.getvalue(), 9, mtime=0))
    print(f"{len(base.cases)} cases, {os.path.getsize(path)} bytes, expected values: {base.sources}")
