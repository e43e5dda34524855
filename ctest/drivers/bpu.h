/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a fake driver of hbDNN computes, from files of its own: 16 bytes, "FAKEBPU" twice with a zero behind each, the
 * number of models as uint32, and for each its name of 32 bytes, its size as uint32, and that many bytes. A model is
 * digits.weights, the network of examples/digits/README.md for an image of type Y, or a sum z = x + y:
 *
 *     "SUM1", uint32 rank, uint32 sizes[4], uint32 type (F32, U8, S8 or S16), uint32 flags (enum bpu_flag)
 *
 * Sums add codes as they are. The driver has the version BPU_VERSION (fake_version), and the structs of that
 * generation. Models say "fake-bpu" as their tag.
 *
 * Its memory is not coherent: cached memory has bytes for the processor and others for the NPU, which physical addresses
 * name. Cleaning writes what the processor has changed, invalidating does too and then reads all.
 *
 * Tasks run on threads of their own and call callbacks from there. A program can have them block (fake_block), and
 * change what "properties input" and "properties output" (structs as of 1.18), "counts" (inputs, outputs), "name" (of a
 * tensor), "memory" (hbSysMem), "code infer" and "code wait" answer (fake_lie).
 *
 * As vendors' drivers do, it calls its own exports by names that whoever has them first may answer: while it loads a
 * model, which AnyNPU would take for one of its own, and from its threads.
 */
#include "compute.h"

#include <dnn/hb_dnn_ext.h>
#include <dnn/hb_dnn_status.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#ifndef BPU_VERSION
#define BPU_VERSION "1.24.5_(fake)"
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
	int8_t zeros[256];
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
	return (const hbDNNTensor *)((const char *)first + (size_t)i * (offsetof(hbDNNTensor, properties) + bpu_properties_size()));
}

/* Models */

static uint32_t bpu_width(uint32_t kind)
{
	return kind == HB_DNN_TENSOR_TYPE_F32 ? 4 : kind == HB_DNN_TENSOR_TYPE_S16 ? 2 : 1;
}

static int bpu_sum(struct bpu_model *m, const char *at, const char *end)
{
	uint64_t count = 1;
	if (end - at != 32 || memcmp(at, "SUM1", 4) != 0)
		return 0;
	memcpy(&m->rank, at + 4, sizeof m->rank);
	memcpy(m->dims, at + 8, sizeof m->dims);
	memcpy(&m->kind, at + 24, sizeof m->kind);
	memcpy(&m->flags, at + 28, sizeof m->flags);
	int known = m->kind == HB_DNN_TENSOR_TYPE_F32 || m->kind == HB_DNN_TENSOR_TYPE_U8 || m->kind == HB_DNN_TENSOR_TYPE_S8 ||
		m->kind == HB_DNN_TENSOR_TYPE_S16;
	if (m->rank < 1 || m->rank > 4 || !known || m->flags >= 2 * BPU_AXIS)
		return 0;
	for (uint32_t k = 0; k < m->rank; k++) {
		count *= m->dims[k];
		if (m->dims[k] == 0 || count > BPU_LARGEST)
			return 0;
	}
	for (int i = 0; i < 256; i++) {
		m->scales[i] = 0.5f * (m->flags & BPU_AXIS ? (float)(i + 1) : 1);
		m->zeros[i] = m->flags & BPU_AXIS ? 0 : 3;
	}
	m->shift = 3;
	return 1;
}

static void bpu_properties(struct bpu_model *m, int input, hbDNNTensorProperties *p)
{
	memset(p, 0, sizeof *p);
	if (m->rank == 0 && input) {
		*p = (hbDNNTensorProperties){.validShape = {{1, 1, 8, 8}, 4}, .alignedShape = {{1, 1, 8, 16}, 4},
			.tensorLayout = HB_DNN_LAYOUT_NCHW, .tensorType = HB_DNN_IMG_TYPE_Y, .alignedByteSize = 128};
	} else if (m->rank == 0) {
		*p = (hbDNNTensorProperties){.validShape = {{1, 10}, 2}, .alignedShape = {{1, 10, 1, 1}, 4},
			.tensorLayout = HB_DNN_LAYOUT_NONE, .tensorType = HB_DNN_TENSOR_TYPE_F32, .alignedByteSize = 40, .stride = {40, 4}};
	} else {
		int32_t bytes = (int32_t)bpu_width(m->kind);
		p->tensorLayout = m->rank < 4 ? HB_DNN_LAYOUT_NONE : m->flags & BPU_NHWC ? HB_DNN_LAYOUT_NHWC : HB_DNN_LAYOUT_NCHW;
		p->tensorType = (int32_t)m->kind;
		p->validShape.numDimensions = (int32_t)m->rank;
		p->alignedShape.numDimensions = 4;
		for (int k = 3; k >= 0; k--) {
			int32_t size = k < (int32_t)m->rank ? (int32_t)m->dims[k] : 1;
			p->validShape.dimensionSize[k] = k < (int32_t)m->rank ? size : 0;
			if (m->flags & BPU_PADDED && k == (int32_t)m->rank - 1)
				size = (size + 15) / 16 * 16;
			p->alignedShape.dimensionSize[k] = size;
			p->stride[k] = k < (int32_t)m->rank ? bytes : 0;
			bytes *= size;
		}
		p->alignedByteSize = bytes;
		if (m->flags & BPU_SHIFT) {
			p->quantiType = SHIFT;
			p->shift = (hbDNNQuantiShift){1, &m->shift};
		}
		if (m->flags & (BPU_SCALE | BPU_AXIS)) {
			int32_t n = m->flags & BPU_AXIS ? (int32_t)m->dims[1] : 1;
			p->quantiType = SCALE;
			p->quantizeAxis = m->flags & BPU_AXIS ? 1 : 0;
			p->scale = (hbDNNQuantiScale){n, m->scales, n, m->zeros};
		}
	}
	tell_lies(input ? "properties input" : "properties output", p, sizeof *p);
}

static const char bpu_inner[] = "{the driver's own models}"; /* which a program would get AnyNPU's answer for */

static void bpu_free_pack(struct bpu_pack *p)
{
	free(p->names);
	free(p->models);
	free(p);
}

/* Reads the models of one file behind those that a pack has. */
static int bpu_read(struct bpu_pack *p, const char *at, size_t size)
{
	const char *end = at + size;
	uint32_t count, own;
	if (size < 20 || memcmp(at, BPU_MAGIC, 16) != 0)
		return HB_DNN_INVALID_MODEL;
	memcpy(&count, at + 16, sizeof count);
	at += 20;
	for (; count > 0 && count < 64 && end - at >= 36; count--, at += 36 + own) {
		memcpy(&own, at + 32, sizeof own);
		if ((uint64_t)(end - at) - 36 < own)
			return HB_DNN_INVALID_MODEL;
		p->models = realloc(p->models, (size_t)(p->count + 1) * sizeof *p->models);
		struct bpu_model *m = memset(&p->models[p->count], 0, sizeof *p->models);
		memcpy(m->name, at, 32);
		for (int i = 0; i < 32; i++)
			if ((signed char)m->name[i] < 0)
				return HB_DNN_INVALID_MODEL;
		if (!network_read(&m->network, at + 36, at + 36 + own) && !bpu_sum(m, at + 36, at + 36 + own))
			return HB_DNN_INVALID_MODEL;
		p->count++;
	}
	return count == 0 && at == end ? HB_DNN_SUCCESS : HB_DNN_INVALID_MODEL;
}

static int bpu_load(hbPackedDNNHandle_t *out, const void *const *data, const int32_t *sizes, int32_t count, char const *const *files)
{
	if (!out)
		return HB_DNN_INVALID_ARGUMENT;
	*out = NULL;
	if (count <= 0 || (!files && (!data || !sizes)))
		return HB_DNN_INVALID_ARGUMENT;
	struct bpu_pack *p = calloc(1, sizeof *p);
	int inner = !files && sizes[0] == sizeof bpu_inner && memcmp(data[0], bpu_inner, sizeof bpu_inner) == 0, code = 0;
	for (int32_t i = 0; i < count && code == 0 && !inner; i++) {
		if (!files) {
			code = bpu_read(p, data[i], (size_t)sizes[i]);
			continue;
		}
		FILE *f = fopen(files[i], "r");
		char *bytes = malloc(1 << 17);
		code = f ? bpu_read(p, bytes, fread(bytes, 1, 1 << 17, f)) : HB_DNN_CAN_NOT_OPEN_FILE;
		free(bytes);
		if (f)
			fclose(f);
	}
	if (code == 0 && !inner) {
		const void *of = bpu_inner;
		const int32_t size = sizeof bpu_inner;
		hbPackedDNNHandle_t own = NULL; /* by the export, and not as the last thing */
		code = hbDNNInitializeFromDDR(&own, &of, (int32_t *)&size, 1);
		if (code == 0 && (!bpu_is(own, BPU_PACK) || hbDNNRelease(own) != 0))
			code = HB_DNN_RUN_TASK_FAILED;
	}
	p->names = calloc((size_t)p->count + 1, sizeof *p->names);
	pthread_mutex_lock(&bpu_lock);
	int room = p->count;
	for (int i = 0; i < p->count; i++) {
		p->models[i].pack = p;
		p->names[i] = p->models[i].name;
		room -= code == 0 && bpu_exchange_locked(NULL, BPU_NONE, &p->models[i], BPU_MODEL);
	}
	if (code == 0 && (room != 0 || !bpu_exchange_locked(NULL, BPU_NONE, p, BPU_PACK)))
		code = HB_DNN_MODEL_NUMBER_EXCEED_LIMIT;
	for (int i = 0; code == HB_DNN_MODEL_NUMBER_EXCEED_LIMIT && i < p->count; i++)
		bpu_exchange_locked(&p->models[i], BPU_MODEL, NULL, BPU_NONE);
	pthread_mutex_unlock(&bpu_lock);
	if (code == 0)
		*out = p;
	else
		bpu_free_pack(p);
	return code;
}

static int bpu_release(struct bpu_pack *p)
{
	int code = HB_DNN_INVALID_PACKED_DNN_HANDLE;
	pthread_mutex_lock(&bpu_lock);
	if (bpu_is_locked(p, BPU_PACK)) {
		code = p->busy ? HB_DNN_MODEL_IS_RUNNING : HB_DNN_SUCCESS;
		for (int i = 0; code == 0 && i < p->count; i++)
			bpu_exchange_locked(&p->models[i], BPU_MODEL, NULL, BPU_NONE);
		if (code == 0)
			bpu_exchange_locked(p, BPU_PACK, NULL, BPU_NONE);
	}
	pthread_mutex_unlock(&bpu_lock);
	if (code == 0)
		bpu_free_pack(p);
	return code;
}

/* Memory */

/* The block that has the processor's, or the NPU's, byte at an address. */
static struct bpu_block *bpu_block_locked(uintptr_t at, int npu)
{
	struct bpu_block *b = bpu_blocks;
	while (b && at - (uintptr_t)(npu ? b->npu : b->host) >= b->size)
		b = b->next;
	return b;
}

static int bpu_alloc(hbSysMem *mem, uint32_t size, int cached)
{
	if (!mem || size == 0)
		return HB_SYS_INVALID_ARGUMENT;
	size_t room = ((size_t)size + 63) / 64 * 64;
	struct bpu_block *b = calloc(1, sizeof *b);
	b->size = size;
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
	*mem = (hbSysMem){.phyAddr = (uintptr_t)b->npu, .virAddr = b->host, .memSize = size};
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

/* Tasks */

static void bpu_add(const struct bpu_model *m, struct bpu_member *with)
{
	uint32_t last = m->dims[m->rank - 1], row = m->flags & BPU_PADDED ? (last + 15) / 16 * 16 : last, rows = 1;
	for (uint32_t k = 0; k + 1 < m->rank; k++)
		rows *= m->dims[k];
	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t c = 0; c < last; c++) {
			size_t i = (size_t)r * row + c;
			if (m->kind == HB_DNN_TENSOR_TYPE_F32)
				((float *)with->bytes[2])[i] = ((float *)with->bytes[0])[i] + ((float *)with->bytes[1])[i];
			else if (m->kind == HB_DNN_TENSOR_TYPE_S16)
				((int16_t *)with->bytes[2])[i] = (int16_t)(((int16_t *)with->bytes[0])[i] + ((int16_t *)with->bytes[1])[i]);
			else
				with->bytes[2][i] = (uint8_t)(with->bytes[0][i] + with->bytes[1][i]);
		}
}

static void bpu_run(struct bpu_member *m)
{
	uint8_t ink[64];
	if (m->model->rank != 0) {
		bpu_add(m->model, m);
		return;
	}
	for (int y = 0; y < 8; y++)
		memcpy(ink + 8 * y, m->bytes[0] + y * m->pitch, 8);
	network_run(&m->model->network, ink, (float *)m->bytes[2]);
}

static void bpu_forget_locked(struct bpu_task *t)
{
	for (int i = 0; i < t->count; i++)
		t->members[i].model->pack->busy--;
	t->count = 0;
	free(t->members);
	t->members = NULL;
}

static void bpu_drop_task(struct bpu_task *t)
{
	pthread_mutex_lock(&bpu_lock);
	int last = --t->holds == 0;
	if (last)
		bpu_forget_locked(t);
	pthread_mutex_unlock(&bpu_lock);
	if (last)
		free(t);
}

static void *bpu_thread(void *arg)
{
	struct bpu_task *t = arg;
	char const *tag = NULL; /* by the export, on a thread that nobody else knows */
	int code = hbDNNGetModelTag(&tag, t->members[0].model);
	if (code != 0 || !tag || strcmp(tag, BPU) != 0)
		code = HB_DNN_RUN_TASK_FAILED;
	pass_gate();
	for (int i = 0; i < t->count && code == 0; i++)
		bpu_run(&t->members[i]);
	tell_lies("code wait", &code, sizeof code);
	pthread_mutex_lock(&bpu_lock);
	t->done = 1;
	t->status = code;
	bpu_forget_locked(t);
	hbDNNTaskDoneCb callback = t->released ? NULL : t->callback;
	void *user = t->user;
	pthread_cond_broadcast(&bpu_moved);
	pthread_mutex_unlock(&bpu_lock);
	if (callback)
		callback(t, code, user);
	bpu_drop_task(t);
	return NULL;
}

/* The NPU's bytes of a tensor, NULL if it has less memory than it needs. */
static uint8_t *bpu_bytes_locked(const hbDNNTensor *t, uint32_t need)
{
	const hbSysMem *m = &t->sysMem[0];
	struct bpu_block *b = bpu_block_locked((uintptr_t)m->phyAddr, 1);
	return b && m->memSize >= need && b->size - ((uintptr_t)m->phyAddr - (uintptr_t)b->npu) >= need ? (uint8_t *)(uintptr_t)m->phyAddr
													: NULL;
}

static int bpu_member_locked(struct bpu_model *m, const hbDNNTensor *in, const hbDNNTensor *out, struct bpu_member *to)
{
	hbDNNTensorProperties p;
	*to = (struct bpu_member){.model = m};
	bpu_properties(m, 1, &p);
	for (int i = 0; i < (m->rank ? 2 : 1); i++) {
		const hbDNNTensor *t = bpu_tensor(in, i);
		uint32_t need = (uint32_t)p.alignedByteSize;
		if (m->rank == 0) {
			to->pitch = t->properties.alignedShape.dimensionSize[3];
			need = to->pitch < 8 ? 0 : 8 * (uint32_t)to->pitch;
		}
		if (need == 0 || !(to->bytes[i] = bpu_bytes_locked(t, need)))
			return HB_DNN_INVALID_ARGUMENT;
	}
	bpu_properties(m, 0, &p);
	to->bytes[2] = bpu_bytes_locked(out, (uint32_t)p.alignedByteSize);
	return to->bytes[2] ? HB_DNN_SUCCESS : HB_DNN_INVALID_ARGUMENT;
}

static int bpu_infer(hbDNNTaskHandle_t *handle, hbDNNTensor **out, const hbDNNTensor *in, struct bpu_model *m,
	const hbDNNInferCtrlParam *control)
{
	struct bpu_task *t = handle ? *handle : NULL;
	struct bpu_member own;
	pthread_t thread;
	if (!handle || !out || !*out || !in || !control || control->priority < 0 || control->priority > 255)
		return HB_DNN_INVALID_ARGUMENT;
	pthread_mutex_lock(&bpu_lock);
	int code = HB_DNN_SUCCESS;
	if (!bpu_is_locked(m, BPU_MODEL))
		code = HB_DNN_INVALID_DNN_HANDLE;
	else if (t && !bpu_is_locked(t, BPU_TASK))
		code = HB_DNN_INVALID_TASK_HANDLE;
	else if (t && !t->open)
		code = HB_DNN_API_USE_ERROR;
	else if (!t && bpu_living[BPU_TASK] >= BPU_TASKS)
		code = HB_DNN_TASK_NUM_EXCEED_LIMIT;
	else
		code = bpu_member_locked(m, in, *out, &own);
	tell_lies("code infer", &code, sizeof code);
	if (code == 0 && !t) {
		t = calloc(1, sizeof *t);
		t->holds = 1;
		if (!bpu_exchange_locked(NULL, BPU_NONE, t, BPU_TASK)) {
			free(t);
			code = HB_DNN_OUT_OF_MEMORY;
		}
	}
	if (code == 0) {
		t->members = realloc(t->members, (size_t)(t->count + 1) * sizeof *t->members);
		t->members[t->count++] = own;
		m->pack->busy++;
		t->open = control->more != 0;
		t->holds += !t->open;
		*handle = t;
	}
	pthread_mutex_unlock(&bpu_lock);
	if (code == 0 && !control->more) {
		if (pthread_create(&thread, NULL, bpu_thread, t) != 0)
			abort();
		pthread_detach(thread);
	}
	return code;
}

static int bpu_wait(struct bpu_task *t, int32_t timeout)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += timeout / 1000;
	end.tv_nsec += timeout % 1000 * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&bpu_lock);
	int code = HB_DNN_INVALID_TASK_HANDLE, late = 0;
	if (bpu_is_locked(t, BPU_TASK)) {
		t->holds++;
		while (!t->done && !t->open && !t->released && !late)
			late = (timeout > 0 ? pthread_cond_timedwait(&bpu_moved, &bpu_lock, &end) : pthread_cond_wait(&bpu_moved, &bpu_lock)) != 0;
		code = t->open ? HB_DNN_API_USE_ERROR : t->released ? HB_DNN_INVALID_TASK_HANDLE : t->done ? t->status : HB_DNN_TIMEOUT;
	} else
		t = NULL;
	pthread_mutex_unlock(&bpu_lock);
	if (t)
		bpu_drop_task(t);
	return code;
}

static int bpu_release_task(struct bpu_task *t)
{
	pthread_mutex_lock(&bpu_lock);
	int known = bpu_exchange_locked(t, BPU_TASK, NULL, BPU_NONE);
	if (known) {
		t->released = 1;
		pthread_cond_broadcast(&bpu_moved);
	}
	pthread_mutex_unlock(&bpu_lock);
	if (!known)
		return HB_DNN_INVALID_TASK_HANDLE;
	bpu_drop_task(t);
	return HB_DNN_SUCCESS;
}

static int bpu_callback(struct bpu_task *t, hbDNNTaskDoneCb callback, void *user)
{
	pthread_mutex_lock(&bpu_lock);
	int known = bpu_is_locked(t, BPU_TASK), done = known && t->done, status = known ? t->status : 0;
	if (known && !done) {
		t->callback = callback;
		t->user = user;
	}
	pthread_mutex_unlock(&bpu_lock);
	if (done && callback)
		callback(t, status, user);
	return known ? HB_DNN_SUCCESS : HB_DNN_INVALID_TASK_HANDLE;
}

/* Calls */

#define ARGUMENT(type, i) (*(type const *)args[i])

/* What a query of model m gives, whose index is in range. */
static int bpu_query(const char *f, struct bpu_model *m, const void *const *args)
{
	int inputs = m->rank ? 2 : 1, input = strstr(f, "Input") != NULL;
	int32_t counts[2] = {inputs, 1};
	hbDNNTensorProperties p;
	tell_lies("counts", counts, sizeof counts);
	if (strcmp(f, "GetInputCount") == 0 || strcmp(f, "GetOutputCount") == 0)
		return *ARGUMENT(int32_t *, 0) = counts[!input], 0;
	if (strcmp(f, "GetModelTag") == 0)
		return *ARGUMENT(char const **, 0) = BPU, 0;
	if (strcmp(f, "GetEstimateLatency") == 0)
		return *ARGUMENT(int32_t *, 0) = 1, 0;
	if (strcmp(f, "GetInputTensorProperties") != 0 && strcmp(f, "GetOutputTensorProperties") != 0 && strcmp(f, "GetInputName") != 0 &&
		strcmp(f, "GetOutputName") != 0)
		return 0;
	if (ARGUMENT(int32_t, 2) < 0 || ARGUMENT(int32_t, 2) >= (input ? inputs : 1))
		return HB_DNN_INVALID_ARGUMENT;
	if (strstr(f, "Name")) {
		static const char *const names[] = {"image", "probabilities", "x", "y", "z"};
		*ARGUMENT(char const **, 0) = names[m->rank == 0 ? !input : input ? 2 + ARGUMENT(int32_t, 2) : 4];
		tell_lies("name", ARGUMENT(char const **, 0), sizeof(char const *));
		return 0;
	}
	bpu_properties(m, input, &p);
	bpu_store(ARGUMENT(void *, 0), &p);
	return 0;
}

/* The place of the handle of a model among the arguments, -1: none. */
static int bpu_place(const struct call *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->params[i].name, "dnnHandle") == 0 && (c->params[i].kind & WRITTEN) == 0)
			return (int)i;
	return -1;
}

static int bpu_system(const char *f, const void *const *args)
{
	hbSysMem *m = ARGUMENT(hbSysMem *, strcmp(f, "ReadMem") == 0);
	if (strcmp(f, "AllocMem") == 0 || strcmp(f, "AllocCachedMem") == 0)
		return bpu_alloc(m, ARGUMENT(uint32_t, 1), f[5] == 'C');
	if (strcmp(f, "FlushMem") == 0)
		return bpu_flush(m, ARGUMENT(int32_t, 1));
	if (strcmp(f, "WriteMem") == 0)
		return bpu_move(m ? m->virAddr : NULL, ARGUMENT(void *, 1), m, ARGUMENT(uint32_t, 2));
	if (strcmp(f, "ReadMem") == 0)
		return bpu_move(ARGUMENT(void *, 0), m ? m->virAddr : NULL, m, ARGUMENT(uint32_t, 2));
	if (strcmp(f, "FreeMem") == 0)
		return bpu_free(m);
	if (m && strcmp(f, "RegisterMem") == 0)
		return m->virAddr ? HB_SYS_SUCCESS : HB_SYS_REGISTER_MEM_FAILED;
	return m ? HB_SYS_SUCCESS : HB_SYS_INVALID_ARGUMENT;
}

static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	const char *f = c->name + strlen("hbDNN");
	int code = 0, of = bpu_place(c);
	if (strncmp(c->name, "hbSys", 5) == 0)
		code = bpu_system(f, args);
	else if (strcmp(f, "GetVersion") == 0)
		return *result = (uint64_t)(uintptr_t)bpu_version, 1;
	else if (strcmp(f, "InitializeFromFiles") == 0)
		code = bpu_load(ARGUMENT(hbPackedDNNHandle_t *, 0), NULL, NULL, ARGUMENT(int32_t, 2), ARGUMENT(char const **, 1));
	else if (strcmp(f, "InitializeFromDDR") == 0)
		code = bpu_load(ARGUMENT(hbPackedDNNHandle_t *, 0), ARGUMENT(const void **, 1), ARGUMENT(int32_t *, 2), ARGUMENT(int32_t, 3), NULL);
	else if (strcmp(f, "Release") == 0)
		code = bpu_release(ARGUMENT(void *, 0));
	else if (strcmp(f, "GetModelNameList") == 0 || strcmp(f, "GetModelHandle") == 0) {
		int list = f[8] == 'N';
		struct bpu_pack *p = ARGUMENT(void *, list ? 2 : 1);
		if (!bpu_is(p, BPU_PACK))
			code = HB_DNN_INVALID_PACKED_DNN_HANDLE;
		else if (list) {
			*ARGUMENT(char const ***, 0) = p->names;
			*ARGUMENT(int32_t *, 1) = p->count;
		} else {
			code = HB_DNN_INVALID_ARGUMENT;
			for (int i = p->count - 1; i >= 0; i--)
				if (strcmp(p->names[i], ARGUMENT(const char *, 2)) == 0) {
					*ARGUMENT(hbDNNHandle_t *, 0) = &p->models[i];
					code = 0;
				}
		}
	} else if (strcmp(f, "Infer") == 0)
		code = bpu_infer(ARGUMENT(hbDNNTaskHandle_t *, 0), ARGUMENT(hbDNNTensor **, 1), ARGUMENT(hbDNNTensor *, 2), ARGUMENT(void *, 3),
			ARGUMENT(hbDNNInferCtrlParam *, 4));
	else if (strcmp(f, "WaitTaskDone") == 0)
		code = bpu_wait(ARGUMENT(void *, 0), ARGUMENT(int32_t, 1));
	else if (strcmp(f, "ReleaseTask") == 0)
		code = bpu_release_task(ARGUMENT(void *, 0));
	else if (strcmp(f, "SetTaskDoneCb") == 0)
		code = bpu_callback(ARGUMENT(void *, 0), ARGUMENT(hbDNNTaskDoneCb, 1), ARGUMENT(void *, 2));
	else if (of >= 0)
		code = bpu_is(ARGUMENT(void *, of), BPU_MODEL) ? bpu_query(f, ARGUMENT(void *, of), args) : HB_DNN_INVALID_DNN_HANDLE;
	else if (strcmp(f, "GetTaskEstimateTime") == 0)
		code = bpu_is(ARGUMENT(void *, 1), BPU_TASK) ? 0 : HB_DNN_INVALID_TASK_HANDLE;
	else
		return 0;
	*result = (uint64_t)(int64_t)code;
	return 1;
}
