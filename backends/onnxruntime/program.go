package onnxruntime

import (
	"context"
	"io"
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
)

// program is a session.
type program struct {
	driver.GraphProgram
	dev     *Device
	session uintptr // 0: none so far
	in, out []*byte // names of the model's inputs and outputs; nil: an input that nothing reads
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	g := u.Graph
	for _, v := range append(append(g.In[:0:0], g.In...), g.Out...) {
		if err := value(g.Fact(v).Type); err != nil {
			return nil, err
		}
	}
	m, err := export.Of(g, export.Options{ReadInputs: true, OwnConstants: true})
	if err != nil {
		return nil, err
	}
	p := &program{dev: d, in: make([]*byte, len(g.In))}
	for i, name := range m.In {
		if name != "" {
			p.in[i] = word(name)
		}
	}
	for _, name := range m.Out {
		p.out = append(p.out, word(name))
	}
	p.Hold(u, o, p.end)
	if err := p.build(ctx, m); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// build makes the session. The graph keeps constants that this unit alone reads: Save writes them.
func (p *program) build(ctx context.Context, m *export.Model) error {
	d := p.dev
	var data []byte
	kind := forConstants
	if slices.ContainsFunc(p.in, func(name *byte) bool { return name != nil }) {
		kind = forRuns
	}
	at, err := d.Build(ctx, "CreateSessionFromArray", driver.Build{
		Write: func() (err error) {
			if data, err = m.Bytes(); err == nil {
				p.Retain()
			}
			return err
		},
		Make: func() (uintptr, error) { return d.lib.session(data, d.provider, d.Info().ID, kind) },
		End:  d.end, Ended: p.Release,
	})
	if err != nil {
		return fault.Wrap(err, "the provider %s", d.provider.Name)
	}
	p.session = at
	return nil
}

// end ends a session; the library is asked only while the device lives.
func (d *Device) end(session uintptr) {
	if d.Life.Alive() == nil {
		d.lib.end(session)
	}
}

func (p *program) end() {
	if p.session != 0 {
		p.dev.end(p.session)
	}
}

// savedMagic begins saved programs.
const savedMagic = "ANPUORT1"

// Save implements device.Program.
func (p *program) Save(w io.Writer) error { return p.Write(w, savedMagic, p.dev.Info().ID) }

// Load implements device.Device: it compiles again the model that Save has written.
func (d *Device) Load(ctx context.Context, data []byte) (device.Program, error) {
	return driver.Load(ctx, d, savedMagic, data)
}
