/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the fake driver of bpu.h keeps: packs of models, tasks, memory, and structs in the generation that it is of.
 */
#ifndef BPU_OBJECTS_H
#define BPU_OBJECTS_H

#include "compute.h"

#ifdef BPU_UCP
#include "bpu_newer.h"
#else
#include <dnn/hb_dnn_ext.h>
#include <dnn/hb_dnn_status.h>
#define BPU_VERSION_NEWEST "1.24.5_(fake)"
#define BPU_MEMORY(t) (&(t)->sysMem[0])
#endif
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#ifndef BPU_VERSION
#define BPU_VERSION BPU_VERSION_NEWEST
#endif
#define BPU "fake-bpu"
#define BPU_MAGIC "FAKEBPU\0FAKEBPU"
#define BPU_LARGEST (1 << 20) /* elements of a tensor */
#define BPU_TASKS 32

enum bpu_flag {
	BPU_PADDED = 1, /* the last size is aligned to 16 */
	BPU_SCALE = 2,  /* codes with scale 0.5 and zero point 3 */
	BPU_SHIFT = 4,  /* codes with shift 3 */
	BPU_NHWC = 8,   /* sizes are in that order */
	BPU_AXIS = 16,  /* codes with scales 0.5, 1, 1.5 ... along axis 1 */
};

struct bpu_model {
	char name[33];
	struct bpu_pack *pack;
	uint32_t rank, dims[4], kind, flags; /* of a sum, rank 0: the network */
	struct network network;
	float scales[256];
#ifdef BPU_UCP
	int32_t zeros[256];
#else
	int8_t zeros[256];
#endif
	uint8_t shift;
};

struct bpu_pack {
	int32_t count, busy;
	const char **names;
	struct bpu_model *models;
};

/* A member of a task: a model and the NPU's bytes of its inputs, then its outputs. */
struct bpu_member {
	struct bpu_model *model;
	uint8_t *bytes[3];
	int32_t pitch; /* of the image */
};

struct bpu_task {
	int holds, open, done, released, status;
	struct bpu_member *members;
	struct bpu_model *first; /* also after the end of its members */
	int count;
	hbDNNTaskDoneCb callback;
	void *user;
};

struct bpu_block {
	uint8_t *host, *npu, *clean; /* clean: what the processor had when they were last the same, NULL: one memory */
	uint32_t size;
	struct bpu_block *next;
};

enum bpu_kind { BPU_NONE, BPU_PACK, BPU_MODEL, BPU_TASK };

static pthread_mutex_t bpu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bpu_moved = PTHREAD_COND_INITIALIZER;
static struct {
	void *at;
	enum bpu_kind kind;
} bpu_objects[512];
static int bpu_living[4]; /* by kind, NONE: memory */
static struct bpu_block *bpu_blocks;

/* The packs, the tasks and the memory that are not released. */
int fake_live(void)
{
	pthread_mutex_lock(&bpu_lock);
	int n = bpu_living[BPU_NONE] + bpu_living[BPU_PACK] + bpu_living[BPU_TASK];
	pthread_mutex_unlock(&bpu_lock);
	return n;
}

/* The functions below that end in _locked hold bpu_lock. */
static int bpu_exchange_locked(void *before, enum bpu_kind was, void *after, enum bpu_kind kind)
{
	for (size_t k = 0; k < sizeof bpu_objects / sizeof *bpu_objects; k++)
		if (bpu_objects[k].at == before && bpu_objects[k].kind == was) {
			bpu_objects[k].at = after;
			bpu_objects[k].kind = kind;
			bpu_living[was] -= was != BPU_NONE;
			bpu_living[kind] += kind != BPU_NONE;
			return 1;
		}
	return 0;
}

static int bpu_is_locked(const void *at, enum bpu_kind kind)
{
	for (size_t k = 0; at && k < sizeof bpu_objects / sizeof *bpu_objects; k++)
		if (bpu_objects[k].at == at && bpu_objects[k].kind == kind)
			return 1;
	return 0;
}

static int bpu_is(const void *at, enum bpu_kind kind)
{
	pthread_mutex_lock(&bpu_lock);
	int is = bpu_is_locked(at, kind);
	pthread_mutex_unlock(&bpu_lock);
	return is;
}

/* Structs of the driver's generation */

static const char *bpu_version = BPU_VERSION;
void fake_version(const char *version);

/* Gives the driver another version, a text that stays, before its first call. */
void fake_version(const char *version) { bpu_version = version; }

#ifdef BPU_UCP
static void bpu_store(void *to, const hbDNNTensorProperties *p) { memcpy(to, p, sizeof *p); }
static const hbDNNTensor *bpu_tensor(const hbDNNTensor *first, int i) { return first + i; }
#else
static size_t bpu_properties_size(void)
{
	int minor = atoi(strchr(bpu_version, '.') + 1);
	return minor < 14 ? 136 : minor < 18 ? 144 : 176;
}

static void bpu_store(void *to, const hbDNNTensorProperties *p)
{
	size_t size = bpu_properties_size(), head = offsetof(hbDNNTensorProperties, quantizeAxis);
	if (size == 136) {
		memcpy(to, p, head);
		memcpy((char *)to + head, &p->alignedByteSize, sizeof p->alignedByteSize);
	} else
		memcpy(to, p, size == 144 ? offsetof(hbDNNTensorProperties, stride) : size);
}

static const hbDNNTensor *bpu_tensor(const hbDNNTensor *first, int i)
{
	return (const hbDNNTensor *)((const char *)first + (size_t)i * (offsetof(hbDNNTensor, properties) +
		bpu_properties_size()));
}
#endif

#endif
