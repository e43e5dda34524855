package ohnn

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// program is a compilation of the driver's. What it was made of is kept for Save.
type program struct {
	refs        atomic.Int64
	dev         *Device
	unit        device.Unit
	options     device.Options
	in, out     []device.Port
	compilation uintptr
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	g := u.Graph
	t := newTranslation(g)
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
	if err := p.build(ctx, t.ops, in, out); err != nil {
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
	if len(out) > spec.MaxIndices {
		return nil, fault.New(fault.Unsupported, "%d %ss: models of OH_NN have %d at most", len(out), side, spec.MaxIndices)
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

// build has the driver compile operations. What is compiled is the driver's until it returns, also when it was given
// up.
func (p *program) build(ctx context.Context, ops []*operation, in, out []*operand) error {
	d := p.dev
	leave, err := d.building.Enter(ctx, d.life)
	if err != nil {
		return driver.Canceled(err)
	}
	defer func() { leave() }()
	m, err := d.write(ops, in, out)
	if err != nil {
		return err
	}
	var compiled driver.Handoff
	p.Retain()
	err = d.building.Call(ctx, d.life, "OH_NNCompilation_Build", func() error {
		compilation, err := d.compile(m, p.options, true)
		if fault.KindOf(err) == fault.Unsupported { // so says the API of settings that a device lacks
			compilation, err = d.compile(m, p.options, false)
		}
		if err == nil && !compiled.Finish(compilation) {
			d.end(compilation)
		}
		return err
	}, &leave, func() {
		m.destroy()
		p.Release()
	})
	if err != nil {
		if compilation := compiled.GiveUp(); compilation != 0 {
			d.end(compilation)
		}
		return driver.Canceled(err)
	}
	p.compilation = compiled.Object()
	return nil
}

// compile makes a compilation of a model; with all, the options are told.
func (d *Device) compile(m *model, o device.Options, all bool) (uintptr, error) {
	c, err := d.driver.CompilationConstruct(m.at)
	if err = made("OH_NNCompilation_Construct", c, err); err != nil {
		return 0, err
	}
	code, err := d.driver.CompilationSetDevice(c, d.id)
	err = call("OH_NNCompilation_SetDevice", code, err)
	if all && err == nil {
		err = d.tell(c, o)
	}
	if err == nil {
		code, err = d.driver.CompilationBuild(c)
		err = judged("OH_NNCompilation_Build", code, err)
	}
	if err != nil {
		d.end(c)
		return 0, err
	}
	return c, nil
}

// tell passes options on that are not the default. Extensions that the driver does not know mean nothing to it.
func (d *Device) tell(c uintptr, o device.Options) error {
	if o.Performance != device.PerformanceDefault {
		code, err := d.driver.CompilationSetPerformanceMode(c, uint32(o.Performance))
		if err = judged("OH_NNCompilation_SetPerformanceMode", code, err); err != nil {
			return err
		}
	}
	if o.Priority != device.PriorityDefault {
		code, err := d.driver.CompilationSetPriority(c, uint32(o.Priority))
		if err = judged("OH_NNCompilation_SetPriority", code, err); err != nil {
			return err
		}
	}
	if o.Float16 {
		code, err := d.driver.CompilationEnableFloat16(c, true)
		if err = judged("OH_NNCompilation_EnableFloat16", code, err); err != nil {
			return err
		}
	}
	if d.driver.Has("OH_NNCompilation_AddExtensionConfig") {
		for name, value := range o.Extra {
			if len(value) == 0 {
				continue
			}
			text := append([]byte(name), 0)
			_, _ = d.driver.CompilationAddExtensionConfig(c, unsafe.Pointer(&text[0]), unsafe.Pointer(&value[0]),
				uint64(len(value)))
		}
	}
	return nil
}

// end ends a compilation.
func (d *Device) end(compilation uintptr) {
	if d.life.Alive() == nil {
		_ = d.driver.CompilationDestroy(unsafe.Pointer(&compilation)) // nothing is left to do with an error
	}
}

// Ports implements device.Program.
func (p *program) Ports() (in, out []device.Port) { return p.in, p.out }

// Retain implements device.Program.
func (p *program) Retain() {
	if p.refs.Add(1) <= 1 {
		panic("ohnn: a freed program was retained")
	}
}

// Release implements device.Program.
func (p *program) Release() {
	switch n := p.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("ohnn: a program was released more often than retained")
	}
	if p.compilation != 0 {
		p.dev.end(p.compilation)
	}
	if p.unit.Weights != nil {
		p.unit.Weights.Release()
	}
}
