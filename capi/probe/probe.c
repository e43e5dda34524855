/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opens a driver before a program's process does, and looks up symbols in it.
 *
 *     anynpu-probe FILE SYMBOL...
 *
 * Writes "ok", or one line that says what is wrong, to descriptor 3. Exits 0 for ok, 1 for what is wrong, 2 if it is
 * not called so. A driver may crash, hang or exit in here: who has started this program judges that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* a libc whose loader has one order of names only */
#endif

static int end(const char *text, const char *more)
{
	char line[1024];
	int n = snprintf(line, sizeof line, "%s%s\n", text, more);
	size_t size = n < (int)sizeof line ? (size_t)n : sizeof line - 1;
	ssize_t wrote = write(3, line, size);
	_exit(wrote == (ssize_t)size && strcmp(text, "ok") == 0 ? 0 : 1); /* the driver's destructors are not asked */
}

int main(int argc, char **argv)
{
	if (argc < 2 || argv[1][0] != '/')
		return 2;
	void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!lib) {
		const char *why = dlerror();
		return end("it cannot be opened: ", why ? why : "the loader does not say why");
	}
	for (int i = 2; i < argc; i++)
		if (!dlsym(lib, argv[i]))
			return end("it lacks the symbol ", argv[i]);
	return end("ok", "");
}
