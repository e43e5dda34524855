#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/movement/movement.json: expected results of the data-movement, detection, control-flow and signal operators.

The expectations come from NumPy, from the ONNX reference evaluator or from ONNX Runtime, never from this project's kernels.
Run from the repository root with: numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

A case: op (core/op name), attrs (its exported fields), in (null for an absent input), out, tol (relative and absolute bound, 0 exact),
retype (inputs whose values 0..7 may be stored in any element type: the result must follow), fail (kind of error instead of out).
"""
import json
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

CASES = []
RNG = np.random.default_rng(4)


def tensor(a):
    if a is None:
        return None
    a = np.asarray(a)
    return {"dtype": str(a.dtype), "dims": list(a.shape), "data": [x.item() for x in a.reshape(-1)]}


def case(op, attrs, inputs, outputs, note="", tol=0.0, retype=(0,)):
    if not isinstance(outputs, (list, tuple)):
        outputs = [outputs]
    CASES.append({"op": op, "note": note, "attrs": attrs, "in": [tensor(x) for x in inputs],
                  "out": [tensor(x) for x in outputs], "tol": tol, "retype": list(retype)})


def fail(op, attrs, inputs, kind, note=""):
    CASES.append({"op": op, "note": note, "attrs": attrs, "in": [tensor(x) for x in inputs], "fail": kind})


def onnx_run(op_type, attrs, inputs, n_out=1, opset=22, runtime=False):
    """Runs one ONNX node in the reference evaluator, or in ONNX Runtime."""
    names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
    outs = [f"o{k}" for k in range(n_out)]
    node = helper.make_node(op_type, names, outs, **attrs)
    ins = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.asarray(x).shape)
           for n, x in zip(names, inputs) if n]
    graph = helper.make_graph([node], "g", ins, [onnx.ValueInfoProto(name=o) for o in outs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    feed = {n: np.asarray(x) for n, x in zip(names, inputs) if n}
    if runtime:
        import onnxruntime
        return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)
    return ReferenceEvaluator(model).run(None, feed)


def small(*shape):
    """Values 0..7, which every element type but bool holds."""
    return RNG.integers(0, 8, shape).astype(np.int32)


def i64(*v):
    return np.array(v, np.int64)


def i32(*v):
    return np.array(v, np.int32)


def scalar(v, dtype=np.int64):
    return np.array(v, dtype)


def shapes():
    x = small(2, 3, 4)
    case("reshape", {}, [x, i64(4, -1)], x.reshape(4, -1))
    case("reshape", {"ZeroCopies": True}, [x, i32(0, 2, -1)], x.reshape(2, 2, 6))
    case("reshape", {}, [small(0, 3), i64(3, 0, 2)], np.zeros((3, 0, 2), np.int32))
    fail("reshape", {}, [x, i64(5, -1)], "shape")
    fail("reshape", {}, [x, i64(-1, -1)], "argument")
    fail("reshape", {}, [x, i64(2, 3)], "shape")
    fail("reshape", {}, [small(0, 3), i64(0, -1)], "shape", "a size beside 0 cannot be inferred")
    for perm in [(2, 0, 1), (0, 2, 1)]:
        case("transpose", {}, [x, i64(*perm)], x.transpose(perm))
    case("transpose", {}, [x], x.transpose())
    case("transpose", {}, [small(2, 0, 3), i32(1, 2, 0)], np.zeros((0, 3, 2), np.int32))
    fail("transpose", {}, [x, i64(0, 0, 1)], "argument")
    fail("transpose", {}, [x, i64(1, 0)], "shape")
    y, z = small(2, 1, 4), small(2, 2, 4)
    case("concat", {"Axis": 1}, [x, y, z], np.concatenate([x, y, z], 1), retype=(0, 1, 2))
    case("concat", {"Axis": -1}, [x, x], np.concatenate([x, x], -1), retype=(0, 1))
    case("concat", {"Axis": 0}, [small(0, 4), y[:, 0]], y[:, 0], retype=(0, 1))
    fail("concat", {"Axis": 0}, [x, y], "shape")
    fail("concat", {"Axis": 3}, [x, x], "argument")
    fail("concat", {"Axis": 0}, [x, x.astype(np.int64)], "type")
    w = small(5, 6)
    case("split", {"Axis": 1}, [w], np.split(w, 3, 1))
    case("split", {"Axis": -2}, [w, i64(1, 0, 4)], [w[:1], w[1:1], w[1:]])
    case("split", {"Axis": 0}, [w, i32(2, -1, 1)], [w[:2], w[2:4], w[4:]])
    case("split", {"Axis": 0, "Ragged": True}, [w], [w[:2], w[2:4], w[4:]])
    fail("split", {"Axis": 0}, [w, i64(2, 2)], "argument", "as many sizes as outputs")
    case("flatten", {"Axis": 1}, [x], x.reshape(2, 12))
    case("flatten", {"Axis": 0}, [x], x.reshape(1, 24))
    case("flatten", {"Axis": 3}, [x], x.reshape(24, 1))
    case("flatten", {"Axis": -1}, [x], x.reshape(6, 4))
    case("flatten", {}, [scalar(3, np.int32)], np.full((1, 1), 3, np.int32))
    fail("flatten", {"Axis": 4}, [x], "argument")
    s = small(1, 3, 1, 2)
    case("squeeze", {}, [s], s.squeeze())
    case("squeeze", {}, [s, np.zeros(0, np.int64)], s.squeeze())
    case("squeeze", {}, [s, i64(-2)], s.squeeze(-2))
    fail("squeeze", {}, [s, i64(1)], "shape")
    fail("squeeze", {}, [s, i64(4)], "argument")
    case("unsqueeze", {}, [x, i64(4, 0)], np.expand_dims(x, (4, 0)))
    case("unsqueeze", {}, [x, i64(-1, -4)], np.expand_dims(x, (-1, -4)))
    case("unsqueeze", {}, [scalar(2, np.int32), scalar(0, np.int32)], np.full(1, 2, np.int32))
    fail("unsqueeze", {}, [x, i64(1, 1)], "argument")
    fail("unsqueeze", {}, [x, i64(4)], "argument")
    e = small(3, 1)
    case("expand", {}, [e, i64(2, 1, 4)], np.broadcast_to(e, (2, 3, 4)))
    case("expand", {}, [e, i64(1)], e, note="the shape may be the smaller side")
    case("expand", {}, [e, i64(3, 0)], np.zeros((3, 0), np.int32))
    fail("expand", {}, [x, i64(5, 4)], "shape")
    fail("expand", {}, [e, i64(-1, 4)], "argument")
    fail("expand", {}, [e, i64(1 << 20, 3, 1 << 20)], "memory")
    t = small(2, 3)
    case("tile", {}, [t, i64(2, 3)], np.tile(t, (2, 3)))
    case("tile", {}, [t, i32(2)], np.tile(t, 2))
    case("tile", {}, [t, i64(2, 1, 2)], np.tile(t, (2, 1, 2)))
    case("tile", {}, [t, i64(0, 2)], np.tile(t, (0, 2)))
    fail("tile", {}, [t, i64(1, -1)], "argument")
    fail("tile", {}, [t, i64(1 << 40, 1 << 40)], "memory")
    fail("tile", {}, [t, i64(1 << 20, 1 << 20)], "memory")
    case("shape", {}, [x], i64(2, 3, 4), retype=())
    case("shape", {"Start": -2, "HasEnd": True, "End": -1, "To": 4}, [x], i32(3), retype=())
    case("shape", {"Start": 2, "HasEnd": True, "End": 1}, [x], np.zeros(0, np.int64), retype=())
    case("size", {}, [x], scalar(24), retype=())
    case("size", {"To": 4}, [small(0, 5)], scalar(0, np.int32), retype=())
    case("rank", {}, [x], scalar(3), retype=())
    case("fill", {}, [i64(2, 3), scalar(5, np.int32)], np.full((2, 3), 5, np.int32), retype=(1,))
    case("fill", {}, [np.zeros(0, np.int32), scalar(5, np.int32)], scalar(5, np.int32), retype=(1,))
    fail("fill", {}, [i64(2, -3), scalar(5, np.int32)], "argument")
    fail("fill", {}, [i64(1 << 31, 2), scalar(5, np.int32)], "memory")


def slices():
    x = small(5, 6, 3)
    big = np.iinfo(np.int64)
    case("slice", {}, [x, i64(1, -3), i64(4, big.max)], x[1:4, -3:])
    case("slice", {}, [x, i64(-1), i64(big.min), i64(1), i64(-2)], x[:, -1::-2])
    case("slice", {}, [x, i64(100, -100), i64(-100, 100), i64(-1, 0), i64(-1, 3)], x[-100:100:3, :, ::-1])
    case("slice", {}, [x, i32(3), i32(1)], x[3:1])
    case("slice", {}, [x, i64(0), i64(5), i64(0), i64(big.max)], x[:1])
    case("slice", {}, [x, i64(4), i64(big.min), i64(0), i64(big.min)], x[4:5])
    case("slice", {}, [small(0, 2), i64(-1), i64(-9), i64(0), i64(-1)], np.zeros((0, 2), np.int32))
    fail("slice", {}, [x, i64(0), i64(2), i64(0), i64(0)], "argument")
    fail("slice", {}, [x, i64(0, 0), i64(2)], "argument")
    fail("slice", {}, [x, i64(0, 0), i64(2, 2), i64(1, -2)], "argument", "one axis twice")
    fail("slice", {}, [x, i64(0), i64(2), i64(3)], "argument")
    for mode, name in [(0, "constant"), (1, "reflect"), (2, "symmetric"), (3, "edge"), (4, "wrap")]:
        kw = {"constant_values": 6} if mode == 0 else {}
        for pads in [[(1, 2), (0, 1), (2, 2)], [(9, 12), (0, 0), (7, 5)]]:
            p = [b for b, _ in pads] + [e for _, e in pads]
            val = [scalar(6, np.int32)] if mode == 0 else []
            case("pad", {"Mode": mode}, [x, i64(*p)] + val, np.pad(x, pads, mode=name, **kw), retype=(0, 2) if val else (0,))
        c = x[1:, :, :2]
        case("pad", {"Mode": mode}, [x, i32(-1, 0, 2, 0, 2, -1), scalar(6, np.int32)], np.pad(c, [(0, 0), (0, 2), (2, 0)], mode=name, **kw),
             retype=(0, 2), note="negative pads cut first")
    case("pad", {}, [x, i64(2, 1), None, i64(-2)], np.pad(x, [(0, 0), (2, 1), (0, 0)]))
    case("pad", {}, [x, i64(2, 1), scalar(3.7, np.float32), i64(0)], np.pad(x, [(2, 1), (0, 0), (0, 0)], constant_values=3), retype=())
    case("pad", {}, [small(0, 2), i64(1, 0, 1, 0)], np.zeros((2, 2), np.int32))
    v = np.arange(3, dtype=np.int32)
    case("pad", {"Mode": 1, "ClampMirror": True}, [v, i64(4, 4)], i32(2, 2, 2, 1, 0, 1, 2, 1, 0, 0, 0), note="clamped at the other edge")
    case("pad", {"Mode": 2, "ClampMirror": True}, [v, i64(4, 4)], i32(2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0))
    case("pad", {"Mode": 1}, [i32(7), i64(2, 1)], i32(7, 7, 7, 7))
    fail("pad", {}, [x, i64(1, 1)], "shape")
    fail("pad", {"Mode": 3}, [small(0, 2), i64(1, 0, 1, 0)], "shape")
    fail("pad", {}, [x, i64(-3, 0, 0, -3, 0, 0)], "shape")
    fail("pad", {"Mode": 9}, [x, i64(0, 0, 0, 0, 0, 0)], "argument")
    fail("pad", {}, [i32(1), i64(1 << 40, 1 << 40)], "memory")


def gathers():
    x = small(4, 3, 2)
    idx = i64(3, 0, 3, 1)
    case("gather", {}, [x, idx], np.take(x, idx, 0))
    case("gather", {}, [x, i32(2, 0).reshape(1, 2), scalar(-2)], np.take(x, [[2, 0]], 1))
    case("gather", {"NegativeWraps": True}, [x, scalar(-1), scalar(2, np.int32)], x[:, :, -1])
    case("gather", {}, [x, np.zeros((0, 2), np.int64), scalar(1)], np.zeros((4, 0, 2, 2), np.int32))
    fail("gather", {}, [x, i64(-1)], "data")
    fail("gather", {"NegativeWraps": True}, [x, i64(4)], "data")
    fail("gather", {}, [x, i64(0), scalar(3)], "argument")
    fail("gather", {}, [scalar(3, np.int32), i64(0)], "shape")


GROUPS = [shapes, slices, gathers]

if __name__ == "__main__":
    for g in GROUPS:
        g()
    path = sys.argv[1] if len(sys.argv) > 1 else "backends/cpu/ref/testdata/movement/movement.json"
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]\n")
    print(len(CASES), "cases")
