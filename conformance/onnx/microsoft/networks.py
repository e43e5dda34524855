"""Small networks as ONNX Runtime writes them: quantized with quantize_static in both forms and with quantize_dynamic, and saved at each level of
optimization."""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "forms"))

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

import forms
from forms import base, f32, node

F = TensorProto.FLOAT


def weights(*shape):
    return (f32(*shape) / np.float32(np.sqrt(np.prod(shape[1:]) or 1))).astype(np.float32)


def cnn():
    c = {"w1": weights(6, 3, 3, 3), "b1": f32(6) / 4, "w2": weights(6, 6, 3, 3), "b2": f32(6) / 4, "w3": weights(8, 6), "b3": f32(8)}
    return (1, 3, 10, 9), c, [
        node("Conv", "x w1 b1", "c1", pads=[1, 1, 1, 1]), node("Relu", "c1", "r1"), node("Conv", "r1 w2 b2", "c2", pads=[1, 1, 1, 1]), node("Add", "c2 r1", "a"),
        node("Relu", "a", "r2"), node("GlobalAveragePool", "r2", "g"), node("Flatten", "g", "f"), node("Gemm", "f w3 b3", "y", transB=1),
    ]


def branches():
    c = {"w1": weights(4, 2, 3, 3), "w2": weights(4, 2, 1, 1), "w3": weights(3, 8, 2, 2), "b3": f32(3) / 4}
    return (1, 2, 9, 8), c, [
        node("Conv", "x w1", "c1", pads=[1, 1, 1, 1]), node("LeakyRelu", "c1", "l1", alpha=0.1), node("Conv", "x w2", "c2"), node("Sigmoid", "c2", "s2"),
        node("Concat", "l1 s2", "k", axis=1), node("AveragePool", "k", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Conv", "p w3 b3", "d"), node("Mul", "d d", "y"),
    ]


def dense():
    c = {"w1": weights(12, 16), "b1": f32(16) / 4, "w2": weights(16, 16), "b2": f32(16) / 4, "w3": weights(16, 5)}
    return (4, 12), c, [
        node("MatMul", "x w1", "m1"), node("Add", "m1 b1", "a1"), node("Relu", "a1", "r1"), node("MatMul", "r1 w2", "m2"), node("Add", "m2 b2", "a2"),
        node("Add", "a2 r1", "s"), node("MatMul", "s w3", "m3"), node("Softmax", "m3", "y", axis=-1),
    ]


def separable():
    c = {"w1": weights(8, 4, 1, 1), "b1": f32(8) / 4, "w2": f32(8, 1, 3, 3) / 4, "b2": f32(8) / 4, "w3": weights(4, 8, 1, 1), "b3": f32(4) / 4, "lo": np.float32(0), "hi": np.float32(6)}
    return (1, 4, 8, 8), c, [
        node("Conv", "x w1 b1", "c1"), node("Clip", "c1 lo hi", "k1"), node("Conv", "k1 w2 b2", "c2", group=8, pads=[1, 1, 1, 1]), node("Clip", "c2 lo hi", "k2"),
        node("Conv", "k2 w3 b3", "c3"), node("Add", "c3 x", "y"),
    ]


def recurrent():
    c = {"w": weights(1, 24, 5), "r": weights(1, 24, 6), "b": f32(1, 48) / 4, "v": weights(6, 4)}
    return (7, 2, 5), c, [node("LSTM", "x w r b", "h", hidden_size=6), node("Squeeze", "h", "q"), node("MatMul", "q v", "y")]


def transformer():
    n, h = 2, 4
    w = n * h
    c = {k: weights(w, w) for k in ("wq", "wk", "wv", "wo")} | {"u": weights(w, 16), "v": weights(16, w), "g": f32(w), "e": f32(w), "bu": f32(16) / 4, "bv": f32(w) / 4,
                                                             "split": np.array([0, 0, n, h], np.int64), "join": np.array([0, 0, w], np.int64), "s": np.float32(0.5)}
    nodes = []
    for k in "qkv":
        nodes += [node("MatMul", f"x w{k}", f"m{k}"), node("Reshape", f"m{k} split", f"s{k}"), node("Transpose", f"s{k}", f"t{k}", perm=[0, 2, 3, 1] if k == "k" else [0, 2, 1, 3])]
    nodes += [
        node("MatMul", "tq tk", "qk"), node("Mul", "qk s", "sc"), node("Softmax", "sc", "p", axis=-1), node("MatMul", "p tv", "o"), node("Transpose", "o", "ot", perm=[0, 2, 1, 3]),
        node("Reshape", "ot join", "oj"), node("MatMul", "oj wo", "om"), node("Add", "om x", "oa"), node("LayerNormalization", "oa g e", "ln"),
        node("MatMul", "ln u", "um"), node("Add", "um bu", "ua"), node("Gelu", "ua", "ug"), node("MatMul", "ug v", "vm"), node("Add", "vm bv", "va"), node("Add", "va ln", "y"),
    ]
    return (2, 5, w), c, nodes


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.left = list(feeds)

    def get_next(self):
        return self.left.pop() if self.left else None


def ended(model):
    """The model without what says where and when it was made."""
    del model.metadata_props[:]
    model.producer_version = ""
    model.graph.name = "net"
    del model.graph.value_info[:]
    return model


def keep(name, path, feeds):
    model = ended(onnx.load(path))
    base.cases[f"network_{name}"] = (model, feeds, dict(zip([o.name for o in model.graph.output], forms.one_by_one(model, feeds))))


def pools():
    c = {"w1": weights(8, 3, 3, 3), "b1": f32(8) / 4, "w2": weights(8, 8, 3, 3), "w3": weights(8, 4)}
    return (1, 3, 12, 12), c, [
        node("Conv", "x w1 b1", "c1", pads=[1, 1, 1, 1]), node("Relu", "c1", "r1"), node("MaxPool", "r1", "p1", kernel_shape=[2, 2], strides=[2, 2]), node("Conv", "p1 w2", "c2"),
        node("MaxPool", "c2", "p2", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1), node("GlobalAveragePool", "p2", "g"), node("Flatten", "g", "f"), node("MatMul", "f w3", "y"),
    ]


def pooled():
    networks([pools])


def networks(all=(cnn, branches, dense, separable, recurrent, transformer)):
    for f in all:
        shape, inits, nodes = f()
        g = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", F, shape)], [helper.make_tensor_value_info("y", F, None)],
                              [numpy_helper.from_array(v, k) for k, v in inits.items()])
        model = helper.make_model(g, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        feeds = {"x": f32(*shape)}
        with tempfile.TemporaryDirectory() as d:
            at = lambda name: os.path.join(d, name)
            onnx.save(model, at("net.onnx"))
            sets = [feeds] + [{"x": f32(*shape)} for _ in range(4)]
            for form in QuantFormat:
                for kind, types in (("u8", (QuantType.QUInt8, QuantType.QUInt8)), ("u8s8", (QuantType.QUInt8, QuantType.QInt8)), ("s8", (QuantType.QInt8, QuantType.QInt8))):
                    if form.name == "QOperator" and kind == "s8" and f in (recurrent,):
                        continue
                    name = f"{f.__name__}_{form.name.lower()}_{kind}"
                    quantize_static(at("net.onnx"), at("q.onnx"), Reader(sets), quant_format=form, activation_type=types[0], weight_type=types[1], per_channel=kind == "u8s8")
                    keep(name, at("q.onnx"), feeds)
            quantize_static(at("net.onnx"), at("s.onnx"), Reader(sets), quant_format=QuantFormat.QDQ)
            for kind in (QuantType.QUInt8, QuantType.QInt8):
                quantize_dynamic(at("net.onnx"), at("q.onnx"), weight_type=kind)
                keep(f"{f.__name__}_dynamic_{kind.name.lower()}", at("q.onnx"), feeds)
            kinds = {"net": "float", "q": "dynamic", "s": "static"}
            for level in ("BASIC", "EXTENDED", "ALL"):
                for source in ("net", "q", "s"):
                    options = ort.SessionOptions()
                    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
                    options.optimized_model_filepath = at("o.onnx")
                    options.log_severity_level = 3
                    ort.InferenceSession(at(source + ".onnx"), options, providers=["CPUExecutionProvider"])
                    if "com.microsoft.nchwc" in {n.domain for n in onnx.load(at("o.onnx")).graph.node}:
                        continue  # for the processor at hand
                    keep(f"{f.__name__}_{kinds[source]}_{level.lower()}", at("o.onnx"), feeds)
