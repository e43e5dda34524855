package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// matchIntegerConv finds the convolution that ConvInteger is, of codes less their zero point with constant integers of
// 9 bits, whose sums float32 holds exactly.
func matchIntegerConv(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	if !is || ir.Given(n.In, 2) || !plainElements(g, n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	x, w, y := &g.Values[n.In[0]], &g.Values[n.In[1]], &g.Values[n.Out[0]]
	if x.Type.DType != tensor.Int32 || w.Type.DType != tensor.Int32 || y.Type.DType != tensor.Int32 || w.Data == nil ||
		len(x.Dims) > 5 || o.ChannelsLast || w.Count() == 0 {
		return nil
	}
	if found := integerConvOfCodes(p, i, o); found != nil {
		return found
	}
	codes, ok := centredOf(p, n.In[0], i)
	if !ok {
		return nil
	}
	reach := int64(255)
	if codes.zero == graph.None {
		lo, hi := tensor.IntLimits(g.Values[codes.codes].Type.DType)
		reach = max(hi-codes.known, codes.known-lo)
	}
	rank := len(x.Dims)
	c := &convolution{at: i, batch: int(x.Dims[0]), n: int(w.Dims[0]), c: int(x.Dims[1]), groups: int(max(o.Groups, 1)),
		filter: n.In[1], exact: true, kind: " of integers"}
	ws, err := o.Windows(x.Dims[2:], w.Dims[1:rank-1])
	if err != nil {
		return nil
	}
	if c.win, err = window(ws); err != nil {
		return nil
	}
	c.taps, c.ic, c.oc = c.win.Taps(), c.c/c.groups, c.n/c.groups
	if c.weights = exactWeights(w, c.n, reach); c.weights == nil {
		return nil
	}
	found := &ir.Patch{}
	c.x = extraValue(p, found, x.Dims)
	c.epi = epilogue{out: extraValue(p, found, y.Dims), res: graph.None}
	c.filter = extraConst(p, found, []int64{int64(len(c.weights))}, run.BytesOf(c.weights), n.In[1])
	sum := c.patch(i).Nodes[0]
	found.Nodes = append(found.Nodes,
		&ir.Node{At: run.None, Kind: "floats", Op: castOp(tensor.Int32, tensor.Float32, x.Count()),
			In: []graph.Value{n.In[0]}, Out: []graph.Value{c.x}}, sum,
		&ir.Node{At: run.None, Kind: "integers", Op: castOp(tensor.Float32, tensor.Int32, y.Count()),
			In: []graph.Value{c.epi.out}, Out: slices.Clone(n.Out)})
	return found
}

// integerConvOfCodes is the convolution as a product of codes, nil when float32 is faster, or codes have more than 8
// bits.
func integerConvOfCodes(p *ir.Program, i int, o *op.Conv) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x, w, y := &g.Values[n.In[0]], &g.Values[n.In[1]], &g.Values[n.Out[0]]
	if !kernel.FastInt8() || o.Groups > 1 || y.Dims == nil || y.Count() == 0 {
		return nil
	}
	ws, err := o.Windows(x.Dims[2:], w.Dims[1:len(w.Dims)-1])
	if err != nil {
		return nil
	}
	c := &convolution{batch: int(x.Dims[0]), c: int(x.Dims[1]), groups: 1}
	if c.win, err = window(ws); err != nil {
		return nil
	}
	c.taps = c.win.Taps()
	if !c.pointwise() && kernel.CheckIndirection(c.win, c.batch, c.c) != nil {
		return nil
	}
	q := &integerProduct{at: i, w: w, n: int(w.Dims[0]), depth: c.taps * c.c, rows: c.batch * c.win.Outputs(), conv: c}
	return q.patch(p, i)
}

// exactWeights are filters as float32, nil when sums of n outputs may not be exact for operands of at most reach.
func exactWeights(w *ir.Value, n int, reach int64) []float32 {
	v := mem.Elements[int32](w.Data)[:w.Count()]
	out, depth := make([]float32, len(v)), len(v)/n
	for j := range n {
		sum := int64(0)
		for k, x := range v[j*depth:][:depth] {
			if x < -256 || x > 256 {
				return nil
			}
			sum += int64(max(x, -x))
			out[j*depth+k] = float32(x)
		}
		if sum*reach >= exactSum {
			return nil
		}
	}
	return out
}

// castOp changes the type of n elements in any order of dimensions.
func castOp(from, to tensor.DType, n int) *conversionOp {
	sizeTo, sizeFrom := to.Bits()/8, from.Bits()/8
	return &conversionOp{n: n, any: true, f: func(y, x []byte, first, k int, work []float32) {
		convert.Cast(y[first*sizeTo:], to, x[first*sizeFrom:], from, k, true, work)
	}}
}
