package nnapi

import (
	"context"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// program is a compilation of the driver's.
type program struct {
	driver.GraphProgram
	dev    *Device
	made   compilation
	sizes  [][]uint32 // of the outputs, as the API has them: 0 for one that a run finds
	open   bool       // there is such an output
	loops  bool       // the model has one
	keep   *cached    // nil: the driver keeps nothing
	bursts bursts
}

// compilation is one of the driver's, with the model that it reads.
type compilation struct {
	at    uintptr // 0: none so far
	model *model
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	s, out, err := modelOf(u.Graph, d.level)
	if err != nil {
		return nil, err
	}
	s.Relaxed = o.Float16
	keep, err := d.cachedAt(ctx, u.Graph, o)
	if err != nil {
		return nil, err
	}
	p := &program{dev: d, loops: loopsIn(s), keep: keep}
	for _, v := range s.Outputs {
		p.sizes = append(p.sizes, s.Operands[v].Dims)
	}
	p.Hold(u, o, p.end)
	for k, y := range out {
		if y.most != nil {
			p.open = true
			p.Out[k].Min, p.Out[k].Max = slices.Clone(y.most), y.most
			p.Out[k].Min[0] = 0
		}
	}
	if err := p.build(ctx, s); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// build has the driver compile a model.
func (p *program) build(ctx context.Context, s *spec.Model) error {
	d := p.dev
	var m *model
	at, err := d.Build(ctx, "ANeuralNetworksCompilation_finish", driver.Build{
		Write: func() (err error) {
			if m, err = d.write(s, true); err == nil {
				p.Retain()
			}
			return err
		},
		Make: func() (uintptr, error) {
			at, err := d.compile(m, p)
			if err != nil {
				m.destroy(d)
			}
			return at, err
		},
		End:   func(at uintptr) { d.end(compilation{at, m}) },
		Ended: p.Release,
	})
	if err == nil {
		p.made = compilation{at, m}
	}
	return err
}

// compile makes the compilation of a program's model for this device alone.
func (d *Device) compile(m *model, p *program) (at uintptr, err error) {
	devices := d.at
	code, err := d.driver.CompilationCreateForDevices(m.at, unsafe.Pointer(&devices), 1, unsafe.Pointer(&at))
	if err = made("ANeuralNetworksCompilation_createForDevices", code, err, at); err != nil {
		return 0, err
	}
	if err = d.tell(at, p.Options); err == nil {
		err = d.keep(at, p.keep)
	}
	if err == nil {
		code, err = d.driver.CompilationFinish(at)
		err = judged("ANeuralNetworksCompilation_finish", code, err)
	}
	if err != nil {
		d.free(at)
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

// free frees what the API has of a compilation; the driver is asked only while it can be called.
func (d *Device) free(at uintptr) {
	if d.Life.Alive() == nil {
		_ = d.driver.CompilationFree(at) // nothing is left to do with an error
	}
}

// end ends a compilation and then its model.
func (d *Device) end(c compilation) {
	d.free(c.at)
	c.model.destroy(d)
}

func (p *program) end() {
	if p.made.at != 0 {
		p.endBursts()
		p.dev.end(p.made)
	}
}
