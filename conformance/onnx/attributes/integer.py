"""Products, convolutions and functions of integers and codes, computed exactly."""
import numpy as np
from onnx import TensorProto, helper

from sweep import add, f32, ints, node, rng

WIDTHS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
OUTSIDE = (np.uint32, np.uint64)  # of the types that programs give and get


def codes(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def exact(name, nodes, feeds, inits, want, opset, **kw):
    """Only the formula counts: evaluators lack many types, and saturate sums of two products on some processors."""
    add(name, nodes, feeds, inits, opset=opset, expected=[np.asarray(want)], skip_reference=True, skip_onnxruntime=True, **kw)


def matrices():
    for ta in (np.uint8, np.int8):
        for tb in (np.uint8, np.int8):
            a, b = codes(ta, 3, 5), codes(tb, 5, 4)
            zeros = {"scalar": (ta(9), tb(7)), "row": (codes(ta, 3), tb(7)), "column": (ta(9), codes(tb, 4)), "both": (codes(ta, 3), codes(tb, 4)), "one": (codes(ta, 1), codes(tb, 1))}
            for how, (za, zb) in zeros.items():
                row = za[:, None] if np.ndim(za) and za.size > 1 else za
                want = (a.astype(np.int64) - np.int64(row)) @ (b.astype(np.int64) - np.int64(zb))
                tag = f"{how}_{ta.__name__}_{tb.__name__}"
                exact(f"matmulinteger_{tag}", node("MatMulInteger", "a b za zb"), {"a": a}, {"b": b, "za": za, "zb": zb}, want.astype(np.int32), 10)
                if how in ("row", "both") and ta == tb:
                    exact(f"matmulinteger_given_{tag}", node("MatMulInteger", "a b za zb"), {"a": a, "b": b}, {"za": za, "zb": zb}, want.astype(np.int32), 10)
    a, b = codes(np.uint8, 2, 3, 4), codes(np.int8, 2, 4, 5)
    exact("matmulinteger_batches", node("MatMulInteger", "a b za"), {"a": a, "b": b}, {"za": np.uint8(200)}, ((a.astype(np.int64) - 200) @ b.astype(np.int64)).astype(np.int32), 10)
    exact("matmulinteger_wide_batches", node("MatMulInteger", "a b"), {"a": a}, {"b": b[0]}, (a.astype(np.int64) @ b[0].astype(np.int64)).astype(np.int32), 10)
    zero = codes(np.uint8, 2, 3, 1)
    exact("matmulinteger_batch_zeros", node("MatMulInteger", "a b za"), {"a": a, "b": b}, {"za": zero}, ((a.astype(np.int64) - zero) @ b.astype(np.int64)).astype(np.int32), 10)


def convolved(x, w, pads=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1), group=1):
    """A convolution in the type of its operands."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    n, c, h, v = x.shape
    m, per, kh, kw = w.shape
    oh, ow = (h - dilations[0] * (kh - 1) - 1) // strides[0] + 1, (v - dilations[1] * (kw - 1) - 1) // strides[1] + 1
    y = np.zeros((n, m, oh, ow), x.dtype)
    for f in range(m):
        first = f // (m // group) * per
        for q, i, j in np.ndindex(per, kh, kw):
            top, left = i * dilations[0], j * dilations[1]
            y[:, f] += w[f, q, i, j] * x[:, first + q, top:top + (oh - 1) * strides[0] + 1:strides[0], left:left + (ow - 1) * strides[1] + 1:strides[1]]
    return y


WINDOWS = {"plain": {}, "pads": {"pads": [1, 0, 2, 1]}, "strides": {"strides": [2, 1]}, "dilations": {"dilations": [1, 2]}, "group": {"group": 2},
           "all": {"pads": [0, 1, 1, 1], "strides": [1, 2], "dilations": [2, 1], "group": 2}}


def convolutions():
    for name, at in WINDOWS.items():
        for tx, tw in ((np.uint8, np.int8), (np.uint8, np.uint8), (np.int8, np.int8)):
            x, w = codes(tx, 1, 4, 6, 5), codes(tw, 6, 4 // at.get("group", 1), 2, 2)
            tag = f"{name}_{tx.__name__}_{tw.__name__}"
            for how, zw in (("", tw(5)), ("_channels", codes(tw, 6))):
                zx = tx(100)
                wide = w.astype(np.int64) - np.reshape(zw, (-1, 1, 1, 1))
                sums = convolved(x.astype(np.int64) - 100, wide, **at)
                exact(f"convinteger_{tag}{how}", node("ConvInteger", "x w zx zw", **at), {"x": x}, {"w": w, "zx": zx, "zw": zw}, sums.astype(np.int32), 10)
                if name in ("plain", "pads", "all"):
                    sw = np.array([.5, .25, 1, 2, .125, .5], np.float32) if how else np.float32(.5)
                    bias = rng.integers(-9000, 9000, 6).astype(np.int32)
                    real = (sums + bias[:, None, None]) * (np.reshape(sw, (-1, 1, 1)).astype(np.float64) / 4096)
                    info = np.iinfo(tx)
                    want = np.clip(np.rint(real * 16) + 3, info.min, info.max).astype(tx)
                    exact(f"qlinearconv_{tag}{how}", node("QLinearConv", "x sx zx w sw zw sy zy b", **at), {"x": x},
                          {"sx": np.float32(1 / 4096), "zx": zx, "w": w, "sw": sw, "zw": zw, "sy": np.float32(1 / 16), "zy": tx(3), "b": bias}, want, 10)
    x, w = codes(np.uint8, 1, 2, 6, 5), codes(np.int8, 3, 2, 3, 2)
    for auto, pads in (("SAME_UPPER", [1, 0, 1, 1]), ("SAME_LOWER", [1, 1, 1, 0]), ("VALID", [0] * 4)):
        exact(f"convinteger_{auto.lower()}", node("ConvInteger", "x w", auto_pad=auto), {"x": x}, {"w": w}, convolved(x.astype(np.int64), w.astype(np.int64), pads).astype(np.int32), 10)
    line, v = codes(np.uint8, 2, 3, 9), codes(np.int8, 4, 3, 3)
    want = convolved(line[:, :, None].astype(np.int64) - 7, v[:, :, None].astype(np.int64), (0, 1, 0, 2), (1, 2))[:, :, 0]
    exact("convinteger_line", node("ConvInteger", "x w z", pads=[1, 2], strides=[2]), {"x": line}, {"w": v, "z": np.uint8(7)}, want.astype(np.int32), 10)


def products_of_codes():
    for t in (np.uint8, np.int8):
        a, b, info = codes(t, 3, 6), codes(t, 6, 4), np.iinfo(t)
        for how, (sa, za, sb, zb) in {"scalar": (.5, 9, .25, 7), "column": (.5, 9, np.array([.5, 1, .25, 2]), codes(t, 4)), "row": (np.array([.5, 2, .25]), codes(t, 3), .25, 7),
                                      "both": (np.array([.5, 2, .25]), codes(t, 3), np.array([.5, 1, .25, 2]), codes(t, 4))}.items():
            up = (lambda z: z[:, None] if np.ndim(z) else z)
            real = ((a.astype(np.int64) - np.int64(up(za))) @ (b.astype(np.int64) - np.int64(zb))) * np.asarray(up(sa), np.float64) * sb
            want = np.clip(np.rint(real / 64) + t(-5 % 256 if t == np.uint8 else -5), info.min, info.max).astype(t)
            inits = {"sa": np.asarray(sa, np.float32), "za": np.asarray(za, t), "b": b, "sb": np.asarray(sb, np.float32), "zb": np.asarray(zb, t), "sy": np.float32(64),
                     "zy": np.array(-5 % 256 if t == np.uint8 else -5, t)}
            for opset in (10, 21):
                exact(f"qlinearmatmul_{opset}_{how}_{t.__name__}", node("QLinearMatMul", "a sa za b sb zb sy zy"), {"a": a}, inits, want, opset)


def quantization():
    halves = np.array([[-2.5, -1.5, -.5, .5, 1.5, 2.5], [126.5, 127.5, 128.5, 254.5, 255.5, 1e9], [-128.5, -129.5, -1e9, np.inf, -np.inf, 0], [32767.5, -32768.5, 65535.5, 70000, -70000, -0.0]], np.float32)
    for t in (np.uint8, np.int8, np.uint16, np.int16):
        info = np.iinfo(t)
        for zero in sorted({0, 3, info.max, info.min}):
            opset = 21 if t in (np.uint16, np.int16) else 13
            want = np.clip(np.rint(halves.astype(np.float64) / .5) + zero, info.min, info.max).astype(t)
            exact(f"quantizes_{t.__name__}_{zero % 65536}", node("QuantizeLinear", "x s z"), {"x": halves}, {"s": np.float32(.5), "z": t(zero)}, want, opset)
            q = np.concatenate([codes(t, 10), np.array([info.min, info.max, 0, 1], t)])
            exact(f"dequantizes_{t.__name__}_{zero % 65536}", node("DequantizeLinear", "x s z"), {"x": q}, {"s": np.float32(.25), "z": t(zero)}, ((q.astype(np.float64) - zero) / 4).astype(np.float32), opset)
    wide = np.array([[2 ** 20, -2 ** 20, 7], [-7, 0, 2 ** 23]], np.int32)
    exact("dequantizes_int32", node("DequantizeLinear", "x s"), {"x": wide}, {"s": np.float32(.5)}, (wide / 2).astype(np.float32), 13)
    exact("dequantizes_int32_axis", node("DequantizeLinear", "x s", axis=1), {"x": wide}, {"s": np.array([.5, 2, .25], np.float32)}, (wide * np.array([.5, 2, .25])).astype(np.float32), 13)
    x = np.array([[-9, -8.5, -7.5, -1.5, -.5, 0], [.5, 1.5, 6.5, 7.5, 8.5, 15.5]], np.float32)
    for name, t, lo, hi in (("int4", TensorProto.INT4, -8, 7), ("uint4", TensorProto.UINT4, 0, 15)):
        for opset in (21, 23):
            pair = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z")]
            zero = helper.make_tensor("z", t, [], [2])
            want = ((np.clip(np.rint(x.astype(np.float64)) + 2, lo, hi) - 2)).astype(np.float32)
            exact(f"quantizes_{name}_{opset}", pair, {"x": x}, {"s": np.float32(1)}, want, opset, change=lambda m, zero=zero: m.graph.initializer.append(zero))
            exact(f"quantizes_{name}_{opset}_dtype", [node("QuantizeLinear", "x s", "q", output_dtype=t), node("DequantizeLinear", "q s")], {"x": x}, {"s": np.float32(1)},
                  np.clip(np.rint(x.astype(np.float64)), lo, hi).astype(np.float32), opset)
    for i, values in enumerate(([0, 2, -3, -2.5, 1.34, .5], [1, 2.1, 1.3, 2.5, 3.34, 4.0], [-1, -2.1, -1.3, -2.5, -3.34, -4.0], [0, 0, 0, 0, 0, 0.5], [-1, 1, .5, .25, -.25, .75], [255, 0, 1, 2, 3.5, 4.5])):
        v = np.array(values, np.float32)
        low, high = min(v.min(), np.float32(0)), max(v.max(), np.float32(0))
        scale = np.float32((high - low) / np.float32(255))
        zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
        add(f"dynamicquantizes_{i}", node("DynamicQuantizeLinear", "x", "y s z"), {"x": v}, opset=11, expected=[np.clip(np.rint(v / scale) + zero, 0, 255).astype(np.uint8), scale, zero], skip_reference=True)


def typed(name, op, t, operands, want, opset, **attrs):
    """An operator on a type of integers; casts are around those types that no program can give. Lists of sizes and axes are constants."""
    names = "abc"[:len(operands)]
    all = dict(zip(names, (x.astype(np.int64) if x.dtype.type in OUTSIDE else x for x in operands)))
    inits = {"b": all.pop("b")} if op in ("Pad", "Tile", "CumSum") or op.startswith("Reduce") else None
    before = [node("Cast", n, f"{n}_t", to=helper.np_dtype_to_tensor_dtype(x.dtype)) for n, x in zip(names, operands) if x.dtype.type in OUTSIDE]
    ins = " ".join(n + ("_t" if x.dtype.type in OUTSIDE else "") for n, x in zip(names, operands))
    want = np.asarray(want)
    if want.dtype.type in OUTSIDE:
        nodes = before + [node(op, ins, "r", **attrs), node("Cast", "r", to=TensorProto.INT64)]
        want = want.astype(np.int64)
    else:
        nodes = before + [node(op, ins, **attrs)]
    exact(f"{name}_{t.__name__}", nodes, all, inits, want, opset)


def widths():
    for t in WIDTHS:
        info = np.iinfo(t)
        bits, top = info.bits, info.max if t != np.uint64 else np.iinfo(np.int64).max  # what a program can give
        a = np.array([info.min, top, 0, 1, 5, 7, info.min + 1, 13], t)
        b = np.array([3, 2, 5, top, 5, 3, 1, 4], t)
        with np.errstate(over="ignore"):
            for op, want in (("Add", a + b), ("Sub", a - b), ("Mul", a * b)):
                typed(f"int_{op.lower()}", op, t, (a, b), want, 14)
            whole = np.array([int(abs(int(x)) // int(y)) * (1 if x >= 0 else -1) for x, y in zip(a, b)]).astype(t)
            typed("int_div", "Div", t, (a, b), whole, 14)
        typed("int_mod", "Mod", t, (a, b), np.array([int(x) % int(y) for x, y in zip(a, b)]).astype(t), 13)
        typed("int_fmod", "Mod", t, (a, b), np.array([int(x) - int(y) * int(w) for x, y, w in zip(a, b, whole)]).astype(t), 13, fmod=1)
        for op, f in (("Max", np.maximum), ("Min", np.minimum), ("Equal", np.equal), ("Less", np.less), ("Greater", np.greater), ("LessOrEqual", np.less_equal), ("GreaterOrEqual", np.greater_equal)):
            typed(f"int_{op.lower()}", op, t, (a, b), f(a, b), 16)
        for op, f in (("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor)):
            typed(f"int_{op.lower()}", op, t, (a, b), f(a, b), 18)
        if t != np.uint64:
            typed("int_bitwisenot", "BitwiseNot", t, (a,), ~a, 18)
        if info.min == 0:
            s = np.array([0, 1, bits - 1, 2, 3, 4, 5, 1], t)
            right, left = np.right_shift(a, s), np.left_shift(a, s)
            typed("int_bitshift_right", "BitShift", t, (a, s), right, 11, direction="RIGHT")
            if t != np.uint64:
                typed("int_bitshift_left", "BitShift", t, (a, s), left, 11, direction="LEFT")
        else:
            small = np.array([info.min + 1, top, 0, -1, 5, -7], t)
            typed("int_abs", "Abs", t, (small,), np.abs(small), 13)
            typed("int_neg", "Neg", t, (small,), -small, 13)
            typed("int_relu", "Relu", t, (small,), np.maximum(small, 0), 14)
        typed("int_sign", "Sign", t, (a,), np.sign(a), 13)
        typed("int_clip", "Clip", t, (a, t(2), t(6)), np.clip(a, t(2), t(6)), 13)
        typed("int_where", "Where", t, (np.array([1, 0, 0, 1, 1, 0, 1, 0], bool), a, b), np.where([1, 0, 0, 1, 1, 0, 1, 0], a, b), 16)
        m = a.reshape(2, 4)
        typed("int_transpose", "Transpose", t, (m,), m.T, 13)
        typed("int_concat", "Concat", t, (m, m), np.concatenate([m, m], 1), 13, axis=1)
        typed("int_gather", "Gather", t, (m, np.array([2, 0], np.int64)), m[:, [2, 0]], 13, axis=1)
        typed("int_tile", "Tile", t, (m, np.array([2, 1], np.int64)), np.tile(m, (2, 1)), 13)
        typed("int_reducemax", "ReduceMax", t, (m, np.array([1], np.int64)), m.max(1, keepdims=True), 20)
        typed("int_reducemin", "ReduceMin", t, (m, np.array([1], np.int64)), m.min(1, keepdims=True), 20)
        typed("int_argmax", "ArgMax", t, (m,), m.argmax(1)[:, None], 13, axis=1)
        typed("int_pad", "Pad", t, (m, np.array([1, 0, 0, 2], np.int64), t(9)), np.pad(m, ((1, 0), (0, 2)), constant_values=9), 13)
        typed("int_isolated_cast", "Cast", t, (a,), a.astype(np.float64).astype(np.float32), 13, to=TensorProto.FLOAT)
        if bits >= 32:
            k, s = np.array([[3, -2], [5, 7], [-1, 4]]).astype(t), np.array([[2, 1, 0], [9, 3, 1]]).astype(t)
            if t not in OUTSIDE:
                typed("int_matmul", "MatMul", t, (k, s), k @ s, 13)
                typed("int_cumsum", "CumSum", t, (k, np.array(0, np.int64)), np.cumsum(k, 0).astype(t), 14)
                typed("int_reducesum", "ReduceSum", t, (k, np.array([1], np.int64)), k.sum(1, keepdims=True).astype(t), 13)
                typed("int_reduceprod", "ReduceProd", t, (k, np.array([1], np.int64)), k.prod(1, keepdims=True).astype(t), 18)
                typed("int_pow", "Pow", t, (np.array([2, -3, 5, 1, 0], t), np.array([5, 3, 0, 9, 2], t)), np.array([32, -27, 1, 1, 0], t), 15)


def casts():
    reals = np.array([0, -0.0, .5, -.5, .99, -.99, 1.5, -1.5, 2.5, 100.7, -100.7, 127.9, -128.9], np.float32)
    for t in WIDTHS:
        v = reals if np.iinfo(t).min < 0 else np.abs(reals)
        if t in OUTSIDE:
            exact(f"cast_float_{t.__name__}", [node("Cast", "x", "c", to=helper.np_dtype_to_tensor_dtype(np.dtype(t))), node("Cast", "c", to=TensorProto.INT64)], {"x": v}, None, v.astype(t).astype(np.int64), 13)
        else:
            exact(f"cast_float_{t.__name__}", node("Cast", "x", to=helper.np_dtype_to_tensor_dtype(np.dtype(t))), {"x": v}, None, v.astype(t), 13)
        n = np.array([0, 1, -1, 127, 128, 255, 256, -129, 32768, 65536, 2 ** 31, -2 ** 31 - 1, 2 ** 40 + 5], np.int64)
        if t not in OUTSIDE:
            exact(f"cast_int64_{t.__name__}", node("Cast", "x", to=helper.np_dtype_to_tensor_dtype(np.dtype(t))), {"x": n}, None, n.astype(t), 13)
        else:
            exact(f"cast_int64_{t.__name__}", [node("Cast", "x", "c", to=helper.np_dtype_to_tensor_dtype(np.dtype(t))), node("Cast", "c", to=TensorProto.INT64)], {"x": n}, None, n.astype(t).astype(np.int64), 13)
    odd = np.array([16777217, 16777219, -16777217, 2 ** 31 - 1, 2 ** 31 - 64, 2 ** 31 - 65], np.int32)
    exact("cast_int32_float", node("Cast", "x", to=TensorProto.FLOAT), {"x": odd}, None, odd.astype(np.float32), 13)
    exact("cast_bool_from_float", node("Cast", "x", to=TensorProto.BOOL), {"x": np.array([0, -0.0, .1, -3, np.inf, np.nan, 1e-45], np.float32)}, None, np.array([0, 0, 1, 1, 1, 1, 1], bool), 13)
    exact("cast_bool_to_float", node("Cast", "x", to=TensorProto.FLOAT), {"x": np.array([True, False])}, None, np.array([1, 0], np.float32), 13)
    for t in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        x = np.array([1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 65504, 65519, 65520, -1e6, 2 ** -24, 2 ** -25, 1e-9, np.inf, -np.inf, np.nan, 3.14159, -0.0], np.float32)
        if t == TensorProto.FLOAT16:
            with np.errstate(over="ignore"):
                want = x.astype(np.float16).astype(np.float32)
        else:
            bits = x.view(np.uint32).astype(np.uint64)
            want = ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)
            want = np.where(np.isnan(x), x, want)
        exact(f"cast_through_{TensorProto.DataType.Name(t).lower()}", [node("Cast", "x", "h", to=t), node("Cast", "h", to=TensorProto.FLOAT)], {"x": x}, None, want, 13)
    small = np.array([0, .1, .4, 1, 1.0625, 1.1875, 3.3, 17, 440, 448, 464, 500, 1e4, 57344, 60000, 1e6, np.inf, -np.inf, np.nan, -3.3, -500, 2 ** -7, 2 ** -9, 2 ** -10, 2 ** -11], np.float32)
    for t in (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ):
        for saturate in (1, 0):
            add(f"cast_through_{TensorProto.DataType.Name(t).lower()}_{saturate}", [node("Cast", "x", "h", to=t, **({} if saturate else {"saturate": 0})), node("Cast", "h", to=TensorProto.FLOAT)],
                {"x": small}, opset=19, skip_onnxruntime=True)


def make():
    matrices()
    convolutions()
    products_of_codes()
    quantization()
    widths()
    casts()
