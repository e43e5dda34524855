/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One small program of each API: eight products of 256 x 256 matrices, at a level of the API's own.
 */
#ifndef GUESTS_H
#define GUESTS_H

#include <string.h>

#include <android/NeuralNetworks.h>
#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>
#include <rknn_api.h>

#include "hbdnn_model.h"
#undef OK
#include "ohnn_host.h"
#undef OK
#include "nnapi_host.h"

#define SIDE 256
#define DEPTH 8
#define FLOATS (SIDE * SIDE)

enum level { DEFAULT, LOW, HIGH };

/* A program of an API: its model, and the memory of a run. */
struct program {
	enum level level;
	rknn_context context;
	hbPackedDNNHandle_t pack;
	hbDNNHandle_t model;
	struct tensors tensors;
	OH_NNExecutor *executor;
	NN_Tensor *in[2], *out[1];
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksExecution *execution;
	float x[FLOATS], y[FLOATS];
};

struct api {
	const char *name;
	void (*open)(struct program *);
	void (*run)(struct program *);
	void (*close)(struct program *);
};

/* y = x x ... x. */
static struct rknn_message powers(void)
{
	const int64_t dims[] = {SIDE, SIDE};
	struct rknn_message graph = {0};
	char from[16] = "x", to[16];
	for (int i = 1; i <= DEPTH; i++) {
		snprintf(to, sizeof to, i == DEPTH ? "y" : "t%d", i);
		rknn_node(&graph, "MatMul", to, from, "x");
		memcpy(from, to, sizeof from);
	}
	rknn_port(&graph, 11, "x", dims, 2);
	rknn_port(&graph, 12, "y", dims, 2);
	return rknn_model(graph);
}

static void open_rknn(struct program *p)
{
	static const uint32_t flags[] = {0, RKNN_FLAG_PRIOR_LOW, RKNN_FLAG_PRIOR_HIGH};
	struct rknn_message m = powers();
	CHECK(rknn_init(&p->context, m.bytes, (uint32_t)m.size, flags[p->level], NULL) == RKNN_SUCC, "rknn_init");
}

static void run_rknn(struct program *p)
{
	rknn_input in = {0};
	rknn_output out = {0};
	in.buf = p->x;
	in.size = sizeof p->x;
	in.type = RKNN_TENSOR_FLOAT32;
	in.fmt = RKNN_TENSOR_UNDEFINED;
	CHECK(rknn_inputs_set(p->context, 1, &in) == RKNN_SUCC, "rknn_inputs_set");
	CHECK(rknn_run(p->context, NULL) == RKNN_SUCC, "rknn_run");
	out.want_float = 1;
	out.is_prealloc = 1;
	out.buf = p->y;
	out.size = sizeof p->y;
	CHECK(rknn_outputs_get(p->context, 1, &out, NULL) == RKNN_SUCC, "rknn_outputs_get");
	CHECK(rknn_outputs_release(p->context, 1, &out) == RKNN_SUCC, "rknn_outputs_release");
}

static void close_rknn(struct program *p) { CHECK(rknn_destroy(p->context) == RKNN_SUCC, "rknn_destroy"); }

static void open_hbdnn(struct program *p)
{
	struct rknn_message m = powers();
	const void *data = m.bytes;
	int32_t length = (int32_t)m.size, count;
	char const **names;
	CHECK(hbDNNInitializeFromDDR(&p->pack, &data, &length, 1) == 0, "hbDNNInitializeFromDDR");
	CHECK(hbDNNGetModelNameList(&names, &count, p->pack) == 0, "hbDNNGetModelNameList");
	CHECK(hbDNNGetModelHandle(&p->model, p->pack, names[0]) == 0, "hbDNNGetModelHandle");
	hbDNNTensor *in = &p->tensors.in, *out = &p->tensors.out;
	CHECK(hbDNNGetInputTensorProperties(&in->properties, p->model, 0) == 0, "input");
	CHECK(hbDNNGetOutputTensorProperties(&out->properties, p->model, 0) == 0, "output");
	CHECK(hbSysAllocCachedMem(&in->sysMem[0], (uint32_t)in->properties.alignedByteSize) == 0, "memory");
	CHECK(hbSysAllocCachedMem(&out->sysMem[0], (uint32_t)out->properties.alignedByteSize) == 0, "memory");
	memset(in->sysMem[0].virAddr, 0, (size_t)in->properties.alignedByteSize);
}

static void run_hbdnn(struct program *p)
{
	static const int32_t priorities[] = {HB_DNN_PRIORITY_LOWEST, HB_DNN_PRIORITY_LOWEST, HB_DNN_PRIORITY_HIGHEST};
	hbDNNTaskHandle_t task = NULL;
	CHECK(infer(&task, &p->tensors, p->model, priorities[p->level], 0, 0) == 0, "hbDNNInfer");
	CHECK(hbDNNWaitTaskDone(task, 0) == 0, "hbDNNWaitTaskDone");
	CHECK(hbDNNReleaseTask(task) == 0, "hbDNNReleaseTask");
}

static void close_hbdnn(struct program *p)
{
	CHECK(hbSysFreeMem(&p->tensors.in.sysMem[0]) == 0 && hbSysFreeMem(&p->tensors.out.sysMem[0]) == 0, "hbSysFreeMem");
	CHECK(hbDNNRelease(p->pack) == 0, "hbDNNRelease");
}

static void open_ohnn(struct program *p)
{
	static const OH_NN_Priority priorities[] = {OH_NN_PRIORITY_MEDIUM, OH_NN_PRIORITY_LOW, OH_NN_PRIORITY_HIGH};
	OH_NNModel *m = ohnn_powers(SIDE, DEPTH);
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	CHECK(c != NULL, "OH_NNCompilation_Construct");
	if (p->level != DEFAULT)
		CHECK(OH_NNCompilation_SetPriority(c, priorities[p->level]) == OH_NN_SUCCESS, "OH_NNCompilation_SetPriority");
	CHECK(OH_NNCompilation_Build(c) == OH_NN_SUCCESS, "OH_NNCompilation_Build");
	CHECK((p->executor = OH_NNExecutor_Construct(c)) != NULL, "OH_NNExecutor_Construct");
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
	p->in[0] = ohnn_tensor(SIDE, SIDE, 0);
	p->in[1] = ohnn_tensor(SIDE, SIDE, 0);
	p->out[0] = ohnn_tensor(SIDE, SIDE, 0);
}

static void run_ohnn(struct program *p)
{
	CHECK(OH_NNExecutor_RunSync(p->executor, p->in, 2, p->out, 1) == OH_NN_SUCCESS, "OH_NNExecutor_RunSync");
}

static void close_ohnn(struct program *p)
{
	for (int i = 0; i < 2; i++)
		OH_NNTensor_Destroy(&p->in[i]);
	OH_NNTensor_Destroy(&p->out[0]);
	OH_NNExecutor_Destroy(&p->executor);
}

static void open_nnapi(struct program *p)
{
	static const int32_t priorities[] = {ANEURALNETWORKS_PRIORITY_DEFAULT, ANEURALNETWORKS_PRIORITY_LOW,
	                                     ANEURALNETWORKS_PRIORITY_HIGH};
	static const float zeros[FLOATS];
	const uint32_t dims[] = {SIDE, SIDE}, row[] = {SIDE};
	const ANeuralNetworksOperandType square = nn_tensor(2, dims), line = nn_tensor(1, row);
	ANeuralNetworksModel *m = NULL;
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i <= DEPTH; i++)
		OK(ANeuralNetworksModel_addOperand(m, &square));
	OK(ANeuralNetworksModel_addOperand(m, &square)); /* the weights, the bias, no activation */
	OK(ANeuralNetworksModel_setOperandValue(m, DEPTH + 1, zeros, sizeof zeros));
	OK(ANeuralNetworksModel_addOperand(m, &line));
	OK(ANeuralNetworksModel_setOperandValue(m, DEPTH + 2, zeros, SIDE * sizeof *zeros));
	nn_int(m, DEPTH + 3, ANEURALNETWORKS_FUSED_NONE);
	for (uint32_t i = 0; i < DEPTH; i++) {
		const uint32_t in[] = {i, DEPTH + 1, DEPTH + 2, DEPTH + 3}, out[] = {i + 1};
		OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_FULLY_CONNECTED, 4, in, 1, out));
	}
	const uint32_t first[] = {0}, last[] = {DEPTH};
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, first, 1, last));
	OK(ANeuralNetworksModel_finish(m));
	OK(ANeuralNetworksCompilation_create(m, &p->compilation));
	OK(ANeuralNetworksCompilation_setPriority(p->compilation, priorities[p->level]));
	OK(ANeuralNetworksCompilation_finish(p->compilation));
	ANeuralNetworksModel_free(m);
	OK(ANeuralNetworksExecution_create(p->compilation, &p->execution));
	OK(ANeuralNetworksExecution_setReusable(p->execution, true));
	OK(ANeuralNetworksExecution_setInput(p->execution, 0, NULL, p->x, sizeof p->x));
	OK(ANeuralNetworksExecution_setOutput(p->execution, 0, NULL, p->y, sizeof p->y));
}

static void run_nnapi(struct program *p) { OK(ANeuralNetworksExecution_compute(p->execution)); }

static void close_nnapi(struct program *p)
{
	ANeuralNetworksExecution_free(p->execution);
	ANeuralNetworksCompilation_free(p->compilation);
}

enum { APIS = 4 };

static const struct api apis[APIS] = {
	{"ohnn", open_ohnn, run_ohnn, close_ohnn},
	{"rknn", open_rknn, run_rknn, close_rknn},
	{"hbdnn", open_hbdnn, run_hbdnn, close_hbdnn},
	{"nnapi", open_nnapi, run_nnapi, close_nnapi},
};

#endif
