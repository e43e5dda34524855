/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * For tests of UCP that are linked with the core library alone, by which nothing tells which generation of hbDNN they use.
 */
#ifndef HBUCP_ABI_H
#define HBUCP_ABI_H

#include <stdlib.h>

__attribute__((constructor)) static void hbucp_abi(void)
{
	static char variable[] = "ANYNPU_HBDNN_ABI=ucp";
	putenv(variable);
}

#endif
