/* SPDX-License-Identifier: Apache-2.0 */
#include <dnn/hb_dnn.h>

int main(int argc, char **argv)
{
	hbPackedDNNHandle_t pack;
	char const *file = argv[1];
	return argc != 2 || hbDNNInitializeFromFiles(&pack, &file, 1) || hbDNNRelease(pack);
}
