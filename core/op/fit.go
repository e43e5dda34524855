package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// anySize is a size that several inputs share and of which nothing is known yet; sizeIs is one that is known.
func anySize() *tensor.Dim {
	d := tensor.AnyDim()
	return &d
}

func sizeIs(n int64) *tensor.Dim {
	d := tensor.D(n)
	return &d
}

// fit checks that input i, if it is given, has these sizes, and learns from it those that were not known.
func fit(in []tensor.Fact, i int, want ...*tensor.Dim) error {
	if !present(in, i) || !in[i].Shape.Ranked {
		return nil
	}
	s := in[i].Shape
	ok := s.Rank() == len(want)
	for k := 0; ok && k < len(want); k++ {
		*want[k], ok = meet(*want[k], s.Dims[k])
	}
	if ok {
		return nil
	}
	dims := make([]tensor.Dim, len(want))
	for k, d := range want {
		dims[k] = *d
	}
	return fault.New(fault.Shape, "input %d: want %v, got %v", i, tensor.OfDims(dims...), s)
}
