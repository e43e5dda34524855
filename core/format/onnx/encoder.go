package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type filterEncoder struct {
	g         *graph.Graph
	w         *mem.Weights
	said      *metadata.Metadata
	producers []int
	uses      [][]int
	drop      map[int]bool // nodes that became part of others
}

// filter is a constant matrix of an operator, whose dimension axis counts outputs.
type filter struct {
	dims []int64
	axis int
	x    []float64
}

// output is the output that element at belongs to.
func (f *filter) output(at int) int {
	inner := 1
	for _, d := range f.dims[f.axis+1:] {
		inner *= int(d)
	}
	return at / inner % int(f.dims[f.axis])
}

// inputs is the part of f for inputs from to to, which the last dimension counts.
func (f *filter) inputs(from, to int) *filter {
	last := len(f.dims) - 1
	depth := int(f.dims[last])
	own := &filter{dims: slices.Clone(f.dims), axis: f.axis}
	own.dims[last] = int64(to - from)
	for at := 0; at < len(f.x); at += depth {
		own.x = append(own.x, f.x[at+from:at+to]...)
	}
	return own
}

// reals reads a constant of float32, nil if v is none or has a number without a code.
func (e *filterEncoder) reals(v graph.Value) []float64 {
	if v == graph.None {
		return nil
	}
	f := e.g.Fact(v)
	if f.Const == nil || f.DType != tensor.Float32 {
		return nil
	}
	var list []float64
	for _, x := range mem.Elements[float32](f.Const.Data) {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil
		}
		list = append(list, float64(x))
	}
	return list
}

// codes adds what the codes of a filter stand for, for node i, and returns the scale of each output.
func (e *filterEncoder) codes(i int, f *filter) (v graph.Value, scale []float64, err error) {
	n := int(f.dims[f.axis])
	lo, hi := make([]float64, n), make([]float64, n)
	for at, x := range f.x {
		c := f.output(at)
		lo[c], hi[c] = min(lo[c], x), max(hi[c], x)
	}
	if e.said.Filters == "layer" {
		least, largest := slices.Min(lo), slices.Max(hi)
		for c := range n {
			lo[c], hi[c] = least, largest
		}
	}
	scale = make([]float64, n)
	zero, real := make([]float64, n), make([]float32, n)
	for c := range n {
		if scale[c] = (hi[c] - lo[c]) / 255; scale[c] < math.SmallestNonzeroFloat32*(1<<23) {
			scale[c] = 1
		}
		zero[c], real[c] = math.RoundToEven(-128-lo[c]/scale[c]), float32(scale[c])
	}
	data, err := e.constant(tensor.T(tensor.Int8, f.dims...), int64(len(f.x)), func(dst []byte) error {
		for at, x := range f.x {
			c := f.output(at)
			dst[at] = byte(int8(max(-128, min(127, math.RoundToEven(x/scale[c])+zero[c]))))
		}
		return nil
	})
	if err != nil {
		return graph.None, nil, err
	}
	scales, err := e.constant(tensor.T(tensor.Float32, int64(n)), 4*int64(n), func(dst []byte) error {
		copy(dst, tensor.Float32s(real...))
		return nil
	})
	if err != nil {
		return graph.None, nil, err
	}
	zeros, err := e.constant(tensor.T(tensor.Int8, int64(n)), int64(n), func(dst []byte) error {
		for c, z := range zero {
			dst[c] = byte(int8(z))
		}
		return nil
	})
	if err != nil {
		return graph.None, nil, err
	}
	out := e.value(tensor.Fact{Type: tensor.T(tensor.Float32, f.dims...)})
	e.add(i, &op.Dequantize{Axis: int64(f.axis), To: tensor.Float32}, out, data, scales, zeros)
	return out, scale, nil
}

// unit is the step of v's quantized values of 8 bits, also where they only lie elsewhere; 0: it has none.
func (e *filterEncoder) unit(v graph.Value) float64 {
	for range 8 {
		at := e.producers[v]
		if at < 0 {
			return 0
		}
		n := &e.g.Nodes[at]
		if _, is := n.Op.(*op.Dequantize); is && e.g.Fact(n.In[0]).DType == tensor.Int8 {
			s := e.g.Fact(n.In[1])
			if s.Const == nil || len(s.Const.Data) != 4 {
				return 0
			}
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(s.Const.Data)))
		}
		if !graph.TraitsOf(n.Op).Moves {
			return 0
		}
		v = n.In[0]
	}
	return 0
}

// whole adds a constant of whole numbers of the units, of a type or else a list.
func (e *filterEncoder) whole(x, unit []float64, t ...tensor.Type) (graph.Value, error) {
	if len(t) == 0 {
		t = []tensor.Type{tensor.T(tensor.Float32, int64(len(x)))}
	}
	return e.constant(t[0], 4*int64(len(x)), func(dst []byte) error {
		for c, b := range x {
			q := max(math.MinInt32, min(math.MaxInt32, math.RoundToEven(b/unit[c])))
			binary.LittleEndian.PutUint32(dst[4*c:], math.Float32bits(float32(q*unit[c])))
		}
		return nil
	})
}

// add adds a node that belongs to node i.
func (e *filterEncoder) add(i int, o graph.Op, out graph.Value, in ...graph.Value) {
	e.producers[out] = len(e.g.Nodes)
	for _, v := range in {
		e.uses[v] = append(e.uses[v], len(e.g.Nodes))
	}
	e.g.Nodes = append(e.g.Nodes, graph.Node{Op: o, Name: e.g.Nodes[i].Name, Origin: e.g.Nodes[i].Origin, In: in,
		Out: []graph.Value{out}})
}

// constant adds a constant of n bytes.
func (e *filterEncoder) constant(t tensor.Type, n int64, fill func(dst []byte) error) (graph.Value, error) {
	h, data, err := e.w.Make(n, fill)
	if err != nil {
		return graph.None, err
	}
	return e.value(tensor.Fact{Type: t, Const: tensor.NewHashedConst(data, h)}), nil
}

func (e *filterEncoder) value(f tensor.Fact) graph.Value {
	e.g.Values = append(e.g.Values, graph.ValueInfo{Fact: f})
	e.producers = append(e.producers, -1)
	e.uses = append(e.uses, nil)
	return graph.Value(len(e.g.Values) - 1)
}
