/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The operators of the fake driver of OH_NN (nnrt.h), in float32 with sums in double, as neural_network_runtime_type.h
 * describes them: images are [N,H,W,C], filters [O,kh,kw,I/group].
 */

static size_t nn_count(const struct nn_desc *d)
{
	size_t n = 1;
	for (size_t k = 0; k < d->rank; k++)
		n *= d->dims[k] > 0 ? (size_t)d->dims[k] : 0;
	return n;
}

/* An operation with its tensors. */
struct nn_step {
	const struct nn_model *model;
	const struct nn_operation *op;
	const float *x[8];
	float *y;
	const struct nn_desc *dx[8], *dy;
};

/* The parameter of a type, NULL if it is not given. */
static const struct nn_value *nn_param(const struct nn_step *s, OH_NN_TensorType type)
{
	for (uint32_t k = 0; k < s->op->params.count; k++) {
		const struct nn_value *v = &s->model->value[s->op->params.at[k]];
		if (v->role == type)
			return v;
	}
	return NULL;
}

/* Element k of integers of whatever type. */
static int64_t nn_integer(const struct nn_value *v, size_t k)
{
	switch (nn_count(&v->desc) > k ? v->desc.type : OH_NN_UNKNOWN) {
	case OH_NN_INT64:
		return ((const int64_t *)v->data)[k];
	case OH_NN_INT32:
		return ((const int32_t *)v->data)[k];
	case OH_NN_INT8:
		return ((const int8_t *)v->data)[k];
	case OH_NN_BOOL:
		return ((const bool *)v->data)[k];
	default:
		return 0;
	}
}

static int64_t nn_number(const struct nn_step *s, OH_NN_TensorType type, size_t k, int64_t otherwise)
{
	const struct nn_value *v = nn_param(s, type);
	return v ? nn_integer(v, k) : otherwise;
}

static void nn_activate(const struct nn_step *s, OH_NN_TensorType type)
{
	int64_t kind = nn_number(s, type, 0, OH_NN_FUSED_NONE);
	for (size_t k = 0; kind != OH_NN_FUSED_NONE && k < nn_count(s->dy); k++) {
		float v = s->y[k] < 0 ? 0 : s->y[k];
		s->y[k] = kind == OH_NN_FUSED_RELU6 && v > 6 ? 6 : v;
	}
}

/* The place in x, which is broadcast, of place at in y. */
static size_t nn_place(const struct nn_desc *x, const struct nn_desc *y, size_t at)
{
	size_t place = 0, step = 1;
	for (size_t k = 1; k <= y->rank; k++) {
		size_t index = at % (size_t)y->dims[y->rank - k];
		at /= (size_t)y->dims[y->rank - k];
		if (k > x->rank)
			continue;
		size_t size = (size_t)x->dims[x->rank - k];
		place += size == 1 ? 0 : index * step;
		step *= size;
	}
	return place;
}

static float nn_of_two(OH_NN_OperationType op, float a, float b)
{
	switch (op) {
	case OH_NN_OPS_ADD:
		return a + b;
	case OH_NN_OPS_SUB:
		return a - b;
	case OH_NN_OPS_MUL:
		return a * b;
	case OH_NN_OPS_DIV:
		return a / b;
	case OH_NN_OPS_MAXIMUM:
		return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
	default:
		return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
	}
}

static void nn_binary(const struct nn_step *s)
{
	static const OH_NN_TensorType activations[] = {[OH_NN_OPS_ADD] = OH_NN_ADD_ACTIVATIONTYPE,
		[OH_NN_OPS_SUB] = OH_NN_SUB_ACTIVATIONTYPE, [OH_NN_OPS_MUL] = OH_NN_MUL_ACTIVATION_TYPE,
		[OH_NN_OPS_DIV] = OH_NN_DIV_ACTIVATIONTYPE};
	for (size_t k = 0; k < nn_count(s->dy); k++)
		s->y[k] = nn_of_two(s->op->op, s->x[0][nn_place(s->dx[0], s->dy, k)], s->x[1][nn_place(s->dx[1], s->dy, k)]);
	if ((size_t)s->op->op < sizeof activations / sizeof *activations && activations[s->op->op])
		nn_activate(s, activations[s->op->op]);
}

static void nn_unary(const struct nn_step *s)
{
	for (size_t k = 0; k < nn_count(s->dy); k++) {
		float x = s->x[0][k];
		switch (s->op->op) {
		case OH_NN_OPS_ABS:
			x = fabsf(x);
			break;
		case OH_NN_OPS_NEG:
			x = -x;
			break;
		case OH_NN_OPS_RELU:
			x = x < 0 ? 0 : x;
			break;
		case OH_NN_OPS_RELU6:
			x = x < 0 ? 0 : x > 6 ? 6 : x;
			break;
		case OH_NN_OPS_SIGMOID:
			x = (float)(1 / (1 + exp(-(double)x)));
			break;
		default:
			x = (float)tanh((double)x);
		}
		s->y[k] = x;
	}
}

/* A window along one of the two directions of an image. */
struct nn_window {
	int64_t in, out, kernel, step, distance, before;
};

static void nn_windows(const struct nn_step *s, struct nn_window w[2], OH_NN_TensorType strides, OH_NN_TensorType mode,
	OH_NN_TensorType list)
{
	for (int k = 0; k < 2; k++) {
		w[k].in = s->dx[0]->dims[k + 1];
		w[k].out = s->dy->dims[k + 1];
		w[k].step = nn_number(s, strides, (size_t)k, 1);
		w[k].before = nn_number(s, list, (size_t)(2 * k), 0);
		if (nn_param(s, mode)) {
			int64_t most = (w[k].out - 1) * w[k].step + (w[k].kernel - 1) * w[k].distance + 1 - w[k].in;
			w[k].before = nn_number(s, mode, 0, 0) == 0 && most > 0 ? most / 2 : 0;
		}
	}
}

static void nn_convolve(const struct nn_step *s)
{
	int deep = s->op->op == OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE;
	const int32_t *f = s->dx[1]->dims, *d = s->dy->dims;
	const int64_t channels = s->dx[0]->dims[3], group = deep ? channels : nn_number(s, OH_NN_CONV2D_GROUP, 0, 1);
	const OH_NN_TensorType distance = deep ? OH_NN_DEPTHWISE_CONV2D_NATIVE_DILATION : OH_NN_CONV2D_DILATION;
	struct nn_window w[2];
	for (int k = 0; k < 2; k++) {
		w[k].kernel = f[k + 1];
		w[k].distance = nn_number(s, distance, (size_t)k, 1);
	}
	if (deep)
		nn_windows(s, w, OH_NN_DEPTHWISE_CONV2D_NATIVE_STRIDES, OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD_MODE,
			OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD);
	else
		nn_windows(s, w, OH_NN_CONV2D_STRIDES, OH_NN_CONV2D_PAD_MODE, OH_NN_CONV2D_PAD);
	float *y = s->y;
	for (int64_t at = 0; at < (int64_t)d[0] * d[1] * d[2] * d[3]; at++) {
		const int64_t o = at % d[3], column = at / d[3] % d[2], row = at / d[3] / d[2] % d[1], n = at / d[3] / d[2] / d[1];
		const int64_t first = o / (d[3] / group) * f[3];
		double sum = s->x[2][o];
		for (int64_t k = 0; k < (int64_t)f[1] * f[2]; k++) {
			const int64_t r = row * w[0].step - w[0].before + k / f[2] * w[0].distance;
			const int64_t c = column * w[1].step - w[1].before + k % f[2] * w[1].distance;
			if (r < 0 || r >= w[0].in || c < 0 || c >= w[1].in)
				continue;
			for (int64_t i = 0; i < f[3]; i++)
				sum += (double)s->x[0][((n * w[0].in + r) * w[1].in + c) * channels + first + i] *
					s->x[1][(o * f[1] * f[2] + k) * f[3] + i];
		}
		y[at] = (float)sum;
	}
	nn_activate(s, deep ? OH_NN_DEPTHWISE_CONV2D_NATIVE_ACTIVATION_TYPE : OH_NN_CONV2D_ACTIVATION_TYPE);
}

static void nn_pool(const struct nn_step *s)
{
	const int most = s->op->op == OH_NN_OPS_MAX_POOL;
	const int32_t *d = s->dy->dims;
	const OH_NN_TensorType kernel = most ? OH_NN_MAX_POOL_KERNEL_SIZE : OH_NN_AVG_POOL_KERNEL_SIZE;
	const int whole = nn_number(s, most ? OH_NN_MAX_POOL_GLOBAL : OH_NN_AVG_POOL_GLOBAL, 0, 0) != 0;
	struct nn_window w[2];
	for (int k = 0; k < 2; k++) {
		w[k].kernel = whole ? s->dx[0]->dims[k + 1] : nn_number(s, kernel, (size_t)k, 1);
		w[k].distance = 1;
	}
	if (most)
		nn_windows(s, w, OH_NN_MAX_POOL_STRIDE, OH_NN_MAX_POOL_PAD_MODE, OH_NN_MAX_POOL_PAD);
	else
		nn_windows(s, w, OH_NN_AVG_POOL_STRIDE, OH_NN_AVG_POOL_PAD_MODE, OH_NN_AVG_POOL_PAD);
	for (int64_t at = 0; at < (int64_t)d[0] * d[1] * d[2] * d[3]; at++) {
		const int64_t c = at % d[3], column = at / d[3] % d[2], row = at / d[3] / d[2] % d[1], n = at / d[3] / d[2] / d[1];
		double sum = 0;
		float largest = -INFINITY;
		int64_t cells = 0;
		for (int64_t k = 0; k < w[0].kernel * w[1].kernel; k++) {
			const int64_t r = row * w[0].step - w[0].before + k / w[1].kernel;
			const int64_t q = column * w[1].step - w[1].before + k % w[1].kernel;
			if (r < 0 || r >= w[0].in || q < 0 || q >= w[1].in)
				continue;
			const float v = s->x[0][((n * w[0].in + r) * w[1].in + q) * d[3] + c];
			sum += v;
			cells++;
			largest = isnan(largest) || v <= largest ? largest : v;
		}
		s->y[at] = most ? largest : cells ? (float)(sum / (double)cells) : 0;
	}
	nn_activate(s, most ? OH_NN_MAX_POOL_ACTIVATION_TYPE : OH_NN_AVG_POOL_ACTIVATION_TYPE);
}

static void nn_connect(const struct nn_step *s)
{
	const size_t inner = (size_t)s->dx[1]->dims[1], outputs = (size_t)s->dx[1]->dims[0];
	for (size_t at = 0; at < nn_count(s->dy); at++) {
		double sum = s->op->in.count > 2 ? s->x[2][at % outputs] : 0;
		for (size_t k = 0; k < inner; k++)
			sum += (double)s->x[0][at / outputs * inner + k] * s->x[1][at % outputs * inner + k];
		s->y[at] = (float)sum;
	}
	nn_activate(s, OH_NN_FULL_CONNECTION_ACTIVATIONTYPE);
}

/* Matrix b of a stack that is broadcast to that of y. */
static size_t nn_matrix(const struct nn_desc *x, const struct nn_desc *y, size_t b)
{
	struct nn_desc of = *x, to = *y;
	of.rank = x->rank - 2;
	to.rank = y->rank - 2;
	return nn_place(&of, &to, b) * (size_t)(x->dims[x->rank - 1]) * (size_t)(x->dims[x->rank - 2]);
}

static void nn_multiply(const struct nn_step *s)
{
	const int turned = nn_number(s, OH_NN_MATMUL_TRANSPOSE_A, 0, 0) != 0;
	const int other = nn_number(s, OH_NN_MATMUL_TRANSPOSE_B, 0, 0) != 0;
	const size_t rows = (size_t)s->dy->dims[s->dy->rank - 2], columns = (size_t)s->dy->dims[s->dy->rank - 1];
	const size_t inner = (size_t)s->dx[0]->dims[s->dx[0]->rank - (turned ? 2 : 1)];
	for (size_t at = 0; at < nn_count(s->dy); at++) {
		const size_t j = at % columns, i = at / columns % rows, b = at / columns / rows;
		const float *left = s->x[0] + nn_matrix(s->dx[0], s->dy, b), *right = s->x[1] + nn_matrix(s->dx[1], s->dy, b);
		double sum = 0;
		for (size_t k = 0; k < inner; k++)
			sum += (double)left[turned ? k * rows + i : i * inner + k] * right[other ? j * inner + k : k * columns + j];
		s->y[at] = (float)sum;
	}
	nn_activate(s, OH_NN_MATMUL_ACTIVATION_TYPE);
}

/* How many elements are behind a dimension. */
static size_t nn_behind(const struct nn_desc *d, size_t axis)
{
	size_t n = 1;
	for (size_t k = axis + 1; k < d->rank; k++)
		n *= (size_t)d->dims[k];
	return n;
}

static size_t nn_axis(const struct nn_step *s, OH_NN_TensorType type, int64_t otherwise)
{
	const int64_t axis = nn_number(s, type, 0, otherwise);
	return (size_t)(axis < 0 ? axis + (int64_t)s->dy->rank : axis);
}

static void nn_softmax(const struct nn_step *s)
{
	const size_t axis = nn_axis(s, OH_NN_SOFTMAX_AXIS, -1), step = nn_behind(s->dy, axis);
	const size_t length = (size_t)s->dy->dims[axis];
	for (size_t line = 0; line < nn_count(s->dy) / length; line++) {
		const size_t first = line / step * step * length + line % step;
		double most = -INFINITY, sum = 0;
		for (size_t k = 0; k < length; k++)
			most = isnan(most) || s->x[0][first + k * step] <= most ? most : s->x[0][first + k * step];
		for (size_t k = 0; k < length; k++)
			sum += exp(s->x[0][first + k * step] - most);
		for (size_t k = 0; k < length; k++)
			s->y[first + k * step] = (float)(exp(s->x[0][first + k * step] - most) / sum);
	}
}

static void nn_transpose(const struct nn_step *s)
{
	const struct nn_value *order = &s->model->value[s->op->in.at[1]];
	for (size_t at = 0; at < nn_count(s->dy); at++) {
		size_t rest = at, from = 0;
		for (size_t k = s->dy->rank; k-- > 0; rest /= (size_t)s->dy->dims[k])
			from += rest % (size_t)s->dy->dims[k] * nn_behind(s->dx[0], (size_t)nn_integer(order, k));
		s->y[at] = s->x[0][from];
	}
}

static void nn_concat(const struct nn_step *s)
{
	const size_t axis = nn_axis(s, OH_NN_CONCAT_AXIS, 0), behind = nn_behind(s->dy, axis);
	size_t before = 0;
	for (uint32_t i = 0; i < s->op->in.count; i++) {
		const size_t run = (size_t)s->dx[i]->dims[axis] * behind, line = (size_t)s->dy->dims[axis] * behind;
		for (size_t k = 0; k < nn_count(s->dx[i]); k++)
			s->y[k / run * line + before + k % run] = s->x[i][k];
		before += run;
	}
}

static void nn_reshape(const struct nn_step *s) { memcpy(s->y, s->x[0], nn_count(s->dy) * sizeof *s->y); }

/* Numbers is how many of the inputs are float32, 0: all; the others are constants. */
static const struct {
	OH_NN_OperationType op;
	uint32_t numbers, least, most;
	void (*compute)(const struct nn_step *s);
} nn_operators[] = {
	{OH_NN_OPS_ADD, 0, 2, 2, nn_binary},
	{OH_NN_OPS_SUB, 0, 2, 2, nn_binary},
	{OH_NN_OPS_MUL, 0, 2, 2, nn_binary},
	{OH_NN_OPS_DIV, 0, 2, 2, nn_binary},
	{OH_NN_OPS_MAXIMUM, 0, 2, 2, nn_binary},
	{OH_NN_OPS_MINIMUM, 0, 2, 2, nn_binary},
	{OH_NN_OPS_ABS, 0, 1, 1, nn_unary},
	{OH_NN_OPS_NEG, 0, 1, 1, nn_unary},
	{OH_NN_OPS_RELU, 0, 1, 1, nn_unary},
	{OH_NN_OPS_RELU6, 0, 1, 1, nn_unary},
	{OH_NN_OPS_SIGMOID, 0, 1, 1, nn_unary},
	{OH_NN_OPS_TANH, 0, 1, 1, nn_unary},
	{OH_NN_OPS_CONV2D, 0, 3, 3, nn_convolve},
	{OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE, 0, 3, 3, nn_convolve},
	{OH_NN_OPS_MAX_POOL, 0, 1, 1, nn_pool},
	{OH_NN_OPS_AVG_POOL, 0, 1, 1, nn_pool},
	{OH_NN_OPS_FULL_CONNECTION, 0, 2, 3, nn_connect},
	{OH_NN_OPS_MATMUL, 0, 2, 2, nn_multiply},
	{OH_NN_OPS_SOFTMAX, 0, 1, 1, nn_softmax},
	{OH_NN_OPS_TRANSPOSE, 1, 2, 2, nn_transpose},
	{OH_NN_OPS_RESHAPE, 1, 2, 2, nn_reshape},
	{OH_NN_OPS_CONCAT, 0, 2, 8, nn_concat},
};

/* Products that an operation adds up. */
static double nn_work(const struct nn_model *m, const struct nn_operation *o)
{
	const struct nn_desc *y = &m->value[o->out.at[0]].desc, *x = &m->value[o->in.at[0]].desc;
	const double results = (double)nn_count(y);
	switch (o->op) {
	case OH_NN_OPS_MATMUL: /* of whichever dimension is the longer: one of them is added up */
		return results * (double)(x->dims[x->rank - 1] > x->dims[x->rank - 2] ? x->dims[x->rank - 1] : x->dims[x->rank - 2]);
	case OH_NN_OPS_CONV2D:
	case OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE:
	case OH_NN_OPS_FULL_CONNECTION: {
		const struct nn_desc *w = &m->value[o->in.at[1]].desc;
		return results * (double)nn_count(w) / w->dims[0];
	}
	default:
		return results;
	}
}

/* The index of an operator that a device computes with these tensors, plus 1. What takes long is left to others. */
static size_t nn_computes(const struct nn_model *m, const struct nn_operation *o, int device)
{
	size_t k = 0;
	while (k < sizeof nn_operators / sizeof *nn_operators && nn_operators[k].op != o->op)
		k++;
	if (k == sizeof nn_operators / sizeof *nn_operators || o->in.count < nn_operators[k].least ||
		o->in.count > nn_operators[k].most || o->out.count != 1 || (device != 0 && o->op != OH_NN_OPS_ADD))
		return 0;
	for (uint32_t i = 0; i < o->in.count; i++) {
		const struct nn_value *v = &m->value[o->in.at[i]];
		int number = nn_operators[k].numbers == 0 || i < nn_operators[k].numbers;
		if (number ? v->desc.type != OH_NN_FLOAT32 : !v->data)
			return 0;
	}
	return m->value[o->out.at[0]].desc.type == OH_NN_FLOAT32 && nn_work(m, o) <= NN_WORK ? k + 1 : 0;
}

/* Computes a model; at has the memory of its inputs and outputs. */
static int nn_compute(const struct nn_model *m, float **at)
{
	char *own = calloc(m->values, 1);
	int code = OH_NN_SUCCESS;
	for (uint32_t i = 0; i < m->operations && code == OH_NN_SUCCESS; i++) {
		const struct nn_operation *o = &m->operation[i];
		struct nn_step s = {.model = m, .op = o, .dy = &m->value[o->out.at[0]].desc};
		for (uint32_t k = 0; k < o->in.count; k++) {
			const struct nn_value *v = &m->value[o->in.at[k]];
			s.dx[k] = &v->desc;
			s.x[k] = v->data ? v->data : at[o->in.at[k]];
			code = s.x[k] ? code : OH_NN_FAILED;
		}
		if (!at[o->out.at[0]]) {
			at[o->out.at[0]] = malloc(nn_count(s.dy) * sizeof(float));
			own[o->out.at[0]] = 1;
		}
		s.y = at[o->out.at[0]];
		if (code == OH_NN_SUCCESS)
			nn_operators[nn_computes(m, o, 0) - 1].compute(&s);
	}
	for (uint32_t k = 0; k < m->values; k++)
		if (own[k])
			free(at[k]);
	free(own);
	return code;
}
