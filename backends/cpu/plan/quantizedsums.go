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

// matchQuantizedConv finds a convolution of channels-last 8-bit images with constant 8-bit filters.
func matchQuantizedConv(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	x := &g.values[n.In[0]]
	rank := len(x.dims)
	if !is || !x.narrow() || !o.ChannelsLast || rank < 3 || rank > 5 {
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
	return quantizedSum(p, i, convolution{win: win, batch: int(x.dims[0]), c: int(x.dims[rank-1]), n: int(wd[0]),
		groups: int(max(o.Groups, 1)), last: true}, 0, false)
}

// matchQuantizedProduct finds a product with a constant 8-bit matrix: [outputs, depth], or [depth, outputs] if turned.
func matchQuantizedProduct(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	turned := false
	switch o := n.Op.(type) {
	case *op.FullyConnected:
	case *op.MatMul:
		if turned = !o.TransposeB; o.TransposeA {
			return nil
		}
	default:
		return nil
	}
	x, wd := &g.values[n.In[0]], g.values[n.In[1]].dims
	if !x.narrow() || len(wd) != 2 || len(x.dims) == 0 {
		return nil
	}
	outputs, depth, axis := int(wd[0]), int(wd[1]), 0
	if turned {
		outputs, depth, axis = depth, outputs, 1
	}
	if depth == 0 || int(x.dims[len(x.dims)-1]) != depth {
		return nil
	}
	win, _ := window(nil)
	return quantizedSum(p, i, convolution{win: win, batch: x.count() / depth, c: depth, n: outputs, groups: 1, last: true},
		axis, turned)
}

// quantizedSum is the patch of a sum of products; axis is the dimension of the weights that counts outputs.
func quantizedSum(p *program, i int, c convolution, axis int, turned bool) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	x, w, y := &g.values[n.In[0]], &g.values[n.In[1]], &g.values[n.Out[0]]
	if !y.narrow() || w.data == nil || w.dims == nil || w.count() == 0 || w.typ.Quant == nil ||
		w.typ.DType != tensor.Int8 && w.typ.DType != tensor.Uint8 {
		return nil
	}
	wq := w.typ.Quant
	perChannel := wq.Block == 0 && wq.Axis == axis && len(wq.Scale) == c.n
	if !wq.IsPerTensor() && !perChannel {
		return nil
	}
	scale, offset := make([]float64, c.n), make([]float64, c.n)
	for j := range scale {
		s := wq.Scale[j%len(wq.Scale)]
		if !usableScale(s) {
			return nil
		}
		scale[j] = float64(x.typ.Quant.Scale[0]) * float64(s)
	}
	if !quantizedBias(g, n, scale, offset) {
		return nil
	}
	c.at, c.filter, c.taps, c.ic, c.oc = i, n.In[1], c.win.Taps(), c.c/c.groups, c.n/c.groups
	lo, hi := tensor.IntLimits(x.typ.DType)
	zero := int64(x.typ.Quant.ZeroAt(0))
	c.weights = centredWeights(&c, g, turned)
	q := newRequantized(y.typ, scale, offset)
	parts := partsOf(&c, c.weights, float64(max(hi-zero, zero-lo)))
	switch {
	case parts == 0:
		return nil
	case parts == 1:
		if sum := integerSum(&c, x, c.weights, q); sum != nil {
			found := p.plainly(i, sum, 1)
			found.nodes[0].codes = true
			return found
		}
	}
	found := &patch{}
	sums := sumsOf(&c, p, i, found, parts)
	found.nodes = append(found.nodes, &node{at: none, kind: "requantize", op: newRequantize(q, y.count()), in: sums,
		out: n.Out})
	return found
}

// quantizedBias adds what a node's bias contributes as a real number, per column; ok is false when it is none that can
// be known now.
func quantizedBias(g *network, n *graph.Node, scale, offset []float64) (ok bool) {
	if !given(n.In, 2) {
		return true
	}
	v := &g.values[n.In[2]]
	ints, ok := g.ints(n.In, 2)
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

// centredWeights returns the codes of c's filter minus their zero points, one row [taps, channels of a group] per
// output.
func centredWeights(c *convolution, g *network, turned bool) []float32 {
	w := &g.values[c.filter]
	g.pin(c.filter)
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
	return out
}

// partsOf returns in how many runs of channels the sums have to be computed for float32 to hold them when no input is
// larger than reach, 0 when no number will do.
func partsOf(c *convolution, w []float32, reach float64) int {
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
		own.epi = epilogue{out: extraValue(p, x, g.values[n.Out[0]].dims, nil), res: graph.None}
		if parts > 1 {
			own.c, own.ic = end-first, end-first
			own.weights = make([]float32, 0, c.n*c.taps*own.ic)
			for r := range c.n * c.taps {
				own.weights = append(own.weights, c.weights[r*c.ic+first:r*c.ic+end]...)
			}
			own.x = extraValue(p, x, []int64{int64(g.values[n.In[0]].count() / c.c), int64(own.ic)}, nil)
			x.nodes = append(x.nodes, &node{at: none, op: columnsOp{first, c.c}, in: []graph.Value{from},
				out: []graph.Value{own.x}})
		}
		own.filter = extraValue(p, x, []int64{int64(len(own.weights))}, bytesOf(own.weights))
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
