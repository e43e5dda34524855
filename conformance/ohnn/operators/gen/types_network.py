"""Reductions, windows, matrix products, normalization, recurrent and detection operators in every type they compute in."""

import math

import numpy as np

from case import BOOL, F16, F32, F64, I8, I32, I64, Q, T, const, param, scalar_param
from binary import ACT
from kinds import ALL, NUMBERS, REALS, U32, U64, Kind, covering, data, integers, judge, result, wide
from network import batch_norm, detect, instance_norm, layer_norm, lrn, lstm
from reduction import log_softmax, softmax
from spatial import conv, conv_params, conv_transpose, pool, resize

WIDE_INTEGERS = [Kind(d) for d in (I32, I64, U32, U64)]
ROWS = const(np.array([1], I32))


def fold(f):
    """A reduction of the rows of an array of Python's integers."""
    return lambda x: np.array([[f(row)] for row in x.tolist()], object)


def mean(row):
    return abs(sum(row)) // len(row) * (1 if sum(row) >= 0 else -1)


# operator: kinds, function on a row of integers, on reals
REDUCTIONS = [
    ("REDUCE_SUM", NUMBERS, sum, lambda x: x.sum(1, keepdims=True)), ("REDUCE_MEAN", NUMBERS, mean, lambda x: x.mean(1, keepdims=True)),
    ("REDUCE_PROD", NUMBERS, math.prod, lambda x: x.prod(1, keepdims=True)), ("REDUCE_MAX", ALL, max, lambda x: x.max(1, keepdims=True)),
    ("REDUCE_MIN", ALL, min, lambda x: x.min(1, keepdims=True)),
]
for op, kinds, fi, fr in REDUCTIONS:
    ps = [param(op + "_KEEP_DIMS", True, BOOL)]
    for kind in kinds:
        x = data(kind, op, (3, 4), 0.4, 2.1) if op == "REDUCE_PROD" else data(kind, op, (3, 4), huge=op in ("REDUCE_MAX", "REDUCE_MIN"))
        if kind.bool:
            x = T(np.array([[0, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]], BOOL))
        elif kind.integer:
            x.value.flat[:4] = np.array([np.iinfo(kind.dtype).max] * 3 + [1], kind.dtype)
            if op == "REDUCE_PROD":
                x.value[2] = [3, 5, 7, 2]
        judge(op, kind, [x, ROWS], [result(kind, fr(wide(x)) if kind.real else fold(fi)(x.value.astype(object)))], ps)
for op, _, _, _ in REDUCTIONS:
    f = getattr(np, {"REDUCE_SUM": "sum", "REDUCE_MEAN": "mean", "REDUCE_PROD": "prod", "REDUCE_MAX": "max", "REDUCE_MIN": "min"}[op])
    for kind in REALS:
        x = data(kind, op + " end", (3, 2, 2), 0.5, 1.5)
        ps = [param(op + "_REDUCE_TO_END", True, BOOL), param(op + "_COEFF", 2.5, F32)]
        judge(op, kind, [x, ROWS], [result(kind, 2.5 * f(wide(x), axis=(1, 2)), 1.1)], ps, None, "_to_the_end_coefficient")
for kind in NUMBERS:
    x = data(kind, "REDUCE_L2", (3, 4), -2, 2)
    if kind.integer:
        top = np.iinfo(kind.dtype).max
        x = T(np.array([[2, 3, 6, 0], [10, 20, 30, 40], [1, 1, 1, 0], [top, top, 0, 0]], kind.dtype))
    y = np.sqrt((wide(x).astype(F64) ** 2).sum(1, keepdims=True))
    if kind.integer:
        y = np.array([[min(int(v), int(top))] for v in y[:, 0]], kind.dtype)
    judge("REDUCE_L2", kind, [x, ROWS], [T(y) if kind.integer else result(kind, y, 1.1)], [param("REDUCE_L2_KEEP_DIMS", True, BOOL)])

for kind in NUMBERS:
    x = data(kind, "RANKING", (3, 5), huge=True)
    if kind.integer:
        x.value[1] = x.value[1][::-1]
    v = wide(x) if kind.quantized else x.value
    order = np.array([sorted(range(5), key=lambda k: (-row[k], k)) for row in (v.astype(F64) if kind.real else v.astype(object)).tolist()])
    most = order[:, :1].astype(I32)
    judge("ARG_MAX", kind, [x], [T(most[:, 0])])
    q = covering(-3.5, 3.2, kind.dtype) if kind.quantized else None
    pick = lambda n: result(kind, np.take_along_axis(v, order[:, :n], 1), q=q) if kind.quantized else T(np.take_along_axis(v, order[:, :n], 1))
    judge("ARG_MAX", kind, [x], [pick(2)], [param("ARG_MAX_TOP_K", 2, I64), param("ARG_MAX_OUT_MAX_VALUE", True, BOOL)], more="_values")
    judge("TOP_K", kind, [x, const(np.array([3], I32))], [pick(3), T(order[:, :3].astype(I32))])
x = np.array([[False, True, True], [False, False, False], [False, False, True]])
judge("ARG_MAX", Kind(BOOL), [T(x)], [T(x.argmax(1).astype(I32))])

# --- normalization along an axis
for op, f in (("SOFTMAX", softmax), ("LOG_SOFTMAX", log_softmax)):
    for kind in REALS:
        x = data(kind, op, (3, 5), -4, 4)
        judge(op, kind, [x], [result(kind, f(wide(x), 1))], [param(op + "_AXIS", 1, I64)])
for kind in REALS:
    x = data(kind, "L2", (3, 4), -2, 2)
    r = wide(x)
    y = r / np.sqrt((r * r).sum(1, keepdims=True))
    judge("L2_NORMALIZE", kind, [x], [result(kind, y)], [param("L2_NORMALIZE_AXIS", [1], I64)])
    judge("L2_NORMALIZE", kind, [x], [result(kind, ACT[1](y))], [param("L2_NORMALIZE_AXIS", [1], I64), param("L2_NORMALIZE_ACTIVATION_TYPE", 1, I8)], None, "_activation_1")
    x = data(kind, "LRN", (2, 1, 2, 5), -2, 2)
    ps = [param("LRN_DEPTH_RADIUS", 1, I64), param("LRN_BIAS", 1.0, F32), param("LRN_ALPHA", 0.5, F32), param("LRN_BETA", 0.75, F32)]
    judge("LRN", kind, [x], [result(kind, lrn(wide(x), 1, 1.0, 0.5, 0.75))], ps)
    x, side = data(kind, "NORM", (2, 3, 4), -3, 3), [data(kind, "NORM " + k, (4,), lo, hi) for k, lo, hi in (("s", 0.5, 2), ("o", -1, 1), ("m", -1, 1), ("v", 0.2, 2))]
    fixed = [const(t.value, t.q) for t in side]
    judge("BATCH_NORM", kind, [x, *fixed], [result(kind, batch_norm(F64(F32(1e-4)))(wide(x), *map(wide, side)))])
    ps = [scalar_param("LAYER_NORM_BEGIN_NORM_AXIS", 2, I64), scalar_param("LAYER_NORM_BEGIN_PARAM_AXIS", 2, I64)]
    judge("LAYER_NORM", kind, [x, *fixed[:2]], [result(kind, layer_norm(2, F64(F32(1e-7)))(wide(x), *map(wide, side[:2])))], ps)
    x = data(kind, "INSTANCE_NORM", (2, 4, 3), -3, 3)
    judge("INSTANCE_NORM", kind, [x, *fixed[:2]], [result(kind, instance_norm(F64(F32(0.01)), 1)(wide(x), *map(wide, side[:2])))], [param("INSTANCE_NORM_EPSILON", 0.01, F32)])

# --- windows
for kind in NUMBERS:
    x = data(kind, "MAX_POOL", (1, 4, 4, 2), huge=True)
    ps = [param("MAX_POOL_KERNEL_SIZE", (2, 2), I64), param("MAX_POOL_STRIDE", (2, 2), I64)]
    v = wide(x) if kind.quantized else x.value
    y = v.reshape(1, 2, 2, 2, 2, 2).max(axis=(2, 4))
    judge("MAX_POOL", kind, [x], [result(kind, y, q=covering(-3.5, 3.2, kind.dtype)) if kind.quantized else T(y)], ps, dims=(1, 2))
    y = np.minimum(np.maximum(y, 0), 6) if kind.real else np.minimum(np.maximum(y.astype(object), 0), 6)
    judge("MAX_POOL", kind, [x], [result(kind, y)], ps + [param("MAX_POOL_ACTIVATION_TYPE", 2, I8)], None, "_activation_2")
for kind in REALS:
    x = data(kind, "AVG_POOL", (1, 4, 4, 2))
    ps = [param("AVG_POOL_KERNEL_SIZE", (3, 3), I64), param("AVG_POOL_STRIDE", (2, 2), I64), param("AVG_POOL_PAD_MODE", 0, I8)]
    y = pool("AVG_POOL", wide(x), (3, 3), (2, 2), 0)
    judge("AVG_POOL", kind, [x], [result(kind, y)], ps, dims=(1, 2))
    judge("AVG_POOL", kind, [x], [result(kind, ACT[1](y))], ps + [param("AVG_POOL_ACTIVATION_TYPE", 1, I8)], None, "_activation_1")


def low_bits(kind, name, shape):
    """Numbers of the whole range as 64 bits that wrap around."""
    x = data(kind, name, shape)
    return x, x.value.astype(U64)


def weighted(op, kind, xs, ws, f, params, dims=(0,), out_channels=0, bias=True):
    """An operator of x, weight and bias: integers add modulo their width; quantized ones have an int32 bias of scale sx sw."""
    n = ws[out_channels]
    if kind.integer:
        (x, a), (w, b), (c, d) = low_bits(kind, op + "x", xs), low_bits(kind, op + "w", ws), low_bits(kind, op + "b", (n,))
        y = f(a, b, d if bias else U64(0)).astype(kind.dtype)
        outs = [T(y)] + [T(np.maximum(y, 0)), T(np.clip(y, 0, 6))]
    else:
        qw = Q(F32(0.012), 0 if kind.dtype == I8 else 120) if kind.quantized else None
        x, w, c = data(kind, op + "x", xs, -2, 2), data(kind, op + "w", ws, -1, 1, q=qw), data(kind, op + "b", (n,), -1, 1)
        if kind.quantized:
            c = T(integers(np.random.default_rng(n), I8, (n,)).astype(I32) * 3)
            real = c.value * (x.q.scale[0].astype(F32).astype(F64) * qw.scale[0].astype(F32).astype(F64))
        else:
            real = wide(c)
        y = f(wide(x), wide(w), real if bias else 0)
        outs = [result(kind, ACT[act](y)) for act in (0, 1, 2)]
    ins = [x, const(w.value, w.q)] + ([const(c.value, c.q)] if bias else [])
    judge(op, kind, ins, outs[:1], params, dims)
    name = {"FULL_CONNECTION": "FULL_CONNECTION_ACTIVATIONTYPE"}.get(op, op + "_ACTIVATION_TYPE")
    for act in (1, 2):
        judge(op, kind, ins, outs[act:act + 1], params + [param(name, act, I8)], None, f"_activation_{act}")


def transposed_integers(x, w, b, strides):
    """The transposed convolution without padding in 64 bits that wrap around."""
    n, h, wd, _ = x.shape
    o, kh, kw, _ = w.shape
    y = np.zeros((n, (h - 1) * strides[0] + kh, (wd - 1) * strides[1] + kw, o), U64)
    for i, j, r, q in np.ndindex(h, wd, kh, kw):
        y[:, i * strides[0] + r, j * strides[1] + q] += x[:, i, j] @ w[:, r, q].T
    return y + b


for kind in WIDE_INTEGERS + REALS:
    o = {"mode": 0, "strides": (2, 1)}
    weighted("CONV2D", kind, (1, 4, 3, 2), (3, 2, 2, 2), lambda x, w, b: conv(x, w, b, **o), conv_params("CONV2D", o), (0, 1, 2))
    weighted("DEPTHWISE_CONV2D_NATIVE", kind, (1, 4, 3, 2), (4, 2, 2, 1), lambda x, w, b: conv(x, w, b, group=2, **o), conv_params("DEPTHWISE_CONV2D_NATIVE", o), (0, 1, 2))
    t = {"strides": (2, 1)}
    f = conv_transpose if kind.real else transposed_integers
    weighted("CONV2D_TRANSPOSE", kind, (1, 2, 3, 2), (3, 2, 2, 2), lambda x, w, b: f(x, w, b, **t), conv_params("CONV2D_TRANSPOSE", t), (0, 1, 2))
    weighted("FULL_CONNECTION", kind, (3, 4), (5, 4), lambda x, w, b: x @ w.T + b, [param("FULL_CONNECTION_HAS_BIAS", True, BOOL)])
    weighted("MATMUL", kind, (3, 4), (4, 5), lambda x, w, b: x @ w, [], bias=False)

for kind in NUMBERS:
    x = data(kind, "RESIZE", (1, 2, 3, 1), 0, 5)
    ps = [param("RESIZE_BILINEAR_NEW_HEIGHT", 3, I64), param("RESIZE_BILINEAR_NEW_WIDTH", 4, I64)]
    if kind.integer:
        x = T(np.array([0, 9, 100, 50, 73, 127], kind.dtype).reshape(1, 2, 3, 1))
    y = resize(wide(x).astype(F64), 3, 4, 0)
    tol = {"rel": 1e-5, "abs": 1e-6} if kind.dtype == F64 else {}  # coordinates are float32
    judge("RESIZE_BILINEAR", kind, [x], [result(kind, np.trunc(y).astype(I64).astype(object)) if kind.integer else result(kind, y)], ps, (0, 1, 2), **tol)

# --- recurrent
for kind in REALS:
    t, b, i, h = 2, 1, 2, 2
    xs = [data(kind, f"LSTM{k}", s, -1, 1) for k, s in enumerate(((t, b, i), (1, 4 * h, i), (1, 4 * h, h), (1, 8 * h), (1, b, h), (1, b, h)))]
    outs = lstm(*map(wide, xs), 0.0, 0.0)
    ps = [param("LSTM_HAS_BIAS", True, BOOL), param("LSTM_HIDDEN_SIZE", h, I64)]
    judge("LSTM", kind, xs[:1] + [const(v.value, v.q) for v in xs[1:4]] + xs[4:], [result(kind, y) for y in outs], ps)

# --- detection: results are floats
for kind in REALS:
    op = "DETECTION_POST_PROCESS"
    q = Q(1 / 256, -128 if kind.dtype == I8 else 0) if kind.quantized else None
    box, score, anchor = data(kind, op, (1, 4, 4), -0.8, 0.8), data(kind, op + "s", (1, 4, 3), 0, 1, q=q), None
    step = np.arange(12).reshape(1, 4, 3) * 5 % 12 / 12  # far apart
    score = T(q.quantize(step, kind.dtype), q) if kind.quantized else T(step.astype(kind.dtype))
    grid = np.array([[0.2, 0.2, 0.3, 0.25], [0.2, 0.7, 0.3, 0.25], [0.7, 0.2, 0.3, 0.25], [0.7, 0.7, 0.3, 0.25]])
    qa = Q(1 / 256, -128 if kind.dtype == I8 else 0) if kind.quantized else None
    anchor = T(qa.quantize(grid, kind.dtype), qa) if kind.quantized else T(grid.astype(kind.dtype))
    scale = [10.0, 10.0, 5.0, 5.0]
    outs = detect(wide(box), wide(score), wide(anchor), np.array(scale), 0.5, F64(F32(0.3)), 4, 1, 4, 3, False)
    ps = [param(op + "_SCALE", scale, F32), param(op + "_NMS_IOU_THRESHOLD", 0.5, F32), param(op + "_NMS_SCORE_THRESHOLD", 0.3, F32), param(op + "_MAX_DETECTIONS", 4, I64),
          param(op + "_DETECTIONS_PER_CLASS", 4, I64), param(op + "_MAX_CLASSES_PER_DETECTION", 1, I64), param(op + "_NUM_CLASSES", 3, I64)]
    judge(op, kind, [box, score, const(anchor.value, anchor.q)], [T(o.astype(F32)) for o in outs], ps, (1,), rel=1e-5, abs=1e-6)
