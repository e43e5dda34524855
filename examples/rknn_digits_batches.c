/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits in batches of the sizes that the model allows.
 *
 *     rknn_digits_batches MODEL IMAGE...
 *     rknn_digits_batches digits/batches.onnx digits/images/000_label4.pgm
 *
 * The metadata of the model list the shapes: digits/batches.onnx.anynpu.json allows 16, 4 and 1 images. Each step
 * takes the largest batch that the images left can fill. Exits 0 if at least 97 % of the images were right.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rknn_api.h>

#include "digits/files.h"

/* Ends the program if a call failed. */
static void check(int code, const char *call)
{
    if (code != RKNN_SUCC) {
        fprintf(stderr, "rknn_digits_batches: %s: error %d\n", call, code);
        exit(1);
    }
}

/*
 * The position of the shape with the largest batch of at most count images; shapes are NHWC. Ends the program if there
 * is none.
 */
static uint32_t largest_batch(const rknn_input_range *range, uint32_t count)
{
    uint32_t best = range->shape_number;
    for (uint32_t i = 0; i < range->shape_number; i++) {
        uint32_t batch = range->dyn_range[i][0];
        if (batch <= count && (best == range->shape_number || batch > range->dyn_range[best][0])) {
            best = i;
        }
    }
    if (best == range->shape_number) {
        fprintf(stderr, "rknn_digits_batches: the model has no shape for %u images\n", count);
        exit(1);
    }
    return best;
}

/* Makes shape the current one. Attributes, buffers and results are those of the current shape until the next call. */
static void set_shape(rknn_context context, const rknn_input_range *range, uint32_t shape)
{
    rknn_tensor_attr attr = {.index = range->index, .n_dims = range->n_dims, .fmt = range->fmt};
    memcpy(attr.name, range->name, sizeof attr.name);
    memcpy(attr.dims, range->dyn_range[shape], sizeof attr.dims);
    check(rknn_set_input_shapes(context, 1, &attr), "rknn_set_input_shapes");
}

/* Recognizes batch images and returns how many were right. */
static int recognize(rknn_context context, char **images, uint32_t batch)
{
    uint8_t *ink = malloc(batch * DIGITS_PIXELS);
    int right = 0;
    for (uint32_t i = 0; i < batch; i++) {
        float pixels[DIGITS_PIXELS];
        if (ink == NULL || !digits_read_image(images[i], pixels)) {
            exit(1);
        }
        for (int k = 0; k < DIGITS_PIXELS; k++) {
            ink[i * DIGITS_PIXELS + k] = (uint8_t)(pixels[k] * 16 + 0.5f);
        }
    }
    rknn_input input = {.buf = ink, .size = batch * DIGITS_PIXELS, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
    rknn_output output = {.want_float = 1};
    check(rknn_inputs_set(context, 1, &input), "rknn_inputs_set");
    check(rknn_run(context, NULL), "rknn_run");
    check(rknn_outputs_get(context, 1, &output, NULL), "rknn_outputs_get");
    for (uint32_t i = 0; i < batch; i++) {
        right += digits_best((float *)output.buf + i * DIGITS_CLASSES) == digits_label(images[i]);
    }
    check(rknn_outputs_release(context, 1, &output), "rknn_outputs_release");
    free(ink);
    return right;
}

int main(int argc, char **argv)
{
    static rknn_input_range range; /* index 0; too large for a small stack */
    rknn_context context = 0;
    int right = 0, runs = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: rknn_digits_batches MODEL IMAGE...\n");
        return 1;
    }
    check(rknn_init(&context, argv[1], 0, 0, NULL), "rknn_init");
    check(rknn_query(context, RKNN_QUERY_INPUT_DYNAMIC_RANGE, &range, sizeof range), "rknn_query of the shapes");
    for (int next = 2; next < argc; runs++) {
        uint32_t shape = largest_batch(&range, (uint32_t)(argc - next)), batch = range.dyn_range[shape][0];
        set_shape(context, &range, shape);
        right += recognize(context, argv + next, batch);
        next += (int)batch;
    }
    check(rknn_destroy(context), "rknn_destroy");
    printf("rknn_digits_batches: %d of %d right in %d runs\n", right, argc - 2, runs);
    return right * 100 >= (argc - 2) * 97 ? 0 : 1;
}
