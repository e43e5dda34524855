package sizes

import (
	"context"
	"fmt"

	"github.com/anynpu/anynpu/core/tensor"
)

// The forms that a door runs a model in.
const (
	fresh = "fresh"
	saved = "saved"
)

// Door is a way to what computes models.
type Door interface {
	// Name is that of its API.
	Name() string
	// Forms are those in which it runs a model.
	Forms() []string
	// use makes a model ready in a form, in one execution, and hands f what runs it. dir is an empty folder.
	use(ctx context.Context, m *Model, form, dir string, f func(run runner) error) error
}

// runner computes run r, whose outputs have the given sizes.
type runner func(r int, in []tensor.Tensor, out [][]int64) ([]tensor.Tensor, error)

// Try runs a model in each form of a door with all its sizes, in a folder of its own that dir makes. made is set when
// the reference computes the model; err is the first difference from that.
func Try(ctx context.Context, m *Model, d Door, dir func() string) (made bool, err error) {
	want, err := m.Expected(ctx)
	if err != nil {
		return false, err
	}
	for _, form := range d.Forms() {
		err := d.use(ctx, m, form, dir(), func(run runner) error { return m.runAll(run, want) })
		if err != nil {
			return true, fmt.Errorf("%s: %w", form, err)
		}
	}
	return true, nil
}

// runAll runs all sizes and compares.
func (m *Model) runAll(run runner, want [Runs][]tensor.Tensor) error {
	for r := range Runs {
		var out [][]int64
		for _, t := range want[r] {
			out = append(out, t.Dims)
		}
		got, err := run(r, m.Inputs(r), out)
		if err == nil {
			err = m.compare(got, want[r])
		}
		if err != nil {
			var sizes [][]int64
			for _, in := range m.In {
				sizes = append(sizes, in.Dims[r])
			}
			return fmt.Errorf("run %d, inputs of %v: %w", r, sizes, err)
		}
	}
	return nil
}
