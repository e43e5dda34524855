/* SPDX-License-Identifier: Apache-2.0 */
#include <hobot/dnn/hb_dnn.h>

int main(int argc, char **argv)
{
	hbDNNPackedHandle_t pack;
	hbUCPSysMem mem;
	char const *file = argv[1];
	return argc != 2 || hbUCPMalloc(&mem, 16, 0) || hbUCPFree(&mem) || hbDNNInitializeFromFiles(&pack, &file, 1) || hbDNNRelease(pack);
}
