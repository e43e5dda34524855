/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model as programs for boards run it: rknn_init, images of bytes in NHWC, rknn_run, results as float.
 */
#ifndef BENCH_FRAMES_H
#define BENCH_FRAMES_H

#include "model.h"
#include "rknn_api.h"

#define RKNN_OK(call) CHECK((call) == RKNN_SUCC, "%s", anynpu_last_error())

static rknn_context ctx;
static rknn_input inputs[MODEL_PORTS];
static rknn_output outputs[MODEL_PORTS];
static rknn_input_output_num count;

static inline void set_inputs(void) { RKNN_OK(rknn_inputs_set(ctx, count.n_input, inputs)); }
static inline void run(void) { RKNN_OK(rknn_run(ctx, NULL)); }
static inline void get_outputs(void) { RKNN_OK(rknn_outputs_get(ctx, count.n_output, outputs, NULL)); }

/* Bytes for every input, room for every output. */
static inline void make_ports(void)
{
	RKNN_OK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count));
	CHECK(count.n_input <= MODEL_PORTS && count.n_output <= MODEL_PORTS, "%u inputs, %u outputs", count.n_input,
		count.n_output);
	for (uint32_t i = 0; i < count.n_input; i++) {
		rknn_tensor_attr attr = {.index = i};
		RKNN_OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr));
		uint8_t *data = malloc(attr.n_elems);
		CHECK(data != NULL, "no memory for %u bytes", attr.n_elems);
		for (uint32_t k = 0; k < attr.n_elems; k++)
			data[k] = (uint8_t)((2654435761U * k + 12345U) >> 24);
		inputs[i] = (rknn_input){.index = i, .buf = data, .size = attr.n_elems, .type = RKNN_TENSOR_UINT8,
			.fmt = RKNN_TENSOR_NHWC};
	}
	for (uint32_t i = 0; i < count.n_output; i++) {
		rknn_tensor_attr attr = {.index = i};
		RKNN_OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr));
		outputs[i] = (rknn_output){.index = i, .want_float = 1, .is_prealloc = 1, .size = attr.n_elems * 4,
			.buf = malloc(attr.n_elems * 4)};
		CHECK(outputs[i].buf != NULL, "no memory for %u bytes", attr.n_elems * 4);
	}
}

#endif
