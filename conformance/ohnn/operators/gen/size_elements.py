"""Element-wise operators, casts and quantization for each count modulo 16 and for several chunks per thread; movement of data at sizes that no
block fits."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I32, I64, U8, Q, T, const, param
from elementwise import FLOAT, gelu, gelu_tanh
from pattern import Codes, Exact, Real, ints, reals
from size_windows import SIZE

COUNTS = (*range(33, 49), 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15, 16, 70001)
EXACT = {"RELU", "RELU6", "ABS", "SQUARE", "NEG", "CEIL", "FLOOR", "ROUND"}


def unary(op, f, lo, hi, params=(), tag=""):
    if op in EXACT:
        SIZE.sizes(op, "float32" + tag, COUNTS, lambda n: (lambda x: ([x], [Exact(f(x.value.astype(F64)))], list(params)))(ints(op + tag, (n,), -400, 404, step=1 / 32)))
    else:
        SIZE.sizes(op, "float32" + tag, COUNTS, lambda n: (lambda x: ([x], [Real(f(x.value.astype(F64)))], list(params)))(reals(op + tag, (n,), lo, hi)))


for op, (f, lo, hi, _) in FLOAT.items():
    unary(op, f, lo, hi)
unary("GELU", gelu, -4, 4)
unary("GELU", gelu_tanh, -4, 4, [param("GELU_APPROXIMATE", True, BOOL)], "_tanh")
unary("LEAKY_RELU", lambda x: np.where(x >= 0, x, x * 0.25), -4, 4, [param("LEAKY_RELU_NEGATIVE_SLOPE", 0.25, F32)])
unary("EXP", np.exp, -8, 8)
unary("CLIP", lambda x: np.clip(x, -2, 3), -9, 9, [param("CLIP_MAX", 3, F32), param("CLIP_MIN", -2, F32)])

BINARY = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "MAXIMUM": np.maximum, "MINIMUM": np.minimum, "SQUARED_DIFFERENCE": lambda a, b: (a - b) ** 2}
for op, f in BINARY.items():
    SIZE.sizes(op, "float32", COUNTS, lambda n: (lambda a, b: ([a, b], [Exact(f(a.value.astype(F64), b.value.astype(F64)))], []))(ints(op + "a", (n,), -99, 99), ints(op + "b", (n,), -99, 99)))
    SIZE.sizes(op, "float32_one", COUNTS, lambda n: (lambda a, b: ([a, const(b)], [Exact(f(a.value.astype(F64), b))], []))(ints(op + "a1", (n,), -99, 99), np.array([7], F32))) if op != "MAXIMUM" else None
    for tag, sa, sb in (("row", (67, 1049), (1049,)), ("column", (1049, 67), (1049, 1)), ("middle", (13, 21, 37), (13, 1, 37)), ("outer", (301, 1), (1, 233)), ("left", (37,), (301, 37)), ("planes", (5, 33, 65), (33, 1))):
        a, b = ints(op + tag + "a", sa, -99, 99), ints(op + tag + "b", sb, -99, 99)
        SIZE.case(op, "float32_" + tag, [a, b], [Exact(f(a.value.astype(F64), b.value.astype(F64)))])
for op, f in (("DIV", np.divide), ("POW", np.power)):
    SIZE.sizes(op, "float32", COUNTS, lambda n: (lambda a, b: ([a, b], [Real(f(a.value.astype(F64), b.value.astype(F64)))], []))(reals(op + "a", (n,), 0.3, 3), reals(op + "b", (n,), 0.4, 2)))
    a, b = reals(op + "ra", (67, 1049), 0.3, 3), reals(op + "rb", (1049,), 0.4, 2)
    SIZE.case(op, "float32_row", [a, b], [Real(f(a.value.astype(F64), b.value.astype(F64)))])
SIZE.sizes("MOD", "float32", COUNTS, lambda n: (lambda a, b: ([a, b], [Exact(np.fmod(a.value, b.value))], []))(ints("MODa", (n,), -999, 999), ints("MODb", (n,), 3, 50)))
for mode, f in ((0, np.multiply), (1, np.add), (2, np.maximum)):
    SIZE.sizes("ELTWISE", f"float32_mode_{mode}", COUNTS, lambda n: (lambda a, b: ([a, b], [Exact(f(a.value.astype(F64), b.value))], [param("ELTWISE_MODE", mode, I8)]))(
        ints(f"EWa{mode}", (n,), -99, 99), ints(f"EWb{mode}", (n,), -99, 99)))
for op, f in (("EQUAL", np.equal), ("NOT_EQUAL", np.not_equal), ("LESS", np.less), ("LESS_EQUAL", np.less_equal), ("GREATER", np.greater), ("GREATER_EQUAL", np.greater_equal)):
    SIZE.sizes(op, "float32", COUNTS, lambda n: (lambda a, b: ([a, b], [Exact(f(a.value, b.value), BOOL)], []))(ints(op + "a", (n,), -2, 2), ints(op + "b", (n,), -2, 2)))
for op in ("WHERE", "SELECT"):
    def where(n):
        c, a, b = ints(op + "c", (n,), 0, 1, BOOL), ints(op + "a", (n,), -999, 999), ints(op + "b", (n,), -999, 999)
        return [c, a, b], [Exact(np.where(c.value, a.value, b.value))], []
    SIZE.sizes(op, "float32", COUNTS, where)
for op, f in (("LOGICAL_AND", np.logical_and), ("LOGICAL_OR", np.logical_or)):
    SIZE.sizes(op, "bool", COUNTS, lambda n: (lambda a, b: ([a, b], [Exact(f(a.value, b.value), BOOL)], []))(ints(op + "a", (n,), 0, 1, BOOL), ints(op + "b", (n,), 0, 1, BOOL)))

# --- codes: scales are powers of two, results on a grid that has no halves unless Codes lists the ways
for dtype in (I8, U8):
    info, name = np.iinfo(dtype), str(np.dtype(dtype))
    qa, qb, qy = Q(0.25, info.min + 131), Q(0.5, info.min + 117), Q(0.25, info.min + 122)
    for op, f in (("ADD", np.add), ("SUB", np.subtract), ("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)):
        def add(n):
            a, b = ints(op + name + "a", (n,), info.min, info.max, dtype, q=qa), ints(op + name + "b", (n,), info.min, info.max, dtype, q=qb)
            return [a, b], [Exact(Codes(f(qa.real(a.value), qb.real(b.value)), qy, dtype).value, dtype, qy)], []
        SIZE.sizes(op, name, COUNTS, add)
        a, b = ints(op + name + "ra", (37, 301), info.min, info.max, dtype, q=qa), ints(op + name + "rb", (301,), info.min, info.max, dtype, q=qb)
        SIZE.case(op, name + "_row", [a, b], [Codes(f(qa.real(a.value), qb.real(b.value)), qy, dtype)])
        a, b = ints(op + name + "ca", (37, 301), info.min, info.max, dtype, q=qa), ints(op + name + "cb", (37, 1), info.min, info.max, dtype, q=qb)
        SIZE.case(op, name + "_column", [a, b], [Codes(f(qa.real(a.value), qb.real(b.value)), qy, dtype)])
    for op, f in (("RELU", lambda x: np.maximum(x, 0)), ("ABS", np.abs), ("NEG", np.negative), ("RELU6", lambda x: np.clip(x, 0, 6))):
        qz = Q(0.125, info.min + 128)
        SIZE.sizes(op, name, COUNTS, lambda n: (lambda x: ([x], [Exact(Codes(f(qa.real(x.value)), qz, dtype).value, dtype, qz)], []))(ints(op + name, (n,), info.min, info.max, dtype, q=qa)))
    SIZE.sizes("QUANT_DTYPE_CAST", f"{name}_to_float32", COUNTS, lambda n: (lambda x: ([x], [Exact(qa.real(x.value))], [param("QUANT_DTYPE_CAST_SRC_T", 1, I64), param("QUANT_DTYPE_CAST_DST_T", 2, I64)]))(
        ints("QC" + name, (n,), info.min, info.max, dtype, q=qa)))

    def quantize(n):
        x = ints("QF" + name, (n,), -999, 999, step=1 / 16)
        return [x], [Exact(qy.quantize(x.value, dtype), dtype, qy)], [param("QUANT_DTYPE_CAST_SRC_T", 1, I64), param("QUANT_DTYPE_CAST_DST_T", 2, I64)]
    SIZE.sizes("QUANT_DTYPE_CAST", f"float32_to_{name}", COUNTS, quantize)

NUMBER = {"bool": 1, "int8": 2, "int32": 4, "int64": 5, "uint8": 6, "float16": 10, "float32": 11}
for a, b in (("float32", "int32"), ("int32", "float32"), ("int8", "float32"), ("uint8", "float32"), ("float32", "int8"), ("float32", "uint8"), ("float32", "float16"), ("float16", "float32"), ("int64", "int32"),
             ("int32", "int64"), ("bool", "float32"), ("float32", "bool")):
    lo, hi = (0, 1) if a == "bool" else (0, 120) if "uint8" in (a, b) else (-120, 120)
    step = 0.25 if a.startswith("float") else 1
    lo, hi = (-0.5, 0.5) if b == "bool" else (lo, hi)
    SIZE.sizes("CAST", f"{a}_to_{b}", COUNTS, lambda n: (lambda x: ([x, const(np.array([NUMBER[b]], I32))], [Exact(np.trunc(x.value).astype(b) if b[0] in "iu" else x.value.astype(b), b)], []))(
        ints("CAST" + a + b, (n,), int(lo / step), int(hi / step), a, step=step)) if a != "bool" else (lambda x: ([x, const(np.array([NUMBER[b]], I32))], [Exact(x.value.astype(b), b)], []))(ints("CASTb", (n,), 0, 1, BOOL)))

# --- movement
TYPES = (F32, I8)
for dtype in TYPES:
    name = str(np.dtype(dtype))
    lo, hi = (-128, 127) if dtype == I8 else (-10**6, 10**6)
    make = lambda tag, shape, **more: ints(tag + name, shape, lo, hi, dtype, **more)
    for shape, perm in (((67, 131), (1, 0)), ((2, 33, 35, 17), (0, 3, 1, 2)), ((2, 19, 33, 37), (0, 2, 3, 1)), ((5, 33, 65), (0, 2, 1)), ((5, 33, 65), (2, 1, 0)), ((5, 33, 65), (1, 0, 2)), ((3, 5, 7, 9, 11), (4, 2, 0, 3, 1)),
                        ((17, 1, 300), (2, 1, 0)), ((4, 33, 5, 16), (0, 2, 1, 3))):
        x = make(f"tr{shape}{perm}", shape)
        SIZE.case("TRANSPOSE", f"{name}_{'x'.join(map(str, shape))}_to_{''.join(map(str, perm))}", [x, const(np.array(perm, I32))], [Exact(x.value.transpose(perm), dtype)])
    for axis in (0, 1, 2):
        shapes = [tuple(33 + 2 * k if d == axis else n for d, n in enumerate((9, 17, 21))) for k in range(3)]
        xs = [make(f"cc{axis}{k}", s) for k, s in enumerate(shapes)]
        SIZE.case("CONCAT", f"{name}_axis_{axis}", xs, [Exact(np.concatenate([x.value for x in xs], axis), dtype)], [param("CONCAT_AXIS", axis, I64)])
        x = make(f"ga{axis}", (37, 41, 43))
        idx = ints(f"gi{axis}{name}", (3, 23), 0, (37, 41, 43)[axis] - 1, I32)
        SIZE.case("GATHER", f"{name}_axis_{axis}", [x, idx, const(np.array([axis], I32))], [Exact(x.value.take(idx.value, axis), dtype)])
        x = make(f"sp{axis}", tuple(66 if d == axis else n for d, n in enumerate((9, 17, 19))))
        SIZE.case("SPLIT", f"{name}_axis_{axis}", [x], [Exact(v, dtype) for v in np.split(x.value, (17, 50), axis)], [param("SPLIT_AXIS", axis, I64), param("SPLIT_OUTPUT_NUM", 3, I64), param("SPLIT_SIZE_SPLITS", (17, 33, 16), I64)])
        xs = [make(f"st{axis}{k}", (17, 33, 5)) for k in range(3)]
        SIZE.case("STACK", f"{name}_axis_{axis}", xs, [Exact(np.stack([x.value for x in xs], axis), dtype)], [param("STACK_AXIS", axis, I64)])
        x = make(f"un{axis}", tuple(4 if d == axis else n for d, n in enumerate((33, 17, 19))))
        SIZE.case("UNSTACK", f"{name}_axis_{axis}", [x], [Exact(np.take(x.value, i, axis), dtype) for i in range(4)], [param("UNSTACK_AXIS", axis, I64)])
    x = make("pad", (2, 17, 19, 33))
    for mode, kind in ((0, "constant"), (1, "reflect"), (2, "symmetric")):
        pads = np.array([[1, 0], [3, 2], [0, 5], [4, 7]], I32)
        y = np.pad(x.value, pads if mode != 1 else pads, mode=kind)
        SIZE.case("PAD", f"{name}_mode_{mode}", [x, const(pads)], [Exact(y, dtype)], [param("PAD_PADDING_MODE", mode, I32)])
    x = make("slice", (33, 35, 37))
    SIZE.case("SLICE", name, [x, const(np.array([2, 1, 3], I32)), const(np.array([29, 33, 31], I32))], [Exact(x.value[2:31, 1:34, 3:34], dtype)])
    SIZE.case("STRIDED_SLICE", name, [x] + [const(np.array(v, I32)) for v in ((30, 1, -2), (2, 34, 1), (-3, 2, -1))], [Exact(x.value[30:2:-3, 1:34:2, -2:1:-1], dtype)])
    x = make("tile", (3, 17, 33))
    SIZE.case("TILE", name, [x, const(np.array([2, 3, 4], I32))], [Exact(np.tile(x.value, (2, 3, 4)), dtype)])
    x = make("bc", (7, 1, 33, 1))
    SIZE.case("BROADCAST_TO", name, [x], [Exact(np.broadcast_to(x.value, (7, 19, 33, 5)), dtype)], [param("BROADCAST_TO_SHAPE", (7, 19, 33, 5), I64)])
    x = make("d2s", (2, 17, 9, 72))
    v = x.value.reshape(2, 17, 9, 3, 3, 8)
    for mode, y in ((0, v.transpose(0, 1, 3, 2, 4, 5)), (1, x.value.reshape(2, 17, 9, 8, 3, 3).transpose(0, 1, 4, 2, 5, 3))):
        SIZE.case("DEPTH_TO_SPACE", f"{name}_mode_{mode}", [x], [Exact(y.reshape(2, 51, 27, 8), dtype)], [param("DEPTH_TO_SPACE_BLOCK_SIZE", 3, I64), param("DEPTH_TO_SPACE_MODE", mode, I32)])
    x = make("s2d", (2, 34, 38, 17))
    SIZE.case("SPACE_TO_DEPTH", name, [x], [Exact(x.value.reshape(2, 17, 2, 19, 2, 17).transpose(0, 1, 3, 2, 4, 5).reshape(2, 17, 19, 68), dtype)], [param("SPACE_TO_DEPTH_BLOCK_SIZE", 2, I64)])
    x = make("s2b", (2, 17, 19, 33))
    p = np.pad(x.value, [(0, 0), (1, 0), (2, 3), (0, 0)]).reshape(2, 9, 2, 8, 3, 33).transpose(2, 4, 0, 1, 3, 5).reshape(12, 9, 8, 33)
    SIZE.case("SPACE_TO_BATCH_ND", name, [x], [Exact(p, dtype)], [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", (2, 3), I64), param("SPACE_TO_BATCH_ND_PADDINGS", ((1, 0), (2, 3)), I64)])
    x = make("b2s", (12, 9, 8, 33))
    y = x.value.reshape(2, 3, 2, 9, 8, 33).transpose(2, 3, 0, 4, 1, 5).reshape(2, 18, 24, 33)[:, 1:, 2:21]
    SIZE.case("BATCH_TO_SPACE_ND", name, [x], [Exact(y, dtype)], [param("BATCH_TO_SPACE_ND_BLOCKSIZE", (2, 3), I64), param("BATCH_TO_SPACE_ND_CROPS", ((1, 0), (2, 3)), I64)])
    idx, x = ints("gndi" + name, (301, 2), 0, 16, I32), make("gnd", (17, 19, 21))
    SIZE.case("GATHER_ND", name, [x, idx], [Exact(x.value[idx.value[:, 0], idx.value[:, 1]], dtype)])
idx, x = ints("onehot", (37, 41), -2, 35, I32), None
SIZE.case("ONE_HOT", "float32", [idx] + [const(np.array(v, d)) for v, d in ((33, I32), (5, F32), (-3, F32))], [Exact(np.where(idx.value[..., None] == np.arange(33), 5, -3))])
