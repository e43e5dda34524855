package devicetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// orders announces inputs in an order of dimensions and binds them in that order, row-major and with gaps: what the
// device makes of the announcement decides what is copied, never what is computed.
func orders(s *Subject) error {
	for _, c := range []struct {
		dims  []int64
		order []int
	}{
		{[]int64{1, 3, 4, 5}, []int{0, 2, 3, 1}},
		{[]int64{2, 2, 3}, []int{0, 2, 1}},
		{[]int64{2, 3}, []int{1, 0}},
		{[]int64{2, 3, 4, 2}, []int{3, 1, 2, 0}},
		{[]int64{2, 3}, []int{0, 2, 3, 1}}, // no order of these dimensions
	} {
		if err := s.ordered(c.dims, c.order); err != nil {
			return fmt.Errorf("%v announced in the order %v: %w", c.dims, c.order, err)
		}
	}
	return nil
}

func (s *Subject) ordered(dims []int64, order []int) error {
	g, err := s.graph(tensor.Of(dims...))
	if err != nil {
		return fmt.Errorf("graph of the subject: %w", err)
	}
	// the second input is not announced, a third does not exist
	u := device.Unit{Graph: g, Order: [][]int{order, nil, order}}
	p, err := s.Device.Compile(context.Background(), u, device.Options{})
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	in, _ := p.Ports()
	e, err := s.execution(p)
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	native := in[0].Native
	if native != nil && !slices.Equal(native, order) || in[1].Native != nil {
		return fmt.Errorf("the inputs are taken in the orders %v and %v", native, in[1].Native)
	}
	forms := map[string][]int{"row-major": nil}
	if len(order) == len(dims) {
		forms["as announced"] = order
		reverse := slices.Clone(order)
		slices.Reverse(reverse)
		forms["in another order"] = reverse
	}
	for seed, what := range []string{"as announced", "row-major", "in another order", "as announced", "row-major"} {
		form, known := forms[what]
		if !known {
			continue
		}
		before := e.Stats().CopiedIn
		if err := s.arranged(e, seed, dims, form); err != nil {
			return fmt.Errorf("bound %s: %w", what, err)
		}
		if copied := e.Stats().CopiedIn - before; native != nil && what == "as announced" && copied != 0 {
			return fmt.Errorf("bound in its native order %v, and %d bytes were copied", native, copied)
		}
	}
	return nil
}

// arranged makes one run with input 0 in an order of its dimensions.
func (s *Subject) arranged(e device.Execution, seed int, dims []int64, order []int) error {
	want, err := s.bindInputs(e, seed, dims...)
	if err != nil {
		return err
	}
	o, err := newOperand(seed, dims...) // as bindInputs has made for input 0
	if err != nil {
		return err
	}
	defer o.release()
	n, _ := tensor.Count(dims)
	b, err := mem.Host(4*n, mem.Options{})
	if err != nil {
		return err
	}
	defer b.Release()
	v := mem.View{Buf: b, Type: tensor.T(tensor.Float32, dims...)}.In(order)
	if err := v.Store(tensor.Float32s(o.values...)); err != nil {
		return err
	}
	if err := e.BindInput(0, v); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if err := compute(e); err != nil {
		return err
	}
	return wantOutput(e, want)
}
