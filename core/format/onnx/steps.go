package onnx

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Boards compute some operators in steps with codes between them (anynpu.value.NAME.partial): a convolution of a Concat
// as one for each operand, and a mean over an image as sums of windows and the sum of those.

// joined is one of the tensors that a Concat joins.
type joined struct {
	v       graph.Value
	depth   int
	unit    float64
	partial *metadata.Stored // codes of the sums over it, nil: they are not rounded
}

// concatenated returns the operands of the Concat that a convolution is applied to, nil if it is not one whose sums are
// rounded in parts.
func (e *filterEncoder) concatenated(n *graph.Node) []joined {
	o, is := n.Op.(*op.Conv)
	if !is || o.Groups > 1 || o.ChannelsLast {
		return nil
	}
	at := e.producers[n.In[0]]
	for at >= 0 {
		switch e.g.Nodes[at].Op.(type) {
		case *op.Dequantize, *op.Quantize:
			at = e.producers[e.g.Nodes[at].In[0]]
			continue
		}
		break
	}
	if at < 0 {
		return nil
	}
	c, is := e.g.Nodes[at].Op.(*op.Concat)
	if !is || c.Axis != 1 || len(e.g.Nodes[at].In) < 2 {
		return nil
	}
	var list []joined
	any := false
	for _, v := range e.g.Nodes[at].In {
		s := e.g.Fact(v).Shape
		if len(s.Dims) < 2 || !s.Dims[1].Known() {
			return nil
		}
		p := joined{v: v, depth: int(s.Dims[1].N), unit: e.unit(v), partial: e.said.Values[e.g.Values[v].Name].Partial}
		if p.unit == 0 {
			return nil
		}
		any = any || p.partial != nil
		list = append(list, p)
	}
	if !any {
		return nil
	}
	return list
}

// split makes a convolution for each operand of the one at node i and adds their sums, those of an operand with codes
// rounded to them. What is added belongs to the last one without.
func (e *filterEncoder) split(i int, f *filter, bias []float64, parts []joined) error {
	g := e.g
	o, out := g.Nodes[i].Op, g.Nodes[i].Out[0]
	last := -1
	for k, p := range parts {
		if p.partial == nil {
			last = k
		}
	}
	typ := g.Fact(out).Type
	total, from := graph.None, 0
	for k, p := range parts {
		v, scale, err := e.codes(i, f.inputs(from, from+p.depth))
		if err != nil {
			return err
		}
		from += p.depth
		in := []graph.Value{p.v, v}
		if k == last && bias != nil {
			for c := range scale {
				scale[c] *= p.unit
			}
			b, err := e.whole(bias, scale)
			if err != nil {
				return err
			}
			in = append(in, b)
		}
		y := e.value(tensor.Fact{Type: typ})
		e.add(i, o, y, in...)
		if p.partial != nil {
			y = e.rounded(i, y, p.partial)
		}
		if total == graph.None {
			total = y
			continue
		}
		sum := out
		if k < len(parts)-1 || last < 0 && bias != nil {
			sum = e.value(tensor.Fact{Type: typ})
		}
		e.add(i, &op.Add{}, sum, total, y)
		total = sum
	}
	if last < 0 && bias != nil {
		dims := slices.Repeat([]int64{1}, len(f.dims)-1)
		dims[0] = int64(len(bias))
		b, err := e.constant(tensor.T(tensor.Float32, dims...), 4*int64(len(bias)), func(dst []byte) error {
			for c, x := range bias {
				copy(dst[4*c:], tensor.Float32s(float32(x)))
			}
			return nil
		})
		if err != nil {
			return err
		}
		e.add(i, &op.Add{}, out, total, b)
	}
	e.drop[i] = true
	return nil
}

// rounded adds what the codes of v stand for.
func (e *filterEncoder) rounded(i int, v graph.Value, s *metadata.Stored) graph.Value {
	first := len(e.g.Values)
	y := lower.Rounded(graph.Extend(e.g), v, s)
	for at := range e.g.Nodes {
		n := &e.g.Nodes[at]
		for _, w := range n.Out {
			if int(w) >= first {
				n.Name, n.Origin = e.g.Nodes[i].Name, e.g.Nodes[i].Origin
			}
		}
	}
	e.grown(first)
	return y
}

// grown makes room for values from first on, that others have added.
func (e *filterEncoder) grown(first int) {
	e.producers = append(e.producers, slices.Repeat([]int{-1}, len(e.g.Values)-first)...)
	e.uses = append(e.uses, make([][]int, len(e.g.Values)-first)...)
	for at := range e.g.Nodes {
		for _, w := range e.g.Nodes[at].Out {
			if int(w) >= first {
				e.producers[w] = at
			}
		}
	}
}

// meanWindow is the side of the windows of the first step of a mean.
const meanWindow = 7

// mean takes apart a mean over height and width with codes between its steps: the sums of windows, zeros around, and
// the sum of those, each times 1/sqrt(height * width).
func (e *filterEncoder) mean(i int) error {
	g := e.g
	n := &g.Nodes[i]
	s := e.said.Values[n.Name].Partial
	if s == nil {
		s = e.said.Values[g.Values[n.Out[0]].Name].Partial
	}
	x := g.Fact(n.In[0])
	if s == nil || len(x.Shape.Dims) != 4 || x.DType != tensor.Float32 || !x.Shape.Dims[2].Known() ||
		!x.Shape.Dims[3].Known() || !overImage(g, n) {
		return nil
	}
	keep := true
	if o, is := n.Op.(*op.ReduceMean); is {
		keep = o.KeepDims
	}
	h, w := x.Shape.Dims[2].N, x.Shape.Dims[3].N
	ph, pw := (meanWindow-h%meanWindow)%meanWindow, (meanWindow-w%meanWindow)%meanWindow
	root := math.Sqrt(float64(h * w))
	first := len(g.Values)
	from := len(g.Nodes)
	in, out := n.In[0], n.Out[0]
	b := graph.Extend(g)
	y := b.Add(&op.AveragePool{Kernel: []int64{meanWindow, meanWindow}, Strides: []int64{meanWindow, meanWindow},
		Pads: []int64{ph / 2, pw / 2, ph - ph/2, pw - pw/2}, CountPads: true}, in)
	y = b.Add(&op.Mul{}, y, b.Float32(float32(meanWindow*meanWindow/root)))
	y = lower.Rounded(b, y, s)
	y = b.Add(&op.ReduceSum{KeepDims: keep}, y, b.Int64s(2, 3))
	b.Add(&op.Mul{}, y, b.Float32(float32(1/root)))
	if err := b.Err(); err != nil {
		return err
	}
	for at := from; at < len(g.Nodes); at++ {
		g.Nodes[at].Name, g.Nodes[at].Origin = g.Nodes[i].Name, g.Nodes[i].Origin
	}
	g.Nodes[len(g.Nodes)-1].Out[0] = out
	e.grown(first)
	e.producers[out], e.drop[i] = len(g.Nodes)-1, true
	return nil
}

// overImage reports whether a node is a mean over height and width.
func overImage(g *graph.Graph, n *graph.Node) bool {
	switch o := n.Op.(type) {
	case *op.AveragePool:
		return o.Global && !o.ChannelsLast
	case *op.ReduceMean:
		if len(n.In) < 2 || n.In[1] == graph.None {
			return false
		}
		f := g.Fact(n.In[1])
		if f.Const == nil {
			return false
		}
		axes, err := tensor.ReadInts(f.DType, f.Const.Data, len(f.Const.Data)/(f.DType.Bits()/8))
		if err != nil || len(axes) != 2 {
			return false
		}
		for k := range axes {
			axes[k] = (axes[k] + 4) % 4
		}
		slices.Sort(axes)
		return slices.Equal(axes, []int64{2, 3})
	}
	return false
}
