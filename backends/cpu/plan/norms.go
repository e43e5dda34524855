package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// groupNorm adds a normalization of groups of channels, dimension axis, of each image; 0 groups stand for one per
// channel.
func (b *builder) groupNorm(n *graph.Node, axis int64, groups int, eps float32) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() || len(x.dims) < 2 {
		return false
	}
	at, err := op.Axis(axis, len(x.dims))
	switch {
	case err != nil:
		return false
	case at == len(x.dims)-1 && at > 1:
		return b.channelNorm(n, false, int(x.dims[at]), groups, eps)
	case at != 1:
		return false
	case b.inLast(n.In[0]) && !sameForms(x.dims):
		return b.channelNorm(n, true, int(x.dims[1]), groups, eps)
	}
	scale, bias := b.constant(n.In[1]), b.constant(n.In[2])
	channels := int(x.dims[1])
	if groups == 0 {
		groups = channels
	}
	if len(scale) != channels || len(bias) != channels || groups < 1 || channels%groups != 0 {
		return false
	}
	rows := int(x.dims[0]) * groups
	q := groupNorm{scale: scale, bias: bias, groups: groups, eps: eps, per: channels / groups}
	s := step{inplace: true, reads: []int{b.wantPlain(n.In[0])}}
	s.writes = []int{b.make(n.Out[0], false)}
	b.byRows(s, rowsTask{rows: rows, cols: x.count() / rows, compute: q.compute})
	return true
}

type groupNorm struct {
	scale, bias []float32
	groups, per int // channels of a group
	eps         float32
}

func (q groupNorm) compute(t *rowsTask, from, to int) {
	inner := t.cols / q.per
	for r := from; r < to; r++ {
		y, x := t.part(r, r+1)
		rest, variance := kernel.Centre(y, x)
		rstd := 1 / math.Sqrt(variance+float64(q.eps))
		c := r % q.groups * q.per
		for k := range q.per {
			p := y[k*inner:][:inner]
			factor := rstd * float64(q.scale[c+k])
			kernel.BinaryVS(kernel.Mul, p, p, float32(factor))
			kernel.BinaryVS(kernel.Add, p, p, float32(float64(q.bias[c+k])-float64(rest)*factor))
		}
	}
}

// l2Normalize adds a division by the root of the sum of squares over the last dimensions, or over the channels of
// channels-last images.
func (b *builder) l2Normalize(n *graph.Node, o *op.L2Normalize) bool {
	x := &b.values[n.In[0]]
	axes, ok := b.ints(n.In, 1)
	if !ok || !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	mask, err := op.AxisMask(axes, len(x.dims))
	if err != nil {
		return false
	}
	dims := x.dims
	last := b.inLast(n.In[0]) && len(axes) > 0
	if last {
		dims, mask = lastDims(dims), append(append([]bool{mask[0]}, mask[2:]...), mask[1])
	}
	rows, cols := 1, 1
	for d, m := range mask {
		switch m = m || len(axes) == 0; {
		case m:
			cols *= int(dims[d])
		case cols > 1 && dims[d] > 1:
			return false
		default:
			rows *= int(dims[d])
		}
	}
	s := step{inplace: true, reads: []int{b.form(n.In[0], last)}}
	s.writes = []int{b.make(n.Out[0], last)}
	mode := o.Mode
	b.byRows(s, rowsTask{rows: rows, cols: cols, value: o.Epsilon, compute: func(t *rowsTask, from, to int) {
		for r := from; r < to; r++ {
			y, x := t.part(r, r+1)
			sum := sumSquares(x)
			if mode == op.EpsAdd {
				sum += float64(t.value)
			} else {
				sum = max(sum, float64(t.value))
			}
			divideBy(y, x, math.Sqrt(sum))
		}
	}})
	return true
}

// rmsNorm adds a division by the root of the mean square, times one scale per column.
func (b *builder) rmsNorm(n *graph.Node, o *op.RMSNorm) bool {
	x := &b.values[n.In[0]]
	a, err := op.Axis(o.Axis, len(x.dims))
	if err != nil || !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	scale, cols := b.constant(n.In[1]), product(x.dims[a:])
	if len(scale) == 0 || !slices.Equal(withoutOnes(b.values[n.In[1]].dims), withoutOnes(x.dims[a:])) {
		return false
	}
	s := step{inplace: true, reads: []int{b.wantPlain(n.In[0])}}
	s.writes = []int{b.make(n.Out[0], false)}
	b.byRows(s, rowsTask{rows: x.count() / cols, cols: cols, value: o.Epsilon, compute: func(t *rowsTask, from, to int) {
		for r := from; r < to; r++ {
			y, x := t.part(r, r+1)
			divideBy(y, x, math.Sqrt(sumSquares(x)/float64(t.cols)+float64(t.value)))
			kernel.BinaryVV(kernel.Mul, y, y, scale)
		}
	}})
	return true
}

// sumSquares adds up squares, in float64 when float32 has not the range.
func sumSquares(x []float32) float64 {
	s := kernel.SumSquares(x, 0)
	if s > 1e-30 && s < 1e38 {
		return float64(s)
	}
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// divideBy computes y = x/d, element by element in float64 when d is no normal float32.
func divideBy(y, x []float32, d float64) {
	if f := float32(d); f > 1e-37 && finite(f) {
		kernel.BinaryVS(kernel.Div, y, x, f)
		return
	}
	for i, v := range x {
		y[i] = float32(float64(v) / d)
	}
}
