/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits without copies: the program and the device share the memory of the input and of the
 * output.
 *
 *     rknn_digits_zero_copy MODEL IMAGE...
 *     rknn_digits_zero_copy digits/digits.onnx digits/images/000_label4.pgm
 *
 * rknn_set_io_mem binds memory once; a run then reads the input and writes the output where they lie. rknn_digits.c
 * does the same with rknn_inputs_set and rknn_outputs_get. Exits 0 if at least 97 % of the images were right.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rknn_api.h>

#include "digits/files.h"

/* Ends the program if a call failed. */
static void check(int code, const char *call)
{
    if (code != RKNN_SUCC) {
        fprintf(stderr, "rknn_digits_zero_copy: %s: error %d\n", call, code);
        exit(1);
    }
}

/*
 * Binds memory for the tensor that query describes, in the type and layout that the program wants. size_with_stride
 * is the size in the model's own type, so memory for another type takes n_elems elements of that one.
 */
static rknn_tensor_mem *bind(rknn_context context, rknn_query_cmd query, rknn_tensor_type type,
                             rknn_tensor_format format, size_t element)
{
    rknn_tensor_attr attr = {.index = 0};
    check(rknn_query(context, query, &attr, sizeof attr), "rknn_query");
    attr.type = type;
    attr.fmt = format;
    rknn_tensor_mem *memory = rknn_create_mem(context, (uint32_t)(attr.n_elems * element));
    if (memory == NULL) {
        fprintf(stderr, "rknn_digits_zero_copy: rknn_create_mem of %u elements failed\n", attr.n_elems);
        exit(1);
    }
    check(rknn_set_io_mem(context, memory, &attr), "rknn_set_io_mem");
    return memory;
}

int main(int argc, char **argv)
{
    rknn_context context = 0;
    int right = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: rknn_digits_zero_copy MODEL IMAGE...\n");
        return 1;
    }
    check(rknn_init(&context, argv[1], 0, 0, NULL), "rknn_init");
    rknn_tensor_mem *image = bind(context, RKNN_QUERY_INPUT_ATTR, RKNN_TENSOR_UINT8, RKNN_TENSOR_NHWC, sizeof(uint8_t));
    rknn_tensor_mem *digit = bind(context, RKNN_QUERY_OUTPUT_ATTR, RKNN_TENSOR_FLOAT32, RKNN_TENSOR_UNDEFINED,
                                  sizeof(float));
    if (image->size < DIGITS_PIXELS || digit->size < DIGITS_CLASSES * sizeof(float)) {
        fprintf(stderr, "rknn_digits_zero_copy: %s does not recognize digits\n", argv[1]);
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        float pixels[DIGITS_PIXELS];
        if (!digits_read_image(argv[i], pixels)) {
            return 1;
        }
        uint8_t *ink = image->virt_addr; /* 0 is paper, 16 is ink: the model's metadata divide by 16 */
        for (int k = 0; k < DIGITS_PIXELS; k++) {
            ink[k] = (uint8_t)(pixels[k] * 16 + 0.5f);
        }
        /* On a board, these hand the memory over between processor and device. */
        check(rknn_mem_sync(context, image, RKNN_MEMORY_SYNC_TO_DEVICE), "rknn_mem_sync to the device");
        check(rknn_run(context, NULL), "rknn_run");
        check(rknn_mem_sync(context, digit, RKNN_MEMORY_SYNC_FROM_DEVICE), "rknn_mem_sync from the device");
        right += digits_best(digit->virt_addr) == digits_label(argv[i]);
    }
    check(rknn_destroy_mem(context, image), "rknn_destroy_mem");
    check(rknn_destroy_mem(context, digit), "rknn_destroy_mem");
    check(rknn_destroy(context), "rknn_destroy");
    printf("rknn_digits_zero_copy: %d of %d right\n", right, argc - 2);
    return right * 100 >= (argc - 2) * 97 ? 0 : 1;
}
