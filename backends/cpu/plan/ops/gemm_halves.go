package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
)

const (
	halfRows = 4       // as many rows of numbers at most are multiplied as fast as weights are read
	halfSize = 1 << 16 // numbers from which on a matrix is worth keeping as halves
)

// halfProductOp is a product of few rows with a constant matrix of binary16, which stays so in memory.
type halfProductOp struct {
	ir.InOrder
	matrix kernel.HalfMatrix
	rows   int
	bias   []float32
	from   ir.Packed
}

// matchHalfProduct finds such a product. Operators behind it stay steps of their own: its results are few.
func matchHalfProduct(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	f, ok := factorOf(g, n)
	if !ok || f.rows > halfRows || f.depth*f.cols < halfSize || !g.WasHalf(n.In[1]) || !FitHalves(kernel.Binary16, f.w) {
		return nil
	}
	q := &halfProductOp{matrix: kernel.HalfMatrix{Rows: f.depth, Cols: f.cols}, rows: f.rows, bias: f.bias}
	if !q.matrix.Fast() {
		return nil
	}
	q.from = ir.Packed{Value: n.In[1], Kind: "halves", Len: (q.matrix.Panels()*q.matrix.PanelLen() + 1) / 2,
		Parts: q.matrix.Panels()}
	if f.transposed {
		q.from.Kind += ", transposed"
	}
	q.from.Fill = func(dst []float32, part int) {
		size := q.matrix.PanelLen()
		q.matrix.Pack(mem.Elements[uint16](run.BytesOf(dst))[part*size:][:size], f.w, part, f.transposed)
	}
	return p.Plainly(i, q, 1)
}

// FitHalves reports whether numbers are the same in a type of 16 bits.
func FitHalves(h kernel.HalfType, x []float32) bool {
	back, halves := make([]float32, 1<<10), make([]uint16, 1<<10)
	for len(x) > 0 {
		n := min(len(x), len(back))
		h.Narrow(halves[:n], x[:n])
		h.Widen(back[:n], halves[:n])
		if !slices.Equal(back[:n], x[:n]) {
			return false
		}
		x = x[n:]
	}
	return true
}

func (q *halfProductOp) Lower(l *ir.Lowering, n *ir.Node) run.Step {
	form := l.Packer.Order(n.At, q.from)
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &halfProductTask{halfProductOp: q, st: st, w: mem.Elements[uint16](run.BytesOf(form))}
	}}
}

type halfProductTask struct {
	*halfProductOp
	st   *run.Step
	w    []uint16
	x, y []float32
	work []float32 // the last panel
}

func (t *halfProductTask) Run(s *run.State) (err error) {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	if t.work, err = s.Borrow(t.rows * kernel.HalfPanel); err != nil {
		return err
	}
	s.Do(t.matrix.Panels(), t)
	return nil
}

// Chunk computes the columns of a panel.
func (t *halfProductTask) Chunk(i, _ int) {
	from, w := i*kernel.HalfPanel, t.w[i*t.matrix.PanelLen():]
	cols := min(kernel.HalfPanel, t.matrix.Cols-from)
	if cols == kernel.HalfPanel {
		t.matrix.Multiply(t.y[from:], t.matrix.Cols, t.x, t.matrix.Rows, t.rows, w)
	} else {
		t.matrix.Multiply(t.work, kernel.HalfPanel, t.x, t.matrix.Rows, t.rows, w)
		kernel.CopyRows(t.y[from:], t.matrix.Cols, t.work, kernel.HalfPanel, t.rows, cols)
	}
	for r := 0; r < t.rows && t.bias != nil; r++ {
		y := t.y[r*t.matrix.Cols+from:][:cols]
		kernel.BinaryVV(kernel.Add, y, y, t.bias[from:][:cols])
	}
}
