"""Convolutions and pooling at the sizes where implementations change their algorithm: blocks of channels, tiles of the image, Winograd's and
the direct ones, edges that no tile fits."""

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, U8, Q, param
from binary import ACT
from pattern import Codes, Exact, Folder, Real, ints, reals
from spatial import conv, conv_params, conv_transpose, pool, resize

SIZE = Folder("size", "size_")
CONV, DEPTH, DECONV = "CONV2D", "DEPTHWISE_CONV2D_NATIVE", "CONV2D_TRANSPOSE"


def exponent(y, most=100):
    """The power of two that brings integers y into codes."""
    return max(2, int(np.ceil(np.log2(max(1, np.abs(y).max()) / most))))


def params(op, o):
    ps = conv_params(op, {k: v for k, v in o.items() if k != "outpad"})
    return ps + [param(op + "_OUTPUT_PADDINGS", o["outpad"], I64)] if "outpad" in o else ps


def float_conv(op, name, xs, ws, o, act=None, dyn=(), f=conv):
    x, w, b = ints(op + name + "x", xs, dyn=dyn), ints(op + name + "w", ws, const=True), ints(op + name + "b", ws[:1], -9, 9, const=True)
    kw = {**o, "group": xs[3]} if op == DEPTH else o
    y = f(x.value.astype(F64), w.value.astype(F64), b.value.astype(F64), **kw)
    ps = params(op, o)
    if act:
        y = ACT[act](y)
        ps.append(param(op + "_ACTIVATION_TYPE", act, I8))
    SIZE.case(op, "float32_" + name, [x, w, b], [Exact(y, dyn=dyn, grid=1)], ps)


def real_conv(op, name, xs, ws, o):
    k = int(np.prod(ws[1:]))
    x, w, b = reals(op + name + "x", xs), reals(op + name + "w", ws, -1 / np.sqrt(k), 1 / np.sqrt(k), const=True), reals(op + name + "b", ws[:1], const=True)
    kw = {**o, "group": xs[3]} if op == DEPTH else o
    SIZE.case(op, "real_" + name, [x, w, b], [Real(conv(*(t.value.astype(F64) for t in (x, w, b)), **kw))], conv_params(op, o))


def coded_conv(op, name, xs, ws, o, dtype=I8, act=None, f=conv):
    """Weights are even, so is their zero point, the bias is odd: no sum is half of a step, so every way of rounding gives the same codes."""
    info = np.iinfo(dtype)
    qx, qw = Q(2.0**-4, info.min + 141), Q(2.0**-6, 0 if dtype == I8 else 128)
    x = ints(op + name + "qx", xs, info.min, info.max, dtype, q=qx)
    w = ints(op + name + "qw", ws, info.min // 2 + 1, info.max // 2, dtype, step=2, q=qw, const=True)
    b = ints(op + name + "qb", ws[:1], -1000.5, 1000.5, I32, step=2, const=True)
    kw = {**o, "group": xs[3]} if op == DEPTH else o
    acc = f(x.value.astype(F64) - qx.zero[0], w.value.astype(F64) - qw.zero[0], b.value.astype(F64), **kw)
    assert (acc % 2 == 1).all()
    qy = Q(2.0**(exponent(acc) - 10), info.min + 119)
    if act == 2:  # reals around its bound of 6, which is a code
        qw.scale = qw.scale * 2.0**(12 - exponent(acc))
        qy = Q(2.0**-4, info.min + 19)
    y = acc * qx.scale[0] * qw.scale[0]
    ps = params(op, o)
    if act:
        y = ACT[act](y)
        ps.append(param(op + "_ACTIVATION_TYPE", act, I8))
    out = Codes(y, qy, dtype)
    assert out.ways is None, name
    SIZE.case(op, f"{np.dtype(dtype)}_{name}", [x, w, b], [out], ps)


CONVS = (
    # name, x, kernel, outputs, options
    ("3x3_pads", (2, 17, 19, 35), (3, 3), 37, {"pads": (1, 1, 1, 1)}), ("3x3_same_32_to_48", (2, 15, 13, 32), (3, 3), 48, {"mode": 0}),
    ("3x3_valid_40_to_16", (1, 12, 11, 40), (3, 3), 16, {"mode": 1}), ("3x3_uneven_pads", (1, 9, 14, 64), (3, 3), 33, {"pads": (0, 1, 2, 1)}),
    ("3x3_one_row", (1, 3, 41, 32), (3, 3), 32, {"mode": 1}), ("3x3_small_image", (3, 4, 5, 48), (3, 3), 32, {"mode": 0}),
    ("3x3_stride_2", (2, 19, 17, 33), (3, 3), 40, {"strides": (2, 2), "pads": (1, 1, 1, 1)}), ("3x3_stride_2_same_even", (1, 16, 18, 32), (3, 3), 17, {"strides": (2, 2), "mode": 0}),
    ("3x3_stride_3", (1, 20, 22, 34), (3, 3), 18, {"strides": (3, 3), "pads": (1, 0, 0, 1)}), ("3x3_stride_2_1", (1, 11, 13, 36), (3, 3), 19, {"strides": (2, 1), "mode": 0}),
    ("3x3_dilated_2", (2, 13, 15, 32), (3, 3), 34, {"dil": (2, 2), "pads": (2, 2, 2, 2)}), ("3x3_dilated_3_1", (1, 14, 9, 33), (3, 3), 35, {"dil": (3, 1), "pads": (3, 3, 1, 1)}),
    ("3x3_dilated_stride_2", (1, 17, 16, 32), (3, 3), 21, {"dil": (2, 3), "strides": (2, 2), "pads": (2, 1, 3, 2)}),
    ("1x1", (1, 13, 11, 33), (1, 1), 70, {}), ("1x1_stride_2", (2, 9, 7, 40), (1, 1), 37, {"strides": (2, 2)}), ("1x1_of_one_cell", (5, 1, 1, 130), (1, 1), 77, {}),
    ("1x1_padded", (1, 5, 6, 33), (1, 1), 18, {"pads": (1, 0, 2, 1)}),
    ("5x5_same", (1, 13, 12, 18), (5, 5), 24, {"mode": 0}), ("5x5_stride_3", (1, 17, 19, 17), (5, 5), 20, {"strides": (3, 3), "pads": (2, 1, 0, 2)}),
    ("7x7_stem", (1, 33, 35, 3), (7, 7), 32, {"strides": (2, 2), "pads": (3, 3, 3, 3)}), ("7x7_same", (1, 11, 10, 9), (7, 7), 13, {"mode": 0}),
    ("1x7", (1, 6, 23, 20), (1, 7), 21, {"pads": (0, 0, 3, 3)}), ("7x1", (1, 23, 6, 21), (7, 1), 20, {"pads": (3, 3, 0, 0)}), ("2x2_stride_2", (1, 14, 13, 33), (2, 2), 19, {"strides": (2, 2)}),
    ("deep", (1, 5, 6, 180), (3, 3), 17, {"mode": 0}), ("deep_1x1", (1, 3, 5, 1601), (1, 1), 19, {}), ("long_row", (1, 2, 203, 5), (2, 3), 9, {"mode": 0}),
    ("long_column", (1, 203, 2, 6), (3, 2), 7, {"mode": 0}), ("large_image", (1, 61, 67, 3), (3, 3), 18, {"pads": (1, 1, 1, 1)}),
    ("groups_2", (1, 9, 11, 36), (3, 3), 34, {"mode": 0, "group": 2}), ("groups_4_stride_2", (2, 11, 9, 32), (3, 3), 64, {"pads": (1, 1, 1, 1), "strides": (2, 2), "group": 4}),
    ("groups_8_dilated", (1, 12, 13, 40), (3, 3), 24, {"dil": (2, 1), "group": 8}), ("groups_of_1x1", (1, 7, 9, 33), (1, 1), 66, {"group": 3}),
    ("groups_of_one_channel", (1, 10, 9, 24), (3, 3), 24, {"mode": 0, "group": 24}), ("groups_with_multiplier", (1, 8, 9, 17), (3, 3), 34, {"mode": 0, "group": 17}),
)
for name, xs, k, out, o in CONVS:
    ws = (out, *k, xs[3] // o.get("group", 1))
    float_conv(CONV, name, xs, ws, o)
    coded_conv(CONV, name, xs, ws, o)
for name in ("3x3_pads", "3x3_same_32_to_48", "3x3_stride_2", "1x1", "7x7_stem", "groups_4_stride_2"):
    _, xs, k, out, o = next(c for c in CONVS if c[0] == name)
    ws = (out, *k, xs[3] // o.get("group", 1))
    coded_conv(CONV, name, xs, ws, o, dtype=U8)
    real_conv(CONV, name, xs, ws, o)
    for act in (1, 2):
        float_conv(CONV, f"{name}_activation_{act}", xs, ws, o, act=act)
        coded_conv(CONV, f"{name}_activation_{act}", xs, ws, o, act=act)
    float_conv(CONV, name + "_open", xs, ws, o, dyn=(0, 1, 2))
for c in range(1, 18):
    xs, ws, o = (1, 7, 5 + c % 4, c), (19 - c, 3, 3, c), {"mode": 0, "strides": (1 + c % 2, 1 + c % 3 // 2)}
    float_conv(CONV, f"of_{c}_channels", xs, ws, o)
    if c % 2:
        coded_conv(CONV, f"of_{c}_channels", xs, ws, o)

for w in range(4, 21):  # the last tile of a row and of a column has every width, and the padding every place in it
    h = 4 + (5 * w + 3) % 17
    float_conv(CONV, f"3x3_image_{h}x{w}", (1, h, w, 32), (33, 3, 3, 32), ({"mode": 0}, {"pads": (1, 1, 1, 1)}, {"pads": (0, 2, 2, 0)}, {"mode": 1})[w % 8 // 2])
    float_conv(CONV, f"3x3_stride_2_image_{h}x{w}", (1, h, w, 16), (17, 3, 3, 16), {"strides": (2, 2), "pads": (1, 1, 1, 1)})
    float_conv(DEPTH, f"image_{h}x{w}", (1, h, w, 16), (16, 3, 3, 1), {"pads": (1, 1, 1, 1)})
    float_conv(DEPTH, f"stride_2_image_{h}x{w}", (1, h, w, 17), (17, 3, 3, 1), {"strides": (2, 2), "mode": 0})

WINDOWS = (
    ((3, 3), {"mode": 0}), ((3, 3), {"strides": (2, 2), "pads": (1, 0, 1, 1)}), ((5, 5), {"mode": 0}), ((3, 3), {"dil": (2, 3), "pads": (2, 2, 3, 3)}), ((5, 3), {"strides": (2, 1), "mode": 0}),
    ((3, 3), {"strides": (3, 2), "mode": 1}), ((3, 3), {"dil": (2, 2), "strides": (2, 2), "mode": 1}), ((7, 7), {"pads": (3, 3, 3, 3)}), ((2, 4), {"pads": (0, 1, 2, 1)}),
)
for i, c in enumerate((*range(1, 18), 24, 32, 33, 64, 70)):
    for j in (0, 4) if c in (16, 24, 33) else (0,):
        k, o = WINDOWS[(i + j) % len(WINDOWS)]
        float_conv(DEPTH, f"{c}_channels_{j}", (1 + i % 2, 13, 11 + i % 5, c), (c, *k, 1), o, act=(None, 1, 2)[i % 3])
        k, o = WINDOWS[(i + j + 3) % len(WINDOWS)]
        coded_conv(DEPTH, f"{c}_channels_{j}", (1 + i % 2, 13, 11 + i % 5, c), (c, *k, 1), o, dtype=(I8, U8)[i % 4 == 3], act=(None, 2, 1)[i % 3])
for i, (k, o) in enumerate(WINDOWS):
    float_conv(DEPTH, f"of_40_{i}", (2, 19, 17, 40), (40, *k, 1), o)
    coded_conv(DEPTH, f"of_36_{i}", (2, 17, 19, 36), (36, *k, 1), o)
float_conv(DEPTH, "multiplier_2", (1, 9, 10, 17), (34, 3, 3, 1), {"mode": 0})
float_conv(DEPTH, "large_image", (1, 61, 67, 9), (9, 3, 3, 1), {"pads": (1, 1, 1, 1)})
float_conv(DEPTH, "open", (2, 13, 15, 33), (33, 3, 3, 1), {"mode": 0}, dyn=(0, 1, 2))
real_conv(DEPTH, "of_33_channels", (2, 17, 13, 33), (33, 3, 3, 1), {"mode": 0})

for name, xs, k, out, o in (("3x3_stride_2", (1, 7, 6, 33), (3, 3), 18, {"strides": (2, 2), "pads": (1, 0, 1, 1)}), ("2x2_stride_2", (2, 5, 7, 32), (2, 2), 19, {"strides": (2, 2)}),
                            ("4x4_stride_2", (1, 6, 5, 17), (4, 4), 33, {"strides": (2, 2), "pads": (1, 1, 1, 1)}), ("3x3_same", (1, 7, 8, 16), (3, 3), 21, {"mode": 0}),
                            ("5x5_stride_3_output_padding", (1, 5, 4, 20), (5, 5), 9, {"strides": (3, 3), "outpad": (1, 2)}), ("3x3_dilated", (1, 6, 7, 18), (3, 3), 17, {"dil": (2, 3)}),
                            ("1x1", (1, 5, 7, 34), (1, 1), 20, {}), ("stride_beyond_the_filter", (1, 5, 6, 9), (2, 2), 11, {"strides": (3, 4)})):
    float_conv(DECONV, name, xs, (out, *k, xs[3]), o, f=conv_transpose)
    coded_conv(DECONV, name, xs, (out, *k, xs[3]), o, f=conv_transpose)

for op in ("MAX_POOL", "AVG_POOL"):
    for i, (xs, k, s, o) in enumerate((((2, 19, 17, 33), (3, 3), (2, 2), {"pads": (1, 1, 1, 1)}), ((1, 17, 15, 40), (2, 2), (2, 2), {"mode": 1}), ((1, 13, 14, 35), (3, 3), (1, 1), {"mode": 0}),
                                       ((1, 23, 21, 5), (5, 5), (3, 3), {"pads": (2, 1, 0, 2)}), ((1, 14, 9, 64), (3, 2), (2, 3), {"mode": 0}), ((1, 41, 3, 18), (7, 3), (1, 1), {"mode": 1}))):
        ps = [param(op + "_KERNEL_SIZE", k, I64), param(op + "_STRIDE", s, I64)]
        ps.append(param(op + "_PAD_MODE", o["mode"], I8) if "mode" in o else param(op + "_PAD", o["pads"], I64))
        x = ints(f"{op}{i}", xs, -999, -1)  # all below zero: zeros in the padding would win
        y = pool(op, x.value.astype(F64), k, s, **o)
        SIZE.case(op, f"float32_{i}", [x], [Exact(y) if op == "MAX_POOL" else Real(y)], ps)
        for dtype in (I8, U8):
            info = np.iinfo(dtype)
            q = Q(2.0**-4, info.max - 7)
            x = ints(f"{op}{i}{dtype}", xs, info.min, info.max - 17, dtype, q=q)
            y = q.quantize(pool(op, q.real(x.value), k, s, **o), dtype)
            SIZE.case(op, f"{np.dtype(dtype)}_{i}", [x], [Exact(y, dtype, q) if op == "MAX_POOL" else Real(y, dtype, q)], ps)
    for xs in ((2, 17, 19, 33), (1, 5, 203, 3), (3, 64, 64, 5)):
        x = ints(f"{op}global{xs}", xs, -999, -1)
        y = x.value.astype(F64)
        y = y.max(axis=(1, 2), keepdims=True) if op == "MAX_POOL" else y.mean(axis=(1, 2), keepdims=True)
        SIZE.case(op, f"float32_global_{xs[3]}", [x], [Exact(y) if op == "MAX_POOL" else Real(y)], [param(op + "_GLOBAL", True, BOOL)])

for mode in (0, 1, 2):
    for i, (xs, to) in enumerate((((1, 17, 19, 33), (34, 38)), ((2, 23, 13, 5), (9, 31)), ((1, 9, 11, 18), (27, 33)))):
        x = reals(f"resize{i}", xs, 0, 9)
        ps = [param("RESIZE_BILINEAR_NEW_HEIGHT", to[0], I64), param("RESIZE_BILINEAR_NEW_WIDTH", to[1], I64), param("RESIZE_BILINEAR_COORDINATE_TRANSFORM_MODE", mode, I8)]
        SIZE.case("RESIZE_BILINEAR", f"float32_{i}_mode_{mode}", [x], [Real(resize(x.value.astype(F64), *to, mode))], ps, rel=1e-4, abs=1e-4, why="coordinates and their fractions are computed in float32")
