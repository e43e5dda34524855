package rules

import "slices"

// The model of the library that random sequences are held to: what every object holds and which code every call must
// give, told without the code under test. Models are y = a + b over float32 of one shape, [2] or [-1].

type specDesc struct {
	dataType int32
	shape    []int32
}

func (d *specDesc) dynamic() bool {
	return slices.ContainsFunc(d.shape, func(n int32) bool { return n <= 0 })
}

var elementSizes = []int{0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8}

// bytes is what a tensor of the descriptor needs; ok is false when nobody can tell.
func (d *specDesc) bytes() (n int, ok bool) {
	if len(d.shape) == 0 {
		return 0, false
	}
	if d.dynamic() {
		return 0, true
	}
	n = elementSizes[d.dataType]
	for _, x := range d.shape {
		n *= int(x)
	}
	return n, d.dataType != 0
}

type specTensor struct {
	specDesc
	data      []float32 // all that fits into its memory
	size      int
	described bool // its own tensor descriptor was asked for, and has a handle
	filed     bool // its file descriptor was asked for, and exists
}

type specModel struct {
	dim             int32 // 2 or -1
	tensors, ops    int
	specified, done bool
}

func (m *specModel) addTensor() int {
	if m.done {
		return forbid
	}
	m.tensors++
	return success
}

func (m *specModel) addOperation() int {
	switch {
	case m.done:
		return forbid
	case m.tensors < 3:
		return invalid
	}
	m.ops++
	return success
}

func (m *specModel) specify() int {
	switch {
	case m.done || m.specified:
		return forbid
	case m.tensors < 3:
		return invalid
	}
	m.specified = true
	return success
}

func (m *specModel) finish() int {
	if m.done || m.ops == 0 || !m.specified {
		return forbid
	}
	m.done = true
	return success
}

type specCompilation struct {
	model                 *specModel
	unknownDevice         bool
	performance, priority int
	missingCache          bool
	tried, built          bool
}

// set is the code of a setting.
func (c *specCompilation) set() int {
	if c.tried {
		return forbid
	}
	return success
}

func (c *specCompilation) build() int {
	switch {
	case c.tried:
		return invalid
	case c.unknownDevice:
		return failed
	}
	c.tried = true
	switch {
	case c.performance > 4 || c.priority > 3 || !c.model.done:
		return invalid
	case c.model.ops > 1: // two operations make one tensor
		return failed
	}
	c.built = true
	if c.missingCache {
		return invalid
	}
	return success
}

type specInput struct {
	n      int // elements, 0: not set
	value  float32
	memory *specMemory
}

type specOutput struct {
	data   []float32
	length int
	memory *specMemory
}

type specExecutor struct {
	dim      int32
	shape    int // last known elements of the output, -1: unknown
	onDone   bool
	in       [2]specInput
	out      specOutput
	memories int
	ended    bool // and its memory with it
}

// fits tells whether an input of the model may have n elements.
func (e *specExecutor) fits(n int) bool { return n > 0 && (e.dim == -1 || n == int(e.dim)) }

// sum adds with broadcasting of one element; ok is false when the sizes do not fit.
func sum(a, b []float32) (y []float32, ok bool) {
	if len(a) != len(b) && len(a) != 1 && len(b) != 1 {
		return nil, false
	}
	y = make([]float32, max(len(a), len(b)))
	for i := range y {
		y[i] = a[i%len(a)] + b[i%len(b)]
	}
	return y, true
}

// check is the code that a run with tensors gives before the device is asked. nil stands for a NULL element.
func (e *specExecutor) check(in []*specTensor, out *specTensor) int {
	for _, x := range in {
		if x == nil {
			return nullPtr
		}
		if len(x.shape) != 1 || !e.fits(int(x.shape[0])) {
			return invalid
		}
	}
	if out == nil {
		return invalid
	}
	for _, x := range in {
		need, _ := x.bytes()
		if x.size < need || x.size < 4*int(x.shape[0]) {
			return failed
		}
	}
	if need, ok := out.bytes(); !ok {
		return invalid
	} else if out.size < need {
		return failed
	}
	return success
}

// run computes into out, unless the device refuses.
func (e *specExecutor) run(in []*specTensor, out *specTensor) int {
	y, ok := sum(in[0].data[:in[0].shape[0]], in[1].data[:in[1].shape[0]])
	if !ok || 4*len(y) > out.size {
		return unavail
	}
	copy(out.data, y)
	out.shape, e.shape = []int32{int32(len(y))}, len(y)
	return success
}

type specMemory struct {
	owner  *specExecutor
	input  bool
	index  int
	length int
	data   []float32
	freed  bool
}

func (e *specExecutor) values(i int) []float32 {
	in := &e.in[i]
	if in.memory != nil {
		return in.memory.data[:in.n]
	}
	return slices.Repeat([]float32{in.value}, in.n)
}

// dangling tells whether memory that is set was freed: its address may belong to new memory by now.
func (e *specExecutor) dangling() bool {
	for _, m := range []*specMemory{e.in[0].memory, e.in[1].memory, e.out.memory} {
		if m != nil && m.freed {
			return true
		}
	}
	return false
}

// runLegacy runs with what is set.
func (e *specExecutor) runLegacy() int {
	if e.in[0].n == 0 || e.in[1].n == 0 || e.out.length == 0 {
		return invalid
	}
	y, ok := sum(e.values(0), e.values(1))
	if !ok {
		return unavail
	}
	if 4*len(y) > e.out.length {
		return invalid
	}
	copy(e.out.data, y)
	e.shape = len(y)
	return success
}

// setOutput is the code for memory of some bytes.
func (e *specExecutor) setOutput(index, length int) int {
	if index != 0 || length == 0 || e.shape > 0 && length < 4*e.shape {
		return invalid
	}
	return success
}

// setInput is the code for n elements in memory of some bytes.
func (e *specExecutor) setInput(index, n, length int) int {
	if index > 1 || length == 0 || !e.fits(n) || length < 4*n {
		return invalid
	}
	return success
}
