/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a fake driver of nnapi computes: models of float32 with known sizes, of the operations of
 * examples/nnapi_digits.c, ADD and MUL. It has two devices. fake-npu says of each operation what it can; fake-liar claims
 * all of them, and fails to compile what it cannot compute. Nothing else computes: there is no processor behind them.
 *
 * A program can have it block in its runs (fake_block), ask what lives (fake_live), and have calls answer another code
 * (fake_fail).
 */
#include <android/NeuralNetworks.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define NN_OPERANDS 256
#define NN_OPERATIONS 64
#define NN_PORTS 8
#define NN_MAGIC 0x4e4e4150 /* of every object */

enum nn_kind { NN_MODEL = 1, NN_COMPILATION, NN_EXECUTION, NN_MEMORY, NN_BURST, NN_EVENT };

struct nn_object {
	uint32_t magic;
	enum nn_kind kind;
};

struct nn_memory {
	struct nn_object object;
	char *at;
	size_t size;
};

struct nn_operand {
	int32_t type;
	uint32_t rank, dims[4];
	const void *value; /* a constant */
	size_t bytes;
	uint8_t small[128];
	void *copy;
};

struct nn_operation {
	int32_t type;
	uint32_t in_count, out_count, in[12], out[2];
};

struct nn_model {
	struct nn_object object;
	struct nn_operand operands[NN_OPERANDS];
	struct nn_operation operations[NN_OPERATIONS];
	uint32_t operand_count, operation_count, in_count, out_count, in[NN_PORTS], out[NN_PORTS];
	int finished;
};

struct nn_compilation {
	struct nn_object object;
	const struct nn_model *model;
	int liar, finished;
};

struct nn_execution {
	struct nn_object object;
	const struct nn_compilation *compilation;
	const void *in[NN_PORTS];
	void *out[NN_PORTS];
	int used, reusable;
};

struct nn_plain {
	struct nn_object object;
};

static struct nn_device {
	const char *name;
	int liar;
} nn_devices[] = {{"fake-npu", 0}, {"fake-liar", 1}};

static int nn_living;

int fake_live(void);
void fake_block(int on);
void fake_fail(const char *function, int code);

/* The objects that are not freed. */
int fake_live(void) { return __atomic_load_n(&nn_living, __ATOMIC_SEQ_CST); }

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate_closed;

/* Computations that begin from now on do not end before it is taken back. */
void fake_block(int on)
{
	pthread_mutex_lock(&gate);
	gate_closed = on;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate);
}

static char failing[80];
static int failing_code;

/* Calls of a function answer a code; NULL: no more. */
void fake_fail(const char *function, int code)
{
	pthread_mutex_lock(&gate);
	snprintf(failing, sizeof failing, "%s", function ? function : "");
	failing_code = code;
	pthread_mutex_unlock(&gate);
}

static void *nn_made(size_t size, enum nn_kind kind)
{
	struct nn_object *o = calloc(1, size);
	o->magic = NN_MAGIC;
	o->kind = kind;
	__atomic_fetch_add(&nn_living, 1, __ATOMIC_SEQ_CST);
	return o;
}

static void nn_free(void *object)
{
	struct nn_object *o = object;
	if (!o || o->magic != NN_MAGIC)
		return;
	for (uint32_t k = 0; o->kind == NN_MODEL && k < NN_OPERANDS; k++)
		free(((struct nn_model *)o)->operands[k].copy);
	if (o->kind == NN_MEMORY)
		munmap(((struct nn_memory *)o)->at, ((struct nn_memory *)o)->size);
	o->magic = 0;
	free(o);
	__atomic_fetch_sub(&nn_living, 1, __ATOMIC_SEQ_CST);
}

static size_t nn_elements(const struct nn_operand *o)
{
	size_t n = 1;
	for (uint32_t k = 0; k < o->rank; k++)
		n *= o->dims[k];
	return n;
}

static int32_t nn_int(const struct nn_operand *o)
{
	int32_t v = 0;
	if (o->value)
		memcpy(&v, o->value, sizeof v);
	return v;
}

/* Whether an operation is one of those above, of float32, with scalars that are constants. */
static int nn_can(const struct nn_model *m, const struct nn_operation *op)
{
	static const struct {
		int32_t type;
		uint32_t in, tensors;
	} known[] = {
		{ANEURALNETWORKS_ADD, 3, 2}, {ANEURALNETWORKS_MUL, 3, 2}, {ANEURALNETWORKS_CONV_2D, 7, 3}, {ANEURALNETWORKS_CONV_2D, 10, 3},
		{ANEURALNETWORKS_MAX_POOL_2D, 7, 1}, {ANEURALNETWORKS_MAX_POOL_2D, 10, 1}, {ANEURALNETWORKS_FULLY_CONNECTED, 4, 3},
		{ANEURALNETWORKS_SOFTMAX, 2, 1},
	};
	size_t k = 0;
	while (k < sizeof known / sizeof *known && (known[k].type != op->type || known[k].in != op->in_count))
		k++;
	if (k == sizeof known / sizeof *known || op->out_count != 1)
		return 0;
	for (uint32_t i = 0; i <= op->in_count; i++) {
		const struct nn_operand *o = &m->operands[i < op->in_count ? op->in[i] : op->out[0]];
		if (i >= known[k].tensors && i < op->in_count) {
			if (!o->value)
				return 0;
			continue;
		}
		if (o->type != ANEURALNETWORKS_TENSOR_FLOAT32 || o->rank == 0 || o->rank > 4 || nn_elements(o) == 0)
			return 0;
	}
	return 1;
}

static float nn_clip(float v, int32_t fuse)
{
	static const float low[] = {-INFINITY, 0, -1, 0}, high[] = {INFINITY, INFINITY, 1, 6};
	return fuse < 0 || fuse > 3 ? v : fminf(fmaxf(v, low[fuse]), high[fuse]);
}

/* a op b with NumPy's broadcasting. */
static void nn_elementwise(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *a = &o[op->in[0]], *b = &o[op->in[1]], *y = &o[op->out[0]];
	int32_t fuse = nn_int(&o[op->in[2]]);
	for (size_t at = 0; at < nn_elements(y); at++) {
		size_t left = at, ia = 0, ib = 0, ua = 1, ub = 1;
		for (uint32_t k = 1; k <= y->rank; k++) { /* from the last dimension */
			uint32_t n = y->dims[y->rank - k], x = (uint32_t)(left % n);
			left /= n;
			uint32_t na = k <= a->rank ? a->dims[a->rank - k] : 1, nb = k <= b->rank ? b->dims[b->rank - k] : 1;
			ia += (na == 1 ? 0 : x) * ua;
			ib += (nb == 1 ? 0 : x) * ub;
			ua *= na;
			ub *= nb;
		}
		float p = v[op->in[0]][ia], q = v[op->in[1]][ib];
		v[op->out[0]][at] = nn_clip(op->type == ANEURALNETWORKS_ADD ? p + q : p * q, fuse);
	}
}

/* Windows of a convolution or a pooling: image NHWC, filter [O,h,w,I]. */
static void nn_windows(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	int conv = op->type == ANEURALNETWORKS_CONV_2D, first = conv ? 3 : 1, implied = op->in_count == 7;
	const struct nn_operand *x = &o[op->in[0]], *y = &o[op->out[0]];
	int32_t p[9] = {0}, fuse = nn_int(&o[op->in[op->in_count - 1]]);
	for (uint32_t i = (uint32_t)first; i < op->in_count; i++)
		p[i - (uint32_t)first] = nn_int(&o[op->in[i]]);
	const int32_t *rest = implied ? p + 1 : p + 4; /* strides of width and height, then a pool's window */
	int sw = rest[0], sh = rest[1];
	int h = conv ? (int)o[op->in[1]].dims[1] : rest[3], w = conv ? (int)o[op->in[1]].dims[2] : rest[2];
	int top = implied ? 0 : p[2], left = implied ? 0 : p[0];
	if (implied && p[0] == ANEURALNETWORKS_PADDING_SAME) {
		int rows = ((int)y->dims[1] - 1) * sh + h - (int)x->dims[1], columns = ((int)y->dims[2] - 1) * sw + w - (int)x->dims[2];
		top = rows > 0 ? rows / 2 : 0;
		left = columns > 0 ? columns / 2 : 0;
	}
	uint32_t channels = x->dims[3];
	for (size_t at = 0; at < nn_elements(y); at++) {
		uint32_t c = (uint32_t)(at % y->dims[3]), column = (uint32_t)(at / y->dims[3] % y->dims[2]);
		uint32_t row = (uint32_t)(at / y->dims[3] / y->dims[2] % y->dims[1]), n = (uint32_t)(at / y->dims[3] / y->dims[2] / y->dims[1]);
		float sum = conv ? v[op->in[2]][c] : -INFINITY;
		for (int i = 0; i < h; i++)
			for (int k = 0; k < w; k++) {
				int r = (int)row * sh + i - top, q = (int)column * sw + k - left;
				if (r < 0 || r >= (int)x->dims[1] || q < 0 || q >= (int)x->dims[2])
					continue;
				const float *pixel = v[op->in[0]] + ((n * x->dims[1] + (uint32_t)r) * x->dims[2] + (uint32_t)q) * channels;
				if (!conv) {
					sum = fmaxf(sum, pixel[c]);
					continue;
				}
				const float *filter = v[op->in[1]] + ((c * (uint32_t)h + (uint32_t)i) * (uint32_t)w + (uint32_t)k) * channels;
				for (uint32_t z = 0; z < channels; z++)
					sum += pixel[z] * filter[z];
			}
		v[op->out[0]][at] = nn_clip(sum, fuse);
	}
}

static void nn_fully_connected(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	uint32_t units = o[op->in[1]].dims[0], depth = o[op->in[1]].dims[1];
	int32_t fuse = nn_int(&o[op->in[3]]);
	for (size_t at = 0; at < nn_elements(&o[op->out[0]]); at++) {
		float sum = v[op->in[2]][at % units];
		for (uint32_t z = 0; z < depth; z++)
			sum += v[op->in[0]][at / units * depth + z] * v[op->in[1]][at % units * depth + z];
		v[op->out[0]][at] = nn_clip(sum, fuse);
	}
}

/* Over the last dimension. */
static void nn_softmax(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *y = &o[op->out[0]];
	uint32_t n = y->dims[y->rank - 1];
	float beta;
	memcpy(&beta, o[op->in[1]].value, sizeof beta);
	for (size_t at = 0; at < nn_elements(y); at += n) {
		const float *x = v[op->in[0]] + at;
		float *to = v[op->out[0]] + at, most = x[0], sum = 0;
		for (uint32_t k = 1; k < n; k++)
			most = fmaxf(most, x[k]);
		for (uint32_t k = 0; k < n; k++)
			sum += to[k] = expf((x[k] - most) * beta);
		for (uint32_t k = 0; k < n; k++)
			to[k] /= sum;
	}
}

static int nn_compute(struct nn_execution *e)
{
	const struct nn_model *m = e->compilation->model;
	float *v[NN_OPERANDS] = {NULL};
	int made[NN_OPERANDS] = {0};
	pthread_mutex_lock(&gate);
	while (gate_closed)
		pthread_cond_wait(&gate_moved, &gate);
	pthread_mutex_unlock(&gate);
	if (e->used && !e->reusable)
		return ANEURALNETWORKS_BAD_STATE;
	e->used = 1;
	for (uint32_t i = 0; i < m->in_count; i++)
		v[m->in[i]] = (float *)(uintptr_t)e->in[i];
	for (uint32_t i = 0; i < m->out_count; i++)
		v[m->out[i]] = e->out[i];
	for (uint32_t i = 0; i < m->operand_count; i++) {
		if (!v[i] && m->operands[i].value)
			v[i] = (float *)(uintptr_t)m->operands[i].value;
		if (!v[i]) {
			v[i] = malloc(4 * nn_elements(&m->operands[i]) + 4);
			made[i] = 1;
		}
	}
	for (uint32_t k = 0; k < m->operation_count; k++) {
		const struct nn_operation *op = &m->operations[k];
		switch (op->type) {
		case ANEURALNETWORKS_ADD:
		case ANEURALNETWORKS_MUL:
			nn_elementwise(op, m->operands, v);
			break;
		case ANEURALNETWORKS_FULLY_CONNECTED:
			nn_fully_connected(op, m->operands, v);
			break;
		case ANEURALNETWORKS_SOFTMAX:
			nn_softmax(op, m->operands, v);
			break;
		default:
			nn_windows(op, m->operands, v);
		}
	}
	for (uint32_t i = 0; i < m->operand_count; i++)
		if (made[i])
			free(v[i]);
	return ANEURALNETWORKS_NO_ERROR;
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
	if (at && length < 4 * nn_elements(o))
		return ANEURALNETWORKS_BAD_DATA;
	if (output)
		e->out[index] = at;
	else
		e->in[index] = at;
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

static int nn_of_device(const char *f, const void *const *args)
{
	const struct nn_device *d = ARGUMENT(struct nn_device *, 0);
	if (d != &nn_devices[0] && d != &nn_devices[1])
		return ANEURALNETWORKS_BAD_DATA;
	if (strcmp(f, "getName") == 0)
		*ARGUMENT(const char **, 1) = d->name;
	else if (strcmp(f, "getType") == 0)
		*ARGUMENT(int32_t *, 1) = ANEURALNETWORKS_DEVICE_ACCELERATOR;
	else if (strcmp(f, "getVersion") == 0)
		*ARGUMENT(const char **, 1) = "1";
	else if (strcmp(f, "getFeatureLevel") == 0)
		*ARGUMENT(int64_t *, 1) = ANEURALNETWORKS_FEATURE_LEVEL_5;
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
	if (strcmp(f, "addOperation") == 0) {
		struct nn_operation *op = &m->operations[m->operation_count];
		if (m->finished || m->operation_count == NN_OPERATIONS)
			return ANEURALNETWORKS_BAD_STATE;
		*op = (struct nn_operation){.type = ARGUMENT(int32_t, 1), .in_count = ARGUMENT(uint32_t, 2), .out_count = ARGUMENT(uint32_t, 4)};
		if (!nn_indices(m, op->in_count, ARGUMENT(uint32_t *, 3), 12, op->in) ||
		    !nn_indices(m, op->out_count, ARGUMENT(uint32_t *, 5), 2, op->out))
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
			ARGUMENT(bool *, 3)[k] = liar || nn_can(m, &m->operations[k]);
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
	else if (strcmp(f, "compute") == 0 || strcmp(f, "burstCompute") == 0)
		return nn_compute(e);
	else if (strcmp(f, "startCompute") == 0 || strcmp(f, "startComputeWithDependencies") == 0) {
		int code = nn_compute(e);
		if (code == ANEURALNETWORKS_NO_ERROR)
			*(f[12] == 0 ? ARGUMENT(void **, 1) : ARGUMENT(void **, 4)) = nn_made(sizeof(struct nn_plain), NN_EVENT);
		return code;
	} else if (strcmp(f, "getOutputOperandRank") == 0 || strcmp(f, "getOutputOperandDimensions") == 0) {
		const struct nn_model *m = e->compilation->model;
		if (ARGUMENT(uint32_t, 1) >= m->out_count)
			return ANEURALNETWORKS_BAD_DATA;
		const struct nn_operand *o = &m->operands[m->out[ARGUMENT(uint32_t, 1)]];
		if (strcmp(f, "getOutputOperandRank") == 0)
			*ARGUMENT(uint32_t *, 2) = o->rank;
		else
			memcpy(ARGUMENT(uint32_t *, 2), o->dims, o->rank * sizeof *o->dims);
	}
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_answer(const char *f, const void *const *args, uint64_t *result)
{
	static const char *const free_functions[] = {"Model_free", "Compilation_free", "Execution_free", "Memory_free", "Burst_free", "Event_free"};
	for (size_t k = 0; k < sizeof free_functions / sizeof *free_functions; k++)
		if (strcmp(f, free_functions[k]) == 0) {
			nn_free(ARGUMENT(void *, 0));
			return 1;
		}
	if (strcmp(f, "_getRuntimeFeatureLevel") == 0)
		*result = ANEURALNETWORKS_FEATURE_LEVEL_5;
	else if (strcmp(f, "_getDeviceCount") == 0)
		*ARGUMENT(uint32_t *, 0) = 2;
	else if (strcmp(f, "_getDevice") == 0 && ARGUMENT(uint32_t, 0) < 2)
		*ARGUMENT(struct nn_device **, 1) = &nn_devices[ARGUMENT(uint32_t, 0)];
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
	else if (strcmp(f, "Burst_create") == 0)
		*ARGUMENT(void **, 1) = nn_made(sizeof(struct nn_plain), NN_BURST);
	else if (strcmp(f, "Memory_createFromFd") == 0)
		*result = (*ARGUMENT(void **, 4) = nn_map(ARGUMENT(size_t, 0), ARGUMENT(int, 1), ARGUMENT(int, 2), ARGUMENT(size_t, 3)))
		              ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_UNMAPPABLE;
	else if (strcmp(f, "Event_wait") != 0)
		return 0;
	return 1;
}

static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	pthread_mutex_lock(&gate);
	int fails = failing[0] && strcmp(failing, c->name) == 0;
	if (fails)
		*result = (uint64_t)failing_code;
	pthread_mutex_unlock(&gate);
	return fails || nn_answer(c->name + strlen("ANeuralNetworks"), args, result);
}
