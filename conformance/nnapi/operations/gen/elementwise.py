"""Operations of one operand, element by element, and conversions between types."""
import numpy as np

from case import FLOATS, F64, STD, case, codes, fx, given, i32, like, out, x

SHAPES = [(7,), (3, 4), (2, 3, 3), (2, 2, 3, 2)]
FIVE = (1, 2, 3, 1, 2)


def real(op, f, types, lo, hi, quantized=None, beyond=(FIVE,), empty=False, scalars=(), **more):
    """Cases of y = f(x). quantized: the scale and zero point of codes that come out, by type."""
    for t in types:
        shapes = SHAPES if t == "F32" else SHAPES[1:4:2]
        if len(types) < 4:
            shapes = SHAPES
        for dims in (*shapes, *beyond):
            a = x(t, dims, lo, hi)
            s = (quantized or {}).get(t, (None, None))
            case(op, f"{t}_rank_{len(dims)}", [a, *(fx(t, v) for v in scalars)], [out(t, f(a.real()), *s)], **more)
        a = x(t, (3, 5), lo, hi).open()
        s = (quantized or {}).get(t, (None, None))
        case(op, f"{t}_open", [a, *(fx(t, v) for v in scalars)], [out(t, f(a.real()), *s, open=True)], **more)
        if empty:
            a = x(t, (0, 3), lo, hi)
            case(op, f"{t}_empty", [a, *(fx(t, v) for v in scalars)], [out(t, f(a.real()), *s)], **more)


def activations():
    for op, lo, hi in (("RELU", 0, np.inf), ("RELU1", -1, 1), ("RELU6", 0, 6)):
        real(op, lambda v: np.clip(v, lo, hi), STD, -8, 8, None, (), True, exact=True)
        for t in ("Q8", "Q8S"):  # the bounds lie outside the codes, or half way between two
            for name, s, z in (("coarse", 4.0, 100 if t == "Q8" else -28), ("fine", 0.004, 3 if t == "Q8" else -120)):
                a = x(t, (2, 7), -1000, 1000, s, z)
                case(op, f"{t}_{name}", [a], [out(t, np.clip(a.real(), lo, hi), s, z)])
    q = {"Q8": (1 / 256, 0), "Q8S": (1 / 256, -128)}
    real("LOGISTIC", lambda v: 1 / (1 + np.exp(-v)), STD, -6, 6, q, (), True)
    q = {"Q8": (1 / 128, 128), "Q8S": (1 / 128, 0)}
    real("TANH", np.tanh, STD, -4, 4, q, (), True)
    for op, f in (("LOGISTIC", lambda v: 1 / (1 + np.exp(-v))), ("TANH", np.tanh)):
        a = given("F32", [-100, -20, -9, -1e-4, 0, 1e-4, 9, 20, 100])
        case(op, "F32_ends", [a], [out("F32", f(a.real()))])
    real("HARD_SWISH", lambda v: v * np.clip(v + 3, 0, 6) / 6, STD, -5, 5, {"Q8": (0.03, 16), "Q8S": (0.03, -99)},
         empty=True)
    for alpha in (1.0, 0.25):
        f = lambda v: np.where(v > 0, v, alpha * np.expm1(v))
        if alpha == 1:
            real("ELU", f, FLOATS, -3, 3, scalars=(alpha,))
        else:
            for t in FLOATS:
                a = x(t, (4, 3), -3, 3)
                case("ELU", f"{t}_alpha", [a, fx(t, alpha)], [out(t, f(a.real()))])


def functions():
    real("FLOOR", np.floor, FLOATS, -5, 5, beyond=())
    a = given("F32", [-2, -1.5, -1e-6, -0.0, 0, 0.999999, 1, 2.5, 8388609, -8388609])
    case("FLOOR", "F32_edges", [a], [out("F32", np.floor(a.real()))])
    real("ABS", np.abs, (*FLOATS, "I32"), -9, 9)
    real("NEG", np.negative, (*FLOATS, "I32"), -9, 9)
    a = given("I32", [-2147483647, 2147483647, 0, -1])
    case("ABS", "I32_ends", [a], [like(a, [2147483647, 2147483647, 0, 1])])
    case("NEG", "I32_ends", [a], [like(a, [2147483647, -2147483647, 0, 1])])
    real("EXP", np.exp, FLOATS, -4, 2)
    real("LOG", np.log, FLOATS, 0.05, 9)
    real("SIN", np.sin, FLOATS, -7, 7)
    real("SQRT", np.sqrt, FLOATS, 0, 30)
    real("RSQRT", lambda v: 1 / np.sqrt(v), FLOATS, 0.05, 20)
    for t, zero, to in (("Q8", 3, 9), ("Q8S", -125, -100)):
        for dims in (*SHAPES, FIVE):
            a = x(t, dims, 0.1, 6, 0.023, zero)
            case("RSQRT", f"{t}_rank_{len(dims)}", [a], [out(t, 1 / np.sqrt(a.real()), 0.013, to)])
        a = given(t, [zero, zero + 1, zero + 4, zero + 100], 0.023, zero)  # 1 / sqrt(0) saturates
        want = codes(t, 1 / np.sqrt(np.maximum(a.real(), 1e-30)), 0.05, to)
        case("RSQRT", f"{t}_zero", [a], [given(t, want, 0.05, to)])
    for dims in [(9,), (3, 4), (2, 3, 2), (2, 2, 1, 3), FIVE, (1, 2, 1, 2, 1, 3)]:
        a = x("B8", dims)
        case("LOGICAL_NOT", f"rank_{len(dims)}", [a], [like(a, 1 - a.value)])
    for dims in [(5, 3), (11,), (2, 3, 3)]:
        a = x("B8", dims).open()
        case("LOGICAL_NOT", f"open_{len(dims)}", [a], [like(a, 1 - a.value, open=True)])
    for op, want in (("LOGICAL_AND", [0, 1, 0, 1]), ("LOGICAL_OR", [1, 1, 1, 1])):  # any byte but 0 is true
        case(op, "bytes", [given("B8", [1, 4, 0, 1]), given("B8", [0, 2, 255, 1]).const()], [given("B8", want)])


def channels(dims, channel):
    """A tensor with a scale for each index of a dimension."""
    a = x("Q8Y", dims, -9, 9, 0.1)
    a.type, a.scale, a.channel = "Q8C", 0.0, channel
    a.scales = [round(0.011 * (k + 1) ** 2, 4) for k in range(dims[channel])]
    return a


def conversions():
    for f in FLOATS:
        for t in ("Q8", "Q8S", "Q8Y"):
            for dims in SHAPES:
                a = x(t, dims, -9, 9)
                case("DEQUANTIZE", f"{t}_{f}_rank_{len(dims)}", [a], [out(f, a.real())])
            if t == "Q8Y":
                continue
            a = x(t, (0, 2))
            case("DEQUANTIZE", f"{t}_{f}_empty", [a], [out(f, a.real())])
        for dims, channel in (((5,), 0), ((3, 4), 1), ((2, 3, 2), 1), ((2, 2, 2, 3), 3), ((3, 2, 2, 1), 0)):
            a = channels(dims, channel)
            case("DEQUANTIZE", f"Q8C_{f}_{len(dims)}_{channel}", [a], [out(f, a.real())])
        for t in ("Q8", "Q8S"):
            for dims in (*SHAPES, FIVE):
                a = x(f, dims, -9, 9)
                case("QUANTIZE", f"{f}_{t}_rank_{len(dims)}", [a], [out(t, a.real())])
            zero = 0 if t == "Q8S" else 128
            a = given(f, [-0.25, 0.25, 0.75, 1.25, -0.75, -1.25, 1e4, -1e4, 0.2, 3.6])
            case("QUANTIZE", f"{f}_{t}_halves", [a], [out(t, a.real(), 0.5, zero)], exact=t == "Q8S")
            a = x(f, (0, 2))
            case("QUANTIZE", f"{f}_{t}_empty", [a], [out(t, a.real())])
    span = {"F32": (-300, 300), "F16": (-300, 300), "I32": (-300, 300), "Q8": (-1000, 1000)}
    for a_type in span:
        for b_type in span:
            for dims in ((3, 5), (2, 2, 3, 2)):
                a = x(a_type, dims, *span[a_type])
                v = a.value.astype(F64)
                if b_type == "Q8":
                    v = np.clip(np.trunc(v), 0, 255)
                elif b_type == "I32":
                    v = np.trunc(v)
                s = (0.3, 7) if b_type == "Q8" else (0, 0)
                case("CAST", f"{a_type}_{b_type}_rank_{len(dims)}", [a], [given(b_type, v, *s)], exact=True)
    for t in ("B8", "Q16A", "Q16Y", "Q8S", "Q8Y"):
        a = x(t, (3, 4), -9, 9)
        case("CAST", f"{t}_{t}", [a], [like(a, a.value)], exact=True)
    for t, dims in (("F32", (3,)), ("F16", (2, 3)), ("I32", (1, 2, 2)), ("Q8", (2, 1, 1, 3)), ("Q8S", FIVE),
                    ("Q8Y", (4,)), ("Q16A", (2, 2)), ("Q16Y", (2, 1, 2)), ("B8", (1, 1, 1, 1)), ("F32", (1,) * 6)):
        case("RANK", f"{t}_{len(dims)}", [x(t, dims)], [i32(len(dims))])
    a = channels((2, 3), 1)
    case("RANK", "Q8C_2", [a], [i32(2)])
    case("RANK", "F32_open", [x("F32", (3, 2, 1)).open()], [i32(3)])


def make():
    activations()
    functions()
    conversions()
