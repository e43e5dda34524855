/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The models of the fake driver of bpu.h: their files, and what their tensors are.
 */
#ifndef BPU_MODELS_H
#define BPU_MODELS_H

#include "bpu_objects.h"

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
	int known = m->kind == HB_DNN_TENSOR_TYPE_F32 || m->kind == HB_DNN_TENSOR_TYPE_U8 ||
		m->kind == HB_DNN_TENSOR_TYPE_S8 || m->kind == HB_DNN_TENSOR_TYPE_S16;
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

#ifdef BPU_UCP
static void bpu_properties(struct bpu_model *m, int input, hbDNNTensorProperties *p)
{
	memset(p, 0, sizeof *p);
	if (m->rank == 0)
		bpu_newer_network(p, input);
	else {
		p->tensorType = (int32_t)m->kind;
		bpu_newer_sum(p, m->dims, m->rank, bpu_width(m->kind), m->flags & BPU_PADDED);
		if (m->flags & (BPU_SCALE | BPU_AXIS)) {
			int32_t n = m->flags & BPU_AXIS ? (int32_t)m->dims[1] : 1;
			p->quantiType = SCALE;
			p->quantizeAxis = m->flags & BPU_AXIS ? 1 : -1;
			p->scale = (hbDNNQuantiScale){n, m->scales, n, m->zeros};
		}
	}
	tell_lies(input ? "properties input" : "properties output", p, sizeof *p);
}
#else
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
#endif

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

static int bpu_load(hbPackedDNNHandle_t *out, const void *const *data, const int32_t *sizes, int32_t count,
	char const *const *files)
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

#endif
