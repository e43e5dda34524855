package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// regionsOp takes means of samples between the cells of regions.
type regionsOp struct {
	ir.InOrder
	op                           *op.RoiAlign
	images, channels, rows, cols int
	regions                      int
	index                        tensor.DType
}

// matchRegions finds means of as many samples in each bin.
func matchRegions(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.RoiAlign)
	if !is || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) || o.Mode != op.RoiAverage || o.SamplesHeight <= 0 ||
		o.SamplesWidth <= 0 || !plainElements(g, n.In[2]) {
		return nil
	}
	x, index := g.Values[n.In[0]].Dims, &g.Values[n.In[2]]
	q := &regionsOp{op: o, images: int(x[0]), channels: int(x[1]), rows: int(x[2]), cols: int(x[3]),
		regions: index.Count(), index: index.Type.DType}
	if o.ChannelsLast {
		q.rows, q.cols, q.channels = int(x[1]), int(x[2]), int(x[3])
	}
	samples := run.Saturated(int(o.Height), int(o.SamplesHeight), int(o.Width), int(o.SamplesWidth))
	if q.index != tensor.Int32 && q.index != tensor.Int64 || samples > 1<<20 ||
		!g.Budget.Allows(run.Saturated(4, q.room())) {
		return nil
	}
	return p.Plainly(i, q, 3)
}

// room counts the values of scratch memory that a thread needs: four places and weights of each sample, and those of a
// dimension.
func (q *regionsOp) room() int {
	h, w := int(q.op.Height*q.op.SamplesHeight), int(q.op.Width*q.op.SamplesWidth)
	return 8*h*w + 4*(h+w)
}

func (q *regionsOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &regionsTask{regionsOp: q, st: st}
	}}
}

type regionsTask struct {
	*regionsOp
	st            *run.Step
	x, corners, y []float32
	image         []byte
	work          []float32
}

func (t *regionsTask) Run(s *run.State) error {
	t.x, t.corners, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])
	t.image = s.Mem[t.st.Reads[2]]
	for r := range t.regions {
		if k := tensor.IntAt(t.index, t.image, r); k < 0 || k >= int64(t.images) {
			return fault.New(fault.Data, "input 1: region %d: batch index %v is outside %d images", r, k, t.images)
		}
		c := t.scaled(r)
		for _, v := range c {
			if !(math.Abs(float64(v)) <= 1<<30) {
				return fault.New(fault.Data, "input 1: region %d: corner at %v", r, v)
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

// inside refuses region r when it is not a part of the image, or its corners are out of order.
func inside(r int, c [4]float32, rows, cols int) error {
	if 0 <= c[0] && c[0] <= c[2] && float64(c[2]) <= float64(cols) && 0 <= c[1] && c[1] <= c[3] &&
		float64(c[3]) <= float64(rows) {
		return nil
	}
	return fault.New(fault.Data, "input 1: region %d: from x %v, y %v to x %v, y %v is not inside %d x %d cells", r, c[0],
		c[1], c[2], c[3], rows, cols)
}

// scaled are the corners of a region in cells: x and y of both.
func (t *regionsTask) scaled(r int) (c [4]float32) {
	copy(c[:], t.corners[4*r:][:4])
	for k, scale := range [2]float32{t.op.ScaleWidth, t.op.ScaleHeight} {
		if scale != 0 {
			c[k], c[k+2] = float32(float64(c[k])*float64(scale)), float32(float64(c[k+2])*float64(scale))
		}
	}
	return c
}

// samplePlace is between two cells; before -1: outside of the image.
type samplePlace struct {
	before, behind int32
	near, far      float32 // their weights
}

// places locates the samples of n bins along one dimension of size cells.
func (t *regionsTask) places(list []samplePlace, start, end float32, n, samples, size int) {
	if t.op.HalfPixel {
		start, end = start-0.5, end-0.5
	}
	length := end - start
	if !t.op.HalfPixel {
		length = max(length, 1)
	}
	bin := length / float32(n)
	for k := range list {
		i, j := k/samples, k%samples
		c := float64(float32(start+float32(float32(i)*bin)) + float32((float32(j)+0.5)*bin)/float32(samples))
		if c < -1 || c > float64(size) {
			list[k] = samplePlace{before: -1}
			continue
		}
		c = min(max(c, 0), float64(size-1))
		at := int32(c)
		if int(at)+1 < size {
			list[k] = samplePlace{at, at + 1, float32(1 - (c - float64(at))), float32(c - float64(at))}
		} else { // the last cell alone, which may be infinite
			list[k] = samplePlace{at, at, 0.5, 0.5}
		}
	}
}

// Chunk makes one region.
func (t *regionsTask) Chunk(r, worker int) {
	o := t.op
	h, w := int(o.Height*o.SamplesHeight), int(o.Width*o.SamplesWidth)
	work := mem.Bytes(t.work[worker*t.room():][:t.room()])
	sides := mem.Elements[samplePlace](work)[:h+w]
	work = work[16*(h+w):]
	at := mem.Elements[[4]int32](work)[:h*w]
	weights := mem.Elements[[4]float32](work[16*h*w:])[:h*w]
	c := t.scaled(r)
	t.places(sides[:h], c[1], c[3], int(o.Height), int(o.SamplesHeight), t.rows)
	t.places(sides[h:], c[0], c[2], int(o.Width), int(o.SamplesWidth), t.cols)
	n, each, width := 0, int(o.SamplesHeight*o.SamplesWidth), int32(t.cols)
	for bin := range int(o.Height * o.Width) {
		for s := range each {
			a := sides[bin/int(o.Width)*int(o.SamplesHeight)+s/int(o.SamplesWidth)]
			b := sides[h+bin%int(o.Width)*int(o.SamplesWidth)+s%int(o.SamplesWidth)]
			if at[n][0] = -1; a.before >= 0 && b.before >= 0 {
				at[n] = [4]int32{a.before*width + b.before, a.before*width + b.behind, a.behind*width + b.before,
					a.behind*width + b.behind}
				weights[n] = [4]float32{a.near * b.near, a.near * b.far, a.far * b.near, a.far * b.far}
			}
			n++
		}
	}
	image := int(tensor.IntAt(t.index, t.image, r)) * t.channels * t.rows * t.cols
	bins := int(o.Height * o.Width)
	x, y := t.x[image:][:t.channels*t.rows*t.cols], t.y[r*t.channels*bins:][:t.channels*bins]
	if o.ChannelsLast {
		meansOfCells(y, x, t.channels, at, weights, each)
		return
	}
	for ch := range t.channels {
		meansOf(y[ch*bins:][:bins], x[ch*t.rows*t.cols:][:t.rows*t.cols], at, weights, each)
	}
}

// meansOf computes the bins of one channel, each the mean of some samples.
func meansOf(y, x []float32, at [][4]int32, weights [][4]float32, each int) {
	k := 0
	for bin := range y {
		var sum float32
		for range each {
			if p := &at[k]; p[0] >= 0 {
				v := &weights[k]
				sum += v[0]*x[p[0]] + v[1]*x[p[1]] + (v[2]*x[p[2]] + v[3]*x[p[3]])
			}
			k++
		}
		y[bin] = sum / float32(each)
	}
}

// meansOfCells computes the bins of all channels, which lie side by side.
func meansOfCells(y, x []float32, channels int, at [][4]int32, weights [][4]float32, each int) {
	clear(y)
	for k, p := range at {
		if p[0] < 0 {
			continue
		}
		v, sums := weights[k], y[k/each*channels:][:channels]
		cell := func(i int) []float32 { return x[int(p[i])*channels:][:channels] }
		x0, x1, x2, x3 := cell(0), cell(1), cell(2), cell(3)
		for c := range sums {
			sums[c] += v[0]*x0[c] + v[1]*x1[c] + (v[2]*x2[c] + v[3]*x3[c])
		}
	}
	for i := range y {
		y[i] /= float32(each)
	}
}
