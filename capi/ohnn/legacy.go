package ohnn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
)

// The executor functions of API 9 (section 10): inputs and outputs are set one by one and stay set for all runs that
// follow. By index the last of SetInput and SetInputWithMemory wins, and likewise for outputs.

func (s *legacyState) release() {
	for i := range s.inputs {
		s.inputs[i].clear()
	}
}

func (in *legacyInput) clear() {
	if in.buf != nil {
		in.buf.Release()
	}
	*in = legacyInput{}
}

// field names a field of a struct argument in messages.
type field string

func (f field) String() string { return string(f) }

// legacyTensor checks the struct that describes an input: ranges first if the device has them, then the index, the
// struct itself, and its agreement with the model. It returns the real dimensions and the bytes they take.
func (e *Executor) legacyTensor(index uint32, info *TensorInfo9) ([]int32, uint64, error) {
	p, err := portAt("inputIndex", "input", e.in, uint64(index))
	if err != nil {
		return nil, 0, err
	}
	t, err := info.read()
	if err != nil {
		return nil, 0, refuseFor(InvalidParameter, err, "tensor")
	}
	size, dynamic := t.byteLength()
	if dynamic {
		return nil, 0, invalid("tensor: shape %v is not complete: want the real shape of this run "+
			"[ohnn-tensor-shape-complete]", t.shape)
	}
	if t.dataType != p.dataType {
		return nil, 0, invalid("tensor.dataType: %v: input %d of the model is %v "+
			"[ohnn-tensor-data-type]", t.dataType, index, p.dataType)
	}
	if t.tensorType != p.tensorType {
		return nil, 0, invalid("tensor.type: %v: input %d of the model is %v "+
			"[ohnn-tensor-type-input]", t.tensorType, index, p.tensorType)
	}
	fits := len(t.shape) == len(p.shape)
	for i := 0; fits && i < len(p.shape); i++ {
		fits = p.shape[i] < 0 || p.shape[i] == t.shape[i]
	}
	if !fits {
		return nil, 0, invalid("tensor.dimensions: %v: input %d of the model has shape %v "+
			"[ohnn-tensor-dimensions-input]", t.shape, index, p.shape)
	}
	if e.hasRanges() {
		if err := e.checkDims(field("tensor.dimensions"), int(index), t.shape); err != nil {
			return nil, 0, err
		}
	}
	return t.shape, size, nil
}

// executorSetInput copies the tensor's bytes, however many more there are.
func executorSetInput(e *Executor, index uint32, info *TensorInfo9, data []byte) error {
	if len(data) == 0 {
		return invalid("length: 0: want the size of the input [ohnn-length-size-input]")
	}
	dims, size, err := e.legacyTensor(index, info)
	if err != nil {
		return err
	}
	if uint64(len(data)) < size {
		return invalid("length: %d: the tensor takes %d bytes [ohnn-length-tensor-takes]", len(data), size)
	}
	buf, err := mem.Host(int64(size), mem.Options{})
	if err != nil {
		return err
	}
	if err := mem.Write(buf, 0, data[:size]); err != nil {
		buf.Release()
		return err
	}
	e.run.Lock()
	defer e.run.Unlock()
	in := &e.legacy.inputs[index]
	in.clear()
	in.dims, in.buf = slices.Clone(dims), buf
	return nil
}

// executorSetInputWithMemory notes the memory; its bytes are read by the run.
func executorSetInputWithMemory(e *Executor, index uint32, info *TensorInfo9, memory *Memory) error {
	dims, size, err := e.legacyTensor(index, info)
	if err != nil {
		return err
	}
	if n := uint64(memory.length); n == 0 || n < size {
		return invalid("memory.length: %d: the tensor takes %d bytes [ohnn-memory-length-tensor]", n, size)
	}
	e.run.Lock()
	defer e.run.Unlock()
	in := &e.legacy.inputs[index]
	in.clear()
	in.dims, in.memory = slices.Clone(dims), memory.data
	return nil
}

// outputSize is the least size of an output: the bytes of its last known shape, 0 while that is open.
func (e *Executor) outputSize(index uint32) (uint64, error) {
	if _, err := portAt("outputIndex", "output", e.out, uint64(index)); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	shape := e.outputs[index].shape
	if len(shape) == 0 && settings().reference {
		return 0, invalid("outputIndex: %d: the reference implementation takes no scalar outputs "+
			"[ohnn-output-index-reference]", index)
	}
	n, dynamic, err := elements(shape)
	if err != nil || dynamic {
		return 0, err
	}
	return n * e.out[index].dataType.Size(), nil
}

// executorSetOutput keeps the pointer until it is set anew; a run writes the real data and nothing behind it.
func executorSetOutput(e *Executor, index uint32, data []byte) error {
	if len(data) == 0 {
		return invalid("length: 0: want the size of the output [ohnn-length-size-output]")
	}
	return e.setLegacyOutput(index, uint64(len(data)), "length", legacyOutput{data: data, set: true})
}

// executorSetOutputWithMemory is executorSetOutput for memory of executorAllocateOutputMemory.
func executorSetOutputWithMemory(e *Executor, index uint32, memory *Memory) error {
	if memory.length == 0 {
		return invalid("memory.length: 0: want the size of the output [ohnn-memory-length-size]")
	}
	return e.setLegacyOutput(index, uint64(memory.length), "memory.length", legacyOutput{memory: memory.data, set: true})
}

func (e *Executor) setLegacyOutput(index uint32, length uint64, name string, o legacyOutput) error {
	need, err := e.outputSize(index)
	if err != nil {
		return err
	}
	if length < need {
		return invalid("%s: %d: output %d takes %d bytes [ohnn-output-takes-bytes]", name, length, index, need)
	}
	e.run.Lock()
	defer e.run.Unlock()
	e.legacy.outputs[index] = o
	return nil
}

// executorRun runs with the inputs and outputs that are set. A result that does not fit into its output is
// InvalidParameter, as is one of another rank than the model declares.
func executorRun(e *Executor) error {
	e.run.Lock()
	defer e.run.Unlock()
	j, err := e.legacyJob()
	if err != nil {
		return err
	}
	defer j.release()
	shapes, err := e.do(j)
	if errors.Is(err, mem.ErrTooSmall) {
		return refuseFor(InvalidParameter, err, "executor")
	}
	if err != nil {
		return refuseFor(runCode(err), err, "executor: device %s", e.npu.name)
	}
	for i, s := range shapes {
		if want := e.out[i].shape; len(s) != len(want) {
			return invalid("executor: output %d has shape %v: the model declares %v "+
				"[ohnn-executor-output-shape]", i, s, want)
		}
	}
	return nil
}

// legacyJob collects the buffers of a run. The caller holds e.run and releases the job.
func (e *Executor) legacyJob() (j job, err error) {
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	ports, _ := e.program.Ports()
	for i := range e.legacy.inputs {
		in := &e.legacy.inputs[i]
		buf := in.buf
		switch {
		case buf != nil:
			buf.Retain()
		case in.memory == nil:
			return j, invalid("executor: input %d is not set: call OH_NNExecutor_SetInput first "+
				"[ohnn-executor-input-set]", i)
		default:
			if buf = memories.find(in.memory); buf == nil {
				return j, invalid("executor: input %d is memory that OH_NNExecutor_AllocateInputMemory did not make or that was "+
					"destroyed [ohnn-executor-input-memory]", i)
			}
		}
		v := mem.View{Buf: buf, Type: portType(ports[i], in.dims)}
		j.inputs = append(j.inputs, v)
		if n, ok := v.Type.ByteSize(); !ok || n > buf.Size() {
			return j, invalid("executor: input %d: its memory has %d bytes, %v takes %d "+
				"[ohnn-executor-input-memory-bytes]", i, buf.Size(), v.Type, n)
		}
	}
	for i, out := range e.legacy.outputs {
		buf := mem.Buffer(nil)
		switch {
		case !out.set:
			return j, invalid("executor: output %d is not set: call OH_NNExecutor_SetOutput first "+
				"[ohnn-executor-output-set]", i)
		case out.data != nil:
			buf = mem.Borrow(out.data, nil)
		default:
			if buf = memories.find(out.memory); buf == nil {
				return j, invalid("executor: output %d is memory that OH_NNExecutor_AllocateOutputMemory did not make or that "+
					"was destroyed [ohnn-executor-output-memory]", i)
			}
		}
		j.outputs = append(j.outputs, mem.View{Buf: buf})
	}
	return j, nil
}

// release lets go of the buffers of a legacy job.
func (j *job) release() {
	for _, v := range slices.Concat(j.inputs, j.outputs) {
		v.Buf.Release()
	}
}

// executorAllocateInputMemory returns memory of any size for an input.
func executorAllocateInputMemory(e *Executor, index uint32, length uint64) (uintptr, error) {
	if _, err := portAt("inputIndex", "input", e.in, uint64(index)); err != nil {
		return 0, err
	}
	return memories.alloc(memoryOwner{e, index, false}, length)
}

// executorAllocateOutputMemory returns memory of any size for an output.
func executorAllocateOutputMemory(e *Executor, index uint32, length uint64) (uintptr, error) {
	if _, err := portAt("outputIndex", "output", e.out, uint64(index)); err != nil {
		return 0, err
	}
	return memories.alloc(memoryOwner{e, index, true}, length)
}

// executorDestroyInputMemory does nothing unless *memory was allocated for that very executor and index.
func executorDestroyInputMemory(e *Executor, index uint32, memory unsafe.Pointer) error {
	if e != nil {
		if _, err := portAt("inputIndex", "input", e.in, uint64(index)); err != nil {
			return err
		}
	}
	return destroyMemory(memoryOwner{e, index, false}, memory)
}

// executorDestroyOutputMemory is executorDestroyInputMemory for outputs.
func executorDestroyOutputMemory(e *Executor, index uint32, memory unsafe.Pointer) error {
	if e != nil {
		if _, err := portAt("outputIndex", "output", e.out, uint64(index)); err != nil {
			return err
		}
	}
	return destroyMemory(memoryOwner{e, index, true}, memory)
}

func destroyMemory(owner memoryOwner, memory unsafe.Pointer) error {
	if memory != nil {
		if err := boundary.CheckRange(memory, uint64(unsafe.Sizeof(uintptr(0)))); err != nil {
			return invalid("memory: %v [ohnn-memory-unreadable]", err)
		}
	}
	if owner.executor == nil || memory == nil || *(*uintptr)(memory) == 0 {
		return invalid("%s: NULL "+
			"[ohnn-null]", map[bool]string{true: "executor", false: "memory"}[owner.executor == nil])
	}
	p := (*uintptr)(memory)
	if made, ok := memories.free(owner, *p); !ok {
		return made.refuse(*p, owner)
	}
	*p = 0
	return nil
}

// refuse says why memory that was made for o, if for anyone, is not what was to be destroyed.
func (o memoryOwner) refuse(addr uintptr, want memoryOwner) error {
	switch {
	case o.executor == nil:
		return invalid("memory: %#x: want memory that OH_NNExecutor_Allocate%sMemory made and that was not "+
			"destroyed [ohnn-memory-executor-allocate]", addr,
			want.kind())
	case o.executor != want.executor:
		return invalid("memory: %#x: it was allocated by another executor [ohnn-memory-allocated-another]", addr)
	case o.output != want.output:
		return invalid("memory: %#x: it was allocated for %s: use OH_NNExecutor_Destroy%sMemory "+
			"[ohnn-memory-allocated-executor]", addr, o, o.kind())
	}
	return invalid("%sIndex: %d: the memory was allocated for %s "+
		"[ohnn-index-memory-allocated]", strings.ToLower(want.kind()), want.index, o)
}

// kind is the word in the names of the functions that are about such memory.
func (o memoryOwner) kind() string {
	if o.output {
		return "Output"
	}
	return "Input"
}

// String returns "input 1" or "output 0".
func (o memoryOwner) String() string { return fmt.Sprintf("%s %d", strings.ToLower(o.kind()), o.index) }
