/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the test hosts share: failing with a reason, looking at the own process, and one right answer of the library.
 */
#ifndef HOST_H
#define HOST_H

#include <dirent.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <anynpu.h>
#include <neural_network_runtime/neural_network_runtime.h>

#define CHECK(cond, ...) ((cond) ? (void)0 : host_fail(__FILE__, __LINE__, #cond, __VA_ARGS__))

static inline void host_fail(const char *file, int line, const char *cond, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("%s:%d: %s: ", file, line, cond);
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
	va_end(args);
	_Exit(1);
}

/* Entries of a directory of /proc/self, such as fd or task. */
static inline int host_entries(const char *path)
{
	int n = 0;
	DIR *dir = opendir(path);
	CHECK(dir != NULL, "%s", path);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static inline int host_threads(void) { return host_entries("/proc/self/task"); }

static inline int host_fds(void) { return host_entries("/proc/self/fd") - 1; }

/* Mappings of files, shared memory included, whose path contains text. */
static inline int host_mappings(const char *text)
{
	char line[1024];
	int n = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL, "/proc/self/maps");
	while (fgets(line, sizeof line, maps)) {
		char *path = strchr(line, '/');
		n += path != NULL && strstr(path, text) != NULL;
	}
	fclose(maps);
	return n;
}

/* Calls that prove that Go runs and answers rightly: 2 x 3 x 4 floats are 96 bytes. 0, or the status of the call that failed. */
static inline int host_answer(void)
{
	const int32_t shape[] = {2, 3, 4};
	size_t bytes = 0;
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	if (!desc)
		return OH_NN_MEMORY_ERROR;
	OH_NN_ReturnCode rc = OH_NNTensorDesc_SetShape(desc, shape, 3);
	if (rc == OH_NN_SUCCESS)
		rc = OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32);
	if (rc == OH_NN_SUCCESS)
		rc = OH_NNTensorDesc_GetByteSize(desc, &bytes);
	OH_NN_ReturnCode end = OH_NNTensorDesc_Destroy(&desc);
	if (rc == OH_NN_SUCCESS)
		rc = end;
	if (rc == OH_NN_SUCCESS && bytes != 96)
		return -1;
	return (int)rc;
}

#endif
