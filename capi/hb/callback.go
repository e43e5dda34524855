package hb

/*
#include <stdint.h>

#include "../boundary/boundary.h"

static void call_done(void *function, void *task, int32_t status, void *user)
{
	int inside = anynpu_out();
	((void (*)(void *, int32_t, void *))function)(task, status, user);
	anynpu_back(inside);
}
*/
import "C"

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
)

// make calls the program's function with the task's result. No lock and no handle is held: it may release the task.
func (c callback) make(t *Task) {
	if c.function == 0 {
		return
	}
	code := C.int32_t(t.API.Status(t.err))
	boundary.InProgram(func() { C.call_done(CPointer(c.function), CPointer(c.task), code, CPointer(c.user)) })
}

// Notify has a function called when a task is done, at once if it is. 0 is for none. A late one, of a task that is
// submitted, is refused where that is not meant.
func Notify(h, function, user uintptr, late bool) error {
	t, err := HoldTask(h)
	if err != nil {
		return err
	}
	t.mu.Lock()
	c := callback{function: function, user: user, task: h}
	done := t.state == taskDone
	switch {
	case t.released:
		err = Refuse(BadTaskHandle, "taskHandle: %#x is released [hb-task-handle-released]", h)
	case t.state != taskOpen && !late:
		err = Misused("taskHandle is submitted: its function is set before [hb-task-handle-submitted]")
	case !done:
		t.callback = c
	}
	t.mu.Unlock()
	handle.Unhold(h)
	if err == nil && done {
		c.make(t)
	}
	return err
}
