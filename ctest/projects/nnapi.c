/* SPDX-License-Identifier: Apache-2.0 */
#include <android/NeuralNetworks.h>

int main(void)
{
	uint32_t count = 0;
	return ANeuralNetworks_getDeviceCount(&count) != ANEURALNETWORKS_NO_ERROR || count == 0;
}
