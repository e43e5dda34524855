/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for OH_NN whose driver lacks OH_NNTensorDesc_Create and OH_NNDevice_GetType: all calls are the driver's,
 * and what it lacks is refused, because an object of the library's would be of no use to it.
 *
 *     whole DRIVER
 */
#include <anynpu.h>
#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>

#include "host_end.h"

static int refused(const char *driver, const char *function)
{
	char want[512];
	snprintf(want, sizeof want, "%s has no function %s", driver, function);
	if (strstr(anynpu_last_error(), want))
		return 1;
	return printf("want \"%s\", got \"%s\"\n", want, anynpu_last_error()), 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return puts("usage: whole DRIVER"), 2;
	host_keeps = argv[1];
	host_begin();
	/* The script of the fake says 0x1122 for every model. */
	OH_NNModel *model = OH_NNModel_Construct();
	if ((uintptr_t)model != 0x1122)
		return printf("OH_NNModel_Construct: %p is not the driver's\n", (void *)model), 1;
	for (int twice = 0; twice < 2; twice++) {
		if (OH_NNTensorDesc_Create() || !refused(argv[1], "OH_NNTensorDesc_Create"))
			return 1;
		OH_NN_DeviceType type;
		if (OH_NNDevice_GetType(0, &type) == OH_NN_SUCCESS || !refused(argv[1], "OH_NNDevice_GetType"))
			return 1;
	}
	OH_NNModel_Destroy(&model);
	if ((uintptr_t)model != 0x3344)
		return printf("OH_NNModel_Destroy: %p is not what the driver leaves\n", (void *)model), 1;
	return host_end();
}
