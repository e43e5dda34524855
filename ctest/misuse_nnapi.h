/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A good handle of every NNAPI kind, for the generated misuse test. Each drop takes what make returned.
 */
#ifndef MISUSE_NNAPI_H
#define MISUSE_NNAPI_H

#include <sys/mman.h>

/* A model with three tensors of [2] and an activation, of which ADD makes 2 from 0 and 1; open, so that functions that
 * change it can be tried. */
static inline ANeuralNetworksModel *make_ANeuralNetworksModel(void)
{
	ANeuralNetworksModel *model = NULL;
	ANeuralNetworksModel_create(&model);
	const uint32_t dims[] = {2};
	const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, 0, 0};
	const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
	for (int i = 0; i < 3; i++)
		ANeuralNetworksModel_addOperand(model, &tensor);
	ANeuralNetworksModel_addOperand(model, &scalar);
	const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	ANeuralNetworksModel_setOperandValue(model, 3, &none, sizeof none);
	const uint32_t inputs[] = {0, 1, 3}, outputs[] = {2};
	ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, inputs, 1, outputs);
	return model;
}

static inline void drop_ANeuralNetworksModel(ANeuralNetworksModel *model) { ANeuralNetworksModel_free(model); }

/* A compilation of a finished model, not finished itself. */
static inline ANeuralNetworksCompilation *make_ANeuralNetworksCompilation(void)
{
	ANeuralNetworksModel *model = make_ANeuralNetworksModel();
	ANeuralNetworksCompilation *compilation = NULL;
	const uint32_t inputs[] = {0, 1}, outputs[] = {2};
	ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, inputs, 1, outputs);
	ANeuralNetworksModel_finish(model);
	ANeuralNetworksCompilation_create(model, &compilation);
	ANeuralNetworksModel_free(model);
	return compilation;
}

static inline void drop_ANeuralNetworksCompilation(ANeuralNetworksCompilation *compilation)
{
	ANeuralNetworksCompilation_free(compilation);
}

static inline ANeuralNetworksCompilation *misuse_compiled(void)
{
	ANeuralNetworksCompilation *compilation = make_ANeuralNetworksCompilation();
	ANeuralNetworksCompilation_finish(compilation);
	return compilation;
}

/* An execution with nothing bound. */
static inline ANeuralNetworksExecution *make_ANeuralNetworksExecution(void)
{
	ANeuralNetworksCompilation *compilation = misuse_compiled();
	ANeuralNetworksExecution *execution = NULL;
	ANeuralNetworksExecution_create(compilation, &execution);
	ANeuralNetworksCompilation_free(compilation);
	return execution;
}

static inline void drop_ANeuralNetworksExecution(ANeuralNetworksExecution *execution)
{
	ANeuralNetworksExecution_free(execution);
}

static inline ANeuralNetworksBurst *make_ANeuralNetworksBurst(void)
{
	ANeuralNetworksCompilation *compilation = misuse_compiled();
	ANeuralNetworksBurst *burst = NULL;
	ANeuralNetworksBurst_create(compilation, &burst);
	ANeuralNetworksCompilation_free(compilation);
	return burst;
}

static inline void drop_ANeuralNetworksBurst(ANeuralNetworksBurst *burst) { ANeuralNetworksBurst_free(burst); }

/* 4096 bytes of a file that has no name. */
static inline ANeuralNetworksMemory *make_ANeuralNetworksMemory(void)
{
	ANeuralNetworksMemory *memory = NULL;
	int fd = memfd_create("misuse", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 4096) != 0)
		abort();
	ANeuralNetworksMemory_createFromFd(4096, PROT_READ | PROT_WRITE, fd, 0, &memory);
	close(fd);
	return memory;
}

static inline void drop_ANeuralNetworksMemory(ANeuralNetworksMemory *memory) { ANeuralNetworksMemory_free(memory); }

static inline ANeuralNetworksMemoryDesc *make_ANeuralNetworksMemoryDesc(void)
{
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemoryDesc_create(&desc);
	return desc;
}

static inline void drop_ANeuralNetworksMemoryDesc(ANeuralNetworksMemoryDesc *desc)
{
	ANeuralNetworksMemoryDesc_free(desc);
}

/* The event of a fence that is signalled: waiting for it ends at once. */
static inline ANeuralNetworksEvent *make_ANeuralNetworksEvent(void)
{
	ANeuralNetworksEvent *event = NULL;
	int ends[2];
	if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1)
		abort();
	ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &event);
	close(ends[0]);
	close(ends[1]);
	return event;
}

static inline void drop_ANeuralNetworksEvent(ANeuralNetworksEvent *event) { ANeuralNetworksEvent_free(event); }

#endif
