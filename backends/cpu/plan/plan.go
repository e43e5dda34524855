package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Plan is a graph made ready for inputs of given sizes. It is never changed and is shared by any number of states.
type Plan struct {
	graph   *graph.Graph
	steps   []*step
	fused   []int // nodes that are part of another's step
	buffers []buffer
	inputs  []tensor.Type
	outputs []output
	arena   int64
}

// output says where a graph output's bytes are.
type output struct {
	buf  int
	typ  tensor.Type
	dims []int64 // nil: those of the result
}

// Fast returns how many of the plan's nodes run on fast kernels, fused ones included, and how many by reference.
func (p *Plan) Fast() (fast, byRef int) {
	for _, s := range p.steps {
		switch {
		case s.node == none:
		case s.fast:
			fast++
		default:
			byRef++
		}
	}
	return fast + len(p.fused), byRef
}

// ReadsApart reports whether rows of input i may lie apart: all steps that read it are told the distance.
func (p *Plan) ReadsApart(i int) bool {
	mine := func(x int) bool {
		b := &p.buffers[max(0, p.root(x))]
		return x != none && b.place == isInput && b.index == i
	}
	for _, s := range p.steps {
		if !s.apart && slices.ContainsFunc(s.reads, mine) {
			return false
		}
	}
	return !slices.ContainsFunc(p.outputs, func(o output) bool { return mine(o.buf) })
}

// step is one entry of a plan.
type step struct {
	node   int    // index in the graph, none: a pass added it
	kind   string // of its node
	fast   bool
	reads  []int
	writes []int
	dead   []int // results read here for the last time
	// per buffer read: length of its rows if they may lie apart, 0 or absent: they may not
	inCols  []int
	outCols []int    // alike for writes
	strips  *columns // of a step that only moves columns
	room    int64    // bytes that it needs for itself, 0: none
	scratch int      // the buffer for them, none
	inplace bool     // writes[0] may be the memory of reads[0]
	apart   bool     // rows of bytes that it reads may lie apart: State.Apart
	start   func(s *State, st *step) process
}

// process is a step in a state.
type process interface {
	run(s *State) error
}

// place says who provides a buffer's memory.
type place uint8

const (
	inArena  place = iota // the state
	isInput               // the caller, for this run
	isConst               // the graph or the plan
	isResult              // a reference step makes it
	isView                // columns of another buffer
)

// buffer is memory that steps read and write; several values share one when they are views of each other.
type buffer struct {
	place  place
	index  int    // input number
	data   []byte // constant
	size   int64
	output int // graph output that this buffer is memory of, none
	offset int64
	base   int // of a view: the buffer it is part of, never a view
	at, ld int // of a view: its first value, and the distance between rows, 0: it is one run of values
	form   bufferForm
}

// bufferForm says what a buffer is made for; values that are views of it share it.
type bufferForm struct {
	value graph.Value
	order order
	codes bool
}

// viewOf makes buffer x columns of another: x starts at value at of a buffer whose rows are ld values, or with ld 0 a
// run of values of one that is no columns itself.
func viewOf(buffers []buffer, x, base, at, ld int) {
	f := &buffers[x]
	if of := &buffers[base]; of.place == isView {
		base, at = of.base, of.at+at
		if of.ld != 0 {
			ld = of.ld
		}
	}
	f.place, f.base, f.at, f.ld = isView, base, at, ld
}

// root is the buffer whose memory x is part of.
func (p *Plan) root(x int) int {
	if x != none && p.buffers[x].place == isView {
		return p.buffers[x].base
	}
	return x
}

// rowLength is the distance between rows of cols values in buffer x.
func (p *Plan) rowLength(x, cols int) int {
	if f := &p.buffers[x]; f.place == isView && f.ld != 0 {
		return f.ld
	}
	return cols
}

// strip is one operand of a concatenation or one piece of a split: its rows lie in rows of the whole.
type strip struct {
	buf      int // index in reads or writes
	at, cols int
}

// columns are the operands of a concatenation or the pieces of a split. Those that become views of the whole go.
type columns struct {
	split  bool
	rows   int
	cols   int // of the whole
	strips []strip
}
