"""What the scripts of spatial cases share: made-up values, one node run by ONNX Runtime, and the list of cases."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(20240613)
cases = {}

SAME_UPPER, SAME_LOWER, VALID = 1, 2, 3
FLOOR, CEIL, CEIL_INSIDE = 0, 1, 2


def f32(*dims, lo=-2, hi=2):
    return np.round(rng.uniform(lo, hi, dims), 3).astype(np.float32)


def tensor(a, scale=None, zero=None, axis=0):
    if a is None:
        return None
    a = np.asarray(a)
    t = {"dtype": a.dtype.name, "dims": list(a.shape)}
    flat = a.reshape(-1)
    if a.dtype.kind == "f":
        t["data"] = [float(str(v)) for v in flat]
    else:
        t["data"] = [int(v) for v in flat]
    if scale is not None:
        t["scale"] = [float(v) for v in np.atleast_1d(scale)]
        t["zero"] = [int(v) for v in np.atleast_1d(0 if zero is None else zero)]
        t["axis"] = axis
    return t


def add(op, name, attrs, ins, outs, by="onnxruntime"):
    as_tensor = lambda a: a if a is None or isinstance(a, dict) else tensor(a)
    cases.setdefault(op, []).append({"name": name, "op": op, "attrs": attrs, "in": [as_tensor(a) for a in ins],
                                     "out": [as_tensor(a) for a in outs], "by": by})


def model(op_type, attrs, ins, nout, opset, domain=""):
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(ins)]
    outs = [f"o{k}" for k in range(nout)]
    node = helper.make_node(op_type, names, outs, domain=domain, **attrs)
    vi = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(names, ins) if n]
    graph = helper.make_graph([node], "g", vi, [onnx.ValueInfoProto(name=o) for o in outs])
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return m, {n: np.asarray(a) for n, a in zip(names, ins) if n}, outs


def run(op_type, attrs, ins, nout=1, opset=22):
    m, feed, outs = model(op_type, attrs, ins, nout, opset)
    opts = ort.SessionOptions()
    opts.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    opts.log_severity_level = 4
    return ort.InferenceSession(m.SerializeToString(), opts, providers=["CPUExecutionProvider"]).run(outs, feed)


def reference(op_type, attrs, ins, nout=1, opset=22):
    m, feed, outs = model(op_type, attrs, ins, nout, opset)
    return ReferenceEvaluator(m).run(outs, feed)


def last(a):
    return np.ascontiguousarray(np.moveaxis(a, 1, -1))


def window_attrs(strides=None, dilations=None, pads=None, auto=0, kernel=None):
    go, ox = {}, {}
    for k, (g, o) in {"s": ("Strides", "strides"), "d": ("Dilations", "dilations"), "p": ("Pads", "pads"), "k": ("Kernel", "kernel_shape")}.items():
        v = {"s": strides, "d": dilations, "p": pads, "k": kernel}[k]
        if v is not None:
            go[g], ox[o] = v, v
    if auto:
        go["AutoPad"], ox["auto_pad"] = auto, [None, "SAME_UPPER", "SAME_LOWER", "VALID"][auto]
    return go, ox
