/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What public programs do with the heads of networks whose last nodes are left to them: results are codes with a scale
 * for each channel, [1,H,W,C], or real numbers where the network says so. Compiled for both generations of hbDNN. An
 * image is NV12, of SIDE rows and columns, in a file of luma and then chroma. scripts/check_heads.py makes the models and
 * judges what is printed.
 *
 *     hb_heads MODEL IMAGE KIND THRESHOLD
 *
 * yolov5     for each of three anchors x, y, w, h, objectness and classes, at strides 8, 16 and 32
 * yolov8     for each stride classes, then distances to four edges as distributions over 16 bins; boxes are suppressed
 * yolo11     the same, distances first
 * yolov10    as yolov8, nothing is suppressed
 * pose       as yolov8, then 17 key points
 * seg        as yolov8, then 32 coefficients of a mask, and at the end the prototypes
 * stereo     disparities
 *
 * Prints a line for each box: class, score, left, top, right, bottom, and what belongs to it; stereo all disparities.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hb_calls.h"
#include "host_end.h"

enum { SIDE = 64, CLASSES = 3, BINS = 16, POINTS = 17, COEFFICIENTS = 32, PORTS = 16, MOST = 4096 };

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

struct box {
	int class, stride, row, column;
	double score, edge[4];
	bool gone;
};

static hbDNNTensor in[2], out[PORTS];
static int32_t outputs;
static struct box boxes[MOST];
static int count;
static double threshold;

static hbDNNTensor tensor(hbDNNHandle_t model, bool input, int i)
{
	hbDNNTensor t;
	memset(&t, 0, sizeof t);
	CHECK((input ? hbDNNGetInputTensorProperties : hbDNNGetOutputTensorProperties)(&t.properties, model, i) == 0);
	CHECK(allocate(&MEMORY(&t), place(&t.properties)) == 0);
	return t;
}

/* Puts the frame, luma and then chroma, into the inputs. */
static void show(const uint8_t *frame)
{
#ifdef UCP
	for (int plane = 0; plane < 2; plane++, frame += SIDE * SIDE)
		for (int row = 0; row < SIDE >> plane; row++)
			memcpy((uint8_t *)MEMORY(&in[plane]).virAddr + row * PITCH(&in[plane]), frame + row * SIDE, SIDE);
	CHECK(flush(&MEMORY(&in[1]), HB_SYS_MEM_CACHE_CLEAN) == 0);
#else
	for (int row = 0; row < SIDE * 3 / 2; row++)
		memcpy((uint8_t *)MEMORY(&in[0]).virAddr + row * PITCH(&in[0]), frame + row * SIDE, SIDE);
#endif
	CHECK(flush(&MEMORY(&in[0]), HB_SYS_MEM_CACHE_CLEAN) == 0);
}

/* The number at a row, column and channel of output i. */
static double number(int i, int row, int column, int channel)
{
	const hbDNNTensorProperties *p = &out[i].properties;
	const char *at = (const char *)MEMORY(&out[i]).virAddr + row * p->stride[1] + column * p->stride[2] +
		channel * p->stride[3];
	switch (p->tensorType) {
	case HB_DNN_TENSOR_TYPE_F32:
		return (double)*(const float *)at;
	case HB_DNN_TENSOR_TYPE_S32: /* a scale for each channel, whatever their number is said to be */
		CHECK(p->quantiType == SCALE);
		return *(const int32_t *)at * (double)p->scale.scaleData[channel];
	case HB_DNN_TENSOR_TYPE_S16:
		CHECK(p->quantiType == SCALE);
		return *(const int16_t *)at * (double)p->scale.scaleData[p->scale.scaleLen > 1 ? channel : 0];
	}
	CHECK(!"a type that no program of this kind knows");
	return 0;
}

static int size(int i, int dimension) { return out[i].properties.validShape.dimensionSize[dimension]; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static struct box *found(int class, double score, int stride, int row, int column)
{
	CHECK(count < MOST);
	boxes[count] = (struct box){.class = class, .score = score, .stride = stride, .row = row, .column = column};
	return &boxes[count++];
}

/* The mean of a distribution over bins, whose logarithms begin at a channel. */
static double expected(int i, int row, int column, int channel)
{
	double most = -INFINITY, sum = 0, mean = 0;
	for (int b = 0; b < BINS; b++)
		most = fmax(most, number(i, row, column, channel + b));
	for (int b = 0; b < BINS; b++) {
		double e = exp(number(i, row, column, channel + b) - most);
		sum += e;
		mean += e * b;
	}
	return mean / sum;
}

/* Boxes of a stride whose classes are output c and whose distances are output d. */
static void distances(int c, int d, int stride)
{
	CHECK(size(c, 1) == SIDE / stride && size(c, 3) == CLASSES && size(d, 3) == 4 * BINS);
	for (int row = 0; row < size(c, 1); row++)
		for (int column = 0; column < size(c, 2); column++) {
			int best = 0;
			for (int k = 1; k < CLASSES; k++)
				if (number(c, row, column, k) > number(c, row, column, best))
					best = k;
			double score = sigmoid(number(c, row, column, best));
			if (score < threshold)
				continue;
			struct box *b = found(best, score, stride, row, column);
			for (int k = 0; k < 4; k++) {
				double center = (k % 2 ? row : column) + 0.5, off = expected(d, row, column, k * BINS);
				b->edge[k] = (k < 2 ? center - off : center + off) * stride;
			}
		}
}

static void anchors(int i, int stride)
{
	static const double sizes[3][3][2] = {{{10, 13}, {16, 30}, {33, 23}}, {{30, 61}, {62, 45}, {59, 119}},
		{{116, 90}, {156, 198}, {373, 326}}};
	CHECK(size(i, 3) == 3 * (5 + CLASSES));
	for (int row = 0; row < size(i, 1); row++)
		for (int column = 0; column < size(i, 2); column++)
			for (int a = 0; a < 3; a++) {
				int first = a * (5 + CLASSES), best = 0;
				double v[5 + CLASSES];
				for (int k = 0; k < 5 + CLASSES; k++)
					v[k] = sigmoid(number(i, row, column, first + k));
				for (int k = 1; k < CLASSES; k++)
					if (v[5 + k] > v[5 + best])
						best = k;
				if (v[4] * v[5 + best] < threshold)
					continue;
				struct box *b = found(best, v[4] * v[5 + best], stride, row, column);
				const double *anchor = sizes[i][a];
				for (int k = 0; k < 2; k++) {
					double center = (v[k] * 2 - 0.5 + (k ? row : column)) * stride;
					double extent = v[2 + k] * v[2 + k] * 4 * anchor[k];
					b->edge[k] = center - extent / 2;
					b->edge[2 + k] = center + extent / 2;
				}
			}
}

static double overlap(const struct box *a, const struct box *b)
{
	double w = fmin(a->edge[2], b->edge[2]) - fmax(a->edge[0], b->edge[0]);
	double h = fmin(a->edge[3], b->edge[3]) - fmax(a->edge[1], b->edge[1]);
	if (w <= 0 || h <= 0)
		return 0;
	double both = w * h;
	return both / ((a->edge[2] - a->edge[0]) * (a->edge[3] - a->edge[1]) +
		(b->edge[2] - b->edge[0]) * (b->edge[3] - b->edge[1]) - both);
}

static int by_score(const void *a, const void *b)
{
	double d = ((const struct box *)b)->score - ((const struct box *)a)->score;
	return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static void suppress(void)
{
	for (int i = 0; i < count; i++)
		for (int k = i + 1; !boxes[i].gone && k < count; k++)
			if (boxes[k].class == boxes[i].class && overlap(&boxes[i], &boxes[k]) > 0.6)
				boxes[k].gone = true;
}

static void print_points(const struct box *b, int i)
{
	for (int k = 0; k < POINTS; k++)
		printf(" %.6f %.6f %.6f", (number(i, b->row, b->column, 3 * k) * 2 + b->column) * b->stride,
			(number(i, b->row, b->column, 3 * k + 1) * 2 + b->row) * b->stride,
			sigmoid(number(i, b->row, b->column, 3 * k + 2)));
}

/* The mask of a box on the grid of the prototypes, output p, a digit for each point. */
static void print_mask(const struct box *b, int i, int p)
{
	putchar(' ');
	for (int row = 0; row < size(p, 1); row++)
		for (int column = 0; column < size(p, 2); column++) {
			double sum = 0;
			for (int k = 0; k < COEFFICIENTS; k++)
				sum += number(i, b->row, b->column, k) * number(p, row, column, k);
			putchar(sum > 0 ? '1' : '0');
		}
}

static void detect(const char *kind)
{
	bool yolov5 = strcmp(kind, "yolov5") == 0, points = strcmp(kind, "pose") == 0, masks = strcmp(kind, "seg") == 0;
	int each = yolov5 ? 1 : points || masks ? 3 : 2, first = strcmp(kind, "yolo11") == 0;
	CHECK(outputs == 3 * each + masks);
	for (int s = 0; s < 3; s++)
		if (yolov5)
			anchors(s, 8 << s);
		else
			distances(each * s + first, each * s + !first, 8 << s);
	qsort(boxes, (size_t)count, sizeof *boxes, by_score);
	if (strcmp(kind, "yolov10") != 0)
		suppress();
	for (const struct box *b = boxes; b < boxes + count; b++) {
		int s = b->stride == 8 ? 0 : b->stride == 16 ? 1 : 2;
		if (b->gone)
			continue;
		printf("%d %.6f %.6f %.6f %.6f %.6f", b->class, b->score, b->edge[0], b->edge[1], b->edge[2], b->edge[3]);
		if (points)
			print_points(b, 3 * s + 2);
		if (masks)
			print_mask(b, 3 * s + 2, outputs - 1);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	uint8_t frame[SIDE * SIDE * 3 / 2];
	pack_handle pack;
	hbDNNHandle_t model;
	task_handle task = NULL;
	char const **names, *file = argv[1];
	int32_t models, inputs;
	host_begin();
	if (argc != 5)
		return puts("usage: hb_heads MODEL IMAGE KIND THRESHOLD"), 2;
	threshold = atof(argv[4]);
	FILE *image = fopen(argv[2], "rb");
	CHECK(image && fread(frame, 1, sizeof frame, image) == sizeof frame && fclose(image) == 0);
	CHECK(hbDNNInitializeFromFiles(&pack, &file, 1) == 0);
	CHECK(hbDNNGetModelNameList(&names, &models, pack) == 0 && hbDNNGetModelHandle(&model, pack, names[0]) == 0);
	CHECK(hbDNNGetInputCount(&inputs, model) == 0 && inputs <= 2);
	CHECK(hbDNNGetOutputCount(&outputs, model) == 0 && outputs <= PORTS);
	for (int i = 0; i < inputs; i++)
		in[i] = tensor(model, true, i);
	for (int i = 0; i < outputs; i++)
		out[i] = tensor(model, false, i);
	show(frame);
	CHECK(begin(&task, out, in, model, NULL, NULL) == 0 && wait_for(task) == 0 && release_task(task) == 0);
	for (int i = 0; i < outputs; i++)
		CHECK(flush(&MEMORY(&out[i]), HB_SYS_MEM_CACHE_INVALIDATE) == 0);
	if (strcmp(argv[3], "stereo") == 0) {
		for (int row = 0; row < size(0, 1); row++)
			for (int column = 0; column < size(0, 2); column++)
				printf("%.9g%c", number(0, row, column, 0), column + 1 < size(0, 2) ? ' ' : '\n');
	} else
		detect(argv[3]);
	for (int i = 0; i < inputs; i++)
		CHECK(release_memory(&MEMORY(&in[i])) == 0);
	for (int i = 0; i < outputs; i++)
		CHECK(release_memory(&MEMORY(&out[i])) == 0);
	CHECK(hbDNNRelease(pack) == 0);
	return host_end();
}
