/* SPDX-License-Identifier: Apache-2.0 */
#include <neural_network_runtime/neural_network_core.h>

int main(void)
{
	const size_t *ids = 0;
	uint32_t count = 0;
	return OH_NNDevice_GetAllDevicesID(&ids, &count) != OH_NN_SUCCESS || count == 0;
}
