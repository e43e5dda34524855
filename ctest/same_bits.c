/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     same_bits MODEL...
 *
 * An ONNX model with one float input and one float output gives the same bits through RKNN, hbDNN and OH_NN, which
 * compute on the same device. Where hbDNN takes gray images, it and RKNN get bytes of 0 to 16, of which a model makes
 * sixteenths, and OH_NN the sixteenths.
 */
#include <stdbool.h>

#include <dnn/hb_dnn_ext.h>
#include <neural_network_runtime/neural_network_core.h>
#include <rknn_api.h>

#include "host.h"

struct numbers {
	float *data;
	size_t count;
};

static struct numbers of(size_t count) { return (struct numbers){calloc(count, sizeof(float)), count}; }

/* Numbers from -1 to 1 in a fixed order; sixteenths from 0 to 1 for pixels. */
static void fill(struct numbers n, bool pixels)
{
	uint32_t state = 12345;
	for (size_t i = 0; i < n.count; i++) {
		state = state * 1664525 + 1013904223;
		n.data[i] = pixels ? (float)(state >> 8) / 16 / (1 << 20) : (float)(state >> 8) / (1 << 23) - 1;
		if (pixels)
			n.data[i] = (float)(int)(n.data[i] * 17) / 16;
	}
}

/* The numbers of a tensor N, C, H, W in the order N, H, W, C. */
static void interleave(struct numbers to, struct numbers from, const rknn_tensor_attr *nhwc)
{
	size_t h = nhwc->dims[1], w = nhwc->dims[2], c = nhwc->dims[3], i = 0;
	for (size_t n = 0; n < nhwc->dims[0]; n++)
		for (size_t at = 0; at < h * w; at++)
			for (size_t k = 0; k < c; k++)
				to.data[i++] = from.data[(n * c + k) * h * w + at];
}

/* Runs the model by RKNN with made-up numbers, which it returns in *in. */
static struct numbers by_rknn(const char *model, bool pixels, struct numbers *in)
{
	rknn_context context = 0;
	rknn_input_output_num ports;
	rknn_tensor_attr input = {0}, output = {0};
	CHECK(rknn_init(&context, (void *)model, 0, 0, NULL) == 0, "rknn_init %s", model);
	CHECK(rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &ports, sizeof ports) == 0, "RKNN_QUERY_IN_OUT_NUM");
	CHECK(ports.n_input == 1 && ports.n_output == 1, "%s: %u inputs, %u outputs", model, ports.n_input, ports.n_output);
	CHECK(rknn_query(context, RKNN_QUERY_INPUT_ATTR, &input, sizeof input) == 0, "RKNN_QUERY_INPUT_ATTR");
	CHECK(rknn_query(context, RKNN_QUERY_OUTPUT_ATTR, &output, sizeof output) == 0, "RKNN_QUERY_OUTPUT_ATTR");
	*in = of(input.n_elems);
	fill(*in, pixels);
	struct numbers out = of(output.n_elems), turned = of(input.n_elems);
	uint8_t *bytes = malloc(in->count);
	memcpy(turned.data, in->data, in->count * sizeof(float));
	if (input.n_dims == 4)
		interleave(turned, *in, &input);
	for (size_t i = 0; i < in->count; i++)
		bytes[i] = (uint8_t)(turned.data[i] * 16);
	rknn_input given = {.buf = turned.data, .size = (uint32_t)(in->count * sizeof(float)), .type = RKNN_TENSOR_FLOAT32,
		.fmt = input.fmt};
	if (pixels) {
		given.buf = bytes;
		given.size = (uint32_t)in->count;
		given.type = RKNN_TENSOR_UINT8;
	}
	rknn_output wanted = {.want_float = 1, .is_prealloc = 1, .buf = out.data,
		.size = (uint32_t)(out.count * sizeof(float))};
	CHECK(rknn_inputs_set(context, 1, &given) == 0, "rknn_inputs_set");
	CHECK(rknn_run(context, NULL) == 0, "rknn_run");
	CHECK(rknn_outputs_get(context, 1, &wanted, NULL) == 0, "rknn_outputs_get");
	CHECK(rknn_destroy(context) == 0, "rknn_destroy");
	free(turned.data);
	free(bytes);
	return out;
}

/* A model loaded by hbDNN. */
struct network {
	hbPackedDNNHandle_t pack;
	hbDNNHandle_t model;
	hbDNNTensor input, output;
};

static struct network open_hbdnn(const char *model)
{
	struct network n = {0};
	char const **names;
	int32_t count;
	CHECK(hbDNNInitializeFromFiles(&n.pack, &model, 1) == 0, "hbDNNInitializeFromFiles %s", model);
	CHECK(hbDNNGetModelNameList(&names, &count, n.pack) == 0 && count == 1, "hbDNNGetModelNameList");
	CHECK(hbDNNGetModelHandle(&n.model, n.pack, names[0]) == 0, "hbDNNGetModelHandle");
	CHECK(hbDNNGetInputTensorProperties(&n.input.properties, n.model, 0) == 0, "hbDNNGetInputTensorProperties");
	CHECK(hbDNNGetOutputTensorProperties(&n.output.properties, n.model, 0) == 0, "hbDNNGetOutputTensorProperties");
	return n;
}

/* Runs the model by hbDNN, and ends it. Pixels are gray, without gaps. */
static struct numbers by_hbdnn(struct network *n, bool pixels, struct numbers in)
{
	hbDNNTaskHandle_t task = NULL;
	hbDNNTensor *input = &n->input, *output = &n->output;
	hbDNNInferCtrlParam control = {0};
	CHECK(hbSysAllocCachedMem(&input->sysMem[0], (uint32_t)input->properties.alignedByteSize) == 0, "hbSysAllocCachedMem");
	CHECK(hbSysAllocCachedMem(&output->sysMem[0], (uint32_t)output->properties.alignedByteSize) == 0,
		"hbSysAllocCachedMem");
	if (pixels) {
		input->properties.alignedShape = input->properties.validShape;
		for (size_t i = 0; i < in.count; i++)
			((uint8_t *)input->sysMem[0].virAddr)[i] = (uint8_t)(in.data[i] * 16);
	} else {
		CHECK((size_t)input->properties.alignedByteSize == in.count * sizeof(float), "%d bytes",
			input->properties.alignedByteSize);
		memcpy(input->sysMem[0].virAddr, in.data, in.count * sizeof(float));
	}
	CHECK(hbDNNInfer(&task, &output, input, n->model, &control) == 0, "hbDNNInfer");
	CHECK(hbDNNWaitTaskDone(task, 0) == 0, "hbDNNWaitTaskDone");
	struct numbers out = of((size_t)output->properties.alignedByteSize / sizeof(float));
	memcpy(out.data, output->sysMem[0].virAddr, out.count * sizeof(float));
	CHECK(hbDNNReleaseTask(task) == 0, "hbDNNReleaseTask");
	CHECK(hbSysFreeMem(&input->sysMem[0]) == 0 && hbSysFreeMem(&output->sysMem[0]) == 0, "hbSysFreeMem");
	CHECK(hbDNNRelease(n->pack) == 0, "hbDNNRelease");
	return out;
}

/* A tensor of the executor's type; its shape may be open, the other API's is not. */
static NN_Tensor *tensor_for(NN_TensorDesc *desc, const hbDNNTensorShape *shape, size_t bytes)
{
	size_t size = 0;
	CHECK(OH_NNTensorDesc_SetShape(desc, shape->dimensionSize, (size_t)shape->numDimensions) == OH_NN_SUCCESS,
		"OH_NNTensorDesc_SetShape");
	NN_Tensor *t = OH_NNTensor_Create(0, desc);
	CHECK(t != NULL, "OH_NNTensor_Create");
	CHECK(OH_NNTensorDesc_GetByteSize(desc, &size) == OH_NN_SUCCESS && size == bytes, "%zu bytes, want %zu", size, bytes);
	OH_NNTensorDesc_Destroy(&desc);
	return t;
}

static struct numbers by_ohnn(const char *model, const struct network *n, struct numbers in, size_t results)
{
	OH_NNCompilation *compilation = OH_NNCompilation_ConstructWithOfflineModelFile(model);
	CHECK(compilation != NULL && OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS, "OH_NNCompilation_Build %s", model);
	OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
	CHECK(executor != NULL, "OH_NNExecutor_Construct");
	struct numbers out = of(results);
	NN_Tensor *input = tensor_for(
	    OH_NNExecutor_CreateInputTensorDesc(executor, 0), &n->input.properties.validShape, in.count * sizeof(float));
	NN_Tensor *output = tensor_for(
	    OH_NNExecutor_CreateOutputTensorDesc(executor, 0), &n->output.properties.validShape, out.count * sizeof(float));
	memcpy(OH_NNTensor_GetDataBuffer(input), in.data, in.count * sizeof(float));
	CHECK(OH_NNExecutor_RunSync(executor, &input, 1, &output, 1) == OH_NN_SUCCESS, "OH_NNExecutor_RunSync");
	memcpy(out.data, OH_NNTensor_GetDataBuffer(output), out.count * sizeof(float));
	OH_NNTensor_Destroy(&input);
	OH_NNTensor_Destroy(&output);
	OH_NNExecutor_Destroy(&executor);
	OH_NNCompilation_Destroy(&compilation);
	return out;
}

static void compare(const char *model, const char *api, struct numbers want, struct numbers got)
{
	CHECK(want.count == got.count, "%s: %zu numbers by RKNN, %zu by %s", model, want.count, got.count, api);
	for (size_t i = 0; i < want.count; i++)
		CHECK(memcmp(&want.data[i], &got.data[i], sizeof(float)) == 0, "%s: number %zu is %.9g by RKNN, %.9g by %s", model, i,
		      (double)want.data[i], (double)got.data[i], api);
}

int main(int argc, char **argv)
{
	host_begin();
	CHECK(argc > 1, "usage: same_bits MODEL...");
	for (int i = 1; i < argc; i++) {
		struct numbers in, rknn, hbdnn, ohnn;
		size_t different = 0;
		struct network network = open_hbdnn(argv[i]);
		bool pixels = network.input.properties.tensorType == HB_DNN_IMG_TYPE_Y;
		rknn = by_rknn(argv[i], pixels, &in);
		hbdnn = by_hbdnn(&network, pixels, in);
		ohnn = by_ohnn(argv[i], &network, in, rknn.count);
		compare(argv[i], "hbDNN", rknn, hbdnn);
		compare(argv[i], "OH_NN", rknn, ohnn);
		for (size_t k = 1; k < rknn.count; k++)
			different += rknn.data[k] != rknn.data[0];
		CHECK(different > 0, "%s: every number is %g", argv[i], (double)rknn.data[0]);
		const char *name = strrchr(argv[i], '/');
		printf("same_bits: %s: %zu numbers, the same bits through 3 APIs\n", name ? name + 1 : argv[i], rknn.count);
		free(in.data);
		free(rknn.data);
		free(hbdnn.data);
		free(ohnn.data);
	}
	return host_end();
}
