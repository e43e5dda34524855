package rknn

import (
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model: what core computes with, and how the API shows it.
type port struct {
	convert.Tensor
	name     string
	shape    tensor.Shape // as declared
	declared string       // shape with the names of the model's open dimensions
	kind     Type         // as reported
	info     metadata.Input
}

func newPort(m *onnx.Model, v graph.Value, info metadata.Input) (*port, error) {
	f := m.Graph.Fact(v)
	p := &port{name: m.Graph.Values[v].Name, shape: f.Shape, declared: m.ShapeText(f.Shape), info: info}
	p.Type, p.Quant = f.DType, convert.CodeOf(f.Quant)
	p.Mean, p.Std = info.Mean, info.Std
	if !f.Shape.Ranked {
		return nil, fault.New(fault.Shape, "%q has an open number of dimensions: declare its shape in the model", p.name)
	}
	if len(f.Shape.Dims) > maxDims {
		return nil, fault.New(fault.Shape, "%q has the shape %s: want at most %d dimensions", p.name, p.declared, maxDims)
	}
	return p, nil
}

// settle decides how the API shows the port and checks the metadata against it. Real numbers are shown as FLOAT16, as
// the boards compute with them; core computes with the model's own type (docs/rknn.md).
func (p *port) settle() error {
	switch p.Type {
	case tensor.Float32, tensor.Float64, tensor.Float16:
		p.kind = Float16
	default:
		i := -1
		for k, d := range dtypes {
			if d == p.Type && d != tensor.Invalid {
				i = k
			}
		}
		if i < 0 {
			return fault.New(fault.Type, "%q has elements of type %v, which the API has no type for", p.name, p.Type)
		}
		p.kind = Type(i)
	}
	for what, v := range map[string][]float32{"mean": p.info.Mean, "std": p.info.Std} {
		if n := int64(len(v)); n > 1 && (len(p.shape.Dims) != 4 || p.shape.Dims[1].Known() && p.shape.Dims[1].N != n) {
			return fault.New(fault.File, "anynpu.input.%s.%s has %d numbers: want 1, or as many as channels of an input of "+
				"rank 4, got the shape %s", p.name, what, n, p.declared)
		}
	}
	for _, s := range p.info.Std {
		if s == 0 {
			return fault.New(fault.File, "anynpu.input.%s.std: 0: want numbers other than 0", p.name)
		}
	}
	switch p.info.Pixel {
	case "nv12", "nv21", "yuv444":
		return fault.New(fault.File, "anynpu.input.%s.pixel: %q: the API takes gray, rgb, bgr or rgba images", p.name,
			p.info.Pixel)
	case "rgb", "bgr":
		p.Swap = p.info.Order != "" && p.info.Order != p.info.Pixel
	}
	return nil
}

// format is how the API shows a tensor of the port: inputs of rank 4 in NHWC unless the model's metadata ask for NCHW.
func (p *port) format(input bool) Format {
	switch {
	case len(p.shape.Dims) != 4:
		return Undefined
	case input && p.info.Layout != "nchw":
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
