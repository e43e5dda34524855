/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opens a driver before a program's process does, and looks up symbols in it.
 *
 *     anynpu-probe FILE SYMBOL... [--table FUNCTION LEVEL COUNT LEVEL COUNT...]
 *     anynpu-probe --onnxruntime LIBRARY PROVIDER PLUGIN [KEY VALUE]...
 *     anynpu-probe --load API LIBRARY MODEL
 *
 * Writes "ok", or one line that says what is wrong, to descriptor 3. Where a symbol is not there, but FUNCTION is, it
 * looks at the table which that gives, and writes before ok what the table has: "table LEVEL 1101...", a digit for each
 * address. From each LEVEL on, in ascending order, there are COUNT of them. Exits 0 for ok, 1 for what is wrong, 2 if
 * it is not called so. A driver may crash, hang or exit in here: who has started this program judges that.
 *
 * With --onnxruntime it has a provider of a library of ONNX Runtime make a session, and says the same. PLUGIN is "" for
 * one that is in the library.
 *
 * With --load it has this library load a model as programs of an API do, and writes "ok", or "refused " and the
 * sentence of the call that failed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "provider.h"

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* a libc whose loader has one order of names only */
#endif

static int end(const char *text, const char *more)
{
	char line[8192];
	int n = snprintf(line, sizeof line, "%s%s\n", text, more);
	size_t size = n < (int)sizeof line ? (size_t)n : sizeof line - 1;
	ssize_t wrote = write(3, line, size);
	_exit(wrote == (ssize_t)size && strcmp(text, "ok") == 0 ? 0 : 1); /* the driver's destructors are not asked */
}

static void tell(const int64_t *table, char **levels)
{
	char line[1024];
	int n = snprintf(line, sizeof line, "table %lld ", (long long)*table), count = 0;
	void *const *entries = (void *const *)(table + 1);
	for (int i = 0; levels[i] && levels[i + 1] && *table >= atoll(levels[i]); i += 2)
		count = atoi(levels[i + 1]);
	for (int k = 0; k < count && n < (int)sizeof line - 1; k++)
		line[n++] = entries[k] ? '1' : '0';
	line[n++] = '\n';
	if (write(3, line, (size_t)n) != n)
		_exit(1);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "--load") == 0) {
		const char *sentence = load_model(argv[3], argv[2], argv[4]);
		return sentence ? end("refused ", sentence) : end("ok", "");
	}
	if (argc >= 5 && strcmp(argv[1], "--onnxruntime") == 0) {
		const char *wrong = try_provider(argv[2], argv[3], argv[4], argv + 5);
		return wrong ? end(wrong, "") : end("ok", "");
	}
	if (argc < 2 || argv[1][0] != '/')
		return 2;
	void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!lib) {
		const char *why = dlerror();
		return end("it cannot be opened: ", why ? why : "the loader does not say why");
	}
	const char *lacks = NULL;
	int i = 2;
	for (; i < argc && strcmp(argv[i], "--table") != 0; i++)
		if (!lacks && !dlsym(lib, argv[i]))
			lacks = argv[i];
	if (!lacks)
		return end("ok", "");
	const void *(*give)(void) = NULL;
	if (i + 1 < argc)
		*(void **)&give = dlsym(lib, argv[i + 1]);
	if (!give)
		return end("it lacks the symbol ", lacks);
	const void *table = give();
	if (!table)
		return end(argv[i + 1], " gives no table");
	tell(table, &argv[i + 2]);
	return end("ok", "");
}
