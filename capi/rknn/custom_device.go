package rknn

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// customDevice computes operators by functions of the program. Its executions belong to the *Context in
// ExecOptions.Owner, whose functions they call.
type customDevice struct{}

var _ device.Device = (*customDevice)(nil)

// Info implements device.Device.
func (d *customDevice) Info() device.Info {
	return device.Info{ID: "program", Name: "functions of the program", Vendor: "AnyNPU", Dynamic: true,
		DimMin: 1, DimMax: 1<<31 - 1}
}

// Support implements device.Device.
func (d *customDevice) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		if _, out[i].OK = g.Nodes[i].Op.(*op.Custom); !out[i].OK {
			out[i].Reason = noFunction
		}
	}
	return out, nil
}

const noFunction = "no function of the program"

// Compile implements device.Device.
func (d *customDevice) Compile(ctx context.Context, u device.Unit, _ device.Options) (device.Program, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.As(fault.Canceled, err, "compile")
	}
	for i := range u.Graph.Nodes {
		if n := &u.Graph.Nodes[i]; graph.NameOf(n.Op) != graph.NameOf((*op.Custom)(nil)) {
			return nil, fault.New(fault.Unsupported, "%s: %s [rknn-operator-refused]", n.Label(), noFunction)
		}
	}
	order, err := u.Graph.Order()
	if err != nil {
		return nil, err
	}
	p := &customProgram{dev: d, unit: u, order: order}
	p.refs.Store(1)
	p.in, p.out = p.ports(u.Graph.In), p.ports(u.Graph.Out)
	if u.Weights != nil {
		u.Weights.Retain()
	}
	return p, nil
}

// Load implements device.Device.
func (d *customDevice) Load(context.Context, []byte) (device.Program, error) {
	return nil, fault.New(fault.Unsupported, "functions of a program have no saved form [rknn-functions-program-no]")
}

// Alloc implements device.Device.
func (d *customDevice) Alloc(size int64) (mem.Buffer, error) {
	return mem.Host(size, mem.Options{})
}

// customProgram is a part of a model that functions of the program compute.
type customProgram struct {
	refs    atomic.Int64
	dev     *customDevice
	unit    device.Unit
	order   []int
	in, out []device.Port
}

func (p *customProgram) ports(vs []graph.Value) []device.Port {
	g := p.unit.Graph
	out := make([]device.Port, len(vs))
	for i, v := range vs {
		t := g.Fact(v).Type
		out[i] = device.Port{Name: g.Values[v].Name, Type: t}
		for _, d := range t.Shape.Dims {
			lo, hi := d.N, d.N
			if !d.Known() {
				lo, hi = p.dev.Info().DimMin, p.dev.Info().DimMax
			}
			out[i].Min, out[i].Max = append(out[i].Min, lo), append(out[i].Max, hi)
		}
	}
	return out
}

// Ports implements device.Program.
func (p *customProgram) Ports() (in, out []device.Port) { return p.in, p.out }

// Save implements device.Program.
func (p *customProgram) Save(io.Writer) error {
	return fault.New(fault.Unsupported, "functions of a program have no saved form [rknn-functions-program-no]")
}

// Constants implements device.ConstantHolder.
func (p *customProgram) Constants(add func(h tensor.Hash, data []byte) error) error {
	for i := range p.unit.Graph.Values {
		if c := p.unit.Graph.Values[i].Fact.Const; c != nil {
			if err := add(c.Hash(), c.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// Retain implements device.Program.
func (p *customProgram) Retain() { p.refs.Add(1) }

// Release implements device.Program.
func (p *customProgram) Release() {
	if p.refs.Add(-1) == 0 && p.unit.Weights != nil {
		p.unit.Weights.Release()
	}
}
