"""Makes random graphs of up to 30 nodes with inputs and expected outputs, as JSON lines for the converter of this folder's parent.

usage: python random_graphs.py COUNT > graphs.jsonl      (then: go run ./conformance/cmd/conformance generate graphs conformance/graphs/cases < graphs.jsonl)

With MODELS.zip as a second argument the ONNX models are written too, without the elements of their constants, which the lines have:
conformance/graphs/models.zip is that of the first 150 graphs.

Every graph is built twice at once: as operators of this project (names and fields of core/op) and as an ONNX model. The reference evaluator of
the onnx package computes the expected outputs in float64. Three float32 evaluations of the same model (ONNX Runtime without and with its
optimizations, the reference evaluator) say how far rounding alone moves them: the tolerance is the standard one of REL and ABS unless MARGIN
times that deviation does not fit into it, and then the case says why.

A line: {name, values: [{name, type, dims, data?}], nodes: [{op, fields, in, out}], inputs, outputs, feeds, expect, rel, abs, why}
dims may hold a negative number -k for the open dimension with symbol k. in holds -1 for an absent input.
"""

import json
import math
import sys
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

MOST = 1500  # elements of any tensor
REL, ABS = 1e-5, 1e-6  # the standard tolerance
MARGIN = 2  # how often the measured rounding error must fit into the tolerance
ONNX_TYPE = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32, "bool": TensorProto.BOOL}


class Unfit(Exception):
    """The step does not fit the graph as it stands; another one is tried."""


class Build:
    """One graph under construction. A value is its index; shape and dtype are known for each."""

    def __init__(self, seed):
        self.g = np.random.default_rng(seed)
        self.values, self.nodes, self.onnx, self.init = [], [], [], []
        self.shape, self.dtype = [], []
        self.used = set()

    def value(self, shape, dtype="float32", data=None):
        v = len(self.values)
        d = {"name": f"v{v}", "type": dtype, "dims": list(map(int, shape))}
        if data is not None:
            a = np.asarray(data)
            d["data"] = [float(str(x)) if dtype == "float32" else int(x) for x in a.ravel()]
            self.init.append(numpy_helper.from_array(a.astype(dtype).reshape(shape), f"v{v}"))
        self.values.append(d)
        self.shape.append(tuple(shape))
        self.dtype.append(dtype)
        return v

    def const(self, shape, lo=-1.0, hi=1.0):
        return self.value(shape, data=self.g.uniform(lo, hi, shape).astype(np.float32))

    def ints(self, *v, dtype="int64"):
        return self.value((len(v),), dtype, np.array(v, dtype))

    def scalar(self, v, dtype="int64"):
        return self.value((), dtype, np.array(v, dtype))

    def node(self, op, fields, ins, shape, onnx_nodes, dtype="float32"):
        """Adds a node with one output. onnx_nodes gets the input names and the output name and returns ONNX nodes."""
        out = self.value(shape, dtype)
        self.nodes.append({"op": op, "fields": fields, "in": list(ins), "out": [out]})
        self.onnx += onnx_nodes([f"v{i}" if i >= 0 else "" for i in ins], f"v{out}")
        self.used.update(ins)
        return out

    def simple(self, op, onnx_op, ins, shape, fields=None, attrs=None, dtype="float32"):
        return self.node(op, fields or {}, ins, shape, lambda i, o: [helper.make_node(onnx_op, i, [o], **(attrs or {}))], dtype)

    def rank(self, *ranks):
        """A random float value of one of these ranks; Unfit if there is none."""
        c = [v for v in range(len(self.values)) if self.dtype[v] == "float32" and len(self.shape[v]) in ranks and "data" not in self.values[v] and np.prod(self.shape[v]) > 0]
        if not c:
            raise Unfit
        return int(self.g.choice(c[-6:]))

    def pick(self, *options):
        return options[int(self.g.integers(len(options)))]


UNARY = (("relu", "Relu"), ("sigmoid", "Sigmoid"), ("tanh", "Tanh"), ("abs", "Abs"), ("neg", "Neg"), ("hard_swish", "HardSwish"), ("sin", "Sin"), ("cos", "Cos"), ("softplus", "Softplus"),
         ("softsign", "Softsign"), ("erf", "Erf"), ("mish", "Mish"), ("identity", "Identity"))


def unary(b):
    x = b.rank(1, 2, 3, 4)
    op, o = b.pick(*UNARY)
    return b.simple(op, o, [x], b.shape[x])


def parametric(b):
    x = b.rank(1, 2, 3, 4)
    a = float(np.float32(b.g.uniform(0.05, 0.9)))
    kind = b.pick("leaky_relu", "elu", "hard_sigmoid", "clip", "gelu")
    if kind == "clip":
        return b.simple("clip", "Clip", [x, b.value((), data=np.float32(-a)), b.value((), data=np.float32(a))], b.shape[x])
    if kind == "hard_sigmoid":
        return b.simple(kind, "HardSigmoid", [x], b.shape[x], {"Alpha": a, "Beta": 0.5}, {"alpha": a, "beta": 0.5})
    if kind == "gelu":
        return b.simple(kind, "Gelu", [x], b.shape[x])
    return b.simple(kind, {"leaky_relu": "LeakyRelu", "elu": "Elu"}[kind], [x], b.shape[x], {"Alpha": a}, {"alpha": a})


def binary(b):
    x = b.rank(1, 2, 3, 4)
    s = list(b.shape[x])
    other = b.pick("same", "row", "one", "constant")
    if other == "same":
        c = [v for v in range(len(b.values)) if b.shape[v] == tuple(s) and b.dtype[v] == "float32" and "data" not in b.values[v]]
        y = int(b.g.choice(c))
    else:
        t = {"row": s[-1:], "one": [1] * len(s), "constant": s}[other]
        y = b.const(t, 0.5, 1.5)
    op, o = b.pick(("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("max", "Max"), ("min", "Min"), ("div", "Div"))
    if op == "div":
        y = b.const(s[-1:], 0.5, 1.5)
    order = [x, y] if b.g.random() < 0.5 or op == "div" else [y, x]
    return b.simple(op, o, order, s)


def softmax(b):
    x = b.rank(2, 3, 4)
    axis = int(b.g.integers(-len(b.shape[x]), len(b.shape[x])))
    op, o = b.pick(("softmax", "Softmax"), ("log_softmax", "LogSoftmax"))
    return b.simple(op, o, [x], b.shape[x], {"Axis": axis}, {"axis": axis})


def reduce(b):
    x = b.rank(2, 3, 4)
    s = b.shape[x]
    axis = int(b.g.integers(len(s)))
    keep = bool(b.g.random() < 0.6)
    op, o = b.pick(("reduce_mean", "ReduceMean"), ("reduce_max", "ReduceMax"), ("reduce_min", "ReduceMin"), ("reduce_sum", "ReduceSum"), ("reduce_l2", "ReduceL2"))
    out = [1 if i == axis else n for i, n in enumerate(s) if keep or i != axis]
    return b.simple(op, o, [x, b.ints(axis - len(s) if b.g.random() < 0.3 else axis)], out, {"KeepDims": keep}, {"keepdims": int(keep)})


def conv(b):
    x = b.rank(4)
    n, c, h, w = b.shape[x]
    last = bool(b.g.random() < 0.5)
    if last:  # the project's node sees the value as channels-last
        n, h, w, c = b.shape[x]
    kh, kw = (min(k, s) for k, s in zip(b.g.integers(1, 4, 2), (h, w)))
    group = int(b.pick(1, 1, c))
    out = int(b.g.integers(1, 7)) * (group if group > 1 else 1)
    if out > 24:
        raise Unfit
    strides = [int(v) for v in b.g.integers(1, 3, 2)]
    pads = [int(b.g.integers(0, k)) for k in (kh, kw, kh, kw)]
    oh = (h + pads[0] + pads[2] - kh) // strides[0] + 1
    ow = (w + pads[1] + pads[3] - kw) // strides[1] + 1
    if n * out * oh * ow > MOST or oh < 1 or ow < 1:
        raise Unfit
    scale = 1 / np.sqrt(kh * kw * c / group)
    wt = b.g.uniform(-scale, scale, (out, kh, kw, c // group)).astype(np.float32)
    mine = b.value(wt.shape, data=wt)
    b.init.append(numpy_helper.from_array(np.ascontiguousarray(wt.transpose(0, 3, 1, 2)), f"v{mine}_oihw"))
    bias = b.const((out,), -0.3, 0.3)
    fields = {"Strides": strides, "Pads": pads, "Groups": group, "ChannelsLast": last}
    attrs = dict(strides=strides, pads=pads, group=group)

    def nodes(i, o):
        if not last:
            return [helper.make_node("Conv", [i[0], i[1] + "_oihw", i[2]], [o], **attrs)]
        return [helper.make_node("Transpose", [i[0]], [o + "_in"], perm=[0, 3, 1, 2]), helper.make_node("Conv", [o + "_in", i[1] + "_oihw", i[2]], [o + "_out"], **attrs),
                helper.make_node("Transpose", [o + "_out"], [o], perm=[0, 2, 3, 1])]
    return b.node("conv", fields, [x, mine, bias], (n, oh, ow, out) if last else (n, out, oh, ow), nodes)


def pool(b):
    x = b.rank(4)
    n, c, h, w = b.shape[x]
    k = [int(min(v, s)) for v, s in zip(b.g.integers(1, 4, 2), (h, w))]
    strides = [int(v) for v in b.g.integers(1, 3, 2)]
    pads = [int(b.g.integers(0, (v + 1) // 2)) for v in k + k]
    oh = (h + pads[0] + pads[2] - k[0]) // strides[0] + 1
    ow = (w + pads[1] + pads[3] - k[1]) // strides[1] + 1
    if n * c * oh * ow > MOST:
        raise Unfit
    op, o = b.pick(("max_pool", "MaxPool"), ("average_pool", "AveragePool"))
    return b.simple(op, o, [x], (n, c, oh, ow), {"Kernel": k, "Strides": strides, "Pads": pads}, dict(kernel_shape=k, strides=strides, pads=pads))


def batch_norm(b):
    x = b.rank(3, 4)
    c = b.shape[x][1]
    ins = [x, b.const((c,), 0.5, 1.5), b.const((c,)), b.const((c,), -0.2, 0.2), b.const((c,), 0.5, 1.5)]
    return b.simple("batch_norm", "BatchNormalization", ins, b.shape[x], {"Axis": 1, "Epsilon": float(np.float32(1e-3))}, {"epsilon": 1e-3})


def layer_norm(b):
    x = b.rank(2, 3, 4)
    s = b.shape[x]
    if s[-1] < 4:
        raise Unfit
    ins = [x, b.const(s[-1:], 0.5, 1.5), b.const(s[-1:])]
    return b.simple("layer_norm", "LayerNormalization", ins, s, {"Axis": -1, "Epsilon": float(np.float32(1e-2))}, {"axis": -1, "epsilon": 1e-2})


def matmul(b):
    x = b.rank(2, 3)
    s = b.shape[x]
    n = int(b.g.integers(1, 9))
    w = b.const((s[-1], n), -1 / np.sqrt(s[-1]), 1 / np.sqrt(s[-1]))
    return b.simple("mat_mul", "MatMul", [x, w], (*s[:-1], n))


def transpose(b):
    x = b.rank(2, 3, 4)
    perm = [int(v) for v in b.g.permutation(len(b.shape[x]))]
    return b.node("transpose", {}, [x, b.ints(*perm)], [b.shape[x][p] for p in perm], lambda i, o: [helper.make_node("Transpose", i[:1], [o], perm=perm)])


def reshape(b):
    x = b.rank(1, 2, 3, 4)
    n = int(np.prod(b.shape[x]))
    dims, rest = [], n
    for _ in range(int(b.g.integers(0, 3))):
        d = int(b.pick(*[k for k in range(1, rest + 1) if rest % k == 0 and k < 13]))
        dims.append(d)
        rest //= d
    dims.append(rest)
    asked = list(dims)
    if b.g.random() < 0.5:
        asked[int(b.g.integers(len(asked)))] = -1
    return b.simple("reshape", "Reshape", [x, b.ints(*asked)], dims)


def concat(b):
    x = b.rank(2, 3, 4)
    axis = int(b.g.integers(len(b.shape[x])))
    c = [v for v in range(len(b.values)) if b.dtype[v] == "float32" and len(b.shape[v]) == len(b.shape[x]) and "data" not in b.values[v]
         and all(p == q or i == axis for i, (p, q) in enumerate(zip(b.shape[v], b.shape[x])))]
    y = int(b.g.choice(c))
    out = [n + b.shape[y][axis] if i == axis else n for i, n in enumerate(b.shape[x])]
    if np.prod(out) > MOST:
        raise Unfit
    return b.simple("concat", "Concat", [x, y], out, {"Axis": axis}, {"axis": axis})


def slices(b):
    x = b.rank(1, 2, 3, 4)
    s = b.shape[x]
    axis = int(b.g.integers(len(s)))
    if s[axis] < 2:
        raise Unfit
    start = int(b.g.integers(0, s[axis] - 1))
    step = int(b.pick(1, 1, 2))
    end = int(b.g.integers(start + 1, s[axis] + 3))
    out = list(s)
    out[axis] = len(range(s[axis])[start:end:step])
    return b.simple("slice", "Slice", [x, b.ints(start), b.ints(end), b.ints(axis), b.ints(step)], out)


def pad(b):
    x = b.rank(2, 3, 4)
    s = b.shape[x]
    p = [int(v) for v in b.g.integers(0, 2, 2 * len(s))]
    out = [n + p[i] + p[i + len(s)] for i, n in enumerate(s)]
    mode = b.pick("constant", "edge", "reflect") if min(s) > 1 else "constant"
    if np.prod(out) > MOST:
        raise Unfit
    return b.simple("pad", "Pad", [x, b.ints(*p)], out, {"Mode": {"constant": 0, "reflect": 1, "edge": 3}[mode]}, {"mode": mode})


def gather(b):
    x = b.rank(1, 2, 3)
    s = b.shape[x]
    axis = int(b.g.integers(len(s)))
    idx = [int(v) for v in b.g.integers(0, s[axis], int(b.g.integers(1, 4)))]
    out = [len(idx) if i == axis else n for i, n in enumerate(s)]
    if np.prod(out) > MOST:
        raise Unfit
    return b.node("gather", {}, [x, b.ints(*idx), b.scalar(axis)], out, lambda i, o: [helper.make_node("Gather", i[:2], [o], axis=axis)])


def unsqueeze(b):
    x = b.rank(1, 2, 3)
    axis = int(b.g.integers(len(b.shape[x]) + 1))
    out = list(b.shape[x])
    out.insert(axis, 1)
    return b.simple("unsqueeze", "Unsqueeze", [x, b.ints(axis)], out)


def where(b):
    x = b.rank(2, 3, 4)
    s = b.shape[x]
    c = b.value(s[-1:], "bool", b.g.integers(0, 2, s[-1:]).astype(bool))
    y = b.const(s)
    return b.simple("where", "Where", [c, x, y], s)


def depth_to_space(b):
    x = b.rank(4)
    if b.shape[x][1] % 4:
        raise Unfit
    n, c, h, w = b.shape[x]
    mode = b.pick("DCR", "CRD")
    return b.simple("depth_to_space", "DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), {"Block": 2, "Mode": int(mode == "CRD")}, {"blocksize": 2, "mode": mode})


def tile(b):
    x = b.rank(1, 2, 3)
    r = [int(v) for v in b.g.integers(1, 3, len(b.shape[x]))]
    out = [n * k for n, k in zip(b.shape[x], r)]
    if np.prod(out) > MOST:
        raise Unfit
    return b.simple("tile", "Tile", [x, b.ints(*r)], out)


STEPS = (unary, unary, parametric, binary, binary, binary, softmax, reduce, conv, conv, conv, pool, pool, batch_norm, layer_norm, matmul, matmul, transpose, reshape, concat, slices, pad, gather,
         unsqueeze, where, depth_to_space, tile)


def model(b, name, inputs, outputs, real):
    """The ONNX model of a build with element type real in the place of float32."""
    kind = lambda v: real if b.dtype[v] == "float32" else ONNX_TYPE[b.dtype[v]]
    init = b.init
    if real == TensorProto.DOUBLE:
        init = [numpy_helper.from_array(numpy_helper.to_array(t).astype(np.float64), t.name) if t.data_type == TensorProto.FLOAT else t for t in init]
    return helper.make_model(
        helper.make_graph(b.onnx, name, [helper.make_tensor_value_info(f"v{v}", kind(v), b.shape[v]) for v in inputs],
                          [helper.make_tensor_value_info(f"v{v}", kind(v), None) for v in outputs], init),
        opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def pooled(x, kernel_shape, strides, pads, outside, fold):
    """Folds each window of an NCHW image whose padding holds the value outside."""
    (kh, kw), (sh, sw) = kernel_shape, strides
    p = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=outside)
    rows, cols = range(0, p.shape[2] - kh + 1, sh), range(0, p.shape[3] - kw + 1, sw)
    return np.stack([np.stack([fold(p[:, :, i : i + kh, j : j + kw], axis=(2, 3)) for j in cols], -1) for i in rows], -2).astype(x.dtype)


class MaxPool(OpRun):  # the evaluator's own fails for some windows that lie in the padding in part
    def _run(self, x, kernel_shape=None, strides=None, pads=None, **_):
        return (pooled(x, kernel_shape, strides, pads, -np.inf, np.max),)


class AveragePool(OpRun):
    def _run(self, x, kernel_shape=None, strides=None, pads=None, **_):
        return (pooled(x, kernel_shape, strides, pads, np.nan, np.nanmean),)


def erf(x):
    return np.array([math.erf(v) for v in x.ravel()], x.dtype).reshape(x.shape)


class Erf(OpRun):  # the evaluator's own rounds to float32, and with it Gelu
    def _run(self, x):
        return (erf(x),)


class Gelu(OpRun):
    def _run(self, x, approximate=None):
        return ((x * (1 + erf(x / math.sqrt(2))) / 2).astype(x.dtype),)


def reference(m, feeds):
    return ReferenceEvaluator(m, new_ops=[MaxPool, AveragePool, Erf, Gelu]).run(None, feeds)


def runtime(m, feeds, level):
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = level
    o.log_severity_level = 3
    return onnxruntime.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"]).run(None, feeds)


def tolerance(want, rounded):
    """The absolute tolerance, and the argument for it when it is not ABS."""
    need = worst = used = 0.0
    for got in rounded:
        for y, g in zip(want, got):
            d = np.abs(g.astype(np.float64) - y)
            need = max(need, float((MARGIN * d - REL * np.abs(y)).max()))
            worst, used = max(worst, float(d.max())), max(used, float((d / (ABS + REL * np.abs(y))).max()))
    if need <= ABS:
        return ABS, ""
    digit = 10.0 ** math.floor(math.log10(need))
    bound = float(f"{math.ceil(need / digit) * digit:.0e}")
    return bound, (f"float32 evaluations of this graph by ONNX Runtime and the onnx reference evaluator differ from the float64 one by up to {worst:.1e}, "
                   f"{used:.2f} of the standard tolerance; {MARGIN} times their rounding error needs an absolute tolerance of {bound:.0e} instead of {ABS:.0e}")


def make(seed):
    b = Build(seed)
    inputs = []
    for _ in range(int(b.g.integers(1, 3))):
        shape = b.pick((1, 3, 8, 8), (2, 4, 6, 5), (1, 8, 4, 4), (4, 12), (2, 5, 8), (1, 2, 9, 7))
        inputs.append(b.value(shape))
    opened = seed % 3 == 0  # the graph leaves the first dimension of its inputs open
    steps = [s for s in STEPS if not opened or s not in (reshape, concat)]
    target = int(b.g.integers(5, 31))
    tries = 0
    while len(b.nodes) < target and tries < 400:
        tries += 1
        mark = (len(b.values), len(b.init), len(b.onnx), len(b.nodes))
        used = set(b.used)
        try:
            b.pick(*steps)(b)
        except Unfit:
            del b.values[mark[0]:], b.shape[mark[0]:], b.dtype[mark[0]:], b.init[mark[1]:], b.onnx[mark[2]:], b.nodes[mark[3]:]
            b.used = used
    made = [n["out"][0] for n in b.nodes]
    outputs = [v for v in made if v not in b.used]
    inputs = [v for v in inputs if v in b.used]
    name = f"random{seed:04d}"
    feeds = {f"v{v}": b.g.uniform(-1, 1, b.shape[v]).astype(np.float32) for v in inputs}
    single, double = (model(b, name, inputs, outputs, t) for t in (TensorProto.FLOAT, TensorProto.DOUBLE))
    want = reference(double, {k: x.astype(np.float64) for k, x in feeds.items()})
    for v, y in zip(outputs, want):
        assert y.shape == b.shape[v] and y.dtype == np.float64, (name, v, y.shape, y.dtype, b.shape[v])
        if not np.isfinite(y).all() or np.abs(y).max() > 1e4 or np.abs(y).max() < 1e-3:
            return None
    level = onnxruntime.GraphOptimizationLevel
    rounded = [runtime(single, feeds, level.ORT_DISABLE_ALL), runtime(single, feeds, level.ORT_ENABLE_ALL), reference(single, feeds)]
    bound, why = tolerance(want, rounded)
    values = [dict(v) for v in b.values]
    if opened:
        for k, v in enumerate(inputs):
            values[v]["dims"] = [-(k + 1)] + values[v]["dims"][1:]
    for v in made:
        values[v]["dims"] = None  # left to inference
    flat = lambda a: [float(str(x)) for x in a.ravel()]
    return {"name": name, "values": values, "nodes": b.nodes, "inputs": inputs, "outputs": outputs,
            "feeds": [{"dims": list(b.shape[v]), "data": flat(feeds[f"v{v}"])} for v in inputs],
            "expect": [{"dims": list(y.shape), "data": flat(y.astype(np.float32))} for y in want], "rel": REL, "abs": bound, "why": why, "onnx": single}


def outline(m):
    """The model without the elements of its initializers."""
    m = onnx.ModelProto.FromString(m.SerializeToString())
    for t in m.graph.initializer:
        t.ClearField("raw_data")
    return m.SerializeToString()


def main(count, models=None):
    seed = made = 0
    archive = zipfile.ZipFile(models, "w", zipfile.ZIP_DEFLATED) if models else None
    while made < count:
        seed += 1
        g = make(seed)
        if g:
            single = g.pop("onnx")
            if archive:
                archive.writestr(zipfile.ZipInfo(g["name"] + ".onnx", (2024, 1, 1, 0, 0, 0)), outline(single), zipfile.ZIP_DEFLATED)
            print(json.dumps(g, separators=(",", ":")))
            made += 1
    if archive:
        archive.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
