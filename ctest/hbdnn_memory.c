/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory as boards have it: written, cleaned, handed over in part with both addresses moved, invalidated and read.
 */
#include "hbdnn_sample.h"

int main(void)
{
	host_begin();
	const int64_t size = 6;
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = relu_pack(&size, 1, &model);
	float numbers[18], back[6];
	hbSysMem all = {0};
	struct tensors t;
	for (int i = 0; i < 18; i++)
		numbers[i] = (float)(i % 4 - 1) * (float)i;
	tensors_make(&t, model);
	OK(hbSysAllocCachedMem(&all, sizeof numbers));
	OK(hbSysWriteMem(&all, (char *)numbers, sizeof numbers));
	OK(hbSysFlushMem(&all, HB_SYS_MEM_CACHE_CLEAN));
	hbSysMem own = t.in.sysMem[0];
	for (int part = 0; part < 3; part++) {
		hbDNNTaskHandle_t task = NULL;
		uint32_t offset = (uint32_t)part * sizeof back;
		t.in.sysMem[0] = (hbSysMem){all.phyAddr + offset, (char *)all.virAddr + offset, sizeof back};
		OK(hbSysFlushMem(&t.in.sysMem[0], HB_SYS_MEM_CACHE_CLEAN));
		OK(infer(&task, &t, model, 0, 0, 0));
		sample_finish(task);
		sample_invalidate(&t.out);
		OK(hbSysReadMem((char *)back, &t.out.sysMem[0], sizeof back));
		for (int i = 0; i < 6; i++) {
			float want = numbers[part * 6 + i];
			CHECK(back[i] == (want > 0 ? want : 0), "part %d, element %d: %g", part, i, (double)back[i]);
		}
	}
	t.in.sysMem[0] = own;
	CHECK(hbSysWriteMem(&all, (char *)numbers, sizeof numbers + 1) == HB_SYS_INVALID_ARGUMENT,
		"one byte too many is written");
	CHECK(hbSysFlushMem(&all, 3) == HB_SYS_INVALID_ARGUMENT, "flag 3");
	tensors_free(&t);
	OK(hbSysFreeMem(&all));
	OK(hbDNNRelease(pack));
	printf("hbdnn_memory: 3 parts of one block\n");
	return host_end();
}
