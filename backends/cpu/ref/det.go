package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Det, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		dims, _ := out[0].Shape.Ints()
		y := newTensor(out[0].DType, dims...)
		m := int(x.Dims[len(x.Dims)-1])
		for i, n := 0, y.Count(); i < n; i++ {
			tick()
			a := alloc[float64](m * m)
			for k := range a {
				tick()
				a[k] = tensor.FloatAt(x.DType, x.Data, i*m*m+k)
			}
			tensor.PutFloat(y.DType, y.Data, i, determinant(a, m), false)
		}
		return []tensor.Tensor{y}, nil
	})
}

// determinant eliminates the m x m matrix a in place, taking the largest pivot of each column.
func determinant(a []float64, m int) float64 {
	det := 1.0
	for c := range m {
		p := c
		for r := c + 1; r < m; r++ {
			tick()
			if math.Abs(a[r*m+c]) > math.Abs(a[p*m+c]) {
				p = r
			}
		}
		pivot := a[p*m+c]
		if pivot == 0 {
			return 0
		}
		if p != c {
			det = -det
			for k := range m {
				tick()
				a[p*m+k], a[c*m+k] = a[c*m+k], a[p*m+k]
			}
		}
		det *= pivot
		for r := c + 1; r < m; r++ {
			tick()
			f := a[r*m+c] / pivot
			for k := c; k < m; k++ {
				a[r*m+k] -= f * a[c*m+k]
			}
		}
	}
	return det
}
