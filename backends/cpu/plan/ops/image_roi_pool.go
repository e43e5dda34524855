package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// roiPoolOp finds the largest cells of the bins of regions. A region is a row of its image and four corners, or of the
// corners alone, with the images beside them. The channels of a cell lie side by side, so that a bin of few cells is a
// few long maxima; where those of a bin do not, a region's are turned.
type roiPoolOp struct {
	op                                    *op.MaxRoiPool
	images, channels, rows, cols, regions int
	index                                 tensor.DType // of the images beside the corners, if there are any
	turned                                bool
}

func matchRoiPool(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MaxRoiPool)
	if !is || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) || o.Height+o.Width > 1<<12 {
		return nil
	}
	x, r := g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims
	q := &roiPoolOp{op: o, images: int(x[0]), channels: int(x[1]), rows: int(x[2]), cols: int(x[3]), regions: int(r[0])}
	if o.ChannelsLast {
		q.rows, q.cols, q.channels = int(x[1]), int(x[2]), int(x[3])
	}
	if !ir.Given(n.In, 2) {
		return p.Plainly(i, q, 2)
	}
	if q.index = g.Values[n.In[2]].Type.DType; !plainElements(g, n.In[2]) || q.index != tensor.Int32 &&
		q.index != tensor.Int64 {
		return nil
	}
	return p.Plainly(i, q, 3)
}

func (q *roiPoolOp) Layout(l *ir.Layouter, n *ir.Node) {
	cells, bins := run.NHWC, run.NCHW
	if q.op.ChannelsLast { // the elements of x are in this order
		cells = run.NCHW
	} else if l.Order(n, n.In[0]) == run.NHWC {
		bins = run.NHWC
	}
	q.turned = cells != bins
	l.Read(n, n.In[0], cells)
	for _, v := range n.In[1:] {
		if v != graph.None {
			l.Read(n, v, run.NCHW)
		}
	}
	l.Write(n, n.Out[0], bins)
}

func (q *roiPoolOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &roiPoolTask{roiPoolOp: q, st: st}
	}}
}

type roiPoolTask struct {
	*roiPoolOp
	st               *run.Step
	x, rois, y, work []float32
	beside           []byte
}

func (t *roiPoolTask) Run(s *run.State) error {
	t.x, t.rois, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	if t.index != tensor.Invalid {
		t.beside = s.Mem[t.st.Reads[2]]
	}
	for r := range t.regions {
		if k := t.image(r); !(k >= 0 && k < float64(t.images)) {
			return fault.New(fault.Data, "input 1: region %d: batch index %v is outside %d images", r, k, t.images)
		}
		var c [4]float32
		for k := range c {
			if c[k] = float32(t.corner(r, k)); !(math.Abs(float64(c[k])) <= 1<<30) {
				return fault.New(fault.Data, "input 1: region %d: corner at %v", r, c[k])
			}
		}
		if t.op.Inside {
			if err := inside(r, c, t.rows, t.cols); err != nil {
				return err
			}
		}
	}
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	s.Do(t.regions, t)
	return nil
}

// image is the image of a region.
func (t *roiPoolTask) image(r int) float64 {
	if t.index != tensor.Invalid {
		return float64(tensor.IntAt(t.index, t.beside, r))
	}
	return float64(t.rois[5*r])
}

// corner is a number of a region in cells: x and y of the first corner, then of the second.
func (t *roiPoolTask) corner(r, k int) float64 {
	at, scale := 5*r+1+k, float64(t.op.ScaleWidth)
	if t.index != tensor.Invalid {
		at = 4*r + k
	}
	if k%2 == 1 {
		scale = float64(t.op.ScaleHeight)
	}
	if scale == 0 {
		scale = 1
	}
	return float64(float32(float64(t.rois[at]) * scale))
}

// roiBins puts the first cell and the one after the last of each bin of a region into list, along a dimension of size
// cells.
func roiBins(list []int32, start, end float64, size int) {
	first, n := math.Round(start), float64(len(list)/2)
	length := max(math.Round(end)-first+1, 1)
	for i := range len(list) / 2 {
		lo := math.Floor(float64(i)*length/n) + first
		hi := math.Ceil(float64(i+1)*length/n) + first
		list[2*i], list[2*i+1] = int32(min(max(lo, 0), float64(size))), int32(min(max(hi, 0), float64(size)))
	}
}

// bins is the number of results of a region.
func (t *roiPoolTask) bins() int { return int(t.op.Height*t.op.Width) * t.channels }

// room counts the float32 of scratch memory that a thread needs: the bounds of bins, and results that are turned.
func (t *roiPoolTask) room() int {
	n := 2 * int(t.op.Height+t.op.Width)
	if t.turned {
		n += t.bins()
	}
	return n
}

// Chunk makes the bins of one region.
func (t *roiPoolTask) Chunk(r, worker int) {
	h, w, n := int(t.op.Height), int(t.op.Width), t.channels
	image := t.x[int(t.image(r))*t.rows*t.cols*n:][:t.rows*t.cols*n]
	work := t.work[worker*t.room():][:t.room()]
	bounds, made := mem.Elements[int32](mem.Bytes(work[:2*(h+w)])), work[2*(h+w):]
	down, across := bounds[:2*h], bounds[2*h:]
	roiBins(down, t.corner(r, 1), t.corner(r, 3), t.rows)
	roiBins(across, t.corner(r, 0), t.corner(r, 2), t.cols)
	y := t.y[r*t.bins():][:t.bins()]
	if !t.turned {
		made = y
	}
	for p := range h {
		y0, y1 := int(down[2*p]), int(down[2*p+1])
		for q := range w {
			x0, x1 := int(across[2*q]), int(across[2*q+1])
			best := made[(p*w+q)*n:][:n]
			if y0 >= y1 || x0 >= x1 {
				clear(best)
				continue
			}
			kernel.MaxTaps(best, image[(y0*t.cols+x0)*n:], y1-y0, x1-x0, t.cols*n, n)
		}
	}
	if t.turned {
		kernel.Transpose(y, h*w, made, n, h*w, n)
	}
}
