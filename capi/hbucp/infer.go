package hbucp

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
)

// most is how many tasks can be unreleased (section 5.2).
const most = 32

// tasks counts those that are not released.
var tasks = sync.OnceValue(func() *hb.Limit {
	value := boundary.Getenv("HB_UCP_MAX_TASK_NUM")
	n, err := strconv.Atoi(value)
	switch {
	case value == "":
		n = most
	case err != nil || n < 1 || n > 4096:
		api.Warn("value ignored [hbucp-value-ignored]", "HB_UCP_MAX_TASK_NUM", value, "want", "1 to 4096")
		n = most
	}
	return &hb.Limit{Most: n}
})

// unlimited is for runs whose call returns when they are done.
var unlimited = &hb.Limit{Most: math.MaxInt}

// A group has a task's members, after the task's end as well.
type group struct{ members []*member }

// leave has the packs of the members know that no task wants them any more.
func (g *group) leave() {
	for _, m := range g.members {
		m.model.Pack.Unhold()
	}
}

// dnnInferV2 makes a task, adds a member to one, or without a place for a handle runs the model and waits (section
// 5.2).
func dnnInferV2(to *uintptr, output, input *Tensor, m *Model) error {
	if to != nil && *to != 0 {
		return api.Extend(*to, 1, func(t *Task) error { return t.Extra.(*group).add(t, output, input, m) }, func(*Task) {})
	}
	if to != nil {
		return begin(to, tasks(), output, input, m)
	}
	var h uintptr
	if err := begin(&h, unlimited, output, input, m); err != nil {
		return err
	}
	t, err := hb.HoldTask(h)
	if err != nil {
		return err
	}
	t.Extra.(*group).submitted()
	t.Submit(hb.Order{})
	err = t.Await(0)
	handle.Unhold(h)
	if e := hb.Release(h); err == nil {
		err = e
	}
	return err
}

// begin makes the handle of a new task.
func begin(to *uintptr, limit *hb.Limit, output, input *Tensor, m *Model) error {
	g := &group{}
	t := &Task{API: api, Limit: limit, Weight: 1, Gone: g.leave, Extra: g}
	err := t.Begin(to, func(t *Task) error { return g.add(t, output, input, m) })
	if err != nil {
		g.leave()
	}
	return err
}

// add makes a member of the arguments of a call.
func (g *group) add(t *Task, output, input *Tensor, m *Model) error {
	if err := checkTensors(input, len(m.in), "input"); err != nil {
		return err
	}
	if err := checkTensors(output, len(m.out), "output"); err != nil {
		return err
	}
	if err := m.Pack.Enter(); err != nil {
		return err
	}
	n := &member{model: m}
	kept := false
	defer func() {
		if !kept { // also when the memory of the tensors faults
			n.End()
		}
	}()
	in, err := places(m.in, input, "input")
	if err != nil { // which has released its objects
		return err
	}
	n.in = in
	if err := m.checkImages(in); err != nil {
		return err
	}
	out, err := places(m.out, output, "output")
	if err != nil {
		return err
	}
	n.out = out
	m.Pack.Hold()
	g.members = append(g.members, n)
	t.Add(n)
	kept = true
	return nil
}

// checkImages refuses chroma of another size than its luma has.
func (m *Model) checkImages(in []place) error {
	for _, f := range m.feeds {
		if f.regions == nil || len(f.planes) < 2 {
			continue
		}
		for i, y := range f.planes[0] {
			uv := f.planes[1][i]
			luma, chroma := in[y].shape, in[uv].shape
			if luma[1] != 2*chroma[1] || luma[2] != 2*chroma[2] {
				return hb.Invalid("input[%d].properties.validShape is %v: the luma of input[%d] is %v, want half of "+
					"its rows and columns, which are even [hbucp-valid-shape-luma]", uv, chroma, y, luma)
			}
		}
	}
	return nil
}

func (g *group) submitted() {
	for _, m := range g.members {
		m.submitted()
	}
}

// ucpSubmitTask queues a task.
func ucpSubmitTask(t *Task, s *SchedParam) error {
	switch {
	case s.priority < 0 || s.priority > hb.Preemptive:
		return hb.Invalid("schedParam->priority is %d: want 0 to %d "+
			"[hbucp-sched-param-priority]", s.priority, hb.Preemptive)
	case s.backend != 0 && s.backend&(bpuCores|bpuAny) == 0:
		return hb.Invalid("schedParam->backend is %#x: want HB_UCP_CORE_ANY (0), HB_UCP_BPU_CORE_ANY (0x80), or BPU cores "+
			"(0x1 to 0xf) [hbucp-sched-param-backend]", s.backend)
	}
	if t.Submitted() {
		return hb.Misused("taskHandle is submitted already [hbucp-task-handle-submitted]")
	}
	aimed().tellCores(s.backend)
	t.Extra.(*group).submitted()
	if !t.Submit(hb.Order{Priority: s.priority, Custom: s.custom, Core: s.backend & bpuCores}) {
		return hb.Misused("taskHandle is submitted already, or released [hbucp-task-handle-submitted-already]")
	}
	return nil
}

// ucpWaitTaskDone waits some milliseconds for a task, for ever if timeout is 0 or less.
func ucpWaitTaskDone(t *Task, timeout int32) error { return t.Await(timeout) }

// ucpSetTaskDoneCb has a function called when a task is done, which is not submitted yet.
func ucpSetTaskDoneCb(h, function, user uintptr) error { return hb.Notify(h, function, user, false) }

// ucpReleaseTask ends a task.
func ucpReleaseTask(h uintptr) error {
	t, err := hb.HoldTask(h)
	if err != nil {
		return err
	}
	submitted := t.Submitted()
	handle.Unhold(h)
	err = hb.Release(h)
	if err == nil && !submitted {
		api.Warn("a task is released that was not submitted "+
			"[hbucp-task-released-submitted]", "taskHandle", fmt.Sprintf("%#x", h))
	}
	return err
}

// dnnGetTaskOutputTensorProperties describes an output of a task that is done.
func dnnGetTaskOutputTensorProperties(to *TensorProperties, t *Task, sub, output int32) error {
	if !t.Succeeded() {
		return hb.Misused("taskHandle has no results: hbUCPWaitTaskDone must succeed before [hbucp-task-handle-no]")
	}
	members := t.Extra.(*group).members
	if sub < 0 || int(sub) >= len(members) {
		return hb.Invalid("subTaskIndex is %d: the task has %d members, whose indices begin at 0 "+
			"[hbucp-sub-task-index]", sub, len(members))
	}
	m := members[sub]
	p, err := pick(m.model.out, output, "outputIndex")
	if err != nil {
		return fault.Wrap(err, "member %d", sub)
	}
	p.store(to, m.sizes[output])
	return nil
}
