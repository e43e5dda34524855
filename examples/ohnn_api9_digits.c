/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The digits program as it was written for API 9: tensors are structs, inputs and outputs are set one by one.
 *
 *     ohnn_api9_digits WEIGHTS IMAGE...             copies every image in and the probabilities out
 *     ohnn_api9_digits --memory WEIGHTS IMAGE...    exchanges them in memory the device shares
 *
 * Prints one line per image and the number that were right. Exits 0 if at least 97 % were right, else 1.
 */

#include <neural_network_runtime/neural_network_runtime.h>

#include "digits/files.h"

/* Every call is checked; the first failure ends the program. */
static void check(OH_NN_ReturnCode code, const char *call)
{
    if (code != OH_NN_SUCCESS) {
        fprintf(stderr, "ohnn_api9_digits: %s returned %d\n", call, (int)code);
        exit(1);
    }
}

static void *made(void *object, const char *call)
{
    if (object == NULL) {
        fprintf(stderr, "ohnn_api9_digits: %s returned NULL\n", call);
        exit(1);
    }
    return object;
}

/* ---- Building the model ---- */

static OH_NNModel *model;
static uint32_t tensors; /* added so far; the index of the next one */

static uint32_t add(OH_NN_TensorType role, OH_NN_DataType type, const int32_t *dims, uint32_t rank, const void *data,
                    size_t bytes)
{
    const OH_NN_Tensor tensor = {type, rank, dims, NULL, role};
    check(OH_NNModel_AddTensor(model, &tensor), "OH_NNModel_AddTensor");
    if (data != NULL) {
        check(OH_NNModel_SetTensorData(model, tensors, data, bytes), "OH_NNModel_SetTensorData");
    }
    return tensors++;
}

static uint32_t add_activation(const int32_t *dims, uint32_t rank)
{
    return add(OH_NN_TENSOR, OH_NN_FLOAT32, dims, rank, NULL, 0);
}

static uint32_t add_weight(const struct digits_weight *w)
{
    return add(OH_NN_TENSOR, OH_NN_FLOAT32, w->dims, w->rank, w->data, w->bytes);
}

static uint32_t add_int8(OH_NN_TensorType role, int8_t value)
{
    return add(role, OH_NN_INT8, NULL, 0, &value, sizeof value);
}

static uint32_t add_int64s(OH_NN_TensorType role, const int64_t *values, int32_t count)
{
    return add(role, OH_NN_INT64, &count, 1, values, (size_t)count * sizeof *values);
}

static void add_operation(OH_NN_OperationType op, uint32_t *params, uint32_t param_count, uint32_t *inputs,
                          uint32_t input_count, uint32_t output)
{
    OH_NN_UInt32Array p = {params, param_count}, i = {inputs, input_count}, o = {&output, 1};
    check(OH_NNModel_AddOperation(model, op, &p, &i, &o), "OH_NNModel_AddOperation");
}

/* 3x3 convolution with one row of padding on every side, and ReLU. */
static uint32_t convolution(uint32_t x, const struct digits_weight *weight, const struct digits_weight *bias,
                            int32_t side)
{
    static const int64_t ones[] = {1, 1, 1, 1};
    const int32_t shape[] = {1, side, side, weight->dims[0]};
    uint32_t inputs[] = {x, add_weight(weight), add_weight(bias)};
    uint32_t params[] = {
        add_int64s(OH_NN_CONV2D_STRIDES, ones, 2),
        add_int64s(OH_NN_CONV2D_PAD, ones, 4),
        add_int64s(OH_NN_CONV2D_DILATION, ones, 2),
        add_int8(OH_NN_CONV2D_ACTIVATION_TYPE, OH_NN_FUSED_RELU),
    };
    uint32_t y = add_activation(shape, 4);
    add_operation(OH_NN_OPS_CONV2D, params, 4, inputs, 3, y);
    return y;
}

static uint32_t max_pool(uint32_t x, int32_t side, int32_t channels)
{
    static const int64_t twos[] = {2, 2}, zeros[] = {0, 0, 0, 0};
    const int32_t shape[] = {1, side / 2, side / 2, channels};
    uint32_t params[] = {
        add_int64s(OH_NN_MAX_POOL_KERNEL_SIZE, twos, 2),
        add_int64s(OH_NN_MAX_POOL_STRIDE, twos, 2),
        add_int64s(OH_NN_MAX_POOL_PAD, zeros, 4),
        add_int8(OH_NN_MAX_POOL_ACTIVATION_TYPE, OH_NN_FUSED_NONE),
    };
    uint32_t y = add_activation(shape, 4);
    add_operation(OH_NN_OPS_MAX_POOL, params, 4, &x, 1, y);
    return y;
}

/* The fully connected layer as a matrix product and a sum, after a reshape to one row. */
static uint32_t fully_connected(uint32_t x, const struct digits_weight *weight, const struct digits_weight *bias)
{
    const int32_t row[] = {1, weight->dims[1]}, shape[] = {1, weight->dims[0]}, two = 2;
    const bool transpose = true;
    uint32_t reshape[] = {x, add(OH_NN_TENSOR, OH_NN_INT32, &two, 1, row, sizeof row)};
    uint32_t flat = add_activation(row, 2);
    add_operation(OH_NN_OPS_RESHAPE, NULL, 0, reshape, 2, flat);

    uint32_t param = add(OH_NN_MATMUL_TRANSPOSE_B, OH_NN_BOOL, NULL, 0, &transpose, sizeof transpose);
    uint32_t product[] = {flat, add_weight(weight)};
    uint32_t scores = add_activation(shape, 2);
    add_operation(OH_NN_OPS_MATMUL, &param, 1, product, 2, scores);

    uint32_t none = add_int8(OH_NN_ADD_ACTIVATIONTYPE, OH_NN_FUSED_NONE);
    uint32_t sum[] = {scores, add_weight(bias)};
    uint32_t y = add_activation(shape, 2);
    add_operation(OH_NN_OPS_ADD, &none, 1, sum, 2, y);
    return y;
}

static uint32_t softmax(uint32_t x)
{
    const int32_t shape[] = {1, DIGITS_CLASSES};
    const int64_t last = -1;
    uint32_t param = add_int64s(OH_NN_SOFTMAX_AXIS, &last, 1);
    uint32_t y = add_activation(shape, 2);
    add_operation(OH_NN_OPS_SOFTMAX, &param, 1, &x, 1, y);
    return y;
}

static void build_model(const struct digits_weight weights[DIGITS_WEIGHTS])
{
    const int32_t shape[] = {1, DIGITS_SIDE, DIGITS_SIDE, 1};
    model = made(OH_NNModel_Construct(), "OH_NNModel_Construct");
    uint32_t input = add_activation(shape, 4);
    uint32_t x = convolution(input, &weights[0], &weights[1], DIGITS_SIDE);
    x = max_pool(x, DIGITS_SIDE, weights[0].dims[0]);
    x = convolution(x, &weights[2], &weights[3], DIGITS_SIDE / 2);
    uint32_t output = softmax(fully_connected(x, &weights[4], &weights[5]));
    OH_NN_UInt32Array inputs = {&input, 1}, outputs = {&output, 1};
    check(OH_NNModel_SpecifyInputsAndOutputs(model, &inputs, &outputs), "OH_NNModel_SpecifyInputsAndOutputs");
    check(OH_NNModel_Finish(model), "OH_NNModel_Finish");
}

/* ---- Compiling ---- */

/* The first device that supports every operation of the model. */
static size_t choose_device(void)
{
    const size_t *devices = NULL;
    uint32_t device_count = 0;
    check(OH_NNDevice_GetAllDevicesID(&devices, &device_count), "OH_NNDevice_GetAllDevicesID");
    for (uint32_t i = 0; i < device_count; i++) {
        const char *name = NULL;
        const bool *supported = NULL;
        uint32_t operations = 0, all = 1;
        check(OH_NNDevice_GetName(devices[i], &name), "OH_NNDevice_GetName");
        check(OH_NNModel_GetAvailableOperations(model, devices[i], &supported, &operations),
              "OH_NNModel_GetAvailableOperations");
        for (uint32_t j = 0; j < operations; j++) {
            all &= supported[j];
        }
        if (all) {
            printf("device: %s\n", name);
            return devices[i];
        }
    }
    fprintf(stderr, "ohnn_api9_digits: none of %u devices supports the model\n", device_count);
    exit(1);
}

static OH_NNExecutor *compile(void)
{
    OH_NNCompilation *compilation = made(OH_NNCompilation_Construct(model), "OH_NNCompilation_Construct");
    check(OH_NNCompilation_SetDevice(compilation, choose_device()), "OH_NNCompilation_SetDevice");
    check(OH_NNCompilation_Build(compilation), "OH_NNCompilation_Build");
    OH_NNExecutor *executor = made(OH_NNExecutor_Construct(compilation), "OH_NNExecutor_Construct");
    OH_NNCompilation_Destroy(&compilation);
    OH_NNModel_Destroy(&model);
    return executor;
}

/* ---- Running ---- */

static const int32_t image_shape[] = {1, DIGITS_SIDE, DIGITS_SIDE, 1};
static const OH_NN_Tensor image_tensor = {OH_NN_FLOAT32, 4, image_shape, NULL, OH_NN_TENSOR};

/* Runs one image and prints what was seen. Returns whether it agrees with the file's name. */
static bool classify(OH_NNExecutor *executor, const char *path, float *pixels, const float *probabilities, bool copy)
{
    if (!digits_read_image(path, pixels)) {
        exit(1);
    }
    if (copy) {
        check(OH_NNExecutor_SetInput(executor, 0, &image_tensor, pixels, DIGITS_PIXELS * sizeof *pixels),
              "OH_NNExecutor_SetInput");
    }
    check(OH_NNExecutor_Run(executor), "OH_NNExecutor_Run");
    int digit = digits_best(probabilities);
    printf("%s: %d, probability %.4f\n", path, digit, probabilities[digit]);
    return digit == digits_label(path);
}

static int run_by_copy(OH_NNExecutor *executor, char **paths, int count)
{
    float pixels[DIGITS_PIXELS], probabilities[DIGITS_CLASSES];
    int right = 0;
    check(OH_NNExecutor_SetOutput(executor, 0, probabilities, sizeof probabilities), "OH_NNExecutor_SetOutput");
    for (int i = 0; i < count; i++) {
        right += classify(executor, paths[i], pixels, probabilities, true);
    }
    return right;
}

static int run_in_memory(OH_NNExecutor *executor, char **paths, int count)
{
    OH_NN_Memory *in = made(OH_NNExecutor_AllocateInputMemory(executor, 0, DIGITS_PIXELS * sizeof(float)),
                            "OH_NNExecutor_AllocateInputMemory");
    OH_NN_Memory *out = made(OH_NNExecutor_AllocateOutputMemory(executor, 0, DIGITS_CLASSES * sizeof(float)),
                             "OH_NNExecutor_AllocateOutputMemory");
    int right = 0;
    check(OH_NNExecutor_SetInputWithMemory(executor, 0, &image_tensor, in), "OH_NNExecutor_SetInputWithMemory");
    check(OH_NNExecutor_SetOutputWithMemory(executor, 0, out), "OH_NNExecutor_SetOutputWithMemory");
    for (int i = 0; i < count; i++) {
        right += classify(executor, paths[i], in->data, out->data, false);
    }
    OH_NNExecutor_DestroyInputMemory(executor, 0, &in);
    OH_NNExecutor_DestroyOutputMemory(executor, 0, &out);
    return right;
}

int main(int argc, char **argv)
{
    struct digits_weight weights[DIGITS_WEIGHTS];
    bool memory = argc > 1 && strcmp(argv[1], "--memory") == 0;
    char **paths = argv + (memory ? 3 : 2);
    int count = argc - (memory ? 3 : 2);
    if (count < 1) {
        fprintf(stderr, "usage: ohnn_api9_digits [--memory] WEIGHTS IMAGE...\n");
        return 1;
    }
    if (!digits_read_weights(paths[-1], weights)) {
        return 1;
    }
    build_model(weights);
    digits_free_weights(weights);
    OH_NNExecutor *executor = compile();
    int right = memory ? run_in_memory(executor, paths, count) : run_by_copy(executor, paths, count);
    OH_NNExecutor_Destroy(&executor);
    printf("ohnn_api9_digits: %d of %d right\n", right, count);
    return right * 100 >= count * 97 ? 0 : 1;
}
