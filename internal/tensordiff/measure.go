package tensordiff

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// Differences say how far a tensor is from an expected one, element by element. Two NaN, and two equal infinities, are
// no difference; between a finite number and one that is not it is infinite.
type Differences struct {
	Max       float64
	Mean      float64 // of the finite ones
	NonFinite int     // infinite differences
	// Cosine is the cosine of the angle between the two as vectors, of elements that are finite in both: 1 for vectors of
	// zeros, 0 when one alone is.
	Cosine float64
	Worst  int     // index of the first element with the largest difference, -1 when there are no elements
	Got    float64 // its value
	Want   float64
}

// Measure compares two tensors of one type and size; ok is false when they are not. The parts of complex numbers count
// as elements of their own, but for the index.
func Measure(got, want tensor.Tensor) (m Differences, ok bool) {
	if got.DType != want.DType || !slices.Equal(got.Dims, want.Dims) {
		return m, false
	}
	at, n := Elements(got)
	other, _ := Elements(want)
	parts := max(1, n/max(1, got.Count()))
	m.Worst, m.Cosine = -1, 1
	sum, finite := 0.0, 0
	var a, b scaled
	for i := range n {
		x, y := at(i), other(i)
		d := apart(got, want, i, x, y)
		if math.IsInf(d, 0) {
			m.NonFinite++
		} else {
			sum += d
			finite++
		}
		if m.Worst < 0 || d > m.Max {
			m.Max, m.Worst, m.Got, m.Want = d, i/parts, x, y
		}
		if isFinite(x) && isFinite(y) {
			a.most, b.most = max(a.most, math.Abs(x)), max(b.most, math.Abs(y))
		}
	}
	if finite > 0 {
		m.Mean = sum / float64(finite)
	}
	if a.most == 0 || b.most == 0 {
		if a.most != b.most {
			m.Cosine = 0
		}
		return m, true
	}
	dot := 0.0
	for i := range n {
		if x, y := at(i), other(i); isFinite(x) && isFinite(y) {
			x, y = x/a.most, y/b.most
			dot, a.squares, b.squares = dot+x*y, a.squares+x*x, b.squares+y*y
		}
	}
	m.Cosine = min(1, max(-1, dot/math.Sqrt(a.squares*b.squares)))
	return m, true
}

// scaled is a vector's sum of squares, in units of its largest magnitude.
type scaled struct{ most, squares float64 }

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// apart is how far element i, as the numbers x and y, is apart. Integers that no float64 holds are subtracted as such.
func apart(got, want tensor.Tensor, i int, x, y float64) float64 {
	switch {
	case got.DType.IsInt() && got.DType.Bits() == 64:
		a, b := tensor.IntAt(got.DType, got.Data, i), tensor.IntAt(want.DType, want.Data, i)
		less := a < b
		if got.DType == tensor.Uint64 {
			less = uint64(a) < uint64(b)
		}
		if less {
			a, b = b, a
		}
		return float64(uint64(a) - uint64(b))
	case x == y || math.IsNaN(x) && math.IsNaN(y):
		return 0
	case !isFinite(x) || !isFinite(y):
		return math.Inf(1)
	}
	return math.Abs(x - y)
}

// Elements returns the function that reads the elements of t as numbers, and how many there are. Those of complex
// tensors are their parts.
func Elements(t tensor.Tensor) (at func(i int) float64, n int) {
	d, n := t.DType, t.Count()
	switch d {
	case tensor.Complex64:
		d, n = tensor.Float32, 2*n
	case tensor.Complex128:
		d, n = tensor.Float64, 2*n
	}
	switch {
	case d.IsFloat():
		return func(i int) float64 { return tensor.FloatAt(d, t.Data, i) }, n
	case d == tensor.Uint64:
		return func(i int) float64 { return float64(uint64(tensor.IntAt(d, t.Data, i))) }, n
	}
	return func(i int) float64 { return float64(tensor.IntAt(d, t.Data, i)) }, n
}
