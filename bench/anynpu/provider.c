/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a run of a model costs on a provider of ONNX Runtime through this library, beside ONNX Runtime called directly.
 * Three processes take turns: one calls RunWithBinding itself, one rknn_run with memory bound by rknn_set_io_mem, one
 * OH_NNExecutor_RunSync. All have one thread and the same options of a session.
 *
 *     provider LIBDIR ONNXRUNTIME MODEL SECONDS
 *
 * ONNXRUNTIME is the file of its library, whose CPU provider the library under test is told to use. Of each side the
 * lowest wall time and the lowest processor time of a run count: on a machine that does other things only the second
 * tells runs apart that take longer than a turn of the scheduler. Two sessions of one model in one process differ by
 * up to 3 %, depending on where their memory lies, so each side opens its session SESSIONS times.
 */
#include <dlfcn.h>
#include <sys/stat.h>

#include "../../capi/probe/zonnxruntime.h"
#include "frames.h"
#include "sides.h"

enum { DIRECT, RKNN, OHNN, SIDES };

#define TURN 0.1 /* seconds */
#define SESSIONS 6

static const char *const names[SIDES] = {"direct", "rknn", "ohnn"};

struct cost {
	double wall, cpu;
};

/* What a side needed at least, and whether it copied something. */
struct result {
	struct cost lowest;
	int copied;
};

/* ONNX Runtime by the positions of its functions; a status that is not NULL is an error. */
static void *const *api;
#define ORT(i, type) ((type)api[ORT_##i])
#define ORT_OK(call) ort_ok(call, #call)

static void ort_ok(void *status, const char *call)
{
	CHECK(status == NULL, "%s: %s", call, ORT(GetErrorMessage, const char *(*)(void *))(status));
}

/* As every engine fills its inputs. */
static void fill_floats(float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((double)(uint32_t)(2654435761U * (uint64_t)i + 12345U) / 2147483648.0 - 1);
}

static void *ort_session, *ort_binding, *ort_options;

enum { SESSION_INPUT_NAME = 36, SESSION_OUTPUT_NAME = 37 };

/* Memory of a port, bound: its sizes are those of the model that this library reads. */
static void bind_port(void *memory, void *allocator, int input, size_t i, const size_t *dims, size_t rank)
{
	int64_t shape[16];
	size_t n = 1;
	char *name;
	void *value;
	for (size_t k = 0; k < rank; k++) {
		shape[k] = (int64_t)dims[k];
		n *= dims[k];
	}
	float *data = aligned_alloc(4096, (n * sizeof *data + 4095) / 4096 * 4096);
	CHECK(data != NULL, "no memory for %zu elements", n);
	fill_floats(data, n);
	ORT_OK(((void *(*)(void *, size_t, void *, char **))api[input ? SESSION_INPUT_NAME : SESSION_OUTPUT_NAME])(ort_session,
		i, allocator, &name));
	ORT_OK(ORT(CreateTensorWithDataAsOrtValue, void *(*)(void *, void *, size_t, const int64_t *, size_t, int, void **))(
		memory, data, n * sizeof *data, shape, rank, 1, &value));
	if (input)
		ORT_OK(ORT(BindInput, void *(*)(void *, const char *, void *))(ort_binding, name, value));
	else
		ORT_OK(ORT(BindOutput, void *(*)(void *, const char *, void *))(ort_binding, name, value));
}

static void run_direct(void)
{
	ORT_OK(ORT(RunWithBinding, void *(*)(void *, void *, void *))(ort_session, ort_options, ort_binding));
}

static struct model model;

static void open_direct(const char *library, const char *path)
{
	void *const *(*get)(uint32_t), *pools, *env, *options, *memory, *allocator;
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	CHECK(handle != NULL, "%s", dlerror());
	struct {
		void *const *(*get)(uint32_t);
	} const *(*base)(void) = NULL;
	*(void **)&base = dlsym(handle, "OrtGetApiBase");
	CHECK(base != NULL, "%s lacks OrtGetApiBase", library);
	get = base()->get;
	api = get(24);
	CHECK(api != NULL, "%s is older than 1.24", library);
	ORT_OK(ORT(CreateThreadingOptions, void *(*)(void **))(&pools));
	ORT_OK(ORT(SetGlobalIntraOpNumThreads, void *(*)(void *, int))(pools, 1));
	ORT_OK(ORT(SetGlobalInterOpNumThreads, void *(*)(void *, int))(pools, 1));
	ORT_OK(ORT(CreateEnvWithGlobalThreadPools, void *(*)(int, const char *, void *, void **))(3, "direct", pools, &env));
	ORT_OK(ORT(CreateSessionOptions, void *(*)(void **))(&options));
	ORT_OK(ORT(DisablePerSessionThreads, void *(*)(void *))(options));
	ORT_OK(ORT(AddSessionConfigEntry, void *(*)(void *, const char *, const char *))(options, "session.x64quantprecision",
		"1"));
	ORT_OK(ORT(AddSessionConfigEntry, void *(*)(void *, const char *, const char *))(options, "session.qdqisint8allowed",
		"0"));
	FILE *f = fopen(path, "rb");
	struct stat s;
	CHECK(f != NULL && fstat(fileno(f), &s) == 0, "%s", path);
	char *data = malloc((size_t)s.st_size);
	CHECK(data != NULL && fread(data, 1, (size_t)s.st_size, f) == (size_t)s.st_size && fclose(f) == 0, "%s", path);
	ORT_OK(ORT(CreateSessionFromArray, void *(*)(void *, const void *, size_t, void *, void **))(env, data,
		(size_t)s.st_size, options, &ort_session));
	free(data);
	ORT_OK(ORT(CreateIoBinding, void *(*)(void *, void **))(ort_session, &ort_binding));
	ORT_OK(ORT(CreateRunOptions, void *(*)(void **))(&ort_options));
	ORT_OK(ORT(CreateCpuMemoryInfo, void *(*)(int, int, void **))(1, 0, &memory));
	ORT_OK(ORT(GetAllocatorWithDefaultOptions, void *(*)(void **))(&allocator));
	model.compilation = open_compilation(path); /* the sizes, which it says in fewer calls */
	make_executor(&model);
	for (size_t i = 0; i < model.ins + model.outs; i++) {
		int input = i < model.ins;
		size_t k = input ? i : i - model.ins, rank, dims[16];
		int32_t *shape = NULL;
		NN_TensorDesc *d = OH_NNTensor_GetTensorDesc(input ? model.in[k] : model.out[k]);
		OK(OH_NNTensorDesc_GetShape(d, &shape, &rank));
		CHECK(rank <= 16, "%zu dimensions", rank);
		for (size_t j = 0; j < rank; j++)
			dims[j] = (size_t)shape[j];
		bind_port(memory, allocator, input, k, dims, rank);
	}
	drop_executor(&model);
	OH_NNCompilation_Destroy(&model.compilation);
}

/* Memory for each port in the order of the ONNX file, codes where the model has them, else float32. Bytes count as
 * those of an image, which are converted, unless they are said to be codes. */
static void bind_memory(rknn_query_cmd query, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		rknn_tensor_attr attr = {.index = i};
		RKNN_OK(rknn_query(ctx, query, &attr, sizeof attr));
		if (attr.type == RKNN_TENSOR_FLOAT16) /* what a board would take for real numbers */
			attr.type = RKNN_TENSOR_FLOAT32;
		if (attr.n_dims == 4)
			attr.fmt = RKNN_TENSOR_NCHW;
		attr.pass_through = query == RKNN_QUERY_INPUT_ATTR && attr.type != RKNN_TENSOR_FLOAT32;
		rknn_tensor_mem *m = rknn_create_mem(ctx, attr.n_elems * 4);
		CHECK(m != NULL, "%s", anynpu_last_error());
		if (attr.type == RKNN_TENSOR_FLOAT32)
			fill_floats(m->virt_addr, attr.n_elems);
		else
			memset(m->virt_addr, 128, attr.n_elems);
		RKNN_OK(rknn_set_io_mem(ctx, m, &attr));
	}
}

/* Codes are taken as they are in the order that the metadata say, which lie beside a link to the model: that of the
 * ONNX file, as ONNX Runtime itself gets it. */
static void open_rknn(const char *path, const char *prefix)
{
	char link[4096], meta[4200];
	rknn_tensor_attr attr = {.index = 0};
	snprintf(link, sizeof link, "%s.onnx", prefix);
	snprintf(meta, sizeof meta, "%s.anynpu.json", link);
	CHECK(symlink(path, link) == 0, "%s", link);
	RKNN_OK(rknn_init(&ctx, link, 0, 0, NULL));
	RKNN_OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr));
	RKNN_OK(rknn_destroy(ctx));
	FILE *f = fopen(meta, "w");
	CHECK(f != NULL && fprintf(f, "{\"anynpu.input.%s.layout\": \"nchw\"}\n", attr.name) > 0 && fclose(f) == 0, "%s",
		meta);
	RKNN_OK(rknn_init(&ctx, link, 0, 0, NULL));
	remove(meta);
	remove(link);
	RKNN_OK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count));
	bind_memory(RKNN_QUERY_INPUT_ATTR, count.n_input);
	bind_memory(RKNN_QUERY_OUTPUT_ATTR, count.n_output);
}

static void run_ohnn(void) { run_model(&model); }

static void measure(int side, const char *library, char *path, const char *prefix)
{
	void (*f)(void) = side == DIRECT ? run_direct : side == RKNN ? run : run_ohnn;
	if (side == DIRECT) {
		open_direct(library, path);
	} else if (side == RKNN) {
		open_rknn(path, prefix);
	} else {
		model.compilation = open_compilation(path);
		make_executor(&model);
	}
	f();
	f();
	while (turn_asked()) {
		struct cost best = {1e18, 1e18};
		double begin = now();
		for (int i = 0; i < 4 || now() - begin < TURN; i++) {
			double wall = now(), cpu = cpu_now();
			f();
			cpu = cpu_now() - cpu;
			wall = now() - wall;
			best.wall = wall < best.wall ? wall : best.wall;
			best.cpu = cpu < best.cpu ? cpu : best.cpu;
		}
		turn_done(&best, sizeof best);
	}
	if (side == RKNN) {
		RKNN_OK(rknn_destroy(ctx));
	} else if (side == OHNN) {
		drop_executor(&model);
	}
}

/* Whether executions that a log tells of have run, and none has copied anything. */
static int copied_nothing(const char *log)
{
	FILE *f = fopen(log, "r");
	char line[4096];
	int good = 0;
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		const char *at = strstr(line, "execution ended");
		long long runs, in, out;
		if (at == NULL || sscanf(at, "execution ended runs=%lld copied_in=%lld copied_out=%lld", &runs, &in, &out) != 3)
			continue;
		if (in != 0 || out != 0)
			return 0;
		good |= runs >= 3; /* a context that only tells of the model runs nothing */
	}
	if (f != NULL)
		fclose(f);
	return good;
}

/* Starts a process of each side, which take turns for some seconds, and lowers what each needed at least. Returns how
 * many turns each had. */
static int compare(char **argv, const char *prefix, double seconds, struct result *results)
{
	struct side sides[SIDES];
	char number[SIDES][12];
	int turns = 0;
	for (int s = 0; s < SIDES; s++) {
		snprintf(number[s], sizeof number[s], "%d", s);
		char *const measuring[] = {argv[0], "measure", number[s], argv[2], argv[3], (char *)prefix, NULL};
		start_side(&sides[s], argv[1], measuring);
	}
	for (double begin = 0; begin == 0 || now() - begin < seconds; turns++) {
		for (int i = 0; i < SIDES; i++) {
			int s = (turns + i) % SIDES; /* each is as often first */
			struct cost t, *lowest = &results[s].lowest;
			turn_of(&sides[s], &t, sizeof t);
			lowest->wall = t.wall < lowest->wall ? t.wall : lowest->wall;
			lowest->cpu = t.cpu < lowest->cpu ? t.cpu : lowest->cpu;
		}
		if (begin == 0)
			begin = now();
	}
	for (int s = 0; s < SIDES; s++) {
		char log[4096];
		stop_side(&sides[s]);
		snprintf(log, sizeof log, "%s.%s", prefix, names[s]);
		results[s].copied |= !copied_nothing(log);
		remove(log);
	}
	return turns;
}

int main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "measure") == 0) {
		int side = atoi(argv[2]);
		char log[4096];
		snprintf(log, sizeof log, "%s.%s", argv[5], names[side]);
		remove(log);
		setenv("ANYNPU_LOG", "debug", 1);
		setenv("ANYNPU_LOG_FILE", log, 1);
		setenv("ANYNPU_THREADS", "1", 1);
		setenv("ORT_DISABLE_TELEMETRY", "1", 1);
		setenv(side == DIRECT ? "ANYNPU_DEVICE" : "ANYNPU_ONNXRUNTIME", side == DIRECT ? "cpu" : argv[3], 1);
		if (side != DIRECT)
			setenv("ANYNPU_FALLBACK", "off", 1);
		measure(side, argv[3], argv[4], argv[5]);
		return 0;
	}
	CHECK(argc == 5, "usage: provider LIBDIR ONNXRUNTIME MODEL SECONDS");
	struct result results[SIDES];
	char log[] = "/tmp/provider_XXXXXX", prefix[64];
	int turns = 0;
	CHECK(mkdtemp(log) != NULL, "mkdtemp");
	snprintf(prefix, sizeof prefix, "%s/log", log);
	for (int s = 0; s < SIDES; s++)
		results[s] = (struct result){{1e18, 1e18}, 0};
	for (int i = 0; i < SESSIONS; i++)
		turns += compare(argv, prefix, strtod(argv[4], NULL) / SESSIONS, results);
	rmdir(log);
	const char *name = strrchr(argv[3], '/');
	const struct cost *direct = &results[DIRECT].lowest;
	printf("%-28s direct %.3f ms", name == NULL ? argv[3] : name + 1, 1e3 * direct->wall);
	for (int s = RKNN; s < SIDES; s++) {
		const struct cost *c = &results[s].lowest;
		printf(", %s %.3f ms: %.3f x (processor time %.3f x), %s", names[s], 1e3 * c->wall, c->wall / direct->wall,
			c->cpu / direct->cpu, results[s].copied ? "BYTES COPIED" : "0 bytes copied");
	}
	printf(", %d turns\n", turns);
	return 0;
}
