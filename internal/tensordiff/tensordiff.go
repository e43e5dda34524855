// Package tensordiff compares tensors with expected ones.
package tensordiff

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/tensor"
)

// Tolerance bounds the difference from an expected value: Abs + Rel*|expected|.
type Tolerance struct{ Rel, Abs float64 }

// Default is the tolerance of the ONNX project's own runner.
var Default = Tolerance{Rel: 1e-3, Abs: 1e-7}

// Compare says how got differs from want, empty when it does not: element type, sizes, the first value outside the
// tolerance. NaN equals NaN. Integers and booleans are equal or not.
func Compare(got, want tensor.Tensor, tol Tolerance) string {
	if got.DType != want.DType {
		return fmt.Sprintf("element type %v, want %v", got.DType, want.DType)
	}
	if !slices.Equal(got.Dims, want.Dims) {
		return fmt.Sprintf("sizes %v, want %v", got.Dims, want.Dims)
	}
	n, wrong, first := got.Count(), 0, ""
	d, parts := got.DType, 1
	switch d {
	case tensor.Complex64:
		d, parts = tensor.Float32, 2
	case tensor.Complex128:
		d, parts = tensor.Float64, 2
	}
	exact := !d.IsFloat()
	for i := range n * parts {
		if exact {
			if d == tensor.Bool && (got.Data[i] != 0) != (want.Data[i] != 0) || d != tensor.Bool &&
				tensor.IntAt(d, got.Data, i) != tensor.IntAt(d, want.Data, i) {
				wrong++
				if first == "" {
					first = fmt.Sprintf("element %d is %s, want %s", i, integer(d, got.Data, i), integer(d, want.Data, i))
				}
			}
			continue
		}
		a, b := tensor.FloatAt(d, got.Data, i), tensor.FloatAt(d, want.Data, i)
		if same(a, b, tol) {
			continue
		}
		wrong++
		if first == "" {
			first = fmt.Sprintf("element %d is %g, want %g", i, a, b)
		}
	}
	if wrong == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d)", first, wrong, n*parts)
}

// integer is element i of an integer type as text.
func integer(d tensor.DType, data []byte, i int) string {
	v := tensor.IntAt(d, data, i)
	if d == tensor.Uint64 {
		return strconv.FormatUint(uint64(v), 10)
	}
	return strconv.FormatInt(v, 10)
}

func same(a, b float64, tol Tolerance) bool {
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		return true
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= tol.Abs+tol.Rel*math.Abs(b)
}
