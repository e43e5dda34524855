package nnapi

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// program is a compilation of the driver's. What it was made of is kept for Save.
type program struct {
	refs    atomic.Int64
	dev     *Device
	unit    device.Unit
	options device.Options
	in, out []device.Port
	made    compilation
	sizes   [][]uint32 // of the outputs, as the API has them
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	g := u.Graph
	t := newTranslation(g, d.level)
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		if why := t.node(i); why != "" {
			return nil, fault.New(fault.Unsupported, "%s: %s", g.Nodes[i].Label(), why)
		}
	}
	in, err := t.boundary("input", g.In)
	if err != nil {
		return nil, err
	}
	out, err := t.boundary("output", g.Out)
	if err != nil {
		return nil, err
	}
	t.simplify()
	p := &program{dev: d, unit: u, options: o, in: portsOf(g, g.In), out: portsOf(g, g.Out)}
	p.refs.Store(1)
	if u.Weights != nil {
		u.Weights.Retain()
	}
	s := describe(t.ops, in, out)
	s.Relaxed = o.Float16
	for _, v := range s.Outputs {
		p.sizes = append(p.sizes, s.Operands[v].Dims)
	}
	if err := p.build(ctx, s); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// boundary are the operands of the graph's inputs or outputs, each of which can be one only once.
func (t *translation) boundary(side string, values []graph.Value) ([]*operand, error) {
	var out []*operand
	seen := map[graph.Value]bool{}
	producers := t.g.Producers()
	for i, v := range values {
		why := takes(t.g.Fact(v))
		switch {
		case why != "":
		case t.g.Fact(v).Const != nil:
			why = "it is a constant"
		case seen[v]:
			why = "it is there twice"
		case (producers[v] >= 0) != (side == "output"):
			why = "it is made elsewhere"
		}
		if why != "" {
			return nil, fault.New(fault.Unsupported, "%s %d: %s", side, i, why)
		}
		seen[v] = true
		out = append(out, t.value(v))
	}
	return out, nil
}

// portsOf describes values of known sizes.
func portsOf(g *graph.Graph, values []graph.Value) []device.Port {
	out := make([]device.Port, len(values))
	for i, v := range values {
		dims, _ := g.Fact(v).Shape.Ints()
		out[i] = device.Port{Name: g.Values[v].Name, Type: g.Fact(v).Type, Min: dims, Max: dims}
	}
	return out
}

// compilation is one of the driver's, with the model that it reads.
type compilation struct {
	at    uintptr // 0: none so far
	model *model
}

// build has the driver compile a model. What is compiled is the driver's until it returns, also when it was given up.
func (p *program) build(ctx context.Context, s *spec.Model) error {
	d := p.dev
	if err := d.alive(); err != nil {
		return err
	}
	leave, err := d.building.Enter(ctx, d.life)
	if err != nil {
		return driver.Canceled(err)
	}
	defer func() { leave() }()
	m, err := d.write(s, true)
	if err != nil {
		return d.note(err)
	}
	var compiled driver.Handoff
	p.Retain()
	err = d.building.Call(ctx, d.life, "ANeuralNetworksCompilation_finish", func() error {
		at, err := d.compile(m, p.options)
		kept := err == nil && compiled.Finish(at)
		if err == nil && !kept {
			d.end(at)
		}
		if !kept {
			m.destroy(d.library)
		}
		return err
	}, &leave, p.Release)
	if err != nil {
		if at := compiled.GiveUp(); at != 0 {
			d.end(at)
			m.destroy(d.library)
		}
		return driver.Canceled(d.note(err))
	}
	p.made = compilation{compiled.Object(), m}
	return nil
}

// compile makes a compilation of a model for this device alone.
func (d *Device) compile(m *model, o device.Options) (at uintptr, err error) {
	devices := d.at
	code, err := d.driver.CompilationCreateForDevices(m.at, unsafe.Pointer(&devices), 1, unsafe.Pointer(&at))
	if err = made("ANeuralNetworksCompilation_createForDevices", code, err, at); err != nil {
		return 0, err
	}
	if err = d.tell(at, o); err == nil {
		code, err = d.driver.CompilationFinish(at)
		err = judged("ANeuralNetworksCompilation_finish", code, err)
	}
	if err != nil {
		d.end(at)
		return 0, err
	}
	return at, nil
}

var (
	preferences = map[device.Performance]int32{device.PerformanceLow: spec.PreferLowPower,
		device.PerformanceMedium: spec.PreferSustained, device.PerformanceHigh: spec.PreferFast,
		device.PerformanceExtreme: spec.PreferFast}
	priorities = map[device.Priority]int32{device.PriorityLow: spec.PriorityLow,
		device.PriorityMedium: spec.PriorityMedium, device.PriorityHigh: spec.PriorityHigh}
)

// tell passes options on that are not the default. A driver that refuses one compiles without it.
func (d *Device) tell(at uintptr, o device.Options) error {
	if o.Performance != device.PerformanceDefault && d.driver.Has("ANeuralNetworksCompilation_setPreference") {
		code, err := d.driver.CompilationSetPreference(at, preferences[o.Performance])
		err = judged("ANeuralNetworksCompilation_setPreference", code, err)
		if err != nil && fault.KindOf(err) != fault.Unsupported {
			return err
		}
	}
	if o.Priority != device.PriorityDefault && d.driver.Has("ANeuralNetworksCompilation_setPriority") {
		code, err := d.driver.CompilationSetPriority(at, priorities[o.Priority])
		err = judged("ANeuralNetworksCompilation_setPriority", code, err)
		if err != nil && fault.KindOf(err) != fault.Unsupported {
			return err
		}
	}
	return nil
}

// end ends a compilation; the driver is asked only while it can be called.
func (d *Device) end(at uintptr) {
	if d.life.Alive() == nil {
		_ = d.driver.CompilationFree(at) // nothing is left to do with an error
	}
}

// Ports implements device.Program.
func (p *program) Ports() (in, out []device.Port) { return p.in, p.out }

// Retain implements device.Program.
func (p *program) Retain() {
	if p.refs.Add(1) <= 1 {
		panic("nnapi: a freed program was retained")
	}
}

// Release implements device.Program.
func (p *program) Release() {
	switch n := p.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("nnapi: a program was released more often than retained")
	}
	if p.made.at != 0 {
		p.dev.end(p.made.at)
		p.made.model.destroy(p.dev.library)
	}
	if p.unit.Weights != nil {
		p.unit.Weights.Release()
	}
}
