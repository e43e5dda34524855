package main

import (
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/tensor"
)

// fromProgram returns an array in the order of the port when metadata say that programs hand it over in the other order
// of images.
func fromProgram(t tensor.Tensor, p device.Port, in metadata.Input) tensor.Tensor {
	d := p.Type.Shape.Dims
	if in.Layout == "" || len(d) != 4 || len(t.Dims) != 4 || t.DType.Bits() < 8 {
		return t
	}
	channels, last := channelsOf(d)
	if channels == 0 || last == (in.Layout == "nhwc") {
		return t
	}
	own := tensor.New(t.DType, t.Dims[0], t.Dims[3], t.Dims[1], t.Dims[2])
	if last {
		own = tensor.New(t.DType, t.Dims[0], t.Dims[2], t.Dims[3], t.Dims[1])
	}
	own.Quant = t.Quant
	size := t.DType.Bits() / 8
	if last {
		pixels := convert.Arrange(t.Dims, convert.Layout{Order: convert.NHWC})
		convert.FromPlanes(own.Data, &pixels, t.Data, size)
	} else {
		pixels := convert.Arrange(own.Dims, convert.Layout{Order: convert.NHWC})
		convert.ToPlanes(own.Data, t.Data, &pixels, size)
	}
	return own
}

// toProgram returns the sizes of an array that fromProgram gives the sizes dims of the port.
func toProgram(dims []int64, p device.Port, in metadata.Input) []int64 {
	d := p.Type.Shape.Dims
	if in.Layout == "" || len(d) != 4 || len(dims) != 4 || p.Type.DType.Bits() < 8 {
		return dims
	}
	switch channels, last := channelsOf(d); {
	case channels == 0 || last == (in.Layout == "nhwc"):
		return dims
	case last:
		return []int64{dims[0], dims[3], dims[1], dims[2]}
	}
	return []int64{dims[0], dims[2], dims[3], dims[1]}
}
