/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the hbDNN API, and its cores. Programs written against the vendor's header of the same name compile and
 * link unchanged; docs/hbdnn.md says what is covered. Functions return HB_SYS_SUCCESS or a negative code; a message
 * that says what was wrong goes to the log.
 *
 * ABI: 64-bit targets.
 */
#ifndef _DNN_HB_SYS_H_
#define _DNN_HB_SYS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return codes of hbSys functions; hbDNNGetErrorDesc has a text for each. */
typedef enum {
    HB_SYS_SUCCESS = 0,
    HB_SYS_INVALID_ARGUMENT = -6000129,
    HB_SYS_OUT_OF_MEMORY = -6000130,
    HB_SYS_REGISTER_MEM_FAILED = -6000131
} hbSysStatus;

/* Cores, one bit each; 0 is any. A core that this machine lacks is taken as any. */
typedef enum {
    HB_BPU_CORE_ANY = 0,
    HB_BPU_CORE_0 = (1 << 0),
    HB_BPU_CORE_1 = (1 << 1)
} hbBPUCore;

typedef enum {
    HB_DSP_CORE_ANY = 0,
    HB_DSP_CORE_0 = (1 << 0),
    HB_DSP_CORE_1 = (1 << 1)
} hbDSPCore;

/* A piece of memory. Where it was made by this library, phyAddr is virAddr; both may be moved by the same offset. */
typedef struct {
    uint64_t phyAddr;
    void *virAddr;
    uint32_t memSize; /* bytes */
} hbSysMem;

typedef enum {
    HB_SYS_MEM_CACHE_INVALIDATE = 1, /* before the processor reads */
    HB_SYS_MEM_CACHE_CLEAN = 2       /* after the processor has written */
} hbSysMemFlushFlag;

/* Give size zeroed bytes, aligned to 64; hbSysFreeMem frees them. */
int32_t hbSysAllocMem(hbSysMem *mem, uint32_t size);
int32_t hbSysAllocCachedMem(hbSysMem *mem, uint32_t size);
/* flag: hbSysMemFlushFlag. Memory is coherent: nothing has to be done. ANYNPU_CHECK=flush tells what a board misses. */
int32_t hbSysFlushMem(hbSysMem *mem, int32_t flag);
/* Free what an Alloc function made, by its start address, and clear the struct. A task that uses it keeps the bytes. */
int32_t hbSysFreeMem(hbSysMem *mem);
/* Copy size bytes to and from the start of a memory. */
int32_t hbSysWriteMem(hbSysMem *dest, char *src, uint32_t size);
int32_t hbSysReadMem(char *dest, hbSysMem *src, uint32_t size);
/* Memory of the program's own needs no registration: any address will do. */
int32_t hbSysRegisterMem(hbSysMem *mem);
int32_t hbSysUnregisterMem(hbSysMem *mem);

#ifdef __cplusplus
}
#endif

#endif
