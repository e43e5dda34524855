package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// columnSumOp adds columns of blocks up to images of two dimensions, as Col2Im does.
type columnSumOp struct {
	ir.InOrder
	planes int
	rows   op.Window
	cols   op.Window
}

func matchColumnSum(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Col2Im)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	image, known := g.Ints(n.In, 1)
	block, also := g.Ints(n.In, 2)
	if !known || !also || len(image) != 2 {
		return nil
	}
	w, err := o.Windows(image, block)
	if err != nil {
		return nil
	}
	y := g.Values[n.Out[0]].Dims
	return p.Plainly(i, &columnSumOp{planes: int(y[0] * y[1]), rows: w[0], cols: w[1]}, 1)
}

func (q *columnSumOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &columnSumTask{columnSumOp: q, st: st}
	}}
}

type columnSumTask struct {
	*columnSumOp
	st   *run.Step
	x, y []float32
}

func (t *columnSumTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(t.planes, t)
	return nil
}

// Chunk makes one image.
func (t *columnSumTask) Chunk(i, _ int) {
	h, w := &t.rows, &t.cols
	y := t.y[i*int(h.In*w.In):][:h.In*w.In]
	x := t.x[i*int(h.Kernel*w.Kernel*h.Out*w.Out):]
	clear(y)
	for kh := range h.Kernel {
		for kw := range w.Kernel {
			part := x[(kh*w.Kernel+kw)*h.Out*w.Out:][:h.Out*w.Out]
			first, end := reach(w, kw)
			top, bottom := reach(h, kh)
			if first >= end || top >= bottom {
				continue
			}
			part = part[top*w.Out+first:]
			into := y[(top*h.Stride-h.Before+kh*h.Dilation)*w.In+first*w.Stride-w.Before+kw*w.Dilation:]
			if w.Stride == 1 {
				kernel.AddRows(into, int(h.Stride*w.In), part, int(w.Out), int(end-first), int(bottom-top))
				continue
			}
			for r := range bottom - top {
				line := into[r*h.Stride*w.In:]
				for k, v := range part[r*w.Out:][:end-first] {
					line[int64(k)*w.Stride] += v
				}
			}
		}
	}
}

// reach is the windows from first to before end whose tap k lies in the image.
func reach(w *op.Window, k int64) (first, end int64) {
	offset := k*w.Dilation - w.Before // of window 0
	first = max(0, (-offset+w.Stride-1)/w.Stride)
	return first, min(w.Out, (w.In-1-offset+w.Stride)/w.Stride)
}
