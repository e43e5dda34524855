package networks

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// The variants of a case, which must all have its results.
const (
	plain    = "plain"    // as it is
	reversed = "reversed" // inputs and outputs specified in reverse order
	fed      = "fed"      // constants of floats are inputs
	shown    = "shown"    // every value is an output
)

// variants are those that the case has.
func (c *Case) variants() []string {
	out := []string{plain}
	if len(c.Inputs)+len(c.Outputs) > 2 {
		out = append(out, reversed)
	}
	if len(c.constants()) > 0 {
		out = append(out, fed)
	}
	if len(c.hidden()) > 0 {
		out = append(out, shown)
	}
	return out
}

// constants are the tensors whose values can as well come with a run: floats of rank 1 and more that are no parameters.
func (c *Case) constants() []uint32 {
	var out []uint32
	for i := range c.Tensors {
		t := &c.Tensors[i]
		if t.Param == "" && t.Type == "float32" && t.Constant() != nil && len(t.Dims) > 0 {
			out = append(out, uint32(i))
		}
	}
	return out
}

// hidden are the results of operations that are no outputs, nil if the sizes of one are unknown.
func (c *Case) hidden() []uint32 {
	var out []uint32
	for _, o := range c.Operations {
		for _, v := range o.Out {
			if slices.Contains(c.Tensors[v].Dims, -1) {
				return nil
			}
			if !slices.Contains(c.Outputs, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// variant returns the model of a variant.
func (c *Case) variant(name string) (*model.Model, error) {
	m := c.Model
	switch name {
	case plain:
	case reversed:
		m.Inputs, m.Outputs = slices.Clone(m.Inputs), slices.Clone(m.Outputs)
		slices.Reverse(m.Inputs)
		slices.Reverse(m.Outputs)
	case fed:
		m.Tensors = slices.Clone(m.Tensors)
		for _, i := range c.constants() {
			t := &m.Tensors[i]
			t.Feed = &model.Body{Dims: t.Dims, Data: t.Constant()}
			t.Data, t.Pattern = nil, nil
			m.Inputs = append(slices.Clip(m.Inputs), i)
		}
	case shown:
		m.Outputs = append(slices.Clip(m.Outputs), c.hidden()...)
	default:
		return nil, fmt.Errorf("%s: no variant %q", c.Name, name)
	}
	return &m, nil
}

// compute builds a model and runs it three times with one executor: twice with what the case feeds, in tensors of their
// own, and between them with other data. Results must be right, and inputs unchanged.
func compute(l *suite.Library, m *model.Model) error {
	s := &model.Session{Library: l, Model: m}
	defer s.Close()
	for _, step := range []func() error{s.Build, s.Available, s.Compile} {
		if err := step(); err != nil {
			return err
		}
	}
	first, err := s.NewRun()
	if err != nil {
		return err
	}
	judge := func(r *model.Run, which string) error {
		if err := r.Do(); err != nil {
			return fmt.Errorf("%s run: %w", which, err)
		}
		if _, err := r.Judge(); err != nil {
			return fmt.Errorf("%s run: %w", which, err)
		}
		if in := r.Changed(); in != "" {
			return fmt.Errorf("%s run: %s was written to", which, in)
		}
		return nil
	}
	if err := judge(first, "first"); err != nil {
		return err
	}
	first.FillBackwards()
	if err := first.Do(); err != nil {
		return fmt.Errorf("run with other data: %w", err)
	}
	again, err := s.NewRun()
	if err != nil {
		return err
	}
	return judge(again, "third")
}
