/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: stops MILLISECONDS FILE...
 *
 * Runs that take seconds, or never end, are stopped in every way that an API has: by destroying what computes, by a
 * deadline of the call, by ANYNPU_RUN_TIMEOUT. The call must return with the API's error before the process has
 * computed for MILLISECONDS more; of a few tries the fastest counts. Each model, API and way has a process of its own.
 */
#include <libgen.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rknn_api.h>
#include <rknn_matmul_api.h>

#include "hbdnn_model.h"
#undef OK
#include "nnapi_host.h"

enum { TRIES = 4, AFTER = 60 /* ms of a run before it is stopped */, LONGEST = 100 /* s of a process */ };

/* How a run is stopped. */
enum way { DESTROY, DEADLINE, LIMIT, WAYS };
static const char *const way_names[WAYS] = {"destroy", "deadline", "ANYNPU_RUN_TIMEOUT"};

/* A run under way. */
struct job {
	const char *path;
	enum way way;
	atomic_int started, ended;
	double end; /* the process's processor time when the call returned, in ms */
	int code;
	rknn_context context;
	hbDNNTaskHandle_t task;
	OH_NNExecutor *executor;
	NN_Tensor *in, *out;
	ANeuralNetworksCompilation *compilation;
};

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void returned(struct job *j, int code)
{
	j->end = used();
	j->code = code;
	j->ended = 1;
}

/* RKNN: rknn_destroy beside rknn_run. */

static void *rknn_runs(void *arg)
{
	struct job *j = arg;
	j->started = 1;
	returned(j, rknn_run(j->context, NULL));
	return NULL;
}

static void by_rknn(struct job *j, void (*stop)(struct job *))
{
	float x = 1;
	rknn_input in = {.buf = &x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED};
	CHECK(rknn_init(&j->context, (void *)(uintptr_t)j->path, 0, 0, NULL) == RKNN_SUCC, "%s: %s", j->path,
		anynpu_last_error());
	CHECK(rknn_inputs_set(j->context, 1, &in) == RKNN_SUCC, "rknn_inputs_set");
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, rknn_runs, j) == 0, "no thread");
	stop(j);
	pthread_join(thread, NULL);
	CHECK(j->code == RKNN_ERR_TIMEOUT || j->code == RKNN_ERR_FAIL || j->code == RKNN_ERR_CTX_INVALID, "rknn_run: %d",
		j->code);
	if (j->way != DESTROY)
		CHECK(rknn_destroy(j->context) == RKNN_SUCC, "rknn_destroy");
}

static void end_rknn(struct job *j) { CHECK(rknn_destroy(j->context) == RKNN_SUCC, "rknn_destroy"); }

/* Products: rknn_matmul_destroy beside rknn_matmul_run. */

static void *matmul_runs(void *arg)
{
	struct job *j = arg;
	j->started = 1;
	returned(j, rknn_matmul_run(j->context));
	return NULL;
}

static void by_matmul(struct job *j, void (*stop)(struct job *))
{
	rknn_matmul_info info = {.M = 8192, .K = 8192, .N = 8192, .type = RKNN_INT8_MM_INT8_TO_INT32};
	rknn_matmul_io_attr attr;
	CHECK(rknn_matmul_create(&j->context, &info, &attr) == RKNN_SUCC, "rknn_matmul_create: %s", anynpu_last_error());
	rknn_matmul_tensor_attr *of[] = {&attr.A, &attr.B, &attr.C};
	rknn_tensor_mem *memory[3];
	for (int i = 0; i < 3; i++) {
		CHECK((memory[i] = rknn_create_mem(j->context, of[i]->size)) != NULL, "rknn_create_mem");
		CHECK(rknn_matmul_set_io_mem(j->context, memory[i], of[i]) == RKNN_SUCC, "rknn_matmul_set_io_mem");
	}
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, matmul_runs, j) == 0, "no thread");
	stop(j);
	pthread_join(thread, NULL);
	CHECK(j->code == RKNN_ERR_TIMEOUT || j->code == RKNN_ERR_FAIL || j->code == RKNN_ERR_CTX_INVALID,
		"rknn_matmul_run: %d", j->code);
	for (int i = 0; i < 3; i++)
		CHECK(rknn_destroy_mem(j->context, memory[i]) == RKNN_SUCC, "rknn_destroy_mem");
	if (j->way != DESTROY)
		CHECK(rknn_matmul_destroy(j->context) == RKNN_SUCC, "rknn_matmul_destroy");
}

static void end_matmul(struct job *j) { CHECK(rknn_matmul_destroy(j->context) == RKNN_SUCC, "rknn_matmul_destroy"); }

/* hbDNN: hbDNNReleaseTask of a task that computes. */

static void *hbdnn_waits(void *arg)
{
	struct job *j = arg;
	j->started = 1;
	returned(j, hbDNNWaitTaskDone(j->task, 0));
	return NULL;
}

static void by_hbdnn(struct job *j, void (*stop)(struct job *))
{
	hbPackedDNNHandle_t pack = NULL;
	hbDNNHandle_t model = NULL;
	char const **names;
	int32_t count;
	struct tensors t;
	CHECK(hbDNNInitializeFromFiles(&pack, &j->path, 1) == 0, "%s: %s", j->path, anynpu_last_error());
	CHECK(hbDNNGetModelNameList(&names, &count, pack) == 0, "hbDNNGetModelNameList");
	CHECK(hbDNNGetModelHandle(&model, pack, names[0]) == 0, "hbDNNGetModelHandle");
	tensors_make(&t, model);
	*input_of(&t) = 1;
	CHECK(infer(&j->task, &t, model, 0, 0, 0) == 0, "hbDNNInfer");
	if (j->way == DESTROY) { /* nobody else may wait for it then: it has ended when the model can be released */
		j->started = 1;
		stop(j);
		while ((j->code = hbDNNRelease(pack)) == HB_DNN_MODEL_IS_RUNNING)
			usleep(500);
		returned(j, j->code);
		tensors_free(&t);
		CHECK(j->code == 0, "hbDNNRelease: %d", j->code);
		return;
	} else {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, hbdnn_waits, j) == 0, "no thread");
		stop(j);
		pthread_join(thread, NULL);
		CHECK(j->code != 0, "hbDNNWaitTaskDone: %d", j->code);
		CHECK(hbDNNReleaseTask(j->task) == 0, "hbDNNReleaseTask");
	}
	tensors_free(&t);
	CHECK(hbDNNRelease(pack) == 0, "hbDNNRelease");
}

static void end_hbdnn(struct job *j) { CHECK(hbDNNReleaseTask(j->task) == 0, "hbDNNReleaseTask"); }

/* OH_NN: OH_NNExecutor_Destroy of an executor that computes, and the timeout of RunAsync. */

static void ohnn_done(void *data, OH_NN_ReturnCode code, void *out[], int32_t count)
{
	(void)out;
	(void)count;
	returned(data, (int)code);
}

static NN_Tensor *number(NN_TensorDesc *desc)
{
	NN_Tensor *t = OH_NNTensor_Create(0, desc);
	CHECK(t != NULL, "OH_NNTensor_Create: %s", anynpu_last_error());
	*(float *)OH_NNTensor_GetDataBuffer(t) = 1;
	OH_NNTensorDesc_Destroy(&desc);
	return t;
}

static void by_ohnn(struct job *j, void (*stop)(struct job *))
{
	OH_NNCompilation *c = OH_NNCompilation_ConstructWithOfflineModelFile(j->path);
	CHECK(c != NULL && OH_NNCompilation_Build(c) == OH_NN_SUCCESS, "%s: %s", j->path, anynpu_last_error());
	CHECK((j->executor = OH_NNExecutor_Construct(c)) != NULL, "OH_NNExecutor_Construct");
	OH_NNCompilation_Destroy(&c);
	j->in = number(OH_NNExecutor_CreateInputTensorDesc(j->executor, 0));
	j->out = number(OH_NNExecutor_CreateOutputTensorDesc(j->executor, 0));
	CHECK(OH_NNExecutor_SetOnRunDone(j->executor, ohnn_done) == OH_NN_SUCCESS, "OH_NNExecutor_SetOnRunDone");
	OH_NN_ReturnCode code = OH_NNExecutor_RunAsync(j->executor, &j->in, 1, &j->out, 1,
		j->way == DEADLINE ? AFTER : 1000 * LONGEST, j);
	CHECK(code == OH_NN_SUCCESS, "OH_NNExecutor_RunAsync: %d", (int)code);
	j->started = 1;
	stop(j);
	while (!j->ended)
		usleep(1000);
	CHECK(j->code != OH_NN_SUCCESS, "the run was not stopped");
	if (j->way != DESTROY)
		OH_NNExecutor_Destroy(&j->executor);
	OH_NNTensor_Destroy(&j->in);
	OH_NNTensor_Destroy(&j->out);
}

static void end_ohnn(struct job *j)
{
	OH_NNExecutor_Destroy(&j->executor);
	if (!j->ended)
		returned(j, OH_NN_FAILED);
}

/* NNAPI: the timeout of an execution. It has no way to end one under way. Its models are made by calls. */

static ANeuralNetworksModel *convolution(void)
{
	const uint32_t x[] = {1, 512, 512, 64}, w[] = {64, 5, 5, 64}, b[] = {64};
	const ANeuralNetworksOperandType types[] = {nn_tensor(4, x), nn_tensor(4, w), nn_tensor(1, b), nn_tensor(4, x)};
	ANeuralNetworksModel *m = NULL;
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i < 4; i++)
		OK(ANeuralNetworksModel_addOperand(m, &types[i]));
	nn_int(m, 4, ANEURALNETWORKS_PADDING_SAME);
	nn_int(m, 5, 1);
	nn_int(m, 6, 1);
	nn_int(m, 7, ANEURALNETWORKS_FUSED_NONE);
	const uint32_t in[] = {0, 1, 2, 4, 5, 6, 7}, given[] = {0, 1, 2}, out[] = {3};
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_CONV_2D, 7, in, 1, out));
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 3, given, 1, out));
	OK(ANeuralNetworksModel_finish(m));
	return m;
}

static void *nnapi_runs(void *arg)
{
	struct job *j = arg;
	const size_t n[] = {(size_t)512 * 512 * 64, (size_t)64 * 25 * 64, 64, (size_t)512 * 512 * 64};
	float *data[4];
	ANeuralNetworksExecution *e = NULL;
	OK(ANeuralNetworksExecution_create(j->compilation, &e));
	for (int i = 0; i < 4; i++) {
		CHECK((data[i] = calloc(n[i], sizeof **data)) != NULL, "no memory");
		if (i < 3)
			OK(ANeuralNetworksExecution_setInput(e, i, NULL, data[i], n[i] * sizeof **data));
		else
			OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, data[i], n[i] * sizeof **data));
	}
	if (j->way == DEADLINE)
		OK(ANeuralNetworksExecution_setTimeout(e, AFTER * UINT64_C(1000000)));
	j->started = 1;
	returned(j, ANeuralNetworksExecution_compute(e));
	ANeuralNetworksExecution_free(e);
	for (int i = 0; i < 4; i++)
		free(data[i]);
	return NULL;
}

static void by_nnapi(struct job *j, void (*stop)(struct job *))
{
	j->compilation = nn_compiled(convolution(), 1);
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, nnapi_runs, j) == 0, "no thread");
	stop(j);
	pthread_join(thread, NULL);
	CHECK(j->code != ANEURALNETWORKS_NO_ERROR, "the run was not stopped");
	CHECK(j->way != DEADLINE || j->code == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT ||
		j->code == ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT, "compute: %d", j->code);
	ANeuralNetworksCompilation_free(j->compilation);
}

struct api {
	const char *name;
	void (*run)(struct job *, void (*stop)(struct job *));
	void (*end)(struct job *);
	int ways;         /* bits */
	const char *made; /* the model, where calls make it instead of a file */
};

static const struct api apis[] = {
	{"RKNN", by_rknn, end_rknn, 1 << DESTROY | 1 << LIMIT, NULL},
	{"matmul", by_matmul, end_matmul, 1 << DESTROY | 1 << LIMIT, "INT8_MM_INT8_TO_INT32"},
	{"hbDNN", by_hbdnn, end_hbdnn, 1 << DESTROY | 1 << LIMIT, NULL},
	{"OH_NN", by_ohnn, end_ohnn, 1 << DESTROY | 1 << DEADLINE | 1 << LIMIT, NULL},
	{"NNAPI", by_nnapi, NULL, 1 << DEADLINE | 1 << LIMIT, "CONV_2D"},
};

static const struct api *api;
static double limit, stopped; /* ms of processor time when the run was to end */

/* Waits until the run is under way, lets it compute for a while, and ends it, or waits until its time is up. */
static void stop_run(struct job *j)
{
	while (!j->started)
		usleep(100);
	usleep(AFTER * 1000);
	stopped = used();
	CHECK(!j->ended || j->way != DESTROY, "%s: the run has ended by itself", j->path);
	if (j->way == DESTROY)
		api->end(j);
}

/* The processor time from when the run was to end until its call returned. */
static double try(const char *path, enum way way)
{
	struct job j = {.path = path, .way = way};
	api->run(&j, stop_run);
	return fmax(j.end - stopped, 0);
}

/* Tries in a process of its own. The limit of every run is read by the first call. */
static int one(const char *path, enum way way)
{
	fflush(stdout);
	pid_t child = fork();
	CHECK(child >= 0, "fork");
	if (child == 0) {
		char text[32];
		snprintf(text, sizeof text, "%g", AFTER / 1e3);
		if (way == LIMIT)
			setenv("ANYNPU_RUN_TIMEOUT", text, 1);
		alarm(LONGEST);
		host_begin();
		double best = 1e9;
		for (int i = 0; i < TRIES && best > limit; i++)
			best = fmin(best, try(path, way));
		printf("%-28s %-6s %-18s %7.1f ms%s\n", path, api->name, way_names[way], best, best > limit ? "  LATE" : "");
		exit(host_end() || best > limit);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child, "wait");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	printf("%s %s %s: %s %d\n", path, api->name, way_names[way], WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 1;
}

int main(int argc, char **argv)
{
	CHECK(argc > 2 && (limit = atof(argv[1])) > 0, "usage: stops MILLISECONDS FILE...");
	setenv("ANYNPU_THREADS", "2", 0);
	int failed = 0, rows = 0;
	for (size_t a = 0; a < sizeof apis / sizeof *apis; a++)
		for (int i = 2; i < argc; i++) {
			api = &apis[a];
			if (api->made && i > 2)
				break;
			for (enum way way = 0; way < WAYS; way++)
				if (api->ways >> way & 1) {
					rows++;
					failed += one(api->made ? api->made : argv[i], way);
				}
		}
	printf("stops: %d of %d rows ended within %g ms of processor time\n", rows - failed, rows, limit);
	return failed != 0;
}
