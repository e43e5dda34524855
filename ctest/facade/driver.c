/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fake driver of the made-up API: its sums are 1000 too large, so that an answer tells where it comes from. While it is loaded its
 * constructor calls the API, as real drivers do.
 */
#include <stdlib.h>

#include "toy.h"

static toy_status open_here(toy_context *context) { return (*context = (toy_context)(uintptr_t)malloc(16)) ? 0 : -5; }

toy_status toy_open(toy_context *context, const char *name)
{
	(void)name;
	return open_here(context);
}

toy_status toy_add(toy_context context, int a, double b, int c, int *sum)
{
	if (!context || !sum)
		return -6;
	*sum = 1000 + a + (int)b + c;
	return 0;
}

toy_status toy_close(toy_context context)
{
	free((void *)(uintptr_t)context);
	return 0;
}

const char *toy_who(void) { return "driver"; }
