"""Operands of two element types: the result is computed in the type that both become, operator notes, "Mixed element types"."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, Q, T, case, const, param, reject, rng

U16, U32, U64 = np.uint16, np.uint32, np.uint64
# The order of the notes; what stands later wins.
ORDER = [BOOL, U8, I8, I16, I32, I64, F16, F32, F64]
# What the notes leave out: a signed and an unsigned integer become the smallest signed one that holds both.
SIGNED = {(U8, I8): I16, (U16, I16): I32, (U16, I32): I32, (U32, I32): I64, (U16, U8): U16, (U32, U16): U32, (U16, BOOL): U16, (U64, F32): F32, (U32, F16): F16}


def common(a, b):
    for pair in ((a, b), (b, a)):
        if pair in SIGNED:
            return SIGNED[pair]
    return max(a, b, key=ORDER.index)


def draw(g, dtype, shape, nonzero=False):
    if dtype is BOOL:
        v = g.integers(0, 2, shape).astype(BOOL)
        v.flat[0], v.flat[-1] = True, False
        return np.ones(shape, BOOL) if nonzero else v
    if np.dtype(dtype).kind == "f":
        return (g.integers(1, 60, shape) / 8 * g.choice([-1, 1], shape)).astype(dtype)
    low = 1 if nonzero or np.dtype(dtype).kind == "u" else -9
    v = g.integers(low, 10, shape)
    return v.astype(dtype)


def compute(f, a, b, to):
    with np.errstate(all="ignore"):
        wide = F64 if np.dtype(to).kind == "f" else I64
        return f(a.astype(to).astype(wide), b.astype(to).astype(wide))


def divide(a, b):
    return a / b if a.dtype == F64 else np.trunc(a / b)


PAIRS = [(F32, I32), (I32, F32), (I64, BOOL), (BOOL, F32), (U8, I8), (I8, I32), (F16, I64), (F64, F32), (U16, I16), (I32, U32), (U32, U16), (U64, F32), (I16, U8)]
NUMBERS = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": divide, "MAXIMUM": np.maximum, "MINIMUM": np.minimum, "MOD": np.fmod, "SQUARED_DIFFERENCE": lambda a, b: (a - b) ** 2}
COMPARISONS = {"EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal, "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal}
# (tensor, constant scalar, what they become): the scalar does not raise the type within a category.
SCALARS = [(F32, F64, F32), (F16, F32, F16), (U8, I32, U8), (I8, BOOL, I8), (I32, F32, F32), (F32, I64, F32), (BOOL, I32, I32)]


def word(dtype):
    return str(np.dtype(dtype))


def pairs(op, f, result):
    nonzero = op in ("DIV", "MOD")
    for a_type, b_type in PAIRS:
        g = rng(f"mixed{op}{word(a_type)}{word(b_type)}")
        a, b = draw(g, a_type, (3, 4)), draw(g, b_type, (4,), nonzero)
        to = common(a_type, b_type)
        y = compute(f, a, b, to).astype(result or to)
        case(op, f"mixed_{word(a_type)}_{word(b_type)}", [T(a), T(b)], [T(y)])
    g = rng(f"mixed{op}dynamic")
    a, b = draw(g, I32, (3, 4)), draw(g, F32, (1, 4), nonzero)
    case(op, "mixed_dynamic", [T(a, dyn=(0,)), T(b)], [T(compute(f, a, b, F32).astype(result or F32), dyn=(0,))])
    for a_type, b_type, to in SCALARS:
        g = rng(f"mixed{op}scalar{word(a_type)}{word(b_type)}")
        a, b = draw(g, a_type, (3, 4)), np.asarray(2 if b_type is not BOOL else True, b_type)
        y = compute(f, a, b, to).astype(result or to)
        if len(np.unique(y)) > 1 and not (y.dtype == a.dtype and np.array_equal(y, a)):
            case(op, f"mixed_{word(a_type)}_constant_{word(b_type)}", [T(a), const(b)], [T(y)])
    a, b = np.array([1, 2, 3], U64), np.array([1, -2, 3], I32)
    reject(op, "no_integer_holds_both", "build", [1], [T(a), T(b)], [T(a if result is None else np.equal(a, a))])


for op, f in NUMBERS.items():
    pairs(op, f, None)
for op, f in COMPARISONS.items():
    pairs(op, f, BOOL)

g = rng("mixed constant left")
a = draw(g, F32, (2, 3))
case("SUB", "mixed_constant_float64_left", [const(np.asarray(1.5, F64)), T(a)], [T((1.5 - a.astype(F64)).astype(F32))])
case("SUB", "mixed_constant_of_one_dimension", [const(np.array([1.5], F64)), T(a)], [T((1.5 - a.astype(F64)).astype(F32))])
b = draw(g, I32, (2, 3))
case("ADD", "mixed_activation", [T(a), T(b)], [T(np.clip(a.astype(F64) + b, 0, 6).astype(F32))], [param("ADD_ACTIVATIONTYPE", 2, I8)])

for mode, f in ((0, np.multiply), (1, np.add), (2, np.maximum)):
    for a_type, b_type in ((F32, I32), (I64, BOOL), (U8, I8)):
        g = rng(f"mixedeltwise{mode}{word(a_type)}")
        a, b, to = draw(g, a_type, (3, 4)), draw(g, b_type, (3, 4)), common(a_type, b_type)
        case("ELTWISE", f"mixed_{word(a_type)}_{word(b_type)}_mode{mode}", [T(a), T(b)], [T(compute(f, a, b, to).astype(to))], [param("ELTWISE_MODE", mode, I8)])

base = np.array([[1, 2, 3], [4, 5, 6]], I32)
case("POW", "mixed_int32_float32", [T(base), T(np.array([0.5, 2, -1], F32))], [T((base.astype(F64) ** np.array([0.5, 2, -1])).astype(F32))])
case("POW", "mixed_float32_int32", [T(base.astype(F32)), T(np.array([0, 2, -1], I32))], [T((base.astype(F64) ** np.array([0, 2, -1])).astype(F32))])

for op, f in (("LOGICAL_AND", np.logical_and), ("LOGICAL_OR", np.logical_or)):
    for a_type, b_type in ((I64, BOOL), (BOOL, F64), (F32, I8), (U16, F16), (I32, F32)):
        g = rng(f"mixed{op}{word(a_type)}")
        a, b = draw(g, a_type, (3, 4)), draw(g, b_type, (3, 4))
        a.flat[3:8] = 0
        b.flat[1:5] = 0
        case(op, f"mixed_{word(a_type)}_{word(b_type)}", [T(a), T(b)], [T(f(a != 0, b != 0))])
    q = Q(0.5, 3)
    a, b = np.array([[3, 4, 3, 0]], I8), np.array([True, True, False, False])
    case(op, "mixed_quantized_bool", [T(a, q), T(b)], [T(f(a != 3, b[None]))])
    a, b = np.array([[0.25, 0], [0, 0], [3, 0]], F32), np.array([[1, 0]], I32)
    case(op, "mixed_dynamic", [T(a, dyn=(0,)), T(b)], [T(f(a != 0, b != 0), dyn=(0,))])
