package ohnn

import (
	"errors"
	"fmt"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// element names an element of an array argument in messages.
type element struct {
	array string
	i     int
}

func (a element) String() string { return fmt.Sprintf("%s[%d]", a.array, a.i) }

// do runs a job and stores the real shapes of the outputs. The caller holds e.run. When it returns, the executor has
// release the job's memory: what the program destroys then is gone at once.
func (e *Executor) do(j job) ([][]int32, error) {
	if e.defect != "" {
		return nil, fault.New(fault.Data, "the model cannot be computed as it is declared: %s "+
			"[ohnn-model-computed-declared]", e.defect)
	}
	defer e.exec.Unbind()
	for i, v := range j.inputs {
		if err := e.exec.Input(i, v); err != nil {
			return nil, fault.Wrap(err, "input %d", i)
		}
	}
	for i, v := range j.outputs {
		if err := e.exec.Output(i, v); err != nil {
			return nil, fault.Wrap(err, "output %d", i)
		}
	}
	mem.Begin(j.inputs, j.outputs) // OH_NNTensor_GetFd waits for the end
	defer mem.End(j.inputs, j.outputs)
	if err := e.exec.Run(device.RunRequest{Deadline: j.limit}); err != nil {
		return nil, err
	}
	shapes := make([][]int32, len(e.out))
	for i := range shapes {
		t, err := e.exec.OutputType(i)
		if err == nil {
			err = e.plausible(i, t, j.outputs[i].Buf.Size())
		}
		if err != nil {
			return nil, fault.Wrap(err, "output %d", i)
		}
		shapes[i] = apiDims(t.Shape)
	}
	e.setOutputShapes(shapes)
	return shapes, nil
}

// plausible checks what the device says of output i against what it was compiled as and the memory it has written.
func (e *Executor) plausible(i int, t tensor.Type, room int64) error {
	_, ports := e.program.Ports()
	want := ports[i].Type
	n, ok := t.ByteSize()
	if _, fits := want.Shape.Merge(t.Shape); !ok || !fits || t.DType != want.DType || n > room {
		return fault.New(fault.Device, "the device reports %v for %v in a memory of %d bytes "+
			"[ohnn-device-reports-memory]", t, want, room)
	}
	return nil
}

// runCode is the code of a failed run: the device's fault, whatever it is, but for timeouts, runs ended by a destroy,
// and, beside what the reference tells apart, want of memory.
func runCode(err error) ReturnCode {
	if errors.Is(err, mem.ErrExhausted) && !settings().reference {
		return MemoryError
	}
	switch fault.KindOf(err) {
	case fault.Timeout:
		return Timeout
	case fault.Canceled:
		return Failed
	}
	return UnavailableDevice
}

// takesInputs refuses a number of input tensors that is not the model's: an array of another length is not read.
func (e *Executor) takesInputs(n uint64) error { return takes("input", n, len(e.in)) }

// takesOutputs is takesInputs for outputs.
func (e *Executor) takesOutputs(n uint64) error { return takes("output", n, len(e.out)) }

func takes(kind string, n uint64, want int) error {
	if n == uint64(want) {
		return nil
	}
	return invalid("%sCount: %d: the model has %s [ohnn-count-model]", kind, n, spec.Exactly(want).Of(kind))
}

// tensorJob checks the tensors of a run, as many as the model has, in the order of section 8, RunSync steps 3 to 5.
func (e *Executor) tensorJob(inputs, outputs []*Tensor) (job, error) {
	shapes := make([][]int32, len(inputs))
	for i, t := range inputs {
		if t == nil {
			code := InvalidParameter
			if e.hasRanges() {
				code = NullPtr
			}
			return job{}, refuse(code, "inputTensor[%d]: NULL [ohnn-input-tensor-null]", i)
		}
		_, shapes[i] = t.desc.read()
		if e.hasRanges() || len(shapes[i]) != len(e.in[i].shape) {
			if err := e.checkDims(element{"inputTensor", i}, i, shapes[i]); err != nil {
				return job{}, err
			}
		}
	}
	for i, t := range outputs {
		if t == nil {
			return job{}, invalid("outputTensor[%d]: NULL [ohnn-output-tensor-null]", i)
		}
	}
	j := job{inputs: make([]mem.View, 0, len(inputs)), outputs: make([]mem.View, 0, len(outputs))}
	ports, _ := e.program.Ports()
	for i, t := range inputs {
		if err := t.fits(element{"inputTensor", i}); err != nil {
			return job{}, err
		}
		if len(e.in[i].shape) == 0 {
			shapes[i] = nil
		}
		v := mem.View{Buf: t.buf, Type: portType(ports[i], shapes[i])}
		if n, ok := v.Type.ByteSize(); !ok || n > t.buf.Size() {
			return job{}, refuse(Failed, "inputTensor[%d]: %d bytes: %v of the model takes %d "+
				"[ohnn-input-tensor-bytes]", i, t.buf.Size(), v.Type, n)
		}
		e.compareType(t, element{"inputTensor", i}, e.in[i].dataType)
		j.inputs = append(j.inputs, v)
	}
	for i, t := range outputs {
		if err := t.fits(element{"outputTensor", i}); err != nil {
			return job{}, err
		}
		e.compareType(t, element{"outputTensor", i}, e.out[i].dataType)
		j.outputs = append(j.outputs, mem.View{Buf: t.buf})
	}
	return j, nil
}

// fits checks that the memory holds what the tensor's own descriptor says.
func (t *Tensor) fits(name element) error {
	need, _, err := t.desc.bytes()
	if err != nil {
		return refuseFor(InvalidParameter, err, "%s", name)
	}
	if t.shrunk() {
		return refuse(Failed, "%s: the file behind its descriptor is shorter now than the %d bytes it was made "+
			"with [ohnn-file-behind-descriptor]", name,
			t.size)
	}
	if have := uint64(t.buf.Size()); have < need {
		dataType, shape := t.desc.read()
		return refuse(Failed, "%s: its memory has %d bytes, its descriptor %v%v needs %d "+
			"[ohnn-memory-bytes-descriptor]", name, have, dataType, shape, need)
	}
	return nil
}

// compareType warns, once per model, when a tensor's data type is not the model's: its bytes are taken as the model's
// type.
func (c *compiled) compareType(t *Tensor, name element, want DataType) {
	if got, _ := t.desc.read(); got != want && !c.told.Swap(true) {
		caution("data type differs "+
			"[ohnn-data-type-differs]", "tensor", name, "descriptor", got, "model", want, "effect",
			"the bytes are taken as the model's type")
	}
}

// setShapes writes the real shapes into the output tensors' own descriptors. A scalar is shown by the one element it
// was given as.
func setShapes(outputs []*Tensor, shapes [][]int32) error {
	for i, t := range outputs {
		switch n := len(shapes[i]); {
		case n > maxDescRank || n == 0 && settings().reference:
			return invalid("outputTensor[%d]: the result has shape %v: a descriptor has 1 to %d dimensions "+
				"[ohnn-output-tensor-result]", i, shapes[i],
				maxDescRank)
		case n > 0:
			t.desc.setShape(shapes[i], !settings().reference)
		}
	}
	return nil
}

// executorRunSync runs and waits. Errors of the device are UnavailableDevice.
func executorRunSync(e *Executor, inputs, outputs []*Tensor) error {
	shapes, err := e.runTensors(inputs, outputs)
	if err != nil {
		return err
	}
	return setShapes(outputs, shapes)
}

// executorRunSyncWithAipp checks its arguments and refuses: image preprocessing belongs to one vendor's hardware.
func executorRunSyncWithAipp(e *Executor, inputs, outputs []*Tensor, aipp string) error {
	if aipp == "" {
		return invalid("aippString: empty [ohnn-aipp-string-empty]")
	}
	if _, err := e.tensorJob(inputs, outputs); err != nil {
		return err
	}
	return refuse(Unsupported, "aippString: %q: device %s does not preprocess images: use OH_NNExecutor_RunSync "+
		"[ohnn-aipp-string-device]", aipp,
		e.npu.name)
}

func (e *Executor) runTensors(inputs, outputs []*Tensor) ([][]int32, error) {
	j, err := e.tensorJob(inputs, outputs)
	if err != nil {
		return nil, err
	}
	e.run.Lock()
	defer e.run.Unlock()
	shapes, err := e.do(j)
	if err != nil {
		return nil, refuseFor(runCode(err), err, "executor: device %s", e.npu.name)
	}
	return shapes, nil
}

// died reports whether the device behind err is gone for good.
func died(err error) bool { return errors.Is(err, device.ErrDied) }
