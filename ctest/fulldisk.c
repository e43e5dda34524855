/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     fulldisk FOLDER
 *
 * Compiles with a cache in a folder that has no room: OH_NN tells the code for that, NNAPI, whose caches are its own
 * affair, tells nothing. Both compute.
 */
#include <android/NeuralNetworks.h>

#include "ohnn_host.h"

static void ohnn_cached(const char *folder)
{
	enum { N = 50000 }; /* constants that no small room holds */
	OH_NNModel *m = OH_NNModel_Construct();
	const uint32_t in[] = {0, 1}, out[] = {2};
	OH_NN_UInt32Array inputs = ohnn_list((uint32_t *)in, 1), outputs = ohnn_list((uint32_t *)out, 1);
	float *two = (float *)malloc(N * sizeof *two);
	for (int i = 0; i < N; i++)
		two[i] = (float)i;
	for (int i = 0; i < 3; i++)
		ohnn_add_tensor(m, 1, N);
	OK(OH_NNModel_SetTensorData(m, 1, two, N * sizeof *two));
	ohnn_add_op(m, OH_NN_OPS_ADD, 0, 1, 2);
	OK(OH_NNModel_SpecifyInputsAndOutputs(m, &inputs, &outputs));
	OK(OH_NNModel_Finish(m));
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	OK(OH_NNCompilation_SetCache(c, folder, 1));
	int code = OH_NNCompilation_Build(c);
	CHECK(code == OH_NN_SAVE_CACHE_EXCEPTION, "Build: code %d: %s", code, anynpu_last_error());
	OH_NNModel_Destroy(&m);
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK(e != NULL, "the model is not compiled");
	NN_Tensor *x[] = {ohnn_tensor(1, N, 0.5f)}, *y[] = {ohnn_tensor(1, N, 0)};
	OK(OH_NNExecutor_RunSync(e, x, 1, y, 1));
	const float *sum = (const float *)OH_NNTensor_GetDataBuffer(y[0]);
	for (int i = 0; i < N; i++)
		CHECK(sum[i] == (float)i + 0.5f, "element %d is %g", i, (double)sum[i]);
	OK(OH_NNTensor_Destroy(&x[0]));
	OK(OH_NNTensor_Destroy(&y[0]));
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
	free(two);
}

static void nnapi_cached(const char *folder)
{
	const uint32_t n = 4, in[] = {0, 1, 3}, out[] = {2};
	const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = {1, 2, 3};
	const ANeuralNetworksOperandType t = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, &n, 0, 0},
		i = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e = NULL;
	float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, y[4] = {0};
	CHECK(ANeuralNetworksModel_create(&m) == 0, "no model");
	for (int k = 0; k < 3; k++)
		CHECK(ANeuralNetworksModel_addOperand(m, &t) == 0, "operand");
	CHECK(ANeuralNetworksModel_addOperand(m, &i) == 0 && ANeuralNetworksModel_setOperandValue(m, 3, &none, 4) == 0,
		"operand 3");
	CHECK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, out) == 0, "operation");
	CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in, 1, out) == 0 && ANeuralNetworksModel_finish(m) == 0,
		"finish");
	CHECK(ANeuralNetworksCompilation_create(m, &c) == 0, "no compilation");
	CHECK(ANeuralNetworksCompilation_setCaching(c, folder, token) == 0, "setCaching");
	int code = ANeuralNetworksCompilation_finish(c);
	CHECK(code == ANEURALNETWORKS_NO_ERROR, "finish: code %d: %s", code, anynpu_last_error());
	CHECK(ANeuralNetworksExecution_create(c, &e) == 0, "no execution");
	CHECK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a) == 0, "input 0");
	CHECK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b) == 0, "input 1");
	CHECK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, sizeof y) == 0, "output");
	CHECK(ANeuralNetworksExecution_compute(e) == 0, "compute");
	for (int k = 0; k < 4; k++)
		CHECK(y[k] == a[k] + b[k], "element %d is %g", k, (double)y[k]);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: fulldisk FOLDER");
	host_begin();
	ohnn_cached(argv[1]);
	nnapi_cached(argv[1]);
	return host_end();
}
