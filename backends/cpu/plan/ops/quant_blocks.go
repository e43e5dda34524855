package ops

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// blockedOp is a product of a few rows of numbers and blocked weights.
type blockedOp struct {
	ir.InOrder
	w     blockedWeights
	from  ir.Packed
	rows  int
	moved bool // a zero point is not the middle of the codes
}

func matchBlocked(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	m, is := n.Op.(*op.MatMul)
	if !is || !m.TransposeB || m.TransposeA || len(n.In) != 2 || !g.IsFloat32(n.Out[0]) {
		return nil
	}
	at := g.Maker[n.In[1]]
	if at < 0 || !g.Held[at] || !holdsBlocked(g, at) {
		return nil
	}
	w, _ := blockedOf(g, at)
	q := &blockedOp{w: w, rows: blockedBy(g, n.In[0], &w)}
	q.moved = slices.ContainsFunc(w.zeros, func(z byte) bool { return z != w.middle() })
	if d := w.dots(3); d.Fast() {
		if m.Coarse {
			d.Digits = 2
		}
		return ir.One(i, newDigitsOp(&digitsOp{w: w, rows: q.rows, moved: q.moved, dots: d}, g.Graph.Nodes[at].In[0]),
			n.In[:1:1], n.Out, at)
	}
	q.from = q.packed(g.Graph.Nodes[at].In[0])
	return ir.One(i, q, n.In[:1:1], n.Out, at)
}

// packed is the form of codes that kernels read: rows, and behind them, if a zero point is not the middle of the codes,
// how far each is from it, times the scale.
func (q *blockedOp) packed(codes graph.Value) ir.Packed {
	const step = 256 // rows of a part
	w := q.w
	rows := w.in(nil)
	size := w.rows * rows.RowLen() / 4
	p := ir.Packed{Value: codes, Kind: fmt.Sprintf("blocks of %d codes of %d bits", w.block, w.bits), Len: size,
		Beside: run.NumbersOf(run.BytesOf(w.scales), w.zeros), Parts: (w.rows + step - 1) / step}
	if q.moved {
		p.Len += w.rows * w.blocks()
	}
	p.Fill = func(dst []float32, part int) {
		rows := w.in(mem.Bytes(dst[:size]))
		for r := part * step; r < min(w.rows, (part+1)*step); r++ {
			first := r * w.blocks()
			scales := w.scales[first:][:w.blocks()]
			rows.Pack(r, scales, w.codes[r*w.depth:][:w.depth])
			if q.moved {
				w.moves(dst[size+first:], r)
			}
		}
	}
	return p
}

func (q *blockedOp) Lower(l *ir.Lowering, n *ir.Node) run.Step {
	form := l.Packer.Order(n.At, q.from)
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		rows := q.w.in(nil)
		size := q.w.rows * rows.RowLen() / 4
		rows.Data = mem.Bytes(form[:size])
		return &blockedTask{blockedOp: q, st: st, weights: rows, moves: form[size:]}
	}}
}

type blockedTask struct {
	*blockedOp
	st      *run.Step
	weights kernel.BlockRows
	moves   []float32 // [rows of weights, blocks]
	x, y    []float32
	sums    []float32 // of the numbers of each block
	work    []float32
}

func (t *blockedTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	if t.moved {
		blocks := t.rows * t.w.blocks()
		work, err := s.Borrow(blocks + max(1, s.Threads)*blockedColumns)
		if err != nil {
			return err
		}
		t.sums, t.work = work[:blocks], work[blocks:]
		kernel.ReduceRows(kernel.ReduceSum, t.sums, t.x, blocks, t.w.block, nil)
	}
	s.Do((t.w.rows+blockedColumns-1)/blockedColumns, t)
	return nil
}

// Chunk makes some results of each row of numbers.
func (t *blockedTask) Chunk(i, worker int) {
	from, to := i*blockedColumns, min(t.w.rows, (i+1)*blockedColumns)
	for r := range t.rows {
		y := t.y[r*t.w.rows:][from:to]
		t.weights.Multiply(y, t.x[r*t.w.depth:][:t.w.depth], from)
		if t.moved {
			blocks := t.w.blocks()
			moves := t.work[worker*blockedColumns:][:len(y)]
			kernel.Dots(moves, t.sums[r*blocks:][:blocks], t.moves[from*blocks:], blocks)
			kernel.BinaryVV(kernel.Sub, y, y, moves)
		}
	}
}
