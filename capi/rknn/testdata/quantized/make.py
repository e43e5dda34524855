#!/usr/bin/env python3
"""Writes NAME.json: how ONNX Runtime's tools quantize a float model, and what ONNX Runtime then computes.

usage: make.py DIGITS MOBILENET

DIGITS is examples/digits/digits.onnx, MOBILENET mobilenet_v2_224.onnx of bench/gen_bench_models.py. heads.onnx, a small detector, is
written too. Needs onnx, onnxruntime, numpy, sympy and ml_dtypes. The quantized model is computed as it is written, without
fusing. The codes of MobileNetV2 are those of the same rules in float64, which this file computes without ONNX Runtime: over
52 layers ONNX Runtime's sums in float32 drift away from them.
"""
import json
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static


def image(n):
    """The bytes of an image, the same as in the test."""
    i = np.arange(n, dtype=np.int64)
    return ((i * i * 7 + i * 13) // 8 % 256).astype(np.uint8)


def heads(path):
    rng = np.random.default_rng(1)
    nodes, inits = [], []

    def conv(x, ci, co, k, s, out):
        inits.append(numpy_helper.from_array((rng.standard_normal((co, ci, k, k)) / np.sqrt(ci * k * k) * 1.4).astype(np.float32), out + ".w"))
        inits.append(numpy_helper.from_array((rng.standard_normal(co) * 0.1).astype(np.float32), out + ".b"))
        nodes.append(helper.make_node("Conv", [x, out + ".w", out + ".b"], [out], kernel_shape=[k, k], strides=[s, s], pads=[k // 2] * 4))
        return out

    def silu(x):
        nodes.append(helper.make_node("Sigmoid", [x], [x + ".sigmoid"]))
        nodes.append(helper.make_node("Mul", [x, x + ".sigmoid"], [x + ".act"]))
        return x + ".act"

    a = silu(conv("images", 3, 8, 3, 2, "stem"))
    b = silu(conv(a, 8, 16, 3, 2, "down"))
    c = silu(conv(b, 16, 16, 3, 1, "mid"))
    nodes.append(helper.make_node("Add", [b, c], ["sum"]))
    d = silu(conv("sum", 16, 24, 3, 2, "deep"))
    inits.append(numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales"))
    nodes.append(helper.make_node("Resize", [silu(conv(d, 24, 16, 1, 1, "neck")), "", "scales"], ["up"], mode="nearest",
                                  coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    nodes.append(helper.make_node("Concat", ["up", "sum"], ["joined"], axis=1))
    conv("joined", 32, 21, 1, 1, "large")
    conv(d, 24, 21, 1, 1, "small.raw")
    nodes.append(helper.make_node("Sigmoid", ["small.raw"], ["small"]))
    info = lambda n, s: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
    graph = helper.make_graph(nodes, "heads", [info("images", [1, 3, 32, 32])], [info("large", [1, 21, 8, 8]), info("small", [1, 21, 4, 4])], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


class Images(CalibrationDataReader):
    def __init__(self, name, shape, mean, std):
        rng = np.random.default_rng(2)
        self.list = [{name: (rng.integers(0, 256, shape).astype(np.float32) - mean) / std} for _ in range(8)]
        self.list.append({name: given(shape, mean, std)})

    def get_next(self):
        return self.list.pop() if self.list else None


def given(shape, mean, std):
    n, c, h, w = shape
    return ((image(n * c * h * w).reshape(n, h, w, c).transpose(0, 3, 1, 2).astype(np.float32) - np.float32(mean)) / np.float32(std)).astype(np.float32)


def asymmetric(model, q):
    """Gives filters 256 codes per output between the least and the largest number and 0, and the int32 biases their units."""
    real = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in model.graph.initializer}
    at = {i.name: k for k, i in enumerate(q.graph.initializer)}
    get = lambda n: numpy_helper.to_array(q.graph.initializer[at[n]])

    def put(name, v):
        q.graph.initializer[at[name]].CopyFrom(numpy_helper.from_array(v, name))

    made = {n.output[0]: n for n in q.graph.node}
    for n in q.graph.node:
        if n.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        x, w = made[n.input[0]], made[n.input[1]]
        axis = [a.i for a in w.attribute if a.name == "axis"][0]
        v = real[w.input[0].removesuffix("_quantized")]
        other = tuple(i for i in range(v.ndim) if i != axis % v.ndim)
        lo, hi = np.minimum(v.min(other, keepdims=True), 0), np.maximum(v.max(other, keepdims=True), 0)
        s = np.where(hi > lo, (hi - lo) / 255, 1)
        z = np.rint(-128 - lo / s)
        put(w.input[0], np.clip(np.rint(v / s) + z, -128, 127).astype(np.int8))
        put(w.input[1], s.reshape(-1).astype(np.float32))
        put(w.input[2], z.reshape(-1).astype(np.int8))
        if len(n.input) > 2 and n.input[2] in made:
            b = made[n.input[2]]
            unit = s.reshape(-1) * float(get(x.input[1]))
            put(b.input[0], np.rint(real[b.input[0].removesuffix("_quantized")] / unit).astype(np.int32))
            put(b.input[1], unit.astype(np.float32))


def filter_codes(w, axis):
    """What the codes of a filter mean, and their scale per output."""
    other = tuple(i for i in range(w.ndim) if i != axis)
    lo, hi = np.minimum(w.min(other, keepdims=True), 0), np.maximum(w.max(other, keepdims=True), 0)
    s = np.where(hi > lo, (hi - lo) / 255, 1)
    z = np.rint(-128 - lo / s)
    return (np.clip(np.rint(w / s) + z, -128, 127) - z) * s, s.reshape(-1)


def conv(x, w, strides, pads, group):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    n, c, h, wd = x.shape
    o, ic, kh, kw = w.shape
    oh, ow = (h - kh) // strides[0] + 1, (wd - kw) // strides[1] + 1
    taps = np.stack([x[:, :, i:i + oh * strides[0]:strides[0], j:j + ow * strides[1]:strides[1]]
                     for i in range(kh) for j in range(kw)], 2)
    if group > 1:
        assert group == c == o and ic == 1
        return np.einsum("nckhw,ck->nchw", taps, w.reshape(o, -1))
    return (w.reshape(o, -1) @ taps.reshape(n, c * kh * kw, oh * ow)).reshape(n, o, oh, ow)


def rules(model, x, tensors):
    """All values by name, computed in float64 and rounded where tensors has codes; and how many numbers before rounding
    lay within 1e-4 of the middle between two codes."""
    v = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in model.graph.initializer}
    near = 0

    def put(name, y):
        nonlocal near
        if name in tensors:
            s, z = float(np.float32(tensors[name][0])), tensors[name][1]
            near += int((np.abs(np.abs(y / s - np.floor(y / s)) - .5) < 1e-4).sum())
            y = (np.clip(np.rint(y / s) + z, -128, 127) - z) * s
        v[name] = y

    s, z = np.float32(tensors[model.graph.input[0].name][0]), tensors[model.graph.input[0].name][1]
    v[model.graph.input[0].name] = (np.clip(np.rint(x / s) + z, -128, 127) - z) * float(s)  # the program's number is float32
    for n in model.graph.node:
        a = {k.name: helper.get_attribute_value(k) for k in n.attribute}
        i = [v[k] for k in n.input]
        if n.op_type in ("Conv", "Gemm"):
            w, s = filter_codes(i[1], 0 if n.op_type == "Conv" or a.get("transB") else 1)
            unit = float(np.float32(tensors[n.input[0]][0])) * s
            b = np.rint(i[2] / unit) * unit
            if n.op_type == "Conv":
                y = conv(i[0], w, a.get("strides", [1, 1]), a.get("pads", [0] * 4), a.get("group", 1)) + b.reshape(1, -1, 1, 1)
            else:
                y = i[0] @ (w.T if a.get("transB") else w) + b
        else:
            y = {"Clip": lambda x, lo, hi: np.clip(x, lo, hi), "Add": lambda x, y: x + y, "Identity": lambda x: x,
                 "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
                 "Flatten": lambda x: x.reshape(x.shape[0], -1)}[n.op_type](*i)
        put(n.output[0], y)
    return v, near


def make(name, path, mean, std, most, exact=False):
    model = onnx.load(path)
    x = model.graph.input[0]
    shape = [d.dim_value or 1 for d in x.type.tensor_type.shape.dim]
    quantized = f"/tmp/{name}.quantized.onnx"
    quantize_static(path, quantized, Images(x.name, shape, mean, std), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)
    q = onnx.load(quantized)
    asymmetric(model, q)
    onnx.save(q, quantized)
    values = {i.name: numpy_helper.to_array(i) for i in q.graph.initializer}
    known = {x.name} | {o for n in model.graph.node for o in n.output}
    tensors = {}
    for n in q.graph.node:
        if n.op_type == "QuantizeLinear":
            t = n.input[0].removesuffix("_QuantizeLinear_Input")
            assert t in known, t
            tensors[t] = [float(values[n.input[1]]), int(values[n.input[2]])]
    for n in model.graph.node:  # a copy is not quantized, a board's file has it all the same
        if n.op_type == "Identity" and n.input[0] in tensors:
            tensors[n.output[0]] = tensors[n.input[0]]
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    names = [o.name for o in model.graph.output]
    run = lambda p: ort.InferenceSession(p, options, ["CPUExecutionProvider"]).run(names, {x.name: given(shape, mean, std)})
    outputs = []
    for o, y, real in zip(names, run(quantized), run(path)):
        scale, zero = tensors[o]
        step = max(1, y.size // most)
        if exact:
            v, near = rules(model, given(shape, mean, std), tensors)
            off = np.abs(np.rint(y / scale) - np.rint(v[o] / np.float32(scale))).astype(int)
            print(f"{name} {o}: ONNX Runtime's float32 differs from the rules in {(off > 0).sum()} of {off.size} codes, by "
                  f"{off.max()} at most; {near} numbers on the way are within 1e-4 of a middle")
            y = v[o]
        outputs.append({"name": o, "shape": list(y.shape), "every": step,
                        "codes": np.rint(y.ravel()[::step] / scale + zero).astype(int).tolist(),
                        "real": [float(f"{v:.9g}") for v in real.ravel()[::step]]})
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, name + ".json"), "w") as f:
        json.dump({"onnxruntime": ort.__version__, "input": x.name, "shape": shape, "mean": mean, "std": std, "tensors": tensors,
                   "outputs": outputs}, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heads.onnx")
    heads(own)
    make("heads", own, 128, 64, 1 << 20)
    make("digits", sys.argv[1], 0, 16, 1 << 20)
    make("mobilenet_v2", sys.argv[2], 127.5, 60, 1 << 20, exact=True)
