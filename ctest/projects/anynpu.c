/* SPDX-License-Identifier: Apache-2.0 */
#include <anynpu.h>
#include <stdio.h>

int main(void)
{
	return puts(anynpu_version()) < 0;
}
