/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tasks of UCP, which hobot/dnn/hb_dnn.h makes. Programs written against the vendor's header of the same name compile
 * and link unchanged; docs/hbucp.md says what is covered. Functions return 0 or a negative code
 * (hobot/hb_ucp_status.h); a message that says what was wrong goes to the log.
 *
 * ABI: 64-bit targets.
 */
#ifndef _HB_UCP_H_
#define _HB_UCP_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HB_UCP_VERSION_MAJOR 3U
#define HB_UCP_VERSION_MINOR 13U
#define HB_UCP_VERSION_PATCH 6U

/* Hardware, one bit each. 0 is any, and stands alone. A core that this machine lacks is taken as any. */
#define HB_UCP_CORE_ANY 0ULL

#define HB_UCP_BPU_CORE_0 (1ULL << 0)
#define HB_UCP_BPU_CORE_1 (1ULL << 1)
#define HB_UCP_BPU_CORE_2 (1ULL << 2)
#define HB_UCP_BPU_CORE_3 (1ULL << 3)
#define HB_UCP_BPU_CORE_ANY (1ULL << 7)

#define HB_UCP_DSP_CORE_0 (1ULL << 8)
#define HB_UCP_DSP_CORE_1 (1ULL << 9)
#define HB_UCP_DSP_CORE_ANY (1ULL << 15)

#define HB_UCP_GDC_CORE_0 (1ULL << 16)
#define HB_UCP_GDC_CORE_1 (1ULL << 17)
#define HB_UCP_GDC_CORE_ANY (1ULL << 19)

#define HB_UCP_STITCH_CORE_0 (1ULL << 20)
#define HB_UCP_LKOF_CORE_0 (1ULL << 24)

#define HB_UCP_JPU_CORE_0 (1ULL << 25)
#define HB_UCP_JPU_CORE_1 (1ULL << 26)
#define HB_UCP_JPU_CORE_2 (1ULL << 27)
#define HB_UCP_JPU_CORE_ANY (1ULL << 29)

#define HB_UCP_VPU_CORE_0 (1ULL << 30)
#define HB_UCP_VPU_CORE_1 (1ULL << 31)
#define HB_UCP_VPU_CORE_2 (1ULL << 32)
#define HB_UCP_VPU_CORE_ANY (1ULL << 33)

#define HB_UCP_PYRAMID_CORE_0 (1ULL << 35)
#define HB_UCP_PYRAMID_CORE_1 (1ULL << 36)
#define HB_UCP_PYRAMID_CORE_2 (1ULL << 37)
#define HB_UCP_PYRAMID_CORE_3 (1ULL << 38)
#define HB_UCP_PYRAMID_CORE_4 (1ULL << 39)
#define HB_UCP_PYRAMID_CORE_ANY (1ULL << 40)

#define HB_UCP_ISP_CORE_0 (1ULL << 42)
#define HB_UCP_ISP_CORE_1 (1ULL << 43)
#define HB_UCP_ISP_CORE_2 (1ULL << 44)
#define HB_UCP_ISP_CORE_3 (1ULL << 45)

#define HB_UCP_ALL_BACKENDS 0x3dfbef1b838fULL /* all of these */

#define HB_UCP_INITIALIZE_SCHED_PARAM(param)        \
    {                                               \
        (param)->priority = HB_UCP_PRIORITY_LOWEST; \
        (param)->deviceId = 0;                      \
        (param)->customId = 0;                      \
        (param)->backend = HB_UCP_CORE_ANY;         \
    }

typedef void *hbUCPTaskHandle_t;

/* Called with what a task came to, on a thread of the library. */
typedef void (*hbUCPTaskDoneCb)(hbUCPTaskHandle_t taskHandle, int32_t status, void *userdata);

typedef enum hbUCPTaskPriority {
    HB_UCP_PRIORITY_LOWEST = 0,
    HB_UCP_PRIORITY_HIGHEST = 255 /* begins at once */
} hbUCPTaskPriority;

typedef struct hbUCPSchedParam {
    int32_t priority;  /* the larger one goes first */
    int64_t customId;  /* then the smaller one */
    uint64_t backend;  /* mask of hardware */
    uint32_t deviceId; /* 0 */
} hbUCPSchedParam;

char const *hbUCPGetVersion(void);
char const *hbUCPGetSocName(void);

/* Queues a task and returns. A task is submitted once. */
int32_t hbUCPSubmitTask(hbUCPTaskHandle_t taskHandle, hbUCPSchedParam *schedParam);
/* Waits timeout ms, for ever for 0 or less. Returns what the task came to, also when it is called again. */
int32_t hbUCPWaitTaskDone(hbUCPTaskHandle_t taskHandle, int32_t timeout);
/* Before the task is submitted. */
int32_t hbUCPSetTaskDoneCb(hbUCPTaskHandle_t taskHandle, hbUCPTaskDoneCb taskDoneCb, void *userdata);
/* Ends a task, also one that waits or runs. */
int32_t hbUCPReleaseTask(hbUCPTaskHandle_t taskHandle);

#ifdef __cplusplus
}
#endif

#endif
