/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model of NNAPI from the file that cmd/nnapicalls writes, built call by call.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <android/NeuralNetworks.h>

#include "host.h"

#define NN_OK(call) CHECK((call) == ANEURALNETWORKS_NO_ERROR, "%s", anynpu_last_error())

/* The file, of which at is read next. The driver reads constants in it until the model is finished. */
struct calls {
	char *data;
	size_t size, at;
};

static inline const void *read_calls(struct calls *c, size_t n)
{
	CHECK(n <= c->size - c->at, "the file ends after %zu bytes", c->size);
	const void *p = c->data + c->at;
	c->at += n;
	return p;
}

static inline uint32_t read_number(struct calls *c)
{
	uint32_t v;
	memcpy(&v, read_calls(c, sizeof v), sizeof v);
	return v;
}

/* A list of numbers, which the caller frees. */
static inline uint32_t *read_list(struct calls *c, uint32_t *count)
{
	*count = read_number(c);
	size_t n = *count * sizeof(uint32_t);
	uint32_t *list = malloc(n + 1);
	CHECK(list != NULL, "no memory");
	memcpy(list, read_calls(c, n), n);
	return list;
}

static inline void open_calls(struct calls *c, const char *path)
{
	FILE *f = fopen(path, "rb");
	CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0, "%s", path);
	c->size = (size_t)ftell(f);
	c->data = malloc(c->size + 1);
	rewind(f);
	CHECK(c->data != NULL && fread(c->data, 1, c->size, f) == c->size && fclose(f) == 0, "%s", path);
	c->at = 0;
	CHECK(memcmp(read_calls(c, 8), "ANNCALL1", 8) == 0, "%s is no file of nnapicalls", path);
}

/* Adds the next operand of the file with its scales and its value. */
static inline void add_next_operand(struct calls *c, ANeuralNetworksModel *m, int32_t index)
{
	enum { CONSTANT = 3, NO_VALUE = 4, MODEL = 5 }; /* of the word that says where values come from */
	ANeuralNetworksOperandType t = {.type = (int32_t)read_number(c)};
	uint32_t *dims = read_list(c, &t.dimensionCount), count;
	t.dimensions = t.dimensionCount ? dims : NULL;
	memcpy(&t.scale, read_calls(c, sizeof t.scale), sizeof t.scale);
	t.zeroPoint = (int32_t)read_number(c);
	NN_OK(ANeuralNetworksModel_addOperand(m, &t));
	free(dims);
	if ((count = read_number(c)) > 0) {
		ANeuralNetworksSymmPerChannelQuantParams p = {.channelDim = read_number(c), .scaleCount = count};
		float *scales = malloc(count * sizeof *scales);
		CHECK(scales != NULL, "no memory");
		p.scales = memcpy(scales, read_calls(c, count * sizeof *scales), count * sizeof *scales);
		NN_OK(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, index, &p));
		free(scales);
	}
	uint32_t from = read_number(c);
	uint64_t bytes;
	memcpy(&bytes, read_calls(c, sizeof bytes), sizeof bytes);
	CHECK(from != MODEL, "operand %d refers to a model", index);
	if (from == CONSTANT)
		NN_OK(ANeuralNetworksModel_setOperandValue(m, index, read_calls(c, bytes), bytes));
	else if (from == NO_VALUE)
		NN_OK(ANeuralNetworksModel_setOperandValue(m, index, NULL, 0));
}

/* The finished model of a file, with one compilation for all devices. */
static inline ANeuralNetworksCompilation *compile_calls(const char *path, ANeuralNetworksModel **model)
{
	struct calls c;
	ANeuralNetworksCompilation *compilation;
	uint32_t ins, outs;
	open_calls(&c, path);
	NN_OK(ANeuralNetworksModel_create(model));
	uint32_t operands = read_number(&c);
	for (uint32_t i = 0; i < operands; i++)
		add_next_operand(&c, *model, (int32_t)i);
	uint32_t operations = read_number(&c);
	for (uint32_t i = 0; i <= operations; i++) { /* behind the last one the model's own */
		int32_t type = i < operations ? (int32_t)read_number(&c) : 0;
		uint32_t *in = read_list(&c, &ins), *out = read_list(&c, &outs);
		if (i < operations)
			NN_OK(ANeuralNetworksModel_addOperation(*model, type, ins, in, outs, out));
		else
			NN_OK(ANeuralNetworksModel_identifyInputsAndOutputs(*model, ins, in, outs, out));
		free(in);
		free(out);
	}
	NN_OK(ANeuralNetworksModel_finish(*model));
	free(c.data);
	NN_OK(ANeuralNetworksCompilation_create(*model, &compilation));
	NN_OK(ANeuralNetworksCompilation_finish(compilation));
	return compilation;
}

#endif
