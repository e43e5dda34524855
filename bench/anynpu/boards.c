/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model as programs for boards run it: rknn_init, images of bytes, rknn_run, results of the reported type. Prints one
 * JSON object with the seconds of rknn_run alone, of rknn_inputs_set, of rknn_outputs_get as float, and of rknn_run
 * with the images in memory of rknn_set_io_mem, which it converts, each the lowest and the median.
 *
 *     boards MODEL SECONDS RUNS      (at least RUNS runs; the number of threads is ANYNPU_THREADS)
 */
#include "frames.h"

static rknn_tensor_mem *bound[MODEL_PORTS];

/* The images in memory that rknn_run reads. */
static void bind_inputs(void)
{
	for (uint32_t i = 0; i < count.n_input; i++) {
		rknn_tensor_attr attr = {.index = i};
		RKNN_OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr));
		bound[i] = rknn_create_mem(ctx, inputs[i].size);
		CHECK(bound[i] != NULL, "%s", anynpu_last_error());
		memcpy(bound[i]->virt_addr, inputs[i].buf, inputs[i].size);
		attr.type = RKNN_TENSOR_UINT8;
		attr.fmt = RKNN_TENSOR_NHWC;
		RKNN_OK(rknn_set_io_mem(ctx, bound[i], &attr));
	}
}

/* The times of f, for a time and at least some calls. */
static void measure(const char *name, void (*f)(void), double limit, size_t least)
{
	struct samples s = {NULL, 0, 0};
	for (double begin = now(), from = begin; s.count < least || from - begin < limit;) {
		f();
		double end = now();
		add_sample(&s, end - from);
		from = end;
	}
	double best = quantile(&s, 0), median = quantile(&s, 0.5);
	printf("\"%s\": {\"best\": %.9f, \"median\": %.9f}", name, best, median);
	free(s.at);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: boards MODEL SECONDS RUNS\n");
		return 2;
	}
	double limit = strtod(argv[2], NULL);
	size_t least = strtoul(argv[3], NULL, 10);
	RKNN_OK(rknn_init(&ctx, argv[1], 0, 0, NULL));
	make_ports();
	set_inputs();
	for (double begin = now(); now() - begin < limit / 10;) /* warm up */
		run();
	printf("{");
	measure("run", run, limit, least);
	printf(", ");
	measure("inputs", set_inputs, limit / 10, least);
	printf(", ");
	measure("outputs", get_outputs, limit / 10, least);
	printf(", ");
	bind_inputs();
	measure("bound", run, limit, least);
	printf("}\n");
	for (uint32_t i = 0; i < count.n_input; i++) {
		RKNN_OK(rknn_destroy_mem(ctx, bound[i]));
		free(inputs[i].buf);
	}
	for (uint32_t i = 0; i < count.n_output; i++)
		free(outputs[i].buf);
	RKNN_OK(rknn_destroy(ctx));
	return 0;
}
