/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the test hosts share: failing with a reason, nothing left behind (host_end.h), and one right answer of the
 * library.
 */
#ifndef HOST_H
#define HOST_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <anynpu.h>
#include <neural_network_runtime/neural_network_runtime.h>

#include "host_end.h"

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

/*
 * Calls that prove that Go runs and answers rightly: 2 x 3 x 4 floats are 96 bytes. 0, or the status of the call that
 * failed.
 */
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
