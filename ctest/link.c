/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Right answers, one Go runtime, and nothing left behind. Built as C and C++, linked against one library, the other, or
 * both.
 *
 *     link FILE...    also opens each file, by which the library must not be loaded a second time
 */
#include <dlfcn.h>

#include "host.h"

/* Only the core library has it; a host linked against another name finds it in the process. */
static const char *(*version)(void);

static void find(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);
	CHECK(symbol != NULL, "%s", dlerror());
	memcpy(function, &symbol, sizeof symbol);
}

int main(int argc, char **argv)
{
	void *opened[8];
	CHECK(argc <= 9, "%d files", argc - 1);
	host_begin();
	find("anynpu_version", &version);
	CHECK(host_answer() == 0, "wrong answer");
	for (int i = 1; i < argc; i++) {
		void *lib = opened[i - 1] = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
		CHECK(lib != NULL, "%s", dlerror());
		CHECK(dlsym(lib, "OH_NNTensorDesc_Create") != NULL, "%s", dlerror());
	}
	for (int i = 0; i < 1000; i++)
		CHECK(host_answer() == 0, "wrong answer");
	CHECK(strcmp(version(), ANYNPU_VERSION_STRING) == 0, "version %s, header %s", version(), ANYNPU_VERSION_STRING);

	/* A runtime is one executable mapping of the core library. */
	char line[1024];
	int runtimes = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL, "/proc/self/maps");
	while (fgets(line, sizeof line, maps))
		runtimes += strstr(line, "libanynpu.so.0") != NULL && strstr(line, " r-xp ") != NULL;
	fclose(maps);
	CHECK(runtimes == 1, "%d Go runtimes in the process", runtimes);

	for (int i = 1; i < argc; i++)
		CHECK(dlclose(opened[i - 1]) == 0, "%s", dlerror());
	CHECK(host_answer() == 0, "wrong answer after the other names were closed");
	return host_end();
}
