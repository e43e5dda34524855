/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file neural_network_runtime_type.h
 * Types of the Neural Network Runtime C API: numbers, sizes and layouts as on 64-bit OpenHarmony. For C11 and later,
 * C++11 and later.
 *
 * Numbers "since 9", "since 11" and "since 12" are the API levels at which a name appeared. What is marked deprecated
 * works and stays. A program that defines ANYNPU_WARN_DEPRECATED before its first include gets compiler warnings for
 * the deprecated functions; without it there are none.
 */

#ifndef NEURAL_NETWORK_RUNTIME_TYPE_H
#define NEURAL_NETWORK_RUNTIME_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef ANYNPU_WARN_DEPRECATED
#define ANYNPU_OHNN_DEPRECATED(replacement) __attribute__((deprecated("use " replacement)))
#else
#define ANYNPU_OHNN_DEPRECATED(replacement)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A graph under construction or finished: tensors, operations, inputs and outputs. Since 9. */
typedef struct OH_NNModel OH_NNModel;

/** A model being compiled, or compiled, for one device. Since 9. */
typedef struct OH_NNCompilation OH_NNCompilation;

/** Runs a compiled model. Since 9. */
typedef struct OH_NNExecutor OH_NNExecutor;

/** Quantization parameters of one tensor: scales, zero points and bit widths. Since 11. */
typedef struct NN_QuantParam NN_QuantParam;

/** Data type, shape, format and name of a tensor, without its data. Since 11. */
typedef struct NN_TensorDesc NN_TensorDesc;

/** A tensor with its data in shared memory. Since 11. */
typedef struct NN_Tensor NN_Tensor;

/** Preference between speed and power. Since 9. */
typedef enum {
    OH_NN_PERFORMANCE_NONE = 0,    /**< No preference. */
    OH_NN_PERFORMANCE_LOW = 1,     /**< Least power. */
    OH_NN_PERFORMANCE_MEDIUM = 2,  /**< Balanced. */
    OH_NN_PERFORMANCE_HIGH = 3,    /**< Fast. */
    OH_NN_PERFORMANCE_EXTREME = 4, /**< As fast as the device can. */
} OH_NN_PerformanceMode;

/** Order in which waiting runs are served. Since 9. */
typedef enum {
    OH_NN_PRIORITY_NONE = 0,   /**< No preference. */
    OH_NN_PRIORITY_LOW = 1,    /**< After the others. */
    OH_NN_PRIORITY_MEDIUM = 2, /**< Between. */
    OH_NN_PRIORITY_HIGH = 3,   /**< Before the others. */
} OH_NN_Priority;

/** Result of a call. Since 9; the values from 9 on since 11. */
typedef enum {
    OH_NN_SUCCESS = 0,              /**< The call did what was asked. */
    OH_NN_FAILED = 1,               /**< Failed for a reason without its own code, such as an unknown device. */
    OH_NN_INVALID_PARAMETER = 2,    /**< An argument is NULL, out of range or does not fit the others. */
    OH_NN_MEMORY_ERROR = 3,         /**< Memory could not be allocated, mapped or copied. */
    OH_NN_OPERATION_FORBIDDEN = 4,  /**< Not allowed in this state, or a feature the device lacks. */
    OH_NN_NULL_PTR = 5,             /**< An element of an array that must not be NULL is NULL. */
    OH_NN_INVALID_FILE = 6,         /**< A cache file is damaged or cannot be read. */
    OH_NN_UNAVALIDABLE_DEVICE = 7,  /**< Deprecated since 11 and never returned; see OH_NN_UNAVAILABLE_DEVICE. */
    OH_NN_INVALID_PATH = 8,         /**< A path is not usable. */
    OH_NN_TIMEOUT = 9,              /**< An asynchronous run took longer than its limit. */
    OH_NN_UNSUPPORTED = 10,         /**< The device or this build cannot do it. */
    OH_NN_CONNECTION_EXCEPTION = 11, /**< The connection to the device's service broke. */
    OH_NN_SAVE_CACHE_EXCEPTION = 12, /**< A cache could not be written. */
    OH_NN_DYNAMIC_SHAPE = 13,       /**< The shape has an unknown dimension, so there is no element count. */
    OH_NN_UNAVAILABLE_DEVICE = 14,  /**< The device failed. */
} OH_NN_ReturnCode;

/**
 * Activation fused into an operation. One signed byte; the data of a fused-activation parameter is one INT8. Since 9.
 *
 * C before C23 has no enumerations of a given width, so there the type is int8_t and the names are constants.
 */
#if defined(__cplusplus)
typedef enum : int8_t {
    OH_NN_FUSED_NONE = 0,  /**< None. */
    OH_NN_FUSED_RELU = 1,  /**< max(x, 0). */
    OH_NN_FUSED_RELU6 = 2, /**< min(max(x, 0), 6). */
} OH_NN_FuseType;
#else
typedef int8_t OH_NN_FuseType;
enum {
    OH_NN_FUSED_NONE = 0,  /**< None. */
    OH_NN_FUSED_RELU = 1,  /**< max(x, 0). */
    OH_NN_FUSED_RELU6 = 2, /**< min(max(x, 0), 6). */
};
#endif

/** Meaning of a tensor's dimensions. A descriptor keeps it; image operators always read N, H, W, C. Since 9. */
typedef enum {
    OH_NN_FORMAT_NONE = 0, /**< Not said. */
    OH_NN_FORMAT_NCHW = 1, /**< Batch, channels, height, width. */
    OH_NN_FORMAT_NHWC = 2, /**< Batch, height, width, channels. */
    OH_NN_FORMAT_ND = 3,   /**< No image: any dimensions. Since 11. */
} OH_NN_Format;

/** Kind of a device. Since 9. */
typedef enum {
    OH_NN_OTHERS = 0,      /**< None of the following. */
    OH_NN_CPU = 1,         /**< Processor. */
    OH_NN_GPU = 2,         /**< Graphics processor. */
    OH_NN_ACCELERATOR = 3, /**< Neural network accelerator. */
} OH_NN_DeviceType;

/** Type of a tensor's elements. Since 9. */
typedef enum {
    OH_NN_UNKNOWN = 0,  /**< Not said; such a tensor has no data. */
    OH_NN_BOOL = 1,     /**< 1 byte, 0 or 1. */
    OH_NN_INT8 = 2,     /**< 1 byte. */
    OH_NN_INT16 = 3,    /**< 2 bytes. */
    OH_NN_INT32 = 4,    /**< 4 bytes. */
    OH_NN_INT64 = 5,    /**< 8 bytes. */
    OH_NN_UINT8 = 6,    /**< 1 byte. */
    OH_NN_UINT16 = 7,   /**< 2 bytes. */
    OH_NN_UINT32 = 8,   /**< 4 bytes. */
    OH_NN_UINT64 = 9,   /**< 8 bytes. */
    OH_NN_FLOAT16 = 10, /**< 2 bytes, IEEE 754 binary16. */
    OH_NN_FLOAT32 = 11, /**< 4 bytes, IEEE 754 binary32. */
    OH_NN_FLOAT64 = 12, /**< 8 bytes, IEEE 754 binary64. */
} OH_NN_DataType;

/**
 * Operators: inputs -> outputs, then the meaning. [N,H,W,C] are batch, height, width, channels. The parameters of an
 * operator are the OH_NN_TensorType values that begin with its name. 1 to 56 since 9, 57 to 108 since 12.
 */
typedef enum {
    OH_NN_OPS_ADD = 1, /**< a, b -> y. a + b with NumPy broadcasting, then the fused activation. */
    OH_NN_OPS_AVG_POOL = 2, /**< x [N,H,W,C] -> y. Mean over a window; cells outside x are not counted. */
    /** x [N,..,C], scale [C], offset [C], mean [C], variance [C] -> y. Normalizes the last axis. */
    OH_NN_OPS_BATCH_NORM = 3,
    /** x [N,H,W,C] -> y. Moves blocks of the batch axis into H and W, then crops; undoes SPACE_TO_BATCH_ND. */
    OH_NN_OPS_BATCH_TO_SPACE_ND = 4,
    OH_NN_OPS_BIAS_ADD = 5, /**< x [N,..,C], bias [C] -> y. x + bias along the last axis. */
    /** x, type (one constant integer, an OH_NN_DataType) -> y. Converts elements; float to integer truncates. */
    OH_NN_OPS_CAST = 6,
    OH_NN_OPS_CONCAT = 7, /**< x0, x1, ... (two or more) -> y. Joins tensors along an axis. */
    /** x [N,H,W,C], weight [O,kh,kw,C/group], bias [O] -> y [N,oh,ow,O]. Cross-correlation plus bias. */
    OH_NN_OPS_CONV2D = 8,
    /** x [N,H,W,C], weight [O,kh,kw,C/group], bias [O] -> y. Transposed convolution. */
    OH_NN_OPS_CONV2D_TRANSPOSE = 9,
    /** x [N,H,W,C], weight [O,kh,kw,1], bias [O] -> y. Depthwise convolution; O is a multiple of C. */
    OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE = 10,
    OH_NN_OPS_DIV = 11, /**< a, b -> y. a / b with broadcasting; integer quotients truncate toward zero. */
    OH_NN_OPS_ELTWISE = 12, /**< a, b -> y. Product, sum or maximum, as ELTWISE_MODE says. */
    OH_NN_OPS_EXPAND_DIMS = 13, /**< x, axis (one constant int32) -> y. Inserts a dimension of size 1. */
    OH_NN_OPS_FILL = 14, /**< value (scalar), shape (int32 list) -> y. A tensor filled with value. */
    /** x, weight [O,I], optional bias [O] -> y [N,O]. Fully connected layer: x * transposed weight + bias. */
    OH_NN_OPS_FULL_CONNECTION = 15,
    OH_NN_OPS_GATHER = 16, /**< x, indices, axis (one int32) -> y. Takes slices of x along axis. */
    OH_NN_OPS_HSWISH = 17, /**< x -> y. x * relu6(x + 3) / 6. */
    OH_NN_OPS_LESS_EQUAL = 18, /**< a, b -> y (bool). a <= b with broadcasting. */
    OH_NN_OPS_MATMUL = 19, /**< a [..,m,k], b [..,k,n] -> y [..,m,n]. Matrix product; leading dimensions broadcast. */
    OH_NN_OPS_MAXIMUM = 20, /**< a, b -> y. The larger element, with broadcasting. */
    OH_NN_OPS_MAX_POOL = 21, /**< x [N,H,W,C] -> y. Maximum over the part of a window that lies in x. */
    OH_NN_OPS_MUL = 22, /**< a, b -> y. a * b with broadcasting. */
    OH_NN_OPS_ONE_HOT = 23, /**< indices (int32), depth, on value, off value -> y. One-hot vectors along a new axis. */
    OH_NN_OPS_PAD = 24, /**< x, paddings [rank,2] -> y. Extends every side of x. */
    OH_NN_OPS_POW = 25, /**< x, exponent -> y. (POW_SCALE * x + POW_SHIFT) to the power of exponent. */
    OH_NN_OPS_SCALE = 26, /**< x, scale, bias -> y. x * scale + bias, both aligned with SCALE_AXIS. */
    OH_NN_OPS_SHAPE = 27, /**< x -> y (int32 list). The dimensions of x. */
    OH_NN_OPS_SIGMOID = 28, /**< x -> y. 1 / (1 + exp(-x)). */
    OH_NN_OPS_SLICE = 29, /**< x, begin, size (int lists) -> y. A box of x; size -1 means up to the end. */
    OH_NN_OPS_SOFTMAX = 30, /**< x -> y. Softmax along one axis. */
    OH_NN_OPS_SPACE_TO_BATCH_ND = 31, /**< x [N,H,W,C] -> y. Pads, then moves blocks of H and W into the batch axis. */
    OH_NN_OPS_SPLIT = 32, /**< x -> y0, y1, ... Cuts x along an axis. */
    OH_NN_OPS_SQRT = 33, /**< x -> y. Square root. */
    OH_NN_OPS_SQUARED_DIFFERENCE = 34, /**< a, b -> y. (a - b) squared, with broadcasting. */
    OH_NN_OPS_SQUEEZE = 35, /**< x -> y. Drops dimensions of size 1. */
    OH_NN_OPS_STACK = 36, /**< x0, x1, ... (two or more, one shape) -> y. Joins tensors along a new axis. */
    /** x, begin, end, strides (int lists) -> y. A strided box of x with TensorFlow's masks. */
    OH_NN_OPS_STRIDED_SLICE = 37,
    OH_NN_OPS_SUB = 38, /**< a, b -> y. a - b with broadcasting. */
    OH_NN_OPS_TANH = 39, /**< x -> y. Hyperbolic tangent. */
    OH_NN_OPS_TILE = 40, /**< x, multiples (int32 list) -> y. Repeats x along each axis. */
    /** x, permutation (int32 list) -> y. Reorders dimensions: dimension i of y is dimension permutation[i] of x. */
    OH_NN_OPS_TRANSPOSE = 41,
    OH_NN_OPS_REDUCE_MEAN = 42, /**< x, axes (int32 list) -> y. Arithmetic mean over axes. */
    OH_NN_OPS_RESIZE_BILINEAR = 43, /**< x [N,H,W,C] -> y [N,h,w,C]. Bilinear interpolation. */
    OH_NN_OPS_RSQRT = 44, /**< x -> y. 1 / square root. */
    /** x, shape (int list) -> y. Same elements, new shape; one -1 is inferred, 0 copies a dimension of x. */
    OH_NN_OPS_RESHAPE = 45,
    OH_NN_OPS_PRELU = 46, /**< x [N,..,C], slope [1] or [C] -> y. x where x > 0, else slope * x. */
    OH_NN_OPS_RELU = 47, /**< x -> y. max(x, 0). */
    OH_NN_OPS_RELU6 = 48, /**< x -> y. min(max(x, 0), 6). */
    /** x, gamma, beta -> y. Normalizes all dimensions from LAYER_NORM_BEGIN_NORM_AXIS on. */
    OH_NN_OPS_LAYER_NORM = 49,
    OH_NN_OPS_REDUCE_PROD = 50, /**< x, axes (int32 list) -> y. Product over axes. */
    OH_NN_OPS_REDUCE_ALL = 51, /**< x (bool), axes (int32 list) -> y (bool). Logical and over axes. */
    /** x -> y. Quantizes, dequantizes or requantizes, as the data types of x and y say. */
    OH_NN_OPS_QUANT_DTYPE_CAST = 52,
    OH_NN_OPS_TOP_K = 53, /**< x, k (scalar) -> values, indices (int32). The k largest elements along an axis. */
    OH_NN_OPS_ARG_MAX = 54, /**< x -> y (int32). Index of the largest element along an axis, the first one on a tie. */
    OH_NN_OPS_UNSQUEEZE = 55, /**< x -> y. Inserts a dimension of size 1. */
    OH_NN_OPS_GELU = 56, /**< x -> y. Gaussian error linear unit. */
    OH_NN_OPS_UNSTACK = 57, /**< x -> y0, y1, ... Takes x apart along an axis, which vanishes. */
    OH_NN_OPS_ABS = 58, /**< x -> y. Absolute value. */
    OH_NN_OPS_ERF = 59, /**< x -> y. Error function. */
    OH_NN_OPS_EXP = 60, /**< x -> y. EXP_BASE to the power of (EXP_SHIFT + EXP_SCALE * x). */
    OH_NN_OPS_LESS = 61, /**< a, b -> y (bool). a < b with broadcasting. */
    OH_NN_OPS_SELECT = 62, /**< condition (bool), a, b -> y. a where condition holds, else b. */
    OH_NN_OPS_SQUARE = 63, /**< x -> y. x * x. */
    OH_NN_OPS_FLATTEN = 64, /**< x -> y (two dimensions). Merges the dimensions before and from FLATTEN_AXIS. */
    OH_NN_OPS_DEPTH_TO_SPACE = 65, /**< x [N,H,W,C] -> y [N,H*b,W*b,C/(b*b)]. Moves channels into space. */
    /** x (only its data type counts) -> y. Evenly spaced numbers from START towards LIMIT, LIMIT excluded. */
    OH_NN_OPS_RANGE = 66,
    OH_NN_OPS_INSTANCE_NORM = 67, /**< x [N,C,..], scale [C], bias [C] -> y. Normalizes each channel of each image. */
    OH_NN_OPS_CONSTANT_OF_SHAPE = 68, /**< shape (int list) -> y. A tensor of that shape filled with one value. */
    OH_NN_OPS_BROADCAST_TO = 69, /**< x -> y. Repeats x to BROADCAST_TO_SHAPE by NumPy's rule. */
    OH_NN_OPS_EQUAL = 70, /**< a, b -> y (bool). a == b with broadcasting. */
    OH_NN_OPS_GREATER = 71, /**< a, b -> y (bool). a > b with broadcasting. */
    OH_NN_OPS_NOT_EQUAL = 72, /**< a, b -> y (bool). a != b with broadcasting. */
    OH_NN_OPS_GREATER_EQUAL = 73, /**< a, b -> y (bool). a >= b with broadcasting. */
    OH_NN_OPS_LEAKY_RELU = 74, /**< x -> y. x where x >= 0, else slope * x. */
    /** x [T,B,I], input weights, state weights, bias, h, c -> y, last h, last c. Gates: input, output, forget, cell. */
    OH_NN_OPS_LSTM = 75,
    OH_NN_OPS_CLIP = 76, /**< x -> y. min(max(x, CLIP_MIN), CLIP_MAX). */
    OH_NN_OPS_ALL = 77, /**< x, axis -> y (bool). Logical and along axis. */
    OH_NN_OPS_ASSERT = 78, /**< condition (bool), data -> y. Fails the run when the condition is false. */
    OH_NN_OPS_COS = 79, /**< x -> y. Cosine. */
    OH_NN_OPS_LOG = 80, /**< x -> y. Natural logarithm. */
    OH_NN_OPS_LOGICAL_AND = 81, /**< a, b -> y (bool). Logical and, with broadcasting. */
    OH_NN_OPS_LOGICAL_NOT = 82, /**< x -> y (bool). Logical not. */
    OH_NN_OPS_MOD = 83, /**< a, b -> y. Remainder with the sign of a. */
    OH_NN_OPS_NEG = 84, /**< x -> y. -x. */
    OH_NN_OPS_RECIPROCAL = 85, /**< x -> y. 1 / x. */
    OH_NN_OPS_SIN = 86, /**< x -> y. Sine. */
    OH_NN_OPS_WHERE = 87, /**< condition (bool), a, b -> y. a where condition holds, else b, with broadcasting. */
    /** indices [n,k] (int32), values [n], shape [k] -> y. Zeros with the values at the indices. */
    OH_NN_OPS_SPARSE_TO_DENSE = 88,
    OH_NN_OPS_LOGICAL_OR = 89, /**< a, b -> y (bool). Logical or, with broadcasting. */
    OH_NN_OPS_CEIL = 90, /**< x -> y. Smallest integer not below x. */
    /** x, reference -> y. The part of x that has the size of the reference, starting at an offset. */
    OH_NN_OPS_CROP = 91,
    /** boxes [1,A,4], scores [1,A,C], anchors [A,4] -> boxes, classes, scores, count. Decodes, drops overlaps. */
    OH_NN_OPS_DETECTION_POST_PROCESS = 92,
    OH_NN_OPS_FLOOR = 93, /**< x -> y. Largest integer not above x. */
    OH_NN_OPS_L2_NORMALIZE = 94, /**< x -> y. x divided by its Euclidean norm over the axes. */
    OH_NN_OPS_LOG_SOFTMAX = 95, /**< x -> y. Logarithm of softmax along one axis. */
    OH_NN_OPS_LRN = 96, /**< x [N,H,W,C] -> y. Local response normalization across channels. */
    OH_NN_OPS_MINIMUM = 97, /**< a, b -> y. The smaller element, with broadcasting. */
    OH_NN_OPS_RANK = 98, /**< x -> y (int32). The number of dimensions of x. */
    OH_NN_OPS_REDUCE_MAX = 99, /**< x, axes (int32 list) -> y. Maximum over axes. */
    OH_NN_OPS_REDUCE_MIN = 100, /**< x, axes (int32 list) -> y. Minimum over axes. */
    OH_NN_OPS_REDUCE_SUM = 101, /**< x, axes (int32 list) -> y. Sum over axes. */
    OH_NN_OPS_ROUND = 102, /**< x -> y. Nearest integer, halves to even. */
    /** indices [..,k], updates, shape (int list) -> y. Zeros with slices at the indices; the last of equals wins. */
    OH_NN_OPS_SCATTER_ND = 103,
    OH_NN_OPS_SPACE_TO_DEPTH = 104, /**< x [N,H,W,C] -> y [N,H/b,W/b,C*b*b]. Moves space into channels. */
    OH_NN_OPS_SWISH = 105, /**< x -> y. x * sigmoid(x). */
    OH_NN_OPS_REDUCE_L2 = 106, /**< x, axes (int32 list) -> y. Square root of the sum of squares over axes. */
    OH_NN_OPS_HARD_SIGMOID = 107, /**< x -> y. relu6(x + 3) / 6. */
    /** x, indices [..,k] (int32) -> y. Elements or slices of x addressed by index vectors. */
    OH_NN_OPS_GATHER_ND = 108,
} OH_NN_OperationType;

/**
 * Role of a tensor in a model: OH_NN_TENSOR for data, or one parameter of one operator. Each parameter line gives the
 * data type its tensor must have; without a bracket it is one element (shape {} or {1}). A default is used when the
 * parameter is not given. 0 to 77 since 9, 78 to 162 since 12.
 */
typedef enum {
    OH_NN_TENSOR = 0, /**< Data: an input, an output or a constant operand, not a parameter. */
    OH_NN_ADD_ACTIVATIONTYPE = 1, /**< INT8: an OH_NN_FuseType. */
    OH_NN_AVG_POOL_KERNEL_SIZE = 2, /**< INT64[2]: window height, width. */
    OH_NN_AVG_POOL_STRIDE = 3, /**< INT64[2]: steps down, right. */
    OH_NN_AVG_POOL_PAD_MODE = 4, /**< INT8: 0 SAME, 1 VALID. */
    OH_NN_AVG_POOL_PAD = 5, /**< INT64[4]: top, bottom, left, right. */
    OH_NN_AVG_POOL_ACTIVATION_TYPE = 6, /**< INT8: an OH_NN_FuseType. */
    OH_NN_BATCH_NORM_EPSILON = 7, /**< FLOAT32, default 1e-4: added to the variance. */
    OH_NN_BATCH_TO_SPACE_ND_BLOCKSIZE = 8, /**< INT64[2]: block height, width. */
    OH_NN_BATCH_TO_SPACE_ND_CROPS = 9, /**< INT64[2,2]: [[top, bottom], [left, right]]. */
    OH_NN_CONCAT_AXIS = 10, /**< INT64, default 0; negative counts from the end. */
    OH_NN_CONV2D_STRIDES = 11, /**< INT64[2]: steps down, right. */
    OH_NN_CONV2D_PAD = 12, /**< INT64[4]: top, bottom, left, right. */
    OH_NN_CONV2D_DILATION = 13, /**< INT64[2]: distance of taps down, right. */
    OH_NN_CONV2D_PAD_MODE = 14, /**< INT8: 0 SAME, 1 VALID. */
    OH_NN_CONV2D_ACTIVATION_TYPE = 15, /**< INT8: an OH_NN_FuseType. */
    OH_NN_CONV2D_GROUP = 16, /**< INT64, default 1: number of groups. */
    OH_NN_CONV2D_TRANSPOSE_STRIDES = 17, /**< INT64[2]: steps down, right. */
    OH_NN_CONV2D_TRANSPOSE_PAD = 18, /**< INT64[4]: top, bottom, left, right. */
    OH_NN_CONV2D_TRANSPOSE_DILATION = 19, /**< INT64[2]: distance of taps down, right. */
    /** INT64[2]: rows, columns added at the bottom and right; each less than the stride. */
    OH_NN_CONV2D_TRANSPOSE_OUTPUT_PADDINGS = 20,
    OH_NN_CONV2D_TRANSPOSE_PAD_MODE = 21, /**< INT8: 0 SAME, 1 VALID. */
    OH_NN_CONV2D_TRANSPOSE_ACTIVATION_TYPE = 22, /**< INT8: an OH_NN_FuseType. */
    OH_NN_CONV2D_TRANSPOSE_GROUP = 23, /**< INT64, default 1: number of groups. */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_STRIDES = 24, /**< INT64[2]: steps down, right. */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD = 25, /**< INT64[4]: top, bottom, left, right. */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_DILATION = 26, /**< INT64[2]: distance of taps down, right. */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD_MODE = 27, /**< INT8: 0 SAME, 1 VALID. */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_ACTIVATION_TYPE = 28, /**< INT8: an OH_NN_FuseType. */
    OH_NN_DIV_ACTIVATIONTYPE = 29, /**< INT8: an OH_NN_FuseType. */
    OH_NN_ELTWISE_MODE = 30, /**< INT8, default 0: 0 product, 1 sum, 2 maximum. */
    OH_NN_FULL_CONNECTION_AXIS = 31, /**< INT64: dimensions from here on are flattened; needs USE_AXIS. */
    OH_NN_FULL_CONNECTION_ACTIVATIONTYPE = 32, /**< INT8: an OH_NN_FuseType. */
    OH_NN_MATMUL_TRANSPOSE_A = 33, /**< BOOL, default false: swap the last two dimensions of a. */
    OH_NN_MATMUL_TRANSPOSE_B = 34, /**< BOOL, default false: swap the last two dimensions of b. */
    OH_NN_MATMUL_ACTIVATION_TYPE = 35, /**< INT8: an OH_NN_FuseType. */
    OH_NN_MAX_POOL_KERNEL_SIZE = 36, /**< INT64[2]: window height, width. */
    OH_NN_MAX_POOL_STRIDE = 37, /**< INT64[2]: steps down, right. */
    OH_NN_MAX_POOL_PAD_MODE = 38, /**< INT8: 0 SAME, 1 VALID. */
    OH_NN_MAX_POOL_PAD = 39, /**< INT64[4]: top, bottom, left, right. */
    OH_NN_MAX_POOL_ACTIVATION_TYPE = 40, /**< INT8: an OH_NN_FuseType. */
    OH_NN_MUL_ACTIVATION_TYPE = 41, /**< INT8: an OH_NN_FuseType. */
    OH_NN_ONE_HOT_AXIS = 42, /**< INT64, default -1: where the new axis goes. */
    OH_NN_PAD_CONSTANT_VALUE = 43, /**< FLOAT32, default 0: the value of new cells. */
    OH_NN_SCALE_ACTIVATIONTYPE = 44, /**< INT8: an OH_NN_FuseType. */
    OH_NN_SCALE_AXIS = 45, /**< INT64, required: dimension of x that the first dimension of scale meets. */
    OH_NN_SOFTMAX_AXIS = 46, /**< INT64[1], default -1; negative counts from the end. */
    OH_NN_SPACE_TO_BATCH_ND_BLOCK_SHAPE = 47, /**< INT64[2]: block height, width. */
    OH_NN_SPACE_TO_BATCH_ND_PADDINGS = 48, /**< INT64[2,2]: [[top, bottom], [left, right]]. */
    OH_NN_SPLIT_AXIS = 49, /**< INT64, default 0. */
    OH_NN_SPLIT_OUTPUT_NUM = 50, /**< INT64: number of outputs; 0: as many as are given. */
    OH_NN_SPLIT_SIZE_SPLITS = 51, /**< INT64[n]: size of each part; empty: equal parts. */
    OH_NN_SQUEEZE_AXIS = 52, /**< INT64[n]: dimensions to drop; empty: every one of size 1. */
    OH_NN_STACK_AXIS = 53, /**< INT64, default 0: where the new axis goes. */
    OH_NN_STRIDED_SLICE_BEGIN_MASK = 54, /**< INT64: bit i set: begin[i] is ignored. */
    OH_NN_STRIDED_SLICE_END_MASK = 55, /**< INT64: bit i set: end[i] is ignored. */
    OH_NN_STRIDED_SLICE_ELLIPSIS_MASK = 56, /**< INT64: bit i set: entry i stands for all dimensions not named. */
    OH_NN_STRIDED_SLICE_NEW_AXIS_MASK = 57, /**< INT64: bit i set: entry i inserts a dimension of size 1. */
    /** INT64: bit i set: entry i selects one index and drops the dimension. */
    OH_NN_STRIDED_SLICE_SHRINK_AXIS_MASK = 58,
    OH_NN_SUB_ACTIVATIONTYPE = 59, /**< INT8: an OH_NN_FuseType. */
    OH_NN_REDUCE_MEAN_KEEP_DIMS = 60, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_RESIZE_BILINEAR_NEW_HEIGHT = 61, /**< INT64: rows of y. */
    OH_NN_RESIZE_BILINEAR_NEW_WIDTH = 62, /**< INT64: columns of y. */
    OH_NN_RESIZE_BILINEAR_PRESERVE_ASPECT_RATIO = 63, /**< BOOL, default false. */
    OH_NN_RESIZE_BILINEAR_COORDINATE_TRANSFORM_MODE = 64, /**< INT8: 0 asymmetric, 1 align corners, 2 half pixel. */
    OH_NN_RESIZE_BILINEAR_EXCLUDE_OUTSIDE = 65, /**< INT64: accepted, without effect. */
    OH_NN_LAYER_NORM_BEGIN_NORM_AXIS = 66, /**< INT64 scalar of rank 0, default 1: first normalized dimension. */
    OH_NN_LAYER_NORM_EPSILON = 67, /**< FLOAT32 scalar of rank 0, default 1e-7: added to the variance. */
    OH_NN_LAYER_NORM_BEGIN_PARAM_AXIS = 68, /**< INT64 scalar of rank 0, default 1. */
    OH_NN_LAYER_NORM_ELEMENTWISE_AFFINE = 69, /**< Declared, but accepted by no operator. */
    OH_NN_REDUCE_PROD_KEEP_DIMS = 70, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_REDUCE_ALL_KEEP_DIMS = 71, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_QUANT_DTYPE_CAST_SRC_T = 72, /**< INT64, required; the data type of x decides. */
    OH_NN_QUANT_DTYPE_CAST_DST_T = 73, /**< INT64, required; the data type of y decides. */
    OH_NN_TOP_K_SORTED = 74, /**< BOOL, default true: largest first; false: in the order of their indices. */
    OH_NN_ARG_MAX_AXIS = 75, /**< INT64, default -1. */
    OH_NN_ARG_MAX_KEEPDIMS = 76, /**< BOOL, default false: keep the axis with size 1. */
    OH_NN_UNSQUEEZE_AXIS = 77, /**< INT64[1]: where the new dimension goes. */
    OH_NN_UNSTACK_AXIS = 78, /**< INT64, default 0; negative counts from the end. */
    OH_NN_FLATTEN_AXIS = 79, /**< INT64, default 1; negative counts from the end. */
    OH_NN_DEPTH_TO_SPACE_BLOCK_SIZE = 80, /**< INT64: edge length of a block. */
    OH_NN_DEPTH_TO_SPACE_MODE = 81, /**< INT32: 0 depth-column-row, 1 column-row-depth. */
    OH_NN_RANGE_START = 82, /**< INT64, default 0: first number. */
    OH_NN_RANGE_LIMIT = 83, /**< INT64: end, not included. */
    OH_NN_RANGE_DELTA = 84, /**< INT64, default 1: step. */
    OH_NN_CONSTANT_OF_SHAPE_DATA_TYPE = 85, /**< INT64: accepted; the data type of y decides. */
    OH_NN_CONSTANT_OF_SHAPE_VALUE = 86, /**< FLOAT32[1]: the value. */
    OH_NN_BROADCAST_TO_SHAPE = 87, /**< INT64[n]: the dimensions of y. */
    OH_NN_INSTANCE_NORM_EPSILON = 88, /**< FLOAT32, default 0: added to the variance. */
    OH_NN_EXP_BASE = 89, /**< FLOAT32, default -1: the base; -1 means e. */
    OH_NN_EXP_SCALE = 90, /**< FLOAT32, default 1. */
    OH_NN_EXP_SHIFT = 91, /**< FLOAT32, default 0. */
    OH_NN_LEAKY_RELU_NEGATIVE_SLOPE = 92, /**< FLOAT32, default 0: slope for x < 0. */
    OH_NN_LSTM_BIDIRECTIONAL = 93, /**< BOOL, default false: run both directions. */
    OH_NN_LSTM_HAS_BIAS = 94, /**< BOOL, default false. */
    OH_NN_LSTM_INPUT_SIZE = 95, /**< INT64: size of an input vector. */
    OH_NN_LSTM_HIDDEN_SIZE = 96, /**< INT64: size of the state. */
    OH_NN_LSTM_NUM_LAYERS = 97, /**< INT64: number of layers. */
    OH_NN_LSTM_NUM_DIRECTIONS = 98, /**< INT64: 1, or 2 when bidirectional. */
    OH_NN_LSTM_DROPOUT = 99, /**< FLOAT32: without effect at inference. */
    OH_NN_LSTM_ZONEOUT_CELL = 100, /**< FLOAT32: share of the old cell state that is kept. */
    OH_NN_LSTM_ZONEOUT_HIDDEN = 101, /**< FLOAT32: share of the old hidden state that is kept. */
    OH_NN_LSTM_PROJ_SIZE = 102, /**< INT64: size of the projection, 0 for none. */
    OH_NN_CLIP_MAX = 103, /**< FLOAT32, default 0: upper bound. */
    OH_NN_CLIP_MIN = 104, /**< FLOAT32, default 0: lower bound. */
    OH_NN_ALL_KEEP_DIMS = 105, /**< INT64 (not BOOL): non-zero keeps the axis with size 1. */
    OH_NN_ASSERT_SUMMARIZE = 106, /**< INT64: number of elements reported. */
    OH_NN_POW_SCALE = 107, /**< FLOAT32, default 1. */
    OH_NN_POW_SHIFT = 108, /**< FLOAT32, default 0. */
    OH_NN_AVG_POOL_ROUND_MODE = 109, /**< INT32: size of y rounded 0 down, 1 up. */
    OH_NN_AVG_POOL_GLOBAL = 110, /**< BOOL, default false: the window is the whole image. */
    OH_NN_FULL_CONNECTION_HAS_BIAS = 111, /**< BOOL, default false: a bias is given. */
    OH_NN_FULL_CONNECTION_USE_AXIS = 112, /**< BOOL, default false: FULL_CONNECTION_AXIS counts. */
    OH_NN_GELU_APPROXIMATE = 113, /**< BOOL, default false: the tanh approximation. */
    OH_NN_MAX_POOL_ROUND_MODE = 114, /**< INT32: size of y rounded 0 down, 1 up. */
    OH_NN_MAX_POOL_GLOBAL = 115, /**< BOOL, default false: the window is the whole image. */
    OH_NN_PAD_PADDING_MODE = 116, /**< INT32: 0 constant, 1 reflect, 2 symmetric. */
    OH_NN_REDUCE_MEAN_REDUCE_TO_END = 117, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_MEAN_COEFF = 118, /**< FLOAT32: factor of the result when reducing to the end. */
    OH_NN_REDUCE_PROD_REDUCE_TO_END = 119, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_PROD_COEFF = 120, /**< FLOAT32: factor of the result when reducing to the end. */
    OH_NN_REDUCE_ALL_REDUCE_TO_END = 121, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_ALL_COEFF = 122, /**< FLOAT32: factor of the result when reducing to the end. */
    OH_NN_TOP_K_AXIS = 123, /**< INT64, default: the last axis. */
    OH_NN_ARG_MAX_TOP_K = 124, /**< INT64, default 1: number of indices. */
    OH_NN_ARG_MAX_OUT_MAX_VALUE = 125, /**< BOOL, default false: give values instead of indices. */
    OH_NN_QUANT_DTYPE_CAST_AXIS = 126, /**< INT64, default 0: axis of per-channel parameters. */
    OH_NN_SLICE_AXES = 127, /**< INT64[n]: dimensions begin and size refer to; default 0, 1, ... */
    OH_NN_TILE_DIMS = 128, /**< INT64[n]: dimension each multiple refers to. */
    OH_NN_CROP_AXIS = 129, /**< INT64, default 0: first cropped dimension. */
    OH_NN_CROP_OFFSET = 130, /**< INT64[n]: one offset, or one per cropped dimension. */
    OH_NN_DETECTION_POST_PROCESS_INPUT_SIZE = 131, /**< INT64: accepted, without effect. */
    OH_NN_DETECTION_POST_PROCESS_SCALE = 132, /**< FLOAT32[4]: divisors of centre y, centre x, height, width. */
    OH_NN_DETECTION_POST_PROCESS_NMS_IOU_THRESHOLD = 133, /**< FLOAT32: overlap above which a box is suppressed. */
    OH_NN_DETECTION_POST_PROCESS_NMS_SCORE_THRESHOLD = 134, /**< FLOAT32: score below which a box is dropped. */
    OH_NN_DETECTION_POST_PROCESS_MAX_DETECTIONS = 135, /**< INT64: most boxes kept. */
    /** INT64: most boxes kept per class (regular suppression). */
    OH_NN_DETECTION_POST_PROCESS_DETECTIONS_PER_CLASS = 136,
    /** INT64: most classes reported per box (fast suppression). */
    OH_NN_DETECTION_POST_PROCESS_MAX_CLASSES_PER_DETECTION = 137,
    OH_NN_DETECTION_POST_PROCESS_NUM_CLASSES = 138, /**< INT64: classes without the background. */
    OH_NN_DETECTION_POST_PROCESS_USE_REGULAR_NMS = 139, /**< BOOL, default false: suppress per class. */
    OH_NN_DETECTION_POST_PROCESS_OUT_QUANTIZED = 140, /**< BOOL: accepted, without effect. */
    OH_NN_L2_NORMALIZE_AXIS = 141, /**< INT64[n]: axes; empty: the whole tensor. */
    OH_NN_L2_NORMALIZE_EPSILON = 142, /**< FLOAT32, default 1e-6: least value under the root. */
    OH_NN_L2_NORMALIZE_ACTIVATION_TYPE = 143, /**< INT8: an OH_NN_FuseType. */
    OH_NN_LOG_SOFTMAX_AXIS = 144, /**< INT64, default 0; -1 is the last axis. */
    OH_NN_LRN_DEPTH_RADIUS = 145, /**< INT64: neighbours on each side. */
    OH_NN_LRN_BIAS = 146, /**< FLOAT32: added to the sum. */
    OH_NN_LRN_ALPHA = 147, /**< FLOAT32: factor of the sum. */
    OH_NN_LRN_BETA = 148, /**< FLOAT32: exponent. */
    OH_NN_LRN_NORM_REGION = 149, /**< INT32: 0 across channels, nothing else. */
    OH_NN_SPACE_TO_DEPTH_BLOCK_SIZE = 150, /**< INT64: edge length of a block, at least 2. */
    OH_NN_REDUCE_MAX_KEEP_DIMS = 151, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_REDUCE_MAX_REDUCE_TO_END = 152, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_MAX_COEFF = 153, /**< FLOAT32: factor of the result when reducing to the end. */
    OH_NN_REDUCE_MIN_KEEP_DIMS = 154, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_REDUCE_MIN_REDUCE_TO_END = 155, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_MIN_COEFF = 156, /**< FLOAT32: factor of the result when reducing to the end. */
    OH_NN_REDUCE_SUM_KEEP_DIMS = 157, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_REDUCE_SUM_REDUCE_TO_END = 158, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_SUM_COEFF = 159, /**< FLOAT32: factor of the result when reducing to the end. */
    OH_NN_REDUCE_L2_KEEP_DIMS = 160, /**< BOOL, default false: keep the axes with size 1. */
    OH_NN_REDUCE_L2_REDUCE_TO_END = 161, /**< BOOL, default false: reduce from the one axis given to the last. */
    OH_NN_REDUCE_L2_COEFF = 162, /**< FLOAT32: factor of the result when reducing to the end. */
} OH_NN_TensorType;

/** A list of tensor indices. data is NULL exactly when size is 0. Only read during the call it is given to. Since 9. */
typedef struct OH_NN_UInt32Array {
    uint32_t *data; /**< The indices. */
    uint32_t size;  /**< Number of indices. */
} OH_NN_UInt32Array;

/** Quantization parameters: one entry for the whole tensor, or one per channel. Since 9, deprecated since 11. */
typedef struct OH_NN_QuantParam {
    uint32_t quantCount;      /**< Entries in each array. */
    const uint32_t *numBits;  /**< Bits of a quantized value; each must be 8. */
    const double *scale;      /**< real = (quantized - zeroPoint) * scale. */
    const int32_t *zeroPoint; /**< The quantized value of 0. */
} OH_NN_QuantParam;

/** A tensor of a model. Copied during the call it is given to. Since 9, deprecated since 11. */
typedef struct OH_NN_Tensor {
    OH_NN_DataType dataType;            /**< Type of the elements. */
    uint32_t dimensionCount;            /**< Number of dimensions; 0 for a scalar. */
    const int32_t *dimensions;          /**< The dimensions, -1 for one known only at run time; NULL for a scalar. */
    const OH_NN_QuantParam *quantParam; /**< Quantization parameters, or NULL. */
    OH_NN_TensorType type;              /**< Data, or which parameter. */
} OH_NN_Tensor;

/** Memory shared with the device, allocated and freed by the library. Since 9, deprecated since 11. */
typedef struct OH_NN_Memory {
    void *const data;    /**< First byte. */
    const size_t length; /**< Number of bytes. */
} OH_NN_Memory;

/**
 * Called once when an asynchronous run has ended, on a thread of the library. Since 11.
 *
 * @param userData The pointer given to OH_NNExecutor_RunAsync.
 * @param errCode OH_NN_SUCCESS, OH_NN_TIMEOUT, or why the run failed.
 * @param outputTensor The array of output tensors given to OH_NNExecutor_RunAsync; NULL if the run failed.
 * @param outputCount Number of elements of outputTensor; 0 if the run failed.
 */
typedef void (*NN_OnRunDone)(void *userData, OH_NN_ReturnCode errCode, void *outputTensor[], int32_t outputCount);

/**
 * Called when the service that drives the device has died during an asynchronous run. Since 11.
 *
 * @param userData The pointer given to OH_NNExecutor_RunAsync.
 */
typedef void (*NN_OnServiceDied)(void *userData);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_RUNTIME_TYPE_H */
