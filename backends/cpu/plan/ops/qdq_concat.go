package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// concatCodesOp joins codes along a dimension, each operand's codes by way of a table where they mean other numbers.
type concatCodesOp struct {
	axis   int
	tables [][]byte // per operand; nil: the codes stay
	lens   []int    // bytes of a run of each operand
	rows   int
}

// matchQDQConcat finds a concatenation of values that have codes, of which only codes are read.
func matchQDQConcat(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Concat)
	if !is || !g.IsFloat32(n.Out[0]) {
		return nil
	}
	k := quantizedAfter(g, n.Out[0])
	if p.Taken(k) {
		return nil
	}
	to := &g.Graph.Nodes[k]
	c, ok := ir.QuantParamsOfNode(g, to, g.Values[to.Out[0]].Type.DType)
	axis, err := op.Axis(o.Axis, len(g.Values[n.Out[0]].Dims))
	if !ok || err != nil {
		return nil
	}
	q := &concatCodesOp{axis: axis}
	for _, v := range n.In {
		if !p.HasCodes(v) || !g.IsFloat32(v) {
			return nil
		}
		table := newRecode(p.Params[v], c, 0).table
		if isIdentity(table) {
			table = nil
		}
		q.tables = append(q.tables, table)
	}
	return p.CodesPatch(i, q, n.In, to.Out[0], c, k)
}

func isIdentity(table []byte) bool {
	for i, b := range table {
		if int(b) != i {
			return false
		}
	}
	return true
}

// Layout takes the order of the first operand's codes.
func (q *concatCodesOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.CodeOrder(n.In[0])
	q.lens = nil
	for _, v := range n.In {
		dims := l.Net.Values[v].Dims
		a := q.axis
		if o == run.NHWC && len(dims) > 2 && a > 0 {
			if a--; a == 0 { // channels are the last
				a = len(dims) - 1
			}
		}
		own := run.SizesIn(dims, o)
		q.lens, q.rows = append(q.lens, run.Product(own[a:])), run.Product(own[:a])
	}
	inCodes(l, n, o)
}

func (q *concatCodesOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		t := &concatCodesTask{q: q, st: st}
		for _, n := range q.lens {
			t.length += n
		}
		t.per = max(1, run.BlockLen/t.length)
		return t
	}}
}

type concatCodesTask struct {
	q           *concatCodesOp
	st          *run.Step
	length, per int // bytes of a run of the result, and runs of a chunk
	s           *run.State
}

func (t *concatCodesTask) Run(s *run.State) error {
	t.s = s
	s.Do((t.q.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk joins some runs. Short ones go by way of memory that stays in the first-level cache.
func (t *concatCodesTask) Chunk(i, _ int) {
	scratch := borrowLines()
	lines := mem.Bytes(scratch[:])
	first, end := i*t.per, min(t.q.rows, (i+1)*t.per)
	at := 0
	for k, n := range t.q.lens {
		x, y := t.s.Mem[t.st.Reads[k]], t.s.Mem[t.st.Writes[0]][at:]
		table := t.q.tables[k]
		for r := first; r < end; {
			rows := end - r
			switch {
			case table == nil:
				kernel.CopyRows(y[r*t.length:], t.length, x[r*n:], n, rows, n)
			case n > len(lines)/4:
				rows = 1
				kernel.LookupU8(y[r*t.length:][:n], x[r*n:], (*[256]byte)(table))
			default:
				rows = min(rows, len(lines)/n)
				kernel.LookupU8(lines[:rows*n], x[r*n:], (*[256]byte)(table))
				kernel.CopyRows(y[r*t.length:], t.length, lines, n, rows, n)
			}
			r += rows
		}
		at += n
	}
	returnLines(scratch)
}
