/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     hbdnn_tasks [TASKS]
 *
 * Tasks of hbDNN: with one place to compute they go by priority, then by customId, then as they came, those of priority
 * 255 at once; 16 threads then submit TASKS tasks each (1000), alone, in groups, waiting with and without a timeout,
 * releasing what waits or runs, and from callbacks that submit, release and free. Nothing is left behind.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "hbdnn_model.h"

enum { THREADS = 16, LARGE = 1 << 20, SMALL = 64, MEMBERS = 255 };

static hbDNNHandle_t models[2]; /* of SMALL and of LARGE elements */

/* A task that keeps the one place for some hundred milliseconds. */
static hbDNNTaskHandle_t busy_task(struct tensors *t)
{
	hbDNNTaskHandle_t task = NULL;
	for (int i = 0; i < MEMBERS; i++)
		OK(infer(&task, t, models[1], 100, 0, i < MEMBERS - 1));
	return task;
}

/* The tasks of order(), those that go first before the others, and how many of them a callback found wrong. */
struct ordered {
	int32_t priority;
	int64_t custom;
	hbDNNTaskHandle_t task;
	struct tensors t;
};
static struct ordered ordered[] = {{.priority = 9, .custom = -4}, {.priority = 9, .custom = 7},
	{.priority = 9, .custom = 7}, {.priority = 8, .custom = -1000}, {.priority = 1, .custom = INT64_MAX},
	{.priority = 0, .custom = INT64_MIN}, {.priority = 0}};
enum { ORDERED = sizeof ordered / sizeof *ordered };
static atomic_int early, called;

/* When a task is done, those before it are. */
static void check_order(hbDNNTaskHandle_t task, int32_t status, void *userdata)
{
	struct ordered *own = userdata;
	if (status != HB_DNN_SUCCESS || task != own->task)
		early += 1000;
	for (struct ordered *o = ordered; o < own; o++)
		if (hbDNNWaitTaskDone(o->task, 1) != HB_DNN_SUCCESS)
			early++;
	called++;
}

/* Queues the tasks in another order than theirs. 0 if the place was free before all of them waited: nothing was shown. */
static int order(void)
{
	static const int submitted[ORDERED] = {6, 1, 4, 2, 0, 5, 3}; /* of equals, 1 before 2 */
	struct tensors large, urgent;
	tensors_make(&large, models[1]);
	tensors_make(&urgent, models[0]);
	hbDNNTaskHandle_t busy = busy_task(&large), first = NULL;
	early = called = 0;
	for (int i = 0; i < ORDERED; i++) {
		struct ordered *o = &ordered[submitted[i]];
		o->task = NULL;
		tensors_make(&o->t, models[0]);
		OK(infer(&o->task, &o->t, models[0], o->priority, o->custom, 0));
	}
	for (int i = 0; i < ORDERED; i++)
		OK(hbDNNSetTaskDoneCb(ordered[i].task, check_order, &ordered[i]));
	int32_t estimate = -1;
	OK(hbDNNGetTaskEstimateTime(&estimate, busy));
	CHECK(estimate >= 0, "estimate %d", estimate);
	OK(infer(&first, &urgent, models[0], 255, 0, 0));
	OK(hbDNNWaitTaskDone(first, 0));
	int shown = hbDNNWaitTaskDone(busy, 1) == HB_DNN_TIMEOUT;
	for (int i = 0; i < ORDERED; i++) {
		OK(hbDNNWaitTaskDone(ordered[i].task, 0));
		CHECK(!shown || hbDNNWaitTaskDone(busy, 1) == HB_DNN_SUCCESS, "a task went before one of priority 100");
	}
	while (called < ORDERED)
		sched_yield();
	CHECK(early == 0, "%d tasks were done too early", (int)early);
	for (int i = 0; i < ORDERED; i++) {
		OK(hbDNNReleaseTask(ordered[i].task));
		tensors_free(&ordered[i].t);
	}
	OK(hbDNNReleaseTask(first));
	OK(hbDNNReleaseTask(busy));
	tensors_free(&large);
	tensors_free(&urgent);
	return shown;
}

/* A task that runs stops when it is released: its pack can be released long before it would have been done. */
static void stop(hbPackedDNNHandle_t pack)
{
	struct tensors large;
	hbDNNTaskHandle_t waits = NULL;
	tensors_make(&large, models[1]);
	hbDNNTaskHandle_t busy = busy_task(&large);
	OK(infer(&waits, &large, models[1], 0, 0, 0));
	CHECK(hbDNNWaitTaskDone(waits, 1) == HB_DNN_TIMEOUT, "a task went before one that was there");
	CHECK(hbDNNRelease(pack) == HB_DNN_MODEL_IS_RUNNING, "a pack was released under a task");
	OK(hbDNNReleaseTask(waits));
	OK(hbDNNReleaseTask(busy));
	CHECK(hbDNNReleaseTask(busy) == HB_DNN_INVALID_TASK_HANDLE, "released twice");
	tensors_free(&large);
}

/* What the callbacks of the threads share with them. */
static atomic_int callbacks;

struct alone {
	struct tensors t;
	float seed;
};

static int32_t submit(hbDNNTaskHandle_t *task, struct tensors *t, int32_t priority, int32_t more)
{
	int32_t code;
	while ((code = infer(task, t, models[0], priority, 0, more)) == HB_DNN_TASK_NUM_EXCEED_LIMIT)
		sched_yield();
	return code;
}

static struct alone *alone_make(float seed)
{
	struct alone *a = malloc(sizeof *a);
	CHECK(a, "no memory");
	tensors_make(&a->t, models[0]);
	for (int i = 0; i < SMALL; i++)
		input_of(&a->t)[i] = (float)(i - SMALL / 2) * seed;
	a->seed = seed;
	return a;
}

static void alone_check(struct alone *a)
{
	for (int i = 0; i < SMALL; i++) {
		float x = (float)(i - SMALL / 2) * a->seed;
		CHECK(output_of(&a->t)[i] == (x > 0 ? x : 0), "element %d of seed %g is %g", i, (double)a->seed,
			(double)output_of(&a->t)[i]);
	}
}

static void alone_free(struct alone *a)
{
	tensors_free(&a->t);
	free(a);
}

/* Releases its own task and frees its memory. */
static void release_in_callback(hbDNNTaskHandle_t task, int32_t status, void *userdata)
{
	OK(status);
	OK(hbDNNWaitTaskDone(task, 0));
	alone_check(userdata);
	OK(hbDNNReleaseTask(task));
	alone_free(userdata);
	callbacks++;
}

/* Submits another task, waits for it, and releases both. */
static void submit_in_callback(hbDNNTaskHandle_t task, int32_t status, void *userdata)
{
	hbDNNTaskHandle_t next = NULL;
	struct alone *a = alone_make(3);
	OK(status);
	alone_check(userdata);
	OK(hbDNNReleaseTask(task));
	OK(submit(&next, &a->t, 1, 0));
	OK(hbDNNWaitTaskDone(next, 0));
	alone_check(a);
	OK(hbDNNReleaseTask(next));
	alone_free(a);
	alone_free(userdata);
	callbacks++;
}

static int tasks = 1000;

static void *work(void *number)
{
	unsigned state = (unsigned)(uintptr_t)number * 2654435761u + 1;
	int called_back = 0;
	for (int i = 0; i < tasks; i++) {
		hbDNNTaskHandle_t task = NULL;
		state = state * 1664525u + 1013904223u;
		int kind = (int)(state >> 16) % 6, priority = (int)(state >> 8) % 256;
		struct alone *a = alone_make((float)(state >> 28) + 1), *more[3];
		switch (kind) {
		case 0:
			OK(submit(&task, &a->t, priority, 0));
			OK(hbDNNWaitTaskDone(task, 0));
			alone_check(a);
			break;
		case 1: /* a group */
			OK(submit(&task, &a->t, priority, 1));
			for (int k = 0; k < 3; k++) {
				more[k] = alone_make((float)k + 2);
				OK(infer(&task, &more[k]->t, models[0], priority, 0, k < 2));
			}
			OK(hbDNNWaitTaskDone(task, 0));
			alone_check(a);
			for (int k = 0; k < 3; k++) {
				alone_check(more[k]);
				alone_free(more[k]);
			}
			break;
		case 2: { /* a timeout leaves the task as it is */
			OK(submit(&task, &a->t, priority, 0));
			int32_t code = hbDNNWaitTaskDone(task, 1);
			CHECK(code == HB_DNN_SUCCESS || code == HB_DNN_TIMEOUT, "wait gives %d", code);
			OK(hbDNNWaitTaskDone(task, -1));
			alone_check(a);
			break;
		}
		case 3: /* released at once, and its memory freed under it */
			OK(submit(&task, &a->t, priority, i % 2));
			break;
		default:
			called_back++;
			OK(submit(&task, &a->t, priority, 0));
			OK(hbDNNSetTaskDoneCb(task, kind == 4 ? release_in_callback : submit_in_callback, a));
			continue;
		}
		OK(hbDNNReleaseTask(task));
		alone_free(a);
	}
	return (void *)(uintptr_t)called_back;
}

int main(int argc, char **argv)
{
	static const int64_t sizes[] = {SMALL, LARGE};
	pthread_t threads[THREADS];
	int expected = 0, shown = 0;
	/* Not by setenv, whose copy is as long as the text: Go reads texts by words, which valgrind reports. */
	static char one_thread[] = "ANYNPU_THREADS=1";
	CHECK(!putenv(one_thread), "putenv");
	host_begin();
	if (argc > 1)
		tasks = atoi(argv[1]);
	hbPackedDNNHandle_t pack = relu_pack(sizes, 2, models);
	for (int i = 0; i < 10 && !shown; i++)
		shown = order();
	CHECK(shown, "the place was never busy");
	stop(pack);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, (void *)i), "no thread");
	for (int i = 0; i < THREADS; i++) {
		void *called_back;
		pthread_join(threads[i], &called_back);
		expected += (int)(uintptr_t)called_back;
	}
	while (callbacks < expected)
		sched_yield();
	int32_t code;
	while ((code = hbDNNRelease(pack)) == HB_DNN_MODEL_IS_RUNNING) /* of tasks that were released while they ran */
		sched_yield();
	OK(code);
	printf("hbdnn_tasks: %d threads x %d tasks, %d callbacks\n", THREADS, tasks, expected);
	return host_end();
}
