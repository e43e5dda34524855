package ref

import "math"

// sampler builds the weighted cells of an image at a point, the product of the weighted cells of each dimension.
type sampler struct {
	cells, next []Cell
}

// reset starts a new point.
func (s *sampler) reset() { s.cells = append(s.cells[:0], Cell{0, 1}) }

// dimension multiplies with the cells of the next dimension, of the given size; cells outside it have been left out.
func (s *sampler) dimension(size int, list []Cell) {
	s.next = s.next[:0]
	for _, a := range s.cells {
		for _, b := range list {
			tick()
			s.next = append(s.next, Cell{a.Index*size + b.Index, a.Weight * b.Weight})
		}
	}
	s.cells, s.next = s.next, s.cells
}

// value is the weighted sum over one channel that starts at base, its cells step apart.
func (s *sampler) value(x []float64, base, step int) float64 {
	var v float64
	for _, c := range s.cells {
		v += c.Weight * x[base+c.Index*step]
	}
	return v
}

// neighbours returns the two cells around coordinate c with their weights; those outside [0, size) are left out.
func neighbours(c float64, size int, list []Cell) []Cell {
	list = list[:0]
	if !(c > -1 && c < float64(size)) {
		return list
	}
	low := math.Floor(c)
	if i := int(low); i >= 0 {
		list = append(list, Cell{i, 1 - (c - low)})
	}
	if i := int(low) + 1; i < size {
		list = append(list, Cell{i, c - low})
	}
	return list
}
