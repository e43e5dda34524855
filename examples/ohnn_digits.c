/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits with a small convolutional network built call by call.
 *
 *     ohnn_digits WEIGHTS IMAGE...
 *     ohnn_digits digits/digits.weights digits/images/000_label4.pgm
 *
 * WEIGHTS and the images are described in digits/README.md. Prints one line per image and the number that were right,
 * judged by "_labelN" in the file names. Exits 0 if at least 97 % were right, 1 if not or on an error.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, DIGITS = 10, WEIGHTS = 6 };

/* ---- Errors: every call is checked; the first failure ends the program. ---- */

static const char *code_name(OH_NN_ReturnCode code)
{
    static const char *const names[] = {
        "OH_NN_SUCCESS",
        "OH_NN_FAILED",
        "OH_NN_INVALID_PARAMETER",
        "OH_NN_MEMORY_ERROR",
        "OH_NN_OPERATION_FORBIDDEN",
        "OH_NN_NULL_PTR",
        "OH_NN_INVALID_FILE",
        "OH_NN_UNAVALIDABLE_DEVICE",
        "OH_NN_INVALID_PATH",
        "OH_NN_TIMEOUT",
        "OH_NN_UNSUPPORTED",
        "OH_NN_CONNECTION_EXCEPTION",
        "OH_NN_SAVE_CACHE_EXCEPTION",
        "OH_NN_DYNAMIC_SHAPE",
        "OH_NN_UNAVAILABLE_DEVICE",
    };
    return (size_t)code < sizeof names / sizeof names[0] ? names[code] : "an unknown code";
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "ohnn_digits: %s: %s\n", what, why);
    exit(1);
}

static void check(OH_NN_ReturnCode code, const char *call)
{
    if (code != OH_NN_SUCCESS) {
        fail(call, code_name(code));
    }
}

static void *made(void *object, const char *call)
{
    if (object == NULL) {
        fail(call, "returned NULL");
    }
    return object;
}

/* ---- Files ---- */

/* One tensor of the weights file. */
struct weight {
    char name[17];
    uint32_t rank;
    int32_t dims[4];
    float *data;
    size_t bytes;
};

static void read_exactly(FILE *file, void *to, size_t bytes, const char *path)
{
    if (fread(to, 1, bytes, file) != bytes) {
        fail(path, "is cut short");
    }
}

static void read_weight(FILE *file, struct weight *w, const char *path)
{
    uint32_t dims[4];
    size_t elements = 1;
    memset(w, 0, sizeof *w);
    read_exactly(file, w->name, 16, path);
    read_exactly(file, &w->rank, 4, path);
    read_exactly(file, dims, sizeof dims, path);
    if (w->rank < 1 || w->rank > 4) {
        fail(path, "has a tensor whose rank is not 1 to 4");
    }
    for (int i = 0; i < 4; i++) {
        if (dims[i] < 1 || dims[i] > 4096) {
            fail(path, "has a tensor with a dimension out of range");
        }
        w->dims[i] = (int32_t)dims[i];
        elements *= dims[i];
    }
    if (elements > 1 << 20) {
        fail(path, "has a tensor that is too large");
    }
    w->bytes = elements * sizeof(float);
    w->data = made(malloc(w->bytes), "malloc");
    read_exactly(file, w->data, w->bytes, path);
}

static void read_weights(const char *path, struct weight weights[WEIGHTS])
{
    static const char *const names[WEIGHTS] = {"conv1.weight", "conv1.bias", "conv2.weight",
                                               "conv2.bias",   "fc.weight",  "fc.bias"};
    FILE *file = fopen(path, "rb");
    char magic[8];
    uint32_t count;
    if (file == NULL) {
        fail(path, "cannot be opened");
    }
    read_exactly(file, magic, sizeof magic, path);
    read_exactly(file, &count, sizeof count, path);
    if (memcmp(magic, "DIGITSW1", sizeof magic) != 0 || count != WEIGHTS) {
        fail(path, "is not a file of digit weights");
    }
    for (int i = 0; i < WEIGHTS; i++) {
        read_weight(file, &weights[i], path);
        if (strcmp(weights[i].name, names[i]) != 0) {
            fail(path, "has an unexpected tensor");
        }
    }
    fclose(file);
}

/* Reads a binary PGM of 8 x 8 pixels as numbers from 0 to 1. */
static void read_image(const char *path, float pixels[PIXELS])
{
    unsigned width, height, largest;
    unsigned char bytes[PIXELS];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail(path, "cannot be opened");
    }
    if (fscanf(file, "P5 %u %u %u", &width, &height, &largest) != 3 || fgetc(file) == EOF) {
        fail(path, "is not a binary PGM file");
    }
    if (width != SIDE || height != SIDE || largest < 1 || largest > 255) {
        fail(path, "is not an 8 x 8 image of one byte per pixel");
    }
    read_exactly(file, bytes, sizeof bytes, path);
    fclose(file);
    for (int i = 0; i < PIXELS; i++) {
        pixels[i] = (float)bytes[i] / (float)largest;
    }
}

/* The digit after "_label" in a file name; -1 if there is none. */
static int label_of(const char *path)
{
    const char *label = strstr(path, "_label");
    return label != NULL && label[6] >= '0' && label[6] <= '9' ? label[6] - '0' : -1;
}

/* ---- Building the model ---- */

/* A model and the number of tensors added to it, which is the index of the next one. */
struct builder {
    OH_NNModel *model;
    uint32_t tensors;
};

/* Adds a tensor and returns its index. Rank 0 makes a scalar; data may be NULL. */
static uint32_t add_tensor(struct builder *b, OH_NN_TensorType role, OH_NN_DataType type, const int32_t *dims,
                           size_t rank, const void *data, size_t bytes)
{
    NN_TensorDesc *desc = made(OH_NNTensorDesc_Create(), "OH_NNTensorDesc_Create");
    uint32_t index = b->tensors++;
    check(OH_NNTensorDesc_SetDataType(desc, type), "OH_NNTensorDesc_SetDataType");
    check(OH_NNTensorDesc_SetFormat(desc, OH_NN_FORMAT_NHWC), "OH_NNTensorDesc_SetFormat");
    if (rank > 0) {
        check(OH_NNTensorDesc_SetShape(desc, dims, rank), "OH_NNTensorDesc_SetShape");
    }
    check(OH_NNModel_AddTensorToModel(b->model, desc), "OH_NNModel_AddTensorToModel");
    check(OH_NNTensorDesc_Destroy(&desc), "OH_NNTensorDesc_Destroy");
    check(OH_NNModel_SetTensorType(b->model, index, role), "OH_NNModel_SetTensorType");
    if (data != NULL) {
        check(OH_NNModel_SetTensorData(b->model, index, data, bytes), "OH_NNModel_SetTensorData");
    }
    return index;
}

static uint32_t add_activation(struct builder *b, const int32_t *dims, size_t rank)
{
    return add_tensor(b, OH_NN_TENSOR, OH_NN_FLOAT32, dims, rank, NULL, 0);
}

static uint32_t add_weight(struct builder *b, const struct weight *w)
{
    return add_tensor(b, OH_NN_TENSOR, OH_NN_FLOAT32, w->dims, w->rank, w->data, w->bytes);
}

static uint32_t add_int8(struct builder *b, OH_NN_TensorType role, int8_t value)
{
    return add_tensor(b, role, OH_NN_INT8, NULL, 0, &value, sizeof value);
}

static uint32_t add_pair(struct builder *b, OH_NN_TensorType role, int64_t first, int64_t second)
{
    const int32_t two = 2;
    const int64_t values[] = {first, second};
    return add_tensor(b, role, OH_NN_INT64, &two, 1, values, sizeof values);
}

static void add_operation(struct builder *b, OH_NN_OperationType op, OH_NN_UInt32Array params,
                          OH_NN_UInt32Array inputs, uint32_t output)
{
    OH_NN_UInt32Array outputs = {&output, 1};
    check(OH_NNModel_AddOperation(b->model, op, &params, &inputs, &outputs), "OH_NNModel_AddOperation");
}

/* 3x3 convolution with padding SAME and ReLU. */
static uint32_t convolution(struct builder *b, uint32_t x, const struct weight *weight, const struct weight *bias,
                            int32_t side)
{
    const int32_t shape[] = {1, side, side, weight->dims[0]};
    uint32_t inputs[] = {x, add_weight(b, weight), add_weight(b, bias)};
    uint32_t params[] = {
        add_pair(b, OH_NN_CONV2D_STRIDES, 1, 1),
        add_pair(b, OH_NN_CONV2D_DILATION, 1, 1),
        add_int8(b, OH_NN_CONV2D_PAD_MODE, 0),
        add_int8(b, OH_NN_CONV2D_ACTIVATION_TYPE, OH_NN_FUSED_RELU),
    };
    uint32_t y = add_activation(b, shape, 4);
    add_operation(b, OH_NN_OPS_CONV2D, (OH_NN_UInt32Array){params, 4}, (OH_NN_UInt32Array){inputs, 3}, y);
    return y;
}

/* Maximum over 2x2 windows. */
static uint32_t max_pool(struct builder *b, uint32_t x, int32_t side, int32_t channels)
{
    const int32_t shape[] = {1, side / 2, side / 2, channels};
    uint32_t params[] = {
        add_pair(b, OH_NN_MAX_POOL_KERNEL_SIZE, 2, 2),
        add_pair(b, OH_NN_MAX_POOL_STRIDE, 2, 2),
        add_int8(b, OH_NN_MAX_POOL_PAD_MODE, 1),
        add_int8(b, OH_NN_MAX_POOL_ACTIVATION_TYPE, OH_NN_FUSED_NONE),
    };
    uint32_t y = add_activation(b, shape, 4);
    add_operation(b, OH_NN_OPS_MAX_POOL, (OH_NN_UInt32Array){params, 4}, (OH_NN_UInt32Array){&x, 1}, y);
    return y;
}

static uint32_t flatten(struct builder *b, uint32_t x, int32_t elements)
{
    const int32_t two = 2, shape[] = {1, elements};
    uint32_t inputs[] = {x, add_tensor(b, OH_NN_TENSOR, OH_NN_INT32, &two, 1, shape, sizeof shape)};
    uint32_t y = add_activation(b, shape, 2);
    add_operation(b, OH_NN_OPS_RESHAPE, (OH_NN_UInt32Array){NULL, 0}, (OH_NN_UInt32Array){inputs, 2}, y);
    return y;
}

static uint32_t fully_connected(struct builder *b, uint32_t x, const struct weight *weight, const struct weight *bias)
{
    const int32_t shape[] = {1, weight->dims[0]};
    const bool has_bias = true;
    uint32_t inputs[] = {x, add_weight(b, weight), add_weight(b, bias)};
    uint32_t params[] = {
        add_int8(b, OH_NN_FULL_CONNECTION_ACTIVATIONTYPE, OH_NN_FUSED_NONE),
        add_tensor(b, OH_NN_FULL_CONNECTION_HAS_BIAS, OH_NN_BOOL, NULL, 0, &has_bias, sizeof has_bias),
    };
    uint32_t y = add_activation(b, shape, 2);
    add_operation(b, OH_NN_OPS_FULL_CONNECTION, (OH_NN_UInt32Array){params, 2}, (OH_NN_UInt32Array){inputs, 3}, y);
    return y;
}

static uint32_t softmax(struct builder *b, uint32_t x)
{
    const int32_t one = 1, shape[] = {1, DIGITS};
    const int64_t axis = 1;
    uint32_t param = add_tensor(b, OH_NN_SOFTMAX_AXIS, OH_NN_INT64, &one, 1, &axis, sizeof axis);
    uint32_t y = add_activation(b, shape, 2);
    add_operation(b, OH_NN_OPS_SOFTMAX, (OH_NN_UInt32Array){&param, 1}, (OH_NN_UInt32Array){&x, 1}, y);
    return y;
}

static OH_NNModel *build_model(const struct weight weights[WEIGHTS])
{
    const int32_t shape[] = {1, SIDE, SIDE, 1};
    struct builder b = {made(OH_NNModel_Construct(), "OH_NNModel_Construct"), 0};
    uint32_t input = add_activation(&b, shape, 4);
    uint32_t x = convolution(&b, input, &weights[0], &weights[1], SIDE);
    x = max_pool(&b, x, SIDE, weights[0].dims[0]);
    x = convolution(&b, x, &weights[2], &weights[3], SIDE / 2);
    x = flatten(&b, x, weights[4].dims[1]);
    x = fully_connected(&b, x, &weights[4], &weights[5]);
    uint32_t output = softmax(&b, x);

    OH_NN_UInt32Array inputs = {&input, 1}, outputs = {&output, 1};
    check(OH_NNModel_SpecifyInputsAndOutputs(b.model, &inputs, &outputs), "OH_NNModel_SpecifyInputsAndOutputs");
    check(OH_NNModel_Finish(b.model), "OH_NNModel_Finish");
    return b.model;
}

/* ---- Compiling and running ---- */

/* Compiles for the first device. The executor needs neither the model nor the compilation. */
static OH_NNExecutor *compile(const OH_NNModel *model)
{
    OH_NNCompilation *compilation = made(OH_NNCompilation_Construct(model), "OH_NNCompilation_Construct");
    check(OH_NNCompilation_SetDevice(compilation, 0), "OH_NNCompilation_SetDevice");
    check(OH_NNCompilation_Build(compilation), "OH_NNCompilation_Build");
    OH_NNExecutor *executor = made(OH_NNExecutor_Construct(compilation), "OH_NNExecutor_Construct");
    OH_NNCompilation_Destroy(&compilation);
    return executor;
}

/* Makes a tensor from a descriptor of the executor and destroys the descriptor. */
static NN_Tensor *tensor_for(NN_TensorDesc *desc)
{
    made(desc, "OH_NNExecutor_CreateInputTensorDesc or OH_NNExecutor_CreateOutputTensorDesc");
    NN_Tensor *tensor = made(OH_NNTensor_Create(0, desc), "OH_NNTensor_Create");
    check(OH_NNTensorDesc_Destroy(&desc), "OH_NNTensorDesc_Destroy");
    return tensor;
}

static double milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int most_probable(const float probabilities[DIGITS])
{
    int best = 0;
    for (int i = 1; i < DIGITS; i++) {
        if (probabilities[i] > probabilities[best]) {
            best = i;
        }
    }
    return best;
}

/* Runs every image. Returns the number that were right and sets how many had a label. */
static int run_images(OH_NNExecutor *executor, char **paths, int count, int *labelled, double *total)
{
    NN_Tensor *input = tensor_for(OH_NNExecutor_CreateInputTensorDesc(executor, 0));
    NN_Tensor *output = tensor_for(OH_NNExecutor_CreateOutputTensorDesc(executor, 0));
    float *pixels = made(OH_NNTensor_GetDataBuffer(input), "OH_NNTensor_GetDataBuffer");
    const float *probabilities = made(OH_NNTensor_GetDataBuffer(output), "OH_NNTensor_GetDataBuffer");
    int right = 0;
    for (int i = 0; i < count; i++) {
        read_image(paths[i], pixels);
        double start = milliseconds();
        check(OH_NNExecutor_RunSync(executor, &input, 1, &output, 1), "OH_NNExecutor_RunSync");
        double took = milliseconds() - start;
        int digit = most_probable(probabilities), label = label_of(paths[i]);
        printf("%s: %d, probability %.4f, %.3f ms%s\n", paths[i], digit, probabilities[digit], took,
               label >= 0 && label != digit ? " (wrong)" : "");
        *labelled += label >= 0;
        right += label == digit;
        *total += took;
    }
    check(OH_NNTensor_Destroy(&input), "OH_NNTensor_Destroy");
    check(OH_NNTensor_Destroy(&output), "OH_NNTensor_Destroy");
    return right;
}

int main(int argc, char **argv)
{
    struct weight weights[WEIGHTS];
    int labelled = 0;
    double total = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: ohnn_digits WEIGHTS IMAGE...\n");
        return 1;
    }
    read_weights(argv[1], weights);
    OH_NNModel *model = build_model(weights);
    OH_NNExecutor *executor = compile(model);
    OH_NNModel_Destroy(&model);
    for (int i = 0; i < WEIGHTS; i++) {
        free(weights[i].data);
    }
    int right = run_images(executor, argv + 2, argc - 2, &labelled, &total);
    OH_NNExecutor_Destroy(&executor);
    printf("ohnn_digits: %d of %d right, %.3f ms each\n", right, labelled, total / (argc - 2));
    return right * 100 >= labelled * 97 ? 0 : 1;
}
