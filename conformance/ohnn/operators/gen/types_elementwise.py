"""Element-wise operators in every type: wrapping, saturation, unsigned numbers above the signed range, quantization that differs between operands."""

import math

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, U8, Q, T, const, param, reject, rng
from binary import ACT
from elementwise import FLOAT, gelu
from kinds import ALL, INTEGERS, NUMBERS, QUANTIZED, REALS, SIGNED, SIGNED_NUMBERS, UNSIGNED, Kind, data, judge, result, wide

SHAPE = (3, 5)


def each(f, operands=None):
    """f on every element of arrays of Python's integers, which broadcast."""
    u = np.frompyfunc(f, operands or f.__code__.co_argcount, 1)
    return lambda *a: u(*[np.asarray(v, object) for v in a])


def div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def mod(a, b):
    return a - b * div(a, b)


def power(x, e):
    """x^e; a negative e gives the reciprocal without its fraction."""
    return x**e if e >= 0 else {1: 1, -1: (-1) ** e}.get(x, 0)


# operator: kinds, function on integers, function on reals, range of reals, largest floats too, parameters
same = each(lambda x: x)
UNARY = [
    ("ABS", NUMBERS, each(abs, 1), np.abs, -5, 5, True, []), ("NEG", SIGNED_NUMBERS, each(lambda x: -x), np.negative, -5, 5, True, []),
    ("SQUARE", NUMBERS, each(lambda x: x * x), np.square, -5, 5, True, []), ("CEIL", NUMBERS, same, np.ceil, -5, 5, True, []),
    ("FLOOR", NUMBERS, same, np.floor, -5, 5, True, []), ("ROUND", NUMBERS, same, np.rint, -5, 5, True, []),
    ("RELU", NUMBERS, each(lambda x: max(x, 0)), lambda x: np.maximum(x, 0), -3, 3, True, []),
    ("RELU6", NUMBERS, each(lambda x: min(max(x, 0), 6)), lambda x: np.clip(x, 0, 6), -3, 9, True, []),
    ("CLIP", NUMBERS, each(lambda x: min(max(x, 1), 100)), lambda x: np.clip(x, 1, 100), -30, 130, True, [param("CLIP_MIN", 1, F32), param("CLIP_MAX", 100, F32)]),
    ("LEAKY_RELU", REALS, None, lambda x: np.where(x >= 0, x, 0.25 * x), -4, 4, True, [param("LEAKY_RELU_NEGATIVE_SLOPE", 0.25, F32)]),
    ("GELU", REALS, None, gelu, -4, 4, False, []),
    ("EXP", REALS, None, lambda x: 2.0 ** (0.25 + 0.5 * x), -3, 3, False, [param("EXP_BASE", 2, F32), param("EXP_SCALE", 0.5, F32), param("EXP_SHIFT", 0.25, F32)]),
]
for op in ("SIGMOID", "TANH", "HSWISH", "HARD_SIGMOID", "SWISH", "SQRT", "RSQRT", "ERF", "COS", "SIN", "LOG", "RECIPROCAL"):
    f, lo, hi, _ = FLOAT[op]
    UNARY.append((op, REALS, None, f, lo, hi, False, []))
for op, kinds, fi, fr, lo, hi, huge, ps in UNARY:
    for kind in kinds:
        q = None
        if kind.quantized and op in ("CEIL", "FLOOR", "ROUND"):  # a scale in which every number of the input is exact
            q = Q(0.0625, 3 if kind.dtype == I8 else 100)
        x = data(kind, op, SHAPE, lo, hi, huge, q)
        with np.errstate(all="ignore"):
            tol = {"rel": 1e-6} if op == "HARD_SIGMOID" and kind.dtype == F64 else {}  # 1/6 is a float32 parameter
            judge(op, kind, [x], [result(kind, fi(wide(x)) if kind.integer else fr(wide(x)))], ps, **tol)
for lo, hi in ((-100, -1), (-7, 300)):
    for dtype in INTEGERS:
        kind = Kind(dtype)
        x = data(kind, "CLIP", SHAPE)
        info = np.iinfo(dtype)
        a, b = max(lo, int(info.min)), min(hi, int(info.max))
        if a < b:
            judge("CLIP", kind, [x], [result(kind, each(lambda v: min(max(v, a), b))(wide(x)))], [param("CLIP_MIN", lo, F32), param("CLIP_MAX", hi, F32)], more=f"_{hi}")

# operator: kinds, function on integers, on reals, range of reals, distance of b from 0, largest floats too
BINARY = [
    ("ADD", ALL, each(lambda a, b: a + b), np.add, -4, 4, 0, True), ("SUB", NUMBERS, each(lambda a, b: a - b), np.subtract, -4, 4, 0, True),
    ("MUL", ALL, each(lambda a, b: a * b), np.multiply, -4, 4, 0, True), ("DIV", NUMBERS, each(div), np.divide, -4, 4, 0.5, True),
    ("MAXIMUM", ALL, each(max, 2), np.maximum, -4, 4, 0, True), ("MINIMUM", ALL, each(min, 2), np.minimum, -4, 4, 0, True),
    ("MOD", NUMBERS, each(mod), np.fmod, -4, 4, 0.5, True), ("SQUARED_DIFFERENCE", NUMBERS, each(lambda a, b: (a - b) ** 2), lambda a, b: (a - b) ** 2, -4, 4, 0, True),
]


ACTIVATION = {"ADD": "ADD_ACTIVATIONTYPE", "SUB": "SUB_ACTIVATIONTYPE", "MUL": "MUL_ACTIVATION_TYPE", "DIV": "DIV_ACTIVATIONTYPE"}


def pair(op, kind, lo, hi, away=0.0, huge=False, shape=(5,)):
    """Two operands; quantized ones in different representations. The extremes of a meet other numbers in b."""
    qa = qb = None
    if kind.quantized and op in ("MOD", "DIV", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):  # exact reals: equal ones occur, quotients are not near a step
        mid = 128 if kind.dtype == U8 else 0
        qa, qb = Q(0.03125, mid + 3), Q(0.0625, mid - 5)
    elif kind.quantized:
        qb = Q(F32((hi - lo) / 200), 120 if kind.dtype == U8 else -7)
    a, b = data(kind, op, SHAPE, lo, hi, huge, qa), data(kind, op + " b", SHAPE, lo, hi, False, qb)
    v = rng(op + kind.name).permutation(b.value.ravel()).reshape(SHAPE)[:1] if len(shape) == 1 else rng(op).permutation(b.value.ravel()).reshape(SHAPE)
    v = v.copy()
    if away and not kind.bool:
        near = np.abs(qb.real(v)) < away if kind.quantized else (v == 0 if kind.integer else np.abs(v) < away)
        v[near] = qb.quantize(away, kind.dtype) if kind.quantized else 3
    return a, T(v, qb)


def binary(op, kinds, fi, fr, lo, hi, away=0.0, huge=False, shape=SHAPE, params=(), more=""):
    for kind in kinds:
        a, b = pair(op, kind, lo, hi, away, huge, shape)
        with np.errstate(all="ignore"):
            y = fr(wide(a), wide(b)) if kind.real else fi(wide(a), wide(b))
        judge(op, kind, [a, b], [result(kind, y)], params, more=more)
        if op in ACTIVATION and not kind.bool:  # integers wrap around before the activation sees them
            for act in (1, 2):
                v = result(kind, y).value.astype(object) if kind.integer else y
                v = np.vectorize(lambda k: max(k, 0) if act == 1 else min(max(k, 0), 6), otypes=[object])(v) if kind.integer else ACT[act](v)
                judge(op, kind, [a, b], [result(kind, v)], [param(ACTIVATION[op], act, I8)], None, f"_activation_{act}")


for op, kinds, fi, fr, lo, hi, away, huge in BINARY:
    binary(op, kinds, fi, fr, lo, hi, away, huge)
for mode, (fi, fr) in enumerate(((each(lambda a, b: a * b), np.multiply), (each(lambda a, b: a + b), np.add), (each(max, 2), np.maximum))):
    binary("ELTWISE", ALL, fi, fr, -4, 4, params=[param("ELTWISE_MODE", mode, I8)], more=f"_mode{mode}")
for dtype in SIGNED:  # the one quotient that does not fit
    kind, low = Kind(dtype), np.iinfo(dtype).min
    a, b = T(np.array([low, low, low + 1, 7], dtype)), T(np.array([-1, 2, -1, -2], dtype))
    judge("DIV", kind, [a, b], [result(kind, each(div)(wide(a), wide(b)))], more="_lowest_by_minus_one")
    judge("MOD", kind, [a, b], [result(kind, each(mod)(wide(a), wide(b)))], more="_lowest_by_minus_one")

# --- a power: integers wrap around; scale and shift make the base a real
for dtype in INTEGERS:
    kind = Kind(dtype)
    x = data(kind, "POW", SHAPE)
    e = T(np.array([[0], [1], [2]], dtype) if dtype in UNSIGNED else np.array([[3], [0], [5]], dtype))
    judge("POW", kind, [x, e], [result(kind, each(power)(wide(x), wide(e)))])
    x, e = T(np.array([3, 7, 2, 5, 1, 2], dtype)), T(np.array([40, 23, 7, 100, 9, 0], dtype))
    judge("POW", kind, [x, e], [result(kind, each(power)(wide(x), wide(e)))], more="_wraps")
for dtype in SIGNED:
    kind = Kind(dtype)
    x, e = T(np.array([1, -1, -1, 2, -3, -5, 0], dtype)), T(np.array([-3, -3, -2, -1, -1, 3, 4], dtype))
    judge("POW", kind, [x, e], [result(kind, each(power)(wide(x), wide(e)))], more="_negative_exponents")
for kind in REALS:
    x, e = data(kind, "POW", SHAPE, 0.3, 3), data(kind, "POW e", (5,), -2, 2)
    judge("POW", kind, [x, e], [result(kind, wide(x) ** wide(e))])
    judge("POW", kind, [x, e], [result(kind, (0.5 * wide(x) + 0.75) ** wide(e))], [param("POW_SCALE", 0.5, F32), param("POW_SHIFT", 0.75, F32)], None, "_scale_and_shift")

# --- a vector along the last axis
for kind in ALL:
    x, b = data(kind, "BIAS_ADD", (2, 2, 4), -4, 4, True), data(kind, "BIAS_ADD b", (4,), -2, 2)
    judge("BIAS_ADD", kind, [x, b], [result(kind, wide(x) + wide(b))])
for kind in NUMBERS:
    x, s = data(kind, "PRELU", (2, 3, 4), -4, 4, True), data(kind, "PRELU s", (4,), 0.1, 0.9)
    s = T(np.array([2, 3, 0, 5], kind.dtype)) if kind.integer else s
    judge("PRELU", kind, [x, const(s.value, s.q)], [result(kind, np.where(wide(x) > 0, wide(x), wide(s) * wide(x)))])
for kind in REALS:
    x, s, b = data(kind, "SCALE", (2, 3, 4), -4, 4), data(kind, "SCALE s", (4,), -2, 2), data(kind, "SCALE b", (4,), -1, 1)
    y = wide(x) * wide(s) + wide(b)
    judge("SCALE", kind, [x, s, b], [result(kind, y)], [param("SCALE_AXIS", -1, I64)])
    for act in (1, 2):
        judge("SCALE", kind, [x, s, b], [result(kind, ACT[act](y))], [param("SCALE_AXIS", -1, I64), param("SCALE_ACTIVATIONTYPE", act, I8)], None, f"_activation_{act}")

# --- comparison and logic: bool results
for op, f in {"EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal, "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal}.items():
    for kind in ALL:
        a, b = pair(op, kind, -4, 4, shape=SHAPE)
        if kind.quantized:
            b = T(b.q.quantize(np.where(np.arange(15).reshape(SHAPE) % 3 == 0, np.round(wide(a) * 16) / 16, wide(b)), kind.dtype), b.q)
        elif not kind.bool:
            b = T(np.where(np.arange(15).reshape(SHAPE) % 3 == 0, a.value, b.value).astype(kind.dtype))
        judge(op, kind, [a, b], [T(f(wide(a), wide(b)).astype(BOOL))])
for kind in ALL:
    a, b = data(kind, "LOGIC", SHAPE, -3, 3), data(kind, "LOGIC b", SHAPE, -2, 2)
    for t, k in ((a, 2), (b, 3)):  # every other element is the number 0
        t.value.flat[::k] = t.q.zero[0] if t.q else 0
    judge("LOGICAL_AND", kind, [a, b], [T((wide(a) != 0) & (wide(b) != 0))])
    judge("LOGICAL_OR", kind, [a, b], [T((wide(a) != 0) | (wide(b) != 0))])
    judge("LOGICAL_NOT", kind, [a], [T(wide(a) == 0)])
    x = data(kind, "ALL", (4, 3), 1, 3, q=Q(0.0625, 40) if kind.quantized else None)
    v = np.where(x.value == 0, np.array(1, kind.dtype), x.value)
    v[1, 2] = v[3, 2] = zero = x.q.zero[0] if x.q else 0
    if kind.quantized:
        v[2, 1] = 0  # a number that is not 0 for its zero point
    x = T(v, x.q)
    for op in ("ALL", "REDUCE_ALL"):
        judge(op, kind, [x, const(np.array([1], I32))], [T((wide(x) != 0).all(axis=1).astype(BOOL))])
    v = np.where(v == zero, np.array(1, kind.dtype), v)
    judge("ASSERT", kind, [T(v, x.q), T(np.array([5, 7], I32))], [T(np.ones((4, 3), BOOL))])
    v = v.copy()
    v[3, 2] = zero
    reject("ASSERT", kind.name + "_with_a_zero", "run", [14], [T(v, x.q), T(np.array([5, 7], I32))], [T(np.ones((4, 3), BOOL))])

# --- choice; a and b keep their own quantization
for kind in ALL:
    c = rng("choice").integers(0, 2, SHAPE).astype(BOOL)
    a, b = pair("WHERE", kind, -4, 4, huge=True, shape=SHAPE)
    for op in ("WHERE", "SELECT"):
        judge(op, kind, [T(c), a, b], [result(kind, np.where(c, wide(a), wide(b)))])

# --- conversion of the numbers as they are stored
NUMBER = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9, "float16": 10, "float32": 11, "float64": 12}


def cast(x, dtype):
    """Integers keep their low bits; floats lose their fraction and saturate, NaN becomes 0; the nearest float; bool: not 0."""
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype.kind == "b":
            return x != 0
        if dtype.kind == "f":
            return x.astype(dtype)
    if x.dtype.kind != "f":
        return result(Kind(dtype), x.astype(object)).value
    info = np.iinfo(dtype)
    v = [0 if math.isnan(k) else min(max(int(math.trunc(min(max(float(k), -1e30), 1e30))), int(info.min)), int(info.max)) for k in x.ravel()]
    return np.array(v, dtype).reshape(x.shape)


for kind in [k for k in ALL if not k.quantized]:
    for to in NUMBER:
        if to == str(kind.dtype):
            continue
        x = data(kind, "CAST", (3, 4), -200, 300)
        if kind.float:
            x.value.flat[:8] = [np.nan, np.inf, -np.inf, 6e4, -1.5, 0.75, 0, -130.9]
        judge("CAST", kind, [x, const(np.array([NUMBER[to]], I32))], [T(cast(x.value, to))], more="_to_" + to, rel=1e-3 if to == "float16" else 1e-6)
for kind in QUANTIZED:
    x = data(kind, "CAST", (3, 4), -4, 4)
    for to in ("float32", "int32"):
        judge("CAST", kind, [x, const(np.array([NUMBER[to]], I32))], [T(cast(x.value, to))], more="_to_" + to)
