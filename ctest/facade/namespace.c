/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A driver of one function that needs no other library, so that it can be opened in a namespace of its own.
 */
#include "toy.h"

toy_status toy_add(toy_context context, int a, double b, int c, int *sum)
{
	if (!context || !sum)
		return -6;
	*sum = 1000 + a + (int)b + c;
	return 0;
}
