package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// exactSum bounds integers whose sums float32 holds exactly in any order.
const exactSum = 1 << 24

// matchQuantConv finds a convolution of NHWC 8-bit images with constant 8-bit filters.
func matchQuantConv(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	x := &g.Values[n.In[0]]
	rank := len(x.Dims)
	if !is || !x.IsQuant8() || !o.ChannelsLast || rank < 3 || rank > 5 {
		return nil
	}
	wd := g.Values[n.In[1]].Dims
	if len(wd) != rank {
		return nil
	}
	ws, err := o.Windows(x.Dims[1:rank-1], wd[1:rank-1])
	if err != nil {
		return nil
	}
	win, err := window(ws)
	if err != nil || x.Count() > math.MaxInt32 {
		return nil
	}
	channels := int(x.Dims[rank-1])
	return quantSum(p, i, &qdqSum{win: win, batch: int(x.Dims[0]), channels: channels,
		ic: channels / int(max(o.Groups, 1)), n: int(wd[0])}, 0)
}

// matchQuantProduct finds a product with a constant 8-bit matrix: [outputs, depth], or [depth, outputs] if
// transposed.
func matchQuantProduct(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
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
	x, wd := &g.Values[n.In[0]], g.Values[n.In[1]].Dims
	if !x.IsQuant8() || len(wd) != 2 || len(x.Dims) == 0 {
		return nil
	}
	outputs, depth, axis := int(wd[0]), int(wd[1]), 0
	if transposed {
		outputs, depth, axis = depth, outputs, 1
	}
	if depth == 0 || int(x.Dims[len(x.Dims)-1]) != depth {
		return nil
	}
	win, _ := window(nil)
	return quantSum(p, i, &qdqSum{win: win, batch: x.Count() / depth, channels: depth, ic: depth, n: outputs,
		transposed: transposed}, axis)
}

// quantSum is the patch of a sum of products; axis is the dimension of the weights that counts outputs. It multiplies
// integers, or float32 values that are as exact.
func quantSum(p *ir.Program, i int, c *qdqSum, axis int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	c.at, c.x, c.taps = i, ir.QuantParamsOfType(x.Type), c.win.Taps()
	if c.f = filterOfType(g, n.In[1]); c.f == nil || !y.IsQuant8() || !c.resolve(g, axis) || !quantBias(g, n, c) {
		return nil
	}
	c.epi = quantEpilogueOf(p, n.Out[0])
	c.requantize()
	g.Keep(n.In[1])
	groups := c.channels / c.ic
	conv := convolution{at: i, win: c.win, batch: c.batch, c: c.channels, n: c.n, groups: groups, last: true, taps: c.taps,
		ic: c.ic, oc: c.n / groups}
	if q := c.integers(&conv); q != nil {
		return c.patch(p, i, q)
	}
	w := c.centred()
	conv.weights = w
	lo, hi, zero := c.x.Limits()
	parts := c.parts(w, float64(max(hi-zero, zero-lo)))
	if parts == 0 {
		return nil
	}
	found := &ir.Patch{}
	sums := sumsOf(&conv, p, i, found, parts)
	found.Nodes = append(found.Nodes, &ir.Node{At: run.None, Kind: "requantize", Op: newRequantize(c.exact, y.Count()),
		In: sums, Out: n.Out})
	return found
}

// quantEpilogueOf returns the epilogue of a sum of a quantized type: a clamp to codes of the same type, or none.
func quantEpilogueOf(p *ir.Program, v graph.Value) *qdqEpilogue {
	g := p.Net
	y := &g.Values[v]
	e := &qdqEpilogue{q: v, params: ir.QuantParamsOfType(y.Type), hi: 255}
	i := g.OnlyUse(v)
	if p.Taken(i) {
		return e
	}
	n := &g.Graph.Nodes[i]
	switch n.Op.(type) {
	case *op.Relu, *op.Clip:
	default:
		return e
	}
	to := &g.Values[n.Out[0]]
	if n.In[0] != v || !slices.Equal(y.Dims, to.Dims) || y.Type.DType != to.Type.DType ||
		!sameCodes(y.Type.Quant, to.Type.Quant) {
		return e
	}
	t, args := tableOf(p, i)
	if len(args) != 1 || t.table == nil {
		return e
	}
	flip := e.params.Flip()
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
func (c *qdqSum) integers(conv *convolution) ir.Operation {
	wide := conv.depthwise() && conv.flat() && kernel.FastDepthwiseInt8(c.taps, c.n)
	if !kernel.FastInt8() || conv.groups > 1 && !wide || c.x.Zero < 0 || c.x.Zero > 255 ||
		c.taps*c.ic > (1<<31-1)/(256*256) || !c.bytes() {
		return nil
	}
	post, init, ok := c.exact.post(c.epi, 255*255*float64(c.taps*c.ic))
	if ok {
		var q ir.Operation
		if wide {
			q = c.depthwise(run.NCHW, post)
		} else {
			if g := newQDQGemm(c, conv, run.NCHW); g != nil {
				q = g
			}
		}
		if q != nil {
			c.exact, c.post, c.whole = nil, post, init
		}
		return q
	}
	if wide || conv.small() || !conv.pointwise() && kernel.CheckIndirection(c.win, c.batch, c.channels) != nil {
		return nil
	}
	return &qdqGemmOp{sum: c, order: run.NCHW, taps: c.taps, depth: c.channels, window: c.win, table: !conv.pointwise()}
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
func quantBias(g *ir.Network, n *graph.Node, c *qdqSum) (ok bool) {
	if !ir.Given(n.In, 2) {
		return true
	}
	v := &g.Values[n.In[2]]
	ints, ok := g.Ints(n.In, 2)
	if !ok || !v.Type.DType.IsInt() || len(ints) != c.n || len(v.Dims) != 1 {
		return false
	}
	q := v.Type.Quant
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
func sumsOf(c *convolution, p *ir.Program, i int, x *ir.Patch, parts int) []graph.Value {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	from := centring(p, n.In[0], x)
	var out []graph.Value
	for part := range parts {
		first, end := part*c.ic/parts, (part+1)*c.ic/parts
		own := *c
		own.x = from
		own.epi = epilogue{out: extraValue(p, x, g.Values[n.Out[0]].Dims), res: graph.None}
		if parts > 1 {
			own.c, own.ic = end-first, end-first
			own.weights = make([]float32, 0, c.n*c.taps*own.ic)
			for r := range c.n * c.taps {
				own.weights = append(own.weights, c.weights[r*c.ic+first:r*c.ic+end]...)
			}
			own.x = extraValue(p, x, []int64{int64(g.Values[n.In[0]].Count() / c.c), int64(own.ic)})
			x.Nodes = append(x.Nodes, &ir.Node{At: run.None, Op: columnsOp{first, c.c}, In: []graph.Value{from},
				Out: []graph.Value{own.x}})
		}
		own.filter = extraConst(p, x, []int64{int64(len(own.weights))}, run.BytesOf(own.weights), n.In[1])
		sum := own.patch(i).Nodes[0]
		if part > 0 { // the first stands for the node
			own.kind = fmt.Sprint(" ", part)
			sum.At, sum.Kind = run.None, "sums"
		}
		x.Nodes = append(x.Nodes, sum)
		out = append(out, own.epi.out)
	}
	return out
}

// columnsOp are columns of rows of ld values, from the given one on.
type columnsOp struct{ from, ld int }

func (q columnsOp) Layout(l *ir.Layouter, n *ir.Node) {
	n.None = true
	size := int64(4 * l.Net.Values[n.In[0]].Count())
	whole := l.Want(n.In[0], run.NCHW)
	l.Forms[n.Out[0]].Elements[run.NCHW] = l.Buffer(run.Buffer{Place: run.IsView, Base: whole, At: q.from, Ld: q.ld,
		Size: size, Form: run.BufferForm{Value: n.Out[0]}})
}

func (columnsOp) Lower(*ir.Lowering, *ir.Node) run.Step { panic("columns are no step") }
