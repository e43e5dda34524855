"""usage: serve_models.py DIGITS MODELS RESULTS

Writes into MODELS the models that check_serve.sh serves: DIGITS, and one that gives back a tensor of each datatype of
the protocol. Into RESULTS goes MODEL.npz for each: inputs, and the outputs of ONNX Runtime.
"""
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

digits, models, results = sys.argv[1:]
shutil.copy(digits, models + "/digits.onnx")
types = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FLOAT16", "FLOAT", "DOUBLE"]
value = lambda name, t: helper.make_tensor_value_info(name, getattr(TensorProto, t), ["n", 3])
onnx.save(helper.make_model(helper.make_graph(
    [helper.make_node("Identity", ["in_" + t], ["out_" + t]) for t in types], "kinds",
    [value("in_" + t, t) for t in types], [value("out_" + t, t) for t in types]),
    opset_imports=[helper.make_opsetid("", 17)], ir_version=8), models + "/kinds.onnx")
rng = np.random.default_rng(40)
kinds = {}
for t in types:
    dtype = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, t))
    a = rng.standard_normal((2, 3)) if dtype.kind == "f" else rng.integers(0, 2 if dtype.kind == "b" else 100, (2, 3))
    kinds["in_" + t] = a.astype(dtype)
inputs = {"digits": {"image": rng.random((3, 1, 8, 8), np.float32)}, "kinds": kinds}
for name, given in inputs.items():
    s = onnxruntime.InferenceSession(f"{models}/{name}.onnx", providers=["CPUExecutionProvider"])
    out = dict(zip([o.name for o in s.get_outputs()], s.run(None, given)))
    np.savez(f"{results}/{name}.npz", **{"in." + k: v for k, v in given.items()}, **{"out." + k: v for k, v in out.items()})
