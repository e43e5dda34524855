package model

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// planeZero is the code of a byte of 0: the converter's planes are int8 with the scale 1.
const planeZero = -128

// planeNames are the names of the inputs of luma and chroma.
func planeNames(name string, info *metadata.Input) ([2]string, error) {
	switch len(info.Ports) {
	case 0:
		return [2]string{name + rknn.LumaSuffix, name + rknn.ChromaSuffix}, nil
	case 2:
		return [2]string(info.Ports), nil
	}
	return [2]string{}, fault.New(fault.File, "anynpu.input.%s.ports has %d names: want 2, of luma and chroma", name,
		len(info.Ports))
}

// channelPlanes makes inputs that are images of one channel of an image's planes: luma [N,H,W] becomes [N,1,H,W], and
// chroma [N,H/2,W/2,2] becomes [N,1,H/2,W] with its pairs side by side, both quantized as RKNN's converter does. It
// appends them to in and returns the planes.
func (m *Model) channelPlanes(names [2]string, luma, chroma tensor.Shape, in []graph.Value) (planes,
	inputs []graph.Value, err error) {
	n, h, w := luma.Dims[0], luma.Dims[1], luma.Dims[2]
	if h.Known() && h.N%2 != 0 || w.Known() && w.N%2 != 0 {
		return nil, nil, fault.New(fault.Shape,
			"the image has %v rows and %v columns: want even numbers, as a pair of chroma "+
				"stands for 2 x 2 pixels", h, w)
	}
	g := m.Graph
	b := graph.Extend(g)
	one := b.Float32(1)
	zero := b.Const("", tensor.T(tensor.Int8), []byte{planeZero & 0xff})
	for i, rows := range []tensor.Dim{h, chroma.Dims[1]} {
		g.Values = append(g.Values, graph.ValueInfo{Name: names[i],
			Fact: tensor.Fact{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(n, tensor.D(1), rows, w)}}})
		x := graph.Value(len(g.Values) - 1)
		in = append(in, x)
		codes := b.Add(&op.Quantize{To: tensor.Int8, Axis: 1}, x, one, zero)
		plane := b.Add(&op.BitCast{To: tensor.Uint8}, b.Add(&op.BitwiseXor{}, codes, zero))
		plane = b.Add(&op.Squeeze{}, plane, b.Int64s(1))
		if i == 1 {
			plane = b.Add(&op.Reshape{ZeroCopies: true}, plane, b.Int64s(0, 0, -1, 2))
		}
		planes = append(planes, plane)
	}
	return planes, in, b.Err()
}
