/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Another vendor's library, as the conformance runner sees one: it dies when an ADD is added, its device has no MUL,
 * its SUB computes, and everything else is that of the library it is linked to.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <neural_network_runtime/neural_network_runtime.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local OH_NN_OperationType added;

static void next(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_NEXT, name);
	memcpy(function, &symbol, sizeof symbol);
}

OH_NN_ReturnCode OH_NNModel_AddOperation(OH_NNModel *model, OH_NN_OperationType op, const OH_NN_UInt32Array *params,
	const OH_NN_UInt32Array *inputs, const OH_NN_UInt32Array *outputs)
{
	OH_NN_ReturnCode (*add)(OH_NNModel *, OH_NN_OperationType, const OH_NN_UInt32Array *, const OH_NN_UInt32Array *,
		const OH_NN_UInt32Array *);
	added = op;
	if (op == OH_NN_OPS_ADD)
		abort();
	next("OH_NNModel_AddOperation", &add);
	return add(model, op, params, inputs, outputs);
}

OH_NN_ReturnCode OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t device, const bool **supported,
	uint32_t *count)
{
	static const bool no[1];
	OH_NN_ReturnCode (*ask)(OH_NNModel *, size_t, const bool **, uint32_t *);
	next("OH_NNModel_GetAvailableOperations", &ask);
	OH_NN_ReturnCode code = ask(model, device, supported, count);
	if (code == OH_NN_SUCCESS && added == OH_NN_OPS_MUL)
		*supported = no;
	return code;
}
