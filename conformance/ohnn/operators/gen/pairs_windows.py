"""Pairs of parameters of the operators with windows."""

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, U8, Q, param
from binary import ACT
from pairs import PAIRS, all_pairs
from pattern import Codes, Exact, Real, ints, reals
from size_windows import CONV, DECONV, DEPTH, exponent
from spatial import conv, conv_transpose, geometry, resize, windows

NO = None


def window_params(op, c, strides="_STRIDES"):
    ps = [param(op + strides, c["strides"], I64)]
    if "dil" in c and c["dil"] != (1, 1):
        ps.append(param(op + "_DILATION", c["dil"], I64))
    if isinstance(c["pads"], int):
        ps.append(param(op + "_PAD_MODE", c["pads"], I8))
    elif c["pads"] is not NO:
        ps.append(param(op + "_PAD", c["pads"], I64))
    return ps


def options(c):
    o = {"strides": c["strides"], "dil": c["dil"]}
    if isinstance(c["pads"], int):
        o["mode"] = c["pads"]
    elif c["pads"] is not NO:
        o["pads"] = c["pads"]
    return o


def convolution(op, name, c, xs, ws, f, kw, ps):
    if c["act"]:
        ps.append(param(op + "_ACTIVATION_TYPE", c["act"], I8))
    if c["dtype"] == F32:
        x, w, b = ints(op + name + "x", xs), ints(op + name + "w", ws, const=c["const"]), ints(op + name + "b", ws[:1], -9, 9, const=True)
        y = ACT[c["act"]](f(x.value.astype(F64), w.value.astype(F64), b.value.astype(F64), **kw))
        PAIRS.case(op, name, [x, w, b], [Exact(y, grid=1)], ps)
        return
    dtype = c["dtype"]
    info = np.iinfo(dtype)
    qx, qw = Q(2.0**-4, info.min + 141), Q(2.0**-6, 0 if dtype == I8 else 128)
    x = ints(op + name + "x", xs, info.min, info.max, dtype, q=qx)
    w = ints(op + name + "w", ws, info.min // 2 + 1, info.max // 2, dtype, step=2, q=qw, const=True)
    b = ints(op + name + "b", ws[:1], -1000.5, 1000.5, I32, step=2, const=True)
    acc = f(x.value.astype(F64) - qx.zero[0], w.value.astype(F64) - qw.zero[0], b.value.astype(F64), **kw)
    qy = Q(2.0**(exponent(acc) - 10), info.min + 119)
    if c["act"] == 2:
        qw.scale = qw.scale * 2.0**(12 - exponent(acc))
        qy = Q(2.0**-4, info.min + 19)
    PAIRS.case(op, name, [x, w, b], [Codes(ACT[c["act"]](acc * qx.scale[0] * qw.scale[0]), qy, dtype)], ps)


SHAPES = {"strides": [(1, 1), (2, 1), (1, 3), (2, 2)], "dil": [(1, 1), (2, 1), (1, 3)], "pads": [NO, 0, 1, 2, (1, 0, 2, 1), (0, 2, 0, 3)], "kernel": [(1, 1), (3, 2), (2, 4), (3, 3)]}
for name, c in all_pairs(CONV, {**SHAPES, "group": [1, 2, 4], "act": [0, 1, 2], "batch": [1, 2], "const": [True, False], "dtype": [F32, I8, U8]}):
    xs = (c["batch"], 11, 13, 4)
    ps = window_params(CONV, c) + ([param(CONV + "_GROUP", c["group"], I64)] if c["group"] > 1 else [])
    convolution(CONV, name, c, xs, (8, *c["kernel"], 4 // c["group"]), conv, {**options(c), "group": c["group"]}, ps)
for name, c in all_pairs(DEPTH, {**SHAPES, "times": [1, 2, 3], "act": [0, 1, 2], "batch": [1, 2], "const": [True, False], "dtype": [F32, I8, U8]}):
    convolution(DEPTH, name, c, (c["batch"], 11, 13, 5), (5 * c["times"], *c["kernel"], 1), conv, {**options(c), "group": 5}, window_params(DEPTH, c))
for name, c in all_pairs(DECONV, {"strides": [(1, 1), (2, 1), (1, 3), (2, 2)], "dil": [(1, 1), (2, 1), (1, 3)], "pads": [NO, 0, 1, (1, 0, 2, 1), (0, 1, 0, 2)], "kernel": [(1, 1), (3, 2), (2, 4), (3, 3)], "more": [(0, 0), (1, 0), (0, 1)],
                                  "group": [1, 2], "act": [0, 1, 2], "batch": [1, 2], "const": [True], "dtype": [F32, I8, U8]},
                         lambda strides, dil, pads, kernel, more, **_: all(m < s for m, s in zip(more, strides)) and (pads != 1 or dil == (1, 1))
                         and (pads != 0 or all((k - 1) * d + 1 >= s for k, d, s in zip(kernel, dil, strides)) and more == (0, 0))
                         and (pads is NO or isinstance(pads, int) or all((k - 1) * d >= a + b for k, d, a, b in zip(kernel, dil, pads[::2], pads[1::2])))):
    ps = window_params(DECONV, c) + ([param(DECONV + "_GROUP", c["group"], I64)] if c["group"] > 1 else [])
    if c["more"] != (0, 0):
        ps.append(param(DECONV + "_OUTPUT_PADDINGS", c["more"], I64))
    convolution(DECONV, name, c, (c["batch"], 5, 7, 4), (6, *c["kernel"], 4 // c["group"]), conv_transpose, {**options(c), "group": c["group"], "outpad": c["more"]}, ps)


def pool(op, x, c):
    pads, ceil = c["pads"] if isinstance(c["pads"], tuple) else (0, 0, 0, 0), bool(c.get("ceil"))
    mode = c["pads"] if isinstance(c["pads"], int) else None
    if mode in (1, 2) and ceil:  # VALID with ROUND_MODE 1: as without padding
        mode = None
    v = windows(x, c["kernel"], c["strides"], (1, 1), mode, pads, np.nan, ceil)
    return (np.nanmax if op == "MAX_POOL" else np.nanmean)(v, axis=(3, 4)), not np.isnan(v).all(axis=(3, 4)).any()


for op in ("MAX_POOL", "AVG_POOL"):
    for name, c in all_pairs(op, {"strides": [(1, 1), (2, 1), (3, 2), (2, 3)], "pads": [NO, 0, 1, 2, (1, 0, 1, 1), (0, 1, 1, 0), (1, 1, 2, 1)], "kernel": [(2, 2), (3, 2), (2, 5), (3, 3)], "ceil": [0, 1] if op == "AVG_POOL" else [0],
                                  "act": [0, 1, 2], "batch": [1, 2], "global": [None, False], "dtype": [F32, I8, U8]},
                             lambda pads, kernel, **_: not isinstance(pads, tuple) or all(p < k for p, k in zip(pads, np.repeat(kernel, 2)))):
        xs, dtype = (c["batch"], 11, 12, 3), c["dtype"]
        ps = [param(op + "_KERNEL_SIZE", c["kernel"], I64)] + window_params(op, c, "_STRIDE")
        if c["ceil"]:
            ps.append(param(op + "_ROUND_MODE", 1, I32))
        if c["act"]:
            ps.append(param(op + "_ACTIVATION_TYPE", c["act"], I8))
        if c["global"] is not None:
            ps.append(param(op + "_GLOBAL", c["global"], BOOL))
        q = None if dtype == F32 else Q(2.0**-4, np.iinfo(dtype).min + 150)
        lo, hi = (-150, 40 if c["act"] == 0 else 105) if dtype == F32 else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        x = ints(op + name, xs, lo, hi, dtype, step=1 / 16 if dtype == F32 else 1, q=q)
        y, whole = pool(op, q.real(x.value) if q else x.value.astype(F64), c)
        if not whole:  # a window beyond the image: what it gives is not stated
            continue
        y = ACT[c["act"]](y)
        if op == "MAX_POOL":
            PAIRS.case(op, name, [x], [Exact(q.quantize(y, dtype) if q else y, dtype, q)], ps)
        else:
            PAIRS.case(op, name, [x], [Real(q.quantize(y, dtype) if q else y, dtype, q)], ps)
    for i, dtype in enumerate((F32, I8)):  # what a global pooling ignores
        q = None if dtype == F32 else Q(2.0**-4, -6)
        x = ints(f"{op}global{i}", (2, 7, 9, 5), -120, 120, dtype, q=q)
        v = q.real(x.value) if q else x.value.astype(F64)
        y = (v.max if op == "MAX_POOL" else v.mean)(axis=(1, 2), keepdims=True)
        ps = [param(op + "_GLOBAL", True, BOOL), param(op + "_KERNEL_SIZE", (2, 3), I64), param(op + "_STRIDE", (2, 1), I64), param(op + "_PAD", (1, 0, 1, 0), I64)]
        PAIRS.case(op, f"global_{i}", [x], [(Exact if op == "MAX_POOL" else Real)(q.quantize(y, dtype) if q else y, dtype, q)], ps)

for name, c in all_pairs("resize", {"h": [1, 5, 7, 11, 14], "w": [1, 3, 9, 16, 27], "mode": [NO, 0, 1, 2], "batch": [1, 2], "c": [1, 5], "outside": [NO, 0, 1], "aspect": [NO, False], "dtype": [F32, I8]}):
    op, dtype = "RESIZE_BILINEAR", c["dtype"]
    ps = [param(op + "_NEW_HEIGHT", c["h"], I64), param(op + "_NEW_WIDTH", c["w"], I64)]
    for key, n, kind in (("mode", "_COORDINATE_TRANSFORM_MODE", I8), ("outside", "_EXCLUDE_OUTSIDE", I64), ("aspect", "_PRESERVE_ASPECT_RATIO", BOOL)):
        if c[key] is not NO:
            ps.append(param(op + n, c[key], kind))
    q = None if dtype == F32 else Q(2.0**-4, -6)
    x = reals(op + name, (c["batch"], 7, 9, c["c"]), 0, 9) if dtype == F32 else ints(op + name, (c["batch"], 7, 9, c["c"]), -128, 127, I8, q=q)
    y = resize(q.real(x.value) if q else x.value.astype(F64), c["h"], c["w"], c["mode"] or 0)
    if (c["h"], c["w"]) != (7, 9):
        PAIRS.case(op, name, [x], [Real(q.quantize(y, dtype) if q else y, dtype, q)], ps, **({} if q else {"rel": 1e-4, "abs": 1e-4, "why": "coordinates and their fractions are computed in float32"}))
