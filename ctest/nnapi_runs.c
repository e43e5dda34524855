/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every way to compute: at once, begun and waited for, in a burst, after fences and other computations; again with the
 * same bindings; with memory of the program, of a file and of a device; with open dimensions, outputs that are too
 * small, and padding. What the functions say afterwards: dimensions, durations.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "nnapi_host.h"

enum { N = 4 };

static void want(const float *y, const float *a, const float *b, size_t n, const char *about)
{
	for (size_t i = 0; i < n; i++)
		CHECK(y[i] == a[i] + b[i], "%s: element %zu: %g", about, i, (double)y[i]);
}

static const float a[N] = {1, 2, 3, 4}, b[N] = {10, 20, 30, 40};

/* One execution by every way, made reusable: the inputs change in place. */
static void ways(void)
{
	float x[N], y[N];
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(N), 1);
	ANeuralNetworksExecution *e = nn_execution(c);
	ANeuralNetworksEvent *ev = NULL, *after = NULL, *other = NULL;
	ANeuralNetworksBurst *burst = NULL;
	uint64_t hardware = 0, driver = 0;
	memcpy(x, a, sizeof x);
	OK(ANeuralNetworksBurst_create(c, &burst));
	ANeuralNetworksCompilation_free(c);
	OK(ANeuralNetworksExecution_setReusable(e, true));
	OK(ANeuralNetworksExecution_setMeasureTiming(e, true));
	OK(ANeuralNetworksExecution_setTimeout(e, UINT64_MAX));
	OK(ANeuralNetworksExecution_setLoopTimeout(e, UINT64_MAX));
	nn_bind(e, x, b, y, N);
	for (int round = 0; round < 20; round++) {
		x[0] = (float)round;
		memset(y, 0, sizeof y);
		switch (round % 4) {
		case 0:
			OK(ANeuralNetworksExecution_compute(e));
			break;
		case 1:
			OK(ANeuralNetworksExecution_startCompute(e, &ev));
			OK(ANeuralNetworksEvent_wait(ev));
			OK(ANeuralNetworksEvent_wait(ev));
			ANeuralNetworksEvent_free(ev);
			break;
		case 2:
			OK(ANeuralNetworksExecution_burstCompute(e, burst));
			break;
		default:
			OK(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 60000000000, &ev));
			ANeuralNetworksEvent_free(ev); /* which waits */
			break;
		}
		want(y, x, b, N, "reusable");
		OK(ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_ON_HARDWARE, &hardware));
		OK(ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER, &driver));
		CHECK(hardware <= driver, "durations %llu and %llu", (unsigned long long)hardware, (unsigned long long)driver);
	}
	/* Its input is the result of another, which waits for a fence. */
	int ends[2];
	CHECK(pipe(ends) == 0, "no pipe");
	float twice[N];
	ANeuralNetworksCompilation *second = nn_compiled(nn_sum(N), 0);
	ANeuralNetworksExecution *chained = nn_execution(second);
	nn_bind(chained, y, y, twice, N);
	OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &ev));
	const ANeuralNetworksEvent *fence = ev;
	memset(y, 0, sizeof y);
	OK(ANeuralNetworksExecution_startComputeWithDependencies(e, &fence, 1, 0, &after));
	const ANeuralNetworksEvent *both[2] = {after, fence};
	OK(ANeuralNetworksExecution_startComputeWithDependencies(chained, both, 2, 0, &other));
	CHECK(ANeuralNetworksExecution_compute(e) == ANEURALNETWORKS_BAD_STATE, "twice at once");
	CHECK(y[1] == 0, "it did not wait");
	CHECK(write(ends[1], "x", 1) == 1, "no signal");
	OK(ANeuralNetworksEvent_wait(other));
	OK(ANeuralNetworksEvent_wait(after));
	want(y, x, b, N, "fenced");
	want(twice, y, y, N, "chained");
	ANeuralNetworksEvent_free(ev);
	ANeuralNetworksEvent_free(after);
	ANeuralNetworksEvent_free(other);
	close(ends[0]);
	close(ends[1]);
	ANeuralNetworksExecution_free(chained);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksBurst_free(burst);
	ANeuralNetworksCompilation_free(second);
}

/* A dependency that fails, and one that does not come in time. */
static void failed_dependencies(void)
{
	int ends[2];
	float y[N];
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(N), 1);
	ANeuralNetworksExecution *e = nn_execution(c), *late = nn_execution(c), *then = nn_execution(c);
	ANeuralNetworksEvent *fence = NULL, *ev = NULL, *end = NULL;
	CHECK(pipe(ends) == 0, "no pipe");
	OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &fence));
	const ANeuralNetworksEvent *deps = fence;
	nn_bind(late, a, b, y, N);
	OK(ANeuralNetworksExecution_setTimeout(late, 20000000));
	OK(ANeuralNetworksExecution_startComputeWithDependencies(late, &deps, 1, 0, &ev));
	CHECK(ANeuralNetworksEvent_wait(ev) == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT, "a fence that does not come");
	ANeuralNetworksEvent_free(ev);
	nn_bind(e, a, b, y, N);
	OK(ANeuralNetworksExecution_startComputeWithDependencies(e, &deps, 1, 0, &ev));
	const ANeuralNetworksEvent *behind = ev;
	nn_bind(then, a, b, y, N);
	OK(ANeuralNetworksExecution_startComputeWithDependencies(then, &behind, 1, 0, &end));
	close(ends[1]);
	CHECK(ANeuralNetworksEvent_wait(ev) == ANEURALNETWORKS_OP_FAILED, "a fence that fails");
	CHECK(ANeuralNetworksEvent_wait(end) == ANEURALNETWORKS_OP_FAILED, "what waits for one that has failed");
	uint32_t rank = 9;
	CHECK(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank) == ANEURALNETWORKS_BAD_STATE && rank == 9, "a rank");
	ANeuralNetworksEvent_free(ev);
	ANeuralNetworksEvent_free(end);
	ANeuralNetworksEvent_free(fence);
	close(ends[0]);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksExecution_free(late);
	ANeuralNetworksExecution_free(then);
	ANeuralNetworksCompilation_free(c);
}

/* Dimensions that the execution decides: what fits is copied, what does not is told with its dimensions. */
static void sizes(void)
{
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(0), 0);
	for (uint32_t n = 1; n <= N; n++) {
		float y[N + 1] = {-1, -1, -1, -1, -1};
		uint32_t rank = 0, dims = 0;
		const ANeuralNetworksOperandType t = nn_tensor(1, &n);
		ANeuralNetworksExecution *e = nn_execution(c);
		OK(ANeuralNetworksExecution_setInput(e, 0, &t, a, n * sizeof *a));
		OK(ANeuralNetworksExecution_setInput(e, 1, &t, b, n * sizeof *b));
		OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, 2 * sizeof *y));
		int code = ANeuralNetworksExecution_compute(e);
		int told = ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank);
		CHECK(code == (n <= 2 ? 0 : ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) && told == code && rank == 1,
			"%u elements: code %d, then %d and rank %u", n, code, told, rank);
		CHECK(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &dims) == code && dims == n, "%u elements: %u", n,
			dims);
		if (n <= 2)
			want(y, a, b, n, "open dimensions");
		CHECK(y[n <= 2 ? n : 0] == -1 && y[2] == -1, "bytes behind the result were written");
		ANeuralNetworksExecution_free(e);
	}
	/* Inputs that contradict each other. */
	const uint32_t two[] = {2}, three[] = {3};
	float y[N];
	const ANeuralNetworksOperandType t2 = nn_tensor(1, two), t3 = nn_tensor(1, three);
	ANeuralNetworksExecution *e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInput(e, 0, &t2, a, 8));
	OK(ANeuralNetworksExecution_setInput(e, 1, &t3, b, 12));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, sizeof y));
	CHECK(ANeuralNetworksExecution_compute(e) == ANEURALNETWORKS_OP_FAILED, "2 + 3 elements");
	ANeuralNetworksExecution_free(e);
	/* A result that is not what the program has said. */
	e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInput(e, 0, &t2, a, 8));
	OK(ANeuralNetworksExecution_setInput(e, 1, &t2, b, 8));
	OK(ANeuralNetworksExecution_setOutput(e, 0, &t3, y, 12));
	CHECK(ANeuralNetworksExecution_compute(e) == ANEURALNETWORKS_OP_FAILED, "a result of another size");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
}

/* More memory than the operands take. */
static void padding(void)
{
	float x[N + 4], y[N + 4];
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(N), 0);
	ANeuralNetworksExecution *e = nn_execution(c);
	for (int i = 0; i < N + 4; i++)
		x[i] = i < N ? a[i] : -7, y[i] = -7;
	OK(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true));
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, sizeof x));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
	CHECK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, sizeof(float)) == ANEURALNETWORKS_BAD_DATA, "too little");
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, sizeof y));
	OK(ANeuralNetworksExecution_compute(e));
	want(y, a, b, N, "padding");
	CHECK(y[N] == -7, "the padding was written");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
}

/* Parts of a file at odd places, then memory of the device that goes from one execution to the next. */
static void memories(void)
{
	float back[N];
	int fd = memfd_create("runs", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, 8192) == 0 && pwrite(fd, a, sizeof a, 4100) == sizeof a, "no file");
	ANeuralNetworksMemory *file = NULL, *own = NULL, *copy = NULL, *result = NULL;
	ANeuralNetworksMemoryDesc *d = NULL;
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(N), 0);
	OK(ANeuralNetworksMemory_createFromFd(4000, PROT_READ | PROT_WRITE, fd, 4099, &file));
	OK(ANeuralNetworksMemory_createFromFd(sizeof a, PROT_READ | PROT_WRITE, fd, 0, &result));
	OK(ANeuralNetworksMemoryDesc_create(&d));
	OK(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 0, 1));
	OK(ANeuralNetworksMemoryDesc_addInputRole(d, c, 1, 1));
	OK(ANeuralNetworksMemoryDesc_finish(d));
	OK(ANeuralNetworksMemory_createFromDesc(d, &own));
	OK(ANeuralNetworksMemory_createFromDesc(d, &copy));
	ANeuralNetworksMemoryDesc_free(d);

	ANeuralNetworksExecution *e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, file, 1, sizeof a));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
	OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, own, 0, 0));
	OK(ANeuralNetworksExecution_compute(e));
	ANeuralNetworksExecution_free(e);
	OK(ANeuralNetworksMemory_copy(own, own));
	OK(ANeuralNetworksMemory_copy(own, copy));
	ANeuralNetworksMemory_free(own);
	e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
	OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, copy, 0, 0));
	OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, file, 101, sizeof a));
	OK(ANeuralNetworksExecution_compute(e));
	CHECK(pread(fd, back, sizeof back, 4200) == sizeof back, "the file");
	for (int i = 0; i < N; i++)
		CHECK(back[i] == a[i] + a[i] + b[i], "element %d: %g", i, (double)back[i]);
	ANeuralNetworksExecution_free(e);
	OK(ANeuralNetworksMemory_copy(copy, result));
	CHECK(pread(fd, back, sizeof back, 0) == sizeof back, "the file");
	want(back, a, b, N, "a copy of a device's memory");
	/* The file is cut under the memory. */
	e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, file, 1, sizeof a));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, back, sizeof back));
	CHECK(ftruncate(fd, 0) == 0, "the file is not cut");
	CHECK(ANeuralNetworksExecution_compute(e) == ANEURALNETWORKS_OP_FAILED, "a file that was cut");
	CHECK(ANeuralNetworksMemory_copy(result, copy) == ANEURALNETWORKS_UNMAPPABLE, "a copy of a file that was cut");
	CHECK(ANeuralNetworksMemory_copy(copy, copy) == 0, "a copy to itself");
	ANeuralNetworksExecution_free(e);
	e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
	OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, copy, 0, 0));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, back, sizeof back));
	CHECK(ANeuralNetworksExecution_compute(e) == ANEURALNETWORKS_OP_FAILED, "memory that a failed copy has left empty");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(copy);
	ANeuralNetworksMemory_free(result);
	ANeuralNetworksMemory_free(file);
	ANeuralNetworksCompilation_free(c);
	close(fd);
}

/* Constants: by copy, by pointer until the finish, and from a file that is gone afterwards. */
static void constants(void)
{
	for (int way = 0; way < 3; way++) {
		enum { M = 64 };
		static float x[M], y[M], k[M];
		const uint32_t n = way == 0 ? 32 : M, in[] = {0, 1, 3}, out[] = {2};
		const ANeuralNetworksOperandType t = nn_tensor(1, &n);
		ANeuralNetworksModel *m = NULL;
		ANeuralNetworksMemory *memory = NULL;
		for (uint32_t i = 0; i < M; i++)
			x[i] = (float)i, k[i] = 100 * (float)i;
		OK(ANeuralNetworksModel_create(&m));
		for (int i = 0; i < 3; i++)
			OK(ANeuralNetworksModel_addOperand(m, &t));
		nn_int(m, 3, 0);
		if (way < 2) {
			OK(ANeuralNetworksModel_setOperandValue(m, 1, k, n * sizeof *k));
			if (way == 0)
				memset(k, 0xff, sizeof k);
		} else {
			int fd = memfd_create("constants", MFD_CLOEXEC);
			CHECK(fd >= 0 && write(fd, k, sizeof k) == sizeof k, "no file");
			OK(ANeuralNetworksMemory_createFromFd(sizeof k, PROT_READ, fd, 0, &memory));
			OK(ANeuralNetworksModel_setOperandValueFromMemory(m, 1, memory, 0, sizeof k));
			ANeuralNetworksMemory_free(memory);
			close(fd);
		}
		OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, out));
		OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in, 1, out));
		OK(ANeuralNetworksModel_finish(m));
		memset(k, 0xff, sizeof k);
		ANeuralNetworksCompilation *c = nn_compiled(m, 0);
		ANeuralNetworksExecution *e = nn_execution(c);
		OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, n * sizeof *x));
		OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, n * sizeof *y));
		OK(ANeuralNetworksExecution_compute(e));
		for (uint32_t i = 0; i < n; i++)
			CHECK(y[i] == 101 * (float)i, "way %d, element %u: %g", way, i, (double)y[i]);
		ANeuralNetworksExecution_free(e);
		ANeuralNetworksCompilation_free(c);
	}
}

/* Everything is freed in the wrong order, and executions while they run. */
static void freed(void)
{
	static float big[3][1 << 16];
	ANeuralNetworksModel *m = nn_sum(1 << 16);
	ANeuralNetworksCompilation *c = NULL;
	OK(ANeuralNetworksCompilation_create(m, &c));
	ANeuralNetworksModel_free(m);
	OK(ANeuralNetworksCompilation_finish(c));
	for (int i = 0; i < 100; i++) {
		ANeuralNetworksEvent *ev = NULL;
		ANeuralNetworksExecution *e = nn_execution(c);
		nn_bind(e, big[0], big[1], big[2], 1 << 16);
		OK(ANeuralNetworksExecution_startCompute(e, &ev));
		ANeuralNetworksExecution_free(e);
		if (i % 2)
			OK(ANeuralNetworksEvent_wait(ev));
		ANeuralNetworksEvent_free(ev);
	}
	ANeuralNetworksExecution *left = nn_execution(c);
	nn_bind(left, big[0], big[1], big[2], 1 << 16);
	ANeuralNetworksCompilation_free(c);
	OK(ANeuralNetworksExecution_compute(left));
	ANeuralNetworksExecution_free(left);
}

/* Any byte but 0 is true, in inputs and in constants, which stay as they are; results are 0 and 1. */
static void booleans(void)
{
	enum { COUNT = 4 };
	static const struct {
		int32_t op;
		uint8_t want[COUNT];
	} cases[] = {
		{ANEURALNETWORKS_LOGICAL_NOT, {1, 0, 0, 0}},
		{ANEURALNETWORKS_LOGICAL_AND, {0, 1, 1, 0}},
		{ANEURALNETWORKS_EQUAL, {1, 1, 1, 0}},
		{ANEURALNETWORKS_NOT_EQUAL, {0, 0, 0, 1}},
	};
	static const uint8_t x[COUNT] = {0, 1, 2, 255}, z[COUNT] = {0, 128, 1, 0};
	const uint32_t n[] = {COUNT}, in[] = {0, 1}, out[] = {2};
	ANeuralNetworksOperandType t = nn_tensor(1, n);
	t.type = ANEURALNETWORKS_TENSOR_BOOL8;
	for (size_t way = 0; way < 2 * sizeof cases / sizeof cases[0]; way++) {
		const size_t k = way / 2;
		const int fixed = k && way % 2;
		uint8_t y[COUNT] = {9, 9, 9, 9};
		uint32_t inputs = k ? 2 : 1;
		ANeuralNetworksModel *m = NULL;
		OK(ANeuralNetworksModel_create(&m));
		for (int i = 0; i < 3; i++)
			OK(ANeuralNetworksModel_addOperand(m, &t));
		if (!k || fixed)
			OK(ANeuralNetworksModel_setOperandValue(m, 1, k ? z : NULL, k ? sizeof z : 0));
		OK(ANeuralNetworksModel_addOperation(m, cases[k].op, inputs, in, 1, out));
		OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, inputs - (uint32_t)fixed, in, 1, out));
		OK(ANeuralNetworksModel_finish(m));
		ANeuralNetworksCompilation *c = nn_compiled(m, 0);
		ANeuralNetworksExecution *e = nn_execution(c);
		OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, sizeof x));
		if (k && !fixed)
			OK(ANeuralNetworksExecution_setInput(e, 1, NULL, z, sizeof z));
		OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, sizeof y));
		OK(ANeuralNetworksExecution_compute(e));
		for (int i = 0; i < COUNT; i++)
			CHECK(y[i] == cases[k].want[i], "operation %d of %d and %d: %d", cases[k].op, x[i], z[i], y[i]);
		ANeuralNetworksExecution_free(e);
		ANeuralNetworksCompilation_free(c);
	}
}

int main(void)
{
	host_begin();
	ways();
	failed_dependencies();
	sizes();
	padding();
	memories();
	constants();
	booleans();
	freed();
	return host_end();
}
