/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory of UCP. Programs written against the vendor's header of the same name compile and link unchanged;
 * docs/hbucp.md says what is covered. Functions return 0 or a negative code (hobot/hb_ucp_status.h).
 *
 * ABI: 64-bit targets.
 */
#ifndef _HB_UCP_SYS_H_
#define _HB_UCP_SYS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of memory. Where it was made by this library, phyAddr is virAddr; both may be moved by the same offset. */
typedef struct hbUCPSysMem {
    uint64_t phyAddr;
    void *virAddr;
    uint64_t memSize; /* bytes */
} hbUCPSysMem;

typedef enum hbUCPSysMemFlushFlag {
    HB_SYS_MEM_CACHE_INVALIDATE = 1, /* before the processor reads */
    HB_SYS_MEM_CACHE_CLEAN = 2       /* after the processor has written */
} hbUCPSysMemFlushFlag;

/* Give size zeroed bytes, aligned to 64; hbUCPFree frees them. deviceId is 0. */
int32_t hbUCPMalloc(hbUCPSysMem *mem, uint64_t size, int32_t deviceId);
int32_t hbUCPMallocCached(hbUCPSysMem *mem, uint64_t size, int32_t deviceId);
/* flag: hbUCPSysMemFlushFlag. Memory is coherent: nothing has to be done. ANYNPU_CHECK=flush tells what a board misses. */
int32_t hbUCPMemFlush(hbUCPSysMem const *mem, int32_t flag);
/* Free what an allocation made, by its start address, and clear the struct. A task that uses it keeps the bytes. */
int32_t hbUCPFree(hbUCPSysMem *mem);

#ifdef __cplusplus
}
#endif

#endif
