"""Parameters that are left out, and those that are given without an effect, for operators whose other cases always or never give them."""

import numpy as np

from case import BOOL, F32, I8, I32, I64, Q, T, case, const, param, reject, rng
from movement import i32, seq
from network import lstm
from reduction import f32
from spatial import conv, conv_transpose, draw, pool, resize

for op, ws in (("CONV2D", (3, 2, 2, 2)), ("DEPTHWISE_CONV2D_NATIVE", (2, 2, 2, 1)), ("CONV2D_TRANSPOSE", (3, 2, 2, 2))):
    x, w, b = draw(op + "dx", (1, 4, 5, 2)), draw(op + "dw", ws), draw(op + "db", ws[:1])
    f = conv_transpose if op == "CONV2D_TRANSPOSE" else conv
    kw = {"group": 2} if op == "DEPTHWISE_CONV2D_NATIVE" else {}
    y = f(x.astype(np.float64), w.astype(np.float64), b.astype(np.float64), **kw)
    case(op, "f32_no_parameters", [T(x), const(w), const(b)], [T(y.astype(F32))])
    y = f(x.astype(np.float64), w.astype(np.float64), b.astype(np.float64), strides=(2, 1), **kw)
    case(op, "f32_strides_alone", [T(x), const(w), const(b)], [T(y.astype(F32))], [param(op + "_STRIDES", (2, 1), I64)])

x = draw("pool floor", (1, 5, 5, 2))
ps = [param("MAX_POOL_KERNEL_SIZE", (2, 2), I64), param("MAX_POOL_STRIDE", (2, 2), I64), param("MAX_POOL_ROUND_MODE", 0, I32)]
case("MAX_POOL", "f32_round_down", [T(x)], [T(pool("MAX_POOL", x.astype(np.float64), (2, 2), (2, 2)).astype(F32))], ps)

x, w = draw("fcx", (3, 4)), draw("fcw", (5, 4))
case("FULL_CONNECTION", "f32_no_parameters", [T(x), const(w)], [T((x.astype(np.float64) @ w.T).astype(F32))])

x = seq((4, 3))
case("SPLIT", "f32_no_axis", [T(x)], [T(v) for v in np.split(x, 2, 0)], [param("SPLIT_OUTPUT_NUM", 2, I64)])
case("SPLIT", "f32_no_parameters", [T(x)], [T(v) for v in np.split(x, 4, 0)])

x = draw("resize", (1, 3, 4, 2), F32, 0, 5)
ps = [param("RESIZE_BILINEAR_NEW_HEIGHT", 5, I64), param("RESIZE_BILINEAR_NEW_WIDTH", 7, I64)]
for name, extra in (("exclude_outside_is_ignored", param("RESIZE_BILINEAR_EXCLUDE_OUTSIDE", 1, I64)), ("aspect_ratio_not_kept", param("RESIZE_BILINEAR_PRESERVE_ASPECT_RATIO", False, BOOL))):
    case("RESIZE_BILINEAR", "f32_" + name, [T(x)], [T(resize(x.astype(np.float64), 5, 7, 0).astype(F32))], ps + [extra])

x = np.array([[True, True], [True, False], [False, False]])
case("REDUCE_ALL", "bool_coefficient_is_ignored", [T(x), i32(1)], [T(x.all(axis=1))], [param("REDUCE_ALL_COEFF", 2.0, F32)])

case("RANGE", "int32_limit_left_out_is_zero", [T(seq((2,), I32))], [T(np.array([5, 3, 1], I32))], [param("RANGE_START", 5, I64), param("RANGE_DELTA", -2, I64)])
case("CONSTANT_OF_SHAPE", "f32_type_of_the_output", [T(np.array([2, 3], I32))], [T(np.full((2, 3), 1.5, F32), dyn=(0, 1))], [param("CONSTANT_OF_SHAPE_VALUE", [1.5], F32)])

t, b, i, h = 3, 2, 2, 3
xs = [f32(f"lstmdefault{k}", s) for k, s in enumerate(((t, b, i), (1, 4 * h, i), (1, 4 * h, h), (1, 8 * h), (1, b, h), (1, b, h)))]
out, hy, cy = lstm(*[v.astype(np.float64) for v in xs], 0.0, 0.0)
ins = [T(xs[0])] + [const(v) for v in xs[1:4]] + [T(v) for v in xs[4:]]
case("LSTM", "float32_has_bias_alone", ins, [T(out.astype(F32)), T(hy.astype(F32)), T(cy.astype(F32))], [param("LSTM_HAS_BIAS", True, BOOL)])

x = rng("per channel").uniform(-4, 4, (3, 4)).astype(F32)
q = Q([F32(0.02), F32(0.03), F32(0.04), F32(0.05)], [0, 1, -2, 3], axis=1)
ps = [param("QUANT_DTYPE_CAST_SRC_T", 43, I64), param("QUANT_DTYPE_CAST_DST_T", 32, I64), param("QUANT_DTYPE_CAST_AXIS", 1, I64)]
case("QUANT_DTYPE_CAST", "f32_to_i8_per_channel", [T(x)], [T(q.quantize(x, I8), q)], ps)
y = q.quantize(x, I8)
case("QUANT_DTYPE_CAST", "i8_to_f32_per_channel", [T(y, q)], [T(q.real(y).astype(F32))], ps)

x = seq((2, 3))
reject("UNSQUEEZE", "axis_left_out", "build", [1], [T(x)], [T(x[:, None])])
reject("SPACE_TO_DEPTH", "block_left_out", "build", [1], [T(seq((1, 2, 2, 1)))], [T(seq((1, 1, 1, 4)))])
reject("LSTM", "projection", "build", [1], ins, [T(out.astype(F32)), T(hy.astype(F32)), T(cy.astype(F32))], [param("LSTM_PROJ_SIZE", 2, I64)])
