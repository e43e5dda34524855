/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fake driver: has every function of the API in CALLS, records the arguments of each call, and answers what a script
 * says (record.h), which a program gives by fake_script, or FAKE_SCRIPT names as a file. Without one it returns 0 and
 * writes nothing. COMPUTE names a file with a function that answers some calls itself.
 */
#include "record.h"

#include <pthread.h>

static struct record record;
static char script[1 << 16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic int called;

void fake_script(const char *text);
const char *fake_record(void);
int fake_calls(void);

void fake_script(const char *text) { snprintf(script, sizeof script, "%s", text); }

/* The calls since the last one, until the next. */
const char *fake_record(void)
{
	static char out[sizeof record.text];
	pthread_mutex_lock(&lock);
	snprintf(out, sizeof out, "%.*s", (int)record.used, record.text);
	record.used = 0;
	pthread_mutex_unlock(&lock);
	return out;
}

/* How many calls there were, the driver's own among them. */
int fake_calls(void) { return called; }

__attribute__((constructor)) static void read_script(void)
{
	const char *name = getenv("FAKE_SCRIPT");
	FILE *file = name ? fopen(name, "r") : NULL;
	if (!file)
		return;
	script[fread(script, 1, sizeof script - 1, file)] = 0;
	fclose(file);
}

#ifdef COMPUTE
#include COMPUTE
#else
static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	return (void)c, (void)args, (void)result, 0;
}
#endif

static uint64_t answer(const struct call *c, const void *const *args)
{
	char name[256];
	uint64_t result = 0;
	called++;
	if (compute(c, args, &result))
		return result;
	pthread_mutex_lock(&lock);
	record_call(&record, c, args);
	for (size_t i = 0; i < c->count; i++) {
		const struct param *p = &c->params[i];
		char *at = NULL;
		if (!(p->kind & WRITTEN))
			continue;
		memcpy(&at, args[i], sizeof at);
		if (!at)
			continue;
		snprintf(name, sizeof name, "%s.%s", c->name, p->name);
		script_value(script, name, at, p->size);
		for (size_t k = 0; k < p->field_count; k++) {
			snprintf(name, sizeof name, "%s.%s.%s", c->name, p->name, p->fields[k].name);
			script_value(script, name, at + p->fields[k].offset, p->fields[k].size);
		}
	}
	script_value(script, c->name, &result, c->result);
	pthread_mutex_unlock(&lock);
	return result;
}

#define FAKE
#include CALLS
