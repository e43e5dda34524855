/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the fake driver of nnapi.h remembers for a test: how often something has happened, and what it was told last.
 */
#ifndef NNAPI_NOTES_H
#define NNAPI_NOTES_H

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct nn_note {
	char what[32];
	int32_t times;
	char text[512];
} nn_notes[16];
static pthread_mutex_t nn_noting = PTHREAD_MUTEX_INITIALIZER;

int32_t fake_count(const char *what);
const char *fake_noted(const char *what);

/* The note on something, which is made if there is none. */
static struct nn_note *nn_note_on(const char *what)
{
	size_t k = 0, most = sizeof nn_notes / sizeof *nn_notes - 1;
	while (k < most && nn_notes[k].what[0] && strcmp(nn_notes[k].what, what) != 0)
		k++;
	snprintf(nn_notes[k].what, sizeof nn_notes[k].what, "%s", what);
	return &nn_notes[k];
}

/* Counts that something has happened more often; the number of times so far. */
static int32_t nn_count(const char *what, int more)
{
	pthread_mutex_lock(&nn_noting);
	int32_t times = nn_note_on(what)->times += more;
	pthread_mutex_unlock(&nn_noting);
	return times;
}

/* Counts that the driver was told something, and keeps what. */
static void nn_note(const char *what, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	pthread_mutex_lock(&nn_noting);
	struct nn_note *n = nn_note_on(what);
	n->times++;
	vsnprintf(n->text, sizeof n->text, format, args);
	pthread_mutex_unlock(&nn_noting);
	va_end(args);
}

int32_t fake_count(const char *what) { return nn_count(what, 0); }

/* What the driver was told last; for a test that has no runs under way. */
const char *fake_noted(const char *what)
{
	pthread_mutex_lock(&nn_noting);
	const char *text = nn_note_on(what)->text;
	pthread_mutex_unlock(&nn_noting);
	return text;
}

#endif
