/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in of qemu that counts the instructions of each thread of a program that calls getppid after each of its runs.
 * When the program ends, the instructions of the last run are written to a file: those of the thread that executed most
 * between the last two calls, which is the one that computes. What others do depends on the time that passes:
 *
 *     qemu-aarch64 -plugin arm64_count.so,out=FILE PROGRAM
 *
 * A program that calls getppid less than twice leaves an empty file.
 *
 * The declarations are what qemu promises plug-ins of version 1; no header is needed.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
enum { NO_REGISTERS = 0, THREADS = 4096, GETPPID = 173 };

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*f)(uint64_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*f)(unsigned thread, void *data),
						 int flags, void *data);
extern void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, void (*f)(uint64_t id, unsigned thread, int64_t number,
	uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
extern void qemu_plugin_register_atexit_cb(uint64_t id, void (*f)(uint64_t id, void *data), void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed[THREADS]; /* each written by its thread alone */
static uint64_t before[THREADS];   /* at the call of getppid before the last one, later at the last one */
static uint64_t run;               /* instructions between the last two calls */
static int calls;
static char file[4096];

static void count(unsigned thread, void *instructions)
{
	if (thread < THREADS)
		executed[thread] += (uintptr_t)instructions;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, count, NO_REGISTERS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

static void called(uint64_t id, unsigned thread, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		   uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)thread, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	if (number != GETPPID)
		return;
	calls++;
	run = 0;
	for (int i = 0; i < THREADS; i++) {
		uint64_t now = executed[i];
		run = now - before[i] > run ? now - before[i] : run;
		before[i] = now;
	}
}

static void ended(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	FILE *f = fopen(file, "w");
	if (f == NULL)
		return;
	if (calls >= 2)
		fprintf(f, "%" PRIu64 "\n", run);
	fclose(f);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (strncmp(argv[i], "out=", 4) == 0)
			snprintf(file, sizeof file, "%s", argv[i] + 4);
	if (file[0] == 0) {
		fprintf(stderr, "arm64_count: want out=FILE\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_vcpu_syscall_cb(id, called);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
