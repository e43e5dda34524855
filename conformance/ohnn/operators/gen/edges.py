"""The smallest operands, tensors of one element, of operators that the other files try with larger ones only.

A dimension of 0 cannot be had in a model (the API refuses it), so one element is the edge.
"""

import math

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, Q, T, case, const, param, scalar_param
from network import DP, detect

NAME = "f32_one_element"


def one(v, rank=1, dtype=F32):
    return np.full((1,) * rank, v, dtype)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


UNARY = {
    "SIGMOID": sigmoid, "CEIL": math.ceil, "EXP": math.exp, "ERF": math.erf, "SQRT": math.sqrt, "SQUARE": lambda x: x * x, "NEG": lambda x: -x,
    "ROUND": lambda x: 1.0, "SWISH": lambda x: x * sigmoid(x), "FLOOR": math.floor, "RELU": lambda x: x, "RELU6": lambda x: x, "COS": math.cos,
    "SIN": math.sin, "HSWISH": lambda x: x * min(max(x + 3, 0), 6) / 6, "ABS": abs, "GELU": lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))),
    "TANH": math.tanh, "RECIPROCAL": lambda x: 1 / x, "RSQRT": lambda x: 1 / math.sqrt(x), "HARD_SIGMOID": lambda x: min(max(x / 6 + 0.5, 0), 1),
    "LOG": math.log, "LEAKY_RELU": lambda x: x,
}
VALUE = 1.375  # exact in float32
for op, f in UNARY.items():
    y = F32(f(VALUE))
    case(op, NAME, [T(one(VALUE))], [T(one(y))])
case("LOGICAL_NOT", "bool_one_element", [T(one(1, dtype=BOOL))], [T(one(0, dtype=BOOL))])
case("CLIP", NAME, [T(one(VALUE))], [T(one(1))], [param("CLIP_MAX", 1, F32), param("CLIP_MIN", 0, F32)])
case("QUANT_DTYPE_CAST", "one_element", [T(one(VALUE))], [T(one(11, dtype=I8), q=Q(0.125))],
     [param("QUANT_DTYPE_CAST_SRC_T", 43, I64), param("QUANT_DTYPE_CAST_DST_T", 32, I64)])
for op in ("WHERE", "SELECT"):
    case(op, NAME, [T(one(0, dtype=BOOL)), T(one(2)), T(one(3))], [T(one(3))])
case("ELTWISE", NAME, [T(one(2)), T(one(3.5))], [T(one(7))], [param("ELTWISE_MODE", 0, I8)])

# What only moves elements gives the one there is.
SAME = {
    "FLATTEN": ((1, 1, 1), (1, 1), []), "SQUEEZE": ((1, 1), (1,), [param("SQUEEZE_AXIS", 0, I64)]),
    "UNSQUEEZE": ((1,), (1, 1), [param("UNSQUEEZE_AXIS", 0, I64)]), "UNSTACK": ((1, 1), (1,), [param("UNSTACK_AXIS", 0, I64)]),
    "SPLIT": ((1, 1), (1, 1), [param("SPLIT_AXIS", 0, I64), param("SPLIT_OUTPUT_NUM", 1, I64)]),
    "BROADCAST_TO": ((1,), (1, 1), [param("BROADCAST_TO_SHAPE", (1, 1), I64)]),
    "MAX_POOL": ((1,) * 4, (1,) * 4, [param("MAX_POOL_KERNEL_SIZE", (1, 1), I64), param("MAX_POOL_STRIDE", (1, 1), I64), param("MAX_POOL_PAD", (0,) * 4, I64)]),
    "AVG_POOL": ((1,) * 4, (1,) * 4, [param("AVG_POOL_KERNEL_SIZE", (1, 1), I64), param("AVG_POOL_STRIDE", (1, 1), I64), param("AVG_POOL_PAD", (0,) * 4, I64)]),
    "RESIZE_BILINEAR": ((1,) * 4, (1, 2, 2, 1), [param("RESIZE_BILINEAR_NEW_HEIGHT", 2, I64), param("RESIZE_BILINEAR_NEW_WIDTH", 2, I64)]),
}
for op, (shape, to, params) in SAME.items():
    case(op, NAME, [T(np.full(shape, VALUE, F32))], [T(np.full(to, VALUE, F32))], params)
case("CONCAT", NAME, [T(one(VALUE)), T(one(2))], [T(np.array([VALUE, 2], F32))], [param("CONCAT_AXIS", 0, I64)])
case("STACK", NAME, [T(one(VALUE)), T(one(2))], [T(np.array([[VALUE], [2]], F32))], [param("STACK_AXIS", 0, I64)])
case("TRANSPOSE", NAME, [T(one(VALUE)), const(np.array([0], I32))], [T(one(VALUE))])
case("PAD", NAME, [T(one(VALUE)), const(np.array([[0, 1]], I32))], [T(np.array([VALUE, 0], F32))])
case("CROP", NAME, [T(one(VALUE, 2)), const(np.array([1, 1], I32))], [T(one(VALUE, 2))], [param("CROP_AXIS", 0, I64), param("CROP_OFFSET", (0, 0), I64)])

# Block operators need one block.
x = np.array([1, 2, 3, 4], F32)
case("SPACE_TO_DEPTH", "f32_one_block", [T(x.reshape(1, 2, 2, 1))], [T(x.reshape(1, 1, 1, 4))], [param("SPACE_TO_DEPTH_BLOCK_SIZE", 2, I64)])
case("DEPTH_TO_SPACE", "f32_one_block", [T(x.reshape(1, 1, 1, 4))], [T(x.reshape(1, 2, 2, 1))], [param("DEPTH_TO_SPACE_BLOCK_SIZE", 2, I64)])
case("SPACE_TO_BATCH_ND", "f32_one_block", [T(x.reshape(1, 2, 2, 1))], [T(x.reshape(4, 1, 1, 1))],
     [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", (2, 2), I64), param("SPACE_TO_BATCH_ND_PADDINGS", ((0, 0), (0, 0)), I64)])
case("BATCH_TO_SPACE_ND", "f32_one_block", [T(x.reshape(4, 1, 1, 1))], [T(x.reshape(1, 2, 2, 1))],
     [param("BATCH_TO_SPACE_ND_BLOCKSIZE", (2, 2), I64), param("BATCH_TO_SPACE_ND_CROPS", (0,) * 4, I64)])

case("SHAPE", NAME, [T(one(VALUE))], [T(one(1, dtype=I32))])
case("RANK", NAME, [T(one(VALUE, 3))], [T(one(3, dtype=I32))])
case("ARG_MAX", NAME, [T(one(VALUE))], [T(one(0, dtype=I32))], [param("ARG_MAX_AXIS", 0, I64), param("ARG_MAX_KEEPDIMS", True, BOOL)])
case("RANGE", "int32_one_element", [T(np.array([9], I32))], [T(np.array([4], I32))],
     [param("RANGE_START", 4, I64), param("RANGE_LIMIT", 5, I64), param("RANGE_DELTA", 1, I64)])

# Sums of one product.
case("MATMUL", NAME, [T(one(1.5, 2)), T(one(-3, 2))], [T(one(-4.5, 2))])
case("FULL_CONNECTION", NAME, [T(one(1.5, 2)), const(one(-3, 2)), const(one(0.25))], [T(one(-4.25, 2))], [param("FULL_CONNECTION_HAS_BIAS", True, BOOL)])
for op in ("CONV2D", "CONV2D_TRANSPOSE"):
    window = [param(f"{op}_STRIDES", (1, 1), I64), param(f"{op}_DILATION", (1, 1), I64), param(f"{op}_PAD", (0,) * 4, I64)]
    case(op, NAME, [T(one(1.5, 4)), const(one(-3, 4)), const(one(0.25))], [T(one(-4.25, 4))], window)
case("BIAS_ADD", NAME, [T(one(1.5, 2)), const(one(0.25))], [T(one(1.75, 2))])
case("SCALE", NAME, [T(one(1.5, 2)), const(one(-3)), const(one(0.25))], [T(one(-4.25, 2))], [param("SCALE_AXIS", -1, I64)])

# Normalization of one element: it is its own mean, maximum and length.
case("SOFTMAX", NAME, [T(one(VALUE))], [T(one(1))], [param("SOFTMAX_AXIS", 0, I64)])
case("LOG_SOFTMAX", NAME, [T(one(VALUE))], [T(one(0))], [param("LOG_SOFTMAX_AXIS", 0, I64)])
case("L2_NORMALIZE", NAME, [T(one(-VALUE))], [T(one(-1))], [param("L2_NORMALIZE_AXIS", 0, I64)])
case("LAYER_NORM", NAME, [T(one(VALUE, 2)), const(one(2)), const(one(0.5))], [T(one(0.5, 2))],
     [scalar_param("LAYER_NORM_BEGIN_NORM_AXIS", 1, I64), scalar_param("LAYER_NORM_BEGIN_PARAM_AXIS", 1, I64)])
case("INSTANCE_NORM", NAME, [T(one(VALUE, 4)), const(one(2)), const(one(0.5))], [T(one(0.5, 4))], [param("INSTANCE_NORM_EPSILON", 0.001, F32)])
case("BATCH_NORM", NAME, [T(one(1.5, 2))] + [const(one(v)) for v in (2, 0.5, 1, 4)], [T(one(2 * 0.5 / math.sqrt(4 + 1e-4) + 0.5, 2))], [param("BATCH_NORM_EPSILON", 1e-4, F32)])
case("LRN", NAME, [T(one(1.5, 4))], [T(one(1.5 / (1 + 0.5 * 2.25) ** 0.5, 4))],
     [param("LRN_DEPTH_RADIUS", 1, I64), param("LRN_BIAS", 1, F32), param("LRN_ALPHA", 0.5, F32), param("LRN_BETA", 0.5, F32)])

# One step, one sample, one feature: gates i, o, f, c in this order, no recurrence from zero states.
w, b = (0.5, -0.25, 0.75, 1.0), 0.125
i, o, f, c = (v * VALUE for v in w)
cell = sigmoid(f + b) * 0 + sigmoid(i + b) * math.tanh(c + b)
hidden = sigmoid(o + b) * math.tanh(cell)
zero = np.zeros((1, 1, 1), F32)
bias = np.array([[b] * 4 + [0] * 4], F32)
case("LSTM", NAME, [T(one(VALUE, 3)), const(np.array(w, F32).reshape(1, 4, 1)), const(np.ones((1, 4, 1), F32)), const(bias), T(zero), T(zero)],
     [T(one(hidden, 4)), T(one(hidden, 3)), T(one(cell, 3))],
     [param("LSTM_HAS_BIAS", True, BOOL), param("LSTM_INPUT_SIZE", 1, I64), param("LSTM_HIDDEN_SIZE", 1, I64)])

# One box of one class: the anchor itself, at (y, x) with (height, width).
boxes, scores, anchors = np.zeros((1, 1, 4), F32), one(0.875, 3), np.array([[0.5, 0.5, 0.25, 0.5]], F32)
out = detect(boxes.astype(F64), scores.astype(F64), anchors.astype(F64), np.array([10, 10, 5, 5], F64), 0.5, 0.25, 1, 1, 1, 1, False)
assert np.allclose(out[0].ravel(), [0.375, 0.25, 0.625, 0.75]) and np.allclose(out[1].ravel(), 0) and np.allclose(out[2].ravel(), 0.875)
case(DP, "f32_one_box", [T(boxes), T(scores), const(anchors)], [T(o.astype(F32)) for o in out],
     [param(f"{DP}_INPUT_SIZE", 300, I64), param(f"{DP}_SCALE", (10, 10, 5, 5), F32), param(f"{DP}_NMS_IOU_THRESHOLD", 0.5, F32),
      param(f"{DP}_NMS_SCORE_THRESHOLD", 0.25, F32), param(f"{DP}_MAX_DETECTIONS", 1, I64), param(f"{DP}_DETECTIONS_PER_CLASS", 1, I64),
      param(f"{DP}_MAX_CLASSES_PER_DETECTION", 1, I64), param(f"{DP}_NUM_CLASSES", 1, I64), param(f"{DP}_USE_REGULAR_NMS", False, BOOL), param(f"{DP}_OUT_QUANTIZED", False, BOOL)])
