/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Classifies images of digits by their nearest neighbour, with one matrix product and no model.
 *
 *     rknn_digits_nearest IMAGE...
 *     rknn_digits_nearest digits/images/000_label4.pgm digits/images/001_label4.pgm
 *
 * A holds an image per row and B the same images as columns, both as signed bytes, so that C = A x B holds the
 * product of each image with each other. Exits 0 if for most images the nearest other one shows the same digit.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rknn_matmul_api.h>

#include "digits/files.h"

/* Ends the program if a call failed. */
static void check(int code, const char *call)
{
    if (code != RKNN_SUCC) {
        fprintf(stderr, "rknn_digits_nearest: %s: error %d\n", call, code);
        exit(1);
    }
}

/* Memory of a matrix, bound to it. */
static rknn_tensor_mem *bind(rknn_matmul_ctx product, rknn_matmul_tensor_attr *attr)
{
    rknn_tensor_mem *memory = rknn_create_mem(product, attr->size);
    if (memory == NULL) {
        fprintf(stderr, "rknn_digits_nearest: rknn_create_mem of %u bytes failed\n", attr->size);
        exit(1);
    }
    memset(memory->virt_addr, 0, attr->size);
    check(rknn_matmul_set_io_mem(product, memory, attr), "rknn_matmul_set_io_mem");
    return memory;
}

/* Reads an image as signed bytes of one length: 127 times the unit vector of the centred pixels. */
static void read_image(const char *path, int8_t row[DIGITS_PIXELS])
{
    float pixels[DIGITS_PIXELS], mean = 0, squares = 0;
    if (!digits_read_image(path, pixels)) {
        exit(1);
    }
    for (int k = 0; k < DIGITS_PIXELS; k++) {
        mean += pixels[k] / DIGITS_PIXELS;
    }
    for (int k = 0; k < DIGITS_PIXELS; k++) {
        squares += (pixels[k] - mean) * (pixels[k] - mean);
    }
    for (int k = 0; k < DIGITS_PIXELS; k++) {
        row[k] = squares > 0 ? (int8_t)lrintf(127 * (pixels[k] - mean) / sqrtf(squares)) : 0;
    }
}

int main(int argc, char **argv)
{
    int count = argc - 1, columns = (count + 31) / 32 * 32, right = 0; /* rk3588 takes N and K in multiples of 32 */
    rknn_matmul_info info = {.M = count, .K = DIGITS_PIXELS, .N = columns, .type = RKNN_INT8_MM_INT8_TO_INT32};
    rknn_matmul_io_attr io;
    rknn_matmul_ctx product = 0;
    if (count < 2) {
        fprintf(stderr, "usage: rknn_digits_nearest IMAGE IMAGE...\n");
        return 1;
    }
    check(rknn_matmul_create(&product, &info, &io), "rknn_matmul_create");
    rknn_tensor_mem *a = bind(product, &io.A), *b = bind(product, &io.B), *c = bind(product, &io.C);
    int8_t *rows = a->virt_addr, *cols = b->virt_addr;
    const int32_t *products = c->virt_addr;
    for (int i = 0; i < count; i++) {
        read_image(argv[1 + i], rows + i * DIGITS_PIXELS);
        for (int k = 0; k < DIGITS_PIXELS; k++) {
            cols[k * columns + i] = rows[i * DIGITS_PIXELS + k];
        }
    }
    check(rknn_matmul_run(product), "rknn_matmul_run");
    for (int i = 0; i < count; i++) {
        int nearest = i == 0;
        for (int k = 0; k < count; k++) {
            if (k != i && products[i * columns + k] > products[i * columns + nearest]) {
                nearest = k;
            }
        }
        right += digits_label(argv[1 + i]) == digits_label(argv[1 + nearest]);
    }
    check(rknn_destroy_mem(product, a), "rknn_destroy_mem");
    check(rknn_destroy_mem(product, b), "rknn_destroy_mem");
    check(rknn_destroy_mem(product, c), "rknn_destroy_mem");
    check(rknn_matmul_destroy(product), "rknn_matmul_destroy");
    printf("rknn_digits_nearest: %d of %d like their nearest\n", right, count);
    return 2 * right > count ? 0 : 1;
}
