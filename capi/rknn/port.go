package rknn

import (
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model and how the API shows it.
type port struct {
	*model.Port
	kind Type // as reported
}

// newPort decides how the API shows a port. Real numbers are shown as FLOAT16, as the boards compute with them; core
// computes with the model's own type (docs/rknn.md).
func newPort(of *model.Port) (*port, error) {
	p := &port{Port: of}
	if len(p.Shape.Dims) > maxDims {
		return nil, fault.New(fault.Shape, "%q has the shape %s: want at most %d dimensions", p.Name, p.Declared, maxDims)
	}
	switch p.Type {
	case tensor.Float32, tensor.Float64, tensor.Float16:
		p.kind = Float16
	default:
		i := slices.Index(dtypes[:], p.Type)
		if i < 0 || p.Type == tensor.Invalid {
			return nil, fault.New(fault.Type, "%q has elements of type %v, which the API has no type for", p.Name, p.Type)
		}
		p.kind = Type(i)
	}
	switch p.Info.Pixel {
	case "nv12", "nv21", "yuv444":
		return nil, fault.New(fault.File, "anynpu.input.%s.pixel: %q: the API takes gray, rgb, bgr or rgba images", p.Name,
			p.Info.Pixel)
	}
	return p, nil
}

// format is how the API shows a tensor of the port: inputs of rank 4 in NHWC unless the model's metadata ask for NCHW.
func (p *port) format(input bool) Format {
	switch {
	case len(p.Shape.Dims) != 4:
		return Undefined
	case input && p.Info.Layout != "nchw":
		return NHWC
	}
	return NCHW
}

// source describes elements that a program hands over: as what it says, or raw, in the type that the port reports and
// the model's own order of channels. INT8 for a quantized INT8 input is quantized already.
func (p *port) source(kind Type, a convert.Arrangement, raw bool) convert.Source {
	if raw {
		return convert.Source{Type: p.kind.dtype(), Arrangement: a, Own: true, Ordered: true}
	}
	d := kind.dtype()
	return convert.Source{Type: d, Arrangement: a, Own: p.Quant != nil && d == tensor.Int8 && p.Type == tensor.Int8}
}
