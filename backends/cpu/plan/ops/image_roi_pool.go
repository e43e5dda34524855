package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
)

// roiPoolOp finds the largest cells of the bins of regions, whose image and corners are a row of five numbers. The
// channels of a cell lie side by side, so that a bin of few cells is a few long maxima.
type roiPoolOp struct {
	op                                    *op.MaxRoiPool
	images, channels, rows, cols, regions int
}

func matchRoiPool(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MaxRoiPool)
	if !is || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) || o.ChannelsLast || o.Inside || ir.Given(n.In, 2) ||
		o.Height+o.Width > 1<<12 {
		return nil
	}
	x, r := g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims
	if len(r) != 2 || r[1] != 5 {
		return nil
	}
	return p.Plainly(i, &roiPoolOp{op: o, images: int(x[0]), channels: int(x[1]), rows: int(x[2]), cols: int(x[3]),
		regions: int(r[0])}, 2)
}

func (q *roiPoolOp) Layout(l *ir.Layouter, n *ir.Node) {
	l.Read(n, n.In[0], run.NHWC)
	l.Read(n, n.In[1], run.NCHW)
	l.Write(n, n.Out[0], run.NHWC)
}

func (q *roiPoolOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &roiPoolTask{roiPoolOp: q, st: st}
	}}
}

type roiPoolTask struct {
	*roiPoolOp
	st         *run.Step
	x, rois, y []float32
}

func (t *roiPoolTask) Run(s *run.State) error {
	t.x, t.rois, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	for r := range t.regions {
		row := t.rois[5*r:][:5]
		if !(row[0] >= 0 && row[0] < float32(t.images)) {
			return fault.New(fault.Data, "input 1: region %d: batch index %v is outside %d images", r, row[0], t.images)
		}
		for k := range 4 {
			if v := t.corner(r, k); !(math.Abs(v) <= 1<<30) {
				return fault.New(fault.Data, "input 1: region %d: corner at %v", r, v)
			}
		}
	}
	s.Do(t.regions, t)
	return nil
}

// corner is a number of a region in cells: x and y of the first corner, then of the second.
func (t *roiPoolTask) corner(r, k int) float64 {
	scale := float64(t.op.ScaleWidth)
	if k%2 == 1 {
		scale = float64(t.op.ScaleHeight)
	}
	if scale == 0 {
		scale = 1
	}
	return float64(float32(float64(t.rois[5*r+1+k]) * scale))
}

// roiBin are the cells of bin i of n along a dimension of size cells.
func roiBin(start, end float64, i, n, size int) (from, to int) {
	first := math.Round(start)
	length := max(math.Round(end)-first+1, 1)
	lo := math.Floor(float64(i)*length/float64(n)) + first
	hi := math.Ceil(float64(i+1)*length/float64(n)) + first
	return int(min(max(lo, 0), float64(size))), int(min(max(hi, 0), float64(size)))
}

// Chunk makes one region.
func (t *roiPoolTask) Chunk(r, _ int) {
	h, w, n := int(t.op.Height), int(t.op.Width), t.channels
	image := t.x[int(t.rois[5*r])*t.rows*t.cols*n:][:t.rows*t.cols*n]
	for p := range h {
		y0, y1 := roiBin(t.corner(r, 1), t.corner(r, 3), p, h, t.rows)
		for q := range w {
			x0, x1 := roiBin(t.corner(r, 0), t.corner(r, 2), q, w, t.cols)
			best := t.y[((r*h+p)*w+q)*n:][:n]
			if y0 >= y1 || x0 >= x1 {
				clear(best)
				continue
			}
			copy(best, image[(y0*t.cols+x0)*n:])
			for y := y0; y < y1; y++ {
				for x := x0; x < x1; x++ {
					kernel.BinaryVV(kernel.Max, best, best, image[(y*t.cols+x)*n:][:n])
				}
			}
		}
	}
}
