"""Pairs of parameters of reductions, products, selections and element-wise operators."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I32, I64, U8, Q, T, const, param
from binary import ACT
from pairs import PAIRS, all_pairs
from pattern import Codes, Exact, Real, ints, reals
from reduction import FUNCS

NO = None
SHAPES = {1: (7,), 2: (5, 6), 3: (3, 5, 4), 4: (2, 3, 5, 4), 5: (2, 3, 2, 5, 3)}


def known(yes, v):
    """A constant, or the same known at the run."""
    return const(v) if yes else T(v)


def coded(name, shape, dtype, lo=-60, hi=60, zero=3):
    """A tensor of floats, or of codes whose reals are quarters."""
    if np.dtype(dtype).kind == "f":
        return ints(name, shape, lo, hi, dtype, step=0.25)
    info = np.iinfo(dtype)
    return ints(name, shape, info.min, info.max, dtype, q=Q(0.25, info.min + 128 + zero))


def real(t):
    return t.q.real(t.value) if t.q else t.value.astype(F64)


def like(y, dtype, scale=0.25, zero=-5, exact=True):
    """The expected tensor of reals y in an element type."""
    if np.dtype(dtype).kind == "f":
        return Exact(y, dtype) if exact else Real(y, dtype)
    q = Q(scale, np.iinfo(dtype).min + 128 + zero)
    return Codes(y, q, dtype) if exact else Real(q.quantize(y, dtype), dtype, q)


for op, f in FUNCS.items():
    exact = op in ("REDUCE_SUM", "REDUCE_MAX", "REDUCE_MIN")
    types = [F32, F16] if op == "REDUCE_PROD" else [F32, I8, U8]
    for name, c in all_pairs(op, {"rank": [1, 2, 3, 4, 5], "axes": [[0], [-1], [1], [0, 2], [-1, 1], [2, 0, 1]], "keep": [NO, False, True], "end": [NO, False, True], "coeff": [NO, 0.0, 2.0], "index": [I32, I64],
                                  "known": [True, False], "scalar": [False, True], "dtype": types},
                             lambda rank, axes, end, scalar, known, **_: len({a % rank for a in axes}) == len(axes) and all(-rank <= a < rank for a in axes) and (not end or len(axes) == 1)
                             and (not scalar or len(axes) == 1) and (len(axes) < 3 or rank > 2)):
        shape, rank = SHAPES[c["rank"]], c["rank"]
        axes = tuple(range(c["axes"][0] % rank, rank)) if c["end"] else tuple(c["axes"])
        keep = bool(c["keep"]) and not c["end"]
        x = reals(op + name, shape, 0.8, 1.25, c["dtype"]) if op == "REDUCE_PROD" else coded(op + name, shape, c["dtype"])
        y = f(real(x), axes, keep) * (c["coeff"] if c["end"] and c["coeff"] else 1)
        ps = [param(f"{op}_{k}", c[v], d) for k, v, d in (("KEEP_DIMS", "keep", BOOL), ("REDUCE_TO_END", "end", BOOL), ("COEFF", "coeff", F32)) if c[v] is not NO]
        index = np.array(c["axes"][0] if c["scalar"] else c["axes"], c["index"])
        if y.ndim == 0 or y.size > 1 and np.unique(y).size < 2:
            continue
        big = {"scale": 1.0 if op in ("REDUCE_SUM", "REDUCE_L2") else 0.25}
        PAIRS.case(op, name, [x, known(c["known"] and not c["scalar"] or c["scalar"], index)], [like(y, c["dtype"], exact=exact, **big)], ps)

for op, f in (("SOFTMAX", lambda e: e), ("LOG_SOFTMAX", np.log)):
    for name, c in all_pairs(op, {"rank": [1, 2, 3, 4, 5], "axis": [0, 1, 2, 3, -1, -2, -3], "dtype": [F32, F16], "open": [False, True]}, lambda rank, axis, **_: -rank <= axis < rank):
        x = reals(op + name, SHAPES[c["rank"]], -5, 5, c["dtype"], dyn=(0,) if c["open"] else ())
        e = np.exp(real(x) - real(x).max(axis=c["axis"], keepdims=True))
        PAIRS.case(op, name, [x], [Real(f(e / e.sum(axis=c["axis"], keepdims=True)), c["dtype"], dyn=(0,) if c["open"] else ())], [param(op + "_AXIS", c["axis"], I64)])

for name, c in all_pairs("argmax", {"rank": [1, 2, 3, 4], "axis": [NO, 0, 1, 2, -1, -2], "keep": [NO, False, True], "k": [NO, 1, 3], "value": [NO, False, True], "dtype": [F32, I8]},
                         lambda rank, axis, keep, k, **_: axis is NO or -rank <= axis < rank):
    x, axis = ints("argmax" + name, SHAPES[c["rank"]], -9, 9, c["dtype"], q=Q(0.5, 3) if c["dtype"] == I8 else None), -1 if c["axis"] is NO else c["axis"]
    k = c["k"] or 1
    if k > x.value.shape[axis]:
        continue
    order = np.argsort(-x.value.astype(I32), axis=axis, kind="stable").take(range(k), axis=axis)
    v = np.take_along_axis(x.value, order, axis)
    if k == 1 and not c["keep"]:
        order, v = order.squeeze(axis), v.squeeze(axis)
    if order.ndim == 0 or np.unique(v if c["value"] else order).size < 2 and order.size > 1:
        continue
    ps = [param("ARG_MAX_" + n, c[key], d) for n, key, d in (("AXIS", "axis", I64), ("KEEPDIMS", "keep", BOOL), ("TOP_K", "k", I64), ("OUT_MAX_VALUE", "value", BOOL)) if c[key] is not NO]
    PAIRS.case("ARG_MAX", name, [x], [Exact(v, c["dtype"], x.q) if c["value"] else Exact(order, I32)], ps)
for name, c in all_pairs("topk", {"rank": [1, 2, 3, 4], "axis": [NO, 0, 1, 2, -1, -2], "sorted": [NO, True, False], "k": [1, 2, 3], "dtype": [F32, I8], "index": [I32, I64, I8]}, lambda rank, axis, **_: axis is NO or -rank <= axis < rank):
    x, axis, k = ints("topk" + name, SHAPES[c["rank"]], -9, 9, c["dtype"], q=Q(0.5, 3) if c["dtype"] == I8 else None), -1 if c["axis"] is NO else c["axis"], c["k"]
    if k > x.value.shape[axis]:
        continue
    order = np.argsort(-x.value.astype(I32), axis=axis, kind="stable").take(range(k), axis=axis)
    if c["sorted"] is False:
        order = np.sort(order, axis=axis)
    v = np.take_along_axis(x.value, order, axis)
    if np.unique(v).size < 2 or np.unique(order).size < 2:
        continue
    ps = [param("TOP_K_" + n, c[key], d) for n, key, d in (("AXIS", "axis", I64), ("SORTED", "sorted", BOOL)) if c[key] is not NO]
    PAIRS.case("TOP_K", name, [x, const(np.array([k], c["index"]))], [Exact(v, c["dtype"], x.q), Exact(order, I32)], ps)

for name, c in all_pairs("matmul", {"a": [(5, 6), (3, 5, 6), (2, 3, 5, 6), (1, 5, 6)], "b": [(6, 7), (3, 6, 7), (2, 1, 6, 7), (1, 6, 7)], "ta": [NO, False, True], "tb": [NO, False, True], "act": [NO, 0, 1, 2], "ca": [False, True], "cb": [False, True],
                                    "dtype": [F32, I8, U8]}, lambda ca, cb, **_: not (ca and cb)):
    flip = lambda s, yes: (*s[:-2], s[-1], s[-2]) if yes else s
    t = lambda v, yes: v.swapaxes(-1, -2) if yes else v
    dtype = c["dtype"]
    a, b = coded("mma" + name, flip(c["a"], c["ta"]), dtype, -16, 12), coded("mmb" + name, flip(c["b"], c["tb"]), dtype, -8, 8, 8)
    a.const, b.const = c["ca"], c["cb"]
    y = ACT[c["act"] or 0](t(real(a), c["ta"]) @ t(real(b), c["tb"]) / (1 if dtype == F32 else 64))
    if dtype != F32:
        a.q.scale, b.q.scale = a.q.scale / 8, b.q.scale / 8
    ps = [param("MATMUL_" + n, c[key], d) for n, key, d in (("TRANSPOSE_A", "ta", BOOL), ("TRANSPOSE_B", "tb", BOOL), ("ACTIVATION_TYPE", "act", I8)) if c[key] is not NO]
    if np.unique(y).size > 2:
        PAIRS.case("MATMUL", name, [a, b], [like(y, dtype, 1 / 16 if c["act"] == 2 else 0.25, -60 if c["act"] == 2 else 7)], ps)
for name, c in all_pairs("fc", {"x": [(4, 6), (2, 2, 6), (3, 2, 1, 6)], "axis": [NO, 1, 2], "bias": [NO, False, True], "act": [NO, 0, 1, 2], "cw": [True, False], "dtype": [F32, I8, U8]}, lambda x, axis, **_: axis is NO or axis < len(x)):
    dtype, axis = c["dtype"], c["axis"]
    k = int(np.prod(c["x"][axis:])) if axis else 6
    x, w = coded("fcx" + name, c["x"], dtype, -16, 12), coded("fcw" + name, (5, k), dtype, -8, 8, 0)
    x.q, w.q = (None, None) if dtype == F32 else (Q(2.0**-5, x.q.zero), Q(2.0**-5, w.q.zero))
    w.const = c["cw"]
    b = ints("fcb" + name, (5,), -30, 30, F32 if dtype == F32 else I32, const=True)
    y = real(x).reshape(-1, k) @ real(w).T + (b.value * (1 if dtype == F32 else 2.0**-10) if c["bias"] else 0)
    y = ACT[c["act"] or 0](y)
    y = y.reshape(*c["x"][:axis], 5) if axis else y
    ps = [param("FULL_CONNECTION_" + n, c[key], d) for n, key, d in (("HAS_BIAS", "bias", BOOL), ("AXIS", "axis", I64), ("ACTIVATIONTYPE", "act", I8)) if c[key] is not NO]
    ps += [param("FULL_CONNECTION_USE_AXIS", True, BOOL)] if axis else []
    if np.unique(y).size > 2:
        PAIRS.case("FULL_CONNECTION", name, [x, w] + ([b] if c["bias"] else []), [like(y, dtype, 1 / 16, -60 if c["act"] == 2 else 7)], ps)

for op, f, key in (("ADD", np.add, "ACTIVATIONTYPE"), ("SUB", np.subtract, "ACTIVATIONTYPE"), ("MUL", np.multiply, "ACTIVATION_TYPE"), ("DIV", np.divide, "ACTIVATIONTYPE")):
    for name, c in all_pairs(op, {"a": [(2, 3, 5, 7), (5, 7), (2, 1, 5, 1), (7,)], "b": [(2, 3, 5, 7), (3, 1, 7), (1,), (5, 1), (7,)], "act": [NO, 0, 1, 2], "ca": [False, True], "cb": [False, True], "dtype": [F32, I8, U8]}, lambda ca, cb, **_: not (ca and cb)):
        dtype = c["dtype"]
        if op == "DIV" and dtype != F32:
            continue
        a, b = coded(op + "a" + name, c["a"], dtype, -30, 44), coded(op + "b" + name, c["b"], dtype, 3 if op == "DIV" else -30, 40, 9)
        a.const, b.const = c["ca"], c["cb"]
        if dtype != F32 and op == "MUL":
            a.q.scale, b.q.scale = a.q.scale / 4, b.q.scale / 2
        y = ACT[c["act"] or 0](f(real(a), real(b)))
        if np.unique(y).size > 2:
            PAIRS.case(op, name, [a, b], [like(y, dtype, 1 / 16 if c["act"] == 2 else 0.5, -80 if c["act"] == 2 else 7, exact=op != "DIV")], [] if c["act"] is NO else [param(f"{op}_{key}", c["act"], I8)])

for name, c in all_pairs("scale", {"rank": [2, 3, 4], "axis": [0, 1, 2, -1, -2], "more": [1, 2], "act": [NO, 0, 1, 2], "const": [True, False]}, lambda rank, axis, more, **_: -rank <= axis and axis % rank + more <= rank and axis < rank):
    shape, axis = SHAPES[c["rank"]], c["axis"] % c["rank"]
    x = ints("SC" + name, shape, -12, 12, step=0.25)
    s, b = (ints(f"SC{k}" + name, shape[axis:axis + c["more"]], -9, 9, step=0.5, const=c["const"]) for k in "sb")
    spread = lambda v: v.reshape(v.shape + (1,) * (c["rank"] - axis - c["more"]))
    y = ACT[c["act"] or 0](x.value * spread(s.value) + spread(b.value))
    PAIRS.case("SCALE", name, [x, s, b], [Exact(y)], [param("SCALE_AXIS", c["axis"], I64)] + ([] if c["act"] is NO else [param("SCALE_ACTIVATIONTYPE", c["act"], I8)]))

for name, c in all_pairs("l2", {"rank": [1, 2, 3, 4], "axes": [NO, [0], [-1], [1], [0, 1], [-1, 0]], "epsilon": [NO, 0.5, 40.0], "act": [NO, 0, 1, 2]}, lambda rank, axes, **_: axes is NO or len({a % rank for a in axes}) == len(axes) and all(-rank <= a < rank for a in axes)):
    x = reals("L2" + name, SHAPES[c["rank"]], -2, 3)
    v = x.value.astype(F64)
    y = v / np.sqrt(np.maximum(np.square(v).sum(axis=NO if c["axes"] is NO else tuple(c["axes"]), keepdims=True), F64(F32(c["epsilon"] or 1e-6))))
    ps = [param("L2_NORMALIZE_" + n, c[key], d) for n, key, d in (("AXIS", "axes", I64), ("EPSILON", "epsilon", F32), ("ACTIVATION_TYPE", "act", I8)) if c[key] is not NO]
    PAIRS.case("L2_NORMALIZE", name, [x], [Real(ACT[c["act"] or 0](y))], ps)

for name, c in all_pairs("exp", {"base": [NO, -1.0, 2.0, 0.5, 10.0], "scale": [NO, 1.0, 0.5, -2.0], "shift": [NO, 0.0, 1.5, -0.75], "rank": [1, 3]}):
    x = reals("EXP" + name, SHAPES[c["rank"]], -1.5, 2)
    base, scale, shift = (-1 if c["base"] is NO else c["base"]), 1 if c["scale"] is NO else c["scale"], c["shift"] or 0
    y = np.exp(shift + scale * x.value.astype(F64)) if base == -1 else np.power(base, shift + scale * x.value.astype(F64))
    PAIRS.case("EXP", name, [x], [Real(y)], [param("EXP_" + n, c[key], F32) for n, key in (("BASE", "base"), ("SCALE", "scale"), ("SHIFT", "shift")) if c[key] is not NO])
for name, c in all_pairs("pow", {"scale": [NO, 1.0, 2.0], "shift": [NO, 0.0, 0.5], "y": [2.0, 3.0, 0.5, -1.0, 1.0], "shape": [(1,), (3, 5, 4), (4,), (5, 1)], "const": [True, False]}):
    x, e = reals("POW" + name, (3, 5, 4), 0.25, 2), np.full(c["shape"], c["y"], F32)
    if e.size > 1:
        e.flat[0] += 1
    y = ((c["scale"] or 1) * x.value.astype(F64) + (c["shift"] or 0)) ** e
    PAIRS.case("POW", name, [x, known(c["const"], e)], [Real(y)] , [param("POW_" + n, c[key], F32) for n, key in (("SCALE", "scale"), ("SHIFT", "shift")) if c[key] is not NO]) if np.abs(y - x.value).max() > 0 else None
for name, c in all_pairs("lrn", {"r": [0, 1, 2, 4], "bias": [1.0, 2.5], "alpha": [0.25, 1.5], "beta": [0.5, 0.75, 1.0], "c": [1, 3, 5, 9]}):
    from network import lrn
    x = reals("LRN" + name, (1, 2, 3, c["c"]), -2, 3)
    ps = [param("LRN_DEPTH_RADIUS", c["r"], I64), param("LRN_BIAS", c["bias"], F32), param("LRN_ALPHA", c["alpha"], F32), param("LRN_BETA", c["beta"], F32)]
    PAIRS.case("LRN", name, [x], [Real(lrn(x.value.astype(F64), c["r"], c["bias"], c["alpha"], c["beta"]))], ps)
