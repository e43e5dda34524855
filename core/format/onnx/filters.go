package onnx

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// A network that computes with codes of 8 bits has filters of codes as well, as a board's converter makes them. A batch
// normalization behind a convolution is part of its filter. Each output has 256 codes between the least and the largest
// of its numbers and 0:
//
//	scale = (hi - lo) / 255    zero = round(-128 - lo / scale)    code = clamp(round(w / scale) + zero, -128, 127)
//
// and what is added to its sums is a whole number of scale(x) * scale. All is computed in float64.

// encodeFilters makes codes of the constants that codes are multiplied with, and takes apart what a board computes in
// two steps with codes between them.
func encodeFilters(g *graph.Graph, w *mem.Weights, said *metadata.Metadata) error {
	e := &filterEncoder{g: g, w: w, said: said, producers: g.Producers(), uses: g.Uses(),
		drop: map[int]bool{}}
	for i := range len(g.Nodes) {
		n := &g.Nodes[i]
		axis := 0
		var err error
		switch o := n.Op.(type) {
		case *op.Conv, *op.ConvTranspose:
			err = e.encode(i, axis)
		case *op.MatMul:
			if g.Fact(n.In[1]).Shape.Rank() != 2 {
				continue
			}
			if !o.TransposeB {
				axis = 1
			}
			err = e.encode(i, axis)
		case *op.AveragePool, *op.ReduceMean:
			err = e.mean(i)
		}
		if err != nil {
			return fault.Wrap(err, "%s", g.Nodes[i].Label())
		}
	}
	kept := g.Nodes[:0:0]
	for i, n := range g.Nodes {
		if !e.drop[i] {
			kept = append(kept, n)
		}
	}
	g.Nodes = kept
	return nil
}

// encode quantizes the filter of node i, whose outputs are its dimension axis, if its data are codes of 8 bits.
func (e *filterEncoder) encode(i, axis int) error {
	g := e.g
	n := &g.Nodes[i]
	parts := e.concatenated(n)
	unit := e.unit(n.In[0])
	dims, ok := g.Fact(n.In[1]).Shape.Ints()
	if unit == 0 && parts == nil || !ok || len(dims) < 2 || slices.Contains(dims, 0) {
		return nil
	}
	f := &filter{dims: dims, axis: axis, x: e.reals(n.In[1])}
	if f.x == nil {
		return nil
	}
	var bias []float64
	if len(n.In) > 2 && n.In[2] != graph.None {
		if bias = e.reals(n.In[2]); bias == nil {
			return nil
		}
	}
	if _, product := n.Op.(*op.MatMul); !product {
		bias = e.normalized(i, f, bias)
	}
	if parts != nil {
		return e.split(i, f, bias, parts)
	}
	v, scale, err := e.codes(i, f)
	if err != nil {
		return err
	}
	n = &g.Nodes[i]
	n.In[1] = v
	for c := range scale {
		scale[c] *= unit
	}
	if _, product := n.Op.(*op.MatMul); product && len(n.In) < 3 {
		return e.roundAdded(i, scale)
	}
	if bias == nil {
		return nil
	}
	b, err := e.whole(bias, scale)
	if err == nil {
		n.In = append(n.In[:2:2], append([]graph.Value{b}, n.In[min(3, len(n.In)):]...)...)
	}
	return err
}

// normalized makes a batch normalization that is the only reader of the convolution i part of f and of the addend,
// which it returns.
func (e *filterEncoder) normalized(i int, f *filter, bias []float64) []float64 {
	g := e.g
	n := &g.Nodes[i]
	y := n.Out[0]
	if len(e.uses[y]) != 1 || slices.Contains(g.Out, y) {
		return bias
	}
	at := e.uses[y][0]
	norm := &g.Nodes[at]
	o, is := norm.Op.(*op.BatchNorm)
	if !is || o.Axis != 1 || norm.In[0] != y {
		return bias
	}
	var given [4][]float64 // scale, offset, mean, variance
	for k := range given {
		if given[k] = e.reals(norm.In[k+1]); len(given[k]) != int(f.dims[f.axis]) {
			return bias
		}
	}
	factor := make([]float64, len(given[0]))
	for c := range factor {
		if factor[c] = given[0][c] / math.Sqrt(given[3][c]+float64(o.Epsilon)); math.IsNaN(factor[c]) ||
			math.IsInf(factor[c], 0) {
			return bias
		}
	}
	for at := range f.x {
		f.x[at] *= factor[f.output(at)]
	}
	added := make([]float64, len(factor))
	for c := range added {
		if bias != nil {
			added[c] = bias[c]
		}
		added[c] = (added[c]-given[2][c])*factor[c] + given[1][c]
	}
	n.Out[0] = norm.Out[0]
	e.producers[n.Out[0]], e.drop[at] = i, true
	return added
}

// roundAdded rounds the constant that is added to the products of node i by another node.
func (e *filterEncoder) roundAdded(i int, unit []float64) error {
	g := e.g
	y := g.Nodes[i].Out[0]
	if len(e.uses[y]) != 1 || slices.Contains(g.Out, y) {
		return nil
	}
	n := &g.Nodes[e.uses[y][0]]
	if _, is := n.Op.(*op.Add); !is {
		return nil
	}
	in := 1 - slices.Index(n.In, y)
	x := e.reals(n.In[in])
	if len(x) != len(unit) {
		return nil
	}
	v, err := e.whole(x, unit, g.Fact(n.In[in]).Type)
	if err == nil {
		n.In[in] = v
	}
	return err
}
