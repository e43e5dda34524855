/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits with a small convolutional network built operation by operation.
 *
 *     nnapi_digits WEIGHTS IMAGE...
 *     nnapi_digits digits/digits.weights digits/images/000_label4.pgm
 *
 * WEIGHTS and the images are described in digits/README.md. Prints one line per image and the number that were right,
 * judged by "_labelN" in the file names. Exits 0 if at least 97 % were right, 1 if not or on an error.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <android/NeuralNetworks.h>

#include "digits/files.h"

/* ---- Errors: every call is checked; the first failure ends the program. ---- */

static void check(int code, const char *call)
{
    static const char *const names[] = {
        "NO_ERROR",
        "OUT_OF_MEMORY",
        "INCOMPLETE",
        "UNEXPECTED_NULL",
        "BAD_DATA",
        "OP_FAILED",
        "BAD_STATE",
        "UNMAPPABLE",
        "OUTPUT_INSUFFICIENT_SIZE",
        "UNAVAILABLE_DEVICE",
        "MISSED_DEADLINE_TRANSIENT",
        "MISSED_DEADLINE_PERSISTENT",
        "RESOURCE_EXHAUSTED_TRANSIENT",
        "RESOURCE_EXHAUSTED_PERSISTENT",
        "DEAD_OBJECT",
    };
    if (code != ANEURALNETWORKS_NO_ERROR) {
        fprintf(stderr, "nnapi_digits: %s: %s\n", call,
                (size_t)code < sizeof names / sizeof names[0] ? names[code] : "an unknown code");
        exit(1);
    }
}

/* ---- Building the model ---- */

/* A model and the number of operands added to it, which is the index of the next one. */
struct builder {
    ANeuralNetworksModel *model;
    uint32_t operands;
};

/* Adds an operand and returns its index. Rank 0 makes a scalar. */
static uint32_t add_operand(struct builder *b, int32_t code, uint32_t rank, const uint32_t *dims)
{
    const ANeuralNetworksOperandType type = {code, rank, rank > 0 ? dims : NULL, 0, 0};
    check(ANeuralNetworksModel_addOperand(b->model, &type), "ANeuralNetworksModel_addOperand");
    return b->operands++;
}

static uint32_t add_int(struct builder *b, int32_t value)
{
    uint32_t index = add_operand(b, ANEURALNETWORKS_INT32, 0, NULL);
    check(ANeuralNetworksModel_setOperandValue(b->model, (int32_t)index, &value, sizeof value),
          "ANeuralNetworksModel_setOperandValue");
    return index;
}

/* The weights are not copied before the model is finished. */
static uint32_t add_weight(struct builder *b, const struct digits_weight *w)
{
    uint32_t dims[4];
    for (int i = 0; i < 4; i++) {
        dims[i] = (uint32_t)w->dims[i];
    }
    uint32_t index = add_operand(b, ANEURALNETWORKS_TENSOR_FLOAT32, w->rank, dims);
    check(ANeuralNetworksModel_setOperandValue(b->model, (int32_t)index, w->data, w->bytes),
          "ANeuralNetworksModel_setOperandValue");
    return index;
}

/* Adds an operation with a new operand as its output, whose index it returns. */
static uint32_t add_operation(struct builder *b, ANeuralNetworksOperationType op, uint32_t count,
                              const uint32_t *inputs, uint32_t rank, const uint32_t *dims)
{
    uint32_t y = add_operand(b, ANEURALNETWORKS_TENSOR_FLOAT32, rank, dims);
    check(ANeuralNetworksModel_addOperation(b->model, op, count, inputs, 1, &y), "ANeuralNetworksModel_addOperation");
    return y;
}

/* 3x3 convolution with padding SAME and ReLU. */
static uint32_t convolution(struct builder *b, uint32_t x, const struct digits_weight *weight,
                            const struct digits_weight *bias, uint32_t side)
{
    const uint32_t dims[] = {1, side, side, (uint32_t)weight->dims[0]};
    const uint32_t inputs[] = {
        x,
        add_weight(b, weight),
        add_weight(b, bias),
        add_int(b, ANEURALNETWORKS_PADDING_SAME),
        add_int(b, 1), /* strides */
        add_int(b, 1),
        add_int(b, ANEURALNETWORKS_FUSED_RELU),
    };
    return add_operation(b, ANEURALNETWORKS_CONV_2D, 7, inputs, 4, dims);
}

/* Maximum over 2x2 windows. */
static uint32_t max_pool(struct builder *b, uint32_t x, uint32_t side, uint32_t channels)
{
    const uint32_t dims[] = {1, side / 2, side / 2, channels};
    const uint32_t inputs[] = {
        x,
        add_int(b, ANEURALNETWORKS_PADDING_VALID),
        add_int(b, 2), /* strides */
        add_int(b, 2),
        add_int(b, 2), /* width and height of a window */
        add_int(b, 2),
        add_int(b, ANEURALNETWORKS_FUSED_NONE),
    };
    return add_operation(b, ANEURALNETWORKS_MAX_POOL_2D, 7, inputs, 4, dims);
}

/* Takes x as rows of the weight's length by itself. */
static uint32_t fully_connected(struct builder *b, uint32_t x, const struct digits_weight *weight,
                                const struct digits_weight *bias)
{
    const uint32_t dims[] = {1, (uint32_t)weight->dims[0]};
    const uint32_t inputs[] = {x, add_weight(b, weight), add_weight(b, bias), add_int(b, ANEURALNETWORKS_FUSED_NONE)};
    return add_operation(b, ANEURALNETWORKS_FULLY_CONNECTED, 4, inputs, 2, dims);
}

static uint32_t softmax(struct builder *b, uint32_t x)
{
    const uint32_t dims[] = {1, DIGITS_CLASSES};
    const float beta = 1;
    uint32_t inputs[] = {x, add_operand(b, ANEURALNETWORKS_FLOAT32, 0, NULL)};
    check(ANeuralNetworksModel_setOperandValue(b->model, (int32_t)inputs[1], &beta, sizeof beta),
          "ANeuralNetworksModel_setOperandValue");
    return add_operation(b, ANEURALNETWORKS_SOFTMAX, 2, inputs, 2, dims);
}

static ANeuralNetworksModel *build_model(const struct digits_weight weights[DIGITS_WEIGHTS])
{
    const uint32_t dims[] = {1, DIGITS_SIDE, DIGITS_SIDE, 1};
    struct builder b = {NULL, 0};
    check(ANeuralNetworksModel_create(&b.model), "ANeuralNetworksModel_create");
    uint32_t input = add_operand(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 4, dims);
    uint32_t x = convolution(&b, input, &weights[0], &weights[1], DIGITS_SIDE);
    x = max_pool(&b, x, DIGITS_SIDE, (uint32_t)weights[0].dims[0]);
    x = convolution(&b, x, &weights[2], &weights[3], DIGITS_SIDE / 2);
    x = fully_connected(&b, x, &weights[4], &weights[5]);
    uint32_t output = softmax(&b, x);
    check(ANeuralNetworksModel_identifyInputsAndOutputs(b.model, 1, &input, 1, &output),
          "ANeuralNetworksModel_identifyInputsAndOutputs");
    check(ANeuralNetworksModel_finish(b.model), "ANeuralNetworksModel_finish");
    return b.model;
}

/* ---- Compiling and computing ---- */

/* Compiles for all devices. */
static ANeuralNetworksCompilation *compile(ANeuralNetworksModel *model)
{
    ANeuralNetworksCompilation *compilation = NULL;
    check(ANeuralNetworksCompilation_create(model, &compilation), "ANeuralNetworksCompilation_create");
    check(ANeuralNetworksCompilation_setPreference(compilation, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED),
          "ANeuralNetworksCompilation_setPreference");
    check(ANeuralNetworksCompilation_finish(compilation), "ANeuralNetworksCompilation_finish");
    return compilation;
}

/* An execution that computes again and again with the same memory. */
static ANeuralNetworksExecution *execution_of(ANeuralNetworksCompilation *compilation, const float *pixels,
                                              float *probabilities)
{
    ANeuralNetworksExecution *execution = NULL;
    check(ANeuralNetworksExecution_create(compilation, &execution), "ANeuralNetworksExecution_create");
    check(ANeuralNetworksExecution_setReusable(execution, true), "ANeuralNetworksExecution_setReusable");
    check(ANeuralNetworksExecution_setInput(execution, 0, NULL, pixels, DIGITS_PIXELS * sizeof(float)),
          "ANeuralNetworksExecution_setInput");
    check(ANeuralNetworksExecution_setOutput(execution, 0, NULL, probabilities, DIGITS_CLASSES * sizeof(float)),
          "ANeuralNetworksExecution_setOutput");
    return execution;
}

static double milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Computes every image. Returns the number that were right and sets how many had a label. */
static int run_images(ANeuralNetworksCompilation *compilation, char **paths, int count, int *labelled, double *total)
{
    float pixels[DIGITS_PIXELS] = {0}, probabilities[DIGITS_CLASSES];
    ANeuralNetworksExecution *execution = execution_of(compilation, pixels, probabilities);
    int right = 0;
    for (int i = 0; i < count; i++) {
        if (!digits_read_image(paths[i], pixels)) {
            exit(1);
        }
        double start = milliseconds();
        check(ANeuralNetworksExecution_compute(execution), "ANeuralNetworksExecution_compute");
        double took = milliseconds() - start;
        int digit = digits_best(probabilities), label = digits_label(paths[i]);
        printf("%s: %d, probability %.4f, %.3f ms%s\n", paths[i], digit, probabilities[digit], took,
               label >= 0 && label != digit ? " (wrong)" : "");
        *labelled += label >= 0;
        right += label == digit;
        *total += took;
    }
    ANeuralNetworksExecution_free(execution);
    return right;
}

int main(int argc, char **argv)
{
    struct digits_weight weights[DIGITS_WEIGHTS];
    int labelled = 0;
    double total = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: nnapi_digits WEIGHTS IMAGE...\n");
        return 1;
    }
    if (!digits_read_weights(argv[1], weights)) {
        return 1;
    }
    ANeuralNetworksModel *model = build_model(weights);
    digits_free_weights(weights);
    ANeuralNetworksCompilation *compilation = compile(model);
    int right = run_images(compilation, argv + 2, argc - 2, &labelled, &total);
    ANeuralNetworksCompilation_free(compilation);
    ANeuralNetworksModel_free(model);
    printf("nnapi_digits: %d of %d right, %.3f ms each\n", right, labelled, total / (argc - 2));
    return right * 100 >= labelled * 97 ? 0 : 1;
}
