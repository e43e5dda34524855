package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/session"
)

// OfGraph is a model that a device of this process computes.
func OfGraph(name string, g *graph.Graph, d device.Device) (*Model, error) {
	p, err := compile.Compile(context.Background(), g, []device.Device{d}, compile.Options{})
	if err != nil {
		return nil, err
	}
	in, out := p.Ports()
	ports := func(list []device.Port) (made []oip.Port, err error) {
		for _, p := range list {
			datatype, ok := oip.Datatype(p.Type.DType)
			if !ok {
				return nil, fmt.Errorf("%v has no datatype", p.Type)
			}
			made = append(made, oip.Port{Name: p.Name, Datatype: datatype, Shape: sizes(p.Type.Shape)})
		}
		return made, nil
	}
	m := &Model{Close: p.Release}
	m.Name, m.Versions, m.Platform = name, []string{"1"}, "fake"
	if m.Inputs, err = ports(in); err == nil {
		m.Outputs, err = ports(out)
	}
	m.Compute = func(r *oip.Request) ([]oip.Tensor, error) { return run(p, r) }
	return m, err
}

func sizes(s tensor.Shape) (out []int64) {
	out = []int64{}
	for _, d := range s.Dims {
		n := d.N
		if !d.Known() {
			n = -1
		}
		out = append(out, n)
	}
	return out
}

// run computes a request.
func run(p *compile.Program, r *oip.Request) (answer []oip.Tensor, err error) {
	p.Retain()
	s, err := session.Of(p, device.ExecOptions{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	in, out := s.Ports()
	var given []tensor.Tensor
	for i := range in {
		k := slices.IndexFunc(r.Inputs, func(t oip.Tensor) bool { return t.Name == in[i].Name })
		if k < 0 {
			return nil, fmt.Errorf("no input %q", in[i].Name)
		}
		d, _ := oip.DType(r.Inputs[k].Datatype)
		given = append(given, tensor.Tensor{DType: d, Dims: r.Inputs[k].Shape, Data: r.Inputs[k].Raw})
	}
	made, err := s.Run(context.Background(), given, time.Time{})
	if err != nil {
		return nil, err
	}
	for i, t := range made {
		datatype, _ := oip.Datatype(t.DType)
		answer = append(answer, oip.Tensor{Name: out[i].Name, Datatype: datatype, Shape: t.Dims, Raw: t.Data})
	}
	return answer, nil
}
