/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits with a model file, which the first run compiles and later runs load compiled.
 *
 *     ohnn_digits_offline MODEL COMPILED IMAGE...
 *     ohnn_digits_offline digits/digits.onnx /tmp/digits.compiled digits/images/000_label4.pgm
 *
 * COMPILED is written if it cannot be loaded: because there is none, or because another version of the library wrote
 * it. Exits 0 if at least 97 % of the images were right.
 */

#include <stdio.h>
#include <stdlib.h>

#include <neural_network_runtime/neural_network_core.h>

#include "digits/files.h"

enum { LARGEST = 1 << 24 }; /* bytes of a compiled model */

/* Ends the program if a call failed. */
static void check(bool ok, const char *call)
{
    if (!ok) {
        fprintf(stderr, "ohnn_digits_offline: %s failed; the log says why\n", call);
        exit(1);
    }
}

/* Loads a model file, ONNX or compiled. NULL if the device does not take it. */
static OH_NNCompilation *load(const char *path)
{
    OH_NNCompilation *compilation = OH_NNCompilation_ConstructWithOfflineModelFile(path);
    check(compilation != NULL, "OH_NNCompilation_ConstructWithOfflineModelFile");
    if (OH_NNCompilation_Build(compilation) != OH_NN_SUCCESS) {
        OH_NNCompilation_Destroy(&compilation);
    }
    return compilation;
}

/* Writes the compiled form of what was built. */
static void save(OH_NNCompilation *compilation, const char *path)
{
    size_t size = 0;
    void *bytes = malloc(LARGEST);
    check(bytes != NULL, "malloc");
    check(OH_NNCompilation_ExportCacheToBuffer(compilation, bytes, LARGEST, &size) == OH_NN_SUCCESS,
          "OH_NNCompilation_ExportCacheToBuffer");
    FILE *file = fopen(path, "wb");
    check(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "writing the compiled model");
    free(bytes);
}

/* A tensor of this shape. */
static NN_Tensor *tensor(const int32_t *shape, size_t rank)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    check(OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32) == OH_NN_SUCCESS, "OH_NNTensorDesc_SetDataType");
    check(OH_NNTensorDesc_SetShape(desc, shape, rank) == OH_NN_SUCCESS, "OH_NNTensorDesc_SetShape");
    NN_Tensor *made = OH_NNTensor_Create(0, desc);
    check(made != NULL, "OH_NNTensor_Create");
    OH_NNTensorDesc_Destroy(&desc);
    return made;
}

int main(int argc, char **argv)
{
    const int32_t image_shape[] = {1, 1, DIGITS_SIDE, DIGITS_SIDE}, digit_shape[] = {1, DIGITS_CLASSES};
    const char *origin = "loaded compiled";
    int right = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: ohnn_digits_offline MODEL COMPILED IMAGE...\n");
        return 1;
    }
    FILE *compiled = fopen(argv[2], "rb");
    OH_NNCompilation *compilation = compiled != NULL ? load(argv[2]) : NULL;
    if (compiled != NULL) {
        fclose(compiled);
    }
    if (compilation == NULL) {
        origin = "compiled now";
        compilation = load(argv[1]);
        check(compilation != NULL, "OH_NNCompilation_Build");
        save(compilation, argv[2]);
    }
    OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
    check(executor != NULL, "OH_NNExecutor_Construct");
    NN_Tensor *image = tensor(image_shape, 4), *digit = tensor(digit_shape, 2);
    for (int i = 3; i < argc; i++) {
        if (!digits_read_image(argv[i], OH_NNTensor_GetDataBuffer(image))) {
            return 1;
        }
        check(OH_NNExecutor_RunSync(executor, &image, 1, &digit, 1) == OH_NN_SUCCESS, "OH_NNExecutor_RunSync");
        right += digits_best(OH_NNTensor_GetDataBuffer(digit)) == digits_label(argv[i]);
    }
    OH_NNTensor_Destroy(&image);
    OH_NNTensor_Destroy(&digit);
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    printf("ohnn_digits_offline: %d of %d right, %s\n", right, argc - 3, origin);
    return right * 100 >= (argc - 3) * 97 ? 0 : 1;
}
