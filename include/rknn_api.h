/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The RKNN runtime API: contexts that run a model, their inputs and outputs, and memory shared with them. Programs
 * written against the vendor's header of the same name compile and link unchanged; here a model is an ONNX file, or its
 * bytes, where they had an .rknn. docs/rknn.md says what is covered. Functions return RKNN_SUCC or a negative code; a
 * message that says what was wrong goes to the log.
 *
 * ABI: 64-bit targets, as of version 2.3.2 of the vendor's header.
 */
#ifndef _RKNN_API_H
#define _RKNN_API_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdint.h>

/* Flags of rknn_init. The lowest two bits are a priority, the others may be combined. */
#define RKNN_FLAG_PRIOR_HIGH                        0x00000000
#define RKNN_FLAG_PRIOR_MEDIUM                      0x00000001
#define RKNN_FLAG_PRIOR_LOW                         0x00000002
#define RKNN_FLAG_ASYNC_MASK                        0x00000004 /* no effect */
#define RKNN_FLAG_COLLECT_PERF_MASK                 0x00000008 /* times per operator for RKNN_QUERY_PERF_DETAIL */
#define RKNN_FLAG_MEM_ALLOC_OUTSIDE                 0x00000010 /* a run wants memory bound to all inputs and outputs */
/* extend->ctx names a living context; weights are the model's own */
#define RKNN_FLAG_SHARE_WEIGHT_MEM                  0x00000020
#define RKNN_FLAG_FENCE_IN_OUTSIDE                  0x00000040 /* runs fail: there are no fences */
#define RKNN_FLAG_FENCE_OUT_OUTSIDE                 0x00000080 /* runs fail: there are no fences */
#define RKNN_FLAG_COLLECT_MODEL_INFO_ONLY           0x00000100 /* the context answers queries only */
#define RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE            0x00000200 /* no effect */
#define RKNN_FLAG_EXECUTE_FALLBACK_PRIOR_DEVICE_GPU 0x00000400 /* no effect */
#define RKNN_FLAG_ENABLE_SRAM                       0x00000800 /* no effect */
#define RKNN_FLAG_SHARE_SRAM                        0x00001000 /* no effect */
#define RKNN_FLAG_DISABLE_PROC_HIGH_PRIORITY        0x00002000 /* no effect: a process keeps its priority */
#define RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE     0x00004000 /* no effect: memory is coherent */
#define RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE    0x00008000 /* no effect: memory is coherent */
#define RKNN_FLAG_MODEL_BUFFER_ZERO_COPY            0x00010000 /* extend says where in the bytes the model lies */

/* Flag of rknn_create_mem2: ctx may be 0. */
#define RKNN_MEM_FLAG_ALLOC_NO_CONTEXT 0x00020000

/* Return codes. */
#define RKNN_SUCC                                         0
#define RKNN_ERR_FAIL                                     -1
#define RKNN_ERR_TIMEOUT                                  -2
#define RKNN_ERR_DEVICE_UNAVAILABLE                       -3
#define RKNN_ERR_MALLOC_FAIL                              -4
#define RKNN_ERR_PARAM_INVALID                            -5
#define RKNN_ERR_MODEL_INVALID                            -6
#define RKNN_ERR_CTX_INVALID                              -7
#define RKNN_ERR_INPUT_INVALID                            -8
#define RKNN_ERR_OUTPUT_INVALID                           -9
#define RKNN_ERR_DEVICE_UNMATCH                           -10
#define RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL            -11
#define RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION   -12
#define RKNN_ERR_TARGET_PLATFORM_UNMATCH                  -13

/* Lengths of arrays in the structs. */
#define RKNN_MAX_DIMS              16
#define RKNN_MAX_NUM_CHANNEL       15
#define RKNN_MAX_NAME_LEN          256
#define RKNN_MAX_DYNAMIC_SHAPE_NUM 512

/* A context; 0 is none. */
#ifdef __arm__
typedef uint32_t rknn_context;
#else
typedef uint64_t rknn_context;
#endif

/* Questions for rknn_query, each with the struct that takes the answer. */
typedef enum _rknn_query_cmd {
	RKNN_QUERY_IN_OUT_NUM                = 0,  /* rknn_input_output_num */
	RKNN_QUERY_INPUT_ATTR                = 1,  /* rknn_tensor_attr, of the largest shape */
	RKNN_QUERY_OUTPUT_ATTR               = 2,  /* rknn_tensor_attr, of the largest shape */
	RKNN_QUERY_PERF_DETAIL               = 3,  /* rknn_perf_detail */
	RKNN_QUERY_PERF_RUN                  = 4,  /* rknn_perf_run */
	RKNN_QUERY_SDK_VERSION               = 5,  /* rknn_sdk_version */
	RKNN_QUERY_MEM_SIZE                  = 6,  /* rknn_mem_size */
	RKNN_QUERY_CUSTOM_STRING             = 7,  /* rknn_custom_string */
	RKNN_QUERY_NATIVE_INPUT_ATTR         = 8,  /* rknn_tensor_attr */
	RKNN_QUERY_NATIVE_OUTPUT_ATTR        = 9,  /* rknn_tensor_attr */
	RKNN_QUERY_NATIVE_NC1HWC2_INPUT_ATTR  = 8,
	RKNN_QUERY_NATIVE_NC1HWC2_OUTPUT_ATTR = 9,
	RKNN_QUERY_NATIVE_NHWC_INPUT_ATTR    = 10, /* rknn_tensor_attr */
	RKNN_QUERY_NATIVE_NHWC_OUTPUT_ATTR   = 11, /* rknn_tensor_attr */
	RKNN_QUERY_DEVICE_MEM_INFO           = 12, /* rknn_tensor_mem */
	RKNN_QUERY_INPUT_DYNAMIC_RANGE       = 13, /* rknn_input_range, of models with a list of shapes */
	RKNN_QUERY_CURRENT_INPUT_ATTR        = 14, /* rknn_tensor_attr, of the shape in use */
	RKNN_QUERY_CURRENT_OUTPUT_ATTR       = 15, /* rknn_tensor_attr, of the shape in use */
	RKNN_QUERY_CURRENT_NATIVE_INPUT_ATTR  = 16, /* rknn_tensor_attr, of the shape in use */
	RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR = 17, /* rknn_tensor_attr, of the shape in use */
	RKNN_QUERY_CMD_MAX
} rknn_query_cmd;

/* Element types. */
typedef enum _rknn_tensor_type {
	RKNN_TENSOR_FLOAT32 = 0,
	RKNN_TENSOR_FLOAT16,
	RKNN_TENSOR_INT8,
	RKNN_TENSOR_UINT8,
	RKNN_TENSOR_INT16,
	RKNN_TENSOR_UINT16,
	RKNN_TENSOR_INT32,
	RKNN_TENSOR_UINT32,
	RKNN_TENSOR_INT64,
	RKNN_TENSOR_BOOL,
	RKNN_TENSOR_INT4,
	RKNN_TENSOR_BFLOAT16,
	RKNN_TENSOR_TYPE_MAX
} rknn_tensor_type;

/* Kinds of quantization: real = (q - zp) x scale for affine ones. */
typedef enum _rknn_tensor_qnt_type {
	RKNN_TENSOR_QNT_NONE = 0,
	RKNN_TENSOR_QNT_DFP,
	RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC,
	RKNN_TENSOR_QNT_MAX
} rknn_tensor_qnt_type;

/* Orders of the dimensions of a tensor of rank 4; tensors of another rank are RKNN_TENSOR_UNDEFINED. */
typedef enum _rknn_tensor_format {
	RKNN_TENSOR_NCHW = 0,
	RKNN_TENSOR_NHWC,
	RKNN_TENSOR_NC1HWC2, /* channels in groups of C2, element (n,c,h,w) at (((n*C1 + c/C2)*H + h)*W + w)*C2 + c%C2 */
	RKNN_TENSOR_UNDEFINED,
	RKNN_TENSOR_FORMAT_MAX
} rknn_tensor_format;

/* Cores of the NPU. */
typedef enum _rknn_core_mask {
	RKNN_NPU_CORE_AUTO      = 0,
	RKNN_NPU_CORE_0         = 1,
	RKNN_NPU_CORE_1         = 2,
	RKNN_NPU_CORE_2         = 4,
	RKNN_NPU_CORE_0_1       = RKNN_NPU_CORE_0 | RKNN_NPU_CORE_1,
	RKNN_NPU_CORE_0_1_2     = RKNN_NPU_CORE_0_1 | RKNN_NPU_CORE_2,
	RKNN_NPU_CORE_ALL       = 0xffff,
	RKNN_NPU_CORE_UNDEFINED
} rknn_core_mask;

/* Counts of a model. */
typedef struct _rknn_input_output_num {
	uint32_t n_input;
	uint32_t n_output;
} rknn_input_output_num;

/* What a tensor is. The program sets index before a query. */
typedef struct _rknn_tensor_attr {
	uint32_t index;
	uint32_t n_dims;
	uint32_t dims[RKNN_MAX_DIMS]; /* in the order of fmt; 0 behind the last */
	char     name[RKNN_MAX_NAME_LEN];
	uint32_t n_elems;
	uint32_t size; /* bytes, without padding */
	rknn_tensor_format fmt;
	rknn_tensor_type   type; /* real numbers are FLOAT16, whatever the model computes with */
	rknn_tensor_qnt_type qnt_type;
	int8_t   fl; /* 0 */
	int32_t  zp;
	float    scale;
	uint32_t w_stride; /* elements from one row to the next divided by the channels; 0: the width */
	uint32_t size_with_stride; /* bytes that hold every format */
	uint8_t  pass_through; /* of rknn_set_io_mem: 1 takes the bytes as they are */
	uint32_t h_stride; /* of rknn_set_io_mem: rows per image of an input, 0: the height */
} rknn_tensor_attr;

/* The shapes of an input of a model that has a list of them. */
typedef struct _rknn_input_range {
	uint32_t index;
	uint32_t shape_number;
	rknn_tensor_format fmt;
	char     name[RKNN_MAX_NAME_LEN];
	uint32_t dyn_range[RKNN_MAX_DYNAMIC_SHAPE_NUM][RKNN_MAX_DIMS];
	uint32_t n_dims;
} rknn_input_range;

/* A table of times as text, valid until the next query of it; perf_data is never NULL. */
typedef struct _rknn_perf_detail {
	char    *perf_data;
	uint64_t data_len; /* without the closing NUL */
} rknn_perf_detail;

/* Microseconds of the last run. */
typedef struct _rknn_perf_run {
	int64_t run_duration;
} rknn_perf_run;

/* Versions as text. */
typedef struct _rknn_sdk_version {
	char api_version[256];
	char drv_version[256];
} rknn_sdk_version;

/* Bytes of constants and of intermediate results. */
typedef struct _rknn_mem_size {
	uint32_t total_weight_size;
	uint32_t total_internal_size;
	uint64_t total_dma_allocated_size;
	uint32_t total_sram_size; /* 0 */
	uint32_t free_sram_size;  /* 0 */
	uint32_t reserved[10];
} rknn_mem_size;

/* A text that the model carries: anynpu.custom_string of its metadata. */
typedef struct _rknn_custom_string {
	char string[1024];
} rknn_custom_string;

/* Who the bytes of an rknn_tensor_mem belong to. */
typedef enum _rknn_tensor_mem_flags {
	RKNN_TENSOR_MEMORY_FLAGS_ALLOC_INSIDE = 1,
	RKNN_TENSOR_MEMORY_FLAGS_FROM_FD      = 2,
	RKNN_TENSOR_MEMORY_FLAGS_FROM_PHYS    = 3,
	RKNN_TENSOR_MEMORY_FLAGS_UNKNOWN
} rknn_tensor_mem_flags;

/* Wishes for rknn_create_mem2; none has an effect. */
typedef enum _rknn_mem_alloc_flags {
	RKNN_FLAG_MEMORY_FLAGS_DEFAULT  = 0,
	RKNN_FLAG_MEMORY_CACHEABLE      = 1,
	RKNN_FLAG_MEMORY_NON_CACHEABLE  = 2,
	RKNN_FLAG_MEMORY_TRY_ALLOC_SRAM = 4
} rknn_mem_alloc_flags;

/* Directions of rknn_mem_sync. */
typedef enum _rknn_mem_sync_mode {
	RKNN_MEMORY_SYNC_TO_DEVICE     = 0x1,
	RKNN_MEMORY_SYNC_FROM_DEVICE   = 0x2,
	RKNN_MEMORY_SYNC_BIDIRECTIONAL = RKNN_MEMORY_SYNC_TO_DEVICE | RKNN_MEMORY_SYNC_FROM_DEVICE
} rknn_mem_sync_mode;

/* Memory for tensors: size bytes at virt_addr + offset. The library makes and ends these structs. */
typedef struct _rknn_tensor_memory {
	void    *virt_addr;
	uint64_t phys_addr; /* 0 */
	int32_t  fd;
	int32_t  offset;
	uint32_t size;
	uint32_t flags;
	void    *priv_data;
} rknn_tensor_mem;

/* An input that a program hands over. */
typedef struct _rknn_input {
	uint32_t index;
	void    *buf;
	uint32_t size;
	uint8_t  pass_through; /* 1: the bytes are taken as they are, in the type and format of RKNN_QUERY_INPUT_ATTR */
	rknn_tensor_type   type; /* of the elements in buf */
	rknn_tensor_format fmt;  /* of buf, looked at for rank 4 */
} rknn_input;

/* An output that a program wants. */
typedef struct _rknn_output {
	uint8_t  want_float;  /* 1: float32, else the type of RKNN_QUERY_OUTPUT_ATTR */
	uint8_t  is_prealloc; /* 1: buf and size are the program's */
	uint32_t index;
	void    *buf;
	uint32_t size;
} rknn_output;

/* More for rknn_init; reserved need not be set. */
typedef struct _rknn_init_extend {
	rknn_context ctx;           /* with RKNN_FLAG_SHARE_WEIGHT_MEM */
	int32_t  real_model_offset; /* written for a file, read with RKNN_FLAG_MODEL_BUFFER_ZERO_COPY */
	uint32_t real_model_size;   /* likewise; 0: all bytes */
	int32_t  model_buffer_fd;
	uint32_t model_buffer_flags;
	uint8_t  reserved[112];
} rknn_init_extend;

/* More for rknn_run. Runs wait; only frame_id has a meaning. */
typedef struct _rknn_run_extend {
	uint64_t frame_id; /* written: the number of the run, from 1 */
	int32_t  non_block;
	int32_t  timeout_ms;
	int32_t  fence_fd;
} rknn_run_extend;

/* More for rknn_outputs_get. */
typedef struct _rknn_output_extend {
	uint64_t frame_id; /* written: the number of the run */
} rknn_output_extend;

/*
 * Loads a model: size bytes at model, which may be freed afterwards, or, when size is 0, the file named by model. On
 * failure *context is 0. RKNN_ERR_MODEL_INVALID: no ONNX model, a damaged one, or one that cannot be computed;
 * RKNN_ERR_PARAM_INVALID: NULL.
 */
int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag, rknn_init_extend *extend);

/* Makes a context of the same model, weights shared, with inputs, outputs and runs of its own. */
int rknn_dup_context(rknn_context *context_in, rknn_context *context_out);

/* Ends a context after its run under way. Buffers of rknn_outputs_get end, memory of rknn_create_mem stays. */
int rknn_destroy(rknn_context context);

/* Answers a question in the struct at info. RKNN_ERR_PARAM_INVALID: unknown cmd, size too small, index out of range. */
int rknn_query(rknn_context context, rknn_query_cmd cmd, void *info, uint32_t size);

/*
 * Copies inputs for the runs to come, converted: (x - mean) / std as the model's metadata say, then quantization or a
 * cast. RKNN_ERR_PARAM_INVALID: size smaller than the elements of type; RKNN_ERR_INPUT_INVALID: index; RKNN_ERR_FAIL:
 * format or type.
 */
int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[]);

/* Accepts 1 to 3. */
int rknn_set_batch_core_num(rknn_context context, int core_num);

/* Accepts what the board has, see ANYNPU_RKNN_TARGET; RKNN_ERR_FAIL else. */
int rknn_set_core_mask(rknn_context context, rknn_core_mask core_mask);

/* Runs and waits. RKNN_ERR_FAIL: an input was not set, bound memory is gone, or the computation failed. */
int rknn_run(rknn_context context, rknn_run_extend *extend);

/* RKNN_ERR_FAIL before the first run. */
int rknn_wait(rknn_context context, rknn_run_extend *extend);

/*
 * Copies results of the last run, in the model's order of dimensions. RKNN_ERR_OUTPUT_INVALID: index, or a buffer of
 * the program that is NULL or too small; RKNN_ERR_FAIL: there was no run.
 */
int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[], rknn_output_extend *extend);

/* Frees buffers that rknn_outputs_get made and sets buf to NULL. */
int rknn_outputs_release(rknn_context context, uint32_t n_ouputs, rknn_output outputs[]);

/* Describes memory of the program; NULL on failure. With virt_addr NULL the descriptor is mapped. */
rknn_tensor_mem *rknn_create_mem_from_fd(rknn_context ctx, int32_t fd, void *virt_addr, uint32_t size, int32_t offset);

/* Allocates zeroed memory with a file descriptor; NULL on failure. */
rknn_tensor_mem *rknn_create_mem(rknn_context ctx, uint32_t size);
rknn_tensor_mem *rknn_create_mem2(rknn_context ctx, uint64_t size, uint64_t alloc_flags);

/*
 * NULL: a process cannot name physical memory, and there are no buffers of a media driver. Use rknn_create_mem_from_fd.
 */
rknn_tensor_mem *rknn_create_mem_from_phys(rknn_context ctx, uint64_t phys_addr, void *virt_addr, uint32_t size);
rknn_tensor_mem *rknn_create_mem_from_mb_blk(rknn_context ctx, void *mb_blk, int32_t offset);

/* Ends mem; ctx is not looked at. The second is the name in headers before 1.3. */
int rknn_destroy_mem(rknn_context ctx, rknn_tensor_mem *mem);
int rknn_destory_mem(rknn_context ctx, rknn_tensor_mem *mem);

/* Accept memory of at least the sizes that RKNN_QUERY_MEM_SIZE tells; it is not used. */
int rknn_set_weight_mem(rknn_context ctx, rknn_tensor_mem *mem);
int rknn_set_internal_mem(rknn_context ctx, rknn_tensor_mem *mem);

/*
 * Binds mem to the input or output that attr names, with attr's type, fmt, pass_through and h_stride, until it is bound
 * anew. It is used in place where its elements are as the device computes with them, else converted by each run.
 * RKNN_ERR_PARAM_INVALID: no such tensor, no such combination, or mem too small.
 */
int rknn_set_io_mem(rknn_context ctx, rknn_tensor_mem *mem, rknn_tensor_attr *attr);

/* rknn_set_input_shapes for a model with one input. */
int rknn_set_input_shape(rknn_context ctx, rknn_tensor_attr *attr);

/*
 * Chooses one of the listed shapes for all inputs. RKNN_ERR_FAIL: not listed; RKNN_ERR_MODEL_INVALID: the model's
 * shapes are fixed.
 */
int rknn_set_input_shapes(rknn_context ctx, uint32_t n_inputs, rknn_tensor_attr attr[]);

/* Nothing to do: host and device see the same bytes. */
int rknn_mem_sync(rknn_context context, rknn_tensor_mem *mem, rknn_mem_sync_mode mode);

/* Names of enumerators, for output. */
static inline const char *get_type_string(rknn_tensor_type type)
{
	static const char *const names[] = {"FP32", "FP16", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64",
		"BOOL", "INT4", "BF16"};
	return (unsigned)type < RKNN_TENSOR_TYPE_MAX ? names[type] : "UNKNOW";
}

static inline const char *get_qnt_type_string(rknn_tensor_qnt_type type)
{
	static const char *const names[] = {"NONE", "DFP", "AFFINE"};
	return (unsigned)type < RKNN_TENSOR_QNT_MAX ? names[type] : "UNKNOW";
}

static inline const char *get_format_string(rknn_tensor_format fmt)
{
	static const char *const names[] = {"NCHW", "NHWC", "NC1HWC2", "UNDEFINED"};
	return (unsigned)fmt < RKNN_TENSOR_FORMAT_MAX ? names[fmt] : "UNKNOW";
}

#ifdef __cplusplus
}
#endif

#endif
