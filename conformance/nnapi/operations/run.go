package operations

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/trace"
	"github.com/anynpu/anynpu/core/tensor"
)

// A way is how an execution is given its memory and is computed.
type way struct {
	name    string
	bind    func(r *run)
	compute func(r *run) int // returns the code of the computation
	static  bool             // wants all dimensions of outputs known
	file    bool             // goes through files, which a record of the case does not have
	device  bool             // wants sizes that are known and not zero
}

// ways are those of the case as it is written; of its other variants, the first one is enough.
var ways = []way{
	{name: "compute", bind: (*run).pointers, compute: (*run).compute},
	{name: "start", bind: (*run).pointers, compute: (*run).start},
	{name: "burst", bind: (*run).pointers, compute: (*run).burst},
	{name: "dependencies", bind: (*run).pointers, compute: (*run).dependent, static: true},
	{name: "memory", bind: (*run).pools, compute: (*run).compute, file: true},
	{name: "device memory", bind: (*run).devices, compute: (*run).compute, static: true, file: true,
		device: true},
}

// run is one execution.
type run struct {
	*program
	compilation uintptr
	execution   uintptr
	held        [][]byte        // what pointers has bound to each input, nil: it is left out
	results     []func() []byte // of each output
}

// compute computes the case in all variants with a library; a nil error means that it passed.
func (c *Case) compute(l *suite.Library, dir string) error {
	for i, v := range variants {
		t := &suite.T{Library: l, Dir: dir}
		if !c.has(v) || v.memory && t.Recorded() {
			continue
		}
		chosen := ways[:1]
		switch {
		case i == 0:
			chosen = ways
		case v.memory:
			chosen = ways[4:5]
		}
		way := ""
		err := t.Compute(func() {
			p := c.build(nnapi.NewT(t), v)
			compilation := p.t.Compilation(p.model.Handle)
			if c.Fails {
				p.fails(compilation)
				return
			}
			t.OK("Compilation_finish", compilation)
			for _, w := range chosen {
				if p.takes(w) {
					way = ", " + w.name
					p.judge(compilation, w)
				}
			}
		})
		if err != nil {
			return fmt.Errorf("%s%s: %w", v.name, way, err)
		}
	}
	return nil
}

// has tells whether a variant differs from the case as it is written.
func (c *Case) has(v variant) bool {
	some := func(of func(o *model.Operand) bool) bool {
		return slices.ContainsFunc(c.In, func(o model.Operand) bool { return of(&o) })
	}
	constant := func(o *model.Operand) bool { return o.Const }
	float := func(o *model.Operand) bool { return o.Type == "F32" }
	truth := func(o *model.Operand) bool { return o.Type == "B8" && o.Valued() }
	scalar := func(o *model.Operand) bool { return model.Types[o.Type].Scalar && o.Model == "" }
	absent := func(o *model.Operand) bool { return o.None }
	switch {
	case v.scalars || v.absent:
		return (!v.scalars || some(scalar)) && (!v.absent || some(absent))
	case v.inputs:
		return some(constant)
	case v.truths && v.folded:
		return slices.ContainsFunc(c.folded(), func(i int) bool { return truth(&c.In[i]) })
	case v.truths:
		return some(truth)
	case v.folded:
		return len(c.folded()) > 0
	case v.memory:
		return !c.Fails
	case v.relaxed:
		return some(float) || slices.ContainsFunc(c.Out, func(o model.Operand) bool { return float(&o) })
	}
	return true
}

// takes tells whether a way is one for the case.
func (p *program) takes(w way) bool {
	for _, o := range slices.Concat(p.in, p.out) {
		if w.device && (o.Empty() || len(o.Dims) == 0 || o.Open) {
			return false
		}
	}
	if w.file && p.t.Recorded() {
		return false
	}
	open := func(o *model.Operand) bool { return o.Open || o.Empty() }
	return !w.static || !slices.ContainsFunc(p.out, open)
}

// fails demands that an operation is refused when it is compiled or computed.
func (p *program) fails(compilation uintptr) {
	if code := p.t.Code("Compilation_finish", compilation); code != nnapi.NoError {
		p.t.Check(code == nnapi.OpFailed || code == nnapi.BadData, "Compilation_finish: %s, want %s", p.t.API.CodeName(code),
			p.t.API.CodeName(nnapi.OpFailed))
		return
	}
	r := &run{program: p, compilation: compilation, execution: p.t.Execution(compilation)}
	r.pointers()
	code := r.compute()
	p.t.Check(code == nnapi.OpFailed, "Execution_compute: %s, want %s", p.t.API.CodeName(code),
		p.t.API.CodeName(nnapi.OpFailed))
}

// judge computes the case once and judges what comes of it.
func (p *program) judge(compilation uintptr, w way) {
	r := &run{program: p, compilation: compilation, execution: p.t.Execution(compilation)}
	w.bind(r)
	r.judge(w.compute(r))
}

// judge judges what comes of a computation.
func (r *run) judge(code int) {
	p := r.program
	p.t.Check(code == nnapi.NoError, "the computation returns %s: %s", p.t.API.CodeName(code), p.t.LastError())
	for i, o := range p.out {
		r.shape(i, o)
		b := r.results[i]()
		err := p.c.compare(o, b, p.variant.relaxed)
		if !o.Ignore && o.Shares == nil && o.Count() > 0 {
			d := model.Types[o.Type].DType
			tolerance := p.c.tolerance(o, d, p.variant.relaxed)
			p.t.Judge(trace.Event{Kind: trace.Compare, Text: fmt.Sprintf("output %d", i), Name: d.String(),
				Addr: uint64(cmem.First(b)), Data: o.Bytes(), OK: err == nil, Abs: tolerance, Rel: relative(d) * tolerance})
		}
		p.t.Check(err == nil, "output %d: %v", i, err)
	}
}

// relative is 1 for types whose tolerance grows with the expected value.
func relative(d tensor.DType) float64 {
	if d.IsFloat() {
		return 1
	}
	return 0
}

// shape demands the rank and the dimensions of an output.
func (r *run) shape(i int, o *model.Operand) {
	rank := new(uint32)
	r.t.OK("Execution_getOutputOperandRank", r.execution, i, rank)
	r.t.Check(int(*rank) == len(o.Dims), "output %d: rank %d, want %d", i, *rank, len(o.Dims))
	if *rank == 0 {
		return
	}
	dims := make([]uint32, *rank)
	r.t.OK("Execution_getOutputOperandDimensions", r.execution, i, dims)
	r.t.Check(slices.Equal(dims, o.Dims), "output %d: dimensions %v, want %v", i, dims, o.Dims)
}

// given is the type that an execution says of input i, nil where the model says it all.
func (r *run) given(o *model.Operand) any {
	if len(o.Dims) == 0 || !r.variant.open && !o.Open {
		return nil
	}
	return r.t.Quantized(model.Types[o.Type].Code, o.Scale, o.Zero, o.Dims...)
}

// canary stands behind outputs. enough is room for a result that must not come.
const (
	canary = 0xa5
	enough = 4096
)

// pointers binds the program's own memory.
func (r *run) pointers() {
	for i, o := range r.in {
		if o.None {
			r.held = append(r.held, nil)
			r.t.OK("Execution_setInput", r.execution, i, nil, nil, 0)
			continue
		}
		b := r.bytes(o)
		r.t.Keep(b)
		r.held = append(r.held, b)
		r.t.OK("Execution_setInput", r.execution, i, r.given(o), b, len(b))
	}
	for i, o := range r.out {
		n := max(o.Size(), 1)
		if r.c.Fails {
			n = enough
		}
		b := slices.Repeat([]byte{canary}, n+16)
		r.t.Keep(b)
		r.t.OK("Execution_setOutput", r.execution, i, nil, b, n)
		r.results = append(r.results, func() []byte {
			behind := slices.ContainsFunc(b[n:], func(x byte) bool { return x != canary })
			r.t.Check(!behind, "output %d: something was written behind %d bytes", i, n)
			return b[:n]
		})
	}
}

// aligned is where the next value may begin in a pool.
func aligned(n int) int { return (n + 63) &^ 63 }

// pools binds memory with all inputs, and memory with all outputs.
func (r *run) pools() {
	var content []byte
	at := make([]int, len(r.in))
	for i, o := range r.in {
		content = append(content, make([]byte, aligned(len(content))-len(content))...)
		at[i] = len(content)
		content = append(content, o.Bytes()...)
	}
	from := newPool(r.t, content)
	for i, o := range r.in {
		r.t.OK("Execution_setInputFromMemory", r.execution, i, r.given(o), from.handle, at[i], o.Size())
	}
	offset := 0
	for _, o := range r.out {
		offset += aligned(max(o.Size(), 1))
	}
	to := newPool(r.t, make([]byte, offset))
	offset = 0
	for i, o := range r.out {
		n, begin := max(o.Size(), 1), offset
		r.t.OK("Execution_setOutputFromMemory", r.execution, i, nil, to.handle, begin, n)
		r.results = append(r.results, func() []byte { return to.read(begin, n) })
		offset += aligned(n)
	}
}

// devices binds memory of the device for each input and output.
func (r *run) devices() {
	managed := func(role string, i int) uintptr {
		d := r.t.New("MemoryDesc_free", "MemoryDesc_create")
		r.t.OK("MemoryDesc_"+role, d, r.compilation, i, float32(1))
		r.t.OK("MemoryDesc_finish", d)
		return r.t.New("Memory_free", "Memory_createFromDesc", d)
	}
	for i, o := range r.in {
		m := managed("addInputRole", i)
		r.t.OK("Memory_copy", newPool(r.t, o.Bytes()).handle, m)
		r.t.OK("Execution_setInputFromMemory", r.execution, i, nil, m, 0, 0)
	}
	for i, o := range r.out {
		m := managed("addOutputRole", i)
		r.t.OK("Execution_setOutputFromMemory", r.execution, i, nil, m, 0, 0)
		r.results = append(r.results, func() []byte {
			to := newPool(r.t, make([]byte, o.Size()))
			r.t.OK("Memory_copy", m, to.handle)
			return to.read(0, o.Size())
		})
	}
}

func (r *run) compute() int { return r.t.Code("Execution_compute", r.execution) }

func (r *run) start() int {
	e := r.t.New("Event_free", "Execution_startCompute", r.execution)
	return r.t.Code("Event_wait", e)
}

func (r *run) burst() int {
	b := r.t.New("Burst_free", "Burst_create", r.compilation)
	return r.t.Code("Execution_burstCompute", r.execution, b)
}

// dependent computes after another execution.
func (r *run) dependent() int {
	first := &run{program: r.program, compilation: r.compilation, execution: r.t.Execution(r.compilation)}
	first.pointers()
	before := r.t.New("Event_free", "Execution_startCompute", first.execution)
	e := r.t.New("Event_free", "Execution_startComputeWithDependencies", r.execution, []uintptr{before}, 1, 0)
	return r.t.Code("Event_wait", e)
}
