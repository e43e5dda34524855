/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Right answers, one Go runtime, and nothing left behind: file descriptors, mapped files and handles are as before. Built as C and
 * C++, linked against one library, the other, or both.
 *
 *     link FILE...    also opens each file, by which the library must not be loaded a second time
 */
#include <dlfcn.h>

#include "host.h"

/* Only the core library has these; a host linked against another name finds them in the process. */
static size_t (*live_handles)(void);
static const char *(*version)(void);

static void find(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);
	CHECK(symbol != NULL, "%s", dlerror());
	memcpy(function, &symbol, sizeof symbol);
}

int main(int argc, char **argv)
{
	find("anynpu_live_handles", &live_handles);
	find("anynpu_version", &version);
	CHECK(host_answer() == 0, "wrong answer");
	int fds = host_fds(), files = host_mappings("/");
	size_t handles = live_handles();
	for (int i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
		CHECK(lib != NULL, "%s", dlerror());
		CHECK(dlsym(lib, "OH_NNTensorDesc_Create") != NULL, "%s", dlerror());
		files = host_mappings("/");
	}
	for (int i = 0; i < 1000; i++)
		CHECK(host_answer() == 0, "wrong answer");
	CHECK(host_mappings("libneural_network_core.so") > 0, "the library is not mapped");
	CHECK(strcmp(version(), ANYNPU_VERSION_STRING) == 0, "version %s, header %s", version(), ANYNPU_VERSION_STRING);

	/* A runtime is one executable mapping of the core library. */
	char line[1024];
	int runtimes = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL, "/proc/self/maps");
	while (fgets(line, sizeof line, maps))
		runtimes += strstr(line, "libneural_network_core.so") != NULL && strstr(line, " r-xp ") != NULL;
	fclose(maps);
	CHECK(runtimes == 1, "%d Go runtimes in the process", runtimes);

	CHECK(live_handles() == handles && handles == 0, "%zu handles left", live_handles());
	CHECK(host_fds() == fds, "%d file descriptors, %d before", host_fds(), fds);
	CHECK(host_mappings("/") == files, "%d mapped files, %d before", host_mappings("/"), files);
	return 0;
}
