/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Has a provider of ONNX Runtime make a session, before a program's process does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"
#include "zonnxruntime.h"

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* a libc whose loader has one order of names only */
#endif

enum { LEAST = 24, LAST = 29, MAX_OPTIONS = 64 };

typedef void *status; /* OrtStatus*: NULL is success */
typedef struct {
	const void *(*get_api)(uint32_t version);
	const char *(*version)(void);
} base;

/* y = Relu(x) of float [4]: ModelProto with ir_version 8 and opset 17. */
static const unsigned char model[] = {
	0x08, 0x08, 0x3a, 0x36, 0x0a, 0x0f, 0x0a, 0x01, 0x78, 0x12, 0x01, 0x79, 0x1a, 0x01, 0x6e, 0x22,
	0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01, 0x67, 0x5a, 0x0f, 0x0a, 0x01, 0x78, 0x12, 0x0a, 0x0a,
	0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x04, 0x62, 0x0f, 0x0a, 0x01, 0x79, 0x12, 0x0a,
	0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x04, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x11,
};

/* The same of [1,4] between QuantizeLinear and DequantizeLinear of uint8, for providers that take codes alone. */
static const unsigned char coded[] = {
	0x08, 0x08, 0x3a, 0xd2, 0x01, 0x0a, 0x1c, 0x0a, 0x01, 0x78, 0x0a, 0x01, 0x73, 0x0a, 0x01, 0x7a,
	0x12, 0x01, 0x61, 0x22, 0x0e, 0x51, 0x75, 0x61, 0x6e, 0x74, 0x69, 0x7a, 0x65, 0x4c, 0x69, 0x6e,
	0x65, 0x61, 0x72, 0x0a, 0x1e, 0x0a, 0x01, 0x61, 0x0a, 0x01, 0x73, 0x0a, 0x01, 0x7a, 0x12, 0x01,
	0x62, 0x22, 0x10, 0x44, 0x65, 0x71, 0x75, 0x61, 0x6e, 0x74, 0x69, 0x7a, 0x65, 0x4c, 0x69, 0x6e,
	0x65, 0x61, 0x72, 0x0a, 0x0f, 0x0a, 0x01, 0x62, 0x12, 0x01, 0x63, 0x1a, 0x01, 0x6e, 0x22, 0x04,
	0x52, 0x65, 0x6c, 0x75, 0x0a, 0x1c, 0x0a, 0x01, 0x63, 0x0a, 0x01, 0x73, 0x0a, 0x01, 0x7a, 0x12,
	0x01, 0x64, 0x22, 0x0e, 0x51, 0x75, 0x61, 0x6e, 0x74, 0x69, 0x7a, 0x65, 0x4c, 0x69, 0x6e, 0x65,
	0x61, 0x72, 0x0a, 0x1e, 0x0a, 0x01, 0x64, 0x0a, 0x01, 0x73, 0x0a, 0x01, 0x7a, 0x12, 0x01, 0x79,
	0x22, 0x10, 0x44, 0x65, 0x71, 0x75, 0x61, 0x6e, 0x74, 0x69, 0x7a, 0x65, 0x4c, 0x69, 0x6e, 0x65,
	0x61, 0x72, 0x12, 0x01, 0x67, 0x2a, 0x0b, 0x10, 0x01, 0x22, 0x04, 0x00, 0x00, 0x00, 0x3e, 0x42,
	0x01, 0x73, 0x2a, 0x09, 0x10, 0x02, 0x2a, 0x02, 0x80, 0x01, 0x42, 0x01, 0x7a, 0x5a, 0x13, 0x0a,
	0x01, 0x78, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x01, 0x0a, 0x02,
	0x08, 0x04, 0x62, 0x13, 0x0a, 0x01, 0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a,
	0x02, 0x08, 0x01, 0x0a, 0x02, 0x08, 0x04, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x11,
};

static char why[4096];

static const char *say(const char *what, const char *text)
{
	snprintf(why, sizeof why, "%s%s", what, text ? text : "no reason is given");
	for (char *c = why; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	return why;
}

#define FN(i, type) ((type)api[ORT_##i])

/* judged is what is wrong with a status, NULL for nothing. */
static const char *judged(void *const *api, const char *what, status s)
{
	if (!s)
		return NULL;
	return say(what, FN(GetErrorMessage, const char *(*)(status))(s));
}

static const char *offers(void *const *api, void *env, const char *provider, const char *plugin, void **device)
{
	const char *bad = judged(api, "the plug-in cannot be registered: ",
		FN(RegisterExecutionProviderLibrary, status(*)(void *, const char *, const char *))(env, provider, plugin));
	if (bad)
		return bad;
	void *const *list = NULL;
	size_t n = 0;
	bad = judged(api, "its devices: ", FN(GetEpDevices, status(*)(void *, void *const **, size_t *))(env, &list, &n));
	if (bad)
		return bad;
	for (size_t i = 0; i < n && !*device; i++)
		if (strcmp(FN(EpDevice_EpName, const char *(*)(void *))(list[i]), provider) == 0)
			*device = list[i];
	return *device ? NULL : "the plug-in offers no device on this machine";
}

const char *try_provider(const char *library, const char *provider, const char *plugin, char **options)
{
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!lib)
		return say("it cannot be opened: ", dlerror());
	const base *(*give)(void) = NULL;
	*(void **)&give = dlsym(lib, "OrtGetApiBase");
	if (!give || !give())
		return "it lacks the symbol OrtGetApiBase";
	const char *version = give()->version();
	int minor = 0;
	if (!version || sscanf(version, "1.%d.", &minor) != 1 || minor < LEAST)
		return say("want ONNX Runtime 1.24.0 or newer, it is ", version);
	void *const *api = give()->get_api((uint32_t)(minor < LAST ? minor : LAST));
	if (!api)
		return say("it gives no table of functions, and is ", version);
	setenv("ORT_DISABLE_TELEMETRY", "1", 1);
	void *env = NULL, *pools = NULL, *choice = NULL, *session = NULL, *device = NULL;
	const char *bad = judged(api, "its environment: ", FN(CreateThreadingOptions, status(*)(void **))(&pools));
	if (!bad)
		bad = judged(api, "its environment: ", FN(CreateEnvWithGlobalThreadPools,
			status(*)(int, const char *, void *, void **))(3, "anynpu", pools, &env));
	if (!bad && *plugin)
		bad = offers(api, env, provider, plugin, &device);
	if (!bad)
		bad = judged(api, "a session: ", FN(CreateSessionOptions, status(*)(void **))(&choice));
	if (!bad)
		bad = judged(api, "a session: ", FN(DisablePerSessionThreads, status(*)(void *))(choice));
	if (bad)
		return bad;
	const char *keys[MAX_OPTIONS], *values[MAX_OPTIONS];
	size_t n = 0;
	for (; n < MAX_OPTIONS && options[0] && options[1]; n++, options += 2)
		keys[n] = options[0], values[n] = options[1];
	if (device)
		bad = judged(api, "its options: ", FN(SessionOptionsAppendExecutionProvider_V2,
			status(*)(void *, void *, void *const *, size_t, const char *const *, const char *const *, size_t))(
			choice, env, &device, 1, keys, values, n));
	else if (strcmp(provider, "CPUExecutionProvider") != 0)
		bad = judged(api, "its options: ", FN(SessionOptionsAppendExecutionProvider,
			status(*)(void *, const char *, const char *const *, const char *const *, size_t))(choice, provider, keys,
			values, n));
	/* a provider whose back end is missing would leave everything to the runtime's own, and say so in its log alone */
	int own = strcmp(provider, "CPUExecutionProvider") == 0;
	if (!bad && !own)
		bad = judged(api, "its options: ", FN(AddSessionConfigEntry, status(*)(void *, const char *, const char *))(choice,
			"session.disable_cpu_ep_fallback", "1"));
	if (bad)
		return bad;
	status (*begin)(void *, const void *, size_t, void *, void **) =
		FN(CreateSessionFromArray, status(*)(void *, const void *, size_t, void *, void **));
	bad = judged(api, "a session: ", begin(env, model, sizeof model, choice, &session));
	if (bad && !own && !judged(api, "a session: ", begin(env, coded, sizeof coded, choice, &session)))
		bad = NULL;
	return bad;
}
