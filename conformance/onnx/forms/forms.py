"""What the lists of this folder share: cases as those of ../cases/gen.py, whose evaluators run every node as it stands.

ONNX Runtime computes nodes one by one here: its own rewriting of graphs is what these cases shall not depend on. Where
a formula in NumPy is given, the evaluators that are not left out have to agree with it."""

import glob
import gzip
import io
import itertools
import os
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases"))

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import gen as base

problems = []
rng = np.random.Generator(np.random.PCG64(20240704))


def f32(*shape):
    """Random multiples of 1/16 between -2 and 2, of which sums of some thousand products are exact in float32."""
    return (rng.integers(-32, 33, shape) / 16).astype(np.float32)


def whole(*shape, most=3):
    """Random integers."""
    return rng.integers(-most, most + 1, shape).astype(np.float32)


def ints(*v):
    return np.array(v, np.int64)


def node(op, ins, outs="y", **attrs):
    """A node; the name - stands for an input or output that is absent."""
    absent = lambda names: ["" if n == "-" else n for n in names.split()]
    return helper.make_node(op, absent(ins), absent(outs), **attrs)


def names(nodes):
    """What nodes and their bodies read."""
    for n in nodes:
        yield from n.input
        for a in n.attribute:
            yield from names(a.g.node)
            yield from (o.name for o in a.g.output)


def one_by_one(model, feeds):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def add(
    name,
    nodes,
    feeds,
    inits=None,
    opset=17,
    outs="",
    want=None,
    runtime=True,
    reference=True,
    functions=(),
    inner=(),
    rtol=1e-4,
    atol=1e-5,
):
    """Adds a case with the feeds and constants that nodes read. Outputs are outs, or what the last node makes; inner are the types of other
    values."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    read = (set(names(nodes)) | set(outs.split())) - {o for n in nodes for o in n.output}
    feeds = {k: np.asarray(v) for k, v in feeds.items() if k in read}
    inits = {k: np.asarray(v) for k, v in (inits or {}).items() if k in read and k not in feeds}
    outs = outs.split() or [o for o in nodes[-1].output if o]
    imports = [helper.make_opsetid("", opset)] + [
        helper.make_opsetid(d, 1) for d in sorted({f.domain for f in functions} | {n.domain for n in nodes} - {""})
    ]
    inputs = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()
    ]

    def build(types):
        g = helper.make_graph(
            nodes,
            name,
            inputs,
            [helper.make_tensor_value_info(o, t, None) for o, t in zip(outs, types)],
            [numpy_helper.from_array(v, k) for k, v in inits.items()],
            value_info=list(inner),
        )
        return helper.make_model(
            g, opset_imports=imports, ir_version=10, functions=list(functions), producer_name="gen.py"
        )

    if want is not None:
        want = [np.asarray(w) for w in (want if isinstance(want, list) else [want])]
        types = [helper.np_dtype_to_tensor_dtype(w.dtype) for w in want]
    else:
        blank = build([TensorProto.UNDEFINED] * len(outs))
        for o in blank.graph.output:
            o.ClearField("type")
        inferred = {v.name: v.type.tensor_type.elem_type for v in onnx.shape_inference.infer_shapes(blank).graph.output}
        types = [inferred.get(o) or TensorProto.FLOAT for o in outs]
    model = build(types)
    found = [] if want is None else [("formula", want)]
    for use, kind, run in (
        (runtime, "onnxruntime", one_by_one),
        (reference, "reference", lambda m, f: ReferenceEvaluator(m).run(None, f)),
    ):
        try:
            found += [(kind, [np.asarray(v) for v in run(model, feeds)])] if use else []
        except Exception as e:
            problem = e
    if not found:
        problems.append(f"{name}: neither evaluator computes it: {problem}")
        return
    for kind, values in found[1:]:
        for o, x, y in zip(outs, found[0][1], values):
            if (
                x.dtype != y.dtype
                or x.shape != y.shape
                or not np.allclose(x.astype(np.float64), y.astype(np.float64), rtol, atol, equal_nan=True)
            ):
                problems.append(f"{name}: {found[0][0]} and {kind} disagree about {o}, of {x.shape} and {y.shape}")
    if name in base.cases:
        problems.append(f"{name} twice")
    source = " and ".join(k for k, _ in found)
    base.sources[source] = base.sources.get(source, 0) + 1
    base.cases[name] = (model, feeds, dict(zip(outs, found[0][1])))


def several(name, made, feeds, inits=None, **kw):
    """Adds a case of nodes that each make an output of their own: made are functions of the output's name."""
    outs = [f"y{i}" for i in range(len(made))]
    nodes = []
    for o, f in zip(outs, made):
        n = f(o)
        nodes += n if isinstance(n, list) else [n]
    add(name, nodes, feeds, inits, outs=" ".join(outs), **kw)


def refused(name, nodes, feeds, inits, opset=20):
    """Adds a model that no importer may take: a case without inputs and outputs."""
    read = set(names(nodes))
    feeds = {k: v for k, v in feeds.items() if k in read}
    inputs = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()
    ]
    outs = [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)]
    consts = [numpy_helper.from_array(np.asarray(v), k) for k, v in inits.items() if k in read]
    g = helper.make_graph(nodes, name, inputs, outs, consts)
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in sorted({n.domain for n in nodes} - {""})]
    model = helper.make_model(g, opset_imports=imports, ir_version=10, producer_name="gen.py")
    base.cases[f"refused_{name}"] = (model, {}, {})


batches = []


def follow():
    """What is added from now on follows all before it in the file, so that only the last parts change."""
    batches.append(sorted(set(base.cases).difference(*batches)))


PART = 4 << 20  # bytes of the zip file in each part


def finish(path):
    """Writes the cases as a zip file compressed as a whole, as they have much in common: its parts are path.0.gz,
    path.1.gz and so on, each below a megabyte, which together are one gzip file."""
    if problems:
        sys.exit("\n".join(problems))
    stored = io.BytesIO()
    follow()
    base.write(stored, zipfile.ZIP_STORED, itertools.chain(*batches))
    data, size = stored.getvalue(), 0
    for old in glob.glob(path + ".*.gz"):
        os.remove(old)
    for n, at in enumerate(range(0, len(data), PART)):
        part = gzip.compress(data[at:at + PART], 9, mtime=0)
        size += len(part)
        with open(f"{path}.{n}.gz", "wb") as f:
            f.write(part)
    print(f"{len(base.cases)} cases, {size} bytes, expected values: {base.sources}")
