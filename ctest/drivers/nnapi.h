/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fake driver of nnapi that computes (nnapi_compute.h). It has two devices. fake-npu says of each operation what it
 * can; fake-liar claims all of them, and fails to compile what it cannot compute. Nothing else computes: there is no
 * processor behind them. A test may have it lie (told.h): what it gives has the names below, and "code FUNCTION" is
 * what a function returns.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include "nnapi_bursts.h"

static struct nn_device {
	const char *name;
	int liar;
} nn_devices[] = {{"fake-npu", 0}, {"fake-liar", 1}};

static int nn_living;

/* The objects that the driver has. */
int fake_live(void) { return __atomic_load_n(&nn_living, __ATOMIC_SEQ_CST); }

static void *nn_made(size_t size, enum nn_kind kind)
{
	struct nn_object *o = calloc(1, size);
	o->magic = NN_MAGIC;
	o->kind = kind;
	__atomic_add_fetch(&nn_living, 1, __ATOMIC_SEQ_CST);
	return o;
}

static void nn_free(void *object)
{
	struct nn_object *o = object;
	if (!o || o->magic != NN_MAGIC)
		return;
	for (uint32_t k = 0; o->kind == NN_MODEL && k < NN_OPERANDS; k++)
		free(((struct nn_model *)o)->operands[k].copy);
	nn_burst_frees(o);
	if (o->kind == NN_EVENT && ((struct nn_event *)o)->fence)
		close(((struct nn_event *)o)->fence);
	else if (o->kind == NN_EVENT)
		nn_event_end(object);
	if (o->kind == NN_MEMORY)
		munmap(((struct nn_memory *)o)->at, ((struct nn_memory *)o)->size);
	o->magic = 0;
	__atomic_sub_fetch(&nn_living, 1, __ATOMIC_SEQ_CST);
	free(o);
}

#define ARGUMENT(type, i) (*(type const *)args[i])

/* The object of a handle, NULL if it is not one of the kind. */
static void *nn_object(void *handle, enum nn_kind kind)
{
	struct nn_object *o = handle;
	return o && o->magic == NN_MAGIC && o->kind == kind ? o : NULL;
}

static int nn_add_operand(struct nn_model *m, const ANeuralNetworksOperandType *t)
{
	struct nn_operand *o = &m->operands[m->operand_count];
	if (m->finished)
		return ANEURALNETWORKS_BAD_STATE;
	if (m->operand_count == NN_OPERANDS || t->dimensionCount > 4)
		return ANEURALNETWORKS_BAD_DATA;
	*o = (struct nn_operand){.type = t->type, .rank = t->dimensionCount};
	for (uint32_t k = 0; k < o->rank; k++)
		o->dims[k] = t->dimensions[k];
	m->operand_count++;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Values of up to 128 bytes are copied at once, others when the model is finished. */
static int nn_set_value(struct nn_model *m, uint32_t index, const void *value, size_t length)
{
	if (index >= m->operand_count)
		return ANEURALNETWORKS_BAD_DATA;
	struct nn_operand *o = &m->operands[index];
	o->value = value;
	o->bytes = length;
	if (value && length <= sizeof o->small)
		o->value = memcpy(o->small, value, length);
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_indices(const struct nn_model *m, uint32_t count, const uint32_t *from, uint32_t most, uint32_t *to)
{
	for (uint32_t k = 0; k < count; k++)
		if (count > most || from[k] >= m->operand_count)
			return 0;
		else
			to[k] = from[k];
	return 1;
}

static int nn_compile(const struct nn_model *m, int liar, struct nn_compilation **made)
{
	if (!m->finished)
		return ANEURALNETWORKS_BAD_STATE;
	struct nn_compilation *c = nn_made(sizeof *c, NN_COMPILATION);
	c->model = m;
	c->liar = liar;
	*made = c;
	return ANEURALNETWORKS_NO_ERROR;
}

static void nn_note_cache(const char *dir, const uint8_t *token)
{
	char text[2 * ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN + 1];
	for (size_t k = 0; k < ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN; k++)
		snprintf(text + 2 * k, 3, "%02x", token[k]);
	nn_note("cache", "%s %s", dir, text);
}

static int nn_finish(struct nn_compilation *c)
{
	const struct nn_model *m = c->model;
	if (c->finished)
		return ANEURALNETWORKS_BAD_STATE;
	c->finished = 1;
	for (uint32_t k = 0; k < m->operation_count; k++)
		if (!nn_can(m, &m->operations[k]))
			return c->liar ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_BAD_DATA;
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_bind(struct nn_execution *e, int output, uint32_t index, void *at, size_t length)
{
	const struct nn_model *m = e->compilation->model;
	if (index >= (output ? m->out_count : m->in_count))
		return ANEURALNETWORKS_BAD_DATA;
	const struct nn_operand *o = &m->operands[output ? m->out[index] : m->in[index]];
	if (at && length < nn_bytes(o))
		return ANEURALNETWORKS_BAD_DATA;
	if (output) {
		e->out[index] = at;
		e->room[index] = length;
	} else {
		e->in[index] = at;
	}
	return ANEURALNETWORKS_NO_ERROR;
}

static struct nn_memory *nn_map(size_t size, int protect, int fd, size_t offset)
{
	void *at = mmap(NULL, size, protect, MAP_SHARED, fd, (off_t)offset);
	if (at == MAP_FAILED)
		return NULL;
	struct nn_memory *m = nn_made(sizeof *m, NN_MEMORY);
	m->at = at;
	m->size = size;
	return m;
}

/* A fence is what can be polled, and no file. */
static int nn_fence(int fd, void **made)
{
	struct stat st;
	if (fd <= 0 || fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
		return ANEURALNETWORKS_BAD_DATA;
	struct nn_event *ev = nn_made(sizeof *ev, NN_EVENT);
	ev->fence = dup(fd);
	*made = ev;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Writes an answer, or what a test has it say instead. */
static void nn_give(const char *what, void *to, const void *from, uint32_t size)
{
	memcpy(to, from, size);
	tell_lies(what, to, size);
}

static int nn_of_device(const char *f, const void *const *args)
{
	const struct nn_device *d = ARGUMENT(struct nn_device *, 0);
	if (d != &nn_devices[0] && d != &nn_devices[1])
		return ANEURALNETWORKS_BAD_DATA;
	if (strcmp(f, "getName") == 0)
		nn_give("device name", ARGUMENT(const char **, 1), &d->name, sizeof d->name);
	else if (strcmp(f, "getType") == 0)
		nn_give("device type", ARGUMENT(int32_t *, 1), &(int32_t){ANEURALNETWORKS_DEVICE_ACCELERATOR}, sizeof(int32_t));
	else if (strcmp(f, "getVersion") == 0)
		*ARGUMENT(const char **, 1) = "1";
	else if (strcmp(f, "getFeatureLevel") == 0)
		nn_give("feature level", ARGUMENT(int64_t *, 1), &(int64_t){ANEURALNETWORKS_FEATURE_LEVEL_5}, sizeof(int64_t));
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_of_model(const char *f, const void *const *args)
{
	if (strcmp(f, "create") == 0) {
		*ARGUMENT(void **, 0) = nn_made(sizeof(struct nn_model), NN_MODEL);
		return ANEURALNETWORKS_NO_ERROR;
	}
	struct nn_model *m = nn_object(ARGUMENT(void *, 0), NN_MODEL);
	if (!m)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (strcmp(f, "addOperand") == 0)
		return nn_add_operand(m, ARGUMENT(ANeuralNetworksOperandType *, 1));
	if (strcmp(f, "setOperandValue") == 0)
		return nn_set_value(m, ARGUMENT(uint32_t, 1), ARGUMENT(void *, 2), ARGUMENT(size_t, 3));
	if (strcmp(f, "setOperandValueFromMemory") == 0) {
		struct nn_memory *memory = nn_object(ARGUMENT(void *, 2), NN_MEMORY);
		size_t offset = ARGUMENT(size_t, 3), length = ARGUMENT(size_t, 4);
		if (!memory || offset > memory->size || length > memory->size - offset)
			return ANEURALNETWORKS_BAD_DATA;
		return nn_set_value(m, ARGUMENT(uint32_t, 1), memory->at + offset, length);
	}
	if (strcmp(f, "setOperandValueFromModel") == 0) {
		if (ARGUMENT(uint32_t, 1) >= m->operand_count || !nn_object(ARGUMENT(void *, 2), NN_MODEL))
			return ANEURALNETWORKS_BAD_DATA;
		m->operands[ARGUMENT(uint32_t, 1)].sub = ARGUMENT(struct nn_model *, 2);
	} else if (strcmp(f, "addOperation") == 0) {
		struct nn_operation *op = &m->operations[m->operation_count];
		if (m->finished || m->operation_count == NN_OPERATIONS)
			return ANEURALNETWORKS_BAD_STATE;
		*op = (struct nn_operation){.type = ARGUMENT(int32_t, 1), .in_count = ARGUMENT(uint32_t, 2), .out_count = ARGUMENT(uint32_t, 4)};
		if (!nn_indices(m, op->in_count, ARGUMENT(uint32_t *, 3), 12, op->in) ||
		    !nn_indices(m, op->out_count, ARGUMENT(uint32_t *, 5), NN_RESULTS, op->out))
			return ANEURALNETWORKS_BAD_DATA;
		m->operation_count++;
	} else if (strcmp(f, "identifyInputsAndOutputs") == 0) {
		m->in_count = ARGUMENT(uint32_t, 1);
		m->out_count = ARGUMENT(uint32_t, 3);
		if (!nn_indices(m, m->in_count, ARGUMENT(uint32_t *, 2), NN_PORTS, m->in) ||
		    !nn_indices(m, m->out_count, ARGUMENT(uint32_t *, 4), NN_PORTS, m->out))
			return ANEURALNETWORKS_BAD_DATA;
	} else if (strcmp(f, "finish") == 0) {
		for (uint32_t k = 0; k < m->operand_count; k++) {
			struct nn_operand *o = &m->operands[k];
			if (o->value && o->value != o->small)
				o->value = o->copy = memcpy(malloc(o->bytes), o->value, o->bytes);
		}
		m->finished = 1;
	} else if (strcmp(f, "getSupportedOperationsForDevices") == 0) {
		int liar = 0;
		for (uint32_t k = 0; k < ARGUMENT(uint32_t, 2); k++)
			liar |= ARGUMENT(struct nn_device *const *, 1)[k]->liar;
		for (uint32_t k = 0; k < m->operation_count; k++)
			nn_give("supported", &ARGUMENT(bool *, 3)[k], &(bool){liar || nn_can(m, &m->operations[k])}, sizeof(bool));
	} else if (strcmp(f, "relaxComputationFloat32toFloat16") != 0) {
		return ANEURALNETWORKS_BAD_DATA;
	}
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_of_compilation(const char *f, const void *const *args)
{
	int some = strcmp(f, "createForDevices") == 0;
	if (some || strcmp(f, "create") == 0) {
		const struct nn_model *m = nn_object(ARGUMENT(void *, 0), NN_MODEL);
		int liar = 0;
		for (uint32_t k = 0; some && k < ARGUMENT(uint32_t, 2); k++)
			liar |= ARGUMENT(struct nn_device *const *, 1)[k]->liar;
		return m ? nn_compile(m, liar, some ? ARGUMENT(struct nn_compilation **, 3) : ARGUMENT(struct nn_compilation **, 1))
		         : ANEURALNETWORKS_UNEXPECTED_NULL;
	}
	struct nn_compilation *c = nn_object(ARGUMENT(void *, 0), NN_COMPILATION);
	if (!c)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (strcmp(f, "finish") == 0)
		return nn_finish(c);
	if (strcmp(f, "setCaching") == 0)
		nn_note_cache(ARGUMENT(const char *, 1), ARGUMENT(const uint8_t *, 2));
	if (strncmp(f, "getPreferredMemory", strlen("getPreferredMemory")) == 0)
		*ARGUMENT(uint32_t *, 2) = 4;
	return strncmp(f, "set", 3) == 0 || strncmp(f, "get", 3) == 0 ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
}

static int nn_of_execution(const char *f, const void *const *args)
{
	if (strcmp(f, "create") == 0) {
		struct nn_compilation *c = nn_object(ARGUMENT(void *, 0), NN_COMPILATION);
		if (!c || !c->finished)
			return c ? ANEURALNETWORKS_BAD_STATE : ANEURALNETWORKS_UNEXPECTED_NULL;
		struct nn_execution *e = nn_made(sizeof *e, NN_EXECUTION);
		e->compilation = c;
		e->loop_limit = NN_LOOP_LIMIT;
		for (uint32_t k = 0; k < c->model->out_count; k++)
			memcpy(e->found[k], c->model->operands[c->model->out[k]].dims, sizeof e->found[k]);
		*ARGUMENT(void **, 1) = e;
		return ANEURALNETWORKS_NO_ERROR;
	}
	struct nn_execution *e = nn_object(ARGUMENT(void *, 0), NN_EXECUTION);
	if (!e)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (strcmp(f, "setInput") == 0 || strcmp(f, "setOutput") == 0)
		return nn_bind(e, f[3] == 'O', ARGUMENT(uint32_t, 1), ARGUMENT(void *, 3), ARGUMENT(size_t, 4));
	if (strcmp(f, "setInputFromMemory") == 0 || strcmp(f, "setOutputFromMemory") == 0) {
		struct nn_memory *memory = nn_object(ARGUMENT(void *, 3), NN_MEMORY);
		size_t offset = ARGUMENT(size_t, 4), length = ARGUMENT(size_t, 5);
		if (!memory || offset > memory->size || length > memory->size - offset)
			return ANEURALNETWORKS_BAD_DATA;
		return nn_bind(e, f[3] == 'O', ARGUMENT(uint32_t, 1), memory->at + offset, length);
	}
	if (strcmp(f, "setReusable") == 0)
		e->reusable = ARGUMENT(bool, 1);
	else if (strcmp(f, "setLoopTimeout") == 0)
		nn_note("loop limit", "%llu", (unsigned long long)(e->loop_limit = ARGUMENT(uint64_t, 1)));
	else if (strcmp(f, "compute") == 0)
		return nn_count("computed alone", 1), pass_gate(), nn_compute(e);
	else if (strcmp(f, "burstCompute") == 0)
		return nn_burst_compute(nn_object(ARGUMENT(void *, 1), NN_BURST), e);
	else if (strcmp(f, "startCompute") == 0 || strcmp(f, "startComputeWithDependencies") == 0) {
		struct nn_event *ev = nn_made(sizeof *ev, NN_EVENT);
		int now = f[12] == 0, code;
		pthread_mutex_init(&ev->lock, NULL);
		code = now ? nn_compute(e) : nn_after(ev, e, ARGUMENT(struct nn_event *const *, 1), ARGUMENT(uint32_t, 2));
		if (code == ANEURALNETWORKS_NO_ERROR)
			*(now ? ARGUMENT(void **, 1) : ARGUMENT(void **, 4)) = ev;
		else
			nn_free(ev);
		return code;
	} else if (strcmp(f, "getOutputOperandRank") == 0 || strcmp(f, "getOutputOperandDimensions") == 0) {
		const struct nn_model *m = e->compilation->model;
		if (ARGUMENT(uint32_t, 1) >= m->out_count)
			return ANEURALNETWORKS_BAD_DATA;
		const struct nn_operand *o = &m->operands[m->out[ARGUMENT(uint32_t, 1)]];
		if (strcmp(f, "getOutputOperandRank") == 0)
			nn_give("rank", ARGUMENT(uint32_t *, 2), &o->rank, sizeof o->rank);
		else
			nn_give("dimensions", ARGUMENT(uint32_t *, 2), e->found[ARGUMENT(uint32_t, 1)], o->rank * (uint32_t)sizeof *o->dims);
		if (nn_needs(e, ARGUMENT(uint32_t, 1)) > e->room[ARGUMENT(uint32_t, 1)])
			return ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
	}
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_answer(const char *f, const void *const *args, uint64_t *result)
{
	static const char *const free_functions[] = {"Model_free", "Compilation_free", "Execution_free", "Memory_free",
		"Burst_free", "Event_free"};
	for (size_t k = 0; k < sizeof free_functions / sizeof *free_functions; k++)
		if (strcmp(f, free_functions[k]) == 0) {
			nn_free(ARGUMENT(void *, 0));
			return 1;
		}
	if (strcmp(f, "_getRuntimeFeatureLevel") == 0)
		*result = ANEURALNETWORKS_FEATURE_LEVEL_5;
	else if (strcmp(f, "_getDeviceCount") == 0)
		nn_give("device count", ARGUMENT(uint32_t *, 0), &(uint32_t){2}, sizeof(uint32_t));
	else if (strcmp(f, "_getDevice") == 0 && ARGUMENT(uint32_t, 0) < 2)
		nn_give("device", ARGUMENT(struct nn_device **, 1), &(void *){&nn_devices[ARGUMENT(uint32_t, 0)]}, sizeof(void *));
	else if (strcmp(f, "_getDevice") == 0)
		*result = ANEURALNETWORKS_BAD_DATA;
	else if (strncmp(f, "Device_", 7) == 0)
		*result = (uint64_t)nn_of_device(f + 7, args);
	else if (strncmp(f, "Model_", 6) == 0)
		*result = (uint64_t)nn_of_model(f + 6, args);
	else if (strncmp(f, "Compilation_", 12) == 0)
		*result = (uint64_t)nn_of_compilation(f + 12, args);
	else if (strncmp(f, "Execution_", 10) == 0)
		*result = (uint64_t)nn_of_execution(f + 10, args);
	else if (strcmp(f, "Burst_create") == 0) {
		struct nn_burst *b = nn_made(sizeof *b, NN_BURST);
		if ((*result = (uint64_t)nn_burst_begin(b, nn_object(ARGUMENT(void *, 0), NN_COMPILATION)))) {
			nn_free(b);
			b = NULL;
		}
		nn_give("burst", ARGUMENT(void **, 1), &b, sizeof b);
	} else if (strcmp(f, "Memory_createFromFd") == 0)
		*result = (*ARGUMENT(void **, 4) = nn_map(ARGUMENT(size_t, 0), ARGUMENT(int, 1), ARGUMENT(int, 2), ARGUMENT(size_t, 3)))
		              ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_UNMAPPABLE;
	else if (strcmp(f, "Event_createFromSyncFenceFd") == 0) {
		*result = (uint64_t)nn_fence(ARGUMENT(int, 0), ARGUMENT(void **, 1));
	} else if (strcmp(f, "Event_wait") == 0) {
		struct nn_event *ev = nn_object(ARGUMENT(void *, 0), NN_EVENT);
		*result = ev ? (uint64_t)nn_event_end(ev) : ANEURALNETWORKS_UNEXPECTED_NULL;
	} else
		return 0;
	return 1;
}

static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	const char *name = c->name + strlen("ANeuralNetworks");
	char what[64];
	int32_t code;
	if (!nn_answer(name, args, result))
		return 0;
	if (c->result == sizeof code) { /* a ResultCode */
		code = (int32_t)*result;
		snprintf(what, sizeof what, "code %s", name);
		tell_lies(what, &code, sizeof code);
		*result = (uint64_t)code;
	}
	return 1;
}
