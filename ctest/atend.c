/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs that do not check themselves, the examples: preloaded, it makes a program that leaves something behind
 * end with status 99.
 */
#include "host_end.h"

__attribute__((constructor)) static void begin(void) { host_begin(); }

__attribute__((destructor)) static void end(void)
{
	if (host_end() != 0)
		_exit(99);
}
