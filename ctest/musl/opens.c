/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: opens LIBRARY
 * Opens a vendor's library as a program does that is not linked with it, and calls a function. Exits 0 if it answers.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	if (!lib) {
		puts(dlerror());
		return 1;
	}
	int (*init)(void *, void *, unsigned, unsigned, void *);
	void *symbol = dlsym(lib, "rknn_init");
	if (!symbol)
		return 2;
	memcpy(&init, &symbol, sizeof init);
	int code = init(NULL, NULL, 0, 0, NULL);
	printf("rknn_init: %d\n", code);
	return code == -5 ? 0 : 3;
}
