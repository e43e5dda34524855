package rknn

import "slices"

// matmulSetDynamicShape chooses one of the sizes given at creation. Memory stays bound; whether it is large enough is
// seen at the next run.
func matmulSetDynamicShape(m *Matmul, shape *MatmulShape) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.shapes, *shape)
	if i < 0 {
		return invalid("shape has M, K, N = %d, %d, %d: want one of the %d that the context was created with, such as %d, "+
			"%d, %d [rknn-shape-m-k]",
			shape.m, shape.k, shape.n, len(m.shapes), m.shapes[0].m, m.shapes[0].k, m.shapes[0].n)
	}
	m.current = i
	return nil
}
