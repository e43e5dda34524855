package driver

import (
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
)

// Program is the common part of every device.Program behind a driver: its ports, and the count of its references. A
// program embeds it and adds New and Save.
type Program struct {
	In, Out []device.Port

	refs atomic.Int64
	end  func()
}

// Hold makes the first reference; end is called when the last one is released.
func (p *Program) Hold(end func()) {
	p.end = end
	p.refs.Store(1)
}

// Ports implements device.Program.
func (p *Program) Ports() (in, out []device.Port) { return p.In, p.Out }

// Retain implements device.Program.
func (p *Program) Retain() {
	if p.refs.Add(1) <= 1 {
		panic("driver: a freed program was retained")
	}
}

// Release implements device.Program.
func (p *Program) Release() {
	switch n := p.refs.Add(-1); {
	case n > 0:
	case n < 0:
		panic("driver: a program was released more often than retained")
	default:
		p.end()
	}
}

// GraphProgram is a program that was made of a graph, whose weights it keeps. Its ports are the graph's. Where runs
// find the sizes of a result, the device says in Port.Max how large they can be.
type GraphProgram struct {
	Program
	Unit    device.Unit
	Options device.Options
}

// Hold is Program.Hold for a unit.
func (p *GraphProgram) Hold(u device.Unit, o device.Options, end func()) {
	p.Unit, p.Options = u, o
	p.In, p.Out = portsOf(u.Graph, u.Graph.In), portsOf(u.Graph, u.Graph.Out)
	if u.Weights != nil {
		u.Weights.Retain()
	}
	p.Program.Hold(func() {
		end()
		if u.Weights != nil {
			u.Weights.Release()
		}
	})
}

// Held implements device.GraphHolder.
func (p *GraphProgram) Held() (*graph.Graph, func(), error) { return p.Unit.Graph, func() {}, nil }

func portsOf(g *graph.Graph, values []graph.Value) []device.Port {
	out := make([]device.Port, len(values))
	for i, v := range values {
		dims, _ := g.Fact(v).Shape.Ints()
		out[i] = device.Port{Name: g.Values[v].Name, Type: g.Fact(v).Type, Min: dims, Max: dims}
	}
	return out
}
