package model

import (
	"fmt"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Port is an input or output of a model as programs see it.
type Port struct {
	convert.Tensor // type of the elements, what integers stand for, normalization of an input
	Name           string
	Shape          tensor.Shape // as declared
	Fixed          tensor.Shape // of an input, with the sizes that it has been given since
	Declared       string       // Shape with the names of the model's open dimensions
	Info           metadata.Input
	Says           metadata.Output
	Last           bool          // the dimensions of the model's own have the channels last
	Image          *Image        // what an input takes of an image, nil: real numbers, or no image
	opened         bool          // the first size of Fixed is 1 for want of another
	PerAxis        *tensor.Quant // what codes with several scales stand for, nil: Quant says it
	Bound          []int64       // the largest shape of an output whose sizes a run tells, nil: they are known before
	Open           []bool        // of an output with a Bound, which of its sizes a run tells
	sizes          int           // of an output with a Bound the graph's output that has them
}

func (m *Model) port(v graph.Value, info metadata.Input) *Port {
	f := m.Graph.Fact(v)
	p := &Port{Name: m.Graph.Values[v].Name, Shape: f.Shape, Declared: m.ShapeText(f.Shape), Info: info}
	p.Type, p.Quant = f.DType, convert.CodeOf(f.Quant)
	p.Mean, p.Std = info.Mean, info.Std
	for _, f := range info.Scale {
		p.Std = append(p.Std, 1/f)
	}
	p.Swap = info.Order != "" && info.Order != info.Pixel && (info.Pixel == "rgb" || info.Pixel == "bgr")
	return p
}

// checkNormalization refuses numbers per channel that the input does not have, and divisions by 0.
func (p *Port) checkNormalization() error {
	for _, list := range []struct {
		what string
		v    []float32
	}{{"mean", p.Mean}, {"std", p.Info.Std}, {"scale", p.Info.Scale}} {
		if n := int64(len(list.v)); n > 1 && (len(p.Shape.Dims) != 4 || p.Shape.Dims[1].Known() && p.Shape.Dims[1].N != n) {
			return fault.New(fault.File, "anynpu.input.%s.%s has %d numbers: want 1, or as many as channels of an input of "+
				"rank 4 in dimension 1 or 3, got the shape %s", p.Name, list.what, n, p.Declared)
		}
	}
	if len(p.Info.Std) > 0 && len(p.Info.Scale) > 0 {
		return fault.New(fault.File, "anynpu.input.%s has std and scale: want one of them", p.Name)
	}
	for _, s := range p.Std {
		if s == 0 {
			return fault.New(fault.File, "anynpu.input.%s.std: 0: want numbers other than 0", p.Name)
		}
	}
	return nil
}

// madeBy says which node of the model makes the output of that name, in words for a message.
func (m *Model) madeBy(name string) string {
	producers := m.Graph.Producers()
	for _, v := range m.Graph.Out {
		at := producers[v]
		if m.Graph.Values[v].Name != name || at < 0 {
			continue
		}
		if origin := m.Graph.Nodes[at].Origin; origin >= 0 && origin < len(m.Ops) {
			return fmt.Sprintf(", made by node %d (%s),", origin, m.Ops[origin])
		}
	}
	return ""
}
