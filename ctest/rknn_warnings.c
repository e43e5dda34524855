/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_warnings DIRECTORY
 *
 * What the library tells without being asked for an error: formulas that the model leaves open, an ONNX file in place
 * of an .rknn, memory that is too small for a board, buffers that are not given back. Each once, with these words.
 * DIRECTORY is for files.
 */
#include <unistd.h>

#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

static char last[2048];
static int messages;

static void take(int level, const char *component, const char *message, void *user)
{
	(void)level, (void)user;
	CHECK(strcmp(component, "rknn") == 0, "a message of %s: %s", component, message);
	/* The id at the end of the line is docs/messages.md's. */
	const char *id = strrchr(message, '[');
	CHECK(id && id > message && message[strlen(message) - 1] == ']', "no id: %s", message);
	snprintf(last, sizeof last, "%.*s", (int)(id - message - 1), message);
	messages++;
}

static void expect(const char *want)
{
	CHECK(messages == 1 && strcmp(last, want) == 0, "%d messages, the last is\n%s\nwant\n%s", messages, last, want);
	messages = 0;
}

static void quiet(void)
{
	CHECK(messages == 0, "%s", last);
}

static void set(rknn_context ctx, const void *x, uint32_t size, rknn_tensor_type type)
{
	rknn_input in = {.buf = (void *)x, .size = size, .type = type, .fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &in));
}

static rknn_context open_model(const int64_t *dims, int rank)
{
	struct rknn_message model = rknn_relu(dims, rank);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

#define BYTES "an input gets bytes and the model's metadata give neither mean nor std: results are wrong if the network wants them normalized "
#define REMEDY "remedy=\"set anynpu.input.x.mean and anynpu.input.x.std, 0 and 1 if the network takes the bytes as they are: " \
	"anynpu metadata writes them into the model\""

static void formulas(void)
{
	static const int64_t image[] = {1, 3, 1, 2}, row[] = {1, 6};
	static const float real[6];
	static const uint8_t bytes[6];
	rknn_context ctx = open_model(image, 4);
	quiet();
	set(ctx, bytes, sizeof bytes, RKNN_TENSOR_UINT8);
	expect(BYTES "input=x type=RKNN_TENSOR_UINT8 formula=\"value = x\" " REMEDY);
	set(ctx, bytes, sizeof bytes, RKNN_TENSOR_UINT8);
	quiet();
	rknn_context dup;
	OK(rknn_dup_context(&ctx, &dup));
	set(dup, bytes, sizeof bytes, RKNN_TENSOR_UINT8);
	quiet();
	OK(rknn_destroy(ctx));
	OK(rknn_destroy(dup));

	ctx = open_model(image, 4);
	set(ctx, real, sizeof real, RKNN_TENSOR_FLOAT32);
	quiet();
	rknn_input in = {.buf = (void *)real, .size = sizeof real, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED};
	OK(rknn_inputs_set(ctx, 1, &in));
	expect("neither the program nor the model's metadata say in which order an image lies input=x "
		"type=RKNN_TENSOR_FLOAT32 formula=\"value = x\" "
	       "order=\"taken as NHWC, turned to the model's NCHW\" remedy=\"set fmt, or anynpu.input.x.layout\"");
	OK(rknn_destroy(ctx));

	/* Planes of bytes may be pixels whose format was not set; planes of float32 are what they are. */
	struct rknn_message normalized = rknn_relu(image, 4);
	rknn_meta(&normalized, "anynpu.input.x.mean", "0");
	OK(rknn_init(&ctx, normalized.bytes, (uint32_t)normalized.size, 0, NULL));
	in.fmt = RKNN_TENSOR_NCHW;
	OK(rknn_inputs_set(ctx, 1, &in));
	quiet();
	rknn_input planes = {.buf = (void *)bytes, .size = sizeof bytes, .type = RKNN_TENSOR_UINT8};
	OK(rknn_inputs_set(ctx, 1, &planes));
	expect("bytes of an image are taken as RKNN_TENSOR_NCHW, plane by plane: that is 0, which fmt is too where a program "
		"does not set it "
	       "input=x remedy=\"set fmt to RKNN_TENSOR_NHWC if they lie pixel by pixel\"");
	OK(rknn_inputs_set(ctx, 1, &planes));
	quiet();
	OK(rknn_destroy(ctx));

	ctx = open_model(row, 2);
	set(ctx, real, sizeof real, RKNN_TENSOR_FLOAT32);
	quiet();
	rknn_tensor_attr attr = {.index = 0};
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr));
	attr.type = RKNN_TENSOR_UINT8;
	rknn_tensor_mem *mem = rknn_create_mem(ctx, 6);
	OK(rknn_set_io_mem(ctx, mem, &attr));
	expect(BYTES "input=x type=RKNN_TENSOR_UINT8 formula=\"value = x\" " REMEDY);
	OK(rknn_destroy(ctx));
	OK(rknn_destroy_mem(0, mem));
}

static void buffers(void)
{
	static const int64_t image[] = {1, 3, 1, 1}, row[] = {1, 1};
	static const float real[3];
	rknn_context ctx = open_model(image, 4);
	rknn_tensor_attr attr = {.index = 0};
	OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr));
	rknn_tensor_mem *mem = rknn_create_mem(ctx, attr.size);
	OK(rknn_set_io_mem(ctx, mem, &attr));
	expect("memory is smaller than attr->size_with_stride, which a board would need function=rknn_set_io_mem output=y "
		"mem->size=6 size_with_stride=16");
	OK(rknn_destroy(ctx));
	OK(rknn_destroy_mem(0, mem));

	ctx = open_model(row, 2);
	set(ctx, real, sizeof real, RKNN_TENSOR_FLOAT32);
	OK(rknn_run(ctx, NULL));
	for (int i = 0; i < 255; i++) {
		rknn_output out = {.want_float = 1};
		OK(rknn_outputs_get(ctx, 1, &out, NULL));
		quiet();
	}
	rknn_output out = {.want_float = 1};
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	expect("buffers of rknn_outputs_get pile up: rknn_outputs_release gives them back function=rknn_outputs_get "
		"buffers=256");
	OK(rknn_outputs_release(ctx, 1, &out));
	OK(rknn_destroy(ctx));
	expect("buffers of rknn_outputs_get were never given back with rknn_outputs_release function=rknn_destroy "
		"buffers=255");
}

static void save(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	CHECK(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, "%s", path);
}

/* A compiled model, with what the vendor's converter says of one input and one output behind the code. */
static void instead(const char *directory)
{
	static const char text[] = "{\"target_platform\": [\"rk3588\"], \"graph\": ["
		"{\"left\": \"input\", \"left_tensor_id\": 0, \"right\": \"norm_tensor\", \"right_tensor_id\": 0},"
		"{\"left\": \"output\", \"left_tensor_id\": 0, \"right\": \"norm_tensor\", \"right_tensor_id\": 1}], "
			"\"norm_tensor\": ["
		"{\"tensor_id\": 0, \"url\": \"images\", \"size\": [1, 8], \"dtype\": {\"vx_type\": \"int8\"}},"
		"{\"tensor_id\": 1, \"url\": \"y\", \"size\": [1, 6], \"dtype\": {\"vx_type\": \"float16\"}}]}";
	static const int64_t row[] = {1, 6};
	uint8_t file[64 + 32 + 8 + sizeof text] = {'R', 'K', 'N', 'N', 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 32};
	uint64_t length = sizeof text - 1;
	char folder[512], rknn[600], onnx[600], want[2048];
	memcpy(file + 96, &length, 8);
	memcpy(file + 104, text, length);
	snprintf(folder, sizeof folder, "%s/warned.XXXXXX", directory);
	CHECK(mkdtemp(folder) != NULL, "%s", folder);
	snprintf(rknn, sizeof rknn, "%s/net.rknn", folder);
	snprintf(onnx, sizeof onnx, "%s/net.onnx", folder);
	save(rknn, file, 104 + length);
	rknn_context ctx = 1;
	CHECK(rknn_init(&ctx, rknn, 0, 0, NULL) == RKNN_ERR_MODEL_INVALID && ctx == 0, "a compiled model alone");
	expect("call failed function=rknn_init result=-6 error=\"model: net.rknn: it is an .rknn file, code compiled for the "
		"NPU of rk3588, which cannot run "
	       "elsewhere: put the ONNX file that it was made from beside it as net.onnx, name that or its folder in "
		"ANYNPU_MODEL_MAP, or pass it instead\"");
	struct rknn_message model = rknn_relu(row, 2);
	save(onnx, model.bytes, model.size);
	OK(rknn_init(&ctx, rknn, 0, 0, NULL));
	snprintf(want, sizeof want, "an ONNX file is loaded instead of an .rknn rknn=%s target=rk3588 onnx=%s "
		"computes=\"with real numbers: the .rknn does not tell of its tensors\" differs=\"input 0 is named \\\"images\\\" "
			"there, "
		"\\\"x\\\" here; input 0 has the shape [1 8] there, [1 6] here; input 0 has the type int8 there, float32 here\" "
		"lost=\"mean and std, types, scales and native shapes of the .rknn are not known: the ONNX model's own hold, and "
			"what "
		"its metadata say\" unread=\"flatbuffer: there is none with the identifier RKNN\"", rknn, onnx);
	expect(want);
	OK(rknn_destroy(ctx));
	setenv("ANYNPU_MODEL_MAP", "off", 1);
	CHECK(rknn_init(&ctx, rknn, 0, 0, NULL) == RKNN_ERR_MODEL_INVALID, "ANYNPU_MODEL_MAP=off");
	messages = 0;
	unsetenv("ANYNPU_MODEL_MAP");
	remove(rknn);
	remove(onnx);
	CHECK(rmdir(folder) == 0, "%s", folder);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: rknn_warnings DIRECTORY");
	setenv("RKNN_LOG_LEVEL", "2", 1); /* the vendor's variable: warnings */
	host_begin();
	anynpu_set_log_callback(take, NULL);
	formulas();
	buffers();
	instead(argv[1]);
	anynpu_set_log_callback(NULL, NULL);
	puts("rknn_warnings: ok");
	return host_end();
}
