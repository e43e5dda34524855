/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The host's own fault handler keeps working, installed before or after the first call; a stray read through a handle
 * faults at an address that lies in the window named "anynpu handles".
 */
#include <setjmp.h>
#include <signal.h>

#include "host.h"

static sigjmp_buf back;
static void *volatile at;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	at = info->si_addr;
	siglongjmp(back, 1);
}

static void install(void)
{
	struct sigaction action = {0};
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGSEGV, &action, NULL);
}

static void fault_at(const volatile int *p)
{
	at = NULL;
	if (sigsetjmp(back, 1) == 0) {
		int value = *p;
		CHECK(0, "a read at %p gave %d", (const void *)p, value);
	}
	CHECK(at == (const void *)p, "fault at %p, want %p", at, (const void *)p);
	CHECK(host_answer() == 0, "wrong answer after a fault");
}

int main(void)
{
	host_begin();
	install();
	CHECK(host_answer() == 0, "wrong answer");
	fault_at((const volatile int *)16);
	install();
	fault_at((const volatile int *)16);
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	fault_at((const volatile int *)(const void *)desc);
	CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_SUCCESS, "destroy");
	return host_end();
}
