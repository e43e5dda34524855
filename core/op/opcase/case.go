// Package opcase holds a case of every operator of core, in the forms that APIs have: what a device computes of it is
// compared with the reference. Tests of devices use it, and so does anynpu devices --test.
//
// A new operator gets a case here; TestAll_hasEveryOperator names those that have none.
package opcase

import (
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Case is a graph of one node.
type Case struct {
	Op      graph.Op
	In      []Operand
	Out     []tensor.Type // of the results, where inference does not determine it
	Results int           // 0: one
}

// Operand is an input of a node: a value of a type, or a constant, or with the zero type an input that is left out.
type Operand struct {
	Type     tensor.Type
	Constant []byte
}

// Absent is an input that is left out.
var Absent Operand

// One is a case whose result inference knows.
func One(o graph.Op, in ...Operand) Case { return Case{Op: o, In: in} }

// To is a case whose results have types.
func (c Case) To(results ...Operand) Case {
	c.Out, c.Results = nil, len(results)
	for _, o := range results {
		c.Out = append(c.Out, o.Type)
	}
	return c
}

// Gives is a case with several results.
func (c Case) Gives(results int) Case {
	c.Results = results
	return c
}

// Of makes a value of a type; Real, Integers and Bools make values of frequent types.
func Of(d tensor.DType, dims ...int64) Operand { return Operand{Type: tensor.T(d, dims...)} }

func Real(dims ...int64) Operand     { return Of(tensor.Float32, dims...) }
func Integers(dims ...int64) Operand { return Of(tensor.Int32, dims...) }
func Bools(dims ...int64) Operand    { return Of(tensor.Bool, dims...) }

// Quantized are values of a quantized type with zero point 1.
func Quantized(d tensor.DType, scale float32, dims ...int64) Operand {
	return QuantizedAt(d, scale, 1, dims...)
}

// QuantizedAt are values of a quantized type.
func QuantizedAt(d tensor.DType, scale float32, zero int32, dims ...int64) Operand {
	o := Of(d, dims...)
	o.Type.Quant = tensor.PerTensor(scale, zero)
	return o
}

// Fixed makes a constant of a value.
func Fixed(o Operand) Operand {
	n, _ := o.Type.Shape.Count()
	o.Constant = Values(o.Type, int(n), 3)
	return o
}

// Positive makes a constant of positive numbers of a float32 value.
func Positive(o Operand) Operand {
	n, _ := o.Type.Shape.Count()
	v := make([]float32, n)
	for i := range v {
		v[i] = 0.5 + float32(i%5)/4
	}
	o.Constant = tensor.Float32s(v...)
	return o
}

// Given makes a constant of given numbers.
func Given(o Operand, v ...float64) Operand {
	data := tensor.New(o.Type.DType, int64(len(v)))
	for i, x := range v {
		put(o.Type.DType, data.Data, i, x, int64(x))
	}
	o.Constant = data.Data
	return o
}

// Numbers is a constant list of int64, and Bound a constant number.
func Numbers(v ...int64) Operand {
	return Operand{tensor.T(tensor.Int64, int64(len(v))), tensor.Int64s(v...)}
}

func Bound(x float32) Operand { return Operand{tensor.T(tensor.Float32), tensor.Float32s(x)} }

// Values are numbers from -2 to 2, as they are or quantized, and integers from 0 to 2, by a rule of their own for each
// seed.
func Values(typ tensor.Type, n, seed int) []byte {
	out := tensor.New(typ.DType, int64(n))
	for i := range n {
		v := float64((i*7+i/5+seed)%17-8) / 4
		if typ.Quant != nil {
			put(typ.DType, out.Data, i, v, quantized(typ, v))
		} else {
			put(typ.DType, out.Data, i, v, int64((i*5+seed)%3))
		}
	}
	return out.Data
}

// quantized is the nearest integer that a quantized type has for a number; of scales along an axis the first counts.
func quantized(typ tensor.Type, v float64) int64 {
	q := typ.Quant
	if len(q.Zero) > 0 {
		v += float64(q.Zero[0]) * float64(q.Scale[0])
	}
	low, high := 0.0, math.Exp2(float64(typ.DType.Bits()))-1
	if typ.DType.IsSigned() {
		low, high = -(high+1)/2, (high-1)/2
	}
	return int64(min(max(math.Round(v/float64(q.Scale[0])), low), high))
}

// put writes element i: x of a float type, n of an integer.
func put(d tensor.DType, data []byte, i int, x float64, n int64) {
	if d.IsFloat() {
		tensor.PutFloat(d, data, i, x, false)
	} else {
		tensor.PutInt(d, data, i, n)
	}
}

// Graph is the graph of a case, and values for its inputs.
func (c Case) Graph() (g *graph.Graph, given []tensor.Tensor, err error) {
	b := graph.NewBuilder(graph.NameOf(c.Op))
	var in []graph.Value
	for i, o := range c.In {
		if o.Type.DType == tensor.Invalid {
			in = append(in, graph.None)
			continue
		}
		if o.Constant != nil {
			in = append(in, b.Const("", o.Type, o.Constant))
			continue
		}
		in = append(in, b.Input("x", o.Type))
		dims, _ := o.Type.Shape.Ints()
		count, _ := o.Type.Shape.Count()
		given = append(given, tensor.Tensor{DType: o.Type.DType, Dims: dims, Quant: o.Type.Quant,
			Data: Values(o.Type, int(count), i)})
	}
	declared := make([]tensor.Type, max(1, c.Results))
	copy(declared, c.Out)
	b.Output(b.AddTyped(c.Op, "", declared, in...)...)
	g, err = b.Graph()
	return g, given, err
}
