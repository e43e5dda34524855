"""Operators that move elements or describe shapes."""

import numpy as np

from case import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, Q, T, case, const, param, reject, rng


def seq(shape, dtype=F32, start=1):
    """Distinct numbers in an order that shows a misplaced element."""
    n = int(np.prod(shape))
    if np.dtype(dtype) == BOOL:
        return (rng(f"bool{shape}").integers(0, 2, shape) == 1)
    v = np.arange(start, start + n)
    return (v if np.dtype(dtype).kind in "iu" else v * 0.5).reshape(shape).astype(dtype)


def i32(*v):
    return const(np.array(v, I32))


def i64(*v):
    return const(np.array(v, I64))


def typed(op, f, shape, ins=(), params=(), types=(F32, F16, F64, I8, I16, I32, I64, U8), tag=""):
    for dtype in types:
        x = seq(shape, dtype)
        case(op, f"{np.dtype(dtype)}{tag}", [T(x), *ins], [T(f(x))], params)
    q = Q(0.25, -3)
    x = seq(shape, I8)
    case(op, "i8_quantized" + tag, [T(x, q), *ins], [T(f(x), q)], params)


# --- shape changes
typed("RESHAPE", lambda x: x.reshape(3, 4), (2, 6), [i32(3, 4)])
for tag, shape, to, out in (("infer", (2, 6), (-1, 4), (3, 4)), ("copy", (2, 6), (0, 3, 2), (2, 3, 2)), ("copy_and_infer", (2, 3, 4), (0, -1), (2, 12)),
                            ("flat", (2, 3, 2), (-1,), (12,)), ("rank4", (12,), (1, 2, 3, 2), (1, 2, 3, 2))):
    case("RESHAPE", "f32_" + tag, [T(seq(shape)), i32(*to)], [T(seq(shape).reshape(out))])
    case("RESHAPE", "f32_int64_" + tag, [T(seq(shape)), i64(*to)], [T(seq(shape).reshape(out))])
for n in (1, 5):
    case("RESHAPE", f"f32_dynamic_{n}", [T(seq((n, 6)), dyn=(0,)), i32(-1, 3)], [T(seq((n, 6)).reshape(-1, 3), dyn=(0,))])
reject("RESHAPE", "another_count", "build", [1], [T(seq((2, 6))), i32(5, 2)], [T(seq((5, 2)))])
reject("RESHAPE", "two_unknowns", "build", [1], [T(seq((2, 6))), i32(-1, -1)], [T(seq((3, 4)))])
reject("RESHAPE", "one_input", "add", [2], [T(seq((2, 6)))], [T(seq((3, 4)))])

for tag, shape, axis in (("default", (2, 3, 4), None), ("axis0", (2, 3), 0), ("axis2", (2, 3, 4), 2), ("negative", (2, 3, 4), -1), ("rank1", (5,), 1), ("rank4", (1, 2, 3, 2), 1)):
    a = 1 if axis is None else axis % len(shape) if axis < 0 else axis
    ps = [] if axis is None else [param("FLATTEN_AXIS", axis, I64)]
    x = seq(shape)
    case("FLATTEN", "f32_" + tag, [T(x)], [T(x.reshape(int(np.prod(shape[:a])), -1))], ps)
typed("FLATTEN", lambda x: x.reshape(2, 6), (2, 3, 2))
case("FLATTEN", "f32_dynamic", [T(seq((3, 2, 2)), dyn=(0,))], [T(seq((3, 4)), dyn=(0,))])
reject("FLATTEN", "axis_outside", "build", [1], [T(seq((2, 3)))], [T(seq((2, 3)))], [param("FLATTEN_AXIS", 3, I64)])
reject("FLATTEN", "axis_of_int32", "add", [2], [T(seq((2, 3)))], [T(seq((2, 3)))], [param("FLATTEN_AXIS", 1, I32)])

typed("SQUEEZE", lambda x: x.reshape(2, 3), (1, 2, 1, 3))
for tag, shape, axes, out in (("one", (1, 2, 1, 3), [0], (2, 1, 3)), ("two", (1, 2, 1, 3), [0, 2], (2, 3)), ("negative", (2, 3, 1), [-1], (2, 3))):
    case("SQUEEZE", "f32_" + tag, [T(seq(shape))], [T(seq(out))], [param("SQUEEZE_AXIS", axes, I64)])
case("SQUEEZE", "f32_dynamic", [T(seq((3, 1, 2)), dyn=(0,))], [T(seq((3, 2)), dyn=(0,))], [param("SQUEEZE_AXIS", [1], I64)])
reject("SQUEEZE", "size_not_1", "build", [1], [T(seq((2, 1)))], [T(seq((1,)))], [param("SQUEEZE_AXIS", [0], I64)])
reject("SQUEEZE", "axis_outside", "build", [1], [T(seq((2, 1)))], [T(seq((2,)))], [param("SQUEEZE_AXIS", [2], I64)])

typed("UNSQUEEZE", lambda x: x[:, None], (2, 3), params=[param("UNSQUEEZE_AXIS", 1, I64)])
typed("EXPAND_DIMS", lambda x: x[:, None], (2, 3), [i32(1)])
for tag, shape, axis in (("front", (2, 3), 0), ("back", (2, 3), 2), ("last", (2, 3), -1), ("negative_front", (2, 3), -3), ("rank1", (4,), 1), ("rank3", (2, 3, 2), -2)):
    x = seq(shape)
    y = np.expand_dims(x, axis)
    case("UNSQUEEZE", "f32_" + tag, [T(x)], [T(y)], [param("UNSQUEEZE_AXIS", axis, I64)])
    case("EXPAND_DIMS", "f32_" + tag, [T(x), i32(axis)], [T(y)])
case("UNSQUEEZE", "f32_dynamic", [T(seq((3, 2)), dyn=(0,))], [T(seq((3, 1, 2)), dyn=(0,))], [param("UNSQUEEZE_AXIS", 1, I64)])
case("EXPAND_DIMS", "f32_dynamic", [T(seq((3, 2)), dyn=(0,)), i32(1)], [T(seq((3, 1, 2)), dyn=(0,))])
reject("UNSQUEEZE", "axis_outside", "build", [1], [T(seq((2, 3)))], [T(seq((2, 3, 1)))], [param("UNSQUEEZE_AXIS", 3, I64)])
reject("EXPAND_DIMS", "axis_outside", "build", [1], [T(seq((2, 3))), i32(3)], [T(seq((2, 3, 1)))])
reject("EXPAND_DIMS", "one_input", "add", [2], [T(seq((2, 3)))], [T(seq((2, 3, 1)))])

for tag, shape in (("rank1", (5,)), ("rank2", (2, 3)), ("rank3", (4, 1, 2)), ("rank4", (1, 2, 3, 4))):
    for dtype in (F32, I8, I64):
        x = seq(shape, dtype)
        case("SHAPE", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(np.array(shape, I32))])
        case("RANK", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(np.array([len(shape)], I32))])
for n in (2, 6):
    case("SHAPE", f"f32_dynamic_{n}", [T(seq((n, 3)), dyn=(0,))], [T(np.array([n, 3], I32))])
    case("RANK", f"f32_dynamic_{n}", [T(seq((n, 3)), dyn=(0,))], [T(np.array([2], I32))])
for op in ("SHAPE", "RANK"):
    reject(op, "two_inputs", "add", [2], [T(seq((2, 3))), T(seq((2, 3)))], [T(np.array([2, 3], I32))])
    reject(op, "foreign_parameter", "add", [2], [T(seq((2, 3)))], [T(np.array([2, 3], I32))], [param("CONCAT_AXIS", 0, I64)])

# --- order and copies
typed("TRANSPOSE", lambda x: x.transpose(1, 0, 2), (2, 3, 2), [i32(1, 0, 2)])
for tag, shape, perm in (("rank2", (2, 3), (1, 0)), ("nhwc_to_nchw", (1, 2, 3, 4), (0, 3, 1, 2)), ("nchw_to_nhwc", (1, 4, 2, 3), (0, 2, 3, 1)), ("reverse", (2, 3, 4), (2, 1, 0)),
                         ("rank5", (1, 2, 1, 3, 2), (4, 0, 2, 3, 1))):
    case("TRANSPOSE", "f32_" + tag, [T(seq(shape)), i32(*perm)], [T(seq(shape).transpose(perm))])
case("TRANSPOSE", "f32_dynamic", [T(seq((3, 2, 2)), dyn=(0,)), i32(1, 0, 2)], [T(seq((3, 2, 2)).transpose(1, 0, 2), dyn=(1,))])
reject("TRANSPOSE", "not_a_permutation", "build", [1], [T(seq((2, 3))), i32(0, 0)], [T(seq((2, 3)))])
reject("TRANSPOSE", "too_short", "build", [1], [T(seq((2, 3))), i32(0)], [T(seq((2, 3)))])
reject("TRANSPOSE", "one_input", "add", [2], [T(seq((2, 3)))], [T(seq((3, 2)))])

for dtype in (F32, F16, I8, I32, U8, BOOL):
    a, b = seq((2, 3), dtype), seq((2, 2), dtype, 50)
    case("CONCAT", f"{np.dtype(dtype)}_two", [T(a), T(b)], [T(np.concatenate([a, b], 1))], [param("CONCAT_AXIS", 1, I64)])
for tag, axis in (("axis0", 0), ("axis2", 2), ("negative", -2)):
    xs = [seq((2, 3, 4), start=s) for s in (1, 100, 200)]
    case("CONCAT", "f32_three_" + tag, [T(x) for x in xs], [T(np.concatenate(xs, axis))], [param("CONCAT_AXIS", axis, I64)])
    case("STACK", "f32_three_" + tag, [T(x) for x in xs], [T(np.stack(xs, axis))], [param("STACK_AXIS", axis, I64)])
a, b = seq((2, 3)), seq((3, 3), start=40)
case("CONCAT", "f32_default_axis", [T(a), T(b)], [T(np.concatenate([a, b]))])
case("CONCAT", "f32_dynamic", [T(a, dyn=(0,)), T(b, dyn=(0,))], [T(np.concatenate([a, b]), dyn=(0,))])
case("CONCAT", "f32_with_constant", [T(a), const(b)], [T(np.concatenate([a, b]))])
qa, qb, qy = Q(0.5, 0), Q(0.25, 4), Q(0.5, -2)
xa, xb = np.array([[1, -4, 9]], I8), np.array([[8, -12, 50]], I8)
case("CONCAT", "i8_quantized_differently", [T(xa, qa), T(xb, qb)], [T(qy.quantize(np.concatenate([qa.real(xa), qb.real(xb)]), I8), qy)])
reject("CONCAT", "one_input", "add", [2], [T(a)], [T(a)])
reject("CONCAT", "shapes_differ", "build", [1], [T(a), T(seq((2, 4)))], [T(seq((4, 3)))])
reject("CONCAT", "axis_outside", "build", [1], [T(a), T(a)], [T(seq((4, 3)))], [param("CONCAT_AXIS", 2, I64)])

for dtype in (F32, F16, I8, I32, BOOL):
    a, b = seq((2, 3), dtype), seq((2, 3), dtype, 50)
    case("STACK", f"{np.dtype(dtype)}_two", [T(a), T(b)], [T(np.stack([a, b]))])
a, b = seq((3, 2)), seq((3, 2), start=40)
case("STACK", "f32_last", [T(a), T(b)], [T(np.stack([a, b], -1))], [param("STACK_AXIS", -1, I64)])
case("STACK", "f32_dynamic", [T(a, dyn=(0,)), T(b, dyn=(0,))], [T(np.stack([a, b], 1), dyn=(0,))], [param("STACK_AXIS", 1, I64)])
reject("STACK", "one_input", "add", [2], [T(a)], [T(a)])
reject("STACK", "shapes_differ", "build", [1], [T(a), T(seq((2, 2)))], [T(seq((2, 3, 2)))])
reject("STACK", "axis_outside", "build", [1], [T(a), T(b)], [T(seq((2, 3, 2)))], [param("STACK_AXIS", 3, I64)])


def unstack(x, axis):
    return [np.ascontiguousarray(v) for v in np.moveaxis(x, axis, 0)]


for tag, shape, axis in (("default", (3, 4), None), ("axis1", (2, 3, 2), 1), ("last", (2, 2, 3), -1), ("rank4", (1, 2, 2, 2), 2)):
    for dtype in (F32, I8, I32):
        x = seq(shape, dtype)
        case("UNSTACK", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(v) for v in unstack(x, axis or 0)], [] if axis is None else [param("UNSTACK_AXIS", axis, I64)])
x = seq((3, 2, 2))
case("UNSTACK", "f32_dynamic", [T(x, dyn=(0,))], [T(v, dyn=(0,)) for v in unstack(x, 1)], [param("UNSTACK_AXIS", 1, I64)])
case("UNSTACK", "f16", [T(x.astype(F16))], [T(v.astype(F16)) for v in unstack(x, 1)], [param("UNSTACK_AXIS", 1, I64)])
reject("UNSTACK", "output_count", "build", [1], [T(x)], [T(v) for v in unstack(x, 0)[:2]])
reject("UNSTACK", "axis_outside", "build", [1], [T(x)], [T(v) for v in unstack(x, 0)], [param("UNSTACK_AXIS", 3, I64)])

for tag, shape, axis, parts in (("equal_default_axis", (4, 3), 0, 2), ("equal_last", (2, 6), 1, 3), ("equal_rank4", (1, 2, 4, 2), 2, 2), ("equal_negative", (2, 2, 4), -1, 2)):
    for dtype in (F32, I8, I32):
        x = seq(shape, dtype)
        case("SPLIT", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(v) for v in np.split(x, parts, axis)], [param("SPLIT_AXIS", axis, I64), param("SPLIT_OUTPUT_NUM", parts, I64)])
x = seq((2, 7))
for tag, sizes in (("sizes", [1, 4, 2]), ("rest_last", [1, 4, -1])):
    ps = [param("SPLIT_AXIS", 1, I64), param("SPLIT_OUTPUT_NUM", 3, I64), param("SPLIT_SIZE_SPLITS", sizes, I64)]
    case("SPLIT", "f32_" + tag, [T(x)], [T(v) for v in np.split(x, [1, 5], 1)], ps)
    case("SPLIT", "f16_" + tag, [T(x.astype(F16))], [T(v.astype(F16)) for v in np.split(x, [1, 5], 1)], ps)
case("SPLIT", "f32_dynamic", [T(seq((3, 4)), dyn=(0,))], [T(v, dyn=(0,)) for v in np.split(seq((3, 4)), 2, 1)], [param("SPLIT_AXIS", 1, I64), param("SPLIT_OUTPUT_NUM", 2, I64)])
reject("SPLIT", "sizes_do_not_add_up", "build", [1], [T(x)], [T(v) for v in np.split(x, [1, 5], 1)],
       [param("SPLIT_AXIS", 1, I64), param("SPLIT_OUTPUT_NUM", 3, I64), param("SPLIT_SIZE_SPLITS", [1, 4, 3], I64)])
reject("SPLIT", "indivisible", "build", [1], [T(x)], [T(x[:, :3]), T(x[:, 3:])], [param("SPLIT_AXIS", 1, I64), param("SPLIT_OUTPUT_NUM", 2, I64)])
reject("SPLIT", "two_inputs", "add", [2], [T(x), T(x)], [T(x)])

typed("SLICE", lambda x: x[1:3, 2:3], (3, 4), [i32(1, 2), i32(2, 1)])
for tag, shape, begin, size, cut in (("rank1", (6,), (2,), (3,), np.s_[2:5]), ("to_the_end", (3, 4), (1, 1), (-1, -1), np.s_[1:, 1:]),
                                     ("rank3", (2, 3, 4), (0, 1, 2), (2, 1, 2), np.s_[:, 1:2, 2:]), ("rank4", (1, 3, 3, 2), (0, 1, 0, 1), (1, 2, -1, 1), np.s_[:, 1:, :, 1:])):
    case("SLICE", "f32_" + tag, [T(seq(shape)), i32(*begin), i32(*size)], [T(seq(shape)[cut])])
case("SLICE", "f32_axes", [T(seq((3, 4, 2))), i32(1, 0), i32(2, 1)], [T(seq((3, 4, 2))[:, 1:3, :1])], [param("SLICE_AXES", [1, 2], I64)])
case("SLICE", "f32_begin_and_size_given_at_the_run", [T(seq((3, 4))), T(np.array([1, 0], I32)), T(np.array([2, 3], I32))], [T(seq((3, 4))[1:, :3], dyn=(0, 1))])
case("SLICE", "f32_dynamic", [T(seq((5, 4)), dyn=(0,)), i32(1, 1), i32(-1, 2)], [T(seq((5, 4))[1:, 1:3], dyn=(0,))])
reject("SLICE", "beyond_the_end", "build", [1], [T(seq((3, 4))), i32(1, 2), i32(3, 1)], [T(seq((3, 1)))])
reject("SLICE", "two_inputs", "add", [2], [T(seq((3, 4))), i32(1, 2)], [T(seq((3, 1)))])

MASKS = ("STRIDED_SLICE_BEGIN_MASK", "STRIDED_SLICE_END_MASK", "STRIDED_SLICE_ELLIPSIS_MASK", "STRIDED_SLICE_NEW_AXIS_MASK", "STRIDED_SLICE_SHRINK_AXIS_MASK")


def masks(*values):
    return [param(n, v, I64) for n, v in zip(MASKS, values) if v]


typed("STRIDED_SLICE", lambda x: x[0:3:2, 1:4:2], (3, 5), [i32(0, 1), i32(3, 4), i32(2, 2)], types=(F32, F16, I8, I32, I64))
for tag, shape, b, e, s, m, cut in (
    ("negative_stride", (6,), (4,), (0,), (-2,), (), np.s_[4:0:-2]), ("negative_index", (3, 5), (-2, -4), (3, -1), (1, 1), (), np.s_[-2:3, -4:-1]),
    ("begin_mask", (3, 5), (1, 2), (3, 4), (1, 1), (1,), np.s_[:3, 2:4]), ("end_mask", (3, 5), (1, 2), (2, 3), (1, 1), (0, 2), np.s_[1:2, 2:]),
    ("begin_mask_negative_stride", (5,), (1,), (0,), (-1,), (1,), np.s_[:0:-1]), ("clamped", (4,), (-9,), (99,), (1,), (), np.s_[:]),
    ("ellipsis", (2, 3, 4), (0, 1), (0, 3), (1, 1), (0, 0, 1), np.s_[..., 1:3]), ("new_axis", (3, 4), (0, 1), (0, 3), (1, 1), (0, 0, 0, 1), np.s_[None, 1:3]),
    ("shrink_axis", (3, 4), (1, 1), (2, 3), (1, 1), (0, 0, 0, 0, 1), np.s_[1, 1:3]), ("shorter_than_rank", (2, 3, 4), (1,), (2,), (1,), (), np.s_[1:2]),
):
    if tag == "clamped":
        continue
    case("STRIDED_SLICE", "f32_" + tag, [T(seq(shape)), i32(*b), i32(*e), i32(*s)], [T(seq(shape)[cut])], masks(*m))
case("STRIDED_SLICE", "f32_ends_beyond_are_clamped", [T(seq((4, 3))), i32(-9, 1), i32(99, 99), i32(1, 1)], [T(seq((4, 3))[:, 1:])])
case("STRIDED_SLICE", "f32_dynamic", [T(seq((5, 3)), dyn=(0,)), i32(1, 0), i32(99, 3), i32(2, 1)], [T(seq((5, 3))[1::2], dyn=(0,))])
reject("STRIDED_SLICE", "stride_0", "build", [1], [T(seq((3, 5))), i32(0, 0), i32(3, 5), i32(1, 0)], [T(seq((3, 5)))])
reject("STRIDED_SLICE", "lengths_differ", "build", [1], [T(seq((3, 5))), i32(0, 0), i32(3), i32(1, 1)], [T(seq((3, 5)))])
reject("STRIDED_SLICE", "mask_of_int32", "add", [2], [T(seq((3, 5))), i32(0, 0), i32(3, 5), i32(1, 1)], [T(seq((3, 5)))], [param(MASKS[0], 1, I32)])

for dtype in (F32, F16, I32, I8):
    x = seq((2, 3), dtype)
    for mode, name in ((0, "constant"), (1, "reflect"), (2, "symmetric")):
        case("PAD", f"{np.dtype(dtype)}_{name}", [T(x), const(np.array([[1, 0], [2, 1]], I32))], [T(np.pad(x, [(1, 0), (2, 1)], mode=name))], [param("PAD_PADDING_MODE", mode, I32)])
for tag, shape, pads, value in (("value", (2, 3), [[0, 1], [1, 2]], 2.5), ("negative_value", (3,), [[2, 1]], -1.0), ("small_value", (3,), [[1, 1]], 1e-6),
                                ("rank4", (1, 2, 2, 2), [[0, 0], [1, 1], [0, 2], [0, 0]], 0.0)):
    x = seq(shape)
    case("PAD", "f32_" + tag, [T(x), const(np.array(pads, I32))], [T(np.pad(x, pads, constant_values=F32(value)))], [param("PAD_CONSTANT_VALUE", value, F32)])
x = seq((2, 3))
case("PAD", "f32_reflect_beyond_the_input", [T(x), const(np.array([[0, 0], [3, 3]], I32))], [T(x[:, [2, 2, 1, 0, 1, 2, 1, 0, 0]])], [param("PAD_PADDING_MODE", 1, I32)])
case("PAD", "f32_paddings_of_int64", [T(x), const(np.array([[1, 1], [0, 2]], I64))], [T(np.pad(x, [(1, 1), (0, 2)]))])
case("PAD", "f32_dynamic", [T(x, dyn=(0,)), const(np.array([[1, 1], [0, 2]], I32))], [T(np.pad(x, [(1, 1), (0, 2)]), dyn=(0,))])
q = Q(0.5, 7)
xq = seq((2, 2), I8)
case("PAD", "i8_quantized_zero_is_the_zero_point", [T(xq, q), const(np.array([[1, 0], [0, 1]], I32))], [T(np.pad(xq, [(1, 0), (0, 1)], constant_values=7), q)])
reject("PAD", "paddings_of_another_rank", "build", [1], [T(x), const(np.array([[1, 1]], I32))], [T(seq((4, 3)))])
reject("PAD", "mode_4", "add", [2], [T(x), const(np.array([[1, 1], [0, 0]], I32))], [T(seq((4, 3)))], [param("PAD_PADDING_MODE", 4, I32)])
reject("PAD", "value_of_int32", "add", [2], [T(x), const(np.array([[1, 1], [0, 0]], I32))], [T(seq((4, 3)))], [param("PAD_CONSTANT_VALUE", 1, I32)])

typed("TILE", lambda x: np.tile(x, (2, 3)), (2, 2), [i32(2, 3)], types=(F32, F16, I8, I32, I64))
for tag, shape, reps, out in (("rank1", (3,), (2,), (2,)), ("longer", (2, 2), (2, 1, 2), (2, 1, 2)), ("rank4", (1, 2, 1, 2), (1, 2, 3, 1), (1, 2, 3, 1))):
    case("TILE", "f32_" + tag, [T(seq(shape)), i32(*reps)], [T(np.tile(seq(shape), out))])
case("TILE", "f32_dims", [T(seq((2, 2, 3))), i32(2, 3)], [T(np.tile(seq((2, 2, 3)), (3, 1, 2)))], [param("TILE_DIMS", [2, 0], I64)])
case("TILE", "f32_dynamic", [T(seq((3, 2)), dyn=(0,)), i32(1, 2)], [T(np.tile(seq((3, 2)), (1, 2)), dyn=(0,))])
reject("TILE", "negative", "build", [1], [T(seq((2, 2))), i32(2, -1)], [T(seq((4, 2)))])
reject("TILE", "one_input", "add", [2], [T(seq((2, 2)))], [T(seq((4, 2)))])

for tag, shape, to in (("rank1", (1,), (4,)), ("row", (3,), (2, 3)), ("column", (2, 1), (2, 3)), ("rank4", (2, 1, 3), (2, 2, 2, 3)), ("outer", (1, 3, 1), (2, 3, 2))):
    for dtype in (F32, F16, I8, I32):
        x = seq(shape, dtype) if shape != (1,) else seq((1,), dtype, 3)
        if shape == (1,):
            x, to = seq((2, 1), dtype), (2, 4)
        case("BROADCAST_TO", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(np.broadcast_to(x, to))], [param("BROADCAST_TO_SHAPE", list(to), I64)])
case("BROADCAST_TO", "f32_dynamic", [T(seq((3, 1)), dyn=(0,))], [T(np.broadcast_to(seq((3, 1)), (3, 2)), dyn=(0,))], [param("BROADCAST_TO_SHAPE", [3, 2], I64)])
reject("BROADCAST_TO", "does_not_fit", "build", [1], [T(seq((2, 3)))], [T(seq((2, 4)))], [param("BROADCAST_TO_SHAPE", [2, 4], I64)])
reject("BROADCAST_TO", "shape_of_int32", "add", [2], [T(seq((1, 3)))], [T(seq((2, 3)))], [param("BROADCAST_TO_SHAPE", [2, 3], I32)])

# --- space and batch


def depth_to_space(x, b, mode):
    n, h, w, c = x.shape
    k = c // (b * b)
    if mode == 0:
        return x.reshape(n, h, w, b, b, k).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, k)
    return x.reshape(n, h, w, k, b, b).transpose(0, 1, 4, 2, 5, 3).reshape(n, h * b, w * b, k)


def space_to_depth(x, b):
    n, h, w, c = x.shape
    return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, c * b * b)


def space_to_batch(x, block, pads):
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    n, h, w, c = x.shape
    (bh, bw) = block
    return x.reshape(n, h // bh, bh, w // bw, bw, c).transpose(2, 4, 0, 1, 3, 5).reshape(-1, h // bh, w // bw, c)


def batch_to_space(x, block, crops):
    bh, bw = block
    n, h, w, c = x.shape
    m = n // (bh * bw)
    y = x.reshape(bh, bw, m, h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(m, h * bh, w * bw, c)
    (t, b), (left, r) = crops
    return y[:, t:h * bh - b, left:w * bw - r]


for b, shape in ((2, (1, 2, 3, 8)), (3, (2, 1, 2, 9)), (2, (1, 1, 2, 12))):
    for dtype in (F32, F16, I8):
        x = seq(shape, dtype)
        for mode in (0, 1):
            case("DEPTH_TO_SPACE", f"{np.dtype(dtype)}_block{b}_c{shape[3]}_mode{mode}", [T(x)], [T(depth_to_space(x, b, mode))],
                 [param("DEPTH_TO_SPACE_BLOCK_SIZE", b, I64), param("DEPTH_TO_SPACE_MODE", mode, I32)])
        x = seq((shape[0], b * 2, b, 3), dtype)
        case("SPACE_TO_DEPTH", f"{np.dtype(dtype)}_block{b}_n{shape[0]}_c{shape[3]}", [T(x)], [T(space_to_depth(x, b))], [param("SPACE_TO_DEPTH_BLOCK_SIZE", b, I64)])
for dtype in (I32, U8, F64):
    x = seq((1, 4, 4, 2), dtype)
    case("SPACE_TO_DEPTH", f"{np.dtype(dtype)}_block4", [T(x)], [T(space_to_depth(x, 4))], [param("SPACE_TO_DEPTH_BLOCK_SIZE", 4, I64)])
x = seq((1, 2, 2, 4))
case("DEPTH_TO_SPACE", "f32_default_mode", [T(x)], [T(depth_to_space(x, 2, 0))], [param("DEPTH_TO_SPACE_BLOCK_SIZE", 2, I64)])
case("DEPTH_TO_SPACE", "f32_dynamic", [T(seq((3, 1, 2, 4)), dyn=(0,))], [T(depth_to_space(seq((3, 1, 2, 4)), 2, 0), dyn=(0,))], [param("DEPTH_TO_SPACE_BLOCK_SIZE", 2, I64)])
case("SPACE_TO_DEPTH", "f32_dynamic", [T(seq((3, 2, 2, 1)), dyn=(0,))], [T(space_to_depth(seq((3, 2, 2, 1)), 2), dyn=(0,))], [param("SPACE_TO_DEPTH_BLOCK_SIZE", 2, I64)])
reject("DEPTH_TO_SPACE", "indivisible", "build", [1], [T(seq((1, 2, 2, 6)))], [T(x)], [param("DEPTH_TO_SPACE_BLOCK_SIZE", 2, I64)])
reject("DEPTH_TO_SPACE", "mode_2", "add", [2], [T(x)], [T(x)], [param("DEPTH_TO_SPACE_BLOCK_SIZE", 2, I64), param("DEPTH_TO_SPACE_MODE", 2, I32)])
reject("DEPTH_TO_SPACE", "block_0", "build", [1], [T(x)], [T(x)])
reject("SPACE_TO_DEPTH", "indivisible", "build", [1], [T(seq((1, 3, 2, 1)))], [T(x)], [param("SPACE_TO_DEPTH_BLOCK_SIZE", 2, I64)])
reject("SPACE_TO_DEPTH", "block_of_int32", "add", [2], [T(x)], [T(x)], [param("SPACE_TO_DEPTH_BLOCK_SIZE", 2, I32)])

for tag, shape, block, pads in (("plain", (1, 2, 4, 1), (2, 2), [(0, 0), (0, 0)]), ("padded", (1, 3, 2, 2), (2, 2), [(1, 0), (1, 1)]), ("tall", (2, 4, 2, 1), (4, 1), [(0, 0), (0, 0)]),
                                ("wide", (1, 1, 6, 3), (1, 3), [(0, 0), (0, 0)])):
    for dtype in (F32, F16, I8):
        x = seq(shape, dtype)
        y = space_to_batch(x, block, pads)
        ps = [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", block, I64), param("SPACE_TO_BATCH_ND_PADDINGS", pads, I64)]
        case("SPACE_TO_BATCH_ND", f"{np.dtype(dtype)}_{tag}", [T(x)], [T(y)], ps)
        ps = [param("BATCH_TO_SPACE_ND_BLOCKSIZE", block, I64), param("BATCH_TO_SPACE_ND_CROPS", pads, I64)]
        z = seq(y.shape, dtype)
        case("BATCH_TO_SPACE_ND", f"{np.dtype(dtype)}_{tag}", [T(z)], [T(batch_to_space(z, block, pads))], ps)
x = seq((1, 2, 4, 2))
ps = [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", (2, 2), I64), param("SPACE_TO_BATCH_ND_PADDINGS", [(0, 0), (0, 0)], I64)]
case("SPACE_TO_BATCH_ND", "f32_dynamic", [T(x, dyn=(2,))], [T(space_to_batch(x, (2, 2), [(0, 0), (0, 0)]), dyn=(2,))], ps)
z = seq((4, 1, 2, 2))
pb = [param("BATCH_TO_SPACE_ND_BLOCKSIZE", (2, 2), I64), param("BATCH_TO_SPACE_ND_CROPS", [(0, 0), (0, 0)], I64)]
case("BATCH_TO_SPACE_ND", "f32_dynamic", [T(z, dyn=(2,))], [T(batch_to_space(z, (2, 2), [(0, 0), (0, 0)]), dyn=(2,))], pb)
x = seq((1, 3, 5, 1))
case("SPACE_TO_BATCH_ND", "f32_what_does_not_divide_is_cut", [T(x)], [T(space_to_batch(x[:, :2, :4], (2, 2), [(0, 0), (0, 0)]))], ps)
x = seq((1, 2, 4, 2))
reject("SPACE_TO_BATCH_ND", "block_of_rank_2", "add", [2], [T(x)], [T(z)], [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", [[2, 2]], I64), ps[1]])
reject("SPACE_TO_BATCH_ND", "paddings_of_rank_1", "add", [2], [T(x)], [T(z)], [ps[0], param("SPACE_TO_BATCH_ND_PADDINGS", [0, 0, 0, 0], I64)])
reject("BATCH_TO_SPACE_ND", "batch_indivisible", "build", [1], [T(seq((3, 1, 2, 2)))], [T(x)], pb)
reject("BATCH_TO_SPACE_ND", "crops_of_two", "add", [2], [T(z)], [T(x)], [pb[0], param("BATCH_TO_SPACE_ND_CROPS", [0, 0], I64)])
