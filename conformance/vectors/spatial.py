#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/<operator>.json: small cases of the spatial, linear, normalizing and recurrent operators with
results from ONNX Runtime (from onnx's reference evaluator or numpy where noted in the case's "by").

usage: pip install -r requirements.txt; python spatial.py <repository>

A case: name, op, attrs (the fields of the Go struct), in and out (dtype, dims, data, scale, zero, axis; null: absent), by.
"""
import json
import os
import sys

import numpy as np

from spatial_common import CEIL_INSIDE, SAME_LOWER, SAME_UPPER, VALID, add, cases, f32, last, reference, rng, run, tensor, window_attrs
from spatial_networks import deform, einsum, recurrent, regions, sampling, transformers


def conv():
    def case(name, x, w, bias=True, groups=1, both=True, **win):
        go, ox = window_attrs(**win)
        go["Groups"], ox["group"] = groups, groups
        ins = [x, w] + ([f32(w.shape[0])] if bias else [])
        y = run("Conv", ox, ins)[0]
        add("conv", name, go, [x, last(w)] + ins[2:], [y])
        if both:
            add("conv", name + ", channels last", {**go, "ChannelsLast": True}, [last(x), last(w)] + ins[2:], [last(y)])

    case("plain", f32(2, 3, 5, 6), f32(4, 3, 3, 2))
    case("no bias", f32(1, 2, 4, 4), f32(3, 2, 1, 1), bias=False)
    case("strides and uneven pads", f32(1, 2, 6, 7), f32(3, 2, 3, 3), strides=[2, 3], pads=[1, 0, 2, 1])
    case("dilation", f32(1, 2, 8, 7), f32(2, 2, 3, 2), dilations=[2, 3], pads=[1, 1, 1, 1])
    case("groups", f32(1, 4, 5, 5), f32(6, 2, 3, 3), groups=2, pads=[1, 1, 1, 1])
    case("depthwise with multiplier", f32(2, 3, 5, 5), f32(6, 1, 3, 3), groups=3, strides=[2, 2], pads=[1, 1, 1, 1])
    for a, n in ((SAME_UPPER, "same upper"), (SAME_LOWER, "same lower"), (VALID, "valid")):
        case(n + ", even kernel, stride 2", f32(1, 2, 7, 6), f32(2, 2, 4, 2), auto=a, strides=[2, 2])
    case("1-d", f32(2, 3, 9), f32(2, 3, 4), strides=[2], pads=[2, 1], dilations=[2])
    case("3-d", f32(1, 2, 4, 5, 4), f32(2, 2, 2, 3, 2), strides=[1, 2, 1], pads=[0, 1, 1, 1, 1, 0])
    case("kernel as large as the image", f32(1, 2, 3, 3), f32(2, 2, 3, 3))
    x, w, b = (f32(1, 2, 4, 4).astype(np.float64), f32(2, 2, 2, 2).astype(np.float64), f32(2).astype(np.float64))
    add("conv", "float64", {}, [x, last(w), b], reference("Conv", {}, [x, w, b]), "onnx reference evaluator")
    x, w, b = (f32(1, 2, 4, 4).astype(np.float16), f32(2, 2, 2, 2).astype(np.float16), f32(2).astype(np.float16))
    y = run("Conv", {}, [v.astype(np.float32) for v in (x, w, b)])[0].astype(np.float16)
    add("conv", "float16", {}, [x, last(w), b], [y])


def quantized(dtype, x, scale, zero):
    info = np.iinfo(dtype)
    return np.clip(np.rint(x / scale) + zero, info.min, info.max).astype(dtype)


def conv_quantized():
    for dtype, wtype in ((np.uint8, np.uint8), (np.int8, np.int8), (np.uint8, np.int8)):
        for per_channel in (False, True):
            zx, zy = (131, 120) if dtype == np.uint8 else (3, -8)
            zw = 0 if per_channel or wtype == np.int8 else 126
            x, w = f32(1, 4, 5, 5), f32(4, 2, 3, 3, lo=-0.5, hi=0.5)
            sx, sy = np.float32(0.0157), np.float32(0.031)
            sw = np.array([0.004, 0.0035, 0.0051, 0.0042], np.float32) if per_channel else np.float32(0.0041)
            qx = quantized(dtype, x, sx, zx)
            qw = quantized(wtype, w, sw.reshape(-1, 1, 1, 1) if per_channel else sw, 128 if per_channel and wtype == np.uint8 else zw)
            zeros = np.full(4, 128 if wtype == np.uint8 else 0, wtype) if per_channel else np.array(zw, wtype)
            if per_channel and wtype == np.uint8:
                continue  # ONNX Runtime wants zero points of 0 there
            bias = rng.integers(-4000, 4000, 4).astype(np.int32)
            y = run("QLinearConv", {"group": 2, "pads": [1, 0, 1, 1], "strides": [2, 1]},
                    [qx, sx, np.array(zx, dtype), qw, sw, zeros, sy, np.array(zy, dtype), bias])[0]
            add("conv", f"{dtype.__name__} x {wtype.__name__}, {'per channel' if per_channel else 'per tensor'}",
                {"Groups": 2, "Pads": [1, 0, 1, 1], "Strides": [2, 1]},
                [tensor(qx, sx, zx), tensor(last(qw), sw, zeros), bias], [tensor(y, sy, zy)])


def pools():
    def case(op, ox_op, name, x, go_extra=None, ox_extra=None, nout=1, **win):
        go, ox = window_attrs(**win)
        go.update(go_extra or {})
        ox.update(ox_extra or {})
        ys = run(ox_op, ox, [x], nout)
        add(op, name, go, [x], ys)
        add(op, name + ", channels last", {**go, "ChannelsLast": True}, [last(x)], [last(y) for y in ys])

    for op, ox_op in (("max_pool", "MaxPool"), ("average_pool", "AveragePool"), ("lp_pool", "LpPool")):
        case(op, ox_op, "plain", f32(2, 3, 5, 6), kernel=[2, 3])
        case(op, ox_op, "strides and pads", f32(1, 2, 7, 6), kernel=[3, 3], strides=[2, 2], pads=[1, 0, 1, 2])
        case(op, ox_op, "dilation", f32(1, 2, 7, 8), kernel=[2, 3], dilations=[3, 2])
        case(op, ox_op, "same upper", f32(1, 2, 6, 7), kernel=[3, 2], strides=[2, 2], auto=SAME_UPPER)
        case(op, ox_op, "same lower", f32(1, 2, 6, 7), kernel=[3, 2], strides=[2, 2], auto=SAME_LOWER)
        case(op, ox_op, "valid", f32(1, 2, 6, 7), kernel=[3, 2], strides=[2, 2], auto=VALID)
        case(op, ox_op, "1-d", f32(1, 2, 9), kernel=[4], strides=[3], pads=[2, 1])
        case(op, ox_op, "3-d", f32(1, 2, 4, 4, 5), kernel=[2, 3, 2], strides=[2, 1, 2], pads=[0, 1, 0, 0, 1, 1])
        case(op, ox_op, "ceil", f32(1, 1, 6, 6), {"Ceil": CEIL_INSIDE}, {"ceil_mode": 1}, kernel=[3, 3], strides=[2, 2])
        case(op, ox_op, "ceil with the last window dropped", f32(1, 1, 2, 7), {"Ceil": CEIL_INSIDE}, {"ceil_mode": 1}, kernel=[1, 1], strides=[2, 4])
        x = f32(2, 3, 4, 5)
        add(op, "global", {"Global": True}, [x], run("Global" + ox_op, {}, [x], opset=2 if op == "lp_pool" else 22))
    for pads in (None, [1, 1, 0, 1]):
        case("average_pool", "AveragePool", f"count pads {pads}", f32(1, 2, 5, 5), {"CountPads": True}, {"count_include_pad": 1}, kernel=[2, 2], strides=[2, 2], pads=pads)
    x = f32(1, 1, 4, 4)
    add("average_pool", "count pads with ceil", {"CountPads": True, "Ceil": CEIL_INSIDE, "Kernel": [3, 3], "Strides": [2, 2], "Pads": [1, 1, 1, 1]}, [x],
        run("AveragePool", {"count_include_pad": 1, "ceil_mode": 1, "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, [x]))
    case("lp_pool", "LpPool", "p 1", f32(1, 2, 5, 5), {"P": 1}, {"p": 1}, kernel=[2, 2])
    case("lp_pool", "LpPool", "p 3", f32(1, 2, 5, 5), {"P": 3}, {"p": 3}, kernel=[3, 2])
    for name, order in (("row major", 0), ("column major", 1)):
        for shape, kernel in (((2, 2, 5, 4), [2, 2]), ((1, 2, 3, 4, 5), [2, 2, 2])):
            x = f32(*shape)
            ys = run("MaxPool", {"kernel_shape": kernel, "storage_order": order, "strides": [2] * len(kernel)}, [x], 2)
            go = {"Kernel": kernel, "Strides": [2] * len(kernel), "ColumnMajor": bool(order)}
            add("max_pool", f"indices {name} {len(kernel)}-d", go, [x], ys)
            add("max_pool", f"indices {name} {len(kernel)}-d, channels last", {**go, "ChannelsLast": True}, [last(x)], [last(y) for y in ys])
    x = rng.integers(-128, 128, (1, 2, 5, 5)).astype(np.int8)
    add("max_pool", "int8", {"Kernel": [3, 3], "Pads": [1, 1, 1, 1]}, [x], run("MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, [x]))
    x = rng.integers(0, 256, (1, 2, 5, 5)).astype(np.uint8)
    y = run("MaxPool", {"kernel_shape": [2, 2]}, [x])[0]
    add("max_pool", "quantized uint8", {"Kernel": [2, 2]}, [tensor(x, 0.3, 77)], [tensor(y, 0.3, 77)])
    m = np.floor(sum(x[:, :, i:4 + i, j:4 + j].astype(np.float64) - 77 for i in (0, 1) for j in (0, 1)) / 4)
    r = sum(x[:, :, i:4 + i, j:4 + j].astype(np.float64) - 77 for i in (0, 1) for j in (0, 1)) / 4
    q = np.sign(r) * np.floor(np.abs(r) + 0.5) + 77  # zero point 77 is an integer: halves away from the zero point
    q = np.where(r + 77 >= 0, np.floor(r + 77 + 0.5), q)
    add("average_pool", "quantized uint8, ties", {"Kernel": [2, 2]}, [tensor(x, 0.3, 77)], [tensor(q.astype(np.uint8), 0.3, 77)], "numpy")


def products():
    def case(name, a, b, ta=False, tb=False):
        at = np.swapaxes(a, -1, -2) if ta and a.ndim > 1 else a
        bt = np.swapaxes(b, -1, -2) if tb and b.ndim > 1 else b
        add("mat_mul", name, {"TransposeA": ta, "TransposeB": tb}, [a, b], [np.matmul(at, bt)], "numpy")

    case("2-d", f32(3, 4), f32(4, 5))
    case("transposed a", f32(4, 3), f32(4, 5), ta=True)
    case("transposed b", f32(3, 4), f32(5, 4), tb=True)
    case("both transposed", f32(2, 4, 3), f32(2, 5, 4), True, True)
    case("batch broadcast", f32(2, 1, 3, 4), f32(5, 4, 2))
    case("vector x matrix", f32(4), f32(2, 4, 3))
    case("matrix x vector", f32(2, 3, 4), f32(4))
    case("vector x vector", f32(4), f32(4))
    case("int32", rng.integers(-50000, 50000, (3, 4)).astype(np.int32), rng.integers(-50000, 50000, (4, 2)).astype(np.int32))
    case("int64", rng.integers(-2**40, 2**40, (3, 4)), rng.integers(-2**40, 2**40, (4, 2)))
    case("uint32", rng.integers(0, 2**32, (3, 4), dtype=np.uint32), rng.integers(0, 2**32, (4, 2), dtype=np.uint32))
    case("empty sum", np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32))
    case("float64", f32(3, 4).astype(np.float64), f32(4, 2).astype(np.float64))
    for shape in ((5,), (3, 1), (1,), (3, 5)):
        a, b, c = f32(3, 4), f32(4, 5), f32(*shape)
        add("mat_mul", f"bias {shape}", {}, [a, b, c], [a @ b + c], "numpy")
    for dtype in (np.uint8, np.int8):
        zx, zw, zy = (128, 120, 110) if dtype == np.uint8 else (4, -3, 5)
        sx, sw, sy = np.float32(0.013), np.float32(0.017), np.float32(0.05)
        a, b = quantized(dtype, f32(2, 3, 6), sx, zx), quantized(dtype, f32(2, 6, 4), sw, zw)
        y = run("QLinearMatMul", {}, [a, sx, np.array(zx, dtype), b, sw, np.array(zw, dtype), sy, np.array(zy, dtype)])[0]
        add("mat_mul", f"quantized {dtype.__name__}", {}, [tensor(a, sx, zx), tensor(b, sw, zw)], [tensor(y, sy, zy)])
    x, w, b = f32(2, 3, 6), f32(4, 6), f32(4)
    add("fully_connected", "leading dimensions", {}, [x, w, b], [x @ w.T + b], "numpy")
    add("fully_connected", "vector, no bias", {}, [x[0, 0], w], [w @ x[0, 0]], "numpy")
    sx, sy, sw = np.float32(0.013), np.float32(0.05), np.array([0.01, 0.012, 0.009, 0.02], np.float32)
    qx, qw = quantized(np.int8, x, sx, 5), quantized(np.int8, w, sw.reshape(-1, 1), 0)
    bias = rng.integers(-3000, 3000, 4).astype(np.int32)
    r = ((qx.astype(np.int64) - 5) @ qw.T.astype(np.int64) + bias) * (np.float64(sx) * sw.astype(np.float64)) / np.float64(sy) - 7
    add("fully_connected", "int8 per output", {}, [tensor(qx, sx, 5), tensor(qw, sw, np.zeros(4)), bias],
        [tensor(np.clip(np.rint(r), -128, 127).astype(np.int8), sy, -7)], "numpy")
    q16 = quantized(np.int16, x, np.float32(0.0001), 0)
    r = (q16.astype(np.int64) @ qw.T.astype(np.int64) + bias) * (np.float64(np.float32(0.0001)) * sw.astype(np.float64)) / 0.0005
    add("fully_connected", "int16 x int8", {}, [tensor(q16, np.float32(0.0001), 0), tensor(qw, sw, np.zeros(4)), bias.astype(np.int64)],
        [tensor(np.clip(np.rint(r), -32768, 32767).astype(np.int16), 0.0005, 0)], "numpy")


def batch_norm():
    for dims in ((2, 3), (2, 3, 4), (2, 3, 2, 3)):
        x, s, o, m, v = f32(*dims), f32(3), f32(3), f32(3), f32(3, lo=0.1)
        y = run("BatchNormalization", {"epsilon": 0.01}, [x, s, o, m, v], opset=15)[0]
        add("batch_norm", f"rank {len(dims)}", {"Epsilon": 0.01, "Axis": 1}, [x, s, o, m, v], [y])
        add("batch_norm", f"rank {len(dims)}, channels last", {"Epsilon": 0.01, "Axis": -1}, [last(x), s, o, m, v], [last(y)])


def swap_groups(w, groups):
    """ONNX transposed filters [I, O/groups, spatial] to [O, I/groups, spatial]."""
    parts = np.split(w, groups, axis=0)
    return np.concatenate([np.swapaxes(p, 0, 1) for p in parts], axis=0)


def conv_transpose():
    def case(name, x, w, groups=1, output_padding=None, output_shape=None, **win):
        go, ox = window_attrs(**win)
        go["Groups"], ox["group"] = groups, groups
        go["OutputPadsInside"] = True
        if output_padding:
            go["OutputPads"], ox["output_padding"] = output_padding, output_padding
        if output_shape:
            ox["output_shape"] = output_shape
        b = f32(w.shape[1] * groups)
        y = run("ConvTranspose", ox, [x, w, b])[0]
        shape = [np.array(output_shape, np.int64)] if output_shape else []
        add("conv_transpose", name, go, [x, last(swap_groups(w, groups)), b] + shape, [y])
        add("conv_transpose", name + ", channels last", {**go, "ChannelsLast": True}, [last(x), last(swap_groups(w, groups)), b] + shape, [last(y)])

    case("plain", f32(2, 3, 4, 3), f32(3, 2, 3, 2))
    case("strides and pads", f32(1, 2, 4, 4), f32(2, 3, 3, 3), strides=[2, 3], pads=[1, 0, 1, 2])
    case("output padding", f32(1, 2, 3, 4), f32(2, 2, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    case("dilation", f32(1, 2, 4, 3), f32(2, 2, 2, 3), dilations=[2, 3], strides=[2, 1])
    case("groups", f32(1, 4, 3, 3), f32(4, 3, 2, 2), groups=2, strides=[2, 2])
    case("depthwise", f32(1, 3, 3, 3), f32(3, 1, 3, 3), groups=3, strides=[2, 2], pads=[1, 1, 1, 1])
    case("same upper", f32(1, 1, 3, 4), f32(1, 2, 3, 4), auto=SAME_UPPER, strides=[2, 3])
    case("same lower", f32(1, 1, 3, 4), f32(1, 2, 3, 4), auto=SAME_LOWER, strides=[2, 3])
    case("output shape", f32(1, 1, 3, 3), f32(1, 2, 3, 3), strides=[3, 2], output_shape=[8, 6])
    case("output shape, odd padding", f32(1, 1, 4, 4), f32(1, 2, 4, 4), strides=[2, 2], output_shape=[9, 7])
    case("output shape, same upper", f32(1, 1, 4, 4), f32(1, 2, 4, 4), strides=[2, 2], output_shape=[9, 7], auto=SAME_UPPER)
    case("1-d", f32(2, 3, 5), f32(3, 2, 4), strides=[3], pads=[1, 2])
    case("3-d", f32(1, 2, 2, 3, 2), f32(2, 2, 2, 2, 3), strides=[2, 1, 2])


def norms():
    for dims in ((2, 3, 4), (2, 3, 2, 3), (1, 3, 2, 2, 2)):
        x, s, b = f32(*dims), f32(3), f32(3)
        y = run("InstanceNormalization", {"epsilon": 0.02}, [x, s, b])[0]
        add("instance_norm", f"rank {len(dims)}", {"Epsilon": 0.02, "Axis": 1}, [x, s, b], [y])
        add("instance_norm", f"rank {len(dims)}, channels last", {"Epsilon": 0.02, "Axis": -1}, [last(x), s, b], [last(y)])
    for dims, groups in (((2, 4, 3), 2), ((2, 6, 2, 3), 3), ((1, 4, 3, 3), 4), ((2, 4), 2)):
        x, s, b = f32(*dims), f32(dims[1]), f32(dims[1])
        y = reference("GroupNormalization", {"num_groups": groups, "epsilon": 0.01}, [x, s, b])[0]
        add("group_norm", f"{dims} in {groups}", {"Groups": groups, "Epsilon": 0.01}, [x, s, b], [y], "onnx reference evaluator")
        add("group_norm", f"{dims} in {groups}, channels last", {"Groups": groups, "Epsilon": 0.01, "ChannelsLast": True}, [last(x), s, b], [last(y)],
            "onnx reference evaluator")
    for dims, axis, pd in (((2, 3, 4), -1, (4,)), ((2, 3, 4), 1, (3, 4)), ((2, 3, 4), 0, (2, 3, 4)), ((2, 3, 4), 1, (4,)), ((5, 6), 1, (6,))):
        x, g, b = f32(*dims), f32(*pd), f32(*pd)
        ys = run("LayerNormalization", {"axis": axis, "epsilon": 0.01}, [x, g, b], 3)
        add("layer_norm", f"{dims} from {axis}, parameters {pd}", {"Axis": axis, "Epsilon": 0.01}, [x, g, b], ys)
        ys = run("LayerNormalization", {"axis": axis, "epsilon": 0.01}, [x, g])
        add("layer_norm", f"{dims} from {axis}, parameters {pd}, no beta", {"Axis": axis, "Epsilon": 0.01}, [x, g], ys)
        y = reference("RMSNormalization", {"axis": axis, "epsilon": 0.01}, [x, g], opset=23)
        add("rms_norm", f"{dims} from {axis}, parameters {pd}", {"Axis": axis, "Epsilon": 0.01}, [x, g], y, "onnx reference evaluator")
    for p in (1, 2):
        for axis in (0, 1, -1):
            x = f32(3, 4, 2)
            x[:, 1, 1] = 0
            add("lp_norm", f"p {p}, axis {axis}", {"P": p, "Axis": axis}, [x], run("LpNormalization", {"p": p, "axis": axis}, [x], opset=1))
    for mode, name in ((0, "max"), (1, "add")):
        for axes in ([], [1], [-1], [0, 2]):
            x = f32(2, 3, 4)
            x[0, :, 1] = 0
            s = np.sum(x.astype(np.float64) ** 2, axis=tuple(axes) or None, keepdims=True)
            y = x / np.sqrt(np.maximum(s, 0.5) if mode == 0 else s + 0.5)
            add("l2_normalize", f"{name}, axes {axes}", {"Epsilon": 0.5, "Mode": mode}, [x, np.array(axes, np.int32)], [y.astype(np.float32)], "numpy")
    for size in (1, 2, 3, 4, 7):
        x = f32(2, 5, 2, 3)
        if size % 2:
            y = run("LRN", {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}, [x])[0]
        else:  # ONNX Runtime has odd sizes only
            sums = [sum(x[:, k].astype(np.float64) ** 2 for k in range(max(0, c - (size - 1) // 2), min(5, c + size // 2 + 1))) for c in range(5)]
            y = (x / (1.5 + 0.3 / size * np.stack(sums, 1)) ** 0.6).astype(np.float32)
        go = {"Before": (size - 1) // 2, "After": size // 2, "Alpha": 0.3, "Beta": 0.6, "Bias": 1.5, "DivideAlpha": True}
        by = "onnxruntime" if size % 2 else "numpy"
        add("lrn", f"size {size}", {**go, "Axis": 1}, [x], [y], by)
        add("lrn", f"size {size}, channels last", {**go, "Axis": -1}, [last(x)], [last(y)], by)
        y = run("LRN", {"size": size, "alpha": 0.3 * size, "beta": 0.6, "bias": 1.5}, [x])[0] if size % 2 else None
        if y is not None:
            add("lrn", f"size {size}, whole alpha", {**go, "DivideAlpha": False, "Axis": 1}, [x], [y], by)


COORDS = ["asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
MODES = ["nearest", "linear", "cubic"]


def resize():
    def case(name, x, mode, coord, scales=None, sizes=None, roi=None, go=None, ox=None, by=run):
        attrs = {"Mode": mode, "Coord": coord, **(go or {})}
        ins = [x, roi, None if scales is None else np.array(scales, np.float32), None if sizes is None else np.array(sizes, np.int64)]
        y = by("Resize", {"mode": MODES[mode], "coordinate_transformation_mode": COORDS[coord], **(ox or {})}, ins, opset=19)[0]
        add("resize", name, attrs, ins, [y], "onnxruntime" if by is run else "onnx reference evaluator")

    for coord in range(5):
        for n, nearest in enumerate(NEAREST):
            case(f"nearest {COORDS[coord]} {nearest}", f32(1, 1, 3, 5), 0, coord, sizes=[1, 1, 6, 4], go={"Nearest": n}, ox={"nearest_mode": nearest})
        for mode in (1, 2):
            case(f"{MODES[mode]} {COORDS[coord]} up", f32(1, 2, 3, 4), mode, coord, scales=[1, 1, 2, 1.5])
            case(f"{MODES[mode]} {COORDS[coord]} down", f32(1, 2, 5, 7), mode, coord, scales=[1, 1, 0.6, 0.5])
            case(f"{MODES[mode]} {COORDS[coord]} to one", f32(1, 1, 4, 3), mode, coord, sizes=[1, 1, 1, 5])
    case("cubic a -0.5", f32(1, 1, 4, 4), 2, 2, scales=[1, 1, 1.6, 2], go={"CubicA": -0.5}, ox={"cubic_coeff_a": -0.5})
    case("cubic exclude outside", f32(1, 1, 4, 4), 2, 2, scales=[1, 1, 2, 0.75], go={"ExcludeOutside": True}, ox={"exclude_outside": 1})
    for mode in (1, 2):
        for outside in (0, 1):
            case(f"{MODES[mode]} antialias, exclude {outside}", f32(1, 1, 8, 7), mode, 2, scales=[1, 1, 0.5, 0.6], go={"Antialias": True, "ExcludeOutside": bool(outside)},
                 ox={"antialias": 1, "exclude_outside": outside}, by=reference)
    roi = np.array([0, 0, 0.2, 0.1, 1, 1, 0.9, 1.3], np.float32)
    case("linear crop", f32(1, 1, 5, 6), 1, 5, sizes=[1, 1, 4, 5], roi=roi, go={"Extrapolation": 7.5}, ox={"extrapolation_value": 7.5})
    case("linear crop to one", f32(1, 1, 5, 6), 1, 5, sizes=[1, 1, 1, 3], roi=roi)
    case("nearest crop", f32(1, 1, 5, 6), 0, 5, sizes=[1, 1, 4, 5], roi=roi, go={"Extrapolation": -1}, ox={"extrapolation_value": -1.0}, by=reference)
    for policy, name in ((1, "not_larger"), (2, "not_smaller")):
        case(name, f32(1, 1, 4, 6), 1, 2, sizes=[7, 8], go={"KeepAspect": policy, "Axes": [2, 3]}, ox={"keep_aspect_ratio_policy": name, "axes": [2, 3]})
    case("axes out of order", f32(1, 2, 3, 4), 1, 2, sizes=[6, 5], go={"Axes": [3, 2]}, ox={"axes": [3, 2]}, by=reference)
    case("linear 1-d image", f32(1, 2, 5), 1, 2, scales=[1, 1, 1.7], by=reference)
    case("linear 3-d image", f32(1, 1, 3, 2, 4), 1, 2, sizes=[1, 1, 4, 3, 5])
    case("linear over channels and batch", f32(3, 2, 2, 2), 1, 0, sizes=[2, 3, 3, 2], by=reference)
    x = rng.integers(0, 256, (1, 1, 3, 3)).astype(np.uint8)
    case("nearest uint8", x, 0, 0, scales=[1, 1, 2, 2], ox={"nearest_mode": "floor"}, go={"Nearest": 2})


def main():
    for f in (conv, conv_quantized, pools, products, batch_norm, conv_transpose, norms, resize, recurrent, sampling, deform, regions,
              einsum, transformers):
        f()
    folder = os.path.join(sys.argv[1], "backends/cpu/ref/testdata")
    os.makedirs(folder, exist_ok=True)
    for op, list_ in cases.items():
        with open(os.path.join(folder, op + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in list_) + "\n]\n")
        print(op, len(list_))


if __name__ == "__main__":
    main()
