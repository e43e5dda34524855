/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     hbucp_tasks [TASKS]
 *
 * Tasks of UCP: with one place to compute they go by priority, then by customId, then as they came, those of priority 255
 * at once; 16 threads then run TASKS tasks each (1000), alone and in groups, in the synchronous form, waiting with and
 * without a timeout, releasing what waits or runs, and from callbacks. Nothing is left behind.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "hbucp_model.h"

enum { THREADS = 16, LARGE = 1 << 20, SMALL = 64, MEMBERS = 255 };

static hbDNNHandle_t small, large;
static int tasks = 1000;

static int32_t infer(hbUCPTaskHandle_t *task, struct tensors *t, hbDNNHandle_t model)
{
	return hbDNNInferV2(task, &t->out, &t->in, model);
}

/* A task that keeps the one place for some hundred milliseconds. */
static hbUCPTaskHandle_t busy_task(struct tensors *t)
{
	hbUCPTaskHandle_t task = NULL;
	for (int i = 0; i < MEMBERS; i++)
		OK(infer(&task, t, large));
	OK(submit_at(task, 100, 0));
	return task;
}

/* Tasks in the order in which they go, and how many of them a callback found wrong. */
static struct ordered {
	int32_t priority;
	int64_t custom;
	hbUCPTaskHandle_t task;
	struct tensors t;
} ordered[] = {{.priority = 254, .custom = 9}, {.priority = 9, .custom = -4}, {.priority = 9, .custom = 7},
	{.priority = 9, .custom = 7}, {.priority = 8, .custom = -1000}, {.priority = 0, .custom = INT64_MIN}, {.priority = 0}};
enum { ORDERED = sizeof ordered / sizeof *ordered };
static atomic_int early, called;

static void check_order(hbUCPTaskHandle_t task, int32_t status, void *userdata)
{
	struct ordered *own = userdata;
	if (status != HB_UCP_SUCCESS || task != own->task)
		early += 1000;
	for (struct ordered *o = ordered; o < own; o++)
		if (hbUCPWaitTaskDone(o->task, 1) != HB_UCP_SUCCESS)
			early++;
	called++;
}

/* Queues the tasks in another order than theirs. 0 if the place was free before all of them waited: nothing was shown. */
static int order(void)
{
	static const int submitted[ORDERED] = {6, 2, 4, 3, 0, 5, 1}; /* of equals, 2 before 3 */
	struct tensors large_ones, urgent;
	tensors_make(&large_ones, large);
	tensors_make(&urgent, small);
	hbUCPTaskHandle_t busy = busy_task(&large_ones), first = NULL;
	early = called = 0;
	for (int i = 0; i < ORDERED; i++) {
		struct ordered *o = &ordered[submitted[i]];
		o->task = NULL;
		tensors_make(&o->t, small);
		OK(infer(&o->task, &o->t, small));
		OK(hbUCPSetTaskDoneCb(o->task, check_order, o));
		CHECK(hbUCPWaitTaskDone(o->task, 1) == HB_UCP_API_USE_ERROR, "a wait before the task is submitted");
	}
	for (int i = 0; i < ORDERED; i++)
		OK(submit_at(ordered[submitted[i]].task, ordered[submitted[i]].priority, ordered[submitted[i]].custom));
	OK(infer(&first, &urgent, small));
	OK(submit_at(first, HB_UCP_PRIORITY_HIGHEST, 0));
	OK(hbUCPWaitTaskDone(first, 0));
	int shown = hbUCPWaitTaskDone(busy, 1) == HB_UCP_TASK_TIMEOUT;
	for (int i = 0; i < ORDERED; i++)
		OK(hbUCPWaitTaskDone(ordered[i].task, 0));
	while (called < ORDERED)
		sched_yield();
	CHECK(early == 0, "%d tasks were done too early", (int)early);
	for (int i = 0; i < ORDERED; i++) {
		OK(hbUCPReleaseTask(ordered[i].task));
		tensors_free(&ordered[i].t);
	}
	OK(hbUCPReleaseTask(first));
	OK(hbUCPReleaseTask(busy));
	tensors_free(&large_ones);
	tensors_free(&urgent);
	return shown;
}

/* A pack stays while a task is not released; one that is released while it runs stops. */
static void stop(hbDNNPackedHandle_t pack)
{
	struct tensors t;
	tensors_make(&t, large);
	hbUCPTaskHandle_t busy = busy_task(&t);
	CHECK(hbDNNRelease(pack) == HB_UCP_MODEL_IS_INUSE, "a pack was released under a task");
	OK(hbUCPReleaseTask(busy));
	CHECK(hbUCPReleaseTask(busy) == HB_UCP_TASK_HANDLE_INVALID, "released twice");
	tensors_free(&t);
}

struct alone {
	struct tensors t;
	float seed;
};
static atomic_int callbacks;

static struct alone *alone_make(float seed)
{
	struct alone *a = malloc(sizeof *a);
	CHECK(a, "no memory");
	tensors_make(&a->t, small);
	for (int i = 0; i < SMALL; i++)
		input_of(&a->t)[i] = (float)(i - SMALL / 2) * seed;
	a->seed = seed;
	return a;
}

static void alone_check(struct alone *a)
{
	for (int i = 0; i < SMALL; i++) {
		float x = (float)(i - SMALL / 2) * a->seed;
		CHECK(output_of(&a->t)[i] == (x > 0 ? x : 0), "element %d of seed %g is %g", i, (double)a->seed, (double)output_of(&a->t)[i]);
	}
}

static void alone_free(struct alone *a)
{
	tensors_free(&a->t);
	free(a);
}

static hbUCPTaskHandle_t begin(struct tensors *t)
{
	hbUCPTaskHandle_t task = NULL;
	int32_t code;
	while ((code = infer(&task, t, small)) == HB_UCP_TASK_NUMBER_EXCEED_LIMIT)
		sched_yield();
	OK(code);
	return task;
}

/* Releases its own task and frees its memory. */
static void release_in_callback(hbUCPTaskHandle_t task, int32_t status, void *userdata)
{
	OK(status);
	OK(hbUCPWaitTaskDone(task, 0));
	alone_check(userdata);
	OK(hbUCPReleaseTask(task));
	alone_free(userdata);
	callbacks++;
}

static void *work(void *number)
{
	int expected = 0;
	for (int i = 0; i < tasks; i++) {
		struct alone *a = alone_make((float)((uintptr_t)number * 1000 + (unsigned)i + 1));
		hbDNNTensorProperties p;
		hbUCPTaskHandle_t task;
		int32_t code;
		switch (i % 6) {
		case 0: /* the structs may end before the task runs */
			task = begin(&a->t);
			OK(submit_at(task, i % 256, i));
			OK(hbUCPWaitTaskDone(task, 0));
			OK(hbDNNGetTaskOutputTensorProperties(&p, task, 0, 0));
			CHECK(p.validShape.dimensionSize[1] == SMALL, "%d", p.validShape.dimensionSize[1]);
			OK(hbUCPReleaseTask(task));
			alone_check(a);
			break;
		case 1: /* the second member reads what the first has written */
			task = begin(&a->t);
			{
				struct tensors next = {a->t.out, a->t.in};
				OK(hbDNNInferV2(&task, &next.out, &next.in, small));
			}
			OK(submit_at(task, 0, 0));
			OK(hbUCPWaitTaskDone(task, 0));
			OK(hbUCPReleaseTask(task));
			alone_check(a);
			CHECK(input_of(&a->t)[0] == 0, "%g", (double)input_of(&a->t)[0]);
			break;
		case 2: /* at once */
			OK(hbDNNInferV2(NULL, &a->t.out, &a->t.in, small));
			alone_check(a);
			break;
		case 3: /* given up, whatever it does */
			task = begin(&a->t);
			if (i % 4)
				OK(submit_at(task, 1, 0));
			OK(hbUCPReleaseTask(task));
			break;
		case 4:
			task = begin(&a->t);
			OK(hbUCPSetTaskDoneCb(task, release_in_callback, a));
			expected++;
			OK(submit_at(task, 2, 0));
			continue;
		default:
			task = begin(&a->t);
			OK(submit_at(task, 3, 0));
			while ((code = hbUCPWaitTaskDone(task, 1)) == HB_UCP_TASK_TIMEOUT)
				;
			OK(code);
			OK(hbUCPReleaseTask(task));
			alone_check(a);
		}
		alone_free(a);
	}
	return (void *)(uintptr_t)expected;
}

int main(int argc, char **argv)
{
	static const int64_t small_dims[] = {1, SMALL}, large_dims[] = {1, LARGE};
	static char one_thread[] = "ANYNPU_THREADS=1";
	pthread_t threads[THREADS];
	int expected = 0, shown = 0;
	CHECK(!putenv(one_thread), "putenv");
	host_begin();
	if (argc > 1)
		tasks = atoi(argv[1]);
	hbDNNPackedHandle_t pack = relu_load(&small, small_dims, 2, NULL), other = relu_load(&large, large_dims, 2, NULL);
	for (int i = 0; i < 10 && !shown; i++)
		shown = order();
	CHECK(shown, "the place was never busy");
	stop(other);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, (void *)i), "no thread");
	for (int i = 0; i < THREADS; i++) {
		void *own;
		pthread_join(threads[i], &own);
		expected += (int)(uintptr_t)own;
	}
	while (callbacks < expected)
		sched_yield();
	OK(hbDNNRelease(pack));
	OK(hbDNNRelease(other));
	printf("hbucp_tasks: %d threads x %d tasks, %d callbacks\n", THREADS, tasks, expected);
	return host_end();
}
