package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// exactSum bounds integers whose sums float32 holds exactly in any order.
const exactSum = 1 << 24

// matchQuantConv finds a convolution of NHWC 8-bit images with constant 8-bit filters.
func matchQuantConv(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	x := &g.values[n.In[0]]
	rank := len(x.dims)
	if !is || !x.isQuant8() || !o.ChannelsLast || rank < 3 || rank > 5 {
		return nil
	}
	wd := g.values[n.In[1]].dims
	if len(wd) != rank {
		return nil
	}
	ws, err := o.Windows(x.dims[1:rank-1], wd[1:rank-1])
	if err != nil {
		return nil
	}
	win, err := window(ws)
	if err != nil || x.count() > math.MaxInt32 {
		return nil
	}
	channels := int(x.dims[rank-1])
	return quantSum(p, i, &qdqSum{win: win, batch: int(x.dims[0]), channels: channels,
		ic: channels / int(max(o.Groups, 1)), n: int(wd[0])}, 0)
}

// matchQuantProduct finds a product with a constant 8-bit matrix: [outputs, depth], or [depth, outputs] if
// transposed.
func matchQuantProduct(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	transposed := false
	switch o := n.Op.(type) {
	case *op.FullyConnected:
	case *op.MatMul:
		if transposed = !o.TransposeB; o.TransposeA {
			return nil
		}
	default:
		return nil
	}
	x, wd := &g.values[n.In[0]], g.values[n.In[1]].dims
	if !x.isQuant8() || len(wd) != 2 || len(x.dims) == 0 {
		return nil
	}
	outputs, depth, axis := int(wd[0]), int(wd[1]), 0
	if transposed {
		outputs, depth, axis = depth, outputs, 1
	}
	if depth == 0 || int(x.dims[len(x.dims)-1]) != depth {
		return nil
	}
	win, _ := window(nil)
	return quantSum(p, i, &qdqSum{win: win, batch: x.count() / depth, channels: depth, ic: depth, n: outputs,
		transposed: transposed}, axis)
}

// quantSum is the patch of a sum of products; axis is the dimension of the weights that counts outputs. Products
// are those of integers, or of float32 values that are as exact.
func quantSum(p *program, i int, c *qdqSum, axis int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	c.at, c.x, c.taps = i, quantParamsOfType(x.typ), c.win.Taps()
	if c.f = filterOfType(g, n.In[1]); c.f == nil || !y.isQuant8() || !c.resolve(g, axis) || !quantBias(g, n, c) {
		return nil
	}
	c.epi = quantEpilogueOf(p, n.Out[0])
	c.requantize()
	g.keep(n.In[1])
	groups := c.channels / c.ic
	conv := convolution{at: i, win: c.win, batch: c.batch, c: c.channels, n: c.n, groups: groups, last: true, taps: c.taps,
		ic: c.ic, oc: c.n / groups}
	if q := c.integers(&conv); q != nil {
		return c.patch(p, i, q)
	}
	w := c.centred()
	conv.weights = w
	lo, hi, zero := c.x.limits()
	parts := c.parts(w, float64(max(hi-zero, zero-lo)))
	if parts == 0 {
		return nil
	}
	found := &patch{}
	sums := sumsOf(&conv, p, i, found, parts)
	found.nodes = append(found.nodes, &node{at: none, kind: "requantize", op: newRequantize(c.exact, y.count()), in: sums,
		out: n.Out})
	return found
}

// quantEpilogueOf is what follows a sum of a quantized type: a clamp to codes of the same type, or nothing.
func quantEpilogueOf(p *program, v graph.Value) *qdqEpilogue {
	g := p.net
	y := &g.values[v]
	e := &qdqEpilogue{q: v, params: quantParamsOfType(y.typ), hi: 255}
	i := g.onlyUse(v)
	if p.taken(i) {
		return e
	}
	n := &g.graph.Nodes[i]
	switch n.Op.(type) {
	case *op.Relu, *op.Clip:
	default:
		return e
	}
	to := &g.values[n.Out[0]]
	if n.In[0] != v || !slices.Equal(y.dims, to.dims) || y.typ.DType != to.typ.DType ||
		!sameCodes(y.typ.Quant, to.typ.Quant) {
		return e
	}
	t, args := tableOf(p, i)
	if len(args) != 1 || t.table == nil {
		return e
	}
	flip := e.params.flip()
	lo, hi := t.table[flip]^flip, t.table[255^flip]^flip
	for k := range 256 {
		if t.table[k]^flip != min(max(byte(k)^flip, lo), hi) {
			return e
		}
	}
	e.q, e.lo, e.hi, e.nodes = n.Out[0], lo, hi, []int{i}
	return e
}

// integers is the operation that computes c with products of integers, nil when there is none, or one of float32 values
// is faster.
func (c *qdqSum) integers(conv *convolution) operation {
	wide := conv.depthwise() && kernel.FastDepthwiseInt8(c.taps, c.n)
	if !kernel.FastInt8() || conv.groups > 1 && !wide || c.x.zero < 0 || c.x.zero > 255 ||
		c.taps*c.ic > (1<<31-1)/(256*256) || !c.bytes() {
		return nil
	}
	post, init, ok := c.exact.post(c.epi, 255*255*float64(c.taps*c.ic))
	if ok {
		var q operation
		if wide {
			q = c.depthwise(nchw, post)
		} else {
			q = newQDQGemm(c, conv, nchw)
		}
		if q != nil {
			c.exact, c.post, c.whole = nil, post, init
		}
		return q
	}
	if wide || conv.small() || !conv.pointwise() && kernel.CheckIndirection(c.win, c.batch, c.channels) != nil {
		return nil
	}
	return &qdqGemmOp{sum: c, order: nchw, taps: c.taps, depth: c.channels, window: c.win, table: !conv.pointwise()}
}

// bytes reports whether the filter's codes minus their zero points are of 8 bits.
func (c *qdqSum) bytes() bool {
	middle := int64(128)
	if c.f.signed {
		middle = 0
	}
	if !slices.ContainsFunc(c.f.zero, func(z int64) bool { return z != middle }) {
		return true
	}
	for k, v := range c.codes {
		j := k / (c.taps * c.ic)
		if c.transposed {
			j = k % c.n
		}
		code := int64(v)
		if c.f.signed {
			code = int64(int8(v))
		}
		if d := code - c.f.zeroAt(j); d < -128 || d > 127 {
			return false
		}
	}
	return true
}

// quantBias gives c the bias of a node; ok is false when it is not one that can be known now.
func quantBias(g *network, n *graph.Node, c *qdqSum) (ok bool) {
	if !given(n.In, 2) {
		return true
	}
	v := &g.values[n.In[2]]
	ints, ok := g.ints(n.In, 2)
	if !ok || !v.typ.DType.IsInt() || len(ints) != c.n || len(v.dims) != 1 {
		return false
	}
	q := v.typ.Quant
	if q != nil && !(q.IsPerTensor() || q.Block == 0 && q.Axis == 0 && len(q.Scale) == len(ints)) {
		return false
	}
	for j := range c.bias {
		s, zero := c.unit[j], int32(0)
		if q != nil {
			k := j % len(q.Scale)
			s, zero = float64(q.Scale[k]), q.ZeroAt(k)
		}
		c.bias[j] = float64(ints[j]-int64(zero)) * s
	}
	return true
}

// centred returns the filter's codes minus their zero points, one row [taps, inputs] per output.
func (c *qdqSum) centred() []float32 {
	out, depth := make([]float32, len(c.codes)), c.taps*c.ic
	signed := c.f.signed
	for j := range c.n {
		zero := int32(c.f.zeroAt(j))
		for k := range depth {
			at := j*depth + k
			if c.transposed {
				at = k*c.n + j
			}
			code := int32(c.codes[at])
			if signed {
				code = int32(int8(c.codes[at]))
			}
			out[j*depth+k] = float32(code - zero)
		}
	}
	return out
}

// parts returns in how many runs of inputs the sums of w have to be computed for float32 to hold them when no input is
// larger than reach, 0 when no number will do.
func (c *qdqSum) parts(w []float32, reach float64) int {
	for parts := 1; parts <= c.ic && (parts == 1 || c.ic == c.channels); parts *= 2 {
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

// sumsOf adds to x the float32 convolutions that a sum of products consists of and returns their results, [positions,
// outputs] each.
func sumsOf(c *convolution, p *program, i int, x *patch, parts int) []graph.Value {
	g, n := p.net, &p.net.graph.Nodes[i]
	from := centring(p, n.In[0], x)
	var out []graph.Value
	for part := range parts {
		first, end := part*c.ic/parts, (part+1)*c.ic/parts
		own := *c
		own.x = from
		own.epi = epilogue{out: extraValue(p, x, g.values[n.Out[0]].dims), res: graph.None}
		if parts > 1 {
			own.c, own.ic = end-first, end-first
			own.weights = make([]float32, 0, c.n*c.taps*own.ic)
			for r := range c.n * c.taps {
				own.weights = append(own.weights, c.weights[r*c.ic+first:r*c.ic+end]...)
			}
			own.x = extraValue(p, x, []int64{int64(g.values[n.In[0]].count() / c.c), int64(own.ic)})
			x.nodes = append(x.nodes, &node{at: none, op: columnsOp{first, c.c}, in: []graph.Value{from},
				out: []graph.Value{own.x}})
		}
		own.filter = extraConst(p, x, []int64{int64(len(own.weights))}, bytesOf(own.weights), n.In[1])
		sum := own.patch(i).nodes[0]
		if part > 0 { // the first stands for the node
			own.kind = fmt.Sprint(" ", part)
			sum.at, sum.kind = none, "sums"
		}
		x.nodes = append(x.nodes, sum)
		out = append(out, own.epi.out)
	}
	return out
}

// columnsOp are columns of rows of ld values, from the given one on.
type columnsOp struct{ from, ld int }

func (q columnsOp) layout(l *layouter, n *node) {
	n.none = true
	size := int64(4 * l.net.values[n.in[0]].count())
	whole := l.want(n.in[0], nchw)
	l.forms[n.out[0]].elements[nchw] = l.buffer(buffer{place: isView, base: whole, at: q.from, ld: q.ld, size: size,
		form: bufferForm{value: n.out[0]}})
}

func (columnsOp) lower(*lowering, *node) step { panic("columns are no step") }
