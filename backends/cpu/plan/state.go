package plan

import (
	"bytes"
	"context"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// State is the memory of one run at a time of a plan.
type State struct {
	plan    *Plan
	threads int
	run     *pool.Run
	ctx     context.Context
	arena   []mem.Buffer
	own     [][]byte        // per buffer: its place in the arena
	mem     [][]byte        // per buffer, for this run
	results []tensor.Tensor // per buffer made by a reference step
	steps   []process
	out     []tensor.Tensor
	guards  []mem.Buffer
	work    mem.Buffer
	scratch []float32 // the bytes of work
	times   []device.NodeTime
	apart   []int // per input: bytes from row to row, nil or 0: rows have no gaps
	live    int64 // bytes of results
	peak    int64
}

// shortage is the panic of a step that gets no memory for its state.
type shortage struct{ err error }

// admit announces n bytes that a step's start takes of Go's heap.
func admit(n int64) {
	if err := mem.Admit(n); err != nil {
		panic(shortage{err})
	}
}

// NewState returns a state whose parallel work goes to at most threads threads of run's pool. Kind fault.Memory.
func (p *Plan) NewState(run *pool.Run, threads int) (s *State, err error) {
	n := len(p.buffers)
	s = &State{
		plan: p, run: run, threads: threads, own: make([][]byte, n), mem: make([][]byte, n), results: make([]tensor.Tensor,
			n),
		out: make([]tensor.Tensor, len(p.outputs)),
	}
	if err := s.allocate(); err != nil {
		s.Release()
		return nil, err
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case shortage:
			s.Release()
			s, err = nil, v.err
		default:
			panic(v)
		}
	}()
	for i := range p.buffers {
		if p.buffers[i].place == isConst {
			s.own[i] = p.buffers[i].data
		}
	}
	for _, st := range p.steps {
		s.steps = append(s.steps, st.start(s, st))
	}
	return s, nil
}

// allocate makes the arena; in guard mode every buffer lies against a page of its own that cannot be touched.
func (s *State) allocate() error {
	take := func(n int64) ([]byte, error) {
		b, err := mem.Host(n, mem.Options{Huge: n >= 8<<20})
		if err != nil {
			return nil, err
		}
		s.arena = append(s.arena, b)
		return b.Map()
	}
	var whole []byte
	var err error
	guarded := mem.Guarded()
	if !guarded {
		if whole, err = take(s.plan.arena); err != nil {
			return err
		}
	}
	for i := range s.plan.buffers {
		b := &s.plan.buffers[i]
		switch {
		case b.place != inArena:
		case guarded:
			if s.own[i], err = take(b.size); err != nil {
				return err
			}
		case b.offset+b.size <= int64(len(whole)): // a buffer that stands for none has no place
			s.own[i] = whole[b.offset:][:b.size:b.size]
		}
	}
	return nil
}

// Release frees the state.
func (s *State) Release() {
	s.releaseGuards()
	for _, b := range s.arena {
		b.Release()
	}
	s.arena = nil
	if s.work != nil {
		s.work.Release()
		s.work = nil
	}
}

func (s *State) releaseGuards() {
	for _, b := range s.guards {
		b.Release()
	}
	s.guards = nil
}

// Between is called before each step; its error ends the run.
type Between func(ctx context.Context) error

// Run computes the outputs. in are tensors of the plan's input types; out[i].Data, when not nil, is memory offered for
// output i that is in no other tensor. The result's Data is the front of it, or elsewhere and valid until the next run.
// between is called before every step.
func (s *State) Run(ctx context.Context, in, out []tensor.Tensor, profiling bool, between Between) ([]tensor.Tensor,
	error) {
	p := s.plan
	s.releaseGuards()
	s.ctx = ctx
	s.live, s.peak, s.times = 0, 0, nil
	s.place(in, out)
	begin := time.Now()
	for i, st := range p.steps {
		if err := between(ctx); err != nil {
			return nil, st.err(p, err)
		}
		from := time.Time{}
		if profiling {
			from = time.Now()
		}
		if err := s.steps[i].run(s); err != nil {
			return nil, st.err(p, err)
		}
		if profiling {
			s.note(st, from.Sub(begin), time.Since(from))
		}
		for _, x := range st.dead {
			s.live -= int64(len(s.results[x].Data))
			s.results[x] = tensor.Tensor{}
		}
	}
	s.ctx = nil
	return s.collect(), nil
}

// Apart says that rows of inputs lie bytes apart in the runs to come, in their Data: those of the last dimension, or of
// the last two where these are pixels of components. 0 is for inputs without gaps, and for all that Plan.ReadsApart
// does not allow. The list is kept.
func (s *State) Apart(bytes []int) { s.apart = bytes }

// apartOf is the distance of rows in an input's buffer, 0: they have no gaps.
func (s *State) apartOf(buf int) int {
	if b := &s.plan.buffers[buf]; b.place == isInput && s.apart != nil {
		return s.apart[b.index]
	}
	return 0
}

// place gives every buffer its memory for this run.
func (s *State) place(in, out []tensor.Tensor) {
	p := s.plan
	clear(s.results)
	for i := range p.buffers {
		b := &p.buffers[i]
		switch {
		case b.place == isView:
		case b.place == isInput:
			s.mem[i] = in[b.index].Data
			s.results[i] = in[b.index]
		case b.output != none && usable(b.output, b.size, out):
			s.mem[i] = out[b.output].Data[:b.size:b.size]
		default:
			s.mem[i] = s.own[i]
		}
	}
	for i := range p.buffers {
		if f := &p.buffers[i]; f.place == isView {
			if s.mem[i] = s.mem[f.base][4*f.at:]; f.ld == 0 {
				s.mem[i] = s.mem[i][:f.size:f.size]
			}
		}
	}
}

// usable reports whether the memory offered for output i, which is in no other tensor, can hold it.
func usable(i int, size int64, out []tensor.Tensor) bool {
	return i < len(out) && int64(len(out[i].Data)) >= size && size > 0
}

func (s *State) collect() []tensor.Tensor {
	for i, o := range s.plan.outputs {
		t := tensor.Tensor{DType: o.typ.DType, Dims: o.dims, Quant: o.typ.Quant, Data: s.mem[o.buf]}
		if s.plan.buffers[o.buf].place == isResult {
			t = s.results[o.buf]
			if o.dims != nil {
				t.Dims = o.dims
			}
			if s.guards != nil {
				t.Data = bytes.Clone(t.Data)
			}
		}
		s.out[i] = t
	}
	clear(s.results)
	return s.out
}

// Profile returns the times of the last run, when it was asked for, and the largest number of bytes of intermediate
// results.
func (s *State) Profile() ([]device.NodeTime, int64) {
	if s.times != nil {
		for _, i := range s.plan.fused {
			n := &s.plan.graph.Nodes[i]
			s.times = append(s.times, device.NodeTime{Node: n.Origin, Name: n.Name, Op: graph.NameOf(n.Op),
				Kernel: device.KernelFused})
		}
	}
	return s.times, s.plan.arena + s.peak
}

func (s *State) note(st *step, start, length time.Duration) {
	t := device.NodeTime{Node: -1, Op: st.kind, Kernel: device.KernelFast, Start: start, Length: length}
	if st.node != none {
		n := &s.plan.graph.Nodes[st.node]
		t.Node, t.Name, t.Op = n.Origin, n.Name, graph.NameOf(n.Op)
	}
	if !st.fast {
		t.Kernel = device.KernelReference
	}
	s.times = append(s.times, t)
}

// err says in which step err happened.
func (st *step) err(p *Plan, err error) error {
	if st.node == none {
		return fault.Wrap(err, "%s", st.kind)
	}
	return p.graph.Nodes[st.node].Err(err)
}

// keep stores a result, in guard mode against a page that cannot be touched.
func (s *State) keep(buf int, t tensor.Tensor) error {
	if mem.Guarded() {
		b, err := mem.Host(int64(len(t.Data)), mem.Options{})
		if err != nil {
			return err
		}
		s.guards = append(s.guards, b)
		data, err := b.Map()
		if err != nil {
			return err
		}
		copy(data, t.Data)
		t.Data = data
	}
	s.results[buf] = t
	s.mem[buf] = t.Data
	s.live += int64(len(t.Data))
	s.peak = max(s.peak, s.live)
	return nil
}

// f32 returns a buffer's values.
func (s *State) f32(buf int) []float32 { return floats(s.mem[buf]) }

// do computes n chunks of t, on the calling goroutine alone when that is all the state may use.
func (s *State) do(n int, t pool.Task) {
	if n <= 1 || s.threads <= 1 {
		for i := range n {
			t.Chunk(i, 0)
		}
		return
	}
	s.run.Do(n, t)
}

// borrow returns scratch memory of n values for the step under way; it is kept for later steps and runs.
func (s *State) borrow(n int) ([]float32, error) {
	if len(s.scratch) < n {
		b, err := mem.Host(int64(4*n), mem.Options{Huge: n >= 2<<20})
		if err != nil {
			return nil, err
		}
		if s.work != nil {
			s.work.Release()
		}
		s.work = b
		data, err := b.Map()
		if err != nil {
			return nil, err
		}
		s.scratch = floats(data)
	}
	return s.scratch[:n], nil
}

// rows returns a buffer of rows of cols values and the distance between them.
func (s *State) rows(buf, cols int) (v []float32, ld int) {
	return s.f32(buf), s.plan.rowLength(buf, cols)
}

// blockLen is how many elements of element-wise work one chunk has.
const blockLen = 16 << 10

func blocks(n int) int { return (n + blockLen - 1) / blockLen }

// block is chunk i of n elements.
func block(i, n int) (from, to int) { return i * blockLen, min(n, (i+1)*blockLen) }
