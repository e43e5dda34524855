/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events of the fake driver of nnapi.h: sync fences, and computations that come after them. What comes after one
 * is computed by who waits for it or frees it, so that the driver has no threads. It counts what a test asks it for
 * (nnapi_notes.h).
 */
#ifndef NNAPI_EVENTS_H
#define NNAPI_EVENTS_H

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "nnapi_notes.h"
#include "nnapi_walk.h"
#include "told.h"

#define NN_DEPENDENCIES 8

struct nn_event {
	struct nn_object object;
	int fence; /* its descriptor; 0: it is the end of a computation */
	pthread_mutex_t lock;
	struct nn_execution *after; /* to be computed after the fences; NULL: nothing is left to do */
	int fences[NN_DEPENDENCIES];
	uint32_t fence_count;
	int code;
};

/* Waits for a fence; 0 if the other side has closed it without signalling. */
static int nn_signalled(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	while (poll(&p, 1, -1) < 0)
		;
	return (p.revents & POLLIN) != 0;
}

/* The end of an event: what is still to be done is done by the first who asks. */
static int nn_event_end(struct nn_event *ev)
{
	if (ev->fence)
		return nn_signalled(ev->fence) ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED;
	pthread_mutex_lock(&ev->lock);
	if (ev->after) {
		for (uint32_t k = 0; k < ev->fence_count; k++) {
			if (!nn_signalled(ev->fences[k]))
				ev->code = ANEURALNETWORKS_OP_FAILED;
			close(ev->fences[k]);
		}
		if (ev->code == ANEURALNETWORKS_NO_ERROR) {
			pass_gate();
			ev->code = nn_compute(ev->after);
		}
		ev->after = NULL;
	}
	int code = ev->code;
	pthread_mutex_unlock(&ev->lock);
	return code;
}

/* Has an event end with the computation of an execution, after fences. Other events have ended by now. */
static int nn_after(struct nn_event *ev, struct nn_execution *e, struct nn_event *const *dependencies, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		struct nn_event *d = dependencies[k];
		if (!d || d->object.magic != NN_MAGIC || d->object.kind != NN_EVENT)
			return ANEURALNETWORKS_UNEXPECTED_NULL;
		if (!d->fence)
			nn_event_end(d);
		else if (ev->fence_count == NN_DEPENDENCIES)
			return ANEURALNETWORKS_BAD_DATA;
		else
			ev->fences[ev->fence_count++] = dup(d->fence);
	}
	if (ev->fence_count)
		nn_count("after fences", 1);
	ev->after = e;
	return ANEURALNETWORKS_NO_ERROR;
}

#endif
