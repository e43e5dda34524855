/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of the RKNN runtime: C = A x B, A of M rows and K columns, B of K rows and N columns. Programs
 * written against the vendor's header of the same name compile and link unchanged. docs/rknn.md says what is computed,
 * in which layouts, and what is refused. Functions return RKNN_SUCC or a negative code; a message that says what was
 * wrong goes to the log.
 *
 * ABI: 64-bit targets, as of version 2.3.2 of the vendor's header.
 */
#ifndef _RKNN_MATMUL_API_H
#define _RKNN_MATMUL_API_H

#ifdef __cplusplus
extern "C" {
#endif

#include "rknn_api.h"

/* A product; it serves as rknn_context for rknn_create_mem and the other memory functions. */
typedef rknn_context rknn_matmul_ctx;

/* What the quantization parameters of B belong to; how many there are decides (rknn_quant_params). */
typedef enum _rknn_matmul_quant_type {
	RKNN_QUANT_TYPE_PER_LAYER_SYM    = 0,
	RKNN_QUANT_TYPE_PER_LAYER_ASYM   = 1,
	RKNN_QUANT_TYPE_PER_CHANNEL_SYM  = 2,
	RKNN_QUANT_TYPE_PER_CHANNEL_ASYM = 3,
	RKNN_QUANT_TYPE_PER_GROUP_SYM    = 4,
	RKNN_QUANT_TYPE_PER_GROUP_ASYM   = 5,
} rknn_matmul_quant_type;

/* Scales and zero points of one matrix: 1 for all of it, for B also N, one per column, or N * K / group_size, that
 * of column n and rows    from g * group_size on at g * N + n. */
typedef struct _rknn_quant_params {
	char     name[RKNN_MAX_NAME_LEN]; /* "A", "B" or "C" */
	float   *scale;
	int32_t  scale_len;
	int32_t *zp; /* NULL: zeros */
	int32_t  zp_len;
} rknn_quant_params;

/* Element types of A, B and C. */
typedef enum _rknn_matmul_type {
	RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32 = 1,
	RKNN_INT8_MM_INT8_TO_INT32         = 2,
	RKNN_INT8_MM_INT8_TO_INT8          = 3,
	RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16 = 4,
	RKNN_FLOAT16_MM_INT8_TO_FLOAT32    = 5,
	RKNN_FLOAT16_MM_INT8_TO_FLOAT16    = 6,
	RKNN_FLOAT16_MM_INT4_TO_FLOAT32    = 7,
	RKNN_FLOAT16_MM_INT4_TO_FLOAT16    = 8,
	RKNN_INT8_MM_INT8_TO_FLOAT32       = 9,
	RKNN_INT4_MM_INT4_TO_INT16         = 10,
	RKNN_INT8_MM_INT4_TO_INT32         = 11,
	RKNN_FLOAT16_MM_INT4_TO_BFLOAT16   = 12,
	RKNN_INT8_MM_INT4_TO_FLOAT16       = 15,
} rknn_matmul_type;

/* How the elements of a matrix lie; TP_NORM is for B only, its transpose. */
typedef enum {
	RKNN_MM_LAYOUT_NORM    = 0,
	RKNN_MM_LAYOUT_NATIVE  = 1,
	RKNN_MM_LAYOUT_TP_NORM = 2,
} rknn_matmul_layout;

/* A type of product as text. */
static inline const char *get_matmul_type_string(rknn_matmul_type type)
{
	switch (type) {
	case RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32: return "RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32";
	case RKNN_INT8_MM_INT8_TO_INT32: return "RKNN_INT8_MM_INT8_TO_INT32";
	case RKNN_INT8_MM_INT8_TO_INT8: return "RKNN_INT8_MM_INT8_TO_INT8";
	case RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16: return "RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16";
	case RKNN_FLOAT16_MM_INT8_TO_FLOAT32: return "RKNN_FLOAT16_MM_INT8_TO_FLOAT32";
	case RKNN_FLOAT16_MM_INT8_TO_FLOAT16: return "RKNN_FLOAT16_MM_INT8_TO_FLOAT16";
	case RKNN_FLOAT16_MM_INT4_TO_FLOAT32: return "RKNN_FLOAT16_MM_INT4_TO_FLOAT32";
	case RKNN_FLOAT16_MM_INT4_TO_FLOAT16: return "RKNN_FLOAT16_MM_INT4_TO_FLOAT16";
	case RKNN_INT8_MM_INT8_TO_FLOAT32: return "RKNN_INT8_MM_INT8_TO_FLOAT32";
	case RKNN_INT4_MM_INT4_TO_INT16: return "RKNN_INT4_MM_INT4_TO_INT16";
	case RKNN_INT8_MM_INT4_TO_INT32: return "RKNN_INT8_MM_INT4_TO_INT32";
	case RKNN_FLOAT16_MM_INT4_TO_BFLOAT16: return "RKNN_FLOAT16_MM_INT4_TO_BFLOAT16";
	default: return "UNKNOW";
	}
}

/* A matrix of a product: what its memory must hold. */
typedef struct _rknn_matmul_tensor_attr {
	char     name[RKNN_MAX_NAME_LEN]; /* "A", "B" or "C" */
	uint32_t n_dims;
	uint32_t dims[RKNN_MAX_DIMS]; /* of the layout: native A [K/k, M, k], B [N/n, K/k, n, k], C [N/n, M, n] */
	uint32_t size; /* bytes */
	rknn_tensor_type type;
} rknn_matmul_tensor_attr;

/* The three matrices. */
typedef struct _rknn_matmul_io_attr {
	rknn_matmul_tensor_attr A;
	rknn_matmul_tensor_attr B;
	rknn_matmul_tensor_attr C;
} rknn_matmul_io_attr;

/* A size of a product. */
typedef struct _rknn_matmul_shape {
	int32_t M;
	int32_t K;
	int32_t N;
} rknn_matmul_shape;

/* A product to create. K and N are multiples of what the board takes for the type of B. */
typedef struct rknn_matmul_info_t {
	int32_t M;
	int32_t K;
	int32_t N;
	rknn_matmul_type type;
	int16_t B_layout;      /* rknn_matmul_layout */
	int16_t B_quant_type;  /* rknn_matmul_quant_type */
	int16_t AC_layout;     /* rknn_matmul_layout, NORM or NATIVE */
	int16_t AC_quant_type; /* PER_LAYER_SYM or PER_LAYER_ASYM */
	int32_t iommu_domain_id; /* not looked at */
	int16_t group_size;    /* with B_quant_type PER_GROUP: a divisor of K; 0: 32 */
	int8_t  reserved[34];
} rknn_matmul_info;

/*
 * Makes a product and tells what its matrices look like. RKNN_ERR_PARAM_INVALID: a field that the board does not take;
 * *ctx stays as it was.
 */
int rknn_matmul_create(rknn_matmul_ctx *ctx, rknn_matmul_info *info, rknn_matmul_io_attr *io_attr);

/*
 * Makes a product of shape_num sizes, of which dynamic_shapes[0] is in use until rknn_matmul_set_dynamic_shape; M, K
 * and N of info are not looked at. io_attrs[i] belongs to dynamic_shapes[i].
 */
int rknn_matmul_create_dynamic_shape(rknn_matmul_ctx *ctx, rknn_matmul_info *info, int shape_num,
	rknn_matmul_shape dynamic_shapes[],
                                     rknn_matmul_io_attr io_attrs[]);

/* The name that rknn_matmul_create_dynamic_shape had in header 2.0. */
int rknn_matmul_create_dyn_shape(rknn_matmul_ctx *ctx, rknn_matmul_info *info, int shape_num,
	rknn_matmul_shape dynamic_shapes[],
                                 rknn_matmul_io_attr io_attrs[]);

/*
 * Binds memory to the matrix that attr names. A run reads A and B as they are then; nothing has to be bound again for
 * new contents. RKNN_ERR_PARAM_INVALID: memory that is invalid, destroyed, or smaller than attr->size, another
 * name.
 */
int rknn_matmul_set_io_mem(rknn_matmul_ctx ctx, rknn_tensor_mem *mem, rknn_matmul_tensor_attr *attr);

/* Checks the cores against the board; it changes nothing else. RKNN_ERR_FAIL: cores that it lacks. */
int rknn_matmul_set_core_mask(rknn_matmul_ctx context, rknn_core_mask core_mask);

/*
 * Sets scales and zero points of the matrix that params names; without, they are 1 and 0. The arrays are copied.
 * RKNN_ERR_PARAM_INVALID: another name or length, a scale that is not finite, a zero point that is no value of the
 * type.
 */
int rknn_matmul_set_quant_params(rknn_matmul_ctx context, rknn_quant_params *params);

/* The largest scale of B by magnitude; params gets all of them where its arrays have room. */
int rknn_matmul_get_quant_params(rknn_matmul_ctx ctx, rknn_quant_params *params, float *scale);

/* Chooses one of the sizes given to rknn_matmul_create_dynamic_shape. RKNN_ERR_PARAM_INVALID: another one. */
int rknn_matmul_set_dynamic_shape(rknn_matmul_ctx ctx, rknn_matmul_shape *shape);

/* Computes C and waits. RKNN_ERR_FAIL: a matrix without memory, or memory that is too small or was destroyed. */
int rknn_matmul_run(rknn_matmul_ctx ctx);

/* Ends a product after its run under way. Memory stays. */
int rknn_matmul_destroy(rknn_matmul_ctx ctx);

/*
 * Writes B of K rows and N columns in the native layout; B_output may be B_input. Of info, type is looked at. Programs
 * of header 2.0, which pass (B_input, B_output, K, N, subN, subK, type), are served as well.
 */
int rknn_B_normal_layout_to_native_layout(void *B_input, void *B_output, int K, int N, rknn_matmul_info *info);

#ifdef __cplusplus
}
#endif

#endif
