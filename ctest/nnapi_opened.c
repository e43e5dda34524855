/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opens libneuralnetworks.so by its bare name, as portable programs do, looks up what it needs, adds two numbers, and
 * closes it.
 */
#include <dlfcn.h>

#include "nnapi_host.h"

static void *library;

static void *need(const char *name)
{
	void *f = dlsym(library, name);
	CHECK(f != NULL, "%s: %s", name, dlerror());
	return f;
}

/* The function of the library that was opened; the test program itself is not linked with it. */
#define OPENED(name) ((__typeof__(&name))(uintptr_t)need(#name))

int main(void)
{
	host_begin();
	library = dlopen("libneuralnetworks.so", RTLD_LAZY | RTLD_LOCAL);
	CHECK(library != NULL, "%s", dlerror());
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e = NULL;
	ANeuralNetworksEvent *ev = NULL;
	const uint32_t one[] = {1}, in[] = {0, 1, 3}, out[] = {2};
	const ANeuralNetworksOperandType t = nn_tensor(1, one);
	ANeuralNetworksOperandType scalar = nn_tensor(0, NULL);
	scalar.type = ANEURALNETWORKS_INT32;
	const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	const float a = 2, b = 3;
	float y = 0;
	OK(OPENED(ANeuralNetworksModel_create)(&m));
	for (int i = 0; i < 4; i++)
		OK(OPENED(ANeuralNetworksModel_addOperand)(m, i < 3 ? &t : &scalar));
	OK(OPENED(ANeuralNetworksModel_setOperandValue)(m, 3, &none, sizeof none));
	OK(OPENED(ANeuralNetworksModel_addOperation)(m, ANEURALNETWORKS_ADD, 3, in, 1, out));
	OK(OPENED(ANeuralNetworksModel_identifyInputsAndOutputs)(m, 2, in, 1, out));
	OK(OPENED(ANeuralNetworksModel_finish)(m));
	OK(OPENED(ANeuralNetworksCompilation_create)(m, &c));
	OK(OPENED(ANeuralNetworksCompilation_finish)(c));
	OK(OPENED(ANeuralNetworksExecution_create)(c, &e));
	OK(OPENED(ANeuralNetworksExecution_setInput)(e, 0, NULL, &a, sizeof a));
	OK(OPENED(ANeuralNetworksExecution_setInput)(e, 1, NULL, &b, sizeof b));
	OK(OPENED(ANeuralNetworksExecution_setOutput)(e, 0, NULL, &y, sizeof y));
	OK(OPENED(ANeuralNetworksExecution_startCompute)(e, &ev));
	OK(OPENED(ANeuralNetworksEvent_wait)(ev));
	CHECK(y == 5, "2 + 3 is %g", (double)y);
	OPENED(ANeuralNetworksEvent_free)(ev);
	OPENED(ANeuralNetworksExecution_free)(e);
	OPENED(ANeuralNetworksCompilation_free)(c);
	OPENED(ANeuralNetworksModel_free)(m);
	CHECK(OPENED(ANeuralNetworks_getRuntimeFeatureLevel)() == ANEURALNETWORKS_FEATURE_LEVEL_8, "the feature level");
	CHECK(dlclose(library) == 0, "%s", dlerror());
	return host_end();
}
