"""Reductions, normalization, ranking, draws and hashes."""
import struct

import farmhash
import numpy as np

from case import F64, FLOATS, STD, Operand, case, fails, flag, fx, given, i32, ints, like, none, out, unknown, value, x

# Dimensions and axes: at both ends, negative, twice, all of them.
AXES = [((7,), (0,)), ((3, 4), (1,)), ((3, 4), (-2,)), ((2, 3, 4), (0, 2)), ((2, 3, 2), (1, -1, 1)),
        ((2, 2, 3, 2), (1, 2)),
        ((2, 2, 3, 2), (0, 1, 2, 3)), ((2, 3, 2, 2), (3,))]


def reduced(op, f, types, keep_type, quantized=None, lo=-3.0, hi=3.0):
    for t in types:
        for k, (dims, axes) in enumerate(AXES):
            keep = k % 2 == 1
            a = x(t, dims, lo, hi)
            at = tuple({n % len(dims) for n in axes})
            v = f(a.value.astype(F64), at, keep)
            y = np.reshape(v, np.shape(v) or (1,))
            more = {}
            if a.scale:
                y, more = quantized(y), {"exact": True} if op != "MEAN" else {}
            case(op, f"{t}_{len(dims)}_{'_'.join(map(str, axes))}_{'keep' if keep else 'drop'}",
                 [a, ints(*axes), keep_type(keep)],
                 [like(a, y)], **more)
        a, axes = x(t, (3, 4), lo, hi), (0,)
        y = f(a.value.astype(F64), (0,), True)
        more = {"exact": True} if a.scale and op != "MEAN" else {}
        case(op, f"{t}_open", [a.open(), ints(0), keep_type(True)], [like(a, quantized(y) if a.scale else y,
                                                                          open=True)], **more)
        a = x(t, (3, 5), lo, hi)
        y = f(a.value.astype(F64), (0,), False)
        case(op, f"{t}_computed", [a, given("I32", [0]), keep_type(False)],
             [like(a, quantized(y) if a.scale else y, open=True)], **more)
    fails(op, f"{types[0]}_axis_beyond", [x(types[0], (3, 4)), ints(2), keep_type(False)], [unknown(types[0], 1)])


def reductions():
    whole = lambda v: np.trunc(v + np.copysign(0.5, v)).astype(int)
    reduced("MEAN", lambda v, a, k: v.mean(a, keepdims=k), STD, lambda k: i32(int(k)), whole)
    same = lambda v: v.astype(int)
    for op, f in (("MEAN", np.mean), ("REDUCE_MAX", np.max), ("REDUCE_MIN", np.min), ("REDUCE_PROD", np.prod),
                  ("REDUCE_SUM", np.sum)):  # axes of a run, which leaves two dimensions
        a = given("F32", np.arange(24).reshape(3, 2, 4) % 7 / 4 - 0.5)
        case(op, "F32_computed_two", [a, given("I32", [1]), i32(0) if op == "MEAN" else flag(False)],
             [like(a, f(a.value.astype(F64), 1), open=True)])
    reduced("REDUCE_MAX", lambda v, a, k: v.max(a, keepdims=k), STD, flag, same)
    reduced("REDUCE_MIN", lambda v, a, k: v.min(a, keepdims=k), STD, flag, same)
    reduced("REDUCE_PROD", lambda v, a, k: v.prod(a, keepdims=k), FLOATS, flag, lo=0.5, hi=1.5)
    reduced("REDUCE_SUM", lambda v, a, k: v.sum(a, keepdims=k), FLOATS, flag)
    for op, f in (("REDUCE_ALL", np.all), ("REDUCE_ANY", np.any)):
        for dims, axes in (((9, 2), (1,)), ((6, 3), (-1,)), ((3, 6), (0,)), ((2, 5, 2), (0, 2)), ((3, 4, 2), (1, -2)),
                           ((2, 2, 3, 2), (1,)),
                           ((3, 2, 2, 4), (0, 2)), ((4, 3, 2, 2), (2, 3))):
            for keep in (False, True):
                a = x("B8", dims)
                a.value, a.pattern = (a.value ^ x("B8", dims).value) if f is np.all else a.value & x("B8",
                                                                                                     dims).value, None
                a.value = np.where(x("I32", dims, 0, 3).value > 0, a.value | (f is np.all), a.value)
                at = tuple({n % len(dims) for n in axes})
                case(op, f"{len(dims)}_{'_'.join(map(str, axes))}_{'keep' if keep else 'drop'}",
                     [a, ints(*axes), flag(keep)],
                     [out("B8", f(a.value, at, keepdims=keep).astype(int))])
        for v in (0, 1):
            a = given("B8", [[1, v], [1, 1]] if f is np.all else [[0, 0], [v, 0]])
            case(op, f"all_axes_{v}", [a, ints(0, 1), flag(False)], [out("B8", [v])])


def ties(t, dims):
    """Numbers of which many are equal."""
    n = x("I32", dims, -2, 2).value
    return given(t, n + (100 if t == "Q8" else 0), *((0.5, 100) if t == "Q8" else (0.5, 3) if t == "Q8S" else (0, 0)))


def ranks():
    for t in (*STD, "I32"):
        for op, f in (("ARGMAX", np.argmax), ("ARGMIN", np.argmin)):
            for dims, axis in (((7,), 0), ((4, 5), 1), ((4, 5), -2), ((3, 4, 2), 1), ((2, 4, 2, 3), -1),
                               ((2, 1, 2, 3, 2), 3)):
                for a, label in ((x(t, dims, -99, 99), ""), (ties(t, dims), "_ties")):
                    y = f(a.value, axis)
                    case(op, f"{t}_{len(dims)}_{axis}{label}", [a, i32(axis)],
                         [given("I32", np.reshape(y, np.shape(y) or (1,)))])
        for dims, k in (((9,), 4), ((3, 5), 2), ((2, 3, 4), 3), ((2, 1, 2, 5), 1), ((3, 4), 4), ((1, 2, 1, 1, 6), 3)):
            for a, label in ((x(t, dims, -99, 99), ""), (ties(t, dims), "_ties")):
                n = dims[-1]
                order = n - 1 - np.argsort(-a.value[..., ::-1].astype(int if t not in FLOATS else float), -1,
                                           kind="stable")[..., :k]
                case("TOPK_V2", f"{t}_{len(dims)}_{k}{label}", [a, i32(k)],
                     [like(a, np.take_along_axis(a.value, order, -1)), given("I32", order)], exact=True)
    fails("TOPK_V2", "F32_many", [x("F32", (3,)), i32(4)], [unknown("F32", 1), unknown("I32", 1)])
    fails("ARGMAX", "F32_axis_beyond", [x("F32", (3,)), i32(1)], [unknown("I32", 1)])
    fails("ARGMIN", "F32_axis_beyond", [x("F32", (3,)), i32(-2)], [unknown("I32", 1)])


def softmax(v, beta, axis):
    e = np.exp((v - v.max(axis, keepdims=True)) * beta)
    return e / e.sum(axis, keepdims=True)


def normalizations():
    for t in STD:
        to = {"Q8": (1 / 256, 0), "Q8S": (1 / 256, -128)}.get(t, (None, None))
        for dims, axis, b in (((3, 4), None, 1.0), ((2, 2, 1, 3), None, 0.5), ((7,), 0, 2.0), ((3, 4), 0, 1.0),
                              ((2, 3, 2), -2, 0.25),
                              ((2, 3, 2, 2), 1, 1.0), ((2, 2, 2, 3), -1, 4.0)):
            a, beta = x(t, dims, -3, 3), fx(t, b)
            y = softmax(a.real(), value(beta), -1 if axis is None else axis)
            case("SOFTMAX", f"{t}_{len(dims)}_{axis}", [a, beta, *([] if axis is None else [i32(axis)])],
                 [out(t, y, *to)])
        case("SOFTMAX", f"{t}_empty", [x(t, (0, 3)), fx(t, 1)], [out(t, np.zeros((0, 3)), *to)])
        to = {"Q8": (1 / 128, 128), "Q8S": (1 / 128, 0)}.get(t, (None, None))
        for dims, axis in (((2, 2, 2, 3), None), ((7,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 2), 1),
                           ((2, 3, 2, 2), -3)):
            a = x(t, dims, -3, 3)
            v = a.real()
            y = v / np.maximum(np.sqrt((v * v).sum(-1 if axis is None else axis, keepdims=True)), 1e-6)
            case("L2_NORMALIZATION", f"{t}_{len(dims)}_{axis}", [a, *([] if axis is None else [i32(axis)])],
                 [out(t, y, *to)])
        zero = given(t, np.array([[0, 0], [3, 4]]) + (USUAL_ZERO.get(t, 0)),
                     *((0.05, USUAL_ZERO[t]) if t in USUAL_ZERO else (0, 0)))
        case("L2_NORMALIZATION", f"{t}_zeros", [zero, i32(1)], [out(t, np.array([[0, 0], [0.6, 0.8]]), *to)])
    for t in FLOATS:
        for dims, axis, b in (((7,), 0, 1.0), ((3, 4), 1, 0.5), ((3, 4), -2, 2.0), ((2, 3, 2), 1, 1.0),
                              ((2, 1, 2, 3), -1, 1.5),
                              ((1, 2, 3, 1, 2), 2, 1.0)):
            a, beta = x(t, dims, -3, 3), fx(t, b)
            case("LOG_SOFTMAX", f"{t}_{len(dims)}_{axis}", [a, beta, i32(axis)],
                 [out(t, np.log(softmax(a.real(), value(beta), axis)))])
        for dims, axis, radius, scalars in (((2, 1, 2, 5), None, 1, (1.0, 0.5, 0.5)), ((6,), 0, 2, (2.0, 1.0, 0.75)),
                                            ((3, 5), -1, 1, (1.0, 2.0, 1.0)),
                                            ((4, 3), 0, 20, (0.5, 0.25, 0.5)), ((2, 4, 2), 1, 1, (1.0, 1.0, 2.0)),
                                            ((1, 3, 2, 2), -3, 0, (3.0, 1.0, 0.5))):
            a = x(t, dims, -3, 3)
            bias, alpha, beta = (fx(t, v) for v in scalars)
            at = -1 if axis is None else axis
            v = np.moveaxis(a.real(), at, 0)
            s = np.stack([(v[max(0, i - radius):i + radius + 1] ** 2).sum(0) for i in range(len(v))])
            y = np.moveaxis(v / (value(bias) + value(alpha) * s) ** value(beta), 0, at)
            case("LOCAL_RESPONSE_NORMALIZATION", f"{t}_{len(dims)}_{axis}", [a, i32(radius), bias, alpha, beta,
                                                                           *([] if axis is None else [i32(axis)])],
                 [out(t, y)])
        for dims, g, b, e in (((1, 2, 3, 2), 1.0, 0.0, 1e-3), ((2, 3, 2, 1), 2.0, -1.0, 0.01),
                              ((2, 2, 2, 3), 0.5, 0.25, 0.1)):
            for first in (False, True):
                a, scalars = x(t, dims, -3, 3), [fx(t, v) for v in (g, b, e)]
                v, (g2, b2, e2) = a.real(), (value(s) for s in scalars)
                y = out(t, g2 * (v - v.mean((1, 2), keepdims=True)) / np.sqrt(v.var((1, 2), keepdims=True) + e2) + b2)
                if first:
                    a, y = Operand(t, np.moveaxis(a.value, 3, 1)), out(t, np.moveaxis(y.value, 3, 1))
                case("INSTANCE_NORMALIZATION", f"{t}_{'x'.join(map(str, dims))}{'_nchw' if first else ''}",
                     [a, *scalars, flag(first)], [y])


USUAL_ZERO = {"Q8": 121, "Q8S": -7}


def draws():
    for t in FLOATS:
        for dims, n, seed in (((1, 4), 4096, (1, 2)), ((2, 3), 4096, (7, 0)), ((3, 2), 4096, (-5, 9)),
                              ((1, 6), 8192, (123456789, 1))):
            for constant in (False, True):
                a = x(t, dims, -1.5, 1.5)
                shares = softmax(a.real(), 1, -1)
                s = given("I32", seed)
                y = Operand("I32", np.zeros((dims[0], n)), shares=[[round(float(v), 6) for v in r] for r in shares],
                            within=0.025)
                case("RANDOM_MULTINOMIAL", f"{t}_{dims[0]}x{dims[1]}{'_constant' if constant else ''}",
                     [a, i32(n), s.const() if constant else s], [y])


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def project(seed, v, weights, form):
    """Form 1 sparse without an offset, 2 dense, 3 sparse."""
    y = []
    for k, row in enumerate(seed):
        bits = []
        for s in row:
            score = 0.0
            for i, part in enumerate(v):
                key = struct.pack("<f", float(s)) + np.ascontiguousarray(part).tobytes()
                score += (1.0 if weights is None else float(weights[i])) * float(signed(farmhash.fingerprint64(key)))
            bits.append(int(score > 0))
        if form == 2:
            y += bits
        else:
            n = int("".join(map(str, bits)), 2) + ((k << len(bits)) if form == 3 else 0)
            y.append((n + (1 << 31)) % (1 << 32) - (1 << 31))
    return np.array(y, np.int32)


def hashes():
    for h in FLOATS:
        for t in ("F32", "F16", "I32", "Q8"):
            for dims, functions, bits in (((5, 3), 3, 4), ((4,), 2, 6), ((3, 2, 2), 4, 3)):
                for form in (1, 2, 3):
                    seed, a = x(h, (functions, bits), -3, 3), x(t, dims, -9, 9)
                    w = x(h, (dims[0],), 0.1, 2) if form == 2 else None
                    y = project(seed.value.astype(np.float32), a.value, None if w is None else w.value, form)
                    case("LSH_PROJECTION", f"{h}_{t}_{len(dims)}_{form}", [seed, a, none(h) if w is None else w,
                                                                           i32(form)],
                         [given("I32", y)], **{"from": "farmhash"})


def make():
    for f in (reductions, ranks, normalizations, draws, hashes):
        f()
