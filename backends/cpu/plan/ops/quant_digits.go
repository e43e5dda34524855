package ops

import (
	"fmt"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// digitsOp is a product of rows of numbers in digits and blocked weights.
type digitsOp struct {
	ir.InOrder
	w     blockedWeights
	from  ir.Packed
	rows  int
	moved bool // a zero point is not the middle of the codes
	dots  *kernel.BlockDots
}

// digitsPanel is how many rows of weights a part of their form has.
const digitsPanel = 16

// newDigitsOp gives q the form of its weights, whose codes are a constant: panels, and behind them, if a zero point is
// not the middle of the codes, how far each is from it, times the scale.
func newDigitsOp(q *digitsOp, codes graph.Value) *digitsOp {
	w, d := q.w, q.dots
	size := d.Panels(w.rows) * d.PanelLen() / 4
	p := ir.Packed{Value: codes, Kind: fmt.Sprintf("panels of blocks of %d codes of %d bits", w.block, w.bits), Len: size,
		Beside: run.NumbersOf(run.BytesOf(w.scales), w.zeros), Parts: d.Panels(w.rows)}
	if q.moved {
		p.Len += w.rows * w.blocks()
	}
	p.Fill = func(dst []float32, part int) {
		panels := mem.Bytes(dst[:size])
		clear(panels[part*d.PanelLen():][:d.PanelLen()])
		for r := part * digitsPanel; r < min(w.rows, (part+1)*digitsPanel); r++ {
			d.Pack(panels, r, w.scales[r*w.blocks():][:w.blocks()], w.codes[r*w.depth:][:w.depth])
			if q.moved {
				w.moves(dst[size+r*w.blocks():], r)
			}
		}
	}
	q.from = p
	return q
}

func (q *digitsOp) Lower(l *ir.Lowering, n *ir.Node) run.Step {
	form := l.Packer.Order(n.At, q.from)
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		size := q.dots.Panels(q.w.rows) * q.dots.PanelLen() / 4
		run.Admit(int64(q.rows))
		t := &digitsTask{digitsOp: q, st: st, weights: mem.Bytes(form[:size]), moves: form[size:],
			plain: make([]bool, q.rows)}
		t.per = min(q.rows, max(4, digitsBytes/q.dots.RowLen()&^3))
		return t
	}}
}

// digitsBytes is the size of the rows in digits of a chunk, which stay in the second-level cache.
const digitsBytes = 384 << 10

type digitsTask struct {
	*digitsOp
	st      *run.Step
	weights []byte
	moves   []float32 // [rows of weights, blocks]
	per     int       // rows of a chunk
	prepare bool      // chunks are rows that get digits
	plain   []bool    // per row: it has no digits
	x, y    []float32
	digits  []byte
	sums    []float32 // of the numbers of each block
	work    []float32
}

func (t *digitsTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	size, blocks := (t.rows*t.dots.RowLen()+3)/4, 0
	if t.moved {
		blocks = t.rows * t.w.blocks()
	}
	work, err := s.Borrow(size + blocks + max(1, s.Threads)*blockedColumns)
	if err != nil {
		return err
	}
	t.digits, t.sums, t.work = mem.Bytes(work[:size]), work[size:][:blocks], work[size+blocks:]
	t.prepare = true
	s.Do(t.rows, t)
	t.prepare = false
	s.Do((t.rows+t.per-1)/t.per*t.columnChunks(), t)
	return nil
}

func (t *digitsTask) columnChunks() int { return (t.w.rows + blockedColumns - 1) / blockedColumns }

// Chunk gives a row its digits, or makes some results of some rows.
func (t *digitsTask) Chunk(i, worker int) {
	depth, blocks := t.w.depth, t.w.blocks()
	if t.prepare {
		x := t.x[i*depth:][:depth]
		t.plain[i] = !t.dots.Prepare(t.digits[i*t.dots.RowLen():][:t.dots.RowLen()], x)
		if t.moved {
			kernel.ReduceRows(kernel.ReduceSum, t.sums[i*blocks:][:blocks], x, blocks, t.w.block, nil)
		}
		return
	}
	from, first := i%t.columnChunks()*blockedColumns, i/t.columnChunks()*t.per
	rows, cols := min(t.per, t.rows-first), min(blockedColumns, t.w.rows-from)
	y := t.y[first*t.w.rows+from:]
	t.dots.Multiply(y, t.w.rows, cols, t.digits[first*t.dots.RowLen():], rows, t.weights, from)
	for r := range rows {
		own := y[r*t.w.rows:][:cols]
		if t.plain[first+r] {
			moves := t.moves
			if !t.moved {
				moves = nil
			}
			t.dots.MultiplyFloats(own, t.x[(first+r)*depth:][:depth], t.weights, from, moves)
			continue
		}
		if t.moved {
			moves := t.work[worker*blockedColumns:][:cols]
			kernel.Dots(moves, t.sums[(first+r)*blocks:][:blocks], t.moves[from*blocks:], blocks)
			kernel.BinaryVV(kernel.Sub, own, own, moves)
		}
	}
}
