package compile

import (
	"slices"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Program is a compiled graph on one or more devices. It implements device.Program.
type Program struct {
	refs      atomic.Int64
	plan      exec.Plan
	placement *device.Placement
	source    *graph.Graph // what was compiled, whose constants may be gone; nil for a program that was loaded
	// of a program whose runs are written
	exposed *exec.Exposed
	plain   func() (*Program, error) // the program without a dump
	whole   *mem.Weights             // what plain compiles from
}

var _ device.Program = (*Program)(nil)

func newProgram() *Program {
	p := &Program{placement: &device.Placement{}}
	p.refs.Store(1)
	return p
}

// connect gives the program the ports of g. The stages' slots are values of g when it is called; afterwards they are
// numbers of p.plan.Slots, which holds the values that cross parts only. first describes the ranges of inputs that no
// part reads. Kind fault.Device when a part's ports are not those of its graph.
func (p *Program) connect(g *graph.Graph, first device.Info) error {
	c := connector{g: g, number: map[int]int{}, ports: map[int]device.Port{}, first: first}
	p.plan.InSlot = c.slots(slots(g.In))
	for i := range p.plan.Stages {
		s := &p.plan.Stages[i]
		in, out := s.Program.Ports()
		if len(in) != len(s.In) || len(out) != len(s.Out) {
			return fault.New(fault.Device, "part %d on %s: %d inputs and %d outputs, want %d and %d",
				i, s.Device.Info().ID, len(in), len(out), len(s.In), len(s.Out))
		}
		c.learn(s.In, in)
		c.learn(s.Out, out)
		s.In, s.Out = c.slots(s.In), c.slots(s.Out)
	}
	p.plan.OutSlot = c.slots(slots(g.Out))
	for _, v := range c.values {
		f := g.Values[v].Fact
		s := exec.Slot{Type: f.Type}
		if f.Const != nil {
			s.Const = append([]byte{}, f.Const.Data...)
		}
		p.plan.Slots = append(p.plan.Slots, s)
	}
	for _, v := range g.In {
		p.plan.In = append(p.plan.In, c.port(int(v)))
	}
	for _, v := range g.Out {
		p.plan.Out = append(p.plan.Out, c.port(int(v)))
	}
	return nil
}

// Kept are the names of the values of g, from which a program was compiled, that it has in memory during a run: its
// outputs, those of its parts, and values that parts keep within. nil: all, or those of a run are not known before.
func (p *Program) Kept(g *graph.Graph) map[string]bool {
	names := map[string]bool{}
	for _, v := range g.Out {
		names[g.Values[v].Name] = true
	}
	for i := range p.plan.Stages {
		part := p.plan.Stages[i].Program
		_, out := part.Ports()
		for _, port := range out {
			names[port.Name] = true
		}
		if k, tells := part.(device.Keeper); tells {
			list, known := k.Kept()
			if !known {
				return nil
			}
			for _, name := range list {
				names[name] = true
			}
		}
	}
	return names
}

// edges are the values between the nodes of g, and between them and its ports.
func edges(g *graph.Graph) (list []device.Edge) {
	producers := g.Producers()
	add := func(v graph.Value, to int) {
		if v == graph.None || producers[v] < 0 && g.Fact(v).Const != nil {
			return
		}
		list = append(list, device.Edge{Value: int(v), From: producers[v], To: to, Name: g.Values[v].Name,
			Type: g.Fact(v).Type.String()})
	}
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			add(v, i)
		}
	}
	for _, v := range g.Out {
		add(v, -1)
	}
	return list
}

// connector numbers the values that cross parts in the order in which it meets them.
type connector struct {
	g      *graph.Graph
	number map[int]int // value to slot
	values []int       // slot to value
	ports  map[int]device.Port
	first  device.Info
}

func (c *connector) slots(values []int) []int {
	out := make([]int, len(values))
	for i, v := range values {
		n, known := c.number[v]
		if !known {
			n = len(c.values)
			c.number[v] = n
			c.values = append(c.values, v)
		}
		out[i] = n
	}
	return out
}

// learn keeps what a part says of its ports; the first part that names a value is heard.
func (c *connector) learn(values []int, ports []device.Port) {
	for i, v := range values {
		if _, known := c.ports[v]; !known {
			c.ports[v] = ports[i]
		}
	}
}

// port describes value v as a port of the program.
func (c *connector) port(v int) device.Port {
	t := c.g.Values[v].Fact.Type
	d, known := c.ports[v]
	if !known || len(d.Min) != len(t.Shape.Dims) || len(d.Max) != len(t.Shape.Dims) {
		d = device.Port{}
		for _, dim := range t.Shape.Dims {
			lo, hi := dim.N, dim.N
			if !dim.Known() {
				lo, hi = c.first.DimMin, c.first.DimMax
			}
			d.Min, d.Max = append(d.Min, lo), append(d.Max, hi)
		}
	}
	d.Name, d.Type = c.g.Values[v].Name, t
	return d
}

// Placement tells which device computes which node. The caller must not change it.
func (p *Program) Placement() *device.Placement { return p.placement }

// Constants gives the constants of the compiled graph that its parts hold, as device.ConstantHolder says; those of
// parts on devices that keep none are left out.
func (p *Program) Constants(add func(h tensor.Hash, data []byte) error) error {
	for i := range p.plan.Stages {
		if c, ok := p.plan.Stages[i].Program.(device.ConstantHolder); ok {
			if err := c.Constants(add); err != nil {
				return fault.Wrap(err, "part %d", i)
			}
		}
	}
	for i := range p.plan.Slots {
		if data := p.plan.Slots[i].Const; data != nil {
			if err := add(tensor.HashOf(data), data); err != nil {
				return err
			}
		}
	}
	return nil
}

// describedMeta is the entry of a written model's metadata that has the placement report; those that begin with anynpu.
// are read when a model is loaded.
const describedMeta = "placement"

// Described are the metadata of an exported model: the placement.
func (p *Program) Described() map[string]string {
	return map[string]string{describedMeta: string(p.placement.JSON())}
}

// Graph returns the graph that was compiled, with its constants in w. Kind fault.Unsupported for a program that was
// loaded, or whose devices do not give its constants back.
func (p *Program) Graph(w *mem.Weights) (*graph.Graph, error) {
	if p.source == nil {
		return nil, fault.New(fault.Unsupported, "the program was loaded in compiled form, which has no graph")
	}
	held := map[tensor.Hash][]byte{}
	err := p.Constants(func(h tensor.Hash, data []byte) (err error) {
		held[h], err = w.Add(h, data)
		return err
	})
	if err != nil {
		return nil, err
	}
	return graph.Clone(p.source, func(h tensor.Hash, data []byte) ([]byte, error) {
		if own, ok := held[h]; ok {
			return own, nil
		}
		if len(data) == 0 && h == tensor.HashOf(nil) {
			return w.Add(h, nil)
		}
		return nil, fault.New(fault.Unsupported, "a constant that its device does not give back") // its bytes may be gone
	})
}

// Ports implements device.Program.
func (p *Program) Ports() (in, out []device.Port) {
	if p.exposed != nil {
		return p.plan.In, p.plan.Out[:p.exposed.Visible:p.exposed.Visible]
	}
	return p.plan.In, p.plan.Out
}

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
	e, err := p.execution(o)
	if err == nil && p.exposed != nil {
		e = p.exposed.Execution(e)
	}
	if err == nil && Watch != nil {
		if ran := Watch(p); ran != nil {
			e = watched{e, ran}
		}
	}
	return e, err
}

func (p *Program) execution(o device.ExecOptions) (device.Execution, error) {
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

// TakesFences implements device.FenceTaker.
func (p *Program) TakesFences() bool {
	if one, ok := p.single(); ok {
		return device.TakesFences(one)
	}
	return p.plan.TakesFences()
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
	if p.exposed != nil {
		p.whole.Release()
	}
}
