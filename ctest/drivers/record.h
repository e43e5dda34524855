/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A record of one call: a line per argument, and per field of the structs that arguments point to, with the bytes.
 * The program that calls and the fake driver that is called write theirs with the same functions, so equal records mean
 * that every argument arrived.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { VALUE, ADDRESS, POINTED, TEXT, WRITTEN = 16 };

struct field {
	const char *name;
	size_t offset, size;
};

struct param {
	const char *name;
	int kind;    /* WRITTEN is added where the function writes to what is pointed to */
	size_t size; /* of the value, or of one element that is pointed to */
	int length;  /* the parameter with the number of elements, -1: one */
	const struct field *fields; /* of a struct */
	size_t field_count;
};

struct call {
	const char *name;
	const struct param *params;
	size_t count;
	size_t result; /* bytes, 0: none */
};

struct record {
	size_t used;
	char text[1 << 18];
};

/* Adds to the text. A record that is full ends the program: what is cut off cannot be compared. */
static inline void record_text(struct record *r, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(r->text + r->used, sizeof r->text - r->used, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof r->text - r->used) {
		fprintf(stderr, "record.h: a call has more than %zu characters\n", sizeof r->text);
		abort();
	}
	r->used += (size_t)n;
}

static inline void record_bytes(struct record *r, const char *call, const char *param, const char *field,
	const void *at, size_t size)
{
	record_text(r, "%s.%s%s%s=", call, param, field ? "." : "", field ? field : "");
	for (size_t i = 0; i < size; i++)
		record_text(r, "%02x", ((const unsigned char *)at)[i]);
	record_text(r, "\n");
}

static inline void record_fields(struct record *r, const struct call *c, const struct param *p, const char *at)
{
	for (size_t i = 0; i < p->field_count; i++)
		record_bytes(r, c->name, p->name, p->fields[i].name, at + p->fields[i].offset, p->fields[i].size);
}

/* How many elements argument i points to. The number may have any integer type. */
static inline size_t record_elements(const struct call *c, size_t i, const void *const *args)
{
	const int length = c->params[i].length;
	uint64_t n = 1;
	if (length >= 0) {
		n = 0;
		memcpy(&n, args[length], c->params[length].size);
	}
	return n > 64 ? 64 : (size_t)n;
}

/* args are the addresses of the arguments. */
static inline void record_call(struct record *r, const struct call *c, const void *const *args)
{
	record_text(r, "%s\n", c->name);
	for (size_t i = 0; i < c->count; i++) {
		const struct param *p = &c->params[i];
		const char *at = NULL;
		switch (p->kind & ~WRITTEN) {
		case VALUE:
		case ADDRESS:
			if (p->fields)
				record_fields(r, c, p, args[i]);
			else
				record_bytes(r, c->name, p->name, NULL, args[i], p->size);
			continue;
		}
		record_bytes(r, c->name, p->name, NULL, args[i], sizeof at);
		memcpy(&at, args[i], sizeof at);
		if (!at)
			continue;
		size_t n = (p->kind & ~WRITTEN) == TEXT ? strlen(at) + 1 : record_elements(c, i, args);
		for (size_t k = 0; k < n; k++, at += p->size) {
			if (p->fields)
				record_fields(r, c, p, at);
			else
				record_bytes(r, c->name, p->name, "*", at, p->size);
		}
	}
}

/*
 * Finds NAME=HEX in a script, a list of words that are separated by spaces and new lines; 0 if there is none. NAME is
 * FUNCTION for a result, FUNCTION.PARAMETER or FUNCTION.PARAMETER.FIELD for what is written. The bytes are those in
 * memory.
 */
static inline int script_value(const char *script, const char *name, void *to, size_t size)
{
	size_t length = strlen(name);
	for (const char *at = script; at && (at = strstr(at, name)); at += length) {
		if ((at != script && at[-1] != ' ' && at[-1] != '\n') || at[length] != '=')
			continue;
		unsigned byte;
		const char *hex = at + length + 1;
		for (size_t i = 0; i < size && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
			((unsigned char *)to)[i] = (unsigned char)byte;
		return 1;
	}
	return 0;
}

#endif
