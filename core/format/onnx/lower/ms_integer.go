package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var msIntegerOperators = []Operator{
	{microsoft, "DynamicQuantizeMatMul", 1, lowerDynamicMatMul},
	{microsoft, "MatMulIntegerToFloat", 1, lowerMatMulIntegerToFloat},
	{microsoft, "MatMulNBits", 1, lowerMatMulNBits},
	{microsoft, "DynamicQuantizeLSTM", 1, lowerDynamicLSTM},
}

// product is a times b, whose zero point is input zero, in int32, times scale, plus the bias at input bias.
func (n *node) product(a, scale graph.Value, zero, bias int) error {
	d := n.b.Fact(scale).DType
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	y := n.b.Add(&op.Cast{To: d}, n.b.Add(&op.MatMul{}, a, n.centred(n.arg(1), zero)))
	y = n.b.Add(&op.Mul{}, y, scale)
	if n.has(bias) {
		y = n.b.Add(&op.Add{}, y, n.arg(bias))
	}
	return n.result(y)
}

// lowerDynamicMatMul: a, codes b, their scale and zero point, also per column, and a bias. a is quantized as
// DynamicQuantizeLinear does.
func lowerDynamicMatMul(n *node) error {
	if err := n.want(3, 5); err != nil {
		return err
	}
	q := n.b.AddN(&op.DynamicQuantize{}, 3, n.arg(0))
	if err := n.b.Err(); err != nil {
		return err
	}
	wide := func(v graph.Value) graph.Value { return n.b.Add(&op.Cast{To: tensor.Int32}, v) }
	a := n.b.Add(&op.Sub{}, wide(q[0]), wide(q[2]))
	return n.product(a, n.b.Add(&op.Mul{}, q[1], n.arg(2)), 3, 4)
}

// lowerMatMulIntegerToFloat: a, b, their scales, their zero points, those of b also per column, and a bias.
func lowerMatMulIntegerToFloat(n *node) error {
	if err := n.want(4, 7); err != nil {
		return err
	}
	if err := n.singleScales(2, 4); err != nil {
		return err
	}
	return n.product(n.centred(n.arg(0), 4), n.b.Add(&op.Mul{}, n.arg(2), n.arg(3)), 5, 6)
}

// unpacked returns codes of bits that share bytes, the lower bits first, as columns of rows.
func (n *node) unpacked(v graph.Value, bits, rows int64) graph.Value {
	if bits < 8 {
		byteOf := func(b byte) graph.Value { return n.b.Const("", tensor.T(tensor.Uint8), []byte{b}) }
		v = n.b.Add(&op.Reshape{}, v, n.b.Int64s(-1, 1))
		var parts []graph.Value
		for at := int64(0); at < 8; at += bits {
			part := v
			if at > 0 {
				part = n.b.Add(&op.BitShift{Right: true}, v, byteOf(byte(at)))
			}
			if at+bits < 8 { // else nothing is above it
				part = n.b.Add(&op.BitwiseAnd{}, part, byteOf(1<<bits-1))
			}
			parts = append(parts, part)
		}
		v = n.b.Add(&op.Concat{Axis: 1}, parts...)
	}
	return n.b.Add(&op.Reshape{}, v, n.b.Int64s(rows, -1))
}

// columns returns the first count columns of v.
func (n *node) columns(v graph.Value, count int64) graph.Value {
	return n.b.Add(&op.Slice{}, v, n.b.Int64s(0), n.b.Int64s(count), n.b.Int64s(1))
}

// lowerMatMulNBits: a times the transpose of weights of N rows and K columns, of which each block of columns in a row
// has a scale and a zero point, or, with input 4, each column that of the block it names.
func lowerMatMulNBits(n *node) error {
	if err := n.want(3, 6); err != nil {
		return err
	}
	bits, block, rows, cols := n.int("bits", 4), n.int("block_size", 0), n.int("N", 0), n.int("K", 0)
	switch {
	case bits != 2 && bits != 4 && bits != 8:
		return fault.New(fault.Unsupported, "attribute bits: %d, want 2, 4 or 8", bits)
	case block < 1 || rows < 1 || cols < 1 || rows > 1<<31 || cols > 1<<31 || block > 1<<31:
		return fault.New(fault.File, "attributes block_size, N and K: %d, %d, %d", block, rows, cols)
	case n.int("weight_prepacked", 0) != 0:
		return fault.New(fault.Unsupported, "attribute weight_prepacked: weights in the order of a processor")
	}
	blocks := (cols + block - 1) / block
	if c, ok := n.fact(1).Shape.Count(); ok && c != rows*blocks*((block*bits+7)/8) {
		return fault.New(fault.Shape, "input 1: %v for %d rows of %d blocks of %d codes", n.fact(1).Shape, rows, blocks,
			block)
	}
	codes := n.columns(n.unpacked(n.arg(1), bits, rows), cols)
	scales, zeros := n.b.Add(&op.Reshape{}, n.arg(2), n.b.Int64s(rows, blocks)), graph.None
	switch {
	case !n.has(3):
		middle := n.b.Const("", tensor.T(tensor.Uint8, 1), []byte{1 << (bits - 1)})
		zeros = n.b.Add(&op.Expand{}, middle, n.b.Int64s(rows, blocks))
	case n.fact(3).DType.IsFloat():
		zeros = n.b.Add(&op.Reshape{}, n.arg(3), n.b.Int64s(rows, blocks))
	default:
		zeros = n.columns(n.unpacked(n.arg(3), bits, rows), blocks)
	}
	d := n.fact(2).DType
	var w graph.Value
	if n.has(4) || n.fact(3).DType.IsFloat() {
		group := n.arg(4)
		if !n.has(4) {
			group = n.b.Add(&op.Div{}, n.b.Add(&op.Range{}, n.scalar(0), n.scalar(cols), n.scalar(1)), n.scalar(block))
		}
		each := func(v graph.Value) graph.Value {
			return n.b.Add(&op.Cast{To: d}, n.b.Add(&op.Gather{}, v, group, n.b.Int64s(1)))
		}
		w = n.b.Add(&op.Mul{}, n.b.Add(&op.Sub{}, n.b.Add(&op.Cast{To: d}, codes), each(zeros)), each(scales))
	} else {
		w = n.b.Add(&op.Dequantize{Axis: 1, Block: block, To: d}, codes, scales, zeros)
	}
	const int8Accuracy = 4
	y := n.b.Add(&op.MatMul{TransposeB: true, Coarse: n.int("accuracy_level", 0) == int8Accuracy}, n.arg(0), w)
	if n.has(5) {
		y = n.b.Add(&op.Add{}, y, n.arg(5))
	}
	return n.result(y)
}
