/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Recognizes handwritten digits as a program for a Rockchip board does, with an ONNX model where that has an .rknn.
 *
 *     rknn_digits MODEL IMAGE...
 *     rknn_digits digits/digits.onnx digits/images/000_label4.pgm
 *
 * The images are described in digits/README.md. Prints one line per image and the number that were right, judged by
 * "_labelN" in the file names. Exits 0 if at least 97 % were right, 1 if not or on an error.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rknn_api.h>

#include "digits/files.h"

/* Ends the program if a call failed. */
static void check(int code, const char *call)
{
    if (code != RKNN_SUCC) {
        fprintf(stderr, "rknn_digits: %s: error %d\n", call, code);
        exit(1);
    }
}

static double milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Ends the program unless the model has one input of 64 and one output of 10 elements. */
static void check_model(rknn_context context)
{
    rknn_input_output_num count;
    rknn_tensor_attr in = {.index = 0}, out = {.index = 0};
    check(rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count), "rknn_query of the counts");
    check(rknn_query(context, RKNN_QUERY_INPUT_ATTR, &in, sizeof in), "rknn_query of the input");
    check(rknn_query(context, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out), "rknn_query of the output");
    if (count.n_input != 1 || count.n_output != 1 || in.n_elems != DIGITS_PIXELS || out.n_elems != DIGITS_CLASSES) {
        fprintf(stderr, "rknn_digits: the model has %u inputs, the first of %u elements, and %u outputs, the first of "
	"%u\n",
                count.n_input, in.n_elems, count.n_output, out.n_elems);
        exit(1);
    }
}

/*
 * Recognizes one image; probabilities receives the ten results. The input is bytes from 0, paper, to 16, ink: what
 * divides them by 16 is the model's own preprocessing (digits.onnx.anynpu.json).
 */
static void recognize(rknn_context context, uint8_t ink[DIGITS_PIXELS], float probabilities[DIGITS_CLASSES])
{
    rknn_input input = {0};
    input.buf = ink;
    input.size = DIGITS_PIXELS;
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    check(rknn_inputs_set(context, 1, &input), "rknn_inputs_set");
    check(rknn_run(context, NULL), "rknn_run");

    rknn_output output = {.want_float = 1};
    check(rknn_outputs_get(context, 1, &output, NULL), "rknn_outputs_get");
    memcpy(probabilities, output.buf, DIGITS_CLASSES * sizeof(float));
    check(rknn_outputs_release(context, 1, &output), "rknn_outputs_release");
}

int main(int argc, char **argv)
{
    rknn_context context = 0;
    int right = 0, labelled = 0;
    double total = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: rknn_digits MODEL IMAGE...\n");
        return 1;
    }
    check(rknn_init(&context, argv[1], 0, 0, NULL), "rknn_init");
    check_model(context);
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
        recognize(context, ink, probabilities);
        double took = milliseconds() - start;
        int digit = digits_best(probabilities), label = digits_label(argv[i]);
        printf("%s: %d, probability %.4f, %.3f ms%s\n", argv[i], digit, probabilities[digit], took,
               label >= 0 && label != digit ? " (wrong)" : "");
        labelled += label >= 0;
        right += label == digit;
        total += took;
    }
    check(rknn_destroy(context), "rknn_destroy");
    printf("rknn_digits: %d of %d right, %.3f ms each\n", right, labelled, total / (argc - 2));
    return right * 100 >= labelled * 97 ? 0 : 1;
}
