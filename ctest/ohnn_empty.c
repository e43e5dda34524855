/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Scalars and tensors without elements: made from an executor's descriptors, computed, shared, and asked what they are.
 */
#include "ohnn_host.h"
#include "rknn_model.h"

/* What a descriptor says: rank, elements and bytes. */
static void is(const char *what, NN_TensorDesc *d, size_t rank, size_t count, size_t bytes)
{
	int32_t *shape = NULL;
	size_t n = 99, elements = 99, size = 99;
	CHECK(d != NULL, "%s: no descriptor", what);
	OK(OH_NNTensorDesc_GetShape(d, &shape, &n));
	CHECK(n == rank && (shape == NULL) == (rank == 0), "%s: %zu dimensions", what, n);
	OH_NN_ReturnCode c = OH_NNTensorDesc_GetElementCount(d, &elements), s = OH_NNTensorDesc_GetByteSize(d, &size);
	CHECK(c == OH_NN_SUCCESS && s == OH_NN_SUCCESS && elements == count && size == bytes,
		"%s: codes %d, %d, %zu elements, %zu bytes", what,
	      (int)c, (int)s, elements, size);
}

static NN_Tensor *made(NN_TensorDesc *d, size_t bytes)
{
	size_t size = 99;
	int fd = -1;
	NN_Tensor *t = OH_NNTensor_Create(0, d);
	CHECK(t != NULL, "no tensor: %s", anynpu_last_error());
	OK(OH_NNTensor_GetSize(t, &size));
	OK(OH_NNTensor_GetFd(t, &fd));
	CHECK(size == bytes && fd >= 0 && OH_NNTensor_GetDataBuffer(t) != NULL, "%zu bytes, descriptor %d", size, fd);
	OK(OH_NNTensorDesc_Destroy(&d));
	return t;
}

/* y = a + b of scalars, three times; the tensors are made from the executor's descriptors alone. */
static void scalars(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	for (int i = 0; i < 3; i++) {
		NN_TensorDesc *d = OH_NNTensorDesc_Create();
		OK(OH_NNTensorDesc_SetDataType(d, OH_NN_FLOAT32));
		CHECK(OH_NNTensor_Create(0, d) == NULL, "a descriptor without a shape makes a tensor");
		OK(OH_NNModel_AddTensorToModel(m, d));
		OK(OH_NNTensorDesc_Destroy(&d));
	}
	ohnn_add_op(m, OH_NN_OPS_ADD, 0, 1, 2);
	ohnn_finish(m, 0, 1, 2);
	OH_NNExecutor *e = ohnn_executor(m);
	NN_TensorDesc *d = OH_NNExecutor_CreateOutputTensorDesc(e, 0), *plain;
	is("a scalar output", d, 0, 1, sizeof(float));
	NN_Tensor *in[] = {made(OH_NNExecutor_CreateInputTensorDesc(e, 0), 4),
		made(OH_NNExecutor_CreateInputTensorDesc(e, 1), 4)};
	NN_Tensor *out = made(d, sizeof(float));
	for (int i = 0; i < 3; i++) {
		*(float *)OH_NNTensor_GetDataBuffer(in[0]) = (float)i;
		*(float *)OH_NNTensor_GetDataBuffer(in[1]) = 0.5f;
		OK(OH_NNExecutor_RunSync(e, in, 2, &out, 1));
		CHECK(*(float *)OH_NNTensor_GetDataBuffer(out) == (float)i + 0.5f, "run %d: %g", i,
			(double)*(float *)OH_NNTensor_GetDataBuffer(out));
		is("a scalar result", OH_NNTensor_GetTensorDesc(out), 0, 1, sizeof(float));
	}
	/* A shape that is set replaces what the executor said: one element is a scalar too, two are not. */
	plain = OH_NNExecutor_CreateInputTensorDesc(e, 0);
	const int32_t one[] = {1}, zero[] = {0};
	OK(OH_NNTensorDesc_SetShape(plain, one, 1));
	NN_Tensor *given = OH_NNTensor_Create(0, plain);
	NN_Tensor *mixed[] = {given, in[1]};
	*(float *)OH_NNTensor_GetDataBuffer(given) = 7;
	OK(OH_NNExecutor_RunSync(e, mixed, 2, &out, 1));
	CHECK(*(float *)OH_NNTensor_GetDataBuffer(out) == 7.5f, "one element as a scalar");
	OK(OH_NNTensorDesc_SetShape(plain, zero, 1));
	size_t n = 99;
	CHECK(OH_NNTensorDesc_GetElementCount(plain, &n) == OH_NN_DYNAMIC_SHAPE && n == 0,
		"a 0 that the program sets is a size not known yet");
	CHECK(OH_NNTensor_Create(0, plain) == NULL, "a tensor of a size that is not known");
	OK(OH_NNTensorDesc_Destroy(&plain));
	OK(OH_NNTensor_Destroy(&given));
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out));
	OH_NNExecutor_Destroy(&e);
}

/* A network whose input and output have no elements. */
static void nothing(void)
{
	static const int64_t dims[] = {0, 3};
	struct rknn_message model = rknn_relu(dims, 2);
	OH_NNCompilation *c = OH_NNCompilation_ConstructWithOfflineModelBuffer(model.bytes, model.size);
	CHECK(c != NULL, "no compilation");
	OK(OH_NNCompilation_Build(c));
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK(e != NULL, "%s", anynpu_last_error());
	NN_TensorDesc *in_desc = OH_NNExecutor_CreateInputTensorDesc(e, 0),
		*out_desc = OH_NNExecutor_CreateOutputTensorDesc(e, 0);
	is("an empty input", in_desc, 2, 0, 0);
	is("an empty output", out_desc, 2, 0, 0);
	NN_Tensor *in = made(in_desc, 0), *out = made(out_desc, 0);
	for (int i = 0; i < 2; i++) {
		OK(OH_NNExecutor_RunSync(e, &in, 1, &out, 1));
		is("an empty result", OH_NNTensor_GetTensorDesc(out), 2, 0, 0);
	}
	OK(OH_NNTensor_Destroy(&in));
	OK(OH_NNTensor_Destroy(&out));
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
}

/* A result whose size only the run tells, and which is 0: a list of as many zeros as the input says. */
static void known_by_the_run(void)
{
	const int32_t unknown[] = {-1}, one[] = {1};
	OH_NNModel *m = OH_NNModel_Construct();
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	OK(OH_NNTensorDesc_SetDataType(d, OH_NN_INT64));
	OK(OH_NNTensorDesc_SetShape(d, one, 1));
	OK(OH_NNModel_AddTensorToModel(m, d));
	OK(OH_NNTensorDesc_SetDataType(d, OH_NN_FLOAT32));
	OK(OH_NNTensorDesc_SetShape(d, unknown, 1));
	OK(OH_NNModel_AddTensorToModel(m, d));
	const float value = 3;
	const int64_t type = OH_NN_FLOAT32;
	OK(OH_NNTensorDesc_SetShape(d, one, 1));
	OK(OH_NNModel_AddTensorToModel(m, d));
	OK(OH_NNModel_SetTensorType(m, 2, OH_NN_CONSTANT_OF_SHAPE_VALUE));
	OK(OH_NNModel_SetTensorData(m, 2, &value, sizeof value));
	OK(OH_NNTensorDesc_SetDataType(d, OH_NN_INT64));
	OK(OH_NNModel_AddTensorToModel(m, d));
	OK(OH_NNModel_SetTensorType(m, 3, OH_NN_CONSTANT_OF_SHAPE_DATA_TYPE));
	OK(OH_NNModel_SetTensorData(m, 3, &type, sizeof type));
	OK(OH_NNTensorDesc_Destroy(&d));
	uint32_t in_list[] = {0}, out_list[] = {1}, param_list[] = {2, 3};
	OH_NN_UInt32Array inputs = ohnn_list(in_list, 1), outputs = ohnn_list(out_list, 1), params = ohnn_list(param_list, 2);
	CHECK(OH_NNModel_AddOperation(m, OH_NN_OPS_CONSTANT_OF_SHAPE, &params, &inputs, &outputs) == OH_NN_SUCCESS, "%s",
		anynpu_last_error());
	OK(OH_NNModel_SpecifyInputsAndOutputs(m, &inputs, &outputs));
	OK(OH_NNModel_Finish(m));
	OH_NNExecutor *e = ohnn_executor(m);
	NN_Tensor *in = made(OH_NNExecutor_CreateInputTensorDesc(e, 0), 8);
	NN_TensorDesc *open = OH_NNExecutor_CreateOutputTensorDesc(e, 0);
	CHECK(OH_NNTensor_Create(0, open) == NULL, "a tensor of a size that is not known");
	NN_Tensor *out = OH_NNTensor_CreateWithSize(0, open, 64);
	CHECK(out != NULL, "no tensor");
	OK(OH_NNTensorDesc_Destroy(&open));
	for (int64_t n = 0; n < 6; n += 2) {
		*(int64_t *)OH_NNTensor_GetDataBuffer(in) = n;
		CHECK(OH_NNExecutor_RunSync(e, &in, 1, &out, 1) == OH_NN_SUCCESS, "%s", anynpu_last_error());
		is("a result", OH_NNTensor_GetTensorDesc(out), 1, (size_t)n, 4 * (size_t)n);
		NN_Tensor *same = OH_NNTensor_Create(0, OH_NNTensor_GetTensorDesc(out));
		CHECK(same != NULL, "a result's descriptor makes no tensor: %s", anynpu_last_error());
		OK(OH_NNExecutor_RunSync(e, &in, 1, &same, 1));
		for (int64_t i = 0; i < n; i++)
			CHECK(((float *)OH_NNTensor_GetDataBuffer(same))[i] == 3, "element %d", (int)i);
		OK(OH_NNTensor_Destroy(&same));
	}
	OK(OH_NNTensor_Destroy(&in));
	OK(OH_NNTensor_Destroy(&out));
	OH_NNExecutor_Destroy(&e);
}

int main(void)
{
	host_begin();
	scalars();
	nothing();
	known_by_the_run();
	return host_end();
}
