package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/op"
)

// affineOp makes the grid of affine maps of images of two dimensions.
type affineOp struct {
	ir.InOrder
	rows, cols []float64 // coordinates
}

func matchAffine(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.AffineGrid)
	y := g.Values[n.Out[0]].Dims
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) || len(y) != 4 {
		return nil
	}
	q := &affineOp{rows: make([]float64, y[1]), cols: make([]float64, y[2])}
	for _, list := range [][]float64{q.rows, q.cols} {
		for k := range list {
			list[k] = ref.GridCoordinate(k, len(list), o.AlignCorners)
		}
	}
	return p.Plainly(i, q, 1)
}

func (q *affineOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &affineTask{affineOp: q, st: st}
	}}
}

type affineTask struct {
	*affineOp
	st   *run.Step
	x, y []float32
}

func (t *affineTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(len(t.x)/6*len(t.rows), t)
	return nil
}

// Chunk makes one row.
func (t *affineTask) Chunk(i, _ int) {
	m, v := t.x[i/len(t.rows)*6:][:6], t.rows[i%len(t.rows)]
	y := t.y[2*i*len(t.cols):][:2*len(t.cols)]
	a, b := float64(m[0]), float64(m[3])
	c, d := float64(m[1])*v+float64(m[2]), float64(m[4])*v+float64(m[5])
	for k, u := range t.cols {
		y[2*k], y[2*k+1] = float32(a*u+c), float32(b*u+d)
	}
}

// gridOp reads images of two dimensions at the coordinates of a grid.
type gridOp struct {
	ir.InOrder
	mode                  *op.GridSample
	channels, h, w, cells int
}

func matchGrid(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.GridSample)
	if !is || o.ChannelsLast || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) || len(g.Values[n.In[0]].Dims) != 4 {
		return nil
	}
	x, y := g.Values[n.In[0]].Dims, g.Values[n.Out[0]].Dims
	q := &gridOp{mode: o, channels: int(x[1]), h: int(x[2]), w: int(x[3]), cells: int(y[2] * y[3])}
	return p.Plainly(i, q, 2)
}

func (q *gridOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &gridTask{gridOp: q, st: st}
	}}
}

type gridTask struct {
	*gridOp
	st         *run.Step
	x, grid, y []float32
}

const (
	gridBlock = 64 // points of a chunk
	gridTaps  = 16 // cells of a point, at most
)

func (t *gridTask) Run(s *run.State) error {
	t.x, t.grid, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	s.Do(len(t.grid)/2/t.cells*t.blocks(), t)
	return nil
}

func (t *gridTask) blocks() int { return (t.cells + gridBlock - 1) / gridBlock }

// Chunk reads all channels at some points of an image.
func (t *gridTask) Chunk(i, _ int) {
	var at [gridBlock][gridTaps]int32
	var weight [gridBlock][gridTaps]float32
	var taps [gridBlock]int
	b, first := i/t.blocks(), i%t.blocks()*gridBlock
	n := min(gridBlock, t.cells-first)
	grid := t.grid[2*(b*t.cells+first):][:2*n]
	var rows, cols [4]ref.Cell
	for p := range n {
		across := t.cellsAt(float64(grid[2*p]), t.w, cols[:0])
		k := 0
		for _, r := range t.cellsAt(float64(grid[2*p+1]), t.h, rows[:0]) {
			for _, c := range across {
				at[p][k], weight[p][k] = int32(r.Index*t.w+c.Index), float32(r.Weight*c.Weight)
				k++
			}
		}
		taps[p] = k
	}
	for c := range t.channels {
		x := t.x[(b*t.channels+c)*t.h*t.w:][:t.h*t.w]
		y := t.y[(b*t.channels+c)*t.cells+first:][:n]
		for p := range y {
			a, w := &at[p], &weight[p]
			if taps[p] == 4 {
				y[p] = w[0]*x[a[0]] + w[1]*x[a[1]] + w[2]*x[a[2]] + w[3]*x[a[3]]
				continue
			}
			var sum float32
			for k := range taps[p] {
				sum += w[k] * x[a[k]]
			}
			y[p] = sum
		}
	}
}

// cellsAt is the cells of one dimension at a normalized coordinate. Most images are read without a border.
func (q *gridOp) cellsAt(g float64, size int, list []ref.Cell) []ref.Cell {
	o := q.mode
	if o.Padding != op.GridZeros || o.Mode == op.ResizeCubic || !(math.Abs(g) < 1<<30) {
		return ref.GridCells(o, g, size, list)
	}
	c := ((g+1)*float64(size) - 1) / 2
	if o.AlignCorners {
		c = (g + 1) / 2 * float64(size-1)
	}
	if o.Mode == op.ResizeNearest {
		if k := int(math.RoundToEven(c)); k >= 0 && k < size {
			list = append(list, ref.Cell{Index: k, Weight: 1})
		}
		return list
	}
	low := math.Floor(c)
	k, w := int(low), c-low
	if k >= 0 && k < size && w != 1 {
		list = append(list, ref.Cell{Index: k, Weight: 1 - w})
	}
	if k >= -1 && k < size-1 && w != 0 {
		list = append(list, ref.Cell{Index: k + 1, Weight: w})
	}
	return list
}
