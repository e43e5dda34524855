package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.AffineGrid, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		theta := reals(in[0])
		y, put := realStore(out[0])
		n := len(y.Dims) - 2
		spatial := y.Dims[1 : n+1]
		cells := cellCount(spatial)
		at, point := make([]int, n), make([]float64, n+1)
		point[n] = 1
		for p := range cells {
			tick()
			unflatten(p, spatial, at)
			for d, i := range at {
				point[n-1-d] = GridCoordinate(i, int(spatial[d]), o.AlignCorners)
			}
			for b := range int(y.Dims[0]) {
				for r := range n {
					put((b*cells+p)*n+r, inner[float64, float64](point, theta[(b*n+r)*(n+1):]))
				}
			}
		}
		return []tensor.Tensor{y}, nil
	})
}

// GridCoordinate is the normalized coordinate of cell i of size.
func GridCoordinate(i, size int, alignCorners bool) float64 {
	switch {
	case !alignCorners:
		return (2*float64(i)+1)/float64(size) - 1
	case size == 1:
		return 0
	}
	return 2*float64(i)/float64(size-1) - 1
}
