/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A mistake on purpose: a shape of four sizes is announced and two are there. Under valgrind the library's access
 * behind the block must be reported; this shows that memcheck.sh can fail.
 */
#include "host.h"

int main(void)
{
	host_begin();
	int32_t *shape = (int32_t *)malloc(2 * sizeof *shape);
	CHECK(shape != NULL, "no memory");
	shape[0] = 2;
	shape[1] = 3;
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	(void)OH_NNTensorDesc_SetShape(desc, shape, 4);
	CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_SUCCESS, "%s", anynpu_last_error());
	free(shape);
	return host_end();
}
