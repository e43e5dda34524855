/* What the library computes as ONNX: anynpu_export of handles of OH_NN, NNAPI, RKNN and hbDNN, and what it refuses.
 * usage: export MODEL.onnx FOLDER. Writes FOLDER/NAME.onnx for each API. */
#include <anynpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "android/NeuralNetworks.h"
#include "dnn/hb_dnn.h"
#include "neural_network_runtime/neural_network_core.h"
#include "neural_network_runtime/neural_network_runtime.h"
#include "host_end.h"
#include "rknn_api.h"

#define WANT(what)                                                         \
    do {                                                                   \
        if (!(what)) {                                                     \
            printf("line %d: %s (%s)\n", __LINE__, #what, anynpu_last_error()); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static char *in_folder(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* |a + b| of two tensors of two numbers. */
static void ohnn(const char *folder) {
    OH_NNModel *model = OH_NNModel_Construct();
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    int32_t shape[] = {2};
    WANT(OH_NNTensorDesc_SetShape(desc, shape, 1) == OH_NN_SUCCESS);
    WANT(OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32) == OH_NN_SUCCESS);
    for (int i = 0; i < 4; i++)
        WANT(OH_NNModel_AddTensorToModel(model, desc) == OH_NN_SUCCESS);
    uint32_t sum_in[] = {0, 1}, sum_out[] = {2}, last[] = {3};
    OH_NN_UInt32Array none = {NULL, 0}, in = {sum_in, 2}, between = {sum_out, 1}, out = {last, 1};
    WANT(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &none, &in, &between) == OH_NN_SUCCESS);
    WANT(OH_NNModel_AddOperation(model, OH_NN_OPS_ABS, &none, &between, &out) == OH_NN_SUCCESS);
    WANT(OH_NNModel_SpecifyInputsAndOutputs(model, &in, &out) == OH_NN_SUCCESS);
    WANT(OH_NNModel_Finish(model) == OH_NN_SUCCESS);
    OH_NNCompilation *compilation = OH_NNCompilation_Construct(model);
    WANT(anynpu_export(compilation, in_folder(folder, "early.onnx")) == 1); /* not built */
    WANT(OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS);
    WANT(anynpu_export(compilation, in_folder(folder, "ohnn.onnx")) == 0);
    WANT(anynpu_export(compilation, NULL) == 1);
    WANT(anynpu_export(compilation, "/nowhere/at/all.onnx") == 1);
    WANT(strstr(anynpu_last_error(), "/nowhere/at/all.onnx") != NULL);
    WANT(anynpu_export(model, in_folder(folder, "model.onnx")) == 1); /* a model is no compilation */
    OH_NNCompilation_Destroy(&compilation);
    OH_NNModel_Destroy(&model);
    OH_NNTensorDesc_Destroy(&desc);
}

/* a + b, negative results 0. */
static void nnapi(const char *folder) {
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    uint32_t dims[] = {2}, in[] = {0, 1, 2}, out[] = {3};
    ANeuralNetworksOperandType numbers = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, 0, 0};
    ANeuralNetworksOperandType number = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
    int32_t relu = ANEURALNETWORKS_FUSED_RELU;
    WANT(ANeuralNetworksModel_create(&model) == 0);
    for (int i = 0; i < 4; i++)
        WANT(ANeuralNetworksModel_addOperand(model, i == 2 ? &number : &numbers) == 0);
    WANT(ANeuralNetworksModel_setOperandValue(model, 2, &relu, sizeof relu) == 0);
    WANT(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, in, 1, out) == 0);
    WANT(ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, in, 1, out) == 0);
    WANT(ANeuralNetworksModel_finish(model) == 0);
    WANT(ANeuralNetworksCompilation_create(model, &compilation) == 0);
    WANT(ANeuralNetworksCompilation_finish(compilation) == 0);
    WANT(anynpu_export(compilation, in_folder(folder, "nnapi.onnx")) == 0);
    ANeuralNetworksCompilation_free(compilation);
    ANeuralNetworksModel_free(model);
}

static void rknn(const char *file, const char *folder) {
    rknn_context context;
    WANT(rknn_init(&context, (void *)file, 0, 0, NULL) == RKNN_SUCC);
    WANT(anynpu_export((const void *)(uintptr_t)context, in_folder(folder, "rknn.onnx")) == 0);
    rknn_destroy(context);
    WANT(rknn_init(&context, in_folder(folder, "rknn.onnx"), 0, 0, NULL) == RKNN_SUCC); /* it can be read again */
    rknn_destroy(context);
    WANT(anynpu_export((const void *)(uintptr_t)context, in_folder(folder, "stale.onnx")) == 1);
}

static void hbdnn(const char *file, const char *folder) {
    hbPackedDNNHandle_t pack;
    hbDNNHandle_t model;
    const char **names;
    int32_t count;
    WANT(hbDNNInitializeFromFiles(&pack, &file, 1) == 0);
    WANT(hbDNNGetModelNameList(&names, &count, pack) == 0 && count == 1);
    WANT(hbDNNGetModelHandle(&model, pack, names[0]) == 0);
    WANT(anynpu_export(model, in_folder(folder, "hbdnn.onnx")) == 0);
    hbDNNRelease(pack);
}

int main(int argc, char **argv) {
    host_begin();
    WANT(argc == 3);
    WANT(anynpu_export(NULL, in_folder(argv[2], "null.onnx")) == 1);
    ohnn(argv[2]);
    nnapi(argv[2]);
    rknn(argv[1], argv[2]);
    hbdnn(argv[1], argv[2]);
    return host_end();
}
