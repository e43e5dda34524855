package remote

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// program is a graph that a server's model stands for.
type program struct {
	dev     *Device
	model   link.Model
	in, out []device.Port
	// ports are the server's, in the order of in and out
	inPorts, outPorts []bound
	options           device.Options

	refs    atomic.Int64
	sent    bool         // the server's model is the graph, and can be sent again
	graph   *graph.Graph // nil: it is neither computed here nor sent
	weights device.WeightStore

	mu    sync.Mutex
	local *compile.Program
}

// newProgram makes the program of a unit. It keeps graph and constants where it may have to compute them here.
func newProgram(d *Device, u device.Unit, o device.Options, p *plan) (*program, error) {
	g := u.Graph
	out := &program{dev: d, model: p.model, options: o}
	out.refs.Store(1)
	bind := func(values []graph.Value, bounds []bound, side string) (ports []device.Port, list []bound, err error) {
		for i, v := range values {
			at := slices.IndexFunc(bounds, func(b bound) bool { return b.value == v })
			if at < 0 {
				return nil, nil, fault.New(fault.Unsupported, "%s %d of the part, %q, is none of the server's model", side, i,
					g.Values[v].Name)
			}
			ports, list = append(ports, portOf(d, g, v)), append(list, bounds[at])
		}
		if side == "input" && len(values) != len(bounds) {
			return nil, nil, fault.New(fault.Unsupported, "the part has %d inputs, the server's model %d", len(values),
				len(bounds))
		}
		return ports, list, nil
	}
	var err error
	if out.in, out.inPorts, err = bind(g.In, p.in, "input"); err != nil {
		return nil, err
	}
	if out.out, out.outPorts, err = bind(g.Out, p.out, "output"); err != nil {
		return nil, err
	}
	out.sent = p.sent
	if d.config.Local != nil || p.sent {
		out.graph, out.weights = g, u.Weights
		if u.Weights != nil {
			u.Weights.Retain()
		}
	}
	return out, nil
}

func portOf(d *Device, g *graph.Graph, v graph.Value) device.Port {
	p := device.Port{Name: g.Values[v].Name, Type: g.Fact(v).Type}
	for _, dim := range p.Type.Shape.Dims {
		low, high := dim.N, dim.N
		if !dim.Known() {
			low, high = d.info.DimMin, d.info.DimMax
		}
		p.Min, p.Max = append(p.Min, low), append(p.Max, high)
	}
	return p
}

// Ports implements device.Program.
func (p *program) Ports() (in, out []device.Port) { return p.in, p.out }

// New implements device.Program.
func (p *program) New(o device.ExecOptions) (device.Execution, error) { return newExecution(p, o), nil }

// Retain implements device.Program.
func (p *program) Retain() { p.refs.Add(1) }

// Release implements device.Program.
func (p *program) Release() {
	if p.refs.Add(-1) != 0 {
		return
	}
	if p.local != nil {
		p.local.Release()
	}
	if p.weights != nil {
		p.weights.Release()
	}
}

// here is the program that computes on this machine, compiled when it is needed first.
func (p *program) here() (*compile.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local != nil {
		return p.local, nil
	}
	if p.dev.config.Local == nil {
		return nil, fault.New(fault.Unsupported, "the manifest's fallback is off")
	}
	weights, _ := p.weights.(*mem.Weights)
	o := p.options
	o.Unsaved = true
	made, err := compile.Compile(context.Background(), p.graph, []device.Device{p.dev.config.Local},
		compile.Options{Options: o, Weights: weights})
	if err != nil {
		return nil, err
	}
	p.local = made
	return made, nil
}
