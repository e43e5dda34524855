#!/usr/bin/env python3
"""Make microsoft.zip.0.gz: the operators of com.microsoft with their types, optional inputs and attributes, as ONNX Runtime computes them.

    python3 -m venv venv && venv/bin/pip install onnxruntime==1.32.0 onnx==1.23.2 && venv/bin/python gen.py

ONNX Runtime computes nodes as they stand, without optimization. Halfway between two codes ONNX Runtime rounds to even,
in sums and products with the zero point added, elsewhere without: scales have no simple ratios but in ties. Format and rules are those of ../forms; the same versions write the same bytes.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "forms"))

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import forms
from forms import base, f32, rng
from networks import networks, pooled

MS = "com.microsoft"


def build(name, nodes, feeds, inits, outs, opset=17):
    """A model of nodes; outs are the types of its outputs by name."""
    info = lambda k, v: helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
    g = helper.make_graph(nodes, name, [info(k, v) for k, v in feeds.items()],
                          [helper.make_tensor_value_info(k, t, None) for k, t in outs.items()], [numpy_helper.from_array(v, k) for k, v in inits.items()])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)]
    return helper.make_model(g, opset_imports=imports, ir_version=10, producer_name="gen.py")


def add(tag, op, ins, feeds, inits=None, outs="y", types=None, domain=MS, imported=17, want=None, opened=False, **attrs):
    """Adds a case of one node, named after the operator and tag. Inputs that are not fed are constants; types are those of the outputs, which want
    gives where ONNX Runtime does not compute what its schema says. The sizes of the inputs of an opened model are names."""
    name = f"{op}_{tag}"
    feeds = {k: np.asarray(v) for k, v in feeds.items()}
    inits = {k: np.asarray(v) for k, v in (inits or {}).items() if k in ins.split() and k not in feeds}
    n = forms.node(op, ins, outs, domain=domain, **attrs)
    made = [o for o in outs.split() if o != "-"]
    types = dict(zip(made, types or [TensorProto.FLOAT] * len(made)))
    model = build(name, [n], feeds, inits, types, imported)
    if opened:
        for i in model.graph.input:
            for k, d in enumerate(i.type.tensor_type.shape.dim):
                d.dim_param = f"{i.name}_{k}"
    try:
        values = forms.one_by_one(model, feeds) if want is None else want
    except Exception as e:
        forms.problems.append(f"{name}: {e}")
        return
    if name in base.cases:
        forms.problems.append(f"{name} twice")
    base.cases[name] = (model, feeds, dict(zip(made, map(np.asarray, values))))


def refused(tag, op, ins, feeds, inits=None, **attrs):
    """Adds a model that is refused."""
    feeds = {k: np.asarray(v) for k, v in feeds.items()}
    inits = {k: np.asarray(v) for k, v in (inits or {}).items() if k in ins.split()}
    model = build(tag, [forms.node(op, ins, domain=MS, **attrs)], feeds, inits, {"y": TensorProto.FLOAT})
    base.cases[f"refused_{op}_{tag}"] = (model, {}, {})


KINDS = {"u8": (np.uint8, TensorProto.UINT8, 128, 0, 256), "s8": (np.int8, TensorProto.INT8, -3, -128, 128)}


def scalars(kind, **numbers):
    """Scales and zero points: names with z are of the type of the codes."""
    return {k: np.array(v, KINDS[kind][0] if k.endswith("z") else np.float32) for k, v in numbers.items()}


def codes(kind, *shape):
    _, _, _, low, high = KINDS[kind]
    return rng.integers(low, high, shape).astype(KINDS[kind][0])


def binaries():
    for op in ("QLinearAdd", "QLinearMul"):
        for kind, (_, t, zero, _, _) in KINDS.items():
            c = scalars(kind, sa=0.1237, az=zero, sb=0.0631, bz=zero + 5, sc=0.2543 if op == "QLinearAdd" else 0.5119, cz=zero - 2)
            for tag, a, b in (("same", (2, 3, 4, 5), (2, 3, 4, 5)), ("scalar", (2, 37), ()), ("channel", (2, 3, 4, 5), (3, 1, 1)), ("both", (4, 1), (3, 1, 5))):
                add(f"{kind}_{tag}", op, "a sa az b sb bz sc cz", {"a": codes(kind, *a), "b": codes(kind, *b)}, c, types=[t])
            add(f"{kind}_constant", op, "a sa az b sb bz sc cz", {"a": codes(kind, 3, 7)}, {**c, "b": codes(kind, 7)}, types=[t])
        u = scalars("u8", sa=0.125, az=3, sb=0.0625, bz=5, sc=0.25, cz=2)
        feeds = {"a": codes("u8", 3, 7), "b": codes("u8", 3, 7)}
        refused("unknown_attribute", op, "a sa az b sb bz sc cz", feeds, u, axis=1)
        refused("without_scale", op, "a sa az b sb bz", feeds, u)
        refused("scale_per_column", op, "a sa az b sb bz sc cz", feeds, {**u, "sa": np.full(7, 0.5, np.float32)})


def concat():
    for kind, (_, t, zero, _, _) in KINDS.items():
        c = scalars(kind, s=0.1, z=zero, sa=0.1, az=zero, sb=0.07, bz=zero + 5, sc=0.21, cz=zero - 2)
        three = "s z a sa az b sb bz c sc cz"
        add(f"{kind}_channels", "QLinearConcat", three, {"a": codes(kind, 1, 2, 3, 4), "b": codes(kind, 1, 5, 3, 4), "c": codes(kind, 1, 1, 3, 4)}, c, types=[t], axis=1)
        add(f"{kind}_last", "QLinearConcat", three, {"a": codes(kind, 3, 2), "b": codes(kind, 3, 5), "c": codes(kind, 3, 4)}, c, types=[t], axis=-1)
        add(f"{kind}_first", "QLinearConcat", three, {"a": codes(kind, 3, 2), "b": codes(kind, 5, 2)}, {**c, "c": codes(kind, 2, 2)}, types=[t], axis=0)
        add(f"{kind}_one", "QLinearConcat", "s z b sb bz", {"b": codes(kind, 3, 5)}, c, types=[t], axis=1)
        add(f"{kind}_same_scale", "QLinearConcat", "s z a sa az b sa az", {"a": codes(kind, 3, 5), "b": codes(kind, 3, 5)}, c, types=[t], axis=1)
    c = scalars("u8", s=0.1, z=3, sa=0.1, az=3)
    refused("without_axis", "QLinearConcat", "s z a sa az", {"a": codes("u8", 3, 5)}, c)
    refused("two_of_three", "QLinearConcat", "s z a sa", {"a": codes("u8", 3, 5)}, c, axis=1)


def pools():
    for kind, (_, t, zero, _, _) in KINDS.items():
        c = scalars(kind, s=0.1137, z=zero, t=0.0619, tz=zero - 7)
        for tag, shape, more in (("plain", (2, 3, 5, 7), {}), ("one_dimension", (1, 4, 11), {}), ("channels_last", (2, 5, 7, 3), {"channels_last": 1}), ("large", (1, 2, 32, 33), {})):
            add(f"{kind}_{tag}", "QLinearGlobalAveragePool", "x s z t tz", {"x": codes(kind, *shape)}, c, types=[t], **more)
        for tag, more in (("plain", {}), ("strides", {"strides": [2, 1]}), ("pads", {"pads": [1, 0, 1, 1]}), ("pads_count", {"pads": [1, 1, 1, 1], "count_include_pad": 1}),
                          ("ceil", {"strides": [2, 2], "ceil_mode": 1}), ("same", {"auto_pad": "SAME_UPPER", "strides": [2, 2]})):
            add(f"{kind}_{tag}", "QLinearAveragePool", "x s z t tz", {"x": codes(kind, 2, 3, 8, 7)}, c, types=[t], kernel_shape=[3, 2], **more)
        add(f"{kind}_channels_last", "QLinearAveragePool", "x s z t tz", {"x": codes(kind, 2, 8, 7, 3)}, c, types=[t], kernel_shape=[3, 2], channels_last=1)


def unaries():
    for kind, (_, t, zero, low, high) in KINDS.items():
        every = np.arange(low, high).astype(KINDS[kind][0])
        for op, more in (("QLinearSigmoid", ({},)), ("QLinearLeakyRelu", ({}, {"alpha": 0.3}))):
            for i, attrs in enumerate(more):
                for tag, c in (("near", scalars(kind, s=0.031, z=zero, t=1 / 256, tz=low)), ("far", scalars(kind, s=0.27, z=zero + 3, t=0.19, tz=zero))):
                    add(f"{kind}_{tag}_{i}", op, "x s z t tz", {"x": every}, c, types=[t], **attrs)
                add(f"{kind}_no_zero_of_result_{i}", op, "x s z t -", {"x": every}, scalars(kind, s=0.031, z=zero, t=0.05), types=[t], **attrs)
                add(f"{kind}_no_zeros_{i}", op, "x s - t -", {"x": every.reshape(4, 8, 8)}, scalars(kind, s=0.031, t=0.05), types=[t], **attrs)
        c = scalars(kind, s=0.043, z=zero, t=1 / 256, tz=low)
        for tag, shape, more in (("last", (3, 5, 9), {"opset": 13}), ("middle", (3, 5, 9), {"opset": 13, "axis": 1}), ("flat", (3, 5, 9), {"opset": 12, "axis": 1}),
                                 ("flat_last", (3, 5, 9), {"opset": 11, "axis": 2}), ("row", (4, 31), {"opset": 17, "axis": -1})):
            add(f"{kind}_{tag}", "QLinearSoftmax", "x s z t tz", {"x": codes(kind, *shape)}, c, types=[t], **more)
        for i, step in enumerate((1 / 255, 0.0137, 0.03)):
            add(f"{kind}_step_{i}", "QLinearSoftmax", "x s z t tz", {"x": codes(kind, 7, 5)}, {**c, "t": np.float32(step)}, types=[t], opset=13)
    refused("without_opset", "QLinearSoftmax", "x s z t tz", {"x": codes("u8", 3, 5)}, scalars("u8", s=0.1, z=0, t=0.1, tz=0))


def gemm():
    for kind, (_, t, zero, _, _) in KINDS.items():
        c = scalars(kind, s=0.1237, z=zero, u=0.0631, uz=zero - 1, t=4.013, tz=zero)
        a, b, bias = codes(kind, 5, 9), codes(kind, 9, 4), rng.integers(-9000, 9000, 4).astype(np.int32)
        per = {"u": np.array([0.0631, 0.1129, 0.2617, 0.0337], np.float32), "uz": codes(kind, 4)}
        all_of = "a s z b u uz c t tz"
        add(f"{kind}_plain", "QGemm", all_of, {"a": a}, {**c, "b": b, "c": bias}, types=[t])
        add(f"{kind}_no_bias", "QGemm", "a s z b u uz - t tz", {"a": a}, {**c, "b": b}, types=[t])
        add(f"{kind}_real", "QGemm", "a s z b u uz c", {"a": a}, {**c, "b": b, "c": bias})
        add(f"{kind}_real_no_bias", "QGemm", "a s z b u uz", {"a": a, "b": b}, c)
        add(f"{kind}_trans_a", "QGemm", all_of, {"a": np.ascontiguousarray(a.T)}, {**c, "b": b, "c": bias}, types=[t], transA=1)
        add(f"{kind}_trans_b", "QGemm", all_of, {"a": a}, {**c, "b": np.ascontiguousarray(b.T), "c": bias}, types=[t], transB=1)
        add(f"{kind}_per_column", "QGemm", all_of, {"a": a}, {**c, **per, "b": b, "c": bias}, types=[t])
        add(f"{kind}_per_column_trans_b", "QGemm", "a s z b u uz c", {"a": a}, {**c, **per, "b": np.ascontiguousarray(b.T), "c": bias}, transB=1)
        add(f"{kind}_alpha", "QGemm", all_of, {"a": a}, {**c, "b": b, "c": bias}, types=[t], alpha=0.5)
    mixed = scalars("u8", s=0.1237, z=7, t=4.013, tz=100) | scalars("s8", u=0.0631, uz=0)
    add("mixed", "QGemm", "a s z b u uz - t tz", {"a": codes("u8", 5, 9)}, {**mixed, "b": codes("s8", 9, 4)}, types=[TensorProto.UINT8])


def convolutions():
    for kind, (_, t, zero, _, _) in KINDS.items():
        c = scalars(kind, s=0.0237, z=zero, u=0.0131, uz=zero if kind == "u8" else 0, t=0.2513, tz=zero) | {"w": codes(kind, 6, 4, 3, 2), "b": rng.integers(-900, 900, 6).astype(np.int32)}
        per = {"u": np.linspace(0.007, 0.019, 6, dtype=np.float32), "uz": np.full(6, zero if kind == "u8" else 0, KINDS[kind][0])}
        last, ins = {"channels_last": 1}, "x s z w u uz t tz b"
        x, y = codes(kind, 2, 7, 6, 4), codes(kind, 2, 4, 7, 6)
        add(f"{kind}_last", "QLinearConv", ins, {"x": x}, c, types=[t], **last)
        add(f"{kind}_last_no_bias", "QLinearConv", "x s z w u uz t tz", {"x": x}, c, types=[t], **last)
        add(f"{kind}_last_pads", "QLinearConv", ins, {"x": x}, c, types=[t], pads=[1, 0, 1, 1], strides=[2, 1], **last)
        add(f"{kind}_last_groups", "QLinearConv", ins, {"x": x}, {**c, "w": codes(kind, 6, 2, 3, 2)}, types=[t], group=2, **last)
        add(f"{kind}_last_depthwise", "QLinearConv", "x s z w u uz t tz", {"x": x}, {**c, "w": codes(kind, 4, 1, 3, 2)}, types=[t], group=4, **last)
        add(f"{kind}_first", "QLinearConv", ins, {"x": y}, c, types=[t])
        if kind == "s8":
            add(f"{kind}_last_per_channel", "QLinearConv", ins, {"x": x}, {**c, **per}, types=[t], **last)


def encoded():
    kinds = {"u8": (np.uint8, 128), "s8": (np.int8, -3), "u16": (np.uint16, 32768), "s16": (np.int16, 7)}
    x = f32(3, 4, 5) * 3
    for kind, (d, zero) in kinds.items():
        t = helper.np_dtype_to_tensor_dtype(np.dtype(d))
        s, z = {"s": np.float32(0.043), "v": f32(4) / 8 + np.float32(0.3)}, {"z": np.array(zero, d), "w": rng.integers(0, 100, 4).astype(d)}
        s["v"] = np.abs(s["v"]) + np.float32(0.01)
        q = rng.integers(0, 120, (3, 4, 5)).astype(d)
        add(f"{kind}_tensor", "QuantizeLinear", "x s z", {"x": x}, {**s, **z}, types=[t])
        add(f"{kind}_axis", "QuantizeLinear", "x v w", {"x": x}, {**s, **z}, types=[t], axis=1)
        add(f"{kind}_axis_from_the_end", "QuantizeLinear", "x v w", {"x": x}, {**s, **z}, types=[t], axis=-2)
        add(f"{kind}_tensor", "DequantizeLinear", "x s z", {"x": q}, {**s, **z})
        add(f"{kind}_axis", "DequantizeLinear", "x v w", {"x": q}, {**s, **z}, axis=1)
    add("u8_no_zero", "QuantizeLinear", "x s", {"x": x}, {"s": np.float32(0.043)}, types=[TensorProto.UINT8])
    add("s8_no_zero", "DequantizeLinear", "x s", {"x": codes("s8", 3, 4)}, {"s": np.float32(0.043)})
    add("s32_no_zero", "DequantizeLinear", "x s", {"x": rng.integers(-9000, 9000, (3, 4)).astype(np.int32)}, {"s": np.float32(0.043)})
    half = {"s": np.float16(0.0625), "z": np.array(5, np.uint8)}
    add("half", "QuantizeLinear", "x s z", {"x": x.astype(np.float16)}, half, types=[TensorProto.UINT8])
    add("half", "DequantizeLinear", "x s z", {"x": codes("u8", 3, 4)}, half, types=[TensorProto.FLOAT16])


def fused():
    x, w, b, z = f32(2, 4, 7, 6), f32(6, 4, 3, 3) / 4, f32(6), f32(2, 6, 5, 4)
    c = {"w": w, "b": b}
    for tag, more in {
        "none": {}, "relu": {"activation": "Relu"}, "sigmoid": {"activation": "Sigmoid"}, "tanh": {"activation": "Tanh"},
        "leakyrelu": {"activation": "LeakyRelu", "activation_params": [0.2]}, "clip": {"activation": "Clip", "activation_params": [-0.5, 1.5]},
        "hardsigmoid": {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]},
        "strides": {"activation": "Relu", "strides": [2, 1], "pads": [1, 0, 1, 1], "dilations": [1, 2]}, "same": {"activation": "Relu", "auto_pad": "SAME_UPPER"},
    }.items():
        add(tag, "FusedConv", "x w b", {"x": x}, c, **more)
    add("no_bias", "FusedConv", "x w", {"x": x}, c, activation="Relu")
    add("sum", "FusedConv", "x w b z", {"x": x, "z": z}, c, activation="Relu")
    add("sum_no_bias", "FusedConv", "x w - z", {"x": x, "z": z}, c, activation="Relu")
    add("groups", "FusedConv", "x v b", {"x": x}, {"v": f32(6, 2, 3, 3), "b": b}, activation="Relu", group=2)
    add("computed_filter", "FusedConv", "x w b", {"x": x, "w": w}, c, activation="Relu")
    add("one_dimension", "FusedConv", "x w", {"x": f32(1, 4, 9)}, {"w": f32(3, 4, 2)}, activation="Relu")
    refused("activation", "FusedConv", "x w b", {"x": x}, c, activation="Sideways")
    refused("clip_without_numbers", "FusedConv", "x w b", {"x": x}, c, activation="Clip")

    a, m = f32(5, 7), {"b": f32(7, 4), "c": f32(4)}
    for tag, more in {"relu": {"activation": "Relu"}, "sigmoid": {"activation": "Sigmoid"}, "tanh": {"activation": "Tanh"}, "softplus": {"activation": "Softplus"},
                      "softsign": {"activation": "Softsign"}, "leakyrelu": {"activation": "LeakyRelu", "activation_alpha": 0.2},
                      "elu": {"activation": "Elu", "activation_alpha": 0.7}, "thresholdedrelu": {"activation": "ThresholdedRelu", "activation_alpha": 0.7},
                      "hardsigmoid": {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4},
                      "numbers": {"activation": "Relu", "alpha": 0.5, "beta": 2.0}}.items():
        add(tag, "FusedGemm", "a b c", {"a": a}, m, **more)
    add("no_c", "FusedGemm", "a b", {"a": a}, m, activation="Relu")
    add("trans", "FusedGemm", "a b c", {"a": f32(7, 5)}, {"b": f32(4, 7), "c": f32(5, 1)}, activation="Relu", transA=1, transB=1)

    for tag, s, t, more in (
        ("plain", (5, 7), (7, 4), {}), ("alpha", (5, 7), (7, 4), {"alpha": 0.125}), ("trans_a", (7, 5), (7, 4), {"transA": 1}), ("trans_b", (2, 3, 5, 7), (2, 3, 4, 7), {"transB": 1, "alpha": 0.5}),
        ("trans_both", (2, 7, 5), (4, 7), {"transA": 1, "transB": 1}), ("batch_a", (5, 2, 7), (2, 7, 4), {"transBatchA": 1}), ("batch_b", (2, 5, 7), (7, 2, 4), {"transBatchB": 1}),
        ("batch_both", (5, 2, 3, 7), (7, 2, 3, 4), {"transBatchA": 1, "transBatchB": 1}), ("batch_and_trans", (7, 2, 5), (4, 2, 7), {"transA": 1, "transB": 1, "transBatchA": 1, "transBatchB": 1}),
        ("vector", (7,), (7, 4), {"transA": 1}),
    ):
        add(tag, "FusedMatMul", "a b", {"a": f32(*s), "b": f32(*t)}, **more)


def gelus():
    for tag, shape in (("list", (37,)), ("rows", (3, 8)), ("image", (2, 3, 4, 5)), ("one", (1, 1)), ("batch", (2, 5, 16)), ("large", (4, 65)), ("empty", (0, 3)), ("none", (2, 3, 1))):
        x, bias = f32(*shape) * 3, {"b": f32(shape[-1])}
        add(tag, "Gelu", "x", {"x": x})
        add(tag, "QuickGelu", "x", {"x": x}, **({"alpha": 0.9} if tag in ("rows", "batch") else {"alpha": 0.0} if tag == "one" else {"alpha": -1.5} if tag == "large" else {}))
        add(tag, "FastGelu", "x b" if tag in ("rows", "batch", "large") else "x", {"x": x}, bias)
        if tag != "empty":
            add(tag, "BiasGelu", "x b", {"x": x}, bias)
            add(tag + "_computed", "BiasGelu", "x b", {"x": x, **bias})
    for op in ("Gelu", "QuickGelu", "FastGelu"):
        refused("unknown_attribute", op, "x", {"x": f32(3)}, approximate="tanh")


def norms():
    x, skip = f32(2, 3, 8), f32(2, 3, 8)
    c = {"g": f32(8), "b": f32(8), "c": f32(8)}
    for tag, feeds in (("plain", {"x": x, "s": skip}), ("one_batch", {"x": x, "s": skip[:1]}), ("rows", {"x": x, "s": skip[0]}), ("no_batch", {"x": x[0], "s": skip[0]})):
        for more, ins in (("", "x s g b"), ("_no_beta", "x s g"), ("_bias", "x s g b c")):
            add(tag + more, "SkipLayerNormalization", ins, feeds, c)
            add(tag + more + "_sum", "SkipLayerNormalization", ins, feeds, c, outs="y - - t", epsilon=0.01)
        for more, ins in (("", "x s g"), ("_bias", "x s g c")):
            add(tag + more, "SkipSimplifiedLayerNormalization", ins, feeds, c)
            add(tag + more + "_sum", "SkipSimplifiedLayerNormalization", ins, feeds, c, outs="y - - t", epsilon=0.01)
    for tag, shape, more in (("plain", (8,), {}), ("epsilon", (8,), {"epsilon": 0.25}), ("axis_1", (3, 8), {"axis": 1}), ("axis_0", (2, 3, 8), {"axis": 0}), ("axis_back", (3, 8), {"axis": -2})):
        add(tag, "SimplifiedLayerNormalization", "x g", {"x": x}, {"g": f32(*shape)}, domain="", **more)
        add(tag + "_deviation", "SimplifiedLayerNormalization", "x g", {"x": x}, {"g": f32(*shape)}, outs="y d", domain="", **more)
    half = {k: v.astype(np.float16) for k, v in {"x": x, "s": skip}.items()}
    gamma = {"g": c["g"].astype(np.float16), "b": c["b"].astype(np.float16)}
    add("half", "SkipLayerNormalization", "x s g b", half, gamma, types=[TensorProto.FLOAT16], epsilon=0.01)
    add("half", "SkipSimplifiedLayerNormalization", "x s g", half, gamma, types=[TensorProto.FLOAT16], epsilon=0.01)
    add("half", "SimplifiedLayerNormalization", "x g", {"x": half["x"]}, gamma, types=[TensorProto.FLOAT16], domain="")
    add("before_17", "LayerNormalization", "x g b", {"x": x}, c, domain="", imported=12)


def integers():
    x = f32(5, 9)
    for kind in KINDS:
        b = codes(kind, 9, 4)
        c = {"b": b, "s": np.float32(0.0231), "z": np.array(7, b.dtype), "v": np.array([0.0231, 0.11, 0.31, 0.0173], np.float32), "w": codes(kind, 4), "c": f32(4)}
        for tag, ins in (("plain", "x b s"), ("zero", "x b s z"), ("bias", "x b s - c"), ("zero_bias", "x b s z c"), ("per_column", "x b v w c"), ("per_column_no_zero", "x b v")):
            add(f"{kind}_{tag}", "DynamicQuantizeMatMul", ins, {"x": x}, c)
        add(f"{kind}_batch", "DynamicQuantizeMatMul", "x b s z", {"x": f32(2, 3, 9)}, c)
        add(f"{kind}_computed", "DynamicQuantizeMatMul", "x b s z", {"x": x, "b": b}, c)
        add(f"{kind}_positive", "DynamicQuantizeMatMul", "x b s z", {"x": np.abs(x) + 1}, c)
        a = codes("u8", 5, 9)
        m = {**c, "t": np.float32(0.017), "az": np.array(100, np.uint8)}
        for tag, ins in (("plain", "a b t s"), ("zero_a", "a b t s az"), ("zero_b", "a b t s - z"), ("zeros", "a b t s az z"), ("bias", "a b t s az z c"), ("per_column", "a b t v az w c"), ("per_column_no_zeros", "a b t v")):
            add(f"u8_{kind}_{tag}", "MatMulIntegerToFloat", ins, {"a": a}, m)
        add(f"u8_{kind}_batch", "MatMulIntegerToFloat", "a b t s az z", {"a": codes("u8", 2, 3, 9)}, m)
    add("s8_s8", "MatMulIntegerToFloat", "a b t s az z", {"a": codes("s8", 5, 9)},
        {"b": codes("s8", 9, 4), "t": np.float32(0.017), "s": np.float32(0.023), "az": np.int8(3), "z": np.int8(-4)})


def blocks():
    for bits in (4, 8):
        for tag, n, k, size, shape in (("one_block", 5, 16, 16, (3, 16)), ("blocks", 6, 64, 16, (2, 3, 64)), ("odd_blocks", 7, 48, 16, (4, 48)), ("part_of_a_block", 5, 40, 32, (3, 40)), ("large", 8, 128, 128, (1, 128)), ("row", 4, 32, 32, (32,))):
            if tag == "row":
                shape = (1, 32)
            count = -(-k // size)
            c = {"b": rng.integers(0, 256, (n, count, size * bits // 8)).astype(np.uint8), "s": (rng.integers(1, 64, n * count) / 512).astype(np.float32),
                 "z": rng.integers(0, 256, n * (-(-count * bits // 8))).astype(np.uint8), "h": (rng.integers(0, 128, (n, count)) / 8).astype(np.float32),
                 "c": f32(n), "g": rng.integers(0, count, k).astype(np.int32)}
            more = {"K": k, "N": n, "bits": bits, "block_size": size}
            x = {"x": f32(*shape)}
            for kind, ins in (("plain", "x b s"), ("zeros", "x b s z"), ("bias", "x b s z - c"), ("real_zeros", "x b s h")):
                if bits == 8 and kind == "real_zeros":
                    continue
                add(f"{bits}_{tag}_{kind}", "MatMulNBits", ins, x, c, **more)
            if bits == 4 and tag == "blocks":
                halves = lambda v: np.stack([v.reshape(-1) & 15, v.reshape(-1) >> 4], 1).reshape(n, -1).astype(np.float64)
                real = (halves(c["b"]) - halves(c["z"])[:, c["g"]]) * c["s"].reshape(n, -1)[:, c["g"]]
                add(f"{bits}_{tag}_groups", "MatMulNBits", "x b s z g", x, c, want=[(x["x"] @ real.T).astype(np.float32)], **more)
                add(f"{bits}_{tag}_groups_no_zeros", "MatMulNBits", "x b s - g", x, c, **more)
                add(f"{bits}_{tag}_half", "MatMulNBits", "x b s z", {"x": x["x"].astype(np.float16)}, {**c, "s": c["s"].astype(np.float16)}, types=[TensorProto.FLOAT16], **more)
                add(f"{bits}_{tag}_scale_rows", "MatMulNBits", "x b s z", x, {**c, "s": c["s"].reshape(n, count), "z": c["z"].reshape(n, -1)}, **more)
    c = {"b": rng.integers(0, 256, (5, 1, 4)).astype(np.uint8), "s": f32(5)}
    refused("three_bits", "MatMulNBits", "x b s", {"x": f32(3, 16)}, c, K=16, N=5, bits=3, block_size=16)
    refused("sizes", "MatMulNBits", "x b s", {"x": f32(3, 16)}, c, K=16, N=5, bits=4, block_size=16)
    refused("without_K", "MatMulNBits", "x b s", {"x": f32(3, 16)}, c, N=5, bits=4, block_size=16)


def recurrent():
    for kind in KINDS:
        zero = {"u8": 128, "s8": 0}[kind]
        for tag, d, more, ins in (
            ("forward", 1, {}, "x w r b"), ("no_bias", 1, {}, "x w r"), ("reverse", 1, {"direction": "reverse"}, "x w r b"), ("both", 2, {"direction": "bidirectional"}, "x w r b"),
            ("states", 1, {}, "x w r b - h c"), ("states_both", 2, {"direction": "bidirectional"}, "x w r b - h c"), ("peephole", 1, {}, "x w r b - - - p"),
            ("lengths", 1, {}, "x w r b l h c"), ("lengths_reverse", 1, {"direction": "reverse"}, "x w r b l"), ("lengths_both", 2, {"direction": "bidirectional"}, "x w r b l"),
            ("clip", 1, {"clip": 0.5}, "x w r b"), ("activations", 1, {"activations": ["HardSigmoid", "Tanh", "Relu"], "activation_alpha": [0.25], "activation_beta": [0.375]}, "x w r b"),
            ("activations_both", 2, {"direction": "bidirectional", "activations": ["HardSigmoid", "LeakyRelu", "Tanh"] * 2, "activation_alpha": [0.25, 0.1, 0.3, 0.2], "activation_beta": [0.375, 0.4]}, "x w r b"),
        ):
            t, batch, i, hidden = 5, 3, 4, 6
            low, high = (64, 192) if kind == "u8" else (-64, 64)
            typ = KINDS[kind][0]
            for each in ("", "_per_column"):
                scale = lambda: ((rng.integers(16, 64, (d, 4 * hidden) if each else (d,))) / 4096).astype(np.float32)
                if each and tag not in ("forward", "both"):
                    continue
                given = (ins.split() + ["-"] * 8)[:8] + ["ws", "wz", "rs", "rz"]
                zeros = np.full((d, 4 * hidden) if each else (d,), zero, typ)
                c = {"w": rng.integers(low, high, (d, i, 4 * hidden)).astype(typ), "r": rng.integers(low, high, (d, hidden, 4 * hidden)).astype(typ), "b": f32(d, 8 * hidden) / 4,
                     "p": f32(d, 3 * hidden) / 4, "ws": scale(), "wz": zeros, "rs": scale(), "rz": zeros}
                feeds = {"x": f32(t, batch, i)}
                feeds.update({k: v for k, v in {"l": np.array([5, 2, 3], np.int32), "h": f32(d, batch, hidden) / 2, "c": f32(d, batch, hidden) / 2}.items() if k in given})
                add(f"{kind}_{tag}{each}", "DynamicQuantizeLSTM", " ".join(given), feeds, c, outs="y yh yc", hidden_size=hidden, **more)


def attentions():
    b, s, n, h = 2, 5, 3, 4
    w = n * h
    x = f32(b, s, 7)
    c = {"w": f32(7, 3 * w) / 4, "b": f32(3 * w) / 4}
    masks = {"length": np.array([3, 5], np.int32), "range": np.array([4, 5, 1, 0], np.int32), "keys": np.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 1]], np.int32),
             "each": np.array([[[1, 0, 1, 1, 0]] * 5, [[1, 1, 0, 0, 1]] * 5], np.int32)}
    bias = f32(b, n, s, s)
    for tag, more in (("plain", {}), ("causal", {"unidirectional": 1}), ("scale", {"scale": 0.3})):
        add(tag, "Attention", "x w b", {"x": x}, c, num_heads=n, **more)
        add(tag + "_no_bias", "Attention", "x w", {"x": x}, c, num_heads=n, **more)
    for tag, m in masks.items():
        add("mask_" + tag, "Attention", "x w b m", {"x": x, "m": m}, c, num_heads=n)
        add("mask_" + tag + "_bias", "Attention", "x w b m - e", {"x": x, "m": m, "e": bias}, c, num_heads=n, mask_filter_value=-1.5)
    add("mask_none_left", "Attention", "x w b m", {"x": x, "m": masks["keys"] * 0}, c, num_heads=n, mask_filter_value=-64.0)
    for tag, e in (("bias", bias), ("bias_of_all", bias[:1]), ("bias_of_heads", bias[:, :1])):
        add(tag, "Attention", "x w b - - e", {"x": x, "e": e}, c, num_heads=n)
    add("present", "Attention", "x w b", {"x": x}, c, outs="y p", num_heads=n)
    add("sizes", "Attention", "x w b", {"x": x}, {"w": f32(7, 2 * w + 6) / 4, "b": f32(2 * w + 6) / 4}, num_heads=n, qkv_hidden_sizes=[w, w, 6])
    for tag in ("length", "range"):
        add("mask_" + tag + "_opened", "Attention", "x w b m", {"x": x, "m": masks[tag]}, c, num_heads=n, opened=True)
    refused("rotary", "Attention", "x w b", {"x": x}, c, num_heads=n, do_rotary=1)
    refused("past", "Attention", "x w b - p", {"x": x, "p": f32(2, b, n, 2, h)}, c, num_heads=n)
    refused("without_heads", "Attention", "x w b", {"x": x}, c)

    t = 6
    q, k, v = f32(b, s, w), f32(b, t, w), f32(b, t, w)
    same = {"q": q, "k": f32(b, s, w), "v": f32(b, s, w)}
    cross = {"q": q, "k": k, "v": v}
    d = {"b": f32(3 * w)}
    add("self", "MultiHeadAttention", "q k v", same, num_heads=n)
    add("self_bias", "MultiHeadAttention", "q k v b", same, d, num_heads=n)
    add("causal", "MultiHeadAttention", "q k v", same, num_heads=n, unidirectional=1)
    add("cross", "MultiHeadAttention", "q k v", cross, num_heads=n)
    for tag, feeds in (("more_keys", cross), ("one_query", {**cross, "q": q[:, :1]}), ("fewer_keys", {"q": v, "k": q, "v": same["v"]})):
        for opened in (False, True):
            add(f"causal_{tag}{'_opened' if opened else ''}", "MultiHeadAttention", "q k v", feeds, num_heads=n, unidirectional=1, opened=opened)
        e = np.linspace(-1, 1, feeds["q"].shape[1] * feeds["k"].shape[1], dtype=np.float32).reshape(1, 1, feeds["q"].shape[1], -1)
        add(f"causal_{tag}_scores", "MultiHeadAttention", "q k v - - e", {**feeds, "e": e}, num_heads=n, unidirectional=1)
    add("cross_bias", "MultiHeadAttention", "q k v b", cross, d, num_heads=n)
    add("cross_bias_opened", "MultiHeadAttention", "q k v b", cross, d, num_heads=n, opened=True)
    add("scale", "MultiHeadAttention", "q k v", cross, num_heads=n, scale=0.3)
    add("values", "MultiHeadAttention", "q k v", {**cross, "v": f32(b, t, n * 2)}, num_heads=n)
    add("heads_first", "MultiHeadAttention", "q k v", {"q": q, "k": f32(b, n, t, h), "v": f32(b, n, t, h)}, num_heads=n)
    add("present", "MultiHeadAttention", "q k v b", same, d, outs="y p r", num_heads=n)
    add("scores", "MultiHeadAttention", "q k v - - e", {**cross, "e": f32(b, n, s, t)}, num_heads=n)
    add("scores_of_all", "MultiHeadAttention", "q k v - - e", {**cross, "e": f32(1, 1, s, t)}, num_heads=n)
    add("mask_length", "MultiHeadAttention", "q k v - m", {**cross, "m": np.array([3, 6], np.int32)}, num_heads=n)
    add("mask_keys", "MultiHeadAttention", "q k v - m", {**cross, "m": np.array([[1, 1, 0, 1, 0, 1], [1, 0, 1, 1, 1, 0]], np.int32)}, num_heads=n)
    add("mask_each", "MultiHeadAttention", "q k v b m e", {**cross, "m": np.array([[[1, 0, 1, 1, 0, 1]] * s, [[1, 1, 0, 0, 1, 0]] * s], np.int32), "e": f32(b, n, s, t)}, d, num_heads=n)
    refused("past", "MultiHeadAttention", "q k v - - - p r", {**cross, "p": f32(b, n, 2, h), "r": f32(b, n, 2, h)}, num_heads=n)
    refused("packed", "MultiHeadAttention", "q", {"q": f32(b, s, n, 3, h)}, num_heads=n)


def ties():
    """Results halfway between two codes."""
    for kind, (_, t, _, low, high) in KINDS.items():
        a = np.arange(low // 4, high // 4).astype(KINDS[kind][0])
        pairs = np.stack([a, a * 0], 1).reshape(1, -1, 2, 1)
        for zero in (3, 4):
            c = scalars(kind, s=0.5, z=0, u=1.0, t=1.0, tz=zero)
            if zero == 4:
                add(f"{kind}_ties", "QLinearAdd", "a s z b s z t tz", {"a": a, "b": a * 0}, c, types=[t])
                add(f"{kind}_ties", "QLinearMul", "a s z b s z t tz", {"a": a, "b": a * 0 + 2}, c, types=[t])
            add(f"{kind}_ties_{zero}", "QLinearAveragePool", "a u z t tz", {"a": pairs}, c, types=[t], kernel_shape=[2, 1])
            add(f"{kind}_ties_{zero}", "QLinearGlobalAveragePool", "a u z t tz", {"a": pairs}, c, types=[t])
            add(f"{kind}_ties_{zero}", "QLinearLeakyRelu", "a s z t tz", {"a": a}, c, types=[t], alpha=1.0)
            add(f"{kind}_ties_{zero}", "QLinearConcat", "t tz a s z", {"a": a}, c, types=[t], axis=0)
            add(f"{kind}_ties_{zero}", "QGemm", "a s z b s z - t tz", {"a": a.reshape(-1, 1)}, {**c, "b": np.array([[2]], a.dtype)}, types=[t])


def halves():
    """float16, which ONNX Runtime computes in float32 and rounds in places of its own."""
    t = TensorProto.FLOAT16
    half = lambda *shape: f32(*shape).astype(np.float16)
    x, g = half(2, 3, 8), half(8)
    for op, ins, feeds, more in (
        ("Gelu", "x", {}, {}), ("FastGelu", "x g", {"g": g}, {}), ("BiasGelu", "x g", {"g": g}, {}), ("QuickGelu", "x", {}, {}), ("FusedMatMul", "x w", {"w": half(8, 4)}, {"alpha": 0.5}),
        ("FusedConv", "x w", {"w": half(2, 3, 3)}, {"activation": "Relu"}), ("MultiHeadAttention", "x x x", {}, {"num_heads": 2}), ("Attention", "x w", {"w": half(8, 24)}, {"num_heads": 2}),
    ):
        add("half_plain", op, ins, {"x": x, **feeds}, types=[t], **more)
    for op, ins, more in (("FastGelu", "x", {}), ("QuickGelu", "x", {}), ("FusedMatMul", "x x", {"transB": 1})):
        add("double", op, ins, {"x": f32(3, 8).astype(np.float64)}, types=[TensorProto.DOUBLE], **more)


def later():
    """Operators that were added when the archive had the others."""
    for kind, (_, t, zero, _, _) in KINDS.items():
        for tag, shape, more in (("plain", (2, 8, 7, 3), {}), ("strides", (1, 8, 7, 5), {"strides": [2, 1]}), ("pads", (1, 6, 6, 4), {"pads": [1, 0, 1, 1]}),
                                 ("ceil", (1, 8, 7, 3), {"strides": [2, 2], "ceil_mode": 1}), ("dilations", (1, 9, 8, 2), {"dilations": [2, 3]}),
                                 ("same", (1, 7, 7, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]})):
            add(f"{kind}_{tag}", "NhwcMaxPool", "x", {"x": codes(kind, *shape)}, types=[t], kernel_shape=[3, 2], **more)
        c = scalars(kind, s=0.1137, z=zero, u=0.0619, uz=zero - 7, t=0.0921, tz=zero + 5)
        for tag, cond, a, b in (("plain", (2, 3, 4), (2, 3, 4), (2, 3, 4)), ("scalars", (3, 4), (), (4,)), ("condition", (4,), (2, 3, 4), (3, 1)), ("one", (), (2, 3), (2, 3)),
                                ("rows", (3, 1), (3, 4), (1, 4))):
            feeds = {"k": rng.integers(0, 2, cond).astype(bool), "x": codes(kind, *a), "y": codes(kind, *b)}
            add(f"{kind}_{tag}", "QLinearWhere", "k x s z y u uz t tz", feeds, c, outs="r", types=[t])
        refused(f"{kind}_scales", "QLinearWhere", "k x s z y u uz t tz", feeds, {**c, "s": f32(3)})

    b, s, n, h = 2, 5, 3, 4
    w = n * h
    masks = {"length": np.array([3, 5], np.int32), "range": np.array([4, 5, 1, 0], np.int32), "keys": np.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 1]], np.int32)}
    for kind, dtype, low in (("u8s8", np.int8, -128), ("u8u8", np.uint8, 0)):
        feeds = {"x": codes("u8", b, s, 7), "w": rng.integers(low, low + 256, (7, 3 * w)).astype(dtype)}
        c = {"b": f32(3 * w) / 4, "xs": np.float32(0.0137), "ws": np.float32(0.0071), "xz": np.uint8(128), "wz": dtype(low + 131), "cs": (np.abs(f32(3 * w)) / 64 + np.float32(0.002)).astype(np.float32),
             "cz": rng.integers(low + 123, low + 133, 3 * w).astype(dtype)}
        add(f"{kind}_plain", "QAttention", "x w b xs ws - xz wz", feeds, c, num_heads=n)
        add(f"{kind}_without_zeros", "QAttention", "x w b xs ws", feeds, c, num_heads=n)
        add(f"{kind}_columns", "QAttention", "x w b xs cs - xz cz", feeds, c, num_heads=n)
        add(f"{kind}_causal", "QAttention", "x w b xs ws - xz wz", feeds, c, num_heads=n, unidirectional=1)
        add(f"{kind}_scale", "QAttention", "x w b xs ws - xz", feeds, c, num_heads=n, scale=0.3)
        for tag, m in masks.items():
            add(f"{kind}_mask_{tag}", "QAttention", "x w b xs ws m xz wz", {**feeds, "m": m}, c, num_heads=n)
        refused(f"{kind}_past", "QAttention", "x w b xs ws - xz wz p", {**feeds, "p": f32(2, b, n, 2, h)}, c, num_heads=n)

    for tag, n, k, size in (("one_block", 5, 16, 16), ("blocks", 6, 64, 16), ("part_of_a_block", 5, 40, 32)):
        count = -(-k // size)
        c = {"b": rng.integers(0, 256, (n, count, size // 4)).astype(np.uint8), "s": (rng.integers(1, 64, n * count) / 512).astype(np.float32),
             "z": rng.integers(0, 256, n * (-(-count // 4))).astype(np.uint8)}
        for kind, ins in (("plain", "x b s"), ("zeros", "x b s z")):
            add(f"2_{tag}_{kind}", "MatMulNBits", ins, {"x": f32(3, k)}, c, K=k, N=n, bits=2, block_size=size)

    ids, segments, places = rng.integers(0, 9, (b, s)).astype(np.int32), rng.integers(0, 2, (b, s)).astype(np.int32), rng.integers(0, 6, (b, s)).astype(np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)
    c = {"word": f32(9, w), "place": f32(6, w), "part": f32(2, w), "g": f32(w), "e": f32(w)}
    F, I = TensorProto.FLOAT, TensorProto.INT32
    for tag, ins, outs, types in (("plain", "i s word place part g e", "y n", [F, I]), ("no_segments", "i - word place - g e", "y n", [F, I]), ("mask", "i s word place part g e m", "y n", [F, I]),
                                  ("places", "i s word place part g e m p", "y n", [F, I]), ("places_no_mask", "i - word place - g e - p", "y n", [F, I]),
                                  ("sum", "i s word place part g e m", "y n t", [F, I, F]), ("one_row_of_places", "i s word place part g e - r", "y n", [F, I])):
        all = {"i": ids, "s": segments, "m": mask, "p": places, "r": places[:1]}
        feeds = {k: v for k, v in all.items() if k in ins.split()}
        for opened in (False, True):
            add(tag + ("_opened" if opened else ""), "EmbedLayerNormalization", ins, feeds, c, outs=outs, types=types, opened=opened)
    add("epsilon", "EmbedLayerNormalization", "i s word place part g e", {"i": ids, "s": segments}, c, outs="y n", types=[F, I], epsilon=0.5)
    refused("segments_without_table", "EmbedLayerNormalization", "i s word place - g e", {"i": ids, "s": segments}, c)


if __name__ == "__main__":
    for part in (binaries, concat, pools, unaries, gemm, convolutions, encoded, fused, gelus, norms, integers, blocks, recurrent, attentions, ties, halves, networks, later, pooled):
        part()
    forms.finish(os.path.join(HERE, "microsoft.zip"))
