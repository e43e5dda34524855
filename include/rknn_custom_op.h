/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operators that a program computes: nodes of a foreign domain in a model, and operators of ai.onnx instead of the
 * library's own. Programs written against the vendor's header of the same name compile and link unchanged.
 * docs/rknn.md, section Custom operators.
 *
 * ABI: 64-bit targets, as of version 2.3.2 of the vendor's header.
 */
#ifndef _RKNN_CUSTOM_OP_H
#define _RKNN_CUSTOM_OP_H

#include "rknn_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Not an error: what init returns to leave a node to the library. */
#define RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE -14

/* Lengths that the vendor's header names; nothing here depends on them. */
#define RKNN_CUSTOM_OP_MAX_STR_LEN   64
#define RKNN_CUSTOM_OP_MAX_VALUE_LEN 32

/* For the function of a plug-in, get_custom_op_func. */
#define RKNN_CUSTOM_OP_EXPORT __attribute__((visibility("default")))

#ifdef __arm__
typedef uint32_t rknn_custom_op_interal_context;
#else
typedef uint64_t rknn_custom_op_interal_context;
#endif

/* What computes an operator. */
typedef enum _rknn_target_type {
	RKNN_TARGET_TYPE_CPU = 1,
	RKNN_TARGET_TYPE_GPU = 2, /* refused: there is no OpenCL */
	RKNN_TARGET_TYPE_MAX
} rknn_target_type;

/* Of operators on a GPU; NULL. */
typedef struct _rknn_gpu_op_context {
	void *cl_context;
	void *cl_command_queue;
	void *cl_kernel;
} rknn_gpu_op_context;

/* One node of a model, from its init to its destroy. */
typedef struct _rknn_custom_op_context {
	rknn_target_type               target;
	rknn_custom_op_interal_context internal_ctx; /* the library's */
	rknn_gpu_op_context            gpu_ctx;
	void                          *priv_data; /* the program's */
} rknn_custom_op_context;

/*
 * An input or output of a node, valid during the call: elements at mem.virt_addr + mem.offset, contiguous, in the
 * model's order of dimensions; real numbers as FLOAT32, integers in their own type. In init there are no elements:
 * mem.virt_addr is NULL.
 */
typedef struct _rknn_custom_op_tensor {
	rknn_tensor_attr attr;
	rknn_tensor_mem  mem;
} rknn_custom_op_tensor;

/* An attribute of a node. */
typedef struct _rknn_custom_op_attr {
	char             name[RKNN_MAX_NAME_LEN];
	rknn_tensor_type dtype;   /* FLOAT32, INT64, or UINT8 for strings */
	uint32_t         n_elems; /* 0: the node has no such attribute */
	void            *data;    /* the library's, until the operator is destroyed */
} rknn_custom_op_attr;

/* An operator that is registered. Functions return 0, or a negative number to fail. */
typedef struct _rknn_custom_op {
	uint32_t         version; /* 1 */
	rknn_target_type target;
	char             op_type[RKNN_MAX_NAME_LEN]; /* as in the ONNX model */
	char             cl_kernel_name[RKNN_MAX_NAME_LEN];
	char            *cl_kernel_source;
	uint64_t         cl_source_size;
	char             cl_build_options[RKNN_MAX_NAME_LEN];

	/* Called for each node of the type by rknn_register_custom_ops; may be NULL. */
	int (*init)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
		rknn_custom_op_tensor *outputs, uint32_t n_outputs);
	/* Called for each node in each run, before compute; may be NULL. */
	int (*prepare)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
		rknn_custom_op_tensor *outputs, uint32_t n_outputs);
	/* Called for each node in each run. */
	int (*compute)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
		rknn_custom_op_tensor *outputs, uint32_t n_outputs);
	/* Never called. */
	int (*compute_native)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
		rknn_custom_op_tensor *outputs, uint32_t n_outputs);
	/* Called for each node by rknn_destroy, and when the node gets other functions; may be NULL. */
	int (*destroy)(rknn_custom_op_context *op_ctx);
} rknn_custom_op;

/* What a plug-in exports for tools that load operators; the library calls none. */
typedef rknn_custom_op *(*get_custom_op_func)(void);

/*
 * Registers operators of a context; the array is copied. Nodes of these types are computed by the functions from then
 * on, on the thread that calls rknn_run, and by those of a duplicate's own init in duplicates made later. Further calls
 * add operators or replace them. RKNN_ERR_PARAM_INVALID: no operator, no type, a type twice, no compute, another target
 * than the CPU; RKNN_ERR_FAIL: an init failed, or the call comes from a function of the program that the context has
 * called. Nothing has changed then.
 */
int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num);

/* Gives an attribute of the node by its name; n_elems is 0 when there is none. */
void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name, rknn_custom_op_attr *op_attr);

#ifdef __cplusplus
}
#endif

#endif
