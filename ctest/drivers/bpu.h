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
 * generation; with BPU_UCP it is of the newer generation of the API (bpu_newer.h). Models say "fake-bpu" as their tag,
 * or as their description.
 *
 * Its memory is not coherent: cached memory has bytes for the processor and others for the NPU, which physical
 * addresses name. Cleaning writes what the processor has changed, invalidating does too and then reads all.
 *
 * Tasks run on threads of their own and call callbacks from there. A program can have them block (fake_block), and
 * change what "properties input" and "properties output" (structs as of 1.18), "counts" (inputs, outputs), "name" (of a
 * tensor), "memory" (hbSysMem), "code infer" and "code wait" answer (fake_lie).
 *
 * As vendors' drivers do, it calls its own exports by names that whoever has them first may answer: while it loads a
 * model, which AnyNPU would take for one of its own, and from its threads.
 */
#include "bpu_memory.h"
#include "bpu_models.h"

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
#ifdef BPU_UCP
	uint32_t size;
	int32_t type;
	int code = hbDNNGetModelDesc(&tag, &size, &type, t->members[0].model);
#else
	int code = hbDNNGetModelTag(&tag, t->members[0].model);
#endif
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
	const hbSysMem *m = BPU_MEMORY(t);
	struct bpu_block *b = bpu_block_locked((uintptr_t)m->phyAddr, 1);
	return b && m->memSize >= need && b->size - ((uintptr_t)m->phyAddr - (uintptr_t)b->npu) >= need ? (uint8_t *)(
		uintptr_t)m->phyAddr
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
#ifdef BPU_UCP
			to->pitch = (int32_t)t->properties.stride[1];
#else
			to->pitch = t->properties.alignedShape.dimensionSize[3];
#endif
			need = to->pitch < 8 ? 0 : 8 * (uint32_t)to->pitch;
		}
		if (need == 0 || !(to->bytes[i] = bpu_bytes_locked(t, need)))
			return HB_DNN_INVALID_ARGUMENT;
	}
	bpu_properties(m, 0, &p);
	to->bytes[2] = bpu_bytes_locked(out, (uint32_t)p.alignedByteSize);
	return to->bytes[2] ? HB_DNN_SUCCESS : HB_DNN_INVALID_ARGUMENT;
}

static void bpu_begin(struct bpu_task *t)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, bpu_thread, t) != 0)
		abort();
	pthread_detach(thread);
}

static int bpu_infer(hbDNNTaskHandle_t *handle, hbDNNTensor **out, const hbDNNTensor *in, struct bpu_model *m,
	const hbDNNInferCtrlParam *control)
{
	struct bpu_task *t = handle ? *handle : NULL;
	struct bpu_member own;
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
		t->first = t->members[0].model;
		m->pack->busy++;
		t->open = control->more != 0;
		t->holds += !t->open;
		*handle = t;
	}
	pthread_mutex_unlock(&bpu_lock);
	if (code == 0 && !control->more)
		bpu_begin(t);
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
			late = (timeout > 0 ? pthread_cond_timedwait(&bpu_moved, &bpu_lock, &end) : pthread_cond_wait(&bpu_moved,
				&bpu_lock)) != 0;
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

#ifdef BPU_UCP
/* Has a task that is complete run. */
static int bpu_submit(struct bpu_task *t, const hbUCPSchedParam *param)
{
	if (!param || param->priority < 0 || param->priority > HB_UCP_PRIORITY_HIGHEST)
		return HB_DNN_INVALID_ARGUMENT;
	pthread_mutex_lock(&bpu_lock);
	int code = !bpu_is_locked(t, BPU_TASK) ? HB_DNN_INVALID_TASK_HANDLE : t->open ? HB_DNN_SUCCESS : HB_DNN_API_USE_ERROR;
	if (code == 0) {
		t->open = 0;
		t->holds++;
	}
	pthread_mutex_unlock(&bpu_lock);
	if (code == 0)
		bpu_begin(t);
	return code;
}

/* Makes a task or adds to one; without a place for its handle runs the model. */
static int bpu_infer_newer(hbUCPTaskHandle_t *handle, hbDNNTensor *out, const hbDNNTensor *in, struct bpu_model *m)
{
	static const hbDNNInferCtrlParam open = {0, 1};
	hbUCPTaskHandle_t own = NULL;
	hbUCPSchedParam param = {.priority = 0};
	int code = bpu_infer(handle ? handle : &own, &out, in, m, &open);
	if (code != 0 || handle)
		return code;
	code = bpu_submit(own, &param);
	if (code == 0)
		code = bpu_wait(own, 0);
	bpu_release_task(own);
	return code;
}

#endif

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
#ifdef BPU_UCP
	if (strcmp(f, "GetModelDesc") == 0)
		return *ARGUMENT(char const **, 0) = BPU, *ARGUMENT(uint32_t *, 1) = sizeof BPU - 1, *ARGUMENT(int32_t *, 2) = 1, 0;
#endif
	if (strcmp(f, "GetEstimateLatency") == 0 || strcmp(f, "GetCompileBpuCoreNum") == 0)
		return *ARGUMENT(int32_t *, 0) = 1, 0;
	if (strcmp(f, "GetInputTensorProperties") != 0 && strcmp(f, "GetOutputTensorProperties") != 0 &&
		strcmp(f, "GetInputName") != 0 && strcmp(f, "GetOutputName") != 0)
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

#ifdef BPU_UCP
/* The properties of an output of a task that is done, which are those of the model. */
static int bpu_result(hbDNNTensorProperties *to, struct bpu_task *t, int32_t member, int32_t output)
{
	int code = HB_DNN_INVALID_TASK_HANDLE;
	pthread_mutex_lock(&bpu_lock);
	if (bpu_is_locked(t, BPU_TASK))
		code = !t->done || t->status ? HB_DNN_API_USE_ERROR : member != 0 || output != 0 ? HB_DNN_INVALID_ARGUMENT : 0;
	struct bpu_model *m = code == 0 ? t->first : NULL;
	pthread_mutex_unlock(&bpu_lock);
	if (m)
		bpu_properties(m, 0, to);
	return code;
}

static int bpu_newer(const char *f, const void *const *args, uint64_t *result)
{
	int code = 0;
	hbSysMem *m = strstr(f, "M") ? ARGUMENT(hbSysMem *, 0) : NULL;
	if (strcmp(f, "GetVersion") == 0 || strcmp(f, "GetSocName") == 0)
		return *result = (uint64_t)(uintptr_t)(f[3] == 'V' ? "3.13.6" : BPU), 1;
	if (strcmp(f, "Malloc") == 0 || strcmp(f, "MallocCached") == 0)
		code = bpu_alloc(m, ARGUMENT(uint64_t, 1), f[6] == 'C');
	else if (strcmp(f, "MemFlush") == 0)
		code = bpu_flush(m, ARGUMENT(int32_t, 1));
	else if (strcmp(f, "Free") == 0)
		code = bpu_free(ARGUMENT(hbSysMem *, 0)) == 0 ? HB_UCP_SUCCESS : HB_UCP_MEM_FREE_FAIL;
	else if (strcmp(f, "SubmitTask") == 0)
		code = bpu_submit(ARGUMENT(void *, 0), ARGUMENT(hbUCPSchedParam *, 1));
	else if (strcmp(f, "WaitTaskDone") == 0)
		code = bpu_wait(ARGUMENT(void *, 0), ARGUMENT(int32_t, 1));
	else if (strcmp(f, "ReleaseTask") == 0)
		code = bpu_release_task(ARGUMENT(void *, 0));
	else if (strcmp(f, "SetTaskDoneCb") == 0)
		code = bpu_callback(ARGUMENT(void *, 0), ARGUMENT(hbDNNTaskDoneCb, 1), ARGUMENT(void *, 2));
	else
		return 0;
	*result = (uint64_t)(int64_t)code;
	return 1;
}
#else
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
#endif

static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	const char *f = c->name + strlen("hbDNN");
	int code = 0, of = bpu_place(c);
#ifdef BPU_UCP
	if (strncmp(c->name, "hbUCP", 5) == 0)
		return bpu_newer(f, args, result);
	if (strcmp(f, "InferV2") == 0)
		code = bpu_infer_newer(ARGUMENT(hbUCPTaskHandle_t *, 0), ARGUMENT(hbDNNTensor *, 1), ARGUMENT(hbDNNTensor *, 2),
			ARGUMENT(void *, 3));
	else if (strcmp(f, "GetTaskOutputTensorProperties") == 0)
		code = bpu_result(ARGUMENT(hbDNNTensorProperties *, 0), ARGUMENT(void *, 1), ARGUMENT(int32_t, 2),
			ARGUMENT(int32_t, 3));
	else if (strcmp(f, "GetHBMDesc") == 0) {
		code = bpu_is(ARGUMENT(void *, 3), BPU_PACK) ? HB_DNN_SUCCESS : HB_DNN_INVALID_PACKED_DNN_HANDLE;
		if (code == 0)
			*ARGUMENT(char const **, 0) = "", *ARGUMENT(uint32_t *, 1) = 0, *ARGUMENT(int32_t *, 2) = 1;
	}
#else
	if (strncmp(c->name, "hbSys", 5) == 0)
		code = bpu_system(f, args);
	else if (strcmp(f, "Infer") == 0)
		code = bpu_infer(ARGUMENT(hbDNNTaskHandle_t *, 0), ARGUMENT(hbDNNTensor **, 1), ARGUMENT(hbDNNTensor *, 2),
			ARGUMENT(void *, 3), ARGUMENT(hbDNNInferCtrlParam *, 4));
	else if (strcmp(f, "WaitTaskDone") == 0)
		code = bpu_wait(ARGUMENT(void *, 0), ARGUMENT(int32_t, 1));
	else if (strcmp(f, "ReleaseTask") == 0)
		code = bpu_release_task(ARGUMENT(void *, 0));
	else if (strcmp(f, "SetTaskDoneCb") == 0)
		code = bpu_callback(ARGUMENT(void *, 0), ARGUMENT(hbDNNTaskDoneCb, 1), ARGUMENT(void *, 2));
#endif
	else if (strcmp(f, "GetVersion") == 0)
		return *result = (uint64_t)(uintptr_t)bpu_version, 1;
	else if (strcmp(f, "InitializeFromFiles") == 0)
		code = bpu_load(ARGUMENT(hbPackedDNNHandle_t *, 0), NULL, NULL, ARGUMENT(int32_t, 2), ARGUMENT(char const **, 1));
	else if (strcmp(f, "InitializeFromDDR") == 0)
		code = bpu_load(ARGUMENT(hbPackedDNNHandle_t *, 0), ARGUMENT(const void **, 1), ARGUMENT(int32_t *, 2),
			ARGUMENT(int32_t, 3), NULL);
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
	} else if (of >= 0)
		code = bpu_is(ARGUMENT(void *, of), BPU_MODEL) ? bpu_query(f, ARGUMENT(void *, of), args) : HB_DNN_INVALID_DNN_HANDLE;
	else if (strcmp(f, "GetTaskEstimateTime") == 0)
		code = bpu_is(ARGUMENT(void *, 1), BPU_TASK) ? 0 : HB_DNN_INVALID_TASK_HANDLE;
	else
		return 0;
	*result = (uint64_t)(int64_t)code;
	return 1;
}
