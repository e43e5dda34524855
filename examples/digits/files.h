/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads the files that README.md in this directory describes. For C11 and C++11. A function that fails says why on the
 * standard error stream and returns false.
 */

#ifndef DIGITS_FILES_H
#define DIGITS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_SIDE = 8, DIGITS_PIXELS = 64, DIGITS_CLASSES = 10, DIGITS_WEIGHTS = 6 };

/* One tensor of the weights file. */
struct digits_weight {
    char name[17];
    uint32_t rank;
    int32_t dims[4];
    float *data;
    size_t bytes;
};

static inline bool digits_fault(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    return false;
}

static inline bool digits_read_weight(FILE *file, struct digits_weight *w, const char *path)
{
    uint32_t dims[4];
    size_t elements = 1;
    if (fread(w->name, 1, 16, file) != 16 || fread(&w->rank, 4, 1, file) != 1 || fread(dims, 4, 4, file) != 4) {
        return digits_fault(path, "is cut short");
    }
    if (w->rank < 1 || w->rank > 4) {
        return digits_fault(path, "has a tensor whose rank is not 1 to 4");
    }
    for (int i = 0; i < 4; i++) {
        if (dims[i] < 1 || dims[i] > 4096) {
            return digits_fault(path, "has a tensor with a dimension out of range");
        }
        w->dims[i] = (int32_t)dims[i];
        elements *= dims[i];
    }
    if (elements > 1 << 20) {
        return digits_fault(path, "has a tensor that is too large");
    }
    w->bytes = elements * sizeof(float);
    w->data = (float *)malloc(w->bytes);
    if (w->data == NULL || fread(w->data, 1, w->bytes, file) != w->bytes) {
        return digits_fault(path, "is cut short, or memory is");
    }
    return true;
}

static inline void digits_free_weights(struct digits_weight weights[DIGITS_WEIGHTS])
{
    for (int i = 0; i < DIGITS_WEIGHTS; i++) {
        free(weights[i].data);
        weights[i].data = NULL;
    }
}

/* Reads all tensors in the order of the file; digits_free_weights frees them, also after a failure. */
static inline bool digits_read_weights(const char *path, struct digits_weight weights[DIGITS_WEIGHTS])
{
    static const char *const names[DIGITS_WEIGHTS] = {"conv1.weight", "conv1.bias", "conv2.weight",
                                                      "conv2.bias",   "fc.weight",  "fc.bias"};
    char magic[8];
    uint32_t count;
    memset(weights, 0, DIGITS_WEIGHTS * sizeof *weights);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return digits_fault(path, "cannot be opened");
    }
    bool ok = (fread(magic, 1, 8, file) == 8 && fread(&count, 4, 1, file) == 1 && memcmp(magic, "DIGITSW1", 8) == 0 &&
               count == DIGITS_WEIGHTS) ||
              digits_fault(path, "is not a file of digit weights");
    for (int i = 0; ok && i < DIGITS_WEIGHTS; i++) {
        ok = digits_read_weight(file, &weights[i], path) &&
             (strcmp(weights[i].name, names[i]) == 0 || digits_fault(path, "has an unexpected tensor"));
    }
    fclose(file);
    return ok;
}

/* Reads a binary PGM of 8 x 8 pixels as numbers from 0 to 1. */
static inline bool digits_read_image(const char *path, float pixels[DIGITS_PIXELS])
{
    unsigned width, height, largest;
    unsigned char bytes[DIGITS_PIXELS];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return digits_fault(path, "cannot be opened");
    }
    bool ok = fscanf(file, "P5 %u %u %u", &width, &height, &largest) == 3 && fgetc(file) != EOF &&
              width == DIGITS_SIDE && height == DIGITS_SIDE && largest >= 1 && largest <= 255 &&
              fread(bytes, 1, sizeof bytes, file) == sizeof bytes;
    fclose(file);
    if (!ok) {
        return digits_fault(path, "is not a binary PGM of 8 x 8 pixels of one byte");
    }
    for (int i = 0; i < DIGITS_PIXELS; i++) {
        pixels[i] = (float)bytes[i] / (float)largest;
    }
    return true;
}

/* The digit after "_label" in a file name; -1 if there is none. */
static inline int digits_label(const char *path)
{
    const char *label = strstr(path, "_label");
    return label != NULL && label[6] >= '0' && label[6] <= '9' ? label[6] - '0' : -1;
}

/* The place of the largest of the ten probabilities. */
static inline int digits_best(const float *probabilities)
{
    int best = 0;
    for (int i = 1; i < DIGITS_CLASSES; i++) {
        if (probabilities[i] > probabilities[best]) {
            best = i;
        }
    }
    return best;
}

#endif /* DIGITS_FILES_H */
