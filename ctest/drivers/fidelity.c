/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every function of the API in CALLS with arguments of which no two are alike, by three ways to the fake driver FILE:
 * straight, through the library while it passes calls through, and while it has an object of its own. The driver's
 * record must be the caller's, and its answers must come back.
 *
 *     fidelity FILE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_end.h"
#include CALLS
#include MISUSE

#define ELEMENTS 8
#define ROOM 40000 /* no element is larger */

static const char *(*fake_record)(void);
static void (*fake_script)(const char *);
static struct record sent;
static size_t functions, fields, all_fields;

/* Bytes that differ from place to place, none of them 0 or of a negative number. */
static void fill(void *to, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)to)[i] = (unsigned char)(1 + (seed * 37 + i * 11 + seed * i) % 126);
}

struct arguments {
	uint64_t value[16][8]; /* 64 bytes each: structs by value are not larger */
	void *at[16];
	char *memory[16];
};

static char *hex(char *out, const void *at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		out += sprintf(out, "%02x", ((const unsigned char *)at)[i]);
	return out;
}

/* Arguments for call k, and a script that answers with its own bytes. */
static void prepare(const struct call *c, unsigned k, struct arguments *a, char *script)
{
	for (unsigned i = 0; i < c->count; i++) {
		const struct param *p = &c->params[i];
		a->at[i] = a->value[i];
		memset(a->value[i], 0, sizeof a->value[i]);
		switch (p->kind & ~WRITTEN) {
		case VALUE:
			if (p->size == 1)
				((unsigned char *)a->value[i])[0] = 1; /* bool */
			else
				fill(a->value[i], p->size, 16 * k + i + 1);
			continue;
		}
		a->memory[i] = calloc(ELEMENTS, ROOM);
		fill(a->memory[i], ELEMENTS * p->size, 16 * k + i + 1);
		if ((p->kind & ~WRITTEN) == TEXT)
			a->memory[i][10 + i] = 0;
		memcpy(a->value[i], &a->memory[i], sizeof a->memory[i]);
		if (p->kind & WRITTEN) {
			unsigned char bytes[ROOM];
			fill(bytes, p->size, 16 * k + i + 1000);
			script += sprintf(script, "%s.%s=", c->name, p->name);
			script = hex(script, bytes, p->size < 64 ? p->size : 64);
			*script++ = '\n';
		}
	}
	for (unsigned i = 0; i < c->count; i++)
		if (c->params[i].length >= 0)
			a->value[c->params[i].length][0] = 2 + i % 4;
	if (c->result) {
		uint64_t result = 0;
		fill(&result, c->result, k + 500);
		script += sprintf(script, "%s=", c->name);
		script = hex(script, c->result == 1 ? &(uint64_t){1} : &result, c->result);
	}
	*script = 0;
}

/* Whether the answers of the script have arrived. */
static int answered(const struct call *c, unsigned k, const struct arguments *a, uint64_t result)
{
	unsigned char bytes[ROOM];
	for (unsigned i = 0; i < c->count; i++) {
		const struct param *p = &c->params[i];
		if (!(p->kind & WRITTEN))
			continue;
		fill(bytes, p->size, 16 * k + i + 1000);
		if (memcmp(a->memory[i], bytes, p->size < 64 ? p->size : 64) != 0)
			return printf("%s: %s has not the driver's answer\n", c->name, c->params[i].name), 0;
	}
	if (c->result) {
		uint64_t want = 0;
		fill(&want, c->result, k + 500);
		if (c->result == 1)
			want = 1;
		if (memcmp(&want, &result, c->result) != 0)
			return printf("%s: returned %#llx, the driver %#llx\n", c->name, (unsigned long long)result,
				(unsigned long long)want), 0;
	}
	return 1;
}

/* Prints the first line that differs. */
static int same(const struct call *c, const char *way, const char *want, const char *got)
{
	if (strcmp(want, got) == 0)
		return 1;
	if (!*got)
		return printf("%s, %s: did not arrive\n", c->name, way), 0;
	while (*want && *want == *got)
		want++, got++;
	while (want > sent.text && want[-1] != '\n')
		want--, got--;
	printf("%s, %s:\n  sent     %.*s\n  received %.*s\n", c->name, way, (int)strcspn(want, "\n"), want,
		(int)strcspn(got, "\n"), got);
	return 0;
}

static size_t fields_of(const struct call *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->count; i++)
		n += (c->params[i].kind != VALUE || !c->params[i].fields) + c->params[i].field_count;
	return n;
}

static int send(unsigned k, const char *way, void *library)
{
	static char script[1 << 16];
	const struct call *c = &calls[k];
	struct arguments a = {.memory = {0}};
	void *symbol = dlsym(library, c->name);
	void (*f)(void);
	memcpy(&f, &symbol, sizeof f);
	if (!f)
		return printf("%s, %s: no such function\n", c->name, way), 0;
	prepare(c, k, &a, script);
	fake_script(script);
	sent.used = 0;
	record_call(&sent, c, (const void *const *)a.at);
	sent.text[sent.used] = 0;
	uint64_t result = senders[k](f, a.at);
	int ok = same(c, way, sent.text, fake_record()) && answered(c, k, &a, result);
	for (unsigned i = 0; i < c->count; i++)
		free(a.memory[i]);
	return ok;
}

int main(int argc, char **argv)
{
	const unsigned count = sizeof calls / sizeof *calls;
	static int good[sizeof calls / sizeof *calls];
	if (argc != 2)
		return puts("usage: fidelity FILE"), 2;
	host_keeps = argv[1];
	setenv("FAKE_DRIVER", argv[1], 1);
	host_begin();
	void *fake = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *core = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	if (!fake || !core)
		return puts(dlerror()), 1;
	void *symbols[] = {dlsym(fake, "fake_record"), dlsym(fake, "fake_script")};
	memcpy(&fake_record, &symbols[0], sizeof fake_record);
	memcpy(&fake_script, &symbols[1], sizeof fake_script);
	for (unsigned k = 0; k < count; k++)
		good[k] = send(k, "direct", fake);
	for (unsigned k = 0; k < count; k++)
		good[k] &= send(k, "pass-through", core);
	setenv("FAKE_OURS", "1", 1);
	__typeof__(MAKE()) ours = MAKE();
	unsetenv("FAKE_OURS");
	fake_record();
	for (unsigned k = 0; k < count; k++)
		good[k] &= send(k, "mixed", core);
	DROP(ours);
	if (*fake_record())
		return puts("a call with an object of the library's went to the driver"), 1;
	for (unsigned k = 0; k < count; k++) {
		all_fields += fields_of(&calls[k]);
		functions += (size_t)good[k];
		fields += good[k] ? fields_of(&calls[k]) : 0;
	}
	printf("argument fidelity %s: %zu of %u functions, %zu of %zu fields, direct, pass-through, mixed\n", API, functions,
		count, fields, all_fields);
	return functions == count ? host_end() : 1;
}
