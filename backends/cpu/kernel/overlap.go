package kernel

import "unsafe"

// OverlapStep is the number of which the rows of [Overlaps] have a multiple.
const OverlapStep = 16

// Overlaps reports whether the intersection of a box with one of n others is more than limit, at least 0, of their
// union. A box is five numbers: its first edge down and across, its last edges and its area, which must be more than 0.
// The numbers of the others lie in five rows, ld of them apart; behind the last one zeros fill a multiple of
// OverlapStep. Each step of
//
//	h * w / (area + area - h*w)
//
// is rounded to float32.
func Overlaps(others []float32, ld, n int, box []float32, limit float32) bool {
	if n <= 0 {
		return false
	}
	n = (n + OverlapStep - 1) &^ (OverlapStep - 1)
	need("Overlaps", "others", len(others), 4*ld+n)
	need("Overlaps", "box", len(box), 5)
	if fast.overlaps != nil {
		return fast.overlaps(&others[0], 4*ld, n, &box[0], limit) != 0
	}
	return overlapsGeneric(&others[0], 4*ld, n, &box[0], limit) != 0
}

func overlapsGeneric(others *float32, ld, n int, box *float32, limit float32) uint64 {
	var row [5][]float32
	for k := range row {
		row[k] = unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(others), k*ld)), n)
	}
	b := unsafe.Slice(box, 5)
	for i, y1 := range row[0] {
		h := max(min(row[2][i], b[2])-max(y1, b[0]), 0)
		w := max(min(row[3][i], b[3])-max(row[1][i], b[1]), 0)
		if both := float32(h * w); both/(row[4][i]+b[4]-both) > limit {
			return 1
		}
	}
	return 0
}
