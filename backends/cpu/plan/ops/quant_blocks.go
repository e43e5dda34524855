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
	"github.com/anynpu/anynpu/core/tensor"
)

// blockedRows is how many rows of numbers are multiplied by codes as they are. More are multiplied faster by float32,
// whose conversion a plan pays once.
const blockedRows = 4

// blockedWeights are constant codes [rows, depth] of which each block of a row has a scale and a zero point.
type blockedWeights struct {
	rows, depth, block int
	bits               int
	codes, zeros       []byte // zeros: one for each scale
	scales             []float32
}

// middle is the zero point that kernels take codes to have.
func (w *blockedWeights) middle() byte { return 1 << (w.bits - 1) }

func (w *blockedWeights) blocks() int { return w.depth / w.block }

func (w *blockedWeights) in(data []byte) kernel.BlockRows {
	return kernel.BlockRows{Bits: w.bits, Block: w.block, Blocks: w.blocks(), Data: data}
}

// blockedOp is a product of a few rows of numbers and blocked weights.
type blockedOp struct {
	ir.InOrder
	w     blockedWeights
	from  ir.Packed
	rows  int
	moved bool // a zero point is not the middle of the codes
}

// blockedOf returns the weights that node i makes numbers of, ok false when they are none for kernels.
func blockedOf(g *ir.Network, i int) (w blockedWeights, ok bool) {
	if i < 0 {
		return w, false
	}
	n := &g.Graph.Nodes[i]
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block < 32 || o.Block%32 != 0 || len(n.Out) != 1 {
		return w, false
	}
	x := &g.Values[n.In[0]]
	if x.Data == nil || len(x.Dims) != 2 || x.Type.DType != tensor.Uint8 || x.Type.Quant != nil ||
		g.Values[n.Out[0]].Type.DType != tensor.Float32 {
		return w, false
	}
	axis, err := op.Axis(o.Axis, 2)
	w = blockedWeights{rows: int(x.Dims[0]), depth: int(x.Dims[1]), block: int(o.Block), bits: 4, codes: x.Data,
		scales: g.Constant(n.In[1])}
	blocks := w.rows * w.depth / w.block
	if err != nil || axis != 1 || w.rows == 0 || w.depth == 0 || w.depth%w.block != 0 || len(w.scales) != blocks {
		return w, false
	}
	if zeros, known := g.Ints(n.In, 2); !known || len(zeros) != 0 && len(zeros) != blocks {
		return w, false
	} else if len(zeros) == 0 {
		w.zeros = make([]byte, blocks)
	} else if z := &g.Values[n.In[2]]; z.Type.DType == tensor.Uint8 {
		w.zeros = z.Data
	} else {
		return w, false
	}
	if slices.Max(x.Data) > 15 {
		w.bits = 8
	}
	return w, true
}

// holdsBlocked reports whether node i makes numbers of weights that a product of few rows multiplies as they are.
func holdsBlocked(g *ir.Network, i int) bool {
	n := &g.Graph.Nodes[i]
	if o, is := n.Op.(*op.Dequantize); !is || o.Block == 0 {
		return false
	}
	u := g.OnlyUse(n.Out[0])
	if u == run.None {
		return false
	}
	r := &g.Graph.Nodes[u]
	m, is := r.Op.(*op.MatMul)
	if !is || !m.TransposeB || m.TransposeA || r.In[1] != n.Out[0] || r.In[0] == n.Out[0] {
		return false
	}
	w, ok := blockedOf(g, i)
	return ok && blockedBy(g, r.In[0], &w) > 0
}

// blockedBy is how many rows of x are multiplied, 0 when they are not known or too many.
func blockedBy(g *ir.Network, v graph.Value, w *blockedWeights) int {
	x := &g.Values[v]
	if !g.IsFloat32(v) || len(x.Dims) == 0 || int(x.Dims[len(x.Dims)-1]) != w.depth {
		return 0
	}
	if rows := x.Count() / w.depth; rows <= blockedRows {
		return rows
	}
	return 0
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
			for b, scale := range scales {
				if q.moved {
					dst[size+first+b] = scale * float32(int(w.zeros[first+b])-int(w.middle()))
				}
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

// blockedColumns is how many results a chunk has.
const blockedColumns = 64

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
