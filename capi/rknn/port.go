package rknn

import (
	"github.com/anynpu/anynpu/backends/cpu/elements"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model: what core computes with and how the API shows it.
type port struct {
	name     string
	core     tensor.DType
	shape    tensor.Shape // as declared
	declared string       // shape with the names of the model's open dimensions
	kind     Type         // as reported
	quant    *quant       // nil: not quantized
	info     metadata.Input
	swap     bool // channels 0 and 2 change places on the way in
}

// quant is a quantization per tensor: real = (q - zero) x scale.
type quant struct {
	scale float32
	zero  int32
}

func (q *quant) codes() *elements.Codes {
	c := elements.PerTensor(elements.Code{Scale: q.scale, Zero: int64(q.zero)})
	return &c
}

func newPort(m *onnx.Model, v graph.Value, info metadata.Input) (*port, error) {
	f := m.Graph.Fact(v)
	p := &port{name: m.Graph.Values[v].Name, core: f.DType, shape: f.Shape, declared: m.ShapeText(f.Shape), info: info}
	if f.Quant != nil && f.Quant.IsPerTensor() {
		p.quant = &quant{f.Quant.Scale[0], f.Quant.ZeroAt(0)}
	}
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
	switch p.core {
	case tensor.Float32, tensor.Float64, tensor.Float16:
		p.kind = Float16
	default:
		i := -1
		for k, d := range dtypes {
			if d == p.core && d != tensor.Invalid {
				i = k
			}
		}
		if i < 0 {
			return fault.New(fault.Type, "%q has elements of type %v, which the API has no type for", p.name, p.core)
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
		p.swap = p.info.Order != "" && p.info.Order != p.info.Pixel
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

// normalized says whether values are changed before they are quantized or cast.
func (p *port) normalized() bool { return len(p.info.Mean) > 0 || len(p.info.Std) > 0 }

// normalization returns mean and standard deviation of a channel of what a program hands over.
func (p *port) normalization(channel int) (mean, std float32) {
	pick := func(v []float32, none float32) float32 {
		switch {
		case len(v) == 0:
			return none
		case len(v) == 1:
			return v[0]
		}
		return v[channel%len(v)]
	}
	return pick(p.info.Mean, 0), pick(p.info.Std, 1)
}
