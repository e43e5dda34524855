package rknn

import (
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/model"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model and how the API shows it.
type port struct {
	*model.Port
	kind   spec.Type // as reported
	board  target
	stored *metadata.Stored // as the board of a converted model does, nil: not known
}

// newPort decides how the API shows a port. Real numbers are shown as FLOAT16, as the boards compute with them; core
// computes with the model's own type (docs/rknn.md). stored holds the metadata of the port, nil for none.
func newPort(of *model.Port, b target, stored *metadata.Stored) (*port, error) {
	p := &port{Port: of, board: b, stored: stored}
	if len(p.Shape.Dims) > spec.MaxDims {
		return nil, fault.New(fault.Shape, "%q has the shape %s: want at most %d dimensions "+
			"[rknn-shape-dimensions]", p.Name, p.Declared,
			spec.MaxDims)
	}
	switch p.Type {
	case tensor.Float32, tensor.Float64, tensor.Float16:
		p.kind = spec.Float16
		if stored != nil && stored.Type == "float32" {
			p.kind = spec.Float32
		}
	default:
		var ok bool
		if p.kind, ok = spec.TypeOf(p.Type); !ok {
			return nil, fault.New(fault.Type, "%q has elements of type %v, which the API has no type for "+
				"[rknn-elements-type-api-no]", p.Name, p.Type)
		}
	}
	return p, nil
}

// format is how the API shows a tensor of the port: inputs of rank 4 in NHWC unless the model's metadata ask for NCHW.
func (p *port) format(input bool) spec.Format {
	switch {
	case len(p.Shape.Dims) != 4:
		return spec.Undefined
	case input && p.Info.Layout != "nchw":
		return spec.NHWC
	}
	return spec.NCHW
}

// native is how the board stores the port, and of NC1HWC2 the groups and the channels of one: as the metadata say, else
// as the board's rule has it. An input whose channels are one group is as in NHWC, and called so.
func (p *port) native(dims []int64, input bool) (f spec.Format, c1, c2 int64) {
	c2 = p.board.channels(p.kind.Size())
	if len(dims) != 4 {
		return p.format(input), 0, 0
	}
	c1 = (dims[1] + c2 - 1) / c2
	if p.stored != nil {
		for _, s := range p.stored.Native {
			switch {
			case len(s) == 5 && s[2] == dims[2] && s[3] == dims[3] && fits(s[1], s[4], dims[1]) && input && s[1] == 1 &&
				s[4] == dims[1]:
				return p.format(input), c1, c2
			case len(s) == 5 && s[2] == dims[2] && s[3] == dims[3] && fits(s[1], s[4], dims[1]):
				return spec.NC1HWC2, s[1], s[4]
			case input || len(s) != 4:
			case slices.Equal(s[1:], dims[1:]):
				return spec.NCHW, c1, c2
			case slices.Equal(s[1:], []int64{dims[2], dims[3], dims[1]}):
				return spec.NHWC, c1, c2
			}
		}
	}
	if input {
		return p.format(input), c1, c2
	}
	return spec.NC1HWC2, c1, c2
}

// fits reports whether so many groups of so many channels hold n channels, and not many more.
func fits(c1, c2, n int64) bool {
	const most = 64 // lanes of a group
	return c1 > 0 && c2 > 0 && c2 <= most && c1 <= n+2 && c1*c2 >= n && c1*c2 < n+3*most
}

// source describes elements that a program hands over: as the program describes them, or raw, in the type that the port
// reports and the model's own order of channels.
func (p *port) source(kind spec.Type, a convert.Arrangement, raw bool) convert.Source {
	if raw {
		return convert.Source{Type: p.kind.DType(), Arrangement: a, Own: true, Ordered: true}
	}
	return convert.Source{Type: kind.DType(), Arrangement: a, Own: p.coded(kind)}
}

// coded says whether elements of a type are codes of the port already: those of a quantized port's own type are, but
// for UINT8, in which programs hand over the bytes of images.
func (p *port) coded(kind spec.Type) bool {
	return p.Quant != nil && kind == p.kind && kind != spec.Uint8
}
