/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_pool [FRAMES]
 *
 * A pool of threads as video programs have it: one context is loaded, every thread has a duplicate on a core of its
 * own, frames come from a queue and results leave in the frames' order. Pools end in any order of their contexts.
 */
#include <pthread.h>

#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { WORKERS = 16, QUEUE = 32, N = 48 };

struct pool {
	rknn_context    ctx[WORKERS];
	pthread_t       threads[WORKERS];
	pthread_mutex_t lock;
	pthread_cond_t  changed;
	int             next, frames; /* to be taken, in all */
	int             shown;        /* results that have left */
	int             done[QUEUE];  /* of frame i at i % QUEUE: its number + 1 */
	float           result[QUEUE][N];
};

static float pixel(int frame, int i) { return (float)((frame * 31 + i * 17) % 256); }

static float expected(int frame, int i)
{
	float v = (pixel(frame, i) - 128) / 2;
	return v > 0 ? v : 0;
}

static void infer(rknn_context ctx, int frame, float *result)
{
	uint8_t image[N];
	for (int i = 0; i < N; i++)
		image[i] = (uint8_t)pixel(frame, i);
	rknn_input in = {.buf = image, .size = sizeof image, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &in));
	OK(rknn_run(ctx, NULL));
	rknn_output out = {.want_float = 1};
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	CHECK(out.size == N * sizeof(float), "%u bytes", out.size);
	memcpy(result, out.buf, out.size);
	OK(rknn_outputs_release(ctx, 1, &out));
}

struct worker {
	struct pool *pool;
	int          number;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	float result[N];
	pthread_mutex_lock(&p->lock);
	while (p->next < p->frames) {
		int frame = p->next++;
		pthread_mutex_unlock(&p->lock);
		infer(p->ctx[w->number], frame, result);
		pthread_mutex_lock(&p->lock);
		while (frame - p->shown >= QUEUE)
			pthread_cond_wait(&p->changed, &p->lock);
		memcpy(p->result[frame % QUEUE], result, sizeof result);
		p->done[frame % QUEUE] = frame + 1;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static rknn_context open_model(void)
{
	static const int64_t dims[] = {1, 3, 4, 4};
	struct rknn_message model = rknn_relu(dims, 4);
	rknn_meta(&model, "anynpu.input.x.mean", "[128]");
	rknn_meta(&model, "anynpu.input.x.std", "[2]");
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

/* The frames go in as NHWC and come out as NCHW: element i of a result is pixel i % 16 x 3 + i / 16. */
static void check(const float *result, int frame)
{
	for (int i = 0; i < N; i++) {
		float want = expected(frame, i % 16 * 3 + i / 16);
		CHECK(result[i] == want, "frame %d, element %d: %g, want %g", frame, i, (double)result[i], (double)want);
	}
}

static void pool(int frames, int turn)
{
	static const rknn_core_mask cores[] = {RKNN_NPU_CORE_0, RKNN_NPU_CORE_1, RKNN_NPU_CORE_2};
	struct pool *p = calloc(1, sizeof *p);
	struct worker workers[WORKERS];
	p->frames = frames;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->ctx[0] = open_model();
	for (int i = 1; i < WORKERS; i++)
		OK(rknn_dup_context(&p->ctx[turn % 2 ? i - 1 : 0], &p->ctx[i]));
	for (int i = 0; i < WORKERS; i++)
		OK(rknn_set_core_mask(p->ctx[i], cores[i % 3]));
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){p, i};
		CHECK(pthread_create(&p->threads[i], NULL, work, &workers[i]) == 0, "pthread_create");
	}
	for (int frame = 0; frame < frames; frame++) {
		float result[N];
		pthread_mutex_lock(&p->lock);
		while (p->done[frame % QUEUE] != frame + 1)
			pthread_cond_wait(&p->changed, &p->lock);
		memcpy(result, p->result[frame % QUEUE], sizeof result);
		p->shown++;
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
		check(result, frame);
	}
	for (int i = 0; i < WORKERS; i++)
		CHECK(pthread_join(p->threads[i], NULL) == 0, "pthread_join");
	for (int i = 0; i < WORKERS; i++)
		OK(rknn_destroy(p->ctx[turn % 3 == 0 ? i : turn % 3 == 1 ? WORKERS - 1 - i : (i * 5 + 3) % WORKERS]));
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int main(int argc, char **argv)
{
	int frames = argc > 1 ? atoi(argv[1]) : 400;
	host_begin();
	for (int turn = 0; turn < 6; turn++)
		pool(frames, turn);
	puts("rknn_pool: ok");
	return host_end();
}
