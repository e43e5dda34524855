"""Operators that move elements, make tensors or describe shapes, in every type: what is moved must stay as it is to the last bit, or, where the
quantization of the result differs, mean the same reals."""

import numpy as np

from case import F16, F32, F64, I8, I32, I64, U8, Q, T, const, param, reject
from kinds import ALL, QUANTIZED, SIGNED, UNSIGNED, Kind, covering, data, judge, result, wide
from movement import batch_to_space, depth_to_space, i32, space_to_batch, space_to_depth, unstack
from indexing import one_hot


def moved(kind, x, y):
    """y, whose numbers are those of x, as the kind of x: quantized differently, and otherwise unchanged."""
    if kind.quantized:
        return result(kind, x.q.real(y), q=covering(-3.5, 3.2, kind.dtype))
    return T(y)


def ints(name, *v):
    return param(name, v[0] if len(v) == 1 else v, I64)


# operator, shape of x, function, further inputs, parameters, dimensions the open case leaves open
MOVES = [
    ("RESHAPE", (2, 6), lambda x: x.reshape(3, 4), [i32(-1, 4)], [], (0,)), ("FLATTEN", (2, 3, 2), lambda x: x.reshape(2, 6), [], [], (0,)),
    ("SQUEEZE", (3, 1, 4), lambda x: x.reshape(3, 4), [], [param("SQUEEZE_AXIS", [1], I64)], (0,)),
    ("UNSQUEEZE", (3, 4), lambda x: x[:, None], [], [ints("UNSQUEEZE_AXIS", 1)], (0,)), ("EXPAND_DIMS", (3, 4), lambda x: x[:, None], [i32(1)], [], (0,)),
    ("TRANSPOSE", (3, 4), lambda x: x.T, [i32(1, 0)], [], (0, 1)), ("SLICE", (4, 5), lambda x: x[1:, 1:4], [i32(1, 1), i32(-1, 3)], [], (0,)),
    ("STRIDED_SLICE", (5, 4), lambda x: x[::2, 3:0:-1], [i32(0, 3), i32(5, 0), i32(2, -1)], [], (0,)),
    ("TILE", (2, 4), lambda x: np.tile(x, (2, 2)), [i32(2, 2)], [], (0,)), ("BROADCAST_TO", (3, 1, 4), lambda x: np.broadcast_to(x, (3, 2, 4)), [], [ints("BROADCAST_TO_SHAPE", 3, 2, 4)], (0,)),
    ("CROP", (4, 5), lambda x: x[1:4, 2:4], [i32(3, 2)], [ints("CROP_OFFSET", 1, 2)], (0,)),
    ("GATHER", (4, 3), lambda x: x[[3, 0, 0]], [i32(3, 0, 0), i32(0)], [], (0,)), ("GATHER_ND", (4, 3), lambda x: x[[3, 0], [2, 1]], [const(np.array([[3, 2], [0, 1]], I32))], [], (0,)),
    ("DEPTH_TO_SPACE", (2, 1, 2, 4), lambda x: depth_to_space(x, 2, 1), [], [ints("DEPTH_TO_SPACE_BLOCK_SIZE", 2), param("DEPTH_TO_SPACE_MODE", 1, I32)], (0, 1, 2)),
    ("SPACE_TO_DEPTH", (2, 2, 2, 2), lambda x: space_to_depth(x, 2), [], [ints("SPACE_TO_DEPTH_BLOCK_SIZE", 2)], (0, 1, 2)),
    ("BATCH_TO_SPACE_ND", (4, 1, 2, 2), lambda x: batch_to_space(x, (2, 2), [(0, 1), (1, 0)]), [], [ints("BATCH_TO_SPACE_ND_BLOCKSIZE", 2, 2), ints("BATCH_TO_SPACE_ND_CROPS", (0, 1), (1, 0))], (1, 2)),
    ("SPACE_TO_BATCH_ND", (1, 2, 4, 2), lambda x: space_to_batch(x, (2, 2), [(0, 0), (0, 0)]), [], [ints("SPACE_TO_BATCH_ND_BLOCK_SHAPE", 2, 2), ints("SPACE_TO_BATCH_ND_PADDINGS", (0, 0), (0, 0))], (1, 2)),
]
for op, shape, f, more, ps, dims in MOVES:
    for kind in ALL:
        x = data(kind, op, shape, huge=True)
        judge(op, kind, [x, *more], [moved(kind, x, f(x.value))], ps, dims)

# what lies outside is refused when only the run knows it
x = T(np.arange(12, dtype=F32).reshape(3, 4))
fed = lambda *v: T(np.array(v, I32))
reject("SLICE", "beyond_the_end_at_the_run", "run", [14], [x, fed(1, 2), fed(2, 3)], [T(x.value[1:, 1:], dyn=(0, 1))])
reject("CROP", "beyond_the_end_at_the_run", "run", [14], [x, fed(2, 4)], [T(x.value[1:, 1:], dyn=(0, 1))], [ints("CROP_OFFSET", 1, 1)])

for kind in ALL:
    # several inputs, several outputs
    a, b = data(kind, "CONCAT", (3, 4), huge=True), data(kind, "CONCAT b", (3, 4), -2, 3)
    u, v = (wide(a), wide(b)) if kind.quantized else (a.value, b.value)
    for op, y, axis in (("CONCAT", np.concatenate([u, v], 1), 1), ("STACK", np.stack([u, v], 1), 1)):
        y = result(kind, y, q=covering(-3.5, 3.2, kind.dtype)) if kind.quantized else T(y)
        judge(op, kind, [a, b], [y], [ints(op + "_AXIS", axis)])
    ys = [moved(kind, a, np.ascontiguousarray(p)) for p in np.split(a.value, [1, 3], 1)]
    judge("SPLIT", kind, [a], ys, [ints("SPLIT_AXIS", 1), ints("SPLIT_OUTPUT_NUM", 3), ints("SPLIT_SIZE_SPLITS", 1, 2, 1)])
    judge("UNSTACK", kind, [a], [moved(kind, a, p) for p in unstack(a.value, 1)], [ints("UNSTACK_AXIS", 1)])

    # padding with a number of the data's type
    x, pads = data(kind, "PAD", (3, 2), huge=True), np.array([[1, 0], [2, 1]], I32)
    value = 1 if kind.bool else 2
    if kind.quantized:
        y = result(kind, np.pad(wide(x), pads, constant_values=value), q=covering(-3.5, 3.2, kind.dtype))
    else:
        y = T(np.pad(x.value, pads, constant_values=value))
    judge("PAD", kind, [x, const(pads)], [y], [param("PAD_CONSTANT_VALUE", value, F32)])
    x = data(kind, "PAD mirrored", (3, 3), huge=True)
    judge("PAD", kind, [x, const(pads)], [moved(kind, x, np.pad(x.value, pads, mode="reflect"))], [param("PAD_PADDING_MODE", 1, I32)], more="_reflected")

    # places in zeros
    u, at = data(kind, "SCATTER_ND", (2, 3), huge=True), np.array([[2], [0]], I32)
    y = np.zeros((4, 3), F64 if kind.quantized else kind.dtype)
    y[[2, 0]] = wide(u) if kind.quantized else u.value
    judge("SCATTER_ND", kind, [const(at), u, i32(4, 3)], [result(kind, y, q=covering(-3.5, 3.2, kind.dtype)) if kind.quantized else T(y)], feed=(0,))
    v, at = data(kind, "SPARSE_TO_DENSE", (3,), huge=True), np.array([[0, 1], [2, 0], [1, 1]], I32)
    if kind.bool:
        v = T(np.array([True, True, False]))
    y = np.zeros((3, 2), F64 if kind.quantized else kind.dtype)
    y[at[:, 0], at[:, 1]] = wide(v) if kind.quantized else v.value
    judge("SPARSE_TO_DENSE", kind, [const(at), v, i32(3, 2)], [result(kind, y, q=covering(-3.5, 3.2, kind.dtype)) if kind.quantized else T(y)], feed=(0,))

    # two numbers of the type at the places that indices name
    pair = data(kind, "ONE_HOT", (2,), -3, 3, huge=True)
    if kind.bool:
        pair = T(np.array([True, False]))
    on, off = (T(pair.value[i:i + 1], pair.q) for i in (0, 1))
    u, v = (wide(pair)[i] if kind.quantized else pair.value[i] for i in (0, 1))
    y = one_hot([[0, 2], [3, 1]], 3, u, v, -1)
    y = result(kind, y, q=covering(-3.5, 3.2, kind.dtype)) if kind.quantized else T(y.astype(kind.dtype))
    judge("ONE_HOT", kind, [T(np.array([[0, 2], [3, 1]], I32)), i32(3), const(on.value, on.q), const(off.value, off.q)], [y])

    # one number everywhere; the open case reads the shape at the run
    x = T(pair.value[:1], pair.q)
    y = np.full((2, 3), u)
    y = result(kind, y, q=covering(-3.5, 3.2, kind.dtype)) if kind.quantized else T(y.astype(kind.dtype))
    judge("FILL", kind, [x, i32(2, 3)], [y], feed=(1,), dims=())
    number = {"b": 1.0, "i": -100.0, "u": 200.0, "f": 1.5}["f" if kind.quantized else kind.dtype.kind]
    y = np.full((2, 3), number)
    y = result(kind, y, q=covering(-4, 3, kind.dtype)) if kind.quantized else T(y.astype(kind.dtype))
    judge("CONSTANT_OF_SHAPE", kind, [T(np.array([2, 3], I32))], [y], [param("CONSTANT_OF_SHAPE_VALUE", [number], F32)], dims=())
    if kind.integer or kind.quantized:  # a number beyond the type's range
        number = -70000.5 if kind.dtype.kind == "i" else 9e20
        q = covering(-4, 3, kind.dtype) if kind.quantized else None
        info = np.iinfo(kind.dtype)
        y = q.quantize(np.full((2, 3), number), kind.dtype) if q else np.full((2, 3), max(int(number), int(info.min)) if number < 0 else int(info.max), kind.dtype)
        judge("CONSTANT_OF_SHAPE", kind, [T(np.array([2, 3], I32))], [T(y, q)], [param("CONSTANT_OF_SHAPE_VALUE", [number], F32)], None, "_beyond_the_range")

    # what a tensor is, whatever it holds
    x = data(kind, "SHAPE", (2, 1, 3))
    judge("SHAPE", kind, [x], [T(np.array([2, 1, 3], I32))])
    judge("RANK", kind, [x], [T(np.array([3], I32))])

# --- counting, in integers that wrap around; quantized: as reals
for kind in ALL:
    if kind.bool:
        continue
    start, limit, delta = 100, 340, 40
    y = np.arange(start, limit, delta)
    if kind.quantized:
        start, limit, delta = -3, 4, 2
        y = np.arange(start, limit, delta).astype(F64)
    ps = [ints("RANGE_START", start), ints("RANGE_LIMIT", limit), ints("RANGE_DELTA", delta)]
    judge("RANGE", kind, [data(kind, "RANGE", (3,))], [result(kind, y, q=covering(-2.6, 3.4, kind.dtype) if kind.quantized else None)], ps)
for dtype in UNSIGNED:
    kind = Kind(dtype)
    ps = [ints("RANGE_START", 5), ints("RANGE_LIMIT", -4), ints("RANGE_DELTA", -3)]
    judge("RANGE", kind, [data(kind, "RANGE", (3,))], [result(kind, np.array([5, 2, -1], object))], ps, more="_below_zero")
for dtype in SIGNED:
    kind = Kind(dtype)
    ps = [ints("RANGE_START", 5), ints("RANGE_LIMIT", -400), ints("RANGE_DELTA", -100)]
    judge("RANGE", kind, [data(kind, "RANGE", (3,))], [result(kind, np.array([5, -95, -195, -295, -395], object))], ps, more="_below_zero")

# --- reals and quantized data, and the 128 between int8 and uint8
TYPES = [param("QUANT_DTYPE_CAST_SRC_T", 43, I64), param("QUANT_DTYPE_CAST_DST_T", 32, I64)]
for dtype in (F16, F32, F64):
    kind = Kind(dtype)
    for to in (I8, U8):
        x, q = data(kind, "QUANT_DTYPE_CAST", (3, 5)), covering(-3.5, 3.2, to)
        x.value.flat[:4] = [np.inf, -np.inf, np.nan, 0]
        judge("QUANT_DTYPE_CAST", kind, [x], [T(q.quantize(x.value.astype(F64), to), q)], TYPES, more=f"_to_{np.dtype(to)}")
for kind in QUANTIZED:
    x = data(kind, "QUANT_DTYPE_CAST", (3, 5))
    for to in (F16, F32, F64):
        judge("QUANT_DTYPE_CAST", kind, [x], [T(wide(x).astype(to))], TYPES, more=f"_to_{np.dtype(to)}", **({"rel": 1e-3} if to == F16 else {"rel": 1e-6}))
    judge("QUANT_DTYPE_CAST", kind, [x], [moved(kind, x, x.value)], TYPES, more="_other_parameters")
    other, shift = (U8, 128) if kind.dtype == I8 else (I8, -128)
    y = (x.value.astype(I32) + shift).astype(other)
    judge("QUANT_DTYPE_CAST", kind, [x], [T(y, Q(0.5, 3))], TYPES, more="_shifted", steps=0)
    plain = Kind(kind.dtype)
    judge("QUANT_DTYPE_CAST", plain, [T(x.value)], [T(y)], TYPES, more="_shifted")
