/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes digits in NV12 frames, as a camera gives them: each digit as a frame of its own, and all as regions of one
 * large frame, which the model's resizer makes smaller.
 *
 *     hbdnn_nv12 MODEL REGIONS-MODEL IMAGE...
 *     hbdnn_nv12 digits/frame.onnx digits/regions.onnx digits/images/000_label4.pgm
 *
 * What is an NV12 frame to the one network, and a region of a frame to the other, stands in the files beside them
 * (digits/frame.onnx.anynpu.json, digits/regions.onnx.anynpu.json). Exits 0 if both ways give the same probabilities
 * within 0.00001 and at least 97 % are right, judged by "_labelN" in the file names; 1 if not or on an error.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dnn/hb_dnn.h>
#include <dnn/hb_dnn_status.h>

#include "digits/files.h"

/* In the large frame a pixel of a digit is a square, and each digit has a cell with a margin around it. */
enum { TIMES = 4, SIDE = DIGITS_SIDE * TIMES, CELL = SIDE + 8, COLUMNS = 10, ROWS = 6, MOST = COLUMNS * ROWS };

static void check(int32_t code, const char *call)
{
    if (code != HB_DNN_SUCCESS) {
        fprintf(stderr, "hbdnn_nv12: %s: error %d, %s\n", call, code, hbDNNGetErrorDesc(code));
        exit(1);
    }
}

static hbDNNHandle_t load(hbPackedDNNHandle_t *pack, const char *file)
{
    char const **names;
    int32_t count;
    hbDNNHandle_t model;
    check(hbDNNInitializeFromFiles(pack, &file, 1), "hbDNNInitializeFromFiles");
    check(hbDNNGetModelNameList(&names, &count, *pack), "hbDNNGetModelNameList");
    check(hbDNNGetModelHandle(&model, *pack, names[0]), "hbDNNGetModelHandle");
    return model;
}

/* A gray NV12 frame: rows of luma that begin at multiples of pitch, then half as many of chroma. */
static hbDNNTensor frame(int32_t height, int32_t width)
{
    hbDNNTensor t = {0};
    int32_t pitch = (width + 15) / 16 * 16;
    t.properties.tensorType = HB_DNN_IMG_TYPE_NV12;
    t.properties.tensorLayout = HB_DNN_LAYOUT_NCHW;
    t.properties.validShape = (hbDNNTensorShape){{1, 3, height, width}, 4};
    t.properties.alignedShape = (hbDNNTensorShape){{1, 3, height, pitch}, 4};
    check(hbSysAllocCachedMem(&t.sysMem[0], (uint32_t)(height * pitch * 3 / 2)), "hbSysAllocCachedMem");
    memset(t.sysMem[0].virAddr, 0, (size_t)(height * pitch));
    memset((uint8_t *)t.sysMem[0].virAddr + height * pitch, 128, (size_t)(height * pitch / 2));
    return t;
}

/* Draws a digit, each pixel a square of size x size. */
static void draw(hbDNNTensor *to, int left, int top, int size, const float pixels[DIGITS_PIXELS])
{
    int32_t pitch = to->properties.alignedShape.dimensionSize[3];
    for (int y = 0; y < DIGITS_SIDE * size; y++) {
        uint8_t *row = (uint8_t *)to->sysMem[0].virAddr + (top + y) * pitch + left;
        for (int x = 0; x < DIGITS_SIDE * size; x++) {
            row[x] = (uint8_t)(pixels[y / size * DIGITS_SIDE + x / size] * 240 + 0.5f);
        }
    }
}

static void finish(hbDNNTaskHandle_t task, hbDNNTensor *output)
{
    check(hbDNNWaitTaskDone(task, 0), "hbDNNWaitTaskDone");
    check(hbDNNReleaseTask(task), "hbDNNReleaseTask");
    check(hbSysFlushMem(&output->sysMem[0], HB_SYS_MEM_CACHE_INVALIDATE), "hbSysFlushMem of the output");
}

int main(int argc, char **argv)
{
    int count = argc - 3, right = 0, labelled = 0;
    float far = 0;
    hbPackedDNNHandle_t packs[2];
    if (count < 1 || count > MOST) {
        fprintf(stderr, "usage: hbdnn_nv12 MODEL REGIONS-MODEL IMAGE... (at most %d)\n", MOST);
        return 1;
    }
    hbDNNHandle_t whole = load(&packs[0], argv[1]), by_region = load(&packs[1], argv[2]);
    hbDNNTensor small = frame(DIGITS_SIDE, DIGITS_SIDE), large = frame(ROWS * CELL, COLUMNS * CELL);
    hbDNNTensor one = {0}, all = {0}, *output;
    check(hbDNNGetOutputTensorProperties(&one.properties, whole, 0), "hbDNNGetOutputTensorProperties");
    check(hbDNNGetOutputTensorProperties(&all.properties, by_region, 0), "hbDNNGetOutputTensorProperties");
    int32_t bytes = one.properties.alignedByteSize;
    check(hbSysAllocCachedMem(&one.sysMem[0], (uint32_t)bytes), "hbSysAllocCachedMem");
/* a result per region */
    check(hbSysAllocCachedMem(&all.sysMem[0], (uint32_t)(count * bytes)), "hbSysAllocCachedMem");
    hbDNNInferCtrlParam control;
    HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);

    float (*expected)[DIGITS_CLASSES] = malloc((size_t)count * sizeof *expected);
    hbDNNTensor inputs[MOST]; /* one per region, all of the same frame */
    hbDNNRoi regions[MOST];
    for (int i = 0; i < count; i++) {
        float pixels[DIGITS_PIXELS];
        int left = i % COLUMNS * CELL + 3, top = i / COLUMNS * CELL + 5;
        if (expected == NULL || !digits_read_image(argv[i + 3], pixels)) {
            return 1;
        }
        draw(&small, 0, 0, 1, pixels);
        draw(&large, left, top, TIMES, pixels);
        regions[i] = (hbDNNRoi){left, top, left + SIDE - 1, top + SIDE - 1}; /* the last column and row belong to it */
        inputs[i] = large;
        check(hbSysFlushMem(&small.sysMem[0], HB_SYS_MEM_CACHE_CLEAN), "hbSysFlushMem of a frame");
        hbDNNTaskHandle_t task = NULL;
        output = &one;
        check(hbDNNInfer(&task, &output, &small, whole, &control), "hbDNNInfer");
        finish(task, &one);
        memcpy(expected[i], one.sysMem[0].virAddr, sizeof expected[i]);
    }
    check(hbSysFlushMem(&large.sysMem[0], HB_SYS_MEM_CACHE_CLEAN), "hbSysFlushMem of the large frame");
    hbDNNTaskHandle_t task = NULL;
    output = &all;
    check(hbDNNRoiInfer(&task, &output, inputs, regions, count, by_region, &control), "hbDNNRoiInfer");
    finish(task, &all);
    for (int i = 0; i < count; i++) {
        const float *got = (const float *)((const char *)all.sysMem[0].virAddr + i * bytes);
        int label = digits_label(argv[i + 3]);
        for (int k = 0; k < DIGITS_CLASSES; k++) {
            far = fmaxf(far, fabsf(got[k] - expected[i][k]));
        }
        labelled += label >= 0;
        right += label == digits_best(got);
    }
    free(expected);
    hbSysMem *memory[] = {&small.sysMem[0], &large.sysMem[0], &one.sysMem[0], &all.sysMem[0]};
    for (int i = 0; i < 4; i++) {
        check(hbSysFreeMem(memory[i]), "hbSysFreeMem");
    }
    check(hbDNNRelease(packs[0]), "hbDNNRelease");
    check(hbDNNRelease(packs[1]), "hbDNNRelease");
    printf("hbdnn_nv12: %d of %d right in %d regions of one frame, %.7f from frames of their own at most\n", right,
	labelled,
           count, far);
    return right * 100 >= labelled * 97 && far <= 1e-5f ? 0 : 1;
}
