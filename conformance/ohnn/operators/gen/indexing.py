"""Operators that address by index, make tensors, or change the element type."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, Q, T, case, const, param, reject, rng
from movement import i32, i64, seq

for tag, shape, idx, axis in (("rank1", (6,), [4, 0, 2], 0), ("rank2_axis0", (3, 4), [2, 0], 0), ("rank2_axis1", (3, 4), [3, 1, 1], 1), ("index_rank2", (3, 4), [[0, 2], [1, 1]], 0),
                              ("index_rank0", (3, 4), 1, 1), ("rank3_middle", (2, 3, 2), [2, 0], 1), ("negative_axis", (2, 3, 4), [3, 0], -1)):
    for dtype in (F32, F16, I8, I64):
        x = seq(shape, dtype)
        case("GATHER", f"{np.dtype(dtype)}_{tag}", [T(x), const(np.array(idx, I32)), i32(axis)], [T(np.take(x, np.array(idx), axis))])
x = seq((3, 4))
case("GATHER", "index_of_int64", [T(x), T(np.array([2, 0], I64)), i32(0)], [T(x[[2, 0]])])
case("GATHER", "f32_dynamic", [T(x, dyn=(0,)), i32(2, 0), i32(1)], [T(x[:, [2, 0]], dyn=(0,))])
case("GATHER", "f32_dynamic_indices", [T(x), T(np.array([2, 0, 1, 1, 0], I32), dyn=(0,)), i32(0)], [T(x[[2, 0, 1, 1, 0]], dyn=(0,))])
reject("GATHER", "index_beyond", "run", [14], [T(x), T(np.array([3], I32)), i32(0)], [T(x[:1])])
reject("GATHER", "index_negative", "run", [14], [T(x), T(np.array([-1], I32)), i32(0)], [T(x[:1])])
reject("GATHER", "axis_outside", "build", [1], [T(x), i32(0), i32(2)], [T(x[:1])])
reject("GATHER", "two_inputs", "add", [2], [T(x), i32(0)], [T(x[:1])])

for tag, shape, idx in (("rows", (3, 4), [[2], [0]]), ("elements", (3, 4), [[2, 3], [0, 1], [1, 1]]), ("rank3_rows", (2, 3, 2), [[1, 0], [0, 2]]), ("nested", (3, 2), [[[0], [2]], [[1], [1]]]),
                        ("rank3_planes", (2, 2, 3), [[1]])):
    for dtype in (F32, I8, I32):
        x = seq(shape, dtype)
        i = np.array(idx, I32)
        case("GATHER_ND", f"{np.dtype(dtype)}_{tag}", [T(x), const(i)], [T(x[tuple(np.moveaxis(i, -1, 0))])])
case("GATHER_ND", "f16", [T(seq((3, 4), F16)), T(np.array([[2], [0]], I32))], [T(seq((3, 4), F16)[[2, 0]])])
case("GATHER_ND", "f32_dynamic", [T(seq((3, 4))), T(np.array([[2], [0], [1]], I32), dyn=(0,))], [T(seq((3, 4))[[2, 0, 1]], dyn=(0,))])
reject("GATHER_ND", "index_beyond", "run", [14], [T(seq((3, 4))), T(np.array([[3]], I32))], [T(seq((1, 4)))])
reject("GATHER_ND", "index_negative", "run", [14], [T(seq((3, 4))), T(np.array([[-1]], I32))], [T(seq((1, 4)))])
reject("GATHER_ND", "index_too_deep", "build", [1], [T(seq((3, 4))), T(np.array([[0, 0, 0]], I32))], [T(seq((1,)))])
reject("GATHER_ND", "one_input", "add", [2], [T(seq((3, 4)))], [T(seq((1,)))])

for tag, idx, upd, shape in (("rank1", [[4], [1], [6]], (3,), (8,)), ("rows", [[2], [0]], (2, 3), (4, 3)), ("elements", [[0, 1], [2, 2]], (2,), (3, 3)), ("planes", [[1]], (1, 2, 2), (3, 2, 2)),
                             ("duplicate_last_wins", [[1], [1], [0]], (3, 2), (3, 2))):
    for dtype in (F32, I32, I8):
        u = seq(upd, dtype)
        y = np.zeros(shape, dtype)
        for k, at in enumerate(idx):
            y[tuple(at)] = u[k]
        case("SCATTER_ND", f"{np.dtype(dtype)}_{tag}", [const(np.array(idx, I32)), T(u), i32(*shape)], [T(y)])
u = seq((2, 2), F16)
y = np.zeros((3, 2), F16)
y[[2, 0]] = u
case("SCATTER_ND", "f16", [T(np.array([[2], [0]], I32)), T(u), i32(3, 2)], [T(y)])
case("SCATTER_ND", "f32_int64_indices", [T(np.array([[2], [0]], I64)), T(u.astype(F32)), i32(3, 2)], [T(y.astype(F32))])
case("SCATTER_ND", "f32_dynamic", [T(np.array([[2], [0]], I32), dyn=(0,)), T(u.astype(F32), dyn=(0,)), i32(3, 2)], [T(y.astype(F32))])
reject("SCATTER_ND", "index_beyond", "run", [14], [T(np.array([[3], [0]], I32)), T(u), i32(3, 2)], [T(y)])
reject("SCATTER_ND", "index_negative", "run", [14], [T(np.array([[-1], [0]], I32)), T(u), i32(3, 2)], [T(y)])
reject("SCATTER_ND", "updates_do_not_fit", "build", [1], [T(np.array([[1], [0]], I32)), T(seq((3, 2))), i32(3, 2)], [T(seq((3, 2)))])
reject("SCATTER_ND", "two_inputs", "add", [2], [T(np.array([[1], [0]], I32)), T(u)], [T(y)])

for tag, idx, val, shape in (("matrix", [[0, 1], [2, 0]], [5, 7], (3, 2)), ("vector", [[1], [3]], [2, 4], (5,)), ("one_value", [[0, 1], [1, 1], [2, 0]], [9], (3, 2)),
                             ("duplicate", [[1, 1], [1, 1]], [3, 4], (2, 2)), ("rank3", [[0, 1, 0], [1, 0, 1]], [6, 8], (2, 2, 2))):
    for dtype in (F32, I32):
        v = np.array(val, dtype)
        y = np.zeros(shape, dtype)
        for k, at in enumerate(idx):
            y[tuple(at)] = v[k if len(v) > 1 else 0]
        case("SPARSE_TO_DENSE", f"{np.dtype(dtype)}_{tag}", [const(np.array(idx, I32)), T(v), i32(*shape)], [T(y)])
for dtype in (I64, I8):
    v = np.array([5, 7], dtype)
    case("SPARSE_TO_DENSE", f"{np.dtype(dtype)}_at_the_run", [T(np.array([[0, 1], [2, 0]], I32)), T(v), i32(3, 2)], [T(np.array([[0, 5], [0, 0], [7, 0]], dtype))])
    case("SPARSE_TO_DENSE", f"{np.dtype(dtype)}_all_constant_but_values", [const(np.array([[0, 1], [2, 0]], I64)), T(v), i64(3, 2)], [T(np.array([[0, 5], [0, 0], [7, 0]], dtype))])
v = np.array([1, 2], F16)
case("SPARSE_TO_DENSE", "f16", [T(np.array([[0, 1], [1, 0]], I32)), T(v), i32(2, 2)], [T(np.array([[0, 1], [2, 0]], F16))])
case("SPARSE_TO_DENSE", "f32_dynamic", [T(np.array([[0, 1], [1, 0]], I32), dyn=(0,)), T(v.astype(F32), dyn=(0,)), i32(2, 2)], [T(np.array([[0, 1], [2, 0]], F32))])
reject("SPARSE_TO_DENSE", "index_beyond", "run", [14], [T(np.array([[0, 2], [1, 0]], I32)), T(v), i32(2, 2)], [T(np.zeros((2, 2), F16))])
reject("SPARSE_TO_DENSE", "index_negative", "run", [14], [T(np.array([[0, -1], [1, 0]], I32)), T(v), i32(2, 2)], [T(np.zeros((2, 2), F16))])
reject("SPARSE_TO_DENSE", "two_inputs", "add", [2], [T(np.array([[0, 1], [1, 0]], I32)), T(v)], [T(np.zeros((2, 2), F16))])


def one_hot(idx, depth, on, off, axis):
    idx = np.asarray(idx)
    y = np.where(np.arange(depth) == idx[..., None], on, off)
    return np.moveaxis(y, -1, axis)


for tag, idx, depth, axis in (("rank1", [2, 0, 1], 4, None), ("rank1_axis0", [2, 0, 1], 4, 0), ("rank2", [[0, 2], [1, 1]], 3, None), ("rank2_middle", [[0, 2], [1, 1]], 3, 1), ("outside", [5, -1, 1], 3, -1)):
    for dtype in (F32, I32, F16):
        y = one_hot(idx, depth, 3, -1, -1 if axis is None else axis).astype(dtype)
        case("ONE_HOT", f"{np.dtype(dtype)}_{tag}", [T(np.array(idx, I32)), i32(depth), const(np.array([3], dtype)), const(np.array([-1], dtype))], [T(y)],
             [] if axis is None else [param("ONE_HOT_AXIS", axis, I64)])
case("ONE_HOT", "depth_of_rank_0", [T(np.array([1, 0], I32)), const(np.array(3, I32)), const(np.array(1, F32)), const(np.array(0, F32))], [T(one_hot([1, 0], 3, 1, 0, -1).astype(F32))])
case("ONE_HOT", "f32_dynamic", [T(np.array([1, 0, 2], I32), dyn=(0,)), i32(3), const(np.array([1], F32)), const(np.array([0], F32))], [T(np.eye(3, dtype=F32)[[1, 0, 2]], dyn=(0,))])
reject("ONE_HOT", "three_inputs", "add", [2], [T(np.array([1], I32)), i32(3), const(np.array([1], F32))], [T(seq((1, 3)))])
reject("ONE_HOT", "axis_outside", "build", [1], [T(np.array([1], I32)), i32(3), const(np.array([1], F32)), const(np.array([0], F32))], [T(seq((1, 3)))], [param("ONE_HOT_AXIS", 2, I64)])

for tag, shape in (("rank1", (4,)), ("rank2", (2, 3)), ("rank3", (2, 1, 2)), ("rank4", (1, 2, 1, 3))):
    for dtype in (F32, I32, F16):
        v = np.array([2.5 if np.dtype(dtype).kind == "f" else 7], dtype)
        shift = seq(shape, dtype)
        case("FILL", f"{np.dtype(dtype)}_{tag}", [T(v), i32(*shape)], [T(np.full(shape, v[0], dtype))])
        case("CONSTANT_OF_SHAPE", f"{np.dtype(dtype)}_{tag}", [T(np.array(shape, I32))], [T(np.full(shape, v[0], dtype), dyn=tuple(range(len(shape))))],
             [param("CONSTANT_OF_SHAPE_DATA_TYPE", {F32: 43, I32: 34, F16: 42}[dtype], I64), param("CONSTANT_OF_SHAPE_VALUE", [float(v[0])], F32)])
case("FILL", "f32_shape_given_at_the_run", [T(np.array([4.5], F32)), T(np.array([2, 2], I32))], [T(np.full((2, 2), 4.5, F32), dyn=(0, 1))])
case("CONSTANT_OF_SHAPE", "f32_constant_shape_int64", [T(np.array([3, 2], I64))], [T(np.full((3, 2), -1.5, F32), dyn=(0, 1))],
     [param("CONSTANT_OF_SHAPE_DATA_TYPE", 43, I64), param("CONSTANT_OF_SHAPE_VALUE", [-1.5], F32)])
for op, ins in (("FILL", [T(np.array([4.5], F32)), T(np.array([2, -2], I32))]), ("CONSTANT_OF_SHAPE", [T(np.array([2, -2], I32))])):
    reject(op, "negative_size", "run", [14], ins, [T(np.zeros((2, 2), F32), dyn=(0, 1))])
reject("FILL", "one_input", "add", [2], [T(np.array([4.5], F32))], [T(seq((2, 2)))])
reject("CONSTANT_OF_SHAPE", "value_of_int32", "add", [2], [T(np.array([2, 2], I32))], [T(seq((2, 2)))], [param("CONSTANT_OF_SHAPE_VALUE", [1], I32)])

for tag, start, limit, delta in (("plain", 0, 5, 1), ("step", 2, 11, 3), ("down", 10, 0, -4), ("negative", -3, 3, 2), ("long", 5, 105, 7), ("inexact", 0, 7, 2)):
    for dtype in (I32, F32):
        x = seq((3,), dtype)
        case("RANGE", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(np.arange(start, limit, delta).astype(dtype))],
             [param("RANGE_START", start, I64), param("RANGE_LIMIT", limit, I64), param("RANGE_DELTA", delta, I64)])
case("RANGE", "int32_default_start_and_delta", [T(seq((2,), I32))], [T(np.arange(6).astype(I32))], [param("RANGE_LIMIT", 6, I64)])
case("RANGE", "int32_dynamic_output", [T(seq((2,), I32))], [T(np.arange(1, 9).astype(I32), dyn=(0,))], [param("RANGE_START", 1, I64), param("RANGE_LIMIT", 9, I64)])
reject("RANGE", "delta_0", "build", [1], [T(seq((2,), I32))], [T(seq((2,), I32))], [param("RANGE_LIMIT", 4, I64), param("RANGE_DELTA", 0, I64)])
reject("RANGE", "limit_of_int32", "add", [2], [T(seq((2,), I32))], [T(seq((4,), I32))], [param("RANGE_LIMIT", 4, I32)])

NUMBER = {BOOL: 1, I8: 2, I16: 3, I32: 4, I64: 5, U8: 6, F16: 10, F32: 11, F64: 12}
for src, dst in ((F32, I32), (F32, F16), (F16, F32), (I32, F32), (F32, I8), (I8, F32), (I32, I64), (I64, I32), (U8, F32), (F32, F64), (F64, F32), (I16, I8), (I8, I32), (F32, I64)):
    for tag, shape in (("rank1", (6,)), ("rank3", (2, 2, 3))):
        x = (rng(f"cast{src}{dst}{tag}").uniform(-9, 9, shape) if np.dtype(src).kind != "u" else rng("c").uniform(1, 200, shape)).astype(src)
        case("CAST", f"{np.dtype(src)}_to_{np.dtype(dst)}_{tag}", [T(x), i32(NUMBER[dst])], [T(x.astype(dst))])
x = np.array([300, -129, 65536, 127, -1], I32)
case("CAST", "int32_to_int8_keeps_the_low_bits", [T(x), i32(2)], [T(x.astype(I8))])
x = np.array([0, 1.5, -2, 0.25, 0], F32)
case("CAST", "float32_to_bool", [T(x), i32(1)], [T(x != 0)])
case("CAST", "bool_to_float32", [T(x != 0), i32(11)], [T((x != 0).astype(F32))])
case("CAST", "f32_dynamic", [T(seq((3, 2)), dyn=(0,)), i32(4)], [T(seq((3, 2)).astype(I32), dyn=(0,))])
reject("CAST", "type_not_constant", "add", [2], [T(x), T(np.array([4], I32))], [T(x.astype(I32))])
reject("CAST", "type_13", "add", [2], [T(x), i32(13)], [T(x.astype(I32))])
reject("CAST", "output_of_another_type", "run", [14], [T(x), i32(4)], [T(x)])

for tag, shape in (("rank1", (6,)), ("rank2", (3, 4)), ("rank4", (1, 2, 2, 3))):
    for dtype, name, zero in ((I8, "i8", -4), (U8, "u8", 130)):
        q = Q(F32(0.05), zero)
        x = rng(f"quant{tag}{name}").uniform(-5, 5, shape).astype(F32)
        ps = [param("QUANT_DTYPE_CAST_SRC_T", 43, I64), param("QUANT_DTYPE_CAST_DST_T", 32, I64)]
        y = q.quantize(x, dtype)
        case("QUANT_DTYPE_CAST", f"f32_to_{name}_{tag}", [T(x)], [T(y, q)], ps)
        ps = [param("QUANT_DTYPE_CAST_SRC_T", 32, I64), param("QUANT_DTYPE_CAST_DST_T", 43, I64)]
        case("QUANT_DTYPE_CAST", f"{name}_to_f32_{tag}", [T(y, q)], [T(q.real(y).astype(F32))], ps)
qa, qb = Q(F32(0.05), 3), Q(F32(0.1), -7)
xa = qa.quantize(rng("requant").uniform(-5, 5, (3, 4)), I8)
case("QUANT_DTYPE_CAST", "i8_to_i8_other_parameters", [T(xa, qa)], [T(qb.quantize(qa.real(xa), I8), qb)], ps)
case("QUANT_DTYPE_CAST", "f32_dynamic", [T(x[0, 0], dyn=(0,))], [T(qa.quantize(x[0, 0], I8), qa, dyn=(0,))], ps)
case("QUANT_DTYPE_CAST", "f32_to_i8_saturates", [T(np.array([-100, 100, np.inf, -np.inf, 1], F32))], [T(qa.quantize(np.array([-100, 100, 1e9, -1e9, 1]), I8), qa)], ps)
reject("QUANT_DTYPE_CAST", "source_type_missing", "finish", [1], [T(x)], [T(y, q)], ps[1:])
reject("QUANT_DTYPE_CAST", "source_type_of_int32", "add", [2], [T(x)], [T(y, q)], [param("QUANT_DTYPE_CAST_SRC_T", 43, I32), ps[1]])

for tag, axis, offset, shape, to in (("axis2", 2, [1, 2], (1, 2, 4, 5), (1, 2, 2, 3)), ("axis0_one_offset", 0, [1], (4, 4), (2, 3)), ("no_offset", 1, [], (2, 4, 4), (2, 2, 3)), ("negative", -1, [2], (3, 5), (3, 2)),
                                     ("axis1", 1, [1, 0], (2, 3, 3), (2, 2, 2))):
    for dtype in (F32, F16):
        x = seq(shape, dtype)
        a = axis % len(shape)
        off = (offset * (len(shape) - a) if len(offset) == 1 else offset) or [0] * (len(shape) - a)
        cut = tuple([slice(None)] * a + [slice(o, o + n) for o, n in zip(off, to[a:])])
        ps = [param("CROP_AXIS", axis, I64)] + ([param("CROP_OFFSET", offset, I64)] if offset else [])
        case("CROP", f"{np.dtype(dtype)}_{tag}_by_values", [T(x), i32(*to)], [T(x[cut])], ps)
        case("CROP", f"{np.dtype(dtype)}_{tag}_by_shape", [T(x), T(seq(to, dtype, 3))], [T(x[cut])], ps)
x = seq((3, 5))
case("CROP", "f32_default_axis", [T(x), i32(2, 4)], [T(x[1:3, 1:5])], [param("CROP_OFFSET", [1], I64)])
case("CROP", "f32_dynamic", [T(x, dyn=(0,)), i32(3, 4)], [T(x[:, 1:], dyn=(0,))], [param("CROP_AXIS", 1, I64), param("CROP_OFFSET", [1], I64)])
reject("CROP", "beyond", "build", [1], [T(x), i32(3, 4)], [T(seq((3, 4)))], [param("CROP_AXIS", 1, I64), param("CROP_OFFSET", [2], I64)])
reject("CROP", "offsets_of_another_count", "build", [1], [T(x), i32(2, 2)], [T(seq((2, 2)))], [param("CROP_OFFSET", [0, 0, 0], I64)])
reject("CROP", "one_input", "add", [2], [T(x)], [T(x)])

for tag, cond, data in (("one", [True], (3,)), ("rank1", [True, True, True], (2, 2)), ("rank2", [[True, True], [True, True]], (4,))):
    for dtype in (F32, I32, F16):
        c = np.array(cond)
        case("ASSERT", f"{np.dtype(dtype)}_{tag}", [T(c), T(seq(data, dtype))], [T(c)], [param("ASSERT_SUMMARIZE", 2, I64)])
case("ASSERT", "default_summarize", [T(np.array([True])), T(seq((2,)))], [T(np.array([True]))])
case("ASSERT", "dynamic", [T(np.array([True, True]), dyn=(0,)), T(seq((2,)))], [T(np.array([True, True]), dyn=(0,))])
reject("ASSERT", "false", "run", [14], [T(np.array([False])), T(seq((2,)))], [T(np.array([True]))])
reject("ASSERT", "one_of_them_false", "run", [14], [T(np.array([True, False])), T(seq((2,)))], [T(np.array([True, True]))])
reject("ASSERT", "one_input", "add", [2], [T(np.array([True]))], [T(np.array([True]))])
reject("ASSERT", "summarize_of_int32", "add", [2], [T(np.array([True])), T(seq((2,)))], [T(np.array([True]))], [param("ASSERT_SUMMARIZE", 2, I32)])
