/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A first program: adds two tensors. The result of every step goes into ok; ohnn_digits.c names the call that failed.
 */

#include <stdio.h>
#include <string.h>

#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>

int main(void)
{
    const int32_t shape[] = {1, 4};
    const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
    uint32_t in[] = {0, 1}, out[] = {2};
    OH_NN_UInt32Array params = {NULL, 0}, inputs = {in, 2}, outputs = {out, 1};

    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    bool ok = OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32) == OH_NN_SUCCESS &&
              OH_NNTensorDesc_SetShape(desc, shape, 2) == OH_NN_SUCCESS;

    OH_NNModel *model = OH_NNModel_Construct();
    for (int i = 0; i < 3; i++) {
        ok = ok && OH_NNModel_AddTensorToModel(model, desc) == OH_NN_SUCCESS;
    }
    ok = ok && OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &params, &inputs, &outputs) == OH_NN_SUCCESS &&
         OH_NNModel_SpecifyInputsAndOutputs(model, &inputs, &outputs) == OH_NN_SUCCESS &&
         OH_NNModel_Finish(model) == OH_NN_SUCCESS;

    OH_NNCompilation *compilation = OH_NNCompilation_Construct(model);
    ok = ok && OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS;
    OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);

    NN_Tensor *x[] = {OH_NNTensor_Create(0, desc), OH_NNTensor_Create(0, desc)}, *y = OH_NNTensor_Create(0, desc);
    if (ok && x[0] != NULL && x[1] != NULL && y != NULL) {
        memcpy(OH_NNTensor_GetDataBuffer(x[0]), a, sizeof a);
        memcpy(OH_NNTensor_GetDataBuffer(x[1]), b, sizeof b);
        ok = OH_NNExecutor_RunSync(executor, x, 2, &y, 1) == OH_NN_SUCCESS;
    } else {
        ok = false;
    }
    if (ok) {
        const float *sum = OH_NNTensor_GetDataBuffer(y);
        printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
    } else {
        fprintf(stderr, "ohnn_first: a call failed; the log says which\n");
    }

    OH_NNTensor_Destroy(&x[0]);
    OH_NNTensor_Destroy(&x[1]);
    OH_NNTensor_Destroy(&y);
    OH_NNTensorDesc_Destroy(&desc);
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    OH_NNModel_Destroy(&model);
    return ok ? 0 : 1;
}
