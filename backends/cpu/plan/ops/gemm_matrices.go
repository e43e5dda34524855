package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// matrices are where the matrices of a batch lie in an operand: each starts at one of the offsets, and its rows are ld
// values apart, or its columns if transposed.
type matrices struct {
	at         []int
	ld         int
	transposed bool
}

// matricesIn are the matrices of a value, or of the operand of the transposition that makes it.
type matricesIn struct {
	value      graph.Value
	direct     matrices
	by         *transposeOp // nil: none that products can do without
	from       graph.Value
	transposed matrices // in from
}

// matricesOf says where the matrices of v lie for the broadcast batch lead.
func matricesOf(p *ir.Program, v graph.Value, lead []int64, transposable bool) *matricesIn {
	dims := p.Net.Values[v].Dims
	r := len(dims)
	m := &matricesIn{value: v, direct: matrices{offsetsOf(dims[:r-2], strides(dims)[:r-2], lead), int(dims[r-1]), false}}
	t, ok := p.Pending(v).(*transposeOp)
	if !ok {
		return m
	}
	from := p.Waiting[v].In[0]
	own := strides(p.Net.Values[from].Dims)
	transposed := make([]int, r)
	for i, a := range t.axes {
		transposed[i] = own[a]
	}
	batch := offsetsOf(dims[:r-2], transposed[:r-2], lead)
	switch {
	case transposed[r-1] == 1:
		m.by, m.from, m.transposed = t, from, matrices{batch, transposed[r-2], false}
	case transposed[r-2] == 1 && transposable:
		m.by, m.from, m.transposed = t, from, matrices{batch, transposed[r-1], true}
	}
	return m
}

// operand is the value to read when nothing else is known of layouts.
func (m *matricesIn) operand() graph.Value {
	if m.by != nil {
		return m.from
	}
	return m.value
}

// read makes the matrices the next operand of n. A transposition of a value in NHWC is read as its result, which is a
// view.
func (m *matricesIn) read(l *ir.Layouter, n *ir.Node) matrices {
	view := m.by == nil
	if !view {
		of, ok := m.by.viewOf(l, m.from, m.value)
		view = ok && of == run.NHWC
	}
	if view {
		l.Read(n, m.value, run.NCHW)
		return m.direct
	}
	l.Read(n, m.from, run.NCHW)
	return m.transposed
}

// offsetsOf returns where each matrix of the broadcast batch lead starts in an operand with batch dims and their
// strides.
func offsetsOf(dims []int64, own []int, lead []int64) []int {
	steps := make([]int, len(lead))
	for i := range dims {
		if dims[i] != 1 {
			steps[len(lead)-len(dims)+i] = own[i]
		}
	}
	out := make([]int, run.Product(lead))
	for i := range out {
		rest := i
		for d := len(lead) - 1; d >= 0; d-- {
			out[i] += rest % int(lead[d]) * steps[d]
			rest /= int(lead[d])
		}
	}
	return out
}
