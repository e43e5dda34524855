"""Reductions, arg max, top k, softmax and its relatives."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I32, I64, Q, T, case, const, param, reject, rng

SPOTS = (
    ("last", (3, 4), [-1], False), ("first_keep", (3, 4), [0], True), ("two_of_four", (2, 3, 2, 3), [1, 2], False), ("two_keep", (2, 3, 4), [0, 2], True),
    ("all_axes", (2, 3, 2), [0, 1, 2], True), ("rank1_keep", (7,), [0], True), ("negative_pair", (2, 2, 3, 2), [-1, -3], True), ("middle", (2, 3, 4), [1], False),
)
FUNCS = {
    "REDUCE_MEAN": lambda x, a, k: x.mean(axis=a, keepdims=k), "REDUCE_SUM": lambda x, a, k: x.sum(axis=a, keepdims=k),
    "REDUCE_MAX": lambda x, a, k: x.max(axis=a, keepdims=k), "REDUCE_MIN": lambda x, a, k: x.min(axis=a, keepdims=k),
    "REDUCE_PROD": lambda x, a, k: x.prod(axis=a, keepdims=k), "REDUCE_L2": lambda x, a, k: np.sqrt(np.square(x).sum(axis=a, keepdims=k)),
}


def f32(name, shape, lo=-2, hi=2, dtype=F32):
    return rng(name).uniform(lo, hi, shape).astype(dtype)


for op, f in FUNCS.items():
    for tag, shape, axes, keep in SPOTS:
        x = f32(op + tag, shape, 0.4, 2) if op == "REDUCE_PROD" else f32(op + tag, shape)
        y = f(x.astype(F64), tuple(axes), keep).astype(F32)
        case(op, "f32_" + tag, [T(x), const(np.array(axes, I32))], [T(y)], [param(op + "_KEEP_DIMS", keep, BOOL)])
    x = f32(op + "default", (3, 4), 0.5, 2)
    case(op, "f32_default_drops_the_axis", [T(x), const(np.array([1], I32))], [T(f(x.astype(F64), (1,), False).astype(F32))])
    case(op, "f32_axis_of_rank_0", [T(x), const(np.array(0, I32))], [T(f(x.astype(F64), (0,), False).astype(F32))])
    for n in (2, 5):
        x = f32(f"{op}dyn{n}", (n, 4), 0.5, 2)
        case(op, f"f32_dynamic_{n}", [T(x, dyn=(0,)), const(np.array([1], I32))], [T(f(x.astype(F64), (1,), True).astype(F32), dyn=(0,))],
             [param(op + "_KEEP_DIMS", True, BOOL)])
    for dtype in (F16, F64):
        x = f32(op + str(dtype), (3, 5), 0.5, 2, dtype)
        case(op, f"{np.dtype(dtype)}", [T(x), const(np.array([1], I32))], [T(f(x.astype(F64), (1,), True).astype(dtype))], [param(op + "_KEEP_DIMS", True, BOOL)])
    if op in ("REDUCE_SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for dtype in (I32, I64):
            x = rng(op + str(dtype)).integers(-3, 4, (3, 4)).astype(dtype)
            x = np.where(x == 0, 2, x).astype(dtype)
            case(op, f"{np.dtype(dtype)}", [T(x), const(np.array([1], I32))], [T(f(x, (1,), True).astype(dtype))], [param(op + "_KEEP_DIMS", True, BOOL)])
    if op != "REDUCE_PROD":
        qx, qy = Q(F32(4 / 255), 3), Q(F32(10 / 255), -7)
        x = qx.quantize(f32(op + "q", (3, 6)), I8)
        case(op, "i8_quantized", [T(x, qx), const(np.array([1], I32))], [T(qy.quantize(f(qx.real(x), (1,), True), I8), qy)], [param(op + "_KEEP_DIMS", True, BOOL)])
    x = f32(op + "end", (2, 3, 4), 0.5, 1.5)
    for tag, coeff in (("", 0.0), ("_coefficient", 2.5)):
        ps = [param(op + "_REDUCE_TO_END", True, BOOL), param(op + "_COEFF", coeff, F32)]
        y = f(x.astype(F64), (1, 2), False) * (coeff or 1)
        case(op, "f32_to_the_end" + tag, [T(x), const(np.array([1], I32))], [T(y.astype(F32))], ps)
    y = f(x.astype(F64), (2,), False).astype(F32)
    case(op, "f32_coefficient_without_to_the_end_is_ignored", [T(x), const(np.array([2], I32))], [T(y)], [param(op + "_COEFF", 3.0, F32)])
    reject(op, "to_the_end_of_two_axes", "build", [1], [T(x), const(np.array([0, 1], I32))], [T(x[0, 0])], [param(op + "_REDUCE_TO_END", True, BOOL)])
    reject(op, "axis_outside", "build", [1], [T(x), const(np.array([3], I32))], [T(x[0])])
    reject(op, "one_input", "add", [2], [T(x)], [T(x[0])])
    reject(op, "keep_dims_of_int64", "add", [2], [T(x), const(np.array([1], I32))], [T(x[0])], [param(op + "_KEEP_DIMS", 1, I64)])

for tag, shape, axes, keep in SPOTS:
    x = rng("all" + tag).random(shape) < 0.75
    x.flat[0] = True
    axes_t = tuple(axes)
    if x.ndim == 1 or len(axes) == x.ndim:
        x = np.concatenate([x, x[:0]])
        x[...] = True
        other = x.copy()
        other.flat[-1] = False
        case("REDUCE_ALL", f"bool_{tag}_one_false", [T(other), const(np.array(axes, I32))], [T(other.all(axis=axes_t, keepdims=keep))], [param("REDUCE_ALL_KEEP_DIMS", keep, BOOL)])
        continue
    case("REDUCE_ALL", "bool_" + tag, [T(x), const(np.array(axes, I32))], [T(x.all(axis=axes_t, keepdims=keep))], [param("REDUCE_ALL_KEEP_DIMS", keep, BOOL)])
x = np.array([[True, True], [True, False], [False, False]])
case("REDUCE_ALL", "bool_dynamic", [T(x, dyn=(0,)), const(np.array([1], I32))], [T(x.all(axis=1), dyn=(0,))])
x3 = np.array([[[True, True], [True, True]], [[True, False], [True, True]]])
case("REDUCE_ALL", "bool_to_the_end", [T(x3), const(np.array([1], I32))], [T(x3.all(axis=(1, 2)))], [param("REDUCE_ALL_REDUCE_TO_END", True, BOOL)])
reject("REDUCE_ALL", "one_input", "add", [2], [T(x)], [T(x)])
reject("REDUCE_ALL", "axis_outside", "build", [1], [T(x), const(np.array([2], I32))], [T(x[0])])

for tag, shape, axis in (("rank2_last", (3, 4), 1), ("rank3_middle", (2, 3, 2), 1), ("rank2_first", (3, 4), 0), ("negative", (2, 3, 2), -1), ("rank4", (2, 2, 2, 2), 2)):
    for keep in (0, 1):
        x = rng(f"all{tag}{keep}").random(shape) < 0.7
        x.flat[0], x.flat[-1] = True, False
        y = x.all(axis=axis, keepdims=bool(keep))
        y = y if y.any() else np.logical_or(x, True).all(axis=axis, keepdims=bool(keep))
        x = x if x.all(axis=axis).any() else np.ones(shape, BOOL)
        if x.all():
            x.flat[-1] = False
        case("ALL", f"bool_{tag}_keep{keep}", [T(x), const(np.array([axis], I32))], [T(x.all(axis=axis, keepdims=bool(keep)))], [param("ALL_KEEP_DIMS", keep, I64)])
x = np.array([[True, True], [True, False], [False, False]])
case("ALL", "bool_dynamic", [T(x, dyn=(0,)), const(np.array([1], I32))], [T(x.all(axis=1), dyn=(0,))])
case("ALL", "axis_of_rank_0", [T(x), const(np.array(1, I32))], [T(x.all(axis=1))])
reject("ALL", "keep_dims_of_bool", "add", [2], [T(x), const(np.array([1], I32))], [T(x[:, 0])], [param("ALL_KEEP_DIMS", True, BOOL)])
reject("ALL", "axis_outside", "build", [1], [T(x), const(np.array([2], I32))], [T(x[:, 0])])

for tag, shape, axis in (("rank1", (6,), 0), ("rank2_last", (3, 5), -1), ("rank2_first", (4, 3), 0), ("rank3", (2, 4, 3), 1), ("rank4", (1, 2, 2, 5), 3)):
    for dtype in (F32, F16, I32):
        g = rng(f"argmax{tag}{dtype}")
        x = g.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
        for keep in (False, True):
            if len(shape) == 1 and not keep:
                continue
            y = np.expand_dims(x.argmax(axis=axis), axis) if keep else x.argmax(axis=axis)
            case("ARG_MAX", f"{np.dtype(dtype)}_{tag}_keep{int(keep)}", [T(x)], [T(y.astype(I32))], [param("ARG_MAX_AXIS", axis, I64), param("ARG_MAX_KEEPDIMS", keep, BOOL)])
x = np.array([[1, 5, 5, 2], [7, 7, 0, 1], [0, 1, 2, 9]], F32)
case("ARG_MAX", "f32_first_of_equals_default_axis", [T(x)], [T(x.argmax(axis=-1).astype(I32))])
case("ARG_MAX", "f32_dynamic", [T(x, dyn=(0,))], [T(x.argmax(axis=1).astype(I32), dyn=(0,))])
case("ARG_MAX", "f32_values", [T(x)], [T(x.max(axis=1))], [param("ARG_MAX_AXIS", 1, I64), param("ARG_MAX_OUT_MAX_VALUE", True, BOOL)])
order = np.argsort(-x, axis=1, kind="stable")[:, :2]
case("ARG_MAX", "f32_top_2", [T(x)], [T(order.astype(I32))], [param("ARG_MAX_AXIS", 1, I64), param("ARG_MAX_TOP_K", 2, I64)])
case("ARG_MAX", "f32_top_2_values", [T(x)], [T(np.take_along_axis(x, order, 1))],
     [param("ARG_MAX_AXIS", 1, I64), param("ARG_MAX_TOP_K", 2, I64), param("ARG_MAX_OUT_MAX_VALUE", True, BOOL)])
reject("ARG_MAX", "axis_outside", "build", [1], [T(x)], [T(np.zeros((3,), I32))], [param("ARG_MAX_AXIS", 2, I64)])
reject("ARG_MAX", "top_k_beyond", "build", [1], [T(x)], [T(np.zeros((3, 5), I32))], [param("ARG_MAX_TOP_K", 5, I64)])
reject("ARG_MAX", "keep_dims_of_int8", "add", [2], [T(x)], [T(np.zeros((3,), I32))], [param("ARG_MAX_KEEPDIMS", 0, I8)])


def top_k(x, k, axis, by_index=False):
    order = np.argsort(-x.astype(F64), axis=axis, kind="stable").take(range(k), axis=axis)
    if by_index:
        order = np.sort(order, axis=axis)
    return np.take_along_axis(x, order, axis), order.astype(I32)


for tag, shape, k, axis in (("rank1", (7,), 3, None), ("rank2", (3, 5), 2, None), ("rank3_middle", (2, 4, 3), 3, 1), ("rank4_first", (4, 1, 2, 2), 2, 0), ("negative", (2, 5, 2), 2, -2)):
    for dtype in (F32, F16, I32):
        g = rng(f"topk{tag}{dtype}")
        x = g.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
        ps = [] if axis is None else [param("TOP_K_AXIS", axis, I64)]
        v, i = top_k(x, k, -1 if axis is None else axis)
        case("TOP_K", f"{np.dtype(dtype)}_{tag}", [T(x), const(np.array(k, I32))], [T(v), T(i)], ps)
x = np.array([[1, 5, 5, 2], [7, 7, 0, 1], [0, 1, 2, 9]], F32)
for by in (False, True):
    v, i = top_k(x, 3, 1, by)
    case("TOP_K", "f32_equals_" + ("unsorted" if by else "sorted"), [T(x), const(np.array([3], I32))], [T(v), T(i)], [param("TOP_K_SORTED", not by, BOOL)])
for dtype in (I8, I64):
    v, i = top_k(x, 2, 1)
    case("TOP_K", f"k_of_{np.dtype(dtype)}", [T(x), const(np.array([2], dtype))], [T(v), T(i)])
case("TOP_K", "f32_dynamic", [T(x, dyn=(0,)), const(np.array([2], I32))], [T(v, dyn=(0,)), T(i, dyn=(0,))])
reject("TOP_K", "k_beyond", "build", [1], [T(x), const(np.array([5], I32))], [T(np.zeros((3, 5), F32)), T(np.zeros((3, 5), I32))])
reject("TOP_K", "one_output", "add", [2], [T(x), const(np.array([2], I32))], [T(v)])
reject("TOP_K", "axis_outside", "build", [1], [T(x), const(np.array([2], I32))], [T(v), T(i)], [param("TOP_K_AXIS", 2, I64)])


def softmax(x, a):
    e = np.exp(x - x.max(axis=a, keepdims=True))
    return e / e.sum(axis=a, keepdims=True)


def log_softmax(x, a):
    s = x - x.max(axis=a, keepdims=True)
    return s - np.log(np.exp(s).sum(axis=a, keepdims=True))


for op, f, default in (("SOFTMAX", softmax, -1), ("LOG_SOFTMAX", log_softmax, 0)):
    for tag, shape, axis in (("rank1", (6,), 0), ("rank2_last", (3, 5), 1), ("rank2_first", (3, 5), 0), ("rank3_middle", (2, 3, 4), 1), ("rank4_negative", (1, 2, 3, 4), -1),
                             ("rank4_spatial", (1, 2, 3, 4), 2)):
        for dtype in (F32, F16):
            x = f32(op + tag, shape, -4, 4, dtype)
            case(op, f"{np.dtype(dtype)}_{tag}", [T(x)], [T(f(x.astype(F64), axis).astype(dtype))], [param(op + "_AXIS", axis, I64)])
    x = np.array([[1000, 1001, 999], [-1000, -1000, -1001]], F32)
    case(op, "f32_large_values_stay_finite", [T(x)], [T(f(x.astype(F64), 1).astype(F32))], [param(op + "_AXIS", 1, I64)])
    x = f32(op + "default", (3, 4))
    case(op, "f32_default_axis", [T(x)], [T(f(x.astype(F64), default).astype(F32))])
    x = f32(op + "f64", (3, 4), dtype=F64)
    case(op, "f64", [T(x)], [T(f(x, 1))], [param(op + "_AXIS", 1, I64)])
    for n in (1, 6):
        x = f32(op + "dyn", (n, 4))
        case(op, f"f32_dynamic_{n}", [T(x, dyn=(0,))], [T(f(x.astype(F64), 1).astype(F32), dyn=(0,))], [param(op + "_AXIS", 1, I64)])
    qx = Q(F32(8 / 255), 5)
    qy = Q(F32(1 / 256), -128) if op == "SOFTMAX" else Q(F32(12 / 255), 120)
    xq = qx.quantize(f32(op + "q", (2, 6), -4, 4), I8)
    case(op, "i8_quantized", [T(xq, qx)], [T(qy.quantize(f(qx.real(xq), 1), I8), qy)], [param(op + "_AXIS", 1, I64)])
    x = f32(op, (3, 4))
    reject(op, "axis_outside", "build", [1], [T(x)], [T(x)], [param(op + "_AXIS", 2, I64)])
    reject(op, "axis_of_int32", "add", [2], [T(x)], [T(x)], [param(op + "_AXIS", 1, I32)])
    reject(op, "axis_of_two_elements", "add", [2], [T(x)], [T(x)], [param(op + "_AXIS", [0, 1], I64)])
