/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * network.c with NNAPI: the model is a file of cmd/nnapicalls.
 */
#include "calls.h"

struct runner {
	ANeuralNetworksExecution *execution;
	float *in, *out;
};

static ANeuralNetworksModel *nn_model;
static ANeuralNetworksCompilation *nn_compilation;
static size_t counts[2]; /* of the input and of the output */

/* Reads how many numbers the input and the output have. */
static void read_ports(const char *model)
{
	struct calls c;
	uint32_t n, ins, outs;
	open_calls(&c, model);
	uint32_t operands = read_number(&c);
	size_t *all = calloc(operands, sizeof *all);
	CHECK(all != NULL, "no memory");
	for (uint32_t i = 0; i < operands; i++) {
		uint32_t type = read_number(&c), *dims = read_list(&c, &n), scales;
		uint64_t bytes;
		all[i] = type == ANEURALNETWORKS_TENSOR_FLOAT32;
		for (uint32_t k = 0; k < n; k++)
			all[i] *= dims[k];
		free(dims);
		read_calls(&c, 8); /* scale and zero point */
		if ((scales = read_number(&c)) > 0)
			read_calls(&c, 4 + scales * sizeof(float));
		read_number(&c);
		memcpy(&bytes, read_calls(&c, sizeof bytes), sizeof bytes);
		read_calls(&c, bytes);
	}
	for (uint32_t k = read_number(&c); k > 0; k--) {
		read_number(&c);
		free(read_list(&c, &ins));
		free(read_list(&c, &outs));
	}
	uint32_t *in = read_list(&c, &ins), *out = read_list(&c, &outs);
	CHECK(ins == 1 && outs == 1, "%u inputs and %u outputs", ins, outs);
	counts[0] = all[in[0]];
	counts[1] = all[out[0]];
	CHECK(counts[0] && counts[1], "want float32");
	free(in);
	free(out);
	free(all);
	free(c.data);
}

static void load(const char *model)
{
	read_ports(model);
	nn_compilation = compile_calls(model, &nn_model);
}

static void unload(void)
{
	ANeuralNetworksCompilation_free(nn_compilation);
	ANeuralNetworksModel_free(nn_model);
}

static void begin_runner(struct runner *r)
{
	r->in = malloc(counts[0] * sizeof *r->in);
	r->out = malloc(counts[1] * sizeof *r->out);
	CHECK(r->in && r->out, "no memory");
	NN_OK(ANeuralNetworksExecution_create(nn_compilation, &r->execution));
	NN_OK(ANeuralNetworksExecution_setReusable(r->execution, true));
	NN_OK(ANeuralNetworksExecution_setInput(r->execution, 0, NULL, r->in, counts[0] * sizeof *r->in));
	NN_OK(ANeuralNetworksExecution_setOutput(r->execution, 0, NULL, r->out, counts[1] * sizeof *r->out));
}

static int run(struct runner *r, int input, struct values *v)
{
	fill(r->in, F32, counts[0], input, 1, 0);
	int code = ANeuralNetworksExecution_compute(r->execution);
	if (code == ANEURALNETWORKS_NO_ERROR)
		take(v, r->out, F32, counts[1]);
	return code;
}

static void end_runner(struct runner *r)
{
	ANeuralNetworksExecution_free(r->execution);
	free(r->in);
	free(r->out);
}
