package fake

import (
	"context"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
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
func run(p *compile.Program, r *oip.Request) ([]oip.Tensor, error) {
	x, err := p.New(device.ExecOptions{})
	if err != nil {
		return nil, err
	}
	defer x.Release()
	in, out := p.Ports()
	for i := range in {
		k := slices.IndexFunc(r.Inputs, func(t oip.Tensor) bool { return t.Name == in[i].Name })
		if k < 0 {
			return nil, fmt.Errorf("no input %q", in[i].Name)
		}
		t := &r.Inputs[k]
		if d, _ := oip.DType(t.Datatype); d != in[i].Type.DType {
			return nil, fmt.Errorf("input %q is %s, want %v", t.Name, t.Datatype, in[i].Type.DType)
		}
		b := mem.Borrow(t.Raw, nil)
		err := x.BindInput(i, mem.View{Buf: b, Type: tensor.T(in[i].Type.DType, t.Shape...)})
		b.Release()
		if err != nil {
			return nil, err
		}
	}
	if err := exec.Run(context.Background(), x, device.RunRequest{}); err != nil {
		return nil, err
	}
	var answer []oip.Tensor
	for i := range out {
		t, err := x.OutputType(i)
		if err != nil {
			return nil, err
		}
		data, err := x.OutputData(i)
		if err != nil {
			return nil, err
		}
		datatype, _ := oip.Datatype(t.DType)
		answer = append(answer, oip.Tensor{Name: out[i].Name, Datatype: datatype, Shape: sizes(t.Shape), Raw: slices.Clone(data)})
	}
	return answer, nil
}
