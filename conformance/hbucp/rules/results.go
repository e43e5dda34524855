package rules

import (
	"slices"
	"sync"
	"time"

	rknn "github.com/anynpu/anynpu/conformance/rknn"

	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// A call is one of a callback.
type call struct {
	task, user uintptr
	status     int32
}

// calls are those of the callbacks of the case that runs.
var calls = make(chan call, 64)

// noting only notes its call.
var noting = sync.OnceValue(func() uintptr {
	return suite.NewCallback(func(task, status, user uintptr) uintptr {
		calls <- call{task, user, int32(uint32(status))}
		return 0
	})
})

// called waits for a call.
func (t *T) called() call {
	select {
	case c := <-calls:
		return c
	case <-time.After(20 * time.Second):
		t.Failf("the callback is not called")
		return call{}
	}
}

var callbacks = []*Rule{
	rule("5.2.t_callback", "a task's function gets the task, its status and the program's address, once").
		OK("called", func(t *T) {
			b := make([]byte, 8)
			t.Keep(b)
			task, data := t.Make(t.small()), cmem.First(b)
			t.OK("UCPSetTaskDoneCb", task, noting(), data)
			t.OK("UCPSubmitTask", task, &hbucp.Sched{})
			t.OK("UCPWaitTaskDone", task, 0)
			c := t.called()
			t.Check(c == call{task, data, 0}, "task %#x, address %#x, status %d", c.task, c.user, c.status)
			time.Sleep(10 * time.Millisecond)
			t.Check(len(calls) == 0, "the callback is called twice")
		}).
		No("null", func(t *T) { t.Bad("UCPSetTaskDoneCb", t.Make(t.small()), nil, nil) }).
		No("submitted", func(t *T) {
			t.Is(hbucp.APIUseError, "UCPSetTaskDoneCb", t.Start(t.small()), noting(), nil)
		}),
	rule("5.2.u_callback_released", "a task that is released calls nothing any more").
		OK("released", func(t *T) {
			task := t.Make(t.small())
			t.OK("UCPSetTaskDoneCb", task, noting(), nil)
			t.OK("UCPReleaseTask", task)
			time.Sleep(10 * time.Millisecond)
			t.Check(len(calls) == 0, "the callback is called")
		}).
		No("ended", func(t *T) {
			task := t.Make(t.small())
			t.OK("UCPReleaseTask", task)
			t.Is(hbucp.InvalidTask, "UCPSetTaskDoneCb", task, noting(), nil)
		}),
}

// nonZero has an output of a size that only a run tells.
func nonZero() *hbucp.ONNX {
	return (&hbucp.ONNX{}).Input("x", rknn.ONNXFloat, 2, 3).Output("y", rknn.ONNXInt64, 2, -1).Node("NonZero", "y", "x").
		Meta("anynpu.output.y.max_shape", "[2, 6]")
}

var results = []*Rule{
	rule("5.2.v_output_properties", "outputs of a task that has succeeded have properties, those of the model where sizes are fixed").
		OK("fixed", func(t *T) {
			r := t.small()
			p := &hbucp.Properties{}
			t.OK("DNNGetTaskOutputTensorProperties", p, t.Compute(r), 0, 0)
			t.Check(*p == *t.Port(false, r.Model, 0), "%+v", p)
		}).
		OK("in_another_order", func(t *T) {
			r := t.Prepare(hbucp.Relu(1, 2, 3, 4).Meta("anynpu.output.y.layout", "nhwc"))
			p := &hbucp.Properties{}
			t.OK("DNNGetTaskOutputTensorProperties", p, t.Compute(r), 0, 0)
			t.Check(slices.Equal(p.Valid.Sizes(), []int32{1, 3, 4, 2}) && *p == *t.Port(false, r.Model, 0), "%+v", p)
		}).
		No("not_done", func(t *T) {
			t.Is(hbucp.APIUseError, "DNNGetTaskOutputTensorProperties", &hbucp.Properties{}, t.Make(t.small()), 0, 0)
		}).
		No("beyond", func(t *T) {
			task := t.Compute(t.small())
			for _, at := range [][2]int32{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
				t.Bad("DNNGetTaskOutputTensorProperties", &hbucp.Properties{}, task, at[0], at[1])
			}
		}).
		No("null", func(t *T) { t.Bad("DNNGetTaskOutputTensorProperties", nil, t.Compute(t.small()), 0, 0) }),
	rule("5.4.a_open_sizes", "an output of open size has -1 in its shape until a run tells it").
		OK("told", func(t *T) {
			r := t.Prepare(nonZero())
			t.Check(slices.Equal(r.Out[0].Properties.Valid.Sizes(), []int32{2, -1}), "shape %v",
				r.Out[0].Properties.Valid.Sizes())
			hbucp.Fill[float32](r, 0, 1, 0, 0, 0, 2)
			p := &hbucp.Properties{}
			t.OK("DNNGetTaskOutputTensorProperties", p, t.Compute(r), 0, 0)
			t.Check(slices.Equal(p.Valid.Sizes(), []int32{2, 2}), "shape %v", p.Valid.Sizes())
			got := hbucp.Of[int64](&r.Out[0].Mem, 12)
			row := p.Stride[0] / 8
			t.Check(got[0] == 0 && got[1] == 1 && got[row] == 1 && got[row+1] == 2, "got %v", slices.Clone(got))
		}).
		No("other_shape", func(t *T) {
			r := t.Prepare(nonZero())
			r.Out[0].Properties.Valid.Dims[1] = 7
			t.Infer(hbucp.InvalidArgument, address(), r)
		}).
		No("unbounded", func(t *T) {
			m := (&hbucp.ONNX{}).Input("x", rknn.ONNXFloat, 2, 3).Output("y", rknn.ONNXInt64, 2, -1).Node("NonZero", "y", "x")
			t.Load(hbucp.ModelInvalid, address(), m)
			t.Says("max_shape")
		}),
}
