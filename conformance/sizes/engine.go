package sizes

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// Engine is the door of this process: no API, one device.
func Engine(d device.Device) Door { return engine{d} }

type engine struct{ device device.Device }

// together is a second execution that runs the sizes in the reverse order at the same time.
const together = "together"

func (engine) Name() string { return "engine" }

func (engine) Forms() []string { return []string{fresh, saved, together} }

func (e engine) use(ctx context.Context, m *Model, form, _ string, f func(run runner) error) error {
	p, err := e.program(ctx, m, form)
	if err != nil {
		return err
	}
	defer p.Release()
	p.Retain()
	s, err := session.Of(p, device.ExecOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	run := func(_ int, in []tensor.Tensor, _ [][]int64) ([]tensor.Tensor, error) {
		return s.Run(ctx, in, time.Time{})
	}
	if form != together {
		return f(run)
	}
	p.Retain()
	other, err := session.Of(p, device.ExecOptions{})
	if err != nil {
		return err
	}
	defer other.Close()
	want, err := m.Expected(ctx)
	if err != nil {
		return err
	}
	return f(func(r int, in []tensor.Tensor, out [][]int64) ([]tensor.Tensor, error) {
		ended := make(chan error, 1)
		go func() {
			back := Runs - 1 - r
			got, err := other.Run(ctx, m.Inputs(back), time.Time{})
			if err == nil {
				err = m.compare(got, want[back])
			}
			ended <- err
		}()
		got, err := run(r, in, out)
		return got, errors.Join(err, <-ended)
	})
}

// program compiles a model; the saved form is what was loaded.
func (e engine) program(ctx context.Context, m *Model, form string) (*compile.Program, error) {
	w := mem.NewWeights()
	defer w.Release()
	im, err := onnx.Import(m.File, onnx.Options{Weights: w})
	if err != nil {
		return nil, err
	}
	p, err := compile.Compile(ctx, im.Graph, []device.Device{e.device}, compile.Options{Weights: w})
	if err != nil || form != saved {
		return p, err
	}
	defer p.Release()
	var file bytes.Buffer
	if err := p.Save(&file); err != nil {
		return nil, err
	}
	return compile.Load(ctx, file.Bytes(), []device.Device{e.device})
}
