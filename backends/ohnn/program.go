package ohnn

import (
	"context"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// program is a compilation of the driver's.
type program struct {
	driver.GraphProgram
	dev         *Device
	compilation uintptr
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	g := u.Graph
	t := newTranslation(g)
	if err := driver.Translate(g, t.node); err != nil {
		return nil, err
	}
	if err := driver.Boundary(g, takes, takes); err != nil {
		return nil, err
	}
	if n := max(len(g.In), len(g.Out)); n > spec.MaxIndices {
		return nil, fault.New(fault.Unsupported, "%d inputs or outputs: models of OH_NN have %d at most", n, spec.MaxIndices)
	}
	in, out := t.Operands(g.In), t.Operands(g.Out)
	t.Simplify(out, fuse)
	p := &program{dev: d}
	p.Hold(u, o, p.end)
	if err := p.build(ctx, t.Ops, in, out); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// build has the driver compile operations.
func (p *program) build(ctx context.Context, ops []*operation, in, out []*operand) (err error) {
	d := p.dev
	var m *model
	p.compilation, err = d.Build(ctx, "OH_NNCompilation_Build", driver.Build{
		Write: func() (err error) {
			if m, err = d.write(ops, in, out); err == nil {
				p.Retain()
			}
			return err
		},
		Make: func() (uintptr, error) {
			compilation, err := d.compile(m, p.Options, true)
			if fault.KindOf(err) == fault.Unsupported { // so says the API of settings that a device lacks
				compilation, err = d.compile(m, p.Options, false)
			}
			return compilation, err
		},
		End: d.end,
		Ended: func() {
			m.destroy()
			p.Release()
		},
	})
	return err
}

// compile makes a compilation of a model; with all, the driver gets the options too.
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
	if d.Life.Alive() == nil {
		_ = d.driver.CompilationDestroy(unsafe.Pointer(&compilation)) // nothing is left to do with an error
	}
}

func (p *program) end() {
	if p.compilation != 0 {
		p.dev.end(p.compilation)
	}
}
