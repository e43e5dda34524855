package node

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// drawsNumbers reports whether g draws random numbers, so that no value can be expected, whether with a seed, and
// whether it compares them by Greater.
func drawsNumbers(g *graph.Graph) (drawn, seeded, greater bool) {
	for i := range g.Nodes {
		if _, ok := g.Nodes[i].Op.(*op.Greater); ok {
			greater = true
		}
		if !graph.TraitsOf(g.Nodes[i].Op).Impure {
			continue
		}
		drawn = true
		switch o := g.Nodes[i].Op.(type) {
		case *op.Bernoulli:
			seeded = o.Seeded
		case *op.RandomUniformLike:
			seeded = o.Seeded
		}
	}
	return drawn, seeded, greater
}

// checkDrawn compares outputs of random operators other than Bernoulli by type, sizes and range: every value lies
// between the smallest and the largest expected one, and not all are equal where the expected ones differ. (The ONNX
// project's own runner leaves these tests out.)
func checkDrawn(got, want []tensor.Tensor) error {
	for i := range want {
		if got[i].DType != want[i].DType || !slices.Equal(got[i].Dims, want[i].Dims) {
			return fmt.Errorf("output %d: %v%v, want %v%v", i, got[i].DType, got[i].Dims, want[i].DType, want[i].Dims)
		}
		lo, hi := limits(want[i])
		l, h := limits(got[i])
		if l < lo || h > hi || l == h && lo != hi {
			return fmt.Errorf("output %d: values from %g to %g, want %g to %g", i, l, h, lo, hi)
		}
	}
	return nil
}

func limits(t tensor.Tensor) (lo, hi float64) {
	for i := range t.Count() {
		v := 0.0
		if t.DType.IsFloat() {
			v = tensor.FloatAt(t.DType, t.Data, i)
		} else {
			v = float64(tensor.IntAt(t.DType, t.Data, i))
		}
		if i == 0 {
			lo, hi = v, v
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}
