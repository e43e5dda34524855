"""The steps by which a random network grows: each adds one operation, or two that belong together, or is Unfit."""
import numpy as np

import images
from case import FLOATS, STD, act, flag, fx, i32, ints
from network import Unfit, of, want

ANY = (*STD, "I32")
FIXED = {"LOGISTIC": {"Q8": (1 / 256, 0), "Q8S": (1 / 256, -128)}, "TANH": {"Q8": (1 / 128, 128), "Q8S": (1 / 128, 0)},
         "SOFTMAX": {"Q8": (1 / 256, 0), "Q8S": (1 / 256, -128)},
         "L2_NORMALIZATION": {"Q8": (1 / 128, 128), "Q8S": (1 / 128, 0)}}


def binary(n):
    op = n.pick("ADD", "ADD", "SUB", "MUL", "MUL", "DIV", "MAXIMUM", "MINIMUM")
    f = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "MAXIMUM": np.maximum,
         "MINIMUM": np.minimum}[op]
    a = n.take(FLOATS if op == "DIV" else ANY)

    def fits(v):
        if v is a and op in ("SUB", "DIV", "MAXIMUM", "MINIMUM"):
            return False
        pairs = zip(a.shape[::-1], v.shape[::-1])
        return all(p == q or 1 in (p, q) for p, q in pairs) and (op != "DIV" or np.abs(v.exact).min() > 0.3)

    try:
        want(n.chance(0.6))
        b = n.take((a.type,), fits=fits)
    except Unfit:
        dims = n.pick(a.shape, a.shape[-1:], (1,), (*a.shape[:-1], 1))
        b = n.constant(a.type, dims, *((1, 5) if a.type == "I32" else (0.4, 1.6) if op == "DIV" else (-1.5, 1.5)))
    if n.chance(0.5):
        a, b = (a, b) if op == "DIV" else (b, a)
    code = 0 if a.type == "I32" else n.pick(0, 0, 1, 2, 3)
    extreme = op in ("MAXIMUM", "MINIMUM")
    n.emit(op, [a, b], [] if extreme else [i32(code)], f if extreme else lambda p, q: act(code, f(p, q)))


def unary(n):
    op = n.pick("RELU", "RELU1", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "ABS", "NEG", "ELU", "SIN", "SQRT", "EXP")
    types = {"ABS": (*FLOATS, "I32"), "NEG": (*FLOATS, "I32"), "ELU": FLOATS, "SIN": FLOATS, "SQRT": FLOATS,
             "EXP": FLOATS}.get(op, STD)
    f = {"RELU": lambda v: np.maximum(v, 0), "RELU1": lambda v: np.clip(v, -1, 1), "RELU6": lambda v: np.clip(v, 0, 6),
         "LOGISTIC": lambda v: 1 / (1 + np.exp(-v)), "TANH": np.tanh, "HARD_SWISH": lambda v: v * np.clip(v + 3, 0, 6) / 6,
         "ABS": np.abs, "NEG": np.negative, "ELU": lambda v: np.where(v > 0, v, 0.5 * np.expm1(np.minimum(v, 0))),
         "SIN": np.sin, "SQRT": lambda v: np.sqrt(np.abs(v)), "EXP": np.exp}[op]
    a = n.take(types, fits=lambda v: op != "SQRT" or v.exact.min() > 0.02)
    scale = "same" if op in ("RELU", "RELU1", "RELU6") else FIXED.get(op, {}).get(a.type)
    n.emit(op, [a], [fx(a.type, 0.5)] if op == "ELU" else [], f, scale=scale)


def parametric(n):
    a = n.take(STD, (2, 3, 4))
    b = n.constant(a.type, a.shape[-1:], 0.1, 0.9, *((0.005, 100 if a.type == "Q8" else -100) if a.type[0] == "Q" else ()))
    n.emit("PRELU", [a, b], [], lambda v, w: np.where(v >= 0, v, w * v))


def product(n):
    if n.chance(0.3):
        a = n.take(FLOATS, (2, 3))
        b = n.constant(a.type, (*a.shape[:-2], a.shape[-1], n.pick(2, 3, 5)), -0.7, 0.7)
        p, q = n.chance(0.3), n.chance(0.3)
        if q:
            b = n.constant(a.type, (*a.shape[:-2], n.pick(2, 4), a.shape[-2 if p else -1]), -0.7, 0.7)
        elif p:
            b = n.constant(a.type, (*a.shape[:-2], a.shape[-2], 3), -0.7, 0.7)
        turn = lambda v, t: v.swapaxes(-1, -2) if t else v
        n.emit("BATCH_MATMUL", [a, b], [flag(p), flag(q)], lambda v, w: turn(v, p) @ turn(w, q))
        return
    a = n.take(STD, (2, 3, 4))
    depth = a.exact.size // a.shape[0] if len(a.shape) == 4 else a.shape[-1]
    code = n.pick(0, 0, 1, 2, 3)
    w, b = images.weights(n, a, (int(n.rng.integers(2, 9)), depth), 0, depth, per=False)
    n.emit("FULLY_CONNECTED", [a, w, b], [i32(code)], lambda v, w, b: act(code, v.reshape(-1, depth) @ w.T + b))


def normalization(n):
    a = n.take(STD)
    op = n.pick("SOFTMAX", "SOFTMAX", "L2_NORMALIZATION", "LOG_SOFTMAX")
    want(op != "LOG_SOFTMAX" or a.type in FLOATS)
    axis = int(n.rng.integers(-len(a.shape), len(a.shape)))
    want(a.shape[axis] > 1)
    if op == "L2_NORMALIZATION":
        want((np.abs(a.exact).max(axis) > 0.2).all())
        rest, f = [], lambda v: v / np.sqrt((v * v).sum(axis, keepdims=True))
    else:
        beta = n.pick(1.0, 0.5)
        rest = [fx(a.type, beta)]

        def f(v):
            e = np.exp((v - v.max(axis, keepdims=True)) * beta)
            y = e / e.sum(axis, keepdims=True)
            return np.log(y) if op == "LOG_SOFTMAX" else y
    n.emit(op, [a], [*rest, i32(axis)], f, scale=FIXED.get(op, {}).get(a.type))


def reshaped(n):
    op = n.pick("RESHAPE", "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "TRANSPOSE")
    if op == "SQUEEZE":
        a = n.take(STD, (3, 4), lambda v: 1 in v.shape)
        axis = a.shape.index(1)
        n.emit(op, [a], [ints(axis)], lambda v: v.squeeze(axis), scale="same")
    elif op == "EXPAND_DIMS":
        a = n.take(ANY, (1, 2, 3))
        axis = int(n.rng.integers(-len(a.shape) - 1, len(a.shape) + 1))
        n.emit(op, [a], [i32(axis)], lambda v: np.expand_dims(v, axis), scale="same")
    elif op == "TRANSPOSE":
        a = n.take(STD, (2, 3, 4))
        order = [int(k) for k in n.rng.permutation(len(a.shape))]
        want(order != sorted(order))
        n.emit(op, [a], [ints(*order)], lambda v: v.transpose(order), scale="same")
    else:
        a = n.take(ANY, (1, 2, 3, 4))
        size = a.exact.size
        h = n.pick(*([k for k in (2, 3, 4, 5, 6) if size % k == 0] or [1]))
        to = n.pick((h, size // h), (1, h, 1, size // h), (1, size // h, h), (1, 1, h, size // h))
        want(to != a.shape)
        told = list(to)
        if n.chance(0.3):
            told[int(n.rng.integers(len(to)))] = -1
        n.emit(op, [a], [ints(*told)], lambda v: v.reshape(to), scale="same")


def section(n):
    op = n.pick("SLICE", "STRIDED_SLICE", "GATHER", "REVERSE", "TILE")
    a = n.take(STD if op == "STRIDED_SLICE" else ANY, (2, 3, 4), lambda v: v.exact.size >= 6)
    rank = len(a.shape)
    axis = int(n.rng.integers(rank))
    size = a.shape[axis]
    want(size > 1)
    if op == "GATHER":
        at = [int(k) for k in n.rng.integers(0, size, n.pick(1, 2, size))]
        rest, f = [i32(axis - rank * n.chance(0.5)), ints(*at)], lambda v: np.take(v, at, axis)
    elif op == "REVERSE":
        rest, f = [ints(axis)], lambda v: np.flip(v, axis)
    elif op == "TILE":
        times = [2 if k == axis else 1 for k in range(rank)]
        rest, f = [ints(*times)], lambda v: np.tile(v, times)
    else:
        begin, end, step = [0] * rank, list(a.shape), [1] * rank
        begin[axis] = int(n.rng.integers(0, size - 1))
        end[axis] = int(n.rng.integers(begin[axis] + 1, size + 1))
        if op == "STRIDED_SLICE":
            step[axis] = n.pick(1, 2)
        cut = tuple(slice(*k) for k in zip(begin, end, step))
        rest, f = [ints(*begin), ints(*(e - b for b, e in zip(begin, end)))], lambda v: v[cut]
        if op == "STRIDED_SLICE":
            masks = [0, 0, 0]
            if end[axis] == begin[axis] + 1 and rank > 2:
                masks[2] = 1 << axis
                f = lambda v: v[cut].squeeze(axis)
            rest = [ints(*begin), ints(*end), ints(*step), *map(i32, masks)]
    n.emit(op, [a], rest, f, scale="same")


def joint(n):
    op = n.pick("CONCATENATION", "CONCATENATION", "SPLIT", "PACK")
    if op == "SPLIT":
        a = n.take(ANY, (2, 3, 4))
        axis = int(n.rng.integers(len(a.shape)))
        parts = n.pick(*([k for k in (2, 3, 4) if a.shape[axis] % k == 0] or [0]))
        want(parts and a.exact.size // parts > 1)
        ways = zip(np.split(a.exact, parts, axis), np.split(a.near, parts, axis))
        n.add(op, [a, i32(axis), i32(parts)], [n.result(a.type, p, q, (a.scale, a.zero)) for p, q in ways])
        return
    a = n.take(STD if op == "CONCATENATION" else ANY, (1, 2, 3) if op == "PACK" else (2, 3, 4))
    axis = int(n.rng.integers(len(a.shape) + (op == "PACK")))
    same = lambda s: s if op == "PACK" else (*s[:axis], *s[axis + 1:])

    def fits(v):
        scaled = op == "PACK" and (v.scale, v.zero) != (a.scale, a.zero)
        return v is not a and len(v.shape) == len(a.shape) and same(v.shape) == same(a.shape) and not scaled

    if n.chance(0.2) and op == "CONCATENATION":
        b = n.constant(a.type, a.shape, *((-1.5, 1.5, a.scale, a.zero) if a.scale else ()))
    else:
        b = n.take((a.type,), fits=fits)
    if op == "PACK":
        y = n.result(a.type, np.stack([a.exact, b.exact], axis), np.stack([a.near, b.near], axis), (a.scale, a.zero))
        n.add(op, [i32(axis), a, b], [y])
        return
    n.emit(op, [a, b], [i32(axis)], lambda *v: np.concatenate(v, axis),
           scale="same" if (a.scale, a.zero) == (b.scale, b.zero) else None)


def reduction(n):
    op = n.pick("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_SUM")
    a = n.take(FLOATS if op == "REDUCE_SUM" else STD, (2, 3, 4))
    axes = sorted({int(k) for k in n.rng.integers(0, len(a.shape), n.pick(1, 1, 2))})
    keep = n.chance(0.5) or len(axes) == len(a.shape)
    f = {"MEAN": np.mean, "REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_SUM": np.sum}[op]
    told = [k - len(a.shape) if n.chance(0.3) else k for k in axes]
    n.emit(op, [a], [ints(*told), i32(int(keep)) if op == "MEAN" else flag(keep)],
           lambda v: f(v, tuple(axes), keepdims=keep), scale="same")


def conversion(n):
    op = n.pick("QUANTIZE", "DEQUANTIZE", "CAST")
    if op == "QUANTIZE":
        a, to = n.take(("F32",)), n.pick("Q8", "Q8S")
    elif op == "DEQUANTIZE":
        a, to = n.take(("Q8", "Q8S")), n.pick("F32", "F32", "F16")
    else:
        a = n.take(("F32", "F16", "I32"))
        to = {"F32": "F16", "F16": "F32", "I32": "F32"}[a.type]
    n.emit(op, [a], [], lambda v: v, to)


def apart(a, b):
    """Whether no two numbers are so near each other that an implementation may order them otherwise."""
    gap = {"F16": 5e-2, "I32": 0}.get(a.type, 1e-3)
    return (np.abs(a.exact - b.exact) >= gap).all()


def choice(n):
    """A comparison, and the elements that it chooses."""
    a = n.take(ANY, (1, 2, 3, 4))
    try:
        b = n.take((a.type,), fits=lambda v: v is not a and v.shape == a.shape)
    except Unfit:
        b = n.constant(a.type, a.shape, *((-5, 5) if a.type == "I32" else ()))
    want(len(n.operations) + 2 <= n.limit and apart(a, b))
    op = n.pick("GREATER", "LESS", *(("EQUAL", "GREATER_EQUAL", "NOT_EQUAL") if a.type == "I32" else ()))
    f = {"GREATER": np.greater, "LESS": np.less, "EQUAL": np.equal, "GREATER_EQUAL": np.greater_equal,
         "NOT_EQUAL": np.not_equal}[op]
    c = n.emit(op, [a, b], [], lambda p, q: f(p, q).astype(int), "B8")
    if n.chance(0.7):
        n.emit("SELECT", [c, a, b], [], lambda c, p, q: np.where(c == 1, p, q), a.type)


def logic(n):
    if n.chance(0.5):
        n.emit("LOGICAL_NOT", [n.take(("B8",))], [], lambda v: 1 - v)
        return
    a = n.take(("B8",))
    b = n.constant("B8", a.shape)
    op = n.pick("LOGICAL_AND", "LOGICAL_OR")
    n.emit(op, [a, b], [], lambda p, q: ((p + q) > (op == "LOGICAL_AND")).astype(int))


def index(n):
    """The place of the largest element along an axis, where it is plainly larger than the others."""
    a = n.take(ANY, (2, 3, 4))
    axis = int(n.rng.integers(len(a.shape)))
    want(a.shape[axis] > 1)
    ordered = np.sort(a.exact, axis)
    last = of_axis(ordered, axis, -1) - of_axis(ordered, axis, -2)
    want((last > (5e-2 if a.type == "F16" else 1e-3)).all())
    n.emit("ARGMAX", [a], [i32(axis)], lambda v: np.argmax(v, axis), "I32")


def of_axis(v, axis, k):
    return np.take(v, k, axis)


STEPS = [binary, binary, binary, unary, unary, unary, parametric, product, normalization, reshaped, reshaped, section,
         joint, joint, reduction, conversion, choice, logic, index, *images.STEPS]
