/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ANYNPU_CHECK=flush hbdnn_flush checked
 *     hbdnn_flush silent
 *
 * Flushes that a board needs and that are missing: each is told once for each memory, with these words, and changes no
 * result. A program that flushes as it should is told nothing, nor is one whose memory has no cache.
 */
#include <anynpu.h>

#include "hbdnn_sample.h"

#define VALUES 6
#define CLEAN_MISSING "memory was written and not cleaned: a board would compute with the old bytes input=x bytes=\"%s\" " \
	"remedy=\"hbSysFlushMem(mem, HB_SYS_MEM_CACHE_CLEAN) when the input is written, before the task is submitted\""
#define INVALIDATE_MISSING "results were not invalidated: on a board the program may have read the old bytes output=y " \
	"bytes=\"0 to 23\" seen=%s remedy=\"hbSysFlushMem(mem, HB_SYS_MEM_CACHE_INVALIDATE) when the task is done, before its " \
		"results are read\""

static char last[1024];
static int messages, checked;

static void take(int level, const char *component, const char *message, void *user)
{
	(void)level, (void)user;
	CHECK(!strcmp(component, "hbdnn"), "a message of %s: %s", component, message);
	/* The id at the end of the line is docs/messages.md's. */
	const char *id = strrchr(message, '[');
	CHECK(id && id > message && message[strlen(message) - 1] == ']', "no id: %s", message);
	snprintf(last, sizeof last, "%.*s", (int)(id - message - 1), message);
	messages++;
}

static void quiet(const char *where) { CHECK(!messages, "%s: %s", where, last); }

static void told(const char *format, const char *what)
{
	char want[1024];
	if (!checked)
		return quiet(what);
	snprintf(want, sizeof want, format, what);
	CHECK(messages == 1 && !strcmp(last, want), "%d messages, the last is\n%s\nwant\n%s", messages, last, want);
	messages = 0;
}

/* The tensors of y = Relu(x), in cached memory or not. */
static void make(struct tensors *t, hbDNNHandle_t model, bool cached)
{
	memset(t, 0, sizeof *t);
	OK(hbDNNGetInputTensorProperties(&t->in.properties, model, 0));
	OK(hbDNNGetOutputTensorProperties(&t->out.properties, model, 0));
	OK((cached ? hbSysAllocCachedMem : hbSysAllocMem)(&t->in.sysMem[0], sizeof(float[VALUES])));
	OK((cached ? hbSysAllocCachedMem : hbSysAllocMem)(&t->out.sysMem[0], sizeof(float[VALUES])));
}

/* Computes, and reads what came of it, invalidated or not. */
static void run(struct tensors *t, hbDNNHandle_t model, bool invalidate)
{
	hbDNNTaskHandle_t task = NULL;
	OK(infer(&task, t, model, 0, 0, 0));
	sample_finish(task);
	if (invalidate)
		sample_invalidate(&t->out);
	for (int i = 0; i < VALUES; i++) {
		float x = sample_floats(&t->in)[i];
		CHECK(sample_floats(&t->out)[i] == (x > 0 ? x : 0), "element %d is %g for %g", i, (double)sample_floats(&t->out)[i],
			(double)x);
	}
}

/* A program that flushes as boards want it, also by parts and before anything is there. */
static void clean_program(hbDNNHandle_t model)
{
	struct tensors t;
	make(&t, model, true);
	sample_invalidate(&t.out);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < VALUES; i++)
			sample_floats(&t.in)[i] = (float)(i - k);
		hbSysMem part = {t.in.sysMem[0].phyAddr + 8, (char *)t.in.sysMem[0].virAddr + 8, 1000};
		OK(hbSysFlushMem(&part, HB_SYS_MEM_CACHE_CLEAN));
		part = (hbSysMem){t.in.sysMem[0].phyAddr, t.in.sysMem[0].virAddr, 8};
		OK(hbSysFlushMem(&part, HB_SYS_MEM_CACHE_CLEAN));
		run(&t, model, true);
	}
	float back[VALUES];
	OK(hbSysReadMem((char *)back, &t.out.sysMem[0], sizeof back));
	tensors_free(&t);
	quiet("a program that flushes");
}

static void missing_clean(hbDNNHandle_t model)
{
	struct tensors t;
	make(&t, model, true);
	sample_floats(&t.in)[0] = 5;
	sample_clean(&t.in);
	sample_floats(&t.in)[1] = 6; /* its upper two bytes differ from those of 0 */
	run(&t, model, true);
	told(CLEAN_MISSING, "6 to 7");
	run(&t, model, true);
	quiet("the same memory again");
	sample_clean(&t.in);
	tensors_free(&t);
	quiet("flushed in the end");

	float values[VALUES] = {0, 0, 0, 2};
	make(&t, model, true);
	OK(hbSysWriteMem(&t.in.sysMem[0], (char *)values, sizeof values));
	run(&t, model, true);
	told(CLEAN_MISSING, "15 to 15");
	tensors_free(&t);
	quiet("hbSysWriteMem");
}

static void missing_invalidate(hbDNNHandle_t model)
{
	struct tensors t;
	float back[VALUES];
	make(&t, model, true);
	sample_invalidate(&t.out); /* too early */
	run(&t, model, false);
	quiet("nothing is seen so far");
	run(&t, model, false);
	told(INVALIDATE_MISSING, "\"the next task\"");
	run(&t, model, false);
	quiet("the same memory again");
	tensors_free(&t);
	quiet("the end of that memory");

	make(&t, model, true);
	run(&t, model, false);
	OK(hbSysReadMem((char *)back, &t.out.sysMem[0], sizeof back));
	told(INVALIDATE_MISSING, "hbSysReadMem");
	tensors_free(&t);
	quiet("after hbSysReadMem");

	make(&t, model, true);
	run(&t, model, false);
	tensors_free(&t);
	told(INVALIDATE_MISSING, "hbSysFreeMem");
}

/* What a task leaves to the next one is read by no program; the program reads the end alone. */
static void chain(hbDNNHandle_t model)
{
	struct tensors a, b;
	make(&a, model, true);
	make(&b, model, true);
	hbSysMem own = b.in.sysMem[0];
	b.in.sysMem[0] = a.out.sysMem[0];
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < VALUES; i++)
			sample_floats(&a.in)[i] = (float)(i * k - 4);
		sample_clean(&a.in);
		run(&a, model, false);
		run(&b, model, true);
	}
	b.in.sysMem[0] = own;
	tensors_free(&a);
	tensors_free(&b);
	quiet("a chain of two tasks");
}

/* Memory that no cache is in front of, and the program's own. */
static void without_cache(hbDNNHandle_t model)
{
	struct tensors t;
	make(&t, model, false);
	for (int k = 0; k < 2; k++) {
		sample_floats(&t.in)[k] = 3;
		run(&t, model, false);
	}
	float own[2][VALUES] = {{-1, 2}};
	hbSysMem in = t.in.sysMem[0], out = t.out.sysMem[0];
	t.in.sysMem[0] = (hbSysMem){(uintptr_t)own[0], own[0], sizeof own[0]};
	t.out.sysMem[0] = (hbSysMem){(uintptr_t)own[1], own[1], sizeof own[1]};
	run(&t, model, false);
	run(&t, model, false);
	t.in.sysMem[0] = in;
	t.out.sysMem[0] = out;
	tensors_free(&t);
	quiet("memory without a cache");
}

int main(int argc, char **argv)
{
	host_begin();
	CHECK(argc == 2, "usage: hbdnn_flush checked|silent");
	checked = !strcmp(argv[1], "checked");
	const int64_t size = VALUES;
	hbDNNHandle_t model;
	anynpu_set_log_callback(take, NULL);
	hbPackedDNNHandle_t pack = relu_pack(&size, 1, &model);
	clean_program(model);
	missing_clean(model);
	missing_invalidate(model);
	chain(model);
	without_cache(model);
	OK(hbDNNRelease(pack));
	printf("hbdnn_flush: %s\n", argv[1]);
	return host_end();
}
