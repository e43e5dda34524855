package matrix

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Graph returns the product as a graph of inputs A, [M,K], and B, [K,N], and output C, all in rows. Kind
// fault.Unsupported for scales or zero points per group.
func (p *Product) Graph(name string) (*graph.Graph, error) {
	if p.Grouped() {
		return nil, fault.New(fault.Unsupported, "a product with scales per group")
	}
	m, n, k := int64(p.A.Rows), int64(p.B.Rows), int64(p.A.Columns)
	b := graph.NewBuilder(name)
	x, y := b.Input("A", tensor.T(p.A.Type, m, k)), b.Input("B", tensor.T(p.B.Type, k, n))
	real := p.A.Type == tensor.Float16
	between := tensor.Int32
	if real {
		between = tensor.Float32
	}
	operand := func(v graph.Value, zero graph.Value) graph.Value {
		v = b.Add(&op.Cast{To: between}, v)
		if zero != graph.None {
			v = b.Add(&op.Sub{}, v, b.Add(&op.Cast{To: between}, zero))
		}
		return v
	}
	zeroA := graph.None
	if p.ZeroA != 0 {
		zeroA = b.Const("", tensor.T(tensor.Int32), tensor.Int32s(p.ZeroA))
	}
	zeroB := graph.None
	if len(p.ZeroB) > 0 {
		zeroB = b.Const("", tensor.T(tensor.Int32, int64(len(p.ZeroB))), tensor.Int32s(p.ZeroB...))
	}
	sum := b.Add(&op.MatMul{}, operand(x, zeroA), operand(y, zeroB))
	b.Output(p.result(b, sum))
	b.Name(b.Outputs()[0], "C")
	return b.Graph()
}

// result makes C of the sums.
func (p *Product) result(b *graph.Builder, sum graph.Value) graph.Value {
	to := p.C.Type
	switch to {
	case tensor.Int32:
		return b.Add(&op.Identity{}, sum)
	case tensor.Int16:
		return b.Add(&op.Cast{To: to, OutOfRange: op.CastSaturate}, sum)
	}
	y := b.Add(&op.Cast{To: tensor.Float32}, sum)
	times := func(list ...float32) {
		if len(list) == 1 && list[0] != 1 {
			y = b.Add(&op.Mul{}, y, b.Float32(list[0]))
		} else if len(list) > 1 {
			y = b.Add(&op.Mul{}, y, b.Const("", tensor.T(tensor.Float32, int64(len(list))), tensor.Float32s(list...)))
		}
	}
	times(p.ScaleA)
	times(p.ScaleB...)
	if to != tensor.Int8 {
		return b.Add(&op.Cast{To: to}, y)
	}
	y = b.Add(&op.Round{}, b.Add(&op.Div{}, y, b.Float32(p.ScaleC)))
	y = b.Add(&op.Add{}, y, b.Float32(float32(p.ZeroC)))
	return b.Add(&op.Cast{To: to, OutOfRange: op.CastSaturate}, y)
}
