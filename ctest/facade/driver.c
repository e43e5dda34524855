/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fake driver of the made-up API: its sums are 1000 too large, so that an answer tells where it comes from. It is
 * linked so that its calls of its own exports go to whoever has the name first, which is the program's copy; real
 * drivers do the same. What it creates for itself it asks for as "ours", which the library would make itself if the
 * program asked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toy.h"

static toy_context early;

/* With TOY_EARLY the driver uses the API while it is being opened. */
__attribute__((constructor)) static void opened(void)
{
	if (getenv("TOY_EARLY"))
		toy_open(&early, "early");
	/* A driver that is slow to open: until the program says so. */
	int (*wait)(void) = NULL;
	void *symbol = dlsym(RTLD_DEFAULT, "host_waits");
	memcpy(&wait, &symbol, sizeof wait);
	for (int i = 0; wait && wait() && i < 60000; i++)
		usleep(1000);
}

toy_context driver_early(void);
toy_context driver_early(void) { return early; }

static toy_status open_here(toy_context *context) { return (*context = (toy_context)(uintptr_t)malloc(16)) ? 0 : -5; }

/*
 * A call that is not the last thing the caller does returns into this file; one that is may return to the caller's
 * caller.
 */
static toy_status open_and_return(toy_context *context)
{
	toy_status status = toy_open(context, "ours");
	__asm__ volatile("" : "+r"(status));
	return status;
}

__attribute__((noinline)) static toy_status open_at_last(toy_context *context) { return toy_open(context, "ours"); }

static void *open_on_thread(void *context)
{
	open_and_return(context);
	return NULL;
}


toy_status toy_open(toy_context *context, const char *name)
{
	if (strcmp(name, "nested") == 0)
		return open_and_return(context);
	if (strcmp(name, "last") == 0)
		return open_at_last(context);
	if (strcmp(name, "thread") == 0) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, open_on_thread, context) != 0)
			return -7;
		return pthread_join(thread, NULL);
	}
	if (strncmp(name, "report ", 7) == 0) {
		/* A handle that ended: the library logs it, and the program's log function is called while this thread is in here. */
		int sum;
		toy_status status = toy_add((toy_context)strtoull(name + 7, NULL, 16), 1, 2, 3, &sum);
		return status == 0 ? -8 : open_here(context);
	}
	return open_here(context);
}

toy_status toy_add(toy_context context, int a, double b, int c, int *sum)
{
	if (!context || !sum)
		return -6;
	*sum = 1000 + a + (int)b + c;
	return 0;
}

toy_status toy_close(toy_context context)
{
	free((void *)(uintptr_t)context);
	return 0;
}

toy_status toy_share(toy_context *from, toy_context *to) { return *from ? open_here(to) : -6; }

/* Its blocks have no word of the driver's in them, and its numbers are 1000 too large too. */
toy_block *toy_alloc(toy_context context, int count)
{
	toy_block *block = context ? calloc(1, sizeof *block) : NULL;
	if (block)
		*block = (toy_block){calloc((size_t)count, sizeof(int)), count, NULL};
	return block;
}

toy_status toy_fill(toy_context context, toy_block *block, int value)
{
	if (!context || !block)
		return -6;
	for (int i = 0; i < block->count; i++)
		block->data[i] = 1000 + value;
	return 0;
}

toy_status toy_free(toy_block *block)
{
	free(block->data);
	free(block);
	return 0;
}

toy_status toy_move(toy_context context, toy_place place, toy_pair pair, int first, toy_spot spot, int *sum)
{
	(void)context;
	*sum = 1000 + first + place.n + (int)pair.whole + (int)pair.part + (int)spot.x + 2 * (int)spot.y + (int)spot.sort;
	for (int i = 0; i < 8; i++)
		*sum += place.dims[i] << i;
	return 0;
}

toy_list *toy_list_make(void) { return malloc(16); }
int toy_list_length(toy_list *list) { return list ? 1003 : -6; }
toy_status toy_list_end(toy_list *list) { return free(list), 0; }
void toy_list_free(toy_list *list) { free(list); }
int tallyCalls(int n) { return n + 1001; }

const char *toy_who(void) { return "driver"; }

const char *toy_board(void) { return "board"; }
