package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// deformOp is a convolution of images of two dimensions that reads beside the regular positions: samples of some output
// cells, all taps and channels side by side, are the rows of a product with the filters.
type deformOp struct {
	at, batch, c, n, shared int // shared: groups of channels with offsets of their own
	rows, cols              op.Window
	weights                 []float32
	filter                  graph.Value
	bias                    []float32
	masked                  bool
}

// deformCells is how many output cells a chunk computes.
const deformCells = 32

func matchDeform(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.DeformConv)
	if !is || o.ChannelsLast || o.Groups > 1 || !g.IsFloat32(n.In[0], n.In[2], n.Out[0]) ||
		len(g.Values[n.In[0]].Dims) != 4 {
		return nil
	}
	x, wd, w := g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims, g.Operand(n.In[1])
	q := &deformOp{at: i, batch: int(x[0]), c: int(x[1]), n: int(wd[0]), shared: int(max(o.OffsetGroups, 1)), weights: w,
		filter: n.In[1], masked: ir.Given(n.In, 4)}
	if len(w) == 0 || q.c%q.shared != 0 || q.masked && !g.IsFloat32(n.In[4]) {
		return nil
	}
	ws, err := o.Windows(x[2:], wd[1:3])
	if err != nil {
		return nil
	}
	q.rows, q.cols = ws[0], ws[1]
	var ok bool
	if q.bias, ok = biasOf(g, n.In, 3, q.n); !ok {
		return nil
	}
	in := []graph.Value{n.In[0], n.In[2]}
	if q.masked {
		in = append(in, n.In[4])
	}
	return ir.One(i, q, in, n.Out)
}

// Layout reads images with the channels last.
func (q *deformOp) Layout(l *ir.Layouter, n *ir.Node) {
	l.Read(n, n.In[0], run.NHWC)
	for _, v := range n.In[1:] {
		l.Read(n, v, run.NCHW)
	}
	l.Write(n, n.Out[0], run.NHWC)
}

func (q *deformOp) taps() int { return int(q.rows.Kernel * q.cols.Kernel) }

func (q *deformOp) cells() int { return int(q.rows.Out * q.cols.Out) }

func (q *deformOp) Lower(w *ir.Lowering, _ *ir.Node) run.Step {
	depth := q.taps() * q.c
	packed := w.Packer.Order(q.at, ir.Matrix(q.filter, "gemm", q.weights, depth, q.n, 1, true, nil))
	q.weights = nil
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &deformTask{deformOp: q, st: st, none: make([]float32, q.c),
			gemm: kernel.Gemm{N: q.n, K: depth, LDA: depth, LDC: q.n, B: packed, Bias: q.bias}}
	}}
}

type deformTask struct {
	*deformOp
	st                 *run.Step
	gemm               kernel.Gemm
	none               []float32 // what is outside
	x, offset, mask, y []float32
	work               []float32
}

func (t *deformTask) Run(s *run.State) error {
	t.x, t.offset, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	if t.masked {
		t.mask = s.F32(t.st.Reads[2])
	}
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * deformCells * t.gemm.K); err != nil {
		return err
	}
	s.Do(t.batch*t.blocks(), t)
	return nil
}

func (t *deformTask) blocks() int { return (t.cells() + deformCells - 1) / deformCells }

// Chunk computes some cells of an image.
func (t *deformTask) Chunk(i, worker int) {
	b, first := i/t.blocks(), i%t.blocks()*deformCells
	n := min(deformCells, t.cells()-first)
	g := t.gemm
	g.M, g.A = n, t.work[worker*deformCells*g.K:][:n*g.K]
	g.C = t.y[(b*t.cells()+first)*t.n:][:n*t.n]
	for p := range n {
		t.sample(g.A[p*g.K:][:g.K], b, first+p)
	}
	g.Run()
}

// sample reads all taps and channels of one output cell.
func (t *deformTask) sample(row []float32, b, p int) {
	h, w := &t.rows, &t.cols
	image := t.x[b*int(h.In*w.In)*t.c:][:int(h.In*w.In)*t.c]
	each, taps := t.c/t.shared, t.taps()
	for k := range taps {
		y0 := int64(p)/w.Out*h.Stride - h.Before + int64(k)/w.Kernel*h.Dilation
		x0 := int64(p)%w.Out*w.Stride - w.Before + int64(k)%w.Kernel*w.Dilation
		for g := range t.shared {
			at := (b*t.shared+g)*taps + k
			y := float64(y0) + float64(t.offset[2*at*t.cells()+p])
			x := float64(x0) + float64(t.offset[(2*at+1)*t.cells()+p])
			dst := row[k*t.c+g*each:][:each]
			if !(y > -1 && y < float64(h.In) && x > -1 && x < float64(w.In)) {
				clear(dst)
				continue
			}
			top, left := math.Floor(y), math.Floor(x)
			v, u := y-top, x-left
			m := 1.0
			if t.masked {
				m = float64(t.mask[at*t.cells()+p])
			}
			cell := func(r, c int64, weight float64) []float32 {
				if r < 0 || r >= h.In || c < 0 || c >= w.In || weight == 0 {
					return t.none[g*each:]
				}
				return image[int(r*w.In+c)*t.c+g*each:]
			}
			r, c := int64(top), int64(left)
			kernel.Mix4(dst, cell(r, c, (1-v)*(1-u)), cell(r, c+1, (1-v)*u), cell(r+1, c, v*(1-u)), cell(r+1, c+1, v*u),
				float32(m*(1-v)*(1-u)), float32(m*(1-v)*u), float32(m*v*(1-u)), float32(m*v*u))
		}
	}
}
