/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for hbDNN, with UCP one of the newer generation, linked with the vendor's names, where a manifest names the
 * driver that bpu.h describes.
 *
 *     passing_hbdnn MODE DRIVER FOLDER ONNX IMAGE...
 *
 * FOLDER has compiled models: digits.bin, copy.bin (bytes, [1,1,8,16]) and sum.bin (float32, [1,10]).
 *
 * both       one pack of each kind of model: the same digits, and each says who computed
 * memory     results go from one to the other, without a flush of the program's between them
 * callbacks  callbacks of either's tasks submit, wait for and release tasks of both
 * hammer     16 threads call the driver's models while another loads the first ONNX model: none is misrouted
 * forks      children that are forked before the first call, with the driver alone, and beside an ONNX model
 * opened     the program has opened the driver's file itself, and its packs come to the library too
 * lacks      the driver has no hbDNNGetEstimateLatency, hbSysWriteMem, hbDNNResize and helpers; of UCP no
 *            hbDNNGetCompileBpuCoreNum, hbUCPMalloc and texts
 * older SIZE the driver's headers have properties of SIZE bytes, and so have the library's own models
 * none       nothing is the driver's
 */
#include <anynpu.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../examples/digits/files.h"
#include "hb_calls.h"
#include "host_end.h"

#define BPU "fake-bpu"
#define THREADS 16

static int rounds = 20000;
static const char *driver, *folder, *onnx;
static char **images;

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, anynpu_last_error()); \
			exit(1); \
		} \
	} while (0)

/* A pack with one model. */
struct loaded {
	pack_handle pack;
	hbDNNHandle_t model;
};

static struct loaded load(const char *file)
{
	struct loaded l;
	char const **names;
	int32_t count;
	CHECK(hbDNNInitializeFromFiles(&l.pack, &file, 1) == 0);
	CHECK(hbDNNGetModelNameList(&names, &count, l.pack) == 0 && count == 1);
	CHECK(hbDNNGetModelHandle(&l.model, l.pack, names[0]) == 0);
	return l;
}

static struct loaded compiled(const char *name)
{
	char file[4096];
	snprintf(file, sizeof file, "%s/%s.bin", folder, name);
	return load(file);
}

static void unload(struct loaded *l) { CHECK(hbDNNRelease(l->pack) == 0); }

/* Who computes for a model: 1 the driver, 0 the library, -1 neither says so. */
static int by_driver(hbDNNHandle_t model)
{
	const char *text = text_of(model);
	return text ? strcmp(text, BPU) == 0 : -1;
}

/* Tensor i of a model with memory of its own. */
static hbDNNTensor tensor(hbDNNHandle_t model, int input, int i)
{
	hbDNNTensor t;
	memset(&t, 0, sizeof t);
	CHECK((input ? hbDNNGetInputTensorProperties : hbDNNGetOutputTensorProperties)(&t.properties, model, i) == 0);
	CHECK(allocate(&MEMORY(&t), place(&t.properties)) == 0);
	return t;
}

static void drop(hbDNNTensor *t) { CHECK(release_memory(&MEMORY(t)) == 0); }

static task_handle submit(hbDNNHandle_t model, const hbDNNTensor *in, hbDNNTensor *out)
{
	task_handle task = NULL;
	CHECK(begin(&task, out, in, model, NULL, NULL) == 0);
	return task;
}

static void run(hbDNNHandle_t model, const hbDNNTensor *in, hbDNNTensor *out)
{
	task_handle task = submit(model, in, out);
	CHECK(wait_for(task) == 0 && release_task(task) == 0);
}

static void draw(const char *image, hbDNNTensor *t)
{
	float pixels[DIGITS_PIXELS];
	int pitch = PITCH(t);
	CHECK(digits_read_image(image, pixels));
	for (int i = 0; i < DIGITS_PIXELS; i++)
		((uint8_t *)MEMORY(t).virAddr)[i / DIGITS_SIDE * pitch + i % DIGITS_SIDE] = (uint8_t)(pixels[i] * 16 + 0.5f);
	CHECK(flush(&MEMORY(t), HB_SYS_MEM_CACHE_CLEAN) == 0);
}

static void recognize(hbDNNHandle_t model, const char *image, float to[10])
{
	hbDNNTensor in = tensor(model, 1, 0), out = tensor(model, 0, 0);
	draw(image, &in);
	run(model, &in, &out);
	CHECK(flush(&MEMORY(&out), HB_SYS_MEM_CACHE_INVALIDATE) == 0);
	memcpy(to, MEMORY(&out).virAddr, 10 * sizeof *to);
	drop(&in);
	drop(&out);
}

static void both(void)
{
	struct loaded npu = compiled("digits"), ours;
	CHECK(by_driver(npu.model) == 1);
	memory early;
	CHECK(allocate(&early, 100) == 0);
	ours = load(onnx);
	CHECK(by_driver(ours.model) == 0 && by_driver(npu.model) == 1);
	int right = 0, count = 0;
	double most = 0;
	for (; images[count]; count++) {
		float a[10], b[10];
		recognize(npu.model, images[count], a);
		recognize(ours.model, images[count], b);
		for (int i = 0; i < 10; i++)
			most = fmax(most, fabs((double)a[i] - b[i]));
		right += digits_best(a) == digits_label(images[count]) && digits_best(b) == digits_label(images[count]);
	}
	CHECK(release_memory(&early) == 0);
	/* A model that the driver refuses: its word is the last. */
	const void *bytes = "FAKEBPU no model of anybody's";
	int32_t size = 29;
	pack_handle none;
	CHECK(hbDNNInitializeFromDDR(&none, &bytes, &size, 1) == HB_DNN_INVALID_MODEL && none == NULL);
	CHECK(strstr(anynpu_last_error(), "hbDNNInitializeFromDDR: this is the answer of the driver "));
	/* The members of a task have one owner. */
	task_handle task = NULL;
	struct loaded *kinds[] = {&npu, &ours};
	for (int i = 0; i < 2; i++) {
		hbDNNTensor in = tensor(kinds[i]->model, 1, 0), out = tensor(kinds[i]->model, 0, 0);
		CHECK(add_member(&task, &out, &in, kinds[i]->model) == 0);
		task_handle open = task;
		CHECK(add_member(&task, &out, &in, kinds[!i]->model) == (
			i ? HB_DNN_INVALID_DNN_HANDLE : HB_DNN_INVALID_TASK_HANDLE));
		CHECK(task == open && release_task(task) == 0);
		task = NULL;
		drop(&in);
		drop(&out);
	}
	unload(&npu);
	unload(&ours);
	CHECK(most < 1e-5);
	printf("passing: driver and library recognize %d of %d, at most %.0e apart\n", right, count, most);
}

/* Image -> the driver's copy -> the library's digits -> the driver's sum with zeros. */
static void shared(void)
{
	struct loaded copy = compiled("copy"), sum = compiled("sum"), ours = load(onnx);
	hbDNNTensor from = tensor(copy.model, 1, 0), zero = tensor(copy.model, 1, 1), bytes = tensor(copy.model, 0, 0);
	hbDNNTensor image = tensor(ours.model, 1, 0), probabilities = tensor(ours.model, 0, 0);
	hbDNNTensor none = tensor(sum.model, 1, 1), result = tensor(sum.model, 0, 0);
	int right = 0, count = 0;
	memory own = MEMORY(&image);
	MEMORY(&image) = MEMORY(&bytes);
	for (; images[count]; count++) {
		float direct[10], got[10];
		draw(images[count], &from);
		run(copy.model, (hbDNNTensor[]){from, zero}, &bytes);
		run(ours.model, &image, &probabilities);
		run(sum.model, (hbDNNTensor[]){probabilities, none}, &result);
		CHECK(flush(&MEMORY(&result), HB_SYS_MEM_CACHE_INVALIDATE) == 0);
		memcpy(got, MEMORY(&result).virAddr, sizeof got);
		recognize(ours.model, images[count], direct);
		CHECK(memcmp(direct, got, sizeof got) == 0);
		right += digits_best(got) == digits_label(images[count]);
	}
	MEMORY(&image) = own;
	/* Memory of the program's own, which the driver does not know. */
	float bare[10];
	hbDNNTensor mine = probabilities;
	MEMORY(&mine) = (memory){.virAddr = bare, .memSize = sizeof bare};
	draw(images[0], &image);
	run(ours.model, &image, &mine);
	CHECK(digits_best(bare) == digits_label(images[0]));
	hbDNNTensor *all[] = {&from, &zero, &bytes, &image, &probabilities, &none, &result};
	for (int i = 0; i < 7; i++)
		drop(all[i]);
	unload(&copy);
	unload(&sum);
	unload(&ours);
	printf("passing: results from one to the other: %d of %d right\n", right, count);
	CHECK(right * 100 >= count * 97);
}

static struct loaded models[2];
static atomic_int fired;

static void inner_done(task_handle task, int32_t status, void *user)
{
	CHECK(status == 0 && release_task(task) == 0);
	atomic_fetch_add((atomic_int *)user, 1);
}

static void done(task_handle task, int32_t status, void *user)
{
	float got[10];
	CHECK(status == 0 && task == *(task_handle *)user);
	for (int i = 0; i < 2; i++) {
		recognize(models[i].model, images[0], got);
		CHECK(digits_best(got) == digits_label(images[0]) && by_driver(models[i].model) == !i);
	}
	struct loaded more = load(onnx); /* creating calls of a callback are the program's */
	CHECK(by_driver(more.model) == 0);
	unload(&more);
	atomic_fetch_add(&fired, 1);
}

static void callbacks(void)
{
	static task_handle task;
	models[0] = compiled("digits");
	models[1] = load(onnx);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 10; k++) {
			hbDNNTensor in = tensor(models[i].model, 1, 0), out = tensor(models[i].model, 0, 0);
			draw(images[0], &in);
			atomic_int inner = 0;
			int before = atomic_load(&fired);
			task = NULL;
			CHECK(begin(&task, &out, &in, models[i].model, done, &task) == 0);
			CHECK(wait_for(task) == 0);
			while (atomic_load(&fired) == before)
				usleep(100);
			CHECK(release_task(task) == 0);
			task_handle inside = NULL;
			CHECK(begin(&inside, &out, &in, models[i].model, inner_done, &inner) == 0);
			while (atomic_load(&inner) == 0)
				usleep(100);
			drop(&in);
			drop(&out);
		}
	printf("passing: %d callbacks\n", atomic_load(&fired));
	unload(&models[0]);
	unload(&models[1]);
}

static atomic_int loaded, ended;
static atomic_long misrouted, calls;

static void count(int good)
{
	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
	if (!good)
		atomic_fetch_add(&misrouted, 1);
}

static void *hammer(void *arg)
{
	struct loaded *npu = arg;
	hbDNNTensor in = tensor(npu->model, 1, 0), out = tensor(npu->model, 0, 0);
	draw(images[0], &in);
	for (int i = 0; i < rounds; i += 5) {
		if (i == rounds / 10 * 5) /* no thread is done before the model is there */
			while (!atomic_load(&loaded))
				if (by_driver(npu->model) != 1)
					atomic_fetch_add(&misrouted, 1);
		int32_t n = 0;
		count(by_driver(npu->model) == 1);
		count(hbDNNGetOutputCount(&n, npu->model) == 0 && n == 1);
		memory m = {0};
		count(allocate(&m, 64) == 0 && m.phyAddr != (uintptr_t)m.virAddr); /* the library's are the same */
		count(release_memory(&m) == 0);
		if (i % 1000 == 0) {
			task_handle task = submit(npu->model, &in, &out);
			count(wait_for(task) == 0 && release_task(task) == 0);
		} else
			count(wait_for(npu->model) == HB_DNN_INVALID_TASK_HANDLE); /* the driver knows it as no task */
	}
	drop(&in);
	drop(&out);
	atomic_fetch_add(&ended, 1);
	return NULL;
}

static void *first_model(void *arg)
{
	(void)arg;
	while (atomic_load(&calls) < THREADS * (long)rounds / 4)
		usleep(100);
	struct loaded ours = load(onnx);
	atomic_store(&loaded, 1);
	while (atomic_load(&ended) < THREADS) {
		float got[10];
		recognize(ours.model, images[0], got);
		if (by_driver(ours.model) != 0 || digits_best(got) != digits_label(images[0]))
			atomic_fetch_add(&misrouted, 1);
	}
	unload(&ours);
	return NULL;
}

static void hammered(void)
{
	pthread_t threads[THREADS + 1];
	struct loaded npu[THREADS];
	for (int i = 0; i < THREADS; i++) {
		npu[i] = compiled("digits");
		CHECK(pthread_create(&threads[i], NULL, hammer, &npu[i]) == 0);
	}
	CHECK(pthread_create(&threads[THREADS], NULL, first_model, NULL) == 0);
	for (int i = 0; i <= THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		unload(&npu[i]);
	printf("passing: misrouted %ld of %ld\n", atomic_load(&misrouted), atomic_load(&calls));
	CHECK(atomic_load(&misrouted) == 0);
}

/* Packs that the program has from the driver's own functions are the driver's for the library as well. */
static void opened(void)
{
	void *file = dlopen(driver, RTLD_NOW | RTLD_LOCAL), *symbol = file ? dlvsym(file, "hbDNNInitializeFromFiles",
		"CONFIG") : NULL;
	int32_t (*initialize)(pack_handle *, char const **, int32_t);
	char name[4096];
	const char *at = name;
	pack_handle theirs;
	hbDNNHandle_t model;
	CHECK(symbol);
	memcpy(&initialize, &symbol, sizeof initialize);
	struct loaded ours = load(onnx);
	snprintf(name, sizeof name, "%s/digits.bin", folder);
	CHECK(initialize(&theirs, &at, 1) == 0);
	CHECK(hbDNNGetModelHandle(&model, theirs, "digits") == 0 && by_driver(model) == 1 && by_driver(ours.model) == 0);
	CHECK(hbDNNRelease(theirs) == 0);
	unload(&ours);
}

static int names(const char *function)
{
	return strstr(anynpu_last_error(), driver) && strstr(anynpu_last_error(), function);
}

#ifdef UCP
static void lacks(void)
{
	struct loaded npu = compiled("digits"), ours = npu;
	for (int mixed = 0; mixed < 2; mixed++) {
		int32_t cores = 0;
		memory m;
		if (mixed)
			ours = load(onnx);
		CHECK(hbDNNGetCompileBpuCoreNum(&cores, npu.model) == HB_DNN_API_USE_ERROR);
		CHECK(names("has no function hbDNNGetCompileBpuCoreNum"));
		CHECK(hbUCPMalloc(&m, 4, 0) == HB_UCP_API_USE_ERROR && names("has no function hbUCPMalloc"));
		CHECK(by_driver(npu.model) == 1 && (!mixed || (hbDNNGetCompileBpuCoreNum(&cores, ours.model) == 0 && cores == 1)));
	}
	/* Texts are the library's. */
	CHECK(strcmp(hbUCPGetErrorDesc(HB_UCP_TASK_TIMEOUT), "timeout") == 0);
	CHECK(strcmp(hbDNNGetErrorDesc(HB_DNN_TIMEOUT), "timeout") == 0 && strstr(hbUCPGetSocName(), "AnyNPU"));
	unload(&npu);
	unload(&ours);
}
#else
static void lacks(void)
{
	struct loaded npu = compiled("digits"), ours = npu;
	for (int mixed = 0; mixed < 2; mixed++) {
		int32_t time = 0;
		memory m;
		if (mixed)
			ours = load(onnx);
		CHECK(hbDNNGetEstimateLatency(&time, npu.model) == HB_DNN_API_USE_ERROR);
		CHECK(names("has no function hbDNNGetEstimateLatency"));
		CHECK(hbSysAllocMem(&m, 4) == 0 && hbSysWriteMem(&m, (char[]){1, 2, 3, 4}, 4) == HB_SYS_INVALID_ARGUMENT);
		CHECK(names("has no function hbSysWriteMem") && hbSysFreeMem(&m) == 0);
		CHECK(by_driver(npu.model) == 1 && (!mixed || hbDNNGetEstimateLatency(&time, ours.model) == 0));
	}
	/* What only computes is the library's. */
	char bytes[] = {1, 2, 3, 4}, turned[4];
	CHECK(strcmp(hbDNNGetErrorDesc(HB_DNN_TIMEOUT), "timeout") == 0);
	CHECK(hbDNNConvertEndianness(turned, bytes, 4) == 0 && turned[0] == 4);
	/* So is hbDNNResize, on the driver's memory. */
	hbDNNTensor image = tensor(npu.model, 1, 0), half = image;
	hbDNNResizeCtrlParam control;
	task_handle task = NULL;
	HB_DNN_INITIALIZE_RESIZE_CTRL_PARAM(&control);
	half.properties.validShape.dimensionSize[2] = half.properties.validShape.dimensionSize[3] = 4;
	half.properties.alignedShape = half.properties.validShape;
	CHECK(hbSysAllocCachedMem(&half.sysMem[0], 16) == 0);
	memset(image.sysMem[0].virAddr, 7, 128);
	CHECK(hbSysFlushMem(&image.sysMem[0], HB_SYS_MEM_CACHE_CLEAN) == 0);
	CHECK(hbDNNResize(&task, &half, &image, NULL, &control) == 0 && hbDNNWaitTaskDone(task, 0) == 0 &&
		hbDNNReleaseTask(task) == 0);
	CHECK(hbSysFlushMem(&half.sysMem[0], HB_SYS_MEM_CACHE_INVALIDATE) == 0 && ((char *)half.sysMem[0].virAddr)[15] == 7);
	drop(&image);
	drop(&half);
	unload(&npu);
	unload(&ours);
}

/* The properties of both kinds of models have the driver's size. */
static void older(size_t size)
{
	struct loaded kinds[] = {compiled("digits"), load(onnx)};
	for (int i = 0; i < 2; i++) {
		unsigned char bytes[200];
		int32_t total;
		memset(bytes, 0xa5, sizeof bytes);
		CHECK(hbDNNGetInputTensorProperties((hbDNNTensorProperties *)bytes, kinds[i].model, 0) == 0);
		memcpy(&total, bytes + (size == 136 ? 132 : 136), sizeof total);
		CHECK(total == 128);
		for (size_t k = size; k < sizeof bytes; k++)
			CHECK(bytes[k] == 0xa5);
		unload(&kinds[i]);
	}
	printf("passing: properties of %zu bytes\n", size);
}
#endif

/* A child that was forked after the first call has the driver's functions, and no others. */
static void in_child(hbDNNHandle_t npu, hbDNNHandle_t ours)
{
	int status;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		pack_handle more = NULL;
		int32_t n;
		alarm(60);
		int good = by_driver(npu) == 1;
		good &= hbDNNInitializeFromFiles(&more, &onnx, 1) == HB_DNN_API_USE_ERROR;
		good &= !ours || hbDNNGetInputCount(&n, ours) == HB_DNN_API_USE_ERROR;
		_exit(good ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void forks(void)
{
	int status;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) { /* before the first call: as a program of its own */
		both();
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	struct loaded npu = compiled("digits"), ours;
	in_child(npu.model, NULL);
	ours = load(onnx);
	in_child(npu.model, ours.model);
	CHECK(by_driver(npu.model) == 1 && by_driver(ours.model) == 0);
	unload(&npu);
	unload(&ours);
}

static void none(void)
{
	char name[4096];
	const char *at = name;
	pack_handle pack;
	snprintf(name, sizeof name, "%s/digits.bin", folder);
#ifdef UCP
	CHECK(hbDNNInitializeFromFiles(&pack, &at, 1) == HB_DNN_INCOMPATIBLE_MODEL);
#else
	CHECK(hbDNNInitializeFromFiles(&pack, &at, 1) == HB_DNN_INVALID_MODEL);
#endif
	struct loaded ours = load(onnx);
	CHECK(by_driver(ours.model) == 0);
	unload(&ours);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"both", both}, {"memory", shared}, {"callbacks", callbacks}, {"hammer", hammered}, {"opened", opened},
		{"forks", forks}, {"lacks", lacks}, {"none", none}};
	if (argc < 5)
		return puts("usage: passing_hbdnn MODE DRIVER FOLDER ONNX IMAGE..."), 2;
	host_keeps = argv[2];
	driver = argv[2], folder = argv[3], onnx = argv[4], images = argv + 5;
	if (getenv("ROUNDS"))
		rounds = atoi(getenv("ROUNDS"));
	host_begin();
#ifndef UCP
	if (strncmp(argv[1], "older", 5) == 0)
		older((size_t)atoi(argv[1] + 5));
#endif
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			modes[i].run();
	return host_end();
}
