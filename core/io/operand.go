package io

import (
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Port is how an execution has an input or output.
type Port struct {
	*convert.Tensor         // its elements, and what becomes of others that are converted
	At              int     // among the execution's inputs or outputs
	Dims            []int64 // its sizes
	Order           []int   // in which the dimensions of an input are read as they lie, as in device.Port.Native
}

// View is memory that holds the port's elements without gaps, in its order.
func (p *Port) View(b mem.Buffer) mem.View {
	return mem.View{Buf: b, Type: tensor.T(p.Type, p.Dims...)}.In(p.Order)
}

// Part is the part of a view without gaps that is n of the sizes of its first dimension, from first on.
func Part(v mem.View, first, n int64) mem.View {
	whole, _ := v.Type.ByteSize()
	dims, _ := v.Type.Shape.Ints()
	v.Off += first * (whole / max(dims[0], 1))
	dims[0] = n
	v.Type.Shape = tensor.Of(dims...)
	return v
}

// bytes is the size of the port's elements.
func (p *Port) bytes() int64 {
	n, _ := tensor.T(p.Type, p.Dims...).ByteSize()
	return n
}

// arrangement is where the port's elements lie: one with an order of its own is read with the channels last.
func (p *Port) arrangement() convert.Arrangement {
	if p.Order != nil {
		return convert.Arrange(p.Dims, convert.Layout{Order: convert.NHWC})
	}
	return convert.Arrange(p.Dims, convert.Layout{})
}

// Operand is the program's side of a port, or of a part of one: memory, and what its bytes are.
type Operand struct {
	// The memory, the type and sizes of the port's elements in it, and where they lie if As is zero.
	mem.View
	As   convert.Source // what the bytes are if they are not the port's elements as View says
	Gaps Gaps
	// Codes describe the quantized values that the memory gets in place of the real numbers of an output, of the type that
	// View says; nil: none.
	Codes *convert.Codes
}

// Own is memory with the port's elements as they are.
func Own(v mem.View) Operand { return Operand{View: v} }

// own reports whether the bytes are the port's elements as the view says.
func (o *Operand) own() bool { return o.As.Type == tensor.Invalid }

// Gaps are where a tensor in memory has bytes between its elements. The zero Gaps are none.
type Gaps struct {
	Valid, Sizes []int64 // what of each dimension there is and what it takes, as they lie in memory, the slowest first
}

// clear writes zeros to the gaps of elements of size bytes.
func (g Gaps) clear(data []byte, size int64) {
	if len(g.Valid) == 0 {
		return
	}
	step := tensor.RowMajor(g.Sizes)[0] * size
	for i := range g.Valid[0] {
		Gaps{g.Valid[1:], g.Sizes[1:]}.clear(data[i*step:(i+1)*step], size)
	}
	clear(data[g.Valid[0]*step : g.Sizes[0]*step])
}
