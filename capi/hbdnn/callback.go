package hbdnn

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

// make calls the program's function with what the task came to. No lock and no handle is held: it may release the task.
func (c callback) make(t *Task) {
	if c.function == 0 {
		return
	}
	code := C.int32_t(t.code())
	boundary.InProgram(func() { C.call_done(cPointer(c.function), cPointer(c.task), code, cPointer(c.user)) })
}

// dnnSetTaskDoneCb has a function called when a task is done, at once if it is. 0 is for none.
func dnnSetTaskDoneCb(h, function, user uintptr) error {
	since("hbDNNSetTaskDoneCb", "1.18")
	t, err := holdTask(h)
	if err != nil {
		return err
	}
	t.mu.Lock()
	c := callback{function: function, user: user, task: h}
	done := t.state == taskDone
	switch {
	case t.released:
		err = refuse(errTaskHandle, "taskHandle: %#x is released", h)
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
