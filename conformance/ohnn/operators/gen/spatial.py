"""Convolutions, pooling, matrix products, resizing: windows gathered with NumPy in float64, checked against ONNX Runtime by check_ort.py."""

import math

import numpy as np

from case import BOOL, F16, F32, F64, I8, I32, I64, U8, Q, T, case, const, param, reject, rng
from binary import ACT
from movement import seq


def geometry(n, k, s, d, mode, pads, ceil=False):
    """(output size, padding before, padding after); mode 0 SAME, 1 or 2 VALID, None explicit."""
    eff = (k - 1) * d + 1
    if mode == 0:
        out = -(-n // s)
        total = max(0, (out - 1) * s + eff - n)
        return out, total // 2, total - total // 2
    if mode in (1, 2):
        return -(-(n - eff + 1) // s), 0, 0
    a, b = pads
    span = n + a + b - eff
    return (-(-span // s) if ceil else span // s) + 1, a, b


def windows(x, kernel, strides, dil, mode, pads, fill, ceil=False):
    """All windows of x [N,H,W,C] as [N,oh,ow,kh,kw,C], cells outside filled with fill."""
    n, h, w, c = x.shape
    oh, t, b = geometry(h, kernel[0], strides[0], dil[0], mode, pads[:2], ceil)
    ow, left, r = geometry(w, kernel[1], strides[1], dil[1], mode, pads[2:], ceil)
    more = 64
    p = np.pad(x, [(0, 0), (t, b + more), (left, r + more), (0, 0)], constant_values=fill)
    rows = np.arange(oh)[:, None] * strides[0] + np.arange(kernel[0]) * dil[0]
    cols = np.arange(ow)[:, None] * strides[1] + np.arange(kernel[1]) * dil[1]
    return p[:, rows][:, :, :, cols].transpose(0, 1, 3, 2, 4, 5)


def conv(x, w, b, strides=(1, 1), dil=(1, 1), mode=None, pads=(0, 0, 0, 0), group=1):
    v = windows(x, w.shape[1:3], strides, dil, mode, pads, 0)
    o, ci = w.shape[0], w.shape[3]
    ys = []
    for g in range(group):
        ys.append(np.einsum("nhwklc,oklc->nhwo", v[..., g * ci:(g + 1) * ci], w[g * o // group:(g + 1) * o // group]))
    return np.concatenate(ys, -1) + b


CONVS = (
    # tag, x, kernel, outC, options
    ("pointwise", (1, 3, 4, 5), (1, 1), 4, {}), ("3x3_valid", (1, 5, 6, 2), (3, 3), 3, {"mode": 1}), ("3x3_same", (2, 5, 4, 2), (3, 3), 3, {"mode": 0}),
    ("same_stride2_even", (1, 6, 7, 2), (3, 3), 2, {"mode": 0, "strides": (2, 2)}), ("pads", (1, 4, 5, 2), (3, 2), 3, {"pads": (1, 0, 2, 1)}),
    ("stride_1_2", (1, 5, 7, 1), (2, 3), 2, {"strides": (1, 2)}), ("dilated", (1, 7, 8, 2), (3, 2), 2, {"dil": (2, 3)}), ("dilated_same", (1, 6, 6, 1), (3, 3), 2, {"dil": (2, 2), "mode": 0}),
    ("valid_mode_2", (1, 4, 4, 2), (2, 2), 2, {"mode": 2}), ("even_kernel_same", (1, 5, 5, 1), (4, 2), 2, {"mode": 0}),
)


def conv_params(op, o):
    ps = []
    if "strides" in o:
        ps.append(param(op + "_STRIDES", o["strides"], I64))
    else:
        ps.append(param(op + "_STRIDES", (1, 1), I64))
    ps.append(param(op + "_DILATION", o.get("dil", (1, 1)), I64))
    if "mode" in o:
        ps.append(param(op + "_PAD_MODE", o["mode"], I8))
    else:
        ps.append(param(op + "_PAD", o.get("pads", (0, 0, 0, 0)), I64))
    if "group" in o:
        ps.append(param(op + "_GROUP", o["group"], I64))
    return ps


def draw(name, shape, dtype=F32, lo=-1, hi=1):
    return rng(name).uniform(lo, hi, shape).astype(dtype)


def conv_case(op, tag, xs, ws, o, dtype=F32, act=None, dyn=(), weight_const=True):
    x, w, b = draw(op + tag + "x", xs, dtype), draw(op + tag + "w", ws, dtype), draw(op + tag + "b", ws[:1], dtype)
    wr, kw = w, dict(o)
    if op == "DEPTHWISE_CONV2D_NATIVE":
        kw["group"] = xs[3]
    y = conv(x.astype(F64), wr.astype(F64), b.astype(F64), **kw)
    ps = conv_params(op, o)
    if act is not None:
        y = ACT[act](y * 8) if act == 2 else ACT[act](y)
        if act == 2:
            w, b = (w.astype(F64) * 8).astype(dtype), (b.astype(F64) * 8).astype(dtype)
            y = ACT[2](conv(x.astype(F64), w.astype(F64), b.astype(F64), **kw))
        ps.append(param(op + "_ACTIVATION_TYPE", act, I8))
    wt = const(w) if weight_const else T(w)
    case(op, f"{np.dtype(dtype)}_{tag}" + (f"_activation_{act}" if act is not None else ""), [T(x, dyn=dyn), wt, const(b)], [T(y.astype(dtype), dyn=dyn)], ps)


def conv_quant(op, tag, xs, ws, o, dtype, per_channel):
    g = rng(op + tag + str(dtype))
    info = np.iinfo(dtype)
    kw = dict(o)
    if op == "DEPTHWISE_CONV2D_NATIVE":
        kw["group"] = xs[3]
    qx = Q(F32(0.02), 5 + (128 if dtype == U8 else 0))
    qw = Q([F32(0.01 * (1 + 0.3 * i)) for i in range(ws[0])] if per_channel else F32(0.012), 0 if per_channel or dtype == I8 else 120)
    x = g.integers(info.min, info.max + 1, xs).astype(dtype)
    w = g.integers(info.min + 1, info.max + 1, ws).astype(dtype)
    sb = qx.scale[0] * qw.scale
    b = g.integers(-300, 300, ws[:1]).astype(I32)
    y = conv(qx.real(x), qw.real(w), b * sb, **kw)
    span = float(y.max() - y.min()) or 1
    qy = Q(F32(span / 230), int(np.clip(round(info.min - y.min() / (span / 230)), info.min, info.max)))
    case(op, f"{np.dtype(dtype)}_{tag}" + ("_per_channel" if per_channel else ""), [T(x, qx), const(w, qw), const(b)], [T(qy.quantize(y, dtype), qy)], conv_params(op, o))


for tag, xs, k, out, o in CONVS:
    conv_case("CONV2D", tag, xs, (out, *k, xs[3]), o)
    conv_case("DEPTHWISE_CONV2D_NATIVE", tag, xs, (xs[3], *k, 1), o)
    conv_quant("CONV2D", tag, xs, (out, *k, xs[3]), o, I8, False)
    conv_quant("DEPTHWISE_CONV2D_NATIVE", tag, xs, (xs[3], *k, 1), o, I8, False)
conv_case("CONV2D", "groups_2", (1, 4, 4, 4), (6, 3, 3, 2), {"mode": 0, "group": 2})
conv_case("CONV2D", "groups_depthwise", (1, 4, 4, 3), (3, 3, 3, 1), {"mode": 0, "group": 3})
conv_case("CONV2D", "groups_multiplier", (1, 4, 4, 2), (6, 2, 2, 1), {"group": 2})
conv_case("CONV2D", "weight_given_at_the_run", (1, 4, 4, 2), (3, 2, 2, 2), {}, weight_const=False)
conv_case("DEPTHWISE_CONV2D_NATIVE", "multiplier_2", (1, 4, 5, 3), (6, 3, 3, 1), {"mode": 0})
conv_case("DEPTHWISE_CONV2D_NATIVE", "multiplier_3", (1, 4, 4, 2), (6, 2, 2, 1), {"strides": (2, 2)})
for op, w in (("CONV2D", (3, 3, 3, 2)), ("DEPTHWISE_CONV2D_NATIVE", (2, 3, 3, 1))):
    for act in (0, 1, 2):
        conv_case(op, "same", (1, 4, 4, 2), w, {"mode": 0}, act=act)
    conv_case(op, "same", (1, 5, 5, 2), w, {"mode": 0}, dtype=F16)
    conv_case(op, "pads", (1, 5, 5, 2), w, {"pads": (1, 1, 0, 1)}, dtype=F16)
    for n in (1, 3):
        conv_case(op, f"dynamic_batch_{n}", (n, 4, 4, 2), w, {"mode": 0}, dyn=(0,))
    for size in (4, 7):
        conv_case(op, f"dynamic_size_{size}", (1, size, size, 2), w, {"mode": 0}, dyn=(1, 2))
    conv_quant(op, "same", (1, 5, 5, 2), w, {"mode": 0}, I8, True)
    conv_quant(op, "stride", (1, 6, 5, 2), w, {"strides": (2, 2)}, I8, True)
    conv_quant(op, "same", (1, 5, 5, 2), w, {"mode": 0}, U8, False)
    x, wt, b = draw("x", (1, 4, 4, 2)), draw("w", w), draw("b", w[:1])
    y = np.zeros((1, 2, 2, w[0]), F32)
    p = conv_params(op, {})
    reject(op, "no_bias", "add", [2], [T(x), const(wt)], [T(y)], p)
    reject(op, "weight_of_rank_3", "add", [2], [T(x), const(wt[0]), const(b)], [T(y)], p)
    reject(op, "pad_of_three", "add", [2], [T(x), const(wt), const(b)], [T(y)], p[:2] + [param(op + "_PAD", (0, 0, 0), I64)])
    reject(op, "pad_mode_3", "add", [2], [T(x), const(wt), const(b)], [T(y)], p[:2] + [param(op + "_PAD_MODE", 3, I8)])
    reject(op, "pad_of_int32", "add", [2], [T(x), const(wt), const(b)], [T(y)], p[:2] + [param(op + "_PAD", (0, 0, 0, 0), I32)])
    reject(op, "activation_3", "add", [2], [T(x), const(wt), const(b)], [T(y)], p + [param(op + "_ACTIVATION_TYPE", 3, I8)])
    reject(op, "stride_0", "build", [1], [T(x), const(wt), const(b)], [T(y)], [param(op + "_STRIDES", (0, 1), I64)] + p[1:])
    reject(op, "dilation_negative", "build", [1], [T(x), const(wt), const(b)], [T(y)], [p[0], param(op + "_DILATION", (1, -1), I64), p[2]])
    reject(op, "kernel_beyond_the_input", "build", [1], [T(x[:, :2]), const(wt), const(b)], [T(y)], p)
    reject(op, "bias_of_another_length", "build", [1], [T(x), const(wt), const(np.ones((w[0] + 1,), F32))], [T(y)], p)
reject("CONV2D", "channels_do_not_fit", "build", [1], [T(draw("x", (1, 4, 4, 3))), const(draw("w", (3, 3, 3, 2))), const(draw("b", (3,)))], [T(np.zeros((1, 2, 2, 3), F32))], conv_params("CONV2D", {}))
reject("CONV2D", "groups_do_not_divide", "build", [1], [T(draw("x", (1, 4, 4, 4))), const(draw("w", (3, 3, 3, 2))), const(draw("b", (3,)))], [T(np.zeros((1, 2, 2, 3), F32))],
       conv_params("CONV2D", {"group": 2}))
reject("DEPTHWISE_CONV2D_NATIVE", "input_of_rank_3", "add", [2], [T(draw("x", (4, 4, 2))), const(draw("w", (2, 3, 3, 1))), const(draw("b", (2,)))], [T(y)], conv_params("DEPTHWISE_CONV2D_NATIVE", {}))


def conv_transpose(x, w, b, strides=(1, 1), dil=(1, 1), mode=None, pads=(0, 0, 0, 0), outpad=(0, 0), group=1):
    """w [outC,kh,kw,inC/group]: every input cell adds its scaled kernel to the output."""
    n, h, wd, c = x.shape
    o, kh, kw, ci = w.shape
    out, before = [], []
    for i, (size, k) in enumerate(((h, kh), (wd, kw))):
        s, d, p = strides[i], dil[i], pads[2 * i:2 * i + 2]
        full = (size - 1) * s + (k - 1) * d + 1
        total = {0: size * s, 1: full, None: full - p[0] - p[1]}[mode] + outpad[i]
        out.append(total)
        before.append({0: max(0, int((full - total) / 2)), 1: 0, None: p[0]}[mode])
    y = np.zeros((n, *out, o))
    og = o // group
    for g in range(group):
        for i in range(h):
            for j in range(wd):
                for r in range(kh):
                    for q in range(kw):
                        a, e = i * strides[0] + r * dil[0] - before[0], j * strides[1] + q * dil[1] - before[1]
                        if 0 <= a < out[0] and 0 <= e < out[1]:
                            y[:, a, e, g * og:(g + 1) * og] += x[:, i, j, g * ci:(g + 1) * ci] @ w[g * og:(g + 1) * og, r, q].T
    return y + b


DECONV = "CONV2D_TRANSPOSE"
for tag, xs, k, out, o in (
    ("plain", (1, 3, 4, 2), (2, 2), 3, {}), ("stride2", (1, 3, 3, 2), (3, 3), 3, {"strides": (2, 2)}), ("pads", (2, 3, 3, 2), (3, 3), 3, {"pads": (1, 0, 1, 1)}),
    ("stride_pads", (1, 4, 3, 2), (3, 2), 3, {"strides": (2, 3), "pads": (1, 1, 0, 1)}), ("dilated", (1, 3, 3, 2), (2, 3), 3, {"dil": (2, 2)}),
    ("same", (1, 3, 4, 2), (3, 3), 3, {"mode": 0, "strides": (2, 2)}), ("valid", (1, 3, 3, 2), (3, 3), 3, {"mode": 1, "strides": (2, 2)}),
    ("output_padding", (1, 3, 3, 2), (3, 3), 3, {"strides": (2, 2), "outpad": (1, 1)}), ("groups", (1, 3, 3, 4), (2, 2), 6, {"group": 2}),
    ("same_stride1", (1, 4, 4, 2), (3, 3), 3, {"mode": 0}), ("pointwise", (1, 2, 3, 2), (1, 1), 3, {}),
    ("same_output_padding", (1, 3, 3, 2), (3, 3), 3, {"mode": 0, "strides": (2, 2), "outpad": (1, 1)}),
):
    for dtype in (F32, F16):
        if dtype == F16 and tag not in ("plain", "stride2", "same"):
            continue
        ws = (out, *k, xs[3] // o.get("group", 1))
        x, w, b = draw(DECONV + tag + "x", xs, dtype), draw(DECONV + tag + "w", ws, dtype), draw(DECONV + tag + "b", (out,), dtype)
        y = conv_transpose(x.astype(F64), w.astype(F64), b.astype(F64), **o)
        ps = conv_params(DECONV, {k2: v for k2, v in o.items() if k2 != "outpad"})
        if "outpad" in o:
            ps.append(param(DECONV + "_OUTPUT_PADDINGS", o["outpad"], I64))
        case(DECONV, f"{np.dtype(dtype)}_{tag}", [T(x), const(w), const(b)], [T(y.astype(dtype))], ps)
        if tag == "stride2" and dtype == F32:
            for act in (1, 2):
                case(DECONV, f"f32_activation_{act}", [T(x), const(w * 5), const(b)], [T(ACT[act](conv_transpose(x.astype(F64), (w * 5).astype(F64), b.astype(F64), **o)).astype(F32))],
                     ps + [param(DECONV + "_ACTIVATION_TYPE", act, I8)])
            case(DECONV, "f32_dynamic", [T(x, dyn=(1, 2)), const(w), const(b)], [T(y.astype(F32), dyn=(1, 2))], ps)
for dtype in (I8, U8):
    for tag, o in (("plain", {}), ("stride2", {"strides": (2, 2)}), ("same", {"mode": 0, "strides": (2, 2)})):
        g = rng(DECONV + tag + str(dtype))
        info = np.iinfo(dtype)
        qx, qw = Q(F32(0.02), 3 + (128 if dtype == U8 else 0)), Q(F32(0.01), 0 if dtype == I8 else 120)
        x, w = g.integers(info.min, info.max + 1, (1, 3, 4, 2)).astype(dtype), g.integers(info.min + 1, info.max + 1, (3, 3, 3, 2)).astype(dtype)
        b = g.integers(-300, 300, (3,)).astype(I32)
        y = conv_transpose(qx.real(x), qw.real(w), b * (qx.scale[0] * qw.scale[0]), **o)
        qy = Q(F32(float(np.abs(y).max()) / 120), 1 + (128 if dtype == U8 else 0))
        case(DECONV, f"{np.dtype(dtype)}_{tag}_quantized", [T(x, qx), const(w, qw), const(b)], [T(qy.quantize(y, dtype), qy)], conv_params(DECONV, o))
x, w, b = draw("tx", (1, 3, 3, 2)), draw("tw", (2, 2, 2, 5)), draw("tb", (5,))
y = conv_transpose(x.astype(F64), w.transpose(3, 1, 2, 0).astype(F64), b.astype(F64))
case(DECONV, "f32_weight_in_mindspore_order", [T(x), const(w), const(b)], [T(y.astype(F32))], conv_params(DECONV, {}))
for group, out in ((2, 6), (4, 8), (2, 10)):
    x, w, b = draw("gx", (1, 3, 3, 4)), draw("gw", (4, 2, 3, out // group)), draw("gb", (out,))
    parts = [v.transpose(3, 1, 2, 0) for v in np.split(w.astype(F64), group)]
    y = conv_transpose(x.astype(F64), np.concatenate(parts), b.astype(F64), strides=(2, 1), group=group)
    case(DECONV, f"f32_weight_in_mindspore_order_groups_{group}_{out}", [T(x), const(w), const(b)], [T(y.astype(F32))],
         conv_params(DECONV, {"strides": (2, 1), "group": group}))
x, w, b = draw("tx", (1, 3, 3, 2)), draw("tw", (3, 2, 2, 2)), draw("tb", (3,))
reject(DECONV, "no_bias", "add", [2], [T(x), const(w)], [T(y)], conv_params(DECONV, {}))
reject(DECONV, "weight_fits_no_order", "build", [1], [T(x), const(draw("tw", (4, 2, 2, 4))), const(b)], [T(y)], conv_params(DECONV, {}))
reject(DECONV, "stride_0", "build", [1], [T(x), const(w), const(b)], [T(y)], conv_params(DECONV, {"strides": (0, 1)}))
reject(DECONV, "pad_mode_3", "add", [2], [T(x), const(w), const(b)], [T(y)], [param(DECONV + "_PAD_MODE", 3, I8)])


def pool(op, x, kernel, strides, mode=None, pads=(0, 0, 0, 0), ceil=False):
    v = windows(x, kernel, strides, (1, 1), mode, pads, np.nan, ceil)
    return np.nanmax(v, axis=(3, 4)) if op == "MAX_POOL" else np.nanmean(v, axis=(3, 4))


for op in ("MAX_POOL", "AVG_POOL"):
    for tag, xs, k, s, o in (("2x2", (1, 4, 6, 2), (2, 2), (2, 2), {}), ("3x3_same", (1, 5, 5, 2), (3, 3), (1, 1), {"mode": 0}), ("same_stride2", (2, 5, 6, 1), (3, 2), (2, 2), {"mode": 0}),
                             ("pads", (1, 4, 4, 2), (3, 3), (2, 1), {"pads": (1, 1, 0, 1)}), ("valid", (1, 5, 4, 3), (2, 3), (1, 1), {"mode": 1}), ("valid_mode_2", (1, 5, 4, 2), (3, 2), (2, 1), {"mode": 2}),
                             ("ceil", (1, 5, 6, 2), (2, 3), (2, 2), {"ceil": True})):
        if op == "MAX_POOL" and "ceil" in o:
            continue
        ps = [param(op + "_KERNEL_SIZE", k, I64), param(op + "_STRIDE", s, I64)]
        ps.append(param(op + "_PAD_MODE", o["mode"], I8) if "mode" in o else param(op + "_PAD", o.get("pads", (0, 0, 0, 0)), I64))
        if "ceil" in o:
            ps.append(param(op + "_ROUND_MODE", 1, I32))
        for dtype in (F32, F16):
            x = draw(op + tag, xs, dtype, -3, 3)
            case(op, f"{np.dtype(dtype)}_{tag}", [T(x)], [T(pool(op, x.astype(F64), k, s, **o).astype(dtype))], ps)
        for dtype, zero in ((I8, -5), (U8, 120)):
            q = Q(F32(0.05), zero)
            x = q.quantize(draw(op + tag + "q", xs, F64, -3, 3), dtype)
            case(op, f"{np.dtype(dtype)}_{tag}_quantized", [T(x, q)], [T(q.quantize(pool(op, q.real(x), k, s, **o), dtype), q)], ps)
    x = draw(op, (2, 3, 4, 2))
    y = x.max(axis=(1, 2), keepdims=True) if op == "MAX_POOL" else x.astype(F64).mean(axis=(1, 2), keepdims=True).astype(F32)
    case(op, "f32_global", [T(x)], [T(y)], [param(op + "_GLOBAL", True, BOOL)])
    case(op, "f32_global_dynamic", [T(x, dyn=(1, 2))], [T(y)], [param(op + "_GLOBAL", True, BOOL)])
    ps = [param(op + "_KERNEL_SIZE", (2, 2), I64), param(op + "_STRIDE", (2, 2), I64)]
    x = draw(op + "act", (1, 4, 4, 2), F32, -9, 9)
    for act in (1, 2):
        case(op, f"f32_activation_{act}", [T(x)], [T(ACT[act](pool(op, x.astype(F64), (2, 2), (2, 2))).astype(F32))], ps + [param(op + "_ACTIVATION_TYPE", act, I8)])
    for n in (1, 3):
        x = draw(op + "dyn", (n, 4, 4, 2))
        case(op, f"f32_dynamic_{n}", [T(x, dyn=(0,))], [T(pool(op, x.astype(F64), (2, 2), (2, 2)).astype(F32), dyn=(0,))], ps)
    case(op, "f32_no_padding_given", [T(x)], [T(pool(op, x.astype(F64), (2, 2), (2, 2)).astype(F32))], ps)
    y = np.zeros((1, 2, 2, 2), F32)
    reject(op, "round_mode_2", "add", [2], [T(x)], [T(y)], ps + [param(op + "_ROUND_MODE", 2, I32)])
    reject(op, "pad_of_two", "add", [2], [T(x)], [T(y)], ps + [param(op + "_PAD", (0, 0), I64)])
    reject(op, "pad_mode_3", "add", [2], [T(x)], [T(y)], ps + [param(op + "_PAD_MODE", 3, I8)])
    reject(op, "stride_0", "build", [1], [T(x)], [T(y)], [ps[0], param(op + "_STRIDE", (0, 2), I64)])
    reject(op, "kernel_beyond_the_input", "build", [1], [T(x)], [T(y)], [param(op + "_KERNEL_SIZE", (5, 5), I64), ps[1]])
    reject(op, "input_of_rank_3", "build", [1], [T(x[0])], [T(y)], ps)

# --- matrix products
for tag, sa, sb, ta, tb in (("2d", (3, 4), (4, 5), False, False), ("transpose_a", (4, 3), (4, 5), True, False), ("transpose_b", (3, 4), (5, 4), False, True), ("both", (4, 3), (5, 4), True, True),
                            ("batch", (2, 3, 4), (2, 4, 2), False, False), ("broadcast", (2, 3, 4), (4, 2), False, False), ("broadcast_4d", (2, 1, 3, 4), (1, 3, 4, 2), False, False), ("row", (1, 6), (6, 3), False, False)):
    for dtype in (F32, F16):
        a, b = draw("mm" + tag + "a", sa, dtype), draw("mm" + tag + "b", sb, dtype)
        y = (a.astype(F64).swapaxes(-1, -2) if ta else a.astype(F64)) @ (b.astype(F64).swapaxes(-1, -2) if tb else b.astype(F64))
        ps = [param("MATMUL_TRANSPOSE_A", ta, BOOL), param("MATMUL_TRANSPOSE_B", tb, BOOL)]
        case("MATMUL", f"{np.dtype(dtype)}_{tag}", [T(a), T(b)], [T(y.astype(dtype))], ps)
a, b = draw("mma", (3, 4), F32, -3, 3), draw("mmb", (4, 5), F32, -3, 3)
y = a.astype(F64) @ b.astype(F64)
for act in (1, 2):
    case("MATMUL", f"f32_activation_{act}", [T(a), const(b)], [T(ACT[act](y).astype(F32))], [param("MATMUL_ACTIVATION_TYPE", act, I8)])
case("MATMUL", "f32_dynamic", [T(a, dyn=(0,)), const(b)], [T(y.astype(F32), dyn=(0,))])
qa, qb, qy = Q(F32(0.02), 4), Q(F32(0.03), -6), Q(F32(0.2), 1)
aq, bq = qa.quantize(a / 2, I8), qb.quantize(b / 2, I8)
case("MATMUL", "i8_quantized", [T(aq, qa), const(bq, qb)], [T(qy.quantize(qa.real(aq) @ qb.real(bq), I8), qy)])
reject("MATMUL", "sizes_do_not_fit", "build", [1], [T(a), T(draw("z", (5, 5)))], [T(y.astype(F32))])
reject("MATMUL", "three_inputs", "add", [2], [T(a), T(b), T(b)], [T(y.astype(F32))])
reject("MATMUL", "transpose_of_int8", "add", [2], [T(a), T(b)], [T(y.astype(F32))], [param("MATMUL_TRANSPOSE_A", 0, I8)])

FC = "FULL_CONNECTION"
for tag, xs, out, bias, axis in (("bias", (3, 4), 5, True, None), ("no_bias", (3, 4), 5, False, None), ("flattened", (2, 2, 3), 4, True, None), ("axis_1", (2, 2, 3), 4, True, 1), ("rank4", (2, 1, 2, 3), 4, False, None),
                                 ("axis_2", (2, 3, 4), 2, True, 2), ("one_row", (1, 7), 3, True, None)):
    for dtype in (F32, F16):
        k = int(np.prod(xs[axis or 1:]))
        rows = int(np.prod(xs)) // k
        x, w, b = draw(FC + tag + "x", xs, dtype), draw(FC + tag + "w", (out, k), dtype), draw(FC + tag + "b", (out,), dtype)
        y = x.astype(F64).reshape(rows, k) @ w.astype(F64).T + (b.astype(F64) if bias else 0)
        ps = [param(FC + "_HAS_BIAS", bias, BOOL)]
        shape = (rows, out)
        if axis is not None:
            ps += [param(FC + "_USE_AXIS", True, BOOL), param(FC + "_AXIS", axis, I64)]
            shape = (*xs[:axis], out)
        case(FC, f"{np.dtype(dtype)}_{tag}", [T(x), const(w)] + ([const(b)] if bias else []), [T(y.reshape(shape).astype(dtype))], ps)
x, w, b = draw("fx", (3, 4), F32, -3, 3), draw("fw", (5, 4), F32, -3, 3), draw("fb", (5,))
y = x.astype(F64) @ w.T.astype(F64) + b
for act in (1, 2):
    case(FC, f"f32_activation_{act}", [T(x), const(w), const(b)], [T(ACT[act](y).astype(F32))], [param(FC + "_HAS_BIAS", True, BOOL), param(FC + "_ACTIVATIONTYPE", act, I8)])
case(FC, "f32_dynamic", [T(x, dyn=(0,)), const(w), const(b)], [T(y.astype(F32), dyn=(0,))], [param(FC + "_HAS_BIAS", True, BOOL)])
for per in (False, True):
    qx, qw = Q(F32(0.02), 4), Q([F32(0.01 * (i + 1)) for i in range(5)] if per else F32(0.02), 0)
    xq, wq, bq = qx.quantize(x, I8), qw.quantize(w / 4, I8), np.arange(-200, 300, 100).astype(I32)
    yq = qx.real(xq) @ qw.real(wq).T + bq * (qx.scale[0] * qw.scale)
    qy = Q(F32(float(np.abs(yq).max()) / 120), 3)
    case(FC, "i8_quantized" + ("_per_channel" if per else ""), [T(xq, qx), const(wq, qw), const(bq)], [T(qy.quantize(yq, I8), qy)], [param(FC + "_HAS_BIAS", True, BOOL)])
reject(FC, "sizes_do_not_fit", "build", [1], [T(x), const(draw("z", (5, 3))), const(b)], [T(y.astype(F32))], [param(FC + "_HAS_BIAS", True, BOOL)])
reject(FC, "axis_without_use_axis", "add", [2], [T(x), const(w), const(b)], [T(y.astype(F32))], [param(FC + "_HAS_BIAS", True, BOOL), param(FC + "_USE_AXIS", False, BOOL), param(FC + "_AXIS", 1, I64)])
reject(FC, "two_outputs", "add", [2], [T(x), const(w), const(b)], [T(y.astype(F32)), T(y.astype(F32))], [param(FC + "_HAS_BIAS", True, BOOL)])


def resize(x, nh, nw, mode):
    def axis(n, out):
        d = np.arange(out, dtype=F64)
        if mode == 0:
            s = d * n / out
        elif mode == 1:
            s = d * ((n - 1) / (out - 1) if out > 1 else 0)
        else:
            s = np.maximum(0, (d + 0.5) * n / out - 0.5)
        lo = np.floor(s).astype(int)
        return np.minimum(lo, n - 1), np.minimum(lo + 1, n - 1), s - lo
    t, b, fy = axis(x.shape[1], nh)
    left, r, fx = axis(x.shape[2], nw)
    fy, fx = fy[None, :, None, None], fx[None, None, :, None]
    rows = lambda i: x[:, i][:, :, left] * (1 - fx) + x[:, i][:, :, r] * fx
    return rows(t) * (1 - fy) + rows(b) * fy


RB = "RESIZE_BILINEAR"
for tag, xs, to in (("double", (1, 3, 4, 2), (6, 8)), ("down", (1, 6, 5, 2), (3, 2)), ("uneven", (2, 3, 3, 1), (5, 4)), ("to_one", (1, 3, 3, 2), (1, 1))):
    for mode in (0, 1, 2):
        for dtype in (F32, F16):
            x = draw(RB + tag, xs, dtype, 0, 5)
            ps = [param(RB + "_NEW_HEIGHT", to[0], I64), param(RB + "_NEW_WIDTH", to[1], I64), param(RB + "_COORDINATE_TRANSFORM_MODE", mode, I8)]
            case(RB, f"{np.dtype(dtype)}_{tag}_mode{mode}", [T(x)], [T(resize(x.astype(F64), *to, mode).astype(dtype))], ps)
x = draw(RB, (1, 3, 4, 2), F32, 0, 5)
ps = [param(RB + "_NEW_HEIGHT", 5, I64), param(RB + "_NEW_WIDTH", 7, I64)]
case(RB, "f32_default_mode", [T(x)], [T(resize(x.astype(F64), 5, 7, 0).astype(F32))], ps)
case(RB, "f32_dynamic", [T(x, dyn=(1, 2))], [T(resize(x.astype(F64), 5, 7, 0).astype(F32))], ps)
q = Q(F32(0.02), -128)
xq = q.quantize(x, I8)
case(RB, "i8_quantized", [T(xq, q)], [T(q.quantize(resize(q.real(xq), 5, 7, 0), I8), q)], ps)
reject(RB, "no_height", "build", [1], [T(x)], [T(x)], ps[1:])
reject(RB, "preserve_aspect_ratio", "build", [1], [T(x)], [T(x)], ps + [param(RB + "_PRESERVE_ASPECT_RATIO", True, BOOL)])
reject(RB, "mode_3", "build", [1], [T(x)], [T(x)], ps + [param(RB + "_COORDINATE_TRANSFORM_MODE", 3, I8)])
