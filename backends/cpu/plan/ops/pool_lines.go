package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// linesOp joins the elements of windows, first lines of them, then the elements of a line: the largest of integers, and
// sums of powers of float32. It is for windows that poolBlocks does not have.
type linesOp struct {
	ir.InOrder
	poolJoin
	win           kernel.Window
	images, inner int         // inner: neighbouring elements of one place
	blocks        *poolBlocks // nil: one line at a time
}

func matchLines(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	switch n.Op.(type) {
	case *op.MaxPool, *op.LpPool:
	default:
		return nil
	}
	if !plainElements(g, n.In[0], n.Out[0]) && !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if x.Count() == 0 || y.Count() == 0 || len(n.Out) != 1 || len(x.Dims) < 3 {
		return nil
	}
	q := &linesOp{}
	var last bool
	var windows func(in []int64) ([]op.Window, error)
	switch o := n.Op.(type) {
	case *op.MaxPool:
		d := x.Type.DType
		if !movable(g, n.In[0], n.Out[0]) || !d.IsInt() || d.Bits() < 8 || d == tensor.Uint64 {
			return nil
		}
		last, windows, q.size = o.ChannelsLast, o.Windows, d.Bits()/8
		lo, _ := tensor.IntLimits(d)
		q.largest, q.lowest = mostOf(d), make([]byte, q.size)
		tensor.PutInt(d, q.lowest, 0, lo)
	case *op.LpPool:
		if !g.IsFloat32(n.In[0], n.Out[0]) || o.Mean {
			return nil
		}
		last, windows, q.size, q.power = o.ChannelsLast, o.Windows, 4, float32(o.P)
		if o.P == 0 {
			q.power = 2
		}
		q.lowest = make([]byte, 4)
	default:
		return nil
	}
	rank := len(x.Dims)
	spatial := x.Dims[2:]
	q.images, q.inner = int(x.Dims[0]*x.Dims[1]), 1
	if last {
		spatial = x.Dims[1 : rank-1]
		q.images, q.inner = int(x.Dims[0]), int(x.Dims[rank-1])
	}
	ws, err := windows(spatial)
	if err != nil {
		return nil
	}
	if q.win, err = window(ws); err != nil {
		return nil
	}
	room := q.room()
	if q.blocks = blocksOf(&q.win, q.poolJoin, q.images, q.inner); q.blocks != nil {
		room = q.blocks.room()
	}
	if !g.Budget.Allows(run.Saturated(4, room)) {
		return nil
	}
	return p.Plainly(i, q, 1)
}

// room counts the float32 of scratch memory that a thread needs: a line of the operand, one of powers, one of the
// result.
func (q *linesOp) room() int {
	return (2*q.win.In[2]+q.win.Out[2])*q.inner*q.size/4 + 3
}

func (q *linesOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	if q.blocks != nil {
		return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return q.blocks.start(st) }}
	}
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &linesTask{linesOp: q, st: st}
	}}
}

type linesTask struct {
	*linesOp
	st   *run.Step
	x, y []byte
	work []float32
}

func (t *linesTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	s.Do(t.images*t.win.Out[0], t)
	return nil
}

// Chunk makes the lines of an image that have one first index.
func (t *linesTask) Chunk(i, worker int) {
	w := &t.win
	work := mem.Bytes(t.work[worker*t.room():][:t.room()])
	in, out := w.In[2]*t.inner*t.size, w.Out[2]*t.inner*t.size
	acc, powers, thin := work[:in], work[in:2*in], work[2*in:]
	image := t.x[i/w.Out[0]*w.In[0]*w.In[1]*in:]
	for oy := range w.Out[1] {
		first := true
		for k := range w.Kernel[0] * w.Kernel[1] {
			z, inside := tap(w, 0, i%w.Out[0], k/w.Kernel[1])
			y, too := tap(w, 1, oy, k%w.Kernel[1])
			if !inside || !too {
				continue
			}
			line := image[(z*w.In[1]+y)*in:][:in]
			if t.power != 0 {
				t.raise(run.Floats(powers), run.Floats(line))
				line = powers
			}
			if first {
				copy(acc, line)
				first = false
			} else {
				t.join(acc, acc, line)
			}
		}
		y := t.y[(i*w.Out[1]+oy)*out:][:out]
		t.pad(y)
		if !first {
			t.across(y, acc, thin)
		}
		if t.power != 0 {
			t.root(run.Floats(y))
		}
	}
}

// across joins the elements of a line.
func (t *linesTask) across(y, acc, thin []byte) {
	w, unit := &t.win, t.inner*t.size
	step := w.Stride[2]
	for k := range w.Kernel[2] {
		at := k*w.Dilation[2] - w.Pad[2] // of the first result
		from := 0
		if at < 0 {
			from = (-at + step - 1) / step
		}
		to := min(w.Out[2], (w.In[2]-1-at)/step+1)
		if w.In[2]-1-at < 0 || from >= to {
			continue
		}
		part, src := y[from*unit:to*unit], acc[(at+from*step)*unit:]
		switch {
		case step == 1:
			t.join(part, part, src[:len(part)])
		case t.inner == 1:
			kernel.Thin(thin, src, t.size, step, to-from)
			t.join(part, part, thin[:len(part)])
		default:
			for j := range to - from {
				t.join(part[j*unit:][:unit], part[j*unit:][:unit], src[j*step*unit:][:unit])
			}
		}
	}
}
