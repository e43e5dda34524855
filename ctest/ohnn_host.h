/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the OH_NN test hosts share: models that compute something known.
 */
#ifndef OHNN_HOST_H
#define OHNN_HOST_H

#include "host.h"

#define OK(call) ok_(call, #call, __FILE__, __LINE__)

static inline void ok_(OH_NN_ReturnCode got, const char *call, const char *file, int line)
{
	if (got != OH_NN_SUCCESS)
		host_fail(file, line, call, "code %d", (int)got);
}

static inline NN_TensorDesc *ohnn_desc(int rows, int columns)
{
	const int32_t shape[] = {rows, columns};
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	CHECK(d != NULL, "no descriptor");
	OK(OH_NNTensorDesc_SetDataType(d, OH_NN_FLOAT32));
	OK(OH_NNTensorDesc_SetShape(d, shape, 2));
	return d;
}

static inline void ohnn_add_tensor(OH_NNModel *m, int rows, int columns)
{
	NN_TensorDesc *d = ohnn_desc(rows, columns);
	OK(OH_NNModel_AddTensorToModel(m, d));
	OK(OH_NNTensorDesc_Destroy(&d));
}

static inline OH_NN_UInt32Array ohnn_list(uint32_t *v, uint32_t n)
{
	OH_NN_UInt32Array a;
	a.data = n ? v : NULL;
	a.size = n;
	return a;
}

static inline void ohnn_add_op(OH_NNModel *m, OH_NN_OperationType op, uint32_t a, uint32_t b, uint32_t y)
{
	uint32_t in[] = {a, b}, out[] = {y};
	OH_NN_UInt32Array params = ohnn_list(NULL, 0), inputs = ohnn_list(in, 2), outputs = ohnn_list(out, 1);
	OK(OH_NNModel_AddOperation(m, op, &params, &inputs, &outputs));
}

static inline void ohnn_finish(OH_NNModel *m, uint32_t a, uint32_t b, uint32_t y)
{
	uint32_t in[] = {a, b}, out[] = {y};
	OH_NN_UInt32Array inputs = ohnn_list(in, 2), outputs = ohnn_list(out, 1);
	OK(OH_NNModel_SpecifyInputsAndOutputs(m, &inputs, &outputs));
	OK(OH_NNModel_Finish(m));
}

/* A finished model of 1 x n: y = a + b. */
static inline OH_NNModel *ohnn_sum(int n)
{
	OH_NNModel *m = OH_NNModel_Construct();
	CHECK(m != NULL, "no model");
	for (int i = 0; i < 3; i++)
		ohnn_add_tensor(m, 1, n);
	ohnn_add_op(m, OH_NN_OPS_ADD, 0, 1, 2);
	ohnn_finish(m, 0, 1, 2);
	return m;
}

/* A finished model of n x n: y = a b b ... b, so that a run takes long. */
static inline OH_NNModel *ohnn_powers(int n, int times)
{
	OH_NNModel *m = OH_NNModel_Construct();
	CHECK(m != NULL, "no model");
	ohnn_add_tensor(m, n, n);
	ohnn_add_tensor(m, n, n);
	for (int i = 0; i < times; i++) {
		ohnn_add_tensor(m, n, n);
		ohnn_add_op(m, OH_NN_OPS_MATMUL, i == 0 ? 0 : (uint32_t)i + 1, 1, (uint32_t)i + 2);
	}
	ohnn_finish(m, 0, 1, (uint32_t)times + 1);
	return m;
}

/* Compiles and ends the model. */
static inline OH_NNCompilation *ohnn_compile(OH_NNModel *m)
{
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	CHECK(c != NULL, "no compilation");
	OK(OH_NNCompilation_Build(c));
	OH_NNModel_Destroy(&m);
	return c;
}

/* Compiles, makes an executor, ends all but that. */
static inline OH_NNExecutor *ohnn_executor(OH_NNModel *m)
{
	OH_NNCompilation *c = ohnn_compile(m);
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK(e != NULL, "no executor");
	OH_NNCompilation_Destroy(&c);
	return e;
}

static inline NN_Tensor *ohnn_tensor(int rows, int columns, float value)
{
	NN_TensorDesc *d = ohnn_desc(rows, columns);
	NN_Tensor *t = OH_NNTensor_Create(0, d);
	CHECK(t != NULL, "no tensor");
	OK(OH_NNTensorDesc_Destroy(&d));
	float *data = (float *)OH_NNTensor_GetDataBuffer(t);
	for (int i = 0; i < rows * columns; i++)
		data[i] = value;
	return t;
}

/* Demands that an executor of ohnn_sum(n) adds. */
static inline void ohnn_adds(OH_NNExecutor *e, int n)
{
	NN_Tensor *in[] = {ohnn_tensor(1, n, 1.5f), ohnn_tensor(1, n, 2.0f)}, *out[] = {ohnn_tensor(1, n, 0)};
	OK(OH_NNExecutor_RunSync(e, in, 2, out, 1));
	const float *y = (const float *)OH_NNTensor_GetDataBuffer(out[0]);
	for (int i = 0; i < n; i++)
		CHECK(y[i] == 3.5f, "element %d of %d is %g", i, n, (double)y[i]);
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out[0]));
}

#endif
