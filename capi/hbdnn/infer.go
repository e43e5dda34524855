package hbdnn

import (
	"math"

	"github.com/anynpu/anynpu/capi/hb"
)

// dnnInfer adds a run of a model to a new task or, if *to is one, to that.
func dnnInfer(to, output *uintptr, input *Tensor, m *Model, c *InferCtrlParam) error {
	if *output == 0 {
		return invalid("output points to NULL: want the array of the model's %d output tensors "+
			"[hbdnn-output-points-null]", len(m.out))
	}
	if err := checkControl(c); err != nil {
		return err
	}
	return enqueue(to, c, 1, func(t *Task) error { return add(t, output, input, m) })
}

// tasks and resizes count the tasks of models, and those of hbDNNResize.
var tasks, resizes = &hb.Limit{Most: maxTasks}, &hb.Limit{Most: maxTasks}

// enqueue adds what add adds, which counts as weight members, to a new task or, if *to is one, to that.
func enqueue(to *uintptr, c *InferCtrlParam, weight int, add func(t *Task) error) error {
	if *to != 0 {
		return api.Extend(*to, weight, seen(add), func(t *Task) { submitLocked(t, c) })
	}
	return begin(to, c, &Task{Limit: tasks, Weight: weight}, add)
}

// begin makes the handle of a new task.
func begin(to *uintptr, c *InferCtrlParam, t *Task, add func(t *Task) error) error {
	t.API, t.Gone = api, hb.DropScalers
	if profiling != nil {
		t.Ran = profileTask
	}
	if err := t.Begin(to, seen(add)); err != nil {
		return err
	}
	hb.HoldScalers()
	if c.more == 0 {
		t.Submit(orderOf(c))
	}
	return nil
}

// seen is add with a look at the memory, and at the thread, of the members that it adds.
func seen(add func(t *Task) error) func(t *Task) error {
	return func(t *Task) error {
		before := len(t.Members())
		err := add(t)
		if err == nil {
			submitted(t.Members()[before:])
		}
		return err
	}
}

// submitLocked queues the task if no other member follows.
func submitLocked(t *Task, c *InferCtrlParam) {
	if c.more == 0 {
		t.SubmitLocked(orderOf(c))
	}
}

func orderOf(c *InferCtrlParam) hb.Order {
	return hb.Order{Priority: c.priority, Custom: c.custom, Core: uint64(c.bpu)}
}

// checkControl refuses settings that no task can have.
func checkControl(c *InferCtrlParam) error {
	switch {
	case c.priority < 0 || c.priority > preemptive:
		return invalid("inferCtrlParam->priority is %d: want 0 to %d [hbdnn-infer-ctrl-param]", c.priority, preemptive)
	case c.bpu < 0 || c.bpu > maxCore:
		return invalid("inferCtrlParam->bpuCoreId is %d: want 0, or the sum of HB_BPU_CORE_0 (1) and "+
			"HB_BPU_CORE_1 (2) [hbdnn-infer-ctrl-param-bpu]",
			c.bpu)
	case c.dsp < 0 || c.dsp > maxCore:
		return invalid("inferCtrlParam->dspCoreId is %d: want 0, or the sum of HB_DSP_CORE_0 (1) and "+
			"HB_DSP_CORE_1 (2) [hbdnn-infer-ctrl-param-dsp]",
			c.dsp)
	case c.more != 0 && c.more != 1:
		return invalid("inferCtrlParam->more is %d: want 1 when the task gets another member, else 0 "+
			"[hbdnn-infer-ctrl-param-task]", c.more)
	}
	aimed().tellCores(c.bpu)
	return nil
}

// add makes a member of the arguments of a call.
func add(t *Task, output *uintptr, input *Tensor, m *Model) error {
	if err := m.Pack.Enter(); err != nil {
		return err
	}
	n, kept := &member{model: m}, false
	defer func() {
		if !kept { // also when the memory of the tensors faults
			n.End()
		}
	}()
	in, err := m.inputs(input)
	if err != nil { // which has released its objects
		return err
	}
	n.in = in
	out, err := m.outputs((*Tensor)(cPointer(*output)))
	if err != nil {
		return err
	}
	n.out = out
	t.Add(n)
	kept = true
	return nil
}

// dnnWaitTaskDone waits some milliseconds for a task, for ever if timeout is 0 or less.
func dnnWaitTaskDone(t *Task, timeout int32) error { return t.Await(timeout) }

// dnnReleaseTask ends a task.
func dnnReleaseTask(h uintptr) error { return hb.Release(h) }

// dnnSetTaskDoneCb has a function called when a task is done, at once if it is. 0 is for none.
func dnnSetTaskDoneCb(h, function, user uintptr) error {
	since("hbDNNSetTaskDoneCb", "1.18")
	return hb.Notify(h, function, user, true)
}

// dnnGetTaskEstimateTime gives the time that the members of a task take together, 0 for one that is done.
func dnnGetTaskEstimateTime(estimate *int32, t *Task) error {
	*estimate = clamped(t.Estimate())
	return nil
}

// dnnGetTaskEstimateStartTime gives the time until a task with such control values would begin.
func dnnGetTaskEstimateStartTime(estimate *int32, c *InferCtrlParam) error {
	since("hbDNNGetTaskEstimateStartTime", "1.12")
	if err := checkControl(c); err != nil {
		return err
	}
	*estimate = clamped(min(hb.Ahead(orderOf(c)), math.MaxInt32))
	return nil
}
