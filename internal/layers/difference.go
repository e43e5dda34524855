package layers

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// Difference is how far a tensor is from its counterpart.
type Difference struct {
	// SNR is the power of the counterpart over the power of the difference, in decibels: +Inf when both are equal, -Inf
	// when the counterpart is zero or a difference is infinite.
	SNR    float64
	Cosine float64 // of both as vectors
	Max    float64 // largest absolute difference
	Mean   float64 // mean absolute difference of the finite ones
	Worst  int     // index of the largest difference in the flattened tensor, -1 without elements
	Got    float64 // its element
	Want   float64
}

// Measure compares two tensors of equal sizes, whatever their element types. ok is false when the sizes differ.
func Measure(got, want tensor.Tensor) (d Difference, ok bool) {
	if !slices.Equal(got.Dims, want.Dims) {
		return d, false
	}
	x, n := tensordiff.Elements(got)
	y, m := tensordiff.Elements(want)
	if n != m {
		return d, false
	}
	d.Worst = -1
	var signal, noise, xx, yy, xy, sum float64
	infinite, finite := 0, 0
	for i := range n {
		a, b := x(i), y(i)
		diff := math.Abs(a - b)
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			diff = 0
		} else if math.IsNaN(diff) {
			diff = math.Inf(1)
		}
		if d.Worst < 0 || diff > d.Max {
			d.Worst, d.Max, d.Got, d.Want = i, diff, a, b
		}
		if math.IsInf(diff, 0) {
			infinite++
			continue
		}
		finite++
		sum += diff
		noise += diff * diff
		if !math.IsNaN(b) && !math.IsInf(b, 0) {
			signal += b * b
			xx, yy, xy = xx+a*a, yy+b*b, xy+a*b
		}
	}
	if finite > 0 {
		d.Mean = sum / float64(finite)
	}
	switch {
	case xx == 0 && yy == 0:
		d.Cosine = 1
	case xx > 0 && yy > 0:
		d.Cosine = min(1, xy/math.Sqrt(xx)/math.Sqrt(yy))
	}
	switch {
	case infinite > 0 || signal == 0 && noise > 0:
		d.SNR = math.Inf(-1)
	case noise == 0:
		d.SNR = math.Inf(1)
	default:
		d.SNR = 10 * math.Log10(signal/noise)
	}
	return d, true
}
