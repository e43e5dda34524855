/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in of qemu that counts the instructions that a program executes, and writes their number to a file when the
 * program ends:
 *
 *     qemu-aarch64 -plugin arm64_count.so,out=FILE PROGRAM
 *
 * The counter is one for all threads and not atomic: threads that compute at once lose counts. The declarations are
 * what qemu promises plug-ins of version 1; no header is needed.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
enum { ADD_U64 = 0 };

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*f)(uint64_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *counter, uint64_t amount);
extern void qemu_plugin_register_atexit_cb(uint64_t id, void (*f)(uint64_t id, void *data), void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed;
static char file[4096];

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &executed, qemu_plugin_tb_n_insns(tb));
}

static void ended(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	FILE *f = fopen(file, "w");
	if (f == NULL)
		return;
	fprintf(f, "%" PRIu64 "\n", executed);
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
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
