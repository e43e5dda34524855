"""Element-wise operators of one operand."""

import math

import numpy as np

from case import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, Q, T, case, param, reject, rng

NAN, INF = float("nan"), float("inf")
erf = np.vectorize(math.erf, otypes=[F64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# operator: (function on float64, lowest and highest input, special values that must come out right)
FLOAT = {
    "RELU": (lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), -3, 3, [-INF, INF, -0.5, 0.5]),
    "RELU6": (lambda x: np.clip(x, 0, 6), -3, 9, [-INF, INF, 6.5, 5.5]),
    "SIGMOID": (sigmoid, -6, 6, [-80, 80, -INF, INF]),
    "TANH": (np.tanh, -3, 3, [-INF, INF, -40, 1e-4]),
    "HSWISH": (lambda x: x * np.clip(x + 3, 0, 6) / 6, -5, 5, [-3, 3, -4, 4]),
    "HARD_SIGMOID": (lambda x: np.clip(x + 3, 0, 6) / 6, -5, 5, [-INF, INF, -3, 3]),
    "SWISH": (lambda x: x * sigmoid(x), -6, 6, [-20, 20, 0.5, -0.5]),
    "SQRT": (np.sqrt, 0, 9, [0, INF, 1e-30, -1]),
    "RSQRT": (lambda x: 1 / np.sqrt(x), 0.1, 9, [0, INF, 4, -1]),
    "ABS": (np.abs, -5, 5, [-INF, -0.0, -1e30, 2]),
    "ERF": (erf, -3, 3, [-INF, INF, 1e-3, -4]),
    "SQUARE": (np.square, -5, 5, [-INF, 1e18, -1e-18, 3]),
    "COS": (np.cos, -7, 7, [0, 100, -100, 1.5707964]),
    "SIN": (np.sin, -7, 7, [0, 100, -100, 3.1415927]),
    "LOG": (np.log, 0.1, 9, [0, INF, -1, 1e-30]),
    "NEG": (np.negative, -5, 5, [INF, -INF, 0.0, 1e30]),
    "RECIPROCAL": (lambda x: 1 / x, 0.2, 5, [0, -INF, -2, 1e-30]),
    "CEIL": (np.ceil, -5, 5, [-INF, -0.5, 1e10, 2]),
    "FLOOR": (np.floor, -5, 5, [-INF, -0.5, 1e10, 2]),
    "ROUND": (np.rint, -5, 5, [-2.5, -1.5, 0.5, 2.5]),
}
INTEGER = {"ABS": np.abs, "NEG": np.negative, "SQUARE": np.square, "RELU": lambda x: np.maximum(x, 0)}


def uniform(g, lo, hi, shape, dtype=F32):
    return g.uniform(lo, hi, shape).astype(dtype)


def apply(f, x):
    with np.errstate(all="ignore"):
        return f(x.astype(F64)).astype(x.dtype)


def quantized(op, name, f, dtype, lo, hi, shape, params=()):
    """A quantized case: q in, q out, both with scales that cover the value range."""
    g = rng(op + name)
    info = np.iinfo(dtype)
    sx = (hi - lo) / 255
    if op in ("CEIL", "FLOOR", "ROUND"):  # steps: inputs that float32 and float64 place on the same side of each
        sx = 2.0 ** math.ceil(math.log2(sx))
    qx = Q(F32(sx), int(np.clip(round(info.min - lo / sx), info.min, info.max)))
    x = qx.quantize(g.uniform(lo, hi, shape), dtype)
    with np.errstate(all="ignore"):
        y = f(qx.real(x))
    fin = y[np.isfinite(y)]
    a, b = min(float(fin.min()), 0.0), max(float(fin.max()), 0.1)
    sy = (b - a) / 255
    qy = Q(F32(sy), int(np.clip(round(info.min - a / sy), info.min, info.max)))
    case(op, name, [T(x, qx)], [T(qy.quantize(y, dtype), qy)], params)


def unary(op, f, lo, hi, special, params=(), tag=""):
    for rank, shape in ((1, (11,)), (2, (3, 7)), (3, (2, 3, 4)), (4, (1, 3, 4, 2)), (5, (2, 1, 3, 1, 4))):
        x = uniform(rng(f"{op}{tag}{rank}"), lo, hi, shape)
        case(op, f"f32_rank{rank}{tag}", [T(x)], [T(apply(f, x))], params)
    x = np.concatenate([np.array(special, F32), uniform(rng(op + tag + "s"), lo, hi, 3)])
    case(op, f"f32_special_values{tag}", [T(x)], [T(apply(f, x))], params)
    x = uniform(rng(op + tag + "h"), lo, hi, (4, 5), F16)
    case(op, f"f16{tag}", [T(x)], [T(apply(f, x))], params)
    x = uniform(rng(op + tag + "d"), lo, hi, (2, 6), F64)
    case(op, f"f64{tag}", [T(x)], [T(apply(f, x))], params)
    for n in (3, 5):
        x = uniform(rng(f"{op}{tag}dyn{n}"), lo, hi, (n, 4))
        case(op, f"f32_dynamic_{n}{tag}", [T(x, dyn=(0,))], [T(apply(f, x), dyn=(0,))], params)
    quantized(op, "i8_quantized" + tag, f, I8, lo, hi, (4, 6), params)
    quantized(op, "u8_quantized" + tag, f, U8, lo, hi, (5, 5), params)


for op, (f, lo, hi, special) in FLOAT.items():
    unary(op, f, lo, hi, special)
    x = uniform(rng(op), lo, hi, (2, 3))
    reject(op, "two_inputs", "add", [2], [T(x), T(x)], [T(x)])
    reject(op, "no_output", "add", [2], [T(x)], [])
    reject(op, "foreign_parameter", "add", [2], [T(x)], [T(x)], [param("ADD_ACTIVATIONTYPE", 0, I8)])
    reject(op, "output_of_another_shape", "run", [14], [T(x)], [T(uniform(rng(op), lo, hi, (3, 2)))])

for op, f in INTEGER.items():
    for dtype in (I8, I16, I32, I64):
        x = rng(op + str(dtype)).integers(-11, 11, (3, 5)).astype(dtype)
        case(op, f"{np.dtype(dtype)}_plain", [T(x)], [T(f(x))])


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


unary("GELU", gelu, -4, 4, [-8, 8, 0.01, -1])
unary("GELU", gelu, -4, 4, [-8, 8, 0.02, -1], [param("GELU_APPROXIMATE", False, BOOL)], "_exact")
unary("GELU", gelu_tanh, -4, 4, [-8, 8, 0.01, -1], [param("GELU_APPROXIMATE", True, BOOL)], "_tanh")
reject("GELU", "approximate_of_int8", "add", [2], [T(np.ones((2,), F32))], [T(np.ones((2,), F32))], [param("GELU_APPROXIMATE", 1, I8)])

for slope in (0.0, 0.1, 1.5):
    unary("LEAKY_RELU", lambda x, s=slope: np.where(x >= 0, x, F64(F32(s)) * x), -4, 4, [-INF if slope else -9, INF, -1, 1],
          [param("LEAKY_RELU_NEGATIVE_SLOPE", slope, F32)], f"_{slope}")
x = uniform(rng("leaky default"), -4, 4, (3, 4))
case("LEAKY_RELU", "default_slope_is_zero", [T(x)], [T(np.maximum(x, 0))])
reject("LEAKY_RELU", "slope_of_two_elements", "add", [2], [T(x)], [T(x)], [param("LEAKY_RELU_NEGATIVE_SLOPE", [0.1, 0.2], F32)])
reject("LEAKY_RELU", "slope_of_float64", "add", [2], [T(x)], [T(x)], [param("LEAKY_RELU_NEGATIVE_SLOPE", 0.1, F64)])

unary("EXP", np.exp, -3, 3, [-INF, 0, 5, -80])
for tag, base, scale, shift in (("_base2", 2.0, 1.0, 0.0), ("_scaled", -1.0, 0.5, 0.25), ("_base10_scaled", 10.0, 0.3, -0.5)):
    ps = [param("EXP_BASE", base, F32), param("EXP_SCALE", scale, F32), param("EXP_SHIFT", shift, F32)]
    unary("EXP", lambda x, b=base, s=scale, h=shift: (math.e if b == -1 else b) ** (F64(F32(h)) + F64(F32(s)) * x), -3, 3, [0, 1, -1, 4], ps, tag)
reject("EXP", "base_of_int64", "add", [2], [T(x)], [T(x)], [param("EXP_BASE", 2, I64)])

for tag, lo, hi in (("_0_2", 0.0, 2.0), ("_negative", -3.0, -1.0)):
    unary("CLIP", lambda x, a=lo, b=hi: np.clip(x, a, b), -5, 5, [-INF, INF, 1.5, -1.5],
          [param("CLIP_MAX", hi, F32), param("CLIP_MIN", lo, F32)], tag)
x = uniform(rng("clip"), -5, 5, (3, 4))
case("CLIP", "missing_minimum_is_zero", [T(x)], [T(np.clip(x, 0, 3))], [param("CLIP_MAX", 3.0, F32)])
case("CLIP", "missing_maximum_is_zero", [T(x)], [T(np.clip(x, -3, 0))], [param("CLIP_MIN", -3.0, F32)])
reject("CLIP", "minimum_above_maximum", "run", [14], [T(x)], [T(x)], [param("CLIP_MAX", 1.0, F32), param("CLIP_MIN", 2.0, F32)])

for dtype in (BOOL, F32, I32, I8):
    for shape in ((7,), (2, 5), (2, 2, 3)):
        g = rng(f"not{dtype}{shape}")
        x = g.integers(0, 2, shape).astype(dtype)
        x.flat[0], x.flat[-1] = 0, 1
        case("LOGICAL_NOT", f"{np.dtype(dtype)}_rank{len(shape)}", [T(x)], [T(x == 0)])
x = np.array([[True, False], [False, False], [True, True]])
case("LOGICAL_NOT", "bool_dynamic", [T(x, dyn=(0,))], [T(~x, dyn=(0,))])
reject("LOGICAL_NOT", "two_inputs", "add", [2], [T(x), T(x)], [T(x)])
