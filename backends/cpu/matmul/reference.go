package matmul

import "github.com/anynpu/anynpu/core/matrix"

// Reference computes p in plain loops over all elements, on the calling goroutine.
func Reference(p *matrix.Product) {
	p.Check()
	a, b := make([]float32, 1), make([]float32, 1)
	for m := range p.A.Rows {
		for n := range p.B.Rows {
			store(p, p.C.Index(m, n), []float64{sum(p, a, b, m, n)}, []float64{scaleOf(p, n)})
		}
	}
}

// sum is the sum of one element of C, with the scales of B if they are per group.
func sum(p *matrix.Product, a, b []float32, m, n int) float64 {
	total, step := 0.0, p.GroupSize()
	for k0 := 0; k0 < p.A.Columns; k0 += step {
		part := 0.0
		zero := float64(p.ZeroAt(k0, n))
		for k := k0; k < k0+step; k++ {
			load(a, &p.A, p.A.Index(m, k), 1)
			load(b, &p.B, p.B.Index(n, k), 1)
			part += (float64(a[0]) - float64(p.ZeroA)) * (float64(b[0]) - zero)
		}
		if p.Grouped() {
			part *= float64(p.ScaleAt(k0, n))
		}
		total += part
	}
	return total
}
