package hbucp

import (
	"slices"

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
	pack := new(uintptr)
	t.Load(Success, pack, models...)
	t.Later(func() { t.Code("DNNRelease", *pack) })
	return *pack
}

// Load is hbDNNInitializeFromDDR; want is its return code.
func (t *T) Load(want int, pack *uintptr, models ...*ONNX) {
	var data []uintptr
	var sizes []int32
	for _, m := range models {
		b := m.Bytes()
		t.Keep(b)
		data, sizes = append(data, cmem.First(b)), append(sizes, int32(len(b)))
	}
	t.Is(want, "DNNInitializeFromDDR", pack, data, sizes, len(models))
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

// Named returns the model of a name.
func (t *T) Named(pack uintptr, name string) uintptr {
	model := new(uintptr)
	t.OK("DNNGetModelHandle", model, pack, name)
	return *model
}

// Model loads one model.
func (t *T) Model(m *ONNX) uintptr {
	pack := t.Pack(m)
	return t.Named(pack, t.Names(pack)[0])
}

// Port are the properties of an input or output.
func (t *T) Port(input bool, model uintptr, index int) *Properties {
	p := &Properties{}
	t.OK(map[bool]string{true: "DNNGetInputTensorProperties", false: "DNNGetOutputTensorProperties"}[input], p, model,
		index)
	return p
}

// Mem allocates memory.
func (t *T) Mem(size int64) SysMem {
	m := &SysMem{}
	t.OK("UCPMallocCached", m, uint64(size), 0)
	given := *m
	t.Later(func() { t.Call("UCPFree", &given) })
	return *m
}

// Tensor has memory for a port, with strides filled in from the last dimension outwards, rounded up to 32.
func (t *T) Tensor(input bool, model uintptr, index int) Tensor {
	x := Tensor{Properties: *t.Port(input, model, index)}
	s := x.Properties.Strides()
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == -1 {
			s[i] = (s[i+1]*int64(x.Properties.Valid.Dims[i+1]) + 31) / 32 * 32
		}
	}
	bytes := x.Properties.Bytes
	if bytes < 0 {
		bytes = s[0] * int64(x.Properties.Valid.Dims[0])
	}
	x.Mem = t.Mem(bytes)
	return x
}

// Run is a model with tensors for its inputs and outputs.
type Run struct {
	Model   uintptr
	In, Out []Tensor
	Sched   Sched
}

// Prepare loads a model and makes tensors.
func (t *T) Prepare(m *ONNX) *Run { return t.On(t.Model(m)) }

// On makes tensors for a model.
func (t *T) On(model uintptr) *Run {
	r := &Run{Model: model}
	inputs, outputs := new(int32), new(int32)
	t.OK("DNNGetInputCount", inputs, model)
	t.OK("DNNGetOutputCount", outputs, model)
	for i := range int(*inputs) {
		r.In = append(r.In, t.Tensor(true, model, i))
	}
	for i := range int(*outputs) {
		r.Out = append(r.Out, t.Tensor(false, model, i))
	}
	return r
}

// Infer is hbDNNInferV2 with the tensors of r; want is its return code.
func (t *T) Infer(want int, task *uintptr, r *Run) {
	if task == nil {
		t.Is(want, "DNNInferV2", nil, r.Out, r.In, r.Model)
		return
	}
	t.Is(want, "DNNInferV2", task, r.Out, r.In, r.Model)
}

// Make makes a task of r, which is released when the case ends.
func (t *T) Make(r *Run) uintptr {
	task := new(uintptr)
	t.Infer(Success, task, r)
	t.Check(*task != 0, "the handle of a task is 0")
	t.Later(func() { t.Call("UCPReleaseTask", *task) })
	return *task
}

// Start makes a task and submits it.
func (t *T) Start(r *Run) uintptr {
	task := t.Make(r)
	t.OK("UCPSubmitTask", task, &r.Sched)
	return task
}

// Compute runs r and waits.
func (t *T) Compute(r *Run) uintptr {
	task := t.Start(r)
	t.OK("UCPWaitTaskDone", task, 0)
	return task
}

// Fill writes elements to the memory of input 0.
func Fill[E any](r *Run, v ...E) { copy(Of[E](&r.In[0].Mem, len(v)), v) }

// Gives demands elements in the memory of output 0.
func Gives[E comparable](t *T, r *Run, want ...E) {
	got := Of[E](&r.Out[0].Mem, len(want))
	t.Check(suite.Right(t.Library, got, want), "got %v, want %v", slices.Clone(got), want)
}
