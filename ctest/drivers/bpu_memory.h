/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the fake driver of bpu.h. The NPU has bytes of its own, so that what is not flushed is not seen.
 */
#ifndef BPU_MEMORY_H
#define BPU_MEMORY_H

#include "bpu_objects.h"

/* The block that has the processor's, or the NPU's, byte at an address. */
static struct bpu_block *bpu_block_locked(uintptr_t at, int npu)
{
	struct bpu_block *b = bpu_blocks;
	while (b && at - (uintptr_t)(npu ? b->npu : b->host) >= b->size)
		b = b->next;
	return b;
}

/* More than this there is not, whatever a script says that a tensor takes. */
#define BPU_MOST (64u << 20)

static int bpu_alloc(hbSysMem *mem, uint64_t size, int cached)
{
	if (!mem || size == 0)
		return HB_SYS_INVALID_ARGUMENT;
	if (size > BPU_MOST)
		return HB_SYS_OUT_OF_MEMORY;
	size_t room = (size_t)(size + 63) / 64 * 64;
	struct bpu_block *b = calloc(1, sizeof *b);
	b->size = (uint32_t)size;
	b->host = b->npu = memset(aligned_alloc(64, room), 0, room);
	if (cached) {
		b->npu = memset(aligned_alloc(64, room), 0, room);
		b->clean = calloc(1, room);
	}
	pthread_mutex_lock(&bpu_lock);
	b->next = bpu_blocks;
	bpu_blocks = b;
	bpu_living[BPU_NONE]++;
	pthread_mutex_unlock(&bpu_lock);
	*mem = (hbSysMem){.phyAddr = (uintptr_t)b->npu, .virAddr = b->host, .memSize = b->size};
	tell_lies("memory", mem, sizeof *mem);
	return HB_SYS_SUCCESS;
}

static void bpu_drop(struct bpu_block *b)
{
	if (b->npu != b->host)
		free(b->npu);
	free(b->host);
	free(b->clean);
	free(b);
}

static int bpu_free(hbSysMem *mem)
{
	struct bpu_block *b = NULL;
	pthread_mutex_lock(&bpu_lock);
	for (struct bpu_block **at = &bpu_blocks; mem && *at; at = &(*at)->next)
		if ((*at)->host == mem->virAddr) {
			b = *at;
			*at = b->next;
			bpu_living[BPU_NONE]--;
			break;
		}
	pthread_mutex_unlock(&bpu_lock);
	if (!b)
		return HB_SYS_INVALID_ARGUMENT;
	memset(mem, 0, sizeof *mem);
	bpu_drop(b);
	return HB_SYS_SUCCESS;
}

static int bpu_flush(const hbSysMem *mem, int32_t flag)
{
	if (!mem || (flag != HB_SYS_MEM_CACHE_INVALIDATE && flag != HB_SYS_MEM_CACHE_CLEAN))
		return HB_SYS_INVALID_ARGUMENT;
	pthread_mutex_lock(&bpu_lock);
	struct bpu_block *b = bpu_block_locked((uintptr_t)mem->virAddr, 0);
	if (b && b->clean) {
		size_t from = (size_t)((uint8_t *)mem->virAddr - b->host);
		size_t to = mem->memSize < b->size - from ? from + mem->memSize : b->size;
		for (size_t i = from; i < to; i++) {
			if (b->host[i] != b->clean[i])
				b->npu[i] = b->host[i];
			if (flag == HB_SYS_MEM_CACHE_INVALIDATE)
				b->host[i] = b->npu[i];
			b->clean[i] = b->host[i];
		}
	}
	pthread_mutex_unlock(&bpu_lock);
	return HB_SYS_SUCCESS; /* also for memory that is none of the driver's */
}

#ifndef BPU_UCP
static int bpu_move(void *to, const void *from, const hbSysMem *of, uint32_t size)
{
	if (!to || !from || !of || !of->virAddr || size > of->memSize)
		return HB_SYS_INVALID_ARGUMENT;
	pthread_mutex_lock(&bpu_lock);
	struct bpu_block *b = bpu_block_locked((uintptr_t)of->virAddr, 0);
	int good = !b || size <= b->size - (size_t)((uint8_t *)of->virAddr - b->host);
	pthread_mutex_unlock(&bpu_lock);
	if (good)
		memcpy(to, from, size);
	return good ? HB_SYS_SUCCESS : HB_SYS_INVALID_ARGUMENT;
}
#endif

#endif
