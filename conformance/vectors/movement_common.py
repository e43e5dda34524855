"""What the scripts of movement cases share: the list of cases, one ONNX node run by the reference evaluator, small values."""
import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

CASES = []
RNG = np.random.default_rng(4)


def tensor(a):
    if a is None:
        return None
    a = np.asarray(a)
    return {"dtype": str(a.dtype), "dims": list(a.shape), "data": [int(x) if a.dtype == bool else x.item() for x in a.reshape(-1)]}


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
