"""8-bit codes to the last bit: scales are powers of two, so that sums and products are exact and halves are frequent. The API's documents fix how
QUANT_DTYPE_CAST rounds (halves away from zero, after the zero point is added) and leave it open elsewhere: there each of pattern.WAYS is right, as
long as all elements of a result have the same one."""

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, U8, Q, const, param
from binary import ACT
from pattern import Codes, Exact, Folder, ints
from size_windows import DECONV, DEPTH, CONV
from spatial import conv, conv_params, conv_transpose, pool, resize

CODES = Folder("codes", "code_")


def add(op, name, ins, y, q, dtype, params=()):
    """A case whose result tells the ways apart: its reals y have halves."""
    out = Codes(y, q, dtype)
    assert out.ways, (op, name)
    assert len({v.tobytes() for v in out.ways.values()}) > 1, (op, name)
    assert np.unique(out.value).size > 12, (op, name)
    CODES.case(op, name, ins, [out], params)


for dtype in (I8, U8):
    info, name = np.iinfo(dtype), str(np.dtype(dtype))
    middle = info.min + 128
    make = lambda tag, shape, scale, zero, lo=info.min, hi=info.max, **more: ints(f"code{tag}{name}", shape, lo, hi, dtype, q=Q(scale, middle + zero), **more)

    # sums of products: a fourth of an output step and less
    for op, tag, xs, ws, o, f, per in ((CONV, "3x3", (2, 5, 7, 9), (10, 3, 3, 9), {"mode": 0}, conv, False), (CONV, "3x3_per_channel", (1, 5, 7, 8), (6, 3, 3, 8), {"mode": 0}, conv, True), (CONV, "1x1", (1, 3, 5, 33), (7, 1, 1, 33), {}, conv, False),
                                       (CONV, "groups_stride_2", (1, 7, 9, 8), (12, 3, 3, 4), {"group": 2, "strides": (2, 2), "pads": (1, 1, 0, 1)}, conv, False), (CONV, "32_channels", (1, 7, 5, 32), (33, 3, 3, 32), {"pads": (1, 0, 1, 2)}, conv, False),
                                       (DEPTH, "3x3", (2, 7, 5, 9), (9, 3, 3, 1), {"mode": 0}, conv, False), (DEPTH, "3x3_per_channel", (1, 7, 5, 16), (16, 3, 3, 1), {"mode": 0, "strides": (2, 1)}, conv, True),
                                       (DEPTH, "dilated", (1, 9, 8, 17), (17, 3, 3, 1), {"dil": (2, 2), "pads": (2, 2, 2, 2)}, conv, False),
                                       (DECONV, "stride_2", (1, 4, 5, 6), (7, 3, 3, 6), {"strides": (2, 2)}, conv_transpose, False)):
        for act in (0, 1, 2):
            if per and dtype == U8:
                continue
            x = make(op + tag + "x", xs, 0.125, 5)
            w = make(op + tag + "w", ws, 1.0, 0, -2 + middle / 16, 2 + middle / 16, step=16, const=True)
            b = ints(f"code{op}{tag}{name}b", ws[:1], -700, 700, I32, step=16, const=True)
            q = Q(0.5 if act < 2 else 1 / 16, middle + (3 if act == 0 else -90))
            ratio = 2.0**np.round(np.log2(74 * 1.4 * np.sqrt(np.prod(ws[1:])) / 40))  # 16 units of the sums that are a step: results spread over the codes
            scale = q.scale[0] / (16 * ratio * x.q.scale[0])
            w.q = Q([scale * 2.0**-(i % 3) for i in range(ws[0])] if per else scale, w.q.zero[:1])
            kw = {**o, "group": xs[3]} if op == DEPTH else o
            y = f(x.q.real(x.value), w.q.real(w.value), b.value * (x.q.scale[0] * w.q.scale), **kw)
            add(op, f"{name}_{tag}_activation_{act}", [x, w, b], ACT[act](y), q, dtype, conv_params(op, o) + [param(op + "_ACTIVATION_TYPE", act, I8)])

    for act in (0, 1, 2):
        q = Q(0.5 if act < 2 else 1 / 16, middle + (3 if act == 0 else -90))
        ps = [param("FULL_CONNECTION_HAS_BIAS", True, BOOL), param("FULL_CONNECTION_ACTIVATIONTYPE", act, I8)]
        x, w, b = make("fcx", (15, 37), 0.125, 5), make("fcw", (29, 37), 1.0, 0, -2 + middle / 16, 2 + middle / 16, step=16, const=True), ints("codefcb" + name, (29,), -700, 700, I32, step=16, const=True)
        w.q.scale = w.q.scale * q.scale[0] / 16 / 16 / 0.125
        add("FULL_CONNECTION", f"{name}_activation_{act}", [x, w, b], ACT[act](x.q.real(x.value) @ w.q.real(w.value).T + b.value * x.q.scale[0] * w.q.scale[0]), q, dtype, ps)
        a, b = make("mma", (2, 17, 21), 0.125, 5), make("mmb", (21, 18), 1.0, 0, -2 + middle / 16, 2 + middle / 16, step=16)
        b.q.scale = b.q.scale * q.scale[0] / 16 / 16 / 0.125
        add("MATMUL", f"{name}_activation_{act}", [a, b], ACT[act](a.q.real(a.value) @ b.q.real(b.value)), q, dtype, [param("MATMUL_ACTIVATION_TYPE", act, I8)])
        for op, f, key in (("ADD", np.add, "ACTIVATIONTYPE"), ("SUB", np.subtract, "ACTIVATIONTYPE"), ("MUL", np.multiply, "ACTIVATION_TYPE")):
            for tag, sb in (("same", (17, 37)), ("row", (37,)), ("one", (1,))):
                at = middle // 4 + 5  # one: 20 codes from the middle
                lo, hi = (at, at) if tag == "one" else (middle // 4 - 32, middle // 4 + 31)
                a, b = make(op + "a", (17, 37), 1 / 32 if op == "MUL" else 0.125, 5), make(op + tag + "b", sb, 0.25, -8, lo, hi, step=4)
                y = ACT[act](f(a.q.real(a.value), b.q.real(b.value)))
                add(op, f"{name}_{tag}_activation_{act}", [a, b], y, Q(0.25, middle + (3 if act == 0 else -90)), dtype, [param(f"{op}_{key}", act, I8)])

    for op, f in (("RELU", lambda x: np.maximum(x, 0)), ("RELU6", lambda x: np.clip(x, 0, 6)), ("ABS", np.abs), ("NEG", np.negative), ("SQUARE", np.square), ("LEAKY_RELU", lambda x: np.where(x >= 0, x, x * 0.5))):
        x = make(op, (5, 61), 0.125 if op != "SQUARE" else 0.25, 5, middle - 60 if op == "SQUARE" else info.min, middle + 60 if op == "SQUARE" else info.max)
        add(op, name, [x], f(x.q.real(x.value)), Q(0.25 if op != "SQUARE" else 0.5, middle + (3 if op in ("NEG", "LEAKY_RELU") else -90)), dtype, [param("LEAKY_RELU_NEGATIVE_SLOPE", 0.5, F32)] if op == "LEAKY_RELU" else [])
    x = make("clip", (5, 61), 0.125, 5)
    add("CLIP", name, [x], np.clip(x.q.real(x.value), -5.25, 7.5), Q(0.25, middle + 3), dtype, [param("CLIP_MAX", 7.5, F32), param("CLIP_MIN", -5.25, F32)])
    for op, f in (("MAXIMUM", np.maximum), ("MINIMUM", np.minimum), ("SQUARED_DIFFERENCE", lambda a, b: (a - b) ** 2)):
        a, b = make(op + "a", (7, 37), 0.125, 5), make(op + "b", (7, 37), 0.125, -9)
        add(op, name, [a, b], f(a.q.real(a.value), b.q.real(b.value)), Q(0.25 if op[0] == "M" else 2.0, middle + (3 if op[0] == "M" else -90)), dtype)
    x = make("avg", (2, 8, 10, 9), 0.25, 5)
    for act in (0, 1, 2):
        add("AVG_POOL", f"{name}_activation_{act}", [x], ACT[act](pool("AVG_POOL", x.q.real(x.value), (2, 2), (2, 2))), Q(0.25, middle + (3 if act == 0 else -90)), dtype,
            [param("AVG_POOL_KERNEL_SIZE", (2, 2), I64), param("AVG_POOL_STRIDE", (2, 2), I64), param("AVG_POOL_ACTIVATION_TYPE", act, I8)])
    add("AVG_POOL", name + "_padded", [x], pool("AVG_POOL", x.q.real(x.value), (2, 2), (1, 2), pads=(1, 0, 1, 0)), Q(0.25, middle + 3), dtype,
        [param("AVG_POOL_KERNEL_SIZE", (2, 2), I64), param("AVG_POOL_STRIDE", (1, 2), I64), param("AVG_POOL_PAD", (1, 0, 1, 0), I64)])
    x = make("resize", (1, 5, 6, 7), 0.25, 5)
    add("RESIZE_BILINEAR", name, [x], resize(x.q.real(x.value), 10, 12, 2), Q(0.25, middle + 3), dtype, [param("RESIZE_BILINEAR_NEW_HEIGHT", 10, I64), param("RESIZE_BILINEAR_NEW_WIDTH", 12, I64), param("RESIZE_BILINEAR_COORDINATE_TRANSFORM_MODE", 2, I8)])
    for axis, shape in ((1, (7, 8, 9)), (0, (4, 37)), (2, (5, 7, 16))):
        x = make(f"mean{axis}", shape, 0.25, 5)
        add("REDUCE_MEAN", f"{name}_axis_{axis}", [x, const(np.array([axis], I32))], x.q.real(x.value).mean(axis=axis), Q(1 / 8 if axis != 2 else 1 / 16, middle + 3), dtype)
        add("REDUCE_SUM", f"{name}_axis_{axis}", [x, const(np.array([axis], I32))], x.q.real(x.value).sum(axis=axis), Q(0.5 if axis != 2 else 2.0, middle + 3), dtype)
    for other in (I8, U8):
        low = np.iinfo(other).min
        x, q = make(f"cast{np.dtype(other)}", (5, 61), 0.125, 5), Q(0.25, low + 128 + 3)
        if dtype == other:  # the document fixes this rounding only from floats
            add("QUANT_DTYPE_CAST", f"{name}_to_{np.dtype(other)}", [x], x.q.real(x.value), q, other, [param("QUANT_DTYPE_CAST_SRC_T", 32, I64), param("QUANT_DTYPE_CAST_DST_T", 32, I64)])
    x = ints("codequantize" + name, (5, 67), -700, 700, step=1 / 16)
    q = Q(0.25, middle + 5)
    CODES.case("QUANT_DTYPE_CAST", "float32_to_" + name, [x], [Exact(q.quantize(x.value, dtype), dtype, q)], [param("QUANT_DTYPE_CAST_SRC_T", 43, I64), param("QUANT_DTYPE_CAST_DST_T", 32, I64)])
