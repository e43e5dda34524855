package ref

import "math"

// sampler builds the weighted cells of an image at a point, the product of the weighted cells of each dimension.
type sampler struct {
	cells, next []cell
}

// reset starts a new point.
func (s *sampler) reset() { s.cells = append(s.cells[:0], cell{0, 1}) }

// dimension multiplies with the cells of the next dimension, of the given size; cells outside it have been left out.
func (s *sampler) dimension(size int, list []cell) {
	s.next = s.next[:0]
	for _, a := range s.cells {
		for _, b := range list {
			tick()
			s.next = append(s.next, cell{a.i*size + b.i, a.w * b.w})
		}
	}
	s.cells, s.next = s.next, s.cells
}

// value is the weighted sum over one channel that starts at base, its cells step apart.
func (s *sampler) value(x []float64, base, step int) float64 {
	var v float64
	for _, c := range s.cells {
		v += c.w * x[base+c.i*step]
	}
	return v
}

// neighbours returns the two cells around coordinate c with their weights; those outside [0, size) are left out.
func neighbours(c float64, size int, list []cell) []cell {
	list = list[:0]
	if !(c > -1 && c < float64(size)) {
		return list
	}
	low := math.Floor(c)
	if i := int(low); i >= 0 {
		list = append(list, cell{i, 1 - (c - low)})
	}
	if i := int(low) + 1; i < size {
		list = append(list, cell{i, c - low})
	}
	return list
}
