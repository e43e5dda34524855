/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the NNAPI test hosts share: models that compute something known.
 */
#ifndef NNAPI_HOST_H
#define NNAPI_HOST_H

#include <android/NeuralNetworks.h>
#include <android/NeuralNetworksExtensions.h>

#include "host.h"

#define OK(call) nn_ok_(call, #call, __FILE__, __LINE__)

static inline void nn_ok_(int got, const char *call, const char *file, int line)
{
	if (got != ANEURALNETWORKS_NO_ERROR)
		host_fail(file, line, call, "code %d: %s", got, anynpu_last_error());
}

/* A float tensor of the given dimensions; no rank is an open one. */
static inline ANeuralNetworksOperandType nn_tensor(uint32_t rank, const uint32_t *dims)
{
	ANeuralNetworksOperandType t;
	t.type = ANEURALNETWORKS_TENSOR_FLOAT32;
	t.dimensionCount = rank;
	t.dimensions = rank ? dims : NULL;
	t.scale = 0;
	t.zeroPoint = 0;
	return t;
}

/* Adds an INT32 with a value; its index is that of the next operand. */
static inline void nn_int(ANeuralNetworksModel *m, int32_t index, int32_t value)
{
	ANeuralNetworksOperandType t = nn_tensor(0, NULL);
	t.type = ANEURALNETWORKS_INT32;
	OK(ANeuralNetworksModel_addOperand(m, &t));
	OK(ANeuralNetworksModel_setOperandValue(m, index, &value, sizeof value));
}

/*
 * Operands 0 and 1, inputs, 2, the output, and 3, no activation: ADD makes 2 from 0 and 1, all of n elements; with n 0
 * their number is open. The model is not finished.
 */
static inline ANeuralNetworksModel *nn_open_sum(uint32_t n)
{
	ANeuralNetworksModel *m = NULL;
	const ANeuralNetworksOperandType t = nn_tensor(1, &n);
	const uint32_t in[] = {0, 1, 3}, out[] = {2};
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i < 3; i++)
		OK(ANeuralNetworksModel_addOperand(m, &t));
	nn_int(m, 3, ANEURALNETWORKS_FUSED_NONE);
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, out));
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in, 1, out));
	return m;
}

static inline ANeuralNetworksModel *nn_sum(uint32_t n)
{
	ANeuralNetworksModel *m = nn_open_sum(n);
	OK(ANeuralNetworksModel_finish(m));
	return m;
}

static inline ANeuralNetworksDevice *nn_device(uint32_t index)
{
	ANeuralNetworksDevice *d = NULL;
	OK(ANeuralNetworks_getDevice(index, &d));
	return d;
}

/* The processor, which is the last device. */
static inline ANeuralNetworksDevice *nn_processor(void)
{
	uint32_t n = 0;
	OK(ANeuralNetworks_getDeviceCount(&n));
	return nn_device(n - 1);
}

/* A finished compilation of a model, which ends: for all devices, or for the processor alone. */
static inline ANeuralNetworksCompilation *nn_compiled(ANeuralNetworksModel *m, int alone)
{
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksDevice *d = nn_processor();
	if (alone)
		OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
	else
		OK(ANeuralNetworksCompilation_create(m, &c));
	OK(ANeuralNetworksCompilation_finish(c));
	ANeuralNetworksModel_free(m);
	return c;
}

static inline ANeuralNetworksExecution *nn_execution(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *e = NULL;
	OK(ANeuralNetworksExecution_create(c, &e));
	return e;
}

/* Binds n floats to each of two inputs and an output. */
static inline void nn_bind(ANeuralNetworksExecution *e, const float *a, const float *b, float *y, size_t n)
{
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, n * sizeof *a));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, n * sizeof *b));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, n * sizeof *y));
}

#endif
