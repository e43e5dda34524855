/* SPDX-License-Identifier: Apache-2.0 */
#include <rknn_api.h>

int main(int argc, char **argv)
{
	rknn_context context;
	return argc != 2 || rknn_init(&context, argv[1], 0, 0, 0) != RKNN_SUCC || rknn_destroy(context) != RKNN_SUCC;
}
