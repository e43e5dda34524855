"""Recomputes the cases in every type with ONNX Runtime, where it has the operator in that type: a second opinion on types_*.py.

usage: python check_types.py ../cases

Left out: quantized data, fused activations, what ONNX has no operator or another meaning for (floats that leave an integer's range; means,
roots and powers of integers).
"""

import collections
import json
import os
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

NAMES = {
    "ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div", "MAXIMUM": "Max", "MINIMUM": "Min", "MOD": "Mod", "POW": "Pow", "EQUAL": "Equal", "LESS": "Less",
    "LESS_EQUAL": "LessOrEqual", "GREATER": "Greater", "GREATER_EQUAL": "GreaterOrEqual", "LOGICAL_AND": "And", "LOGICAL_OR": "Or", "LOGICAL_NOT": "Not", "BIAS_ADD": "Add",
    "PRELU": "PRelu", "WHERE": "Where", "SELECT": "Where", "ABS": "Abs", "NEG": "Neg", "CEIL": "Ceil", "FLOOR": "Floor", "ROUND": "Round", "RELU": "Relu", "SQRT": "Sqrt",
    "RECIPROCAL": "Reciprocal", "ERF": "Erf", "SIGMOID": "Sigmoid", "TANH": "Tanh", "SIN": "Sin", "COS": "Cos", "LOG": "Log", "HSWISH": "HardSwish", "GELU": "Gelu", "CAST": "Cast",
    "REDUCE_SUM": "ReduceSum", "REDUCE_PROD": "ReduceProd", "REDUCE_MAX": "ReduceMax", "REDUCE_MIN": "ReduceMin", "REDUCE_MEAN": "ReduceMean", "REDUCE_L2": "ReduceL2",
    "SOFTMAX": "Softmax", "LOG_SOFTMAX": "LogSoftmax", "TOP_K": "TopK", "ARG_MAX": "ArgMax", "MATMUL": "MatMul", "TRANSPOSE": "Transpose", "TILE": "Tile", "RESHAPE": "Reshape",
    "CONCAT": "Concat", "GATHER_ND": "GatherND", "BROADCAST_TO": "Expand", "ELTWISE": None, "NOT_EQUAL": None,
}
KINDS = {"bool": TensorProto.BOOL, "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8,
         "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64, "float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}


def array(t, kind=None):
    body = t.get("feed") or t.get("expect") or t
    dtype = np.dtype(kind or t["type"])
    data = [float(v) if dtype.kind == "f" else int(v) for v in body["data"]]
    return np.array(data, dtype).reshape([abs(d) for d in body["dims"]])


def node(c, xs):
    """The ONNX operator of a case, its inputs, and the element types of its outputs; None: there is none of the same meaning."""
    op, ts = c["op"], c["tensors"]
    params = {t["param"][len(op) + 1:]: t["data"] for t in ts if "param" in t}
    kind = str(xs[0].dtype)
    integer = xs[0].dtype.kind in "iu"
    outs = [ts[i]["type"] for i in c["out"]]
    name, attributes = NAMES[op], {}
    if any("ACTIVATION" in p for p in params) or "SCALE" in params or "COEFF" in params:
        return None
    if op == "ELTWISE":
        name = ("Mul", "Add", "Max")[params["MODE"][0]]
    elif op == "NOT_EQUAL":
        return [("Equal", {}), ("Not", {})], xs, outs
    elif op in ("REDUCE_MEAN", "REDUCE_L2", "POW") and integer:
        return None
    elif op in ("DIV", "MOD") and integer and np.any((xs[0] == np.iinfo(kind).min) & (xs[1].astype(object) == -1)):
        return None  # ONNX Runtime dies of it
    elif op == "MOD" and kind in ("int64", "uint64"):
        return None  # computed in float64 there
    elif op == "MOD":
        attributes["fmod"] = 1
    elif op == "CAST":
        if xs[0].dtype.kind == "f" and np.dtype(outs[0]).kind in "iu":
            return None
        attributes["to"], xs = KINDS[outs[0]], xs[:1]
    elif op in ("REDUCE_SUM", "REDUCE_PROD") and integer and np.any(array(ts[c["out"][0]]) != (np.sum if op == "REDUCE_SUM" else np.prod)(xs[0].astype(object), axis=1, keepdims=True)):
        return None  # what wraps around saturates there
    elif op.startswith("REDUCE"):
        xs = [xs[0], xs[1].astype(np.int64)]
    elif op in ("SOFTMAX", "LOG_SOFTMAX"):
        attributes["axis"] = 1
    elif op == "ARG_MAX":
        if "TOP_K" in params:
            return None
        attributes, outs = {"axis": -1, "keepdims": 0}, ["int64"]
    elif op == "TOP_K":
        xs, outs = [xs[0], xs[1].astype(np.int64)], [kind, "int64"]
    elif op == "CONCAT":
        attributes["axis"] = 1
    elif op == "TRANSPOSE":
        attributes["perm"], xs = xs[1].tolist(), xs[:1]
    elif op in ("TILE", "RESHAPE", "GATHER_ND"):
        xs = [xs[0], xs[1].astype(np.int64)]
    elif op == "BROADCAST_TO":
        xs = [xs[0], np.array(params["SHAPE"], np.int64)]
    return [(name, attributes)], xs, outs


def run(nodes, xs, outs):
    names = [f"x{i}" for i in range(len(xs))]
    results = [f"y{i}" for i in range(len(outs))]
    graph, last = [], names
    for i, (name, attributes) in enumerate(nodes):
        made = results if i == len(nodes) - 1 else [f"t{i}"]
        graph.append(helper.make_node(name, last, made, **attributes))
        last = made
    ins = [helper.make_tensor_value_info(n, KINDS[str(x.dtype)], x.shape) for n, x in zip(names, xs)]
    ys = [helper.make_tensor_value_info(n, KINDS[k], None) for n, k in zip(results, outs)]
    model = helper.make_model(helper.make_graph(graph, "g", ins, ys), opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, xs)))


def agree(got, want, c):
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    with np.errstate(all="ignore"):
        return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=max(c["rel"], 2e-3 if want.dtype == np.float16 else 2e-6), atol=c["abs"] + 1e-6, equal_nan=True)


def main(folder):
    agreed, absent = collections.Counter(), 0
    for op in NAMES:
        with open(os.path.join(folder, op.lower() + ".json")) as f:
            cases = json.load(f)
        for c in cases:
            ts = c["tensors"]
            if not c["name"].startswith("type_") or c["name"].endswith("_open") or "reject" in c or any("quant" in t for t in ts):
                continue
            made = node(c, [array(ts[i]) for i in c["in"]])
            if made is None:
                continue
            try:
                got = run(*made)
            except (onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented, onnxruntime.capi.onnxruntime_pybind11_state.InvalidGraph):
                absent += 1
                continue
            for y, o in zip(got, c["out"]):
                want = array(ts[o])
                if y.shape != want.shape and y.size != want.size or not agree(y.reshape(want.shape), want, c):
                    sys.exit(f"{op} {c['name']}: want {want.tolist()}, got {y.tolist()}")
            agreed[op] += 1
    print(f"{sum(agreed.values())} cases of {len(agreed)} operators agree with ONNX Runtime {onnxruntime.__version__}; it does not have {absent}")


if __name__ == "__main__":
    main(sys.argv[1])
