package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// Refusal is a call of the API that did not succeed: at which stage ("add", "finish", "build" or "run"), which
// function, with which code.
type Refusal struct {
	Stage, Function string
	Code            int
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s refused at %s with %s", ohnn.API.Prefix+r.Function, r.Stage, ohnn.API.CodeName(r.Code))
}

// ErrUnavailable says that the library itself reports operations as ones its device does not compute.
var ErrUnavailable = errors.New("the device does not compute the operation, says OH_NNModel_GetAvailableOperations")

// Session holds the objects of one model in a library. The thread must be locked: messages belong to it.
type Session struct {
	*suite.Library
	Model *Model

	Refused map[string][]int // codes with which calls of a stage can be refused so that the case passes

	model   uintptr
	comp    uintptr
	exec    uintptr
	tensors []uintptr
}

// Close destroys all objects.
func (s *Session) Close() {
	s.DestroyTensors()
	s.Call("Executor_Destroy", &s.exec)
	s.Call("Compilation_Destroy", &s.comp)
	s.Call("Model_Destroy", &s.model)
}

// DestroyTensors destroys the tensors of all runs.
func (s *Session) DestroyTensors() {
	for i := range s.tensors {
		s.Call("Tensor_Destroy", &s.tensors[i])
	}
	s.tensors = nil
}

// at calls a function at a stage of the model; a code other than success is a refusal.
func (s *Session) at(stage, function string, args ...any) error {
	code := s.Code(function, args...)
	s.Library.Judge(trace.Event{Kind: trace.Code, Codes: []int{ohnn.Success}, Or: s.Refused[stage]})
	if code != ohnn.Success {
		return &Refusal{stage, function, code}
	}
	return nil
}

// desc makes a tensor descriptor; dims empty means a scalar, for which no shape is set.
func (s *Session) desc(typeName string, dims []int32) (uintptr, error) {
	d := s.Call("TensorDesc_Create")
	if d == 0 {
		return 0, &Refusal{"add", "TensorDesc_Create", ohnn.MemoryError}
	}
	err := s.at("add", "TensorDesc_SetDataType", d, DataTypes[typeName].Number)
	if err == nil && len(dims) > 0 {
		err = s.at("add", "TensorDesc_SetShape", d, dims, len(dims))
	}
	if err == nil {
		err = s.at("add", "TensorDesc_SetFormat", d, 2)
	}
	if err != nil {
		s.Call("TensorDesc_Destroy", &d)
	}
	return d, err
}

// Build constructs and finishes the model.
func (s *Session) Build() error {
	m := s.Model
	s.model = s.Call("Model_Construct")
	for i := range m.Tensors {
		if err := s.addTensor(uint32(i), &m.Tensors[i]); err != nil {
			return fmt.Errorf("tensor %d: %w", i, err)
		}
	}
	for _, o := range m.Operations {
		if err := s.at("add", "Model_AddOperation", s.model, ohnn.Operators[o.Op], ohnn.List(o.Params...),
			ohnn.List(o.In...), ohnn.List(o.Out...)); err != nil {
			return err
		}
	}
	if err := s.at("finish", "Model_SpecifyInputsAndOutputs", s.model, ohnn.List(m.Inputs...),
		ohnn.List(m.Outputs...)); err != nil {
		return err
	}
	return s.at("finish", "Model_Finish", s.model)
}

// Available asks the library whether its device computes the operations: ErrUnavailable if it lacks one.
func (s *Session) Available() error {
	var supported *bool
	var n uint32
	if err := s.at("finish", "Model_GetAvailableOperations", s.model, 0, &supported, &n); err != nil {
		return err
	}
	if int(n) != len(s.Model.Operations) || supported == nil {
		return fmt.Errorf("OH_NNModel_GetAvailableOperations: %d operations in a model of %d", n, len(s.Model.Operations))
	}
	if slices.Contains(cmem.Copy[bool](cmem.Address(supported), int(n)), false) {
		return ErrUnavailable
	}
	return nil
}

func (s *Session) addTensor(i uint32, t *Tensor) error {
	d, err := s.desc(t.Type, t.Dims)
	if err != nil {
		return err
	}
	defer s.Call("TensorDesc_Destroy", &d)
	if err := s.at("add", "Model_AddTensorToModel", s.model, d); err != nil {
		return err
	}
	if t.Quant != nil {
		if err := s.setQuant(i, t.Quant); err != nil {
			return err
		}
	}
	if t.Param != "" {
		if err := s.at("add", "Model_SetTensorType", s.model, i, ohnn.TensorTypes[t.Param]); err != nil {
			return err
		}
	}
	value := t.Constant()
	if len(value) == 0 {
		return nil
	}
	b := numbers.Encode(value, DataTypes[t.Type].DType)
	return s.at("add", "Model_SetTensorData", s.model, i, b, len(b))
}

func (s *Session) setQuant(i uint32, q *Quant) error {
	p := s.Call("QuantParam_Create")
	defer s.Call("QuantParam_Destroy", &p)
	bits := slices.Repeat([]uint32{8}, len(q.Scale))
	n := len(q.Scale)
	for _, e := range []error{
		s.at("add", "QuantParam_SetScales", p, q.Scale, n),
		s.at("add", "QuantParam_SetZeroPoints", p, q.Zero, n),
		s.at("add", "QuantParam_SetNumBits", p, bits, n),
		s.at("add", "Model_SetTensorQuantParams", s.model, i, p),
	} {
		if e != nil {
			return e
		}
	}
	return nil
}

// Compile builds a compilation of the model and constructs an executor.
func (s *Session) Compile() error {
	if s.comp = s.Call("Compilation_Construct", s.model); s.comp == 0 {
		return &Refusal{"build", "Compilation_Construct", ohnn.Failed}
	}
	if err := s.at("build", "Compilation_Build", s.comp); err != nil {
		return err
	}
	if s.exec = s.Call("Executor_Construct", s.comp); s.exec == 0 {
		return &Refusal{"build", "Executor_Construct", ohnn.Failed}
	}
	return nil
}

// tensor makes a tensor of the sizes dims for model tensor t.
func (s *Session) tensor(t *Tensor, dims []int32) (uintptr, error) {
	if len(dims) == 0 {
		dims = []int32{1} // a tensor cannot be made without a shape
	}
	d, err := s.desc(t.Type, dims)
	if err != nil {
		return 0, err
	}
	defer s.Call("TensorDesc_Destroy", &d)
	x := s.Call("Tensor_Create", 0, d)
	if x == 0 {
		return 0, &Refusal{"run", "Tensor_Create", ohnn.Failed}
	}
	s.tensors = append(s.tensors, x)
	return x, nil
}

// bytes is the memory of a tensor of the API.
func (s *Session) bytes(x uintptr, n int) []byte {
	return cmem.Span[byte](s.Call("Tensor_GetDataBuffer", x), n)
}

// A Run is the tensors of one run.
type Run struct {
	In, Out []uintptr
	s       *Session
}

// NewRun makes the tensors of a run and fills the inputs.
func (s *Session) NewRun() (*Run, error) {
	r := &Run{s: s}
	for _, i := range s.Model.Inputs {
		x, err := s.tensor(&s.Model.Tensors[i], s.Model.Tensors[i].Feed.Dims)
		if err != nil {
			return nil, err
		}
		r.In = append(r.In, x)
	}
	r.Fill()
	for _, o := range s.Model.Outputs {
		t := &s.Model.Tensors[o]
		dims := t.Dims // a model that must be refused has no expected value
		switch {
		case t.Expect != nil:
			dims = t.Expect.Dims
		case t.Feed != nil:
			dims = t.Feed.Dims
		}
		x, err := s.tensor(t, dims)
		if err != nil {
			return nil, err
		}
		r.Out = append(r.Out, x)
	}
	return r, nil
}

// Fill writes what is fed into the inputs.
func (r *Run) Fill() { r.fill(func(v []numbers.Number) []numbers.Number { return v }) }

func (r *Run) fill(of func([]numbers.Number) []numbers.Number) {
	for k, i := range r.s.Model.Inputs {
		t := &r.s.Model.Tensors[i]
		b := numbers.Encode(of(t.Feed.Numbers()), DataTypes[t.Type].DType)
		copy(r.s.bytes(r.In[k], len(b)), b)
	}
}

// FillBackwards writes what is fed with its elements in reverse order: other data of the same kind.
func (r *Run) FillBackwards() {
	r.fill(func(v []numbers.Number) []numbers.Number {
		v = slices.Clone(v)
		slices.Reverse(v)
		return v
	})
}

// Changed names an input that does not hold what was fed, "" if there is none.
func (r *Run) Changed() string {
	for k, i := range r.s.Model.Inputs {
		t := &r.s.Model.Tensors[i]
		b := numbers.Encode(t.Feed.Numbers(), DataTypes[t.Type].DType)
		if !slices.Equal(b, r.s.bytes(r.In[k], len(b))) {
			return fmt.Sprintf("input %d", k)
		}
	}
	return ""
}

// Do runs the executor.
func (r *Run) Do() error {
	return r.s.at("run", "Executor_RunSync", r.s.exec, r.In, len(r.In), r.Out, len(r.Out))
}

// Result returns the shape and the bytes of output k.
func (r *Run) Result(k int) (dims []int32, bytes []byte, err error) {
	var p, n uintptr
	desc := r.s.Call("Tensor_GetTensorDesc", r.Out[k])
	if err := r.s.at("run", "TensorDesc_GetShape", desc, &p, &n); err != nil {
		return nil, nil, err
	}
	count := int64(1)
	if n > 0 {
		dims = cmem.Copy[int32](p, int(n))
	}
	for _, d := range dims {
		count *= int64(d)
	}
	size, _ := DataTypes[r.s.Model.Tensors[r.s.Model.Outputs[k]].Type].DType.ByteSize(count)
	return dims, r.s.bytes(r.Out[k], int(size)), nil
}

// record tells a record of the case what is expected of output k; ok says that bytes are so.
func (r *Run) record(k int, bytes []byte, ok bool) {
	t := &r.s.Model.Tensors[r.s.Model.Outputs[k]]
	if t.Expect.Check != nil || len(bytes) == 0 {
		return
	}
	e := trace.Event{Kind: trace.Compare, Text: fmt.Sprintf("output %d", k), Name: t.Type,
		Addr: uint64(cmem.First(bytes)), Data: numbers.Encode(t.Expect.Data, DataTypes[t.Type].DType), OK: ok}
	switch {
	case DataTypes[t.Type].DType.IsFloat():
		e.Abs, e.Rel = r.s.Model.Abs, r.s.Model.Rel
	case t.Quant != nil:
		e.Abs = float64(r.s.Model.Steps)
	}
	r.s.Library.Judge(e)
}

// Judge compares all outputs of which the model expects something with that. rounding is the way in which halves were
// rounded, if the expectation leaves that open.
func (r *Run) Judge() (rounding string, err error) {
	for k, o := range r.s.Model.Outputs {
		if r.s.Model.Tensors[o].Expect == nil {
			continue
		}
		dims, bytes, err := r.Result(k)
		if err != nil {
			return "", err
		}
		way, err := r.s.Model.Judge(&r.s.Model.Tensors[o], dims, bytes)
		r.record(k, bytes, err == nil)
		if err != nil {
			return "", fmt.Errorf("output %d: %w", k, err)
		}
		if way != "" {
			rounding = way
		}
	}
	return rounding, nil
}
