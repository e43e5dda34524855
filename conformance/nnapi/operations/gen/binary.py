"""Operations of two operands, element by element, which are broadcast against each other."""
import numpy as np

from case import FLOATS, STD, act, case, fails, given, i32, like, out, unknown, x

# Pairs of dimensions: equal, one of them smaller in each way.
PAIRS = [((7,), (7,)), ((3, 4), (4,)), ((4,), (3, 4)), ((2, 1, 3), (1, 4, 1)), ((2, 3, 2), (1,)),
         ((2, 3, 1, 2), (3, 2, 1)),
         ((2, 2, 3, 2), (2, 2, 3, 2))]
FIVE = ((1, 2, 2, 1, 3), (2, 1, 3))
# Scales and zero points of two operands and the result.
CODES = {"Q8": ((0.05, 121), (0.03, 100), (0.08, 110)), "Q8S": ((0.04, -7), (0.06, 11), (0.09, -20))}


def operands(t, dims, lo, hi):
    s = CODES.get(t, ((None, None),) * 2)
    return x(t, dims[0], lo, hi, *s[0]), x(t, dims[1], lo, hi, *s[1])


def arithmetic():
    for op, f in (("ADD", np.add), ("SUB", np.subtract), ("MUL", np.multiply), ("DIV", np.divide)):
        for t in FLOATS if op == "DIV" else STD:
            to = CODES.get(t, (None,) * 3)[2] or (None, None)
            for k, dims in enumerate(PAIRS):
                lo = 0.3 if op == "DIV" else -3
                a, b = operands(t, dims, lo, 3)
                case(op, f"{t}_{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b, i32(k % 4)],
                     [out(t, act(k % 4, f(a.real(), b.real())), *to)])
            for code in range(4):
                a, b = operands(t, ((2, 9), (2, 9)), 0.3 if op == "DIV" else -4, 6)
                case(op, f"{t}_activation_{code}", [a.open(), b, i32(code)],
                     [out(t, act(code, f(a.real(), b.real())), *to)])
            a, b = operands(t, ((3, 4), (4,)), 0.3, 3)
            case(op, f"{t}_constant", [a, b.const(), i32(0)], [out(t, f(a.real(), b.real()), *to)])
            a, b = operands(t, ((0, 4), (1, 4)), 1, 3)
            case(op, f"{t}_empty", [a, b, i32(0)], [out(t, f(a.real(), b.real()), *to)])
        for dims in PAIRS[:5]:
            a, b = x("I32", dims[0], -90, 90), x("I32", dims[1], 1, 9)
            y = np.floor_divide(a.value, b.value) if op == "DIV" else f(a.value, b.value)
            case(op, f"I32_{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b, i32(0)], [like(a, y)])
    for t in ("Q8", "Q8S"):  # exact halves between two codes, and results beyond the codes
        a, b = given(t, [1, 3, 5, 7, 100, 120], 0.5), given(t, [0, 0, 0, 2, 27, 127], 0.5)
        for op, f in (("ADD", np.add), ("SUB", np.subtract)):
            case(op, f"{t}_halves", [a, b, i32(0)], [out(t, f(a.real(), b.real()), 1, 0)])
        a, b = x(t, (12,), -100, 100, 1, 0 if t == "Q8S" else 128), x(t, (12,), -100, 100, 1, 0 if t == "Q8S" else 128)
        case("ADD", f"{t}_saturates", [a, b, i32(0)], [out(t, a.real() + b.real(), 0.25, 5)])
        case("MUL", f"{t}_saturates", [a, b, i32(0)], [out(t, a.real() * b.real(), 1.5, 5)])
    a, b = given("I32", [7, -7, 7, -7, 6, 0]), given("I32", [2, 2, -2, -2, 3, 5])
    case("DIV", "I32_signs", [a, b, i32(0)], [like(a, [3, -4, -4, 3, 2, 0])])
    a, b = given("I32", [7, 2, -3, 0]), given("I32", [2, 0, 0, 0])  # the API leaves it open: 0
    case("DIV", "I32_by_zero", [a, b, i32(0)], [like(a, [3, 0, 0, 0])])


def extremes():
    for op, f in (("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)):
        for t in (*STD, "I32"):
            to = CODES.get(t, (None,) * 3)[2] or (None, None)
            for dims in (*PAIRS[1:4], PAIRS[5], FIVE):
                a, b = operands(t, dims, -3, 3)
                y = f(a.value, b.value) if t == "I32" else f(a.real(), b.real())
                case(op, f"{t}_{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b], [out(t, y, *to)])
        for t in ("Q8", "Q8S"):
            a, b = x(t, (3, 5)), x(t, (5,))
            case(op, f"{t}_same", [a, b.const()], [like(a, f(a.value, b.value))], exact=True)
    for t in FLOATS:
        for dims in (*PAIRS, FIVE):
            a, b = x(t, dims[0], 0.2, 3), x(t, dims[1], -2, 2)
            case("POW", f"{t}_{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b],
                 [out(t, a.real() ** b.real())])
        a, b = x(t, (2, 6), -3, 3), given(t, [2, 3, 0, 1, -1, -2])
        case("POW", f"{t}_negative", [a, b.const()], [out(t, a.real() ** b.real())])
    for t in STD:
        to = CODES.get(t, (None,) * 3)[2] or (None, None)
        for dims in (*PAIRS[:2], *PAIRS[3:], FIVE):
            a, b = operands(t, dims, -4, 4)
            v, w = np.broadcast_arrays(a.real(), b.real())
            case("PRELU", f"{t}_{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b],
                 [out(t, np.where(v >= 0, v, w * v), *to)])
        a, b = operands(t, ((2, 3, 4), (4,)), -4, 4)
        case("PRELU", f"{t}_constant", [a, b.const()], [out(t, np.where(a.real() >= 0, a.real(), b.real() * a.real()),
                                                            *to)])


def steps(t, dims, scale=None, zero=0):
    """Few different numbers, so that many are equal: halves from -2 to 2, whatever the scale."""
    n = x("I32", dims, -4, 4).value
    if t == "I32":
        return given(t, n)
    if t == "B8":
        return x("B8", dims)
    if t in FLOATS:
        return given(t, n / 2)
    return given(t, n * 0.5 / scale + zero, scale, zero)


def comparisons():
    fs = {"EQUAL": np.equal, "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal, "LESS": np.less,
          "LESS_EQUAL": np.less_equal, "NOT_EQUAL": np.not_equal}
    for op, f in fs.items():
        for t in ("B8", *STD, "I32"):
            first, second = ((0.5, 20), (0.25, 100)) if t == "Q8" else ((0.5, -3), (0.125, 7))
            for dims in (((4, 5), (4, 5)), ((3, 4), (4,)), ((2, 1, 3), (1, 4, 1)), ((3, 2), (2, 2, 3, 2)), FIVE):
                a, b = steps(t, dims[0], *first), steps(t, dims[1], *second)
                case(op, f"{t}_{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b],
                     [out("B8", f(a.real(), b.real()).astype(int))])
            a, b = steps(t, (3, 5), *first), steps(t, (5,), *first)
            case(op, f"{t}_constant", [a.open(), b.const()], [out("B8", f(a.real(), b.real()).astype(int))])
    for op, f in (("LOGICAL_AND", np.logical_and), ("LOGICAL_OR", np.logical_or)):
        for dims in (((30,), (30,)), ((3, 4), (4,)), ((8,), (6, 8)), ((4, 1, 5), (1, 4, 1)), ((4, 4, 2), (1,)), FIVE,
                     ((4, 3, 1, 3), (3, 4, 1)), ((2, 3, 3, 2), (2, 3, 3, 2)), ((5, 6), (1, 6))):
            a, b = x("B8", dims[0]), x("B8", dims[1])
            case(op, f"{'x'.join(map(str, dims[0]))}_{'x'.join(map(str, dims[1]))}", [a, b],
                 [out("B8", f(a.value, b.value).astype(int))])
        a, b = x("B8", (3, 6)), given("B8", [0, 1, 1, 0, 1, 0])
        case(op, "constant", [a.open(), b.const()], [out("B8", f(a.value, b.value).astype(int))])
    for t in (*STD, "I32"):
        for dims in ((9,), (3, 4), (2, 3, 2), (2, 2, 3, 2), (1, 2, 2, 1, 3)):
            s = CODES.get(t, ((None, None),) * 3)
            c, a, b = x("B8", dims), x(t, dims, -3, 3, *s[0]), x(t, dims, -3, 3, *s[1])
            case("SELECT", f"{t}_rank_{len(dims)}", [c, a, b], [out(t, np.where(c.value == 1, a.real(),
                                                                                b.real()).astype(
                int if t == "I32" else float), *s[2])])
        c, a, b = x("B8", (4, 3)), x(t, (4, 3), -5, 5), x(t, (4, 3), -5, 5)
        case("SELECT", f"{t}_same", [c, a, b.const()], [like(a, np.where(c.value == 1, a.value, b.value))], exact=True)


def refusals():
    """Dimensions that do not go together."""
    floats = ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "PRELU", "EQUAL", "GREATER", "GREATER_EQUAL",
              "LESS", "LESS_EQUAL", "NOT_EQUAL")
    for op in (*floats, "LOGICAL_AND", "LOGICAL_OR"):
        t = "F32" if op in floats else "B8"
        to = t if op in floats[:8] else "B8"
        more = [i32(0)] if op in floats[:4] else []
        for name, first, second in (("dims", (2, 3), (2, 4)), ("dims_inner", (3, 2, 4), (2, 3, 4))):
            fails(op, f"{t}_{name}", [x(t, first), x(t, second), *more], [unknown(to, len(first))])
    for t in ("F32", "I32", "Q8"):
        for name, dims in (("condition", ((3,), (2, 3), (2, 3))), ("condition_of_one", ((1, 1), (2, 3), (2, 3))),
                           ("first", ((2, 3), (1, 3), (2, 3))), ("second", ((2, 3), (2, 3), (2, 1))),
                           ("turned", ((2, 3), (2, 3), (3, 2)))):
            fails("SELECT", f"{t}_dims_{name}", [x("B8", dims[0]), x(t, dims[1]), x(t, dims[2])], [unknown(t, 2)])


def make():
    arithmetic()
    extremes()
    comparisons()
    refusals()
