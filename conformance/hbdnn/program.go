package hbdnn

import (
	"slices"
	"time"

	rknn "github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// T is what the cases of the suites run with: what C programs do with the API. Packs, tasks and memory that its methods
// make end when the case does, unless the case has ended them.
type T struct{ *suite.T }

// ONNX is an ONNX model under construction.
type ONNX = rknn.Model

// Relu is y = Relu(x), both float32.
func Relu(dims ...int64) *ONNX {
	return (&ONNX{}).Input("x", rknn.ONNXFloat, dims...).Output("y", rknn.ONNXFloat, dims...).Node("Relu", "y", "x")
}

// Pack loads models from memory.
func (t *T) Pack(models ...*ONNX) uintptr {
	var data []uintptr
	var sizes []int32
	for _, m := range models {
		b := m.Bytes()
		t.Keep(b)
		data, sizes = append(data, cmem.First(b)), append(sizes, int32(len(b)))
	}
	pack := new(uintptr)
	t.OK("DNNInitializeFromDDR", pack, data, sizes, len(models))
	return t.Owned(*pack)
}

// Owned has a pack released when the case ends.
func (t *T) Owned(pack uintptr) uintptr {
	t.Check(pack != 0, "the handle of a pack is 0")
	t.Later(func() { // tasks that were released while they ran end in the background
		for range 10000 {
			if t.Code("DNNRelease", pack) != ModelIsRunning {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	return pack
}

// Named returns the model of a name.
func (t *T) Named(pack uintptr, name string) uintptr {
	model := new(uintptr)
	t.OK("DNNGetModelHandle", model, pack, name)
	t.Check(*model != 0, "the handle of a model is 0")
	return *model
}

// Names are the names of the models of a pack.
func (t *T) Names(pack uintptr) (names []string) {
	list, n := new(uintptr), new(int32)
	t.OK("DNNGetModelNameList", list, n, pack)
	for _, at := range cmem.Span[uintptr](*list, int(*n)) {
		names = append(names, cmem.Text(at))
	}
	return names
}

// Model loads one model.
func (t *T) Model(m *ONNX) uintptr {
	pack := t.Pack(m)
	return t.Named(pack, t.Names(pack)[0])
}

// In are the properties of an input.
func (t *T) In(model uintptr, index int) *Properties {
	p := &Properties{}
	t.OK("DNNGetInputTensorProperties", p, model, index)
	return p
}

// Out are those of an output.
func (t *T) Out(model uintptr, index int) *Properties {
	p := &Properties{}
	t.OK("DNNGetOutputTensorProperties", p, model, index)
	return p
}

// Mem allocates memory.
func (t *T) Mem(size int32) SysMem {
	m := &SysMem{}
	t.OK("SysAllocMem", m, size)
	given := *m
	t.Later(func() { t.Call("SysFreeMem", &given) })
	return *m
}

// Run is a model with one input and one output, and memory for both.
type Run struct {
	Model   uintptr
	In, Out []Tensor
	Control Control
}

// Prepare loads a model and makes memory.
func (t *T) Prepare(m *ONNX) *Run { return t.On(t.Model(m)) }

// On makes memory for a model.
func (t *T) On(model uintptr) *Run {
	r := &Run{Model: model, In: make([]Tensor, 1), Out: make([]Tensor, 1)}
	r.In[0].Properties, r.Out[0].Properties = *t.In(model, 0), *t.Out(model, 0)
	r.In[0].Mem[0], r.Out[0].Mem[0] = t.Mem(r.In[0].Properties.Bytes), t.Mem(r.Out[0].Properties.Bytes)
	return r
}

// Infer is hbDNNInfer with the tensors of r; want is its return code. A task that should have been refused is released
// when the case ends.
func (t *T) Infer(want int, task *uintptr, r *Run) {
	as := false
	if task != nil && want != Success {
		t.Later(func() {
			if !as && *task != 0 {
				t.Call("DNNReleaseTask", *task)
			}
		})
	}
	t.Is(want, "DNNInfer", task, Outputs(r.Out), r.In, r.Model, &r.Control)
	as = true
}

// Start submits a new task, which is released when the case ends.
func (t *T) Start(r *Run) uintptr {
	task := new(uintptr)
	t.Infer(Success, task, r)
	return t.Task(*task)
}

// Task has a task released when the case ends.
func (t *T) Task(task uintptr) uintptr {
	t.Check(task != 0, "the handle of a task is 0")
	t.Later(func() { t.Call("DNNReleaseTask", task) })
	return task
}

// Compute runs r and waits.
func (t *T) Compute(r *Run) { t.OK("DNNWaitTaskDone", t.Start(r), 0) }

// Fill writes elements to the memory of input 0.
func Fill[E any](r *Run, v ...E) { copy(Of[E](&r.In[0].Mem[0], len(v)), v) }

// Gives demands elements in the memory of output 0.
func Gives[E comparable](t *T, r *Run, want ...E) {
	got := Of[E](&r.Out[0].Mem[0], len(want))
	t.Check(suite.Right(t.Library, got, want), "got %v, want %v", slices.Clone(got), want)
}
