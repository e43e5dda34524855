/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     hbdnn_cycles MODEL COUNT
 *
 * Models are loaded, run and released COUNT times, from bytes and from the file MODEL, with tasks that are waited for,
 * released before they are done, and left open, and with memory that is freed under them. Memory, descriptors and
 * mappings of the process do not grow with the number of cycles.
 */
#include "growth.h"
#include "hbdnn_model.h"

/* Releases a pack when the tasks that were released while they ran have ended. */
static void release(hbPackedDNNHandle_t pack)
{
	int32_t code;
	while ((code = hbDNNRelease(pack)) == HB_DNN_MODEL_IS_RUNNING)
		usleep(100);
	OK(code);
}

static void small(int i)
{
	static const int64_t sizes[] = {16, 4096};
	hbDNNHandle_t models[2];
	hbPackedDNNHandle_t pack = relu_pack(sizes, 2, models), none;
	struct tensors t[2];
	hbDNNTaskHandle_t waited = NULL, left = NULL, group = NULL;
	for (int m = 0; m < 2; m++)
		tensors_make(&t[m], models[m]);
	for (int k = 0; k < 16; k++)
		input_of(&t[0])[k] = (float)(i % 1000 + k - 8);
	OK(infer(&waited, &t[0], models[0], i % 256, i, 0));
	OK(infer(&left, &t[1], models[1], 0, 0, 0));
	OK(infer(&group, &t[1], models[1], 0, 0, 1));
	OK(hbDNNWaitTaskDone(waited, 0));
	for (int k = 0; k < 16; k++) {
		float x = (float)(i % 1000 + k - 8);
		CHECK(output_of(&t[0])[k] == (x > 0 ? x : 0), "cycle %d, element %d: %g", i, k, (double)output_of(&t[0])[k]);
	}
	tensors_free(&t[1]);
	OK(hbDNNReleaseTask(left));
	OK(hbDNNReleaseTask(group));
	OK(hbDNNReleaseTask(waited));
	release(pack);
	tensors_free(&t[0]);
	const void *bytes = "no model";
	int32_t size = 8;
	CHECK(hbDNNInitializeFromDDR(&none, &bytes, &size, 1) == HB_DNN_INVALID_MODEL && !none, "what is no model");
}

/* A network of convolutions from a file, whose results add up to 1. */
static void network(const char *path)
{
	hbPackedDNNHandle_t pack;
	hbDNNHandle_t model;
	hbDNNTaskHandle_t task = NULL;
	char const **names, *desc;
	uint32_t length;
	int32_t count, type;
	struct tensors t;
	OK(hbDNNInitializeFromFiles(&pack, &path, 1));
	OK(hbDNNGetModelNameList(&names, &count, pack));
	OK(hbDNNGetModelHandle(&model, pack, names[0]));
	OK(hbDNNGetInputDesc(&desc, &length, &type, model, 0));
	tensors_make(&t, model);
	OK(infer(&task, &t, model, 0, 0, 0));
	OK(hbDNNWaitTaskDone(task, 0));
	float sum = 0;
	for (int i = 0; i < t.out.properties.alignedByteSize / 4; i++)
		sum += output_of(&t)[i];
	CHECK(sum > 0.999f && sum < 1.001f, "the results add up to %g", (double)sum);
	OK(hbDNNReleaseTask(task));
	release(pack);
	tensors_free(&t);
}

static void cycle(const char *path, int i)
{
	small(i);
	network(path);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3, "usage: hbdnn_cycles MODEL COUNT");
	host_begin();
	growth_check("hbdnn_cycles", atoi(argv[2]), cycle, argv[1]);
	return host_end();
}
