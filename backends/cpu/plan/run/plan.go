package run

import (
	"context"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Plan is a graph made ready for inputs of given sizes. It is never changed and is shared by any number of states.
type Plan struct {
	Graph   *graph.Graph
	Steps   []*Step
	Fused   []int    // nodes that are part of another's step
	Kept    []string // names of the values that steps write
	Buffers []Buffer
	Inputs  []tensor.Type
	Outputs []Output
	Arena   int64
}

// Output says where a graph output's bytes are.
type Output struct {
	Buf  int
	Type tensor.Type
	Dims []int64 // nil: those of the result
}

// Fast returns how many of the plan's nodes run on fast kernels, fused ones included, and how many by reference.
func (p *Plan) Fast() (fast, byRef int) {
	for _, s := range p.Steps {
		switch {
		case s.Node == None:
		case s.Fast:
			fast++
		default:
			byRef++
		}
	}
	return fast + len(p.Fused), byRef
}

// ReadsApart reports whether rows of input i may lie apart: all steps that read it get the distance.
func (p *Plan) ReadsApart(i int) bool {
	mine := func(x int) bool {
		b := &p.Buffers[max(0, p.Root(x))]
		return x != None && b.Place == IsInput && b.Index == i
	}
	for _, s := range p.Steps {
		if !s.Apart && slices.ContainsFunc(s.Reads, mine) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Outputs, func(o Output) bool { return mine(o.Buf) })
}

// Step is one entry of a plan.
type Step struct {
	Node   int    // index in the graph, None: a pass added it
	Kind   string // of its node
	Fast   bool
	Reads  []int
	Writes []int
	Dead   []int // results read here for the last time
	// per buffer read: length of its rows if they may lie apart, 0 or absent: they may not
	InCols  []int
	OutCols []int    // alike for writes
	Strips  *Columns // of a step that only moves columns
	Room    int64    // bytes that it needs for itself, 0: none
	Scratch int      // the buffer for them, None
	Inplace bool     // writes[0] may be the memory of reads[0]
	Apart   bool     // rows of bytes that it reads may lie apart: State.Apart
	Bodies  []*Plan  // that it runs
	Start   func(s *State, st *Step) Process
}

// Process is a step in a state.
type Process interface {
	Run(s *State) error
}

// Between is called before each step; its error ends the run.
type Between func(ctx context.Context) error

// State is the memory of one run at a time of a plan.
type State struct {
	Plan    *Plan
	Threads int // that may compute, at most
	run     *pool.Run
	Pause   func()          // of work that is not divided: pool.Run.Pause, nil: there is no run
	Ctx     context.Context // of the run under way
	arena   []mem.Buffer
	own     [][]byte        // per buffer: its place in the arena
	Mem     [][]byte        // per buffer, for this run
	Results []tensor.Tensor // per buffer made by a reference step
	steps   []Process
	out     []tensor.Tensor
	guards  []mem.Buffer
	work    mem.Buffer
	scratch []float32 // the bytes of work
	times   []device.NodeTime
	apart   []int // per input: bytes from row to row, nil or 0: rows have no gaps
	live    int64 // bytes of results
	peak    int64
	bodies  []*State
	between Between // of the run under way
}

// Place says who provides a buffer's memory.
type Place uint8

const (
	InArena  Place = iota // the state
	IsInput               // the caller, for this run
	IsConst               // the graph or the plan
	IsResult              // a reference step makes it
	IsView                // columns of another buffer
)

// Buffer is memory that steps read and write; several values share one when they are views of each other.
type Buffer struct {
	Place  Place
	Index  int    // input number
	Data   []byte // constant
	Size   int64
	Output int // graph output that this buffer is memory of, None
	Offset int64
	Base   int // of a view: the buffer it is part of, never a view
	At, Ld int // of a view: its first value, and the distance between rows, 0: it is one run of values
	Form   BufferForm
}

// BufferForm says what a buffer is made for; values that are views of it share it.
type BufferForm struct {
	Value graph.Value
	Order Order
	Codes bool
}

// ViewOf makes buffer x columns of another: x starts at value at of a buffer whose rows are ld values, or with ld 0 a
// run of values of one that is no columns itself.
func ViewOf(buffers []Buffer, x, base, at, ld int) {
	f := &buffers[x]
	if of := &buffers[base]; of.Place == IsView {
		base, at = of.Base, of.At+at
		if of.Ld != 0 {
			ld = of.Ld
		}
	}
	f.Place, f.Base, f.At, f.Ld = IsView, base, at, ld
}

// Root is the buffer whose memory x is part of.
func (p *Plan) Root(x int) int {
	if x != None && p.Buffers[x].Place == IsView {
		return p.Buffers[x].Base
	}
	return x
}

// rowLength is the distance between rows of cols values in buffer x.
func (p *Plan) rowLength(x, cols int) int {
	if f := &p.Buffers[x]; f.Place == IsView && f.Ld != 0 {
		return f.Ld
	}
	return cols
}

// Strip is one operand of a concatenation or one piece of a split: its rows lie in rows of the whole.
type Strip struct {
	Buf      int // index in reads or writes
	At, Cols int
}

// Columns are the operands of a concatenation or the pieces of a split. Those that become views of the whole go.
type Columns struct {
	Split  bool
	Rows   int
	Cols   int // of the whole
	Strips []Strip
}
