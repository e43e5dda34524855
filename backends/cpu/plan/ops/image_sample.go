package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/op"
)

// sampleOp reads images of two dimensions at the coordinates of a grid: the places and weights of some points are
// computed once for all channels. Where the channels of a cell lie side by side, a point is a few rows.
type sampleOp struct {
	mode                  *op.GridSample
	channels, h, w, cells int
	beside                bool // channels of a cell lie side by side
	turned                bool // but those of a point do not
}

func matchGrid(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.GridSample)
	if !is || o.ChannelsLast && o.Mode == op.ResizeCubic || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) ||
		len(g.Values[n.In[0]].Dims) != 4 {
		return nil
	}
	x, y := g.Values[n.In[0]].Dims, g.Values[n.Out[0]].Dims
	q := &sampleOp{mode: o, channels: int(x[1]), h: int(x[2]), w: int(x[3]), cells: int(y[2] * y[3])}
	if o.ChannelsLast {
		q.channels, q.h, q.w, q.cells = int(x[3]), int(x[1]), int(x[2]), int(y[1]*y[2])
	}
	if int64(q.h)*int64(q.w) > math.MaxInt32 {
		return nil
	}
	return p.Plainly(i, q, 2)
}

// sampleChannels is the number of channels from which on sums of whole cells are worth the other order.
const sampleChannels = 8

func (q *sampleOp) Layout(l *ir.Layouter, n *ir.Node) {
	from, to := run.NCHW, run.NCHW
	q.beside, q.turned = q.mode.ChannelsLast, false
	if !q.beside && q.mode.Mode != op.ResizeCubic {
		if l.Order(n, n.In[0]) == run.NHWC {
			q.beside, from, to = true, run.NHWC, run.NHWC
		} else if q.mode.Mode == op.ResizeLinear && q.channels >= sampleChannels {
			q.beside, q.turned, from = true, true, run.NHWC
		}
	}
	l.Read(n, n.In[0], from)
	l.Read(n, n.In[1], run.NCHW)
	l.Write(n, n.Out[0], to)
}

func (q *sampleOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &sampleTask{sampleOp: q, st: st}
	}}
}

type sampleTask struct {
	*sampleOp
	st               *run.Step
	x, grid, y, work []float32
	block            int // points of a chunk
}

const (
	gridBlock  = 64   // points of most chunks
	gridPlaces = 1024 // and of those that read single cells: a channel's stay in the first cache
	gridTaps   = 16   // cells of a point, at most
)

func (t *sampleTask) Run(s *run.State) error {
	t.x, t.grid, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	t.block = gridBlock
	if t.mode.Mode == op.ResizeNearest && !t.beside {
		t.block = min(max(t.cells/(4*max(1, s.Threads)), gridBlock), gridPlaces)
	}
	if t.turned {
		var err error
		if t.work, err = s.Borrow(max(1, s.Threads) * gridBlock * t.channels); err != nil {
			return err
		}
	}
	if t.channels > 0 {
		s.Do(len(t.grid)/2/max(1, t.cells)*t.blocks(), t)
	}
	return nil
}

func (t *sampleTask) blocks() int { return (t.cells + t.block - 1) / t.block }

// Chunk reads all channels at some points of an image.
func (t *sampleTask) Chunk(i, worker int) {
	b, first := i/t.blocks(), i%t.blocks()*t.block
	n := min(t.block, t.cells-first)
	grid := t.grid[2*(b*t.cells+first):][:2*n]
	plane := t.h * t.w
	x, y := t.x[b*t.channels*plane:][:t.channels*plane], t.y[b*t.channels*t.cells:][:t.channels*t.cells]
	var work []float32
	if t.turned {
		work = t.work[worker*gridBlock*t.channels:][:n*t.channels]
	} else if t.beside {
		work = y[first*t.channels:][:n*t.channels]
	}
	switch t.mode.Mode {
	case op.ResizeNearest:
		t.nearest(grid, x, y, work, first)
	case op.ResizeLinear:
		t.linear(grid, x, y, work, first)
	default:
		t.cubic(grid, x, y, first)
	}
	if t.turned {
		kernel.Transpose(y[first:], t.cells, work, t.channels, n, t.channels)
	}
}

// line is the results of some points in a channel.
func (t *sampleTask) line(y []float32, c, first, n int) []float32 { return y[c*t.cells+first:][:n] }

// sampleAxis says where normalized coordinates are among the cells of a dimension: all in the image, or anywhere.
type sampleAxis struct {
	scale, shift, last float64
	bounded            bool
}

func (q *sampleOp) axis(size int) sampleAxis {
	a := sampleAxis{scale: float64(size), shift: -1, last: float64(size - 1), bounded: q.mode.Padding == op.GridBorder}
	if q.mode.AlignCorners {
		a.scale, a.shift = a.last, 0
	}
	return a
}

// at is the place of x; places beside the image may be any others beside it.
func (a *sampleAxis) at(x float32) float64 {
	g := float64(x)
	if g != g {
		g = -1
	}
	c := ((g+1)*a.scale + a.shift) / 2
	if a.bounded {
		return a.bound(c)
	}
	return c
}

// bound is the place in the image for a place; infinity is none in an image of one cell.
func (a *sampleAxis) bound(c float64) float64 {
	switch {
	case !(c >= 0):
		return 0
	case c > a.last:
		return a.last
	}
	return c
}

// nearest reads one cell for each point.
func (t *sampleTask) nearest(grid, x, y, work []float32, first int) {
	var places, gone [gridPlaces]uint32
	at, none := places[:len(grid)/2], gone[:0] // none: points beside the image
	var room [4]ref.Cell
	across, down := t.axis(t.w), t.axis(t.h)
	for p := range at {
		var ix, iy int
		if t.mode.Padding == op.GridReflection {
			ix = ref.GridCells(t.mode, float64(grid[2*p]), t.w, room[:0])[0].Index
			iy = ref.GridCells(t.mode, float64(grid[2*p+1]), t.h, room[:0])[0].Index
		} else {
			ix, iy = int(math.RoundToEven(across.at(grid[2*p]))), int(math.RoundToEven(down.at(grid[2*p+1])))
		}
		if uint(ix) < uint(t.w) && uint(iy) < uint(t.h) {
			at[p] = uint32(iy*t.w + ix)
		} else {
			none = append(none, uint32(p))
		}
	}
	if t.beside {
		n := t.channels
		for p, a := range at {
			copy(work[p*n:][:n], x[int(a)*n:][:n])
		}
		for _, p := range none {
			clear(work[int(p)*n:][:n])
		}
		return
	}
	for c := range t.channels {
		out := t.line(y, c, first, len(at))
		pick(out, x[c*t.h*t.w:][:t.h*t.w], at)
		for _, p := range none {
			out[p] = 0
		}
	}
}

// pick reads elements of x.
func pick(y, x []float32, at []uint32) {
	y = y[:len(at)]
	i := 0
	for ; i+4 <= len(at); i += 4 {
		a, out := (*[4]uint32)(at[i:]), (*[4]float32)(y[i:])
		out[0], out[1], out[2], out[3] = x[a[0]], x[a[1]], x[a[2]], x[a[3]]
	}
	for ; i < len(at); i++ {
		y[i] = x[at[i]]
	}
}

// linear mixes four cells for each point.
func (t *sampleTask) linear(grid, x, y, work []float32, first int) {
	var places [gridBlock][4]int32
	var weights [gridBlock][4]float32
	var gone [gridBlock]int32
	n := len(grid) / 2
	none := gone[:0] // points beside the image
	across, down, width := t.axis(t.w), t.axis(t.h), int32(t.w)
	for p := range n {
		cx, cy := across.at(grid[2*p]), down.at(grid[2*p+1])
		lx, ly := math.Floor(cx), math.Floor(cy)
		ix, iy, u, v := int(lx), int(ly), cx-lx, cy-ly
		if t.mode.Padding == op.GridReflection || uint(ix) >= uint(t.w-1) || uint(iy) >= uint(t.h-1) || u == 0 || v == 0 {
			if !t.edge(grid[2*p:][:2], &places[p], &weights[p]) {
				none = append(none, int32(p))
			}
			continue
		}
		a := int32(iy)*width + int32(ix) // between four cells
		places[p] = [4]int32{a, a + 1, a + width, a + width + 1}
		weights[p] = [4]float32{float32((1 - v) * (1 - u)), float32((1 - v) * u), float32(v * (1 - u)), float32(v * u)}
	}
	if t.beside {
		c := t.channels
		for p := range n {
			a, w := &places[p], &weights[p]
			kernel.Mix4(work[p*c:][:c], x[int(a[0])*c:][:c], x[int(a[1])*c:][:c], x[int(a[2])*c:][:c], x[int(a[3])*c:][:c],
				w[0], w[1], w[2], w[3])
		}
		for _, p := range none {
			clear(work[int(p)*c:][:c])
		}
		return
	}
	for c := range t.channels {
		image, out := x[c*t.h*t.w:][:t.h*t.w], t.line(y, c, first, n)
		for p := range out {
			a, w := &places[p], &weights[p]
			out[p] = w[0]*image[a[0]] + w[1]*image[a[1]] + w[2]*image[a[2]] + w[3]*image[a[3]]
		}
		for _, p := range none {
			out[p] = 0
		}
	}
}

// edge finds the cells of any point, false when there are none. Where there are fewer than four, they stand there
// several times with parts of their weights: a weight of 0 would make NaN of an infinity.
func (t *sampleTask) edge(point []float32, at *[4]int32, weight *[4]float32) bool {
	var rows, cols [4]ref.Cell
	down := ref.GridCells(t.mode, float64(point[1]), t.h, rows[:0])
	across := ref.GridCells(t.mode, float64(point[0]), t.w, cols[:0])
	n := len(down) * len(across)
	if n == 0 {
		*at, *weight = [4]int32{}, [4]float32{}
		return false
	}
	for k := range at {
		r, c := down[k%n/len(across)], across[k%len(across)]
		at[k], weight[k] = int32(r.Index*t.w+c.Index), float32(r.Weight*c.Weight/float64(4/n))
	}
	return true
}

// cubic mixes up to 16 cells for each point.
func (t *sampleTask) cubic(grid, x, y []float32, first int) {
	var at [gridBlock][gridTaps]int32
	var weight [gridBlock][gridTaps]float32
	var taps [gridBlock]int
	n := len(grid) / 2
	var rows, cols [4]ref.Cell
	for p := range n {
		across := ref.GridCells(t.mode, float64(grid[2*p]), t.w, cols[:0])
		k := 0
		for _, r := range ref.GridCells(t.mode, float64(grid[2*p+1]), t.h, rows[:0]) {
			for _, c := range across {
				at[p][k], weight[p][k] = int32(r.Index*t.w+c.Index), float32(r.Weight*c.Weight)
				k++
			}
		}
		taps[p] = k
	}
	for c := range t.channels {
		image, out := x[c*t.h*t.w:][:t.h*t.w], t.line(y, c, first, n)
		for p := range out {
			a, w := &at[p], &weight[p]
			var sum float32
			for k := range taps[p] {
				sum += w[k] * image[a[k]]
			}
			out[p] = sum
		}
	}
}
