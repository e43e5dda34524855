"""Element-wise operators of two and three operands, with NumPy broadcasting."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, Q, T, case, const, param, reject, rng

SHAPES = (
    ("rank1", (6,), (6,)), ("rank4", (2, 2, 3, 2), (2, 2, 3, 2)), ("row", (3, 4), (4,)), ("column", (3, 4), (3, 1)), ("outer", (3, 1), (1, 4)),
    ("one", (2, 3), (1,)), ("left_smaller", (4,), (2, 3, 4)), ("middle", (2, 3, 4), (2, 1, 4)), ("channels", (1, 2, 2, 5), (5,)),
)
ACT = {0: lambda x: x, 1: lambda x: np.maximum(x, 0), 2: lambda x: np.clip(x, 0, 6)}


def draw(g, dtype, shape, lo, hi, away=0.0):
    """Numbers in [lo, hi], at least away from zero."""
    if np.dtype(dtype).kind in "iu":
        v = g.integers(int(lo), int(hi) + 1, shape)
        v = np.where(np.abs(v) < away, int(np.ceil(away)), v)
        return v.astype(dtype)
    v = g.uniform(lo, hi, shape)
    return np.where(np.abs(v) < away, away, v).astype(dtype)


def run(f, a, b, dtype):
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind == "f":
            return f(a.astype(F64), b.astype(F64)).astype(dtype)
        return f(a.astype(I64), b.astype(I64)).astype(dtype)


def binary(op, f, types, lo=-4, hi=4, lo_b=None, away=0.0, act=None, quant=True):
    lo_b = lo if lo_b is None else lo_b
    for tag, sa, sb in SHAPES:
        g = rng(op + tag)
        a, b = draw(g, F32, sa, lo, hi), draw(g, F32, sb, lo_b, hi, away)
        case(op, "f32_" + tag, [T(a), T(b)], [T(run(f, a, b, F32))])
    g = rng(op)
    for dtype in types:
        low = 0 if np.dtype(dtype).kind == "u" else lo * 3
        a, b = draw(g, dtype, (3, 4), low, hi * 3), draw(g, dtype, (4,), 0 if low == 0 else lo_b, hi, away)
        case(op, f"{np.dtype(dtype)}_row", [T(a), T(b)], [T(run(f, a, b, dtype))])
    a, b = draw(g, F32, (2, 3), lo, hi), draw(g, F32, (), lo_b, hi, max(away, 1))
    case(op, "f32_scalar_constant", [T(a), const(b)], [T(run(f, a, b, F32))])
    a, b = draw(g, F32, (2, 3), lo, hi), draw(g, F32, (2, 3), lo_b, hi, away)
    case(op, "f32_constant_left", [const(a), T(b)], [T(run(f, a, b, F32))])
    for n in (2, 5):
        a, b = draw(g, F32, (n, 3), lo, hi), draw(g, F32, (1, 3), lo_b, hi, away)
        case(op, f"f32_dynamic_{n}", [T(a, dyn=(0,)), T(b)], [T(run(f, a, b, F32), dyn=(0,))])
    a = draw(g, F32, (2, 3), lo, hi)
    reject(op, "shapes_do_not_broadcast", "build", [1], [T(a), T(np.ones((2, 4), F32))], [T(np.ones((2, 4), F32))])
    reject(op, "one_input", "add", [2], [T(a)], [T(a)])
    reject(op, "foreign_parameter", "add", [2], [T(a), T(a)], [T(a)], [param("AVG_POOL_GLOBAL", True, BOOL)])
    if quant:
        for dtype in (I8, U8):
            info = np.iinfo(dtype)
            mid = (info.min + info.max + 1) // 2
            qa, qb = Q(F32(2 * hi / 255), mid + 3), Q(F32(2 * hi / 200), mid - 5)
            if lo >= 0:
                qa, qb = Q(F32(hi / 255), info.min), Q(F32(hi / 250), info.min)
            a = qa.quantize(draw(g, F64, (3, 5), lo, hi), dtype)
            b = qb.quantize(draw(g, F64, (1, 5), lo_b, hi, away), dtype)
            with np.errstate(all="ignore"):
                y = f(qa.real(a), qb.real(b))
            ymax = max(float(np.abs(y).max()), 0.1)
            qy = Q(F32(2 * ymax / 255), mid)
            case(op, f"{np.dtype(dtype)}_quantized", [T(a, qa), T(b, qb)], [T(qy.quantize(y, dtype), qy)])
    if act:
        for value, g_act in ACT.items():
            a, b = draw(g, F32, (3, 4), lo * 2, hi * 2), draw(g, F32, (3, 4), lo_b, hi, away)
            case(op, f"f32_activation_{value}", [T(a), T(b)], [T(g_act(run(f, a, b, F32)))], [param(act, value, I8)])
        reject(op, "activation_3", "add", [2], [T(a), T(b)], [T(a)], [param(act, 3, I8)])
        reject(op, "activation_negative", "add", [2], [T(a), T(b)], [T(a)], [param(act, -1, I8)])
        reject(op, "activation_of_int32", "add", [2], [T(a), T(b)], [T(a)], [param(act, 0, I32)])


NUM = (F16, F64, I8, I16, I32, I64, U8)
binary("ADD", np.add, NUM, act="ADD_ACTIVATIONTYPE")
binary("SUB", np.subtract, NUM[:-1], act="SUB_ACTIVATIONTYPE")
binary("MUL", np.multiply, NUM, act="MUL_ACTIVATION_TYPE")


def divide(a, b):
    return a / b if a.dtype == F64 else np.trunc(a / b)


binary("DIV", divide, NUM, away=0.5, act="DIV_ACTIVATIONTYPE")
binary("MAXIMUM", np.maximum, NUM)
binary("MINIMUM", np.minimum, NUM)
binary("SQUARED_DIFFERENCE", lambda a, b: np.square(a - b), (F16, F64, I32, I64))
binary("MOD", np.fmod, (F16, F64, I8, I32, I64), away=0.75, quant=False)
for op, f in (("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)):
    a, b = np.array([1, np.nan, 3, -np.inf, 2], F32), np.array([np.nan, 2, 1, 0, np.inf], F32)
    case(op, "f32_nan_is_passed_on", [T(a), T(b)], [T(f(a, b))])
a = np.array([[7, -7, 7], [-7, 5, -5]], I32)
case("MOD", "int32_sign_follows_the_dividend", [T(a), T(np.array([3, 3, -3], I32))], [T(np.fmod(a, np.array([3, 3, -3], I32)))])
reject("MOD", "int32_divisor_zero", "run", [14], [T(a), T(np.array([3, 0, -3], I32))], [T(a)])
a = np.array([1, -1, 0, 4], F32)
b = np.array([0, 0, 0, 2], F32)
with np.errstate(all="ignore"):
    case("DIV", "f32_by_zero", [T(a), T(b)], [T(a / b)])
reject("DIV", "int32_by_zero", "run", [14], [T(a.astype(I32)), T(b.astype(I32))], [T(a.astype(I32))])

for op, f in {"EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal, "GREATER": np.greater,
              "GREATER_EQUAL": np.greater_equal}.items():
    for tag, sa, sb in SHAPES:
        g = rng(op + tag)
        a, b = g.integers(-2, 3, sa).astype(F32), g.integers(-2, 3, sb).astype(F32)
        case(op, "f32_" + tag, [T(a), T(b)], [T(f(a, b))])
    for dtype in (F16, F64, I8, I32, I64, U8):
        g = rng(op + str(dtype))
        a, b = g.integers(0, 4, (3, 4)).astype(dtype), g.integers(0, 4, (4,)).astype(dtype)
        case(op, f"{np.dtype(dtype)}_row", [T(a), T(b)], [T(f(a, b))])
    a = np.array([1, np.nan, np.inf, -np.inf, 0.0, 2], F32)
    b = np.array([np.nan, np.nan, np.inf, np.inf, -0.0, 1], F32)
    case(op, "f32_nan_and_infinity", [T(a), T(b)], [T(f(a, b))])
    qa, qb = Q(0.5, 0), Q(0.25, 4)
    a, b = np.array([[2, 4, -6, 7]], I8), np.array([[8, 12, 0, -8]], I8)
    case(op, "i8_quantized_compares_reals", [T(a, qa), T(b, qb)], [T(f(qa.real(a), qb.real(b)))])
    a, b = g.integers(0, 2, (3, 4)).astype(F32), g.integers(0, 2, (1, 4)).astype(F32)
    case(op, "f32_dynamic", [T(a, dyn=(0,)), T(b)], [T(f(a, b), dyn=(0,))])
    reject(op, "one_input", "add", [2], [T(a)], [T(f(a, a))])
    reject(op, "shapes_do_not_broadcast", "build", [1], [T(a), T(np.ones((2, 4), F32))], [T(np.ones((3, 4), BOOL))])

for op, f in {"LOGICAL_AND": np.logical_and, "LOGICAL_OR": np.logical_or}.items():
    for tag, sa, sb in SHAPES:
        g = rng(op + tag)
        a, b = g.integers(0, 2, sa).astype(BOOL), g.integers(0, 2, sb).astype(BOOL)
        case(op, "bool_" + tag, [T(a), T(b)], [T(f(a, b))])
    for dtype in (F32, I32):
        a, b = g.integers(0, 3, (3, 4)).astype(dtype), g.integers(0, 2, (4,)).astype(dtype)
        case(op, f"{np.dtype(dtype)}_row", [T(a), T(b)], [T(f(a != 0, b != 0))])
    a, b = g.integers(0, 2, (4, 3)).astype(BOOL), np.array([[True, False, True]])
    case(op, "bool_dynamic", [T(a, dyn=(0,)), T(b)], [T(f(a, b), dyn=(0,))])
    reject(op, "one_input", "add", [2], [T(a)], [T(a)])
    reject(op, "shapes_do_not_broadcast", "build", [1], [T(a), T(np.ones((2, 3), BOOL))], [T(a)])


def power(x, y):
    return np.power(x, y)


binary("POW", power, (F16, F64), lo=0.2, hi=3, lo_b=-2, quant=False)
x = np.array([-2, -1.5, 0, 3, -1], F32)
case("POW", "f32_integral_exponents_of_negative_bases", [T(x), const(np.array([3, 2, 0, -2, -1], F32))],
     [T(np.power(x.astype(F64), [3, 2, 0, -2, -1]).astype(F32))])
x = rng("pow").uniform(0.5, 2, (2, 3)).astype(F32)
for tag, scale, shift in (("scale", 2.0, 0.0), ("shift", 1.0, 0.5), ("scale_and_shift", 0.5, 1.5)):
    ps = [param("POW_SCALE", scale, F32), param("POW_SHIFT", shift, F32)]
    case("POW", "f32_" + tag, [T(x), const(np.array([2.5], F32))], [T(((scale * x.astype(F64) + shift) ** 2.5).astype(F32))], ps)
reject("POW", "scale_of_two_elements", "add", [2], [T(x), T(x)], [T(x)], [param("POW_SCALE", [1, 1], F32)])

for mode, f in ((0, np.multiply), (1, np.add), (2, np.maximum)):
    for shape in ((5,), (2, 3), (1, 2, 2, 3)):
        g = rng(f"eltwise{mode}{shape}")
        a, b = draw(g, F32, shape, -4, 4), draw(g, F32, shape, -4, 4)
        case("ELTWISE", f"f32_mode{mode}_rank{len(shape)}", [T(a), T(b)], [T(run(f, a, b, F32))], [param("ELTWISE_MODE", mode, I8)])
    for dtype in (F16, I32):
        a, b = draw(g, dtype, (3, 4), -5, 5), draw(g, dtype, (3, 4), -5, 5)
        case("ELTWISE", f"{np.dtype(dtype)}_mode{mode}", [T(a), T(b)], [T(run(f, a, b, dtype))], [param("ELTWISE_MODE", mode, I8)])
a, b = np.array([1, np.nan, 3], F32), np.array([np.nan, 2, 1], F32)
case("ELTWISE", "f32_mode2_nan_is_passed_on", [T(a), T(b)], [T(np.maximum(a, b))], [param("ELTWISE_MODE", 2, I8)])
a, b = draw(g, F32, (4, 3), -4, 4), draw(g, F32, (4, 3), -4, 4)
case("ELTWISE", "f32_default_is_product", [T(a), T(b)], [T(a * b)])
case("ELTWISE", "f32_dynamic", [T(a, dyn=(0,)), T(b, dyn=(0,))], [T(run(np.add, a, b, F32), dyn=(0,))], [param("ELTWISE_MODE", 1, I8)])
reject("ELTWISE", "mode_4", "add", [2], [T(a), T(b)], [T(a)], [param("ELTWISE_MODE", 4, I8)])
reject("ELTWISE", "mode_of_int32", "add", [2], [T(a), T(b)], [T(a)], [param("ELTWISE_MODE", 1, I32)])

for tag, sc, sa, sb in (("rank1", (6,), (6,), (6,)), ("rank3", (2, 3, 2), (2, 3, 2), (2, 3, 2)), ("rank4", (1, 2, 2, 3),) + ((1, 2, 2, 3),) * 2):
    for dtype in (F32, F16, I32, I8):
        g = rng(f"select{tag}{dtype}")
        c, a, b = g.integers(0, 2, sc).astype(BOOL), draw(g, dtype, sa, -9, 9), draw(g, dtype, sb, -9, 9)
        for op in ("WHERE", "SELECT"):
            case(op, f"{np.dtype(dtype)}_{tag}", [T(c), T(a), T(b)], [T(np.where(c, a, b))])
g = rng("where")
c, a, b = np.array([True, False, True]), draw(g, F32, (3, 4), -9, 9), draw(g, F32, (3, 4), -9, 9)
case("SELECT", "f32_condition_per_first_dimension", [T(c), T(a), T(b)], [T(np.where(c[:, None], a, b))])
c = g.integers(0, 2, (3, 4)).astype(BOOL)
case("WHERE", "f32_broadcast_condition", [T(c[0]), T(a), T(b)], [T(np.where(c[0], a, b))])
case("WHERE", "f32_broadcast_values", [T(c), T(a[:1]), T(b[:, :1])], [T(np.where(c, a[:1], b[:, :1]))])
for op in ("WHERE", "SELECT"):
    case(op, "f32_dynamic", [T(c, dyn=(0,)), T(a, dyn=(0,)), T(b, dyn=(0,))], [T(np.where(c, a, b), dyn=(0,))])
    reject(op, "two_inputs", "add", [2], [T(c), T(a)], [T(a)])
    reject(op, "shapes_do_not_fit", "build", [1], [T(c), T(a), T(np.ones((5, 4), F32))], [T(a)])

for tag, shape, slopes in (("rank2", (3, 4), 4), ("rank4", (1, 2, 3, 4), 4), ("one_slope", (2, 5), 1), ("rank3", (2, 2, 3), 3), ("one_slope_rank4", (1, 2, 2, 3), 1)):
    for dtype in (F32, F16):
        g = rng(f"prelu{tag}{dtype}")
        x, s = draw(g, dtype, shape, -4, 4), draw(g, dtype, (slopes,), 0.1, 0.9)
        y = np.where(x > 0, x.astype(F64), s.astype(F64) * x.astype(F64)).astype(dtype)
        case("PRELU", f"{np.dtype(dtype)}_{tag}", [T(x), const(s)], [T(y)])
x, s = draw(g, F32, (3, 4), -4, 4), draw(g, F32, (4,), 0.1, 0.9)
case("PRELU", "f32_dynamic", [T(x, dyn=(0,)), T(s)], [T(np.where(x > 0, x, s * x), dyn=(0,))])
qx, qs, qy = Q(F32(8 / 255), 0), Q(F32(1 / 127), 0), Q(F32(8 / 255), 4)
xq, sq = qx.quantize(x, I8), qs.quantize(s, I8)
case("PRELU", "i8_quantized", [T(xq, qx), const(sq, qs)], [T(qy.quantize(np.where(xq > 0, qx.real(xq), qs.real(sq) * qx.real(xq)), I8), qy)])
reject("PRELU", "one_input", "add", [2], [T(x)], [T(x)])
reject("PRELU", "slope_of_another_length", "build", [1], [T(x), const(np.ones((3,), F32))], [T(x)])

for tag, shape in (("rank2", (3, 4)), ("rank3", (2, 3, 4)), ("rank4", (1, 2, 3, 4)), ("rank5", (1, 2, 1, 3, 4))):
    for dtype in (F32, F16):
        g = rng(f"bias{tag}{dtype}")
        x, b = draw(g, dtype, shape, -4, 4), draw(g, dtype, (4,), -4, 4)
        case("BIAS_ADD", f"{np.dtype(dtype)}_{tag}", [T(x), const(b)], [T((x.astype(F64) + b).astype(dtype))])
x, b = draw(g, F32, (3, 4), -4, 4), draw(g, F32, (4,), -4, 4)
case("BIAS_ADD", "f32_dynamic", [T(x, dyn=(0,)), T(b)], [T(x + b, dyn=(0,))])
case("BIAS_ADD", "int32", [T(x.astype(I32)), T(b.astype(I32))], [T(x.astype(I32) + b.astype(I32))])
reject("BIAS_ADD", "bias_of_another_length", "build", [1], [T(x), T(np.ones((3,), F32))], [T(x)])
reject("BIAS_ADD", "bias_of_rank_2", "build", [1], [T(x), T(np.ones((2, 4), F32))], [T(x)])

for tag, shape, axis, n in (("last", (3, 4), -1, (4,)), ("channel", (1, 2, 3, 4), 3, (4,)), ("middle", (2, 3, 4), 1, (3,)), ("two_dims", (2, 3, 4), 1, (3, 4)),
                            ("first", (3, 4), 0, (3,)), ("negative", (2, 3, 4), -2, (3,))):
    g = rng("scale" + tag)
    x, s, b = draw(g, F32, shape, -4, 4), draw(g, F32, n, -2, 2), draw(g, F32, n, -2, 2)
    a = axis % len(shape)
    view = n + (1,) * (len(shape) - a - len(n))
    y = x.astype(F64) * s.reshape(view) + b.reshape(view)
    for value, act in ACT.items():
        case("SCALE", f"f32_{tag}_activation_{value}", [T(x), const(s), const(b)], [T(act(y).astype(F32))],
             [param("SCALE_AXIS", axis, I64), param("SCALE_ACTIVATIONTYPE", value, I8)])
x, s, b = draw(g, F32, (3, 4), -4, 4), draw(g, F32, (4,), -2, 2), draw(g, F32, (4,), -2, 2)
case("SCALE", "f32_dynamic", [T(x, dyn=(0,)), T(s), T(b)], [T((x.astype(F64) * s + b).astype(F32), dyn=(0,))], [param("SCALE_AXIS", -1, I64)])
h = x.astype(F16), s.astype(F16), b.astype(F16)
case("SCALE", "f16", [T(h[0]), T(h[1]), T(h[2])], [T((h[0].astype(F64) * h[1] + h[2]).astype(F16))], [param("SCALE_AXIS", 1, I64)])
reject("SCALE", "axis_missing", "finish", [1], [T(x), T(s), T(b)], [T(x)])
reject("SCALE", "scale_and_bias_differ", "build", [1], [T(x), T(s), T(np.ones((3,), F32))], [T(x)], [param("SCALE_AXIS", 1, I64)])
reject("SCALE", "axis_outside", "build", [1], [T(x), T(s), T(b)], [T(x)], [param("SCALE_AXIS", 2, I64)])
