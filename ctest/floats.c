/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The floating-point environment of the host: whatever rounding, traps and treatment of denormals it has chosen, the
 * library computes what it always computes, on the caller's thread and on its own, and every return and every callback
 * finds the host's choice.
 */
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "ohnn_host.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define CONTROL() (_mm_getcsr() & ~0x3fu)
#define SET_CONTROL(v) _mm_setcsr(v)
#define FLUSH 0x8040u /* flush to zero, denormals are zero */
#define TRAPPING(v) ((v) & ~0x1e80u)
#elif defined(__aarch64__)
static unsigned long get_control(void)
{
	unsigned long v;
	__asm__ volatile("mrs %0, fpcr" : "=r"(v));
	return v;
}
#define CONTROL() get_control()
#define SET_CONTROL(v) __asm__ volatile("msr fpcr, %0" : : "r"((unsigned long)(v)))
#define FLUSH 0x1000000u
#define TRAPPING(v) ((v) | 0x1f00u)
#endif

#define SIDE 48

/* The host's choices, each set in every thread of the host's before it calls. */
static void default_choice(void) {}
static void upward(void) { fesetround(FE_UPWARD); }
static void toward_zero(void) { fesetround(FE_TOWARDZERO); }
static void flush(void) { SET_CONTROL(CONTROL() | FLUSH); }
static void trap(void) { SET_CONTROL(TRAPPING(CONTROL())); } /* all but denormal operands */

static const struct {
	const char *name;
	void (*set)(void);
} choices[] = {{"default", default_choice}, {"upward", upward}, {"toward zero", toward_zero}, {"flush to zero", flush},
	{"traps", trap}};

#define CHOICES (sizeof choices / sizeof *choices)

/* What a run computes: a product whose sums round, quotients that are infinite, denormal and not a number. */
struct results {
	float product[SIDE * SIDE];
	float quotient[SIDE];
};

static OH_NNExecutor *divider(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	for (int i = 0; i < 3; i++)
		ohnn_add_tensor(m, 1, SIDE);
	ohnn_add_op(m, OH_NN_OPS_DIV, 0, 1, 2);
	ohnn_finish(m, 0, 1, 2);
	return ohnn_executor(m);
}

static OH_NNExecutor *product, *quotient;
static NN_Tensor *in[4], *out[2];
static unsigned long control_at_callback;
static atomic_int callbacks;

/* The inputs, made under the default environment. */
static void make_inputs(void)
{
	static const float above[] = {1, 0, 1e-38f, 1e38f, 1, 1e-45f}, below[] = {0, 0, 1e5f, 1e-5f, 3, 3};
	for (int i = 0; i < 2; i++) {
		in[i] = ohnn_tensor(SIDE, SIDE, 0);
		in[2 + i] = ohnn_tensor(1, SIDE, 0);
		out[i] = ohnn_tensor(i == 0 ? SIDE : 1, SIDE, 0);
	}
	float *a = (float *)OH_NNTensor_GetDataBuffer(in[0]), *b = (float *)OH_NNTensor_GetDataBuffer(in[1]);
	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = (float)(i % 37) / 7;
		b[i] = (float)(i % 29 - 14) / 11;
	}
	a = (float *)OH_NNTensor_GetDataBuffer(in[2]), b = (float *)OH_NNTensor_GetDataBuffer(in[3]);
	for (int i = 0; i < SIDE; i++) {
		a[i] = above[i % 6];
		b[i] = below[i % 6];
	}
}

static void run(struct results *r)
{
	OK(OH_NNExecutor_RunSync(product, in, 2, &out[0], 1));
	OK(OH_NNExecutor_RunSync(quotient, in + 2, 2, &out[1], 1));
	memcpy(r->product, OH_NNTensor_GetDataBuffer(out[0]), sizeof r->product);
	memcpy(r->quotient, OH_NNTensor_GetDataBuffer(out[1]), sizeof r->quotient);
}

static void done(void *user, OH_NN_ReturnCode code, void *outputs[], int32_t count)
{
	(void)outputs;
	(void)count;
	CHECK(code == OH_NN_SUCCESS, "asynchronous run: %d", (int)code);
	fesetround(FE_DOWNWARD); /* on a thread of the library's: its next run must not see it */
	atomic_fetch_add((atomic_int *)user, 1);
}

static void run_asynchronously(struct results *r)
{
	const struct timespec pause = {0, 100000};
	for (int i = 0; i < 2; i++) {
		int want = callbacks + 1;
		OK(OH_NNExecutor_RunAsync(i == 0 ? product : quotient, in + 2 * i, 2, &out[i], 1, 0, &callbacks));
		while (callbacks < want)
			nanosleep(&pause, NULL);
	}
	memcpy(r->product, OH_NNTensor_GetDataBuffer(out[0]), sizeof r->product);
	memcpy(r->quotient, OH_NNTensor_GetDataBuffer(out[1]), sizeof r->quotient);
}

static void logged(int level, const char *component, const char *message, void *user)
{
	(void)level;
	(void)component;
	(void)message;
	*(unsigned long *)user = CONTROL();
}

static const struct results *expected;

static void check(const struct results *r, const char *choice, const char *how)
{
	if (memcmp(r, expected, sizeof *r) == 0)
		return;
	fesetenv(FE_DFL_ENV);
	for (int i = 0; i < SIDE * SIDE; i++)
		CHECK(r->product[i] == expected->product[i], "%s, %s: element %d of the product: %.9g, want %.9g", choice, how, i,
			(double)r->product[i], (double)expected->product[i]);
	for (int i = 0; i < SIDE; i++)
		CHECK(memcmp(&r->quotient[i], &expected->quotient[i], sizeof(float)) == 0, "%s, %s: quotient %d: %g, want %g", choice,
			how, i, (double)r->quotient[i], (double)expected->quotient[i]);
}

/* A thread of the host's with one of the choices. */
static void *host_thread(void *which)
{
	size_t c = *(size_t *)which;
	struct results r;
	choices[c].set();
	unsigned long control = CONTROL();
	run(&r);
	CHECK(CONTROL() == control, "%s: a run left %#lx, want %#lx", choices[c].name, (unsigned long)CONTROL(), control);
	check(&r, choices[c].name, "synchronous");
	run_asynchronously(&r);
	check(&r, choices[c].name, "asynchronous");
	anynpu_set_log_callback(logged, &control_at_callback);
	OH_NNTensorDesc_GetFormat(NULL, NULL);
	anynpu_set_log_callback(NULL, NULL);
	CHECK(control_at_callback == control, "%s: a callback found %#lx, want %#lx", choices[c].name, control_at_callback,
		control);
	fesetenv(FE_DFL_ENV);
	return NULL;
}

/* One host: the first call, which starts the library's threads, is made under choice first. */
static void host(size_t first)
{
	static struct results r;
	choices[first].set();
	CHECK(anynpu_live_handles() == 0, "handles before the first call");
	fesetenv(FE_DFL_ENV);
	product = ohnn_executor(ohnn_powers(SIDE, 1));
	quotient = divider();
	OK(OH_NNExecutor_SetOnRunDone(product, done));
	OK(OH_NNExecutor_SetOnRunDone(quotient, done));
	make_inputs();
	if (!expected) {
		run(&r);
		expected = &r;
	}
	for (size_t c = 0; c < CHOICES; c++) {
		pthread_t t;
		CHECK(pthread_create(&t, NULL, host_thread, &c) == 0, "pthread_create");
		pthread_join(t, NULL);
	}
}

int main(int argc, char **argv)
{
	size_t first = argc > 1 ? (size_t)atoi(argv[1]) : 0;
	CHECK(first < CHOICES, "usage: floats 0..%zu", CHOICES - 1);
	host_begin();
	host(first);
	for (int i = 0; i < 4; i++)
		OK(OH_NNTensor_Destroy(&in[i]));
	for (int i = 0; i < 2; i++)
		OK(OH_NNTensor_Destroy(&out[i]));
	OH_NNExecutor_Destroy(&product);
	OH_NNExecutor_Destroy(&quotient);
	return host_end();
}
