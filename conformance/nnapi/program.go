package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// T is what the cases of the suites run with: what C programs do with the API. Objects that its methods make end when
// the case does, unless the case has ended them.
type T struct {
	*suite.T
	living map[uintptr]bool
}

// NewT returns what a case runs with.
func NewT(t *suite.T) *T { return &T{T: t, living: map[uintptr]bool{}} }

// New makes an object by a function whose last argument is the address of a handle. free ends it with the case.
func (t *T) New(free, function string, args ...any) uintptr {
	out := new(uintptr)
	t.OK(function, append(slices.Clone(args), out)...)
	t.Check(*out != 0, "%s gives the handle NULL", function)
	return t.Owned(free, *out)
}

// Owned has an object ended when the case ends.
func (t *T) Owned(free string, h uintptr) uintptr {
	t.living[h] = true
	t.Later(func() {
		if t.living[h] {
			t.Free(free, h)
		}
	})
	return h
}

// Free ends an object before the case does.
func (t *T) Free(function string, h uintptr) {
	delete(t.living, h)
	t.Call(function, h)
}

// None demands that a function which would make an object refuses to, and stores NULL (section 0).
func (t *T) None(want int, function string, args ...any) {
	out := &[]uintptr{12345}[0]
	t.Is(want, function, append(slices.Clone(args), out)...)
	t.Check(*out == 0, "%s stores the handle %#x with its failure, want NULL", function, *out)
}

// NullPointer demands that a call is refused because of a pointer of NULL.
func (t *T) NullPointer(function string, args ...any) { t.Is(UnexpectedNull, function, args...) }

// WrongState demands that a call is refused because of the state of an object.
func (t *T) WrongState(function string, args ...any) { t.Is(BadState, function, args...) }

// Type is the description of an operand without quantization. No dimensions are a scalar's, or an open rank.
func (t *T) Type(code int32, dims ...uint32) *OperandType { return t.Quantized(code, 0, 0, dims...) }

// Quantized is the description of an operand with a scale and a zero point.
func (t *T) Quantized(code int32, scale float32, zero int32, dims ...uint32) *OperandType {
	t.Keep(dims)
	return &OperandType{code, uint32(len(dims)), cmem.First(dims), scale, zero}
}

// Model is a model under construction.
type Model struct {
	t      *T
	Handle uintptr
	next   uint32
}

// Model begins a model.
func (t *T) Model() *Model { return &Model{t: t, Handle: t.New("Model_free", "Model_create")} }

// Operand adds an operand without quantization and returns its index.
func (m *Model) Operand(code int32, dims ...uint32) uint32 { return m.Add(m.t.Type(code, dims...)) }

// Add adds an operand and returns its index.
func (m *Model) Add(o *OperandType) uint32 {
	m.t.OK("Model_addOperand", m.Handle, o)
	m.next++
	return m.next - 1
}

// Value gives an operand a constant value, of which the case holds the memory.
func Value[E any](m *Model, index uint32, v ...E) uint32 {
	m.t.Keep(v)
	m.t.OK("Model_setOperandValue", m.Handle, index, v, len(cmem.Bytes(v)))
	return index
}

// Scalar adds an INT32 with a value.
func (m *Model) Scalar(v int32) uint32 { return Value(m, m.Operand(Int32), v) }

// Sub adds a MODEL operand with a finished model.
func (m *Model) Sub(value uintptr) uint32 {
	index := m.Operand(ModelOperand)
	m.t.OK("Model_setOperandValueFromModel", m.Handle, index, value)
	return index
}

// Operation adds an operation by its name without prefix.
func (m *Model) Operation(name string, inputs, outputs []uint32) {
	m.Operates(NoError, name, inputs, outputs)
}

// Operates is Operation with a return code.
func (m *Model) Operates(want int, name string, inputs, outputs []uint32) {
	m.t.Is(want, "Model_addOperation", m.Handle, Operations[name], len(inputs), inputs, len(outputs), outputs)
}

// Identify names inputs and outputs of the model; want is the return code.
func (m *Model) Identify(want int, inputs, outputs []uint32) {
	m.t.Is(want, "Model_identifyInputsAndOutputs", m.Handle, len(inputs), inputs, len(outputs), outputs)
}

// Finish finishes the model and returns its handle.
func (m *Model) Finish() uintptr {
	m.t.OK("Model_finish", m.Handle)
	return m.Handle
}

// Fails demands that the model is refused as a whole.
func (m *Model) Fails(parts ...string) {
	m.t.Bad("Model_finish", m.Handle)
	m.t.Says(parts...)
}

// Operands of Sum.
const (
	A = iota
	B
	Y
	None // the activation
	Spare
)

// Sum is an open model: Y = A + B, all of dims, with inputs and outputs identified.
func (t *T) Sum(dims ...uint32) *Model {
	m := t.Model()
	for range 3 {
		m.Operand(TensorFloat32, dims...)
	}
	m.Scalar(0)
	m.Operation("ADD", []uint32{A, B, None}, []uint32{Y})
	m.Identify(NoError, []uint32{A, B}, []uint32{Y})
	return m
}

// Device is the last device, which is the processor.
func (t *T) Device() uintptr {
	n, d := new(uint32), new(uintptr)
	t.OK("_getDeviceCount", n)
	t.OK("_getDevice", *n-1, d)
	return *d
}

// Processor is a list with the processor alone.
func (t *T) Processor() []uintptr { return []uintptr{t.Device()} }

// Compilation is an open compilation of a finished model for all devices.
func (t *T) Compilation(model uintptr) uintptr {
	return t.New("Compilation_free", "Compilation_create", model)
}

// Alone is an open compilation of a finished model for the processor alone.
func (t *T) Alone(model uintptr) uintptr {
	out := new(uintptr)
	t.OK("Compilation_createForDevices", model, t.Processor(), 1, out)
	return t.Owned("Compilation_free", *out)
}

// Compiled is a finished compilation of a finished model for the processor alone.
func (t *T) Compiled(model uintptr) uintptr {
	c := t.Alone(model)
	t.OK("Compilation_finish", c)
	return c
}

// Execution is an execution of a finished compilation with nothing bound.
func (t *T) Execution(compilation uintptr) uintptr {
	return t.New("Execution_free", "Execution_create", compilation)
}

// Run is an execution of Sum, and what is bound to it.
type Run struct {
	Handle  uintptr
	A, B, Y []float32
}

// Bound is an execution of a compilation of Sum of n elements with everything bound.
func (t *T) Bound(compilation uintptr, n int) *Run {
	r := &Run{Handle: t.Execution(compilation), A: make([]float32, n), B: make([]float32, n), Y: make([]float32, n)}
	for i := range n {
		r.A[i], r.B[i] = float32(i+1), 100
	}
	t.Bind(r)
	return r
}

// Bind binds everything.
func (t *T) Bind(r *Run) {
	for _, v := range [][]float32{r.A, r.B, r.Y} {
		t.Keep(v)
	}
	t.OK("Execution_setInput", r.Handle, 0, nil, r.A, 4*len(r.A))
	t.OK("Execution_setInput", r.Handle, 1, nil, r.B, 4*len(r.B))
	t.OK("Execution_setOutput", r.Handle, 0, nil, r.Y, 4*len(r.Y))
}

// Right demands the sums.
func (t *T) Right(r *Run) {
	for i := range r.Y {
		t.Check(r.Y[i] == r.A[i]+r.B[i], "element %d is %v, want %v + %v", i, r.Y[i], r.A[i], r.B[i])
	}
}

// Ready is an execution of Sum of two elements with everything bound.
func (t *T) Ready() *Run { return t.Bound(t.Compiled(t.Sum(2).Finish()), 2) }

// Start computes r in the background.
func (t *T) Start(r *Run) uintptr {
	return t.New("Event_free", "Execution_startCompute", r.Handle)
}

// Roles is a finished description: memory for the first input, or the first output, of a compilation.
func (t *T) Roles(compilation uintptr, output bool) uintptr {
	d := t.New("MemoryDesc_free", "MemoryDesc_create")
	function := "MemoryDesc_addInputRole"
	if output {
		function = "MemoryDesc_addOutputRole"
	}
	t.OK(function, d, compilation, 0, float32(1))
	t.OK("MemoryDesc_finish", d)
	return d
}

// Managed is memory of a finished description.
func (t *T) Managed(desc uintptr) uintptr { return t.New("Memory_free", "Memory_createFromDesc", desc) }

// Scales are scales of the channels along a dimension.
func (t *T) Scales(dim uint32, scales ...float32) *ChannelScales {
	t.Keep(scales)
	return &ChannelScales{dim, uint32(len(scales)), cmem.First(scales)}
}
