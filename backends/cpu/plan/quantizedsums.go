package plan

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// exactSum bounds integers whose sums float32 holds exactly in any order.
const exactSum = 1 << 24

// quantizedConv adds a convolution of channels-last 8-bit images with constant 8-bit filters.
func (b *builder) quantizedConv(n *graph.Node, o *op.Conv) bool {
	x := &b.values[n.In[0]]
	rank := len(x.dims)
	if !x.narrow() || !o.ChannelsLast || rank < 3 || rank > 5 {
		return false
	}
	wd := b.values[n.In[1]].dims
	if len(wd) != rank {
		return false
	}
	ws, err := o.Windows(x.dims[1:rank-1], wd[1:rank-1])
	if err != nil {
		return false
	}
	win, err := window(ws)
	if err != nil || x.count() > math.MaxInt32 {
		return false
	}
	c := convolution{win: win, batch: int(x.dims[0]), c: int(x.dims[rank-1]), n: int(wd[0]), groups: int(max(o.Groups, 1)),
		last: true}
	return b.quantizedSum(n, c, 0, false)
}

// quantizedProduct adds a product with a constant 8-bit matrix: [outputs, depth], or [depth, outputs] if turned.
func (b *builder) quantizedProduct(n *graph.Node, turned bool) bool {
	x, wd := &b.values[n.In[0]], b.values[n.In[1]].dims
	if !x.narrow() || len(wd) != 2 || len(x.dims) == 0 {
		return false
	}
	outputs, depth, axis := int(wd[0]), int(wd[1]), 0
	if turned {
		outputs, depth, axis = depth, outputs, 1
	}
	if depth == 0 || int(x.dims[len(x.dims)-1]) != depth {
		return false
	}
	win, _ := window(nil)
	return b.quantizedSum(n, convolution{win: win, batch: x.count() / depth, c: depth, n: outputs, groups: 1, last: true},
		axis, turned)
}

// quantizedSum adds the steps of a sum of products; axis is the dimension of the weights that counts outputs.
func (b *builder) quantizedSum(n *graph.Node, c convolution, axis int, turned bool) bool {
	x, w, y := &b.values[n.In[0]], &b.values[n.In[1]], &b.values[n.Out[0]]
	if !y.narrow() || !b.made(n.In[0]) || w.data == nil || w.dims == nil || w.count() == 0 || w.typ.Quant == nil ||
		w.typ.DType != tensor.Int8 && w.typ.DType != tensor.Uint8 {
		return false
	}
	wq := w.typ.Quant
	perChannel := wq.Block == 0 && wq.Axis == axis && len(wq.Scale) == c.n
	if !wq.IsPerTensor() && !perChannel {
		return false
	}
	scale, offset := make([]float64, c.n), make([]float64, c.n)
	for j := range scale {
		s := wq.Scale[j%len(wq.Scale)]
		if !usableScale(s) {
			return false
		}
		scale[j] = float64(x.typ.Quant.Scale[0]) * float64(s)
	}
	if !b.quantizedBias(n, scale, offset) {
		return false
	}
	c.taps, c.ic, c.oc = c.win.Taps(), c.c/c.groups, c.n/c.groups
	lo, hi := tensor.IntLimits(x.typ.DType)
	zero := int64(x.typ.Quant.ZeroAt(0))
	weights, q := b.centredWeights(n.In[1], &c, turned), newRequantized(y.typ, scale, offset)
	parts := c.parts(weights, float64(max(hi-zero, zero-lo)))
	if parts == 1 && b.integerSum(n, &c, weights, q) {
		return true
	}
	if parts == 0 {
		return false
	}
	b.requantize(n.Out[0], b.sums(n, &c, parts), q)
	return true
}

// quantizedBias adds what a node's bias contributes as a real number, per column; ok is false when it is none that can
// be known now.
func (b *builder) quantizedBias(n *graph.Node, scale, offset []float64) (ok bool) {
	if !given(n.In, 2) {
		return true
	}
	v := &b.values[n.In[2]]
	ints, ok := b.ints(n.In, 2)
	if !ok || !v.typ.DType.IsInt() || len(ints) != len(offset) || len(v.dims) != 1 {
		return false
	}
	q := v.typ.Quant
	if q != nil && !(q.IsPerTensor() || q.Block == 0 && q.Axis == 0 && len(q.Scale) == len(ints)) {
		return false
	}
	for j := range offset {
		s, zero := scale[j], int32(0)
		if q != nil {
			k := j % len(q.Scale)
			s, zero = float64(q.Scale[k]), q.ZeroAt(k)
		}
		offset[j] = float64(ints[j]-int64(zero)) * s
	}
	return true
}

// centredWeights gives c the codes of a constant minus their zero points, one row [taps, channels of a group] per
// output. It returns them.
func (b *builder) centredWeights(v graph.Value, c *convolution, turned bool) []float32 {
	w := &b.values[v]
	b.pin(v)
	out, depth := make([]float32, w.count()), c.taps*c.ic
	for j := range c.n {
		zero := w.typ.Quant.ZeroAt(j % len(w.typ.Quant.Scale))
		for k := range depth {
			at := j*depth + k
			if turned {
				at = k*c.n + j
			}
			code := int32(w.data[at])
			if w.typ.DType == tensor.Int8 {
				code = int32(int8(w.data[at]))
			}
			out[j*depth+k] = float32(code - zero)
		}
	}
	c.weights = out
	return out
}

// parts returns in how many runs of channels the sums have to be computed for float32 to hold them when no input is
// larger than reach, 0 when no number will do.
func (c *convolution) parts(w []float32, reach float64) int {
	for parts := 1; parts <= c.ic && (parts == 1 || c.groups == 1); parts *= 2 {
		largest := 0.0
		for p := range parts {
			from, to := p*c.ic/parts, (p+1)*c.ic/parts
			for j := range c.n {
				sum := 0.0
				for k := range c.taps {
					for _, x := range w[(j*c.taps+k)*c.ic:][from:to] {
						sum += math.Abs(float64(x))
					}
				}
				largest = max(largest, sum)
			}
		}
		if largest*reach < exactSum {
			return parts
		}
	}
	return 0
}

// sums adds the float32 convolutions that a sum of products consists of and returns their results, [positions, outputs]
// each.
func (b *builder) sums(n *graph.Node, c *convolution, parts int) []graph.Value {
	x := b.centred(n.In[0])
	w, whole := c.weights, b.wantPlain(x)
	var out []graph.Value
	for p := range parts {
		from, to := p*c.ic/parts, (p+1)*c.ic/parts
		own := *c
		own.x, own.epi = x, epilogue{out: b.extra(b.values[n.Out[0]].dims, nil), res: graph.None}
		if parts > 1 {
			own.c, own.ic = to-from, to-from
			own.weights = make([]float32, 0, c.n*c.taps*own.ic)
			for r := range c.n * c.taps {
				own.weights = append(own.weights, w[r*c.ic+from:r*c.ic+to]...)
			}
			own.x = b.extra([]int64{int64(b.values[x].count() / c.c), int64(own.ic)}, nil)
			b.values[own.x].plain = b.buffer(buffer{place: isView, base: whole, at: from, ld: c.c,
				size: int64(4 * b.values[x].count())})
		}
		own.filter = b.extra([]int64{int64(len(own.weights))}, bytesOf(own.weights))
		if p > 0 {
			own.kind = fmt.Sprint(" ", p)
		}
		switch {
		case own.depthwise():
			b.depthwise(&own)
		case own.small() && parts == 1:
			b.smallConv(&own)
		default:
			b.gemmConv(&own)
		}
		if p > 0 { // the first step stands for the node
			b.plan.steps[len(b.plan.steps)-1].node = none
		}
		out = append(out, own.epi.out)
	}
	return out
}
