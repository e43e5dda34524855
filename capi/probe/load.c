/*
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <android/NeuralNetworks.h>
#include <anynpu.h>
#include <dnn/hb_dnn.h>
#include <neural_network_runtime/neural_network_runtime.h>
#include <rknn_api.h>

#include "load.h"

static void *library;
static const char *missing; /* a function that the library lacks */

static void *function(const char *name)
{
	void *f = dlsym(library, name);
	if (!f)
		missing = name;
	return f;
}

/* Declares NAME as a pointer to the library's function; a caller looks at missing before it calls. */
#define USE(name) __typeof__(&name) p_##name = (__typeof__(&name))function(#name)

static const char *refused(void)
{
	USE(anynpu_last_error);
	const char *text = p_anynpu_last_error ? p_anynpu_last_error() : "";
	return *text ? text : "a call failed, and the library does not say why";
}

static const char *lacks(void)
{
	static char text[256];
	snprintf(text, sizeof text, "the library lacks the function %s", missing);
	return text;
}

static const char *load_rknn(const char *model)
{
	USE(rknn_init);
	USE(rknn_destroy);
	rknn_context context = 0;
	if (missing)
		return lacks();
	if (p_rknn_init(&context, (void *)model, 0, 0, NULL) != RKNN_SUCC)
		return refused();
	p_rknn_destroy(context);
	return NULL;
}

static const char *load_hbdnn(const char *model)
{
	USE(hbDNNInitializeFromFiles);
	USE(hbDNNRelease);
	hbPackedDNNHandle_t packed = NULL;
	if (missing)
		return lacks();
	if (p_hbDNNInitializeFromFiles(&packed, &model, 1) != 0)
		return refused();
	p_hbDNNRelease(packed);
	return NULL;
}

static const char *load_ohnn(const char *model)
{
	USE(OH_NNCompilation_ConstructWithOfflineModelFile);
	USE(OH_NNCompilation_Build);
	USE(OH_NNCompilation_Destroy);
	if (missing)
		return lacks();
	OH_NNCompilation *compilation = p_OH_NNCompilation_ConstructWithOfflineModelFile(model);
	if (!compilation || p_OH_NNCompilation_Build(compilation) != OH_NN_SUCCESS)
		return refused();
	p_OH_NNCompilation_Destroy(&compilation);
	return NULL;
}

/* The bytes of a file of calls that were not read yet. */
struct calls {
	const char *at;
	size_t left;
	int short_; /* something was not there */
};

static const void *take(struct calls *c, uint64_t n)
{
	static const char nothing[64];
	if (n > c->left || c->short_) {
		c->short_ = 1;
		return n <= sizeof nothing ? nothing : NULL;
	}
	const void *p = c->at;
	c->at += n;
	c->left -= n;
	return p;
}

static uint32_t number(struct calls *c)
{
	uint32_t v;
	memcpy(&v, take(c, sizeof v), sizeof v);
	return v;
}

/* A list of numbers: writers align nothing, so that it is copied. It stays until the program ends. */
static uint32_t *numbers(struct calls *c, uint32_t *count)
{
	*count = number(c);
	const void *from = take(c, *count * (uint64_t)4);
	uint32_t *list = from ? malloc(*count * (size_t)4 + 1) : NULL;
	if (list)
		memcpy(list, from, *count * (size_t)4);
	else
		c->short_ = 1;
	return list;
}

static int add_operand(struct calls *c, ANeuralNetworksModel *model, int32_t index)
{
	enum { CONSTANT = 3, NO_VALUE = 4 }; /* of the word that says where values come from */
	USE(ANeuralNetworksModel_addOperand);
	USE(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams);
	USE(ANeuralNetworksModel_setOperandValue);
	ANeuralNetworksOperandType t = {.type = (int32_t)number(c)};
	t.dimensions = numbers(c, &t.dimensionCount);
	memcpy(&t.scale, take(c, sizeof t.scale), sizeof t.scale);
	t.zeroPoint = (int32_t)number(c);
	ANeuralNetworksSymmPerChannelQuantParams p = {.scaleCount = number(c)};
	if (p.scaleCount) {
		p.channelDim = number(c);
		float *scales = malloc(p.scaleCount * sizeof *scales);
		const void *from = take(c, p.scaleCount * (uint64_t)4);
		if (!scales || !from)
			return -1;
		p.scales = memcpy(scales, from, p.scaleCount * sizeof *scales);
	}
	uint32_t from = number(c);
	uint64_t bytes;
	memcpy(&bytes, take(c, sizeof bytes), sizeof bytes);
	const void *data = take(c, bytes);
	if (c->short_ || missing)
		return -1;
	if (p_ANeuralNetworksModel_addOperand(model, &t) != 0 ||
	    (p.scaleCount && p_ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model, index, &p) != 0))
		return 1;
	if (from == CONSTANT)
		return p_ANeuralNetworksModel_setOperandValue(model, index, data, bytes);
	return from == NO_VALUE ? p_ANeuralNetworksModel_setOperandValue(model, index, NULL, 0) : 0;
}

/* Makes the calls of a file. 0: all succeed, -1: the file ends too soon, any other: a call failed. */
static int call(struct calls *c, ANeuralNetworksModel *model)
{
	USE(ANeuralNetworksModel_addOperation);
	USE(ANeuralNetworksModel_identifyInputsAndOutputs);
	USE(ANeuralNetworksModel_finish);
	uint32_t operands = number(c), in_count, out_count;
	for (uint32_t i = 0; i < operands && !c->short_; i++) {
		int code = add_operand(c, model, (int32_t)i);
		if (code)
			return code;
	}
	uint32_t operations = number(c);
	for (uint32_t i = 0; i <= operations; i++) { /* after the last one the model's own */
		int32_t type = i < operations ? (int32_t)number(c) : 0;
		uint32_t *in = numbers(c, &in_count), *out = numbers(c, &out_count);
		if (c->short_ || missing)
			return -1;
		int code = i < operations ? p_ANeuralNetworksModel_addOperation(model, type, in_count, in, out_count, out)
		    : p_ANeuralNetworksModel_identifyInputsAndOutputs(model, in_count, in, out_count, out);
		if (code)
			return code;
	}
	return p_ANeuralNetworksModel_finish(model);
}

static const char *load_nnapi(const char *path)
{
	USE(ANeuralNetworksModel_create);
	USE(ANeuralNetworksCompilation_create);
	USE(ANeuralNetworksCompilation_finish);
	if (missing)
		return lacks();
	FILE *f = fopen(path, "rb");
	long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
	char *data = size >= 8 ? malloc((size_t)size) : NULL;
	if (!data || fseek(f, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)size, f) != (size_t)size ||
	    memcmp(data, "ANNCALL1", 8) != 0)
		return "the calls cannot be read";
	struct calls c = {.at = data + 8, .left = (size_t)size - 8};
	ANeuralNetworksModel *model;
	ANeuralNetworksCompilation *compilation;
	if (p_ANeuralNetworksModel_create(&model) != 0)
		return refused();
	int code = call(&c, model);
	if (missing)
		return lacks();
	if (code < 0)
		return "the calls end too soon";
	if (code != 0 || p_ANeuralNetworksCompilation_create(model, &compilation) != 0 ||
	    p_ANeuralNetworksCompilation_finish(compilation) != 0)
		return refused();
	return NULL;
}

const char *load_model(const char *path, const char *api, const char *model)
{
	static const struct {
		const char *api, *(*load)(const char *);
	} loads[] = {{"rknn", load_rknn}, {"hbdnn", load_hbdnn}, {"ohnn", load_ohnn}, {"nnapi", load_nnapi}};
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *why = dlerror();
		return why ? why : "the loader does not say why the library cannot be opened";
	}
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
		if (strcmp(loads[i].api, api) == 0)
			return loads[i].load(model);
	return "there is no such API";
}
