/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What programs use of the RKNN headers beside functions, values and layouts: tags of structs, and the names of
 * enumerators. Built as C and as C++; each header is included alone before the others.
 */
#include <rknn_matmul_api.h>

#include <rknn_custom_op.h>

#include <rknn_api.h>

#include "host.h"

/* A variable declared by the tag is one of the type. */
#define TAG(tag, type) do { struct tag *p = (type *)0; CHECK(p == NULL, #tag); } while (0)

#define NAMED(text, function, value) CHECK(!strcmp(function(value), text), #value ": %s", function(value))

static void tags(void)
{
	TAG(_rknn_input_output_num, rknn_input_output_num);
	TAG(_rknn_tensor_attr, rknn_tensor_attr);
	TAG(_rknn_input_range, rknn_input_range);
	TAG(_rknn_perf_detail, rknn_perf_detail);
	TAG(_rknn_perf_run, rknn_perf_run);
	TAG(_rknn_sdk_version, rknn_sdk_version);
	TAG(_rknn_mem_size, rknn_mem_size);
	TAG(_rknn_custom_string, rknn_custom_string);
	TAG(_rknn_tensor_memory, rknn_tensor_mem);
	TAG(_rknn_input, rknn_input);
	TAG(_rknn_output, rknn_output);
	TAG(_rknn_init_extend, rknn_init_extend);
	TAG(_rknn_run_extend, rknn_run_extend);
	TAG(_rknn_output_extend, rknn_output_extend);
	TAG(_rknn_quant_params, rknn_quant_params);
	TAG(_rknn_matmul_tensor_attr, rknn_matmul_tensor_attr);
	TAG(_rknn_matmul_io_attr, rknn_matmul_io_attr);
	TAG(_rknn_matmul_shape, rknn_matmul_shape);
	TAG(rknn_matmul_info_t, rknn_matmul_info);
	TAG(_rknn_gpu_op_context, rknn_gpu_op_context);
	TAG(_rknn_custom_op_context, rknn_custom_op_context);
	TAG(_rknn_custom_op_tensor, rknn_custom_op_tensor);
	TAG(_rknn_custom_op_attr, rknn_custom_op_attr);
	TAG(_rknn_custom_op, rknn_custom_op);
}

static void names(void)
{
	NAMED("FP32", get_type_string, RKNN_TENSOR_FLOAT32);
	NAMED("FP16", get_type_string, RKNN_TENSOR_FLOAT16);
	NAMED("INT8", get_type_string, RKNN_TENSOR_INT8);
	NAMED("UINT8", get_type_string, RKNN_TENSOR_UINT8);
	NAMED("INT16", get_type_string, RKNN_TENSOR_INT16);
	NAMED("UINT16", get_type_string, RKNN_TENSOR_UINT16);
	NAMED("INT32", get_type_string, RKNN_TENSOR_INT32);
	NAMED("UINT32", get_type_string, RKNN_TENSOR_UINT32);
	NAMED("INT64", get_type_string, RKNN_TENSOR_INT64);
	NAMED("BOOL", get_type_string, RKNN_TENSOR_BOOL);
	NAMED("INT4", get_type_string, RKNN_TENSOR_INT4);
	NAMED("BF16", get_type_string, RKNN_TENSOR_BFLOAT16);
	NAMED("UNKNOW", get_type_string, RKNN_TENSOR_TYPE_MAX);
	NAMED("NONE", get_qnt_type_string, RKNN_TENSOR_QNT_NONE);
	NAMED("DFP", get_qnt_type_string, RKNN_TENSOR_QNT_DFP);
	NAMED("AFFINE", get_qnt_type_string, RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC);
	NAMED("UNKNOW", get_qnt_type_string, RKNN_TENSOR_QNT_MAX);
	NAMED("NCHW", get_format_string, RKNN_TENSOR_NCHW);
	NAMED("NHWC", get_format_string, RKNN_TENSOR_NHWC);
	NAMED("NC1HWC2", get_format_string, RKNN_TENSOR_NC1HWC2);
	NAMED("UNDEFINED", get_format_string, RKNN_TENSOR_UNDEFINED);
	NAMED("UNKNOW", get_format_string, RKNN_TENSOR_FORMAT_MAX);
	NAMED("RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32", get_matmul_type_string, RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32);
	NAMED("RKNN_INT8_MM_INT8_TO_INT32", get_matmul_type_string, RKNN_INT8_MM_INT8_TO_INT32);
	NAMED("RKNN_INT8_MM_INT8_TO_INT8", get_matmul_type_string, RKNN_INT8_MM_INT8_TO_INT8);
	NAMED("RKNN_INT4_MM_INT4_TO_INT16", get_matmul_type_string, RKNN_INT4_MM_INT4_TO_INT16);
	NAMED("RKNN_FLOAT16_MM_INT4_TO_BFLOAT16", get_matmul_type_string, RKNN_FLOAT16_MM_INT4_TO_BFLOAT16);
	NAMED("UNKNOW", get_matmul_type_string, RKNN_INT8_MM_INT4_TO_FLOAT16);
}

int main(void)
{
	host_begin();
	tags();
	names();
	CHECK(rknn_destroy(0) == RKNN_ERR_CTX_INVALID, "rknn_destroy"); /* the headers link, too */
	return host_end();
}
