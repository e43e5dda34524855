/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a test tells a fake driver: to answer what is not so, and to block in its runs. How many objects it has, each
 * says itself.
 */
#ifndef TOLD_H
#define TOLD_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What answers say instead: bytes at an offset of what a function gives, or its code. */
static struct lie {
	char what[64];
	uint32_t offset, count;
	uint8_t bytes[512];
} lies[8];
static pthread_mutex_t lying = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int any_lies; /* without, no lock is taken, which a forked child might find held */

void fake_lie(const char *what, uint32_t offset, const void *bytes, uint32_t count);
void fake_block(int on);
int fake_live(void);

/* Overwrites from now on what an answer with a name, which the driver says, gives; NULL: no more. */
void fake_lie(const char *what, uint32_t offset, const void *bytes, uint32_t count)
{
	pthread_mutex_lock(&lying);
	any_lies = what != NULL;
	if (!what)
		memset(lies, 0, sizeof lies);
	for (size_t k = 0; what && k < sizeof lies / sizeof *lies; k++)
		if (lies[k].count == 0) {
			snprintf(lies[k].what, sizeof lies[k].what, "%s", what);
			lies[k].offset = offset;
			lies[k].count = count < sizeof lies[k].bytes ? count : sizeof lies[k].bytes;
			memcpy(lies[k].bytes, bytes, lies[k].count);
			break;
		}
	pthread_mutex_unlock(&lying);
}

static void tell_lies(const char *what, void *at, uint32_t size)
{
	if (!any_lies)
		return;
	pthread_mutex_lock(&lying);
	for (size_t k = 0; k < sizeof lies / sizeof *lies; k++)
		if (lies[k].count != 0 && strcmp(lies[k].what, what) == 0 && lies[k].offset < size) {
			uint32_t room = size - lies[k].offset;
			memcpy((char *)at + lies[k].offset, lies[k].bytes, lies[k].count < room ? lies[k].count : room);
		}
	pthread_mutex_unlock(&lying);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate_closed;

/* Runs that begin from now on do not end before it is taken back. */
void fake_block(int on)
{
	pthread_mutex_lock(&gate);
	gate_closed = on;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate);
}

/* Where runs are blocked. */
static void pass_gate(void)
{
	pthread_mutex_lock(&gate);
	while (gate_closed)
		pthread_cond_wait(&gate_moved, &gate);
	pthread_mutex_unlock(&gate);
}

#endif
