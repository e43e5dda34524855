package run

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

// shortage is the panic of a step that gets no memory for its state.
type shortage struct{ err error }

// Admit announces n bytes that a step's start takes of Go's heap.
func Admit(n int64) {
	if err := mem.Admit(n); err != nil {
		panic(shortage{err})
	}
}

// NewState returns a state whose parallel work goes to at most threads threads of run's pool. Kind fault.Memory.
func (p *Plan) NewState(run *pool.Run, threads int) (s *State, err error) {
	n := len(p.Buffers)
	s = &State{
		Plan: p, run: run, Threads: threads, own: make([][]byte, n), Mem: make([][]byte, n), Results: make([]tensor.Tensor,
			n),
		out: make([]tensor.Tensor, len(p.Outputs)),
	}
	if run != nil {
		s.Pause = run.Pause
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
	for i := range p.Buffers {
		if p.Buffers[i].Place == IsConst {
			s.own[i] = p.Buffers[i].Data
		}
	}
	for _, st := range p.Steps {
		s.steps = append(s.steps, st.Start(s, st))
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
		if whole, err = take(s.Plan.Arena); err != nil {
			return err
		}
	}
	for i := range s.Plan.Buffers {
		b := &s.Plan.Buffers[i]
		switch {
		case b.Place != InArena:
		case guarded:
			if s.own[i], err = take(b.Size); err != nil {
				return err
			}
		case b.Offset+b.Size <= int64(len(whole)): // a buffer that stands for none has no place
			s.own[i] = whole[b.Offset:][:b.Size:b.Size]
		}
	}
	return nil
}

// Release frees the state.
func (s *State) Release() {
	s.releaseGuards()
	for _, b := range s.bodies {
		b.Release()
	}
	s.bodies = nil
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

// Run computes the outputs. in are tensors of the plan's input types; out[i].Data, when not nil, is memory offered for
// output i that is in no other tensor. The result's Data is the front of it, or elsewhere and valid until the next run.
// between is called before every step. A run that has to stop does so between the chunks of a step, too.
func (s *State) Run(ctx context.Context, in, out []tensor.Tensor, profiling bool, between Between) (
	made []tensor.Tensor, err error) {
	p, at := s.Plan, 0
	defer func() {
		if s.run == nil {
			return
		}
		if stop := s.run.Cut(); stop != nil {
			_ = recover()
			made, err = nil, p.Steps[at].err(p, stop)
		}
	}()
	s.releaseGuards()
	s.Ctx, s.between = ctx, between
	s.live, s.peak, s.times = 0, 0, nil
	s.place(in, out)
	var begin, from time.Time
	if profiling {
		begin = time.Now()
	}
	for i, st := range p.Steps {
		at = i
		if err := between(ctx); err != nil {
			return nil, st.err(p, err)
		}
		if profiling {
			from = time.Now()
		}
		if err := s.steps[i].Run(s); err != nil {
			return nil, st.err(p, err)
		}
		if profiling {
			s.note(st, from.Sub(begin), time.Since(from))
		}
		for _, x := range st.Dead {
			s.live -= int64(len(s.Results[x].Data))
			s.Results[x] = tensor.Tensor{}
		}
	}
	s.Ctx, s.between = nil, nil
	return s.collect(), nil
}

// Apart says that rows of inputs lie bytes apart in the runs to come, in their Data: those of the last dimension, or of
// the last two where these are pixels of components. 0 is for inputs without gaps, and for all that Plan.ReadsApart
// does not allow. The list is kept.
func (s *State) Apart(bytes []int) { s.apart = bytes }

// ApartOf is the distance of rows in an input's buffer, 0: they have no gaps.
func (s *State) ApartOf(buf int) int {
	if b := &s.Plan.Buffers[buf]; b.Place == IsInput && s.apart != nil {
		return s.apart[b.Index]
	}
	return 0
}

// place gives every buffer its memory for this run.
func (s *State) place(in, out []tensor.Tensor) {
	p := s.Plan
	clear(s.Results)
	for i := range p.Buffers {
		b := &p.Buffers[i]
		switch {
		case b.Place == IsView:
		case b.Place == IsInput:
			s.Mem[i] = in[b.Index].Data
			s.Results[i] = in[b.Index]
		case b.Output != None && usable(b.Output, b.Size, out):
			s.Mem[i] = out[b.Output].Data[:b.Size:b.Size]
		default:
			s.Mem[i] = s.own[i]
		}
	}
	for i := range p.Buffers {
		if f := &p.Buffers[i]; f.Place == IsView {
			if s.Mem[i] = s.Mem[f.Base][4*f.At:]; f.Ld == 0 {
				s.Mem[i] = s.Mem[i][:f.Size:f.Size]
			}
		}
	}
}

// usable reports whether the memory offered for output i, which is in no other tensor, can hold it.
func usable(i int, size int64, out []tensor.Tensor) bool {
	return i < len(out) && int64(len(out[i].Data)) >= size && size > 0
}

func (s *State) collect() []tensor.Tensor {
	for i, o := range s.Plan.Outputs {
		t := tensor.Tensor{DType: o.Type.DType, Dims: o.Dims, Quant: o.Type.Quant, Data: s.Mem[o.Buf]}
		if s.Plan.Buffers[o.Buf].Place == IsResult {
			t = s.Results[o.Buf]
			if o.Dims != nil {
				t.Dims = o.Dims
			}
			if s.guards != nil {
				t.Data = bytes.Clone(t.Data)
			}
		}
		s.out[i] = t
	}
	clear(s.Results)
	return s.out
}

// Profile returns the times of the last run, when it was asked for, and the largest number of bytes of intermediate
// results.
func (s *State) Profile() ([]device.NodeTime, int64) {
	if s.times != nil {
		for _, i := range s.Plan.Fused {
			n := &s.Plan.Graph.Nodes[i]
			s.times = append(s.times, device.NodeTime{Node: n.Origin, Name: n.Name, Op: graph.NameOf(n.Op),
				Kernel: device.KernelFused})
		}
	}
	peak := s.Plan.Arena + s.peak
	for _, b := range s.bodies {
		_, inner := b.Profile()
		peak += inner
	}
	return s.times, peak
}

func (s *State) note(st *Step, start, length time.Duration) {
	t := device.NodeTime{Node: -1, Op: st.Kind, Kernel: device.KernelFast, Start: start, Length: length}
	if st.Node != None {
		n := &s.Plan.Graph.Nodes[st.Node]
		t.Node, t.Name, t.Op = n.Origin, n.Name, graph.NameOf(n.Op)
	}
	if !st.Fast {
		t.Kernel = device.KernelReference
	}
	s.times = append(s.times, t)
}

// err says in which step err happened.
func (st *Step) err(p *Plan, err error) error {
	if st.Node == None {
		return fault.Wrap(err, "%s", st.Kind)
	}
	return p.Graph.Nodes[st.Node].Err(err)
}

// Keep stores a result, in guard mode against a page that cannot be touched.
func (s *State) Keep(buf int, t tensor.Tensor) error {
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
	s.Results[buf] = t
	s.Mem[buf] = t.Data
	s.live += int64(len(t.Data))
	s.peak = max(s.peak, s.live)
	return nil
}

// F32 returns a buffer's values.
func (s *State) F32(buf int) []float32 { return Floats(s.Mem[buf]) }

// Do computes n chunks of t, on the calling goroutine alone when that is all the state may use.
func (s *State) Do(n int, t pool.Task) {
	switch {
	case s.run == nil:
		for i := range n {
			t.Chunk(i, 0)
		}
		return
	case n <= 1 || s.Threads <= 1:
		s.run.Alone(n, t)
		return
	}
	s.run.Do(n, t)
}

// Spanned is a matrix product: a [kernel.Gemm] or a [kernel.Joint].
type Spanned interface {
	Plan(threads int) int
	Spans() int
	SetSpan(i int)
}

// DoProduct plans p, whose chunks t computes, and computes them span by span.
func (s *State) DoProduct(p Spanned, t pool.Task) {
	n := p.Plan(s.Threads)
	for span := range p.Spans() {
		p.SetSpan(span)
		s.Do(n, t)
	}
}

// Borrow returns scratch memory of n values for the step under way; it is kept for later steps and runs.
func (s *State) Borrow(n int) ([]float32, error) {
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
		s.scratch = Floats(data)
	}
	return s.scratch[:n], nil
}

// Rows returns a buffer of rows of cols values and the distance between them.
func (s *State) Rows(buf, cols int) (v []float32, ld int) {
	return s.F32(buf), s.Plan.rowLength(buf, cols)
}

// BlockLen is how many elements of element-wise work one chunk has.
const BlockLen = 16 << 10

// Blocks is the number of chunks of n elements.
func Blocks(n int) int { return (n + BlockLen - 1) / BlockLen }

// Block is chunk i of n elements.
func Block(i, n int) (from, to int) { return i * BlockLen, min(n, (i+1)*BlockLen) }
