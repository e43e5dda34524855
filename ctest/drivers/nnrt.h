/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a fake driver of OH_NN computes: models of float32 with the operators of nnrt_compute.h, of up to NN_WORK
 * products each, on two devices: an accelerator and one of another kind, which adds alone. Constants may have any type.
 * Its handles are addresses of objects that begin with a mark; what is none of them is refused with
 * OH_NN_INVALID_PARAMETER.
 *
 * A test can have it block in its runs and lie (told.h): in "device ids" (the array's address), "device count",
 * "device name" (the address), "device type", "data buffer" (the address), "tensor size", "flags" (the address of
 * isSupported), "flag count", "counts" (of inputs and of outputs), "shape" (the address), "rank", and "code" with a
 * function's name without OH_NN.
 *
 * As vendors' drivers do, it calls its own exports by names that whoever has them first may answer: OH_NNTensor_Create
 * asks for the size of a description, and every 1000th run of an executor asks for a tensor's from a thread of its own.
 */
#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>

#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "told.h"

enum { NN_RANK = 10, NN_LIST = 200, NN_TENSORS = 4096, NN_OPERATIONS = 1024, NN_WORK = 1 << 24 };

enum nn_kind { NN_DESC = 0x4e4e01, NN_TENSOR, NN_QUANT, NN_MODEL, NN_COMPILATION, NN_EXECUTOR };

struct nn_object {
	int kind;
};

struct nn_desc {
	int kind;
	OH_NN_DataType type;
	OH_NN_Format format;
	size_t rank;
	int32_t dims[NN_RANK];
};

struct nn_tensor {
	int kind;
	struct nn_desc desc;
	char *bytes;
	size_t size;
	int fd; /* -1: of the driver's own memory */
};

struct nn_quant {
	int kind;
};

/* A tensor of a model. */
struct nn_value {
	struct nn_desc desc;
	OH_NN_TensorType role;
	void *data; /* of a constant */
	size_t size;
};

struct nn_list {
	uint32_t count, at[NN_LIST];
};

struct nn_operation {
	OH_NN_OperationType op;
	struct nn_list params, in, out;
};

struct nn_model {
	int kind;
	int references;
	uint32_t values, operations;
	struct nn_value value[NN_TENSORS];
	struct nn_operation operation[NN_OPERATIONS];
	struct nn_list in, out;
	int finished;
	bool flags[NN_OPERATIONS];
};

struct nn_compilation {
	int kind;
	struct nn_model *model;
	size_t device;
	int built;
};

struct nn_executor {
	int kind;
	struct nn_model *model;
	int32_t shapes[NN_LIST][NN_RANK];
	int runs;
};

#include "nnrt_compute.h"

static int nn_living;

/* The objects that are not destroyed. */
int fake_live(void) { return __atomic_load_n(&nn_living, __ATOMIC_SEQ_CST); }

static const size_t nn_ids[] = {0x4f484e4e31, 0x4f484e4e32};
static const char *const nn_names[] = {"fake-nnrt", "fake-adder"};

static int nn_device(size_t id)
{
	for (int k = 0; k < 2; k++)
		if (nn_ids[k] == id || (id == 0 && k == 0))
			return k;
	return -1;
}

static void *nn_new(enum nn_kind kind, size_t size)
{
	struct nn_object *o = calloc(1, size);
	if (o) {
		o->kind = kind;
		__atomic_fetch_add(&nn_living, 1, __ATOMIC_SEQ_CST);
	}
	return o;
}

static void nn_free(void *object)
{
	((struct nn_object *)object)->kind = 0;
	free(object);
	__atomic_fetch_sub(&nn_living, 1, __ATOMIC_SEQ_CST);
}

/* The object of a handle, NULL if it is of another kind. */
static void *nn_get(const void *handle, enum nn_kind kind)
{
	return handle && ((const struct nn_object *)handle)->kind == (int)kind ? (void *)(uintptr_t)handle : NULL;
}

static void nn_let_go(struct nn_model *m)
{
	if (__atomic_sub_fetch(&m->references, 1, __ATOMIC_SEQ_CST) > 0)
		return;
	for (uint32_t k = 0; k < m->values; k++)
		free(m->value[k].data);
	nn_free(m);
}

static size_t nn_width(OH_NN_DataType type)
{
	static const size_t widths[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
	return (size_t)type < sizeof widths / sizeof *widths ? widths[type] : 0;
}

static size_t nn_bytes(const struct nn_desc *d) { return nn_width(d->type) * nn_count(d); }

/* 0 for a list that is one. */
static int nn_read_list(const struct nn_model *m, const OH_NN_UInt32Array *from, struct nn_list *to)
{
	if (!from || from->size > NN_LIST || (from->size > 0) != (from->data != NULL))
		return 1;
	to->count = from->size;
	for (uint32_t k = 0; k < from->size; k++)
		if ((to->at[k] = from->data[k]) >= m->values)
			return 1;
	return 0;
}

static int nn_add_operation(struct nn_model *m, OH_NN_OperationType op, const OH_NN_UInt32Array *params,
	const OH_NN_UInt32Array *in, const OH_NN_UInt32Array *out)
{
	if (m->operations == NN_OPERATIONS)
		return OH_NN_MEMORY_ERROR;
	struct nn_operation *o = &m->operation[m->operations];
	*o = (struct nn_operation){.op = op};
	if (nn_read_list(m, params, &o->params) || nn_read_list(m, in, &o->in) || nn_read_list(m, out, &o->out) ||
		o->in.count == 0 || o->out.count == 0)
		return OH_NN_INVALID_PARAMETER;
	for (uint32_t k = 0; k < o->params.count; k++)
		if (m->value[o->params.at[k]].role == OH_NN_TENSOR || !m->value[o->params.at[k]].data)
			return OH_NN_INVALID_PARAMETER;
	for (uint32_t k = 0; k < o->in.count + o->out.count; k++)
		if (m->value[k < o->in.count ? o->in.at[k] : o->out.at[k - o->in.count]].role != OH_NN_TENSOR)
			return OH_NN_INVALID_PARAMETER;
	m->operations++;
	return OH_NN_SUCCESS;
}

static int nn_build(struct nn_compilation *c)
{
	int device = nn_device(c->device);
	if (device < 0 || !c->model->finished || c->built)
		return device < 0 ? OH_NN_FAILED : OH_NN_OPERATION_FORBIDDEN;
	for (uint32_t k = 0; k < c->model->operations; k++)
		if (!nn_computes(c->model, &c->model->operation[k], device))
			return OH_NN_FAILED;
	c->built = 1;
	return OH_NN_SUCCESS;
}

static struct nn_tensor *nn_tensor_of(const NN_TensorDesc *desc, size_t size, int fd)
{
	const struct nn_desc *d = nn_get(desc, NN_DESC);
	size_t want = 0;
	if (!d || d->rank == 0 || OH_NNTensorDesc_GetByteSize(desc, &want) != OH_NN_SUCCESS || want != nn_bytes(d) ||
		want == 0 || (size && size < want))
		return NULL;
	struct nn_tensor *t = nn_new(NN_TENSOR, sizeof *t);
	t->desc = *d;
	t->fd = fd;
	t->size = size ? size : want;
	if (fd < 0)
		t->bytes = calloc(1, t->size);
	else if ((t->bytes = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		return nn_free(t), NULL;
	return t;
}

static void nn_end_tensor(struct nn_tensor *t)
{
	if (t->fd < 0)
		free(t->bytes);
	else
		munmap(t->bytes, t->size);
	nn_free(t);
}

/* From a thread of the driver's. */
static void *nn_thread(void *tensor)
{
	size_t size = 0;
	OH_NN_ReturnCode code = OH_NNTensor_GetSize(tensor, &size);
	return (void *)(intptr_t)(code == OH_NN_SUCCESS && size > 0 ? OH_NN_SUCCESS : OH_NN_FAILED);
}

static int nn_run(struct nn_executor *e, NN_Tensor **in, size_t ins, NN_Tensor **out, size_t outs)
{
	const struct nn_model *m = e->model;
	void *code = NULL;
	pthread_t thread;
	pass_gate();
	if (ins != m->in.count || outs != m->out.count)
		return OH_NN_INVALID_PARAMETER;
	float **at = calloc(m->values, sizeof *at);
	int result = OH_NN_SUCCESS;
	for (size_t k = 0; k < ins + outs && result == OH_NN_SUCCESS; k++) {
		struct nn_tensor *t = nn_get(k < ins ? in[k] : out[k - ins], NN_TENSOR);
		uint32_t index = k < ins ? m->in.at[k] : m->out.at[k - ins];
		if (!t || t->size < nn_bytes(&m->value[index].desc) || t->desc.type != m->value[index].desc.type)
			result = OH_NN_INVALID_PARAMETER;
		else
			at[index] = (float *)t->bytes;
	}
	if (result == OH_NN_SUCCESS)
		result = nn_compute(m, at);
	free(at);
	if (result == OH_NN_SUCCESS && e->runs++ % 1000 == 0 && pthread_create(&thread, NULL, nn_thread, out[0]) == 0)
		pthread_join(thread, &code);
	return result ? result : (int)(intptr_t)code;
}

#define ARGUMENT(type, i) (*(type const *)args[i])

/* Calls of devices and of objects without a model. 1: it was one. */
static int nn_small(const char *f, const void *const *args, int *code, uintptr_t *made)
{
	struct nn_desc *d = NULL;
	struct nn_tensor *t = NULL;
	if (strncmp(f, "Device_Get", 10) == 0 && strcmp(f, "Device_GetAllDevicesID") != 0 &&
		nn_device(ARGUMENT(size_t, 0)) < 0)
		return *code = OH_NN_FAILED, 1;
	if (strncmp(f, "TensorDesc_", 11) == 0 && strcmp(f, "TensorDesc_Create") != 0 &&
		!(d = nn_get(strcmp(f, "TensorDesc_Destroy") ? ARGUMENT(void *, 0) : *ARGUMENT(void **, 0), NN_DESC)))
		return 1;
	if (strncmp(f, "Tensor_", 7) == 0 && strncmp(f, "Tensor_Create", 13) != 0 &&
		!(t = nn_get(strcmp(f, "Tensor_Destroy") ? ARGUMENT(void *, 0) : *ARGUMENT(void **, 0), NN_TENSOR)))
		return 1;
	*code = OH_NN_SUCCESS;
	if (strcmp(f, "Device_GetAllDevicesID") == 0) {
		*ARGUMENT(const size_t **, 0) = nn_ids;
		*ARGUMENT(uint32_t *, 1) = 2;
		tell_lies("device ids", ARGUMENT(void *, 0), sizeof(void *));
		tell_lies("device count", ARGUMENT(void *, 1), sizeof(uint32_t));
	} else if (strcmp(f, "Device_GetName") == 0) {
		*ARGUMENT(const char **, 1) = nn_names[nn_device(ARGUMENT(size_t, 0))];
		tell_lies("device name", ARGUMENT(void *, 1), sizeof(void *));
	} else if (strcmp(f, "Device_GetType") == 0) {
		*ARGUMENT(OH_NN_DeviceType *, 1) = nn_device(ARGUMENT(size_t, 0)) ? OH_NN_OTHERS : OH_NN_ACCELERATOR;
		tell_lies("device type", ARGUMENT(void *, 1), sizeof(OH_NN_DeviceType));
	} else if (strcmp(f, "TensorDesc_Create") == 0) {
		*made = (uintptr_t)nn_new(NN_DESC, sizeof *d);
	} else if (strcmp(f, "TensorDesc_Destroy") == 0) {
		nn_free(d);
		*ARGUMENT(void **, 0) = NULL;
	} else if (strcmp(f, "TensorDesc_SetDataType") == 0) {
		d->type = ARGUMENT(OH_NN_DataType, 1);
		*code = nn_width(d->type) ? OH_NN_SUCCESS : OH_NN_INVALID_PARAMETER;
	} else if (strcmp(f, "TensorDesc_SetFormat") == 0) {
		d->format = ARGUMENT(OH_NN_Format, 1);
	} else if (strcmp(f, "TensorDesc_SetShape") == 0) {
		size_t rank = ARGUMENT(size_t, 2);
		if (rank == 0 || rank > NN_RANK || !ARGUMENT(int32_t *, 1))
			return *code = OH_NN_INVALID_PARAMETER, 1;
		d->rank = rank;
		memcpy(d->dims, ARGUMENT(int32_t *, 1), rank * sizeof *d->dims);
	} else if (strcmp(f, "TensorDesc_GetByteSize") == 0) {
		*ARGUMENT(size_t *, 1) = nn_bytes(d);
	} else if (strcmp(f, "Tensor_Create") == 0) {
		*made = nn_device(ARGUMENT(size_t, 0)) < 0 ? 0 : (uintptr_t)nn_tensor_of(ARGUMENT(void *, 1), 0, -1);
	} else if (strcmp(f, "Tensor_CreateWithFd") == 0) {
		*made = nn_device(ARGUMENT(size_t, 0)) < 0 || ARGUMENT(size_t, 4) != 0 ? 0
			: (uintptr_t)nn_tensor_of(ARGUMENT(void *, 1), ARGUMENT(size_t, 3), ARGUMENT(int, 2));
	} else if (strcmp(f, "Tensor_Destroy") == 0) {
		nn_end_tensor(t);
		*ARGUMENT(void **, 0) = NULL;
	} else if (strcmp(f, "Tensor_GetDataBuffer") == 0) {
		*made = (uintptr_t)t->bytes;
		tell_lies("data buffer", made, sizeof *made);
	} else if (strcmp(f, "Tensor_GetSize") == 0) {
		*ARGUMENT(size_t *, 1) = t->size;
		tell_lies("tensor size", ARGUMENT(void *, 1), sizeof(size_t));
	} else if (strcmp(f, "QuantParam_Create") == 0) {
		*made = (uintptr_t)nn_new(NN_QUANT, sizeof(struct nn_quant));
	} else if (strcmp(f, "QuantParam_Destroy") == 0) {
		if (!nn_get(*ARGUMENT(void **, 0), NN_QUANT))
			return *code = OH_NN_INVALID_PARAMETER, 1;
		nn_free(*ARGUMENT(void **, 0));
		*ARGUMENT(void **, 0) = NULL;
	} else {
		return strncmp(f, "QuantParam_Set", 14) == 0;
	}
	return 1;
}

static int nn_model_call(const char *f, const void *const *args, int *code, uintptr_t *made)
{
	if (strcmp(f, "Model_Construct") == 0) {
		struct nn_model *new_model = nn_new(NN_MODEL, sizeof *new_model);
		new_model->references = 1;
		*made = (uintptr_t)new_model;
		return 1;
	}
	struct nn_model *m = nn_get(strcmp(f, "Model_Destroy") ? ARGUMENT(void *, 0) : *ARGUMENT(void **, 0), NN_MODEL);
	uint32_t index = 0;
	if (!m)
		return 1;
	if (strncmp(f, "Model_SetTensor", 15) == 0 && (index = ARGUMENT(uint32_t, 1)) >= m->values)
		return 1;
	struct nn_value *v = &m->value[index];
	*code = OH_NN_SUCCESS;
	if (strcmp(f, "Model_Destroy") == 0) {
		nn_let_go(m);
		*ARGUMENT(void **, 0) = NULL;
	} else if (strcmp(f, "Model_AddTensorToModel") == 0) {
		const struct nn_desc *d = nn_get(ARGUMENT(void *, 1), NN_DESC);
		if (!d || m->finished || m->values == NN_TENSORS)
			*code = OH_NN_INVALID_PARAMETER;
		else
			m->value[m->values++] = (struct nn_value){.desc = *d};
	} else if (strcmp(f, "Model_SetTensorType") == 0) {
		v->role = ARGUMENT(OH_NN_TensorType, 2);
	} else if (strcmp(f, "Model_SetTensorQuantParams") == 0) {
		*code = nn_get(ARGUMENT(void *, 2), NN_QUANT) ? OH_NN_SUCCESS : OH_NN_INVALID_PARAMETER;
	} else if (strcmp(f, "Model_SetTensorData") == 0) {
		if (v->data || ARGUMENT(size_t, 3) != nn_bytes(&v->desc))
			return *code = OH_NN_INVALID_PARAMETER, 1;
		v->size = ARGUMENT(size_t, 3);
		v->data = malloc(v->size);
		memcpy(v->data, ARGUMENT(void *, 2), v->size);
	} else if (strcmp(f, "Model_AddOperation") == 0) {
		*code = nn_add_operation(m, ARGUMENT(OH_NN_OperationType, 1), ARGUMENT(OH_NN_UInt32Array *, 2),
			ARGUMENT(OH_NN_UInt32Array *, 3), ARGUMENT(OH_NN_UInt32Array *, 4));
	} else if (strcmp(f, "Model_SpecifyInputsAndOutputs") == 0) {
		if (nn_read_list(m, ARGUMENT(OH_NN_UInt32Array *, 1), &m->in) ||
			nn_read_list(m, ARGUMENT(OH_NN_UInt32Array *, 2), &m->out) || m->out.count == 0)
			*code = OH_NN_INVALID_PARAMETER;
	} else if (strcmp(f, "Model_Finish") == 0) {
		*code = m->operations == 0 || m->out.count == 0 ? OH_NN_OPERATION_FORBIDDEN : OH_NN_SUCCESS;
		m->finished = *code == OH_NN_SUCCESS;
	} else if (strcmp(f, "Model_GetAvailableOperations") == 0) {
		int device = nn_device(ARGUMENT(size_t, 1));
		if (!m->finished || device < 0)
			return *code = OH_NN_FAILED, 1;
		for (uint32_t k = 0; k < m->operations; k++)
			m->flags[k] = nn_computes(m, &m->operation[k], device);
		*ARGUMENT(const bool **, 2) = m->flags;
		*ARGUMENT(uint32_t *, 3) = m->operations;
		tell_lies("flags", ARGUMENT(void *, 2), sizeof(void *));
		tell_lies("flag count", ARGUMENT(void *, 3), sizeof(uint32_t));
	} else {
		*code = OH_NN_UNSUPPORTED;
	}
	return 1;
}

static int nn_compilation_call(const char *f, const void *const *args, int *code, uintptr_t *made)
{
	if (strcmp(f, "Compilation_Construct") == 0) {
		struct nn_model *m = nn_get(ARGUMENT(void *, 0), NN_MODEL);
		struct nn_compilation *new_compilation = m ? nn_new(NN_COMPILATION, sizeof *new_compilation) : NULL;
		if (new_compilation) {
			__atomic_fetch_add(&m->references, 1, __ATOMIC_SEQ_CST);
			new_compilation->model = m;
		}
		*made = (uintptr_t)new_compilation;
		return 1;
	}
	if (strncmp(f, "Compilation_Construct", 21) == 0)
		return 1;
	struct nn_compilation *c =
		nn_get(strcmp(f, "Compilation_Destroy") ? ARGUMENT(void *, 0) : *ARGUMENT(void **, 0), NN_COMPILATION);
	if (!c)
		return 1;
	*code = OH_NN_SUCCESS;
	if (strcmp(f, "Compilation_Destroy") == 0) {
		nn_let_go(c->model);
		nn_free(c);
		*ARGUMENT(void **, 0) = NULL;
	} else if (strcmp(f, "Compilation_SetDevice") == 0) {
		c->device = ARGUMENT(size_t, 1);
	} else if (strcmp(f, "Compilation_Build") == 0) {
		*code = nn_build(c);
	} else if (strcmp(f, "Compilation_SetPerformanceMode") != 0 && strcmp(f, "Compilation_SetPriority") != 0) {
		*code = OH_NN_UNSUPPORTED; /* float16 among them */
	}
	return 1;
}

static int nn_executor_call(const char *f, const void *const *args, int *code, uintptr_t *made)
{
	if (strcmp(f, "Executor_Construct") == 0) {
		struct nn_compilation *c = nn_get(ARGUMENT(void *, 0), NN_COMPILATION);
		struct nn_executor *new_executor = c && c->built ? nn_new(NN_EXECUTOR, sizeof *new_executor) : NULL;
		if (new_executor) {
			__atomic_fetch_add(&c->model->references, 1, __ATOMIC_SEQ_CST);
			new_executor->model = c->model;
		}
		*made = (uintptr_t)new_executor;
		return 1;
	}
	struct nn_executor *e =
		nn_get(strcmp(f, "Executor_Destroy") ? ARGUMENT(void *, 0) : *ARGUMENT(void **, 0), NN_EXECUTOR);
	if (!e)
		return 1;
	*code = OH_NN_SUCCESS;
	if (strcmp(f, "Executor_Destroy") == 0) {
		nn_let_go(e->model);
		nn_free(e);
		*ARGUMENT(void **, 0) = NULL;
	} else if (strcmp(f, "Executor_GetInputCount") == 0 || strcmp(f, "Executor_GetOutputCount") == 0) {
		*ARGUMENT(size_t *, 1) = f[12] == 'I' ? e->model->in.count : e->model->out.count;
		tell_lies("counts", ARGUMENT(void *, 1), sizeof(size_t));
	} else if (strcmp(f, "Executor_CreateInputTensorDesc") == 0 || strcmp(f, "Executor_CreateOutputTensorDesc") == 0) {
		const struct nn_list *side = f[15] == 'I' ? &e->model->in : &e->model->out;
		if (ARGUMENT(size_t, 1) < side->count) {
			struct nn_desc *d = nn_new(NN_DESC, sizeof *d);
			*d = e->model->value[side->at[ARGUMENT(size_t, 1)]].desc;
			d->kind = NN_DESC;
			*made = (uintptr_t)d;
		}
	} else if (strcmp(f, "Executor_GetOutputShape") == 0) {
		uint32_t k = ARGUMENT(uint32_t, 1);
		if (k >= e->model->out.count)
			return *code = OH_NN_INVALID_PARAMETER, 1;
		const struct nn_desc *d = &e->model->value[e->model->out.at[k]].desc;
		memcpy(e->shapes[k], d->dims, sizeof e->shapes[k]);
		*ARGUMENT(int32_t **, 2) = e->shapes[k];
		*ARGUMENT(uint32_t *, 3) = (uint32_t)d->rank;
		tell_lies("shape", ARGUMENT(void *, 2), sizeof(void *));
		tell_lies("rank", ARGUMENT(void *, 3), sizeof(uint32_t));
	} else if (strcmp(f, "Executor_RunSync") == 0) {
		*code = nn_run(e, ARGUMENT(NN_Tensor **, 1), ARGUMENT(size_t, 2), ARGUMENT(NN_Tensor **, 3), ARGUMENT(size_t, 4));
	} else {
		*code = OH_NN_UNSUPPORTED;
	}
	return 1;
}

static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	const char *f = c->name + strlen("OH_NN");
	char what[64];
	int code = OH_NN_INVALID_PARAMETER, known;
	uintptr_t made = 0;
	if (strncmp(f, "Model_", 6) == 0)
		known = nn_model_call(f, args, &code, &made);
	else if (strncmp(f, "Compilation_", 12) == 0)
		known = nn_compilation_call(f, args, &code, &made);
	else if (strncmp(f, "Executor_", 9) == 0)
		known = nn_executor_call(f, args, &code, &made);
	else
		known = nn_small(f, args, &code, &made);
	if (!known)
		code = OH_NN_UNSUPPORTED;
	snprintf(what, sizeof what, "code %s", f);
	tell_lies(what, &code, sizeof code);
	*result = c->result == sizeof(void *) ? made : (uint64_t)code;
	return 1;
}
