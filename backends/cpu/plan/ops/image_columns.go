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
	// Pixels by the taps that reach them, lines and columns; nil: strides are above 1.
	lines, across []tapRange
}

// tapRange is pixels from one to before another, whose taps are first to before end.
type tapRange struct{ from, to, first, end int64 }

// tapRanges divides the pixels of a dimension with stride 1; nil when neighbouring taps are too far apart.
func tapRanges(w *op.Window) (list []tapRange) {
	if w.Stride != 1 || w.Dilation < 1 || w.Before < 0 {
		return nil
	}
	for i := range w.In {
		first := max(0, (i+w.Before-w.Out+w.Dilation)/w.Dilation)
		if i+w.Before < w.Out {
			first = 0
		}
		end := max(first, min(w.Kernel, (i+w.Before)/w.Dilation+1))
		if n := len(list); n > 0 && list[n-1].first == first && list[n-1].end == end {
			list[n-1].to++
		} else {
			list = append(list, tapRange{i, i + 1, first, end})
		}
	}
	return list
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
	q := &columnSumOp{planes: int(y[0] * y[1]), rows: w[0], cols: w[1]}
	if size := w[0].Out * w[1].Out; w[1].Dilation <= size && w[0].Dilation <= w[0].Out {
		if q.lines, q.across = tapRanges(&w[0]), tapRanges(&w[1]); q.lines == nil || q.across == nil {
			q.lines, q.across = nil, nil
		}
	}
	return p.Plainly(i, q, 1)
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
	if t.lines != nil {
		t.sum(y, x)
		return
	}
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

// sum makes an image: each pixel is the sum of the elements that reach it.
func (t *columnSumTask) sum(y, x []float32) {
	h, w := &t.rows, &t.cols
	size := h.Out * w.Out
	down, across := w.Kernel*size-h.Dilation*w.Out, size-w.Dilation
	for _, a := range t.lines {
		for _, b := range t.across {
			into := y[a.from*w.In+b.from:]
			rows, cols := int(a.to-a.from), int(b.to-b.from)
			if a.first >= a.end || b.first >= b.end {
				for r := range rows {
					clear(into[r*int(w.In):][:cols])
				}
				continue
			}
			at := (a.first*w.Kernel+b.first)*size + (a.from+h.Before-a.first*h.Dilation)*w.Out
			at += b.from + w.Before - b.first*w.Dilation
			kernel.SumTaps(into, int(w.In), x[at:], int(w.Out), rows, cols, int(a.end-a.first), int(b.end-b.first),
				int(down), int(across))
		}
	}
}

// reach is the windows from first to before end whose tap k lies in the image.
func reach(w *op.Window, k int64) (first, end int64) {
	offset := k*w.Dilation - w.Before // of window 0
	first = max(0, (-offset+w.Stride-1)/w.Stride)
	return first, min(w.Out, (w.In-1-offset+w.Stride)/w.Stride)
}
