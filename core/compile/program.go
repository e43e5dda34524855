package compile

import (
	"slices"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// Program is a compiled graph on one or more devices. It implements device.Program.
type Program struct {
	refs      atomic.Int64
	plan      exec.Plan
	placement *device.Placement
}

var _ device.Program = (*Program)(nil)

func newProgram() *Program {
	p := &Program{placement: &device.Placement{}}
	p.refs.Store(1)
	return p
}

// connect gives the program the ports of g, whose values are the plan's slots. first describes the ranges of inputs that no part reads. Kind
// fault.Device when a part's ports are not those of its graph.
func (p *Program) connect(g *graph.Graph, first device.Info) error {
	p.plan.Slots = make([]exec.Slot, len(g.Values))
	for v := range g.Values {
		f := g.Values[v].Fact
		p.plan.Slots[v].Type = f.Type
		if f.Const != nil && slices.Contains(g.Out, graph.Value(v)) {
			p.plan.Slots[v].Const = append([]byte{}, f.Const.Data...)
		}
	}
	ports := map[int]device.Port{}
	for i := range p.plan.Stages {
		s := &p.plan.Stages[i]
		in, out := s.Program.Ports()
		if len(in) != len(s.In) || len(out) != len(s.Out) {
			return fault.New(fault.Device, "part %d on %s: %d inputs and %d outputs, want %d and %d",
				i, s.Device.Info().ID, len(in), len(out), len(s.In), len(s.Out))
		}
		for k, port := range slices.Concat(in, out) {
			v := slices.Concat(s.In, s.Out)[k]
			if _, known := ports[v]; !known {
				ports[v] = port
			}
		}
	}
	port := func(v graph.Value) device.Port {
		t := g.Fact(v).Type
		d, known := ports[int(v)]
		if !known || len(d.Min) != len(t.Shape.Dims) || len(d.Max) != len(t.Shape.Dims) {
			d = device.Port{}
			for _, dim := range t.Shape.Dims {
				lo, hi := dim.N, dim.N
				if !dim.Known() {
					lo, hi = first.DimMin, first.DimMax
				}
				d.Min, d.Max = append(d.Min, lo), append(d.Max, hi)
			}
		}
		d.Name, d.Type = g.Values[v].Name, t
		return d
	}
	p.plan.InSlot, p.plan.OutSlot = slots(g.In), slots(g.Out)
	for _, v := range g.In {
		p.plan.In = append(p.plan.In, port(v))
	}
	for _, v := range g.Out {
		p.plan.Out = append(p.plan.Out, port(v))
	}
	return nil
}

// Placement tells which device computes which node. The caller must not change it.
func (p *Program) Placement() *device.Placement { return p.placement }

// Ports implements device.Program.
func (p *Program) Ports() (in, out []device.Port) { return p.plan.In, p.plan.Out }

// single returns the only part when its ports are the program's.
func (p *Program) single() (device.Program, bool) {
	if len(p.plan.Stages) != 1 {
		return nil, false
	}
	s := &p.plan.Stages[0]
	return s.Program, slices.Equal(s.In, p.plan.InSlot) && slices.Equal(s.Out, p.plan.OutSlot)
}

// New implements device.Program.
func (p *Program) New(o device.ExecOptions) (device.Execution, error) {
	if one, ok := p.single(); ok {
		return one.New(o)
	}
	p.Retain()
	e, err := p.plan.New(o, p.Release)
	if err != nil {
		p.Release()
	}
	return e, err
}

// Retain implements device.Program.
func (p *Program) Retain() {
	if p.refs.Add(1) <= 1 {
		panic("compile: a freed program was retained")
	}
}

// Release implements device.Program.
func (p *Program) Release() {
	switch n := p.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("compile: a program was released more often than retained")
	}
	for i := range p.plan.Stages {
		p.plan.Stages[i].Program.Release()
	}
}
