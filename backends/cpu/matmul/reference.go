package matmul

// Reference computes the product in plain loops over all elements, on the calling goroutine.
func (p *Product) Reference() {
	p.check()
	a, b := make([]float32, 1), make([]float32, 1)
	for m := range p.A.Rows {
		for n := range p.B.Rows {
			p.store(p.C.Index(m, n), []float64{p.sum(a, b, m, n)}, []float64{p.scale(n)})
		}
	}
}

// sum is the sum of one element of C, with the scales of B if they are per group.
func (p *Product) sum(a, b []float32, m, n int) float64 {
	total, step := 0.0, p.group()
	for k0 := 0; k0 < p.A.Columns; k0 += step {
		part := 0.0
		zero := float64(p.ZeroB.at(p, k0, n, 0))
		for k := k0; k < k0+step; k++ {
			p.A.load(a, p.A.Index(m, k), 1)
			p.B.load(b, p.B.Index(n, k), 1)
			part += (float64(a[0]) - float64(p.ZeroA)) * (float64(b[0]) - zero)
		}
		if p.grouped() {
			part *= float64(p.ScaleB.at(p, k0, n, 1))
		}
		total += part
	}
	return total
}
