package ohnn

import (
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// Executor is an OH_NNExecutor (sections 8 and 10): what runs of one compiled model need. Runs of one executor follow
// one another. It lives on when the compilation is destroyed. Safe for concurrent use.
type Executor struct {
	handle.Ref
	*compiled
	exec *io.Execution

	run sync.Mutex // held during a run

	mu      sync.Mutex // guards what follows
	outputs []outputShape
	ranges  []dimRange // per input, made when first asked for
	legacy  legacyState
	async   asyncState
}

// outputShape is the shape of an output: declared, after a run the real one.
type outputShape struct {
	shape []int32
	c     boundary.Block // what a program was given a pointer to
}

// dimRange holds the smallest and largest dimensions of an input in C memory.
type dimRange struct{ min, max boundary.Block }

// executorConstruct fails unless the compilation is built.
func executorConstruct(c *Compilation) (*Executor, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.result == nil {
		return nil, invalid("compilation: it is not built: call OH_NNCompilation_Build first " +
			"[ohnn-compilation-built-compilation]")
	}
	ex, err := c.result.program.New(device.ExecOptions{Priority: device.Priority(c.result.priority)})
	if err != nil {
		return nil, refuseFor(UnavailableDevice, err, "compilation: device %s", c.result.npu.name)
	}
	c.result.program.Retain()
	e := &Executor{compiled: c.result, exec: io.New(ex, len(c.result.in), len(c.result.out)),
		outputs: make([]outputShape, len(c.result.out))}
	for i, p := range e.out {
		e.outputs[i].shape = slices.Clone(p.shape)
	}
	e.legacy.inputs = make([]legacyInput, len(e.in))
	e.legacy.outputs = make([]legacyOutput, len(e.out))
	return e, nil
}

func executorGetInputCount(e *Executor, n *uint64) error {
	*n = uint64(len(e.in))
	return nil
}

func executorGetOutputCount(e *Executor, n *uint64) error {
	*n = uint64(len(e.out))
	return nil
}

// portAt refuses an index that names no input or output.
func portAt(name, what string, ports []port, index uint64) (*port, error) {
	if index >= uint64(len(ports)) {
		return nil, invalid("%s: %d: the model has %s "+
			"[ohnn-index-range]", name, index, spec.Exactly(len(ports)).Of(what))
	}
	return &ports[index], nil
}

// desc returns a new descriptor. In compatibility mode an empty shape is one that was never set, and a size of 0 one
// that is not known.
func (p *port) desc() *TensorDesc {
	d := newTensorDesc(p.name, p.dataType, p.format, p.shape)
	d.exact = !settings().reference
	return d
}

// executorCreateInputTensorDesc returns a new descriptor, which the caller owns, with the declared shape.
func executorCreateInputTensorDesc(e *Executor, index uint64) (*TensorDesc, error) {
	p, err := portAt("index", "input", e.in, index)
	if err != nil {
		return nil, err
	}
	return p.desc(), nil
}

// executorCreateOutputTensorDesc is executorCreateInputTensorDesc for an output.
func executorCreateOutputTensorDesc(e *Executor, index uint64) (*TensorDesc, error) {
	p, err := portAt("index", "output", e.out, index)
	if err != nil {
		return nil, err
	}
	return p.desc(), nil
}

// executorGetOutputShape gives the declared shape before the first run, then the real one. The array is valid until the
// next run.
func executorGetOutputShape(e *Executor, index uint32, shape *uintptr, length *uint32) error {
	if _, err := portAt("outputIndex", "output", e.out, uint64(index)); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	o := &e.outputs[index]
	if o.c.Addr() == 0 {
		boundary.SetSlice(&o.c, o.shape)
	}
	*shape, *length = o.c.Addr(), uint32(len(o.shape))
	return nil
}

// setOutputShapes stores the real shapes after a run; arrays given out stay valid while nothing changes.
func (e *Executor) setOutputShapes(shapes [][]int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, s := range shapes {
		if o := &e.outputs[i]; !slices.Equal(o.shape, s) {
			o.shape = s
			o.c.Free()
		}
	}
}

// hasRanges reports whether the device tells dimension ranges.
func (e *Executor) hasRanges() bool {
	return e.npu.Info().DimMax > 0
}

// rangeOf returns the sizes that dimension i of an input may take: itself when it is fixed.
func (e *Executor) rangeOf(input, i int) (lo, hi uint64) {
	if d := e.in[input].shape[i]; d >= 0 {
		return uint64(d), uint64(d)
	}
	c := settings()
	if s, ok := c.span(i); ok && e.hasRanges() {
		return s.lo, s.hi
	}
	info := e.npu.Info()
	return uint64(max(info.DimMin, 0)), uint64(info.DimMax)
}

// checkDims judges the dimensions of an input against its ranges. A model scalar is given as one element.
func (e *Executor) checkDims(name fmt.Stringer, input int, dims []int32) error {
	want := e.in[input].shape
	if len(want) == 0 && len(dims) == 1 && dims[0] == 1 {
		return nil
	}
	if len(dims) != len(want) {
		return invalid("%s: shape %v: input %d of the model has shape %v "+
			"[ohnn-shape-input-model]", name, dims, input, want)
	}
	for i, d := range dims {
		if lo, hi := e.rangeOf(input, i); d < 0 || uint64(d) < lo || uint64(d) > hi {
			return invalid("%s: shape %v: dimension %d is %d: want %s "+
				"[ohnn-shape-dimension]", name, dims, i, d, rangeText(lo, hi))
		}
	}
	return nil
}

func rangeText(lo, hi uint64) string {
	if lo == hi {
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

// executorGetInputDimRange gives arrays that live as long as the executor. A device without ranges is asked before the
// index is judged.
func executorGetInputDimRange(e *Executor, index uint64, minDims, maxDims *uintptr, length *uint64) error {
	if !e.hasRanges() {
		return forbidden("executor: device %s does not tell dimension ranges [ohnn-executor-device-tell]", e.npu.name)
	}
	p, err := portAt("index", "input", e.in, index)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ranges == nil {
		e.ranges = make([]dimRange, len(e.in))
	}
	r := &e.ranges[index]
	if r.min.Addr() == 0 {
		var lo, hi []uint64
		for i := range p.shape {
			from, to := e.rangeOf(int(index), i)
			lo, hi = append(lo, from), append(hi, to)
		}
		boundary.SetSlice(&r.min, lo)
		boundary.SetSlice(&r.max, hi)
	}
	*minDims, *maxDims, *length = r.min.Addr(), r.max.Addr(), uint64(len(p.shape))
	return nil
}

// portType is core's type of a port with real dimensions.
func portType(declared device.Port, dims []int32) tensor.Type {
	t := declared.Type
	if sameDims(t.Shape, dims) {
		return t
	}
	sizes := make([]int64, len(dims))
	for i, d := range dims {
		sizes[i] = int64(d)
	}
	t.Shape = tensor.Of(sizes...)
	return t
}

// sameDims reports whether the shape is complete and has these dimensions.
func sameDims(s tensor.Shape, dims []int32) bool {
	if !s.Ranked || len(s.Dims) != len(dims) {
		return false
	}
	for i, d := range s.Dims {
		if !d.Known() || d.N != int64(dims[i]) {
			return false
		}
	}
	return true
}

// asyncState is the queue of asynchronous runs. One goroutine at a time works it off, in order, and calls the program
// back.
type asyncState struct {
	onRunDone     uintptr // C functions, 0: not set
	onServiceDied uintptr
	queue         []*asyncRun
	working       bool
	closed        bool // the executor is being destroyed
	thread        int  // the thread of the callback under way, 0: none
	idle          *sync.Cond
}

// asyncRun is one call of RunAsync. It holds its tensors, so that destroying one is refused until the run has ended.
type asyncRun struct {
	job
	held  []uintptr // handles of all tensors
	to    []*Tensor // the outputs
	array uintptr   // the program's array of them
	user  uintptr
}

// legacyState holds the memory and values that were set.
type legacyState struct {
	inputs  []legacyInput
	outputs []legacyOutput
}

// legacyInput is an input: a copy of the program's data, or memory that is read when the run begins.
type legacyInput struct {
	dims   []int32
	buf    mem.Buffer // nil: not set
	memory unsafe.Pointer
}

// legacyOutput is an output: the program's own bytes, or memory.
type legacyOutput struct {
	data   []byte
	memory unsafe.Pointer
	set    bool
}

// job is one run: where the inputs are and where the outputs go.
type job struct {
	inputs  []mem.View
	outputs []mem.View
	limit   time.Time // zero: none
}
