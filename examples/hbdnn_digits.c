/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits as a program for a Horizon or D-Robotics board does, with an ONNX model where that has
 * a compiled one.
 *
 *     hbdnn_digits MODEL IMAGE...
 *     hbdnn_digits digits/digits.onnx digits/images/000_label4.pgm
 *
 * The images are described in digits/README.md. Prints one line per image and the number that were right, judged by
 * "_labelN" in the file names. Exits 0 if at least 97 % were right, 1 if not or on an error.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dnn/hb_dnn.h>
#include <dnn/hb_dnn_status.h>

#include "digits/files.h"

/* A model with one input, a gray image, and one output, and memory for both. */
struct network {
    hbPackedDNNHandle_t pack;
    hbDNNHandle_t model;
    hbDNNTensor input, output;
};

/* Ends the program if a call failed. */
static void check(int32_t code, const char *call)
{
    if (code != HB_DNN_SUCCESS) {
        fprintf(stderr, "hbdnn_digits: %s: error %d, %s\n", call, code, hbDNNGetErrorDesc(code));
        exit(1);
    }
}

static double milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Loads a model and makes memory; ends the program unless the model takes an image and gives ten numbers. */
static void load(struct network *n, const char *file)
{
    char const **names;
    int32_t models, inputs, outputs;
    check(hbDNNInitializeFromFiles(&n->pack, &file, 1), "hbDNNInitializeFromFiles");
    check(hbDNNGetModelNameList(&names, &models, n->pack), "hbDNNGetModelNameList");
    check(hbDNNGetModelHandle(&n->model, n->pack, names[0]), "hbDNNGetModelHandle");
    check(hbDNNGetInputCount(&inputs, n->model), "hbDNNGetInputCount");
    check(hbDNNGetOutputCount(&outputs, n->model), "hbDNNGetOutputCount");
    check(hbDNNGetInputTensorProperties(&n->input.properties, n->model, 0), "hbDNNGetInputTensorProperties");
    check(hbDNNGetOutputTensorProperties(&n->output.properties, n->model, 0), "hbDNNGetOutputTensorProperties");
    const hbDNNTensorProperties *in = &n->input.properties, *out = &n->output.properties;
    if (inputs != 1 || outputs != 1 || in->tensorType != HB_DNN_IMG_TYPE_Y ||
        in->validShape.dimensionSize[2] * in->validShape.dimensionSize[3] != DIGITS_PIXELS ||
        out->tensorType != HB_DNN_TENSOR_TYPE_F32 || out->validShape.dimensionSize[1] != DIGITS_CLASSES) {
        fprintf(stderr, "hbdnn_digits: the model has %d inputs, the first of type %d, and %d outputs, the first of "
	"type %d\n",
                inputs, in->tensorType, outputs, out->tensorType);
        exit(1);
    }
    check(hbSysAllocCachedMem(&n->input.sysMem[0], (uint32_t)in->alignedByteSize), "hbSysAllocCachedMem of the input");
    check(hbSysAllocCachedMem(&n->output.sysMem[0], (uint32_t)out->alignedByteSize),
	"hbSysAllocCachedMem of the output");
}

static void unload(struct network *n)
{
    check(hbSysFreeMem(&n->input.sysMem[0]), "hbSysFreeMem");
    check(hbSysFreeMem(&n->output.sysMem[0]), "hbSysFreeMem");
    check(hbDNNRelease(n->pack), "hbDNNRelease");
}

/*
 * Recognizes one image; probabilities receives the ten results. The input is bytes from 0, paper, to 16, ink: what
 * divides them by 16 is the model's own preprocessing (digits.onnx.anynpu.json). Rows of the image begin at multiples
 * of the aligned width.
 */
static void recognize(struct network *n, const uint8_t ink[DIGITS_PIXELS], float probabilities[DIGITS_CLASSES])
{
    const hbDNNTensorProperties *in = &n->input.properties;
    int32_t height = in->validShape.dimensionSize[2], width = in->validShape.dimensionSize[3];
    int32_t pitch = in->alignedShape.dimensionSize[3];
    uint8_t *rows = n->input.sysMem[0].virAddr;
    for (int32_t y = 0; y < height; y++) {
        memcpy(rows + y * pitch, ink + y * width, (size_t)width);
    }
    check(hbSysFlushMem(&n->input.sysMem[0], HB_SYS_MEM_CACHE_CLEAN), "hbSysFlushMem of the input");

    hbDNNTaskHandle_t task = NULL;
    hbDNNTensor *output = &n->output;
    hbDNNInferCtrlParam control;
    HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
    check(hbDNNInfer(&task, &output, &n->input, n->model, &control), "hbDNNInfer");
    check(hbDNNWaitTaskDone(task, 0), "hbDNNWaitTaskDone");
    check(hbDNNReleaseTask(task), "hbDNNReleaseTask");

    check(hbSysFlushMem(&n->output.sysMem[0], HB_SYS_MEM_CACHE_INVALIDATE), "hbSysFlushMem of the output");
    memcpy(probabilities, n->output.sysMem[0].virAddr, DIGITS_CLASSES * sizeof(float));
}

int main(int argc, char **argv)
{
    struct network network = {0};
    int right = 0, labelled = 0;
    double total = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: hbdnn_digits MODEL IMAGE...\n");
        return 1;
    }
    load(&network, argv[1]);
    for (int i = 2; i < argc; i++) {
        float pixels[DIGITS_PIXELS], probabilities[DIGITS_CLASSES];
        uint8_t ink[DIGITS_PIXELS];
        if (!digits_read_image(argv[i], pixels)) {
            return 1;
        }
        for (int k = 0; k < DIGITS_PIXELS; k++) {
            ink[k] = (uint8_t)(pixels[k] * 16 + 0.5f);
        }
        double start = milliseconds();
        recognize(&network, ink, probabilities);
        double took = milliseconds() - start;
        int digit = digits_best(probabilities), label = digits_label(argv[i]);
        printf("%s: %d, probability %.4f, %.3f ms%s\n", argv[i], digit, probabilities[digit], took,
               label >= 0 && label != digit ? " (wrong)" : "");
        labelled += label >= 0;
        right += label == digit;
        total += took;
    }
    unload(&network);
    printf("hbdnn_digits: %d of %d right, %.3f ms each\n", right, labelled, total / (argc - 2));
    return right * 100 >= labelled * 97 ? 0 : 1;
}
