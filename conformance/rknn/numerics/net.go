package numerics

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// net is a model that is written and computed by the same function: an ONNX file for the library, and the results that
// it must give, computed in float64 as the operators' definitions say.
type net struct {
	in    []port
	sets  [][][]int // sizes of all inputs of a model of dynamic shapes, set by set
	build func(b *build, in []value) []result
	opset int64   // 0: 17
	span  int     // inputs are integers of at most this magnitude, so that all sums are exact; 0: any numbers
	tol   float64 // relative to the largest result; 0: every bit counts
}

// value is a tensor in a model under construction. Its elements are reals, or integers of the type elem.
type value struct {
	tensor
	name string
	elem int64
}

// result is an output of a model: a value, or its codes.
type result struct {
	value
	quant *codes
	made  bool // the value is that of a DequantizeLinear already
}

// outputs are values that are not quantized.
func outputs(v ...value) []result {
	out := make([]result, len(v))
	for i, x := range v {
		out[i] = result{value: x}
	}
	return out
}

// build writes a model while it computes it.
type build struct {
	m     *rknn.Model
	names int
	noise noise // of constants: the same in every computation of a net
}

// fresh names a value.
func (b *build) fresh() string {
	b.names++
	return fmt.Sprintf("v%d", b.names)
}

// op appends an operator that has made the tensor y of the inputs.
func (b *build) op(op string, attrs rknn.Attrs, y tensor, in ...value) value {
	names := make([]string, len(in))
	for i, v := range in {
		names[i] = v.name
	}
	out := value{y, b.fresh(), in[0].elem}
	b.m.Op(op, []string{out.name}, names, attrs)
	return out
}

// absent is an input that is left out.
var absent = value{}

func dims64(dims []int) []int64 {
	out := make([]int64, len(dims))
	for i, d := range dims {
		out[i] = int64(d)
	}
	return out
}

// onnxBytes are elements as an initializer holds them.
func onnxBytes(elem int64, v []float64) []byte {
	kind := kindOf(elem)
	if elem == rknn.ONNXFloat {
		kind = rknn.Float32
	}
	return encoded(kind, v)
}

// constant appends an initializer.
func (b *build) constant(elem int64, x tensor) value {
	v := value{x, b.fresh(), elem}
	b.m.Constant(v.name, elem, onnxBytes(elem, x.v), dims64(x.dims)...)
	return v
}

// reals are a constant of float32 numbers.
func (b *build) reals(x tensor) value { return b.constant(rknn.ONNXFloat, x) }

// integers are a constant list of int64.
func (b *build) integers(v ...int) value {
	x := newTensor(len(v))
	for i, n := range v {
		x.v[i] = float64(n)
	}
	return b.constant(rknn.ONNXInt64, x)
}

// weights are a constant of integers of -most to most.
func (b *build) weights(most int, dims ...int) value {
	return b.reals(b.noise.integers(-most, most, dims...))
}

// scalar is a constant of rank 0.
func (b *build) scalar(elem int64, v float64) value {
	return b.constant(elem, tensor{nil, []float64{v}})
}

// quantized appends QuantizeLinear and DequantizeLinear.
func (b *build) quantized(x value, q *codes) value {
	s, z := b.scalar(rknn.ONNXFloat, float64(q.scale)), b.scalar(q.elem, float64(q.zero))
	c := b.op("QuantizeLinear", nil, x.mapped(func(v float64) float64 { return q.code(float32(v)) }), x, s, z)
	c.elem = q.elem
	y := b.op("DequantizeLinear", nil, c.mapped(q.real), c, s, z)
	y.elem = rknn.ONNXFloat
	return y
}

// compute runs the function on the model's elements of the inputs and returns those of the outputs, with their ports.
func (n *net) compute(in []tensor) (*rknn.Model, []tensor, []port) {
	b := &build{m: &rknn.Model{Opset: n.opset}, noise: 7}
	values := make([]value, len(in))
	for i, p := range n.in {
		b.m.Input(p.name, p.elem, n.declared(i)...)
		values[i] = value{in[i], p.name, p.elem}
		if p.quant != nil {
			values[i].tensor = in[i].mapped(p.quant.real)
			values[i] = b.quantized(values[i], p.quant)
		}
		for key, v := range p.metadata() {
			b.m.Meta("anynpu.input."+p.name+"."+key, v)
		}
		if n.sets != nil {
			var list [][]int
			for _, set := range n.sets {
				list = append(list, set[i])
			}
			b.m.Meta("anynpu.input."+p.name+".shapes", list)
		}
	}
	var out []tensor
	var ports []port
	for _, r := range n.build(b, values) {
		y := r.tensor
		if r.quant != nil {
			q := r.quant
			y = y.mapped(func(v float64) float64 { return q.code(float32(v)) })
			if !r.made {
				r.value = b.quantized(r.value, q)
			}
		}
		declared := dims64(y.dims)
		if n.sets != nil {
			for i := range declared {
				declared[i] = int64(-100 - 10*len(out) - i)
			}
		}
		b.m.Output(r.name, r.elem, declared...)
		out = append(out, y)
		ports = append(ports, port{name: r.name, elem: r.elem, dims: y.dims, quant: r.quant, output: true})
	}
	return b.m, out, ports
}

// declared are the sizes of input i in the model's file, negative where sets differ.
func (n *net) declared(i int) []int64 {
	out := dims64(n.in[i].dims)
	for d := range out {
		for _, set := range n.sets {
			if int64(set[i][d]) != out[d] && out[d] >= 0 {
				out[d] = int64(-1 - 10*i - d)
				break
			}
		}
	}
	return out
}

// sized is the net with the sizes of a set.
func (n *net) sized(set int) *net {
	m := *n
	m.in = slices.Clone(n.in)
	for i := range m.in {
		m.in[i].dims = n.sets[set][i]
	}
	return &m
}

// largestSet is the set with the most elements.
func (n *net) largestSet() int {
	best, most := 0, -1
	for k, set := range n.sets {
		sum := 0
		for _, dims := range set {
			sum += count(dims)
		}
		if sum > most {
			best, most = k, sum
		}
	}
	return best
}

// metadata is what a model says of an input.
func (p *port) metadata() map[string]any {
	out := map[string]any{}
	if p.mean != nil {
		out["mean"] = p.mean
	}
	if p.std != nil {
		out["std"] = p.std
	}
	if p.swapped {
		out["pixel"], out["order"] = "rgb", "bgr"
	}
	if p.planar {
		out["layout"] = "nchw"
	}
	return out
}

// zeros are elements for the inputs of a net: what it is written with.
func (n *net) zeros() []tensor {
	out := make([]tensor, len(n.in))
	for i, p := range n.in {
		out[i] = newTensor(p.dims...)
	}
	return out
}

// largest is the greatest magnitude of a tensor.
func largest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = math.Max(m, math.Abs(v))
	}
	return m
}
