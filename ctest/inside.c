/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls from signal handlers. One that interrupted a call of its thread is refused with a status and a line, and the
 * interrupted call goes on; so is one on the alternate stack, whatever it interrupted.
 *
 *     inside stack|alternate LOGFILE
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "ohnn_host.h"

static atomic_int calls, refusals, others, in_call;
static int alternate;
static NN_TensorDesc *desc;

static void handler(int sig)
{
	OH_NN_Format format;
	int inside = in_call;
	(void)sig;
	OH_NN_ReturnCode code = OH_NNTensorDesc_GetFormat(desc, &format);
	calls++;
	if (code == OH_NN_FAILED && (inside || alternate))
		refusals++;
	else if (code != OH_NN_SUCCESS)
		others++;
}

#define SIDE 64

int main(int argc, char **argv)
{
	static char stack[64 << 10];
	const stack_t own = {stack, 0, sizeof stack};
	const struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
	CHECK(argc == 3, "usage: inside stack|alternate LOGFILE");
	setenv("ANYNPU_LOG_FILE", argv[2], 1);
	remove(argv[2]);
	host_begin();
	struct sigaction action = {0};
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	alternate = strcmp(argv[1], "alternate") == 0;
	if (alternate) {
		action.sa_flags |= SA_ONSTACK;
		CHECK(sigaltstack(&own, NULL) == 0, "sigaltstack");
	}
	desc = ohnn_desc(1, 1);
	OH_NNExecutor *e = ohnn_executor(ohnn_powers(SIDE, 40));
	NN_Tensor *in[] = {ohnn_tensor(SIDE, SIDE, 0.5f), ohnn_tensor(SIDE, SIDE, 1.0f / SIDE)},
		*out[] = {ohnn_tensor(SIDE, SIDE, 0)};
	const float *y = (const float *)OH_NNTensor_GetDataBuffer(out[0]);
	CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0, "timer");
	while (refusals < 300 || (!alternate && calls - refusals < 300)) {
		in_call = 1;
		OK(OH_NNExecutor_RunSync(e, in, 2, out, 1));
		in_call = 0;
		for (int i = 0; i < SIDE * SIDE; i++)
			CHECK(y[i] == 0.5f, "element %d is %g", i, (double)y[i]);
		for (volatile int i = 0; i < 3000000; i++)
			;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(!alternate || calls == refusals, "%d of %d calls on the alternate stack refused", refusals, calls);
	CHECK(others == 0, "%d of %d calls from handlers failed outside a call", others, calls);
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out[0]));
	OH_NNExecutor_Destroy(&e);
	OK(OH_NNTensorDesc_Destroy(&desc));

	char line[512];
	int lines = 0;
	FILE *log = fopen(argv[2], "r");
	CHECK(log != NULL, "no log");
	while (fgets(line, sizeof line, log))
		lines += strstr(line, "call from a signal handler refused") && strstr(line, "function=OH_NNTensorDesc_GetFormat");
	fclose(log);
	CHECK(lines == refusals, "%d lines for %d refused calls", lines, refusals);
	return host_end();
}
