"""Reductions, normalizations, searches and sorts over thousands of elements, with a spread of 200 where exponentials are taken."""

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, U8, Q, const, param, scalar_param
from binary import ACT
from pattern import Exact, Real, ints, reals
from reduction import FUNCS
from size_windows import SIZE
from network import lrn, lstm

SPOTS = (("rows", (7, 4099), (1,), False), ("columns", (1999, 13), (0,), True), ("middle", (3, 1030, 5), (1,), False), ("two_inner", (5, 33, 65), (1, 2), True),
         ("two_outer", (33, 35, 17), (0, 1), False), ("apart", (9, 37, 21), (0, 2), True), ("spatial", (2, 17, 19, 33), (1, 2), True), ("all", (31, 37, 5), (0, 1, 2), True))
for op, f in FUNCS.items():
    for tag, shape, axes, keep in SPOTS:
        ps, ax = [param(op + "_KEEP_DIMS", keep, BOOL)], const(np.array(axes, I32))
        if op == "REDUCE_PROD":
            continue
        x = ints(op + tag, shape, -7, 9)
        y = f(x.value.astype(F64), axes, keep)
        exact = op in ("REDUCE_SUM", "REDUCE_MAX", "REDUCE_MIN")
        if op in ("REDUCE_MAX", "REDUCE_MIN"):
            x = ints(op + tag, shape, -100000, 100000)
            y = f(x.value.astype(F64), axes, keep)
        SIZE.case(op, "float32_" + tag, [x, ax], [Exact(y) if exact else Real(y)], ps)
    if op == "REDUCE_PROD":
        x = reals(op, (5, 601), 0.98, 1.02)
        SIZE.case(op, "float32_rows", [x, const(np.array([1], I32))], [Real(x.value.astype(F64).prod(axis=1))], rel=1e-4, why="600 products in float32, each of which rounds")
        x = reals(op + "c", (301, 17), 0.9, 1.1)
        SIZE.case(op, "float32_columns", [x, const(np.array([0], I32))], [Real(x.value.astype(F64).prod(axis=0))], rel=1e-4, why="300 products in float32, each of which rounds")
    elif op in ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_MEAN"):
        for dtype in (I8, U8):
            q = Q(2.0**-3, np.iinfo(dtype).min + 100)
            x = ints(op + str(dtype), (17, 19, 33), np.iinfo(dtype).min, np.iinfo(dtype).max, dtype, q=q)
            y = q.quantize(f(q.real(x.value), (1,), False), dtype)
            SIZE.case(op, f"{np.dtype(dtype)}_middle", [x, const(np.array([1], I32))], [Exact(y, dtype, q) if op != "REDUCE_MEAN" else Real(y, dtype, q)])


def soft(x, axis, log):
    e = x - x.max(axis=axis, keepdims=True)
    s = np.exp(e).sum(axis=axis, keepdims=True)
    return e - np.log(s) if log else np.exp(e) / s


for op, log in (("SOFTMAX", False), ("LOG_SOFTMAX", True)):
    for tag, shape, axis in (("rows", (3, 4099), 1), ("columns", (1030, 5), 0), ("middle", (2, 301, 7), 1), ("of_33", (40, 33), -1), ("image", (1, 9, 11, 37), 3)):
        for spread in (2, 100):
            x = reals(op + tag + str(spread), shape, -spread, spread)
            SIZE.case(op, f"float32_{tag}_spread_{2 * spread}", [x], [Real(soft(x.value.astype(F64), axis, log))], [param(op + "_AXIS", axis, I64)])

LN = "LAYER_NORM"
for tag, shape, axis, lo, hi in (("rows", (5, 2051), 1, -1, 1), ("image", (3, 17, 19, 5), 1, -100, 100), ("last", (2, 37, 131), 2, 90, 110), ("two", (4, 21, 33), 1, -5, 1)):
    x, g, b = reals(LN + tag, shape, lo, hi), reals(LN + tag + "g", shape[axis:], 0.5, 2, const=True), reals(LN + tag + "b", shape[axis:], const=True)
    ax = tuple(range(axis, len(shape)))
    v = x.value.astype(F64)
    m = v.mean(axis=ax, keepdims=True)
    y = (v - m) / np.sqrt(np.square(v - m).mean(axis=ax, keepdims=True) + F64(F32(1e-5))) * g.value + b.value
    ps = [scalar_param(LN + "_BEGIN_NORM_AXIS", axis, I64), scalar_param(LN + "_BEGIN_PARAM_AXIS", axis, I64), scalar_param(LN + "_EPSILON", 1e-5, F32)]
    SIZE.case(LN, "float32_" + tag, [x, g, b], [Real(y)], ps, rel=5e-5, abs=5e-5, why="the mean of numbers far from zero, in float32")

IN = "INSTANCE_NORM"
for tag, shape in (("large", (2, 33, 41, 37)), ("many", (3, 65, 7, 9))):
    x, g, b = reals(IN + tag, shape, -9, 11), reals(IN + tag + "g", (shape[1],), 0.5, 2, const=True), reals(IN + tag + "b", (shape[1],), const=True)
    v = x.value.astype(F64)
    m = v.mean(axis=(2, 3), keepdims=True)
    y = (v - m) / np.sqrt(np.square(v - m).mean(axis=(2, 3), keepdims=True) + F64(F32(1e-5))) * g.value[:, None, None] + b.value[:, None, None]
    SIZE.case(IN, "float32_" + tag, [x, g, b], [Real(y)], [param(IN + "_EPSILON", 1e-5, F32)], rel=2e-5, abs=2e-5, why="sums of thousands of elements, in float32")

for tag, shape in (("image", (2, 17, 19, 33)), ("rows", (301, 37)), ("many", (3, 1030))):
    c = shape[-1:]
    x, s, o, m, v = (reals("BN" + tag + k, n, lo, hi, const=k != "x") for k, n, lo, hi in (("x", shape, -3, 3), ("s", c, 0.5, 2), ("o", c, -1, 1), ("m", c, -1, 1), ("v", c, 0.2, 2)))
    y = (x.value.astype(F64) - m.value) / np.sqrt(v.value.astype(F64) + F64(F32(1e-3))) * s.value + o.value
    SIZE.case("BATCH_NORM", "float32_" + tag, [x, s, o, m, v], [Real(y)], [param("BATCH_NORM_EPSILON", 1e-3, F32)])
    x, b = ints("BA" + tag, shape), ints("BA" + tag + "b", c, -1000, 1000, const=True)
    SIZE.case("BIAS_ADD", "float32_" + tag, [x, b], [Exact(x.value + b.value)])
    x, s = ints("PR" + tag, shape, -9, 9), ints("PR" + tag + "s", c, 2, 40, const=True)
    SIZE.case("PRELU", "float32_" + tag, [x, s], [Exact(np.where(x.value > 0, x.value, x.value * s.value))])
    x, s, b = ints("SC" + tag, shape), ints("SC" + tag + "s", c, -9, 9, const=True), ints("SC" + tag + "b", c, -99, 99, const=True)
    for act in (0, 1, 2):
        SIZE.case("SCALE", f"float32_{tag}_activation_{act}", [x, s, b], [Exact(ACT[act](x.value * s.value + b.value))], [param("SCALE_AXIS", -1, I64), param("SCALE_ACTIVATIONTYPE", act, I8)])

for tag, shape, axes in (("rows", (9, 1031), [1]), ("columns", (517, 7), [0]), ("all", (33, 41), [])):
    x = reals("L2" + tag, shape, -2, 2)
    v = x.value.astype(F64)
    y = v / np.sqrt(np.maximum(np.square(v).sum(axis=tuple(axes) or None, keepdims=True), F64(F32(1e-6))))
    SIZE.case("L2_NORMALIZE", "float32_" + tag, [x], [Real(y)], [param("L2_NORMALIZE_AXIS", axes, I64)] if axes else [])

for tag, shape, r in (("33_channels", (2, 7, 9, 33), 2), ("70_channels", (1, 5, 6, 70), 5)):
    x = reals("LRN" + tag, shape, -2, 2)
    ps = [param("LRN_DEPTH_RADIUS", r, I64), param("LRN_BIAS", 1.0, F32), param("LRN_ALPHA", 0.25, F32), param("LRN_BETA", 0.75, F32)]
    SIZE.case("LRN", "float32_" + tag, [x], [Real(lrn(x.value.astype(F64), r, 1.0, 0.25, 0.75))], ps)

for tag, shape, axis in (("rows", (5, 2051), 1), ("columns", (1033, 7), 0), ("middle", (3, 401, 9), 1)):
    for spread in (50, 10**6):  # ties, and none
        x = ints(f"arg{tag}{spread}", shape, -spread, spread)
        SIZE.case("ARG_MAX", f"float32_{tag}_{spread}", [x], [Exact(x.value.argmax(axis=axis), I32)], [param("ARG_MAX_AXIS", axis, I64)])
        order = np.argsort(-x.value, axis=axis, kind="stable").take(range(37), axis=axis)
        SIZE.case("TOP_K", f"float32_{tag}_{spread}", [x, const(np.array([37], I32))], [Exact(np.take_along_axis(x.value, order, axis)), Exact(order, I32)], [param("TOP_K_AXIS", axis, I64)])

for tag, t, b, i, h, both in (("long", 23, 3, 19, 17, False), ("both_directions", 11, 2, 33, 18, True)):
    d = 2 if both else 1
    shapes = ((t, b, i), (d, 4 * h, i), (d, 4 * h, h), (d, 8 * h), (d, b, h), (d, b, h))
    xs = [reals(f"lstm{tag}{k}", s, -0.4, 0.4, const=k in (1, 2, 3)) for k, s in enumerate(shapes)]
    out, hy, cy = lstm(*[v.value.astype(F64) for v in xs], 0.0, 0.0)
    ps = [param("LSTM_BIDIRECTIONAL", both, BOOL), param("LSTM_HAS_BIAS", True, BOOL), param("LSTM_INPUT_SIZE", i, I64), param("LSTM_HIDDEN_SIZE", h, I64), param("LSTM_NUM_LAYERS", 1, I64), param("LSTM_NUM_DIRECTIONS", d, I64)]
    SIZE.case("LSTM", "float32_" + tag, xs, [Real(out), Real(hy), Real(cy)], ps)
