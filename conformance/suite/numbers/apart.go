package numbers

import (
	"fmt"
	"math"
)

// Apart sums up how the elements of a result differ from those wanted: the first wrong one, and how far all are off.
type Apart struct {
	n, wrong      int
	first         int
	got, want     float64
	most, largest float64
}

// Add adds the next element, and whether it is wrong. Elements that are right do not count towards the difference.
func (a *Apart) Add(got, want float64, wrong bool) {
	if size := math.Abs(want); size > a.largest && !math.IsInf(want, 0) {
		a.largest = size
	}
	if wrong {
		if a.wrong == 0 {
			a.first, a.got, a.want = a.n, got, want
		}
		a.wrong++
		if d := math.Abs(got - want); d > a.most || d != d {
			a.most = d
		}
	}
	a.n++
}

// Wrong is the first element that is wrong, -1 for none.
func (a *Apart) Wrong() int {
	if a.wrong == 0 {
		return -1
	}
	return a.first
}

// String says which element is wrong, and how far all are off.
func (a *Apart) String() string {
	return fmt.Sprintf("element %d of %d is %v, want %v; wrong are %d, by up to %v, the largest wanted is %v", a.first,
		a.n, a.got, a.want, a.wrong, a.most, a.largest)
}
