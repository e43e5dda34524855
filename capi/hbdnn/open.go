package hbdnn

import "github.com/anynpu/anynpu/core/fault"

// OutputShape returns the sizes of output i of a task that is done, counted through the models of all its members. It
// serves anynpu_output_shape.
func (t *Task) OutputShape(i int) ([]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != taskDone || t.err != nil {
		return nil, fault.New(fault.State, "handle: the task has no results: hbDNNWaitTaskDone must succeed before")
	}
	if i < 0 || i >= len(t.sizes) {
		return nil, fault.New(fault.Argument, "output is %d: the task has %d outputs", i, len(t.sizes))
	}
	return t.sizes[i], nil
}
