package operators

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn/model"
)

// expand returns the case, or, of one that is given for several sizes, a case for each.
func (c *Case) expand() ([]*Case, error) {
	if c.Sizes == nil {
		return []*Case{c}, nil
	}
	var out []*Case
	for _, n := range slices.Sorted(maps.Keys(c.Sizes)) {
		checks := c.Sizes[n]
		if len(checks) != len(c.Out) {
			return nil, fmt.Errorf("%s: size %d: %d outputs, %d checks", c.ID(), n, len(c.Out), len(checks))
		}
		s := *c
		s.Name, s.Sizes = fmt.Sprintf("%s_%d", c.Name, n), nil
		s.Tensors = slices.Clone(c.Tensors)
		for i := range s.Tensors {
			t := &s.Tensors[i]
			t.Dims = ofSize(t.Dims, n)
			t.Feed, t.Expect = bodyOfSize(t.Feed, n), bodyOfSize(t.Expect, n)
		}
		for k, o := range s.Out {
			s.Tensors[o].Expect.Check = checks[k]
		}
		out = append(out, &s)
	}
	return out, nil
}

func bodyOfSize(b *model.Body, n int32) *model.Body {
	if b == nil {
		return nil
	}
	s := *b
	s.Dims = ofSize(b.Dims, n)
	return &s
}

// ofSize returns the dimensions with n in the place of each 0.
func ofSize(dims []int32, n int32) []int32 {
	out := slices.Clone(dims)
	for i, d := range out {
		if d == 0 {
			out[i] = n
		}
	}
	return out
}
